//! The pages of row groups. Each page's header is read and checked against the memory limit before the `parquet` crate
//! allocates memory by it.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use parquet::basic::{Encoding, Type as Physical};
use parquet::bloom_filter::Sbbf;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::{ChunkReader, Length, RowGroupReader};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::record::reader::RowIter;
use parquet::schema::types::Type;

use super::levels::{end_of_deltas, longest_row};
use super::thrift::{Fields, Reader, Shape, ThriftError};
use juror_base::threads::lock;

/// How many bytes the pages of all columns and their longest rows of lists may always take up at once. A large file may take
/// as much as its own size.
const HELD: u64 = 512 << 20;
/// The longest header of a page: it may hold two values of the column, as statistics.
const MAX_HEADER: usize = 16 << 20;
/// How many bytes of a page are first read for its header.
const HEADER: usize = 512;
/// Memory of a value in a dictionary, in addition to its own bytes.
const ENTRY: u64 = 32;
/// Memory of a value in a list, in addition to its own bytes: in the row, and in the rows that are read ahead.
const ELEMENT: u64 = 256;
/// Memory of two lengths, in bytes.
const LENGTHS: u64 = 8;

const DATA_PAGE: Fields = &[
    (1, Shape::I32),
    (2, Shape::I32),
    (3, Shape::I32),
    (4, Shape::I32),
];
const DATA_PAGE_2: Fields = &[
    (1, Shape::I32),
    (2, Shape::I32),
    (3, Shape::I32),
    (4, Shape::I32),
    (5, Shape::I32),
    (6, Shape::I32),
    (7, Shape::Bool),
];
const PAGE_HEADER: Fields = &[
    (1, Shape::I32),
    (UNCOMPRESSED, Shape::I32),
    (COMPRESSED, Shape::I32),
    (4, Shape::I32),
    (5, Shape::Struct(DATA_PAGE)),
    (6, Shape::Struct(&[])),
    (
        DICTIONARY,
        Shape::Struct(&[(1, Shape::I32), (2, Shape::I32), (3, Shape::Bool)]),
    ),
    (8, Shape::Struct(DATA_PAGE_2)),
];
const UNCOMPRESSED: i16 = 2;
const COMPRESSED: i16 = 3;
const DICTIONARY: i16 = 7;

fn refused(why: impl Into<String>) -> ParquetError {
    ParquetError::General(why.into())
}

/// The memory in use by all columns of a row group.
pub(super) struct Held {
    bytes: AtomicU64,
    most: u64,
}

impl Held {
    /// The limit for a file of so many bytes.
    pub(super) fn of(file: u64) -> Arc<Self> {
        Arc::new(Self {
            bytes: AtomicU64::new(0),
            most: HELD.max(file),
        })
    }

    /// Replaces `old` by `new` bytes; for a moment both are in use.
    pub(super) fn replace(&self, old: &mut u64, new: u64) -> Result<()> {
        let before = self.bytes.fetch_add(new, Ordering::Relaxed);
        if before.saturating_add(new) > self.most {
            return Err(refused(format!(
                "its pages, or lists in one row, would take more than {} MiB of memory at once: write it with smaller pages or \
                 shorter lists",
                self.most >> 20
            )));
        }
        self.bytes.fetch_sub(*old, Ordering::Relaxed);
        *old = new;
        Ok(())
    }
}

/// One row group.
pub(super) struct Group<'m> {
    file: Arc<File>,
    metadata: &'m RowGroupMetaData,
    held: Arc<Held>,
}

impl<'m> Group<'m> {
    pub(super) fn new(file: Arc<File>, length: u64, metadata: &'m RowGroupMetaData) -> Self {
        Self {
            file,
            metadata,
            held: Held::of(length),
        }
    }

