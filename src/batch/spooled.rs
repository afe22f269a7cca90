//! The requests of a batch file, in a temporary file: of each only its place is kept in memory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use super::BatchError;
use super::answered::RequestHash;
use super::request::{Asked, BadRequest, BatchRequest};
use super::response::refused;
use crate::dataset::{LineLimit, Next, sources};

/// A line of a batch file.
pub(super) enum Entry {
    /// A request.
    Request(Box<Spooled>),
    /// A line that is none: the line of the output.
    Bad(Box<Value>),
}

/// A request's place in the temporary file, and what is known of it.
pub(super) struct Spooled {
    offset: u64,
    length: usize,
    /// Of its line.
    pub(super) hash: RequestHash,
    /// Bytes of its longest completion in tokens, if it says.
    pub(super) max_tokens: Option<usize>,
    /// Bytes of its texts.
    pub(super) bytes: usize,
}

/// All lines of a batch file, in order.
pub(super) struct Batch {
    pub(super) entries: Vec<Entry>,
    file: Mutex<File>,
}

impl Batch {
    /// Reads a batch file. Lines that are no requests, and those whose name another has, become lines of the output.
    pub(super) fn read(input: &Path, out: &Path, max_line: LineLimit) -> Result<Self, BatchError> {
        let spool = |source| BatchError::Spool {
            what: "the requests",
            source,
        };
        let mut file = BufWriter::new(tempfile::tempfile().map_err(spool)?);
        let mut entries = Vec::new();
        let mut names: HashMap<String, usize> = HashMap::new();
        let mut offset = 0;
        for source in sources(&[PathBuf::from(input)], Some(out))? {
            let mut rows = source.open(max_line, Some(out), &[])?;
            let mut row = Vec::new();
            loop {
                let next = rows.next(&mut row)?;
                let line = rows.place();
                let parsed = match next {
                    Next::End => break,
                    Next::Row if row.trim_ascii().is_empty() => continue,
                    Next::Row => std::str::from_utf8(&row)
                        .map_err(|_| "not UTF-8".to_owned())
                        .map_err(nameless)
                        .and_then(BatchRequest::parse),
                    Next::Bad(why) => Err(nameless(why)),
                };
                let request = parsed.and_then(|request| match names.get(&request.custom_id) {
                    Some(first) => Err(BadRequest {
                        why: format!("line {first} has this custom_id already"),
                        custom_id: Some(request.custom_id),
                    }),
                    None => Ok(request),
                });
                let request = match request {
                    Ok(request) => request,
                    Err(bad) => {
                        entries.push(Entry::Bad(Box::new(refused(&bad, line))));
                        continue;
                    }
                };
                file.write_all(&row).map_err(spool)?;
                entries.push(Entry::Request(Box::new(Spooled {
                    offset,
                    length: row.len(),
                    hash: RequestHash::of(&row),
                    max_tokens: request.max_tokens,
                    bytes: bytes_of(&request.asked),
                })));
                offset += row.len() as u64;
                names.insert(request.custom_id, line);
            }
        }
        let file = file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
            .map_err(spool)?;
        Ok(Self {
            entries,
            file: Mutex::new(file),
        })
    }

    /// A request, read again.
    pub(super) fn request(&self, spooled: &Spooled) -> Result<BatchRequest, BatchError> {
        let mut row = vec![0; spooled.length];
        {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(spooled.offset))
                .and_then(|_| file.read_exact(&mut row))
                .map_err(|source| BatchError::Spool {
                    what: "the requests",
                    source,
                })?;
        }
        let changed = || BatchError::Spool {
            what: "the requests",
            source: io::Error::other("a request is not what it was"),
        };
        let text = std::str::from_utf8(&row).map_err(|_| changed())?;
        BatchRequest::parse(text).map_err(|_| changed())
    }
}

fn nameless(why: String) -> BadRequest {
    BadRequest {
        custom_id: None,
        why,
    }
}

fn bytes_of(asked: &Asked) -> usize {
    match asked {
        Asked::Prompt(text) => text.len(),
        Asked::Chat(messages, _) => messages
            .iter()
            .flat_map(|message| &message.parts)
            .map(String::len)
            .sum(),
    }
}
