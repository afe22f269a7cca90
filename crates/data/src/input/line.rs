//! Lines with a limit on their length: a file without newlines must not be read into memory as a whole.

use std::fs::File;
use std::io::{self, BufRead, Read};
use std::path::Path;

/// The limit on a line's length in an input, in bytes, without its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineLimit(pub u32);

impl LineLimit {
    /// Many times the longest rollout, and little compared with a machine's memory.
    pub const DEFAULT: Self = Self(64 << 20);

    /// A longer line is read to its end, so that it can be set aside like any other bad line, but no further than this many times the limit.
    const PASSED_OVER: u64 = 4;

    pub(super) fn bytes(self) -> usize {
        self.0 as usize
    }

    /// The most bytes of one line that are read at all.
    pub(super) fn passed_over(self) -> u64 {
        u64::from(self.0) * Self::PASSED_OVER
    }
}

impl Default for LineLimit {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Appends to `line` up to and including the next newline, or to the end of the input, but at most `most` bytes.
pub(crate) fn read_line(
    reader: &mut dyn BufRead,
    line: &mut Vec<u8>,
    most: u64,
) -> io::Result<usize> {
    reader.take(most).read_until(b'\n', line)
}

/// Skips up to and including the next newline, or to the end of the input. Returns how many bytes were skipped, and whether the line ended within about
/// `most` of them.
pub(crate) fn skip_line(reader: &mut dyn BufRead, most: u64) -> io::Result<(u64, bool)> {
    let mut skipped = 0;
    while skipped < most {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let (used, ended) = match end {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        reader.consume(used);
        skipped += used as u64;
        if ended {
            return Ok((skipped, true));
        }
    }
    Ok((skipped, false))
}

/// The largest text file that a user writes, in bytes: a prompt, examples, a chat template.
const MOST_TEXT: u64 = 16 << 20;

/// The whole of a file of text in UTF-8, of at most 16 MiB.
pub fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?
        .take(MOST_TEXT + 1)
        .read_to_string(&mut text)?;
    if read as u64 > MOST_TEXT {
        return Err(io::Error::other(format!(
            "it is longer than {} MiB, so it is not what was meant",
            MOST_TEXT >> 20
        )));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_of_a_line_than_may_be() {
        let mut reader = io::BufReader::with_capacity(3, io::Cursor::new(b"abcdefgh\nij"));
        let mut line = Vec::new();
        assert_eq!(read_line(&mut reader, &mut line, 4).unwrap(), 4);
        assert_eq!(line, b"abcd");
        assert_eq!(skip_line(&mut reader, 2).unwrap(), (2, false));
        assert_eq!(skip_line(&mut reader, 100).unwrap(), (3, true));
        line.clear();
        assert_eq!(read_line(&mut reader, &mut line, 4).unwrap(), 2);
        assert_eq!(line, b"ij");
        assert_eq!(skip_line(&mut reader, 100).unwrap(), (0, true));
    }

    #[cfg(unix)]
    #[test]
    fn a_text_without_an_end_is_refused() {
        let error = read_text(Path::new("/dev/zero")).unwrap_err();
        assert!(error.to_string().contains("longer than 16 MiB"), "{error}");
    }
}
