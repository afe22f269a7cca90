//! What verdicts are worth: a judge's verdicts against labels (`juror eval`).
//!
//! ```text
//! rows with labels ─▶ Samples ─┐
//!                              ├─▶ Scored ─▶ Measures, Reliability ─▶ Evaluation ─▶ table, JSON
//! verdicts.jsonl  ─────────────┘      └────▶ Comparison of two judges
//! ```
//!
//! Verdicts meet labels by the sample's id. A verdict that could not be read is wrong wherever accuracy is asked for, and its rate is
//! told; the accuracy among those that could be read stands beside it. Of a label and its verdict 88 bytes and its id are kept, so that a million
//! verdicts are no matter; texts stay in their files.

mod calibration;
mod choice;
mod compare;
mod correlation;
mod curves;
mod labels;
mod measures;
mod misses;
mod preferences;
mod prime;
mod scored;
mod statistics;

use std::collections::BTreeMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

pub use calibration::{Bin, Reliability, Threshold, calibration_error, probabilities};
pub use choice::{Choice, Choices, CostUnit, shared_samples};
pub use compare::{Comparison, Flip};
pub use correlation::{LinearFit, ScoreTable};
pub use curves::{at_bound, fit_isotonic, fit_temperature, negative_log_likelihood};
pub use labels::{Label, LabelColumns, LabelField};
pub use measures::{Estimate, FirstErrors, Measures, Scores, Share, Task, Tokens};
pub use misses::{Miss, is_sure};
pub use preferences::{Preference, Preferences, TiesScore};
pub use prime::{PrimeRow, check_prime, prime_rows};
pub(crate) use scored::{IDS_TOLD, labelled_line, no_label, scored};
pub use scored::{Labelled, Names, Samples, Scored, Verdicts, both_sides};
pub(crate) use statistics::wilson_of_share;
pub use statistics::{Confusion, Interval, McNemar, RESAMPLES, wilson};

use statistics::{Counts, bootstrap};

/// What always the same answer gives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Baseline {
    /// The accuracy.
    pub accuracy: f64,
    /// F1.
    pub f1: Option<f64>,
}

/// A judge that its labels do not show to be better than always the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub(crate) struct NoBetter {
    /// The answer: the more frequent label.
    pub(crate) than_always: bool,
    /// The accuracy of always that answer, which is in the interval of the judge's, or above it.
    pub(crate) accuracy: f64,
    /// Whether it is above the whole interval: then the judge is worse.
    pub(crate) worse: bool,
}

impl NoBetter {
    fn new(scores: &Scores) -> Option<Self> {
        let (all, positive) = (scores.confusion.all(), scores.confusion.positive());
        if scores.one_label().is_some() {
            return None;
        }
        let accuracy = statistics::ratio(positive.max(all - positive), all)?;
        let [low, high] = scores.accuracy.interval;
        (low <= accuracy).then_some(Self {
            than_always: 2 * positive > all,
            accuracy,
            worse: high < accuracy,
        })
    }
}

/// Means over subjects, each counting the same.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct OverSubjects {
    /// Of the accuracies.
    pub accuracy: Estimate,
    /// Of F1, where every subject has one.
    pub f1: Option<Estimate>,
}

/// Samples whose responses have so many characters.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OfLength {
    /// At least.
    pub from: u32,
    /// At most.
    pub to: u32,
    /// How good the judge is on them.
    #[serde(flatten)]
    pub measures: Measures,
}

