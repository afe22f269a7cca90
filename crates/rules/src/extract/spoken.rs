//! Mathematics and times of day as people say them, where they are all of an answer: "the square root of 18", "half past three".
//!
//! What is said is a row of `lexicon/spoken.tsv`: words, and places for values.

use std::sync::LazyLock;

use super::words::is_unit;
use crate::lexicon::{SPOKEN, numbers, rows, words};

/// How long such a text is at most, in bytes.
const LONGEST: usize = 64;

/// One item of a row.
#[derive(Debug, Clone)]
enum Item {
    /// One of these words; may it be missing?
    Word(Vec<&'static str>, bool),
    /// What a place in angles holds.
    Place(&'static str),
}

/// What is said, how many words that is at least, and how it is written.
static ROWS: LazyLock<Vec<(Vec<Item>, usize, &'static str)>> = LazyLock::new(|| {
    let item = |it: &'static str| match it.strip_suffix('?') {
        _ if it.starts_with('<') => Item::Place(it),
        Some(word) => Item::Word(word.split('|').collect(), true),
        None => Item::Word(it.split('|').collect(), false),
    };
    let row = |row: Vec<&'static str>| match row[..] {
        [said, written] => {
            let items: Vec<Item> = said.split(' ').map(item).collect();
            let needed = items.iter().filter(|it| !matches!(it, Item::Word(_, true)));
            Some((items.clone(), needed.count(), written))
        }
        _ => None,
    };
    rows(SPOKEN).filter_map(row).collect()
});

/// The words of which one stands in whatever is said so.
static SAID: LazyLock<words::Words> = LazyLock::new(|| {
    let said = rows(SPOKEN).filter_map(|row| row.first().copied());
    let lists = [&words::ALL_REAL_NUMBERS_BUT, &words::HOLDS_FOR, &words::ONE];
    let all = said.chain(lists.into_iter().flat_map(|it| it.iter()));
    let words = all.flat_map(|it| it.split([' ', '|', '?']));
    words::Words::of(words.filter(|it| !it.is_empty()).collect())
});

/// What is said, in signs.
pub(super) fn written(text: &str) -> Option<String> {
    let said = || text.split(' ').any(|it| SAID.contains(it));
    if text.len() > LONGEST || !text.contains(' ') || !said() {
        return None;
    }
    if words::ALL_REAL_NUMBERS_BUT
        .begin(&text.to_ascii_lowercase())
        .is_some()
    {
        return Some(text.to_owned());
    }
    let all: Vec<&str> = text.split(' ').collect();
    let bare = match all.as_slice() {
        [first, rest @ ..] if words::BEFORE_SPOKEN.contains(first) => rest,
        all => all,
    };
    let written = |said: &[&str]| {
        let mut rows = ROWS.iter();
        rows.find_map(|(items, needed, template)| {
            let open = matches!(items.last(), Some(Item::Place("<places>")));
            if said.len() < *needed || said.len() > items.len() && !open {
                return None;
            }
            let mut places = Vec::new();
            holds(items, said, &mut places).then(|| filled(template, &places))
        })
    };
    // "The inequality holds for all x greater than 2."
    let held = || {
        let said = bare.join(" ").to_ascii_lowercase();
        let (_, rest) = words::HOLDS_FOR
            .begin(&said)
            .filter(|it| it.1.starts_with(' '))?;
        written(&rest.trim_start().split(' ').collect::<Vec<_>>())
    };
    written(&all).or_else(|| written(bare)).or_else(held)
}

/// Do the items stand for all of what is said? What the places hold, in signs.
fn holds(items: &[Item], said: &[&str], places: &mut Vec<String>) -> bool {
    let Some((item, rest)) = items.split_first() else {
        return said.is_empty();
    };
    let (first, following) = match said.split_first() {
        Some((first, following)) => (*first, following),
        None => ("", said),
    };
    match item {
        Item::Word(words, optional) => {
            let is = words.iter().any(|it| it.eq_ignore_ascii_case(first));
            is && holds(rest, following, places) || *optional && holds(rest, said, places)
        }
        Item::Place("<places>") => {
            let digit = |it: &&str| operand(it).filter(|it| it.len() == 1);
            let digits: Option<String> = said.iter().map(digit).collect();
            let held = digits.filter(|it| rest.is_empty() && !it.is_empty());
            places.extend(held.clone());
            held.is_some()
        }
        Item::Place(place) => held(place, first).is_some_and(|value| {
            places.push(value);
            // What does not go on is taken out again.
            holds(rest, following, places) || places.pop().is_none()
        }),
    }
}

/// What one word is in a place.
fn held(place: &str, word: &str) -> Option<String> {
    if word.is_empty() {
        return None;
    }
    match place {
        "<value>" => operand(word),
        "<signed>" => signed(word),
        "<power>" => exponent(word),
        "<letter>" => (word.len() == 1 && word.starts_with(|it: char| it.is_ascii_alphabetic()))
            .then(|| word.to_owned()),
        "<unit>" => (word.len() > 2 && is_unit(word)).then(|| word.to_owned()),
        "<article>" => words::ONE.contains(word).then(|| word.to_owned()),
        "<hour>" => number(word, 1..=12).map(|it| it.to_string()),
        "<earlier>" => number(word, 1..=12).map(|it| ((it + 10) % 12 + 1).to_string()),
        "<minutes>" => number(word, 0..=59).map(|it| format!("{it:02}")),
        "<scale>" => numbers::scale(&word.to_ascii_lowercase()).map(|it| it.to_string()),
        _ => None,
    }
}

/// A whole number in a range.
fn number(word: &str, range: std::ops::RangeInclusive<u8>) -> Option<u8> {
    let number = operand(word)?.parse().ok();
    number.filter(|it| range.contains(it))
}

/// A template with what the places hold.
fn filled(template: &str, places: &[String]) -> String {
    let mut parts = template.split('$');
    let mut text = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let place = part.bytes().next().and_then(|it| it.checked_sub(b'1'));
        let held = place.and_then(|it| places.get(usize::from(it)));
        text.push_str(held.map_or("", |it| it));
        text.push_str(part.get(1..).unwrap_or(""));
    }
    text
}

/// An operand, which may be negative.
fn signed(word: &str) -> Option<String> {
    match word.strip_prefix(['-', '−']) {
        Some(rest) => Some(format!("-{}", operand(rest)?)),
        None => operand(word),
    }
}

/// A number in digits or in one word, or a letter.
fn operand(word: &str) -> Option<String> {
    let sign = |it: char| it.is_ascii_digit() || it == '.';
    if word.len() == 1 && word.bytes().all(|it| it.is_ascii_alphabetic()) || word.chars().all(sign)
    {
        return Some(word.to_owned());
    }
    numbers::cardinal(&word.to_ascii_lowercase()).map(|it| it.to_string())
}

/// "10th", "third", "5", "n".
fn exponent(word: &str) -> Option<String> {
    numbers::ordinal(&word.to_ascii_lowercase()).map_or_else(
        || operand(word.strip_suffix("th").unwrap_or(word)),
        |it| Some(it.to_string()),
    )
}
