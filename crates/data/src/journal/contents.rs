//! Reads an existing journal: compares its manifest, checks its lines, and finds a torn end.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::checksum::Checksum;
use super::{InputIdentity, JournalError, LinePlace, Manifest};
use crate::input::read_line;
use crate::verdict::Verdict;
use juror_base::terminal::escaped;

/// Takes each line of an existing journal (a verdict, or what else the journal keeps), in the order written, with its place. An error says why the line
/// cannot belong to this run.
pub type Resume<'r, Line = Verdict> = &'r mut dyn FnMut(Line, LinePlace) -> Result<(), String>;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ManifestLine<T> {
    pub(super) manifest: T,
}

/// The longest line, in bytes: far more than a verdict needs, and less than would exhaust the memory.
pub(super) const MOST: u64 = if cfg!(test) { 1 << 20 } else { 1 << 30 };

const MANIFEST_START: &[u8] = b"{\"manifest\":";

/// A line that gives the input from here on: the manifest's, with more rows after it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputLine {
    pub(super) input: InputIdentity,
}

pub(super) const INPUT_START: &[u8] = b"{\"input\":";

/// The manifest of a run, with its latest input; `None` if there is no journal.
pub(crate) fn finished_manifest(journal: &Path) -> Result<Option<Manifest>, JournalError> {
    let mut line = Vec::new();
    // Checked before opening, which would wait forever on a pipe.
    if journal.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(JournalError::NotAFile {
            path: journal.to_owned(),
        });
    }
    match File::open(journal) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.and_then(|file| read_line(&mut BufReader::new(file), &mut line, MOST)),
    }
    .map_err(JournalError::unreadable(journal))?;
    if line.pop_if(|byte| *byte == b'\n').is_none() && begins_like_a_journal(&line) {
        return Err(JournalError::NotBegun {
            path: journal.to_owned(),
        });
    }
    let whole = Checksum::of_manifests().take_off(&mut line);
    let manifest = whole.map_err(str::to_owned).and_then(|()| {
        serde_json::from_slice::<ManifestLine<Manifest>>(&line).map_err(|error| error.to_string())
    });
    let mut manifest = manifest
        .map_err(|reason| JournalError::Manifest {
            path: journal.to_owned(),
            reason: shortened(&reason),
        })?
        .manifest;
    if let Some(input) = earlier_input(journal) {
        manifest.input = input;
    }
    Ok(Some(manifest))
}

/// The input of an earlier run, from its journal; `None` if there is no such run, or its journal cannot be read.
pub fn earlier_input(journal: &Path) -> Option<InputIdentity> {
    if !journal.is_file() {
        return None;
    }
    let mut reader = BufReader::with_capacity(1 << 16, File::open(journal).ok()?);
    let mut line = Vec::new();
    let mut input = None;
    while read_line(&mut reader, &mut line, MOST).ok()? > 0 {
        let mut starts = [MANIFEST_START, INPUT_START].into_iter();
        if starts.any(|it| line.starts_with(it))
            && line.ends_with(b"\n")
            && let Ok(json) = serde_json::from_slice::<serde_json::Value>(&line)
        {
            let found = json.get("manifest").unwrap_or(&json).get("input");
            let found = found.and_then(|found| serde_json::from_value(found.clone()).ok());
            input = found.or(input);
        }
        line.clear();
    }
    input
}

/// What a journal holds in whole lines.
#[derive(Default)]
pub(super) struct Contents {
    /// Their length in bytes; 0 if not even the manifest is whole.
    pub(super) length: u64,
    /// Whether part of a line follows them.
    pub(super) torn: bool,
    /// The checksum for the lines after the manifest, where that is whole.
    pub(super) checksum: Option<Checksum>,
    /// Whether the input has more rows now than it had for the last of these lines.
    pub(super) input_grew: bool,
}

impl Contents {
    /// Reads and checks the lines; `resume` is given each verdict. `before` is the current input without the rows that were added at its end since the last
    /// line.
    pub(super) fn read<Line: DeserializeOwned>(
        file: &mut File,
        path: &Path,
        manifest: &Manifest,
        before: Option<&InputIdentity>,
        resume: Resume<Line>,
    ) -> Result<Self, JournalError> {
        let mut contents = Self::default();
        let Some(mut earlier) = contents.read_lines(file, path, manifest, resume)? else {
            return Ok(contents);
        };
        let before = before.and_then(|before| serde_json::to_value(before).ok());
        if before.is_some() && earlier.get("input") == before.as_ref() {
            contents.input_grew = before != serde_json::to_value(&manifest.input).ok();
            earlier["input"] = serde_json::to_value(&manifest.input).unwrap_or_default();
        }
        let differences = manifest.differences(&earlier);
        if differences.is_empty() {
            return Ok(contents);
        }
        Err(JournalError::Different {
            path: path.to_owned(),
            differences,
        })
    }

