//! A protocol that is declared: a TOML file ([`declaration`]) and a prompt text.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::declaration::{self, AnswerFile, DeclarationError, File, ReferenceFile, TagField};
use super::labels::{Labels, UNCLEAR, verdict};
use super::scaffold::{ChoiceField, Filled, LabelScaffold, Scaffold, ScaffoldWants};
use super::stop::TextStop;
use super::unknown_tags::without_unknown_pairs;
use super::{
    ParsedVerdict, PromptTemplate, Protocol, StopMatcher, Unreadable, VerdictStop, View, Yields,
    grades, json, parser, steps, visible,
};
use juror_data::verdict::ParseRule;
use juror_engine::engine::Sampling;
use juror_engine::grammar::GrammarSource;

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
const BUILT_IN: [(&str, &str, Option<&str>); 13] = [
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
    built_in_file!("rubric"),
    built_in_file!("pairwise"),
];

/// How an answer is read.
#[derive(Debug, Clone)]
enum Answer {
    Tags(Yields),
    Labels(Labels),
    Json(json::Keys, Labels),
    Step,
    Rubric,
}

/// A protocol that was declared in a file.
#[derive(Debug, Clone)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a key of the file that is on or off"
)]
pub(crate) struct Declared {
    name: String,
    description: String,
    template: Option<String>,
    view: View,
    chat: bool,
    needs_reference: bool,
    compares: bool,
    stop: Vec<String>,
    max_new_tokens: Option<usize>,
    sampling: Option<Sampling>,
    answer: Answer,
    /// The form of a constrained answer of labels.
    scaffold: Option<LabelScaffold>,
    /// The form of any other constrained answer, without a reason and with one.
    grammars: Option<[Arc<GrammarSource>; 2]>,
    reads_cut: bool,
    hash: Option<String>,
}

pub(super) fn built_in() -> Result<Vec<Arc<dyn Protocol>>, DeclarationError> {
    BUILT_IN
        .iter()
        .map(|(name, text, template)| {
            Ok(Arc::new(Declared::parse(name, text, *template)?) as Arc<dyn Protocol>)
        })
        .collect()
}

impl Declared {
    /// Reads a user's protocol: a TOML file, and the prompt text that it names.
    ///
    /// # Errors
    /// What is missing, of another form, or unknown, with the file and the place in it.
    pub(crate) fn load(path: &Path) -> Result<Self, DeclarationError> {
        let read = |path: &Path| {
            std::fs::read_to_string(path).map_err(|error| DeclarationError::Read {
                path: path.to_owned(),
                message: error.to_string(),
            })
        };
        let text = read(path)?;
        let beside = |file: &Path| path.parent().unwrap_or(Path::new("")).join(file);
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let origin = path.display().to_string();
        let file = declaration::read(&origin, &text)?;
        let template = file.template.clone();
        let form = file.form().map_err(|(key, why)| DeclarationError::Value {
            origin: origin.clone(),
            key: key.to_owned(),
            message: why.to_owned(),
        })?;
        let mut declared = Self::declare(&origin, &name, file)?;
        let mut hasher = blake3::Hasher::new();
        hasher.update(text.as_bytes());
        if let Some(template) = template {
            let beside = beside(&template);
            let text = read(&beside)?;
            PromptTemplate::parse(&text).map_err(|error| DeclarationError::Format {
                origin: beside.display().to_string(),
                message: error.to_string(),
            })?;
            declared.template = Some(text);
        }
        if let Some([plain, _]) = &declared.grammars {
            plain.check().map_err(|error| DeclarationError::Value {
                origin: origin.clone(),
                key: "answer.answer_pattern".to_owned(),
                message: error.to_string(),
            })?;
        }
        if let Some(form) = form {
            let beside = beside(form.path());
            let text = read(&beside)?;
            hasher.update(text.as_bytes());
            let source = form.source(text);
            source.check().map_err(|error| DeclarationError::Format {
                origin: beside.display().to_string(),
                message: error.to_string(),
            })?;
            let source = Arc::new(source);
            declared.grammars = Some([Arc::clone(&source), source]);
        }
        declared.hash = Some(hasher.finalize().to_hex().to_string());
        Ok(declared)
    }

