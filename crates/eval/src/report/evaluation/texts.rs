//! The texts of the samples that a report shows, read from the files a second time; no other text is kept.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::browse::kept_sample;
use crate::eval::{Samples, Scored};
use crate::report::record::Text;
use crate::{EvalError, Result};
use juror_data::{ColumnMap, LineLimit, LoadOptions, Needs, Sample, each, each_batch};

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
) -> Result<HashMap<u32, SampleTexts>> {
    let by_id = wanted.iter().map(|sample| (samples.id(*sample), *sample));
    let by_id: HashMap<&str, u32> = by_id.collect();
    let mut texts = HashMap::with_capacity(by_id.len());
    let options = LoadOptions {
        columns: columns.clone().with_needs(Needs::nothing()),
        max_line: LineLimit::DEFAULT,
        ..LoadOptions::default()
    };
    // Labels may have the ids of rows; of a row's several responses it is unknown which one was judged.
    let mut of_rows: HashMap<u32, Vec<SampleTexts>> = HashMap::new();
    each(inputs, &options, &mut |sample, _| {
        let number = |id: &String| by_id.get(id.as_str()).copied();
        if let Some(number) = number(&sample.id) {
            texts.insert(number, SampleTexts::new(sample));
        } else if let Some(number) = sample.group.as_ref().and_then(number) {
            let own = of_rows.entry(number).or_default();
            own.push(SampleTexts::new(sample));
        }
    })?;
    for (number, mut one) in of_rows.into_iter().filter(|(_, all)| all.len() == 1) {
        texts.entry(number).or_insert_with(|| one.remove(0));
    }
    Ok(texts)
}

/// The unscored parts of some verdicts' lines, by sample and trial; with `columns` also the texts in their kept keys.
pub(super) fn of_verdicts(
    path: &Path,
    wanted: &[&Scored],
    columns: Option<&ColumnMap>,
) -> Result<HashMap<(u32, u32), VerdictTexts>> {
    let by_line: HashMap<u32, &Scored> = wanted.iter().map(|one| (one.line, *one)).collect();
    let mut texts = HashMap::with_capacity(wanted.len());
    let wrong = |place: usize, why: &str| EvalError::row(path.display(), place, why);
    each_batch(path, wrong, |rows| {
        for (place, row) in rows {
            let Some(scored) = by_line.get(&(*place as u32)) else {
                continue;
            };
            if let Ok(verdict) = serde_json::from_slice::<Map<String, Value>>(row) {
                let place = format!("{}:{place}", path.display());
                let read = of_verdict(&verdict, place, columns);
                texts.insert((scored.sample, scored.trial), read);
            }
        }
        Ok(())
    })?;
    if texts.len() < by_line.len() {
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
    let kept = columns.and_then(|columns| kept_sample(verdict, columns));
    VerdictTexts {
        place,
        reason: text("reason").map(Text::cut),
        raw: raw.map(Text::cut),
        error: text("error").map(str::to_owned),
        reward: verdict.get("reward").and_then(Value::as_f64),
        sample: kept.as_ref().map(SampleTexts::new),
    }
}
