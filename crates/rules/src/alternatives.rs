//! Other ways to read what was taken for an answer: a verdict of "different" stands only if none of them is equal.

use std::sync::LazyLock;

use regex::Regex;

use crate::config::DecimalMark::{self, Point};
use crate::extract::{of_commas, replaced};
use crate::lexicon::numbers::{denominator, roman};
use crate::lexicon::units::is_unit;
use crate::lexicon::{is_digit, leading};
use crate::pattern;

/// `text`, and what else it may be meant as: groups of three digits, a decimal comma, an age, Roman numerals, a time span, natural logarithms, a unit
/// or parts after a number, a multiple. `stated`: in a prediction, whose letter right behind a number may be a unit.
pub(crate) fn of(text: &str, decimal: Option<DecimalMark>, stated: bool) -> Vec<String> {
    let mut found = vec![text.to_owned()];
    // "12.000 Besucher"; 1.234 alone is a decimal.
    let (number, rest) = text.split_at(leading(text, |it| it.is_ascii_digit() || it == '.'));
    let mut groups = number.split('.');
    let first = groups.next().is_some_and(|it| matches!(it.len(), 1..=3));
    let plain = rest.is_empty() || number.starts_with('0') || !number.contains('.');
    if first && !plain && decimal != Some(Point) && groups.all(|it| it.len() == 3) {
        found.push(number.replace('.', "") + rest);
    }
    // "12,000 people": thousands
    let grouped = |it: &str| leading(it, |it| it.is_ascii_digit()) == 3;
    let digits = text.trim_start_matches(|it: char| !it.is_ascii_digit());
    let thousands = !digits.starts_with('0') && text.split(',').skip(1).all(grouped);
    if decimal.is_none() && !thousands {
        found.extend(of_commas(text));
    }
    // "1.35x"
    let multiple = rest == "x" && number.contains('.');
    found.extend(multiple.then(|| number.to_owned()));
    // "540m", "9.8m/s^2"
    let letter = &rest[..leading(rest, |it| it.is_ascii_alphabetic())];
    let decade = number.ends_with('0') && rest == "s";
    if stated && !number.is_empty() && !decade && letter.len() == 1 && is_unit(letter) {
        found.push(format!("{number} {rest}"));
    }
    // "3 quarters", "0.5 M", "250 cfm"
    if let Some(name) = rest.strip_prefix(' ').filter(|_| !number.is_empty()) {
        found.extend(is_unit(name).then(|| format!("{number}\\text{{ {name}}}")));
        found.extend(denominator(name).map(|it| format!("{number}/{it}")));
    }
    // "23 y/o"
    found.extend(text.strip_suffix(" y/o").map(str::to_owned));
    if text.len() > 1 {
        found.extend(roman(text).map(|it| it.to_string()));
    }
    found.extend(spans(text));
    found.extend(below_slash(text));
    found.extend(text.contains("log").then(|| text.replace("log", "ln")));
    found
}

/// The two forms in which a text may say one value: "3/4 (0.75)", "$5, or 5 dollars", "60 minutes = 1 hour".
pub(crate) fn forms(text: &str) -> Option<(&str, &str)> {
    let measure =
        |it: &str| it.starts_with(is_digit) && it.contains(' ') && !it.ends_with(is_digit);
    let measures = |it: &(&str, &str)| measure(it.0) && measure(it.1);
    let bracket = text.strip_suffix(')').map(|it| it.rsplit_once(" ("));
    let joined = |it| text.split_once(it);
    let said = joined(", or ").or_else(|| joined(" or "));
    bracket.unwrap_or_else(|| said.or_else(|| joined(" = ").filter(measures)))
}

/// `1/2\pi` as `1/(2\pi)`, which many mean by it where that is all; `None` where it is not written so.
pub(crate) fn below_slash(text: &str) -> Option<String> {
    static WHOLE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"^((?:[^=]*=)?\s*[-−+]?\s*)1/([0-9]+(?:\\pi|π))(\s*(?:$|≈|\\approx))")
    });
    let by = "${1}1/(${2})${3}";
    text.contains('/').then(|| replaced(&WHOLE, text, by))?
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
