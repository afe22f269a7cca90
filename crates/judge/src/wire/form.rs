//! The form of an answer, in the words of servers.
//!
//! | key of the body | understood by |
//! |---|---|
//! | `structured_outputs` | vLLM from 0.11 on, `juror serve` |
//! | `guided_choice`, `guided_regex`, `guided_json` | vLLM before it, `juror serve` |
//! | `regex` | SGLang |
//! | `grammar` | llama.cpp: GBNF |
//! | `response_format` | all of them and OpenAI, for JSON alone |

use regex::Regex;
use serde_json::{Map, Value, json};

use crate::protocol::{Part, Scaffold};
use juror_engine::grammar::GrammarSource;

/// What an answer must be as a whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ServerForm {
    /// Known text, words to choose from, and text up to a mark, one after another.
    Parts(Vec<FormPart>),
    Json(Value),
    /// A text that this pattern matches.
    Regex(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FormPart {
    Text(String),
    Words(Vec<String>),
    /// Any text without this one's first character, then this one.
    UpTo(String),
}

named! {
    /// By which key of a body a form is asked for, the most usual first.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum FormKey {
        StructuredOutputs = "structured_outputs",
        Guided = "guided_…",
        Regex = "regex",
        Grammar = "grammar",
        ResponseFormat = "response_format",
    }
}

impl ServerForm {
    /// The form that a scaffold gives to the whole of an answer. None where a judge writes text of its own first, which no form
    /// can leave free without a risk that it never ends.
    pub(crate) fn from_scaffold(scaffold: &Scaffold) -> Option<Self> {
        if let [Part::Grammar(source)] = scaffold.parts.as_slice() {
            return match source.as_ref() {
                GrammarSource::JsonSchema(schema) => {
                    Some(Self::Json(serde_json::from_str(schema).ok()?))
                }
                GrammarSource::Regex(pattern) => Some(Self::Regex(pattern.clone())),
                GrammarSource::OneOf(words) => {
                    Some(Self::Parts(vec![FormPart::Words(words.clone())]))
                }
                GrammarSource::Lark(_) => None,
            };
        }
        let parts = scaffold.parts.iter().map(|part| match part {
            Part::Text(text) => Some(FormPart::Text(text.clone())),
            Part::Choice { words, .. } => Some(FormPart::Words(words.clone())),
            Part::Reason(end) => Some(FormPart::UpTo(end.clone())),
            Part::Analysis | Part::Grammar(_) => None,
        });
        Some(Self::Parts(parts.collect::<Option<_>>()?))
    }

    /// As a pattern that matches the whole answer; none of JSON.
    fn regex(&self) -> Option<String> {
        match self {
            Self::Json(_) => None,
            Self::Regex(pattern) => Some(pattern.clone()),
            Self::Parts(parts) => Some(of_parts(parts, escaped, "|", "")),
        }
    }

    /// As a grammar in GBNF; none of JSON, for which there is another key, nor of a pattern.
    fn gbnf(&self) -> Option<String> {
        let Self::Parts(parts) = self else {
            return None;
        };
        let quoted = |text: &str| {
            let text = text
                .replace('\\', "\\\\")
                .replace('"', "\\\"")
                .replace('\n', "\\n")
                .replace('\r', "\\r")
                .replace('\t', "\\t");
            format!("\"{text}\"")
        };
        Some(format!("root ::= {}", of_parts(parts, quoted, " | ", " ")))
    }

    /// Whether an answer has the form; for a schema, only whether it is JSON with the required keys.
    pub(crate) fn matches(&self, answer: &str) -> bool {
        match self {
            Self::Json(schema) => {
                let value: Result<Value, _> = serde_json::from_str(answer.trim());
                let required = schema["required"].as_array().into_iter().flatten();
                let mut required = required.filter_map(Value::as_str);
                value.is_ok_and(|value| required.all(|key| value.get(key).is_some()))
            }
            Self::Parts(_) | Self::Regex(_) => {
                let pattern = self.regex().unwrap_or_default();
                let regex = Regex::new(&format!(r"\A\s*(?:{pattern})\s*\z"));
                regex.is_ok_and(|regex| regex.is_match(answer))
            }
        }
    }

    fn words(&self) -> Option<&[String]> {
        match self {
            Self::Parts(parts) => match parts.as_slice() {
                [FormPart::Words(words)] => Some(words),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Parts one after another, in the notation of a pattern or a grammar: how it writes a text, what stands between choices and between parts.
fn of_parts(parts: &[FormPart], text: impl Fn(&str) -> String, or: &str, and: &str) -> String {
    let parts = parts.iter().map(|part| match part {
        FormPart::Text(own) => text(own),
        FormPart::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| text(word)).collect();
            format!("({})", words.join(or))
        }
        FormPart::UpTo(end) => {
            let first = end.chars().next().map(|first| escaped(&first.to_string()));
            format!("[^{}]*{and}{}", first.unwrap_or_default(), text(end))
        }
    });
    parts.collect::<Vec<_>>().join(and)
}

/// A text as a pattern, of characters that all dialects read alike.
fn escaped(text: &str) -> String {
    let mut pattern = String::new();
    for character in text.chars() {
        match character {
            '\n' => pattern += "\\n",
            c if "\\.+*?()|[]{}^$".contains(c) => {
                pattern.push('\\');
                pattern.push(c);
            }
            c => pattern.push(c),
        }
    }
    pattern
}

impl FormKey {
    pub(crate) fn can_say(self, form: &ServerForm) -> bool {
        self.entry(form).is_some()
    }

    pub(crate) fn set(self, form: &ServerForm, body: &mut Map<String, Value>) {
        if let Some((key, value)) = self.entry(form) {
            body.insert(key.to_owned(), value);
        }
    }

    fn entry(self, form: &ServerForm) -> Option<(&'static str, Value)> {
        if let ServerForm::Json(schema) = form {
            return Some(match self {
                Self::StructuredOutputs => ("structured_outputs", json!({"json": schema})),
                Self::Guided => ("guided_json", schema.clone()),
                Self::Regex | Self::Grammar | Self::ResponseFormat => (
                    "response_format",
                    json!({"type": "json_schema",
                        "json_schema": {"name": "verdict", "schema": schema, "strict": true}}),
                ),
            });
        }
        match (self, form.words()) {
            (Self::StructuredOutputs, Some(words)) => {
                return Some(("structured_outputs", json!({"choice": words})));
            }
            (Self::Guided, Some(words)) => return Some(("guided_choice", json!(words))),
            _ => {}
        }
        Some(match self {
            Self::StructuredOutputs => ("structured_outputs", json!({"regex": form.regex()?})),
            Self::Guided => ("guided_regex", json!(form.regex()?)),
            Self::Regex => ("regex", json!(form.regex()?)),
            Self::Grammar => ("grammar", json!(form.gbnf()?)),
            Self::ResponseFormat => return None,
        })
    }
}
