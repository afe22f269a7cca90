//! Number words.

use std::sync::LazyLock;

use super::{Table, rows};

const TABLE: &str = include_str!("numbers.tsv");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberWord {
    /// It is a number below a hundred.
    Number(u64),
    /// It multiplies what stands before it: hundred, dozen.
    Scale(u64),
    /// It is a part, by its denominator: half, thirds.
    Part(u64),
    /// It is a place in a row: first.
    Place(u64),
}

static WORDS: LazyLock<Table<&'static str, NumberWord>> =
    LazyLock::new(|| number_words().collect());

fn entry(row: &[&'static str]) -> Option<(NumberWord, &'static str)> {
    let [does, value, words] = *row else {
        return None;
    };
    let value = value.parse().ok()?;
    let meaning = match does {
        "number" => NumberWord::Number(value),
        "scale" => NumberWord::Scale(value),
        "part" => NumberWord::Part(value),
        "place" => NumberWord::Place(value),
        _ => return None,
    };
    Some((meaning, words))
}

/// All number words, with what each does.
pub(crate) fn number_words() -> impl Iterator<Item = (&'static str, NumberWord)> {
    let entries = rows(TABLE).filter_map(|row| entry(&row));
    entries.flat_map(|(meaning, words)| words.split(' ').map(move |word| (word, meaning)))
}

/// What a word in lower case does in a number.
pub(crate) fn number_word(word: &str) -> Option<NumberWord> {
    WORDS.get(word)
}

/// The place in a row that a word in lower case names: 3 for `third`, which names a part too, and for `3rd`. "5st" is a product.
pub(crate) fn ordinal(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(|it: char| it.is_ascii_lowercase());
    if let Ok(value) = digits.parse::<u64>() {
        let teen = (11..=13).contains(&(value % 100));
        let last = usize::try_from(value % 10).ok().filter(|_| !teen);
        let ending = ["th", "st", "nd", "rd"]
            .get(last.unwrap_or(0))
            .unwrap_or(&"th");
        return (&word[digits.len()..] == *ending).then_some(value);
    }
    match number_word(word)? {
        NumberWord::Place(value) => Some(value),
        NumberWord::Part(value) if value > 2 && word.ends_with(['d', 'h']) => Some(value),
        _ => None,
    }
}

/// The number that a word in lower case is: `zero` to `ninety`.
pub(crate) fn cardinal(word: &str) -> Option<u64> {
    match number_word(word)? {
        NumberWord::Number(value) => Some(value),
        _ => None,
    }
}

/// The number that a Roman numeral up to twenty is.
pub(crate) fn roman(text: &str) -> Option<usize> {
    const NUMERALS: &str =
        "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX";
    if !text.bytes().all(|it| matches!(it, b'I' | b'V' | b'X')) {
        return None;
    }
    Some(NUMERALS.split(' ').position(|it| it == text)? + 1)
}

/// The number that a word in lower case multiplies by: `hundred`, `dozen`.
pub(crate) fn scale(word: &str) -> Option<u64> {
    match number_word(word)? {
        NumberWord::Scale(value) => Some(value),
        _ => None,
    }
}

/// The longest scale that a word in a script without spaces begins with: 百万 of 百万元.
pub(crate) fn leading_scale(word: &str) -> Option<&str> {
    let ends = word.char_indices().skip(1).map(|(end, _)| end);
    let starts = ends.chain([word.len()]).take(2).map(|end| &word[..end]);
    starts
        .filter(|start| !start.is_ascii() && scale(start).is_some())
        .last()
}

/// The denominator that a word in lower case names: 2 for `halves`.
pub(crate) fn denominator(word: &str) -> Option<u64> {
    match number_word(word)? {
        NumberWord::Part(value) => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
