//! How good a judge is, over some of its verdicts.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use super::scored::{Labelled, Samples, Scored};
use super::statistics::{
    Confusion, Counts, Interval, bootstrap, quantile, ratio, wilson, wilson_of_share,
};
use juror_data::verdict::Status;

named! {
    /// What of a verdict is compared with the label.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Task {
        /// Derivation and final answer: what a process-aware reward rests on.
        Overall = "overall",
        /// The final answer.
        Outcome = "outcome",
        /// The derivation.
        Process = "process",
    }
}

impl Task {
    pub(crate) fn label(self, labelled: &Labelled) -> Option<bool> {
        match self {
            Self::Overall => labelled.overall,
            Self::Outcome => labelled.outcome,
            Self::Process => labelled.process,
        }
    }

    pub(crate) fn prediction(self, scored: &Scored) -> Option<bool> {
        match self {
            Self::Overall => scored.overall,
            Self::Outcome => scored.outcome,
            Self::Process => scored.process,
        }
    }

    /// The judge's probability that it is true; for `Overall` the product of both, as if independent.
    pub(crate) fn probability(self, scored: &Scored) -> Option<f64> {
        let process = scored.process_probability;
        let outcome = scored.outcome_probability;
        match self {
            Self::Overall => Some(process? * outcome?),
            Self::Outcome => outcome,
            Self::Process => process,
        }
    }

    /// Whether anybody was asked: verdicts by rules alone, or under a protocol that asks for a score or for the first error alone, say
    /// nothing of some fields although nothing is wrong with them.
    pub(crate) fn is_judged(self, verdicts: &[Scored]) -> bool {
        // The first error found says that the whole is wrong, and nothing else of it.
        let whole = |one: &Scored| one.outcome.is_some() || one.process.is_none();
        let says = |one| self.prediction(one).is_some() && (self != Self::Overall || whole(one));
        verdicts.iter().any(says) || verdicts.iter().all(|one| one.status != Status::Ok)
    }
}

/// A share and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Share {
    /// Those that count.
    pub count: usize,
    /// Of so many.
    pub all: usize,
    /// The share.
    pub share: f64,
    /// Its 95 % interval: Wilson's, or of several trials a sample by resampling samples; where these are all alike Wilson's of as many samples.
    pub interval: Interval,
}

impl Share {
    /// A share with Wilson's interval; `None` if `all` is 0.
    pub(crate) fn new(count: usize, all: usize) -> Option<Self> {
        Some(Self {
            count,
            all,
            share: ratio(count, all)?,
            interval: wilson(count, all)?,
        })
    }
}

/// A number and its 95 % interval: by resampling samples, where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its 95 % interval; null where no resample defines it, or all give the same.
    pub interval: Option<Interval>,
}

impl Estimate {
    pub(crate) fn new(value: Option<f64>, interval: Option<Interval>) -> Option<Self> {
        value.map(|value| Self { value, interval })
    }
}

/// How well predictions meet labels of one task.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Scores {
    /// Samples with a label.
    pub labels: usize,
    /// Labels (rows: false, true) against predictions (columns: false, true, none).
    pub confusion: Confusion,
    /// The share of right predictions; no prediction is wrong.
    pub accuracy: Share,
    /// The share of right predictions among those made.
    pub selective_accuracy: Option<Share>,
    /// Of those predicted true, the share that are.
    pub precision: Option<Share>,
    /// Of those that are true, the share predicted true.
    pub recall: Option<Share>,
    /// The harmonic mean of precision and recall.
    pub f1: Option<Estimate>,
    /// Cohen's kappa among the predictions made; null where these and their labels are all one and the same.
    pub kappa: Option<Estimate>,
}

impl Scores {
    /// The label that all have, if they are alike: then always this answer is right by itself, and no figure says anything.
    pub(crate) fn one_label(&self) -> Option<bool> {
        let (all, positive) = (self.confusion.all(), self.confusion.positive());
        (positive == 0 || positive == all).then_some(positive > 0)
    }

