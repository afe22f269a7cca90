//! JSON lines: one row per line.

use super::bytes::Bytes;
use super::line::{read_line, skip_line};
use super::{Next, RowReader, too_long};
use crate::DatasetError;

/// The byte order mark that some editors write before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
pub(super) struct JsonLines {
    bytes: Bytes,
    line: usize,
    offset: u64,
}

impl JsonLines {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self {
            bytes,
            line: 0,
            offset: 0,
        }
    }
}

impl RowReader for JsonLines {
    fn next(&mut self, row: &mut Vec<u8>) -> Result<Next, DatasetError> {
        row.clear();
        let limit = self.bytes.limit.bytes();
        // Room for the byte order mark and the line's end, which do not count.
        let most = limit as u64 + (BYTE_ORDER_MARK.len() + 2) as u64;
        self.offset = self.bytes.read;
        let read = match read_line(&mut self.bytes.reader, row, most) {
            Ok(0) => return Ok(Next::End),
            Ok(read) => read as u64,
            Err(source) => return Err(self.bytes.broken_off(self.line, source)),
        };
        self.bytes.read += read;
        self.line += 1;
        let whole = row.last() == Some(&b'\n') || read < most;
        for end in [b'\n', b'\r'] {
            if whole && row.last() == Some(&end) {
                row.pop();
            }
        }
        if self.line == 1 && row.starts_with(BYTE_ORDER_MARK) {
            row.drain(..BYTE_ORDER_MARK.len());
            self.offset += BYTE_ORDER_MARK.len() as u64;
        }
        if whole && row.len() <= limit {
            return Ok(Next::Row);
        }
        if !whole {
            let passed_over = self.bytes.limit.passed_over();
            let (skipped, ended) = skip_line(&mut self.bytes.reader, passed_over)
                .map_err(|source| self.bytes.broken_off(self.line, source))?;
            self.bytes.read += skipped;
            if !ended {
                return Err(self.bytes.endless(self.line, read + skipped));
            }
        }
        Ok(Next::Bad(too_long(row, self.bytes.limit)))
    }

    fn place(&self) -> usize {
        self.line
    }

    fn offset(&self) -> Option<u64> {
        self.bytes.seekable.then_some(self.offset)
    }
}
