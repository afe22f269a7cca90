//! Each finished verdict, on disk before it counts.
//!
//! `OUT.journal` lies beside the output. Its first line is `{"manifest": …}`: everything that decides what the verdicts of a run are. Each further line is
//! one finished [`Verdict`](crate::verdict::Verdict), written whole as its trial ends, so killing the process at any moment loses at most the line that was
//! being written. Every line ends with its checksum. The same command run again takes up where it was left; a run with another manifest is refused.
//!
//! Nothing of a verdict is kept in memory: the output is copied from the journal, line by line in input order, by an index of where each line is
//! ([`Finished`]).
//!
//! The journal stays when the output is complete. Running the same command once more then finds every trial finished, and writes the same output again
//! without judging anything.

mod checksum;
mod contents;
mod error;
mod finished;
mod kept;
mod manifest;

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use checksum::Checksum;
use contents::{Contents, InputLine, MOST, ManifestLine, check_beginning};
pub use contents::{Resume, earlier_input};
pub(crate) use contents::{finished_manifest, shortened};
pub use error::JournalError;
pub use finished::{Finished, LinePlace, Noted};
pub(crate) use kept::KeptVerdicts;
pub use manifest::{ChatIdentity, Difference, Identity, InputIdentity, Manifest, SamplingSettings};

use super::output::{folder_of, sync_folder, with_ending};
use super::spool::temporary;

/// The journal of the run that writes `out`: `OUT.journal`.
pub fn journal_path(out: &Path) -> PathBuf {
    with_ending(out, ".journal")
}

/// The longest first line in which a date is looked for, in bytes.
const MAX_MANIFEST: u64 = 1 << 20;

/// The date with which the chat template of an earlier run was rendered, from the first line of its journal; `None` if there is no such run or date. A run
/// that is resumed on another day keeps the date it began with.
pub fn chat_date(journal: &Path) -> Option<String> {
    begun(journal)?.chat?.date
}

/// The manifest that a run began with, for display: its checksum and what follows it are not checked; `None` if there is none, or it cannot be read.
pub fn begun(journal: &Path) -> Option<Manifest> {
    if !journal.is_file() {
        return None;
    }
    let mut line = Vec::new();
    BufReader::new(File::open(journal).ok()?.take(MAX_MANIFEST))
        .read_until(b'\n', &mut line)
        .ok()?;
    let mut line: serde_json::Value = serde_json::from_slice(&line).ok()?;
    serde_json::from_value(line["manifest"].take()).ok()
}

/// The finished trials of one run, or the answers to the requests of a batch file. The file is open, and locked against other processes, until this is
/// dropped.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Whether the file has no name and is never resumed.
    temporary: bool,
    checksum: Checksum,
    /// The length of the whole lines, in bytes.
    length: u64,
    /// Whether part of a line after `length` could not be removed.
    torn: bool,
    line: Vec<u8>,
}

/// The most bytes copied at a time, unless a single line is longer.
const SPAN: u64 = 1 << 20;

