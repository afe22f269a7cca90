//! Units after an answer, which Math-Verify drops without a look: its own list, not that of the lexicon.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::chars::{byte_before, char_before, is_digit, is_space, spaces_start, strip};

/// What counts as a unit, by its last byte; 0 for those that end in `.`, which stands for any character. A plural ending may follow each.
static UNITS: LazyLock<HashMap<u8, Vec<&'static str>>> = LazyLock::new(|| {
    let mut by_ending: HashMap<u8, Vec<&str>> = HashMap::new();
    for unit in include_str!("units.txt")
        .lines()
        .flat_map(|line| line.split('|'))
    {
        let last = byte_before(unit, unit.len());
        let ending = if last == b'.' { 0 } else { last };
        by_ending.entry(ending).or_default().push(unit);
    }
    by_ending
});

/// The text without a block of words at its end and without the two last units; `None` where nothing changes.
pub(super) fn without_units(text: &str) -> Option<&str> {
    let mut kept = without_words(text);
    for _ in 0..2 {
        kept = without_unit(kept);
    }
    (kept.len() != text.len()).then_some(kept)
}

/// Drops everything from the first `\text{` or `\mbox{` on if the text ends in a brace, or in one with a small power.
fn without_words(text: &str) -> &str {
    let first = ["\\text{", "\\mbox{"]
        .into_iter()
        .filter_map(|opening| Some((text.find(opening)?, opening.len())))
        .min();
    let kept = match first {
        Some((start, length)) if last_brace(text).is_some_and(|brace| brace >= start + length) => {
            text.get(..start).unwrap_or_default()
        }
        _ => text,
    };
    match strip(kept) {
        "" => text,
        kept => kept,
    }
}

/// The brace at the end of the text, or before a `^` and a digit at its end.
fn last_brace(text: &str) -> Option<usize> {
    if let Some(before) = text.strip_suffix('}') {
        return Some(before.len());
    }
    let digit = text.chars().next_back().filter(|c| is_digit(*c))?;
    let before = text
        .strip_suffix(digit)?
        .strip_suffix('^')?
        .strip_suffix('}')?;
    Some(before.len())
}

/// Drops a unit at the end that stands after a digit, a brace or a space.
fn without_unit(text: &str) -> &str {
    let bare = text.trim_end_matches(is_space);
    let mut kept = None;
    let mut try_ending = |bare: &str| {
        let last = byte_before(bare, bare.len());
        for unit in [last, 0]
            .iter()
            .filter_map(|ending| UNITS.get(ending))
            .flatten()
        {
            if let Some(end) = unit_start(bare, unit).and_then(|start| end_before(bare, start))
                && kept.is_none_or(|kept| end < kept)
            {
                kept = Some(end);
            }
        }
    };
    try_ending(bare);
    if let Some(bare) = bare.strip_suffix('s') {
        try_ending(bare);
        if let Some(bare) = bare.strip_suffix('e') {
            try_ending(bare);
        }
    }
    kept.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Where `unit` begins if `text` ends with it.
fn unit_start(text: &str, unit: &str) -> Option<usize> {
    if !unit.contains('.') {
        return text.strip_suffix(unit).map(str::len);
    }
    let mut rest = text.chars();
    let fits = unit.chars().rev().all(|of_unit| {
        rest.next_back()
            .is_some_and(|c| c == of_unit || of_unit == '.' && c != '\n')
    });
    fits.then_some(rest.as_str().len())
}

/// The end of what is kept if a unit begins at `start`: after the digit or the brace before the white space, or else after the first white space.
fn end_before(text: &str, start: usize) -> Option<usize> {
    let spaces = spaces_start(text, start);
    match char_before(text, spaces) {
        Some(c) if c == '}' || is_digit(c) => Some(spaces),
        _ => text
            .get(spaces..start)?
            .chars()
            .next()
            .map(|space| spaces + space.len_utf8()),
    }
}
