//! The answers that a run of a batch has, on disk before they count: `OUT.journal`.
//!
//! The first line says what decides the answers beside the requests. Each further line is an answer with the hash of the
//! request's line, so that a request that was changed since is answered again. A last line that was cut off is removed.

use std::fs::{File, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::BatchError;
use crate::dataset::output::{folder_of, sync_folder};

/// The beginning of the first line.
const BEGINNING: &[u8] = b"{\"run_batch\":";

/// What decides the answers of a run beside its requests, and when it began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The version of `juror`.
    pub juror: String,
    /// Hash of the model's files.
    pub model: String,
    /// What weights, keys and values are stored in, where that is not the default.
    pub precision: Option<String>,
    /// How the model writes its thinking, where the user says so.
    pub thinking: Option<String>,
    /// The seed of requests without one.
    pub seed: u64,
    /// The longest completion of requests that do not say.
    pub max_new_tokens: usize,
    /// Token ids are kept.
    pub raw: bool,
    /// When the run began, in seconds since 1970.
    pub created: u64,
    /// The same as local time, which chat templates are told.
    pub begun: String,
}

impl Settings {
    /// What differs from another run's, in words.
    fn differences(&self, other: &Self) -> Vec<&'static str> {
        [
            (
                "another model, or its files have changed",
                self.model != other.model,
            ),
            (
                "--dtype, --quantize or --kv-dtype",
                self.precision != other.precision,
            ),
            (
                "--thinking-style or --thinking-tags",
                self.thinking != other.thinking,
            ),
            ("--seed", self.seed != other.seed),
            (
                "--max-new-tokens",
                self.max_new_tokens != other.max_new_tokens,
            ),
            ("--raw", self.raw != other.raw),
        ]
        .into_iter()
        .filter_map(|(what, differs)| differs.then_some(what))
        .collect()
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct First<T> {
    run_batch: T,
}

/// An answer's line.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record<'r> {
    /// Hash of the request.
    request: RequestHash,
    /// The line of the output.
    #[serde(borrow)]
    output: &'r RawValue,
}

/// A hash of a request's line: 128 bits in hexadecimal characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RequestHash(String);

impl RequestHash {
    /// Of this line.
    pub fn of(line: &[u8]) -> Self {
        let mut hash = blake3::hash(line).to_hex().to_string();
        hash.truncate(32);
        Self(hash)
    }
}

/// Where an answer's line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    offset: u64,
    length: u64,
}

