//! Reads files of verdicts, the outputs of `juror judge`: JSON lines, CSV or Parquet.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::DatasetError;
use super::input::{LineLimit, Next, RowReader, sources};
use super::json_text::without_nan;
use super::output::{CellKind, KINDS};
use crate::verdict::{Confidence, Status, Usage};

/// How many lines are passed on at a time.
const AT_ONCE: usize = 8192;

/// The keys of a verdict's line that other commands use; in a table, whose columns are not nested, also under their joined names.
#[derive(Debug, Deserialize)]
pub struct VerdictLine<'l> {
    #[serde(borrow)]
    pub id: Cow<'l, str>,
    /// The id of the row, if the row has a list of responses.
    #[serde(borrow, default)]
    pub group: Option<Cow<'l, str>>,
    /// Whether the samples of a question are a group: they have an advantage, though it may be null.
    #[serde(default, rename = "advantage", deserialize_with = "is_there")]
    pub has_advantage: bool,
    #[serde(default)]
    pub trial: u32,
    pub status: Status,
    process: Option<bool>,
    outcome: Option<bool>,
    overall: Option<bool>,
    pub rule_outcome: Option<bool>,
    #[serde(borrow, default)]
    pub outcome_source: Option<Cow<'l, str>>,
    pub reward: Option<f64>,
    /// Whether it is to be asked again.
    #[serde(default)]
    pub open: bool,
    #[serde(default)]
    confidence: Confidence<f64>,
    confidence_process: Option<f64>,
    confidence_outcome: Option<f64>,
    confidence_score: Option<f64>,
    first_error: Option<f64>,
    step_rewards: Option<IgnoredAny>,
    #[serde(default)]
    usage: Usage,
    usage_completion_tokens: Option<u32>,
    usage_known_tokens: Option<u32>,
    /// The keys of the row that were kept.
    #[serde(borrow)]
    pub input: Option<&'l RawValue>,
}

impl<'l> VerdictLine<'l> {
    pub fn parse(row: &'l [u8]) -> Result<Self, String> {
        serde_json::from_slice(row).map_err(|error| {
            let why = of_another_kind(row).unwrap_or_else(|| error.to_string());
            format!("no verdict of `juror judge`: {why}")
        })
    }

    /// A field of the verdict; `None` unless the status is `ok`: an unsure judge gives no verdict, though under `--min-confidence` its line has the fields.
    fn said(&self, field: Option<bool>) -> Option<bool> {
        field.filter(|_| self.status == Status::Ok)
    }

    /// Whether the derivation is right. `None` unless the status is `ok`, as for the next two.
    pub fn process(&self) -> Option<bool> {
        self.said(self.process)
    }

    /// Whether the final answer is right.
    pub fn outcome(&self) -> Option<bool> {
        self.said(self.outcome)
    }

    /// Whether both are right.
    pub fn overall(&self) -> Option<bool> {
        self.said(self.overall)
    }

    pub fn confidence(&self) -> Confidence<f64> {
        Confidence {
            process: self.confidence.process.or(self.confidence_process),
            outcome: self.confidence.outcome.or(self.confidence_outcome),
            score: self.confidence.score.or(self.confidence_score),
            ..self.confidence
        }
    }

    /// The first step that the judge finds wrong, from 0, and -1 where it finds none; `None` where it was not asked for one, or gave no verdict.
    pub fn named_step(&self) -> Option<i64> {
        let is_asked = self.step_rewards.is_some() && self.status == Status::Ok;
        is_asked.then(|| self.first_error.map_or(-1, |step| step as i64))
    }

    pub fn generated(&self) -> u32 {
        let known = self.usage_known_tokens;
        let written = self.usage_completion_tokens;
        written
            .unwrap_or(self.usage.completion_tokens as u32)
            .saturating_sub(known.unwrap_or(self.usage.known_tokens as u32))
    }
}

/// True of any value, null too.
fn is_there<'l, D: Deserializer<'l>>(value: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(value).map(|_| true)
}

