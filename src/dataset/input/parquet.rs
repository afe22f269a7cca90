//! Parquet: row after row, nested columns as JSON objects and lists.

use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::reader::SerializedFileReader;
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
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

fn object(row: &Row) -> Value {
    let entries = row.get_column_iter();
    Value::Object(
        entries
            .map(|(key, value)| (key.clone(), json(value)))
            .collect(),
    )
}

/// A value as JSON: numbers of less than 64 bits with the digits that tell them from their neighbours, bytes that are text as
/// text.
fn json(field: &Field) -> Value {
    match field {
        Field::Float(value) => shortest(&value.to_string()),
        Field::Float16(value) => {
            let digits = (1..=5).map(|digits| format!("{:.*e}", digits - 1, value.to_f32()));
            let shortest_text = digits.into_iter().find(|text| {
                text.parse()
                    .is_ok_and(|near| half::f16::from_f32(near) == *value)
            });
            shortest(&shortest_text.unwrap_or_else(|| value.to_f32().to_string()))
        }
        Field::Bytes(bytes) => match std::str::from_utf8(bytes.data()) {
            Ok(text) => text.into(),
            Err(_) => field.to_json_value(),
        },
        Field::Group(row) => object(row),
        Field::ListInternal(list) => list.elements().iter().map(json).collect(),
        _ => field.to_json_value(),
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
            Ok(next.map(|next| object(&next)))
        });
        let Some(value) = flat(next).map_err(|reason| damaged(&self.file, self.row, &reason))?
        else {
            return Ok(Next::End);
        };
        self.row += 1;
        // A value always can be written to memory.
        let _ = serde_json::to_writer(&mut *row, &value);
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
}
