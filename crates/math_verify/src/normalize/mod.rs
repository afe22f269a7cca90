//! LaTeX as Math-Verify rewrites it before it parses.
//!
//! The rewriting is by text, not by meaning: units are letters at the end, primes are quotes. What comes out is what
//! is parsed, and what is compared as a string where that fails.

mod basic;
mod boxes;
mod operators;
mod rewrite;
mod units;

pub(super) use boxes::Boxes;

use super::chars::strip;
use crate::options::Normalization;

/// The normalised text of a formula.
pub(super) fn normalized(text: &str, boxes: Boxes, parts: Normalization) -> String {
    let mut text = boxes::unboxed(text, boxes).into_owned();
    basic::basic(&mut text);
    if parts.units {
        basic::apply(&mut text, |text| {
            units::without_units(text).map(str::to_owned)
        });
    }
    if parts.nits {
        if text.starts_with('.') {
            text.insert(0, '0');
        }
        if text == "0.5" {
            "\\frac{1}{2}".clone_into(&mut text);
        }
    }
    if parts.malformed_operators {
        operators::with_braces(&mut text);
    }
    let stripped = strip(&text);
    if stripped.len() == text.len() {
        text
    } else {
        stripped.to_owned()
    }
}

#[cfg(test)]
mod tests;
