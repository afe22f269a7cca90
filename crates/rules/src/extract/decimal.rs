//! Numbers with a decimal comma, written with a point.

use std::sync::LazyLock;

use regex::Regex;

use super::words;
use crate::algebra::work;
use crate::answer::Answer;
use crate::config::DecimalMark::{self, Comma, Point};
use crate::{parse, pattern};

/// What is said in a language with a decimal comma, as [`points`] has it; if commas are decimal ones anyway, [`of_commas`] follows.
pub(super) fn said(text: &str, mark: Option<DecimalMark>) -> Option<(String, bool)> {
    points(text, mark).filter(|_| mark != Some(Comma))
}

/// `text` with its numbers as English writes them, and whether one of them may be meant otherwise: "70.000" is 70000, "3,5"
/// is 3.5, "1.234,5" is 1234.5; a model may write English numbers in any language. `mark` decides what may be either. `None` where nothing changes.
fn points(text: &str, mark: Option<DecimalMark>) -> Option<(String, bool)> {
    if !text.contains([',', '.']) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let (mut changed, mut doubtful) = (false, false);
    let mut rest = text;
    while let Some(at) = rest.find(words::is_digit) {
        let (before, number) = rest.split_at(at);
        let length = words::leading(number, |it| it.is_ascii_digit() || matches!(it, '.' | ','));
        let token = number[..length].trim_end_matches(['.', ',']);
        out.push_str(before);
        let [comma, point] = [Comma, Point].map(|mark| value(token, mark));
        let either = comma.is_some() && point.is_some() && comma != point;
        doubtful |= either && mark.is_none();
        let written = match mark {
            // The parser reads points, and groups after commas, by itself.
            Some(Comma) => comma,
            Some(Point) if either => point,
            None if either && token.contains(',') => None,
            _ => comma.or(point),
        };
        changed |= written.as_ref().is_some_and(|it| it != token);
        out.push_str(written.as_deref().unwrap_or(token));
        rest = &number[token.len()..];
    }
    out.push_str(rest);
    (changed || doubtful).then_some((out, doubtful))
}

/// A number as `mark` has it, the other sign between groups of three digits; its decimals after a point.
fn value(token: &str, mark: DecimalMark) -> Option<String> {
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^(?:[0-9]+|[1-9][0-9]{0,2}(?:,[0-9]{3})+)(?:\.[0-9]+)?$"));
    let english = |it| match it {
        ',' if mark == Comma => '.',
        '.' if mark == Comma => ',',
        other => other,
    };
    let english: String = token.chars().map(english).collect();
    NUMBER.is_match(&english).then(|| english.replace(',', ""))
}

/// A number with a comma and with a point before its decimals, which lose zeros at their end; three may be a group of digits.
fn values(number: &str) -> [Option<String>; 2] {
    [Comma, Point].map(|mark| {
        let value = value(number, mark)?;
        Some(match value.split_once('.') {
            Some((_, places)) if places.len() != 3 => {
                let short = value.trim_end_matches('0');
                short.trim_end_matches('.').to_owned()
            }
            _ => value,
        })
    })
}

/// An answer whose commas are decimal ones, written with points; `None` where nothing changes. In brackets commas stand between entries.
pub(crate) fn of_commas(text: &str) -> Option<String> {
    let brackets = ["\\{", "\\in", "\\langle"];
    let entries = text.contains(['(', '[', '_'])
        || brackets.iter().any(|it| text.contains(it))
        || text.starts_with('{');
    let (pointed, _) = points(text, Some(Comma)).filter(|_| !entries)?;
    Some(pointed)
}

impl DecimalMark {
    /// The mark of an answer that is a number and can be read with one mark alone, or is the `other` answer when read so.
    ///
    /// ```
    /// use juror_rules::DecimalMark;
    ///
    /// assert_eq!(DecimalMark::shown("1.234,5", ""), Some(DecimalMark::Comma));
    /// assert_eq!(DecimalMark::shown("7.5", "7,5"), Some(DecimalMark::Point));
    /// // Two numbers, or one.
    /// assert_eq!(DecimalMark::shown("7,5", "7,5"), None);
    /// assert_eq!(DecimalMark::shown("7,5", "7.5"), Some(DecimalMark::Comma));
    /// ```
    pub fn shown(answer: &str, other: &str) -> Option<Self> {
        let number = |text| str::trim_matches(text, |it: char| !it.is_ascii_digit());
        let before = &answer[..answer.find(number(answer))?];
        let [comma, point] = values(number(answer));
        if comma == point || before.contains(['(', '[', '{']) {
            return None;
        }
        // Beside a unit "7,5" is one number, else perhaps two.
        let quantity = || matches!(parse::parse(answer), Ok(Answer::Quantity(_)));
        let sure = answer.contains('.') || work::limited(answer.len(), quantity);
        if sure && comma.is_some() != point.is_some() {
            return Some(if comma.is_some() { Comma } else { Point });
        }
        let [a, b] = values(number(other));
        let other = b.filter(|it| !other.contains(',') && a.is_none_or(|a| a == *it))?;
        match (comma, point) {
            (Some(comma), _) if comma == other => Some(Comma),
            (_, Some(point)) if point == other => Some(Point),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
