//! Ratios in words: "9 to 7", chances: "1 in 6", and mixed numbers: "two and a half".

use super::tail::tail;
use super::{maths, words};
use crate::lexicon::numbers;

/// The length of the number that `text` begins with; 0 if none.
fn number(text: &str) -> usize {
    let run = maths::run(text, 0).filter(|run| run.number);
    run.map_or(0, |run| run.end)
}

/// Does nothing follow that belongs to a ratio?
fn is_over(rest: &str) -> bool {
    rest.trim_start_matches(['*', '`', '"', ')'])
        .chars()
        .next()
        .is_none_or(|it| matches!(it, '.' | ',' | ';' | '!' | '\n'))
}

/// The chance that `text` begins with, as a fraction, where it is two whole numbers.
fn chance(text: &str, first: usize) -> Option<(String, usize)> {
    let joined = [" in ", " out of "]
        .into_iter()
        .find(|word| text[first..].starts_with(word))?;
    let from = first + joined.len();
    let end = from + number(&text[from..]);
    let whole = |range: &str| range.parse::<u64>().ok();
    let (some, all) = (whole(&text[..first])?, whole(&text[from..end])?);
    (some <= all && is_over(&text[end..])).then(|| (format!("{some}/{all}"), end))
}

/// The mixed number that `text` begins with, "two and a half hours", in digits, and its length.
fn mixed(text: &str) -> Option<(String, usize)> {
    let head = words::first_word(text);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = match digits {
        0 => numbers::cardinal(&head.to_ascii_lowercase())?.to_string(),
        _ => text[..digits].to_owned(),
    };
    let rest = text[head.len().max(digits)..].strip_prefix(" and ")?;
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
    let mut end = number(text);
    if end == 0 {
        return None;
    }
    let mut ratio = text[..end].to_owned();
    let mut parts = 1;
    while let Some(rest) = text[end..].strip_prefix(" to ") {
        let length = number(rest);
        if length == 0 {
            break;
        }
        ratio.push(':');
        ratio.push_str(&rest[..length]);
        end += 4 + length;
        parts += 1;
    }
    if parts == 1 {
        return chance(text, end);
    }
    is_over(&text[end..]).then_some((ratio, end))
}
