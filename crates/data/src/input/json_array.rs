//! A JSON array, one row per element, alone or in an object; or objects of several lines each, one after another.

use std::io;

use super::bytes::Bytes;
use super::document::Scanner;
use super::{Next, RowReader, too_long};
use crate::DatasetError;

/// The elements of an array that fills a source, or its objects if there is no array.
pub(super) struct JsonArray {
    pub(super) bytes: Bytes,
    pub(super) line: usize,
    /// The line on which the element last read begins.
    pub(super) place: usize,
    pub(super) offset: u64,
    pub(super) state: ArrayState,
    /// The keys that lead to the array, where it lies in an object, and the place in that.
    pub(super) list: &'static [String],
    pub(super) scanner: Scanner,
    /// The byte that ends it: that of an object whose values are the rows, their keys numbering them, or of an array.
    pub(super) end: u8,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum ArrayState {
    /// The opening bracket was not read yet.
    Outside,
    /// The opening bracket was read, but no element.
    Opened,
    /// An element was read.
    Within,
    Closed,
    /// There is no array, only objects.
    Bare,
}

impl JsonArray {
    /// The rows of `bytes`, which begin with the array, apart from space and a byte order mark.
    pub(super) fn new(bytes: Bytes) -> Self {
        Self {
            bytes,
            line: 1,
            place: 1,
            offset: 0,
            state: ArrayState::Outside,
            list: &[],
            scanner: Scanner::default(),
            end: b']',
        }
    }

    /// Passes over what is in the object after its array.
    fn pass_rest(&mut self) -> Result<(), DatasetError> {
        while self.scanner.depth > 0 {
            let Some(byte) = self.next_byte()? else {
                return Err(self.broken("object is not closed"));
            };
            self.bytes.take(1);
            self.scanner.step(byte);
        }
        Ok(())
    }

    /// Reads up to the array in the object, and its bracket.
    fn find_list(&mut self) -> Result<(), DatasetError> {
        let mut found = 0;
        loop {
            if !self.scanner.in_string {
                self.next_byte()?;
            }
            let Some(byte) = self.bytes.peek(self.line)? else {
                break;
            };
            self.bytes.take(1);
            let depth = self.scanner.step(byte);
            if byte == b'}' && found > 0 && self.scanner.depth == found {
                break;
            }
            if depth != Some(found + 1) || self.scanner.key() != self.list[found] {
                continue;
            }
            found += 1;
            let is_last = found == self.list.len();
            match self.next_byte()? {
                Some(open @ (b'[' | b'{')) if is_last => {
                    self.bytes.take(1);
                    // The byte that closes the one or the other.
                    self.end = open + 2;
                    return Ok(());
                }
                Some(b'{') if !is_last => {}
                _ => break,
            }
        }
        let (file, list) = (self.bytes.file.clone(), self.list.join("."));
        let source = io::Error::other(format!(
            "its rows would be in the list `{list}`, and there is none: was the log written without its samples?"
        ));
        Err(DatasetError::Read { file, source })
    }

    /// The next byte that is not space, not consumed.
    fn next_byte(&mut self) -> Result<Option<u8>, DatasetError> {
        let begin = self.bytes.read;
        loop {
            self.bytes.check_end(self.line, begin)?;
            match self.bytes.peek(self.line)? {
                Some(b'\n') => self.line += 1,
                Some(b' ' | b'\t' | b'\r') => {}
                // The byte order mark.
                Some(0xef | 0xbb | 0xbf) if self.bytes.read < 3 => {}
                other => return Ok(other),
            }
            self.bytes.take(1);
        }
    }

    /// Passes over a key and its colon.
    fn skip_key(&mut self) -> Result<String, DatasetError> {
        let mut scanner = Scanner::default();
        while let Some(byte) = self.next_byte()? {
            self.bytes.take(1);
            if scanner.step(byte).is_some() {
                return Ok(scanner.key());
            }
        }
        Err(self.broken("object is not closed"))
    }

    fn broken(&self, what: &'static str) -> DatasetError {
        let (file, line) = (self.bytes.file.clone(), self.line);
        DatasetError::Array { file, line, what }
    }

    fn unfinished(&mut self) -> DatasetError {
        if self.state == ArrayState::Bare {
            self.line = self.place;
            return self.broken("object that begins here is not closed");
        }
        self.broken("array ends within an element")
    }

