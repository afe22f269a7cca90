//! The file of labels: one line each, on disk before it counts.

use std::collections::{HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use chrono::{SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

use super::Said;
use crate::{EvalError, Result};
use juror_data::id_hash;
use juror_data::output::{folder_of, sync_folder};

/// The longest line, in bytes.
const MOST: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelLine {
    pub(crate) id: String,
    /// The annotator; for a label that two agree on, `A+B`.
    pub(crate) annotator: String,
    /// Whether the final answer is right.
    pub outcome: Option<bool>,
    /// Whether the derivation is right.
    pub process: Option<bool>,
    pub(crate) overall: Option<bool>,
    /// When the label was given, in UTC.
    pub(crate) time: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl LabelLine {
    /// A label that a person gives now.
    pub(crate) fn new(id: &str, annotator: &str, said: Said, note: Option<String>) -> Self {
        Self {
            id: id.to_owned(),
            annotator: annotator.to_owned(),
            outcome: Some(said.outcome()),
            process: said.process(),
            overall: Some(said.overall()),
            time: Utc::now().to_rfc3339_opts(SecondsFormat::Secs, true),
            note,
        }
    }

    /// What it says of a response, without annotator and time.
    pub(crate) fn says(&self) -> [Option<bool>; 3] {
        [self.outcome, self.process, self.overall]
    }
}

/// Reads the whole lines of a file of labels, each with the offset at which it ends.
fn read(file: &mut File, path: &Path) -> Result<Vec<(LabelLine, u64)>> {
    let unreadable = EvalError::unreadable(path);
    file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
    let mut reader = BufReader::new(file);
    let (mut labels, mut length, mut seen) = (Vec::new(), 0, HashSet::new());
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        let count = io::Read::take(&mut reader, MOST).read_until(b'\n', &mut text);
        let count = count.map_err(unreadable)? as u64;
        if count == 0 {
            break;
        }
        if text.iter().all(u8::is_ascii_whitespace) {
            length += count;
            continue;
        }
        let is_last = !text.ends_with(b"\n") && count < MOST;
        let label: LabelLine = match serde_json::from_slice(&text) {
            Ok(label) => label,
            // A last line that ends inside a label was cut off while it was written.
            Err(error) if is_last && error.is_eof() => break,
            Err(error) => {
                let why = format!("no label of `juror label`: {error}; choose another output");
                return Err(EvalError::row(path.display(), line, why));
            }
        };
        length += count;
        if !seen.insert(id_hash(&label.id)) {
            let why = format!("{:?} has a label already", label.id);
            return Err(EvalError::row(path.display(), line, why));
        }
        labels.push((label, length));
    }
    Ok(labels)
}

pub fn read_labels(path: &Path) -> Result<Vec<LabelLine>> {
    let mut file = File::open(path).map_err(EvalError::unreadable(path))?;
    let labels = read(&mut file, path)?;
    Ok(labels.into_iter().map(|(label, _)| label).collect())
}

/// A file to which labels are added; locked against other processes until it is dropped.
#[derive(Debug)]
pub struct LabelFile {
    path: PathBuf,
    file: File,
    /// The offset at which each line ends.
    ends: Vec<u64>,
    labels: Vec<LabelLine>,
}

fn by_id(label: &LabelLine) -> (u64, &LabelLine) {
    (id_hash(&label.id), label)
}

impl LabelFile {
    /// Opens the file, or begins one. `given` are labels that it begins with, unless it has labels with their ids already.
    /// Errors: when it cannot be opened or written, is in use, or holds something other than labels of `annotator` and of the annotators of `given`.
    pub fn open(path: &Path, annotator: &str, given: &[LabelLine]) -> Result<Self> {
        let unreadable = EvalError::unreadable(path);
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(unreadable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(EvalError::Unusable(format!(
                    "{} is written by another `juror label`: end that first, or choose another output",
                    path.display()
                )));
            }
            // Some cluster file systems have no locks.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(unreadable(error)),
        }
        let read = read(&mut file, path)?;
        let is_ours = |label: &LabelLine| {
            label.annotator == annotator
                || given.iter().any(|given| given.annotator == label.annotator)
        };
        if let Some((at, (label, _))) = read
            .iter()
            .enumerate()
            .find(|(_, (label, _))| !is_ours(label))
        {
            return Err(EvalError::Unusable(format!(
                "{}:{} is a label of {:?}: give each annotator a file of their own (`-o`)",
                path.display(),
                at + 1,
                label.annotator
            )));
        }
        let (labels, ends) = read.into_iter().unzip();
        let mut opened = Self {
            path: path.to_owned(),
            file,
            ends,
            labels,
        };
        let known: HashMap<u64, &LabelLine> = opened.labels.iter().map(by_id).collect();
        // The labels that were agreed on when the file was made may have changed since.
        let now: HashMap<u64, &LabelLine> = given.iter().map(by_id).collect();
        let is_of_given =
            |label: &LabelLine| given.iter().any(|one| one.annotator == label.annotator);
        let stale = known.iter().find(|(id, label)| {
            is_of_given(label) && now.get(id).is_none_or(|now| now.says() != label.says())
        });
        if let Some((_, label)) = stale {
            return Err(EvalError::Unusable(format!(
                "{} was made of other labels: both no longer say what it says of {:?}; choose another output",
                path.display(),
                label.id
            )));
        }
        let known: HashSet<u64> = known.into_keys().collect();
        opened.cut(opened.end())?;
        opened.end_line()?;
        for label in given
            .iter()
            .filter(|label| !known.contains(&id_hash(&label.id)))
        {
            opened.write(label)?;
            opened.labels.push(label.clone());
        }
        opened.sync()?;
        sync_folder(folder_of(path)).map_err(|source| opened.failed(&source))?;
        Ok(opened)
    }

    pub(crate) fn labels(&self) -> &[LabelLine] {
        &self.labels
    }

    /// Adds a label; from then on it survives a power cut.
    /// Errors: when it cannot be written; the file is then unchanged.
    pub(crate) fn add(&mut self, label: LabelLine) -> Result<()> {
        let before = self.end();
        let written = self.write(&label).and_then(|()| self.sync());
        if let Err(error) = written {
            self.ends.truncate(self.labels.len());
            // If this fails too, the next command removes the partial line.
            let _ = self.cut(before);
            return Err(error);
        }
        self.labels.push(label);
        Ok(())
    }

    /// Removes the last label and returns it.
    pub(crate) fn undo(&mut self) -> Result<Option<LabelLine>> {
        let Some(label) = self.labels.last().cloned() else {
            return Ok(None);
        };
        let before = self.ends.len().checked_sub(2).map_or(0, |at| self.ends[at]);
        self.cut(before)?;
        self.sync()?;
        self.ends.pop();
        self.labels.pop();
        Ok(Some(label))
    }

    /// Adds the newline of the last line, if an editor left it out.
    fn end_line(&mut self) -> Result<()> {
        let end = self.end();
        let Some(last) = end.checked_sub(1) else {
            return Ok(());
        };
        let mut byte = [0];
        let read = self.file.seek(SeekFrom::Start(last));
        read.and_then(|_| io::Read::read_exact(&mut self.file, &mut byte))
            .and_then(|()| match byte {
                [b'\n'] => Ok(()),
                _ => self.file.write_all(b"\n"),
            })
            .map_err(|source| self.failed(&source))?;
        if let (false, Some(end)) = (byte == [b'\n'], self.ends.last_mut()) {
            *end += 1;
        }
        Ok(())
    }

    fn end(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    fn write(&mut self, label: &LabelLine) -> Result<()> {
        let mut line = serde_json::to_vec(label).map_err(|error| self.failed(&error.into()))?;
        line.push(b'\n');
        if line.len() as u64 >= MOST {
            return Err(EvalError::Unusable(format!(
                "the label would take {} bytes, and {MOST} is the most: write a shorter note",
                line.len()
            )));
        }
        let end = self.end();
        self.file
            .seek(SeekFrom::Start(end))
            .and_then(|_| self.file.write_all(&line))
            .map_err(|source| self.failed(&source))?;
        self.ends.push(end + line.len() as u64);
        Ok(())
    }

    /// Truncates the file to this length, if it is longer.
    fn cut(&mut self, length: u64) -> Result<()> {
        self.file
            .set_len(length)
            .map_err(|source| self.failed(&source))
    }

    fn sync(&mut self) -> Result<()> {
        self.file.sync_all().map_err(|source| self.failed(&source))
    }

    fn failed(&self, source: &io::Error) -> EvalError {
        EvalError::Failed(format!(
            "could not write {}: {source}; the labels before are kept: make room and run the same command again",
            self.path.display()
        ))
    }
}