    /// Reads a protocol from its file's text and its prompt's.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub(crate) fn parse(
        name: &str,
        text: &str,
        template: Option<&str>,
    ) -> Result<Self, DeclarationError> {
        let origin = format!("{name}.toml");
        let file = declaration::read(&origin, text)?;
        Ok(Self {
            template: template.map(str::to_owned),
            ..Self::declare(&origin, name, file)?
        })
    }

    /// A protocol without its prompt text.
    fn declare(origin: &str, name: &str, file: File) -> Result<Self, DeclarationError> {
        let value = |key: &str, message: String| DeclarationError::Value {
            origin: origin.to_owned(),
            key: key.to_owned(),
            message,
        };
        let view = match &file.view {
            Some(view) => view
                .parse()
                .map_err(|error: super::view::UnknownView| value("view", error.to_string()))?,
            None => View::Full,
        };
        if file.max_new_tokens == Some(0) {
            return Err(value("max_new_tokens", "must be at least 1".into()));
        }
        let sampling = file.sampling;
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
        let mut own_scaffold = None;
        let answer = match file.answer {
            AnswerFile::Tags { fields } => {
                let wanted = |field| fields.contains(&field);
                if !wanted(TagField::Process) && !wanted(TagField::Outcome) {
                    let why = "must name process or outcome, or both".into();
                    return Err(value("answer.fields", why));
                }
                Answer::Tags(Yields {
                    process: wanted(TagField::Process),
                    outcome: wanted(TagField::Outcome),
                    perfect: wanted(TagField::Perfect),
                    ..Yields::default()
                })
            }
            AnswerFile::Labels {
                rules,
                labels,
                unclear,
                cut: _,
                scaffold,
            } => {
                if rules.is_empty() {
                    return Err(value("answer.rules", "has no rule".into()));
                }
                let rules = rules
                    .into_iter()
                    .map(|rule| declaration::compile(rule).map_err(|(name, why)| value(&name, why)))
                    .collect::<Result<_, _>>()?;
                let mut labels =
                    declaration::meanings(labels).map_err(|why| value("answer.labels", why))?;
                labels.rules = rules;
                if let Some(unclear) = unclear {
                    let place = labels.known.iter().position(|label| label.name == unclear);
                    let why = || format!("`{unclear}` is none of the labels {}", labels.listed());
                    labels.unclear = Some(place.ok_or_else(|| value("answer.unclear", why()))?);
                }
                if let Some(text) = scaffold {
                    let own = LabelScaffold::parse(&text);
                    own_scaffold = Some(own.map_err(|why| value("answer.scaffold", why))?);
                }
                Answer::Labels(labels)
            }
            AnswerFile::Json {
                verdict,
                answer,
                answer_pattern,
                reason,
                labels,
            } => {
                let mut keys = vec![&verdict];
                keys.extend(answer.iter().chain(&reason));
                let different: HashSet<_> = keys.iter().map(|key| key.to_lowercase()).collect();
                if different.len() < keys.len() {
                    let why = "`verdict`, `answer` and `reason` must be different keys";
                    return Err(value("answer", why.into()));
                }
                if answer_pattern.is_some() && answer.is_none() {
                    let why = "needs the key `answer`, whose text it is of";
                    return Err(value("answer.answer_pattern", why.into()));
                }
                Answer::Json(
                    json::Keys {
                        verdict,
                        answer,
                        answer_pattern,
                        reason,
                    },
                    declaration::meanings(labels).map_err(|why| value("answer.labels", why))?,
                )
            }
            AnswerFile::Step {} if view != View::Steps => {
                let why = "the form `step` needs `view = \"steps\"`, which numbers them";
                return Err(value("view", why.into()));
            }
            AnswerFile::Step {} => Answer::Step,
            AnswerFile::Rubric {} => Answer::Rubric,
        };
        let grammars = match &answer {
            Answer::Json(keys, labels) => {
                let source = |reason| {
                    Arc::new(GrammarSource::JsonSchema(
                        keys.schema(labels, reason).to_string(),
                    ))
                };
                Some([source(false), source(true)])
            }
            _ => None,
        };
        Ok(Self {
            name: name.to_owned(),
            description: file.description,
            template: None,
            view,
            chat: file.chat,
            needs_reference: file.reference == ReferenceFile::Required,
            compares: file.compares,
            stop: file.stop,
            max_new_tokens: file.max_new_tokens,
            sampling,
            answer,
            scaffold: own_scaffold,
            grammars,
            reads_cut,
            hash: None,
        })
    }
}