/// Why the journal of a run cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AnsweredError {
    /// It cannot be created, read or locked.
    #[error("could not open the journal {}: {source}. It lies beside the output: choose one in a folder that is there and may be written to", path.display())]
    Open {
        /// The journal.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Another process has it open.
    #[error("another run is writing {}: wait for it to end, or choose another output", path.display())]
    Locked {
        /// The journal.
        path: PathBuf,
    },
    /// It is some other file.
    #[error("{} does not begin like the journal of a batch, so it is left alone: choose another output, or move that file away", path.display())]
    Other {
        /// The file.
        path: PathBuf,
    },
    /// It belongs to a run with other settings.
    #[error("{} was begun by a run with other settings ({differences}): use the earlier ones to go on with it, choose another output, or pass --restart to throw its answers away", path.display())]
    Different {
        /// The journal.
        path: PathBuf,
        /// What differs.
        differences: String,
    },
    /// A line other than the last is broken.
    #[error("{}:{line}: not an answer ({reason}): remove that line to have its request answered again, or start over with --restart", path.display())]
    Broken {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// A line cannot be written.
    #[error("could not write to the journal {}: {source}. Every answer before is safe: make room, then run the same command again to go on", path.display())]
    Write {
        /// The journal.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl AnsweredError {
    /// True where the user's usage is at fault, not the machine.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Other { .. } | Self::Different { .. })
    }
}

/// The answers of a run. Held open, and locked against other processes, until dropped.
#[derive(Debug)]
pub struct Answered {
    path: PathBuf,
    file: File,
    /// The length of the whole lines.
    length: u64,
}

impl Answered {
    /// Opens the journal at `path`, or begins one; `restart` throws away what it holds. `known` is given the request's hash
    /// and the place of every answer that is there. Gives the settings that the run was begun with.
    ///
    /// # Errors
    /// [`AnsweredError`]; then nothing is changed.
    pub fn open(
        path: &Path,
        settings: &Settings,
        restart: bool,
        known: &mut dyn FnMut(RequestHash, Place),
    ) -> Result<(Self, Settings), AnsweredError> {
        let open = |source| AnsweredError::Open {
            path: path.to_owned(),
            source,
        };
        let other = || AnsweredError::Other {
            path: path.to_owned(),
        };
        // Looked at before opening, which would wait forever on a pipe.
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(other());
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
                return Err(AnsweredError::Locked {
                    path: path.to_owned(),
                });
            }
            // Some cluster file systems have no locks.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(open(error)),
        }
        let mut begun = settings.clone();
        let mut length = 0;
        let mut reader = BufReader::with_capacity(1 << 16, &file);
        let mut line = Vec::new();
        let mut number = 0;
        loop {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(open)?;
            if read == 0 {
                break;
            }
            number += 1;
            if number == 1 {
                let begins = line.starts_with(BEGINNING) || BEGINNING.starts_with(&line);
                if !begins {
                    return Err(other());
                }
                if restart {
                    break;
                }
            }
            // A run that was killed has cut it off.
            if line.last() != Some(&b'\n') {
                break;
            }
            let broken = |error: serde_json::Error| AnsweredError::Broken {
                path: path.to_owned(),
                line: number,
                reason: error.to_string(),
            };
            if number == 1 {
                let first: First<Settings> = serde_json::from_slice(&line).map_err(broken)?;
                begun = first.run_batch;
                let differences = settings.differences(&begun);
                if !differences.is_empty() {
                    return Err(AnsweredError::Different {
                        path: path.to_owned(),
                        differences: differences.join(", "),
                    });
                }
            } else {
                let record: Record = serde_json::from_slice(&line).map_err(broken)?;
                let place = Place {
                    offset: length,
                    length: read as u64,
                };
                known(record.request, place);
            }
            length += read as u64;
        }
        file.set_len(length).map_err(open)?;
        file.seek(SeekFrom::Start(length)).map_err(open)?;
        let mut answered = Self {
            path: path.to_owned(),
            file,
            length,
        };
        if length == 0 {
            answered.write(&First {
                run_batch: settings,
            })?;
            answered.sync()?;
            sync_folder(folder_of(path)).map_err(open)?;
        }
        Ok((answered, begun))
    }

    /// Writes the answer to a request; returns where.
    ///
    /// # Errors
    /// When it cannot be written whole; what was written of it is removed again.
    pub fn append(
        &mut self,
        request: &RequestHash,
        output: &serde_json::Value,
    ) -> Result<Place, AnsweredError> {
        let output = serde_json::value::to_raw_value(output)
            .map_err(io::Error::from)
            .map_err(|source| self.failed(source))?;
        let offset = self.length;
        self.write(&Record {
            request: request.clone(),
            output: &output,
        })?;
        Ok(Place {
            offset,
            length: self.length - offset,
        })
    }

    /// Makes everything appended survive a power cut.
    ///
    /// # Errors
    /// When the system cannot.
    pub fn sync(&mut self) -> Result<(), AnsweredError> {
        self.file.sync_all().map_err(|source| self.failed(source))
    }

    /// Copies an answer to `writer`, as a line of the output.
    ///
    /// # Errors
    /// When the journal cannot be read, or the writer fails.
    pub fn copy(&mut self, place: Place, writer: &mut dyn Write) -> io::Result<()> {
        let mut line = Vec::with_capacity(place.length as usize);
        self.file.seek(SeekFrom::Start(place.offset))?;
        (&mut self.file).take(place.length).read_to_end(&mut line)?;
        let record: Record = serde_json::from_slice(&line).map_err(|error| {
            io::Error::other(format!(
                "reading back from {}: {error}",
                self.path.display()
            ))
        })?;
        writer.write_all(record.output.get().as_bytes())?;
        writer.write_all(b"\n")
    }

    fn write(&mut self, line: &impl Serialize) -> Result<(), AnsweredError> {
        let mut bytes = Vec::new();
        let written = serde_json::to_writer(&mut bytes, line)
            .map_err(io::Error::from)
            .and_then(|()| {
                bytes.push(b'\n');
                self.file.seek(SeekFrom::Start(self.length))?;
                self.file.write_all(&bytes)
            });
        if let Err(source) = written {
            // A torn last line is removed by the next run too.
            let _ = self.file.set_len(self.length);
            return Err(self.failed(source));
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn failed(&self, source: io::Error) -> AnsweredError {
        AnsweredError::Write {
            path: self.path.clone(),
            source,
        }
    }
}

impl From<AnsweredError> for BatchError {
    fn from(error: AnsweredError) -> Self {
        Self::Answered(Box::new(error))
    }
}
