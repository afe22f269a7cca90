"""One exchange with a server over HTTP, by the standard library."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, cast
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from juror_rs._compiled import version
from juror_rs.errors import JudgeError, TemporaryError

CONNECT_TIMEOUT = 10.0
"""Seconds within which a connection must be made."""

MOST_BODY = 64 << 10
"""The most bytes that are read of an answer other than a stream of verdicts."""


class Cancellation:
    """Lets another thread end a call, both its pauses and its waiting for bytes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = threading.Event()
        self._socket: socket.socket | None = None

    def cancel(self) -> None:
        """Ends the call."""
        with self._lock:
            self._cancelled.set()
            if self._socket is not None:
                # Unlike close(), this wakes a thread that reads.
                try:
                    self._socket.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # It was closed already.

    def wait(self, seconds: float) -> None:
        """Pauses, unless the call is ended."""
        self._cancelled.wait(seconds)
        self.check()

    def check(self) -> None:
        """Raises if the call was ended."""
        if self._cancelled.is_set():
            raise JudgeError("cancelled")

    @contextmanager
    def watching(self, connected: socket.socket) -> Generator[None]:
        """While the block runs, reading from `connected` ends when the call is ended."""
        with self._lock:
            self.check()
            self._socket = connected
        try:
            yield
        finally:
            with self._lock:
                self._socket = None


class Transport:
    """Speaks HTTP with one server. Each exchange has a connection of its own, so any thread and any forked process may."""

    def __init__(self, url: str, api_key: str | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is no address of a server; it looks like http://host:port")
        # A key in the address is for requests; the address is shown in messages.
        self.url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])).rstrip("/")
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port
        self._path = parts.path.rstrip("/")
        key = unquote(parts.password) if api_key is None and parts.password else api_key
        # Of a file it comes with a line break.
        self._api_key = None if key is None else key.strip()
        if not (self._api_key or "").isascii() or not (self._api_key or "").isprintable():
            raise ValueError("the API key has a character that no header can hold; is it the right file?")
        # Headers are ASCII.
        self._name = quote(unquote(parts.username), safe=" ") if parts.username else None

    @contextmanager
    def exchange(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = CONNECT_TIMEOUT,
        cancellation: Cancellation | None = None,
    ) -> Generator[HTTPResponse]:
        """Sends a request; the answer is read within the block. `timeout` is that of every single read.

        Raises:
            TemporaryError: If there is no connection, nothing comes for `timeout` seconds, the answer is cut off, or its
                status is 5xx.
            JudgeError: If the server refuses the request.
        """
        kind = HTTPSConnection if self._secure else HTTPConnection
        connection = kind(self._host, self._port, timeout=min(timeout, CONNECT_TIMEOUT))
        cancellation = cancellation or Cancellation()
        connected = None
        try:
            cancellation.check()
            connection.connect()
            # An answer that ends the connection takes it from `connection`.
            connected = cast(socket.socket, connection.sock)
            connected.settimeout(timeout)
            with cancellation.watching(connected):
                # A server that refuses a long body answers and closes before it has taken all of it.
                with suppress(BrokenPipeError, ConnectionResetError):
                    connection.request(method, self._path + path, body, self._headers(headers))
                response = connection.getresponse()
                if response.status != 200:
                    raise _refusal(self.url, path, response)
                yield response
        except TimeoutError as error:
            if connected is None:
                raise TemporaryError(f"no connection to {self.url} within {CONNECT_TIMEOUT:.0f} s") from error
            raise TemporaryError(f"{self.url} has sent nothing for {timeout:.0f} s", silent=True) from error
        except (OSError, HTTPException) as error:
            cancellation.check()
            what = str(error) or type(error).__name__
            raise TemporaryError(f"no answer from {self.url}: {what}") from error
        finally:
            connection.close()

    def _headers(self, more: Mapping[str, str] | None) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"juror-rs/{version()}",
            # Requests of one process count as one client, also where others have the same address.
            "X-Client-Id": self._name or f"{socket.gethostname()}-{os.getpid()}",
        }
        if self._api_key is not None:
            headers["Authorization"] = f"Bearer {self._api_key}"
        return headers | dict(more or {})


def _refusal(url: str, path: str, response: HTTPResponse) -> Exception:
    """The error of an answer that is not 200."""
    status = response.status
    said = _message(response.read(MOST_BODY))
    # By which the server's log names it.
    request = response.getheader("X-Request-Id")
    named = f" (request {request[:64]})" if request and request.isprintable() else ""
    if status >= 500:
        message = f"{url} answers {status}: {said or response.reason}{named}"
        return TemporaryError(message, _seconds(response.getheader("Retry-After")), busy=status == 503)
    if status in (401, 403):
        hint = "; give the key that the server was started with, as `api_key` or JUROR_API_KEY"
    elif status in (404, 405) or 300 <= status < 400:
        hint = "; is this the address of a `juror serve`?"
    else:
        hint = ""
    return JudgeError(f"{url}{path} answers {status}: {said or response.reason}{hint}{named}", status)


def _message(body: bytes) -> str:
    """The server's message, if the body is one of its errors."""
    try:
        return str(cast(dict[str, Any], json.loads(body))["error"]["message"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return ""


def _seconds(retry_after: str | None) -> float | None:
    try:
        return None if retry_after is None else max(0.0, float(retry_after))
    except ValueError:
        return None  # A date.
