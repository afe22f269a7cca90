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
//! | `answer`, `alternatives` | what an answer can be; other ways to read one |
//! | `doubts` | why a verdict is left open: what stands beside answers that are equal or different |
//! | `lexicon` | tables of units, number words, commands and phrases |
//! | `code` | values of programs: texts in quotes, collections of them |
//! | `extract`, `format` | finds the final answer in a response; takes it by a format of one's own |
//! | `parse` | reads LaTeX and plain mathematics as a typed answer |
//! | `compare` | decides whether two answers are equal |
//! | `math_verify` | the profile [`Profile::Compat`], by [`juror_math_verify`] |
//! | `gsm8k` | the comparison of plain numbers of the answer judge, and GSM8K's extraction methods |
//!
//! Expressions, exact numbers, identity of expressions and the budget of work are [`juror_algebra`]'s.
//!
//! What cannot be decided is `None` with a reason, never a guess. A verification's work is bounded by the length of its
//! texts; it is counted, not timed, so that a pair has the same verdict on every machine.

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

use juror_algebra as algebra;
use regex::Regex;

pub use config::{BareNumber, Config, DecimalMark, Profile};
pub use extract::{Role, says_nothing};
pub use format::AnswerFormat;
pub use gsm8k::{RuleVerdict, methods::Gsm8kMethod};
#[doc(inline)]
pub use juror_math_verify::{
    EMULATES, ExtractionMode, ExtractionTarget, FallbackMode, Normalization, Reading, Status,
};
pub use method::{OutcomeRules, RulesProfile, UnknownRulesProfile};
pub use parse::{ParseError, describe};
pub use verification::Verification;
pub use verifier::Verifier;

/// Patterns by name, each compiled when it is first used.
macro_rules! patterns {
    ($($(#[$note:meta])* $name:ident = $text:expr;)*) => {
        $($(#[$note])*
        static $name: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| $crate::pattern($text));)*
    };
}
use patterns;

/// Compiles a pattern of this crate. Every pattern is a constant that a test compiles.
#[expect(
    clippy::expect_used,
    reason = "the pattern is a constant, and a test uses it"
)]
fn pattern(text: &'static str) -> Regex {
    Regex::new(text).expect("a constant pattern compiles")
}
