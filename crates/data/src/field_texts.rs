//! The texts of one field of a row: what is read of its value, and how.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::beside::Beside;
use super::chat_prompt::{asked, is_prompt, without_end};
use super::columns::{ColumnMap, Field, Found};
use super::json_text::is_marked;
use super::messages::{CUT_OFF, Messages, Turn};
use super::path::KeyPath;
use super::preset::Preset;
use super::row::{Row, RowValue, spelled_plainly};

/// Keys of lists of responses, which a cell of text cannot hold.
const PLURALS: &str =
    "responses multi_responses completions generations outputs rollouts samples predictions";
/// What to do about a table whose columns are lists or objects.
const BY_COLUMNS: &str = "of a table by columns write each row as an object, as pandas does with `orient=\"records\", lines=True`";

/// Whether a list of texts is one response step by step: its key says so, or each text begins with its number under a key that may hold one response. Of
/// several responses a policy could otherwise write all of one.
pub(super) fn are_steps(responses: &FieldTexts) -> bool {
    let (key, texts) = (&responses.key, &responses.texts);
    let is_numbered = |(number, text): (usize, &String)| {
        let text =
            text.trim_start_matches(|mark: char| mark.is_whitespace() || "#*".contains(mark));
        let rest = text.get(..5);
        let rest = rest.filter(|word| word.eq_ignore_ascii_case("step "));
        let rest = rest.and_then(|_| text[5..].strip_prefix(&number.to_string()));
        rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
    };
    let may_be_one = texts.len() > 1 && !responses.is_of_each && !is_plural(key);
    key.to_lowercase().ends_with("steps") || may_be_one && (1..).zip(texts).all(is_numbered)
}

/// Whether a key is one of lists of responses.
fn is_plural(key: &str) -> bool {
    let plain = spelled_plainly(key);
    let key = plain.as_deref().unwrap_or(key);
    PLURALS.split(' ').any(|plural| plural == key)
}

