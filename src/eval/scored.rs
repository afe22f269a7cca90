//! Verdicts beside their labels.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::EvalError;
use super::labels::{Label, LabelColumns};
use crate::dataset::{LineLimit, LoadOptions, Needs, Next, each, id_hash, sources};
use crate::verdict::{Confidence, Status, Usage};

/// Verdicts that are parsed at a time.
const AT_ONCE: usize = 8192;

/// Names, each with a number.
#[derive(Debug, Clone, Default)]
pub struct Names {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    fn number(&mut self, name: String) -> u32 {
        if let Some(number) = self.numbers.get(&name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    /// The name of a number.
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    /// The number of a name.
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// All names, in the order of their numbers.
    pub fn all(&self) -> &[String] {
        &self.names
    }
}

/// A sample and its label.
#[derive(Debug, Clone, Copy)]
pub struct Labelled {
    /// Is the final answer right?
    pub outcome: Option<bool>,
    /// Are derivation and final answer right?
    pub overall: Option<bool>,
    /// Is the derivation right?
    pub process: Option<bool>,
    /// The number of its subject.
    pub subject: Option<u32>,
    /// The number of its answer's type.
    pub answer_type: Option<u32>,
    /// Characters of the response; 0 where it was not read.
    pub response_length: u32,
}

impl Labelled {
    /// A sample without a label.
    pub(crate) const NONE: Self = Self {
        outcome: None,
        overall: None,
        process: None,
        subject: None,
        answer_type: None,
        response_length: 0,
    };
}

/// Labelled samples, by the hash of their ids.
#[derive(Debug, Default)]
pub struct Samples {
    places: HashMap<u64, u32>,
    ids: Vec<Box<str>>,
    /// The samples, in the order of the data.
    pub labelled: Vec<Labelled>,
    /// Subjects by number.
    pub subjects: Names,
    /// Types of answers by number.
    pub answer_types: Names,
}

impl Samples {
    /// Adds a sample; returns its place.
    pub(crate) fn add(&mut self, id: &str, label: Label, response: &str) -> u32 {
        let place = self.labelled.len() as u32;
        self.places.insert(id_hash(id), place);
        self.ids.push(id.into());
        self.labelled.push(Labelled {
            outcome: label.outcome,
            overall: label.overall,
            process: label.process,
            subject: label.subject.map(|name| self.subjects.number(name)),
            answer_type: label.answer_type.map(|name| self.answer_types.number(name)),
            response_length: response.chars().count() as u32,
        });
        place
    }

    /// The place of the sample with this id.
    pub(crate) fn place(&self, id: &str) -> Option<u32> {
        self.places.get(&id_hash(id)).copied()
    }

    /// Gives a sample a label, in the place of the one that it has.
    pub(crate) fn set_label(&mut self, place: u32, label: Label) {
        let (subject, answer_type) = (
            label.subject.map(|name| self.subjects.number(name)),
            label.answer_type.map(|name| self.answer_types.number(name)),
        );
        if let Some(labelled) = self.labelled.get_mut(place as usize) {
            labelled.outcome = label.outcome;
            labelled.overall = label.overall;
            labelled.process = label.process;
            labelled.subject = subject.or(labelled.subject);
            labelled.answer_type = answer_type.or(labelled.answer_type);
        }
    }

    /// The id of a sample.
    pub fn id(&self, place: u32) -> &str {
        self.ids.get(place as usize).map_or("", |id| id)
    }

    /// Reads labels from data.
    ///
    /// # Errors
    /// Where a row or its label cannot be read, or no row has a label.
    pub fn of_data(
        inputs: &[PathBuf],
        options: LoadOptions,
        columns: &LabelColumns,
    ) -> Result<Self, EvalError> {
        let mut samples = Self::default();
        let mut wrong = None;
        let options = LoadOptions {
            keep: columns.keep(),
            columns: options.columns.with_needs(Needs::nothing()),
            ..options
        };
        each(
            inputs,
            &options,
            &mut |sample| match columns.read(&sample.kept) {
                Ok(label) => {
                    samples.add(&sample.id, label, &sample.student_answer);
                }
                Err(why) => {
                    wrong.get_or_insert_with(|| format!("sample {:?}: {why}", sample.id));
                }
            },
        )?;
        if let Some(why) = wrong {
            return Err(EvalError::Label { why });
        }
        Ok(samples)
    }

