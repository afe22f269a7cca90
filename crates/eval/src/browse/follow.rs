//! Reads what was added to a growing file.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use rayon::prelude::*;

use super::index::Index;
use super::source::Source;
use crate::eval::{LabelColumns, Samples, labelled_line, no_label};
use crate::{EvalError, Result};
use juror_data::{
    ColumnMap, LineLimit, LoadOptions, Needs, Rows, VerdictLine, each, index_each, without_nan,
};

/// Bytes read and parsed at a time.
const CHUNK: usize = 8 << 20;

/// How many bytes before the current offset are compared with what was read there before.
const COMPARED: usize = 64;

/// The beginnings of a journal's lines that are not verdicts.
const OF_JOURNAL: [&[u8]; 2] = [b"{\"manifest\":", b"{\"input\":"];

/// A file of verdicts that can be browsed while it grows.
pub struct Browser {
    /// The file as the user named it.
    pub(crate) path: PathBuf,
    index: RwLock<Index>,
    /// Which keys of a row hold its texts.
    pub(super) columns: ColumnMap,
    label_columns: LabelColumns,
    /// Whether labels are read from the verdicts' own kept keys.
    own_labels: bool,
    /// Whether everything in the file was read.
    caught_up: AtomicBool,
}

/// How far a file was read.
#[derive(Debug, Default)]
pub struct Progress {
    read: u64,
    lines: u32,
    /// The last bytes of these, to notice that the file was started anew and has grown as long again.
    last: Vec<u8>,
    /// The beginning of an unfinished line.
    pending: Vec<u8>,
    /// For a line that is too long to be read: how many of its bytes were skipped.
    skipped: Option<u64>,
}

impl Browser {
    /// Opens the verdicts of `path`, which may still be written, with the samples of `rows` and the labels of `labels`:
    /// files, or none. Without labels they may be in the verdicts' own kept keys.
    /// Errors: when a file cannot be read, or its first line is not a verdict.
    pub fn open(
        path: &Path,
        rows: &[PathBuf],
        labels: &[PathBuf],
        columns: ColumnMap,
        label_columns: LabelColumns,
    ) -> Result<(Self, Progress)> {
        let source = Arc::new(Source::open(path)?);
        let columns = columns.with_needs(Needs::nothing());
        let (samples, rows) = read_samples(rows, labels, &columns, &label_columns)?;
        let browser = Self {
            path: path.to_owned(),
            index: RwLock::new(Index::new(samples, rows, source)),
            columns,
            label_columns,
            own_labels: labels.is_empty(),
            caught_up: AtomicBool::new(false),
        };
        let mut progress = Progress::default();
        browser.advance(&mut progress)?;
        {
            let index = browser.index();
            if let (0, Some((line, why))) = (index.count(), &index.first_unreadable) {
                return Err(EvalError::row(index.source.path.display(), line, why));
            }
        }
        Ok((browser, progress))
    }

    pub(crate) fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether everything in the file was read.
    pub(crate) fn has_caught_up(&self) -> bool {
        self.caught_up.load(Ordering::Relaxed)
    }

