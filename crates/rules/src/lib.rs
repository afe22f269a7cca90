//! A rule-based verifier of mathematical answers: is the final answer of a response that of the reference?
//!
//! ```
//! use juror_rules::{Config, Profile, Status, Verifier};
//!
//! let verifier = Verifier::new(Profile::Strict, Config::default());
//! let verification = verifier.verify(r"\frac{1}{2}", "Half of them, so the answer is **0.5**.");
//! assert_eq!(verification.equal, Some(true));
//! assert_eq!(verification.status, Status::Decided);
//! ```
//!
//! ```text
//! response ──extract──▶ answer text ──parse──▶ Answer ──compare──▶ Verification
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | `verifier` | [`Verifier`]: the one entrance |
//! | `config`, `method`, `verification` | the settings, the profiles by name, the result |
//! | `algebra` | expressions, exact numbers, identity of expressions, the budget of work |
//! | `answer`, `alternatives` | what an answer can be; other ways to read one |
//! | `doubts` | why a verdict is left open: what stands beside answers that are equal or different |
//! | `lexicon` | tables of units, number words, commands and phrases |
//! | `code` | values of programs: texts in quotes, collections of them |
//! | `extract`, `format` | finds the final answer in a response; takes it by a format of one's own |
//! | `parse` | reads LaTeX and plain mathematics as a typed answer |
//! | `compare` | decides whether two answers are equal |
//! | `math_verify` | the profile [`Profile::Compat`]: the verdicts of Math-Verify 0.9.0, quirks included |
//! | `gsm8k` | the comparison of plain numbers of the answer judge, and GSM8K's extraction methods |
//!
//! What cannot be decided is `None` with a reason, never a guess. A verification's work is bounded by the length of its
//! texts; it is counted, not timed, so that a pair has the same verdict on every machine.

mod algebra;
mod alternatives;
mod answer;
mod code;
mod compare;
mod config;
mod doubts;
mod extract;
mod format;
mod gsm8k;
mod lexicon;
mod math_verify;
mod method;
mod parse;
mod verification;
mod verifier;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use regex::Regex;

pub use config::{
    Config, DecimalMark, ExtractionMode, ExtractionTarget, FallbackMode, Normalization, Profile,
};
pub use extract::Role;
pub use format::AnswerFormat;
pub use gsm8k::RuleVerdict;
pub use gsm8k::methods::Gsm8kMethod;
pub use math_verify::EMULATES;
pub use method::{OutcomeRules, RulesProfile, UnknownRulesProfile};
pub use parse::{ParseError, describe};
pub use verification::{Reading, Status, Verification};
pub use verifier::Verifier;

/// Compiles a pattern of this crate. Every pattern is a constant that a test compiles.
#[expect(
    clippy::expect_used,
    reason = "the pattern is a constant, and a test uses it"
)]
fn pattern(text: &'static str) -> Regex {
    Regex::new(text).expect("a constant pattern compiles")
}
