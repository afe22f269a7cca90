//! A file of questions with their right answers: GSM8K's rows, or rows of the same shape.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Gsm8kError;
use crate::dataset::{ColumnMap, Keep, LineLimit, LoadOptions, Needs, Sample, load};
use crate::rules::Gsm8kMethod;

/// Rows of the published files, by their number.
const SIZES: [(usize, &str); 3] = [
    (1319, "GSM8K's test set"),
    (7473, "GSM8K's training set"),
    (1209, "GSM8K-Platinum"),
];

/// The key of GSM8K-Platinum that says what its audit found.
const CLEANING_STATUS: &str = "cleaning_status";

/// Values of it for questions that were removed, where they are still there.
const REMOVED: [&str; 2] = ["rejected", "removed"];

/// What a test set is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SetIdentity {
    /// The file.
    pub file: String,
    /// Its rows.
    pub rows: usize,
    /// The BLAKE3 hash of the file, 64 hexadecimal digits.
    pub blake3: String,
    /// The published file with as many rows, if there is one. It says nothing of what is in them.
    pub as_many_rows_as: Option<&'static str>,
    /// Rows by their `cleaning_status`, where they have one.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub cleaning_status: BTreeMap<String, usize>,
    /// Rows that repeat an earlier row's question and answer.
    pub repeated: usize,
}

impl SetIdentity {
    /// Of a file with so many rows.
    ///
    /// # Errors
    /// Where the file cannot be read.
    pub(super) fn of(path: &Path, rows: usize) -> Result<Self, Gsm8kError> {
        let hash = || {
            let mut hasher = blake3::Hasher::new();
            io::copy(&mut File::open(path)?, &mut hasher)?;
            Ok(hasher.finalize().to_hex().to_string())
        };
        let file = path.display().to_string();
        Ok(Self {
            blake3: hash().map_err(|source| Gsm8kError::Read {
                file: file.clone(),
                source,
            })?,
            file,
            rows,
            as_many_rows_as: SIZES
                .into_iter()
                .find(|(size, _)| *size == rows)
                .map(|(_, name)| name),
            cleaning_status: BTreeMap::new(),
            repeated: 0,
        })
    }
}

/// Questions with their right answers, by the question's text.
#[derive(Debug)]
pub struct TestSet {
    /// What it is.
    pub identity: SetIdentity,
    /// The rows, without responses, in the file's order.
    pub samples: Vec<Sample>,
    places: HashMap<String, usize>,
}

/// What questions are found by: their text, without the space around it.
pub(super) fn question_key(question: &str) -> &str {
    question.trim()
}

/// Are these reference answers the same, each of them any of which is right? `1,072` and `1072` are.
pub(super) fn same_answers<'a>(
    a: impl Iterator<Item = &'a str>,
    b: impl Iterator<Item = &'a str>,
) -> bool {
    let method = Gsm8kMethod::Multi;
    let [a, b] = [
        a.map(|answer| method.expected(answer)).collect::<Vec<_>>(),
        b.map(|answer| method.expected(answer)).collect::<Vec<_>>(),
    ];
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| method.equal(a, b))
}

impl TestSet {
    /// Reads a file of rows with a question and an answer each.
    ///
    /// # Errors
    /// Where the file cannot be read, a row lacks a question or an answer, or a question has two answers.
    pub fn read(path: &Path, columns: ColumnMap) -> Result<Self, Gsm8kError> {
        if !path.is_file() && path.exists() || path.as_os_str() == "-" {
            return Err(Gsm8kError::NoFile {
                file: path.display().to_string(),
            });
        }
        let options = LoadOptions {
            columns: columns.with_needs(Needs {
                response: false,
                ..Needs::default()
            }),
            keep: Keep::parse([CLEANING_STATUS]).where_there(),
            max_line: LineLimit::DEFAULT,
            ..LoadOptions::default()
        };
        let rows = load(&[PathBuf::from(path)], &options)?.samples;
        let mut set = Self {
            identity: SetIdentity::of(path, rows.len())?,
            samples: Vec::new(),
            places: HashMap::new(),
        };
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
                if !same_answers(set.samples[*place].references(), sample.references()) {
                    return Err(Gsm8kError::TwoAnswers {
                        file: set.identity.file,
                        row: sample.index + 1,
                        earlier: set.samples[*place].index + 1,
                    });
                }
                set.identity.repeated += 1;
                continue;
            }
            set.places.insert(key.to_owned(), set.samples.len());
            set.samples.push(sample);
        }
        Ok(set)
    }

    /// The row with this question.
    pub fn find(&self, question: &str) -> Option<&Sample> {
        self.samples.get(*self.places.get(question_key(question))?)
    }

    /// What an audited set changed of this one.
    pub fn audit(&self, audited: &Self) -> Audit {
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
    pub unchanged: usize,
    /// Questions of the audited set that the original one does not have.
    pub added: usize,
}
