//! What a protocol's TOML file may say (docs/protocols/own.md), and what of it cannot be.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use juror_engine::engine::Sampling;
use regex::RegexBuilder;
use serde::Deserialize;

use super::labels::{Label, Labels, Rule, Take, UNCLEAR};
use juror_engine::grammar::GrammarSource;

/// The largest compiled pattern, in bytes.
const MAX_PATTERN: usize = 1 << 20;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) description: String,
    pub(super) template: Option<PathBuf>,
    pub(super) view: Option<String>,
    #[serde(default = "yes")]
    pub(super) chat: bool,
    #[serde(default)]
    pub(super) reference: ReferenceFile,
    #[serde(default)]
    pub(super) compares: bool,
    #[serde(default)]
    pub(super) stop: Vec<String>,
    pub(super) max_new_tokens: Option<usize>,
    pub(super) sampling: Option<Sampling>,
    /// Files beside this one.
    pub(super) schema: Option<PathBuf>,
    pub(super) grammar: Option<PathBuf>,
    pub(super) answer: AnswerFile,
}

#[derive(Debug, Clone)]
pub(super) enum FormFile {
    Schema(PathBuf),
    Grammar(PathBuf),
}

impl FormFile {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Schema(path) | Self::Grammar(path) => path,
        }
    }

    pub(super) fn source(&self, text: String) -> GrammarSource {
        match self {
            Self::Schema(_) => GrammarSource::JsonSchema(text),
            Self::Grammar(_) => GrammarSource::Lark(text),
        }
    }
}

impl File {
    /// The form that it names, or the key and what is wrong with it.
    pub(super) fn form(&self) -> Result<Option<FormFile>, (&'static str, &'static str)> {
        let (key, form) = match (&self.schema, &self.grammar) {
            (None, None) => return Ok(None),
            (Some(_), Some(_)) => return Err(("grammar", "there is a `schema` already")),
            (Some(schema), None) => ("schema", FormFile::Schema(schema.clone())),
            (None, Some(grammar)) => ("grammar", FormFile::Grammar(grammar.clone())),
        };
        match &self.answer {
            AnswerFile::Step {} | AnswerFile::Rubric {} => Err((
                key,
                "an answer of this form depends on the sample, and its grammar is made for each",
            )),
            AnswerFile::Labels(LabelsFile {
                scaffold: Some(_), ..
            }) => Err((
                key,
                "`answer.scaffold` says what a constrained judge writes already",
            )),
            AnswerFile::Tags { .. } | AnswerFile::Labels(_) | AnswerFile::Json(_) => Ok(Some(form)),
        }
    }
}

fn yes() -> bool {
    true
}

