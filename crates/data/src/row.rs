//! One line as a JSON object whose values are parsed only when asked for.
//!
//! Until then values stay text (raw values of `serde_json`): unused columns cost nothing, and a number keeps all the digits it was written with.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::json_text::{JsonText, with_all_digits};
use super::messages::{Messages, listed};

/// A well-formed JSON object whose values are not parsed yet.
pub(crate) struct Row<'a> {
    /// The whole line, for column numbers in messages.
    line: &'a JsonText<'a>,
    entries: Entries<'a>,
    /// The indices of the entries in the order of their keys, since a row of a hundred thousand columns is searched for each.
    sorted: Vec<u32>,
    /// The indices of the entries whose keys have capitals, spaces or hyphens, in the order of their plain spellings.
    respelled: Vec<u32>,
}

/// One value of a row, as JSON text.
#[derive(Clone, Copy)]
pub(super) struct RowValue<'a> {
    line: &'a JsonText<'a>,
    raw: &'a str,
}

impl<'a> Row<'a> {
    pub(super) fn parse(json: &'a JsonText<'a>) -> Result<Self, String> {
        let line = json.as_str();
        let found = match line.trim_start().as_bytes().first() {
            Some(b'[') => "a JSON array",
            Some(b'"') => "a JSON string",
            Some(b'0'..=b'9' | b'-') => "a number",
            _ if line.trim() == "null" => "null",
            _ if matches!(line.trim(), "true" | "false") => "true or false",
            _ => {
                let entries = Entries::parse(line, json)?;
                let mut sorted: Vec<u32> = (0..entries.places.len() as u32).collect();
                sorted.sort_by_key(|&place| entries.get(place).0);
                let mut respelled = sorted.clone();
                respelled.retain(|&place| entries.spelled_plainly(place).is_some());
                respelled.sort_by_key(|&place| entries.spelled_plainly(place));
                return Ok(Self {
                    line: json,
                    entries,
                    sorted,
                    respelled,
                });
            }
        };
        Err(format!(
            "{found}, not an object: every row must be one JSON object"
        ))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.of_key(key).next().is_some()
    }

    fn of_key<'r>(&'r self, key: &'r str) -> impl Iterator<Item = (Cow<'a, str>, &'a str)> {
        let entry = |place: &u32| self.entries.get(*place);
        let first = self.sorted.partition_point(|place| *entry(place).0 < *key);
        let from = self.sorted[first..].iter().map(entry);
        from.take_while(move |(other, _)| other == key)
    }

    /// The one key that equals `key` apart from case and separators, as people write headers: `Reference Answer`.
    pub(super) fn spelled_otherwise(&self, key: &str) -> Option<Cow<'a, str>> {
        let plain = |place: &u32| self.entries.spelled_plainly(*place).unwrap_or_default();
        let first = self.respelled.partition_point(|place| *plain(place) < *key);
        let from = self.respelled[first..].iter();
        let mut found = from.take_while(|place| plain(place) == key);
        let place = found.next().filter(|_| found.next().is_none())?;
        Some(self.entries.get(*place).0)
    }

    /// The value of `key`; an error if the row has the key twice, since it is unknown which is meant.
    pub(super) fn get(&self, key: &str) -> Result<Option<RowValue<'a>>, String> {
        only(self.of_key(key), key, self.line)
    }

    /// The first key that holds a list of objects with one of these keys, which have `, ` between them.
    pub(super) fn list_of_rows(&self, keys: &str) -> Option<Cow<'a, str>> {
        let line = self.line;
        let is_row = |raw: &str| {
            let first = RowValue { line, raw }.elements().into_iter().next();
            let entries = first.and_then(|first| Entries::parse(first.raw, line).ok());
            let is_one = |(key, _): (Cow<str>, &str)| keys.split(", ").any(|it| it == key);
            entries.is_some_and(|row| row.iter().any(is_one))
        };
        let mut entries = self.entries.iter();
        Some(entries.find(|entry| is_row(entry.1))?.0)
    }

    /// The path to the first text or list under one of these keys, which have `, ` between them, in an object of the row.
    pub(super) fn path_to(&self, keys: &str) -> Option<String> {
        // Each with the place of the object that it is in: whole paths would repeat the keys of that.
        let mut found: Vec<(Option<usize>, Cow<str>, &str)> = Vec::new();
        found.extend(self.entries.iter().map(|(key, raw)| (None, key, raw)));
        let mut level = 0..found.len();
        for _ in 0..3 {
            for at in level.clone() {
                let (_, key, raw) = &found[at];
                let last = key.rsplit('.').next();
                if raw.starts_with(['"', '[']) && keys.split(", ").any(|key| last == Some(key)) {
                    let place = |&at: &usize| found[at].0;
                    let path = std::iter::successors(Some(at), place).map(|at| &*found[at].1);
                    let path: Vec<&str> = path.collect();
                    return Some(path.into_iter().rev().collect::<Vec<_>>().join("."));
                }
                let entries = Entries::parse(raw, self.line);
                let inner = entries.iter().flat_map(Entries::iter);
                // The keys of many rows number them.
                let inner = inner.filter(|(key, _)| key.parse::<usize>().is_err());
                found.extend(inner.map(|(key, raw)| (Some(at), key, raw)));
            }
            level = level.end..found.len();
        }
        None
    }

    /// Whether all its values are objects, several.
    pub(super) fn holds_rows(&self) -> bool {
        self.sorted.len() > 1 && self.entries.iter().all(|(_, raw)| raw.starts_with('{'))
    }

    /// The row's keys, in the order written.
    pub(super) fn keys(&self) -> impl Iterator<Item = Cow<'a, str>> {
        self.entries.iter().map(|(key, _)| key)
    }

    /// The row's keys, as text for a message.
    pub(super) fn shown_keys(&self) -> String {
        /// Enough to recognise a row; some data sets have hundreds of columns.
        const SHOWN: usize = 20;
        let keys = self.keys().take(SHOWN);
        let mut keys: Vec<String> = keys.map(|key| key.escape_debug().to_string()).collect();
        if let Some(more @ 1..) = self.sorted.len().checked_sub(SHOWN) {
            keys.push(format!("… ({more} more)"));
        }
        if keys.is_empty() {
            "no keys at all".to_owned()
        } else {
            keys.join(", ")
        }
    }
}

