//! One line as a JSON object whose values are read only when asked for.
//!
//! Values stay text until then (raw values of `serde_json`): columns nobody needs cost nothing, and a number keeps the
//! digits it was written with, however many they are.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::columns::{ColumnMap, Field};

/// A JSON object, unread but well-formed.
pub(super) struct Row<'a> {
    /// The whole line, to tell columns by.
    line: &'a str,
    entries: Vec<(String, &'a RawValue)>,
}

/// One value of a row.
#[derive(Clone, Copy)]
pub(super) struct Value<'a> {
    line: &'a str,
    raw: &'a RawValue,
}

/// What a row says, by itself: an id, if it has one, and the three texts.
pub(super) struct Texts {
    pub(super) id: Option<String>,
    pub(super) question: String,
    pub(super) reference_answer: String,
    pub(super) student_answer: String,
}

impl<'a> Row<'a> {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it, as text for the user.
    pub(super) fn parse(line: &'a str) -> Result<Self, String> {
        let found = match line.trim_start().as_bytes().first() {
            Some(b'[') => "a JSON array",
            Some(b'"') => "a JSON string",
            Some(b'0'..=b'9' | b'-') => "a number",
            _ if line.trim() == "null" => "null",
            _ if matches!(line.trim(), "true" | "false") => "true or false",
            _ => {
                return Ok(Self {
                    line,
                    entries: entries(line, line)?,
                });
            }
        };
        Err(format!(
            "{found}, not an object: every line must be one JSON object{}",
            if found == "a JSON array" {
                "; `jq -c '.[]' FILE` writes an array so"
            } else {
                ""
            }
        ))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(other, _)| other == key)
    }

    /// The value of `key`; an error if the row has the key twice, for then nobody knows which is meant.
    pub(super) fn get(&self, key: &str) -> Result<Option<Value<'a>>, String> {
        only(&self.entries, key, self.line)
    }

    /// The row's texts and id, as the columns say; `used` is told of every key that was read.
    ///
    /// # Errors
    /// What is wrong with the row, as text for the user.
    pub(super) fn texts<'m>(
        &self,
        columns: &'m ColumnMap,
        mut used: impl FnMut(Field, &'m str, Vec<&'static str>),
    ) -> Result<Texts, String> {
        let mut text = |field: Field| -> Result<Option<String>, String> {
            let Some(found) = columns.find(field, self)? else {
                return Ok(None);
            };
            let text = found.value.text(field, found.key)?;
            if text.trim().is_empty() && field != Field::Response {
                return Err(match field {
                    Field::Id => format!(
                        "`{}` (the id) is blank: give it a value, or remove the key and the id is made from the content",
                        found.key
                    ),
                    _ => format!(
                        "`{}` (the {}) is blank: there is nothing to judge by",
                        found.key,
                        noun(field)
                    ),
                });
            }
            used(field, found.key, found.passed_over);
            Ok(Some(text))
        };
        let mut required = |field: Field| match text(field) {
            Ok(Some(text)) => Ok(text),
            Ok(None) => Err(self.missing(field, columns)),
            Err(reason) => Err(reason),
        };
        let question = required(Field::Question)?;
        let reference_answer = required(Field::Reference)?;
        let student_answer = required(Field::Response)?;
        Ok(Texts {
            id: text(Field::Id)?,
            question,
            reference_answer,
            student_answer,
        })
    }

    fn missing(&self, field: Field, columns: &ColumnMap) -> String {
        /// Enough to recognise a row by; some data sets have hundreds of columns.
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
        let keys = if keys.is_empty() {
            "no keys at all".to_owned()
        } else {
            keys.join(", ")
        };
        format!(
            "no {} (looked for {}): the row has {keys}; name its key with `--columns {field}=KEY`",
            noun(field),
            columns.looked_for(field),
        )
    }
}

impl<'a> Value<'a> {
    /// The value as the text of `field`.
    fn text(self, field: Field, key: &str) -> Result<String, String> {
        let json = self.raw.get();
        let found = match json.as_bytes().first() {
            Some(b'"') => {
                return serde_json::from_str(json).map_err(|error| {
                    format!(
                        "`{key}` (the {}) is {}",
                        noun(field),
                        broken(&error, json, self.line)
                    )
                });
            }
            Some(b'0'..=b'9' | b'-') if matches!(field, Field::Reference | Field::Id) => {
                return Ok(json.to_owned());
            }
            Some(b'0'..=b'9' | b'-') => "a number",
            Some(b'{') => "an object",
            Some(b'[') if self.is_messages() => {
                return Err(format!(
                    "`{key}` (the {}) is a list of chat messages, which is not read yet: give text, or name one \
                     message's text, as in `--columns {field}={key}[0].content`",
                    noun(field)
                ));
            }
            Some(b'[') => "a list",
            Some(b'n') => "null",
            _ => "true or false",
        };
        let wanted = match field {
            Field::Reference => "text or a number",
            Field::Id => "text or a number (without the key, the id is made from the content)",
            Field::Question | Field::Response => "text",
        };
        Err(format!(
            "`{key}` (the {}) is {found}: it must be {wanted}",
            noun(field)
        ))
    }

    /// Is it a list of objects with `role` and `content`?
    fn is_messages(self) -> bool {
        let messages: Result<Vec<Entries>, _> = serde_json::from_str(self.raw.get());
        messages.is_ok_and(|messages| {
            !messages.is_empty()
                && messages.iter().all(|message| {
                    ["role", "content"]
                        .iter()
                        .all(|key| message.0.iter().any(|(other, _)| other == key))
                })
        })
    }

    /// The value of `key` if this is an object.
    pub(super) fn key(self, key: &str) -> Result<Option<Self>, String> {
        if !self.raw.get().starts_with('{') {
            return Ok(None);
        }
        only(&entries(self.raw.get(), self.line)?, key, self.line)
    }

    /// The value at `place` if this is a list.
    pub(super) fn place(self, place: usize) -> Option<Self> {
        let values: Vec<&'a RawValue> = serde_json::from_str(self.raw.get()).ok()?;
        values.get(place).map(|raw| Self {
            line: self.line,
            raw,
        })
    }
}

/// The one value of `key` among `entries`.
fn only<'a>(
    entries: &[(String, &'a RawValue)],
    key: &str,
    line: &'a str,
) -> Result<Option<Value<'a>>, String> {
    let mut values = entries.iter().filter(|(other, _)| other == key);
    let first = values.next();
    if values.next().is_some() {
        return Err(format!("the key `{key}` is there twice: keep one"));
    }
    Ok(first.map(|(_, raw)| Value { line, raw }))
}

/// The entries of the object `json`, which is a part of `line`.
fn entries<'a>(json: &'a str, line: &'a str) -> Result<Vec<(String, &'a RawValue)>, String> {
    serde_json::from_str(json)
        .map(|entries: Entries<'a>| entries.0)
        .map_err(|error| broken(&error, json, line))
}

/// What is wrong with `json`, a part of `line`, and at which byte of the line (from 1).
fn broken(error: &serde_json::Error, json: &str, line: &str) -> String {
    let message = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    let what = message.strip_suffix(&position).unwrap_or(&message);
    let before = (json.as_ptr() as usize).saturating_sub(line.as_ptr() as usize);
    format!(
        "not valid JSON: {what} at column {}",
        before + error.column()
    )
}

/// What a field is called in a sentence.
fn noun(field: Field) -> &'static str {
    match field {
        Field::Question => "question",
        Field::Reference => "reference answer",
        Field::Response => "response",
        Field::Id => "id",
    }
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