    /// Reads an element up to the comma or bracket after it, which is not consumed; of an element that is too long only the beginning is kept.
    fn element(&mut self, row: &mut Vec<u8>) -> Result<(), DatasetError> {
        let most = self.bytes.limit.bytes();
        let begin = self.bytes.read;
        let (mut depth, mut in_string, mut escaped) = (0_u64, false, false);
        loop {
            let buffer = match self.bytes.reader.fill_buf() {
                Ok([]) => return Err(self.unfinished()),
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(self.bytes.broken_off(self.line, source)),
            };
            let mut ended = false;
            let mut used = 0;
            for &byte in buffer {
                self.line += usize::from(byte == b'\n');
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' if in_string => escaped = true,
                    b'"' => in_string = !in_string,
                    _ if in_string => {}
                    b'[' | b'{' => depth += 1,
                    b',' | b']' | b'}' if depth == 0 && (byte != b'}' || self.end == b'}') => {
                        ended = true;
                        break;
                    }
                    // An unmatched brace ends nothing: the element is then not JSON, which is found out later.
                    b']' | b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                used += 1;
                if depth == 0 && byte == b'}' && self.state == ArrayState::Bare && !in_string {
                    ended = true;
                    break;
                }
            }
            let room = (most + 1).saturating_sub(row.len());
            row.extend_from_slice(&buffer[..used.min(room)]);
            self.bytes.take(used);
            if ended {
                return Ok(());
            }
            self.bytes.check_end(self.place, begin)?;
        }
    }
}

impl RowReader for JsonArray {
    fn next(&mut self, row: &mut Vec<u8>) -> Result<Next, DatasetError> {
        row.clear();
        if self.state == ArrayState::Outside {
            if self.list.is_empty() {
                self.next_byte()?;
                self.bytes.take(1);
            } else {
                self.find_list()?;
            }
            self.state = ArrayState::Opened;
        }
        if self.state == ArrayState::Closed && !self.list.is_empty() {
            self.pass_rest()?;
        }
        let next = self.next_byte()?;
        match (&self.state, next) {
            (ArrayState::Bare, Some(b'{')) => {}
            (ArrayState::Bare, Some(_)) => {
                return Err(self.broken("object is followed by more text"));
            }
            (ArrayState::Bare | ArrayState::Closed, None) => return Ok(Next::End),
            (ArrayState::Closed, Some(_)) => {
                return Err(self.broken("array is followed by more text"));
            }
            (_, None) => return Err(self.broken("array is not closed")),
            (_, Some(byte)) if byte == self.end && self.state != ArrayState::Bare => {
                self.bytes.take(1);
                self.state = ArrayState::Closed;
                return self.next(row);
            }
            (ArrayState::Within, Some(_)) => {
                // An element ends at a comma or at the bracket, so this is the comma.
                self.bytes.take(1);
                if self.next_byte()?.is_none() {
                    return Err(self.broken("array is not closed"));
                }
            }
            _ => {}
        }
        if self.state != ArrayState::Bare {
            self.state = ArrayState::Within;
        }
        if self.end == b'}' {
            let is_row = self.skip_key()?.parse::<usize>().is_ok();
            // Beside its rows the object may say what they are: `"type": "GEN"`.
            if self.next_byte()?.is_some_and(|byte| byte != b'{') && !is_row {
                self.element(row)?;
                row.clear();
                return Ok(Next::Row);
            }
        }
        self.place = self.line;
        self.offset = self.bytes.read;
        self.element(row)?;
        if row.len() > self.bytes.limit.bytes() {
            return Ok(Next::Bad(too_long(row, self.bytes.limit)));
        }
        while row.last().is_some_and(u8::is_ascii_whitespace) {
            row.pop();
        }
        if row.is_empty() {
            let why = "nothing between two commas of the array";
            return Ok(Next::Bad(why.to_owned()));
        }
        Ok(Next::Row)
    }

    fn place(&self) -> usize {
        self.place
    }

    fn offset(&self) -> Option<u64> {
        self.bytes.seekable.then_some(self.offset)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::super::line::LineLimit;
    use super::*;

    #[test]
    fn space_without_an_end_is_an_error() {
        type Make = fn(Bytes) -> JsonArray;
        let list: Make = |bytes| JsonArray {
            list: Vec::leak(vec!["rows".to_owned()]),
            ..JsonArray::new(bytes)
        };
        let values: Make = |bytes| JsonArray {
            end: b'}',
            ..JsonArray::new(bytes)
        };
        let cases: [(Make, &[&str]); 3] = [
            (
                JsonArray::new,
                &["", "[", "[{\"a\": 1}", "[{\"a\": 1},", "[{\"a\": 1}]"],
            ),
            (
                list,
                &[
                    "",
                    "{\"more\": 1,",
                    "{\"rows\": [1]",
                    "{\"rows\": [1], \"m\"",
                ],
            ),
            (values, &["{", "{\"0\"", "{\"0\": 1"]),
        ];
        let begins = cases
            .iter()
            .flat_map(|(make, begins)| begins.iter().map(move |begin| (make, *begin)));
        for (make, begin) in begins {
            let endless = io::Cursor::new(begin).chain(io::repeat(b' '));
            let bytes = Bytes::new("rows.json".into(), endless, LineLimit(100), false).unwrap();
            let mut array = make(bytes);
            let mut row = Vec::new();
            let mut rows = std::iter::repeat_with(|| array.next(&mut row)).take(3);
            let error = rows.find_map(Result::err).unwrap();
            assert!(
                matches!(error, DatasetError::Endless { .. }),
                "{begin}: {error}"
            );
        }
    }
}
