//! Files that claim what they do not hold, and files with the format's later encodings.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::metadata::{
    ColumnChunkMetaDataBuilder, ParquetMetaDataReader, ParquetMetaDataWriter,
};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::*;

/// The rows of a file as JSON, or the reason why it is refused.
fn read(bytes: &[u8]) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rows.parquet");
    fs::write(&path, bytes).unwrap();
    let input = Bytes::new(
        "rows.parquet".into(),
        File::open(&path).unwrap(),
        LineLimit::DEFAULT,
        true,
    );
    let text = |error: DatasetError| error.to_string();
    let mut parquet = Parquet::new(input.map_err(text)?, Some(&path), None).map_err(text)?;
    let (mut rows, mut row) = (Vec::new(), Vec::new());
    while parquet.next(&mut row).map_err(text)? == Next::Row {
        rows.push(String::from_utf8(row.clone()).unwrap());
    }
    Ok(rows)
}

fn refused(bytes: &[u8], why: &str) {
    let error = read(bytes).unwrap_err();
    assert!(error.contains(why) && error.len() < 400, "{why}: {error}");
}

/// A file of two rows and two columns.
fn two_rows() -> Vec<u8> {
    with_responses(" (UTF8)", &["ab".into(), "cd".into()])
}

/// Such a file with these responses, of this kind.
fn with_responses(kind: &str, responses: &[ByteArray]) -> Vec<u8> {
    let schema =
        format!("message schema {{ required binary id (UTF8); required binary response{kind}; }}");
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    for texts in [&["a".into(), "b".into()], responses] {
        let mut column = group.next_column().unwrap().unwrap();
        column
            .typed::<ByteArrayType>()
            .write_batch(texts, None, None)
            .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

/// The file with another footer: of so many rows, its columns changed.
fn claiming(
    rows: i64,
    column: impl Fn(ColumnChunkMetaDataBuilder, i64) -> ColumnChunkMetaDataBuilder,
) -> Vec<u8> {
    let mut bytes = two_rows();
    let length = i64::try_from(bytes.len()).unwrap();
    let metadata = ParquetMetaDataReader::new()
        .parse_and_finish(&::bytes::Bytes::from(bytes.clone()))
        .unwrap();
    let group = metadata.row_group(0);
    let columns = group.columns().iter().map(|old| {
        let new = old.clone().into_builder().set_num_values(rows);
        column(new, length).build().unwrap()
    });
    let group = group.clone().into_builder();
    let group = group
        .set_num_rows(rows)
        .set_column_metadata(columns.collect());
    let claims = metadata.into_builder();
    let claims = claims.set_row_groups(vec![group.build().unwrap()]).build();
    ParquetMetaDataWriter::new(&mut bytes, &claims)
        .finish()
        .unwrap();
    bytes
}

#[test]
fn what_a_footer_claims_is_held_against_the_file() {
    let honest = read(&claiming(2, |column, _| column)).unwrap();
    assert_eq!(honest[1], r#"{"id":"b","response":"cd"}"#);
    for rows in [1 << 30, i64::MAX] {
        refused(&claiming(rows, |column, _| column), "out of proportion");
    }
    refused(&claiming(-1, |column, _| column), "negative number of rows");
    let outside = "a column lies outside the file";
    for from in [-1, 1 << 40, i64::MAX] {
        refused(
            &claiming(2, |column, _| column.set_dictionary_page_offset(Some(from))),
            outside,
        );
    }
    for size in [-1, 1 << 40] {
        refused(
            &claiming(2, |column, _| column.set_total_compressed_size(size)),
            outside,
        );
    }
    refused(
        &claiming(2, |column, length| {
            column
                .set_total_compressed_size(length)
                .set_dictionary_page_offset(Some(4))
        }),
        "columns lie on top of each other",
    );
    refused(
        &claiming(2, |column, _| column.set_num_values(3)),
        "a column has 3 values in 2 rows",
    );
    refused(
        &claiming(2, |column, _| column.set_num_values(1)),
        "a column has 1 values in 2 rows",
    );
}

#[test]
fn an_end_that_is_no_footer_is_refused() {
    let whole = two_rows();
    let cut = "cut off or damaged";
    for end in 0..whole.len() {
        let error = read(&whole[..end]).unwrap_err();
        assert!(error.contains(cut), "{end}: {error}");
    }
    let ending = |size: u32, magic: &[u8]| {
        let before = &whole[..whole.len() - 8];
        [before, &size.to_le_bytes()[..], magic].concat()
    };
    refused(&ending(u32::MAX, MAGIC), cut);
    refused(&ending(whole.len() as u32 - 11, MAGIC), cut);
    refused(&ending(10, b"PARE"), "its footer is encrypted");
    // More than is read, in a file that is large enough.
    let long = (64 << 20) + 1;
    let large = [
        MAGIC,
        &vec![0; long as usize],
        &u32::to_le_bytes(long),
        MAGIC,
    ];
    refused(&large.concat(), "more than 67108864");
}

#[test]
fn a_changed_byte_ends_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/rows");
    for name in ["verl", "datasets", "duckdb"] {
        let whole = fs::read(folder.join(format!("{name}.parquet"))).unwrap();
        let mut refusals = 0;
        for at in (0..whole.len()).step_by(7) {
            let mut changed = whole.clone();
            changed[at] ^= 0x55;
            refusals += usize::from(read(&changed).is_err());
        }
        assert!(refusals > 10, "{name}: {refusals}");
    }
}

#[test]
fn bytes_that_are_no_text_are_nobodys_text() {
    let rows = read(&with_responses("", &[vec![0xff].into(), "cd".into()]));
    let expected = [
        r#"{"id":"a","response":{"base64":"/w=="}}"#,
        r#"{"id":"b","response":"cd"}"#,
    ];
    assert_eq!(rows.unwrap(), expected);
    let long = ByteArray::from(vec![0xff; 5000]);
    let error = read(&with_responses(" (UTF8)", &[long, "cd".into()])).unwrap_err();
    assert!(error.contains("cannot be read as Parquet"), "{error}");
    assert!(error.len() < 400, "{} bytes", error.len());
}

#[test]
fn later_encodings_are_read() {
    let schema = "message schema { required binary id (UTF8); repeated binary tags (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let texts = |count: usize| -> Vec<ByteArray> {
        let text = |at: usize| format!("{}{at}", "the same beginning ".repeat(at % 40));
        (0..count).map(|at| text(at).into_bytes().into()).collect()
    };
    for encoding in [
        Encoding::DELTA_BYTE_ARRAY,
        Encoding::DELTA_LENGTH_BYTE_ARRAY,
        Encoding::PLAIN,
    ] {
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_dictionary_enabled(false)
                .set_encoding(encoding)
                .set_compression(Compression::SNAPPY)
                .set_data_page_row_count_limit(300)
                .set_write_batch_size(100)
                .build();
            let mut bytes = Vec::new();
            let mut writer =
                SerializedFileWriter::new(&mut bytes, Arc::clone(&schema), Arc::new(properties))
                    .unwrap();
            let mut group = writer.next_row_group().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            column
                .typed::<ByteArrayType>()
                .write_batch(&texts(1000), None, None)
                .unwrap();
            column.close().unwrap();
            let mut column = group.next_column().unwrap().unwrap();
            // Rows of three.
            let repetition: Vec<i16> = (0..3000).map(|at| i16::from(at % 3 > 0)).collect();
            column
                .typed::<ByteArrayType>()
                .write_batch(&texts(3000), Some(&[1; 3000]), Some(&repetition))
                .unwrap();
            column.close().unwrap();
            group.close().unwrap();
            writer.close().unwrap();
            let rows = read(&bytes).unwrap();
            assert_eq!(rows.len(), 1000, "{encoding} {version:?}");
            let row: serde_json::Value = serde_json::from_str(&rows[999]).unwrap();
            assert_eq!(
                row["id"],
                format!("{}999", "the same beginning ".repeat(39))
            );
            assert_eq!(
                row["tags"][2],
                format!("{}2999", "the same beginning ".repeat(39))
            );
        }
    }
}
