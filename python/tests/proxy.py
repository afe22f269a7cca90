"""A proxy that cuts connections."""

from __future__ import annotations

import socket
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit


class CuttingProxy:
    """Passes bytes on in both directions; of the first connections only so many of the answer."""

    def __init__(self, url: str, after: Sequence[int]) -> None:
        parts = urlsplit(url)
        self._server = (parts.hostname or "", parts.port or 80)
        self._after = list(after)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.cut = 0
        """Connections that were cut."""

    def run(self) -> None:
        """Until it is closed."""
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            limit = self._after.pop(0) if self._after else None
            threading.Thread(target=self._connect, args=(client, limit), daemon=True).start()

    def _connect(self, client: socket.socket, limit: int | None) -> None:
        server = socket.create_connection(self._server)
        threading.Thread(target=_pass_on, args=(client, server), daemon=True).start()
        cut = _pass_on(server, client, limit)
        self.cut += cut
        for end in (client, server):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()

    def close(self) -> None:
        """Accepts no more."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def _pass_on(source: socket.socket, target: socket.socket, limit: int | None = None) -> bool:
    """Until the source ends, or so many bytes were passed: then it says True."""
    passed = 0
    while True:
        try:
            data = source.recv(4096)
            if limit is not None and passed + len(data) > limit:
                target.sendall(data[: limit - passed])
                return True
            if not data:
                return False
            target.sendall(data)
        except OSError:
            return False
        passed += len(data)


@contextmanager
def cutting(url: str, after: Sequence[int]) -> Generator[CuttingProxy]:
    """A proxy to `url` while the block runs."""
    proxy = CuttingProxy(url, after)
    thread = threading.Thread(target=proxy.run)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join()