impl Row<'_> {
    /// The texts of one field, `None` if the row has none; `used` is told the key.
    pub(super) fn field(
        &self,
        field: Field,
        columns: &ColumnMap,
        preset: &'static Preset,
        used: &mut impl FnMut(Field, String, Vec<String>),
    ) -> Result<Option<FieldTexts>, String> {
        let Some(mut found) = columns.find(field, preset, self)? else {
            return Ok(None);
        };
        let mut asks = preset.paths[Field::Question as usize].iter();
        let asks = asks.any(|path| path.text() == found.key);
        if let (Field::Response, [value], [other, ..]) =
            (field, found.values.as_slice(), found.passed_over.as_slice())
            // A text that is read as a response alone may be the policy's own.
            && (asks || !value.text().starts_with('"'))
            && let Some(messages) = value.messages()
        {
            // The answer may stand in the conversation or beside it.
            let answer = messages.response(false).ok();
            let answer = answer.filter(|turn| turn.what != CUT_OFF);
            let is_text = |it: &RowValue| it.text().starts_with('"') || it.messages().is_some();
            // A count, a score or an object is no response.
            let is_response = |other: &&String| {
                let found = KeyPath::parse(other).find(self).unwrap_or_default();
                let is_list =
                    |it: &RowValue| it.is_plain_list() && it.elements().iter().any(is_text);
                let said = answer.as_ref().map(|turn| turn.text.trim());
                let is_same = |it: &RowValue| it.string().is_ok_and(|it| Some(it.trim()) == said);
                let mut others = found.iter().filter(|it| !is_same(it));
                others.any(|it| is_text(it) || is_list(it))
            };
            let second = found.passed_over.iter().find(is_response);
            if let (true, Some(other)) = (answer.is_some(), second) {
                let advice = if columns.is_fixed {
                    "leave one of them out".to_owned()
                } else {
                    let both = asks.then(|| format!("question={},", found.key));
                    let both = both.unwrap_or_default();
                    format!(
                        "say which is the response with `--columns {both}response={}` or `--columns response={other}`",
                        found.key
                    )
                };
                return Err(format!(
                    "`{}` ends with an answer, and there is `{other}` too: {advice}",
                    found.key
                ));
            }
            if answer.is_none() {
                let path = KeyPath::parse(second.unwrap_or(other));
                (found.values, found.is_of_each) = (path.find(self)?, path.is_of_each());
                path.text().clone_into(&mut found.key);
                found.passed_over = Vec::new();
            }
        }
        let is_unneeded = field == Field::Reference && !columns.needs().reference;
        let is_none = |value: &RowValue| value.is_null() || is_marked(value.text());
        if is_unneeded && found.values.iter().all(is_none) {
            return Ok(None);
        }
        let mut read = FieldTexts {
            is_fixed: columns.is_fixed,
            is_of_each: found.is_of_each,
            in_reasoning: columns.in_reasoning,
            ..FieldTexts::default()
        };
        for value in &found.values {
            value.read(field, &found.key, &mut read)?;
        }
        read.is_list |= found.is_of_each;
        if field == Field::Response && !read.is_list && read.texts.len() > 1 {
            read.texts = vec![self.joined(&found, &read.texts)?];
        }
        let prompt = || {
            let asked = columns.find(Field::Question, preset, self).ok()??;
            asked.values.first()?.string().ok()
        };
        // Transformers' pipelines write the prompt before what they generate.
        if (field, &*found.key) == (Field::Response, "generated_text")
            && let Some(prompt) = prompt()
            && let [text] = read.texts.as_mut_slice()
            && let Some(own) = text.strip_prefix(&*prompt)
            && !prompt.trim().is_empty()
            && [own.chars().next(), prompt.chars().last()]
                .iter()
                .any(|it| it.is_none_or(char::is_whitespace))
        {
            *text = own.trim_start().to_owned();
            read.how = Some("without the prompt before it".into());
        }
        let ends = preset.asks_as_engines_do && field == Field::Response;
        let ends = ends && prompt().is_some_and(|prompt| is_prompt(&prompt));
        for text in read.texts.iter_mut().filter(|_| ends) {
            if let Some(own) = without_end(text) {
                *text = own.to_owned();
                read.how = Some("its chat marker left out".into());
            }
        }
        let several = match (field, read.texts.as_slice()) {
            (Field::Reference, [list]) if !preset.lists_as_text.is_empty() => {
                list_of_python(list).filter(|texts| self.has_list(&preset.lists_as_text, texts))
            }
            (Field::Reference, [_, _, ..]) if preset.joins => Some(vec![read.texts.join(", ")]),
            _ => None,
        };
        if let Some(texts) = several {
            (read.texts, read.how) = (texts, Some("a list of texts".into()));
        }
        let blank = read.texts.iter().any(|text| text.trim().is_empty());
        let one = matches!(field, Field::Question | Field::Id | Field::Other);
        let (key, noun) = (&*found.key, noun(field));
        match read.texts.len() {
            0 => return Err(format!("`{key}` (the {noun}) is an empty list")),
            several @ 2.. if one => {
                return Err(format!(
                    "`{key}` (the {noun}) is {several} texts: it must be one; {BY_COLUMNS}"
                ));
            }
            _ => {}
        }
        if blank && field == Field::Id {
            return Err(format!(
                "`{key}` (the id) is blank: give it a value, or remove the key and the id is made from the content"
            ));
        }
        if blank && is_unneeded {
            return Ok(None);
        }
        if blank && !matches!(field, Field::Response | Field::Other) {
            return Err(format!(
                "`{key}` (the {noun}) is blank: there is nothing to judge by"
            ));
        }
        if let (Field::Question, None, [text]) = (field, &read.how, read.texts.as_mut_slice())
            && (preset.asks_as_engines_do || is_prompt(text))
        {
            let (asked, has_system) = asked(text);
            if !asked.trim().is_empty() && asked != text.trim() {
                *text = asked;
                let system = if has_system { " and system text" } else { "" };
                read.how = Some(format!("its chat markers{system} left out").into());
            }
        }
        let beside = Beside(self, key, columns);
        let is_named = is_unneeded || columns.names(field);
        if let (Field::Question, [text]) = (field, read.texts.as_mut_slice())
            && !preset.asks_as_engines_do
            && !is_named
            && let Some([whole, how]) = beside.complete(text, read.how.is_none())?
        {
            *text = whole;
            let others = &mut found.passed_over;
            others.retain(|other| how.split([' ', ',']).all(|it| it != other));
            let taken = read.how.iter().map(|taken| format!("{taken}; "));
            read.how = Some(taken.chain([how]).collect());
        }
        if let (Field::Reference, [value]) = (field, found.values.as_slice()) {
            if !is_named {
                beside.check_place(*value)?;
            }
            let mut one = read.texts.iter().filter(|_| read.texts.len() == 1);
            read.option_letter = one.find_map(|answer| beside.option_letter(answer, preset));
        }
        let top = key.split(['.', '[']).next().unwrap_or(key);
        top.clone_into(&mut read.key);
        let key = match &read.how {
            Some(how) => format!("{key} ({how})"),
            None => key.to_owned(),
        };
        used(field, key, found.passed_over);
        Ok(Some(read))
    }

    /// Whether the row has this list of texts under one of these paths.
    fn has_list(&self, paths: &[KeyPath], texts: &[String]) -> bool {
        let found = paths.iter().filter_map(|path| path.find(self).ok());
        let mut lists = found.flatten().filter_map(|value| value.json("").ok());
        lists.any(|list| list == Json::from(texts))
    }

    /// The parts of one answer, which a path found in one message; those of several messages are paragraphs of it.
    fn joined(&self, found: &Found, parts: &[String]) -> Result<String, String> {
        let before_parts = &found.key[..found.key.rfind('[').unwrap_or(0)];
        let message = before_parts.find(']').map_or(0, |end| end + 1);
        let messages = KeyPath::parse(&found.key[..message]).find(self)?;
        let (mut whole, mut before) = (String::new(), 0);
        for (value, part) in found.values.iter().zip(parts) {
            let is_before = |it: &RowValue| it.text().as_ptr() <= value.text().as_ptr();
            let number = messages.partition_point(is_before);
            if before > 0 && number > before {
                whole.push_str("\n\n");
            }
            whole.push_str(part);
            before = number;
        }
        Ok(whole)
    }
}