    /// How many rows to read ahead: the fewer, the more memory each takes.
    pub(super) fn batch(&self) -> usize {
        const MOST: usize = 1024;
        let columns = self.metadata.columns();
        let any = |test: &dyn Fn(&ColumnChunkMetaData) -> bool| columns.iter().any(test);
        if any(&|column| {
            column
                .encodings()
                .any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY)
        }) {
            // Each value may be as long as its page.
            return 1;
        }
        if any(&|column| column.column_descr().max_rep_level() > 0) {
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

    fn get_column_page_reader(&self, column: usize) -> Result<Box<dyn PageReader>> {
        let metadata = self.metadata.column(column);
        let chunk = Arc::new(Chunk(Arc::new(Column {
            file: Arc::clone(&self.file),
            held: Arc::clone(&self.held),
            pages: Mutex::default(),
        })));
        let rows = usize::try_from(self.metadata.num_rows())?;
        let descr = metadata.column_descr();
        Ok(Box::new(CheckedPages {
            column: Arc::clone(&chunk.0),
            pages: SerializedPageReader::new(chunk, metadata, rows, None)?,
            repetition: bits(descr.max_rep_level()),
            definition: bits(descr.max_def_level()),
            physical: descr.physical_type(),
            longest_entry: 0,
            row: 0,
            row_bytes: 0,
        }))
    }

    fn get_column_bloom_filter(&self, _: usize) -> Option<&Sbbf> {
        None
    }

    fn get_row_iter(&self, projection: Option<Type>) -> Result<RowIter<'_>> {
        RowIter::from_row_group(projection, self)
    }
}

/// How many bits encode levels up to this one.
fn bits(level: i16) -> usize {
    (i16::BITS - level.max(0).leading_zeros()) as usize
}

/// A column of a row group.
pub(super) struct Column {
    file: Arc<File>,
    held: Arc<Held>,
    pages: Mutex<HeldPages>,
}

/// The memory of a column's pages.
#[derive(Default)]
struct HeldPages {
    data: u64,
    dictionary: u64,
}

impl Column {
    fn read_at(&self, start: u64, most: usize) -> io::Result<Vec<u8>> {
        let mut file = &*self.file;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        file.take(most as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// The bytes of the header of the page that begins at `start`, checked.
    fn header(&self, start: u64) -> Result<Vec<u8>> {
        let damaged = || refused(format!("the page at byte {start} is damaged"));
        let mut most = HEADER;
        let (bytes, header) = loop {
            let mut bytes = self.read_at(start, most)?;
            let mut reader = Reader::new(&bytes, MAX_HEADER);
            match reader.structure(PAGE_HEADER) {
                Ok(header) => {
                    let number = |id| {
                        header
                            .number(id)
                            .and_then(|number| u64::try_from(number).ok())
                    };
                    let sizes = number(UNCOMPRESSED).zip(number(COMPRESSED));
                    let entries = header
                        .get(DICTIONARY)
                        .map(|_| header.structure(DICTIONARY).number(1));
                    let length = reader.position();
                    bytes.truncate(length);
                    break (bytes, (sizes, entries));
                }
                Err(ThriftError::Ends) if bytes.len() == most && most < MAX_HEADER => most *= 32,
                Err(_) => return Err(damaged()),
            }
        };
        let (Some((size, compressed)), entries) = header else {
            return Err(damaged());
        };
        let mut pages = lock(&self.pages);
        let both = size.max(compressed);
        match entries {
            None => self.held.replace(&mut pages.data, both)?,
            Some(entries) => {
                let entries = entries.and_then(|entries| u64::try_from(entries).ok());
                // Each takes at least a byte.
                let entries = entries
                    .filter(|entries| *entries <= size)
                    .ok_or_else(damaged)?;
                self.held
                    .replace(&mut pages.dictionary, both + ENTRY * entries)?;
            }
        }
        Ok(bytes)
    }
}

/// A column's bytes, for the `parquet` crate.
struct Chunk(Arc<Column>);

impl Length for Chunk {
    fn len(&self) -> u64 {
        self.0.file.len()
    }
}

impl ChunkReader for Chunk {
    type T = Header;

    /// The crate reads only headers this way.
    fn get_read(&self, start: u64) -> Result<Header> {
        Ok(Header {
            column: Arc::clone(&self.0),
            start,
            bytes: None,
        })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let bytes = self.0.read_at(start, length)?;
        if bytes.len() < length {
            return Err(refused("it is cut off"));
        }
        Ok(bytes.into())
    }
}

/// A page's header, read on demand.
struct Header {
    column: Arc<Column>,
    start: u64,
    bytes: Option<Cursor<Vec<u8>>>,
}

impl Read for Header {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = if let Some(bytes) = &mut self.bytes {
            bytes
        } else {
            let header = self.column.header(self.start).map_err(io::Error::other)?;
            self.bytes.insert(Cursor::new(header))
        };
        bytes.read(buffer)
    }
}

/// The pages of a column, checked for the memory that their content will take.
struct CheckedPages {
    column: Arc<Column>,
    pages: SerializedPageReader<Chunk>,
    /// Bits of a repetition level, then of a definition level.
    repetition: usize,
    definition: usize,
    physical: Physical,
    /// Bytes of the longest value in the dictionary.
    longest_entry: u64,
    /// Values so far of the row that continues on the next page.
    row: u64,
    /// The memory in use by the longest row.
    row_bytes: u64,
}

impl CheckedPages {
    fn check(&mut self, page: &Page) -> Result<()> {
        let damaged = || refused("a page's levels or lengths are damaged");
        match page {
            Page::DictionaryPage { buf, .. } => {
                let mut rest: &[u8] = buf;
                while let (Physical::BYTE_ARRAY, Some((length, after))) =
                    (self.physical, rest.split_first_chunk())
                {
                    let length = u32::from_le_bytes(*length);
                    self.longest_entry = self.longest_entry.max(length.into());
                    rest = after.get(length as usize..).ok_or_else(damaged)?;
                }
                Ok(())
            }
            Page::DataPage {
                buf,
                num_values,
                encoding,
                def_level_encoding,
                rep_level_encoding,
                ..
            } => {
                let mut rest: &[u8] = buf;
                let mut levels = |bits: usize, encoding: Encoding| -> Option<Option<&[u8]>> {
                    if bits == 0 {
                        return Some(Some(&[]));
                    }
                    if encoding != Encoding::RLE {
                        let (_, after) =
                            rest.split_at_checked((*num_values as usize * bits).div_ceil(8))?;
                        rest = after;
                        return Some(None);
                    }
                    let (length, after) = rest.split_first_chunk()?;
                    let (levels, after) =
                        after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
                    rest = after;
                    Some(Some(levels))
                };
                let repetition =
                    levels(self.repetition, *rep_level_encoding).ok_or_else(damaged)?;
                levels(self.definition, *def_level_encoding).ok_or_else(damaged)?;
                self.check_values(repetition, rest, *encoding, u64::from(*num_values))
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let (repetition, rest) = buf
                    .split_at_checked(*rep_levels_byte_len as usize)
                    .ok_or_else(damaged)?;
                let rest = rest
                    .get(*def_levels_byte_len as usize..)
                    .ok_or_else(damaged)?;
                self.check_values(Some(repetition), rest, *encoding, u64::from(*num_values))
            }
        }
    }

