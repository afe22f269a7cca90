//! Loads inputs as samples.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::columns::{ColumnMap, ColumnsUsed, Field, tally};
use super::error::{BadLines, DatasetError, IN_OTHER};
use super::input::{LineLimit, MAY_BE_TABLE, Next, RowReader, Source, sources};
use super::journal::shortened;
use super::json_text::JsonText;
use super::keep::Keep;
use super::preset::presets;
use super::rejected::{Rejected, RejectedLine};
use super::row::Row;
use super::rows::{RawRow, Rows, RowsBuilder};
use super::sample::Sample;
use super::shard::Shard;
use super::spool::Spool;

/// How inputs become samples.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// Which key holds what.
    pub columns: ColumnMap,
    /// Which keys go into the verdicts.
    pub keep: Keep,
    /// Take the first `limit` accepted rows, before sharding; later ones are not even read.
    pub limit: Option<usize>,
    /// Keep one machine's part.
    pub shard: Option<Shard>,
    /// How long a line may be.
    pub max_line: LineLimit,
    /// Return bad lines as [`Loaded::rejected`] instead of refusing the input.
    pub skip_bad: bool,
    /// Whether the user may ask for that.
    pub may_skip: bool,
    /// Also fingerprint the first so many accepted rows alone: the input of an earlier run.
    pub earlier: Option<usize>,
    /// The run's own output: skipped in a folder, refused as an input.
    pub output: Option<PathBuf>,
}

/// An input, read: its samples in memory ([`load`]) or in their files ([`index`]).
#[derive(Debug)]
pub struct Loaded<S = Vec<Sample>> {
    /// The samples of this shard, in input order. [`Sample::index`] is the place among all accepted rows.
    pub samples: S,
    /// The bad lines, with `skip_bad`.
    pub rejected: Rejected,
    /// 32 hexadecimal characters that change with any accepted sample within the limit, of all shards: its id, its texts, its place.
    /// Names of files, columns that are not used and rejected lines do not keep a run from being resumed.
    pub fingerprint: String,
    /// The fingerprint of the first [`LoadOptions::earlier`] accepted rows, if there are that many.
    pub earlier_fingerprint: Option<String>,
    /// The keys that go into the verdicts ([`LoadOptions::keep`]).
    pub keep: Vec<String>,
    /// Which keys the samples were read from.
    pub columns: ColumnsUsed,
    /// Rows accepted in all shards together.
    pub accepted: usize,
    /// Lines read, blank ones not counted.
    pub lines_read: usize,
}

/// Reads files, folders and standard input (`-`): JSON lines, a JSON array, CSV, TSV or Parquet.
///
/// A file may be gzip or zstd. Its format is detected by its first bytes, not its name. A folder stands for the files in it and in its folders whose names
/// end in .jsonl, .ndjson, .json, .csv, .tsv, .parquet or .eval (also with .gz or .zst), sorted by path, without hidden ones and without what juror itself
/// wrote (outputs with a journal, `*.rejected.jsonl`). Blank lines, CRLF and a byte order mark do not matter.
/// Errors: when an input cannot be read, holds nothing, or (without `skip_bad`) has bad lines: [`DatasetError::BadLines`] then lists
/// the first of them.
pub fn load(inputs: &[PathBuf], options: &LoadOptions) -> Result<Loaded, DatasetError> {
    let mut samples = Vec::new();
    let loaded = read(inputs, options, &mut |sample, _, _, _| {
        samples.push(sample);
        Ok(())
    })?;
    Ok(loaded.with(samples))
}

/// Reads and validates inputs as [`load`] does, and passes each sample, its place in its row and the number of these to `visit` instead of keeping it.
pub fn each(
    inputs: &[PathBuf],
    options: &LoadOptions,
    visit: &mut dyn FnMut(&Sample, [usize; 2]),
) -> Result<Loaded<()>, DatasetError> {
    read(inputs, options, &mut |sample, _, place, _| {
        visit(&sample, place);
        Ok(())
    })
}

/// Reads and validates inputs as [`load`] does, but leaves the samples in their files and keeps only their places in memory.
/// Errors: as [`load`]; also when an input that cannot be read twice cannot be copied to a temporary file.
pub fn index(inputs: &[PathBuf], options: &LoadOptions) -> Result<Loaded<Rows>, DatasetError> {
    index_each(inputs, options, &mut |_, _| {})
}

