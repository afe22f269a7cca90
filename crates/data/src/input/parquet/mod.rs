//! Parquet: row after row, nested columns as JSON objects and lists.
//!
//! The `parquet` crate allocates memory by what a file claims, so everything is checked before it gets it:
//!
//! | file | what it does |
//! |---|---|
//! | `thrift` | reads structs by a table of their fields, and writes them |
//! | `footer` | the schema and the row groups, checked against the file's size |
//! | `pages` | the pages of a row group, checked against the memory limit |
//! | `levels` | how many values a page makes from a row, or from a few bytes |

mod footer;
mod levels;
mod pages;
mod thrift;

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::record::reader::{ReaderIter, TreeBuilder};
use parquet::record::{Field, Row};
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};

use self::pages::Group;
use super::bytes::{Bytes, Expansion};
use super::line::LineLimit;
use super::{Next, RowReader, too_long};
use crate::DatasetError;
use crate::spool::temporary;
use juror_base::panics;

/// What every Parquet file begins with.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// The rows of a file.
pub(super) struct Parquet {
    name: String,
    file: Arc<File>,
    metadata: ParquetMetaData,
    groups: usize,
    /// The rows of the last row group that was begun.
    rows: Option<ReaderIter>,
    row: usize,
    limit: LineLimit,
    length: u64,
    text: Expansion,
}

impl Parquet {
    /// Opens a file. One that cannot be read at any offset (a pipe, a compressed file) is first copied to a temporary file beside `output`.
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
        // The crate checks what it reads, but was not written for malicious files.
        let metadata = panics::guarded(|| footer::read(&file)).flatten();
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        Ok(Self {
            metadata: metadata.map_err(|reason| damaged(&name, 0, &reason))?,
            name,
            file: Arc::new(file),
            groups: 0,
            rows: None,
            row: 0,
            limit: bytes.limit,
            length,
            text: Expansion::default(),
        })
    }

    /// The next row; `None` at the end.
    fn next_row(&mut self) -> Result<Option<Row>, ParquetError> {
        loop {
            if let Some(row) = self.rows.as_mut().and_then(Iterator::next) {
                return row.map(Some);
            }
            if self.groups == self.metadata.num_row_groups() {
                return Ok(None);
            }
            self.rows = None;
            let group = Group::new(
                Arc::clone(&self.file),
                self.length,
                self.metadata.row_group(self.groups),
            );
            self.groups += 1;
            let schema = self.metadata.file_metadata().schema_descr_ptr();
            let builder = TreeBuilder::new().with_batch_size(group.batch());
            self.rows = Some(builder.as_iter(schema, &group)?);
        }
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

/// A value as JSON. Numbers of less than 64 bits have just the digits that distinguish them from their neighbours; bytes
/// that are valid text become text.
struct Json<'f>(&'f Field);

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            // Texts are nearly all of a table's bytes, so they are written without a copy.
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

/// The number with this decimal text; null for NaN and infinity.
fn shortest(text: &str) -> Value {
    text.parse().ok().and_then(Number::from_f64).into()
}

/// A writer that fails beyond a limit.
struct Limited<'r> {
    text: &'r mut Vec<u8>,
    most: usize,
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // One byte more than the limit shows that it is too long.
        let left = (self.most + 1).saturating_sub(self.text.len());
        self.text.extend_from_slice(&bytes[..bytes.len().min(left)]);
        if bytes.len() > left {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Flattens a guarded result: a panic of the crate counts as an error of the file.
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
        let limit = self.limit;
        let next = panics::guarded(|| {
            let next = self.next_row()?;
            Ok(next.map(|next| {
                let text = Limited {
                    text: &mut *row,
                    most: limit.bytes(),
                };
                // Writing to memory does not fail, except for a row that is too long.
                let _ = serde_json::to_writer(text, &Object(&next));
            }))
        });
        let next = flat(next).map_err(|reason| damaged(&self.name, self.row, &reason))?;
        if next.is_none() {
            return Ok(Next::End);
        }
        self.row += 1;
        if !self.text.add(row.len(), self.length) {
            return Err(damaged(&self.name, self.row, Expansion::REFUSED));
        }
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

#[cfg(test)]
mod tests;
