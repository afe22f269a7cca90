//! The verdicts of a finished run's journal, by sample and trial, for comparison with an output.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::contents::{INPUT_START, MOST};
use super::{Checksum, JournalError};
use crate::input::read_line;

/// The verdict lines of a journal, by place.
#[derive(Debug)]
pub(crate) struct KeptVerdicts {
    path: PathBuf,
    file: File,
    checksum: Checksum,
    /// The lines in the order of samples and trials, each once.
    places: Vec<Kept>,
}

/// Where the line of a trial is.
#[derive(Debug)]
struct Kept {
    index: u32,
    trial: u32,
    length: u32,
    is_open: bool,
    offset: u64,
}

#[derive(Deserialize)]
struct Of {
    index: u32,
    #[serde(default)]
    trial: u32,
    #[serde(default)]
    open: bool,
}

impl KeptVerdicts {
    /// Finds the lines of a journal. Their content is checked when they are read.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        let read = JournalError::unreadable(path);
        let file = File::open(path).map_err(read)?;
        let mut reader = BufReader::with_capacity(1 << 16, &file);
        let mut line = Vec::new();
        let mut offset = read_line(&mut reader, &mut line, MOST).map_err(read)? as u64;
        line.pop_if(|byte| *byte == b'\n');
        let checksum = Checksum::under(&line);
        let mut places = Vec::new();
        loop {
            line.clear();
            let length = read_line(&mut reader, &mut line, MOST).map_err(read)?;
            if length == 0 {
                break;
            }
            // A line that is not a verdict is reported as missing once the output has that verdict.
            if !line.starts_with(INPUT_START)
                && let Ok(Of { index, trial, open }) = serde_json::from_slice(&line)
            {
                places.push(Kept {
                    index,
                    trial,
                    length: length as u32,
                    is_open: open,
                    offset,
                });
            }
            offset += length as u64;
        }
        // The first line of a trial that is not open counts, or else the last, as when a run is resumed.
        places.sort_by_key(|kept| (kept.index, kept.trial));
        places.dedup_by(|later, kept| {
            let is_same = (later.index, later.trial) == (kept.index, kept.trial);
            if is_same && kept.is_open {
                std::mem::swap(later, kept);
            }
            is_same
        });
        Ok(Self {
            path: path.to_owned(),
            file,
            checksum,
            places,
        })
    }

    /// The line of a trial, without its checksum and its end; `None` if the journal has no such trial.
    pub(crate) fn line(
        &mut self,
        index: usize,
        trial: u32,
    ) -> Result<Option<Vec<u8>>, JournalError> {
        let key = |kept: &Kept| (kept.index as usize, kept.trial);
        let Ok(found) = self.places.binary_search_by_key(&(index, trial), key) else {
            return Ok(None);
        };
        let Kept { offset, length, .. } = self.places[found];
        let mut line = vec![0; length as usize];
        let read = JournalError::unreadable(&self.path);
        self.file.seek(SeekFrom::Start(offset)).map_err(read)?;
        self.file.read_exact(&mut line).map_err(read)?;
        line.pop_if(|byte| *byte == b'\n');
        self.checksum.take_off(&mut line).map_err(|reason| {
            let why = format!("the line at byte {offset} was changed: {reason}");
            read(io::Error::new(io::ErrorKind::InvalidData, why))
        })?;
        Ok(Some(line))
    }
}