/// How good a judge is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Evaluation {
    /// The verdicts' file.
    pub(crate) verdicts: String,
    /// Trials of a sample, at most.
    pub(crate) trials: u32,
    /// Verdicts on samples without a label: they are not scored.
    pub without_label: usize,
    /// Labelled samples without a verdict: they are not scored.
    pub without_verdict: usize,
    /// Where these follow all that have one, as after `juror judge --limit`: how many have one.
    pub(crate) first_judged: Option<usize>,
    /// Labels that say right overall with a wrong outcome: they contradict themselves.
    pub contradictory_labels: usize,
    /// Over all verdicts with a label.
    pub all: Measures,
    /// By subject.
    pub by_subject: BTreeMap<String, Measures>,
    /// Means over subjects.
    pub over_subjects: BTreeMap<Task, OverSubjects>,
    /// By the type of the answer.
    pub by_answer_type: BTreeMap<String, Measures>,
    /// By the response's length, in four parts of as many samples.
    pub by_response_length: Vec<OfLength>,
    /// An answer that is always true.
    pub always_true: BTreeMap<Task, Baseline>,
    /// An answer that is always false.
    pub always_false: BTreeMap<Task, Baseline>,
    /// Tasks in which the judge is not shown to be better than always the same answer.
    pub(crate) no_better: BTreeMap<Task, NoBetter>,
    /// How the judge's probabilities meet the labels.
    pub reliability: BTreeMap<Task, Reliability>,
    /// Where responses are labelled as better or worse than others: how often the judge rates a better one highest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Preferences>,
    /// Billions of activated parameters times tokens generated for a verdict, where the parameters are known.
    pub cost: Option<f64>,
    /// The billions of activated parameters.
    #[serde(skip)]
    pub(crate) activated: Option<f64>,
}

/// The most subjects, or types of answers, by which figures are split: a key with more values is not used for that.
pub const MOST_PARTS: usize = 200;

/// The number of parts by the response's length.
const LENGTHS: usize = 4;

impl Evaluation {
    /// What the figures leave out, a sentence each without its full stop.
    pub fn left_out(&self) -> impl Iterator<Item = String> {
        let judged = match self.first_judged {
            Some(judged) => format!("; the figures are of the first {judged}"),
            None => "; of a run that was stopped the figures say little of these, since it judges the longest samples first".to_owned(),
        };
        let (verdicts, samples, none) = (self.without_label, self.without_verdict, String::new());
        [
            (verdicts, "verdicts on samples without a label", none),
            (samples, "labelled samples without a verdict", judged),
        ]
        .into_iter()
        .filter(|(count, ..)| *count > 0)
        .map(|(count, what, more)| format!("left out: {what} ({count}){more}"))
    }

    /// The tasks whose labels are all alike: the label, and how many there are.
    pub(crate) fn one_label(&self) -> impl Iterator<Item = (Task, bool, usize)> {
        let of =
            |(task, scores): (&Task, &Scores)| Some((*task, scores.one_label()?, scores.labels));
        self.all.tasks.iter().filter_map(of)
    }

    pub fn new(
        path: &Path,
        verdicts: &Verdicts,
        samples: &Samples,
        activated: Option<f64>,
    ) -> Self {
        let scored = verdicts.scored.as_slice();
        let all = Measures::new(scored, samples, RESAMPLES, |_| true);
        let by = |names: &[String], of: fn(&Labelled) -> Option<u32>| {
            let measures = |(number, name): (usize, &String)| {
                let is_of = |labelled: &Labelled| of(labelled) == Some(number as u32);
                (
                    name.clone(),
                    Measures::new(scored, samples, RESAMPLES, is_of),
                )
            };
            let few = Some(names).filter(|names| names.len() <= MOST_PARTS);
            let all = few.into_iter().flatten().enumerate().map(measures);
            all.filter(|(_, measures)| measures.verdicts > 0)
                .collect::<BTreeMap<_, _>>()
        };
        let constant = |answer: bool| {
            let baseline = |(task, scores): (&Task, &Scores)| {
                let mut confusion = Confusion::default();
                for (own, labels) in confusion.counts.iter_mut().zip(scores.confusion.counts) {
                    own[usize::from(answer)] = labels.iter().sum();
                }
                let (accuracy, f1) = (confusion.accuracy()?, confusion.f1());
                Some((*task, Baseline { accuracy, f1 }))
            };
            all.tasks.iter().filter_map(baseline).collect()
        };
        let contradictory = |labelled: &&Labelled| {
            (labelled.outcome, labelled.overall) == (Some(false), Some(true))
        };
        Self {
            verdicts: path.display().to_string(),
            trials: verdicts.trials,
            without_label: verdicts.without_label,
            without_verdict: verdicts.without_verdict,
            first_judged: verdicts.first_judged,
            contradictory_labels: samples.labelled.iter().filter(contradictory).count(),
            by_subject: by(samples.subjects.all(), |labelled| labelled.subject),
            over_subjects: (all.tasks.keys())
                .filter_map(|task| Some((*task, over_subjects(*task, scored, samples)?)))
                .collect(),
            by_answer_type: by(samples.answer_types.all(), |labelled| labelled.answer_type),
            by_response_length: by_length(scored, samples),
            always_true: constant(true),
            always_false: constant(false),
            no_better: (all.tasks.iter())
                .filter_map(|(task, scores)| Some((*task, NoBetter::new(scores)?)))
                .collect(),
            reliability: Task::ALL
                .into_iter()
                .filter_map(|task| Some((task, Reliability::new(task, scored, samples)?)))
                .collect(),
            preferences: Preferences::new(&verdicts.scores, samples),
            cost: activated
                .zip(all.tokens)
                .map(|(billions, tokens)| billions * tokens.mean),
            activated,
            all,
        }
    }
}