/// Whether a sample needs a reference answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ReferenceFile {
    #[default]
    Required,
    Optional,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "form", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum AnswerFile {
    /// XML tags with True or False.
    Tags {
        fields: Vec<TagField>,
    },
    /// Labels that ordered rules find.
    Labels(LabelsFile),
    Json(JsonFile),
    /// The index of the first wrong step.
    Step {},
    /// A grade for each criterion of a rubric.
    Rubric {},
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LabelsFile {
    pub(super) rules: Vec<RuleFile>,
    pub(super) labels: BTreeMap<String, LabelFile>,
    pub(super) unclear: Option<String>,
    #[serde(default)]
    pub(super) cut: bool,
    pub(super) scaffold: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonFile {
    pub(super) verdict: String,
    pub(super) answer: Option<String>,
    pub(super) answer_pattern: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) labels: BTreeMap<String, LabelFile>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum TagField {
    Process,
    Outcome,
    Perfect,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuleFile {
    pub(super) name: String,
    pub(super) pattern: String,
    #[serde(default)]
    pub(super) take: Take,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LabelFile {
    pub(super) process: Option<bool>,
    pub(super) outcome: Option<bool>,
    pub(super) score: Option<f64>,
    #[serde(default)]
    pub(super) words: Vec<String>,
}

/// Why a protocol's file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DeclarationError(pub(super) String);

pub(super) fn read(origin: &str, text: &str) -> Result<File, DeclarationError> {
    toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let place = line.map_or(String::new(), |line| format!("line {line}: "));
        DeclarationError(format!("{origin}: {place}{}", error.message()))
    })
}

/// What a verdict's `parse_rule` says by itself.
const RESERVED_NAMES: [&str; 5] = ["exact", "lenient", "unclosed", "constrained", UNCLEAR];

/// A key of the file, and what is wrong with it.
pub(super) type KeyError = (String, String);

/// A rule, or its key and what is wrong with it.
pub(super) fn compile(rule: RuleFile) -> Result<Rule, KeyError> {
    let key = format!("answer.rules: {}", rule.name);
    if RESERVED_NAMES.contains(&rule.name.as_str()) || rule.name.trim().is_empty() {
        let why = format!(
            "the name must be another than {}",
            RESERVED_NAMES.join(", ")
        );
        return Err((key, why));
    }
    let pattern = RegexBuilder::new(&rule.pattern)
        .size_limit(MAX_PATTERN)
        .build()
        .map_err(|error| (key.clone(), error.to_string()))?;
    if pattern.captures_len() < 2 {
        let why = "the pattern has no group: put the label in parentheses".to_owned();
        return Err((key, why));
    }
    Ok(Rule {
        name: rule.name,
        pattern,
        take: rule.take,
    })
}

pub(super) fn meanings(labels: BTreeMap<String, LabelFile>) -> Result<Labels, KeyError> {
    let key = |why| ("answer.labels".to_owned(), why);
    meanings_of(labels).map_err(key)
}

fn meanings_of(labels: BTreeMap<String, LabelFile>) -> Result<Labels, String> {
    let mut found: Vec<Label> = Vec::new();
    for (name, label) in labels {
        if (label.process, label.outcome, label.score) == (None, None, None) {
            return Err(format!(
                "`{name}` says nothing: give it an `outcome` or a `process`, true or false, or a `score` from 0 to 1"
            ));
        }
        if label
            .score
            .is_some_and(|score| !(0.0..=1.0).contains(&score))
        {
            return Err(format!("the score of `{name}` must be from 0 to 1"));
        }
        let label = Label {
            name,
            words: label.words,
            process: label.process,
            outcome: label.outcome,
            score: label.score,
        };
        for spelling in label.spellings() {
            if spelling.trim() != spelling || spelling.is_empty() {
                return Err(format!("`{spelling}` has spaces around it, or is blank"));
            }
            let taken = found.iter().find(|other| {
                other
                    .spellings()
                    .any(|word| word.eq_ignore_ascii_case(spelling))
            });
            if let Some(other) = taken {
                let (one, two) = (&other.name, &label.name);
                return Err(format!("`{spelling}` is a word of both {one} and {two}"));
            }
        }
        found.push(label);
    }
    if found.is_empty() {
        return Err("there is none".into());
    }
    let same = |of: fn(&Label) -> bool| found.iter().all(|label| of(label) == of(&found[0]));
    if !same(|label| label.process.is_some())
        || !same(|label| label.outcome.is_some())
        || !same(|label| label.score.is_some())
    {
        return Err(
            "all must say the same things: each an `outcome`, each a `process`, each both, or each a `score`"
                .into(),
        );
    }
    if found[0].score.is_some() {
        if (found[0].process, found[0].outcome) != (None, None) {
            return Err("a label with a `score` says neither `process` nor `outcome`".into());
        }
        if found.iter().all(|label| label.score == found[0].score) {
            return Err("all have the same score".into());
        }
        return Ok(Labels {
            rules: Vec::new(),
            known: found,
            unclear: None,
        });
    }
    let values = |value| {
        found
            .iter()
            .any(|label| label.outcome.or(label.process) == Some(value))
    };
    if !values(true) || !values(false) {
        return Err("there must be a label that means true, and one that means false".into());
    }
    Ok(Labels {
        rules: Vec::new(),
        known: found,
        unclear: None,
    })
}
