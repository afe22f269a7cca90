//! Words and phrases by what they do.

use std::sync::LazyLock;

use super::{names, rows};

const TABLE: &str = include_str!("words.tsv");

/// Words and phrases that do the same.
#[derive(Debug)]
pub(crate) struct Words(Vec<&'static str>);

impl Words {
    /// All lines of `words.tsv` with this name.
    pub(crate) fn named(name: &str) -> Self {
        let lines = rows(TABLE).filter(|row| row[0] == name);
        let mut words: Vec<_> = lines
            .flat_map(|row| names(row.get(1).copied().unwrap_or("")))
            .collect();
        words.sort_by_cached_key(|word| word.to_ascii_lowercase());
        Self(words)
    }

    /// Is a word among them, whatever its case?
    pub(crate) fn contains(&self, word: &str) -> bool {
        self.0
            .binary_search_by(|own| lower_case(own).cmp(lower_case(word)))
            .is_ok()
    }

    /// Is one of them what a text begins with, in this case? The longest one, and what follows it.
    pub(crate) fn begin<'t>(&self, text: &'t str) -> Option<(&'static str, &'t str)> {
        let begins = self.0.iter().rev();
        begins
            .filter_map(|own| Some((*own, text.strip_prefix(*own)?)))
            .max_by_key(|(own, _)| own.len())
    }

    /// Is a word among them, in this case?
    pub(crate) fn contains_exactly(&self, word: &str) -> bool {
        self.0.contains(&word)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().copied()
    }
}

fn lower_case(text: &str) -> impl Iterator<Item = u8> {
    text.bytes().map(|byte| byte.to_ascii_lowercase())
}

/// A list of `words.tsv`.
type List = LazyLock<Words>;

pub(crate) static APPROXIMATELY: List = LazyLock::new(|| Words::named("approximately"));
pub(crate) static OPERATION: List = LazyLock::new(|| Words::named("operation"));
pub(crate) static STATING: List = LazyLock::new(|| Words::named("stating"));
pub(crate) static NO_LABEL: List = LazyLock::new(|| Words::named("no label"));
pub(crate) static PERCENT: List = LazyLock::new(|| Words::named("percent"));
pub(crate) static SHORT_WORD: List = LazyLock::new(|| Words::named("short word"));
pub(crate) static CAPITALS: List = LazyLock::new(|| Words::named("capitals"));
pub(crate) static FUNCTION_IN_RUN: List = LazyLock::new(|| Words::named("function in run"));
pub(crate) static NO_FUNCTION_IN_RUN: List = LazyLock::new(|| Words::named("no function in run"));
pub(crate) static TRUE: List = LazyLock::new(|| Words::named("true"));
pub(crate) static FALSE: List = LazyLock::new(|| Words::named("false"));
pub(crate) static NO_VALUE: List = LazyLock::new(|| Words::named("no value"));
pub(crate) static EMPTY_SET: List = LazyLock::new(|| Words::named("empty set"));
pub(crate) static ALL_REAL_NUMBERS: List = LazyLock::new(|| Words::named("all real numbers"));
pub(crate) static ALL_REAL_NUMBERS_BUT: List =
    LazyLock::new(|| Words::named("all real numbers but"));
pub(crate) static BEFORE_NO_SOLUTION: List = LazyLock::new(|| Words::named("before no solution"));
pub(crate) static NO_SOLUTION: List = LazyLock::new(|| Words::named("no solution"));
pub(crate) static KIND_OF_ANSWER: List = LazyLock::new(|| Words::named("kind of answer"));
pub(crate) static QUANTIFIER: List = LazyLock::new(|| Words::named("quantifier"));
pub(crate) static ELEMENT: List = LazyLock::new(|| Words::named("element"));
pub(crate) static MOLECULE: List = LazyLock::new(|| Words::named("molecule"));