#[derive(Debug, Default)]
pub(super) struct FieldTexts {
    pub(super) texts: Vec<String>,
    pub(super) is_list: bool,
    /// Whether each was named by a path.
    pub(super) is_of_each: bool,
    pub(super) key: String,
    /// Which part of the value was taken, if not all of it.
    pub(super) how: Option<Cow<'static, str>>,
    pub(super) is_fixed: bool,
    pub(super) in_reasoning: bool,
    pub(super) option_letter: Option<String>,
}

impl FieldTexts {
    fn turn(&mut self, messages: &Messages, field: Field, key: &str) -> Result<(), String> {
        // Files may have roles of their own; for a client an unknown role is an error.
        let roles = self.is_fixed.then(|| messages.check_roles()).transpose();
        let (turn, whose) = match field {
            Field::Question => (messages.question(), "user"),
            _ => (messages.response(self.in_reasoning), "assistant"),
        };
        let turn = roles.and(turn).map_err(|why| {
            let of_parts = why.contains("(a part of").then_some("[type=text].text");
            let part = of_parts.unwrap_or_default();
            let path = format!("'{field}={key}[role={whose}].content{part}'");
            let advice = format!("; texts within it are named by a path, as `--columns {path}`");
            let is_advice = !self.is_fixed && messages.names(whose);
            let advice = if is_advice { &*advice } else { "" };
            format!("`{key}` (the {}) is {why}{advice}", noun(field))
        })?;
        self.texts.push(turn.text);
        self.how = Some(turn.what);
        Ok(())
    }
}

