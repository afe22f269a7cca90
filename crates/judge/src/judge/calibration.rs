//! From the probability that a judge gives to how often it is right with it.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::protocol::Yields;
use juror_data::verdict::Confidence;

/// Calibrations of a judge's fields: what `--calibration FILE` holds, and `judge.json` under `calibration`.
///
/// ```json
/// {"process": {"temperature": 6.4}, "outcome": {"isotonic": [[0.02, 0.1], [0.6, 0.5], [0.99, 0.97]]}}
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Calibration {
    /// Of the process field.
    pub process: Curve,
    /// Of the outcome field.
    pub outcome: Curve,
    /// Whatever wrote the file.
    #[serde(skip_serializing)]
    pub(crate) fitted_by: IgnoredAny,
    /// What `juror calibrate` notes of a curve; changes nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How one field's probability of True is calibrated.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Curve {
    /// The log-odds of True are divided by this (Guo et al. 2017, "On Calibration of Modern Neural Networks"); 1 changes nothing.
    Temperature(f64),
    /// Points of the judge's probability and the calibrated one, both ascending; straight lines between them (Zadrozny and Elkan 2002,
    /// "Transforming classifier scores into accurate multiclass probability estimates").
    Isotonic(Vec<[f64; 2]>),
}

impl Default for Curve {
    fn default() -> Self {
        Self::Temperature(1.0)
    }
}

/// The distance from 1 that an `f32` does not tell apart from none.
const ROUNDED: f64 = 1e-7;

/// The temperatures among which one is fitted.
const LOWEST: f64 = 0.02;
const HIGHEST: f64 = 50.0;

impl Curve {
    /// The calibrated probability of True.
    pub fn apply(&self, probability: f64) -> f64 {
        match self {
            Self::Temperature(temperature) if (temperature - 1.0).abs() < f64::EPSILON => {
                probability
            }
            Self::Temperature(temperature) => {
                // A probability that was rounded to 0 or 1 is no certainty.
                let p = probability.clamp(ROUNDED, 1.0 - ROUNDED);
                1.0 / (1.0 + (-(p / (1.0 - p)).ln() / temperature).exp())
            }
            Self::Isotonic(points) => {
                let above = points.partition_point(|[from, _]| *from < probability);
                match (
                    above.checked_sub(1).and_then(|at| points.get(at)),
                    points.get(above),
                ) {
                    (Some([x0, y0]), Some([x1, y1])) => {
                        y0 + (y1 - y0) * (probability - x0) / (x1 - x0)
                    }
                    (Some([_, y]), None) | (None, Some([_, y])) => *y,
                    (None, None) => probability,
                }
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        match self {
            Self::Temperature(temperature) if !(temperature.is_finite() && *temperature > 0.0) => {
                Err(format!("temperature {temperature} must be above 0"))
            }
            Self::Temperature(_) => Ok(()),
            Self::Isotonic(points) => {
                let within = points
                    .iter()
                    .flatten()
                    .all(|value| (0.0..=1.0).contains(value));
                let ascends = points
                    .windows(2)
                    .all(|pair| pair[0][0] < pair[1][0] && pair[0][1] <= pair[1][1]);
                if points.is_empty() || !within || !ascends {
                    return Err("isotonic: must be pairs of probabilities, ascending".into());
                }
                Ok(())
            }
        }
    }

    /// The temperature with the least negative log-likelihood of the labels.
    pub fn fit_temperature(seen: &[(f64, bool)]) -> Self {
        let loss = |log: f64| negative_log_likelihood(&Self::Temperature(log.exp()), seen);
        // The loss has one minimum in the logarithm of the temperature: the golden section closes in on it.
        let (mut low, mut high) = (LOWEST.ln(), HIGHEST.ln());
        let golden = (5.0_f64.sqrt() - 1.0) / 2.0;
        for _ in 0..60 {
            let (a, b) = (high - golden * (high - low), low + golden * (high - low));
            if loss(a) < loss(b) {
                high = b;
            } else {
                low = a;
            }
        }
        Self::Temperature(f64::midpoint(low, high).exp())
    }

    /// What it means that a fitted curve is at the bound of what can be fitted; `None` if it is not.
    pub fn at_bound(&self) -> Option<&'static str> {
        const NOTHING: &str = "the probabilities carry nothing about the labels: the fit ended at its bound, where every verdict has \
                               nearly the same one";
        match self {
            Self::Temperature(temperature) if *temperature > 0.99 * HIGHEST => Some(NOTHING),
            Self::Temperature(temperature) if *temperature < 1.01 * LOWEST => Some(
                "every label is on the side of its probability: the fit ended at its bound, and how sure the judge may be cannot be \
                 told from these labels",
            ),
            Self::Isotonic(points) => {
                let is_flat = points.windows(2).all(|pair| pair[0][1] >= pair[1][1]);
                is_flat.then_some(NOTHING)
            }
            Self::Temperature(_) => None,
        }
    }

    /// The ascending curve with the least squared error of the labels (pool adjacent violators).
    pub fn fit_isotonic(seen: &[(f64, bool)]) -> Self {
        let mut sorted: Vec<(f64, bool)> = seen.to_vec();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        // Each block: how many, the sum of their probabilities, and how many are true.
        let mut blocks: Vec<(f64, f64, f64)> = Vec::new();
        let share = |block: &(f64, f64, f64)| block.2 / block.0;
        // Labels of one probability are one block, whatever their order.
        for same in sorted.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq()) {
            let count = same.len() as f64;
            let yes = same.iter().filter(|(_, label)| *label).count();
            blocks.push((count, count * same[0].0, yes as f64));
            while let [.., before, last] = blocks.as_slice()
                && share(before) >= share(last)
            {
                let joined = (before.0 + last.0, before.1 + last.1, before.2 + last.2);
                blocks.truncate(blocks.len() - 2);
                blocks.push(joined);
            }
        }
        let points = blocks.iter().map(|block| {
            // One more of each kind: a block without a wrong label is no certainty.
            [block.1 / block.0, (block.2 + 1.0) / (block.0 + 2.0)]
        });
        let mut points: Vec<[f64; 2]> = points.collect();
        let mut least = 0.0_f64;
        for point in &mut points {
            least = least.max(point[1]);
            point[1] = least;
        }
        Self::Isotonic(points)
    }
}