/// As [`index()`], passing each sample to `visit` on the way as [`each`] does.
pub fn index_each(
    inputs: &[PathBuf],
    options: &LoadOptions,
    visit: &mut dyn FnMut(&Sample, [usize; 2]),
) -> Result<Loaded<Rows>, DatasetError> {
    let mut rows = RowsBuilder::new(options);
    let loaded = read(inputs, options, &mut |sample, row, place, copy| {
        visit(&sample, place);
        rows.add(&sample, row, place[0], copy)
    })?;
    Ok(loaded.with(rows.finish()?))
}

/// The sample of a row, given as one JSON object with one response; its id is empty if the row has none.
pub fn sample_of_row(row: &str, columns: &ColumnMap) -> Result<Sample, String> {
    let text = JsonText::new(row);
    let row = Row::parse(&text)?;
    let preset = columns.preset(&row)?;
    let texts = row.texts(columns, preset, |_, _, _| {})?;
    // Each sample has a copy of the row's other texts, so a row that is refused makes none.
    let one = (texts.responses.len() == 1).then(|| texts.samples().pop());
    let several = || "it has several responses: give each a sample of its own".to_owned();
    one.flatten().ok_or_else(several)
}

/// Whether a row repeats another of its file: `first` is the first value there of the key that such rows differ in.
pub fn is_repeated(row: &[u8], columns: &ColumnMap, first: &mut Option<String>) -> bool {
    let mut read = || {
        let text = std::str::from_utf8(row).ok()?;
        let mut keys = presets().iter().filter_map(|preset| preset.once.as_ref());
        // Nearly no row has such a key.
        keys.find(|key| text.contains(key.as_str()))?;
        let text = JsonText::new(text);
        let row = Row::parse(&text).ok()?;
        columns.preset(&row).ok()?.repeats(&row, first).ok()
    };
    read() == Some(true)
}

/// Takes a sample of this shard, its row, its place in that and the number of these, and how often its content has occurred, if its id tells that.
type Take<'t> =
    &'t mut dyn FnMut(Sample, &RawRow, [usize; 2], Option<u32>) -> Result<(), DatasetError>;

fn read(inputs: &[PathBuf], options: &LoadOptions, take: Take) -> Result<Loaded<()>, DatasetError> {
    let sources = sources(inputs, options.output.as_deref())?;
    let mut loader = Loader {
        options,
        take,
        first_value: None,
        files: Vec::new(),
        ids: HashMap::new(),
        contents: HashMap::new(),
        fingerprint: blake3::Hasher::new(),
        earlier_fingerprint: None,
        bad: BadLines::default(),
        rejected: 0,
        spool: Spool::default(),
        columns: ColumnsUsed::default(),
        kept: vec![false; options.keep.keys().len()],
        accepted: 0,
        lines_read: 0,
    };
    for source in &sources {
        if loader.full() {
            break;
        }
        loader.read(source)?;
    }
    let failed = loader.columns.failed;
    if loader.lines_read == failed && !loader.full() {
        let files: Vec<String> = sources.iter().map(Source::name).collect();
        let files = shortened(&files.join(", "));
        return Err(DatasetError::Empty { files, failed });
    }
    loader.finish()
}

impl Loaded<()> {
    fn with<S>(self, samples: S) -> Loaded<S> {
        Loaded {
            samples,
            rejected: self.rejected,
            fingerprint: self.fingerprint,
            earlier_fingerprint: self.earlier_fingerprint,
            keep: self.keep,
            columns: self.columns,
            accepted: self.accepted,
            lines_read: self.lines_read,
        }
    }
}

struct Loader<'o> {
    options: &'o LoadOptions,
    take: Take<'o>,
    /// For a preset whose rows are repeated: the first value, in this file, of the key that they are repeated by.
    first_value: Option<String>,
    /// The files so far, which `ids` refers to.
    files: Vec<String>,
    /// Where each id was used (file, line), by the id's hash: 16 bytes instead of a second copy of every id.
    ids: HashMap<[u8; 16], (u32, u32)>,
    /// How often each content without an id has occurred, by its content id.
    contents: HashMap<u64, u32>,
    fingerprint: blake3::Hasher,
    earlier_fingerprint: Option<String>,
    /// The first bad lines, where they stop the run.
    bad: BadLines,
    /// All of them, where they do not.
    rejected: usize,
    spool: Spool,
    columns: ColumnsUsed,
    /// For each key to be kept, whether a row had it.
    kept: Vec<bool>,
    accepted: usize,
    lines_read: usize,
}

