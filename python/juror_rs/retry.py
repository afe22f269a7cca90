"""When to try again, and when to give up."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from juror_rs.errors import JudgeError, TemporaryError
from juror_rs.transport import Cancellation

ATTEMPTS = 8
"""Failures in a row, with nothing received between them, after which a call gives up: about a minute of pauses."""

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0

PATIENCE = 600.0
"""Seconds for which a server may say that it cannot answer yet."""


class Retry:
    """The attempts of one call."""

    def __init__(
        self,
        timeout: float | None,
        cancellation: Cancellation,
        before_retry: Callable[[], None] | None = None,
        started: float | None = None,
    ) -> None:
        self._timeout = timeout
        self._cancellation = cancellation
        self._before_retry = before_retry
        self._progressed = time.monotonic()
        self._started = self._progressed if started is None else started
        self._failures = 0

    def progress(self) -> None:
        """Something was received, so failures are counted from zero again."""
        self._failures = 0
        self._progressed = time.monotonic()

    def time_left(self, longest: float) -> float:
        """Seconds that may still be waited, at most `longest`.

        Raises:
            JudgeError: If the call's time is over.
        """
        if self._timeout is None:
            return longest
        left = self._started + self._timeout - time.monotonic()
        if left <= 0:
            raise JudgeError(f"not done within {self._timeout:g} s; allow more, or ask again: what is judged is not lost")
        return min(left, longest)

    def pause(self, error: TemporaryError) -> None:
        """Waits before the next try, longer each time, and not in step with other clients.

        Raises:
            JudgeError: If it is time to give up.
        """
        if error.busy:
            given_up = time.monotonic() - self._progressed > PATIENCE
        else:
            self._failures += 1
            given_up = self._failures >= ATTEMPTS
        if given_up:
            raise JudgeError(f"{error}; given up. Is the server running, and is this its address?") from error
        if self._before_retry is not None:
            self._before_retry()
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** max(0, self._failures - 1))
        wanted = longest * random.uniform(0.5, 1.0)
        if error.retry_after is not None:
            wanted = max(wanted, min(error.retry_after, LONGEST_PAUSE))
        self._cancellation.wait(self.time_left(wanted))
