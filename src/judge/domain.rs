//! `judge.json`: what a judge model's makers say of it beside its weights. Optional.
//!
//! ```json
//! {
//!   "domain": {
//!     "description": "everyday arithmetic in English",
//!     "outside": "<think>domain out",
//!     "inside": "<think>domain in\n",
//!     "rules_must_agree": true
//!   },
//!   "protocols": ["prime"],
//!   "temperature": {"process": 1.8, "outcome": 1.2}
//! }
//! ```

use serde::Deserialize;

use crate::checkpoint::{CheckpointError, ModelSource};
use crate::protocol::Yields;
use crate::verdict::Confidence;

/// The file's name.
const JUDGE_FILE: &str = "judge.json";

/// What `judge.json` says.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeFile {
    /// What the judge can judge; none if it does not say.
    pub domain: Option<Domain>,
    /// The protocols whose own prompt text it was trained for; empty if for any.
    pub protocols: Vec<String>,
    /// How its confidences are calibrated.
    pub temperature: Temperature,
}

/// What a judge can judge, and how it says that a sample is something else.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// The domain in a few words, for messages.
    pub description: String,
    /// The text that the judge's completion, or its answer behind the thinking, begins with where a sample is outside.
    pub outside: String,
    /// The text that it begins with where the sample is inside: with [`RunOptions::force_domain`](super::RunOptions) a
    /// part of every prompt.
    #[serde(default)]
    pub inside: String,
    /// Counts a sample as outside, too, where the rules decide the outcome and the judge says the opposite. For a judge
    /// that is wrong about final answers mostly on samples that it does not know.
    #[serde(default)]
    pub rules_must_agree: bool,
}

/// Temperatures that calibrate confidences: the log-odds of True are divided by them (Guo et al. 2017, "On Calibration of
/// Modern Neural Networks"). 1 leaves a confidence as it is.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Temperature {
    /// Of the process field.
    pub process: f64,
    /// Of the outcome field.
    pub outcome: f64,
}

impl Default for Temperature {
    fn default() -> Self {
        Self {
            process: 1.0,
            outcome: 1.0,
        }
    }
}

impl JudgeFile {
    /// Reads the file of a model; the default if it has none.
    ///
    /// # Errors
    /// [`CheckpointError::Config`] naming the file and what is wrong with it.
    pub fn load(source: &ModelSource) -> Result<Self, CheckpointError> {
        if !source.has(JUDGE_FILE) {
            return Ok(Self::default());
        }
        let fail = |message: String| CheckpointError::Config {
            path: source.describe(JUDGE_FILE),
            message,
        };
        let file: Self = serde_json::from_str(&source.read_text(JUDGE_FILE)?)
            .map_err(|error| fail(error.to_string()))?;
        let Temperature { process, outcome } = file.temperature;
        for temperature in [process, outcome] {
            if !(temperature.is_finite() && temperature > 0.0) {
                return Err(fail(format!("temperature {temperature} must be above 0")));
            }
        }
        if let Some(domain) = &file.domain
            && domain.outside.trim().is_empty()
        {
            return Err(fail(
                "domain.outside is blank: it is the text by which a sample outside is told".into(),
            ));
        }
        Ok(file)
    }
}

impl Domain {
    /// Whether a constrained answer can begin with the one text or with the other.
    pub(super) fn is_choice(&self) -> bool {
        let (inside, outside) = (self.inside.as_str(), self.outside.as_str());
        !inside.is_empty() && !inside.starts_with(outside) && !outside.starts_with(inside)
    }

    /// Does the judge say that the sample is outside? `written` is its completion, `answer` the part behind the thinking.
    pub(super) fn is_outside(&self, written: &str, answer: Option<&str>) -> bool {
        let begins = |text: &str| text.trim_start().starts_with(self.outside.trim_start());
        begins(written) || answer.is_some_and(begins)
    }
}

impl Temperature {
    /// The lower of the two fields' calibrated probabilities of what was said, as far as the protocol asks for them;
    /// `None` if one was not recorded.
    pub(super) fn certainty(self, confidence: &Confidence, yields: Yields) -> Option<f64> {
        let mut least: Option<f64> = None;
        for (asked, probability, temperature) in [
            (yields.process, confidence.process, self.process),
            (yields.outcome, confidence.outcome, self.outcome),
        ] {
            if asked {
                let own = said(probability?, temperature);
                least = Some(least.map_or(own, |least| least.min(own)));
            }
        }
        least
    }
}

/// The distance from 1 that an `f32` does not tell apart from none.
const ROUNDED: f64 = 1e-7;

/// The calibrated probability of the likelier value.
fn said(probability_of_true: f32, temperature: f64) -> f64 {
    let p = f64::from(probability_of_true);
    if (temperature - 1.0).abs() < f64::EPSILON {
        return p.max(1.0 - p);
    }
    // A probability that was rounded to 0 or 1 is no certainty.
    let p = p.clamp(ROUNDED, 1.0 - ROUNDED);
    let log_odds = (p / (1.0 - p)).ln().abs() / temperature;
    1.0 / (1.0 + (-log_odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temperature_moves_a_confidence_towards_one_half() {
        let confidence = Confidence {
            process: Some(0.9),
            outcome: Some(0.01),
            perfect: None,
            score: None,
        };
        let certainty = |process, outcome| {
            Temperature { process, outcome }
                .certainty(&confidence, Yields::ALL)
                .unwrap()
        };
        assert!((certainty(1.0, 1.0) - 0.9).abs() < 1e-6);
        let certain = Confidence {
            process: Some(1.0),
            outcome: Some(0.0),
            ..confidence
        };
        let humble = Temperature {
            process: 1e6,
            outcome: 1e6,
        };
        assert!((humble.certainty(&certain, Yields::ALL).unwrap() - 0.5).abs() < 1e-4);
        // Odds of 9 become 3.
        assert!((certainty(2.0, 1.0) - 0.75).abs() < 1e-6);
        // Odds of 99 become about 2.15.
        assert!(
            (certainty(1.0, 6.0) - 99f64.powf(1.0 / 6.0) / (1.0 + 99f64.powf(1.0 / 6.0))).abs()
                < 1e-6
        );
        let sure = Confidence {
            process: Some(1.0),
            outcome: Some(0.0),
            perfect: None,
            score: None,
        };
        assert_eq!(
            Temperature::default().certainty(&sure, Yields::ALL),
            Some(1.0)
        );
        assert_eq!(
            Temperature::default().certainty(&Confidence::default(), Yields::ALL),
            None
        );
    }
}
