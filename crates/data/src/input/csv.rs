//! CSV and TSV: the first record names the keys, every other record is a row of texts.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::rc::Rc;

use serde_json::Value;

use super::bytes::{Bytes, broken_off, ending};
use super::line::LineLimit;
use super::{Next, RowReader, too_long};
use crate::DatasetError;
use crate::messages::Messages;

/// The records of a source.
pub(super) struct Csv {
    file: String,
    compression: Option<&'static str>,
    reader: csv::Reader<Bounded>,
    /// How many bytes may still be read for the current record.
    left: Rc<Cell<u64>>,
    unclosed: Rc<Cell<Option<usize>>>,
    /// The beginnings of lines that were read, from the current record on.
    lines: Rc<RefCell<VecDeque<LineStart>>>,
    limit: LineLimit,
    /// `"key":` of each column, as JSON.
    keys: Vec<String>,
    record: csv::ByteRecord,
    place: usize,
}

/// A reader with a bound, so that an unclosed quote does not take a whole file into memory.
struct Bounded {
    bytes: Bytes,
    left: Rc<Cell<u64>>,
    quotes: Quotes,
    lines: Rc<RefCell<VecDeque<LineStart>>>,
    /// The line of a quote that is still open at the end of the bytes.
    unclosed: Rc<Cell<Option<usize>>>,
}

/// A line that is not blank.
struct LineStart {
    offset: u64,
    number: usize,
}

/// Tracks whether the bytes so far end inside quotes, where the `csv` crate ends the field without an error.
struct Quotes {
    delimiter: u8,
    state: InField,
    offset: u64,
    line: usize,
    /// Whether the line had a byte other than its end.
    begun: bool,
    /// The line of the last quote that opened a field.
    opened: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum InField {
    Begin,
    Plain,
    Quoted,
    /// After a quote inside quotes: the end of the field, or the first half of an escaped quote.
    Quote,
}

impl Quotes {
    /// Scans further bytes; `lines` receives each line that is not blank.
    fn read(&mut self, bytes: &[u8], lines: &mut VecDeque<LineStart>) {
        for &byte in bytes {
            if byte == b'\n' {
                self.line += 1;
                self.begun = false;
            } else if !self.begun && byte != b'\r' {
                self.begun = true;
                lines.push_back(LineStart {
                    offset: self.offset,
                    number: self.line,
                });
            }
            self.offset += 1;
            let ends = byte == self.delimiter || byte == b'\n' || byte == b'\r';
            self.state = match (self.state, byte) {
                (InField::Begin, b'"') => {
                    self.opened = self.line;
                    InField::Quoted
                }
                (InField::Quoted, b'"') => InField::Quote,
                (InField::Quoted, _) | (InField::Quote, b'"') => InField::Quoted,
                _ if ends => InField::Begin,
                _ => InField::Plain,
            };
        }
    }
}

impl Read for Bounded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, ""));
        }
        let read = self.bytes.reader.read(buffer)?;
        self.quotes
            .read(&buffer[..read], &mut self.lines.borrow_mut());
        if read == 0 && !buffer.is_empty() && self.quotes.state == InField::Quoted {
            self.unclosed.set(Some(self.quotes.opened));
        }
        self.left.set(self.left.get().saturating_sub(read as u64));
        Ok(read)
    }
}

/// The delimiter of a table with this first line: a tab if the file's name says so, else whichever of comma, tab and
/// semicolon occurs most often.
pub(super) fn delimiter(file: &str, header: &[u8]) -> u8 {
    if ending(file, "tsv") {
        return b'\t';
    }
    let count = |delimiter: u8| header.split(|&byte| byte == delimiter).count();
    // `max_by_key` returns the last of equals, so the comma wins.
    [b';', b'\t', b',']
        .into_iter()
        .max_by_key(|&delimiter| count(delimiter))
        .unwrap_or(b',')
}

/// The names in a table's first line.
pub(super) fn names(header: &[u8], delimiter: u8) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .has_headers(false)
        .flexible(true)
        .from_reader(header);
    let record = reader.byte_records().next().and_then(Result::ok);
    record
        .iter()
        .flatten()
        .map(|name| String::from_utf8_lossy(name).trim().to_owned())
        .collect()
}

