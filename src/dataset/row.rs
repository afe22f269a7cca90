//! One line as a JSON object whose values are read only when asked for.
//!
//! Values stay text until then (raw values of `serde_json`): columns nobody needs cost nothing, and a number keeps the
//! digits it was written with, however many they are.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

use super::columns::{ColumnMap, Field};
use super::messages::{Messages, Turn};
use super::preset::Preset;
use super::sample::Sample;

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

/// A row's reference answer and response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The row's id, if it has one.
    pub id: Option<String>,
    /// The reference answer.
    pub reference: String,
    /// The response.
    pub response: String,
}

impl Pair {
    /// The pair of a rollout, a JSON object.
    ///
    /// # Errors
    /// What is wrong with it, as text for the user.
    pub fn parse(line: &str, columns: &ColumnMap) -> Result<Self, String> {
        Row::parse(line)?.pair(columns)
    }
}

/// What a row says, by itself.
#[derive(Debug)]
pub(super) struct Texts {
    /// The row's id, if it has one.
    pub(super) id: Option<String>,
    pub(super) question: String,
    /// The reference answer: of several, each of which is right, all of them.
    pub(super) references: Vec<String>,
    pub(super) responses: Vec<String>,
    /// Are the responses a list? It may hold just one.
    pub(super) is_list: bool,
    /// The row's key that the responses are in.
    pub(super) response_key: String,
}

impl Texts {
    /// The row's key that holds a list of responses, if one does.
    pub(super) fn response_list(&self) -> Option<&str> {
        self.is_list.then_some(&self.response_key)
    }

    /// A sample for each response. Their ids are empty where the row has none, and their indices are 0.
    pub(super) fn samples(self) -> Vec<Sample> {
        let Self {
            id,
            question,
            references,
            responses,
            is_list,
            response_key: _,
        } = self;
        let reference_answer = match references.as_slice() {
            [one] => one.clone(),
            several => shown_together(several),
        };
        let alternatives = if references.len() > 1 {
            references
        } else {
            Vec::new()
        };
        let group = is_list.then(|| match &id {
            Some(id) => id.clone(),
            // No response: that of a blank one has this id.
            None => Sample::content_id(&question, &reference_answer, "\u{1}"),
        });
        let with_id = |part: usize| match &id {
            Some(id) if is_list => format!("{id}:{part}"),
            Some(id) => id.clone(),
            None => String::new(),
        };
        responses
            .into_iter()
            .enumerate()
            .map(|(part, student_answer)| Sample {
                id: with_id(part),
                index: 0,
                question: question.clone(),
                reference_answer: reference_answer.clone(),
                alternatives: alternatives.clone(),
                student_answer,
                group: group.clone(),
                kept: Map::new(),
            })
            .collect()
    }
}

