"""Files that the packages for tables write, read by `juror`, and its tables, read by them."""

# pyright: basic, reportMissingImports=false

from __future__ import annotations

import datetime
import json
import math
import subprocess
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

datasets = pytest.importorskip("datasets")
duckdb = pytest.importorskip("duckdb")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402
from shared import binary  # noqa: E402

DAY = datetime.date(2024, 1, 2)
MIDNIGHT = datetime.datetime(2024, 1, 2)
MORNING = datetime.datetime(2024, 1, 2, 10, 30)
NAME = uuid.UUID("12345678-1234-5678-1234-56789abcdef0")
WIDE = 2**100


def juror(*arguments: object, code: int = 0, or_code: int = 0) -> str:
    """What a command says, ended with this exit code."""
    done = subprocess.run([binary(), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode in (code, or_code or code), done.stderr
    return done.stdout + done.stderr


def judged(file: Path, *more: str) -> list[dict[str, Any]]:
    """The verdicts of the rules on a file."""
    out = file.with_name("verdicts.jsonl")
    juror("judge", file, "--rules", "only", "-o", out, "--restart", *more, or_code=3)
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def references(file: Path) -> list[Any]:
    """The reference of each row, as it is read."""
    return [verdict["input"]["reference"] for verdict in judged(file, "--keep", "reference")]


def accuracy(verdicts: Path, *labels: object) -> tuple[int, int]:
    """How many of the labels the outcomes agree with."""
    scores = verdicts.with_name("scores.json")
    juror("eval", verdicts, *(["--labels", *labels] if labels else []), "--json", scores, "--force")
    of_outcome = json.loads(scores.read_text(encoding="utf-8"))["judges"][0]["all"]["tasks"]["outcome"]["accuracy"]
    return of_outcome["count"], of_outcome["all"]


def rows(values: list[Any]) -> dict[str, list[Any]]:
    """Rows with these references, whose responses are wrong."""
    count = len(values)
    return {"question": ["When, or which?"] * count, "reference": values, "response": ["zzz"] * count}


LABELS = datasets.ClassLabel(names=["correct", "incorrect"])
LABELLED = [("a", 1, "4", 0), ("b", 1, "5", 1), ("c", 1, "4", -1)]


def test_class_labels_are_their_names(tmp_path: Path) -> None:
    features = {
        "id": datasets.Value("string"),
        "question": datasets.Value("string"),
        "answers": datasets.List({"of": datasets.ClassLabel(names=["five", "4"])}),
        "response": datasets.Value("string"),
        "outcome_label": LABELS,
    }
    said = [
        {"id": name, "question": "2 + 2?", "answers": [{"of": index}], "response": text, "outcome_label": label}
        for name, index, text, label in LABELLED
    ]
    file = tmp_path / "rows.parquet"
    datasets.Dataset.from_list(said, features=datasets.Features(features)).to_parquet(str(file))
    found = judged(file, "--columns", "reference=answers[*].of", "--keep", "outcome_label")
    assert [verdict["outcome"] for verdict in found] == [True, False, True]
    assert [verdict["input"]["outcome_label"] for verdict in found] == ["correct", "incorrect", None]
    verdicts = tmp_path / "verdicts.jsonl"
    assert accuracy(verdicts, file) == (2, 2) and accuracy(verdicts) == (2, 2)
    message = juror("judge", file, "--rules", "only", "--columns", "reference=outcome_label", code=2)
    assert "a class label without a name" in message


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("timestamp[s]", [MIDNIGHT, MORNING], ["2024-01-02", "2024-01-02 10:30:00"]),
        ("timestamp[us, tz=UTC]", [MIDNIGHT.replace(tzinfo=datetime.timezone.utc)], ["2024-01-02 00:00:00+00:00"]),
        ("date32", [DAY], ["2024-01-02"]),
        ("date64", [DAY], ["2024-01-02"]),
        ("time32[s]", [datetime.time(10, 30)], ["10:30:00"]),
        ("time64[us]", [datetime.time(10, 30)], ["10:30:00"]),
        ("duration[us]", [datetime.timedelta(seconds=90)], ["00:01:30"]),
        ("uint64", [7], [7]),
        ("float16", [0.1], [0.1]),
        ("large_string", ["NaN"], ["NaN"]),
    ],
)
def test_values_of_datasets(tmp_path: Path, kind: str, values: list[Any], expected: list[Any]) -> None:
    text = datasets.Value("string")
    features = datasets.Features({"question": text, "reference": datasets.Value(kind), "response": text})
    file = tmp_path / "rows.parquet"
    datasets.Dataset.from_dict(rows(values), features=features).to_parquet(str(file))
    assert references(file) == expected


def test_a_document_of_json_is_itself(tmp_path: Path) -> None:
    text = datasets.Value("string")
    features = datasets.Features({"question": text, "reference": datasets.Json(), "response": text})
    file = tmp_path / "rows.parquet"
    datasets.Dataset.from_dict(rows(["Paris", 42]), features=features).to_parquet(str(file))
    assert references(file) == ["Paris", 42]
    duckdb.sql(f"""copy (select 'q' as question, '"Paris"'::JSON as reference, 'Paris' as response) to '{file}'""")
    assert references(file) == ["Paris"]


