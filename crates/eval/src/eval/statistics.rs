//! Shares, tables of counts, and their uncertainty.

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use rand_distr::{Binomial, Distribution as _};
use schemars::JsonSchema;
use serde::Serialize;
use statrs::distribution::{
    Binomial as BinomialCounts, ChiSquared, ContinuousCDF as _, DiscreteCDF as _,
};

pub(crate) use juror_judge::judge::wilson_of_share;

/// Draws of a bootstrap.
pub const RESAMPLES: usize = 10_000;

/// The seed of all bootstraps, so that a report is the same whenever it is made.
const SEED: u64 = 0;

/// A 95 % interval.
pub type Interval = [f64; 2];

/// The 95 % interval of a share of `count` in `all` (Wilson 1927, "Probable inference, the law of succession, and
/// statistical inference"); `None` if `all` is 0.
pub fn wilson(count: usize, all: usize) -> Option<Interval> {
    let share = ratio(count, all)?;
    Some(wilson_of_share(share, all as f64))
}

/// Rows by label (false, true) and prediction (false, true, none).
pub(super) type Counts = [[usize; 3]; 2];

/// What is predicted against what is true: `counts[label][prediction]` with 0 for false and 1 for true, and a third column for rows without a prediction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Confusion {
    /// The counts.
    pub counts: Counts,
}

impl Confusion {
    pub(crate) fn add(&mut self, label: bool, prediction: Option<bool>) {
        self.counts[usize::from(label)][prediction.map_or(2, usize::from)] += 1;
    }

    /// Adds counts, multiplied by `times`.
    pub(crate) fn add_all(&mut self, counts: &Counts, times: usize) {
        let sums = self.counts.iter_mut().flatten();
        for (sum, count) in sums.zip(counts.iter().flatten()) {
            *sum += times * count;
        }
    }

    pub fn all(&self) -> usize {
        self.counts.iter().flatten().sum()
    }

    /// The number of rows with a prediction.
    pub(crate) fn answered(&self) -> usize {
        self.all() - self.counts[0][2] - self.counts[1][2]
    }

    /// The number of rows whose prediction is right.
    pub(crate) fn right(&self) -> usize {
        self.counts[0][0] + self.counts[1][1]
    }

    /// The number of rows that are true and predicted true.
    pub(crate) fn found(&self) -> usize {
        self.counts[1][1]
    }

    /// The number of rows whose label is true.
    pub(crate) fn positive(&self) -> usize {
        self.counts[1].iter().sum()
    }

    /// The share of right predictions; a row without one is wrong.
    pub(crate) fn accuracy(&self) -> Option<f64> {
        ratio(self.right(), self.all())
    }

    /// The share of right predictions among rows that have one.
    pub(crate) fn selective_accuracy(&self) -> Option<f64> {
        ratio(self.right(), self.answered())
    }

    /// Of rows predicted true, the share that are.
    pub(crate) fn precision(&self) -> Option<f64> {
        ratio(self.found(), self.found() + self.counts[0][1])
    }

    /// Of rows that are true, the share predicted true; a row without a prediction is missed.
    pub(crate) fn recall(&self) -> Option<f64> {
        ratio(self.found(), self.positive())
    }

    /// The harmonic mean of precision and recall, 0 if nothing true is found; `None` without a true label and a true prediction.
    pub(crate) fn f1(&self) -> Option<f64> {
        let missed = self.counts[1][0] + self.counts[1][2];
        let twice = 2 * self.found();
        ratio(twice, twice + self.counts[0][1] + missed)
    }

    /// Cohen's kappa among rows with a prediction; `None` if labels and predictions are all one and the same: chance explains that too.
    pub(crate) fn kappa(&self) -> Option<f64> {
        let all = self.answered() as f64;
        let labels = (self.counts[1][0] + self.counts[1][1]) as f64;
        let predictions = (self.counts[0][1] + self.counts[1][1]) as f64;
        // Of all pairs of a label and a prediction those that agree: whole numbers, so that no agreement beyond chance is exactly 0.
        let by_chance = labels * predictions + (all - labels) * (all - predictions);
        let kappa = (all * self.right() as f64 - by_chance) / (all * all - by_chance);
        kappa.is_finite().then_some(kappa)
    }
}

