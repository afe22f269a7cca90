//! Answers as one JSON object with the verdict under a key.
//!
//! The object may stand in a Markdown fence or between prose. The last complete one whose key holds a label counts; what is
//! not JSON to the letter is not read.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::labels::{Labels, verdict};
use super::{ParsedVerdict, Unreadable, shorten};
use crate::verdict::ParseRule;

/// The keys of the object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keys {
    /// Holds the label.
    pub(super) verdict: String,
    /// Holds the answer that the judge found in the response.
    pub(super) answer: Option<String>,
    /// Holds the reason.
    pub(super) reason: Option<String>,
}

/// Reads an answer without its thinking.
///
/// # Errors
/// Where no object has the key, or none of those that have it holds a label there.
pub(super) fn read(
    keys: &Keys,
    labels: &Labels,
    answer: &str,
) -> Result<ParsedVerdict, Unreadable> {
    if answer.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    let mut refused = Unreadable::NoObject {
        key: keys.verdict.clone(),
    };
    let mut found = None;
    each_object(answer, |object, whole| {
        let written = match object.get(&keys.verdict) {
            None => return,
            Some(Value::String(word)) => word.clone(),
            Some(other) => other.to_string(),
        };
        match labels.named(&written) {
            Some(label) if object[&keys.verdict].is_string() => {
                found = Some((object, whole, label, written));
            }
            _ => {
                refused = Unreadable::NotALabel {
                    found: shorten(&written),
                    labels: labels.listed(),
                };
            }
        }
    });
    let (object, whole, label, word) = found.ok_or(refused)?;
    let rule = if whole {
        ParseRule::Exact
    } else {
        ParseRule::Lenient
    };
    // The word of the verdict, for its odds: the first that is quoted behind the last mention of the key.
    let key = answer.rfind(&format!("\"{}\"", keys.verdict)).unwrap_or(0);
    let quoted = answer[key..].find(&format!("\"{word}\""));
    let span = quoted.map_or(0..0, |at| key + at + 1..key + at + 1 + word.len());
    let mut parsed = verdict(label, rule, span);
    parsed.fields.answer = keys.answer.as_ref().and_then(|key| text(object.get(key)));
    parsed.fields.reason = keys.reason.as_ref().and_then(|key| text(object.get(key)));
    Ok(parsed)
}

/// A string as it is, a number as it is written.
fn text(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Hands on every complete object in a text, and whether nothing else was written. Objects inside of others are not looked
/// at. Behind one that is broken nothing is: what follows may be a quotation inside of it.
fn each_object(text: &str, mut take: impl FnMut(Map<String, Value>, bool)) {
    let mut at = 0;
    while let Some(open) = text[at..].find('{') {
        let start = at + open;
        let mut objects = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Unique>();
        at = match objects.next() {
            Some(Ok(Unique(object))) => {
                let end = start + objects.byte_offset();
                let whole = text[..start].trim().is_empty() && text[end..].trim().is_empty();
                take(object, whole);
                end
            }
            _ if text[start + 1..].trim_start().starts_with('"') => return,
            _ => start + 1,
        };
    }
}

/// An object in which no key stands twice.
struct Unique(Map<String, Value>);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;

        impl<'de> Visitor<'de> for Keys {
            type Value = Unique;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Unique, A::Error> {
                let mut object = Map::new();
                while let Some((key, value)) = entries.next_entry::<String, Value>()? {
                    if object.insert(key, value).is_some() {
                        return Err(A::Error::custom("a key stands twice"));
                    }
                }
                Ok(Unique(object))
            }
        }

        deserializer.deserialize_map(Keys)
    }
}
