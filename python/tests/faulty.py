"""A server that fails on purpose: each request is answered by the next of a list of behaviours.

It judges nothing. Its verdicts are `ok` with the sample's own `id`, so that a test can see which sample a line is for.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Behaviour = Callable[["Handler", list[dict[str, Any]]], None]


class Handler(BaseHTTPRequestHandler):
    """Reads a request and lets the next behaviour answer."""

    protocol_version = "HTTP/1.1"
    server: FaultyServer  # pyright: ignore[reportIncompatibleVariableOverride]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        samples = body.get("samples", [])
        with self.server.lock:
            self.server.headers.append(dict(self.headers))
            self.server.asked.append([sample["id"] for sample in samples])
            behaviour = self.server.behaviours.pop(0) if self.server.behaviours else whole
        behaviour(self, samples)
        self.close_connection = True

    def do_GET(self) -> None:
        alive = self.server.alive
        self.send_response(200 if alive else 500)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def begin(self) -> None:
        """The head of a stream of lines."""
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        """One chunk of the stream."""
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is written."""


class FaultyServer(ThreadingHTTPServer):
    """The server, and the ids that it was asked for, request by request."""

    daemon_threads = True

    def __init__(self, behaviours: list[Behaviour]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviours = behaviours
        self.asked: list[list[str]] = []
        self.headers: list[dict[str, str]] = []
        self.lock = threading.Lock()
        self.alive = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving(*behaviours: Behaviour) -> Generator[FaultyServer]:
    """A server while the block runs; behaviours that are used up are followed by whole answers."""
    server = FaultyServer(list(behaviours))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def line(index: int, sample: dict[str, Any]) -> bytes:
    """A verdict line."""
    return json.dumps({"id": sample["id"], "index": index, "status": "ok", "reward": 1.0}).encode() + b"\n"


def whole(handler: Handler, samples: list[dict[str, Any]]) -> None:
    """Everything, the last sample first."""
    handler.begin()
    for index in reversed(range(len(samples))):
        handler.chunk(line(index, samples[index]))
    handler.chunk(json.dumps({"judge": {"model": "none"}, "verdicts": len(samples)}).encode() + b"\n")
    handler.chunk(b"")


def cut_after(lines: int, rest: bytes = b"") -> Behaviour:
    """So many lines, some bytes of the next, and the connection is gone."""

    def behaviour(handler: Handler, samples: list[dict[str, Any]]) -> None:
        handler.begin()
        for index in range(lines):
            handler.chunk(line(index, samples[index]))
        if rest:
            handler.chunk(rest)

    return behaviour


def ended_early(handler: Handler, samples: list[dict[str, Any]]) -> None:
    """A stream that ends well, before its last line."""
    handler.begin()
    handler.chunk(line(0, samples[0]))
    handler.chunk(b"")


def silent(seconds: float) -> Behaviour:
    """One line, and then nothing for a time."""

    def behaviour(handler: Handler, samples: list[dict[str, Any]]) -> None:
        handler.begin()
        handler.chunk(line(0, samples[0]))
        time.sleep(seconds)

    return behaviour


def waiting(seconds: float) -> Behaviour:
    """The head of an answer, and then nothing for a time."""

    def behaviour(handler: Handler, samples: list[dict[str, Any]]) -> None:
        handler.begin()
        time.sleep(seconds)

    return behaviour


def hung_up(handler: Handler, samples: list[dict[str, Any]]) -> None:
    """No answer at all."""


def refused(status: int, message: str = "no", **headers: str) -> Behaviour:
    """An error."""

    def behaviour(handler: Handler, samples: list[dict[str, Any]]) -> None:
        body = json.dumps({"error": {"message": message, "type": "error", "param": None, "code": None}}).encode()
        handler.send_response(status)
        handler.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return behaviour


def written(text: bytes) -> Behaviour:
    """Anything."""

    def behaviour(handler: Handler, samples: list[dict[str, Any]]) -> None:
        handler.begin()
        handler.chunk(text)
        handler.chunk(b"")

    return behaviour


def saying(**more: Any) -> Behaviour:
    """Everything, with these keys in each verdict."""

    def behaviour(handler: Handler, samples: list[dict[str, Any]]) -> None:
        handler.begin()
        for index, sample in enumerate(samples):
            handler.chunk(json.dumps({**json.loads(line(index, sample)), **more}).encode() + b"\n")
        handler.chunk(b'{"judge": {"model": "none"}}\n')
        handler.chunk(b"")

    return behaviour


def closing(seconds: float) -> Behaviour:
    """Begins an answer that ends with the connection, and says nothing more for a while."""

    def behave(handler: Handler, samples: list[dict[str, Any]]) -> None:
        handler.send_response(200)
        handler.send_header("Connection", "close")
        handler.end_headers()
        handler.wfile.flush()
        time.sleep(seconds)

    return behave
