"""Servers of this process: one for each set of arguments, shared by all users, stopped when the process ends."""

from __future__ import annotations

import atexit
import os
import threading
from dataclasses import dataclass

from juror_rs.binary import find_binary
from juror_rs.process import ServerProcess

__all__ = ["acquire", "release"]


@dataclass
class _Shared:
    process: ServerProcess
    users: int


_lock = threading.Lock()
"""Guards `_servers`. It is held while a server is started, which takes milliseconds, and not while one loads its judge."""

_servers: dict[tuple[str, tuple[str, ...], str | None], _Shared] = {}


def acquire(arguments: tuple[str, ...], api_key: str | None) -> ServerProcess:
    """The server with these arguments of `juror serve` and this key, its judge loaded; starts it if there is none.

    Raises:
        JudgeError: If there is no program `juror`, or it cannot be started.
    """
    settings = (find_binary(), arguments, api_key)
    with _lock:
        shared = _servers.get(settings)
        if shared is not None and not shared.process.is_running():
            shared.process.stop()  # It has ended by itself: what is left of it is closed.
            shared = None
        if shared is None:
            shared = _servers[settings] = _Shared(ServerProcess(*settings), users=0)
        shared.users += 1
    try:
        shared.process.wait_until_ready()
    except BaseException:
        release(shared.process)
        raise
    return shared.process


def release(process: ServerProcess) -> None:
    """Releases an acquired server; it is stopped when nobody uses it."""
    with _lock:
        for settings, shared in _servers.items():
            if shared.process is process:
                shared.users -= 1
                if shared.users > 0:
                    return
                del _servers[settings]
                break
    process.stop()


def _stop_all() -> None:
    with _lock:
        processes = [shared.process for shared in _servers.values()]
        _servers.clear()
    for process in processes:
        process.close_input()  # All of them finish what they do at once.
    for process in processes:
        process.stop()


def _after_fork(is_child: bool) -> None:
    """In a forked process servers stay in use but belong to the parent; one that was still loading is unknown there."""
    if is_child:
        for settings, shared in list(_servers.items()):
            shared.process.leave_to_parent()
            if not shared.process.is_ready:
                del _servers[settings]
    _lock.release()


atexit.register(_stop_all)
# The lock is held during a fork: no server is just being started, whose standard input a child would keep open.
os.register_at_fork(
    before=lambda: _lock.acquire(),
    after_in_parent=lambda: _after_fork(is_child=False),
    after_in_child=lambda: _after_fork(is_child=True),
)
