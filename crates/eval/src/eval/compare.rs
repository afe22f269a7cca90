//! Two judges on the same samples.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use super::measures::{Estimate, Task};
use super::scored::{Samples, Scored};
use super::statistics::{Confusion, McNemar, RESAMPLES, bootstrap};

/// How a second judge differs from a first on one task.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Comparison {
    /// Verdicts of both on the same trial of the same labelled sample.
    pub(crate) verdicts: usize,
    /// Whether both are right equally often.
    pub mcnemar: McNemar,
    /// The second's accuracy less the first's, with its paired interval.
    pub accuracy: Estimate,
    /// The second's F1 less the first's, with its paired interval.
    pub f1: Option<Estimate>,
    /// Verdicts on which both say the same, nothing included.
    pub(crate) agree: usize,
}

/// A verdict on which exactly one of two judges is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flip {
    pub sample: u32,
    pub trial: u32,
    pub label: bool,
    pub predictions: [Option<bool>; 2],
}

/// The confusions of two judges over the trials of one sample.
type Unit = [[[usize; 3]; 2]; 2];

impl Comparison {
    /// Compares verdicts that are sorted by sample and trial; also returns those on which exactly one of the two is right.
    pub fn new(
        task: Task,
        first: &[Scored],
        second: &[Scored],
        samples: &Samples,
    ) -> Option<(Self, Vec<Flip>)> {
        if !task.is_judged(first) || !task.is_judged(second) {
            return None;
        }
        let mut others: HashMap<(u32, u32), &Scored> = HashMap::with_capacity(second.len());
        others.extend(
            second
                .iter()
                .map(|scored| ((scored.sample, scored.trial), scored)),
        );
        let mut units: BTreeMap<Unit, usize> = BTreeMap::new();
        let mut flips = Vec::new();
        let (mut verdicts, mut agree, mut only) = (0, 0, [0, 0]);
        for trials in first.chunk_by(|a, b| a.sample == b.sample) {
            let labelled = samples.labelled.get(trials[0].sample as usize);
            let Some(label) = labelled.and_then(|labelled| task.label(labelled)) else {
                continue;
            };
            let mut unit = [Confusion::default(); 2];
            for one in trials {
                let Some(other) = others.get(&(one.sample, one.trial)) else {
                    continue;
                };
                let predictions = [one, other].map(|scored| task.prediction(scored));
                for (confusion, prediction) in unit.iter_mut().zip(predictions) {
                    confusion.add(label, prediction);
                }
                verdicts += 1;
                agree += usize::from(predictions[0] == predictions[1]);
                let right = predictions.map(|prediction| prediction == Some(label));
                if right[0] != right[1] {
                    only[usize::from(right[1])] += 1;
                    flips.push(Flip {
                        sample: one.sample,
                        trial: one.trial,
                        label,
                        predictions,
                    });
                }
            }
            let unit = unit.map(|confusion| confusion.counts);
            if unit != Unit::default() {
                *units.entry(unit).or_default() += 1;
            }
        }
        if verdicts == 0 {
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
            let [first, second] = sums;
            let accuracy = second
                .accuracy()
                .zip(first.accuracy())
                .map(|(second, first)| second - first);
            let f1 = second
                .f1()
                .zip(first.f1())
                .map(|(second, first)| second - first);
            [accuracy, f1]
        };
        let [accuracy, f1] = difference(&mut units.iter().map(|(unit, count)| (unit, *count)));
        let [accuracy_interval, f1_interval] = bootstrap(&units, RESAMPLES, difference);
        let comparison = Self {
            verdicts,
            mcnemar: McNemar::new(only[0], only[1]),
            accuracy: Estimate {
                value: accuracy?,
                interval: accuracy_interval,
            },
            f1: f1.map(|value| Estimate {
                value,
                interval: f1_interval,
            }),
            agree,
        };
        Some((comparison, flips))
    }
}
