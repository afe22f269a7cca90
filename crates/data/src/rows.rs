//! Samples that stay in their files: 56 bytes of memory each, read again when they are judged.
//!
//! The first pass over an input validates every row and keeps only its place, its length, and three hashes: of its question, to bring rollouts of one
//! question together; of its id, to notice a journal of other samples; and of everything, to notice a file that was changed during the run. What cannot be
//! read twice (standard input, pipes, compressed files, tables) is copied to a temporary file on the way, which has no name and disappears with the process.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rayon::prelude::*;
use serde_json::{Map, Value as Json};

use super::columns::ColumnMap;
use super::error::DatasetError;
use super::json_text::JsonText;
use super::keep::Keep;
use super::load::LoadOptions;
use super::row::Row;
use super::sample::Sample;
use super::samples::{Outline, Samples};
use super::spool::Spool;
use juror_base::threads::lock;

/// Rows closer together than this are read at once, including the gap.
const GAP: u64 = 4 << 10;

/// The most bytes read at once, unless a single row is longer.
const SPAN: u64 = 1 << 20;

/// The rows of an input, by place.
#[derive(Debug, Default)]
pub struct Rows {
    columns: ColumnMap,
    keep: Keep,
    entries: Vec<Entry>,
    /// (position, number) of the samples whose content occurred before: the number is part of the id.
    copies: Vec<(u32, u32)>,
    files: Vec<PathBuf>,
    spool: Option<Mutex<File>>,
    /// The file that was read last, kept open: most inputs are one file.
    open: Mutex<Option<(u32, File)>>,
    /// The last row that has more responses than are fetched at a time.
    long: Mutex<Option<Arc<LongRow>>>,
}

/// A row's samples without their places.
#[derive(Debug)]
struct LongRow {
    file: u32,
    offset: u64,
    drafts: Vec<Sample>,
    kept: Map<String, Json>,
}

/// A row with at least so many responses is kept, instead of being read again for each part of them.
const LONG: usize = 64;

/// How many of these lines, each given as its offset and its length, are read at once, and where they end.
pub fn together(lines: impl Iterator<Item = (u64, u32)>) -> (usize, u64) {
    let (mut count, mut start, mut end) = (0, 0, 0);
    for (offset, length) in lines {
        let line_end = offset + u64::from(length);
        if count == 0 {
            (start, end) = (offset, offset);
        } else if !(start..=end + GAP).contains(&offset) || line_end - start > SPAN {
            break;
        }
        (count, end) = (count + 1, end.max(line_end));
    }
    (count, end)
}

/// The place of a row, and what must be known of it before it is read.
#[derive(Debug, Clone, Copy)]
struct Entry {
    offset: u64,
    check: u64,
    id: u64,
    question: u64,
    length: u32,
    bytes: u32,
    memory: u32,
    index: u32,
    /// [`SPOOL`], or an index into [`Rows::files`].
    file: u32,
    /// The index of the sample's response in the row.
    part: u32,
}

/// Stands for the temporary file, in place of a file's index.
const SPOOL: u32 = u32::MAX;

impl Samples for Rows {
    fn count(&self) -> usize {
        self.entries.len()
    }

    fn outline(&self, position: usize) -> Outline {
        let entry = &self.entries[position];
        Outline {
            index: entry.index as usize,
            id: entry.id,
            question: entry.question,
            bytes: entry.bytes as usize,
            memory: entry.memory as usize,
        }
    }

    fn fetch(&self, positions: &[usize]) -> Result<Vec<Sample>, DatasetError> {
        let samples = self.fetch_where(positions, &|_| true)?;
        Ok(samples.into_iter().flatten().collect())
    }
}

