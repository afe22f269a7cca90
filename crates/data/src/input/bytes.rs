//! The bytes of a source, decompressed.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use super::line::LineLimit;
use crate::DatasetError;

/// Bytes read at a time: enough to keep a fast disk busy.
const BUFFER: usize = 1 << 18;

/// How much text was unpacked from a compressed file so far.
#[derive(Debug, Default)]
pub(super) struct Expansion {
    text: u64,
}

impl Expansion {
    /// How many bytes of text a file may always hold.
    const TEXT: u64 = 1 << 30;
    /// How many bytes of text a file may hold for each of its own bytes, in addition: repeated lines are packed to about a thousandth.
    const TEXT_PER_BYTE: u64 = 2000;
    pub(super) const REFUSED: &str = "it unpacks to more than 1 GiB and 2000 times its size, which is out of proportion: unpack it, if that is what it should hold";

    /// Adds text that came from the first `packed` bytes of a file; an error if there is too much of it for them.
    pub(super) fn add(&mut self, text: usize, packed: u64) -> io::Result<()> {
        self.text += text as u64;
        if self.text <= Self::TEXT + Self::TEXT_PER_BYTE.saturating_mul(packed) {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::QuotaExceeded, Self::REFUSED))
    }
}

struct Counted<R> {
    bytes: R,
    read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.read.set(self.read.get() + read as u64);
        Ok(read)
    }
}

/// The output of a decompressor, with an error once there is too much of it.
struct Unpacked<R> {
    bytes: R,
    packed: Rc<Cell<u64>>,
    text: Expansion,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.text.add(read, self.packed.get())?;
        Ok(read)
    }
}

/// The bytes of one source, decompressed.
pub(super) struct Bytes {
    pub(super) file: String,
    /// `gzip` or `zstd`.
    pub(super) compression: Option<&'static str>,
    pub(super) reader: Box<dyn BufRead>,
    /// Bytes read so far; kept by the readers of rows.
    pub(super) read: u64,
    pub(super) limit: LineLimit,
    /// Whether bytes can be read again by their offset: not in a compressed file, a pipe, or standard input.
    pub(super) seekable: bool,
}

