//! A JSON object whose values are checked as they are read, and whose keys must all be known.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::Value;

use crate::checkpoint::{CheckpointError, Result};

/// Whether two values say the same, as 10000 and 10000.0 do.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(others)) => {
            let agree = |(key, value)| others.get(key).is_some_and(|other| same(value, other));
            one.len() == others.len() && one.iter().all(agree)
        }
        _ => one == other || one.as_f64().is_some_and(|one| other.as_f64() == Some(one)),
    }
}

/// A configuration with the path that its error messages name. It records which keys were read.
pub(in crate::checkpoint) struct Keys<'a> {
    value: &'a Value,
    path: &'a str,
    asked: RefCell<BTreeSet<String>>,
}

/// Keys that do not change the logits: names and versions, training, tokens, how libraries run the model; `*` ends a beginning.
const WITHOUT_EFFECT: &str = include_str!("keys_without_effect.txt");

impl<'a> Keys<'a> {
    pub(in crate::checkpoint) fn new(value: &'a Value, path: &'a str) -> Self {
        Self {
            value,
            path,
            asked: RefCell::default(),
        }
    }

    pub(in crate::checkpoint) fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(CheckpointError::Config {
            path: self.path.into(),
            message: message.into(),
        })
    }

    /// Whether a key is absent; null counts as present.
    pub(in crate::checkpoint) fn lacks(&self, key: &str) -> bool {
        self.value.get(key).is_none()
    }

    /// A key's value; `None` if it is absent or null.
    pub(in crate::checkpoint) fn get(&self, key: &str) -> Option<&'a Value> {
        self.asked.borrow_mut().insert(key.to_owned());
        self.value.get(key).filter(|value| !value.is_null())
    }

    /// What messages call the file.
    pub(in crate::checkpoint) fn path(&self) -> &'a str {
        self.path
    }

    /// As [`Self::all_asked_for`], with further keys that have no effect, one a line.
    pub(in crate::checkpoint) fn all_known(&self, more: &str) -> Result<()> {
        self.asked
            .borrow_mut()
            .extend(more.lines().map(str::to_owned));
        self.all_asked_for()
    }

    /// Fails on the first key that was never read and could matter: one that is neither known to have no effect, nor null, false or empty.
    pub(in crate::checkpoint) fn all_asked_for(&self) -> Result<()> {
        let asked = self.asked.borrow();
        let keys = self.value.as_object().into_iter().flatten();
        let mut unknown = keys.filter(|(key, value)| {
            let is_known = |known: &str| match known.strip_suffix('*') {
                Some(begin) => key.starts_with(begin),
                None => known == *key,
            };
            let harmless = WITHOUT_EFFECT.lines().any(is_known);
            !(is_nothing(value) || harmless || asked.contains(*key))
        });
        if let Some((key, value)) = unknown.next() {
            return self.fail(format!(
                "{key} ({}) is not supported with this architecture: it may change the result (if you know that it does \
                 not, take it out of config.json in a copy of the model's folder)",
                short(value)
            ));
        }
        Ok(())
    }

    pub(in crate::checkpoint) fn size(&self, key: &str) -> Result<usize> {
        self.optional_size(key)?
            .map_or_else(|| self.fail(format!("no {key}")), Ok)
    }

    pub(in crate::checkpoint) fn optional_size(&self, key: &str) -> Result<Option<usize>> {
        match self.get(key) {
            None => Ok(None),
            Some(value) => match value.as_u64() {
                Some(size) if (1..1 << 21).contains(&size) => Ok(Some(size as usize)),
                _ => self.fail(format!("{key} is {}, not a size", short(value))),
            },
        }
    }

    /// A positive number; `name` is what messages call it.
    pub(in crate::checkpoint) fn positive(&self, name: &str, value: Option<&Value>) -> Result<f64> {
        match value.map(Value::as_f64) {
            Some(Some(number)) if number > 0.0 && number.is_finite() => Ok(number),
            Some(_) => self.fail(format!("{name} is not a positive number")),
            None => self.fail(format!("no {name}")),
        }
    }

    pub(in crate::checkpoint) fn flag(&self, key: &str, default: bool) -> Result<bool> {
        match self.get(key) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(value) => self.fail(format!("{key} is {}, not true or false", short(value))),
        }
    }

    /// Fails unless a key is absent or has the one value that this decoder implements.
    pub(in crate::checkpoint) fn must_be(
        &self,
        key: &str,
        expected: impl Into<Value>,
    ) -> Result<()> {
        let expected = expected.into();
        match self.get(key) {
            Some(value) if !same(value, &expected) => self.fail(format!(
                "{key} {} is not supported, only {expected}",
                short(value)
            )),
            _ => Ok(()),
        }
    }

    pub(in crate::checkpoint) fn token_ids(&self, key: &str) -> Result<Vec<u32>> {
        let one = |value: &Value| value.as_u64().and_then(|id| u32::try_from(id).ok());
        let value = self.get(key);
        let ids = match value {
            None => Some(Vec::new()),
            Some(Value::Array(ids)) => ids.iter().map(one).collect(),
            Some(id) => one(id).map(|id| vec![id]),
        };
        match (ids, value) {
            (Some(ids), _) => Ok(ids),
            (None, value) => self.fail(format!(
                "{key} is {}, not a token id or a list of them",
                short(value.unwrap_or(&Value::Null))
            )),
        }
    }
}

/// Whether a value is null, false or empty: what a key may have that is not used.
pub(in crate::checkpoint) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}

/// A value as messages show it, shortened.
pub(in crate::checkpoint) fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