/// A share of counts; `None` if `all` is 0.
pub(super) fn ratio(count: usize, all: usize) -> Option<f64> {
    (all > 0).then(|| count as f64 / all as f64)
}

/// Whether two judges that see the same rows are right equally often (`McNemar` 1947).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct McNemar {
    /// Samples where the first is right and the second wrong.
    pub only_first: usize,
    /// Samples where the second is right and the first wrong.
    pub only_second: usize,
    /// The chi-squared statistic with continuity correction (Edwards 1948); null where they differ on no sample.
    pub(crate) statistic: Option<f64>,
    /// Its p-value.
    pub(crate) p_asymptotic: Option<f64>,
    /// The two-sided p-value of the exact binomial test.
    pub p_exact: f64,
}

impl McNemar {
    /// The test for the samples on which exactly one of them is right.
    pub(crate) fn new(only_first: usize, only_second: usize) -> Self {
        let differ = only_first + only_second;
        let statistic = (differ > 0).then(|| {
            let apart = only_first.abs_diff(only_second) as f64;
            (apart - 1.0).max(0.0).powi(2) / differ as f64
        });
        // One degree of freedom: a valid distribution.
        let chi_squared = ChiSquared::new(1.0).ok();
        let p_asymptotic = statistic.zip(chi_squared);
        let p_asymptotic = p_asymptotic.map(|(statistic, of)| of.sf(statistic));
        let p_exact = BinomialCounts::new(0.5, differ as u64).map_or(1.0, |distribution| {
            (2.0 * distribution.cdf(only_first.min(only_second) as u64)).min(1.0)
        });
        Self {
            only_first,
            only_second,
            statistic,
            p_asymptotic,
            p_exact,
        }
    }
}

/// Resamples units with replacement and takes the percentiles 2.5 and 97.5 of each statistic (Efron 1979).
///
/// Equal units are given once, with their number: a resample is then a draw from a multinomial distribution, whose cost does
/// not grow with that number. A statistic is left out of resamples in which it is undefined. One that is the same in all resamples
/// has no interval: they show nothing of how far off it may be. Each part is resampled separately: those of an average keep their size.
pub(super) fn bootstrap<U, const S: usize>(
    parts: &[&[(U, usize)]],
    resamples: usize,
    statistics: impl Fn(&mut dyn Iterator<Item = (&U, usize)>) -> [Option<f64>; S],
) -> [Option<Interval>; S] {
    let mut random = StdRng::seed_from_u64(SEED);
    let mut seen: [Vec<f64>; S] = std::array::from_fn(|_| Vec::with_capacity(resamples));
    let mut drawn: Vec<(&U, usize)> = Vec::new();
    for _ in 0..resamples {
        drawn.clear();
        for units in parts {
            draw(units, &mut random, &mut drawn);
        }
        for (seen, value) in seen.iter_mut().zip(statistics(&mut drawn.iter().copied())) {
            seen.extend(value);
        }
    }
    seen.map(|mut values| {
        values.sort_by(f64::total_cmp);
        values.first().filter(|first| values.last() > Some(first))?;
        Some([quantile(&values, 0.025)?, quantile(&values, 0.975)?])
    })
}

/// Draws as many units as there are, with replacement: each drawn unit with its count.
fn draw<'u, U>(units: &'u [(U, usize)], random: &mut StdRng, drawn: &mut Vec<(&'u U, usize)>) {
    let all: usize = units.iter().map(|(_, count)| count).sum();
    let (mut left, mut rest) = (all as u64, all as u64);
    for (unit, count) in units {
        let count = *count as u64;
        let share = count as f64 / rest.max(1) as f64;
        // A share of a whole is a valid probability; the last unit takes what is left.
        let number = if rest == count {
            left
        } else {
            Binomial::new(left, share.min(1.0)).map_or(0, |counts| counts.sample(random))
        };
        if number > 0 {
            drawn.push((unit, number as usize));
        }
        left -= number;
        rest -= count;
    }
}

/// A quantile of sorted values, with linear interpolation.
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let at = |place: f64| sorted.get(place as usize);
    let (below, above) = (at(place.floor())?, at(place.ceil())?);
    Some(below + (above - below) * place.fract())
}
