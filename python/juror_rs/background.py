"""Blocking calls for programs of asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import TypeVar

from juror_rs.transport import Cancellation

T = TypeVar("T")


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
            value = work(cancellation)
        except BaseException as error:
            raised = error
        with contextlib.suppress(RuntimeError):  # The loop is closed: nobody waits.
            loop.call_soon_threadsafe(settle, value, raised)

    threading.Thread(target=run, name="juror call", daemon=True).start()
    try:
        return await result
    except asyncio.CancelledError:
        cancellation.cancel()
        raise
