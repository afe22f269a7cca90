//! What words, units and signs mean: tables of data that extraction, parsing and comparison share.
//!
//! | table | read by |
//! |---|---|
//! | `units.tsv`, `prefixes.tsv`, `currencies.tsv` | [`units`] |
//! | `numbers.tsv` | [`numbers`] |
//! | `symbols.tsv`: LaTeX commands, functions, characters | the lexer, `parse::command` |
//! | `words.tsv`: lists of words by what they do | [`words`] |
//! | `spoken.tsv`: mathematics as people say it | `extract::spoken` |
//! | `beside.tsv`: what stands beside a value and makes it another | `extract::beside` |

use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

pub(crate) mod numbers;
pub(crate) mod units;
pub(crate) mod words;

/// LaTeX commands, functions and characters: a meaning and its spellings, between spaces.
pub(crate) const SYMBOLS: &str = include_str!("symbols.tsv");

/// What stands beside a value and makes it another: for which answers, where, and the pattern.
pub(crate) const BESIDE: &str = include_str!("beside.tsv");

/// Mathematics as people say it, and what that is in signs.
pub(crate) const SPOKEN: &str = include_str!("spoken.tsv");

/// A word in lower case, as most words are.
pub(crate) fn lower_case(word: &str) -> Cow<'_, str> {
    if word.bytes().any(|it| it.is_ascii_uppercase()) {
        word.to_ascii_lowercase().into()
    } else {
        word.into()
    }
}

pub(crate) fn in_lower_case<T>(word: &str, look: impl FnOnce(&str) -> T) -> T {
    look(&lower_case(word))
}

pub(crate) fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}

/// How many letters a text begins with, at most `most`.
pub(crate) fn letters(text: &str, most: usize) -> usize {
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic);
    letters.take(most).count()
}

/// The length of what a text begins with whose characters are all such.
pub(crate) fn leading(text: &str, such: impl Fn(char) -> bool) -> usize {
    text.find(|it| !such(it)).unwrap_or(text.len())
}

/// The last bytes of a text, so many at most.
pub(crate) fn ending(text: &str, most: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(most))..]
}

/// The rows of a table: fields between tabs. Empty lines and those that begin with `#` are left out.
pub(crate) fn rows(table: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| line.split('\t').collect())
}

/// The names in a field, between commas.
fn names(field: &'static str) -> impl Iterator<Item = &'static str> {
    field.split(", ").filter(|name| !name.is_empty())
}

/// Values by key. Of a key that occurs several times the first one counts.
#[derive(Debug)]
pub(crate) struct Table<K, V>(HashMap<K, V, BuildHasherDefault<KeyHasher>>);

impl<K: Hash + Eq, V> FromIterator<(K, V)> for Table<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut table = HashMap::default();
        for (key, value) in entries {
            table.entry(key).or_insert(value);
        }
        Self(table)
    }
}

impl<K: Hash + Eq, V: Copy> Table<K, V> {
    pub(crate) fn get<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key).copied()
    }
}

/// Eight bytes at a time: the keys are short, and the tables constant, so that no text can make its words collide.
#[derive(Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl KeyHasher {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((eight, after)) = rest.split_first_chunk() {
            self.mix(u64::from_le_bytes(*eight));
            rest = after;
        }
        // Two halves may overlap.
        if let (Some(head), Some(tail)) = (rest.first_chunk(), rest.last_chunk()) {
            let (head, tail) = (u32::from_le_bytes(*head), u32::from_le_bytes(*tail));
            self.mix(u64::from(head) << 32 | u64::from(tail));
        } else if let (Some(first), Some(last)) = (rest.first(), rest.last()) {
            let middle = rest[rest.len() / 2];
            self.mix(u64::from(*first) << 16 | u64::from(middle) << 8 | u64::from(*last));
        }
    }

    /// What ends a text, and the length of a slice: a key is all that is hashed.
    fn write_u8(&mut self, _: u8) {}
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