/// The means over subjects of a task; `None` if fewer than two subjects have labels.
fn over_subjects(task: Task, scored: &[Scored], samples: &Samples) -> Option<OverSubjects> {
    if samples.subjects.all().len() > MOST_PARTS {
        return None;
    }
    let mut units: BTreeMap<(u32, Counts), usize> = BTreeMap::new();
    for trials in scored.chunk_by(|a, b| a.sample == b.sample) {
        let labelled = samples.labelled.get(trials[0].sample as usize)?;
        if let (Some(subject), Some(label)) = (labelled.subject, task.label(labelled)) {
            let mut confusion = Confusion::default();
            for one in trials {
                confusion.add(label, task.prediction(one));
            }
            *units.entry((subject, confusion.counts)).or_default() += 1;
        }
    }
    let units: Vec<((u32, Counts), usize)> = units.into_iter().collect();
    let means = |units: &mut dyn Iterator<Item = (&(u32, Counts), usize)>| {
        let mut subjects: BTreeMap<u32, Confusion> = BTreeMap::new();
        for ((subject, counts), times) in units {
            subjects.entry(*subject).or_default().add_all(counts, times);
        }
        let mean = |of: fn(&Confusion) -> Option<f64>| {
            let values: Option<Vec<f64>> = subjects.values().map(of).collect();
            let values = values.filter(|values| values.len() > 1)?;
            Some(values.iter().sum::<f64>() / values.len() as f64)
        };
        [mean(Confusion::accuracy), mean(Confusion::f1)]
    };
    let [accuracy, f1] = means(&mut units.iter().map(|(unit, count)| (unit, *count)));
    let subjects: Vec<&[((u32, Counts), usize)]> =
        units.chunk_by(|((a, _), _), ((b, _), _)| a == b).collect();
    let [accuracy_interval, f1_interval] = bootstrap(&subjects, RESAMPLES, means);
    Some(OverSubjects {
        accuracy: Estimate::new(accuracy, accuracy_interval)?,
        f1: Estimate::new(f1, f1_interval),
    })
}

/// The measures of four parts of the samples, by their responses' lengths; empty if these are not known.
fn by_length(scored: &[Scored], samples: &Samples) -> Vec<OfLength> {
    let judged = scored.chunk_by(|a, b| a.sample == b.sample);
    let labelled = judged.filter_map(|trials| samples.labelled.get(trials[0].sample as usize));
    let mut lengths: Vec<u32> = labelled.map(|one| one.response_length).collect();
    lengths.sort_unstable();
    if lengths.last().is_none_or(|longest| *longest == 0) {
        return Vec::new();
    }
    let mut ends: Vec<u32> = (1..=LENGTHS)
        .map(|part| lengths[(part * lengths.len()).div_ceil(LENGTHS) - 1])
        .collect();
    ends.dedup();
    let mut from = lengths[0];
    ends.into_iter()
        .map(|to| {
            let is_of = |labelled: &Labelled| (from..=to).contains(&labelled.response_length);
            let measures = Measures::new(scored, samples, RESAMPLES, is_of);
            let part = OfLength { from, to, measures };
            from = to + 1;
            part
        })
        .collect()
}
