"""A judge: a server that is found or started, and requests to it."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, cast, overload

from juror_rs import server
from juror_rs.background import in_thread
from juror_rs.client import Client
from juror_rs.errors import JudgeError
from juror_rs.process import ServerProcess
from juror_rs.progress import Progress
from juror_rs.tables import ArrowStream, Row, Rows, Table, encode, rows_of
from juror_rs.transport import Cancellation
from juror_rs.verdict import Verdict

__all__ = ["Judge", "Verdict"]

SAMPLES_PER_REQUEST = 1000
BYTES_PER_REQUEST = 8 << 20

_lock = threading.Lock()
"""Guards what judges know of their servers. It is held briefly, and during a fork, so that a forked process finds it free."""

os.register_at_fork(before=lambda: _lock.acquire(), after_in_parent=lambda: _lock.release(), after_in_child=lambda: _lock.release())


@dataclass(frozen=True)
class _Settings:
    """The settings of a judge; enough to make it again in another process."""

    url: str | None = field(repr=False)
    api_key: str | None = field(repr=False)
    arguments: tuple[str, ...]
    timeout: float | None


class Judge:
    """Judges samples: a question, a reference answer and a response each.

        >>> judge = Judge("tiny")
        >>> [verdict] = judge.judge([{"question": "What is 2 + 3?", "reference": "5", "response": "2 + 3 = 5. The answer is 5."}])
        >>> verdict.status, verdict.outcome
        ('ok', True)
        >>> judge.close()

    `Judge("tiny")` starts `juror serve` on this machine, which all judges with equal settings share; it ends with the last
    `close`, or with this process. `Judge(url="http://host:port")` asks a server that runs elsewhere.

    Any thread may call, and any number at once: the server judges what comes in batches. A judge may be used in forked
    processes; pickled, it starts a server of its own where it is first used.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        cascade: tuple[str, str] | None = None,
        panel: str | os.PathLike[str] | None = None,
        url: str | None = None,
        api_key: str | None = None,
        protocol: str | None = None,
        device: str | None = None,
        reward: str | None = None,
        cache: str | os.PathLike[str] | None = None,
        arguments: Sequence[str] = (),
        timeout: float | None = None,
    ) -> None:
        """Starts or finds the server; returns once the judge is loaded.

        Args:
            model: `tiny`, a folder, a GGUF file, an id on the Hugging Face hub, or an alias of a known judge; `tiny`, with a
                warning, if nothing says who judges: `arguments` may, as `("--rules", "only")`.
            cascade: In place of a model two of them: the second is asked where the first is unsure. When that is, is said by
                `arguments`, as `("--escalate", "0.2..0.8")`.
            panel: In place of a model the TOML file of several judges that vote.
            url: The address of a running server, in place of starting one; if None, that of JUROR_URL, if set. Only
                `api_key` and `timeout` go with it: the rest was said to the server when it was started.
            api_key: The server's key; if None, that of JUROR_API_KEY.
            protocol: What the judge is asked and how its answer is read.
            device: Where it runs: `auto`, `cpu`, `cuda`, `cuda:1`, …
            reward: What a verdict is worth.
            cache: A folder that keeps answers for other runs.
            arguments: More arguments of `juror serve`.
            timeout: Seconds that one call may take; None: as long as it takes.

        Raises:
            JudgeError: If the server cannot be started, or none answers at `url`.
            ValueError: If `url` is no address, or settings of a server to be started go with the address of one that runs.
        """
        if isinstance(cascade, str) or (cascade is not None and len(cascade) != 2):
            raise ValueError(f"cascade takes two judges, as (\"small\", \"large\"), and is {cascade!r}")
        judges = {"--model": model, "--cascade": cascade and ",".join(cascade), "--panel": panel}
        named = sum(judge is not None for judge in judges.values())
        if named > 1:
            raise ValueError("model, cascade and panel each say who judges: give one of them")
        given_here = {argument.split("=", 1)[0] for argument in arguments}
        says_who = named > 0 or not given_here.isdisjoint({"--model", "-m", "--cascade", "--panel", "--rules", "--endpoint"})
        if not says_who:
            judges["--model"] = "tiny"
        options = {**judges, "--protocol": protocol, "--device": device, "--reward": reward, "--cache": cache}
        given = [text for option, value in options.items() if value is not None for text in (option, os.fspath(value))]
        started_with = (*given, *arguments)
        url = url or os.environ.get("JUROR_URL") or None
        if url is None and not says_who:
            warnings.warn(
                "no judge is named, so the built-in `tiny` judges, which knows grade-school arithmetic and nothing else: name one with "
                "model= (`tiny`, if that is meant) or url=",
                UserWarning,
                stacklevel=2,
            )
        if url is not None and (named or started_with != ("--model", "tiny")):
            raise ValueError(
                f"model, cascade, panel, protocol, device, reward, cache and arguments are for a server to be started, and that at {url} "
                "runs; leave them away, or `url` (and JUROR_URL)"
            )
        api_key = api_key or os.environ.get("JUROR_API_KEY") or None
        self._settings = _Settings(url, api_key, started_with, timeout)
        self._forget()
        client = self._connected()
        if url is not None:
            client.reach()

    def __repr__(self) -> str:
        client, arguments = self._client, self._settings.arguments
        model = "" if self._settings.url is not None else f" {arguments[1] if len(arguments) > 1 else ' '.join(arguments)}"
        if self._is_closed:
            state = " (closed)"
        else:
            state = f" at {client.url}" if client is not None else ""
        return f"<Judge{model}{state}>"

    def _forget(self) -> None:
        self._client: Client | None = None
        self._process: ServerProcess | None = None
        self._is_closed = False

    def __getstate__(self) -> _Settings:
        return self._settings

    def __setstate__(self, settings: _Settings) -> None:
        self._settings = settings
        self._forget()

    def _connected(self) -> Client:
        """The client of a server that is running, as far as is known."""
        with _lock:
            if self._is_closed:
                raise JudgeError("this judge was closed; make another")
            if self._client is not None and (self._process is None or self._process.is_running()):
                return self._client
            if self._settings.url is not None:
                self._client = Client(self._settings.url, self._settings.api_key)
                return self._client
        # This may take minutes, and other threads may do the same: they get the same server.
        process = server.acquire(self._settings.arguments, self._settings.api_key)
        with _lock:
            before, is_closed = self._process, self._is_closed
            if not is_closed and before is not process:
                self._process = process
                self._client = Client(process.url, self._settings.api_key, before_retry=process.check)
            client = self._client
        if is_closed or before is process:
            server.release(process)
        elif before is not None:
            server.release(before)
        if is_closed or client is None:
            raise JudgeError("this judge was closed while its server was started; make another")
        return client

    @property
    def url(self) -> str:
        """The server's address: `Judge(url=judge.url)` in another process of this machine uses it too."""
        return self._connected().url

    @property
    def info(self) -> Mapping[str, Any] | None:
        """Model, commit, protocol and prompt hash of the judge; None before its first verdict."""
        return self._connected().judge_info

    @overload
    def judge(self, data: Table, progress: bool | None = None, *, skip_bad: bool = False) -> Table: ...
    @overload
    def judge(self, data: Iterable[Row], progress: bool | None = None, *, skip_bad: bool = False) -> list[Verdict]: ...
    @overload
    def judge(self, data: ArrowStream, progress: bool | None = None, *, skip_bad: bool = False) -> Any: ...
    def judge(self, data: Any, progress: bool | None = None, *, skip_bad: bool = False) -> Any:
        """Judges every row; the verdicts in their order, in the shape of `data`.

        Args:
            data: Rows, which are mappings with `question`, `reference` (one right answer, or a list of them) and `response`,
                and where wanted `id`, `steps`, `rubric`; then a list of `Verdict` comes back. Or a DataFrame of pandas or polars, a
                pyarrow.Table, a datasets.Dataset or DatasetDict with such columns; then one of verdicts comes back, with the
                columns of `juror judge -o verdicts.parquet` and the index of pandas. Or anything else with
                `__arrow_c_stream__`, as a RecordBatch; then a pyarrow.Table comes back.
            progress: Show how far it is? If None, where standard error is a terminal or a notebook's.
            skip_bad: Give a row that cannot be read a verdict of its own, `failed`; else nothing of its request is judged.

        Raises:
            JudgeError: If the server refuses a row, or cannot be reached.
            TypeError: If `data` is no table and no rows, or a row has a value that JSON has not, as infinity.
        """
        return self._judge(data, progress, skip_bad, Cancellation())

    @overload
    async def ajudge(self, data: Table, progress: bool | None = None, *, skip_bad: bool = False) -> Table: ...
    @overload
    async def ajudge(self, data: Iterable[Row], progress: bool | None = None, *, skip_bad: bool = False) -> list[Verdict]: ...
    @overload
    async def ajudge(self, data: ArrowStream, progress: bool | None = None, *, skip_bad: bool = False) -> Any: ...
    async def ajudge(self, data: Any, progress: bool | None = None, *, skip_bad: bool = False) -> Any:
        """`judge` for programs of asyncio. Any number of calls may be made at once; up to 256 of a process run at a time."""
        return await in_thread(lambda cancellation: self._judge(data, progress, skip_bad, cancellation))

    def rewards(self, data: Any, progress: bool | None = None) -> list[float | None]:
        """The reward of each row; None if a row could not be judged, which is not a reward of 0: leave it out."""
        return [verdict.reward for verdict in self._verdicts(rows_of(data), progress, True, Cancellation())]

    async def arewards(self, data: Any, progress: bool | None = None) -> list[float | None]:
        """`rewards` for programs of asyncio."""
        verdicts = await in_thread(lambda cancellation: self._verdicts(rows_of(data), progress, True, cancellation))
        return [verdict.reward for verdict in verdicts]

    def _judge(self, data: Any, progress: bool | None, skip_bad: bool, cancellation: Cancellation) -> Any:
        rows = rows_of(data)
        return rows.result(self._verdicts(rows, progress, skip_bad, cancellation))

    def _verdicts(
        self, rows: Rows, progress: bool | None, skip_bad: bool, cancellation: Cancellation
    ) -> list[Verdict]:
        client = self._connected()
        started = time.monotonic()
        verdicts: list[Verdict] = []
        with Progress(rows.total, progress) as shown:
            for samples in _requests(rows.rows, skip_bad):
                first = len(verdicts)
                try:
                    lines = client.judge(
                        [sample for sample in samples if isinstance(sample, bytes)],
                        skip_bad=skip_bad,
                        timeout=self._settings.timeout,
                        started=started,
                        cancellation=cancellation,
                        on_verdict=shown.advance,
                    )
                except JudgeError as error:
                    if first == 0 or error.status != 400:
                        raise
                    raise JudgeError(f"in the samples from row {first} on: {error}", error.status) from error
                judged = iter(lines)
                for sample in samples:
                    if isinstance(sample, bytes):
                        line = next(judged)
                    else:
                        line = sample
                        shown.advance()
                    verdicts.append(Verdict.from_line({**line, "index": len(verdicts)}))
        return verdicts

    def sleep(self) -> None:
        """Frees the memory of the judge's weights and cache, for a trainer that shares its GPU. Calls wait until `wake_up`."""
        self._connected().post("/sleep")

    def wake_up(self) -> None:
        """Loads the judge again after `sleep`."""
        self._connected().post("/wake_up")

    def close(self) -> None:
        """Ends the server if this judge started it and no other uses it."""
        with _lock:
            process, self._process, self._client, self._is_closed = self._process, None, None, True
        if process is not None:
            server.release(process)

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def _requests(rows: Iterable[Row], skip_bad: bool) -> Iterator[list[bytes | dict[str, Any]]]:
    """Rows as JSON, grouped by what one request may hold; for a row that cannot be written, its verdict's line."""
    samples: list[bytes | dict[str, Any]] = []
    size = 0
    for place, row in enumerate(rows):
        sample: bytes | dict[str, Any]
        try:
            sample = encode(row, place)
        except TypeError as error:
            if not skip_bad:
                raise
            named = row.get("id") if isinstance(cast(object, row), Mapping) else None
            sample = {"id": named if isinstance(named, str) else None, "status": "failed", "error": str(error)}
        length = len(sample) if isinstance(sample, bytes) else 0
        if samples and (len(samples) == SAMPLES_PER_REQUEST or size + length > BYTES_PER_REQUEST):
            yield samples
            samples, size = [], 0
        samples.append(sample)
        size += length
    if samples:
        yield samples
