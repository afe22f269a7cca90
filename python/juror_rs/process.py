"""A process of `juror serve`."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import threading
from collections import deque
from typing import IO, cast

from juror_rs.client import Client
from juror_rs.errors import JudgeError
from juror_rs.transport import MOST_BODY

_logger = logging.getLogger(__name__)

STOP_TIMEOUT = 30.0
"""Seconds that a server has to finish running requests."""

MESSAGES = 20
"""How many lines of its messages an error quotes."""


class ServerProcess:
    """A server that this process has started, or the process that this one was forked from.

    It ends with the process that has started it, however that ends: its standard input is then closed.
    """

    url: str
    """Its address; empty before that is known."""

    is_ready: bool
    """Whether it has loaded its judge."""

    def __init__(self, binary: str, arguments: tuple[str, ...], api_key: str | None) -> None:
        """Starts `juror serve` with `arguments`, and a key that clients must send; its judge is loaded meanwhile.

        Raises:
            JudgeError: If `binary` cannot be run.
        """
        self.url = ""
        self.is_ready = False
        self._command = [binary, "serve", *arguments, "--host", "127.0.0.1", "--port", "0", "--exit-with-stdin"]
        self._messages: deque[str] = deque(maxlen=MESSAGES)
        self._is_ours = True
        self._loading = threading.Lock()
        environment = {name: value for name, value in os.environ.items() if name != "JUROR_API_KEY"}
        if api_key is not None:
            environment["JUROR_API_KEY"] = api_key
        try:
            self._process = subprocess.Popen(
                self._command,
                # Without buffers, whose locks a thread may hold when this process is forked.
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                # A session of its own: an interrupt from the terminal is for this process, which then stops the server.
                start_new_session=True,
            )
        except OSError as error:
            raise JudgeError(f"{binary} cannot be run: {error}") from error
        self._stdin = cast(IO[bytes], self._process.stdin)
        self._stdout = cast(IO[bytes], self._process.stdout)
        self._stderr = cast(IO[bytes], self._process.stderr)
        self._reader = threading.Thread(target=self._read_messages, name="juror messages", daemon=True)
        self._reader.start()

    def wait_until_ready(self) -> None:
        """Returns once it has loaded its judge.

        Raises:
            JudgeError: If it ends: with its exit code and last messages.
        """
        with self._loading:
            if not self.url:
                self.url = self._read_url()
            if not self.is_ready:
                Client(self.url).wait_until_ready(self.check)
                self.is_ready = True

    def _read_url(self) -> str:
        line = self._stdout.readline(MOST_BODY)
        if not line:
            raise self._ended()
        try:
            return str(json.loads(line)["url"])
        except (ValueError, LookupError, TypeError, RecursionError):
            raise JudgeError(
                f"`{self._command[0]} serve` began with {line[:200]!r} and not with its address; is it of another version?"
            ) from None

    def _read_messages(self) -> None:
        for line in self._stderr:
            text = line.decode(errors="replace").rstrip()
            self._messages.append(text)
            _logger.info("%s", text)

    def is_running(self) -> bool:
        """Whether it is running. For another process's server that is unknown, and it counts as running."""
        return not self._is_ours or self._process.poll() is None

    def check(self) -> None:
        """Raises `JudgeError` if it has ended."""
        if not self.is_running():
            raise self._ended()

    def _ended(self) -> JudgeError:
        code = self._process.wait()
        self._reader.join(timeout=1.0)
        how = f"exit code {code}" if code >= 0 else f"killed by signal {-code}"
        said = "\n".join(self._messages) or "(it wrote no message)"
        return JudgeError(f"`{' '.join(self._command)}` has ended ({how}):\n{said}")

    def close_input(self) -> None:
        """Tells it to end once it has finished running requests."""
        try:
            self._stdin.close()
        except BrokenPipeError:
            pass  # It has ended already.

    def stop(self) -> None:
        """Ends it. It may finish running requests, but need not finish loading."""
        if not self._is_ours:
            return
        self.close_input()
        try:
            self._process.wait(STOP_TIMEOUT if self.is_ready else 0.0)
        except subprocess.TimeoutExpired:
            self._process.terminate()
            try:
                self._process.wait(5.0 if self.is_ready else 0.5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        # A program that it has started may keep its output open.
        self._reader.join(timeout=1.0)
        if not self._reader.is_alive():
            self._stderr.close()
        if self._loading.acquire(timeout=1.0):
            self._stdout.close()
            self._loading.release()

    def leave_to_parent(self) -> None:
        """In a forked process: marks it as the parent's; it must end when the parent does."""
        self._is_ours = False
        for pipe in (self._stdin, self._stdout, self._stderr):
            pipe.close()
        # Popen would warn that its process, which is no child of this one, was not waited for.
        self._process.returncode = 0
