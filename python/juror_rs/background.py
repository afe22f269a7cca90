"""Blocking calls for programs of asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from juror_rs.transport import Cancellation

T = TypeVar("T")

MOST_THREADS = 256
"""How many calls of this process run at once, each with a thread and a connection; more wait for one of them to end."""


class _Threads:
    """Threads that end when nothing waits. They are daemons, so that a program that ends waits for no answer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: deque[Callable[[], None]] = deque()
        self._running = 0

    def run(self, work: Callable[[], None]) -> None:
        """Runs `work`, which must not raise, in a thread."""
        with self._lock:
            if self._running < MOST_THREADS:
                try:
                    threading.Thread(target=self._work, args=(work,), name="juror call", daemon=True).start()
                except RuntimeError:
                    # The system has no more threads for this process.
                    if self._running == 0:
                        raise
                else:
                    self._running += 1
                    return
            self._waiting.append(work)

    def _work(self, work: Callable[[], None]) -> None:
        while True:
            work()
            with self._lock:
                if not self._waiting:
                    self._running -= 1
                    return
                work = self._waiting.popleft()


_threads = _Threads()


def _after_fork() -> None:
    """Forgets the threads, which a forked process does not have."""
    global _threads
    _threads = _Threads()


os.register_at_fork(after_in_child=_after_fork)


async def in_thread(work: Callable[[Cancellation], T]) -> T:
    """`work` in a thread of its own, which is told when the caller is cancelled.

    `asyncio.to_thread` would let only a few calls wait at once, and a judge is fastest when many do.
    """
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()
    cancellation = Cancellation()

    def settle(value: T | None, error: BaseException | None) -> None:
        if result.done():
            return  # The caller was cancelled.
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(value)  # type: ignore[arg-type]

    def run() -> None:
        value, raised = None, None
        try:
            cancellation.check()
            value = work(cancellation)
        except BaseException as error:
            raised = error
        with contextlib.suppress(RuntimeError):  # The loop is closed: nobody waits.
            loop.call_soon_threadsafe(settle, value, raised)

    _threads.run(run)
    try:
        return await result
    except asyncio.CancelledError:
        cancellation.cancel()
        raise
