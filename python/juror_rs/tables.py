"""Rows in and verdicts out, in the caller's type of table.

pandas, polars, pyarrow and datasets are used only where the caller has passed their objects, and so has imported them; pyarrow
also for other tables that can be read as Arrow's.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from itertools import chain, islice
from typing import Any, Literal, Protocol, TypeVar, cast

from juror_rs.verdict import Verdict

Row = Mapping[str, Any]

class _DataFrame(Protocol):
    @property
    def iloc(self) -> Any: ...


class _ArrowTable(Protocol):
    @property
    def to_batches(self) -> Any: ...


class _Dataset(Protocol):
    @property
    def with_format(self) -> Any: ...


class _DatasetDict(Protocol):
    @property
    def num_rows(self) -> dict[str, int]: ...


class _PolarsFrame(Protocol):
    @property
    def iter_rows(self) -> Any: ...


class ArrowStream(Protocol):
    """An object that hands over its rows by Arrow's C interface: a RecordBatch, a RecordBatchReader, a relation of DuckDB, …"""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


Table = TypeVar("Table", bound=_DataFrame | _ArrowTable | _Dataset | _DatasetDict | _PolarsFrame)
"""A pandas.DataFrame, a polars.DataFrame, a pyarrow.Table, a datasets.Dataset or a datasets.DatasetDict, told by an attribute that no list has."""

BATCH = 1000
"""How many rows are taken out of a table at a time."""

_Kind = Literal["text", "boolean", "integer", "number"]

COLUMNS: dict[str, _Kind] = {
    "id": "text",
    "index": "integer",
    "group": "text",
    "trial": "integer",
    "status": "text",
    "process": "boolean",
    "outcome": "boolean",
    "perfect": "boolean",
    "label": "text",
    "answer": "text",
    "first_error": "integer",
    "step_rewards": "text",
    "parts": "text",
    "score": "number",
    "criteria": "text",
    "overall": "boolean",
    "reward": "number",
    "advantage": "number",
    "reason": "text",
    "outcome_source": "text",
    "rule_outcome": "boolean",
    "confidence.process": "number",
    "confidence.outcome": "number",
    "confidence.perfect": "number",
    "confidence.score": "number",
    "usage.prompt_tokens": "integer",
    "usage.cached_tokens": "integer",
    "usage.completion_tokens": "integer",
    "usage.known_tokens": "integer",
    "usage.left_out_tokens": "integer",
    "parse_rule": "text",
    "inconsistent": "boolean",
    "skipped": "boolean",
    "audited": "boolean",
    "judge": "text",
    "votes": "text",
    "reused": "boolean",
    "error": "text",
    "open": "boolean",
    "raw.completion": "text",
}
"""Columns of a table of verdicts, those of `juror judge -o verdicts.parquet` and `reused`: `confidence.process` is the column
`confidence_process`; lists are JSON."""

_PANDAS_TYPES: dict[_Kind, str] = {"text": "object", "boolean": "boolean", "integer": "Int64", "number": "float64"}


@dataclass(frozen=True)
class Rows:
    """The rows of a caller's data, and how verdicts on them are returned."""

    rows: Iterable[Row]
    total: int | None
    """The number of rows, if it is known."""
    result: Callable[[list[Verdict]], Any]
    """Verdicts in the shape of the data."""


def rows_of(data: Any) -> Rows:
    """The rows of a pandas.DataFrame, polars.DataFrame, pyarrow.Table, datasets.Dataset or DatasetDict, of another table that has
    `__arrow_c_stream__`, or of an iterable of mappings.

    Raises:
        TypeError: If it is none of them.
    """
    if _is(data, "pandas", "DataFrame"):
        return Rows(_frame_rows(data), len(data), lambda verdicts: _frame(verdicts, data.index))
    if _is(data, "pyarrow", "Table"):
        return Rows(_arrow_rows(data), data.num_rows, _arrow)
    if _is(data, "datasets", "Dataset"):
        return Rows(iter(data.with_format(None)), len(data), _dataset)
    if _is(data, "datasets", "DatasetDict"):
        splits = data.with_format(None)
        rows = chain.from_iterable(splits.values())
        return Rows(rows, sum(map(len, splits.values())), lambda verdicts: _dataset_dict(verdicts, splits))
    if _is(data, "polars", "DataFrame"):
        return Rows(data.iter_rows(named=True), len(data), _polars)
    if hasattr(data, "__arrow_c_stream__"):
        return Rows(_stream_rows(data), None, _arrow)
    if isinstance(data, Mapping) or not isinstance(data, Iterable):
        raise TypeError(
            "data must be rows (mappings with question, reference and response), a DataFrame of pandas or polars, a pyarrow.Table, "
            f"a datasets.Dataset or DatasetDict, or have __arrow_c_stream__, not {type(cast(object, data)).__qualname__}"
        )
    total = len(cast(Any, data)) if hasattr(cast(object, data), "__len__") else None
    return Rows(cast(Iterable[Row], data), total, lambda verdicts: verdicts)


