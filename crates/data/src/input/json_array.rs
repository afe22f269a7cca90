//! A JSON array, one row per element; or objects of several lines each, one after another.

use std::io;

use super::bytes::Bytes;
use super::{Next, RowReader, too_long};
use crate::DatasetError;

/// The elements of an array that fills a source, or its objects if there is no array.
pub(super) struct JsonArray {
    bytes: Bytes,
    /// Lines begun so far.
    line: usize,
    /// The line on which the element last read begins.
    place: usize,
    offset: u64,
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
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
            state: State::Outside,
        }
    }

    /// The rows of `bytes`, which begin with an object of several lines.
    pub(super) fn of_objects(bytes: Bytes) -> Self {
        Self {
            state: State::Bare,
            ..Self::new(bytes)
        }
    }

    /// The next byte that is not space, not consumed.
    fn next_byte(&mut self) -> Result<Option<u8>, DatasetError> {
        loop {
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

    fn broken(&self, what: &'static str) -> DatasetError {
        DatasetError::Array {
            file: self.bytes.file.clone(),
            line: self.line,
            what,
        }
    }

    fn unfinished(&self) -> DatasetError {
        match self.state {
            State::Bare => DatasetError::Array {
                file: self.bytes.file.clone(),
                line: self.place,
                what: "object that begins here is not closed",
            },
            _ => self.broken("array ends within an element"),
        }
    }

    /// Reads an element up to the comma or bracket after it, which is not consumed; of an element that is too long only the
    /// beginning is kept.
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
                    b',' | b']' if depth == 0 => {
                        ended = true;
                        break;
                    }
                    // An unmatched brace ends nothing: the element is then not JSON, which is found out later.
                    b']' | b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                used += 1;
                if depth == 0 && byte == b'}' && self.state == State::Bare && !in_string {
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
            let read = self.bytes.read - begin;
            if read > most as u64 + self.bytes.limit.passed_over() {
                return Err(self.bytes.endless(self.place, read));
            }
        }
    }
}

impl RowReader for JsonArray {
    fn next(&mut self, row: &mut Vec<u8>) -> Result<Next, DatasetError> {
        row.clear();
        if self.state == State::Outside {
            self.next_byte()?;
            self.bytes.take(1);
            self.state = State::Opened;
        }
        let next = self.next_byte()?;
        match (&self.state, next) {
            (State::Bare, Some(b'{')) => {}
            (State::Bare, Some(_)) => return Err(self.broken("object is followed by more text")),
            (State::Bare | State::Closed, None) => return Ok(Next::End),
            (State::Closed, Some(_)) => return Err(self.broken("array is followed by more text")),
            (_, None) => return Err(self.broken("array is not closed")),
            (_, Some(b']')) => {
                self.bytes.take(1);
                self.state = State::Closed;
                return self.next(row);
            }
            (State::Within, Some(_)) => {
                // An element ends at a comma or at the bracket, so this is the comma.
                self.bytes.take(1);
                if self.next_byte()?.is_none() {
                    return Err(self.broken("array is not closed"));
                }
            }
            _ => {}
        }
        if self.state != State::Bare {
            self.state = State::Within;
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
            return Ok(Next::Bad(
                "nothing between two commas of the array".to_owned(),
            ));
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