/// Reference answers any of which is right, as one text for the judge.
fn shown_together(references: &[String]) -> String {
    let mut text = "Any one of these answers is correct:".to_owned();
    for reference in references {
        text.push_str("\n- ");
        text.push_str(reference);
    }
    text
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
            "{found}, not an object: every row must be one JSON object"
        ))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|(other, _)| other == key)
    }

    /// The one key that is `key` but for case and separators, as a person writes a header: `Reference Answer`.
    pub(super) fn spelled_otherwise(&self, key: &str) -> Option<&str> {
        let mut found = self.keys().filter(|other| spelled_plainly(other) == key);
        found.next().filter(|_| found.next().is_none())
    }

    /// Is the value of `key` null?
    pub(super) fn is_null(&self, key: &str) -> bool {
        let mut entries = self.entries.iter();
        entries.any(|(other, value)| other == key && value.get() == "null")
    }

    /// The value of `key`; an error if the row has the key twice, for then nobody knows which is meant.
    pub(super) fn get(&self, key: &str) -> Result<Option<Value<'a>>, String> {
        only(&self.entries, key, self.line)
    }

    /// The texts of one field, `None` where the row has none; `used` is told of the key.
    ///
    /// # Errors
    /// What is wrong with the row, as text for the user.
    fn field(
        &self,
        field: Field,
        columns: &ColumnMap,
        preset: &'static Preset,
        used: &mut impl FnMut(Field, String, Vec<&'static str>),
    ) -> Result<Option<FieldTexts>, String> {
        let Some(mut found) = columns.find(field, preset, self)? else {
            return Ok(None);
        };
        if let (Field::Response, [value], [other, ..]) =
            (field, found.values.as_slice(), found.passed_over.as_slice())
            && let Some(messages) = value.messages()
        {
            // The answer may stand in the conversation, or beside it.
            if messages.response().is_ok() {
                return Err(format!(
                    "`{}` ends with an answer, and there is `{other}` too: say which is the response with `--columns \
                     response={}` or `--columns response={other}`",
                    found.key, found.key
                ));
            }
            found.key = Cow::Borrowed(other);
            found.values = self.get(other)?.into_iter().collect();
            found.passed_over = Vec::new();
        }
        let mut read = FieldTexts::default();
        for value in &found.values {
            value.read(field, &found.key, &mut read)?;
        }
        read.is_list |= found.is_of_each;
        let blank = read.texts.iter().any(|text| text.trim().is_empty());
        let one = matches!(field, Field::Question | Field::Id);
        let (key, noun) = (&*found.key, noun(field));
        match read.texts.len() {
            0 => return Err(format!("`{key}` (the {noun}) is an empty list")),
            several @ 2.. if one => {
                return Err(format!(
                    "`{key}` (the {noun}) is {several} texts: it must be one"
                ));
            }
            _ => {}
        }
        if blank && field == Field::Id {
            return Err(format!(
                "`{key}` (the id) is blank: give it a value, or remove the key and the id is made from the content"
            ));
        }
        if blank && field != Field::Response {
            return Err(format!(
                "`{key}` (the {noun}) is blank: there is nothing to judge by"
            ));
        }
        let top = key.split(['.', '[']).next().unwrap_or(key);
        top.clone_into(&mut read.key);
        let key = match read.how {
            Some(how) => format!("{key} ({how})"),
            None => key.to_owned(),
        };
        used(field, key, found.passed_over);
        Ok(Some(read))
    }

    /// The reference answer and the response, whatever the question: what rules compare.
    ///
    /// # Errors
    /// What is wrong with the row, as text for the user.
    pub(super) fn pair(&self, columns: &ColumnMap) -> Result<Pair, String> {
        let preset = columns.preset(self)?;
        let one = |field: Field| {
            let found = self.field(field, columns, preset, &mut |_, _, _| {})?;
            let found = found.ok_or_else(|| self.missing(field, columns, preset))?;
            match <[String; 1]>::try_from(found.texts) {
                Ok([text]) => Ok(text),
                Err(several) => Err(format!(
                    "`{}` (the {}) is {} texts: `juror judge --rules only` compares each",
                    found.key,
                    noun(field),
                    several.len()
                )),
            }
        };
        let id = self.field(Field::Id, columns, preset, &mut |_, _, _| {})?;
        Ok(Pair {
            id: id.map(|mut id| id.texts.swap_remove(0)),
            reference: one(Field::Reference)?,
            response: one(Field::Response)?,
        })
    }

    /// The row's texts and id, as the columns say; `used` is told of every key that was read, and how.
    ///
    /// # Errors
    /// What is wrong with the row, as text for the user.
    pub(super) fn texts(
        &self,
        columns: &ColumnMap,
        preset: &'static Preset,
        mut used: impl FnMut(Field, String, Vec<&'static str>),
    ) -> Result<Texts, String> {
        let mut read = |field: Field| self.field(field, columns, preset, &mut used);
        let mut required = |field: Field| match read(field) {
            Ok(Some(texts)) => Ok(texts),
            Ok(None) => Err(self.missing(field, columns, preset)),
            Err(reason) => Err(reason),
        };
        let question = required(Field::Question)?.texts.swap_remove(0);
        let references = required(Field::Reference)?.texts;
        let responses = required(Field::Response)?;
        Ok(Texts {
            id: read(Field::Id)?.map(|mut id| id.texts.swap_remove(0)),
            question,
            references,
            responses: responses.texts,
            is_list: responses.is_list,
            response_key: responses.key,
        })
    }

    /// The row's keys, in the order written.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(key, _)| key.as_str())
    }

    /// The row's keys, as text for a message.
    pub(super) fn shown_keys(&self) -> String {
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
        if keys.is_empty() {
            "no keys at all".to_owned()
        } else {
            keys.join(", ")
        }
    }

    fn missing(&self, field: Field, columns: &ColumnMap, preset: &'static Preset) -> String {
        let either = matches!(field, Field::Reference | Field::Response) && self.has("solution");
        let holder = self.entries.iter().find(|(_, value)| {
            let value = value.get();
            value.starts_with("[{") && Messages::parse(value).is_none()
        });
        let advice = if field == Field::Question
            && let Some(advice) = &preset.without_question
        {
            advice.clone()
        } else if let (Field::Question, Some((key, _))) = (field, holder) {
            format!(
                "if the rows are the objects in `{key}`, write them one a line, as with `jq -c '.{key}[]'`"
            )
        } else if either {
            "`solution` may be the reference or the response: say which with `--columns reference=solution` or \
             `--columns response=solution`"
                .to_owned()
        } else {
            format!("name its key with `--columns {field}=KEY`")
        };
        format!(
            "no {} (looked for {}): the row has {}; {advice}",
            noun(field),
            columns.looked_for(field, preset),
            self.shown_keys(),
        )
    }
}

/// The texts of a field.
#[derive(Debug, Default)]
struct FieldTexts {
    texts: Vec<String>,
    /// Were they in a list?
    is_list: bool,
    /// The row's key that they are in.
    key: String,
    /// What of a value was taken, where that is not all of it.
    how: Option<&'static str>,
}

