//! Profiles and settings of the verifier.

mod json;

pub(crate) use juror_math_verify::{
    ExtractionMode, ExtractionTarget, FallbackMode, Normalization, Options,
};
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

/// What stands before the decimals of a number; the other sign groups its digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecimalMark {
    /// `1.234,5`.
    Comma,
    /// `1,234.5`.
    Point,
}

/// What a bare number is against the same number of percent or of cents, as 20 against 20 %; no setting of Math-Verify, it has an effect in
/// the strict profile only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BareNumber {
    /// It cannot be told: the question may ask for percent.
    #[default]
    Open,
    /// Another way to write it.
    Same,
    /// Another number.
    Distinct,
}

/// Is a setting not given?
fn is_default<T: Default + PartialEq>(setting: &T) -> bool {
    *setting == T::default()
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
    /// What 20 is against 20 %; 0.2 is always the same.
    #[serde(skip_serializing_if = "is_default")]
    pub percent: BareNumber,
    /// What 50 is against 50 cents; half a dollar is always the same.
    #[serde(skip_serializing_if = "is_default")]
    pub cents: BareNumber,
    /// Is the answer of a response what its last boxes hold, and nothing else?
    #[serde(skip_serializing_if = "is_default")]
    pub boxed_only: bool,
    /// How a formula is rewritten; it has an effect in the compatible profile only.
    #[serde(skip_serializing_if = "is_default")]
    pub normalization: Normalization,
}

impl Default for Config {
    fn default() -> Self {
        let options = Options::default();
        Self {
            extract: options.extract,
            boxed_match_priority: options.boxed_match_priority,
            try_extract_without_anchor: options.try_extract_without_anchor,
            float_rounding: options.float_rounding,
            numeric_precision: options.numeric_precision,
            strict: options.strict,
            allow_set_relation_comp: options.allow_set_relation_comp,
            extraction_mode: options.extraction_mode,
            fallback_mode: options.fallback_mode,
            decimal: None,
            percent: BareNumber::Open,
            cents: BareNumber::Open,
            boxed_only: false,
            normalization: options.normalization,
        }
    }
}
