//! The footer of a file (<https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>), checked
//! against the bytes there are before the `parquet` crate reads it.
//!
//! The crate allocates memory by what a footer claims, and recurses into a schema however deep it is. So the footer is read
//! here first, and the crate is given one that holds only the fields that were checked.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};

use super::arrow;
use super::cells::Cell;
use super::thrift::{Fields, Reader, Shape, Struct, ThriftError, Value};

/// The longest footer that is read, in bytes; files of thousands of row groups have some megabytes.
const MAX_FOOTER: u64 = 64 << 20;
/// The most values in it; there are about fifteen for each column of each row group.
const MAX_VALUES: usize = 1 << 22;
/// The deepest nesting of groups; a list takes two or three.
const MAX_DEPTH: usize = 64;
/// The most leaf columns: each takes memory for some rows, and each row has all of them.
const MAX_COLUMNS: usize = 10_000;
/// The most bytes of column names, each with the names of its groups.
const MAX_NAMES: usize = 4 << 20;
/// How many rows a file may always have. Equal rows may take no space at all.
const ROWS: u64 = 1 << 20;
/// How many rows a file may have for each of its bytes, in addition.
const ROWS_PER_BYTE: u64 = 8;
/// How many cells, rows times columns, a file may always have.
const CELLS: u64 = 1 << 27;
const CELLS_PER_BYTE: u64 = 256;