impl<'a> RowValue<'a> {
    pub(super) fn messages(self) -> Option<Messages> {
        match self.raw.as_bytes().first() {
            Some(b'"') => Messages::in_text(&self.string().ok()?),
            _ => Messages::parse(&listed(self.raw)?),
        }
    }

    pub(super) fn text(self) -> &'a str {
        self.raw
    }

    pub(super) fn string(self) -> Result<String, String> {
        let json = self.raw;
        serde_json::from_str(json).map_err(|error| broken(&error, json, self.line))
    }

    pub(super) fn is_null(self) -> bool {
        self.raw == "null"
    }

    /// The word that a null was written as, if it is no null of JSON: `NaN`.
    pub(super) fn word(self) -> Option<&'static str> {
        let before =
            (self.raw.as_ptr() as usize).checked_sub(self.line.as_str().as_ptr() as usize)?;
        self.line.word(before)
    }

    /// The parsed value of `key`, its numbers as [`with_all_digits`] has them.
    pub(super) fn json(self, key: &str) -> Result<Json, String> {
        serde_json::from_str(&with_all_digits(self.raw))
            .map_err(|error| format!("`{key}` is {}", broken(&error, self.raw, self.line)))
    }

    /// Whether it is a list other than one of chat messages.
    pub(super) fn is_plain_list(self) -> bool {
        self.raw.starts_with('[') && Messages::parse(self.raw).is_none()
    }

    /// The value of `key` if this is an object.
    pub(super) fn key(self, key: &str) -> Result<Option<Self>, String> {
        if !self.raw.starts_with('{') {
            return Ok(None);
        }
        let entries = Entries::parse(self.raw, self.line)?;
        let found = entries.iter().filter(|(other, _)| other == key);
        only(found, key, self.line)
    }

    /// The values, if this is an object.
    pub(super) fn values(self) -> Result<Vec<Self>, String> {
        if !self.raw.starts_with('{') {
            return Ok(Vec::new());
        }
        let entries = Entries::parse(self.raw, self.line)?;
        let line = self.line;
        Ok(entries.iter().map(|(_, raw)| Self { line, raw }).collect())
    }

    /// The elements, if this is a list.
    pub(super) fn elements(self) -> Vec<Self> {
        let elements: Vec<&'a RawValue> = serde_json::from_str(self.raw).unwrap_or_default();
        let line = self.line;
        let elements = elements.into_iter().map(RawValue::get);
        elements.map(|raw| Self { line, raw }).collect()
    }
}

