//! The samples in a log of Inspect that is a zip archive (`.eval`): a JSON file each, packed with zstd or deflate.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _};

use zip::ZipArchive;

use super::bytes::{Expansion, ending};
use super::{LineLimit, Next, RowReader, too_long};
use crate::DatasetError;

const MAGIC: &[u8] = b"PK\x03\x04";
/// The files that a log has even without samples.
const OF_LOG: [&str; 2] = ["header.json", "_journal/start.json"];

/// The most files that a log may hold: each takes memory.
const MOST: usize = 1_000_000;

/// The samples of a log, in the order in which they were finished.
pub(super) struct Archive {
    file: String,
    files: ZipArchive<BufReader<File>>,
    samples: Vec<usize>,
    next: usize,
    limit: LineLimit,
    packed: u64,
    text: Expansion,
}

/// Whether this is the name of a sample: `samples/ID_epoch_1.json`, or `samples/ID_epoch_1/sample.json` where its messages are in files of
/// their own. An id may hold slashes.
fn is_sample(name: &str) -> bool {
    let stem = name.strip_prefix("samples/").and_then(|name| {
        let in_parts = name.strip_suffix("/sample.json");
        in_parts.or_else(|| name.strip_suffix(".json"))
    });
    let epoch = stem.and_then(|stem| stem.rsplit_once("_epoch_"));
    epoch.is_some_and(|(_, epoch)| epoch.parse::<u32>().is_ok())
}

/// Refuses a log of too many files.
fn check_count(count: usize) -> io::Result<()> {
    if count <= MOST {
        return Ok(());
    }
    let why =
        format!("it holds {count} files, and at most {MOST} are read: split the log into several");
    Err(io::Error::new(io::ErrorKind::QuotaExceeded, why))
}

impl Archive {
    /// Opens a file; `None`, and the file at its beginning, if it is no log of Inspect in a zip archive.
    pub(super) fn open(
        file: String,
        bytes: &mut File,
        limit: LineLimit,
    ) -> Result<Option<Self>, DatasetError> {
        let unreadable = |source| DatasetError::unreadable(&*file)(source);
        let mut head = Vec::with_capacity(MAGIC.len());
        let read = io::Read::by_ref(bytes)
            .take(MAGIC.len() as u64)
            .read_to_end(&mut head);
        read.and_then(|_| bytes.rewind()).map_err(unreadable)?;
        if head != MAGIC {
            return Ok(None);
        }
        let copy = bytes.try_clone().map_err(unreadable)?;
        let archive = match ZipArchive::new(BufReader::new(copy)) {
            Ok(archive) => archive,
            Err(error) if ending(&file, "eval") => return Err(unreadable(error.into())),
            Err(_) => {
                bytes.rewind().map_err(unreadable)?;
                return Ok(None);
            }
        };
        let mut is_log = OF_LOG.iter();
        let is_log = is_log.any(|name| archive.index_for_name(name).is_some());
        let is_sample = |at: &usize| {
            let name = archive.name_for_index(*at);
            name.is_some_and(|name| name.is_ok_and(|name| is_sample(&name)))
        };
        let samples: Vec<usize> = (0..archive.len()).filter(is_sample).collect();
        if samples.is_empty() && !is_log {
            bytes.rewind().map_err(unreadable)?;
            return Ok(None);
        }
        check_count(archive.len()).map_err(unreadable)?;
        Ok(Some(Self {
            file,
            files: archive,
            samples,
            next: 0,
            limit,
            packed: 0,
            text: Expansion::default(),
        }))
    }
}

impl RowReader for Archive {
    fn next(&mut self, row: &mut Vec<u8>) -> Result<Next, DatasetError> {
        row.clear();
        let Some(&at) = self.samples.get(self.next) else {
            return Ok(Next::End);
        };
        self.next += 1;
        let most = self.limit.bytes();
        let read = self.files.by_index(at).map_err(io::Error::from);
        let read = read.and_then(|member| {
            self.packed += member.compressed_size();
            member.take(most as u64 + 1).read_to_end(row)
        });
        let read = read.and_then(|_| self.text.add(row.len(), self.packed));
        let sample = || format!("sample {} of {}", self.next, self.file);
        read.map_err(|source| DatasetError::unreadable(sample())(source))?;
        if row.len() > most {
            return Ok(Next::Bad(too_long(row, self.limit)));
        }
        Ok(Next::Row)
    }

    fn place(&self) -> usize {
        self.next
    }
}

#[cfg(test)]
mod tests;
