//! Ratios in words: "9 to 7", chances: "1 in 6", and mixed numbers: "two and a half".

use std::borrow::Cow;

use super::tail::tail;
use super::{maths, words};
use crate::lexicon::{in_lower_case, numbers};

/// What joins the parts of a ratio, and those of a chance.
const JOINED: [&str; 3] = [" to ", " in ", " out of "];

/// The number that `text` begins with, of one word in digits, and its length.
fn number(text: &str) -> Option<(Cow<'_, str>, usize)> {
    if let Some(run) = maths::run(text, 0).filter(|run| run.number) {
        return Some((Cow::Borrowed(&text[..run.end]), run.end));
    }
    let word = words::first_word(text);
    let value = in_lower_case(word, numbers::cardinal)?;
    Some((Cow::Owned(value.to_string()), word.len()))
}

/// Does nothing follow that belongs to a ratio?
fn is_over(rest: &str) -> bool {
    rest.trim_start_matches(['*', '`', '"', ')'])
        .chars()
        .next()
        .is_none_or(|it| matches!(it, '.' | ',' | ';' | '!' | '\n'))
}

/// The chance that `text` begins with, as a fraction, where it is two whole numbers.
fn chance(text: &str) -> Option<(String, usize)> {
    let (some, first) = number(text)?;
    let mut joined = JOINED[1..].iter();
    let joined = joined.find(|word| text[first..].starts_with(**word))?;
    let from = first + joined.len();
    let (all, length) = number(&text[from..])?;
    let end = from + length;
    let (some, all) = (some.parse::<u64>().ok()?, all.parse::<u64>().ok()?);
    (some <= all && is_over(&text[end..])).then(|| (format!("{some}/{all}"), end))
}

/// The mixed number that `text` begins with, "two and a half hours", or a fraction, "2 thirds", in digits, and its length.
pub(super) fn mixed(text: &str) -> Option<(String, usize)> {
    let head = words::first_word(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = match digits {
        0 => in_lower_case(head, numbers::cardinal)?.to_string(),
        _ => text[..digits].to_owned(),
    };
    let rest = text[head.len().max(digits)..].strip_prefix(' ')?;
    // "2 thirds"
    let name = words::first_word(rest);
    // The halves and quarters of a match are counted.
    let plural = numbers::denominator(name)
        .filter(|parts| digits > 0 && name.ends_with('s') && !matches!(parts, 2 | 4));
    let over = |it: usize| is_over(&text[it..]);
    if let Some(parts) = plural
        && let end = words::offset(text, name) + name.len()
        && over(end)
    {
        return Some((format!("{whole}/{parts}"), end));
    }
    let rest = rest.strip_prefix("and ")?;
    let count = words::first_word(rest);
    let some = match count {
        "a" | "an" => 1,
        _ => numbers::cardinal(count)?,
    };
    let name = words::first_word(rest[count.len()..].strip_prefix(' ')?);
    let parts = numbers::denominator(name).filter(|parts| some < *parts)?;
    let end = words::offset(text, name) + name.len();
    let tail = tail(&text[end..], true);
    let unit = &text[end + tail.unit.start..end + tail.unit.end];
    let end = end + tail.end;
    is_over(&text[end..]).then(|| (format!("{whole} {some}/{parts} {}", unit.trim()), end))
}

/// The ratio that `text` begins with, written with colons, or a chance as a fraction, and its length.
pub(super) fn leading(text: &str) -> Option<(String, usize)> {
    if let Some(found) = mixed(text) {
        return Some(found);
    }
    if !(text.contains(' ') && JOINED.iter().any(|it| text.contains(it))) {
        return None;
    }
    let (first, mut end) = number(text)?;
    let mut ratio = first.into_owned();
    let mut parts = 1;
    while let Some((next, length)) = text[end..].strip_prefix(JOINED[0]).and_then(number) {
        ratio.push(':');
        ratio.push_str(&next);
        end += 4 + length;
        parts += 1;
    }
    if parts == 1 {
        return chance(text);
    }
    is_over(&text[end..]).then_some((ratio, end))
}
