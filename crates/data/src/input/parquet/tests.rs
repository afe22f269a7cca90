//! Malicious files, written byte by byte, and files with the format's later encodings.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::properties::{WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use super::pages::Held;
use super::*;

const NUMBER: u8 = 5;
const LONG: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;
const BOOLEAN: u64 = 0;
const BYTE_ARRAY: u64 = 6;
const PLAIN: u64 = 0;
const RLE: u64 = 3;
const DELTA_LENGTHS: u64 = 6;
const DICTIONARY: u64 = 8;
const ZSTD: u64 = 6;

/// A struct of Thrift, field by field.
#[derive(Clone, Default)]
struct Fields(Vec<u8>, u8);

fn size(mut size: u64, out: &mut Vec<u8>) {
    while size > 127 {
        out.push(size as u8 | 128);
        size >>= 7;
    }
    out.push(size as u8);
}

impl Fields {
    fn head(mut self, id: u8, kind: u8) -> Self {
        self.0.push((id - self.1) << 4 | kind);
        self.1 = id;
        self
    }

    fn number(self, id: u8, number: u64) -> Self {
        let mut this = self.head(id, NUMBER);
        size(number << 1, &mut this.0);
        this
    }

    /// A number of 64 bits.
    fn long(self, id: u8, number: u64) -> Self {
        let mut this = self.head(id, LONG);
        size(number << 1, &mut this.0);
        this
    }

    fn text(self, id: u8, text: &str) -> Self {
        let mut this = self.head(id, BINARY);
        size(text.len() as u64, &mut this.0);
        this.0.extend(text.bytes());
        this
    }

    fn inner(self, id: u8, inner: &Self) -> Self {
        let mut this = self.head(id, STRUCT);
        this.0.extend(inner.end());
        this
    }

    fn list(self, id: u8, list: &[Self]) -> Self {
        let mut this = self.head(id, LIST);
        this.0.push(0xf0 | STRUCT);
        size(list.len() as u64, &mut this.0);
        for one in list {
            this.0.extend(one.end());
        }
        this
    }

    fn end(&self) -> Vec<u8> {
        [&self.0[..], &[0]].concat()
    }
}

fn group(name: &str, children: u64) -> Fields {
    Fields::default()
        .number(3, 0)
        .text(4, name)
        .number(5, children)
}

/// A column: required, optional or repeated.
fn leaf(name: &str, kind: u64, repetition: u64) -> Fields {
    Fields::default()
        .number(1, kind)
        .number(3, repetition)
        .text(4, name)
}

/// A file with this schema and one row group, whose columns have these pages.
fn file(schema: &[Fields], rows: u64, codec: u64, columns: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    let mut chunks = Vec::new();
    for pages in columns {
        let mut metadata = Fields::default().number(1, BYTE_ARRAY).head(2, LIST);
        metadata.0.push(1 << 4 | NUMBER);
        size(PLAIN << 1, &mut metadata.0);
        let length = pages.len() as u64;
        let metadata = metadata
            .number(4, codec)
            .long(5, rows)
            .long(6, length)
            .long(7, length)
            .long(9, bytes.len() as u64);
        chunks.push(Fields::default().long(2, 0).inner(3, &metadata));
        bytes.extend(pages);
    }
    let group = Fields::default().list(1, &chunks).long(2, 0).long(3, rows);
    let footer = Fields::default()
        .number(1, 2)
        .list(2, schema)
        .long(3, rows)
        .list(4, &[group])
        .end();
    bytes.extend(&footer);
    bytes.extend((footer.len() as u32).to_le_bytes());
    bytes.extend(MAGIC);
    bytes
}

fn data_page(values: u64, encoding: u64, claimed: u64, data: &[u8]) -> Vec<u8> {
    let header = Fields::default()
        .number(1, values)
        .number(2, encoding)
        .number(3, RLE)
        .number(4, RLE);
    page(0, claimed, 5, &header, data)
}

fn page(kind: u64, claimed: u64, id: u8, header: &Fields, data: &[u8]) -> Vec<u8> {
    let mut bytes = Fields::default()
        .number(1, kind)
        .number(2, claimed)
        .number(3, data.len() as u64)
        .inner(id, header)
        .end();
    bytes.extend(data);
    bytes
}

fn dictionary(entries: u64, data: &[u8]) -> Vec<u8> {
    let header = Fields::default().number(1, entries).number(2, PLAIN);
    page(2, data.len() as u64, 7, &header, data)
}

/// A text as stored in a page.
fn plain(text: &[u8]) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes()[..], text].concat()
}

/// Levels: `first` ones of 0, then `rest` ones of `value`.
fn levels(first: u64, rest: u64, value: u8) -> Vec<u8> {
    let mut runs = Vec::new();
    if first > 0 {
        size(first << 1, &mut runs);
        runs.push(0);
    }
    size(rest << 1, &mut runs);
    runs.push(value);
    plain(&runs)
}

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

fn root(children: u64) -> Fields {
    Fields::default().text(4, "schema").number(5, children)
}

