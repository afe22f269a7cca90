//! A source's bytes without compression.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::line::LineLimit;
use crate::dataset::DatasetError;

/// Bytes read at a time: enough to keep a fast disk busy.
const BUFFER: usize = 1 << 18;

/// The bytes of one source, decompressed.
pub(super) struct Bytes {
    /// The source's name in messages.
    pub(super) file: String,
    /// `gzip` or `zstd`.
    pub(super) compression: Option<&'static str>,
    pub(super) reader: Box<dyn BufRead>,
    /// Bytes read so far; kept by the readers of rows.
    pub(super) read: u64,
    /// How long a row may be.
    pub(super) limit: LineLimit,
    /// Can bytes be read again by their offset? Not in a compressed file, a pipe, or standard input.
    pub(super) seekable: bool,
}

impl Bytes {
    /// Looks at the first bytes rather than the name to tell how `reader` is compressed.
    pub(super) fn new(
        file: String,
        mut reader: impl Read + 'static,
        limit: LineLimit,
        seekable: bool,
    ) -> Result<Self, DatasetError> {
        let mut head = Vec::with_capacity(4);
        if let Err(source) = reader.by_ref().take(4).read_to_end(&mut head) {
            return Err(DatasetError::Read { file, source });
        }
        let compression = match head.as_slice() {
            [0x1f, 0x8b, ..] => Some("gzip"),
            // A frame, or the skippable frame that some compressors begin with.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some("zstd"),
            [b'B', b'Z', b'h', _] => return Err(unpack(file, "compressed with bzip2")),
            [0xfd, b'7', b'z', b'X'] => return Err(unpack(file, "compressed with xz")),
            [b'P', b'K', 3, 4] => return Err(unpack(file, "a zip archive")),
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
            Some("gzip") => Box::new(BufReader::with_capacity(
                BUFFER,
                MultiGzDecoder::new(BufReader::with_capacity(BUFFER, bytes)),
            )),
            Some(_) => match zstd(bytes) {
                Ok(decoder) => Box::new(BufReader::with_capacity(BUFFER, decoder)),
                Err(source) => return Err(DatasetError::Read { file, source }),
            },
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
        let mut beginning = Vec::new();
        while beginning.len() < BUFFER && !without_mark(&beginning).contains(&b'\n') {
            let buffer = match self.reader.fill_buf() {
                Ok([]) => break,
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // Said when it is met again, behind the rows before it.
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

    /// The error for bytes that end too early or cannot be read, behind `line` whole lines.
    pub(super) fn broken_off(&self, line: usize, source: io::Error) -> DatasetError {
        let file = self.file.clone();
        match self.compression {
            Some(compression) => DatasetError::Compressed {
                file,
                compression,
                line,
                source,
            },
            None => DatasetError::Read { file, source },
        }
    }

    /// The error for a row that has no end.
    pub(super) fn endless(&self, line: usize, read: u64) -> DatasetError {
        DatasetError::Endless {
            file: self.file.clone(),
            line,
            read,
        }
    }
}

/// The text from its first character on that is neither a space nor a byte order mark.
pub(super) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .trim_ascii_start()
}

/// Has the file's name this extension?
pub(super) fn ending(file: &str, ending: &str) -> bool {
    Path::new(file)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}

fn zstd(bytes: impl Read + 'static) -> io::Result<impl Read> {
    let mut decoder = zstd::stream::read::Decoder::new(bytes)?;
    // What `zstd --ultra --long=31` writes.
    decoder.window_log_max(31)?;
    Ok(decoder)
}

fn unpack(file: String, found: &'static str) -> DatasetError {
    DatasetError::Format {
        file,
        found,
        advice: "unpack it, or pack it with gzip or zstd",
    }
}
