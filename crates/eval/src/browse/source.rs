//! Which file holds the verdicts, and access to its bytes by offset.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::{EvalError, Result};
use juror_base::threads::lock;
use juror_data::journal::journal_path;
use juror_data::{DatasetError, each_batch, file_number};

/// The beginning of a journal's first line.
const MANIFEST: &[u8] = b"{\"manifest\":";

/// A file that is read at any offset.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    file: Mutex<File>,
    /// Its device and inode number.
    number: Option<(u64, u64)>,
    pub(super) is_journal: bool,
    /// Whether it is the file itself, which may grow, not a copy of its content.
    pub(super) can_grow: bool,
}

/// The file that holds the verdicts of the run that writes `path`: the output, or the journal if that is newer or there is no output yet.
fn newest(path: &Path) -> PathBuf {
    let journal = journal_path(path);
    let modified = |path: &Path| fs::metadata(path).and_then(|found| found.modified()).ok();
    match (modified(path), modified(&journal)) {
        (Some(output), Some(written)) if written > output => journal,
        (None, Some(_)) => journal,
        _ => path.to_owned(),
    }
}

impl Source {
    /// Opens the file that holds the verdicts of `path`: JSON lines and journals directly, all others (tables, compressed
    /// files) as a temporary copy in JSON lines.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let found = newest(path);
        let unreadable = EvalError::unreadable(&found);
        let number = file_number(&found);
        let mut file = match File::open(&found) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(EvalError::Unusable(format!(
                    "there is neither {} nor {}: give the output of `juror judge`, of a run that goes on too",
                    path.display(),
                    journal_path(path).display()
                )));
            }
            opened => opened.map_err(unreadable)?,
        };
        let is_file = file.metadata().map_err(unreadable)?.is_file();
        let mut head = Vec::new();
        if is_file {
            io::Read::by_ref(&mut file)
                .take(MANIFEST.len() as u64)
                .read_to_end(&mut head)
                .map_err(unreadable)?;
        }
        let first = head.trim_ascii_start();
        let is_lines = first.is_empty()
            || (first.starts_with(b"{")
                && !first.get(1).is_some_and(|next| b"\n'\0".contains(next)));
        let can_grow = is_file && is_lines;
        if !can_grow {
            file = copy(&found)?;
        }
        Ok(Self {
            is_journal: head == MANIFEST,
            path: found,
            file: Mutex::new(file),
            number,
            can_grow,
        })
    }

    /// Whether another file is to be read from now on, or this one has lost what was read of it.
    pub(super) fn is_outdated(&self, path: &Path, read: u64) -> bool {
        if !self.can_grow {
            return false;
        }
        let length = {
            let file = lock(&self.file);
            file.metadata().map_or(0, |found| found.len())
        };
        if length < read {
            return true;
        }
        // A journal holds all that the output will hold.
        let stays = self.is_journal && file_number(&self.path) == self.number;
        let target = newest(path);
        !stays && target.exists() && (target != self.path || file_number(&target) != self.number)
    }

    pub(super) fn still_has(&self, last: &[u8], end: u64) -> bool {
        let mut found = Vec::new();
        let start = end - last.len() as u64;
        last.is_empty() || (self.read_some(start, last.len(), &mut found).is_ok() && found == last)
    }

    /// Reads at most `most` bytes from `offset` on to the end of `bytes`; returns how many there were.
    pub(super) fn read_some(
        &self,
        offset: u64,
        most: usize,
        bytes: &mut Vec<u8>,
    ) -> io::Result<usize> {
        let file = lock(&self.file);
        let mut file = &*file;
        file.seek(SeekFrom::Start(offset))?;
        bytes.reserve(most);
        file.take(most as u64).read_to_end(bytes)
    }

    pub(super) fn read_exact(&self, offset: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if self.read_some(offset, length, &mut bytes)? < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(bytes)
    }
}

/// The rows of a file as JSON lines in a temporary file.
fn copy(path: &Path) -> Result<File> {
    let spool = |source| {
        EvalError::Input(DatasetError::Spool {
            what: format!("a copy of {}", path.display()),
            source,
        })
    };
    let mut writer = BufWriter::new(tempfile::tempfile().map_err(spool)?);
    let wrong = |place: usize, why: &str| EvalError::row(path.display(), place, why);
    each_batch(path, wrong, |rows| {
        for (_, row) in rows {
            // A row of a JSON array may take several lines; between its tokens a space means the same.
            let line = row.iter().map(|byte| match byte {
                b'\n' | b'\r' => b' ',
                byte => *byte,
            });
            let line: Vec<u8> = line.chain([b'\n']).collect();
            writer.write_all(&line).map_err(spool)?;
        }
        Ok(())
    })?;
    writer
        .into_inner()
        .map_err(|error| spool(error.into_error()))
}