impl Rows {
    /// The samples at `positions`, in that order; `None` in place of those whose rows are read from their file and do not satisfy `may_be` there.
    pub fn fetch_where(
        &self,
        positions: &[usize],
        may_be: &(dyn Fn(&[u8]) -> bool + Sync),
    ) -> Result<Vec<Option<Sample>>, DatasetError> {
        // The samples of one row are made together, so it is read and parsed once.
        let place = |position: usize| {
            let entry = &self.entries[position];
            (entry.file, entry.offset)
        };
        let mut order: Vec<(usize, usize)> = positions.iter().copied().zip(0..).collect();
        order.sort_by_key(|&(position, _)| place(position));
        let (positions, slots): (Vec<usize>, Vec<usize>) = order.into_iter().unzip();
        let runs: Vec<&[usize]> = positions.chunk_by(|a, b| place(*a) == place(*b)).collect();
        let long = self.long_row(&positions);
        let read: Vec<Option<Vec<Sample>>> = if let (&[run], Some(row)) = (&runs[..], long) {
            vec![Some(self.of_row(&row.drafts, &row.kept, run)?)]
        } else {
            let lines = self.read(&runs.iter().map(|run| run[0]).collect::<Vec<_>>())?;
            let found = |(line, run): (&Vec<u8>, &&[usize])| {
                may_be(line).then(|| self.samples(line, run)).transpose()
            };
            let read = lines.par_iter().zip(&runs).map(found);
            read.collect::<Result<_, _>>()?
        };
        let mut samples = vec![None; positions.len()];
        let mut slots = slots.into_iter();
        for (run, read) in runs.iter().zip(read) {
            let mut read = read.into_iter().flatten();
            for slot in slots.by_ref().take(run.len()) {
                samples[slot] = read.next();
            }
        }
        Ok(samples)
    }

    /// The bytes of the rows at `positions`, which are in the order in which they lie in the files.
    fn read(&self, positions: &[usize]) -> Result<Vec<Vec<u8>>, DatasetError> {
        let entry = |&at: &usize| self.entries[at];
        let (mut lines, mut rest) = (Vec::with_capacity(positions.len()), positions);
        let mut bytes = Vec::new();
        while let Some(first) = rest.first() {
            let (file, start) = (entry(first).file, entry(first).offset);
            let of_file = rest.iter().map(entry).take_while(|row| row.file == file);
            let (count, end) = together(of_file.map(|row| (row.offset, row.length)));
            bytes.resize((end - start) as usize, 0);
            self.read_at(file, start, &mut bytes)
                .map_err(|source| match source.kind() {
                    io::ErrorKind::UnexpectedEof => self.changed(*first),
                    _ => DatasetError::unreadable(self.name(file))(source),
                })?;
            lines.extend(rest[..count].iter().map(entry).map(|row| {
                let from = (row.offset - start) as usize;
                bytes[from..from + row.length as usize].to_vec()
            }));
            rest = &rest[count..];
        }
        Ok(lines)
    }

    fn read_at(&self, number: u32, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        let read = |file: &mut File, bytes: &mut [u8]| {
            file.seek(SeekFrom::Start(offset))?;
            file.read_exact(bytes)
        };
        if let (SPOOL, Some(spool)) = (number, &self.spool) {
            return read(&mut lock(spool), bytes);
        }
        let mut open = lock(&self.open);
        let (_, mut file) = match open.take() {
            Some(file) if file.0 == number => file,
            _ => (number, File::open(&self.files[number as usize])?),
        };
        let result = read(&mut file, bytes);
        *open = Some((number, file));
        result
    }

    /// Samples of one row that was read again: exactly those of the first pass, or an error.
    fn samples(&self, line: &[u8], positions: &[usize]) -> Result<Vec<Sample>, DatasetError> {
        let row = |line| {
            let text = JsonText::new(std::str::from_utf8(line).ok()?);
            let row = Row::parse(&text).ok()?;
            let preset = self.columns.preset(&row).ok()?;
            let texts = row.texts(&self.columns, preset, |_, _, _| {}).ok()?;
            let kept = self.keep.select(&row, texts.response_list()).ok()?;
            Some((texts.samples(), kept))
        };
        let (drafts, kept) = row(line).unwrap_or_default();
        if drafts.len() < LONG {
            return self.of_row(&drafts, &kept, positions);
        }
        let entry = self.entries[positions[0]];
        let row = Arc::new(LongRow {
            file: entry.file,
            offset: entry.offset,
            drafts,
            kept,
        });
        *lock(&self.long) = Some(Arc::clone(&row));
        self.of_row(&row.drafts, &row.kept, positions)
    }

