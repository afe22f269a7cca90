//! One line as a JSON object whose values are parsed only when asked for.
//!
//! Until then values stay text (raw values of `serde_json`): unused columns cost nothing, and a number keeps all the digits
//! it was written with.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;

use super::json_text::JsonText;
use super::messages::Messages;

/// A well-formed JSON object whose values are not parsed yet.
pub(crate) struct Row<'a> {
    /// The whole line, for column numbers in messages.
    line: &'a JsonText<'a>,
    entries: Vec<(String, &'a RawValue)>,
    /// The indices of the entries in the order of their keys, since a row of a hundred thousand columns is searched for each.
    sorted: Vec<u32>,
    /// For keys with capitals, spaces or hyphens: the plain spelling and the entry's index, sorted.
    respelled: Vec<(String, usize)>,
}

/// One value of a row.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    line: &'a JsonText<'a>,
    raw: &'a RawValue,
}

impl<'a> Row<'a> {
    /// Reads a line.
    pub(super) fn parse(json: &'a JsonText<'a>) -> Result<Self, String> {
        let line = json.as_str();
        let found = match line.trim_start().as_bytes().first() {
            Some(b'[') => "a JSON array",
            Some(b'"') => "a JSON string",
            Some(b'0'..=b'9' | b'-') => "a number",
            _ if line.trim() == "null" => "null",
            _ if matches!(line.trim(), "true" | "false") => "true or false",
            _ => {
                let entries = entries(line, json)?;
                let mut respelled: Vec<(String, usize)> = (entries.iter().enumerate())
                    .map(|(place, (key, _))| (spelled_plainly(key), place))
                    .filter_map(|(plain, place)| Some((plain?, place)))
                    .collect();
                respelled.sort_unstable();
                // Places in a line are stored in 32 bits, so an entry's index fits too.
                let mut sorted: Vec<u32> = (0..entries.len() as u32).collect();
                sorted.sort_by_key(|&place| &entries[place as usize].0);
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

    /// The entries with this key.
    fn of_key<'r>(&'r self, key: &'r str) -> impl Iterator<Item = &'r (String, &'a RawValue)> {
        let entry = |place: &u32| &self.entries[*place as usize];
        let first = self
            .sorted
            .partition_point(|place| entry(place).0.as_str() < key);
        let from = self.sorted[first..].iter().map(entry);
        from.take_while(move |(other, _)| other == key)
    }

    /// The one key that equals `key` apart from case and separators, as people write headers: `Reference Answer`.
    pub(super) fn spelled_otherwise(&self, key: &str) -> Option<&str> {
        let first = self
            .respelled
            .partition_point(|(plain, _)| plain.as_str() < key);
        let from = self.respelled[first..].iter();
        let mut found = from.take_while(|(plain, _)| plain == key);
        let (_, place) = found.next().filter(|_| found.next().is_none())?;
        Some(&self.entries[*place].0)
    }

    /// The value of `key`; an error if the row has the key twice, since it is unknown which is meant.
    pub(super) fn get(&self, key: &str) -> Result<Option<Value<'a>>, String> {
        only(self.of_key(key), key, self.line)
    }

    /// The first key that holds a list of objects other than chat messages.
    pub(super) fn list_of_objects(&self) -> Option<&str> {
        let mut entries = self.entries.iter();
        let found = entries.find(|(_, value)| {
            let value = value.get();
            let within = value.strip_prefix('[').map(str::trim_start);
            within.is_some_and(|within| within.starts_with('{')) && Messages::parse(value).is_none()
        });
        found.map(|(key, _)| key.as_str())
    }

    /// The row's keys, in the order written.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.as_str())
    }

    /// The row's keys, as text for a message.
    pub(super) fn shown_keys(&self) -> String {
        /// Enough to recognise a row; some data sets have hundreds of columns.
        const SHOWN: usize = 20;
        let mut keys: Vec<String> = self
            .entries
            .iter()
            .take(SHOWN)
            .map(|(key, _)| key.escape_debug().to_string())
            .collect();
        if self.entries.len() > SHOWN {
            keys.push(format!("… ({} more)", self.entries.len() - SHOWN));
        }
        if keys.is_empty() {
            "no keys at all".to_owned()
        } else {
            keys.join(", ")
        }
    }
}

impl<'a> Value<'a> {
    /// The chat messages in the value, if it is some.
    pub(super) fn messages(self) -> Option<Messages> {
        match self.raw.get().as_bytes().first() {
            Some(b'"') => Messages::in_text(&self.string().ok()?),
            _ => Messages::parse(self.raw.get()),
        }
    }

