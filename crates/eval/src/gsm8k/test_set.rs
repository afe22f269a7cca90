//! A file of questions with their right answers: GSM8K's rows, or rows of the same shape.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{EvalError, Result};
use juror_data::{ColumnMap, Keep, LineLimit, LoadOptions, Needs, Sample, Source, load, sources};
use juror_rules::Gsm8kMethod;

/// The published files, by their number of rows.
const SIZES: [(usize, &str); 3] = [
    (1319, "GSM8K's test set"),
    (7473, "GSM8K's training set"),
    (1209, "GSM8K-Platinum"),
];

/// The key of GSM8K-Platinum that says what its audit found.
const CLEANING_STATUS: &str = "cleaning_status";

/// Numbers that differ by less than this are the same answer.
const SAME_NUMBER: f64 = 1e-6;

/// Values of that key for questions that were removed, if they are still in the file.
const REMOVED: [&str; 2] = ["rejected", "removed"];

/// What a test set is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SetIdentity {
    /// The file, folder or data set.
    pub file: String,
    /// Its rows.
    pub rows: usize,
    /// The BLAKE3 hash of the file, 64 hexadecimal digits; of several files that of all their bytes, in the files' order.
    pub blake3: String,
    /// The published file with as many rows, if there is one. It says nothing of what is in them.
    pub as_many_rows_as: Option<&'static str>,
    /// Rows by their `cleaning_status`, where they have one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cleaning_status: BTreeMap<String, usize>,
    /// Rows that repeat an earlier row's question and answer.
    pub(crate) repeated: usize,
    /// Questions that are left out because rows give them different answers.
    #[serde(skip_serializing_if = "Disputed::is_empty")]
    pub disputed: Disputed,
}

/// Questions with different answers in different rows: which is right is not known, so no response to them is scored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Disputed {
    /// How many there are.
    pub questions: usize,
    /// The beginnings of the first three.
    pub examples: Vec<String>,
}

impl Disputed {
    /// How many are shown, and how many characters of each.
    const SHOWN: (usize, usize) = (3, 60);

    /// Counts the questions and keeps the beginnings of the first few.
    pub(super) fn new(questions: &[&str]) -> Self {
        let shown = |question: &&str| {
            let mut characters = question.chars();
            let text: String = characters.by_ref().take(Self::SHOWN.1).collect();
            let rest = characters.next().map_or("", |_| "…");
            text + rest
        };
        Self {
            questions: questions.len(),
            examples: questions.iter().take(Self::SHOWN.0).map(shown).collect(),
        }
    }

    fn is_empty(&self) -> bool {
        self.questions == 0
    }
}

impl SetIdentity {
    /// The identity of files with so many rows together.
    fn new(name: &str, paths: &[PathBuf], rows: usize) -> Result<Self> {
        let mut hasher = blake3::Hasher::new();
        for path in paths {
            let mut add = || io::copy(&mut File::open(path)?, &mut hasher);
            add().map_err(EvalError::unreadable(path))?;
        }
        Ok(Self {
            file: name.to_owned(),
            blake3: hasher.finalize().to_hex().to_string(),
            rows,
            as_many_rows_as: SIZES
                .into_iter()
                .find(|(size, _)| *size == rows)
                .map(|(_, name)| name),
            cleaning_status: BTreeMap::new(),
            repeated: 0,
            disputed: Disputed::default(),
        })
    }
}

/// Questions with their right answers, by the question's text.
#[derive(Debug)]
pub struct TestSet {
    pub identity: SetIdentity,
    /// The rows, without responses, in the file's order.
    pub samples: Vec<Sample>,
    places: HashMap<String, usize>,
    /// The texts of questions that rows give different answers.
    disputed: HashSet<String>,
}

/// The key that questions are found by: their text, without the space around it.
pub(super) fn question_key(question: &str) -> &str {
    question.trim()
}

/// Whether two lists of reference answers, any of which is right, are the same, in any order. `1,072` and `1072` are the same answer.
pub(super) fn same_answers<'a>(
    a: impl Iterator<Item = &'a str>,
    b: impl Iterator<Item = &'a str>,
) -> bool {
    let [a, b] = [Answers::new(a), Answers::new(b)];
    a.are_in(&b) && b.are_in(&a)
}

/// A list of reference answers, prepared for lookup.
struct Answers {
    texts: HashSet<String>,
    /// The answers that are numbers, sorted.
    numbers: Vec<f64>,
}

impl Answers {
    fn new<'a>(answers: impl Iterator<Item = &'a str>) -> Self {
        let texts: HashSet<String> = answers
            .map(|answer| Gsm8kMethod::Multi.expected(answer))
            .collect();
        let numbers = texts.iter().filter_map(|text| text.parse::<f64>().ok());
        let mut numbers: Vec<f64> = numbers.filter(|number| number.is_finite()).collect();
        numbers.sort_by(f64::total_cmp);
        Self { texts, numbers }
    }

    /// Whether each answer is among the others, as a text or as a number, as [`Gsm8kMethod::Multi`] compares.
    fn are_in(&self, others: &Self) -> bool {
        let has_number = |number: f64| {
            let from = others
                .numbers
                .partition_point(|other| *other <= number - SAME_NUMBER);
            let nearest = others.numbers.get(from);
            nearest.is_some_and(|other| (other - number).abs() < SAME_NUMBER)
        };
        self.texts
            .iter()
            .all(|text| others.texts.contains(text) || text.parse().ok().is_some_and(has_number))
    }
}