impl RowValue<'_> {
    /// A text, or a number or truth value as it is written: a reference that is one is often no text.
    pub(super) fn bare_text(self, key: &str) -> Result<String, String> {
        let found = match self.text().as_bytes().first() {
            Some(b'"') => {
                let text = self.string();
                let text = text.map_err(|why| format!("`{key}` is {why}"))?;
                // As a rollout's reference.
                if key != "gold" || !is_marked(self.text()) || text.starts_with(['[', '(']) {
                    return Ok(text);
                }
                "an object or no value, as a program shows it in a cell"
            }
            Some(b'-' | b'0'..=b'9' | b't' | b'f') => return Ok(self.text().to_owned()),
            Some(b'[') => "a list",
            Some(b'{') => "an object",
            _ => self.word().unwrap_or("null"),
        };
        Err(format!("`{key}` must be a text, not {found}"))
    }

    /// Adds the value's texts to those of `field`.
    fn read(self, field: Field, key: &str, read: &mut FieldTexts) -> Result<(), String> {
        let json = self.text();
        if matches!(field, Field::Question | Field::Response)
            && !json.starts_with('"')
            && let Some(messages) = self.messages()
        {
            return read.turn(&messages, field, key);
        }
        let found = match json.as_bytes().first() {
            Some(b'"') => {
                let text = self.string();
                let text = text.map_err(|why| format!("`{key}` (the {}) is {why}", noun(field)))?;
                // In a response they stay text: it could otherwise choose what part of it is judged.
                if field == Field::Question
                    && let Some(messages) = Messages::in_text(&text)
                {
                    return read.turn(&messages, field, key);
                }
                let is_list_of_responses = is_plural(key) && text.starts_with('[');
                // The rules leave a reference that is a list written as text open, and say so.
                let must_be_text = field == Field::Question
                    || field == Field::Reference && !text.starts_with(['[', '(']);
                if is_marked(json) && (must_be_text || is_list_of_responses) {
                    let (what, advice) = if text.starts_with(['[', '{', '(']) {
                        ("a list or an object", "give the rows as JSON lines")
                    } else {
                        (
                            "no value",
                            "fill it in, or leave the row out, as --skip-bad does",
                        )
                    };
                    return Err(format!(
                        "`{key}` (the {}) is {what}, as a program shows it in a cell: {advice}",
                        noun(field)
                    ));
                }
                let answer = gsm8k_answer(&text).filter(|_| field == Field::Reference);
                if answer.is_some() {
                    read.how = Some("after ####".into());
                }
                read.texts.push(answer.map_or(text.clone(), str::to_owned));
                return Ok(());
            }
            Some(first @ (b'0'..=b'9' | b'-' | b't' | b'f'))
                if field == Field::Reference || *first < b'a' && field != Field::Question =>
            {
                read.texts.push(json.to_owned());
                return Ok(());
            }
            Some(b'0'..=b'9' | b'-') => "a number",
            Some(b'{') => "an object",
            Some(b'[') => match Messages::parse(json) {
                Some(_) => "a list of chat messages",
                None if field == Field::Id => "a list",
                None if matches!(field, Field::Question | Field::Response)
                    && let Some(content) = Turn::of_parts(json) =>
                {
                    read.texts.push(content.text);
                    read.how = Some(content.what);
                    return Ok(());
                }
                None => {
                    read.is_list = true;
                    let elements = self.elements();
                    let numbers = elements.iter().map(|it| it.text().parse::<u32>().ok());
                    let numbers: Option<Vec<u32>> = numbers.collect();
                    // Answers that are numbers are few, or small.
                    let looks_like_tokens =
                        |it: &Vec<u32>| it.len() > 3 && it.iter().any(|&id| id > 999);
                    if field == Field::Response && numbers.as_ref().is_some_and(looks_like_tokens) {
                        return Err(format!(
                            "`{key}` (the response) looks like token ids: give texts, and answers that are numbers in quotes"
                        ));
                    }
                    for element in elements {
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
            Some(b'n') => self.word().unwrap_or("null"),
            _ => "true or false",
        };
        let path = if json.starts_with("{\"0\":") {
            format!("; {BY_COLUMNS}")
        } else if found == "an object" && !read.is_fixed {
            let each = if read.is_list { "[*]" } else { "" };
            format!("; a text within it is named by a path, as `--columns {field}={key}{each}.KEY`")
        } else {
            String::new()
        };
        Err(format!(
            "`{key}` (the {}) is {found}: it must be {}{path}",
            noun(field),
            said_of(field)[1]
        ))
    }
}

/// The final answer of a GSM8K solution: the text after `####` on the last line, which may be the only one.
fn gsm8k_answer(text: &str) -> Option<&str> {
    let last = text.trim_end().lines().last()?;
    let (before, answer) = last.rsplit_once("####")?;
    let is_mark = before.is_empty() || before.ends_with(char::is_whitespace);
    (is_mark && !answer.trim().is_empty()).then(|| answer.trim())
}

/// The texts of a list as Python writes it, `['a', "b's"]`, if there are no escapes in it: TOML writes it so too.
pub(super) fn list_of_python(text: &str) -> Option<Vec<String>> {
    let list = format!("list = {}", text.trim());
    let list = Some(list).filter(|list| !list.contains(['\\', '\n']))?;
    let mut read: BTreeMap<String, Vec<String>> = toml::from_str(&list).ok()?;
    read.remove("list").filter(|list| !list.is_empty())
}

/// What each field is called in a sentence, and what it must be.
const FIELDS: &str = include_str!("fields.tsv");

fn said_of(field: Field) -> [&'static str; 2] {
    let line = FIELDS.lines().nth(field as usize).unwrap_or_default();
    line.split_once('\t').map_or([line, ""], <[&str; 2]>::from)
}

pub(super) fn noun(field: Field) -> &'static str {
    said_of(field)[0]
}
