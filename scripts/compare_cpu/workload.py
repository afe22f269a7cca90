"""What every peer is given, and how programs are run."""

from __future__ import annotations

import os
import random
import shlex
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path


class PeerError(Exception):
    """A peer could not be measured; the message says why and what to do."""


@dataclass
class Workload:
    """The judge workload, in tokens, and the raw measurements beside it."""

    template: int
    own: int
    output: int
    samples: int
    vocabulary: int
    prefill: int
    decode_prompt: int
    decode_output: int
    decode_batches: list[int]

    def prompts(self, count: int, seed: str) -> tuple[list[int], list[list[int]]]:
        """(template, own parts of `count` samples) as random ids behind the special tokens."""
        chosen = random.Random("template")
        template = [chosen.randrange(300, self.vocabulary) for _ in range(self.template)]
        chosen = random.Random(seed)
        return template, [[chosen.randrange(300, self.vocabulary) for _ in range(self.own)] for _ in range(count)]


@dataclass
class Log:
    """Commands that were run, and where the programs' own words go."""

    folder: Path
    commands: list[str] = field(default_factory=list)
    peak: int = 0
    """Most memory of the last program that was run, in bytes."""
    took: float = 0.0
    """How long it ran, in seconds, its start and its end included."""

    def note(self, command: list[str | Path], variables: dict[str, str] | None = None) -> None:
        """Remember a command, once, and show it: paths by their names, since the folders are this machine's own."""
        line = shlex.join(part.name if isinstance(part, Path) else part for part in command)
        line = "".join(f"{name}={value} " for name, value in (variables or {}).items()) + line
        if line not in self.commands:
            self.commands.append(line)
        print(f"$ {line}", file=sys.stderr, flush=True)

    def run(self, command: list[str | Path], name: str, seconds: float, **variables: str) -> str:
        """Standard output of a program, run with these variables; its other words go to NAME.log.

        Raises PeerError, with the end of these words, if it fails or takes longer than `seconds`.
        """
        self.note(command, variables)
        path = self.folder / f"{name}.log"
        started = time.monotonic()
        with path.open("w", encoding="utf-8") as words:
            try:
                program = subprocess.Popen(
                    list(map(str, command)),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=words,
                    text=True,
                    env={**os.environ, **variables},
                )
            except FileNotFoundError as error:
                raise PeerError(f"{command[0]} is not there: {error}") from error
            limit = threading.Timer(seconds, program.kill)
            limit.start()
            try:
                output = program.stdout.read()
                _, status, used = os.wait4(program.pid, 0)
                program.returncode = os.waitstatus_to_exitcode(status)
            except BaseException:
                program.kill()
                raise
            finally:
                limit.cancel()
        self.took = time.monotonic() - started
        if self.took >= seconds:
            raise PeerError(f"{command[0]} took longer than {seconds:.0f} s (--timeout)")
        self.peak = used.ru_maxrss * 1024
        print(f"  {self.took:.1f} s", file=sys.stderr, flush=True)
        if program.returncode != 0:
            raise PeerError(f"{name}.log: ended with {program.returncode}:\n{tail(path)}")
        return output


def tail(path: Path, lines: int = 12) -> str:
    """The last lines of a file."""
    return "\n".join(path.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])
