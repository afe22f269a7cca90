//! Answers as one JSON object with the verdict under a key.
//!
//! The object may stand in a Markdown fence or between prose. The last one that has the key counts, and must hold a label there; one
//! before it that holds another label, or one that is not JSON to the letter, makes the answer unreadable. Keys may be in any case. A
//! label may stand there as a text, or as the number or the truth value that it names.

use std::collections::HashSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use super::declaration::{self, JsonFile, KeyError};
use super::form::AnswerForm;
use super::labels::{Labels, verdict};
use super::scaffold::{Scaffold, ScaffoldWants};
use super::{ParsedVerdict, Unreadable, Yields, shorten};
use juror_data::verdict::ParseRule;
use juror_engine::grammar::GrammarSource;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keys {
    pub(super) verdict: String,
    /// Holds the answer that the judge found in the response.
    pub(super) answer: Option<String>,
    /// What a constrained answer may hold there.
    pub(super) answer_pattern: Option<String>,
    pub(super) reason: Option<String>,
}

impl Keys {
    /// The schema of an answer with one of these labels, the found answer and, if wanted, the reason, in this order. Behind the
    /// label a text may be of any length, but for an answer of a pattern.
    pub(super) fn schema(&self, labels: &Labels, reason: bool) -> Value {
        let names = labels.known.iter().map(|label| label.name.as_str());
        let names: Vec<&str> = names.collect();
        let mut properties = Map::new();
        properties.insert(self.verdict.clone(), json!({ "enum": names }));
        if let Some(answer) = &self.answer {
            let mut found = json!({"type": ["string", "null"]});
            if let Some(pattern) = &self.answer_pattern {
                found["pattern"] = json!(pattern);
            }
            properties.insert(answer.clone(), found);
        }
        if let Some(key) = self.reason.as_ref().filter(|_| reason) {
            properties.insert(key.clone(), json!({"type": "string"}));
        }
        json!({
            "type": "object",
            "properties": properties,
            "required": [&self.verdict],
            "additionalProperties": false,
        })
    }
}

#[derive(Debug, Clone)]
pub(super) struct JsonForm {
    keys: Keys,
    labels: Labels,
    /// The form of a constrained answer, without a reason and with one.
    grammars: [Arc<GrammarSource>; 2],
}

impl JsonForm {
    pub(super) fn declared(file: JsonFile) -> Result<Self, KeyError> {
        let error = |key: &str, why: &str| (key.to_owned(), why.to_owned());
        let mut names = vec![&file.verdict];
        names.extend(file.answer.iter().chain(&file.reason));
        let different: HashSet<_> = names.iter().map(|key| key.to_lowercase()).collect();
        if different.len() < names.len() {
            let why = "`verdict`, `answer` and `reason` must be different keys";
            return Err(error("answer", why));
        }
        if file.answer_pattern.is_some() && file.answer.is_none() {
            let why = "needs the key `answer`, whose text it is of";
            return Err(error("answer.answer_pattern", why));
        }
        let labels = declaration::meanings(file.labels)?;
        let keys = Keys {
            verdict: file.verdict,
            answer: file.answer,
            answer_pattern: file.answer_pattern,
            reason: file.reason,
        };
        let grammars = [false, true].map(|reason| {
            let schema = keys.schema(&labels, reason).to_string();
            Arc::new(GrammarSource::JsonSchema(schema))
        });
        Ok(Self {
            keys,
            labels,
            grammars,
        })
    }
}

impl AnswerForm for JsonForm {
    fn yields(&self) -> Yields {
        self.labels.yields()
    }

    fn has_odds(&self) -> bool {
        self.labels.has_odds()
    }

    fn read(&self, answer: &str) -> Result<ParsedVerdict, Unreadable> {
        read(&self.keys, &self.labels, answer)
    }

    fn scaffold(&self, wants: &ScaffoldWants) -> Option<Scaffold> {
        Some(Scaffold::of_grammar(
            &self.grammars[usize::from(wants.reason)],
        ))
    }

    fn choices(&self) -> Option<Vec<(&str, f32)>> {
        Some(self.labels.choices())
    }
}

