//! The texts of a row: question, references, responses and id, according to the columns and the preset.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::beside::Beside;
use super::chat_prompt::{asked, is_prompt, without_end};
use super::columns::{ColumnMap, Field, Found};
use super::json_text::{JsonText, is_marked};
use super::keep::Keep;
use super::messages::{CUT_OFF, Messages, Turn, listed, prompt_of};
use super::needs::RubricNeed;
use super::path::KeyPath;
use super::preset::Preset;
use super::row::{Row, RowValue, spelled_plainly};
use super::sample::Sample;
use crate::rubric::Rubric;

/// For up to so many responses, the row's length limit bounds what their samples take, though each holds the whole row.
const FEW: usize = 16;
/// Keys of lists of responses, which a cell of text cannot hold.
const PLURALS: &str =
    "responses multi_responses completions generations outputs rollouts samples predictions";
/// What to do about a table whose columns are lists or objects.
const BY_COLUMNS: &str = "of a table by columns write each row as an object, as pandas does with `orient=\"records\", lines=True`";
/// The most memory, in bytes, of the samples of one row besides their responses.
const MOST_REPEATED: usize = 1 << 30;

/// Whether a list of texts is one response step by step: its key says so, or each text begins with its number under a key that may hold one response. Of
/// several responses a policy could otherwise write all of one.
fn are_steps(responses: &FieldTexts) -> bool {
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

/// What a row says, by itself.
#[derive(Debug)]
pub(super) struct Texts {
    /// The row's id, if it has one.
    pub(super) id: Option<String>,
    pub(super) question: String,
    /// The messages that ask the question, as [`Sample::messages`].
    pub(super) messages: Vec<Json>,
    /// The reference answers, any of which is right.
    pub(super) references: Vec<String>,
    pub(super) option_letter: Option<String>,
    pub(super) responses: Vec<String>,
    /// Whether the responses are a list, even one of a single response.
    pub(super) is_list: bool,
    /// The row's key that the responses are in.
    pub(super) response_key: String,
    /// The steps of the response, if the row has them.
    pub(super) steps: Vec<String>,
    pub(super) rubric: Option<Arc<Rubric>>,
    /// The response to be compared with, if one is asked for.
    pub(super) other: String,
    /// For each response, whether it is one of the better ones; empty if the row does not say.
    pub(super) preferred: Vec<Option<bool>>,
    /// The number of the row among those of its id, if there may be several.
    pub(super) epoch: Option<String>,
}

impl Texts {
    /// The row's key that holds a list of responses, if one does.
    pub(super) fn response_list(&self) -> Option<&str> {
        self.is_list.then_some(&self.response_key)
    }

    /// Checks the memory that the samples of the row take besides their responses: each has the question and the rest of the row, with the kept values.
    pub(super) fn check_size(&self, kept: &Map<String, Json>) -> Result<(), String> {
        let texts = self.references.iter().chain(&self.steps);
        let texts = texts.map(String::len).sum::<usize>() + self.question.len() + self.other.len();
        // Values are serialised only if there are many responses, each of which repeats them.
        let values = || serde_json::to_vec(&(&self.messages, kept)).map_or(0, |json| json.len());
        let count = self.responses.len();
        if count < FEW || count.saturating_mul(texts + values()) <= MOST_REPEATED {
            return Ok(());
        }
        Err(format!(
            "{count} responses, each of which is judged with the row's {texts} bytes of question and references and what is kept \
             of it: more than {} MiB in all; split the row",
            MOST_REPEATED >> 20
        ))
    }

    /// A sample for each response. Their ids are empty if the row has none, and their indices are 0.
    pub(super) fn samples(self) -> Vec<Sample> {
        let (references, is_list) = (self.references, self.is_list);
        let reference_answer = match references.as_slice() {
            [] => String::new(),
            [one] => one.clone(),
            several => format!(
                "Any one of these answers is correct:\n- {}",
                several.join("\n- ")
            ),
        };
        let several = references.len() > 1;
        let alternatives = if several { references } else { Vec::new() };
        let group = (is_list || self.epoch.is_some()).then(|| match &self.id {
            Some(id) => id.clone(),
            // With an empty text this would be the id of a blank response.
            None => Sample::content_id(&self.question, &reference_answer, "\u{1}"),
        });
        let id = of_epoch(self.id, self.epoch);
        let with_id = |part: usize| match &id {
            Some(id) if is_list => format!("{id}:{part}"),
            Some(id) => id.clone(),
            None => String::new(),
        };
        let responses = self.responses.into_iter().enumerate();
        responses
            .map(|(part, student_answer)| Sample {
                id: with_id(part),
                index: 0,
                question: self.question.clone(),
                messages: self.messages.clone(),
                reference_answer: reference_answer.clone(),
                alternatives: alternatives.clone(),
                option_letter: self.option_letter.clone(),
                student_answer,
                steps: self.steps.clone(),
                rubric: self.rubric.clone(),
                other_answer: self.other.clone(),
                group: group.clone(),
                preferred: self.preferred.get(part).copied().flatten(),
                kept: Map::new(),
            })
            .collect()
    }
}

/// The id of a row that may be one of several with this id.
fn of_epoch(id: Option<String>, epoch: Option<String>) -> Option<String> {
    id.map(|id| epoch.map_or_else(|| id.clone(), |epoch| format!("{id}:{epoch}")))
}

/// A row's reference answer and response, for the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The row's id as JSON, if it has one.
    pub id: Option<String>,
    /// The reference answer: of several, any of which is right, all of them.
    pub references: Vec<String>,
    pub option_letter: Option<String>,
    pub response: String,
    /// Settings that differ from those of the run.
    pub config: Option<Map<String, Json>>,
    /// The values of the keys to be kept.
    pub kept: Map<String, Json>,
}

