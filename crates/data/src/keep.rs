//! Keys of a row that go into its verdicts.

use serde_json::{Map, Value as Json};

use super::path::KeyPath;
use super::row::Row;

/// Which keys of a row go into its verdicts, as [`Sample::kept`](super::Sample::kept).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Keep {
    paths: Vec<KeyPath>,
    /// Whether a key that no row has is allowed, instead of being an error.
    where_there: bool,
}

impl Keep {
    /// Every key of a row, in place of a name.
    const ALL: &'static str = "all";

    /// Reads keys and paths, or `all`.
    pub fn parse<S: AsRef<str>>(keys: impl IntoIterator<Item = S>) -> Self {
        let mut keep = Self::default();
        for key in keys {
            let path = KeyPath::parse(key.as_ref().trim());
            if !keep.paths.contains(&path) {
                keep.paths.push(path);
            }
        }
        keep
    }

    /// The same keys, which rows need not have.
    #[must_use]
    pub fn where_there(mut self) -> Self {
        self.where_there = true;
        self
    }

    /// Whether it is an error if no row has one of the keys.
    pub(super) fn is_strict(&self) -> bool {
        !self.where_there
    }

    /// Whether no key is kept.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The keys as they were given.
    pub fn keys(&self) -> Vec<String> {
        self.paths.iter().map(|path| path.text().into()).collect()
    }

    /// Marks the keys that a row has, by its kept values.
    pub fn mark(&self, kept: &Map<String, Json>, found: &mut [bool]) {
        for (path, found) in self.paths.iter().zip(found) {
            *found |=
                kept.contains_key(path.text()) || (path.text() == Self::ALL && !kept.is_empty());
        }
    }

    /// The keys that are not marked in `found`, as text for a message; `None` if all are.
    pub fn nowhere(&self, found: &[bool]) -> Option<String> {
        let nowhere = self.paths.iter().zip(found).filter(|(_, found)| !**found);
        let nowhere: Vec<&str> = nowhere.map(|(path, _)| path.text()).collect();
        (!nowhere.is_empty()).then(|| nowhere.join(", "))
    }

    /// The values of a row's kept keys, a list where a path leads to several; keys that the row does not have are left out. `all` leaves out `responses`, the key
    /// that holds a list of responses, which would be repeated with each of them.
    pub(super) fn select(
        &self,
        row: &Row,
        responses: Option<&str>,
    ) -> Result<Map<String, Json>, String> {
        let mut kept = Map::new();
        for path in &self.paths {
            if path.text() == Self::ALL && !row.has(Self::ALL) {
                for key in row.keys().filter(|key| Some(&**key) != responses) {
                    if let Some(value) = row.get(&key)? {
                        kept.insert(key.to_string(), value.json(&key)?);
                    }
                }
                continue;
            }
            let values = path.find(row)?;
            let mut values = values.iter().map(|value| value.json(path.text()));
            if values.len() > 1 || path.is_of_each() && values.len() > 0 {
                kept.insert(path.text().to_owned(), values.collect::<Result<_, _>>()?);
            } else if let Some(value) = values.next() {
                kept.insert(path.text().to_owned(), value?);
            }
        }
        Ok(kept)
    }
}
