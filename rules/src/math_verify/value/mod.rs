//! What Math-Verify holds after extraction and normalisation: values, and when two of them are equal.
//!
//! | file | what it holds |
//! |---|---|
//! | `token`, `vocabulary.txt` | the lexer of the LaTeX dialect |
//! | `grammar`, `expressions`, `functions`, `collections` | the grammar, giving a `tree` |
//! | `reading`, `scalar`, `application`, `names`, `numbers` | from the tree to values |
//! | `arithmetic` | plain arithmetic |
//! | `term`, `walk`, `sample`, `series`, `matrices` | values, and walks over them |
//! | `judge`, `relations`, `solving`, `sets`, `regions`, `scalars`, `symbols` | when two values are equal |

mod application;
mod arithmetic;
mod collections;
mod display;
mod expressions;
mod functions;
mod grammar;
mod judge;
mod matrices;
mod names;
mod numbers;
mod reading;
mod regions;
mod relations;
mod sample;
mod scalar;
mod scalars;
mod series;
mod sets;
mod solving;
mod symbols;
mod term;
mod token;
mod tree;
mod walk;

#[cfg(test)]
mod tests;

use std::fmt;

use crate::config::Config;
use crate::verification::Status;

/// A value as `SymPy` would hold it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Value {
    inner: term::Value,
}

/// What the comparison of two values came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// `None` where Math-Verify would run out of time and the truth is not known either.
    pub equal: Option<bool>,
    /// [`Status::Decided`], [`Status::Numeric`] or [`Status::TooComplex`].
    pub status: Status,
    /// The argument that settled it.
    pub method: &'static str,
}

impl Judgement {
    fn decided(equal: bool, method: &'static str) -> Self {
        Self {
            equal: Some(equal),
            status: Status::Decided,
            method,
        }
    }

    fn numeric(equal: bool, method: &'static str) -> Self {
        Self {
            equal: Some(equal),
            status: Status::Numeric,
            method,
        }
    }

    fn too_complex() -> Self {
        Self {
            equal: None,
            status: Status::TooComplex,
            method: "budget",
        }
    }

    fn is_true(self) -> bool {
        self.equal == Some(true)
    }

    /// Both: false where one is, open where one is open, and no surer than the less sure.
    fn and(self, other: Self) -> Self {
        match (self.equal, other.equal) {
            (Some(false), _) => self,
            (_, Some(false)) => other,
            (None, _) => self,
            (_, None) => other,
            _ if self.status == Status::Decided => other,
            _ => self,
        }
    }
}

/// The settings that bear on comparisons.
#[derive(Debug, Clone, Copy)]
struct Settings {
    float_rounding: u32,
    numeric_precision: u32,
}

/// Where one of these stands in a text, Math-Verify takes its symbols for complex numbers.
const COMPLEX_SIGNS: &[&str] = &[
    "\\mathbb{C}",
    "\\text{i}",
    "\\mathrm{i}",
    "\\det",
    "\\operatorname{tr}",
    "\\operatorname{rank}",
    "\\text{rank}",
    "\\arg{",
    "\\Re{",
    "\\Im{",
    "\\operatorname{Re}",
    "\\operatorname{Im}",
    "\\text{Re}",
    "\\text{Im}",
];

/// Does the text look like one about complex numbers or matrices? A lone `i` does it.
fn looks_complex(text: &str) -> bool {
    if text.contains('\\') && COMPLEX_SIGNS.iter().any(|sign| text.contains(sign)) {
        return true;
    }
    let is_word = |character: char| character.is_alphanumeric() || character == '_';
    let ends_word = |rest: &str| !rest.chars().next().is_some_and(is_word);
    let standalone = text.match_indices('i').any(|(at, _)| {
        let before = text[..at].chars().next_back();
        ends_word(&text[at + 1..]) && !before.is_some_and(is_word)
    });
    standalone
        || text
            .match_indices("\\imath")
            .any(|(at, found)| ends_word(&text[at + found.len()..]))
}

/// The part behind the last plain `=` of a chain; the whole where there is a comma, a semicolon, or no chain.
fn last_side(text: &str) -> &str {
    if text.contains([',', ';']) {
        return text;
    }
    let bytes = text.as_bytes();
    let mut signs = (0..bytes.len()).filter(|at| {
        bytes[*at] == b'=' && !(*at > 0 && matches!(bytes[at - 1], b'\\' | b'<' | b'!' | b'>'))
    });
    match (signs.next(), signs.next_back()) {
        (Some(_), Some(last)) => &text[last + 1..],
        _ => text,
    }
}

/// Texts longer than this are not read: Math-Verify runs out of time on them.
const MAX_LENGTH: usize = 40_000;

/// Reads normalised LaTeX; `None` where Math-Verify's parser raises an error.
pub(crate) fn parse_latex(normalized: &str) -> Option<Value> {
    if normalized.len() > MAX_LENGTH {
        return None;
    }
    let read = |text: &str| reading::read(text, !looks_complex(text), 0);
    let inner = read(normalized).or_else(|| {
        let last = last_side(normalized);
        if last.len() == normalized.len() {
            None
        } else {
            read(last)
        }
    })?;
    Some(Value { inner })
}

/// Reads plain arithmetic (`^` is a power); `None` where `SymPy`'s parser raises an error.
pub(crate) fn parse_arithmetic(text: &str) -> Option<Value> {
    if text.len() > MAX_LENGTH {
        return None;
    }
    arithmetic::parse(text).map(Value::from)
}

/// A plain number: an integer, or a float where there is a point.
pub(crate) fn number(text: &str) -> Option<Value> {
    numbers::parse(text).map(Value::from)
}

/// A hundredth of it, as Math-Verify writes percentages.
pub(crate) fn percent(value: Value) -> Value {
    Value {
        inner: match value.inner {
            term::Value::Term(term) => term::Value::Term(term.percent()),
            _ => term::Value::Foreign,
        },
    }
}

/// The set of the values of several formulas in a row; sets among them are merged.
pub(crate) fn joined(values: Vec<Value>) -> Value {
    let mut items = Vec::with_capacity(values.len());
    for value in values {
        match value.inner {
            term::Value::FiniteSet(members) => items.extend(members),
            other => items.push(other),
        }
    }
    Value {
        inner: term::Value::finite_set(items),
    }
}

/// Does Math-Verify hold two values for equal?
pub(crate) fn equal(gold: &Value, pred: &Value, config: &Config) -> Judgement {
    let settings = Settings {
        float_rounding: config.float_rounding,
        numeric_precision: config.numeric_precision,
    };
    judge::judge(
        &gold.inner,
        &pred.inner,
        settings,
        config.strict,
        config.allow_set_relation_comp,
    )
}

impl From<term::Term> for Value {
    fn from(term: term::Term) -> Self {
        Self {
            inner: term::Value::Term(term),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&display::text(&self.inner))
    }
}
