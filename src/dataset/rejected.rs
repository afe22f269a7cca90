//! Lines that were set aside.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::output::{OutputError, write_atomically};

/// A line that cannot become a sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedLine {
    /// The file as the user named it or as it was found in a folder; `stdin` for standard input.
    pub file: String,
    /// The line's number, from 1.
    pub line: usize,
    /// What is wrong and what to do about it.
    pub reason: String,
    /// The line itself; bytes that are not UTF-8 are replaced by U+FFFD.
    pub text: String,
}

impl fmt::Display for RejectedLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.reason)
    }
}

/// Where the lines set aside while writing `out` go: `OUT.rejected.jsonl`.
pub fn rejected_path(out: &Path) -> PathBuf {
    let mut path = OsString::from(out);
    path.push(".rejected.jsonl");
    path.into()
}

/// Writes the lines set aside, one JSON object each, by atomic rename.
///
/// # Errors
/// When the file cannot be written.
pub fn write_rejected(path: &Path, rejected: &[RejectedLine]) -> Result<(), OutputError> {
    write_atomically(path, |writer| {
        for line in rejected {
            serde_json::to_writer(&mut *writer, line)?;
            writer.write_all(b"\n")?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_lines_can_be_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = rejected_path(&folder.path().join("verdicts.jsonl"));
        assert_eq!(path.file_name().unwrap(), "verdicts.jsonl.rejected.jsonl");
        let lines = vec![
            RejectedLine {
                file: "a.jsonl".into(),
                line: 3,
                reason: "no question".into(),
                text: "{\"x\": \"\n\"}".into(),
            },
            RejectedLine {
                file: "b.jsonl".into(),
                line: 1,
                reason: "not JSON".into(),
                text: "\u{fffd}".into(),
            },
        ];
        write_rejected(&path, &lines).unwrap();
        let read: Vec<RejectedLine> = std::fs::read_to_string(&path)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(read, lines);
    }
}
