//! Other ways to read what was taken for an answer: a verdict of "different" stands only if none of them is equal.

use crate::config::DecimalMark::{self, Point};
use crate::lexicon::leading;
use crate::lexicon::numbers::roman;

/// What else `text` may be meant as: groups of three digits, an age, Roman numerals, a time span, natural logarithms.
pub(crate) fn of(text: &str, decimal: Option<DecimalMark>) -> Vec<String> {
    let mut found = Vec::new();
    // "12.000 Besucher"; 1.234 alone is a decimal.
    let (number, rest) = text.split_at(leading(text, |it| it.is_ascii_digit() || it == '.'));
    let mut groups = number.split('.');
    let first = groups.next().is_some_and(|it| matches!(it.len(), 1..=3));
    let plain = rest.is_empty() || number.starts_with('0') || !number.contains('.');
    if first && !plain && decimal != Some(Point) && groups.all(|it| it.len() == 3) {
        found.push(number.replace('.', "") + rest);
    }
    // "23 y/o"
    found.extend(text.strip_suffix(" y/o").map(str::to_owned));
    if text.len() > 1 {
        found.extend(roman(text).map(|it| it.to_string()));
    }
    found.extend(spans(text));
    found.extend(text.contains("log").then(|| text.replace("log", "ln")));
    found
}

/// The time spans that "2:30:45" or "2:30" may be.
fn spans(text: &str) -> Vec<String> {
    let digits = |it: &str| matches!(it.len(), 1..=3) && it.bytes().all(|it| it.is_ascii_digit());
    if !(text.contains(':') && text.split(':').all(digits)) {
        return Vec::new();
    }
    match text.split(':').collect::<Vec<_>>()[..] {
        [h, m, s] => vec![format!("{h} h {m} min {s} s")],
        [a, b] => vec![format!("{a} h {b} min"), format!("{a} min {b} s")],
        _ => Vec::new(),
    }
}
