//! A protocol as a TOML file and a prompt text.
//!
//! ```toml
//! description = "one letter: A right, B wrong"
//! template = "letter.txt"        # beside this file; `--prompt FILE` takes its place
//! view = "full"                  # what of a response the judge is shown
//! chat = true                    # false: the text is all that the model sees, without its chat template
//! max_new_tokens = 16            # left out: the model's recommendation, else 2048
//! stop = ["\nUser:"]             # texts that end an answer
//! sampling = { temperature = 0.0 }
//!
//! [answer]
//! form = "labels"                # tags, labels, json or step
//! rules = [{ name = "letter", pattern = '\A\W*([AB])\W*\z' }]
//!
//! [answer.labels]
//! A = { outcome = true }
//! B = { outcome = false }
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regex::RegexBuilder;
use serde::{Deserialize, Serialize};

use super::labels::{Label, Labels, Rule, Take, UNCLEAR};
use super::stop::TextStop;
use super::unknown_tags::without_unknown_pairs;
use super::verdict_reader::Wanted;
use super::{
    ParsedVerdict, PromptTemplate, Protocol, StopMatcher, Unreadable, VerdictStop, View, Yields,
    json, parser, steps, visible,
};
use crate::engine::Sampling;
use crate::verdict::ParseRule;

/// The largest compiled pattern, in bytes.
const MAX_PATTERN: usize = 1 << 20;

/// The name of a built-in protocol, its file and its prompt text.
macro_rules! built_in_file {
    ($name:literal) => {
        (
            $name,
            include_str!(concat!("../../prompts/", $name, ".toml")),
            Some(include_str!(concat!("../../prompts/", $name, ".txt"))),
        )
    };
}

/// The built-in protocols, each with its file and its prompt text; the default first.
const BUILT_IN: [(&str, &str, Option<&str>); 11] = [
    built_in_file!("prime"),
    built_in_file!("prime-outcome"),
    built_in_file!("answer-json"),
    built_in_file!("compass"),
    built_in_file!("compass-cot"),
    // Its licence forbids derivatives: the published text must be given with `--prompt`.
    ("xverify", include_str!("../../prompts/xverify.toml"), None),
    built_in_file!("sci-verifier"),
    built_in_file!("tencent-rlvr"),
    built_in_file!("general-verifier"),
    built_in_file!("verifybench"),
    built_in_file!("first-error"),
];

/// What a protocol's file says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    description: String,
    #[serde(default)]
    template: Option<PathBuf>,
    #[serde(default)]
    view: Option<String>,
    #[serde(default = "yes")]
    chat: bool,
    #[serde(default)]
    stop: Vec<String>,
    max_new_tokens: Option<usize>,
    #[serde(default)]
    sampling: Option<SamplingFile>,
    answer: AnswerFile,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SamplingFile {
    temperature: f64,
    top_p: Option<f64>,
    top_k: Option<usize>,
    min_p: Option<f64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "form", rename_all = "lowercase", deny_unknown_fields)]
enum AnswerFile {
    /// XML tags with True or False.
    Tags { fields: Vec<TagField> },
    /// Labels that ordered rules find.
    Labels {
        rules: Vec<RuleFile>,
        labels: BTreeMap<String, LabelFile>,
        unclear: Option<String>,
        #[serde(default)]
        cut: bool,
    },
    /// One JSON object.
    Json {
        verdict: String,
        answer: Option<String>,
        reason: Option<String>,
        labels: BTreeMap<String, LabelFile>,
    },
    /// The index of the first wrong step.
    Step {},
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TagField {
    Process,
    Outcome,
    Perfect,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    name: String,
    pattern: String,
    #[serde(default)]
    take: Take,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LabelFile {
    process: Option<bool>,
    outcome: Option<bool>,
    #[serde(default)]
    words: Vec<String>,
}

/// Why a protocol's file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DeclarationError {
    /// No protocol has this name.
    #[error("no protocol `{name}`; there is {known}, or a file of your own that ends in .toml")]
    Unknown {
        /// The name.
        name: String,
        /// The names of all built-in protocols.
        known: String,
    },
    /// A file could not be read.
    #[error("could not read {}: {message}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        message: String,
    },
    /// It is not TOML, or not of a protocol.
    #[error("{origin}: {message}")]
    Format {
        /// Where it came from.
        origin: String,
        /// What is wrong, with its place.
        message: String,
    },
    /// A value in it cannot be used.
    #[error("{origin}: {key}: {message}")]
    Value {
        /// Where it came from.
        origin: String,
        /// The key.
        key: String,
        /// What is wrong.
        message: String,
    },
}

