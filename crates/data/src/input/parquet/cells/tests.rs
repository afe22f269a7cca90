//! Files that other programs wrote (`scripts/golden_rows.py`), value by value.

use std::path::Path;

use serde_json::{Value, json};

use crate::input::{LineLimit, Next, Source};
use crate::json_text::JsonText;

/// The rows of a file of `tests/data/rows` as they are written, before words are null.
fn rows(name: &str) -> Result<Vec<String>, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rows");
    let source = Source::File(folder.join(name));
    let mut reader = source
        .open(LineLimit::DEFAULT, None, &[])
        .map_err(|error| error.to_string())?;
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    while reader.next(&mut row).unwrap() == Next::Row {
        rows.push(String::from_utf8(row.clone()).unwrap());
    }
    Ok(rows)
}

fn values(name: &str) -> Vec<Value> {
    let read = |row: &String| serde_json::from_str(JsonText::new(row).as_str()).unwrap();
    rows(name).unwrap().iter().map(read).collect()
}

#[test]
fn class_labels_are_their_names_wherever_they_are() {
    let common = json!({
        "labels": ["incorrect", "correct"],
        "nested": {"label": "incorrect", "text": "a"},
        "objects": [{"label": "correct"}, {"label": "incorrect"}],
        "lists": [["correct"], ["incorrect", "correct"]],
        "plain": 1,
        "date": "2024-01-02",
        "moment": "2024-01-02 10:30:00.500+00:00",
        "day": "2024-01-02",
        "time": "10:30:00",
        "duration": "00:01:30",
        "decimal": "1.50",
    });
    let own = [
        (json!("correct"), json!("Paris")),
        (json!("incorrect"), json!({"a": [1, null]})),
        // -1 is a label that is not known.
        (Value::Null, json!(5)),
    ];
    for (row, (label, document)) in values("datasets.parquet").into_iter().zip(own) {
        let mut expected = common.clone();
        expected["label"] = label;
        expected["json"] = document;
        assert_eq!(row, expected);
    }
    let last = rows("datasets.parquet").unwrap().pop().unwrap();
    let text = JsonText::new(&last);
    let null = text.as_str().find("null").unwrap();
    assert_eq!(text.word(null), Some("a class label without a name"));
}

#[test]
fn values_of_polars_are_read() {
    let texts = rows("polars.parquet").unwrap();
    // Parquet has no whole numbers of 128 bits: they are bytes, which are nobody's answer.
    assert!(texts[1].starts_with(
        r#"{"i128":{"base64":"+////////////////////w=="},"u128":{"base64":"BQAAAAAAAAAAAAAAAAAAAA=="},"#
    ));
    assert!(
        texts[1].contains(r#""f32":NaN,"f64":-Infinity"#),
        "{}",
        texts[1]
    );
    let [first, second] = values("polars.parquet").try_into().unwrap();
    for (row, own) in [
        (
            first,
            json!({"moment": "2024-01-02", "time": "10:30:00", "duration": "26:00:00.02", "category": "a", "f16": 1.5, "f32": 0.1,
                "f64": 0.1, "durations": ["00:00:01"]}),
        ),
        (
            second,
            json!({"moment": "2024-01-02 10:30:00.500", "time": "10:30:01.000250", "duration": "-00:00:01", "category": "b", "f16": 0.1,
                "f32": null, "f64": null, "durations": []}),
        ),
    ] {
        let mut expected = json!({"i128": row["i128"], "u128": row["u128"], "nanoseconds": "2024-01-02 10:30:00.500",
            "zone": "2024-01-02 09:30:00.500+00:00", "day": "2024-01-02", "decimal": "1.50", "nulls": null});
        let all = expected.as_object_mut().unwrap();
        all.extend(own.as_object().unwrap().clone());
        assert_eq!(row, expected);
    }
}

#[test]
fn values_of_duckdb_are_read() {
    let expected = json!({
        "day": "2024-01-02", "time": "10:30:00", "nanoseconds": "10:30:00.000000001", "zoned_time": "08:30:00+00:00",
        "moment": "2024-01-02 10:30:00", "date": "2024-01-02", "fine": "2024-01-02 10:30:00.123456789",
        "zoned": "2024-01-02 00:00:00+00:00", "uuid": "12345678-1234-5678-1234-56789abcdef0", "price": "1.50", "small": 5,
        "interval": "1 year 2 days 00:01:30", "nothing": "00:00:00", "bits": "101", "json": "Paris", "infinite": null,
        "by_key": {"k": "2024-01-02"}, "object": {"inner": "10:30:00"},
    });
    assert_eq!(values("duckdb.parquet"), [expected]);
    assert!(rows("duckdb.parquet").unwrap()[0].contains(r#""infinite":Infinity"#));
}

#[test]
fn values_of_pyarrow_are_read() {
    let expected = json!({
        "seconds": "2024-01-02", "offset": "2024-01-02 00:00:00+00:00", "date64": "2024-01-02", "time32": "10:30:00",
        "duration": "00:01:30", "decimal256": "1.50", "u64": 18_446_744_073_709_551_615_u64, "bytes": "abcd", "dictionary": "a",
        "uuid": "00000000-0000-0000-0000-000000000005", "moments": ["2024-01-02 10:30:00.500"],
        "by_day": {"2024-01-02": "00:00:05"},
    });
    assert_eq!(values("pyarrow.parquet"), [expected]);
    assert_eq!(
        values("int96.parquet"),
        [json!({"old": "2024-01-02 10:30:00.500"})]
    );
    let error = rows("brotli.parquet").unwrap_err();
    assert!(
        error.contains("it is compressed with Brotli, which is not read: write it with zstd"),
        "{error}"
    );
}
