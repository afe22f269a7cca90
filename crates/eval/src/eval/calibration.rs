//! How well a judge's probabilities are calibrated.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::measures::Task;
use super::scored::{Samples, Scored};
use super::statistics::{Interval, ratio, wilson_of_share};

/// Bins of equal width in a reliability table.
const BINS: usize = 10;

/// Verdicts whose probabilities lie in one bin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Bin {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// How many verdicts.
    pub count: usize,
    /// The mean of their probabilities; null of none.
    pub probability: Option<f64>,
    /// The share whose label is true.
    pub observed: Option<f64>,
}

/// A threshold for a probability, and what it gives.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Threshold {
    /// True from this probability on.
    pub threshold: f64,
    /// The measure with it.
    pub value: f64,
}

/// How a judge's probabilities of one task meet the labels.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Reliability {
    /// Verdicts with a probability and a label.
    pub(crate) count: usize,
    /// The mean squared difference of probability and label (Brier 1950).
    pub brier: f64,
    /// The mean distance of the bins' probabilities and observed shares, weighted by their counts: the expected calibration error
    /// (Naeini et al. 2015) in ten bins of equal width.
    pub calibration_error: f64,
    /// The chance that a true one has the higher probability of a true and a false one (area under the ROC curve); null where all labels are alike.
    pub auc: Option<f64>,
    /// Its 95 % interval: Wilson's, of as many rows as a share has the same variance of (`DeLong` et al. 1988; over samples, whose
    /// trials are not independent, by Obuchowski 1997). Null where a label has fewer than two samples.
    pub auc_interval: Option<Interval>,
    /// Where the accuracy is highest.
    pub best_accuracy: Threshold,
    /// Where F1 is highest; null without a true label.
    pub best_f1: Option<Threshold>,
    /// The bins.
    pub bins: Vec<Bin>,
}

/// A probability and its label, with the sample's index.
type Placed = (usize, (f64, bool));

/// The judge's probabilities of a task and the labels, with the samples' indices.
pub fn probabilities(
    task: Task,
    verdicts: &[Scored],
    samples: &Samples,
) -> impl Iterator<Item = (usize, (f64, bool))> {
    verdicts.iter().filter_map(move |scored| {
        let label = task.label(samples.labelled.get(scored.sample as usize)?)?;
        Some((scored.sample as usize, (task.probability(scored)?, label)))
    })
}