/// How an answer is read.
#[derive(Debug, Clone)]
enum Answer {
    Tags(Wanted),
    Labels(Labels),
    Json(json::Keys, Labels),
    Step,
}

/// A protocol that was declared in a file.
#[derive(Debug, Clone)]
pub struct Declared {
    name: String,
    description: String,
    template: Option<String>,
    view: View,
    chat: bool,
    stop: Vec<String>,
    max_new_tokens: Option<usize>,
    sampling: Option<Sampling>,
    answer: Answer,
    reads_cut: bool,
    hash: Option<String>,
}

pub(super) fn built_in() -> Vec<Arc<dyn Protocol>> {
    BUILT_IN
        .iter()
        .map(|(name, text, template)| {
            // A test reads them all; a damaged one would be left out.
            Declared::parse(name, text, *template)
        })
        .filter_map(Result::ok)
        .map(|protocol| Arc::new(protocol) as Arc<dyn Protocol>)
        .collect()
}

impl Declared {
    /// Reads a user's protocol: a TOML file, and the prompt text that it names.
    ///
    /// # Errors
    /// What is missing, of another form, or unknown, with the file and the place in it.
    pub fn load(path: &Path) -> Result<Self, DeclarationError> {
        let read = |path: &Path| {
            std::fs::read_to_string(path).map_err(|error| DeclarationError::Read {
                path: path.to_owned(),
                message: error.to_string(),
            })
        };
        let text = read(path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let mut declared = Self::parse_from(&path.display().to_string(), &name, &text, None)?;
        let file = format(&path.display().to_string(), &text)?;
        if let Some(template) = &file.template {
            let beside = path.parent().unwrap_or(Path::new("")).join(template);
            let text = read(&beside)?;
            PromptTemplate::parse(&text).map_err(|error| DeclarationError::Format {
                origin: beside.display().to_string(),
                message: error.to_string(),
            })?;
            declared.template = Some(text);
        }
        declared.hash = Some(blake3::hash(text.as_bytes()).to_hex().to_string());
        Ok(declared)
    }

    /// Reads a protocol from its file's text and its prompt's.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn parse(name: &str, text: &str, template: Option<&str>) -> Result<Self, DeclarationError> {
        Self::parse_from(&format!("{name}.toml"), name, text, template)
    }