    /// The JSON text of the value.
    pub(super) fn text(self) -> &'a str {
        self.raw.get()
    }

    /// The text of a string.
    pub(super) fn string(self) -> Result<String, String> {
        let json = self.raw.get();
        serde_json::from_str(json).map_err(|error| broken(&error, json, self.line))
    }

    pub(super) fn is_null(self) -> bool {
        self.raw.get() == "null"
    }

    /// The word that a null was written as, if it is no null of JSON: `NaN`.
    pub(super) fn word(self) -> Option<&'static str> {
        let before =
            (self.raw.get().as_ptr() as usize).checked_sub(self.line.as_str().as_ptr() as usize)?;
        self.line.word(before)
    }

    /// The parsed value of `key`.
    pub(super) fn json(self, key: &str) -> Result<Json, String> {
        let json = self.raw.get();
        serde_json::from_str(json)
            .map_err(|error| format!("`{key}` is {}", broken(&error, json, self.line)))
    }

    /// Whether it is a list other than one of chat messages.
    pub(super) fn is_plain_list(self) -> bool {
        self.raw.get().starts_with('[') && Messages::parse(self.raw.get()).is_none()
    }

    /// The value of `key` if this is an object.
    pub(super) fn key(self, key: &str) -> Result<Option<Self>, String> {
        if !self.raw.get().starts_with('{') {
            return Ok(None);
        }
        let entries = entries(self.raw.get(), self.line)?;
        only(
            entries.iter().filter(|(other, _)| other == key),
            key,
            self.line,
        )
    }

    /// The values, if this is an object.
    pub(super) fn values(self) -> Result<Vec<Self>, String> {
        if !self.raw.get().starts_with('{') {
            return Ok(Vec::new());
        }
        let entries = entries(self.raw.get(), self.line)?.into_iter();
        let line = self.line;
        Ok(entries.map(|(_, raw)| Self { line, raw }).collect())
    }

    /// The elements, if this is a list.
    pub(super) fn elements(self) -> Vec<Self> {
        let elements: Vec<&'a RawValue> = serde_json::from_str(self.raw.get()).unwrap_or_default();
        let line = self.line;
        elements.into_iter().map(|raw| Self { line, raw }).collect()
    }
}

/// A key in lower case, with `_` for spaces and hyphens; `None` if it is written like that already.
pub(super) fn spelled_plainly(key: &str) -> Option<String> {
    let is_plain = |byte: u8| !byte.is_ascii_uppercase() && byte != b' ' && byte != b'-';
    (!key.bytes().all(is_plain)).then(|| key.trim().to_lowercase().replace([' ', '-'], "_"))
}

/// The only value of `key`; an error if there are several.
fn only<'a: 'e, 'e>(
    mut values: impl Iterator<Item = &'e (String, &'a RawValue)>,
    key: &str,
    line: &'a JsonText<'a>,
) -> Result<Option<Value<'a>>, String> {
    let first = values.next();
    if values.next().is_some() {
        return Err(format!("the key `{key}` is there twice: keep one"));
    }
    Ok(first.map(|(_, raw)| Value { line, raw }))
}

/// The entries of the object `json`, which is part of `line`.
fn entries<'a>(json: &'a str, line: &'a JsonText) -> Result<Vec<(String, &'a RawValue)>, String> {
    serde_json::from_str(json)
        .map(|entries: Entries<'a>| entries.0)
        .map_err(|error| broken(&error, json, line))
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

/// An object's keys and values in the order written, a repeated key included.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;

        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
                let mut entries = Vec::with_capacity(map.size_hint().unwrap_or(8));
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(EntriesVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_by_their_order() {
        let line = r#"{"b":1,"Reference Answer":2,"a":3,"b":4,"x y":5,"X-Y":6,"":7}"#;
        let line = JsonText::new(line);
        let row = Row::parse(&line).unwrap();
        let text = |key: &str| row.get(key).map(|value| value.map(Value::text));
        assert_eq!(text("a").unwrap(), Some("3"));
        assert_eq!(text("").unwrap(), Some("7"));
        assert_eq!(text("ab").unwrap(), None);
        assert!(text("b").unwrap_err().contains("twice"));
        assert!(row.has("b") && row.has("X-Y") && !row.has("c"));
        assert_eq!(
            row.spelled_otherwise("reference_answer"),
            Some("Reference Answer")
        );
        // It is unknown which of the two is meant.
        assert_eq!(row.spelled_otherwise("x_y"), None);
        assert_eq!(row.spelled_otherwise("zz"), None);
        assert_eq!(row.keys().next(), Some("b"));
    }
}
