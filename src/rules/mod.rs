//! The rule-based verifier: needs no model.
//!
//! ```text
//! response ──extract──▶ answer text ──expr──▶ Answer ──compare──▶ Verification
//! ```
//!
//! | room | what it holds |
//! |---|---|
//! | [`config`] | profiles and the settings that users of Math-Verify know |
//! | [`extract`] | finds the final answer in a response |
//! | [`expr`] | parses LaTeX and plain maths into typed answers |
//! | [`compare`] | decides whether two answers are equal |
//! | [`compat`] | the verdicts of Math-Verify 0.9.0, quirks included |
//! | [`numeric`] | the strict numeric comparison of the answer judge, and GSM8K's extraction methods |
//!
//! What the rules cannot tell they leave open, and say why; they never guess.

pub mod compare;
pub mod compat;
pub mod config;
pub mod expr;
pub mod extract;
mod method;
pub mod numeric;
mod verification;
mod verifier;
mod work;

use regex::Regex;

pub use config::{Config, ExtractionMode, ExtractionTarget, FallbackMode, Profile};
pub use method::{OutcomeRules, RulesProfile, UnknownRulesProfile};
pub use numeric::RuleVerdict;
pub use numeric::gsm8k::Gsm8kMethod;
pub use verification::{Status, Verification};
pub use verifier::Verifier;

/// Compiles a pattern of this crate. Every pattern is a constant that a test compiles.
#[expect(
    clippy::expect_used,
    reason = "the pattern is a constant, and a test uses it"
)]
fn pattern(text: &'static str) -> Regex {
    Regex::new(text).expect("a constant pattern compiles")
}