    /// Reads and checks all lines. Returns the manifest, with the input that the last line was written for, if it is whole.
    fn read_lines<Line: DeserializeOwned>(
        &mut self,
        file: &mut File,
        path: &Path,
        manifest: &Manifest,
        resume: Resume<Line>,
    ) -> Result<Option<serde_json::Value>, JournalError> {
        let contents = self;
        let read = JournalError::unreadable(path);
        file.seek(SeekFrom::Start(0)).map_err(read)?;
        let mut reader = BufReader::with_capacity(1 << 16, file);
        let mut line = Vec::new();
        read_line(&mut reader, &mut line, MOST).map_err(read)?;
        if !begins_like_a_journal(&line) {
            return Err(JournalError::NotAJournal {
                path: path.to_owned(),
            });
        }
        let last = at_end(&mut reader).map_err(read)?;
        let damaged = |reason: &str| JournalError::Manifest {
            path: path.to_owned(),
            reason: shortened(reason),
        };
        let length = line.len() as u64;
        let ended = line.pop_if(|byte| *byte == b'\n').is_some();
        let checksum = Checksum::under(&line);
        let checked = Checksum::of_manifests().take_off(&mut line);
        let mut earlier: serde_json::Value =
            match serde_json::from_slice::<ManifestLine<serde_json::Value>>(&line) {
                Ok(earlier) if ended => earlier.manifest,
                Err(error) if !last || (ended && error.is_data()) => {
                    return Err(damaged(&error.to_string()));
                }
                // The process that began this journal died before it judged anything.
                _ if last => {
                    contents.torn = length > 0;
                    return Ok(None);
                }
                _ => return Err(damaged("it has no end")),
            };
        // Another format may have other checksums, or none.
        if earlier.get("format") == Some(&Manifest::FORMAT.into()) {
            checked.map_err(damaged)?;
        }
        let different = |differences| JournalError::Different {
            path: path.to_owned(),
            differences,
        };
        let mut differences = manifest.differences(&earlier);
        // Differences in the input are judged by the last line that gives one: an input that has grown is none.
        differences.retain(|one| !one.field.starts_with("input."));
        if !differences.is_empty() {
            return Err(different(differences));
        }
        contents.length = length;
        let checksum = contents.checksum.insert(checksum);
        let mut number = 1;
        loop {
            line.clear();
            number += 1;
            let length = read_line(&mut reader, &mut line, MOST).map_err(read)?;
            if length == 0 {
                return Ok(Some(earlier));
            }
            let last = at_end(&mut reader).map_err(read)?;
            let broken = |reason: &str| JournalError::Broken {
                path: path.to_owned(),
                line: number,
                reason: shortened(reason),
            };
            let ended = line.pop_if(|byte| *byte == b'\n').is_some();
            let changed = checksum.take_off(&mut line).err();
            if line.starts_with(INPUT_START) && changed.is_none() && ended {
                let InputLine { input } =
                    serde_json::from_slice(&line).map_err(|error| broken(&error.to_string()))?;
                earlier["input"] = serde_json::to_value(input).unwrap_or_default();
                contents.length += length as u64;
                continue;
            }
            let read = serde_json::from_slice::<Line>(&line);
            let is_whole = ended && read.as_ref().err().is_none_or(serde_json::Error::is_data);
            match (read, changed) {
                (Ok(verdict), None) if ended => {
                    let place = LinePlace {
                        offset: contents.length,
                        length: length as u32,
                    };
                    if let Err(reason) = resume(verdict, place) {
                        // If the inputs differ, that is the reason to report.
                        let differences = manifest.differences(&earlier);
                        return Err(if differences.is_empty() {
                            broken(&reason)
                        } else {
                            different(differences)
                        });
                    }
                    contents.length += length as u64;
                }
                // A line cut off by a crash is not valid JSON, or lacks its newline: even valid JSON may be part of a longer line.
                _ if last && !is_whole => {
                    contents.torn = true;
                    return Ok(Some(earlier));
                }
                (Err(error), Some(_)) if !error.is_data() => {
                    return Err(broken(&error.to_string()));
                }
                (_, Some(reason)) => return Err(broken(reason)),
                (Err(error), None) => return Err(broken(&error.to_string())),
                (Ok(_), None) => return Err(broken("it has no end")),
            }
        }
    }
}

/// Text of a foreign or damaged file, shortened for a message.
pub(crate) fn shortened(text: &str) -> String {
    const MOST: usize = 200;
    let mut characters = text.chars();
    let beginning: String = characters.by_ref().take(MOST).collect();
    let mut short = escaped(&beginning).into_owned();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}

/// Refuses to throw away a file that is not a journal.
pub(super) fn check_beginning(file: &mut File, path: &Path) -> Result<(), JournalError> {
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(0))
        .and_then(|_| {
            file.take(MANIFEST_START.len() as u64)
                .read_to_end(&mut line)
        })
        .map_err(JournalError::unreadable(path))?;
    let path = || path.to_owned();
    let begins = begins_like_a_journal(&line).then_some(());
    begins.ok_or_else(|| JournalError::NotAJournal { path: path() })
}

/// Whether a line may be the first of a journal. It may have been torn off, with or without the zeros that some file systems leave after a power cut.
fn begins_like_a_journal(line: &[u8]) -> bool {
    let last = line.iter().rposition(|byte| *byte != 0);
    let written = &line[..last.map_or(0, |last| last + 1)];
    line.starts_with(MANIFEST_START) || MANIFEST_START.starts_with(written)
}

fn at_end(reader: &mut impl BufRead) -> io::Result<bool> {
    Ok(reader.fill_buf()?.is_empty())
}
