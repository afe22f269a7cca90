//! Lines that were set aside.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::spool::temporary;

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
    let mut path = OsString::from(out);
    path.push(".rejected.jsonl");
    path.into()
}

/// The lines of an input that were set aside, in a temporary file, since there may be as many as samples.
#[derive(Debug, Default)]
pub struct Rejected {
    count: usize,
    /// [`RejectedLine`]s, one JSON object a line.
    lines: Option<BufWriter<File>>,
}

impl Rejected {
    /// Adds a line; the file is beside `output`, if there is one.
    pub(super) fn add(&mut self, line: &RejectedLine, output: Option<&Path>) -> io::Result<()> {
        let lines = match &mut self.lines {
            Some(lines) => lines,
            none => none.insert(BufWriter::new(temporary(output)?)),
        };
        serde_json::to_writer(&mut *lines, line)?;
        lines.write_all(b"\n")?;
        self.count += 1;
        Ok(())
    }

    /// All lines added so far.
    pub(super) fn finish(mut self) -> io::Result<Self> {
        self.lines.iter_mut().try_for_each(Write::flush)?;
        Ok(self)
    }

    /// How many lines were set aside.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether every line was accepted.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Writes them, one JSON object each.
    pub fn write(&self, writer: &mut dyn Write) -> io::Result<()> {
        let Some(mut lines) = self.lines.as_ref().map(BufWriter::get_ref) else {
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
        let mut rejected = Rejected::default();
        for line in &lines {
            rejected.add(line, Some(&path)).unwrap();
        }
        let rejected = rejected.finish().unwrap();
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
