//! Errors of inputs.

use std::fmt;
use std::io;

use juror_base::terminal::escaped;

/// An input that cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum DatasetError {
    #[error(
        "no input: name a JSONL, CSV or Parquet file, a folder of them, or `-` for standard input"
    )]
    NoInput,
    #[error("could not read {file}: {source}")]
    Read { file: String, source: io::Error },
    #[error(
        "{folder} holds no file to read: juror looks for names that end in .jsonl, .ndjson, .json, .csv, .tsv, .parquet or .eval (also with .gz or .zst), and leaves out outputs with a journal beside them"
    )]
    EmptyFolder { folder: String },
    #[error("{second} is {first} once more: every row would be judged twice; name it once")]
    DuplicateInput { first: String, second: String },
    #[error("{file} is the output as well as an input: choose another output with `-o`")]
    OutputIsInput { file: String },
    #[error("{file} is {found}, which is not read: {}", advice)]
    Format {
        file: String,
        found: &'static str,
        advice: &'static str,
    },
    #[error(
        "{file} is cut short or damaged: its {compression} data break off after line {line} ({source}); copy or compress it again"
    )]
    Compressed {
        file: String,
        compression: &'static str,
        line: usize,
        source: io::Error,
    },
    #[error(
        "{file}:{line}: a row, or space before one, of more than {read} bytes: these are not JSON lines, or lines may be longer with --max-line-bytes"
    )]
    Endless {
        file: String,
        line: usize,
        read: u64,
    },
    #[error("{file}:{line}: the JSON {what}: mend the file, or write one JSON object a line")]
    Array {
        file: String,
        line: usize,
        what: &'static str,
    },
    #[error(
        "{file} cannot be read as Parquet after row {rows}: {reason}; write it again, or convert it to JSON lines"
    )]
    Parquet {
        file: String,
        rows: usize,
        reason: String,
    },
    #[error("none of the rows read has {keys}, named by --keep: name keys of the input, or `all`")]
    NothingKept { keys: String },
    #[error(
        "could not keep {what} in a temporary file: {source}; make room beside the output (or where TMPDIR points)"
    )]
    Spool { what: String, source: io::Error },
    #[error(
        "{file} was changed while it was being judged: row {row} of the input is not what it was when the run began; put it back and run the same command again to go on, or begin anew with --restart"
    )]
    Changed { file: String, row: usize },
    #[error("no rows in {files}: {}", if *failed == 0 { "the input is empty".to_owned() } else { format!("each of {failed} ended with an error, which it holds in place of a response") })]
    Empty { files: String, failed: usize },
    /// Lines that cannot become samples; nothing was judged.
    #[error(transparent)]
    BadLines(#[from] BadLines),
}

impl DatasetError {
    pub(super) fn unreadable(file: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let file = file.into();
        |source| Self::Read { file, source }
    }

    /// What could not be kept in a temporary file.
    pub(super) fn spool(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |source| Self::Spool { what, source }
    }

    /// Whether the user's input or options are at fault, not the machine.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::Spool { .. })
    }
}

/// The lines that cannot become samples, by what is wrong with them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BadLines {
    kinds: Vec<BadKind>,
    /// How many there are.
    pub total: usize,
    /// How many lines were read, blank ones not counted.
    pub lines_read: usize,
    pub(super) may_skip: bool,
}

/// Lines with which the same is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
struct BadKind {
    /// The files and lines of the first few, and what is wrong with each.
    places: Vec<(String, usize, String)>,
    count: usize,
}

/// What is wrong, without the column.
fn kind(reason: &str) -> &str {
    reason.split(" column ").next().unwrap_or(reason)
}

/// What is said of a row whose id another file has too: all of its rows may be so, and none would be a bad one.
pub(super) const IN_OTHER: &str = ", in another file";

const SKIP: &str =
    ", or pass --skip-bad to set them aside in OUT.rejected.jsonl and judge the rest";

/// The most reasons that a message lists.
const REASONS: usize = 20;

/// The most places that it lists for each.
const PLACES: usize = 3;

impl BadLines {
    /// Adds a line: where it is, and what is wrong with it.
    pub fn add(&mut self, file: &str, line: usize, reason: String) {
        self.total += 1;
        let has_room = self.kinds.len() < REASONS;
        let mut kinds = self.kinds.iter_mut();
        match kinds.find(|it| kind(&it.places[0].2) == kind(&reason)) {
            Some(kind) => {
                kind.count += 1;
                if kind.places.len() < PLACES {
                    kind.places.push((file.to_owned(), line, reason));
                }
            }
            None if has_room => self.kinds.push(BadKind {
                places: vec![(file.to_owned(), line, reason)],
                count: 1,
            }),
            None => {}
        }
    }

    /// What is wrong, a line each: what is wrong with many lines is said once, with the first of them. Names of files are escaped.
    pub fn listed(&self) -> Vec<String> {
        let mut listed = Vec::new();
        for BadKind { places, count } in &self.kinds {
            let place = |(file, line, _): &(String, usize, String)| format!("{file}:{line}");
            let told: Vec<String> = places.iter().map(place).collect();
            let (reason, all) = (&places[0].2, told.join(", "));
            let same = places.iter().all(|place| place.2 == *reason);
            if *count <= PLACES && same && *count > 1 {
                listed.push(format!("{count} lines ({all}): {reason}"));
            } else if *count <= PLACES {
                let reasons = told.iter().zip(places);
                listed.extend(reasons.map(|(place, (.., reason))| format!("{place}: {reason}")));
            } else {
                listed.push(format!("{count} lines ({all}, …): {reason}"));
            }
        }
        let told: usize = self.kinds.iter().map(|kind| kind.count).sum();
        if self.total > told {
            listed.push(format!("… and {} more", self.total - told));
        }
        (listed.iter().map(|line| escaped(line).to_string())).collect()
    }
}

impl std::error::Error for BadLines {}

impl fmt::Display for BadLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [judged, skip] =
            [", so nothing was judged", SKIP].map(|text| if self.may_skip { text } else { "" });
        let all = self.lines_read;
        writeln!(f, "{} of {all} lines cannot be used{judged}:", self.total)?;
        for line in self.listed() {
            writeln!(f, "  {line}")?;
        }
        let is_in_other = |it: &&BadKind| it.places[0].2.contains(IN_OTHER);
        let in_other = self.kinds.iter().filter(is_in_other).count();
        let of_others = (in_other > 0).then(|| "Give each file by itself if it numbers its own rows, or make ids from the content: `--columns id=`".to_owned());
        let mend = in_other == 0 || in_other < self.kinds.len();
        let mend = mend.then(|| format!("Mend them{skip}"));
        let advice: Vec<String> = of_others.into_iter().chain(mend).collect();
        f.write_str(&advice.join(". "))
    }
}