    fn check_values(
        &mut self,
        repetition: Option<&[u8]>,
        values: &[u8],
        encoding: Encoding,
        count: u64,
    ) -> Result<()> {
        let damaged = || refused("a page's levels or lengths are damaged");
        let page = values.len() as u64;
        let text = matches!(
            self.physical,
            Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY
        );
        // Memory of a value beyond the bytes of the page.
        let (own, lengths) = match encoding {
            Encoding::DELTA_BYTE_ARRAY if text => {
                let suffixes = end_of_deltas(values, count).ok_or_else(damaged)?;
                end_of_deltas(&values[suffixes..], count).ok_or_else(damaged)?;
                (page, LENGTHS)
            }
            Encoding::DELTA_LENGTH_BYTE_ARRAY => {
                end_of_deltas(values, count).ok_or_else(damaged)?;
                (0, LENGTHS)
            }
            Encoding::PLAIN_DICTIONARY | Encoding::RLE_DICTIONARY => (self.longest_entry, 0),
            _ => (0, 0),
        };
        let longest = match repetition {
            _ if self.repetition == 0 => 0,
            Some(levels) => {
                longest_row(levels, self.repetition, count, &mut self.row).ok_or_else(damaged)?
            }
            None => {
                self.row = self.row.saturating_add(count);
                self.row
            }
        };
        let bytes = longest
            .saturating_mul(ELEMENT + own)
            .saturating_add(lengths * count);
        if bytes > self.row_bytes {
            self.column.held.replace(&mut self.row_bytes, bytes)?;
        }
        Ok(())
    }
}

impl PageReader for CheckedPages {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        let page = self.pages.get_next_page()?;
        if let Some(page) = &page {
            self.check(page)?;
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        self.pages.peek_next_page()
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.pages.skip_next_page()
    }

    fn at_record_boundary(&mut self) -> Result<bool> {
        self.pages.at_record_boundary()
    }
}

impl Iterator for CheckedPages {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Result<Page>> {
        self.get_next_page().transpose()
    }
}