    /// How many of them have a label that a verdict can be compared with.
    pub fn count(&self) -> usize {
        let has_any = |one: &&Labelled| {
            one.outcome.is_some() || one.overall.is_some() || one.process.is_some()
        };
        self.labelled.iter().filter(has_any).count()
    }
}

/// What a verdict says, as far as it is scored.
#[derive(Debug, Clone, Copy)]
pub struct Scored {
    /// The sample's place in [`Samples::labelled`].
    pub sample: u32,
    /// The trial's number.
    pub trial: u32,
    /// The verdict's line, from 1.
    pub line: u32,
    /// The state the trial ended in.
    pub status: Status,
    /// Is the derivation right? None unless the status is `ok`, as the next two.
    pub process: Option<bool>,
    /// Is the final answer right?
    pub outcome: Option<bool>,
    /// Both.
    pub overall: Option<bool>,
    /// What the rules say of the final answer.
    pub rules: Option<bool>,
    /// The judge's probability of a right derivation.
    pub process_probability: Option<f32>,
    /// The judge's probability of a right final answer.
    pub outcome_probability: Option<f32>,
    /// Tokens that the judge generated.
    pub generated: u32,
}

/// A file of verdicts, scored.
#[derive(Debug)]
pub struct Verdicts {
    /// The verdicts whose samples have labels, in the file's order.
    pub scored: Vec<Scored>,
    /// Verdicts whose samples are not among the labelled ones.
    pub without_label: usize,
    /// Labelled samples without a verdict.
    pub without_verdict: usize,
    /// Trials of a sample, at most.
    pub trials: u32,
}

impl Verdicts {
    /// Reads the verdicts of `path`, and the labels in them (`juror judge --keep`) where `samples` is empty and `in_verdicts` is true.
    ///
    /// # Errors
    /// Where the file cannot be read, holds something else, has a verdict twice, or none of its samples has a label.
    pub fn read(
        path: &Path,
        samples: &mut Samples,
        in_verdicts: bool,
        columns: &LabelColumns,
    ) -> Result<Self, EvalError> {
        let mut verdicts = Self {
            scored: Vec::new(),
            without_label: 0,
            without_verdict: 0,
            trials: 0,
        };
        // Trials of each sample, as bits; those from 64 on are looked up.
        let mut seen: Vec<u64> = vec![0; samples.labelled.len()];
        let mut more: HashSet<(u32, u32)> = HashSet::new();
        let name = path.display().to_string();
        for source in sources(&[path.to_owned()], None)? {
            let mut reader = source.open(LineLimit::DEFAULT, None, &[])?;
            let mut rows: Vec<(usize, Vec<u8>)> = Vec::new();
            let mut ends = false;
            while !ends {
                rows.clear();
                while rows.len() < AT_ONCE && !ends {
                    let mut row = Vec::new();
                    match reader.next(&mut row)? {
                        Next::End => ends = true,
                        Next::Row if row.iter().all(u8::is_ascii_whitespace) => {}
                        Next::Row => {
                            // Lines of JSON that can be found again are no table's rows.
                            let may_be_table = reader.offset().is_none();
                            let row = may_be_table.then(|| typed(&row)).flatten().unwrap_or(row);
                            rows.push((reader.place(), row));
                        }
                        Next::Bad(why) => {
                            return Err(EvalError::row(&name, reader.place(), &why));
                        }
                    }
                }
                let read: Vec<Result<(Line, Option<Label>), String>> = rows
                    .par_iter()
                    .map(|(_, row)| Line::parse(row, in_verdicts.then_some(columns)))
                    .collect();
                for ((place, _), read) in rows.iter().zip(read) {
                    let (line, label) = read.map_err(|why| EvalError::row(&name, *place, &why))?;
                    let sample = match (samples.place(&line.id), label) {
                        (Some(sample), _) => sample,
                        (None, Some(label)) => {
                            seen.push(0);
                            samples.add(&line.id, label, "")
                        }
                        (None, None) => {
                            verdicts.without_label += 1;
                            continue;
                        }
                    };
                    let is_new =
                        match (seen.get_mut(sample as usize), 1_u64.checked_shl(line.trial)) {
                            (Some(seen), Some(bit)) => {
                                let is_new = *seen & bit == 0;
                                *seen |= bit;
                                is_new
                            }
                            _ => more.insert((sample, line.trial)),
                        };
                    if !is_new {
                        let why = format!("trial {} of {:?} is there twice", line.trial, line.id);
                        return Err(EvalError::row(&name, *place, &why));
                    }
                    verdicts.trials = verdicts.trials.max(line.trial + 1);
                    verdicts.scored.push(line.scored(sample, *place as u32));
                }
            }
        }
        // Trials of a sample stand together, in whatever order the file has them.
        verdicts
            .scored
            .sort_by_key(|scored| (scored.sample, scored.trial));
        verdicts.without_verdict = seen.iter().filter(|seen| **seen == 0).count();
        if verdicts.scored.is_empty() && verdicts.without_label == 0 {
            return Err(EvalError::NoVerdicts { file: name });
        }
        Ok(verdicts)
    }
}

/// Keys of a verdict that hold numbers, in a table; also those that begin with `confidence_` and `usage_`.
const NUMBERS: [&str; 6] = [
    "index",
    "trial",
    "first_error",
    "score",
    "reward",
    "advantage",
];

/// Keys of a verdict that hold truth values.
const TRUTHS: [&str; 9] = [
    "process",
    "outcome",
    "perfect",
    "overall",
    "rule_outcome",
    "inconsistent",
    "skipped",
    "audited",
    "reused",
];

/// A verdict's row of a CSV file, all of whose cells are strings, with its numbers and truth values as such, and without the empty
/// ones; `None` of a row that is none of these.
pub(crate) fn typed(row: &[u8]) -> Option<Vec<u8>> {
    // Every table of verdicts has its places, and no other verdict has them as a string.
    let start = b"\"index\":\"";
    if !row.windows(start.len()).any(|part| part == start) {
        return None;
    }
    let mut row: Map<String, Value> = serde_json::from_slice(row).ok()?;
    row.retain(|_, value| value.as_str() != Some(""));
    for (key, value) in &mut row {
        let is_number = NUMBERS.contains(&key.as_str())
            || key.starts_with("confidence_")
            || key.starts_with("usage_");
        let is_scalar = |read: &Value| {
            (is_number && read.is_number()) || (TRUTHS.contains(&key.as_str()) && read.is_boolean())
        };
        let read = value
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok());
        if let Some(read) = read.filter(is_scalar) {
            *value = read;
        }
    }
    serde_json::to_vec(&row).ok()
}

/// The keys of a verdict's line that are scored; of a table, whose columns have no keys within, also under their joined names.
#[derive(Debug, Deserialize)]
pub(crate) struct Line<'l> {
    /// The sample's id.
    #[serde(borrow)]
    pub(crate) id: Cow<'l, str>,
    #[serde(default)]
    trial: u32,
    status: Status,
    process: Option<bool>,
    outcome: Option<bool>,
    overall: Option<bool>,
    /// What the verdict is worth.
    pub(crate) reward: Option<f64>,
    rule_outcome: Option<bool>,
    #[serde(default)]
    confidence: Confidence,
    confidence_process: Option<f32>,
    confidence_outcome: Option<f32>,
    #[serde(default)]
    usage: Usage,
    usage_completion_tokens: Option<u32>,
    usage_known_tokens: Option<u32>,
    #[serde(borrow)]
    input: Option<&'l serde_json::value::RawValue>,
}

