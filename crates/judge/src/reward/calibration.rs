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
    pub process: Curve,
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

impl Curve {
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
                let mut within = points.iter().flatten();
                let within = within.all(|value| (0.0..=1.0).contains(value));
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
}

impl Calibration {
    pub fn parse(text: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        read.check()?;
        Ok(read)
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        for (name, curve) in [("process", &self.process), ("outcome", &self.outcome)] {
            curve.check().map_err(|why| format!("{name}: {why}"))?;
        }
        Ok(())
    }

    /// The calibrated probabilities of True; `perfect` and `score` stay as they are.
    pub fn apply(&self, confidence: &Confidence) -> Confidence {
        // Curves are fitted to the numbers in files of verdicts.
        let written = confidence.as_written();
        let of = |curve: &Curve, p: Option<f64>| p.map(|p| curve.apply(p) as f32);
        Confidence {
            process: of(&self.process, written.process),
            outcome: of(&self.outcome, written.outcome),
            ..*confidence
        }
    }

    /// The lower of the two fields' calibrated probabilities of what was said, as far as the protocol asks for them;
    /// `None` if one was not recorded.
    pub(crate) fn certainty(&self, confidence: &Confidence, yields: Yields) -> Option<f64> {
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