def test_values_of_polars(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    for values, expected in [
        (polars.Series([MIDNIGHT, MORNING]), ["2024-01-02", "2024-01-02 10:30:00"]),
        (polars.Series([MORNING]).dt.replace_time_zone("Europe/Berlin"), ["2024-01-02 09:30:00+00:00"]),
        (polars.Series([datetime.time(10, 30)]), ["10:30:00"]),
        (polars.Series([datetime.timedelta(hours=-26)]), ["-26:00:00"]),
        (polars.Series(["a"], dtype=polars.Enum(["b", "a"])), ["a"]),
    ]:
        polars.DataFrame({**rows([None] * len(values)), "reference": values}).write_parquet(file)
        assert references(file) == expected
    polars.DataFrame({**rows([0]), "reference": polars.Series([WIDE], dtype=polars.Int128)}).write_parquet(file)
    assert str(WIDE) in juror("prompts", "render", file)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("DATE '2024-01-02'", "2024-01-02"),
        ("TIMESTAMP_S '2024-01-02 00:00:00'", "2024-01-02"),
        ("TIMESTAMP_NS '2024-01-02 10:30:00'", "2024-01-02 10:30:00"),
        ("make_timestamptz(1704191400000000)", "2024-01-02 10:30:00+00:00"),
        ("TIME '10:30:00'", "10:30:00"),
        ("TIMETZ '10:30:00+02'", "08:30:00+00:00"),
        (f"'{NAME}'::UUID", str(NAME)),
        ("1.50::DECIMAL(10, 2)", "1.50"),
        ("INTERVAL '1 month 2 days 90 seconds'", "1 month 2 days 00:01:30"),
        ("5::UTINYINT", 5),
    ],
)
def test_values_of_duckdb(tmp_path: Path, value: str, expected: Any) -> None:
    file = tmp_path / "rows.parquet"
    duckdb.sql(f"copy (select 'q' as question, {value} as reference, 'zzz' as response) to '{file}'")
    assert references(file) == [expected]


def test_values_of_pyarrow(tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    for values, expected in [
        (pa.array([MIDNIGHT], pa.timestamp("ns")), "2024-01-02"),
        (pa.array([NAME.bytes], pa.uuid()), str(NAME)),
        (pa.array(["a"]).dictionary_encode(), "a"),
        (pa.array([5], pa.duration("s")), "00:00:05"),
    ]:
        table = pa.table({**rows([0]), "reference": values})
        for options in ({}, {"compression": "zstd"}, {"version": "1.0", "coerce_timestamps": "us"}):
            pq.write_table(table, file, **options)
            assert references(file) == [expected], options
    pq.write_table(table, file, compression="brotli")
    assert "compressed with Brotli" in juror("judge", file, "--rules", "only", code=2)


def of_json(rows: list[dict[str, Any]], file: Path) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def of_duckdb(rows: list[dict[str, Any]], file: Path) -> None:
    table = pa.Table.from_pylist(rows)
    connection = duckdb.connect()
    connection.register("rows", table)
    connection.sql(f"copy rows to '{file}' (format json)")


def of_pandas(rows: list[dict[str, Any]], file: Path) -> None:
    pandas.DataFrame(rows).to_csv(file.with_suffix(".csv"), index=False)


@pytest.mark.parametrize("write", [of_json, of_duckdb, of_pandas])
def test_nan_in_a_key_that_is_not_needed(tmp_path: Path, write: Callable[..., None]) -> None:
    """As each writes what is no number, also for a label that is missing."""
    said = [
        {"id": "a", "question": "2 + 2?", "reference": "4", "response": "4", "score": math.nan, "outcome_label": 1.0},
        {"id": "b", "question": "NaN, 2 + 2?", "reference": "4", "response": "5", "score": math.inf, "outcome_label": 0.0},
        {"id": "c", "question": "2 + 2?", "reference": "4", "response": "4", "score": -math.inf, "outcome_label": math.nan},
    ]
    file = tmp_path / "rows.jsonl"
    write(said, file)
    if not file.exists():
        file = file.with_suffix(".csv")
    found = judged(file)
    assert [verdict["outcome"] for verdict in found] == [True, False, True]
    assert "3 pairs: 2 equal" in juror("verify", file)
    assert accuracy(tmp_path / "verdicts.jsonl", file) == (2, 2)


def test_files_of_arrow_are_named(tmp_path: Path) -> None:
    datasets.Dataset.from_dict(rows(["4"])).save_to_disk(str(tmp_path / "saved"))
    assert "load_from_disk" in juror("judge", tmp_path / "saved", "--rules", "only", code=2)
    polars.DataFrame(rows(["4"])).write_ipc(tmp_path / "rows.arrow")
    assert "Arrow" in juror("verify", tmp_path / "rows.arrow", code=2)


def test_kept_keys_keep_their_types(tmp_path: Path) -> None:
    said = [{**row, "step": 17, "rate": 0.5, "mixed": mixed} for row, mixed in zip(pa.table(rows(["4"] * 2)).to_pylist(), (1, "b"))]
    file, out = tmp_path / "rows.jsonl", tmp_path / "verdicts.parquet"
    of_json(said, file)
    juror("judge", file, "--rules", "only", "--keep", "step,rate,mixed", "-o", out)
    frame = polars.read_parquet(out)
    kinds = [frame.schema[f"input.{key}"] for key in ("step", "rate", "mixed")]
    assert kinds == [polars.Int64, polars.Float64, polars.String]
    assert duckdb.sql(f"""select sum("input.step") from '{out}'""").fetchall() == [(34,)]