/// A key in lower case, with `_` for spaces and hyphens; `None` if it is written like that already.
pub(super) fn spelled_plainly(key: &str) -> Option<String> {
    let is_plain = |byte: u8| !byte.is_ascii_uppercase() && byte != b' ' && byte != b'-';
    (!key.bytes().all(is_plain)).then(|| key.trim().to_lowercase().replace([' ', '-'], "_"))
}

/// The only value of `key`; an error if there are several.
fn only<'a>(
    mut values: impl Iterator<Item = (Cow<'a, str>, &'a str)>,
    key: &str,
    line: &'a JsonText<'a>,
) -> Result<Option<RowValue<'a>>, String> {
    let first = values.next();
    if values.next().is_some() {
        return Err(format!("the key `{key}` is there twice: keep one"));
    }
    Ok(first.map(|(_, raw)| RowValue { line, raw }))
}

/// What is wrong with `json`, part of `line`, and at which byte of the line (from 1).
fn broken(error: &serde_json::Error, json: &str, line: &JsonText) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let what = message.strip_suffix(&position).unwrap_or(&message);
    let before = (json.as_ptr() as usize).saturating_sub(line.as_str().as_ptr() as usize);
    // The row was read before as JSON, so a value's escapes are whole.
    let is_value = json.len() < line.as_str().len();
    let what = match what {
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" if is_value => {
            "half a pair of surrogates, which no text can hold,"
        }
        other => other,
    };
    format!(
        "not valid JSON: {what} at column {}",
        line.column(before + error.column())
    )
}

/// An object's entries in the order written, a repeated key included: their places alone, as a row may have as many keys as a line holds.
struct Entries<'a> {
    json: &'a str,
    /// Where each key is, without its quotes, and each value; a line's places fit into 32 bits.
    places: Vec<[Range<u32>; 2]>,
}

impl<'a> Entries<'a> {
    /// The entries of the object `json`, which is part of `line`.
    fn parse(json: &'a str, line: &'a JsonText) -> Result<Self, String> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let places = reader.deserialize_map(Places(json));
        let places = places.and_then(|places| reader.end().map(|()| places));
        let places = places.map_err(|error| broken(&error, json, line))?;
        Ok(Self { json, places })
    }

    /// A key, and the JSON text of its value.
    fn get(&self, place: u32) -> (Cow<'a, str>, &'a str) {
        let text = |at: &Range<u32>| &self.json[at.start as usize..at.end as usize];
        let [key, value] = &self.places[place as usize];
        let key = match text(key) {
            plain if !plain.contains('\\') => plain.into(),
            // It has been read once.
            escaped => serde_json::from_str(&format!("\"{escaped}\"")).unwrap_or(escaped.into()),
        };
        (key, text(value))
    }

    fn iter(&self) -> impl Iterator<Item = (Cow<'a, str>, &'a str)> {
        (0..self.places.len() as u32).map(|place| self.get(place))
    }

    fn spelled_plainly(&self, place: u32) -> Option<String> {
        spelled_plainly(&self.get(place).0)
    }
}

/// Reads the places of an object's entries.
struct Places<'a>(&'a str);

impl<'de> Visitor<'de> for Places<'de> {
    type Value = Vec<[Range<u32>; 2]>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut places, mut end) = (Vec::new(), 0);
        while let Some((_, value)) = map.next_entry::<String, &RawValue>()? {
            let value = value.get();
            let start = value.as_ptr() as usize - self.0.as_ptr() as usize;
            // The key is all that stands between two values, beside what separates them.
            let before = &self.0[end..start];
            let [from, to] = [before.find('"'), before.rfind('"')].map(Option::unwrap_or_default);
            let key = (end + from + 1) as u32..(end + to) as u32;
            end = start + value.len();
            places.push([key, start as u32..end as u32]);
        }
        Ok(places)
    }
}

#[cfg(test)]
mod tests;
