//! The texts of a row: question, references, responses and id, according to the columns and the preset.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::columns::{ColumnMap, Field};
use super::field_texts::{FieldTexts, are_steps, noun};
use super::json_text::JsonText;
use super::keep::Keep;
use super::messages::{listed, prompt_of};
use super::needs::RubricNeed;
use super::path::KeyPath;
use super::preset::Preset;
use super::row::Row;
use super::sample::Sample;
use crate::rubric::Rubric;

/// For up to so many responses, the row's length limit bounds what their samples take, though each holds the whole row.
const FEW: usize = 16;
/// The most memory, in bytes, of the samples of one row besides their responses.
const MOST_REPEATED: usize = 1 << 30;

/// What a row says, by itself.
#[derive(Debug)]
pub(super) struct Texts {
    id: Option<String>,
    /// What the samples of all responses have alike.
    shared: Sample,
    /// The reference answers, any of which is right.
    references: Vec<String>,
    pub(super) responses: Vec<String>,
    /// Whether the responses are a list, even one of a single response.
    is_list: bool,
    /// The row's key that the responses are in.
    response_key: String,
    /// For each response, whether it is one of the better ones; empty if the row does not say.
    preferred: Vec<Option<bool>>,
    /// The number of the row among those of its id, if there may be several.
    epoch: Option<String>,
}

impl Texts {
    /// The row's key that holds a list of responses, if one does.
    pub(super) fn response_list(&self) -> Option<&str> {
        self.is_list.then_some(&self.response_key)
    }

    /// Checks the memory that the samples of the row take besides their responses: each has the question and the rest of the row, with the kept values.
    pub(super) fn check_size(&self, kept: &Map<String, Json>) -> Result<(), String> {
        let Sample {
            question,
            other_answer,
            messages,
            ..
        } = &self.shared;
        let texts = self.references.iter().chain(&self.shared.steps);
        let texts = texts.map(String::len).sum::<usize>() + question.len() + other_answer.len();
        // Values are serialised only if there are many responses, each of which repeats them.
        let values = || serde_json::to_vec(&(messages, kept)).map_or(0, |json| json.len());
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
            None => Sample::content_id(&self.shared.question, &reference_answer, "\u{1}"),
        });
        let id = of_epoch(self.id, self.epoch);
        let with_id = |part: usize| match &id {
            Some(id) if is_list => format!("{id}:{part}"),
            Some(id) => id.clone(),
            None => String::new(),
        };
        let shared = Sample {
            reference_answer,
            alternatives,
            group,
            ..self.shared
        };
        let responses = self.responses.into_iter().enumerate();
        responses
            .map(|(part, student_answer)| Sample {
                id: with_id(part),
                student_answer,
                preferred: self.preferred.get(part).copied().flatten(),
                ..shared.clone()
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
            shared: Sample {
                question,
                messages,
                option_letter: reference.option_letter,
                steps,
                rubric,
                other_answer: other,
                ..Sample::default()
            },
            references: reference.texts,
            responses: responses.texts,
            is_list: responses.is_list,
            response_key: responses.key,
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
        if let (true, Some(why)) = (fields.contains(&Field::Question), &preset.without_question) {
            return why.clone();
        }
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
        if let (Field::Question, Some(key)) = (field, self.list_of_rows(known)) {
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
