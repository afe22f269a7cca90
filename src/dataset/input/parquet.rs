//! Parquet: row after row, nested columns as JSON objects and lists.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

use super::bytes::Bytes;
use super::line::LineLimit;
use super::{Next, RowReader, too_long};
use crate::dataset::DatasetError;
use crate::dataset::spool::temporary;
use crate::panics;

/// What every Parquet file begins with.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// The rows of a file.
pub(super) struct Parquet {
    file: String,
    rows: RowIter<'static>,
    row: usize,
    limit: LineLimit,
}

impl Parquet {
    /// Opens a file; what cannot be read at any place (a pipe, a compressed file) is copied to a temporary file beside
    /// `output` first.
    pub(super) fn new(
        mut bytes: Bytes,
        path: Option<&Path>,
        output: Option<&Path>,
    ) -> Result<Self, DatasetError> {
        let opened = match path.filter(|_| bytes.seekable) {
            Some(path) => File::open(path),
            None => copy(&mut bytes, output),
        };
        let name = bytes.file;
        let file = opened.map_err(|source| DatasetError::Read {
            file: name.clone(),
            source,
        })?;
        // The crate checks what it reads, but was not written for files made to harm.
        let rows = panics::guarded(|| {
            let reader = SerializedFileReader::new(file)?;
            Ok(RowIter::from_file_into(Box::new(reader)))
        });
        Ok(Self {
            rows: flat(rows).map_err(|reason| damaged(&name, 0, &reason))?,
            file: name,
            row: 0,
            limit: bytes.limit,
        })
    }
}

fn copy(bytes: &mut Bytes, output: Option<&Path>) -> io::Result<File> {
    let mut file = temporary(output)?;
    io::copy(&mut bytes.reader, &mut file)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// A row as a JSON object.
struct Object<'r>(&'r Row);

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries = self.0.get_column_iter();
        serializer.collect_map(entries.map(|(key, value)| (key, Json(value))))
    }
}

/// A value as JSON: numbers of less than 64 bits with the digits that tell them from their neighbours, bytes that are text as
/// text.
struct Json<'f>(&'f Field);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            // Texts are nearly all of a table's bytes: they are written without a copy.
            Field::Str(text) => serializer.serialize_str(text),
            Field::Group(row) => Object(row).serialize(serializer),
            Field::ListInternal(list) => serializer.collect_seq(list.elements().iter().map(Json)),
            Field::Float(value) => shortest(&value.to_string()).serialize(serializer),
            Field::Float16(value) => {
                let digits = (1..=5).map(|digits| format!("{:.*e}", digits - 1, value.to_f32()));
                let shortest_text = digits.into_iter().find(|text| {
                    text.parse()
                        .is_ok_and(|near| half::f16::from_f32(near) == *value)
                });
                shortest(&shortest_text.unwrap_or_else(|| value.to_f32().to_string()))
                    .serialize(serializer)
            }
            Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
                Ok(text) => serializer.serialize_str(text),
                Err(_) => self.0.to_json_value().serialize(serializer),
            },
            _ => self.0.to_json_value().serialize(serializer),
        }
    }
}

/// The number that is written so; null of what is none.
fn shortest(text: &str) -> Value {
    text.parse().ok().and_then(Number::from_f64).into()
}

/// A panic of the crate counts as an error of the file.
fn flat<T>(result: Result<Result<T, ParquetError>, String>) -> Result<T, String> {
    match result {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(panic) => Err(panic),
    }
}

fn damaged(file: &str, rows: usize, reason: &str) -> DatasetError {
    DatasetError::Parquet {
        file: file.to_owned(),
        rows,
        reason: reason.to_owned(),
    }
}

impl RowReader for Parquet {
    fn next(&mut self, row: &mut Vec<u8>) -> Result<Next, DatasetError> {
        row.clear();
        let next = panics::guarded(|| {
            let next = self.rows.next().transpose()?;
            Ok(next.map(|next| {
                // A row always can be written to memory.
                let _ = serde_json::to_writer(&mut *row, &Object(&next));
            }))
        });
        let next = flat(next).map_err(|reason| damaged(&self.file, self.row, &reason))?;
        if next.is_none() {
            return Ok(Next::End);
        }
        self.row += 1;
        if row.len() > self.limit.bytes() {
            return Ok(Next::Bad(too_long(row, self.limit)));
        }
        Ok(Next::Row)
    }

    fn place(&self) -> usize {
        self.row
    }

    fn offset(&self) -> Option<u64> {
        None
    }

    fn is_table(&self) -> bool {
        true
    }
}