    /// The row of the samples at `positions`, if it is the last row with many responses.
    fn long_row(&self, positions: &[usize]) -> Option<Arc<LongRow>> {
        let entry = self.entries[*positions.first()?];
        let long = lock(&self.long);
        let row = long.as_ref()?;
        ((row.file, row.offset) == (entry.file, entry.offset)).then(|| Arc::clone(row))
    }

    /// The samples at `positions` among those of a row.
    fn of_row(
        &self,
        drafts: &[Sample],
        kept: &Map<String, Json>,
        positions: &[usize],
    ) -> Result<Vec<Sample>, DatasetError> {
        let sample = |&position: &usize| {
            let entry = &self.entries[position];
            let mut sample = drafts.get(entry.part as usize)?.clone();
            sample.index = entry.index as usize;
            sample.kept.clone_from(kept);
            if sample.id.is_empty() {
                let copies = &self.copies;
                let content = sample.own_content_id();
                sample.id = match copies.binary_search_by_key(&(position as u32), |copy| copy.0) {
                    Ok(at) => Sample::numbered_id(&content, copies[at].1),
                    Err(_) => content,
                };
            }
            (sample.check() == entry.check).then_some(sample)
        };
        let found = |position| sample(position).ok_or_else(|| self.changed(*position));
        positions.iter().map(found).collect()
    }

    fn changed(&self, position: usize) -> DatasetError {
        let entry = &self.entries[position];
        DatasetError::Changed {
            file: self.name(entry.file),
            row: entry.index as usize + 1,
        }
    }

    fn name(&self, file: u32) -> String {
        let path = self.files.get(file as usize);
        let name = path.map(|path| path.display().to_string());
        name.unwrap_or_else(|| "the temporary copy of the input".to_owned())
    }
}

/// Collects the places of rows as they are read for the first time.
#[derive(Debug)]
pub(super) struct RowsBuilder<'o> {
    rows: Rows,
    /// The output: copies of rows go beside it, where there is room for verdicts too.
    output: Option<&'o Path>,
    spool: Spool,
    /// The index of the first sample of the row that was copied last, and the offset of the copy.
    copied: Option<(usize, u64)>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct RawRow<'l> {
    pub(super) source: &'l str,
    /// The file and the row's offset in it, if it can be read again from there.
    pub(super) place: Option<(&'l Path, u64)>,
    pub(super) line: &'l [u8],
}

impl<'o> RowsBuilder<'o> {
    pub(super) fn new(options: &'o LoadOptions) -> Self {
        Self {
            rows: Rows {
                columns: options.columns.clone(),
                keep: options.keep.clone(),
                ..Rows::default()
            },
            output: options.output.as_deref(),
            spool: Spool::default(),
            copied: None,
        }
    }

    /// Keeps the place of a sample, which is the response `part` of a row; `copy` says how often its content has occurred, if that is part of its id.
    pub(super) fn add(
        &mut self,
        sample: &Sample,
        row: &RawRow,
        part: usize,
        copy: Option<u32>,
    ) -> Result<(), DatasetError> {
        let (file, offset) = match (row.place, self.copied) {
            (Some((path, offset)), _) => (self.file(path), offset),
            // One copy serves all samples of a row.
            (None, Some((index, offset))) if index + part == sample.index => (SPOOL, offset),
            (None, _) => {
                let copied = self.spool.add(row.line, self.output);
                let what = format!("a copy of {}, which cannot be read twice,", row.source);
                let offset = copied.map_err(DatasetError::spool(what))?;
                self.copied = Some((sample.index - part, offset));
                (SPOOL, offset)
            }
        };
        if let Some(copy) = copy.filter(|&copy| copy > 1) {
            let place = self.rows.entries.len() as u32;
            self.rows.copies.push((place, copy));
        }
        self.rows.entries.push(Entry {
            offset,
            check: sample.check(),
            id: sample.id_hash(),
            question: sample.question_hash(),
            length: row.line.len() as u32,
            bytes: u32::try_from(sample.bytes()).unwrap_or(u32::MAX),
            memory: u32::try_from(sample.memory()).unwrap_or(u32::MAX),
            index: sample.index as u32,
            file,
            part: part as u32,
        });
        Ok(())
    }

    fn file(&mut self, path: &Path) -> u32 {
        let files = &mut self.rows.files;
        if files.last().is_none_or(|last| last != path) {
            files.push(path.to_owned());
        }
        files.len() as u32 - 1
    }

