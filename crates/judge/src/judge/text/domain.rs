//! `judge.json`: what a judge model's makers say of it beside its weights. Optional.
//!
//! ```json
//! {
//!   "domain": {
//!     "description": "everyday arithmetic in English",
//!     "outside": "<think>domain out",
//!     "inside": "<think>domain in\n",
//!     "least": 0.99,
//!     "rules_must_agree": true
//!   },
//!   "protocols": ["prime"],
//!   "weighs_thinking": true,
//!   "unsure_refusals_below": 0.75,
//!   "refuses": {"sound": 0.035, "lucky": 0.99},
//!   "calibration": {"process": {"temperature": 1.8}, "outcome": {"temperature": 1.2}}
//! }
//! ```

use serde::Deserialize;

use crate::reward::calibration::Calibration;
use crate::runtime::{CERTAIN, Doubt};
use juror_engine::checkpoint::{CheckpointError, ModelSource};

const JUDGE_FILE: &str = "judge.json";

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JudgeFile {
    /// What the judge can judge; none if it does not say.
    pub domain: Option<Domain>,
    /// The protocols whose own prompt text it was trained for; empty if for any.
    pub(crate) protocols: Vec<String>,
    pub calibration: Calibration,
    /// Whether its thinking, which its verdict only sums up, says how sure it is: the probabilities of the process and of perfect are
    /// then drawn towards one half by the least probability with which a token of the thinking was written.
    pub(crate) weighs_thinking: bool,
    /// A right result whose derivation is refused with less calibrated confidence than this is `unsure`, unless
    /// [`RunOptions::min_confidence`](crate::judge::RunOptions) is set.
    pub(crate) unsure_refusals_below: Option<f64>,
    /// How often it refuses the derivation of a right result.
    pub(crate) refuses: Option<RefusalRates>,
}

/// How often a judge refuses the derivation of a right result, as its makers measured it.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RefusalRates {
    /// Of sound derivations: its errors.
    sound: f64,
    /// Of flawed ones: lucky guesses.
    lucky: f64,
}

impl RefusalRates {
    /// How many lucky guesses there are likely to be among `refused` of `all` right results (Rogan and Gladen 1978, "Estimating
    /// prevalence from the results of a screening test").
    pub(crate) fn lucky_guesses(self, refused: usize, all: usize) -> f64 {
        let guesses = (refused as f64 - self.sound * all as f64) / (self.lucky - self.sound);
        // No more than there are, and of those refused the ones that it recognises.
        (self.lucky * guesses).clamp(0.0, refused as f64)
    }

    fn check(self) -> Result<(), String> {
        let is_share = |rate: f64| (0.0..=1.0).contains(&rate);
        if is_share(self.sound) && is_share(self.lucky) && self.sound < self.lucky {
            return Ok(());
        }
        Err(format!(
            "refuses: sound {} and lucky {} must be shares, the first below the second",
            self.sound, self.lucky
        ))
    }
}

/// What a judge can judge, and how it says that a sample is something else.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Domain {
    /// The domain in a few words, for messages.
    pub description: String,
    /// The text that the judge's completion, or its answer after the thinking, begins with where a sample is outside.
    pub(crate) outside: String,
    /// The text that it begins with where the sample is inside: with [`RunOptions::force_domain`](crate::judge::RunOptions) a part of every prompt.
    #[serde(default)]
    pub(crate) inside: String,
    /// Counts a sample as outside, too, where a token of `inside` was written with less probability than this.
    #[serde(default)]
    pub(crate) least: f32,
    /// Counts a sample as outside, too, where the rules decide the outcome and the judge says the opposite. For a judge
    /// that is wrong about final answers mostly on samples that it does not know.
    #[serde(default)]
    pub(crate) rules_must_agree: bool,
    /// The judge knows samples with one reference. Of several it is shown the one that the rules find the response equal to, the first where they find it
    /// different from all; else the sample is outside.
    #[serde(default)]
    pub(crate) one_reference: bool,
}

impl JudgeFile {
    /// Reads the file of a model; the default if it has none.
    /// Errors: [`CheckpointError::Config`] naming the file and what is wrong with it.
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
        file.check().map_err(fail)?;
        Ok(file)
    }

    fn check(&self) -> Result<(), String> {
        self.calibration.check()?;
        self.refuses.map_or(Ok(()), RefusalRates::check)?;
        match (self.unsure_refusals_below, &self.domain) {
            (Some(least), _) if !(0.5..=1.0).contains(&least) => Err(format!(
                "unsure_refusals_below {least} must be from 0.5 to 1"
            )),
            (_, Some(Domain { least, inside, .. }))
                if *least != 0.0
                    && (!(0.0..=CERTAIN).contains(least) || inside.trim().is_empty()) =>
            {
                Err(format!(
                    "domain.least {least} must be from 0 to {CERTAIN}, and needs domain.inside"
                ))
            }
            (_, Some(domain)) if domain.outside.trim().is_empty() => {
                Err("domain.outside is blank: no text tells a sample outside".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl Domain {
    /// Whether a constrained answer can begin with the one text or with the other.
    pub(crate) fn is_choice(&self) -> bool {
        let (inside, outside) = (self.inside.as_str(), self.outside.as_str());
        !inside.is_empty() && !inside.starts_with(outside) && !outside.starts_with(inside)
    }

    /// Does the judge say that the sample is outside? `written` is its completion, `answer` the part after the thinking.
    pub(crate) fn is_outside(&self, written: &str, answer: Option<&str>) -> bool {
        let begins = |text: &str| text.trim_start().starts_with(self.outside.trim_start());
        begins(written) || answer.is_some_and(begins)
    }

    /// Is the judge not sure enough that the sample is inside, which it says in the first `spelt` tokens?
    pub(crate) fn is_doubtful(&self, doubts: &[Doubt], spelt: usize) -> bool {
        let mut doubts = doubts.iter().filter(|(at, _)| *at < spelt);
        doubts.any(|(_, p)| *p < self.least)
    }
}

#[cfg(test)]
mod tests;