#[test]
fn a_file_written_by_hand_is_read() {
    let text = leaf("response", BYTE_ARRAY, 0);
    let pages = data_page(2, PLAIN, 12, &[plain(b"ab"), plain(b"cd")].concat());
    let rows = read(&file(&[root(1), text], 2, 0, &[pages])).unwrap();
    assert_eq!(rows, [r#"{"response":"ab"}"#, r#"{"response":"cd"}"#]);
    // A list of three.
    let list = leaf("l", BYTE_ARRAY, 2);
    let data = [
        levels(1, 2, 1),
        levels(0, 3, 1),
        plain(b"a"),
        plain(b"b"),
        plain(b"c"),
    ]
    .concat();
    let pages = data_page(3, PLAIN, data.len() as u64, &data);
    let rows = read(&file(&[root(1), list], 1, 0, &[pages])).unwrap();
    assert_eq!(rows, [r#"{"l":["a","b","c"]}"#]);
}

#[test]
fn what_a_schema_claims_is_held_against_the_file() {
    let deep: Vec<Fields> = std::iter::once(root(1))
        .chain((0..5000).map(|_| group("g", 1)))
        .chain([leaf("x", BYTE_ARRAY, 0)])
        .collect();
    refused(&file(&deep, 0, 0, &[]), "nested more than 64 deep");
    for children in [2, 1 << 31, u64::MAX >> 1] {
        let schema = [root(children), leaf("x", BYTE_ARRAY, 0)];
        refused(
            &file(&schema, 0, 0, &[]),
            "columns in one group, and 1 follow",
        );
    }
    let wide = (0..10_001).map(|at| leaf(&at.to_string(), BYTE_ARRAY, 0));
    let wide: Vec<Fields> = std::iter::once(root(10_001)).chain(wide).collect();
    refused(&file(&wide, 0, 0, &[]), "more than 10000 columns");
    // Each column's name includes that of its group.
    let long = "n".repeat(10_000);
    let named: Vec<Fields> = [root(1), group(&long, 1000)]
        .into_iter()
        .chain((0..1000).map(|_| leaf("x", BYTE_ARRAY, 0)))
        .collect();
    refused(&file(&named, 0, 0, &[]), "names of its columns");
    refused(&file(&[root(0), root(0)], 0, 0, &[]), "no tree");
}

#[test]
fn rows_are_held_against_the_file() {
    for rows in [1_000_000_000, u64::MAX >> 2] {
        refused(
            &file(&[root(1), leaf("x", BOOLEAN, 1)], rows, 0, &[]),
            "out of proportion",
        );
        refused(&file(&[root(0)], rows, 0, &[]), "out of proportion");
    }
    let columns: Vec<Fields> = std::iter::once(root(1000))
        .chain((0..1000).map(|_| leaf("x", BOOLEAN, 1)))
        .collect();
    refused(
        &file(&columns, 1_000_000, 0, &[]),
        "1000000 rows of 1000 columns",
    );
}

#[test]
fn what_pages_claim_is_held_against_memory() {
    let text = [root(1), leaf("x", BYTE_ARRAY, 0)];
    let huge = data_page(1, PLAIN, (1 << 31) - 1, &[0; 100]);
    refused(
        &file(&text, 1, ZSTD, &[huge]),
        "more than 512 MiB of memory at once",
    );
    // Each of many columns may be within bounds, but not all together.
    let held = Held::of(100);
    let (mut one, mut other) = (0, 0);
    held.replace(&mut one, 300 << 20).unwrap();
    held.replace(&mut one, 200 << 20).unwrap();
    held.replace(&mut other, 300 << 20).unwrap();
    assert!(held.replace(&mut other, 13 << 20).is_err());
    let entries = [
        dictionary((1 << 31) - 1, &[0; 100]),
        data_page(1, DICTIONARY, 2, &[1, 2]),
    ]
    .concat();
    refused(&file(&text, 1, 0, &[entries]), "damaged");
    // Lengths as differences: 2³³ of them, in a page that says it has one value.
    let mut lengths = vec![128, 1, 4];
    size(1 << 33, &mut lengths);
    lengths.extend([0; 100]);
    let pages = data_page(1, DELTA_LENGTHS, lengths.len() as u64, &lengths);
    refused(&file(&text, 1, 0, &[pages]), "damaged");
}

#[test]
fn one_row_is_held_against_memory() {
    let list = [root(1), leaf("l", BYTE_ARRAY, 2)];
    // Fifty million nulls.
    let data = [levels(1, 50_000_000, 1), levels(0, 50_000_001, 0)].concat();
    let pages = data_page(50_000_001, PLAIN, data.len() as u64, &data);
    refused(&file(&list, 1, 0, &[pages]), "lists in one row");
    // The same text of 100 KB, thirty thousand times.
    let long = plain(&vec![b'x'; 100_000]);
    let data = [
        levels(1, 29_999, 1),
        levels(0, 30_000, 1),
        vec![1, 0xe0, 0xd4, 3, 0],
    ]
    .concat();
    let pages = [
        dictionary(1, &long),
        data_page(30_000, DICTIONARY, data.len() as u64, &data),
    ]
    .concat();
    refused(&file(&list, 1, 0, &[pages]), "lists in one row");
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

/// With any byte changed, a file is read or refused with a message.
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
