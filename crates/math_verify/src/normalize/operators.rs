//! Operators without the braces that they need.

use super::basic::{apply, positions};
use super::rewrite::{Rewriting, replaced};
use crate::chars::{byte_at, digit_len, digits_end, is_space, space_len};

/// Python reads no longer integer.
const LONGEST_INTEGER: usize = 4300;

/// All steps in Math-Verify's order.
pub(super) fn with_braces(text: &mut String) {
    if !text.contains(['\\', '^', '/', 's']) {
        return;
    }
    apply(text, |text| parentheses_to_braces(text, "^", "^{"));
    apply(text, |text| parentheses_to_braces(text, "sqrt", "\\sqrt{"));
    apply(text, |text| two_digits(text, "\\frac"));
    apply(text, |text| two_digits(text, "\\log_"));
    apply(text, braces_and_digit);
    apply(text, digit_and_braces);
    apply(text, sqrt_digit);
    apply(text, |text| replaced(text, " sqrt", "\\sqrt"));
    apply(text, sqrt_one);
    apply(text, frac_two);
    apply(text, slash);
}

/// After at most one white-space character.
fn after_space(text: &str, at: usize) -> usize {
    at + space_len(text, at)
}

fn after_digit(text: &str, at: usize) -> Option<usize> {
    match digit_len(text, at) {
        0 => None,
        length => Some(at + length),
    }
}

/// The places where `word` stands, none inside another.
fn places(text: &str, word: &'static str) -> impl Iterator<Item = usize> {
    text.match_indices(word).map(|(at, _)| at)
}

/// `^(…)` to `^{…}`: up to the first closing parenthesis.
fn parentheses_to_braces(text: &str, operator: &'static str, with: &str) -> Option<String> {
    let mut new = Rewriting::of(text);
    for at in places(text, operator) {
        let open = after_space(text, at + operator.len());
        if new.is_past(at) || byte_at(text, open) != b'(' {
            continue;
        }
        let Some(length) = text.get(open + 1..).and_then(|rest| rest.find(')')) else {
            break;
        };
        let close = open + 1 + length;
        new.replace(at, close + 1, &[with, &text[open + 1..close], "}"]);
    }
    new.finish()
}

/// `\frac12` to `\frac{1}{2}`: all digits from the second on are one group.
fn two_digits(text: &str, operator: &'static str) -> Option<String> {
    let mut new = Rewriting::of(text);
    for at in places(text, operator) {
        let first = after_space(text, at + operator.len());
        let Some(first_end) = after_digit(text, first) else {
            continue;
        };
        let second = after_space(text, first_end);
        let end = digits_end(text, second);
        if end > second {
            let (first, second) = (&text[first..first_end], &text[second..end]);
            new.replace(at, end, &[operator, "{", first, "}{", second, "}"]);
        }
    }
    new.finish()
}

/// `\frac{…}2` to `\frac{…}{2}`: up to the first brace with a digit after it, whatever it closes.
fn braces_and_digit(text: &str) -> Option<String> {
    let mut new = Rewriting::of(text);
    let mut braces = positions(text, b'}')
        .filter(|close| digit_len(text, after_space(text, close + 1)) > 0)
        .peekable();
    for at in places(text, "\\frac") {
        let open = after_space(text, at + 5);
        if new.is_past(at) || byte_at(text, open) != b'{' {
            continue;
        }
        while braces.next_if(|close| *close <= open).is_some() {}
        let Some(close) = braces.next() else {
            break;
        };
        let digit = after_space(text, close + 1);
        let end = digit + digit_len(text, digit);
        let (above, below) = (&text[open + 1..close], &text[digit..end]);
        new.replace(at, end, &["\\frac{", above, "}{", below, "}"]);
    }
    new.finish()
}

/// `\frac1{…}` to `\frac{1}{…}`: up to the first closing brace.
fn digit_and_braces(text: &str) -> Option<String> {
    let mut new = Rewriting::of(text);
    for at in places(text, "\\frac") {
        let digit = after_space(text, at + 5);
        let Some(digit_end) = after_digit(text, digit) else {
            continue;
        };
        let open = after_space(text, digit_end);
        if new.is_past(at) || byte_at(text, open) != b'{' {
            continue;
        }
        let Some(length) = text.get(open + 1..).and_then(|rest| rest.find('}')) else {
            break;
        };
        let close = open + 1 + length;
        let (above, below) = (&text[digit..digit_end], &text[open + 1..close]);
        new.replace(at, close + 1, &["\\frac{", above, "}{", below, "}"]);
    }
    new.finish()
}

/// `\sqrt2` to `\sqrt{2}`.
fn sqrt_digit(text: &str) -> Option<String> {
    let mut new = Rewriting::of(text);
    for at in places(text, "\\sqrt") {
        let digit = after_space(text, at + 5);
        if let Some(end) = after_digit(text, digit) {
            new.replace(at, end, &["\\sqrt{", &text[digit..end], "}"]);
        }
    }
    new.finish()
}

/// The one character after `\sqrt` into braces.
fn sqrt_one(text: &str) -> Option<String> {
    let mut new = Rewriting::of(text);
    for at in places(text, "\\sqrt") {
        let after = at + 5;
        let rest = text.get(after..).unwrap_or_default();
        let own = rest.find("\\sqrt").map_or(rest, |next| &rest[..next]);
        let bare = own.trim_start_matches(is_space);
        let start = after + (own.len() - bare.len());
        new.cut(after, start);
        if let Some(first) = bare.chars().next().filter(|c| !['{', '['].contains(c)) {
            let end = start + first.len_utf8();
            new.replace(start, end, &["{", &text[start..end], "}"]);
        }
    }
    new.finish()
}

/// The two characters after `\frac` into braces; nothing at all if they are missing somewhere.
fn frac_two(text: &str) -> Option<String> {
    let mut pieces = text.split("\\frac");
    let mut new = pieces.next()?.to_owned();
    for piece in pieces {
        let piece = piece.trim_start_matches(is_space);
        new.push_str("\\frac");
        if piece.starts_with('{') {
            new.push_str(piece);
            continue;
        }
        let mut rest = piece.chars();
        let (first, second) = (rest.next()?, rest.next()?);
        new.extend(['{', first, '}']);
        if second == '{' {
            new.push('{');
        } else {
            new.extend(['{', second, '}']);
        }
        new.push_str(rest.as_str());
    }
    Some(new)
}

/// `a/b` with integers as Python prints them to `\frac{a}{b}`.
fn slash(text: &str) -> Option<String> {
    let (numerator, denominator) = text.split_once('/')?;
    (is_integer(numerator) && is_integer(denominator))
        .then(|| format!("\\frac{{{numerator}}}{{{denominator}}}"))
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let canonical = match digits.as_bytes() {
        [b'0'] => text == "0",
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    canonical && digits.len() <= LONGEST_INTEGER
}
