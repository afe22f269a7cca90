//! The settings that Math-Verify has, by the names that it gives them.

use serde::{Deserialize, Serialize};

/// A kind of answer that is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ExtractionTarget {
    /// Formulas in LaTeX delimiters or boxes.
    Latex,
    /// Plain numbers and arithmetic.
    Expr,
    /// One of these literal strings (choice letters, say).
    String {
        /// What is looked for, in order of preference.
        strings: Vec<String>,
        /// Is a found string lower-cased before it is compared?
        lowercase: bool,
    },
}

impl ExtractionTarget {
    /// The letters A to D, compared in lower case.
    pub fn letters() -> Self {
        Self::String {
            strings: ["A", "B", "C", "D"].map(str::to_owned).to_vec(),
            lowercase: true,
        }
    }
}

/// Is a match that fails to parse final?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExtractionMode {
    /// Only the first match is tried.
    FirstMatch,
    /// Matches are tried in order until one parses.
    #[default]
    AnyMatch,
}

/// Is the text of the first match kept for comparison as a string?
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackMode {
    /// It is not.
    NoFallback,
    /// It is.
    #[default]
    FirstMatch,
}

/// How Math-Verify rewrites a formula before it is parsed; its default is all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Normalization {
    /// Are units dropped?
    pub units: bool,
    /// Is a zero put before a leading point, and `0.5` written as a fraction?
    pub nits: bool,
    /// Do `\frac12` and `\sqrt2` get the braces that they lack?
    pub malformed_operators: bool,
}

impl Default for Normalization {
    fn default() -> Self {
        Self {
            units: true,
            nits: true,
            malformed_operators: true,
        }
    }
}

/// How the answer of a text is found, and how two are compared; the defaults are Math-Verify's.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Options {
    /// Which kinds of answer are looked for.
    pub extract: Vec<ExtractionTarget>,
    /// When boxes are looked at: 0 before everything else, 50 beside "final answer is", -1 never.
    pub boxed_match_priority: i32,
    /// May an answer stand without a word that announces it?
    pub try_extract_without_anchor: bool,
    /// Decimal places at which a written decimal is compared.
    pub float_rounding: u32,
    /// Decimal digits of a numeric evaluation.
    pub numeric_precision: u32,
    /// Do the names of variables matter?
    pub strict: bool,
    /// May a relation in the prediction be compared with a set in the gold answer?
    pub allow_set_relation_comp: bool,
    /// Is a match that fails to parse final?
    pub extraction_mode: ExtractionMode,
    /// Is the text of the first match kept?
    pub fallback_mode: FallbackMode,
    /// How a formula is rewritten.
    pub normalization: Normalization,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            extract: vec![ExtractionTarget::Latex, ExtractionTarget::Expr],
            boxed_match_priority: 50,
            try_extract_without_anchor: true,
            float_rounding: 6,
            numeric_precision: 15,
            strict: true,
            allow_set_relation_comp: false,
            extraction_mode: ExtractionMode::default(),
            fallback_mode: FallbackMode::default(),
            normalization: Normalization::default(),
        }
    }
}