    /// The scores of samples with equal counts, given with the number of such samples.
    pub(crate) fn new(units: &[(Confusion, usize)], resamples: usize) -> Option<Self> {
        let confusion = sum(&mut units.iter().map(|(unit, count)| (unit, *count)));
        let trials = units.iter().any(|(unit, _)| unit.all() > 1);
        let figures = [
            Confusion::f1,
            Confusion::kappa,
            Confusion::accuracy,
            Confusion::selective_accuracy,
            Confusion::precision,
            Confusion::recall,
        ] as [fn(&Confusion) -> Option<f64>; 6];
        let of_resample = |units: &mut dyn Iterator<Item = (&Confusion, usize)>| {
            let confusion = sum(units);
            figures.map(|figure| figure(&confusion))
        };
        let [f1, kappa, accuracy, selective, precision, recall] =
            bootstrap(&[units], resamples, of_resample);
        let share = |parts: fn(&Confusion) -> [usize; 2], resampled: Option<Interval>| {
            let [count, all] = parts(&confusion);
            let share = Share::new(count, all)?;
            let counted = units.iter().filter(|(unit, _)| parts(unit)[1] > 0);
            let samples: usize = counted.map(|(_, count)| count).sum();
            // The trials of one sample are not independent.
            let interval = match resampled {
                _ if !trials => share.interval,
                Some(resampled) => resampled,
                None => wilson_of_share(share.share, samples as f64),
            };
            Some(Share { interval, ..share })
        };
        Some(Self {
            labels: units.iter().map(|(_, count)| count).sum(),
            accuracy: share(|of| [of.right(), of.all()], accuracy)?,
            selective_accuracy: share(|of| [of.right(), of.answered()], selective),
            precision: share(|of| [of.found(), of.found() + of.counts[0][1]], precision),
            recall: share(|of| [of.found(), of.positive()], recall),
            f1: Estimate::new(confusion.f1(), f1),
            kappa: Estimate::new(confusion.kappa(), kappa),
            confusion,
        })
    }
}

fn sum(units: &mut dyn Iterator<Item = (&Confusion, usize)>) -> Confusion {
    let mut confusion = Confusion::default();
    units.for_each(|(unit, times)| confusion.add_all(&unit.counts, times));
    confusion
}

/// How often the first wrong step is the one that the data names (`ProcessBench`, arXiv 2412.06559).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct FirstErrors {
    /// Of responses with a wrong step, the share whose first one the judge names.
    pub erroneous: f64,
    /// Of responses without a wrong step, the share in which it finds none.
    pub correct: f64,
    /// The harmonic mean of both.
    pub f1: Estimate,
}

impl FirstErrors {
    /// Of samples with equal counts: their labels say that no step is wrong, and predictions that are as the labels name the right step.
    fn new(units: &[(Confusion, usize)], resamples: usize) -> Option<Self> {
        let shares = |of: &Confusion| {
            let erroneous = ratio(of.counts[0][0], of.all() - of.positive())?;
            Some([erroneous, of.recall()?])
        };
        // The inverse of 0 is infinite, and the mean 0.
        let f1 = |of: &Confusion| shares(of).map(|[a, b]| 2.0 / (a.recip() + b.recip()));
        let all = sum(&mut units.iter().map(|(unit, count)| (unit, *count)));
        let [erroneous, correct] = shares(&all).filter(|_| all.answered() > 0)?;
        let [interval] = bootstrap(&[units], resamples, |units| [f1(&sum(units))]);
        let f1 = Estimate::new(f1(&all), interval)?;
        Some(Self {
            erroneous,
            correct,
            f1,
        })
    }
}

/// Tokens that a judge generated for a verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Tokens {
    pub(crate) total: u64,
    /// The mean.
    pub mean: f64,
    /// As many verdicts have fewer as have more.
    pub median: f64,
    /// One verdict in 20 has more.
    pub p95: f64,
}

impl Tokens {
    fn new(generated: &[u32]) -> Option<Self> {
        let mut sorted: Vec<f64> = generated.iter().copied().map(f64::from).collect();
        sorted.sort_by(f64::total_cmp);
        let total = generated.iter().map(|&tokens| u64::from(tokens)).sum();
        Some(Self {
            total,
            mean: total as f64 / generated.len() as f64,
            median: quantile(&sorted, 0.5)?,
            p95: quantile(&sorted, 0.95)?,
        })
    }
}

/// How good a judge is over some of its verdicts.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Measures {
    /// Verdicts.
    pub verdicts: usize,
    /// Samples that they are on.
    pub samples: usize,
    /// Verdicts by status.
    pub by_status: BTreeMap<Status, usize>,
    /// Against the labels of each task that has any.
    pub tasks: BTreeMap<Task, Scores>,
    /// Of right final answers from flawed derivations, the share that is not found right overall.
    pub lucky_guesses: Option<Share>,
    /// Of first wrong steps, where the data names them and the judge was asked for them.
    pub first_errors: Option<FirstErrors>,
    /// What the rules alone say of the final answer, against the labels of each task; where they cannot tell they are wrong.
    pub rules: BTreeMap<Task, Scores>,
    /// Tokens generated for a verdict; null without any.
    pub tokens: Option<Tokens>,
}

