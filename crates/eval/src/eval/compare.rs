//! Two judges on the same samples: differences with intervals, `McNemar`'s test.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use super::measures::{Estimate, Task};
use super::scored::{Samples, Scored};
use super::statistics::{Confusion, McNemar, RESAMPLES, bootstrap};
use juror_judge::judge::consensus::Votes;

/// How a second judge differs from a first on one task.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Verdicts of both on the same trial of the same labelled sample; the other figures are of all trials that each has of it.
    pub(crate) verdicts: usize,
    /// Whether both are right on equally many samples; of several trials of a sample what most say counts.
    pub mcnemar: McNemar,
    /// The second's accuracy less the first's, with its paired interval.
    pub accuracy: Estimate,
    /// The second's F1 less the first's, with its paired interval.
    pub f1: Option<Estimate>,
    /// Of [`Self::verdicts`] those on which both say the same, nothing included.
    pub(crate) agree: usize,
}

/// A sample on which exactly one of two judges is right, and what most of each one's trials say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flip {
    pub sample: u32,
    pub label: bool,
    pub predictions: [Option<bool>; 2],
}

/// The confusions of two judges over the trials of one sample.
type Unit = [[[usize; 3]; 2]; 2];

impl Comparison {
    /// Compares verdicts that are sorted by sample and trial; also returns the samples on which exactly one of the two is right.
    pub fn new(
        task: Task,
        first: &[Scored],
        second: &[Scored],
        samples: &Samples,
    ) -> Option<(Self, Vec<Flip>)> {
        if !task.is_judged(first) || !task.is_judged(second) {
            return None;
        }
        let others = second.chunk_by(|a, b| a.sample == b.sample);
        let others: HashMap<u32, &[Scored]> = others.map(|of| (of[0].sample, of)).collect();
        let mut units: BTreeMap<Unit, usize> = BTreeMap::new();
        let mut flips = Vec::new();
        let (mut verdicts, mut agree, mut only) = (0, 0, [0, 0]);
        for trials in first.chunk_by(|a, b| a.sample == b.sample) {
            let labelled = samples.labelled.get(trials[0].sample as usize);
            let Some(label) = labelled.and_then(|labelled| task.label(labelled)) else {
                continue;
            };
            let Some(&of_second) = others.get(&trials[0].sample) else {
                continue;
            };
            let mut unit = [Confusion::default(); 2];
            let mut votes = [Votes::default(); 2];
            for (at, trials) in [trials, of_second].into_iter().enumerate() {
                for prediction in trials.iter().map(|scored| task.prediction(scored)) {
                    unit[at].add(label, prediction);
                    votes[at].add(prediction);
                }
            }
            for one in trials {
                if let Some(other) = of_second.iter().find(|other| other.trial == one.trial) {
                    verdicts += 1;
                    agree += usize::from(task.prediction(one) == task.prediction(other));
                }
            }
            // The trials of one sample are not independent: together they are one answer, or none where they are tied.
            let predictions = votes.map(Votes::majority);
            let right = predictions.map(|prediction| prediction == Some(label));
            if right[0] != right[1] && !votes.iter().any(|votes| votes.is_tied()) {
                only[usize::from(right[1])] += 1;
                flips.push(Flip {
                    sample: trials[0].sample,
                    label,
                    predictions,
                });
            }
            *(units.entry(unit.map(|confusion| confusion.counts))).or_default() += 1;
        }
        if units.is_empty() {
            return None;
        }
        let units: Vec<(Unit, usize)> = units.into_iter().collect();
        let difference = |units: &mut dyn Iterator<Item = (&Unit, usize)>| {
            let mut sums = [Confusion::default(); 2];
            for (unit, times) in units {
                sums.iter_mut()
                    .zip(unit)
                    .for_each(|(sum, counts)| sum.add_all(counts, times));
            }
            let [first, second] = &sums;
            let apart = |of: fn(&Confusion) -> Option<f64>| Some(of(second)? - of(first)?);
            [apart(Confusion::accuracy), apart(Confusion::f1)]
        };
        let [accuracy, f1] = difference(&mut units.iter().map(|(unit, count)| (unit, *count)));
        let [accuracy_interval, f1_interval] = bootstrap(&[&units], RESAMPLES, difference);
        let comparison = Self {
            verdicts,
            mcnemar: McNemar::new(only[0], only[1]),
            accuracy: Estimate::new(accuracy, accuracy_interval)?,
            f1: Estimate::new(f1, f1_interval),
            agree,
        };
        Some((comparison, flips))
    }
}