def _is(data: object, module: str, name: str) -> bool:
    """Whether it is an object of that class, without importing the module."""
    loaded = sys.modules.get(module)
    kind = getattr(loaded, name, None)
    return isinstance(kind, type) and isinstance(data, kind)


def encode(row: Row, place: int) -> bytes:
    """A row as JSON. Keys without a value are left out; lone surrogates, which JSON texts must not hold, become `?`.

    >>> encode({"question": "1 + 1?", "reference": 2.0, "id": None, "response": "2"}, 0)
    b'{"question": "1 + 1?", "reference": 2.0, "response": "2"}'

    Raises:
        TypeError: If it is no mapping, or a value of it cannot be written as JSON.
    """
    if not isinstance(cast(object, row), Mapping):
        raise TypeError(f"row {place} is no mapping with question, reference and response, but {type(row).__qualname__}")
    present = {key: value for key, value in row.items() if not is_missing(value)}
    try:
        return _json(present)
    except (TypeError, ValueError, RecursionError):
        for key, value in present.items():
            try:
                _json(value)
            except (TypeError, ValueError, RecursionError) as error:
                raise TypeError(
                    f"`{key}` of row {place} cannot be written as JSON: {error}; leave the column out if it is not needed"
                ) from error
        raise


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain).encode(errors="replace")


def is_missing(value: object) -> bool:
    if isinstance(value, float):
        return math.isnan(value)
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _plain(value: Any) -> Any:
    """numpy's scalars and arrays, times, and decimal numbers with all their digits, as JSON types."""
    for convert in ("tolist", "isoformat"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    if isinstance(value, Decimal):
        return str(value)
    raise TypeError(f"it holds a {type(value).__qualname__}")


def _frame_rows(frame: Any) -> Iterator[Row]:
    for start in range(0, len(frame), BATCH):
        yield from frame.iloc[start : start + BATCH].to_dict("records")


def _arrow_rows(table: Any) -> Iterator[Row]:
    for batch in table.to_batches(max_chunksize=BATCH):
        yield from batch.to_pylist()


def _stream_rows(data: Any) -> Iterator[Row]:
    try:
        pyarrow: Any = import_module("pyarrow")
    except ImportError as error:
        raise TypeError(f"rows of a {type(data).__qualname__} are read with pyarrow: install it (15 or later)") from error
    try:
        table = pyarrow.table(data)
    except (TypeError, ValueError, pyarrow.ArrowException) as error:
        raise TypeError(f"rows cannot be read from a {type(data).__qualname__}: {error}") from error
    yield from _arrow_rows(table)


def _columns(verdicts: list[Verdict]) -> Iterator[tuple[str, _Kind, list[Any]]]:
    """Name, kind and values of each column."""
    for path, kind in COLUMNS.items():
        keys = path.split(".")
        yield "_".join(keys), kind, [_value(verdict.line, keys) for verdict in verdicts]


def _value(line: Mapping[str, Any], keys: list[str]) -> Any:
    value: Any = line
    for key in keys:
        value = None if value is None else value.get(key)
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _frame(verdicts: list[Verdict], index: Any) -> Any:
    pandas: Any = import_module("pandas")
    columns = {name: pandas.array(values, dtype=_PANDAS_TYPES[kind]) for name, kind, values in _columns(verdicts)}
    return pandas.DataFrame(columns, index=index)


def _arrow(verdicts: list[Verdict]) -> Any:
    pyarrow: Any = import_module("pyarrow")
    types = {"text": pyarrow.string(), "boolean": pyarrow.bool_(), "integer": pyarrow.int64(), "number": pyarrow.float64()}
    return pyarrow.table({name: pyarrow.array(values, types[kind]) for name, kind, values in _columns(verdicts)})


def _polars(verdicts: list[Verdict]) -> Any:
    polars: Any = import_module("polars")
    types = {"text": polars.String, "boolean": polars.Boolean, "integer": polars.Int64, "number": polars.Float64}
    return polars.DataFrame([polars.Series(name, values, types[kind]) for name, kind, values in _columns(verdicts)])


def _dataset_dict(verdicts: list[Verdict], splits: Mapping[str, Any]) -> Any:
    datasets: Any = import_module("datasets")
    left = iter(verdicts)
    return datasets.DatasetDict({name: _dataset(list(islice(left, len(split)))) for name, split in splits.items()})


def _dataset(verdicts: list[Verdict]) -> Any:
    datasets: Any = import_module("datasets")
    types = {"text": "string", "boolean": "bool", "integer": "int64", "number": "float64"}
    columns = {name: (values, datasets.Value(types[kind])) for name, kind, values in _columns(verdicts)}
    features = datasets.Features({name: feature for name, (_, feature) in columns.items()})
    return datasets.Dataset.from_dict({name: values for name, (values, _) in columns.items()}, features=features)
