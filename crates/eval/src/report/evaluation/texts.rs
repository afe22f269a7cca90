//! The texts of the samples that a report shows, read from the files a second time; no other text is kept.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::EvalError;
use crate::eval::{Samples, Scored};
use crate::report::record::Text;
use juror_data::{ColumnMap, LineLimit, LoadOptions, Needs, Sample, each, each_row, sample_of_row};

#[derive(Debug, Clone, Default)]
pub(super) struct SampleTexts {
    pub(super) question: Option<Text>,
    pub(super) reference: Option<Text>,
    pub(super) response: Option<Text>,
}

impl SampleTexts {
    fn new(sample: &Sample) -> Self {
        let text = |text: &str| (!text.is_empty()).then(|| Text::cut(text));
        Self {
            question: text(&sample.question),
            reference: text(&sample.reference_answer),
            response: text(&sample.student_answer),
        }
    }
}

/// The parts of a verdict's line that are not scored.
#[derive(Debug, Clone, Default)]
pub(super) struct VerdictTexts {
    pub(super) place: String,
    pub(super) reason: Option<Text>,
    pub(super) raw: Option<Text>,
    pub(super) error: Option<String>,
    pub(super) reward: Option<f64>,
    /// The texts among its kept keys.
    pub(super) sample: Option<SampleTexts>,
}

/// The texts of the samples with these numbers, from the rows with their labels.
pub(super) fn of_samples(
    inputs: &[PathBuf],
    columns: &ColumnMap,
    samples: &Samples,
    wanted: &HashSet<u32>,
) -> Result<HashMap<u32, SampleTexts>, EvalError> {
    let by_id: HashMap<&str, u32> = wanted
        .iter()
        .map(|sample| (samples.id(*sample), *sample))
        .collect();
    let mut texts = HashMap::with_capacity(by_id.len());
    let options = LoadOptions {
        columns: columns.clone().with_needs(Needs::nothing()),
        max_line: LineLimit::DEFAULT,
        ..LoadOptions::default()
    };
    each(inputs, &options, &mut |sample| {
        if let Some(number) = by_id.get(sample.id.as_str()) {
            texts.insert(*number, SampleTexts::new(sample));
        }
    })?;
    Ok(texts)
}

/// The unscored parts of some verdicts' lines, by sample and trial; with `columns` also the texts in their kept keys.
pub(super) fn of_verdicts(
    path: &Path,
    samples: &Samples,
    wanted: &[&Scored],
    columns: Option<&ColumnMap>,
) -> Result<HashMap<(u32, u32), VerdictTexts>, EvalError> {
    let lines: HashSet<u32> = wanted.iter().map(|one| one.line).collect();
    let by_id: HashMap<(&str, u32), u32> = wanted
        .iter()
        .map(|one| ((samples.id(one.sample), one.trial), one.sample))
        .collect();
    let mut texts = HashMap::with_capacity(wanted.len());
    each_row(&[path.to_owned()], |file, line, row| {
        let wanted = row.ok().filter(|_| lines.contains(&(line as u32)));
        let verdict = wanted.and_then(|row| serde_json::from_slice(row).ok());
        let verdict: Map<String, Value> = verdict.unwrap_or_default();
        let id = verdict.get("id").and_then(Value::as_str);
        let trial = verdict.get("trial").and_then(Value::as_u64).unwrap_or(0) as u32;
        if let Some(sample) = id.and_then(|id| by_id.get(&(id, trial))) {
            let place = format!("{file}:{line}");
            texts.insert((*sample, trial), of_verdict(&verdict, place, columns));
        }
        Ok::<(), EvalError>(())
    })?;
    if texts.len() < by_id.len() {
        return Err(EvalError::Failed(format!(
            "{} does not hold the same verdicts when it is read again: a report needs files that can be read twice and stay as they are",
            path.display()
        )));
    }
    Ok(texts)
}

fn of_verdict(
    verdict: &Map<String, Value>,
    place: String,
    columns: Option<&ColumnMap>,
) -> VerdictTexts {
    let text = |key: &str| {
        let text = verdict.get(key).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    };
    let raw = verdict
        .get("raw")
        .and_then(|raw| raw.get("completion"))
        .and_then(Value::as_str)
        .or_else(|| text("raw.completion"));
    let kept = columns
        .zip(verdict.get("input"))
        .and_then(|(columns, input)| {
            let columns = columns.clone().with_needs(Needs::nothing());
            sample_of_row(&input.to_string(), &columns).ok()
        });
    VerdictTexts {
        place,
        reason: text("reason").map(Text::cut),
        raw: raw.map(Text::cut),
        error: text("error").map(str::to_owned),
        reward: verdict.get("reward").and_then(Value::as_f64),
        sample: kept.as_ref().map(SampleTexts::new),
    }
}