    /// Reads the next part of the file; `false` if nothing was new. Only one thread may call this.
    pub(crate) fn advance(&self, progress: &mut Progress) -> Result<bool> {
        let mut source = Arc::clone(&self.index().source);
        let known = progress.read + progress.pending.len() as u64 + progress.skipped.unwrap_or(0);
        if source.is_outdated(&self.path, known) || !source.still_has(&progress.last, progress.read)
        {
            source = Arc::new(Source::open(&self.path)?);
            *progress = Progress::default();
            self.write(|index| index.clear(Arc::clone(&source)));
        }
        let mut bytes = std::mem::take(&mut progress.pending);
        let from = progress.read + bytes.len() as u64 + progress.skipped.unwrap_or(0);
        let count = source
            .read_some(from, CHUNK, &mut bytes)
            .map_err(EvalError::unreadable(&source.path))?;
        self.caught_up.store(count < CHUNK, Ordering::Relaxed);
        if let Some(skipped) = &mut progress.skipped {
            // Inside a line that is too long.
            let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                *skipped += bytes.len() as u64;
                return Ok(count > 0);
            };
            progress.read += *skipped + end as u64 + 1;
            progress.last.clear();
            progress.lines += 1;
            progress.skipped = None;
            let (number, limit) = (progress.lines, LineLimit::DEFAULT.0);
            self.write(|index| {
                index.add_unreadable(number, &format!("it is longer than {limit} bytes"));
            });
            bytes.drain(..=end);
        }
        let end = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = end.map_or(0, |end| end + 1);
        let mut lines = Vec::new();
        let mut start = 0;
        for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
            let offset = progress.read + start as u64;
            start += line.len();
            progress.lines = progress.lines.saturating_add(1);
            lines.push((offset, progress.lines, line.trim_ascii()));
        }
        progress.read += whole as u64;
        if whole > 0 {
            progress.last = bytes[whole.saturating_sub(COMPARED)..whole].to_vec();
        }
        // A file may lack a newline at its end; a journal's lines all have one.
        let tail = bytes[whole..].trim_ascii_end();
        let tail_ends = count == 0 && !source.is_journal && tail.ends_with(b"}");
        if tail_ends
            && self
                .parse(&without_nan(tail), &source)
                .is_some_and(|read| read.is_ok())
        {
            progress.lines = progress.lines.saturating_add(1);
            lines.push((progress.read, progress.lines, tail));
            progress.read += tail.len() as u64;
            progress.last = tail[tail.len().saturating_sub(COMPARED)..].to_vec();
            self.add(&source, &lines)?;
            return Ok(true);
        }
        self.add(&source, &lines)?;
        bytes.drain(..whole);
        if bytes.len() > LineLimit::DEFAULT.0 as usize {
            progress.skipped = Some(bytes.len() as u64);
        } else {
            progress.pending = bytes;
        }
        Ok(count > 0)
    }

    fn write(&self, change: impl FnOnce(&mut Index)) {
        change(&mut self.index.write().unwrap_or_else(PoisonError::into_inner));
    }

    /// Adds lines, given as their offsets, numbers and texts.
    fn add(&self, source: &Source, lines: &[(u64, u32, &[u8])]) -> Result<()> {
        let plain = lines.par_iter().map(|(.., line)| without_nan(line));
        let plain: Vec<Cow<[u8]>> = plain.collect();
        let parsed: Vec<_> = lines
            .par_iter()
            .zip(&plain)
            .filter_map(|((offset, number, line), plain)| {
                Some((*offset, *number, *line, self.parse(plain, source)?))
            })
            .collect();
        if parsed.is_empty() {
            return Ok(());
        }
        if self.index().count() + parsed.len() > u32::MAX as usize {
            return Err(EvalError::Unusable(format!(
                "{} has more than 4 billion verdicts: split it",
                source.path.display()
            )));
        }
        self.write(|index| {
            for (offset, number, text, read) in parsed {
                match read {
                    Ok((line, label)) => {
                        index.add(&line, label, number, (offset, text.len() as u32));
                    }
                    Err(why) => index.add_unreadable(number, &why),
                }
            }
            let _ = index.samples.settle(&self.label_columns);
        });
        Ok(())
    }

    /// Parses a line; `None` for one that need not be a verdict.
    fn parse<'l>(&self, line: &'l [u8], source: &Source) -> Option<Result<Parsed<'l>, String>> {
        let is_other = source.is_journal && OF_JOURNAL.iter().any(|start| line.starts_with(start));
        if line.is_empty() || is_other {
            return None;
        }
        let labels = self.own_labels.then_some(&self.label_columns);
        Some(match labelled_line(line, labels) {
            // A kept key that has the name of a label need not be one.
            Err(_) if labels.is_some() => labelled_line(line, None),
            read => read,
        })
    }
}

/// A parsed verdict line, and the label among its kept keys.
type Parsed<'l> = (VerdictLine<'l>, Option<crate::eval::Label>);

/// Reads the samples of rows, which stay in their files, with labels from the rows or from files of their own.
fn read_samples(
    rows: &[PathBuf],
    labels: &[PathBuf],
    columns: &ColumnMap,
    label_columns: &LabelColumns,
) -> Result<(Samples, Option<Arc<Rows>>)> {
    let mut samples = Samples::default();
    let options = LoadOptions {
        columns: columns.clone(),
        keep: label_columns.keep(),
        ..LoadOptions::default()
    };
    let mut wrong = None;
    let read = |sample: &juror_data::Sample, place, wrong: &mut Option<String>| {
        let label = label_columns.read_of(&sample.kept, place);
        label.unwrap_or_else(|why| {
            wrong.get_or_insert_with(|| format!("sample {:?}: {why}", sample.id));
            crate::eval::Label::default()
        })
    };
    let texts = if rows.is_empty() { labels } else { rows };
    if texts.is_empty() {
        return Ok((samples, None));
    }
    // Rows that were given only for their texts need no label, and may have a key of that name.
    let are_labels = rows.is_empty();
    let mut ignored = None;
    let loaded = index_each(texts, &options, &mut |sample, place| {
        let wrong = if are_labels { &mut wrong } else { &mut ignored };
        let label = read(sample, place, wrong);
        samples.add_sample(sample, label);
    })?;
    if !are_labels {
        let _ = samples.settle(label_columns);
        samples.forget_letters();
    }
    if !rows.is_empty() && !labels.is_empty() {
        each(labels, &options, &mut |sample, place| {
            let label = read(sample, place, &mut wrong);
            match samples.place(&sample.id) {
                Some(place) => samples.set_label(place, label),
                None => {
                    samples.add(&sample.id, label);
                }
            }
        })?;
    }
    if let Some(why) = wrong {
        return Err(EvalError::Unusable(no_label(&why)));
    }
    samples.settle(label_columns)?;
    Ok((samples, Some(Arc::new(loaded.samples))))
}
