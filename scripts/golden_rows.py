"""Writes the Parquet files of tests/data/rows: rows as verl keeps them, with lists and nested columns, and a row of every type that a
column may have, as datasets, polars, DuckDB and pyarrow write it.

    pip install datasets==5.2.0 polars==2.1.0 duckdb==2.0.1 pyarrow==26.0.1 && python scripts/golden_rows.py
"""
import datetime
import decimal
import uuid

import datasets
import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = [
    {
        "data_source": "openai/gsm8k",
        "prompt": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": question},
        ],
        "reward_model": {"style": "rule", "ground_truth": answer},
        "extra_info": {"index": index, "split": "train"},
        "responses": responses,
    }
    for index, (question, answer, responses) in enumerate(
        [
            ("Tom has 12 apples and buys 5. How many?", "17", ["12 + 5 = 17", "12 + 5 = 18"]),
            ("Ann has 9 pens and loses 4. How many?", "5", ["9 - 4 = 5", "9 - 4 = 6"]),
        ]
    )
]
FOLDER = "tests/data/rows"
DAY, HALF_PAST_TEN = datetime.date(2024, 1, 2), datetime.time(10, 30)
MIDNIGHT = datetime.datetime(2024, 1, 2)
MORNING = datetime.datetime(2024, 1, 2, 10, 30, 0, 500000)
PRICE = decimal.Decimal("1.50")


def of_datasets() -> None:
    """Class labels wherever they may be, and values of the types of `datasets`."""
    label = datasets.ClassLabel(names=["correct", "incorrect"])
    value = datasets.Value
    features = {
        "label": label,
        "labels": datasets.List(label),
        "nested": {"label": label, "text": value("string")},
        "objects": [{"label": label}],
        "lists": datasets.List(datasets.List(label)),
        "plain": value("int64"),
        "json": datasets.Json(),
        "date": value("timestamp[s]"),
        "moment": value("timestamp[us, tz=UTC]"),
        "day": value("date32"),
        "time": value("time64[us]"),
        "duration": value("duration[us]"),
        "decimal": value("decimal128(10, 2)"),
    }
    rows = [
        {
            "label": index,
            "labels": [1, 0],
            "nested": {"label": 1, "text": "a"},
            "objects": [{"label": 0}, {"label": 1}],
            "lists": [[0], [1, 0]],
            "plain": 1,
            "json": document,
            "date": MIDNIGHT,
            "moment": MORNING.replace(tzinfo=datetime.timezone.utc),
            "day": DAY,
            "time": HALF_PAST_TEN,
            "duration": datetime.timedelta(seconds=90),
            "decimal": PRICE,
        }
        for index, document in [(0, "Paris"), (1, {"a": [1, None]}), (-1, 5)]
    ]
    datasets.Dataset.from_list(rows, features=datasets.Features(features)).to_parquet(f"{FOLDER}/datasets.parquet")
    features = {
        "id": value("string"),
        "question": value("string"),
        "reference": datasets.ClassLabel(names=["five", "4"]),
        "response": value("string"),
        "outcome_label": label,
        "step": value("int32"),
    }
    # The last row's label is not known.
    labelled = [("a", 1, "4", 0), ("b", 1, "5", 1), ("c", 1, "4", -1)]
    rows = [
        {"id": name, "question": "2 + 2?", "reference": index, "response": said, "outcome_label": outcome, "step": 7}
        for name, index, said, outcome in labelled
    ]
    datasets.Dataset.from_list(rows, features=datasets.Features(features)).to_parquet(f"{FOLDER}/class_labels.parquet")


def of_polars() -> None:
    columns = {
        "i128": polars.Series([2**100, -5], dtype=polars.Int128),
        "u128": polars.Series([2**127 + 1, 5], dtype=polars.UInt128),
        "moment": [MIDNIGHT, MORNING],
        "nanoseconds": polars.Series([MORNING] * 2, dtype=polars.Datetime("ns")),
        "zone": polars.Series([MORNING] * 2).dt.replace_time_zone("Europe/Berlin"),
        "day": [DAY] * 2,
        "time": [HALF_PAST_TEN, datetime.time(10, 30, 1, 250)],
        "duration": [datetime.timedelta(hours=26, milliseconds=20), datetime.timedelta(seconds=-1)],
        "decimal": polars.Series([PRICE] * 2, dtype=polars.Decimal(20, 2)),
        "category": polars.Series(["a", "b"], dtype=polars.Categorical),
        "f16": polars.Series([1.5, 0.1], dtype=polars.Float16),
        "f32": polars.Series([0.1, float("nan")], dtype=polars.Float32),
        "f64": [0.1, float("-inf")],
        "durations": [[datetime.timedelta(seconds=1)], []],
        "nulls": [None, None],
    }
    polars.DataFrame(columns).write_parquet(f"{FOLDER}/polars.parquet")


def of_duckdb() -> None:
    duckdb.sql(
        """
        copy (select DATE '2024-01-02' as day, TIME '10:30:00' as time, TIME_NS '10:30:00.000000001' as nanoseconds,
          TIMETZ '10:30:00+02' as zoned_time, TIMESTAMP '2024-01-02 10:30:00' as moment, TIMESTAMP_S '2024-01-02 00:00:00' as date,
          TIMESTAMP_NS '2024-01-02 10:30:00.123456789' as fine, make_timestamptz(1704153600000000) as zoned,
          '12345678-1234-5678-1234-56789abcdef0'::UUID as uuid, 1.50::DECIMAL(10, 2) as price, 5::UTINYINT as small,
          INTERVAL '1 year 2 days 90 seconds' as interval, INTERVAL 0 SECOND as nothing, '101'::BIT as bits,
          '"Paris"'::JSON as json, 'Infinity'::DOUBLE as infinite, map {'k': DATE '2024-01-02'} as by_key,
          {'inner': TIME '10:30:00'} as object) to '"""
        + FOLDER
        + "/duckdb.parquet'"
    )


def of_pyarrow() -> None:
    columns = {
        "seconds": pa.array([1704153600], pa.timestamp("s")),
        "offset": pa.array([1704153600000], pa.timestamp("ms", "+05:30")),
        "date64": pa.array([1704153600000], pa.date64()),
        "time32": pa.array([37800], pa.time32("s")),
        "duration": pa.array([90], pa.duration("s")),
        "decimal256": pa.array([PRICE], pa.decimal256(50, 2)),
        "u64": pa.array([2**64 - 1], pa.uint64()),
        "bytes": pa.array([b"abcd"], pa.binary(4)),
        "dictionary": pa.array(["a"]).dictionary_encode(),
        "uuid": pa.array([uuid.UUID(int=5).bytes], pa.uuid()),
        "moments": pa.array([[MORNING]]),
        "by_day": pa.array([[(DAY, datetime.timedelta(seconds=5))]], pa.map_(pa.date32(), pa.duration("us"))),
    }
    pq.write_table(pa.table(columns), f"{FOLDER}/pyarrow.parquet")
    pq.write_table(pa.table({"old": pa.array([MORNING])}), f"{FOLDER}/int96.parquet", use_deprecated_int96_timestamps=True)
    pq.write_table(pa.table({"a": ["b"]}), f"{FOLDER}/brotli.parquet", compression="brotli")


if __name__ == "__main__":
    pq.write_table(pa.Table.from_pylist(ROWS), f"{FOLDER}/verl.parquet", compression="zstd")
    of_datasets()
    of_polars()
    of_duckdb()
    of_pyarrow()
