//! What a judge is asked, and how its answer is read.
//!
//! A [`Protocol`] is text in and text out; it knows nothing of tensors, tokens or devices.
//!
//! How a protocol is added: CONTRIBUTING.md.

mod asked_form;
mod block;
pub(crate) mod control_text;
pub(crate) mod declaration;
pub(crate) mod declared;
pub(crate) mod delimiters;
mod form;
mod grades;
mod json;
mod labels;
mod own_solution;
mod plain_prompt;
pub(crate) mod reserved;
pub(crate) mod scaffold;
mod steps;
pub(crate) mod stop;
pub(crate) mod tag_form;
pub(crate) mod tag_scanner;
pub mod template;
pub(crate) mod unknown_tags;
pub(crate) mod untrusted;
pub(crate) mod verdict_reader;
pub(crate) mod view;
mod visible;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub(crate) use control_text::tokens_in;
#[cfg(feature = "serve")]
pub(crate) use control_text::{without_tokens_around, without_tokens_at_end};
pub(crate) use declaration::DeclarationError;
pub use delimiters::{Delimiters, Unprotected};
pub use form::AnswerForm;
pub(crate) use labels::UNCLEAR;
pub use own_solution::OWN_SOLUTION;
pub use plain_prompt::PlainPrompt;
pub(crate) use reserved::Reserved;
pub use scaffold::{ChoiceField, Filled, Part, Scaffold, ScaffoldWants};
pub use stop::{StopMatcher, VerdictStop};
pub use template::{FieldName, PromptTemplate, Segment, TemplateError};
pub use untrusted::neutralise;
pub use view::View;

use serde::Serialize;
use serde_json::{Map, Value};

use juror_data::rubric::{Grade, RubricError};
use juror_data::verdict::ParseRule;
use juror_engine::engine::Sampling;
use juror_engine::grammar::GrammarSource;

/// What a judge is asked, and how its answer is read.
#[derive(Debug, Clone)]
pub struct Protocol {
    /// The name on the command line and in a run's manifest.
    pub name: String,
    /// One line for `juror prompts list`.
    pub description: String,
    /// The prompt text, to be read with [`PromptTemplate::parse`]; `None` where its licence keeps it from being shipped.
    pub template: Option<String>,
    /// What of a response the judge is shown.
    pub view: View,
    /// Whether the prompt goes through the model's chat template; else its text is all that the model sees.
    pub chat: bool,
    /// How tokens are chosen unless the user says otherwise; `None` leaves it to the model's makers.
    pub sampling: Option<Sampling>,
    /// How many tokens a judge may generate unless the user says otherwise; `None` leaves it to the model's makers.
    pub max_new_tokens: Option<usize>,
    pub needs_reference: bool,
    /// Whether a sample has a second response, which its response is compared with.
    pub compares: bool,
    /// Whether a completion that was cut at its length limit may be read: not where a later word may take an earlier one back.
    pub reads_cut: bool,
    /// Texts after which nothing of an answer counts: an engine may end a generation there.
    pub stop_texts: Vec<String>,
    pub form: Arc<dyn AnswerForm>,
    /// What a constrained answer is, where a file beside it says so.
    pub grammar: Option<Arc<GrammarSource>>,
    /// A hash of what is declared beside the prompt text, for a run's manifest; none for a built-in protocol.
    pub hash: Option<String>,
}

impl Protocol {
    pub fn yields(&self) -> Yields {
        self.form.yields()
    }

    /// A fresh matcher that says when a generation may end; `None` where only the model ends it.
    ///
    /// `starts_in_thinking`: the prompt ends inside a thinking block that the chat template has opened.
    pub(crate) fn stop(
        &self,
        starts_in_thinking: bool,
        wants_reason: bool,
    ) -> Option<Box<dyn StopMatcher>> {
        let form = &self.form;
        form.stop(&self.stop_texts, starts_in_thinking, wants_reason)
    }

    /// The known text of its answers and the choices in it; `None` where an answer is free.
    pub fn scaffold(&self, wants: &ScaffoldWants) -> Option<Scaffold> {
        match &self.grammar {
            Some(grammar) => Some(Scaffold::of_grammar(grammar)),
            None => self.form.scaffold(wants),
        }
    }

    /// Reads a completion.
    /// Errors: when no verdict can be read; nothing is ever guessed. The error says what was at fault and what was there.
    pub fn parse(
        &self,
        completion: &str,
        starts_in_thinking: bool,
    ) -> Result<ParsedVerdict, Unreadable> {
        let form = &self.form;
        form.parse(completion, starts_in_thinking, &self.stop_texts)
    }
}

/// What a protocol's verdicts hold: which tags are read, the default reward, and which policies make sense.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Yields {
    /// Is the derivation free of errors?
    pub process: bool,
    /// Is the final answer right?
    pub outcome: bool,
    /// Is the work free of even small flaws?
    pub perfect: bool,
    /// How good is the response, from 0 to 1?
    pub score: bool,
    /// Which step is the first wrong one?
    pub first_error: bool,
}

impl Yields {
    pub const ALL: Self = Self {
        process: true,
        outcome: true,
        perfect: true,
        score: false,
        first_error: false,
    };

    /// The whole, as far as these values decide it.
    pub(crate) fn overall(self, process: Option<bool>, outcome: Option<bool>) -> Option<bool> {
        match (process, outcome) {
            (Some(process), Some(outcome)) => Some(process && outcome),
            (Some(false), None) | (None, Some(false)) => Some(false),
            (None, outcome) if !self.process => outcome,
            _ => None,
        }
    }
}