impl Loader<'_> {
    /// Whether the limit was reached.
    fn full(&self) -> bool {
        self.full_with(0)
    }

    /// Whether `more` further samples reach the limit.
    fn full_with(&self, more: usize) -> bool {
        let limit = self.options.limit;
        limit.is_some_and(|limit| self.accepted + more >= limit)
    }

    fn read(&mut self, source: &Source) -> Result<(), DatasetError> {
        let output = self.options.output.as_deref();
        let named = self.options.columns.named();
        let mut rows = source.open(self.options.max_line, output, named)?;
        self.files.push(source.name());
        self.first_value = None;
        let Source::File(path) = source else {
            return self.read_rows(&mut *rows, None);
        };
        self.read_rows(&mut *rows, Some(path))
    }

    fn read_rows(
        &mut self,
        rows: &mut dyn RowReader,
        path: Option<&Path>,
    ) -> Result<(), DatasetError> {
        let mut row = Vec::new();
        while !self.full() {
            match rows.next(&mut row)? {
                Next::End => break,
                Next::Bad(reason) => {
                    self.lines_read += 1;
                    self.reject(&row, rows.place(), reason)?;
                    continue;
                }
                Next::Row if row.iter().all(u8::is_ascii_whitespace) => continue,
                Next::Row => self.lines_read += 1,
            }
            let samples = match self.accept(&row, rows.place()) {
                Ok(samples) => samples,
                Err(reason) => {
                    self.reject(&row, rows.place(), reason)?;
                    continue;
                }
            };
            let source = self.files.last().map_or("", String::as_str);
            let raw = RawRow {
                source,
                place: rows.offset().and_then(|offset| Some((path?, offset))),
                line: &row,
            };
            let count = samples.len();
            for (part, (sample, copy)) in samples.into_iter().enumerate() {
                let shard = self.options.shard;
                if shard.is_none_or(|shard| shard.contains(&sample.id)) {
                    (self.take)(sample, &raw, [part, count], copy)?;
                }
            }
        }
        Ok(())
    }

    /// The samples of a row, each with how often its content has occurred if its id is made from that.
    fn accept(&mut self, line: &[u8], number: usize) -> Result<Vec<(Sample, Option<u32>)>, String> {
        let mut counts = [line.len(), number, self.accepted].into_iter();
        if counts.any(|count| u32::try_from(count).is_err()) {
            // Places are stored in 32 bits.
            return Err(
                "more than 4 GiB in one line, or 4 billion rows: split the input".to_owned(),
            );
        }
        let place = (self.files.len() as u32 - 1, number as u32);
        let text = JsonText::of_bytes(line)?;
        let row = Row::parse(&text)?;
        let columns = &self.options.columns;
        let preset = columns.preset(&row)?;
        if preset.repeats(&row, &mut self.first_value)? {
            self.columns.repeated += 1;
            return Ok(Vec::new());
        }
        if row.failed(preset)?.is_some() {
            self.columns.failed += 1;
            return Ok(Vec::new());
        }
        let mut used = Vec::with_capacity(Field::ALL.len());
        let texts = row.texts(columns, preset, |field, key, passed_over| {
            used.push((field, key, passed_over));
        })?;
        let kept = self.options.keep.select(&row, texts.response_list())?;
        texts.check_size(&kept)?;
        let mut drafts = texts.samples();
        for draft in &mut drafts {
            draft.kept.clone_from(&kept);
        }
        // All ids are claimed before any sample counts, so a row is accepted whole or not at all.
        let mut samples: Vec<(Sample, Option<u32>)> = Vec::with_capacity(drafts.len());
        for mut sample in drafts {
            if self.full_with(samples.len()) {
                break;
            }
            let copy = if sample.id.is_empty() {
                let content = sample.own_content_id();
                let (id, copy) = self.number(&content, place);
                sample.id = id;
                Some(copy)
            } else {
                sample.id = self.claim(sample.id, place).inspect_err(|_| {
                    for (sample, _) in &samples {
                        self.ids.remove(&id_key(&sample.id));
                    }
                })?;
                None
            };
            sample.index = self.accepted + samples.len();
            samples.push((sample, copy));
        }
        self.options.keep.mark(&kept, &mut self.kept);
        tally(&mut self.columns.presets, &*preset.name);
        for (field, key, passed_over) in used {
            self.columns.count(field, &key, &passed_over);
        }
        self.columns.content_ids += usize::from(samples.iter().any(|(_, copy)| copy.is_some()));
        for (sample, _) in &samples {
            self.columns.blank += usize::from(sample.student_answer.trim().is_empty());
            sample.hash_into(&mut self.fingerprint);
            self.accepted += 1;
            if self.options.earlier == Some(self.accepted) {
                self.earlier_fingerprint = Some(shown_hash(&self.fingerprint));
            }
        }
        Ok(samples)
    }

    /// Claims a row's own id; an error if an earlier row has it.
    fn claim(&mut self, id: String, place: (u32, u32)) -> Result<String, String> {
        let hash = id_key(&id);
        if let Some((file, line)) = self.ids.get(&hash) {
            let in_other = if *file == place.0 { "" } else { IN_OTHER };
            return Err(format!(
                "the id {id:?} is taken by {}:{line}{in_other}: ids must be unique in the whole input, or verdicts could not \
                 be told apart; name another key (`--columns id=KEY`), or make ids from the content (`--columns id=`)",
                self.files[*file as usize]
            ));
        }
        self.ids.insert(hash, place);
        Ok(id)
    }

    /// The id of a row without one, `content` or that with a number if the same content occurred before; and the number.
    fn number(&mut self, content: &str, place: (u32, u32)) -> (String, u32) {
        // The whole id is 16 hexadecimal digits.
        let key = u64::from_str_radix(content, 16).unwrap_or_default();
        loop {
            let met = self.contents.entry(key).or_insert(0);
            *met += 1;
            let number = *met;
            let id = match number {
                1 => content.to_owned(),
                _ => Sample::numbered_id(content, number),
            };
            // If another row has that id as its own, the next number is tried.
            if let Ok(id) = self.claim(id, place) {
                return (id, number);
            }
        }
    }

    fn reject(
        &mut self,
        line: &[u8],
        number: usize,
        mut reason: String,
    ) -> Result<(), DatasetError> {
        let is_table = |byte: &u8| matches!(byte, b',' | b';' | b'\t');
        if number == 1
            && reason.starts_with("not valid JSON")
            && !line.starts_with(b"{")
            && line.iter().any(is_table)
        {
            reason = format!("{reason}; {MAY_BE_TABLE}");
        }
        let file = self.files.last().cloned().unwrap_or_default();
        if self.options.skip_bad {
            let rejected = RejectedLine {
                file,
                line: number,
                reason,
                text: String::from_utf8_lossy(line).into_owned(),
            };
            let mut line =
                serde_json::to_vec(&rejected).map_err(|error| bad_lines(error.into()))?;
            line.push(b'\n');
            let output = self.options.output.as_deref();
            self.spool.add(&line, output).map_err(bad_lines)?;
            self.rejected += 1;
        } else {
            self.bad.add(&file, number, reason);
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Loaded<()>, DatasetError> {
        if self.bad.total > 0 {
            (self.bad.lines_read, self.bad.may_skip) = (self.lines_read, self.options.may_skip);
            return Err(DatasetError::BadLines(self.bad));
        }
        let keep = &self.options.keep;
        // With a limit the keys may be in later rows.
        if let Some(keys) = keep.nowhere(&self.kept)
            && keep.is_strict()
            && self.accepted > 0
            && !self.full()
        {
            return Err(DatasetError::NothingKept { keys });
        }
        Ok(Loaded {
            samples: (),
            rejected: Rejected {
                count: self.rejected,
                lines: self.spool.finish().map_err(bad_lines)?,
            },
            fingerprint: shown_hash(&self.fingerprint),
            earlier_fingerprint: self.earlier_fingerprint,
            keep: keep.keys(),
            columns: self.columns,
            accepted: self.accepted,
            lines_read: self.lines_read,
        })
    }
}

/// The fingerprint of everything hashed so far.
fn shown_hash(hasher: &blake3::Hasher) -> String {
    let mut hash = hasher.finalize().to_hex().to_string();
    hash.truncate(32);
    hash
}

fn bad_lines(source: std::io::Error) -> DatasetError {
    DatasetError::spool("the bad lines")(source)
}

fn id_key(id: &str) -> [u8; 16] {
    let hash = blake3::hash(id.as_bytes());
    hash.as_bytes().first_chunk().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests;
