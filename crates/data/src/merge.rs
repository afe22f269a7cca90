//! Merges the outputs of all shards of one input, in the order of the input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use super::input::REJECTED;
use super::journal::{JournalError, KeptVerdicts, Manifest, finished_manifest, journal_path};
use super::output::OutputFormat;
use super::shard::Shard;
use crate::verdict::Verdict;

#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("{} and {} are of different runs:\n{differences}", first.display(), second.display())]
    Different {
        first: PathBuf,
        second: PathBuf,
        differences: String,
    },
    #[error("could not write the output: {source}")]
    Write { source: io::Error },
    #[error("{0}")]
    Wrong(String),
}

fn unreadable(path: &Path, source: &io::Error) -> MergeError {
    MergeError::Wrong(format!("could not read {}: {source}", path.display()))
}

fn missing(index: u32, count: u32) -> MergeError {
    MergeError::Wrong(format!(
        "the output of shard {index}/{count} is missing: name the outputs of all {count} shards"
    ))
}

/// Whether it is a file of lines set aside (`*.rejected.jsonl`), which a pattern for outputs matches too.
fn is_rejected(path: &Path) -> bool {
    path.to_string_lossy().ends_with(REJECTED)
}

/// The outputs of every shard of one run.
#[derive(Debug)]
pub struct Shards {
    parts: Vec<PathBuf>,
    manifest: Manifest,
}

impl Shards {
    /// Checks by their journals that `outputs` are all shards of one input, judged with the same settings.
    pub fn open(outputs: &[PathBuf]) -> Result<Self, MergeError> {
        let mut found: Vec<(Shard, PathBuf)> = Vec::new();
        let mut first: Option<(Manifest, PathBuf)> = None;
        // If only such files were named, they are reported as not being outputs.
        let all_rejected = outputs.iter().all(|path| is_rejected(path));
        let is_output = |path: &&PathBuf| all_rejected || !is_rejected(path);
        for path in outputs.iter().filter(is_output) {
            if let Err(source) = path.metadata()
                && !journal_path(path).exists()
            {
                return Err(unreadable(path, &source));
            }
            if OutputFormat::from_path(path).ok() != Some(OutputFormat::JsonLines) {
                return Err(MergeError::Wrong(format!(
                    "{} is not JSON lines: judge the shards into .jsonl, and let merge write CSV or Parquet",
                    path.display()
                )));
            }
            let manifest = finished_manifest(&journal_path(path))?;
            let mut manifest =
                manifest.ok_or_else(|| MergeError::Wrong(format!(
                    "{} has no journal beside it ({}), which says what run it is of: keep the two together",
                    path.display(),
                    journal_path(path).display()
                )))?;
            let shard = manifest.shard.take();
            let shard = shard.and_then(|shard| Shard::parse(&shard).ok());
            let shard = shard.ok_or_else(|| {
                MergeError::Wrong(format!(
                    "{} is no shard: its run judged the whole input",
                    path.display()
                ))
            })?;
            let clashes = |other: &Shard| *other == shard || other.count() != shard.count();
            if let Some((other, other_path)) = found.iter().find(|(other, _)| clashes(other)) {
                return Err(MergeError::Wrong(format!(
                    "{} is shard {shard}, and {} is shard {other}: each of one number of shards is needed once",
                    path.display(),
                    other_path.display()
                )));
            }
            match &first {
                None => first = Some((manifest, path.clone())),
                Some((whole, whole_path)) => {
                    let names = [whole_path, path].map(|path| path.display().to_string());
                    let differences = whole.listed_differences(&names[0], &manifest, &names[1]);
                    if !differences.is_empty() {
                        return Err(MergeError::Different {
                            first: whole_path.clone(),
                            second: path.clone(),
                            differences,
                        });
                    }
                }
            }
            found.push((shard, path.clone()));
        }
        let Some(((manifest, _), (shard, _))) = first.zip(found.first()) else {
            return Err(missing(0, 1));
        };
        let lacks = |&index: &u32| found.iter().all(|(shard, _)| shard.index() != index);
        if let Some(index) = (0..shard.count()).find(lacks) {
            return Err(missing(index, shard.count()));
        }
        Ok(Self {
            parts: found.into_iter().map(|(_, path)| path).collect(),
            manifest,
        })
    }

    pub fn trials(&self) -> u32 {
        self.manifest.trials
    }

    /// The keys of the input that are kept in the verdicts.
    pub fn keep(&self) -> &[String] {
        &self.manifest.input.keep
    }

