//! Parquet: row after row, nested columns as JSON objects and lists.
//!
//! The `parquet` crate reads the format. What a footer claims is held against the file first, and a panic of the crate is an error of the file.

mod arrow;
mod cells;
mod footer;

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::bloom_filter::Sbbf;
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::RowGroupReader;
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::record::Row;
use parquet::record::reader::{ReaderIter, RowIter, TreeBuilder};
use parquet::schema::types::Type;

use self::cells::Cell;
use self::footer::Footer;
use super::bytes::{Bytes, Expansion};
use super::line::LineLimit;
use super::{Next, RowReader, too_long};
use crate::DatasetError;
use crate::journal::shortened;
use crate::spool::temporary;
use juror_base::panics;

/// What every Parquet file begins with.
pub(super) const MAGIC: &[u8] = b"PAR1";
pub(super) struct Parquet {
    name: String,
    file: Arc<File>,
    metadata: ParquetMetaData,
    cells: Cell,
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
        let file = opened.map_err(DatasetError::unreadable(&*name))?;
        let footer = panics::guarded(|| footer::read(&file)).flatten();
        let Footer { metadata, cells } = footer.map_err(|reason| damaged(&name, 0, &reason))?;
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        Ok(Self {
            metadata,
            cells,
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
            let group = Group {
                file: Arc::clone(&self.file),
                metadata: self.metadata.row_group(self.groups),
            };
            self.groups += 1;
            let schema = self.metadata.file_metadata().schema_descr_ptr();
            let builder = TreeBuilder::new().with_batch_size(group.batch());
            self.rows = Some(builder.as_iter(schema, &group)?);
        }
    }
}

struct Group<'m> {
    file: Arc<File>,
    metadata: &'m RowGroupMetaData,
}

impl Group<'_> {
    /// How many rows to read ahead: the fewer, the more memory each takes.
    fn batch(&self) -> usize {
        const MOST: usize = 1024;
        let columns = self.metadata.columns();
        let is_list = |column: &ColumnChunkMetaData| column.column_descr().max_rep_level() > 0;
        if columns.iter().any(is_list) {
            return 4;
        }
        (MOST * MOST / columns.len().max(1)).clamp(1, MOST)
    }
}

impl RowGroupReader for Group<'_> {
    fn metadata(&self) -> &RowGroupMetaData {
        self.metadata
    }

    fn num_columns(&self) -> usize {
        self.metadata.num_columns()
    }

    fn get_column_page_reader(&self, column: usize) -> Result<Box<dyn PageReader>, ParquetError> {
        let rows = usize::try_from(self.metadata.num_rows())?;
        let (file, column) = (Arc::clone(&self.file), self.metadata.column(column));
        let pages = SerializedPageReader::new(file, column, rows, None)?;
        Ok(Box::new(pages))
    }

    fn get_column_bloom_filter(&self, _: usize) -> Option<&Sbbf> {
        None
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>, ParquetError> {
        RowIter::from_row_group(projection, self)
    }
}

fn copy(bytes: &mut Bytes, output: Option<&Path>) -> io::Result<File> {
    let mut file = temporary(output)?;
    io::copy(&mut bytes.reader, &mut file)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
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

/// The error for a file that cannot be read on; the crate's reasons may hold every byte of a cell.
fn damaged(file: &str, rows: usize, reason: &str) -> DatasetError {
    DatasetError::Parquet {
        file: file.to_owned(),
        rows,
        reason: shortened(reason),
    }
}

impl RowReader for Parquet {
    fn next(&mut self, row: &mut Vec<u8>) -> Result<Next, DatasetError> {
        row.clear();
        let limit = self.limit;
        let next = panics::guarded(|| {
            let next = self.next_row().map_err(|error| error.to_string())?;
            Ok(next.map(|next| {
                let mut text = Limited {
                    text: &mut *row,
                    most: limit.bytes(),
                };
                // Writing to memory does not fail, except for a row that is too long.
                let _ = self.cells.write_row(&next, &mut text);
            }))
        });
        // A panic of the crate counts as an error of the file.
        let next = next.flatten();
        let next = next.map_err(|reason| damaged(&self.name, self.row, &reason))?;
        if next.is_none() {
            return Ok(Next::End);
        }
        self.row += 1;
        if self.text.add(row.len(), self.length).is_err() {
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

    fn is_table(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
