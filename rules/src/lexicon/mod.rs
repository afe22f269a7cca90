//! What words, units and signs mean: tables of data that extraction, parsing and comparison share.
//!
//! | table | read by |
//! |---|---|
//! | `units.tsv`, `currencies.tsv` | [`units`] |
//! | `numbers.tsv` | [`numbers`] |
//! | `symbols.tsv`: LaTeX commands, functions, characters | the lexer, `parse::command` |
//! | `words.tsv`: lists of words by what they do | [`words`] |

pub(crate) mod numbers;
pub(crate) mod units;
pub(crate) mod words;

/// LaTeX commands, functions and characters: a meaning and its spellings, between spaces.
pub(crate) const SYMBOLS: &str = include_str!("symbols.tsv");

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
pub(crate) struct Table<K, V>(Vec<(K, V)>);

impl<K: Ord, V> FromIterator<(K, V)> for Table<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut entries: Vec<_> = entries.into_iter().collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries.dedup_by(|later, first| later.0 == first.0);
        Self(entries)
    }
}

impl<K: Ord, V: Copy> Table<K, V> {
    pub(crate) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: std::borrow::Borrow<Q>,
    {
        let found = self.0.binary_search_by(|(own, _)| own.borrow().cmp(key));
        found
            .ok()
            .and_then(|index| self.0.get(index))
            .map(|(_, value)| *value)
    }
}