impl Pair {
    /// The pair of a row, a JSON object: its `gold` and `pred`, if it has both and no columns are named, else a rollout. `gold` beside a response of another
    /// name is a pair too: its `config` counts.
    pub fn parse(line: &[u8], columns: &ColumnMap, keep: &Keep) -> Result<Self, String> {
        let text = JsonText::of_bytes(line)?;
        let row = Row::parse(&text)?;
        let kept = keep.select(&row, None)?;
        let none_named = *columns == ColumnMap::default().with_reasoning(columns.in_reasoning);
        let is_there = |key: &str| {
            let value = row.get(key)?;
            Ok::<bool, String>(none_named && value.is_some_and(|value| !value.is_null()))
        };
        let has_gold = is_there("gold")?;
        if has_gold && is_there("pred")? {
            return row.bare_pair(kept);
        }
        let config = if has_gold { row.config()? } else { None };
        row.pair(columns, kept)
            .map(|pair| Self { config, ..pair })
            .map_err(|why| format!("neither a pair of `gold` and `pred` nor a rollout: {why}"))
    }
}

impl Row<'_> {
    /// The texts of one field, `None` if the row has none; `used` is told the key.
    fn field(
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

    /// The pair of a row with `gold` and `pred`; its id is any JSON.
    fn bare_pair(&self, kept: Map<String, Json>) -> Result<Pair, String> {
        let value = |key: &str| (self.get(key)?).ok_or_else(|| format!("there is no `{key}`"));
        let gold = value("gold")?;
        let list = gold.is_plain_list().then(|| gold.elements());
        let golds = list.unwrap_or(vec![gold]).into_iter();
        let references = golds.map(|value| value.bare_text("gold"));
        let references = references.collect::<Result<Vec<_>, _>>()?;
        if references.is_empty() {
            return Err("`gold` is an empty list".to_owned());
        }
        let id = self.get("id")?.map(|id| id.json("id").map(|_| id.text()));
        Ok(Pair {
            id: id.transpose()?.map(str::to_owned),
            references,
            option_letter: None,
            response: value("pred")?.bare_text("pred")?,
            config: self.config()?,
            kept,
        })
    }

    fn config(&self) -> Result<Option<Map<String, Json>>, String> {
        let config = self.get("config")?.filter(|value| !value.is_null());
        match config.map(|value| value.json("config")).transpose()? {
            None => Ok(None),
            Some(Json::Object(config)) => Ok(Some(config)),
            Some(it) => Err(format!("`config` must be an object of settings, not {it}")),
        }
    }

    /// The reference answers and the response of a rollout, whatever the question: what rules compare.
    fn pair(&self, columns: &ColumnMap, kept: Map<String, Json>) -> Result<Pair, String> {
        let preset = columns.preset(self)?;
        if let Some(path) = self.failed(preset)? {
            return Err(format!("the row has an `{path}`, and no response"));
        }
        let texts = |field: Field| {
            let found = self.field(field, columns, preset, &mut |_, _, _| {})?;
            found.ok_or_else(|| self.missing(&[field], columns, preset))
        };
        let found = texts(Field::Response)?;
        let (key, count) = (&found.key, found.texts.len());
        let why = "`juror judge --rules only` compares each";
        let response = <[String; 1]>::try_from(found.texts)
            .map_err(|_| format!("`{key}` (the response) is {count} texts: {why}"));
        let id = self.field(Field::Id, columns, preset, &mut |_, _, _| {})?;
        let [response] = response?;
        let id = id.map(|mut id| id.texts.swap_remove(0));
        let id = of_epoch(id, self.epoch(columns, preset)?);
        let reference = texts(Field::Reference)?;
        Ok(Pair {
            id: id.map(|id| Json::from(id).to_string()),
            references: reference.texts,
            option_letter: reference.option_letter,
            response,
            config: None,
            kept,
        })
    }

    /// The number of the row among those of its id, unless the user named the id's key.
    fn epoch(&self, columns: &ColumnMap, preset: &Preset) -> Result<Option<String>, String> {
        let Some(path) = preset.epoch.as_ref().filter(|_| !columns.names(Field::Id)) else {
            return Ok(None);
        };
        let number = path.find(self)?.into_iter().next();
        Ok(number.map(|number| number.text().trim_matches('"').to_owned()))
    }

    /// The key under which the row says that it failed, if it did.
    pub(super) fn failed(&self, preset: &'static Preset) -> Result<Option<&'static str>, String> {
        let Some(path) = &preset.failed else {
            return Ok(None);
        };
        let mut values = path.find(self)?.into_iter();
        let said = values.any(|value| !["null", "\"\""].contains(&value.text()));
        Ok(said.then(|| path.text()))
    }

    /// The row's texts and id, according to the columns; `used` is told every key that was read, and how.
    pub(super) fn texts(
        &self,
        columns: &ColumnMap,
        preset: &'static Preset,
        mut used: impl FnMut(Field, String, Vec<String>),
    ) -> Result<Texts, String> {
        let mut of_response = None;
        let mut tell = |field, key, others| match field {
            Field::Response => of_response = Some((key, others)),
            _ => used(field, key, others),
        };
        let mut read = |field: Field| self.field(field, columns, preset, &mut tell);
        let needs = columns.needs();
        let mut missing = Vec::new();
        // Reads a field that the row must have, or one that it may have.
        let mut texts = |field: Field, is_needed: bool| {
            let found = read(field);
            // What cannot be read may be no such field at all in a row that lacks another: a document's list of rows under `samples`.
            if found.is_err() && !missing.is_empty() {
                return Err(self.missing(&missing, columns, preset));
            }
            let found = found?;
            missing.extend((is_needed && found.is_none()).then_some(field));
            Ok(found)
        };
        let last = |found: Option<FieldTexts>| found.and_then(|mut all| all.texts.pop());
        let question = last(texts(Field::Question, needs.question)?).unwrap_or_default();
        let messages = self.messages(columns, preset)?;
        let reference = texts(Field::Reference, needs.reference)?.unwrap_or_default();
        let other = needs.other.then(|| texts(Field::Other, true));
        let other = last(other.transpose()?.flatten()).unwrap_or_default();
        let steps = needs.steps.then(|| texts(Field::Steps, false));
        let steps = steps.transpose()?.flatten();
        let joined = steps.as_ref().map(|steps| steps.texts.join("\n\n"));
        let found = texts(Field::Response, needs.response && joined.is_none())?;
        if !missing.is_empty() {
            return Err(self.missing(&missing, columns, preset));
        }
        let mut responses = found.unwrap_or_else(|| FieldTexts {
            texts: vec![joined.unwrap_or_default()],
            ..FieldTexts::default()
        });
        let mut steps = steps.map_or(Vec::new(), |steps| steps.texts);
        let by_step = preset.step_by_step && !columns.names(Field::Response);
        let of_steps = steps.is_empty() && responses.is_list && (by_step || are_steps(&responses));
        if of_steps {
            let whole = vec![responses.texts.join("\n\n")];
            let own = std::mem::replace(&mut responses.texts, whole);
            responses.is_list = false;
            steps.extend(own.into_iter().filter(|_| needs.steps));
        }
        if !steps.is_empty() && responses.texts.len() > 1 {
            return Err(format!(
                "`{}` (the responses) are several, and the steps are those of one: keep one of the two",
                responses.key
            ));
        }
        let id = read(Field::Id)?.map(|mut id| id.texts.swap_remove(0));
        let epoch = self.epoch(columns, preset)?;
        let rubric = match &needs.rubric {
            RubricNeed::None => None,
            RubricNeed::Of(rubric) => Some(Arc::clone(rubric)),
            RubricNeed::OfRow => Some(Arc::new(self.rubric(columns, preset, &mut tell)?)),
        };
        let (mut key, others) = of_response.unwrap_or_else(|| ("the steps".to_owned(), Vec::new()));
        if of_steps {
            key = format!("{} (the steps of one response)", responses.key);
        }
        used(Field::Response, key, others);
        let preferred = columns.preferred(preset, self)?;
        let (key, count) = (&responses.key, responses.texts.len());
        if !preferred.is_empty() && preferred.len() != count {
            let why = format!("`{key}` must be one response each; there are {count} in all");
            return Err(why);
        }
        Ok(Texts {
            preferred,
            epoch,
            id,
            question,
            messages,
            references: reference.texts,
            option_letter: reference.option_letter,
            responses: responses.texts,
            is_list: responses.is_list,
            response_key: responses.key,
            steps,
            rubric,
            other,
        })
    }

    /// The messages of the question, up to the response; none if it is a text, or they are not needed.
    fn messages(&self, columns: &ColumnMap, preset: &'static Preset) -> Result<Vec<Json>, String> {
        let find = || columns.find(Field::Question, preset, self);
        let found = columns.needs().messages.then(find).transpose()?.flatten();
        let value = found.and_then(|found| found.values.into_iter().next());
        match value {
            Some(value) if value.messages().is_some() => {
                let text = value.string().unwrap_or_else(|_| value.text().into());
                Ok(prompt_of(&listed(&text).unwrap_or_default()))
            }
            _ => Ok(Vec::new()),
        }
    }

    fn rubric(
        &self,
        columns: &ColumnMap,
        preset: &'static Preset,
        used: &mut impl FnMut(Field, String, Vec<String>),
    ) -> Result<Rubric, String> {
        let Some(found) = columns.find(Field::Rubric, preset, self)? else {
            return Err(self.missing(&[Field::Rubric], columns, preset));
        };
        let key = found.key;
        let criteria = found.values.iter().map(|value| value.json(&key));
        let mut criteria = criteria.collect::<Result<Vec<Json>, _>>()?;
        let value = match (found.is_of_each, criteria.len()) {
            (false, 1) => criteria.swap_remove(0),
            _ => Json::Array(criteria),
        };
        let rubric = Rubric::from_json(&value)
            .map_err(|error| format!("`{key}` (the rubric) is no rubric: {error}"))?;
        used(Field::Rubric, key, found.passed_over);
        Ok(rubric)
    }

    /// What to say of a row without these fields: where each was looked for, what the row has, and what to do.
    fn missing(&self, fields: &[Field], columns: &ColumnMap, preset: &'static Preset) -> String {
        let of_one = |field: &Field| {
            let keys = columns.looked_for(*field, preset);
            let told = format!("no {} (looked for {keys})", noun(*field));
            (told, self.advice(*field, &keys, columns, preset))
        };
        let (told, mut advice): (Vec<String>, Vec<String>) = fields.iter().map(of_one).unzip();
        advice.dedup();
        let (told, advice) = (told.join(", "), advice.join("; "));
        format!("{told}: the row has {}; {advice}", self.shown_keys())
    }

    /// What to do about a field that a row has not.
    fn advice(&self, field: Field, known: &str, columns: &ColumnMap, preset: &Preset) -> String {
        let has = |key: &&str| self.has(key) || self.spelled_otherwise(key).is_some();
        let mut either = ["solution", "final_answer"].into_iter().filter(has);
        let alone = [(Field::Rubric, "rubric"), (Field::Steps, "first-error")];
        let alone = alone.into_iter().find_map(|(by, protocol)| {
            let mut keys = preset.paths[by as usize].iter().map(KeyPath::text);
            Some((keys.find(has)?, protocol))
        });
        if field == Field::Question
            && let Some(advice) = &preset.without_question
        {
            advice.clone()
        } else if let (Field::Question, Some(key)) = (field, self.list_of_rows(known)) {
            format!(
                "name its key with `--columns {field}=KEY`; if the rows are the objects in `{key}`, write them one a line first, as with \
                 `jq -c '.[\"{key}\"][]'`"
            )
        } else if columns.is_fixed {
            format!("give it as `{field}`")
        } else if self.holds_rows() {
            "if its values are the rows, write them one a line first, as with `jq -c 'to_entries[] | {id: .key} + .value'`".to_owned()
        } else if let (Field::Reference | Field::Response, Some(key)) = (field, either.next()) {
            format!(
                "`{key}` may be the reference or the response: say which with `--columns reference={key}` or `--columns response={key}`"
            )
        } else if let (Field::Reference, Some((key, protocol))) = (field, alone) {
            format!(
                "name its key with `--columns {field}=KEY`, or judge by `{key}` alone, with `--protocol {protocol}`"
            )
        } else if let Some(path) = self.path_to(known) {
            format!("if it is that in `{path}`, say so with `--columns {field}={path}`")
        } else {
            let mut key = self.keys();
            // What is known for another field, or is an id, a kind or a count, is none of this one.
            let ends = ["_id", "_type", "_tokens"];
            let is_other = |key: &str| {
                let mut known = preset.paths.iter().flatten();
                known.any(|path| path.text() == key) || ends.iter().any(|end| key.ends_with(end))
            };
            let is_meant = |key: &str| known.split(", ").any(|it| is_near(key, it));
            let key = key.find(|key| !is_other(key) && is_meant(key));
            let key = key.unwrap_or("KEY".into());
            format!("name its key, or a path as `results[0].text`, with `--columns {field}={key}`")
        }
    }
}

/// Whether a key is nearly another: it holds it, or has its letters but one.
fn is_near(key: &str, known: &str) -> bool {
    let without = |rest: String, one| rest.replacen(one, "", 1);
    let rest = known.chars().fold(key.to_lowercase(), without);
    let has_letters = key.len() + 1 >= known.len() + rest.len() && rest.len() < 2;
    known.len() > 3 && (has_letters || key.contains(known))
}

#[derive(Debug, Default)]
struct FieldTexts {
    texts: Vec<String>,
    is_list: bool,
    /// Whether each was named by a path.
    is_of_each: bool,
    key: String,
    /// Which part of the value was taken, if not all of it.
    how: Option<Cow<'static, str>>,
    is_fixed: bool,
    in_reasoning: bool,
    option_letter: Option<String>,
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
            let part = ["", "[type=text].text"][usize::from(why.contains("(a part of"))];
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
    fn bare_text(self, key: &str) -> Result<String, String> {
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

fn noun(field: Field) -> &'static str {
    said_of(field)[0]
}