impl Bytes {
    /// Detects how `reader` is compressed by its first bytes, not by its name.
    pub(super) fn new(
        file: String,
        mut reader: impl Read + 'static,
        limit: LineLimit,
        seekable: bool,
    ) -> Result<Self, DatasetError> {
        // No more than must be: a program may write one row and wait for its answer.
        let mut head = Vec::with_capacity(4);
        let read = reader.by_ref().take(4).read_to_end(&mut head);
        read.map_err(DatasetError::unreadable(&*file))?;
        let compression = match head.as_slice() {
            [0x1f, 0x8b, ..] => Some("gzip"),
            // A frame of zstd, or the skippable frame that some compressors begin with.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Some("zstd"),
            // An empty file is neither valid gzip nor valid zstd.
            [] if ending(&file, "gz") => Some("gzip"),
            [] if ending(&file, "zst") => Some("zstd"),
            _ => None,
        };
        let empty = head.is_empty();
        let bytes = Cursor::new(head).chain(reader);
        let reader: Box<dyn BufRead> = match compression {
            Some(compression) if empty => {
                let source = io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty");
                return Err(DatasetError::Compressed {
                    file,
                    compression,
                    line: 0,
                    source,
                });
            }
            Some(compression) => {
                let packed = Rc::new(Cell::new(0));
                let bytes = Counted {
                    bytes,
                    read: Rc::clone(&packed),
                };
                let decoder: Box<dyn Read> = if compression == "gzip" {
                    Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, bytes)))
                } else {
                    Box::new(zstd(bytes).map_err(DatasetError::unreadable(&*file))?)
                };
                let unpacked = Unpacked {
                    bytes: decoder,
                    packed,
                    text: Expansion::default(),
                };
                Box::new(BufReader::with_capacity(BUFFER, unpacked))
            }
            None => Box::new(BufReader::with_capacity(BUFFER, bytes)),
        };
        Ok(Self {
            file,
            seekable: seekable && compression.is_none(),
            compression,
            reader,
            read: 0,
            limit,
        })
    }

    /// The first bytes, not taken: to the end of the first line that is not blank, if it is not very long.
    pub(super) fn beginning(&mut self) -> Result<Vec<u8>, DatasetError> {
        self.ahead(|beginning| without_mark(beginning).contains(&b'\n'))
    }

    /// The first bytes, not taken: as many as are kept ahead, or fewer that are enough.
    pub(super) fn ahead(&mut self, is_enough: fn(&[u8]) -> bool) -> Result<Vec<u8>, DatasetError> {
        let mut beginning = Vec::new();
        while beginning.len() < BUFFER && !is_enough(&beginning) {
            let buffer = match self.reader.fill_buf() {
                Ok([]) => break,
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // The error is reported when it is met again, after the rows before it.
                Err(_) if !beginning.is_empty() => break,
                Err(source) => return Err(self.broken_off(0, source)),
            };
            beginning.extend_from_slice(buffer);
            let count = buffer.len();
            self.reader.consume(count);
        }
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(beginning.clone()).chain(rest));
        Ok(beginning)
    }

    /// The next byte, not taken; `None` at the end.
    pub(super) fn peek(&mut self, line: usize) -> Result<Option<u8>, DatasetError> {
        loop {
            match self.reader.fill_buf() {
                Ok(buffer) => return Ok(buffer.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.broken_off(line, source)),
            }
        }
    }

    /// Takes `count` bytes that [`Self::peek`] or `fill_buf` showed.
    pub(super) fn take(&mut self, count: usize) {
        self.reader.consume(count);
        self.read += count as u64;
    }

    /// The error for bytes that end too early or cannot be read, after `line` whole lines.
    pub(super) fn broken_off(&self, line: usize, source: io::Error) -> DatasetError {
        let file = self.file.clone();
        match self.compression {
            Some(compression) if source.kind() != io::ErrorKind::QuotaExceeded => {
                DatasetError::Compressed {
                    file,
                    compression,
                    line,
                    source,
                }
            }
            _ => DatasetError::Read { file, source },
        }
    }

    /// Refuses a row, or the space before it, that has not ended so far from its first byte.
    pub(super) fn check_end(&self, line: usize, begin: u64) -> Result<(), DatasetError> {
        let read = self.read - begin;
        if read > self.limit.bytes() as u64 + self.limit.passed_over() {
            return Err(self.endless(line, read));
        }
        Ok(())
    }

    /// The error for a row that has no end.
    pub(super) fn endless(&self, line: usize, read: u64) -> DatasetError {
        let file = self.file.clone();
        DatasetError::Endless { file, line, read }
    }
}

/// The bytes from the first one on that is neither space nor a byte order mark.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.trim_ascii_start()
}

pub(super) fn ending(file: &str, ending: &str) -> bool {
    let extension = Path::new(file).extension();
    extension.is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}

fn zstd(bytes: impl Read + 'static) -> io::Result<impl Read> {
    let mut decoder = zstd::stream::read::Decoder::new(bytes)?;
    // The largest window that `zstd --ultra --long=31` uses.
    decoder.window_log_max(31)?;
    Ok(decoder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_out_of_proportion_to_what_it_was_packed_in_is_refused() {
        let unpacked = |text: u64, packed: u64| {
            let mut bytes = Unpacked {
                bytes: io::repeat(b' ').take(text),
                packed: Rc::new(Cell::new(packed)),
                text: Expansion::default(),
            };
            io::copy(&mut bytes, &mut io::sink())
        };
        let most = Expansion::TEXT + 1000 * Expansion::TEXT_PER_BYTE;
        assert_eq!(unpacked(most, 1000).unwrap(), most);
        let error = unpacked(most + 1, 1000).unwrap_err();
        let packed = Cursor::new(b"\x28\xb5\x2f\xfd");
        let bytes = Bytes::new("rows.jsonl.zst".into(), packed, LineLimit::DEFAULT, false);
        let shown = bytes.unwrap().broken_off(7, error).to_string();
        assert!(
            shown.contains("could not read rows.jsonl.zst: it unpacks to more than 1 GiB"),
            "{shown}"
        );
    }
}