impl Declared {
    /// Reads an answer: of the form `tags` a whole completion, of the others what is left without thinking.
    fn read(&self, answer: &str, starts_in_thinking: bool) -> Result<ParsedVerdict, Unreadable> {
        match &self.answer {
            Answer::Tags(wanted) => parser::parse_wanted(*wanted, answer, starts_in_thinking),
            Answer::Labels(labels) => labels.read(answer),
            Answer::Json(keys, labels) => json::read(keys, labels, answer),
            Answer::Step => steps::read(answer),
            Answer::Rubric => grades::read(answer),
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
            Answer::Tags(wanted) => *wanted,
            Answer::Labels(labels) | Answer::Json(_, labels) => Yields {
                process: labels.known.iter().any(|label| label.process.is_some()),
                outcome: labels.known.iter().any(|label| label.outcome.is_some()),
                perfect: false,
                score: labels.known.iter().any(|label| label.score.is_some()),
                first_error: false,
            },
            Answer::Step => Yields {
                process: true,
                first_error: true,
                ..Yields::default()
            },
            Answer::Rubric => Yields {
                score: true,
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

    fn needs_reference(&self) -> bool {
        self.needs_reference
    }

    fn compares(&self) -> bool {
        self.compares
    }

    fn needs_rubric(&self) -> bool {
        matches!(self.answer, Answer::Rubric)
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

    fn stop_texts(&self) -> &[String] {
        &self.stop
    }

    fn has_odds(&self) -> bool {
        // A label of both says one thing with its tokens and two with its values.
        let Yields {
            process, outcome, ..
        } = self.yields();
        match self.answer {
            Answer::Tags(_) | Answer::Rubric => true,
            Answer::Labels(_) | Answer::Json(..) => process != outcome || self.yields().score,
            Answer::Step => false,
        }
    }

    fn choices(&self) -> Option<Vec<(&str, f32)>> {
        let (Answer::Labels(labels) | Answer::Json(_, labels)) = &self.answer else {
            return None;
        };
        let numbers = labels.known.iter().flat_map(|label| {
            let value = label.outcome.or(label.process);
            let number = label
                .score
                .unwrap_or(f64::from(u8::from(value == Some(true))));
            label.spellings().map(move |word| (word, number as f32))
        });
        Some(numbers.collect())
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

    fn scaffold(&self, wants: ScaffoldWants) -> Option<Scaffold> {
        if let Some(grammars) = &self.grammars {
            return Some(Scaffold::of_grammar(&grammars[usize::from(wants.reason)]));
        }
        match &self.answer {
            Answer::Tags(wanted) => Some(Scaffold::of_tags(*wanted, wants.reason)),
            Answer::Labels(labels) => {
                let names = labels.known.iter().map(|label| label.name.clone());
                Some(self.scaffold.as_ref()?.around(names.collect()))
            }
            Answer::Json(..) => None,
            Answer::Rubric => Some(grades::scaffold(wants.rubric.as_deref(), wants.reason)),
            Answer::Step => Some(Scaffold::of_step(wants.steps)),
        }
    }

    fn read_filled(&self, filled: Filled) -> Result<ParsedVerdict, Unreadable> {
        let nothing = || Unreadable::Missing { field: "verdict" };
        match &self.answer {
            Answer::Tags(_) => Ok(filled.in_tags()),
            Answer::Labels(labels) => {
                let word = filled.word(ChoiceField::Label).ok_or_else(nothing)?;
                let label = labels.named(word).ok_or_else(nothing)?;
                Ok(verdict(label, ParseRule::Constrained, 0..0))
            }
            Answer::Step => {
                let word = filled.word(ChoiceField::Step).ok_or_else(nothing)?;
                Ok(steps::verdict(word.parse().ok(), ParseRule::Constrained))
            }
            Answer::Rubric => Ok(grades::of_filled(&filled)),
            // Of a grammar: nothing is filled in.
            Answer::Json(..) => Err(nothing()),
        }
    }

    fn read_of_grammar(&self, text: &str) -> Result<ParsedVerdict, Unreadable> {
        self.read(text, false)
    }

    fn parse(
        &self,
        completion: &str,
        starts_in_thinking: bool,
    ) -> Result<ParsedVerdict, Unreadable> {
        if matches!(self.answer, Answer::Tags(_)) {
            return self.read(completion, starts_in_thinking);
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
            return self.read(answer, false);
        };
        let read = self.read(&outside.text, false);
        let unclear = ParseRule::Named(UNCLEAR.to_owned());
        let in_tags = match &read {
            // What is in a tag that is never closed may take back what stands before it.
            Ok(read) if outside.is_open => {
                self.read(answer, false).map(|whole| whole.fields).as_ref() != Ok(&read.fields)
            }
            Ok(read) => read.rule == unclear,
            Err(_) => self
                .read(answer, false)
                .is_ok_and(|whole| whole.rule != unclear),
        };
        if in_tags {
            return Err(Unreadable::InUnknownTags { tag });
        }
        read
    }
}