impl<'l> Line<'l> {
    /// Reads a line, and with `labels` the label among its kept keys.
    ///
    /// # Errors
    /// What is wrong with it, for the user.
    pub(crate) fn parse(
        row: &'l [u8],
        labels: Option<&LabelColumns>,
    ) -> Result<(Self, Option<Label>), String> {
        let line: Self = serde_json::from_slice(row)
            .map_err(|error| format!("no verdict of `juror judge`: {error}"))?;
        let Some(columns) = labels else {
            return Ok((line, None));
        };
        let kept: Map<String, Value> = match line.input {
            Some(input) => {
                serde_json::from_str(input.get()).map_err(|error| format!("`input`: {error}"))?
            }
            None => Map::new(),
        };
        let label = columns.read(&kept)?;
        Ok((line, Some(label)))
    }

    /// What is scored of it.
    pub(crate) fn scored(&self, sample: u32, line: u32) -> Scored {
        // An unsure judge is asked for no verdict, and one under `--min-confidence` has its fields all the same.
        let said = |field: Option<bool>| field.filter(|_| self.status == Status::Ok);
        let known = self
            .usage_known_tokens
            .unwrap_or(self.usage.known_tokens as u32);
        let written = self
            .usage_completion_tokens
            .unwrap_or(self.usage.completion_tokens as u32);
        Scored {
            sample,
            trial: self.trial,
            line,
            status: self.status,
            process: said(self.process),
            outcome: said(self.outcome),
            overall: said(self.overall),
            rules: self.rule_outcome,
            process_probability: self.confidence.process.or(self.confidence_process),
            outcome_probability: self.confidence.outcome.or(self.confidence_outcome),
            generated: written.saturating_sub(known),
        }
    }
}