impl Csv {
    pub(super) fn new(bytes: Bytes, delimiter: u8) -> Result<Self, DatasetError> {
        let left = Rc::new(Cell::new(0));
        let unclosed = Rc::new(Cell::new(None));
        let lines = Rc::new(RefCell::new(VecDeque::new()));
        let mut csv = Self {
            file: bytes.file.clone(),
            compression: bytes.compression,
            limit: bytes.limit,
            reader: csv::ReaderBuilder::new()
                .delimiter(delimiter)
                .has_headers(false)
                .flexible(true)
                .from_reader(Bounded {
                    bytes,
                    left: Rc::clone(&left),
                    quotes: Quotes {
                        delimiter,
                        state: InField::Begin,
                        offset: 0,
                        line: 1,
                        begun: false,
                        opened: 1,
                    },
                    lines: Rc::clone(&lines),
                    unclosed: Rc::clone(&unclosed),
                }),
            left,
            unclosed,
            lines,
            keys: Vec::new(),
            record: csv::ByteRecord::new(),
            place: 0,
        };
        if csv.read()? {
            // The crate removes a byte order mark.
            for name in &csv.record {
                let name = String::from_utf8_lossy(name);
                let name = serde_json::Value::from(name.trim());
                csv.keys.push(format!("{name}:"));
            }
        }
        Ok(csv)
    }

    /// Reads a record; `false` at the end.
    fn read(&mut self) -> Result<bool, DatasetError> {
        self.left
            .set(self.limit.bytes() as u64 + self.limit.passed_over());
        self.place = self.reader.position().line() as usize;
        let error = match self.reader.read_byte_record(&mut self.record) {
            Ok(more) => {
                if let Some(position) = self.record.position() {
                    // The crate's record begins right after the byte that ended the one before, so its line is not known yet.
                    let mut lines = self.lines.borrow_mut();
                    while lines
                        .front()
                        .is_some_and(|line| line.offset < position.byte())
                    {
                        lines.pop_front();
                    }
                    self.place = lines
                        .front()
                        .map_or(position.line() as usize, |line| line.number);
                }
                return Ok(more);
            }
            Err(error) => error,
        };
        let file = self.file.clone();
        Err(match error.into_kind() {
            csv::ErrorKind::Io(source) if source.kind() == io::ErrorKind::FileTooLarge => {
                DatasetError::Endless {
                    file,
                    line: self.place,
                    read: self.limit.passed_over(),
                }
            }
            csv::ErrorKind::Io(source) => broken_off(&file, self.compression, self.place, source),
            other => DatasetError::Read {
                file,
                source: io::Error::other(format!("{other:?}")),
            },
        })
    }
}

impl RowReader for Csv {
    fn next(&mut self, row: &mut Vec<u8>) -> Result<Next, DatasetError> {
        row.clear();
        if !self.read()? {
            return Ok(Next::End);
        }
        // The text of a bad record, approximately as it was.
        let bad = |row: &mut Vec<u8>, record: &csv::ByteRecord, why: String| {
            row.clear();
            row.extend(record.iter().collect::<Vec<_>>().join(&b','));
            Ok(Next::Bad(why))
        };
        if let Some(line) = self.unclosed.get() {
            let why = format!(
                "the field is within quotes to the end of the file: the quote that opens on line {line} has no partner"
            );
            return bad(row, &self.record, why);
        }
        if self.record.len() != self.keys.len() {
            let why = format!(
                "{} fields, and the header has {}: a comma or a line break within a field needs quotes around the field",
                self.record.len(),
                self.keys.len()
            );
            return bad(row, &self.record, why);
        }
        row.push(b'{');
        for (key, value) in self.keys.iter().zip(&self.record) {
            let Ok(value) = std::str::from_utf8(value) else {
                let why = format!(
                    "{} is not UTF-8: convert the file to UTF-8",
                    key.trim_end_matches(':')
                );
                return bad(row, &self.record, why);
            };
            if row.len() > 1 {
                row.push(b',');
            }
            row.extend_from_slice(key.as_bytes());
            // A table has no lists; its cells hold them as JSON.
            let messages = Messages::in_text(value).and_then(|_| serde_json::from_str(value).ok());
            let value = messages.unwrap_or_else(|| Value::from(value));
            // Writing to memory does not fail.
            let _ = serde_json::to_writer(&mut *row, &value);
        }
        row.push(b'}');
        if row.len() > self.limit.bytes() {
            return Ok(Next::Bad(too_long(row, self.limit)));
        }
        Ok(Next::Row)
    }

    fn place(&self) -> usize {
        self.place
    }

    fn offset(&self) -> Option<u64> {
        None
    }

    fn is_table(&self) -> bool {
        true
    }
}