/// The mean negative log-likelihood of labels under calibrated probabilities.
pub fn negative_log_likelihood(curve: &Curve, seen: &[(f64, bool)]) -> f64 {
    let loss = |&(probability, label): &(f64, bool)| {
        let p = curve.apply(probability).clamp(ROUNDED, 1.0 - ROUNDED);
        if label { -p.ln() } else { -(1.0 - p).ln() }
    };
    seen.iter().map(loss).sum::<f64>() / seen.len().max(1) as f64
}

/// The expected calibration error: the mean distance between probability and share of true labels, over ten bins.
pub fn calibration_error(curve: &Curve, seen: &[(f64, bool)]) -> f64 {
    let mut bins = [(0.0, 0.0); 10];
    for &(probability, label) in seen {
        let p = curve.apply(probability);
        let bin = &mut bins[((p * 10.0) as usize).min(9)];
        bin.0 += p;
        bin.1 += f64::from(u8::from(label));
    }
    let apart: f64 = bins.iter().map(|(sum, yes)| (sum - yes).abs()).sum();
    apart / seen.len().max(1) as f64
}

impl Calibration {
    /// Reads a file's text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        read.check()?;
        Ok(read)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        for (name, curve) in [("process", &self.process), ("outcome", &self.outcome)] {
            curve.check().map_err(|why| format!("{name}: {why}"))?;
        }
        Ok(())
    }

    /// The calibrated probabilities of True; `perfect` and `score` stay as they are.
    pub fn apply(&self, confidence: &Confidence) -> Confidence {
        let of = |curve: &Curve, p: Option<f32>| p.map(|p| curve.apply(f64::from(p)) as f32);
        Confidence {
            process: of(&self.process, confidence.process),
            outcome: of(&self.outcome, confidence.outcome),
            ..*confidence
        }
    }

    /// The lower of the two fields' calibrated probabilities of what was said, as far as the protocol asks for them;
    /// `None` if one was not recorded.
    pub(super) fn certainty(&self, confidence: &Confidence, yields: Yields) -> Option<f64> {
        let mut least: Option<f64> = None;
        for (asked, probability, curve) in [
            (yields.process, confidence.process, &self.process),
            (yields.outcome, confidence.outcome, &self.outcome),
        ] {
            if asked {
                let probability = f64::from(probability?);
                let p = curve.apply(probability);
                let said = if probability >= 0.5 { p } else { 1.0 - p };
                least = Some(least.map_or(said, |least| least.min(said)));
            }
        }
        least
    }
}

#[cfg(test)]
mod tests;
