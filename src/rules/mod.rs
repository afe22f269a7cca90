//! The rule-based verifier: needs no model.
//!
//! This is its first form:
//!
//! | file | what it holds |
//! |---|---|
//! | [`numeric`] | [`verify`]: finds the final number of a response and compares it with the reference, exactly |
//! | [`number`] | when a stretch of text is one plain number, and which |
//! | [`decimal`] | numbers without rounding |
//! | [`gsm8k`] | the extraction methods of GSM8K by name, each with its own normalisation and equality |
//!
//! The full verifier grows here: `extract/` (finds the answer), `expr/` (parses LaTeX and plain maths) and `compare/`
//! (equivalence). What this form cannot tell, it leaves open; it never guesses.

pub mod decimal;
pub mod gsm8k;
pub mod number;
pub mod numeric;

use regex::Regex;

pub use gsm8k::Gsm8kMethod;
pub use numeric::{RuleVerdict, verify};

/// Compiles a pattern of this crate. Every pattern is a constant that a test compiles.
#[expect(
    clippy::expect_used,
    reason = "the pattern is a constant, and a test uses it"
)]
fn pattern(text: &'static str) -> Regex {
    Regex::new(text).expect("a constant pattern compiles")
}
