"""The HTTP client: sends samples, receives verdicts as they arrive, and asks again for those that are missing."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from typing import Any, cast, get_args

from juror_rs.errors import JudgeError, TemporaryError
from juror_rs.retry import Retry
from juror_rs.transport import MOST_BODY, Cancellation, Transport
from juror_rs.verdict import Status

__all__ = ["Client"]

SILENCE = 300.0
"""Seconds without a byte after which the request is sent again; the server joins it with the first."""

MOST_LINE = 64 << 20
"""The most bytes of a verdict's line, which may hold all that the judge has written."""

REACHED_WITHIN = 5.0
"""Seconds within which a server that is just starting must answer."""

_OTHER_IDS = frozenset({"uid", "extra_info", "data_source", "custom_id", "doc_id", "pair_id", "request_id", "response_id"})
"""Keys from which the server may take a row's id."""

_STATUSES = frozenset(get_args(Status))


class Client:
    """A client of one judge server. Any thread and any forked process may use it."""

    def __init__(
        self, url: str, api_key: str | None = None, *, before_retry: Callable[[], None] | None = None
    ) -> None:
        """A client of the server at `url`; `before_retry` may raise if trying again is useless."""
        self._transport = Transport(url, api_key)
        self._before_retry = before_retry
        self.judge_info: dict[str, Any] | None = None
        """Model, commit, protocol and prompt hash of the judge that answered last."""

    @property
    def url(self) -> str:
        """The server's address."""
        return self._transport.url

    def judge(
        self,
        samples: Sequence[bytes],
        *,
        skip_bad: bool = False,
        timeout: float | None = None,
        started: float | None = None,
        cancellation: Cancellation | None = None,
        on_verdict: Callable[[], None] | None = None,
    ) -> list[dict[str, Any]]:
        """The verdict lines of samples, each written as JSON, in their order.

        Lines are taken as they are finished. Where the connection fails, only samples without a verdict are sent again; the
        server goes on with them meanwhile and judges none twice. `timeout` counts from `started`, of the monotonic clock, or now.

        Raises:
            JudgeError: If the server refuses the request, cannot be reached, or `timeout` seconds are over.
        """
        cancellation = cancellation or Cancellation()
        retry = Retry(timeout, cancellation, self._before_retry, started)
        lines: list[dict[str, Any] | None] = [None] * len(samples)
        while missing := [place for place, line in enumerate(lines) if line is None]:

            def take(line: dict[str, Any], places: list[int] = missing) -> None:
                place = self._place(line, places)
                if lines[place] is not None:
                    raise self._strange(f"two verdicts on sample {line['index']}")
                self._check(line, samples[place])
                retry.progress()
                lines[place] = {**line, "index": place}
                if on_verdict is not None:
                    on_verdict()

            try:
                self._stream([samples[place] for place in missing], skip_bad, take, retry, cancellation)
                if None in lines:
                    # It says that it is done, and would say so again at once.
                    raise TemporaryError(f"{self.url} has ended its answer without a verdict on each sample")
            except TemporaryError as error:
                # A server that lives has much to do, or sleeps. Its answer is waited for, however long that takes.
                if not (error.silent and self._answers("/health")):
                    retry.pause(error)
        return cast(list[dict[str, Any]], lines)

    def _stream(
        self,
        samples: Sequence[bytes],
        skip_bad: bool,
        take: Callable[[dict[str, Any]], None],
        retry: Retry,
        cancellation: Cancellation,
    ) -> None:
        """Sends one request; `take` is given every verdict line."""
        body = b'{"samples": [%s], "skip_bad": %s}' % (b", ".join(samples), b"true" if skip_bad else b"false")
        with self._transport.exchange(
            "POST",
            "/v1/judge",
            body,
            headers={"Accept": "application/x-ndjson"},
            timeout=retry.time_left(SILENCE),
            cancellation=cancellation,
        ) as response:
            while (text := response.readline(MOST_LINE)).endswith(b"\n"):
                retry.time_left(SILENCE)
                if not text.strip():
                    continue
                line = self._line(text)
                if "index" in line:
                    take(line)
                elif "error" in line:
                    raise TemporaryError(f"{self.url} ends its answer: {line['error']}")
                else:
                    self.judge_info = line.get("judge")
                    return
            if len(text) == MOST_LINE:
                raise self._strange(f"a line of more than {MOST_LINE:,} bytes")
        raise TemporaryError(f"the answer of {self.url} was cut off")

    def _line(self, text: bytes) -> dict[str, Any]:
        try:
            line = json.loads(text, parse_float=_finite, parse_constant=_finite)
        except (ValueError, RecursionError):
            line = None
        if not isinstance(line, dict):
            raise JudgeError(f"{self.url} answers with {text[:80]!r}, no verdict; is this the address of a `juror serve`?")
        return cast(dict[str, Any], line)

    def _place(self, line: dict[str, Any], places: Sequence[int]) -> int:
        index = line["index"]
        if type(index) is not int or not 0 <= index < len(places):
            raise self._strange(f"a verdict on sample {_shown(index)} of {len(places)}")
        return places[index]

    def _check(self, line: dict[str, Any], sample: bytes) -> None:
        """Checks that a line is a verdict, and on that sample."""
        status, reward = line.get("status"), line.get("reward")
        if not isinstance(status, str) or status not in _STATUSES:
            raise self._strange(f"a verdict of the status {_shown(status)}")
        if reward is not None and (type(reward) not in (int, float) or status != "ok"):
            raise self._strange(f"the reward {_shown(reward)} for the status {status}")
        row, said = json.loads(sample), line.get("id")
        given = None if _OTHER_IDS & row.keys() else row.get("id")
        # A sample that could not be read has none, and a number may be written otherwise.
        if isinstance(given, str) and isinstance(said, str) and said and said != given:
            raise self._strange(f"a verdict on {_shown(said)} for that on {_shown(given)}")

    def _strange(self, what: str) -> JudgeError:
        return JudgeError(f"{self.url} sent {what}; is it of the version of this package?")

    def reach(self) -> None:
        """Returns once the server answers, even while its judge is still loading.

        Raises:
            JudgeError: If nobody does within `REACHED_WITHIN` seconds, who answers is no judge, or the key is wrong.
        """
        ends = time.monotonic() + REACHED_WITHIN
        while True:
            try:
                # A route of every `juror serve`, answered also while it loads, and not without the key.
                left = max(0.1, ends - time.monotonic())
                with self._transport.exchange("GET", "/is_sleeping", timeout=left) as response:
                    response.read(MOST_BODY)
                return
            except TemporaryError as error:
                if error.busy:
                    return
                if time.monotonic() >= ends:
                    raise JudgeError(f"{error}. Is the server running, and is this its address?") from error
            time.sleep(0.2)

    def _answers(self, path: str) -> bool:
        try:
            with self._transport.exchange("GET", path) as response:
                response.read(MOST_BODY)
            return True
        except TemporaryError:
            return False

    def wait_until_ready(self, while_waiting: Callable[[], None]) -> None:
        """Returns once the judge is loaded; `while_waiting` is called now and then, and may raise."""
        pause = 0.01
        while not self._answers("/ready"):
            while_waiting()
            time.sleep(pause)
            pause = min(1.0, 1.5 * pause)

    def post(self, path: str) -> None:
        """Sends a request that is not retried.

        Raises:
            JudgeError: If the server cannot be reached or refuses.
        """
        try:
            with self._transport.exchange("POST", path, b"{}", timeout=SILENCE) as response:
                response.read(MOST_BODY)
        except TemporaryError as error:
            raise JudgeError(str(error)) from error


def _finite(text: str) -> float:
    """A number in an answer; a ValueError for `NaN` and for what is too large for a number."""
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not finite")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