/// What a line is that has no status, if it says: a row to be judged, or what another command wrote.
fn of_another_kind(row: &[u8]) -> Option<String> {
    const SHOWN_KEYS: usize = 8;
    let row: Map<String, Value> = serde_json::from_slice(row).ok()?;
    let has = |key: &str| row.contains_key(key);
    if has("status") {
        return None;
    }
    let keys: Vec<&str> = row.keys().take(SHOWN_KEYS).map(String::as_str).collect();
    Some(if has("by_status") || has("judges") {
        "a summary or a report of others; give the OUT of `juror judge -o OUT`".to_owned()
    } else if has("gold") && has("equal") {
        "what `juror verify` wrote; verdicts are made by `juror judge ROWS -o VERDICTS.jsonl`"
            .to_owned()
    } else {
        format!(
            "a row to be judged (keys: {}); verdicts are made by `juror judge ROWS -o VERDICTS.jsonl`, and rows are given beside them, with \
             --labels or --rows",
            keys.join(", ")
        )
    })
}

/// The column of a table for a key that was kept of the row.
const KEPT: &str = "input";

/// The row of a table as the verdict line it was written from. The cells of CSV are all strings, so numbers and booleans are parsed from them; empty cells
/// are left out; columns of kept keys (`input.KEY`, or `input` with all) go under `input`. `None` if it is not an object.
fn as_line(row: &[u8]) -> Option<Vec<u8>> {
    let row: Map<String, Value> = serde_json::from_slice(row).ok()?;
    let mut line = Map::new();
    let mut kept = Map::new();
    for (key, value) in row {
        if value.is_null() || value.as_str() == Some("") {
            continue;
        }
        if key == KEPT {
            let all = value.as_str();
            let all = all.and_then(|text| serde_json::from_str(text).ok());
            line.insert(key, all.filter(Value::is_object).unwrap_or(value));
            continue;
        }
        let of_row = key.strip_prefix(KEPT);
        if let Some(name) = of_row.and_then(|rest| rest.strip_prefix('.')) {
            kept.insert(name.to_owned(), value);
            continue;
        }
        let read = value.as_str().and_then(|text| scalar(&key, text));
        line.insert(key, read.unwrap_or(value));
    }
    if !kept.is_empty() && !line.contains_key(KEPT) {
        line.insert(KEPT.to_owned(), Value::Object(kept));
    }
    serde_json::to_vec(&line).ok()
}

/// The number or boolean in a cell of text, if its column has such. Other programs write `True` and `0.0` for `true` and `0`.
fn scalar(key: &str, text: &str) -> Option<Value> {
    let text = text.trim();
    match KINDS.get(key)? {
        CellKind::Boolean => return Some(text.to_ascii_lowercase().parse::<bool>().ok()?.into()),
        CellKind::Integer | CellKind::Number => {}
        _ => return None,
    }
    let whole = text.strip_suffix(".0").unwrap_or(text);
    let number: Value = serde_json::from_str(whole).ok()?;
    number.is_number().then_some(number)
}

/// Passes each row of files that is not blank to `take`: the file's name, its reader, which knows the row's place, and its text or why it cannot be read.
pub fn each_row<E: From<DatasetError>>(
    inputs: &[PathBuf],
    mut take: impl FnMut(&str, &dyn RowReader, Result<Vec<u8>, String>) -> Result<(), E>,
) -> Result<(), E> {
    for source in sources(inputs, None)? {
        let name = source.name();
        let mut reader = source.open(LineLimit::DEFAULT, None, &[])?;
        loop {
            let mut row = Vec::new();
            let read = match reader.next(&mut row)? {
                Next::End => break,
                Next::Row if row.iter().all(u8::is_ascii_whitespace) => continue,
                Next::Row => Ok(match without_nan(&row) {
                    Cow::Owned(plain) => plain,
                    Cow::Borrowed(_) => row,
                }),
                Next::Bad(why) => Err(why),
            };
            take(&name, &*reader, read)?;
        }
    }
    Ok(())
}

