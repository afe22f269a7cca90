"""Rows in and verdicts out in other shapes."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from juror_rs.tables import COLUMNS, encode, rows_of
from juror_rs.verdict import Verdict

ROWS: list[dict[str, Any]] = [
    {"question": "1 + 1?", "reference": "2", "response": "2", "step": 1},
    {"question": "2 + 2?", "reference": ["4", "four"], "response": "5", "step": None},
]
LINES: list[dict[str, Any]] = [
    {
        "id": "a",
        "index": 0,
        "trial": 0,
        "status": "ok",
        "process": True,
        "outcome": False,
        "reward": 0.5,
        "confidence": {"process": 0.25, "outcome": None},
        "usage": {"prompt_tokens": 7},
        "step_rewards": [1.0, 0.0],
    },
    {"index": 1, "status": "failed", "error": "no `question`", "reward": None},
]
VERDICTS = [Verdict.from_line(line) for line in LINES]
NAMES = [path.replace(".", "_") for path in COLUMNS]


def decoded(data: Any) -> list[Any]:
    return [json.loads(encode(row, place)) for place, row in enumerate(rows_of(data).rows)]


def test_rows_are_any_mappings() -> None:
    expected = [ROWS[0], {key: value for key, value in ROWS[1].items() if value is not None}]
    assert decoded(ROWS) == expected
    assert decoded(iter(ROWS)) == expected
    assert (rows_of(ROWS).total, rows_of(iter(ROWS)).total) == (2, None)
    assert rows_of(ROWS).result(VERDICTS) is VERDICTS


@pytest.mark.parametrize("data", [{"question": ["1 + 1?"]}, 5, None])
def test_what_is_no_data_is_named(data: object) -> None:
    with pytest.raises(TypeError, match="data must be rows"):
        rows_of(data)


def test_values_that_json_has_not() -> None:
    numpy = pytest.importorskip("numpy")
    row = {
        "a": numpy.float32(0.5),
        "b": numpy.array([1, 2]),
        "c": float("nan"),
        "d": datetime.date(2026, 1, 2),
        "e": [numpy.int64(3)],
        "f": "\ud800é",
    }
    assert json.loads(encode(row, 0)) == {"a": 0.5, "b": [1, 2], "d": "2026-01-02", "e": [3], "f": "?é"}
    with pytest.raises(TypeError, match="`image` of row 7 cannot be written as JSON: it holds a object"):
        encode({"question": "?", "image": object()}, 7)
    with pytest.raises(TypeError, match="`a` of row 0 .*Out of range"):
        encode({"a": [float("nan")]}, 0)
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(TypeError, match="`deep` of row 0 cannot be written as JSON"):
        encode({"deep": deep}, 0)
    with pytest.raises(TypeError, match="row 3 is no mapping"):
        encode("question", 3)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


def test_a_data_frame_gives_one_with_its_index() -> None:
    pandas: Any = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, index=["x", "y"])
    assert decoded(frame) == [ROWS[0], {key: value for key, value in ROWS[1].items() if value is not None}]
    table = rows_of(frame).result(VERDICTS)
    assert list(table.index) == ["x", "y"]
    assert list(table.columns) == NAMES
    assert table.loc["x", "process"] and not table.loc["x", "outcome"]
    assert table.loc["y", "process"] is pandas.NA
    assert table["reward"].dropna().tolist() == [0.5]
    assert table.loc["x", "confidence_process"] == 0.25
    assert table.loc["x", "step_rewards"] == "[1.0, 0.0]"
    assert table.loc["y", "error"] == "no `question`"
    assert table["usage_prompt_tokens"].dtype == "Int64"
    assert len(rows_of(frame[:0]).result([])) == 0


def test_an_arrow_table_gives_one() -> None:
    pyarrow: Any = pytest.importorskip("pyarrow")
    rows = [{**row, "reference": "2"} for row in ROWS] * 1500
    table = pyarrow.Table.from_pylist(rows)
    assert len(decoded(table)) == rows_of(table).total == 3000
    found = rows_of(table).result(VERDICTS)
    assert found.column_names == NAMES
    assert found["process"].to_pylist() == [True, None]
    assert found["reward"].to_pylist() == [0.5, None]
    assert found.schema == rows_of(table).result([]).schema


def test_a_dataset_gives_one() -> None:
    datasets: Any = pytest.importorskip("datasets")
    data = datasets.Dataset.from_list([{**row, "reference": "2"} for row in ROWS]).with_format("numpy")
    assert decoded(data)[0] == {**ROWS[0], "reference": "2"}
    found = rows_of(data).result(VERDICTS)
    assert isinstance(found, datasets.Dataset)
    assert found.column_names == NAMES
    assert found["reward"][:] == [0.5, None]


def test_a_dataset_of_splits_gives_one() -> None:
    datasets: Any = pytest.importorskip("datasets")
    split = datasets.Dataset.from_list([{**row, "reference": "2"} for row in ROWS])
    data = datasets.DatasetDict(train=split.select([0]), test=split.select([1]))
    assert [row["question"] for row in decoded(data)] == ["1 + 1?", "2 + 2?"]
    assert rows_of(data).total == 2
    found = rows_of(data).result(VERDICTS)
    assert isinstance(found, datasets.DatasetDict)
    assert {name: part["status"][:] for name, part in found.items()} == {"train": ["ok"], "test": ["failed"]}


def test_a_frame_of_polars_gives_one() -> None:
    polars: Any = pytest.importorskip("polars")
    frame = polars.DataFrame([{**row, "reference": "2"} for row in ROWS])
    assert decoded(frame)[0] == {**ROWS[0], "reference": "2"}
    assert rows_of(frame).total == 2
    found = rows_of(frame).result(VERDICTS)
    assert isinstance(found, polars.DataFrame) and found.columns == NAMES
    assert found["reward"].to_list() == [0.5, None] and found["process"].to_list() == [True, None]
    assert found.schema == rows_of(frame[:0]).result([]).schema


def test_what_hands_over_arrow_is_rows() -> None:
    pyarrow: Any = pytest.importorskip("pyarrow")
    batch = pyarrow.RecordBatch.from_pylist([{**row, "reference": "2"} for row in ROWS])

    class Relation:
        """As DuckDB's: no class that this package knows."""

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return batch.__arrow_c_stream__(requested_schema)

    reader = pyarrow.RecordBatchReader.from_batches(batch.schema, [batch])
    for data in (batch, reader, Relation()):
        rows = rows_of(data)
        assert [json.loads(encode(row, 0))["question"] for row in rows.rows] == ["1 + 1?", "2 + 2?"]
        assert isinstance(rows.result(VERDICTS), pyarrow.Table)
