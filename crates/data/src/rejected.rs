//! Lines that were set aside.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::input::REJECTED;
use super::output::with_ending;

/// A line that cannot become a sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RejectedLine {
    /// The file as the user named it or as it was found in a folder; `stdin` for standard input.
    pub file: String,
    /// The line's number, from 1.
    pub line: usize,
    /// What is wrong and what to do about it.
    pub reason: String,
    /// The line itself, or its beginning if it is too long; bytes that are not UTF-8 are replaced by U+FFFD.
    pub text: String,
}

/// Where the lines set aside while writing `out` go: `OUT.rejected.jsonl`.
pub fn rejected_path(out: &Path) -> PathBuf {
    with_ending(out, REJECTED)
}

/// The lines of an input that were set aside, in a temporary file, since there may be as many as samples.
#[derive(Debug, Default)]
pub struct Rejected {
    pub(super) count: usize,
    /// [`RejectedLine`]s, one JSON object a line.
    pub(super) lines: Option<File>,
}

impl Rejected {
    /// How many lines were set aside.
    pub fn len(&self) -> usize {
        self.count
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Writes them, one JSON object each.
    pub fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        let Some(mut lines) = self.lines.as_ref() else {
            return Ok(());
        };
        lines.seek(SeekFrom::Start(0))?;
        io::copy(&mut lines, writer).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Mark, Outputs};
    use crate::spool::Spool;

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
        let mut spool = Spool::default();
        for line in &lines {
            let line = serde_json::to_string(line).unwrap() + "\n";
            spool.add(line.as_bytes(), Some(&path)).unwrap();
        }
        let rejected = Rejected {
            count: lines.len(),
            lines: spool.finish().unwrap(),
        };
        assert_eq!((rejected.len(), rejected.is_empty()), (2, false));
        let file = Outputs::default().open(&path, Mark::REJECTED).unwrap();
        file.write(|writer| rejected.write(writer)).unwrap();
        file.write(|writer| rejected.write(writer)).unwrap();
        let read: Vec<RejectedLine> = std::fs::read_to_string(&path)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(read, lines);
        file.write(|writer| Rejected::default().write(writer))
            .unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
    }
}
