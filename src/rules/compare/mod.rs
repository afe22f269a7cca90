//! Decides whether two answers are equal.

pub mod identity;

use super::config::Config;
use super::expr::Answer;
use super::verification::Status;

/// How strictly answers are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Decimal places from which on a rounded decimal stands for an exact number.
    pub float_rounding: u32,
    /// Do the names of variables matter, and is a tuple no set?
    pub strict: bool,
    /// May a relation in the prediction meet a set in the gold answer?
    pub allow_set_relation_comp: bool,
}

impl From<&Config> for Options {
    fn from(config: &Config) -> Self {
        Self {
            float_rounding: config.float_rounding,
            strict: config.strict,
            allow_set_relation_comp: config.allow_set_relation_comp,
        }
    }
}

/// What a comparison came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    /// `None`: cannot be told.
    pub equal: Option<bool>,
    /// [`Status::Decided`], [`Status::Numeric`] or [`Status::TooComplex`].
    pub status: Status,
    /// The argument that settled it.
    pub method: &'static str,
    /// One sentence for a person.
    pub reason: String,
}

/// Is `pred` the same answer as `gold`?
pub fn compare(gold: &Answer, pred: &Answer, options: &Options) -> Comparison {
    let _ = options;
    Comparison {
        equal: (gold == pred).then_some(true),
        status: Status::Decided,
        method: "structure",
        reason: String::new(),
    }
}
