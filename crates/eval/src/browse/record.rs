//! A verdict with its sample, read from their files.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::follow::Browser;
use super::index::{Index, VerdictPlace};
use super::source::Source;
use crate::eval::{Labelled, Miss, Scored};
use crate::{EvalError, Result};
use juror_data::{
    ColumnMap, Needs, Rows, Sample, Samples as _, sample_of_row, together, without_nan,
};

/// The texts of a sample and of the verdict on it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Texts {
    pub(crate) id: String,
    pub(crate) question: String,
    pub(crate) reference: String,
    pub(crate) response: String,
    pub(crate) reason: String,
}

/// A verdict with its sample.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) scored: Scored,
    pub(crate) labelled: Labelled,
    pub(crate) subject: Option<String>,
    /// How it differs from the label or the rules.
    pub(crate) misses: Vec<Miss>,
    pub(crate) trials_disagree: bool,
    pub(crate) texts: Texts,
    pub(crate) verdict: Map<String, Value>,
}

/// What is needed to read a verdict and its sample from their files.
#[derive(Debug, Clone, Copy)]
pub(super) struct Needed {
    pub(super) at: u32,
    place: VerdictPlace,
    sample: u32,
}

/// The files that verdicts and samples are read from.
pub(super) struct Files {
    source: Arc<Source>,
    rows: Option<Arc<Rows>>,
}

impl Files {
    pub(super) fn from_index(index: &Index) -> Self {
        Self {
            source: Arc::clone(&index.source),
            rows: index.rows.clone(),
        }
    }

    /// The lines of these verdicts, in order.
    pub(super) fn lines(&self, needed: &[Needed]) -> Result<Vec<Vec<u8>>> {
        let mut lines = Vec::with_capacity(needed.len());
        let mut rest = needed;
        while let Some(first) = rest.first() {
            let start = first.place.offset;
            let places = rest.iter().map(|one| (one.place.offset, one.place.length));
            let (count, end) = together(places);
            let bytes = self.source.read_exact(start, (end - start) as usize);
            let bytes = bytes.map_err(EvalError::unreadable(&self.source.path))?;
            for one in &rest[..count] {
                let from = (one.place.offset - start) as usize;
                lines.push(bytes[from..from + one.place.length as usize].to_vec());
            }
            rest = &rest[count..];
        }
        Ok(lines)
    }

    /// The samples of verdicts whose rows' bytes satisfy `may_be`; `None` for a verdict whose sample is in no row.
    pub(super) fn samples(
        &self,
        needed: &[Needed],
        may_be: &(dyn Fn(&[u8]) -> bool + Sync),
    ) -> Result<Vec<Option<Sample>>> {
        let mut samples = vec![None; needed.len()];
        let Some(rows) = &self.rows else {
            return Ok(samples);
        };
        let known = needed.iter().enumerate();
        let known = known.filter(|(_, one)| self.rows_with(one).is_some());
        let (slots, positions): (Vec<usize>, Vec<usize>) =
            known.map(|(slot, one)| (slot, one.sample as usize)).unzip();
        let read = rows.fetch_where(&positions, may_be)?;
        for (slot, sample) in slots.into_iter().zip(read) {
            samples[slot] = sample;
        }
        Ok(samples)
    }

    /// The rows, if a verdict's sample is in them.
    pub(super) fn rows_with(&self, needed: &Needed) -> Option<&Rows> {
        let rows = self.rows.as_deref();
        rows.filter(|rows| (needed.sample as usize) < rows.count())
    }

    /// The length of a verdict's line and its sample's texts, in bytes.
    pub(super) fn bytes(&self, needed: &Needed) -> usize {
        let of_row = self.rows_with(needed);
        let of_row = of_row.map_or(0, |rows| rows.outline(needed.sample as usize).bytes);
        needed.place.length as usize + of_row
    }
}

impl Index {
    pub(super) fn needed(&self, at: u32) -> Option<Needed> {
        Some(Needed {
            at,
            place: *self.places.get(at as usize)?,
            sample: self.known_as(self.scored.get(at as usize)?.sample),
        })
    }

    pub(super) fn record(
        &self,
        at: u32,
        verdict: Map<String, Value>,
        texts: Texts,
    ) -> Option<Record> {
        let scored = *self.scored.get(at as usize)?;
        let labelled = self.labelled(&scored);
        Some(Record {
            labelled,
            subject: labelled
                .subject
                .map(|number| self.samples.subjects.name(number).to_owned()),
            misses: Miss::all_of(&scored, &labelled),
            trials_disagree: self.trials_disagree(scored.sample),
            texts,
            verdict,
            scored,
        })
    }
}

/// The keys and values of a verdict's line, without a journal's checksum; empty if it is not a verdict.
pub(super) fn verdict(line: &[u8]) -> Map<String, Value> {
    let mut verdict: Map<String, Value> =
        serde_json::from_slice(&without_nan(line)).unwrap_or_default();
    verdict.shift_remove("check");
    verdict
}

/// The sample in the keys that a verdict keeps of its row.
pub(crate) fn kept_sample(verdict: &Map<String, Value>, columns: &ColumnMap) -> Option<Sample> {
    let kept = verdict.get("input").filter(|kept| kept.is_object())?;
    let columns = columns.clone().with_needs(Needs::nothing());
    sample_of_row(&kept.to_string(), &columns).ok()
}

/// The texts of a verdict and its sample; without a sample, those in the verdict's kept keys.
pub(super) fn texts(
    verdict: &Map<String, Value>,
    sample: Option<Sample>,
    columns: &ColumnMap,
) -> Texts {
    let text = |key: &str| verdict.get(key).and_then(Value::as_str);
    // Rows of labels alone have none.
    let has_texts =
        |sample: &Sample| !(sample.question.is_empty() && sample.student_answer.is_empty());
    let sample = sample.filter(has_texts);
    let sample = sample.or_else(|| kept_sample(verdict, columns));
    let sample = sample.unwrap_or_default();
    Texts {
        id: text("id").unwrap_or_default().into(),
        question: sample.question,
        reference: sample.reference_answer,
        response: sample.student_answer,
        reason: text("reason").unwrap_or_default().into(),
    }
}

impl Browser {
    /// The records at these indices; `None` if the file was read from its beginning again since `generation`.
    pub(crate) fn records(&self, ats: &[u32], generation: u64) -> Result<Option<Vec<Record>>> {
        let (files, needed) = {
            let index = self.index();
            if index.generation != generation {
                return Ok(None);
            }
            let needed: Vec<Needed> = ats.iter().filter_map(|at| index.needed(*at)).collect();
            (Files::from_index(&index), needed)
        };
        let lines = files.lines(&needed)?;
        let samples = files.samples(&needed, &|_| true)?;
        let index = self.index();
        if index.generation != generation {
            return Ok(None);
        }
        let read = needed.iter().zip(lines).zip(samples);
        let records = read.filter_map(|((needed, line), sample)| {
            let verdict = verdict(&line);
            let texts = texts(&verdict, sample, &self.columns);
            index.record(needed.at, verdict, texts)
        });
        Ok(Some(records.collect()))
    }
}