impl TestSet {
    /// Reads files, and folders of files, with a question and an answer in each row, as one set called `name`.
    /// Errors: when a file cannot be read, or a row lacks a question or an answer.
    pub fn read(name: &str, paths: &[PathBuf], columns: ColumnMap) -> Result<Self> {
        let files = sources(paths, None)?
            .into_iter()
            .map(|source| match source {
                Source::File(path) => Ok(path),
                Source::Stdin => Err(EvalError::Unusable(format!(
                    "{} is no file or folder: a test set is one, since the report tells its hash",
                    source.name()
                ))),
            });
        let files: Vec<PathBuf> = files.collect::<Result<_, _>>()?;
        let options = LoadOptions {
            columns: columns.with_needs(Needs {
                response: false,
                ..Needs::default()
            }),
            keep: Keep::parse([CLEANING_STATUS]).where_there(),
            max_line: LineLimit::DEFAULT,
            ..LoadOptions::default()
        };
        let rows = load(&files, &options)?.samples;
        let mut set = Self {
            identity: SetIdentity::new(name, &files, rows.len())?,
            samples: Vec::new(),
            places: HashMap::new(),
            disputed: HashSet::new(),
        };
        let mut disputed = BTreeSet::new();
        for sample in rows {
            let status = sample.kept.get(CLEANING_STATUS).and_then(Value::as_str);
            if let Some(status) = status {
                let counts = &mut set.identity.cleaning_status;
                *counts.entry(status.to_owned()).or_default() += 1;
                if REMOVED.contains(&status) {
                    continue;
                }
            }
            let key = question_key(&sample.question);
            if let Some(place) = set.places.get(key) {
                if same_answers(set.samples[*place].references(), sample.references()) {
                    set.identity.repeated += 1;
                } else {
                    disputed.insert(*place);
                }
                continue;
            }
            set.places.insert(key.to_owned(), set.samples.len());
            set.samples.push(sample);
        }
        if !disputed.is_empty() {
            let samples = disputed.iter().map(|place| &set.samples[*place]);
            let questions = samples.map(|sample| question_key(&sample.question));
            let questions: Vec<&str> = questions.collect();
            set.identity.disputed = Disputed::new(&questions);
            set.disputed = questions.into_iter().map(str::to_owned).collect();
            let mut place = 0..;
            set.samples
                .retain(|_| place.next().is_some_and(|place| !disputed.contains(&place)));
            let keys = set
                .samples
                .iter()
                .map(|sample| question_key(&sample.question));
            set.places = keys.map(str::to_owned).zip(0..).collect();
        }
        Ok(set)
    }

    pub(crate) fn find(&self, question: &str) -> Option<&Sample> {
        self.samples.get(*self.places.get(question_key(question))?)
    }

    /// Whether rows give the question different answers.
    pub(super) fn is_disputed(&self, question: &str) -> bool {
        self.disputed.contains(question_key(question))
    }

    /// What an audited set changed of this one.
    pub(crate) fn audit(&self, audited: &Self) -> Audit {
        let mut audit = Audit::default();
        for sample in &self.samples {
            match audited.find(&sample.question) {
                None => audit.removed += 1,
                Some(other) if same_answers(other.references(), sample.references()) => {
                    audit.unchanged += 1;
                }
                Some(_) => audit.relabelled += 1,
            }
        }
        audit.added = audited.samples.len() - audit.relabelled - audit.unchanged;
        audit
    }
}

/// What an audited set (GSM8K-Platinum) changed of the original one, found by question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Audit {
    /// Questions that the audited set does not have.
    pub removed: usize,
    /// Questions with another answer.
    pub relabelled: usize,
    /// Questions with the same answer.
    pub(crate) unchanged: usize,
    /// Questions of the audited set that the original one does not have.
    pub added: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_the_same_in_any_order() {
        let same = |a: &[&str], b: &[&str]| same_answers(a.iter().copied(), b.iter().copied());
        assert!(same(&["1,072", "12"], &["12.0", "#### 1072"]));
        assert!(same(&["4", "4.0000000001", "x"], &["x", "4"]));
        assert!(same(&["3", "3"], &["3"]));
        assert!(!same(&["1", "2"], &["1"]));
        assert!(!same(&["1"], &["2", "1"]));
        assert!(!same(&["1", "x"], &["1", "y"]));
        assert!(!same(&["inf"], &["1e999"]));
        assert!(same(&["nan"], &["nan"]));
        // Many answers are compared in bounded time.
        let many: Vec<String> = (0..50_000).map(|at| format!("{at}.25")).collect();
        let other: Vec<String> = (0..50_000).rev().map(|at| format!("{at}.250")).collect();
        let texts = |all: &[String]| all.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
        assert_ne!(texts(&many), texts(&other));
        assert!(same_answers(
            many.iter().map(String::as_str),
            other.iter().map(String::as_str)
        ));
    }
}