impl FieldTexts {
    fn turn(&mut self, turn: Result<Turn, String>, field: Field, key: &str) -> Result<(), String> {
        let turn = turn.map_err(|why| format!("`{key}` (the {}) is {why}", noun(field)))?;
        self.texts.push(turn.text);
        self.how = Some(turn.what);
        Ok(())
    }
}

impl<'a> Value<'a> {
    /// Adds the value's texts to those of `field`.
    fn read(self, field: Field, key: &str, read: &mut FieldTexts) -> Result<(), String> {
        let json = self.raw.get();
        let found = match json.as_bytes().first() {
            Some(b'"') => {
                let text: String = serde_json::from_str(json).map_err(|error| {
                    format!(
                        "`{key}` (the {}) is {}",
                        noun(field),
                        broken(&error, json, self.line)
                    )
                })?;
                // A table has no lists: its cells hold them as JSON.
                let list = text.trim_start().starts_with('[');
                if let Some(messages) = list.then(|| Messages::parse(&text)).flatten() {
                    match field {
                        Field::Question => return read.turn(messages.question(), field, key),
                        Field::Response => return read.turn(messages.response(), field, key),
                        Field::Reference | Field::Id => {}
                    }
                }
                let answer = (field == Field::Reference)
                    .then(|| gsm8k_answer(&text))
                    .flatten();
                if answer.is_some() {
                    read.how = Some("behind ####");
                }
                read.texts.push(answer.map_or(text.clone(), str::to_owned));
                return Ok(());
            }
            Some(b'0'..=b'9' | b'-') if field != Field::Question => {
                read.texts.push(json.to_owned());
                return Ok(());
            }
            Some(b'0'..=b'9' | b'-') => "a number",
            Some(b'{') => "an object",
            Some(b'[') => match Messages::parse(json) {
                Some(messages) if field == Field::Question => {
                    return read.turn(messages.question(), field, key);
                }
                Some(messages) if field == Field::Response => {
                    return read.turn(messages.response(), field, key);
                }
                Some(_) => "a list of chat messages",
                None if field == Field::Id => "a list",
                None => {
                    read.is_list = true;
                    for element in self.elements() {
                        if element.is_plain_list() {
                            return Err(format!(
                                "`{key}` (the {}) is a list of lists",
                                noun(field)
                            ));
                        }
                        element.read(field, key, read)?;
                    }
                    return Ok(());
                }
            },
            Some(b'n') => "null",
            _ => "true or false",
        };
        let wanted = match field {
            Field::Reference => "text or a number, or a list of such, any of which is right",
            Field::Id => "text or a number (without the key, the id is made from the content)",
            Field::Question => "text or chat messages",
            Field::Response => "text, a number, chat messages, or a list of such",
        };
        let path = if found == "an object" {
            format!("; a text within it is named by a path, as `--columns {field}={key}.KEY`")
        } else {
            String::new()
        };
        Err(format!(
            "`{key}` (the {}) is {found}: it must be {wanted}{path}",
            noun(field)
        ))
    }

    /// The chat messages that it is.
    fn messages(self) -> Option<Messages> {
        Messages::parse(self.raw.get())
    }

    pub(super) fn is_null(self) -> bool {
        self.raw.get() == "null"
    }

    /// The value of `key`, read.
    pub(super) fn json(self, key: &str) -> Result<Json, String> {
        let json = self.raw.get();
        serde_json::from_str(json)
            .map_err(|error| format!("`{key}` is {}", broken(&error, json, self.line)))
    }

    /// Is it a list, and not one of chat messages?
    fn is_plain_list(self) -> bool {
        self.raw.get().starts_with('[') && Messages::parse(self.raw.get()).is_none()
    }

    /// The value of `key` if this is an object.
    pub(super) fn key(self, key: &str) -> Result<Option<Self>, String> {
        if !self.raw.get().starts_with('{') {
            return Ok(None);
        }
        only(&entries(self.raw.get(), self.line)?, key, self.line)
    }

    /// The elements, if this is a list.
    pub(super) fn elements(self) -> Vec<Self> {
        let elements: Vec<&'a RawValue> = serde_json::from_str(self.raw.get()).unwrap_or_default();
        let line = self.line;
        elements.into_iter().map(|raw| Self { line, raw }).collect()
    }
}

/// A key in small letters, with `_` for spaces and hyphens.
pub(super) fn spelled_plainly(key: &str) -> String {
    key.trim().to_lowercase().replace([' ', '-'], "_")
}

/// The final answer of a GSM8K solution: what is behind `####` on the last line.
fn gsm8k_answer(text: &str) -> Option<&str> {
    let last = text.trim_end().lines().last()?;
    let answer = last.trim_start().strip_prefix("####")?.trim();
    (!answer.is_empty()).then_some(answer)
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
