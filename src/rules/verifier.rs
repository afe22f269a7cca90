//! The one entrance: a gold answer and a prediction in, a verification out.

use super::compare::{Comparison, Options};
use super::config::{Config, Profile};
use super::expr::Answer;
use super::extract::{Extraction, Role};
use super::verification::{Status, Verification};
use super::{compare, compat, expr, extract};

/// Verifies predictions under one profile and one set of settings. `Send + Sync`, without state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verifier {
    profile: Profile,
    config: Config,
}

impl Verifier {
    /// A verifier under `profile` and `config`.
    pub fn new(profile: Profile, config: Config) -> Self {
        Self { profile, config }
    }

    /// Is the answer of `pred`, a whole response or a bare answer, that of `gold`?
    pub fn verify(&self, gold: &str, pred: &str) -> Verification {
        match self.profile {
            Profile::Strict => strict(gold, pred, &self.config),
            Profile::Compat => compat::verify(gold, pred, &self.config),
        }
    }
}

/// What is mathematically true.
fn strict(gold: &str, pred: &str, config: &Config) -> Verification {
    let unread = |status, gold: &[&str], pred: &[&str], reason: String| Verification {
        equal: (status == Status::NoAnswer).then_some(false),
        status,
        method: "none",
        gold: gold.iter().map(ToString::to_string).collect(),
        pred: pred.iter().map(ToString::to_string).collect(),
        reason,
    };
    let read = |text: &str| -> Result<Answer, expr::ParseError> { expr::parse(text) };
    let gold_text = match extract::extract(gold, Role::Gold, config) {
        Extraction::Found(found) => found.text.into_owned(),
        Extraction::NoAnswer { reason } => {
            return unread(Status::UnparsedGold, &[gold], &[], reason);
        }
    };
    let pred_text = match extract::extract(pred, Role::Prediction, config) {
        Extraction::Found(found) => found.text.into_owned(),
        Extraction::NoAnswer { reason } => {
            return unread(Status::NoAnswer, &[&gold_text], &[], reason);
        }
    };
    let gold = match read(&gold_text) {
        Ok(answer) => answer,
        Err(error) => {
            return unread(
                Status::UnparsedGold,
                &[&gold_text],
                &[&pred_text],
                error.to_string(),
            );
        }
    };
    let pred = match read(&pred_text) {
        Ok(answer) => answer,
        Err(error) => {
            return unread(
                Status::UnparsedPred,
                &[&gold_text],
                &[&pred_text],
                error.to_string(),
            );
        }
    };
    let Comparison {
        equal,
        status,
        method,
        reason,
    } = compare::compare(&gold, &pred, &Options::from(config));
    Verification {
        equal,
        status,
        method,
        gold: vec![gold_text],
        pred: vec![pred_text],
        reason,
    }
}
