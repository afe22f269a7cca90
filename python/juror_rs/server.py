"""Servers of this process: one for each set of arguments, shared by all who ask for it, stopped when the process ends."""

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
_servers: dict[tuple[str, tuple[str, ...], str | None], _Shared] = {}


def acquire(arguments: tuple[str, ...], api_key: str | None) -> ServerProcess:
    """The running server with these arguments of `juror serve` and this key; starts it where there is none.

    Raises:
        JudgeError: If there is no program `juror`, or it cannot be started.
    """
    with _lock:
        settings = (find_binary(), arguments, api_key)
        shared = _servers.get(settings)
        if shared is not None and not shared.process.is_running():
            shared.process.stop()  # It has ended by itself: what is left of it is closed.
            shared = None
        if shared is None:
            shared = _servers[settings] = _Shared(ServerProcess(*settings), users=0)
        shared.users += 1
        return shared.process


def release(process: ServerProcess) -> None:
    """One who has acquired it needs it no more; it is stopped when nobody does."""
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
        servers = list(_servers.values())
        _servers.clear()
    for shared in servers:
        shared.process.stop()


def _after_fork() -> None:
    """In a forked process: servers are used on, and are the parent's. Its threads are gone, with the lock that one may hold."""
    global _lock
    _lock = threading.Lock()
    for shared in _servers.values():
        shared.process.leave_to_parent()


atexit.register(_stop_all)
os.register_at_fork(after_in_child=_after_fork)