    pub(super) fn finish(mut self) -> Result<Rows, DatasetError> {
        let copied = self.spool.finish();
        let copied = copied.map_err(DatasetError::spool("a copy of the input"))?;
        self.rows.spool = copied.map(Mutex::new);
        self.rows.entries.shrink_to_fit();
        Ok(self.rows)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::load::{LoadOptions, index};
    use super::*;

    fn row(id: usize, length: usize) -> String {
        let response = "s".repeat(length);
        format!(
            "{{\"id\": \"r{id}\", \"question\": \"q\", \"answer\": \"a\", \"response\": \"{response}\"}}\n"
        )
    }

    #[test]
    fn rows_come_back_in_any_order_near_and_far() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        // Some rows are adjacent, some have a gap too wide to read over, one is longer than what is read at once.
        let lengths = [1, 10, GAP as usize * 3, 5, SPAN as usize + 9, 7, 20];
        let text: String = (0..lengths.len()).map(|at| row(at, lengths[at])).collect();
        fs::write(&path, &text).unwrap();
        let rows = index(&[path], &LoadOptions::default()).unwrap().samples;
        for positions in [vec![0, 1, 3, 5], vec![6, 4, 2, 0], vec![3, 3, 1], vec![]] {
            let fetched = rows.fetch(&positions).unwrap();
            assert_eq!(fetched.len(), positions.len());
            for (sample, position) in fetched.iter().zip(positions) {
                assert_eq!(sample.id, format!("r{position}"));
                assert_eq!(sample.student_answer.len(), lengths[position]);
            }
        }
    }

    #[test]
    fn responses_of_one_row_are_fetched_together_in_whatever_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let row = |id: usize| {
            let responses: Vec<String> = (0..6).map(|part| format!("{id}.{part}")).collect();
            format!(
                "{}\n",
                serde_json::json!({"id": id, "question": "q", "answer": "a", "responses": responses})
            )
        };
        fs::write(&path, (0..3).map(row).collect::<String>()).unwrap();
        let rows = index(&[path], &LoadOptions::default()).unwrap().samples;
        let positions: Vec<usize> = (0..18).map(|at| at * 7 % 18).collect();
        let reads = std::sync::atomic::AtomicUsize::new(0);
        let may_be = |line: &[u8]| {
            reads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            !line.starts_with(b"{\"id\":1,")
        };
        let found = rows.fetch_where(&positions, &may_be).unwrap();
        assert_eq!(reads.into_inner(), 3, "each row is read once");
        for (sample, position) in found.into_iter().zip(positions) {
            let (id, part) = (position / 6, position % 6);
            let answer = sample.map(|sample| sample.student_answer);
            assert_eq!(answer, (id != 1).then(|| format!("{id}.{part}")));
        }
    }

    #[test]
    fn a_file_that_changes_under_the_run_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let text: String = (0..3).map(|at| row(at, 9)).collect();
        fs::write(&path, &text).unwrap();
        let rows = |path: &PathBuf| {
            index(std::slice::from_ref(path), &LoadOptions::default())
                .unwrap()
                .samples
        };
        let kept = rows(&path);
        let changes = [
            text.replacen("sss", "sts", 1),
            format!("\n{text}"),
            text[..20].to_owned(),
            String::new(),
        ];
        for change in changes {
            fs::write(&path, change).unwrap();
            // The file that was read last is still open.
            let message = kept.fetch(&[0]).unwrap_err().to_string();
            assert!(
                message.contains("rows.jsonl was changed while it was being judged: row 1"),
                "{message}"
            );
        }
        // Rows added at the end do not matter to this run.
        fs::write(&path, format!("{text}{text}")).unwrap();
        assert_eq!(kept.fetch(&[2]).unwrap()[0].id, "r2");
        fs::remove_file(&path).unwrap();
        assert_eq!(kept.fetch(&[1]).unwrap()[0].id, "r1", "it is still open");
        fs::write(&path, &text).unwrap();
        let unopened = rows(&path);
        fs::remove_file(&path).unwrap();
        let message = unopened.fetch(&[0]).unwrap_err().to_string();
        assert!(message.starts_with("could not read "), "{message}");
    }
}