impl Measures {
    /// The measures of verdicts, sorted by sample, on samples that are `wanted`; `resamples` is the number of bootstrap draws.
    pub(crate) fn new(
        verdicts: &[Scored],
        samples: &Samples,
        resamples: usize,
        wanted: impl Fn(&Labelled) -> bool,
    ) -> Self {
        let mut units = Units::default();
        let mut by_status = BTreeMap::new();
        let mut generated = Vec::new();
        let mut known_by_rules = false;
        let tasks = Task::ALL
            .into_iter()
            .filter(|task| task.is_judged(verdicts));
        let tasks: Vec<Task> = tasks.collect();
        let mut count = 0;
        for trials in verdicts.chunk_by(|a, b| a.sample == b.sample) {
            let labelled = samples.labelled.get(trials[0].sample as usize);
            let Some(labelled) = labelled.filter(|labelled| wanted(labelled)) else {
                continue;
            };
            count += 1;
            for scored in trials {
                *by_status.entry(scored.status).or_insert(0) += 1;
                generated.push(scored.generated);
                known_by_rules |= scored.rules.is_some();
            }
            for &task in &tasks {
                let Some(label) = task.label(labelled) else {
                    continue;
                };
                let said = trials.iter().map(|scored| task.prediction(scored));
                units.add(Key::Judge(task), label, said);
                if task != Task::Process {
                    let said = trials.iter().map(|scored| scored.rules);
                    units.add(Key::Rules(task), label, said);
                }
            }
            let is_lucky = (labelled.outcome, labelled.overall) == (Some(true), Some(false));
            if is_lucky && tasks.contains(&Task::Overall) {
                let said = trials.iter().map(|scored| scored.overall);
                units.add(Key::LuckyGuesses, false, said);
            }
            if let Some(step) = labelled.first_error {
                let is_same = trials.iter().map(|one| Some(one.named_step? == step));
                let said = is_same.map(|same| same.map(|same| same == (step < 0)));
                units.add(Key::FirstErrors, step < 0, said);
            }
        }
        let scores = |key: fn(Task) -> Key| -> BTreeMap<Task, Scores> {
            let of = |task| Some((task, Scores::new(&units.counted(key(task)), resamples)?));
            Task::ALL.into_iter().filter_map(of).collect()
        };
        let lucky_guesses = Scores::new(&units.counted(Key::LuckyGuesses), resamples);
        let rules = known_by_rules.then(|| scores(Key::Rules));
        Self {
            verdicts: generated.len(),
            samples: count,
            by_status,
            tasks: scores(Key::Judge),
            lucky_guesses: lucky_guesses.map(|scores| scores.accuracy),
            first_errors: FirstErrors::new(&units.counted(Key::FirstErrors), resamples),
            rules: rules.unwrap_or_default(),
            tokens: Tokens::new(&generated),
        }
    }

    pub fn share_of(&self, status: Status) -> f64 {
        let count = self.by_status.get(&status).copied().unwrap_or_default();
        count as f64 / self.verdicts.max(1) as f64
    }
}

/// Whose predictions are compared, and with which labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Judge(Task),
    Rules(Task),
    LuckyGuesses,
    FirstErrors,
}

/// How many samples have equal counts: the trials of a sample together are a unit of the bootstrap.
#[derive(Default)]
struct Units {
    counted: HashMap<Key, BTreeMap<Counts, usize>>,
}

impl Units {
    fn add(&mut self, key: Key, label: bool, predictions: impl Iterator<Item = Option<bool>>) {
        let mut confusion = Confusion::default();
        for prediction in predictions {
            confusion.add(label, prediction);
        }
        let counted = self.counted.entry(key).or_default();
        *counted.entry(confusion.counts).or_default() += 1;
    }

    fn counted(&self, key: Key) -> Vec<(Confusion, usize)> {
        let counted = self.counted.get(&key).into_iter().flatten();
        counted
            .map(|(&counts, &count)| (Confusion { counts }, count))
            .collect()
    }
}
