//! Metadata whose values are checked as they are read, and whose keys must all be known.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::header::{List, MetadataValue};
use crate::checkpoint::{CheckpointError, Result};

/// A file's metadata with the path that messages name. It records which keys were read.
pub(super) struct Metadata<'a> {
    values: &'a BTreeMap<String, MetadataValue>,
    path: &'a str,
    asked: RefCell<BTreeSet<String>>,
}

impl<'a> Metadata<'a> {
    pub(super) fn new(values: &'a BTreeMap<String, MetadataValue>, path: &'a str) -> Self {
        Self {
            values,
            path,
            asked: RefCell::default(),
        }
    }

    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(CheckpointError::Config {
            path: self.path.into(),
            message: message.into(),
        })
    }

    /// A key with the architecture's name before it.
    pub(super) fn key(&self, name: &str) -> String {
        let architecture = self.text("general.architecture").ok().flatten();
        format!("{}.{name}", architecture.unwrap_or_default())
    }

    fn get(&self, key: &str) -> Option<&'a MetadataValue> {
        self.asked.borrow_mut().insert(key.to_owned());
        self.values.get(key)
    }

    fn wrong<T>(&self, key: &str, wanted: &str) -> Result<T> {
        match self.values.get(key) {
            Some(value) => self.fail(format!("{key} is {value}, not {wanted}")),
            None => self.lacks(key),
        }
    }

    /// A number that counts something; `None` if it is absent or zero.
    pub(super) fn optional_size(&self, key: &str) -> Result<Option<usize>> {
        let whole = match self.get(key) {
            None => return Ok(None),
            Some(MetadataValue::Unsigned(size)) => Some(*size),
            Some(MetadataValue::Signed(size)) => u64::try_from(*size).ok(),
            // One number for each layer; they must all be the same.
            Some(MetadataValue::List(List::Unsigned(sizes))) => same(sizes),
            Some(MetadataValue::List(List::Signed(sizes))) => {
                same(sizes).and_then(|size| u64::try_from(size).ok())
            }
            Some(_) => None,
        };
        match whole {
            Some(size) if size < 1 << 31 => Ok((size > 0).then_some(size as usize)),
            _ => self.wrong(key, "one size"),
        }
    }

    pub(super) fn size(&self, key: &str) -> Result<usize> {
        self.optional_size(key)?.map_or_else(|| self.lacks(key), Ok)
    }

    pub(super) fn lacks<T>(&self, key: &str) -> Result<T> {
        self.fail(format!("no {key} in its metadata"))
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<f64>> {
        match self.get(key) {
            None => Ok(None),
            Some(MetadataValue::Float(number)) if number.is_finite() => Ok(Some(*number)),
            Some(MetadataValue::Unsigned(number)) => Ok(Some(*number as f64)),
            Some(MetadataValue::Signed(number)) => Ok(Some(*number as f64)),
            Some(_) => self.wrong(key, "a number"),
        }
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&'a str>> {
        match self.get(key) {
            None => Ok(None),
            Some(MetadataValue::Text(text)) => Ok(Some(text)),
            Some(_) => self.wrong(key, "a text"),
        }
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>> {
        match self.get(key) {
            None => Ok(None),
            Some(MetadataValue::Bool(flag)) => Ok(Some(*flag)),
            Some(_) => self.wrong(key, "true or false"),
        }
    }

    /// A list of true and false; `None` if it is absent, or of another kind.
    pub(super) fn flags(&self, key: &str) -> Option<&'a [bool]> {
        match self.get(key) {
            Some(MetadataValue::List(List::Bool(flags))) => Some(flags),
            _ => None,
        }
    }

    /// A token's id, which may be zero.
    pub(super) fn token(&self, key: &str) -> Result<Option<usize>> {
        match self.get(key) {
            Some(MetadataValue::Unsigned(id)) if *id < 1 << 31 => Ok(Some(*id as usize)),
            // Some tools write a missing token like this.
            None | Some(MetadataValue::Signed(-1) | MetadataValue::Unsigned(0xffff_ffff)) => {
                Ok(None)
            }
            Some(MetadataValue::Signed(id)) if (0..1 << 31).contains(id) => Ok(Some(*id as usize)),
            Some(_) => self.wrong(key, "a token's number"),
        }
    }

    pub(super) fn texts(&self, key: &str) -> Result<Option<&'a [String]>> {
        match self.get(key) {
            None => Ok(None),
            Some(MetadataValue::List(List::Text(texts))) => Ok(Some(texts)),
            Some(_) => self.wrong(key, "a list of texts"),
        }
    }

    pub(super) fn numbers(&self, key: &str) -> Result<Option<&'a [f64]>> {
        match self.get(key) {
            None => Ok(None),
            Some(MetadataValue::List(List::Float(numbers))) => Ok(Some(numbers)),
            Some(_) => self.wrong(key, "a list of numbers"),
        }
    }

    pub(super) fn integers(&self, key: &str) -> Result<Option<Vec<i64>>> {
        match self.get(key) {
            None => Ok(None),
            Some(MetadataValue::List(List::Signed(numbers))) => Ok(Some(numbers.clone())),
            Some(MetadataValue::List(List::Unsigned(numbers))) => Ok(Some(
                numbers
                    .iter()
                    .map(|number| i64::try_from(*number).unwrap_or(i64::MAX))
                    .collect(),
            )),
            Some(_) => self.wrong(key, "a list of whole numbers"),
        }
    }

    /// Fails unless a key is absent, zero, false or one of `allowed`.
    pub(super) fn must_be(&self, key: &str, allowed: &[MetadataValue]) -> Result<()> {
        match self.get(key) {
            Some(value) if !nothing(value) && !allowed.contains(value) => {
                self.fail(format!("{key} ({value}) is not supported"))
            }
            _ => Ok(()),
        }
    }

    /// Fails on the first key with this beginning that was never read and is not empty.
    pub(super) fn all_asked_for(&self, beginning: &str) -> Result<()> {
        let asked = self.asked.borrow();
        let unknown = self
            .values
            .iter()
            .find(|(key, value)| {
                key.starts_with(beginning) && !asked.contains(*key) && !nothing(value)
            })
            .map(|(key, _)| key);
        match unknown {
            None => Ok(()),
            Some(key) => self.wrong(key, "known here: it may change the result"),
        }
    }
}

fn nothing(value: &MetadataValue) -> bool {
    match value {
        MetadataValue::Unsigned(number) => *number == 0,
        MetadataValue::Signed(number) => *number == 0,
        MetadataValue::Bool(flag) => !flag,
        MetadataValue::Text(text) => text.is_empty(),
        MetadataValue::Float(_) | MetadataValue::List(_) => false,
    }
}

fn same<T: Copy + PartialEq>(list: &[T]) -> Option<T> {
    let first = *list.first()?;
    list.iter().all(|other| *other == first).then_some(first)
}