/// Of each bin how many there are, the sum of their probabilities, and how many labels are true.
fn binned(seen: &[(f64, bool)]) -> [(usize, f64, usize); BINS] {
    let mut bins = [(0, 0.0, 0); BINS];
    for &(p, label) in seen {
        let bin = &mut bins[((p * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + 1, bin.1 + p, bin.2 + usize::from(label));
    }
    bins
}

/// The expected calibration error: the mean distance between probability and share of true labels, over ten bins.
pub fn calibration_error(seen: &[(f64, bool)]) -> f64 {
    let bins = binned(seen);
    let apart = bins.map(|(_, sum, yes)| (sum - yes as f64).abs());
    apart.iter().sum::<f64>() / seen.len().max(1) as f64
}

impl Reliability {
    /// The reliability of the verdicts' probabilities of a task; `None` if there are none.
    pub(crate) fn new(task: Task, verdicts: &[Scored], samples: &Samples) -> Option<Self> {
        let mut placed: Vec<Placed> = probabilities(task, verdicts, samples).collect();
        if placed.is_empty() {
            return None;
        }
        placed.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
        let seen: Vec<(f64, bool)> = placed.iter().map(|(_, one)| *one).collect();
        let auc = area(&placed);
        let count = seen.len();
        let as_number = |label: bool| f64::from(u8::from(label));
        let squared = |&(p, label): &(f64, bool)| (p - as_number(label)).powi(2);
        let bins = binned(&seen)
            .into_iter()
            .enumerate()
            .map(|(at, (count, sum, yes))| Bin {
                from: at as f64 / BINS as f64,
                to: (at + 1) as f64 / BINS as f64,
                count,
                probability: (count > 0).then(|| sum / count as f64),
                observed: ratio(yes, count),
            });
        let (best_accuracy, best_f1) = thresholds(&seen);
        Some(Self {
            count,
            brier: seen.iter().map(squared).sum::<f64>() / count as f64,
            calibration_error: calibration_error(&seen),
            auc: auc.map(|(auc, _)| auc),
            auc_interval: auc.and_then(|(_, interval)| interval),
            best_accuracy,
            best_f1,
            bins: bins.collect(),
        })
    }
}

/// The area under the ROC curve of sorted probabilities, by ranks (Mann and Whitney 1947), where ties count half; and its interval.
fn area(sorted: &[Placed]) -> Option<(f64, Option<Interval>)> {
    let all_true = sorted.iter().filter(|(_, (_, label))| *label).count();
    let all = [sorted.len() - all_true, all_true];
    if all.contains(&0) {
        return None;
    }
    // For each sample and label: the sum over its trials of the share of the other label's verdicts on the right side, and the number of trials.
    let mut samples: BTreeMap<(bool, usize), (f64, f64)> = BTreeMap::new();
    let mut below = [0_usize; 2];
    for same in sorted.chunk_by(|(_, a), (_, b)| a.0.total_cmp(&b.0).is_eq()) {
        let yes = same.iter().filter(|(_, (_, label))| *label).count();
        let equal = [same.len() - yes, yes];
        for &(place, (_, label)) in same {
            let other = usize::from(!label);
            let above = all[other] - below[other] - equal[other];
            let apart = if label { below[other] } else { above };
            let share = (apart as f64 + equal[other] as f64 / 2.0) / all[other] as f64;
            let sample = samples.entry((label, place)).or_default();
            *sample = (sample.0 + share, sample.1 + 1.0);
        }
        below = [below[0] + equal[0], below[1] + equal[1]];
    }
    let of_true = samples.iter().filter(|((label, _), _)| *label);
    let auc = of_true.map(|(_, (shares, _))| shares).sum::<f64>() / all_true as f64;
    Some((auc, area_interval(&samples, all, auc)))
}

/// The interval of an area, by the sums of shares and the numbers of trials of each label's samples.
fn area_interval(
    samples: &BTreeMap<(bool, usize), (f64, f64)>,
    all: [usize; 2],
    auc: f64,
) -> Option<Interval> {
    let (mut variance, mut fewest) = (0.0, usize::MAX);
    for label in [false, true] {
        let own = || samples.iter().filter(|((of, _), _)| *of == label);
        let count = own().count();
        if count < 2 {
            return None;
        }
        let squares: f64 = own()
            .map(|(_, (shares, trials))| (shares - trials * auc).powi(2))
            .sum();
        let (samples, rows) = (count as f64, all[usize::from(label)] as f64);
        variance += samples / (samples - 1.0) * squares / (rows * rows);
        fewest = fewest.min(count);
    }
    // Perfectly separated labels have no variance, but may still be few.
    let rows = if variance > 0.0 {
        auc * (1.0 - auc) / variance
    } else {
        fewest as f64
    };
    Some(wilson_of_share(auc, rows))
}

/// The thresholds with the highest accuracy and the highest F1 of sorted probabilities; for ties the lowest.
fn thresholds(sorted: &[(f64, bool)]) -> (Threshold, Option<Threshold>) {
    let all_true = sorted.iter().filter(|(_, label)| *label).count();
    // From threshold 0 on all are predicted true; each step predicts those with one probability false.
    let (mut found, mut wrongly) = (all_true, sorted.len() - all_true);
    let measures = |threshold: f64, found: usize, wrongly: usize| {
        let right = found + (sorted.len() - all_true - wrongly);
        let f1 = 2.0 * found as f64 / (found + wrongly + all_true).max(1) as f64;
        [right as f64 / sorted.len() as f64, f1].map(|value| Threshold { threshold, value })
    };
    let mut best = measures(0.0, found, wrongly);
    let runs: Vec<&[(f64, bool)]> = sorted
        .chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq())
        .collect();
    for (at, same) in runs.iter().enumerate() {
        let yes = same.iter().filter(|(_, label)| *label).count();
        found -= yes;
        wrongly -= same.len() - yes;
        // Half way to the next probability; above the last one nothing is predicted true, and above 1 there is no threshold.
        let threshold = match runs.get(at + 1) {
            Some(next) => f64::midpoint(same[0].0, next[0].0),
            None if same[0].0 < 1.0 => 1.0,
            None => break,
        };
        for (best, new) in best.iter_mut().zip(measures(threshold, found, wrongly)) {
            if new.value > best.value {
                *best = new;
            }
        }
    }
    let [accuracy, f1] = best;
    (accuracy, Some(f1).filter(|_| all_true > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(seen: &[Placed]) -> Option<Interval> {
        let mut sorted = seen.to_vec();
        sorted.sort_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
        area(&sorted)?.1
    }

    #[test]
    fn no_threshold_is_told_that_lets_through_what_it_should_not() {
        let seen: Vec<(f64, bool)> = (0..10).map(|at| (1.0, at < 3)).collect();
        let (accuracy, f1) = thresholds(&seen);
        let pair = |best: &Threshold| [best.threshold, best.value].map(|it| format!("{it:.3}"));
        assert_eq!(pair(&accuracy), ["0.000", "0.300"]);
        assert!(f1.unwrap().threshold.abs() < 1e-12);
        let below: Vec<(f64, bool)> = seen.iter().map(|(_, label)| (0.9, *label)).collect();
        assert_eq!(pair(&thresholds(&below).0), ["1.000", "0.700"]);
    }

    #[test]
    fn trials_of_a_sample_make_an_area_no_surer() {
        // Overlapping probabilities: 40 samples of each label.
        let once: Vec<Placed> = (0..80)
            .map(|at| (at, (((at * 37) % 80 + at) as f64 / 160.0, at % 80 >= 40)))
            .collect();
        let thrice: Vec<Placed> = once.iter().flat_map(|one| [*one; 3]).collect();
        let apart: Vec<Placed> = (0..3)
            .flat_map(|trial| once.iter().map(move |(at, one)| (at + 80 * trial, *one)))
            .collect();
        let [low, high] = interval(&once).unwrap();
        let [same_low, same_high] = interval(&thrice).unwrap();
        assert!((low - same_low).abs() < 1e-9 && (high - same_high).abs() < 1e-9);
        let [more_low, more_high] = interval(&apart).unwrap();
        assert!(more_high - more_low < 0.7 * (high - low));
    }

    #[test]
    fn few_labels_without_a_mistake_are_not_sure() {
        let row = |at: usize| (at, (at as f64 / 10.0, at >= 5));
        let few: Vec<Placed> = (0..10).map(row).collect();
        let [low, high] = interval(&few).unwrap();
        assert!(low < 0.6 && high > 0.999, "{low} {high}");
        assert_eq!(interval(&few[..6]), None, "one true label");
        assert_eq!(interval(&few[..5]), None, "no true label");
    }
}