    /// Writes all verdict lines in the order of the input; `take` is given each verdict.
    pub fn copy(
        &self,
        writer: &mut dyn Write,
        take: &mut dyn FnMut(&Verdict),
    ) -> Result<(), MergeError> {
        let parts = self.parts.iter().map(|path| Part::open(path));
        let mut parts: Vec<Part> = parts.collect::<Result<_, _>>()?;
        for index in 0..self.manifest.input.samples {
            for trial in 0..self.manifest.trials {
                let next = parts.iter_mut().find(|part| {
                    let verdict = part.verdict.as_ref();
                    verdict.is_some_and(|verdict| (verdict.index, verdict.trial) == (index, trial))
                });
                let Some(part) = next else {
                    return Err(unfinished(&mut parts, index, trial)?);
                };
                if let Some(verdict) = &part.verdict {
                    take(verdict);
                }
                let written = writer.write_all(&part.line);
                written.map_err(|source| MergeError::Write { source })?;
                part.next()?;
            }
        }
        match parts.iter().find(|part| part.verdict.is_some()) {
            Some(part) => Err(part.wrong("a verdict that is there twice, or of another input")),
            None => Ok(()),
        }
    }
}

/// Why a trial is in no output: the run of one of the parts goes on in its journal.
fn unfinished(parts: &mut [Part], index: usize, trial: u32) -> Result<MergeError, MergeError> {
    let mut journals = Vec::new();
    for part in parts {
        let journal = journal_path(&part.path).display().to_string();
        if part.journal.line(index, trial)?.is_some() {
            journals = vec![journal];
            break;
        }
        journals.push(journal);
    }
    let (first, which) = match journals.as_slice() {
        [one] => (one.clone(), "is that of a run"),
        several => (several.join(", "), "are those of runs of which one"),
    };
    Ok(MergeError::Wrong(format!(
        "no output has trial {trial} of sample {index}: {first} {which} that is not finished; run its command again to go on"
    )))
}
struct Part {
    path: PathBuf,
    reader: BufReader<File>,
    /// The lines that the run wrote as its trials ended.
    journal: KeptVerdicts,
    /// The current line, its end included; `verdict` is `None` after the last.
    line: Vec<u8>,
    verdict: Option<Verdict>,
    number: usize,
}

impl Part {
    fn open(path: &Path) -> Result<Self, MergeError> {
        let file = File::open(path).map_err(|source| {
            if source.kind() == io::ErrorKind::NotFound {
                MergeError::Wrong(format!(
                    "{} is not there yet, only its journal {}: the run of this shard is not finished; run its command again to go on",
                    path.display(),
                    journal_path(path).display()
                ))
            } else {
                unreadable(path, &source)
            }
        })?;
        let mut part = Self {
            path: path.to_owned(),
            reader: BufReader::with_capacity(1 << 16, file),
            journal: KeptVerdicts::open(&journal_path(path))?,
            line: Vec::new(),
            verdict: None,
            number: 0,
        };
        part.next()?;
        Ok(part)
    }

    fn next(&mut self) -> Result<(), MergeError> {
        self.line.clear();
        self.number += 1;
        let read = self.reader.read_until(b'\n', &mut self.line);
        let read = read.map_err(|source| unreadable(&self.path, &source))?;
        self.verdict = None;
        if read > 0 {
            let verdict = serde_json::from_slice(&self.line);
            let verdict: Verdict =
                verdict.map_err(|error| self.wrong(&format!("no verdict: {error}")))?;
            self.check(&verdict)?;
            self.verdict = Some(verdict);
        }
        Ok(())
    }

    /// Compares the current line with the journal's, which has checksums.
    fn check(&mut self, verdict: &Verdict) -> Result<(), MergeError> {
        let kept = self.journal.line(verdict.index, verdict.trial)?;
        let Some(kept) = kept else {
            return Err(self.wrong("its journal has no such verdict"));
        };
        if self.line.trim_ascii_end() == kept {
            return Ok(());
        }
        // If another program wrote it with other spacing, it may be the same verdict.
        let same = serde_json::from_slice::<Verdict>(&kept).is_ok_and(|kept| {
            let text = |verdict: &Verdict| serde_json::to_string(verdict).ok();
            text(&kept) == text(verdict)
        });
        let edited = "it is not the verdict that its journal has: it was edited";
        same.then_some(()).ok_or_else(|| self.wrong(edited))
    }

    fn wrong(&self, reason: &str) -> MergeError {
        MergeError::Wrong(format!(
            "{}:{}: {reason}; write the output again by running its command again",
            self.path.display(),
            self.number
        ))
    }
}