/// Passes the lines of a file of verdicts to `take`, some thousands at a time, each with its place.
/// Errors: when the file cannot be read; the result of `wrong`, given the place of something that is not a row and why; or the error
/// of `take`.
pub fn each_batch<E: From<DatasetError>>(
    path: &Path,
    wrong: impl Fn(usize, &str) -> E,
    mut take: impl FnMut(&[(usize, Vec<u8>)]) -> Result<(), E>,
) -> Result<(), E> {
    let mut pass = |mut rows: Vec<(usize, Vec<u8>)>, are_of_table: bool| {
        let lines = rows.par_iter_mut().filter(|_| are_of_table);
        lines.for_each(|(_, row)| *row = as_line(row).unwrap_or_else(|| std::mem::take(row)));
        take(&rows)
    };
    let (mut rows, mut are_of_table) = (Vec::new(), false);
    each_row(&[path.to_owned()], |_, reader, row| {
        if rows.len() == AT_ONCE || reader.is_table() != are_of_table {
            pass(std::mem::take(&mut rows), are_of_table)?;
        }
        are_of_table = reader.is_table();
        let row = row.map_err(|why| wrong(reader.place(), &why))?;
        rows.push((reader.place(), row));
        Ok::<(), E>(())
    })?;
    pass(rows, are_of_table)
}

/// The trials of the samples that occurred so far.
#[derive(Debug)]
pub struct TrialsSeen {
    /// For each sample, one bit for each of its first trials.
    bits: Vec<u64>,
    more: HashMap<u32, HashSet<u32>>,
}

impl TrialsSeen {
    /// No trials yet, of so many samples.
    pub fn new(samples: usize) -> Self {
        Self {
            bits: vec![0; samples],
            more: HashMap::new(),
        }
    }

    pub fn push(&mut self) {
        self.bits.push(0);
    }

    /// Adds a trial; false if it occurred before.
    pub fn add(&mut self, sample: u32, trial: u32) -> bool {
        let bits = self.bits.get_mut(sample as usize);
        let Some((bits, bit)) = bits.zip(1_u64.checked_shl(trial)) else {
            return self.more.entry(sample).or_default().insert(trial);
        };
        let is_new = *bits & bit == 0;
        *bits |= bit;
        is_new
    }

    pub fn has_any(&self, sample: usize) -> bool {
        let first = self.bits.get(sample).is_some_and(|bits| *bits != 0);
        first || self.more.contains_key(&(sample as u32))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Data frames write whole numbers as fractions where some rows have none.
    #[test]
    fn a_step_may_be_a_fraction() {
        let line = json!({"id": "a", "trial": 0, "status": "ok", "step_rewards": [1, 0], "first_error": 1.0});
        let line = line.to_string();
        let line = VerdictLine::parse(line.as_bytes()).unwrap();
        assert_eq!(line.named_step(), Some(1));
    }

    #[test]
    fn a_late_trial_is_one_too() {
        let mut seen = TrialsSeen::new(2);
        assert!(seen.add(1, 64) && !seen.add(1, 64) && seen.add(1, 3));
        let mut late = TrialsSeen::new(2);
        late.add(1, 64);
        assert!(late.has_any(1) && !late.has_any(0));
    }

    #[test]
    fn a_row_of_texts_is_the_line_it_was_written_from() {
        let row = json!({"id": "7", "index": "3", "group": "", "trial": "0.0", "status": "ok", "outcome": "True", "overall": "false",
            "process": "", "reward": "0.5", "confidence_process": "1.0", "usage_completion_tokens": "12", "usage_known_tokens": "2",
            "reason": "12", "input.gold": "1", "input.note": ""});
        let line = as_line(row.to_string().as_bytes()).unwrap();
        let verdict = VerdictLine::parse(&line).unwrap();
        assert_eq!((&*verdict.id, verdict.trial), ("7", 0));
        assert_eq!(
            [verdict.process(), verdict.outcome(), verdict.overall()],
            [None, Some(true), Some(false)]
        );
        assert_eq!(
            (
                verdict.reward,
                verdict.confidence().process,
                verdict.generated()
            ),
            (Some(0.5), Some(1.0), 10)
        );
        assert_eq!(verdict.input.unwrap().get(), r#"{"gold":"1"}"#);
        // Text stays text, and a number that cannot be parsed is reported.
        let line: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(line["reason"], "12");
        let wrong = as_line(br#"{"id":"7","status":"ok","trial":"first"}"#).unwrap();
        assert!(VerdictLine::parse(&wrong).unwrap_err().contains("first"));
        let all = as_line(br#"{"id":"7","status":"ok","input":"{\"a\":1}"}"#).unwrap();
        let all = VerdictLine::parse(&all).unwrap();
        assert_eq!(all.input.unwrap().get(), r#"{"a":1}"#);
    }
}
