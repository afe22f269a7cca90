"""What can go wrong between Python and a judge."""

from __future__ import annotations

__all__ = ["JudgeError"]


class JudgeError(RuntimeError):
    """A judge could not be started or reached, or it refused a request; the message says what to do.

    A sample that could not be judged is no such error: its verdict has a `status` that is not `ok`, and no reward.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status of the answer, where there was one."""

    def __reduce__(self) -> tuple[type[JudgeError], tuple[str, int | None]]:
        return type(self), (str(self), self.status)


class TemporaryError(Exception):
    """A failure that may be gone at the next try."""

    def __init__(
        self, message: str, retry_after: float | None = None, *, busy: bool = False, silent: bool = False
    ) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds after which the server asks to be asked again."""
        self.busy = busy
        """The server is there and says that it cannot answer yet."""
        self.silent = silent
        """It has taken the request, and nothing has come for a long time."""