/// Reads an answer without its thinking.
/// Errors: where no object has the key, or none of those that have it holds a label there.
pub(super) fn read(
    keys: &Keys,
    labels: &Labels,
    answer: &str,
) -> Result<ParsedVerdict, Unreadable> {
    if answer.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    let none = || Unreadable::NoObject {
        key: keys.verdict.clone(),
    };
    let mut found = Err(none());
    // Two labels that differ: whatever comes after, it is not known which is meant.
    let mut differing = None;
    let mut first: Option<&str> = None;
    each_object(answer, |object| {
        let Some((object, place)) = object else {
            // A broken one may take back the one before it.
            found = Err(none());
            return;
        };
        let (key, value) = match entries(&object, &keys.verdict).as_slice() {
            [] => return,
            [(key, value)] => ((*key).clone(), *value),
            // The key stands twice.
            _ => {
                found = Err(none());
                return;
            }
        };
        let (label, written) = match value {
            Value::String(word) => (labels.named(word), word.clone()),
            Value::Number(number) => (labels.numbered(number), number.to_string()),
            other => (
                labels
                    .named(&other.to_string())
                    .filter(|_| other.is_boolean()),
                other.to_string(),
            ),
        };
        if let Some(label) = label {
            let first = *first.get_or_insert(&label.name);
            if first != label.name {
                differing.get_or_insert(Unreadable::Labels {
                    first: first.to_owned(),
                    second: label.name.clone(),
                });
            }
        }
        found = match label {
            Some(label) => Ok((object, place, key, label)),
            None => Err(Unreadable::NotALabel {
                found: shorten(&written),
                labels: labels.listed(),
            }),
        };
    });
    let (object, place, key, label) = match differing {
        Some(differing) => return Err(differing),
        None => found?,
    };
    let before = answer[..place.start].trim();
    let (exact, lenient) = (ParseRule::Exact, ParseRule::Lenient);
    let is_exact = before.is_empty() && answer[place.end..].trim().is_empty();
    let rule = if is_exact { exact } else { lenient };
    let span = word_of(&answer[place.clone()], &key).map_or(0..0, |word| {
        place.start + word.start..place.start + word.end
    });
    let mut parsed = verdict(label, rule, span);
    parsed.fields.answer = keys
        .answer
        .as_ref()
        .and_then(|key| text(&entries(&object, key)));
    parsed.fields.reason = keys
        .reason
        .as_ref()
        .and_then(|key| text(&entries(&object, key)));
    Ok(parsed)
}

/// What stands under a key, in whatever case it is written.
fn entries<'a>(object: &'a Map<String, Value>, key: &str) -> Vec<(&'a String, &'a Value)> {
    let key = key.to_lowercase();
    let is_it = |(written, _): &(&String, &Value)| written.to_lowercase() == key;
    object.iter().filter(is_it).collect()
}

/// A string as it is, a number as it is written; nothing where there are several.
fn text(entries: &[(&String, &Value)]) -> Option<String> {
    match entries {
        [(_, Value::String(text))] => Some(text.trim().to_owned()),
        [(_, Value::Number(number))] => Some(number.to_string()),
        _ => None,
    }
}

/// Where the value of a key stands in an object's text, a text without its quotes; for its odds.
fn word_of(object: &str, key: &str) -> Option<Range<usize>> {
    let after = object.find(&format!("\"{key}\""))? + key.len() + 2;
    let rest = object[after..].trim_start().strip_prefix(':')?.trim_start();
    let word = rest.strip_prefix('"').unwrap_or(rest);
    let start = object.len() - word.len();
    let is_text = rest.len() > word.len();
    let ends = |character: char| match character {
        '"' => is_text,
        ',' | '}' => !is_text,
        _ => !is_text && character.is_whitespace(),
    };
    Some(start..start + word.find(ends)?)
}

/// Hands on every complete object in a text and its place, and `None` for one that is broken. Objects inside of others are not
/// looked at, nor what follows a broken one: it may be a quotation inside of it.
pub(super) fn each_object(
    text: &str,
    mut take: impl FnMut(Option<(Map<String, Value>, Range<usize>)>),
) {
    let mut at = 0;
    while let Some(open) = text[at..].find('{') {
        let start = at + open;
        let mut objects = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Unique>();
        at = match objects.next() {
            Some(Ok(Unique(object))) => {
                let end = start + objects.byte_offset();
                take(Some((object, start..end)));
                end
            }
            _ if text[start + 1..].trim_start().starts_with(['"', '\'']) => return take(None),
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