    fn parse_from(
        origin: &str,
        name: &str,
        text: &str,
        template: Option<&str>,
    ) -> Result<Self, DeclarationError> {
        let value = |key: &str, message: String| DeclarationError::Value {
            origin: origin.to_owned(),
            key: key.to_owned(),
            message,
        };
        let file = format(origin, text)?;
        let view = match &file.view {
            Some(view) => view
                .parse()
                .map_err(|error: super::view::UnknownView| value("view", error.to_string()))?,
            None => View::Full,
        };
        if file.max_new_tokens == Some(0) {
            return Err(value("max_new_tokens", "must be at least 1".into()));
        }
        let sampling = file.sampling.map(|own| Sampling {
            temperature: own.temperature,
            top_k: own.top_k.unwrap_or(0),
            top_p: own.top_p.unwrap_or(1.0),
            min_p: own.min_p.unwrap_or(0.0),
        });
        if let Some(sampling) = &sampling {
            sampling
                .validate()
                .map_err(|error| value("sampling", error.to_string()))?;
        }
        if file.stop.iter().any(String::is_empty) {
            return Err(value("stop", "holds an empty text".into()));
        }
        if !file.stop.is_empty() && matches!(file.answer, AnswerFile::Tags { .. }) {
            let why = "changes nothing with the form `tags`, whose last tag ends an answer";
            return Err(value("stop", why.into()));
        }
        let reads_cut = matches!(
            file.answer,
            AnswerFile::Tags { .. } | AnswerFile::Labels { cut: true, .. }
        );
        let answer = match file.answer {
            AnswerFile::Tags { fields } => {
                let wanted = |field| fields.contains(&field);
                if !wanted(TagField::Process) && !wanted(TagField::Outcome) {
                    let why = "must name process or outcome, or both".into();
                    return Err(value("answer.fields", why));
                }
                Answer::Tags(Wanted {
                    process: wanted(TagField::Process),
                    outcome: wanted(TagField::Outcome),
                    perfect: wanted(TagField::Perfect),
                })
            }
            AnswerFile::Labels {
                rules,
                labels,
                unclear,
                cut: _,
            } => {
                if rules.is_empty() {
                    return Err(value("answer.rules", "has no rule".into()));
                }
                let rules = rules
                    .into_iter()
                    .map(|rule| compile(rule).map_err(|(name, why)| value(&name, why)))
                    .collect::<Result<_, _>>()?;
                let mut labels = meanings(labels).map_err(|why| value("answer.labels", why))?;
                labels.rules = rules;
                if let Some(unclear) = unclear {
                    let place = labels.known.iter().position(|label| label.name == unclear);
                    let why = || format!("`{unclear}` is none of the labels {}", labels.listed());
                    labels.unclear = Some(place.ok_or_else(|| value("answer.unclear", why()))?);
                }
                Answer::Labels(labels)
            }
            AnswerFile::Json {
                verdict,
                answer,
                reason,
                labels,
            } => Answer::Json(
                json::Keys {
                    verdict,
                    answer,
                    reason,
                },
                meanings(labels).map_err(|why| value("answer.labels", why))?,
            ),
            AnswerFile::Step {} if view != View::Steps => {
                let why = "the form `step` needs `view = \"steps\"`, which numbers them";
                return Err(value("view", why.into()));
            }
            AnswerFile::Step {} => Answer::Step,
        };
        Ok(Self {
            name: name.to_owned(),
            description: file.description,
            template: template.map(str::to_owned),
            view,
            chat: file.chat,
            stop: file.stop,
            max_new_tokens: file.max_new_tokens,
            sampling,
            answer,
            reads_cut,
            hash: None,
        })
    }
}

fn format(origin: &str, text: &str) -> Result<File, DeclarationError> {
    toml::from_str(text).map_err(|error| {
        let line = error
            .span()
            .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let place = line.map_or(String::new(), |line| format!("line {line}: "));
        DeclarationError::Format {
            origin: origin.to_owned(),
            message: format!("{place}{}", error.message()),
        }
    })
}

/// What a verdict's `parse_rule` says by itself.
const RESERVED_NAMES: [&str; 4] = ["exact", "lenient", "unclosed", UNCLEAR];