/// The content of a judge's verdict; `None` for what the protocol does not ask for.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct VerdictFields {
    /// Is the derivation free of errors?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<bool>,
    /// Is the final answer right?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<bool>,
    /// Is the work free of even small flaws?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub perfect: Option<bool>,
    /// The deciding flaw; `None` where none was written or asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The label that the judge gave, under its canonical name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The final answer that the judge found in the response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<String>,
    /// The index of the first wrong step, from 0; `None` where no step is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_error: Option<usize>,
    /// How good the response is, from 0 to 1, where the label says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) score: Option<f64>,
    /// The grade of each criterion, under a rubric.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grades: Vec<Grade>,
}

impl VerdictFields {
    /// A key of a row's expectation that is none of the fields.
    pub fn unknown_key(expected: &Map<String, Value>) -> Option<&str> {
        const KEYS: &str = "process outcome perfect reason label answer first_error score grades";
        expected
            .keys()
            .map(String::as_str)
            .find(|key| !KEYS.split(' ').any(|known| known == *key))
    }

    /// Do these fields hold what a row of a test table expects: an object of fields, null for what must be unknown?
    pub fn match_expected(&self, expected: &Map<String, Value>) -> bool {
        let own = serde_json::to_value(self).unwrap_or_default();
        expected
            .iter()
            .all(|(key, value)| own.get(key).unwrap_or(&Value::Null) == value)
    }

    /// `perfect` without `process` and `outcome`: the judge contradicts itself. To be marked, never mended.
    pub(crate) fn is_inconsistent(&self) -> bool {
        self.perfect == Some(true) && [self.process, self.outcome].contains(&Some(false))
    }
}

/// Where the words of the values stand in the completion, in bytes; for looking up the probabilities with which they were
/// chosen. Empty for a value that has no word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ValueSpans {
    pub(crate) process: Range<usize>,
    pub(crate) outcome: Range<usize>,
    pub(crate) perfect: Range<usize>,
    /// The word of a label that says a score.
    pub(crate) score: Range<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ParsedVerdict {
    pub fields: VerdictFields,
    pub rule: ParseRule,
    /// `perfect` without `process` and `outcome`.
    pub(crate) inconsistent: bool,
    pub(crate) spans: ValueSpans,
}

/// Why a completion holds no readable verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The judge was still thinking when its completion ended.
    #[error("thinking not finished")]
    ThinkingNotFinished,
    #[error("no verdict: none of the fields {fields} was written")]
    NoVerdict { fields: String },
    #[error("no complete verdict: {field} is missing")]
    Missing { field: &'static str },
    #[error("{field} holds `{found}`, which is neither True nor False")]
    NotAValue { field: &'static str, found: String },
    #[error("{field} contradicts itself: `{first}` and `{second}` in one verdict")]
    Contradiction {
        field: &'static str,
        first: String,
        second: String,
    },
    #[error(
        "outcome is missing, and `<{alias}>` cannot be read as it: with a process of False it may mean the outcome or the whole"
    )]
    AmbiguousAlias { alias: &'static str },
    #[error(
        "a verdict stands with other text inside `{tag}` tags, which may be the judge's thinking: name them with \
         --thinking-tags if they are, or say --thinking-style none if it does not think"
    )]
    InUnknownTags { tag: String },
    #[error("the reason does not end before a verdict that differs from the one before it")]
    ReasonHoldsVerdict,
    #[error("the judge wrote nothing")]
    Empty,
    #[error("no verdict: none of the labels {labels} stands where one counts")]
    NoLabel { labels: String },
    #[error("`{found}` is none of the labels {labels}")]
    NotALabel { found: String, labels: String },
    #[error("the answer was cut before its end")]
    Cut,
    #[error("the verdict contradicts itself: {first} and {second}")]
    Labels { first: String, second: String },
    #[error("no complete JSON object with the key `{key}`")]
    NoObject { key: String },
    #[error("no step: `\\boxed{{…}}` with the index of the first wrong step, or -1, is missing")]
    NoStep,
    #[error("there is no step {index}: the response has {steps}, numbered from 0")]
    NoSuchStep { index: usize, steps: usize },
    #[error("criterion {number}: `{found}` is no grade")]
    NotAGrade { number: usize, found: String },
    /// Grades that do not fit the rubric.
    #[error("{0}")]
    Grades(RubricError),
    #[error("`{found}` is no index of a step; it must be -1 or more")]
    NotAStep { found: String },
}

/// Every built-in protocol, the default first.
pub fn known() -> impl Iterator<Item = &'static Arc<Protocol>> {
    declared::names().filter_map(declared::built_in)
}

pub fn find(name: &str) -> Option<Arc<Protocol>> {
    declared::built_in(name).cloned()
}

/// The protocol that a name stands for: a built-in one, or a file of the user's that ends in `.toml`.
/// Errors: [`DeclarationError`]: the name is unknown, or the file cannot be used.
pub fn resolve(name: &str) -> Result<Arc<Protocol>, DeclarationError> {
    if let Some(protocol) = find(name) {
        return Ok(protocol);
    }
    if name == OWN_SOLUTION {
        return Ok(Arc::new(own_solution::protocol()));
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|end| end == "toml") {
        return Ok(Arc::new(Protocol::load(path)?));
    }
    let known = declared::names().collect::<Vec<_>>().join(", ");
    let why =
        format!("no protocol `{name}`; there is {known}, or a file of your own that ends in .toml");
    Err(DeclarationError(why))
}

/// At most forty characters, for a message.
fn shorten(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(40) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests;