const EMPTY: Shape = Shape::Struct(&[]);
const TIME: Shape = Shape::Struct(&[
    (1, Shape::Bool),
    (2, Shape::Union(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)])),
]);
const LOGICAL_TYPE: Fields = &[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Shape::Struct(&[(1, Shape::I32), (2, Shape::I32)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Shape::Struct(&[(1, Shape::I8), (2, Shape::Bool)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
];
const SCHEMA_ELEMENT: Fields = &[
    (1, Shape::I32),
    (2, Shape::I32),
    (3, Shape::I32),
    (NAME, Shape::Binary),
    (CHILDREN, Shape::I32),
    (CONVERTED, Shape::I32),
    (7, Shape::I32),
    (8, Shape::I32),
    (9, Shape::I32),
    (LOGICAL, Shape::Union(LOGICAL_TYPE)),
];
const COLUMN_METADATA: Fields = &[
    (1, Shape::I32),
    (2, Shape::List(&Shape::I32)),
    (CODEC, Shape::I32),
    (5, Shape::I64),
    (6, Shape::I64),
    (COMPRESSED, Shape::I64),
    (DATA, Shape::I64),
    (DICTIONARY, Shape::I64),
];
const COLUMN_CHUNK: Fields = &[(2, Shape::I64), (METADATA, Shape::Struct(COLUMN_METADATA))];
const ROW_GROUP: Fields = &[
    (COLUMNS, Shape::List(&Shape::Struct(COLUMN_CHUNK))),
    (2, Shape::I64),
    (ROWS_OF_GROUP, Shape::I64),
];
const FILE: Fields = &[
    (1, Shape::I32),
    (SCHEMA, Shape::List(&Shape::Struct(SCHEMA_ELEMENT))),
    (3, Shape::I64),
    (ROW_GROUPS, Shape::List(&Shape::Struct(ROW_GROUP))),
    (
        KEY_VALUES,
        Shape::List(&Shape::Struct(&[(1, Shape::Binary), (2, Shape::Binary)])),
    ),
];

/// An interval, as a converted type; a column of nulls, as a logical type.
const INTERVAL: i64 = 21;
const UNKNOWN: i16 = 11;
/// Compressions that are not read.
const NOT_READ: [(i64, &str); 2] = [(3, "LZO"), (4, "Brotli")];

// Fields of the file.
const SCHEMA: i16 = 2;
const ROW_GROUPS: i16 = 4;
const KEY_VALUES: i16 = 5;
// Fields of a schema element.
const NAME: i16 = 4;
const CHILDREN: i16 = 5;
const CONVERTED: i16 = 6;
const LOGICAL: i16 = 10;
// Fields of a row group.
const COLUMNS: i16 = 1;
const ROWS_OF_GROUP: i16 = 3;
// Fields of a column in a row group.
const METADATA: i16 = 3;
const CODEC: i16 = 4;
const COMPRESSED: i16 = 7;
const DATA: i16 = 9;
const DICTIONARY: i16 = 11;

/// What a footer says.
pub(super) struct Footer {
    pub(super) metadata: ParquetMetaData,
    /// How values of the columns are written.
    pub(super) cells: Cell,
}

/// Reads and checks a file's footer.
pub(super) fn read(file: &File) -> Result<Footer, String> {
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let bytes = bytes(file, length)?;
    let mut footer = Reader::new(&bytes, MAX_VALUES)
        .structure(FILE)
        .map_err(|error| match error {
            ThriftError::TooMany => format!(
                "its footer holds more than {MAX_VALUES} values: write it with fewer columns or larger row groups"
            ),
            ThriftError::Ends | ThriftError::Damaged => "its footer is damaged".to_owned(),
        })?;
    let columns = check_schema(&footer)?;
    check_row_groups(&footer, columns, length)?;
    let own = |key: &[u8]| {
        let found = footer
            .structs(KEY_VALUES)
            .find(|pair| pair.binary(1) == Some(key));
        found.and_then(|pair| pair.binary(2)).unwrap_or_default()
    };
    let mut features: serde_json::Value =
        serde_json::from_slice(own(b"huggingface")).unwrap_or_default();
    let features = features["info"]["features"].take();
    let arrow = arrow::bytes(own(b"ARROW:schema"));
    footer.take(KEY_VALUES);
    for element in footer.structs_mut(SCHEMA) {
        // The crate panics at an interval's value; one of no type it gives as bytes.
        if element.number(CONVERTED) == Some(INTERVAL) {
            element.take(CONVERTED);
            element.take(LOGICAL);
            element.push(
                LOGICAL,
                Value::Struct(Struct::of(UNKNOWN, Value::Struct(Struct::default()))),
            );
        }
    }
    let mut checked = Vec::new();
    footer.write(&mut checked);
    drop(footer);
    let metadata =
        ParquetMetaDataReader::decode_metadata(&checked).map_err(|error| error.to_string())?;
    let cells = Cell::of_file(metadata.file_metadata().schema(), &features, &arrow);
    Ok(Footer { metadata, cells })
}

/// The bytes of the footer of a file of `length` bytes.
fn bytes(mut file: &File, length: u64) -> Result<Vec<u8>, String> {
    // The magic number at both ends, and the footer's length.
    const AROUND: u64 = 12;
    let cut = || "it is cut off or damaged: its end is not that of a Parquet file".to_owned();
    if length < AROUND {
        return Err(cut());
    }
    let mut end = [0; 8];
    let io = |error: std::io::Error| error.to_string();
    file.seek(SeekFrom::Start(length - 8)).map_err(io)?;
    file.read_exact(&mut end).map_err(io)?;
    let [size @ .., m, a, g, i] = end;
    if [m, a, g, i] == *b"PARE" {
        return Err("its footer is encrypted".to_owned());
    }
    let size = u64::from(u32::from_le_bytes(size));
    if [m, a, g, i] != super::MAGIC || size > length - AROUND {
        return Err(cut());
    }
    if size > MAX_FOOTER {
        return Err(format!(
            "its footer takes {size} bytes, more than {MAX_FOOTER}: write it with larger row groups, or in several files"
        ));
    }
    let mut bytes = vec![0; size as usize];
    file.seek(SeekFrom::Start(length - 8 - size)).map_err(io)?;
    file.read_exact(&mut bytes).map_err(io)?;
    Ok(bytes)
}

/// Checks that the schema is one tree of bounded depth; returns the number of columns.
fn check_schema(footer: &Struct) -> Result<u64, String> {
    let elements: Vec<&Struct> = footer.structs(SCHEMA).collect();
    // For each open group: children still to come, and the length of the names down to it.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let (mut columns, mut names) = (0_usize, 0_usize);
    for (place, element) in elements.iter().enumerate() {
        while open.pop_if(|(left, _)| *left == 0).is_some() {}
        let name = element.binary(NAME).unwrap_or_default().len();
        let path = match open.last_mut() {
            Some((left, path)) => {
                *left -= 1;
                *path + name
            }
            None if place == 0 => 0,
            None => return Err("its schema is no tree".to_owned()),
        };
        let claimed = element.number(CHILDREN).unwrap_or(0);
        let follow = elements.len() - place - 1;
        let children = usize::try_from(claimed)
            .ok()
            .filter(|count| *count <= follow);
        let Some(children) = children else {
            return Err(format!(
                "its schema claims {claimed} columns in one group, and {follow} follow"
            ));
        };
        if children == 0 {
            columns += 1;
            names += path;
        } else {
            open.push((children, path));
        }
        if open.len() > MAX_DEPTH {
            return Err(format!("its columns are nested more than {MAX_DEPTH} deep"));
        }
        if columns > MAX_COLUMNS {
            return Err(format!(
                "it has more than {MAX_COLUMNS} columns: write the columns that are needed to a file of their own"
            ));
        }
        if names > MAX_NAMES {
            return Err(format!(
                "the names of its columns take more than {MAX_NAMES} bytes: give them shorter ones"
            ));
        }
    }
    Ok(columns as u64)
}

/// Checks that row groups lie inside the file without overlapping, and claim no more than its bytes can hold.
fn check_row_groups(footer: &Struct, columns: u64, length: u64) -> Result<(), String> {
    let damaged = |what: &str| Err(format!("its footer is damaged: {what}"));
    let (mut rows, mut stored) = (0_u64, 0_u64);
    for group in footer.structs(ROW_GROUPS) {
        let Ok(count) = u64::try_from(group.number(ROWS_OF_GROUP).unwrap_or(0)) else {
            return damaged("a row group has a negative number of rows");
        };
        rows = rows.saturating_add(count);
        for column in group.structs(COLUMNS) {
            let metadata = column.structure(METADATA);
            let from = metadata.number(DICTIONARY).or(metadata.number(DATA));
            let codec = metadata.number(CODEC).unwrap_or(0);
            if let Some((_, name)) = NOT_READ.iter().find(|(number, _)| *number == codec) {
                return Err(format!(
                    "it is compressed with {name}, which is not read: write it with zstd, Snappy or gzip"
                ));
            }
            let bytes = metadata.number(COMPRESSED).unwrap_or(0);
            let place =
                from.and_then(|from| Some((u64::try_from(from).ok()?, u64::try_from(bytes).ok()?)));
            match place {
                Some((from, bytes)) if from.saturating_add(bytes) <= length => stored += bytes,
                _ => return damaged("a column lies outside the file"),
            }
        }
    }
    if stored > length {
        return damaged("columns lie on top of each other");
    }
    let most_rows = ROWS + ROWS_PER_BYTE.saturating_mul(length);
    let most_cells = CELLS + CELLS_PER_BYTE.saturating_mul(length);
    if rows > most_rows || rows.saturating_mul(columns) > most_cells {
        return Err(format!(
            "it claims {rows} rows of {columns} columns in {length} bytes, which is out of proportion: nearly all of them would be the same"
        ));
    }
    Ok(())
}
