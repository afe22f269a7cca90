"""Errors between Python and a judge."""

from __future__ import annotations

__all__ = ["JudgeError"]


class JudgeError(RuntimeError):
    """A judge could not be started or reached, or it refused a request; the message says what to do.

    A sample that could not be judged is no such error: its verdict has a `status` that is not `ok`, and no reward.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status of the answer, if there was one."""

    def __reduce__(self) -> tuple[type[JudgeError], tuple[str, int | None]]:
        return type(self), (str(self), self.status)


class TemporaryError(Exception):
    """A failure that may not recur at the next try."""

    def __init__(
        self, message: str, retry_after: float | None = None, *, busy: bool = False, silent: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds after which the server asks for a retry."""
        self.busy = busy
        """Whether the server is up but says that it cannot answer yet."""
        self.silent = silent
        """Whether the server took the request, but nothing has arrived for a long time."""