/// A rule, or its key and what is wrong with it.
fn compile(rule: RuleFile) -> Result<Rule, (String, String)> {
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

/// Labels without rules.
fn meanings(labels: BTreeMap<String, LabelFile>) -> Result<Labels, String> {
    let mut found: Vec<Label> = Vec::new();
    for (name, label) in labels {
        if (label.process, label.outcome) == (None, None) {
            return Err(format!(
                "`{name}` says nothing: give it an `outcome` or a `process`, true or false"
            ));
        }
        let label = Label {
            name,
            words: label.words,
            process: label.process,
            outcome: label.outcome,
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
    if !same(|label| label.process.is_some()) || !same(|label| label.outcome.is_some()) {
        return Err(
            "all must say the same things: each an `outcome`, each a `process`, or each both"
                .into(),
        );
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

impl Declared {
    /// Reads an answer without thinking.
    fn read(&self, answer: &str) -> Result<ParsedVerdict, Unreadable> {
        match &self.answer {
            Answer::Tags(wanted) => parser::parse_wanted(*wanted, answer, false),
            Answer::Labels(labels) => labels.read(answer),
            Answer::Json(keys, labels) => json::read(keys, labels, answer),
            Answer::Step => steps::read(answer),
        }
    }
}

impl Protocol for Declared {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn template_text(&self) -> Option<&str> {
        self.template.as_deref()
    }

    fn yields(&self) -> Yields {
        match &self.answer {
            Answer::Tags(wanted) => Yields {
                process: wanted.process,
                outcome: wanted.outcome,
                perfect: wanted.perfect,
            },
            Answer::Labels(labels) | Answer::Json(_, labels) => Yields {
                process: labels.known.iter().any(|label| label.process.is_some()),
                outcome: labels.known.iter().any(|label| label.outcome.is_some()),
                perfect: false,
            },
            Answer::Step => Yields {
                process: true,
                ..Yields::default()
            },
        }
    }

    fn view(&self) -> View {
        self.view
    }

    fn chat(&self) -> bool {
        self.chat
    }

    fn sampling(&self) -> Option<Sampling> {
        self.sampling
    }

    fn max_new_tokens(&self) -> Option<usize> {
        self.max_new_tokens
    }

    fn reads_cut(&self) -> bool {
        self.reads_cut
    }

    fn has_odds(&self) -> bool {
        // A label of both says one thing with its tokens and two with its values.
        let Yields {
            process, outcome, ..
        } = self.yields();
        match self.answer {
            Answer::Tags(_) => true,
            Answer::Labels(_) | Answer::Json(..) => process != outcome,
            Answer::Step => false,
        }
    }

    fn choices(&self) -> Option<(Vec<&str>, Vec<&str>)> {
        let (Answer::Labels(labels) | Answer::Json(_, labels)) = &self.answer else {
            return None;
        };
        let of = |value| {
            let labels = labels.known.iter();
            labels
                .filter(|label| label.outcome.or(label.process) == Some(value))
                .flat_map(Label::spellings)
                .collect()
        };
        Some((of(true), of(false)))
    }

    fn hash(&self) -> Option<String> {
        self.hash.clone()
    }

    fn stop(&self, starts_in_thinking: bool, wants_reason: bool) -> Option<Box<dyn StopMatcher>> {
        match self.answer {
            Answer::Tags(wanted) => Some(Box::new(VerdictStop::new(
                wanted,
                starts_in_thinking,
                wants_reason,
            ))),
            _ if self.stop.is_empty() => None,
            _ => Some(Box::new(TextStop::new(&self.stop))),
        }
    }

    fn parse(
        &self,
        completion: &str,
        starts_in_thinking: bool,
    ) -> Result<ParsedVerdict, Unreadable> {
        if let Answer::Tags(wanted) = self.answer {
            return parser::parse_wanted(wanted, completion, starts_in_thinking);
        }
        let answer = visible::answer(completion, starts_in_thinking)
            .ok_or(Unreadable::ThinkingNotFinished)?;
        let ends = self
            .stop
            .iter()
            .filter_map(|stop| answer.find(stop.as_str()));
        let answer = &answer[..ends.min().unwrap_or(answer.len())];
        let outside = without_unknown_pairs(answer);
        let Some(tag) = outside.tag else {
            return self.read(answer);
        };
        let read = self.read(&outside.text);
        let unclear = ParseRule::Named(UNCLEAR.to_owned());
        let in_tags = match &read {
            // What is in a tag that is never closed may take back what stands before it.
            Ok(read) if outside.is_open => {
                self.read(answer).map(|whole| whole.fields).as_ref() != Ok(&read.fields)
            }
            Ok(read) => read.rule == unclear,
            Err(_) => self.read(answer).is_ok_and(|whole| whole.rule != unclear),
        };
        if in_tags {
            return Err(Unreadable::InUnknownTags { tag });
        }
        read
    }
}
