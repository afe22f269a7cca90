//! Profiles and settings of the verifier.

mod json;

use serde::{Deserialize, Serialize};

/// Whose verdicts are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// What is mathematically true.
    #[default]
    Strict,
    /// What Math-Verify 0.9.0 says, quirks included.
    Compat,
}

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

/// What stands before the decimals of a number; the other sign groups its digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecimalMark {
    /// `1.234,5`.
    Comma,
    /// `1,234.5`.
    Point,
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

/// How the profile `compat` rewrites a formula before it is parsed, by the names that Math-Verify gives the parts; its default is all of them.
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

impl Normalization {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with a reference"
    )]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Settings, by the names that Math-Verify gives them; the defaults are its defaults.
///
/// `numeric_precision` has an effect in the compatible profile only: the strict one evaluates until it is certain.
///
/// ```
/// use juror_rules::{Config, Profile, Verifier};
///
/// let config: Config = serde_json::from_str(r#"{"float_rounding": 2}"#)?;
/// let verifier = Verifier::new(Profile::Strict, config);
/// assert_eq!(verifier.verify(r"\frac{1}{3}", "0.33").equal, Some(true));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Config {
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
    /// The decimal mark, where a number may be meant either way; no setting of Math-Verify, it has an effect in the strict profile only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decimal: Option<DecimalMark>,
    /// How a formula is rewritten; it has an effect in the compatible profile only.
    #[serde(skip_serializing_if = "Normalization::is_default")]
    pub normalization: Normalization,
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

impl Default for Config {
    fn default() -> Self {
        Self {
            extract: vec![ExtractionTarget::Latex, ExtractionTarget::Expr],
            boxed_match_priority: 50,
            try_extract_without_anchor: true,
            float_rounding: 6,
            numeric_precision: 15,
            strict: true,
            allow_set_relation_comp: false,
            extraction_mode: ExtractionMode::AnyMatch,
            fallback_mode: FallbackMode::FirstMatch,
            decimal: None,
            normalization: Normalization::default(),
        }
    }
}