impl Journal {
    /// Opens the journal at `path`, or begins one; `restart` throws away what it holds.
    ///
    /// `resume` is given every verdict in it, one at a time. A journal whose manifest line was never finished counts as new. A last line that is cut off is
    /// removed, and its trial is judged again: then the second value is true. `before` is the input without the rows that were added at its end since the
    /// last run: a journal of that input is continued too.
    /// Errors: when the file cannot be opened, is in use, is not a journal, has a broken line in the middle or one that `resume`
    /// refuses, or has a manifest other than `manifest`: then nothing is changed.
    pub fn open<Line: DeserializeOwned>(
        path: &Path,
        manifest: &Manifest,
        before: Option<&InputIdentity>,
        restart: bool,
        resume: Resume<Line>,
    ) -> Result<(Self, bool), JournalError> {
        let open = |source| JournalError::Open {
            path: path.to_owned(),
            source,
        };
        let read = JournalError::unreadable(path);
        let not_a_file = || JournalError::NotAFile {
            path: path.to_owned(),
        };
        // Checked before opening, which would wait forever on a pipe.
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(not_a_file());
        }
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(open)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(JournalError::Locked {
                    path: path.to_owned(),
                });
            }
            // Some cluster file systems have no locks; refusing to run there would help nobody.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(read(error)),
        }
        let Contents {
            length,
            torn,
            checksum,
            input_grew,
        } = if restart {
            check_beginning(&mut file, path)?;
            Contents::default()
        } else {
            Contents::read(&mut file, path, manifest, before, resume)?
        };
        let mut journal = Self {
            path: path.to_owned(),
            file,
            temporary: false,
            checksum: checksum.unwrap_or_else(Checksum::of_manifests),
            length,
            torn: true,
            line: Vec::new(),
        };
        journal.cut().map_err(read)?;
        if length == 0 {
            journal.write(&ManifestLine { manifest })?;
            journal.checksum = Checksum::under(journal.line.trim_ascii_end());
            journal.sync()?;
            sync_folder(folder_of(path)).map_err(open)?;
        } else if input_grew {
            journal.write(&InputLine {
                input: manifest.input.clone(),
            })?;
        }
        Ok((journal, torn))
    }

    /// A journal of a run that cannot be resumed: an unnamed temporary file, which disappears with the process.
    pub fn temporary() -> Result<Self, JournalError> {
        let path = std::env::temp_dir();
        let file = temporary(None).map_err(|source| JournalError::Temporary {
            path: path.clone(),
            source,
        })?;
        Ok(Self {
            path,
            file,
            temporary: true,
            checksum: Checksum::under(b""),
            length: 0,
            torn: false,
            line: Vec::new(),
        })
    }

    /// Writes one finished trial and returns its place. From then on the line outlives the process, but not yet a power cut.
    /// Errors: when the line cannot be written whole; what was written of it is removed again.
    pub fn append(&mut self, line: &impl Serialize) -> Result<LinePlace, JournalError> {
        let offset = self.length;
        self.write(line)?;
        Ok(LinePlace {
            offset,
            length: self.line.len() as u32,
        })
    }

    /// Copies lines to `writer`, in the order given and without their checksums.
    /// Errors: when the journal cannot be read, a line has changed since it was written (the message says so), or the writer fails.
    pub fn copy(
        &mut self,
        lines: impl IntoIterator<Item = LinePlace>,
        writer: &mut dyn Write,
    ) -> io::Result<()> {
        // Appending later must find the end again.
        self.torn = true;
        let mut lines = lines.into_iter().peekable();
        let (mut bytes, mut lengths) = (Vec::new(), Vec::new());
        while let Some(LinePlace { offset, length }) = lines.next() {
            // Lines that are adjacent in the journal are read at once.
            let mut end = offset + u64::from(length);
            lengths.clear();
            lengths.push(length as usize);
            while let Some(next) = lines.next_if(|next| next.offset == end && end - offset < SPAN) {
                end += u64::from(next.length);
                lengths.push(next.length as usize);
            }
            bytes.resize((end - offset) as usize, 0);
            self.file
                .seek(SeekFrom::Start(offset))
                .and_then(|_| self.file.read_exact(&mut bytes))
                .map_err(|error| {
                    let path = self.path.display();
                    io::Error::new(error.kind(), format!("reading back from {path}: {error}"))
                })?;
            take_off_checksums(&self.checksum, &mut bytes, &lengths).map_err(|at| {
                let path = self.path.display();
                let offset = offset + at as u64;
                io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("reading back from {path}: the line at byte {offset} was changed since it was written"),
                )
            })?;
            writer.write_all(&bytes)?;
        }
        Ok(())
    }

    /// Makes everything appended so far survive a power cut. To be called now and then, and at the end.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        if self.temporary {
            return Ok(());
        }
        self.file
            .sync_all()
            .map_err(|source| self.write_error(source))
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), JournalError> {
        if self.torn {
            // A further line would be appended to the torn one, and neither could be read.
            self.cut().map_err(|source| self.write_error(source))?;
        }
        self.line.clear();
        let written = serde_json::to_writer(&mut self.line, line)
            .map_err(io::Error::from)
            .and_then(|()| {
                self.checksum.add(&mut self.line);
                self.line.push(b'\n');
                if self.line.len() as u64 > MOST {
                    return Err(io::Error::other("a line of more than 1 GiB"));
                }
                self.torn = true;
                self.file.write_all(&self.line)
            });
        if let Err(source) = written {
            // If this fails too, the next write tries again, and so does the next run.
            let _ = self.cut();
            return Err(self.write_error(source));
        }
        self.length += self.line.len() as u64;
        self.torn = false;
        Ok(())
    }

    /// Truncates the file to its whole lines and seeks to their end.
    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.seek(SeekFrom::Start(self.length))?;
        self.torn = false;
        Ok(())
    }

    fn write_error(&self, source: io::Error) -> JournalError {
        let path = self.path.clone();
        if self.temporary {
            JournalError::Temporary { path, source }
        } else {
            JournalError::Write { path, source }
        }
    }
}

/// Removes the checksums from adjacent lines; the error is the offset of the first line that was changed.
fn take_off_checksums(
    checksum: &Checksum,
    bytes: &mut Vec<u8>,
    lengths: &[usize],
) -> Result<(), usize> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut line = Vec::new();
    let mut at = 0;
    for length in lengths {
        line.clear();
        line.extend_from_slice(&bytes[at..at + length]);
        let whole = line.pop() == Some(b'\n') && checksum.take_off(&mut line).is_ok();
        if !whole {
            return Err(at);
        }
        line.push(b'\n');
        plain.extend_from_slice(&line);
        at += length;
    }
    *bytes = plain;
    Ok(())
}

#[cfg(test)]
mod tests;
