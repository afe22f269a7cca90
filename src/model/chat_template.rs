//! The model's own way of writing a conversation: the Jinja template of `tokenizer_config.json`.
//!
//! A template is rendered as Hugging Face transformers' `apply_chat_template` renders it
//! (<https://huggingface.co/docs/transformers/chat_templating>), to the character:
//!
//! | file | what it is for |
//! |---|---|
//! | [`clock`] | what `strftime_now` tells: one moment for a whole run |
//! | `environment` | the functions, filters and tests that templates may use |
//! | `json` | `tojson` as Python's `json.dumps` |
//! | `methods` | methods of Python's strings, lists and dictionaries |
//!
//! The special tokens of `tokenizer_config.json` are variables (`bos_token`, …) where they are set, and do not exist
//! where they are not; `tools` and `documents` exist and are none.

pub mod clock;
mod environment;
mod json;
mod methods;

use std::panic::{AssertUnwindSafe, catch_unwind};

use minijinja::value::Value as Variable;
use minijinja::{Environment, Error};
use serde_json::Value;

use super::ModelError;
pub use clock::{Clock, Moment};

/// The special tokens that `tokenizer_config.json` may name, each a variable of the template.
const SPECIAL_TOKENS: [&str; 7] = [
    "bos_token",
    "eos_token",
    "unk_token",
    "sep_token",
    "pad_token",
    "cls_token",
    "mask_token",
];

/// Names under which templates ask whether the model is to think; the first that stands in a template is set.
const THINKING_VARIABLES: [&str; 2] = ["enable_thinking", "thinking"];

/// Where the template stands in its environment.
const NAME: &str = "chat";

/// How long a reasoning model is to think (`reasoning_effort`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningEffort {
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}

impl ReasoningEffort {
    /// Every effort, the least first.
    pub const ALL: [Self; 3] = [Self::Low, Self::Medium, Self::High];

    /// The name on the command line and in the template.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// What a user may ask of a template. What is not given is not there at all: the template has its own defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChatOptions {
    /// `enable_thinking`
    pub thinking: Option<bool>,
    /// `reasoning_effort`
    pub reasoning_effort: Option<ReasoningEffort>,
    /// A first message of the role `system`.
    pub system_prompt: Option<String>,
}

/// A compiled chat template.
pub struct ChatTemplate {
    environment: Environment<'static>,
    /// Special tokens by their variables' names.
    tokens: Vec<(String, String)>,
    source: String,
    clock: Clock,
}

impl ChatTemplate {
    /// Reads the template from `tokenizer_config.json`'s text, or takes `separate`, the text of `chat_template.jinja`,
    /// where newer checkpoints keep it, or of a file of the user's own.
    ///
    /// # Errors
    /// [`ModelError::ChatTemplate`] when there is none or it does not compile.
    pub fn new(tokenizer_config: &str, separate: Option<String>) -> Result<Self, ModelError> {
        let config: Value = serde_json::from_str(tokenizer_config)
            .map_err(|error| ModelError::ChatTemplate(format!("tokenizer_config.json: {error}")))?;
        let source = match separate {
            Some(source) => source,
            None => template_of(&config)?,
        };
        let clock = Clock::now();
        let mut environment = environment::new(&clock)?;
        environment
            .add_template_owned(NAME, environment::as_minijinja_reads_it(&source))
            .map_err(|error| ModelError::ChatTemplate(format!("it does not compile: {error}")))?;
        Ok(Self {
            environment,
            tokens: special_tokens(&config),
            source,
            clock,
        })
    }

    /// The text of a conversation in which the user says `content` and the model is to answer.
    ///
    /// # Errors
    /// [`ModelError::ChatTemplate`] when the template refuses the conversation, fails, or has no use for an option.
    pub fn render(&self, content: &str, options: &ChatOptions) -> Result<String, ModelError> {
        let rendered = self.conversation(content, options, true)?;
        self.refuse_ignored(content, options, &rendered)?;
        Ok(rendered)
    }

    /// The same without what asks the model to answer.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn render_without_generation_prompt(
        &self,
        content: &str,
        options: &ChatOptions,
    ) -> Result<String, ModelError> {
        self.conversation(content, options, false)
    }

    /// Renders any conversation: `variables` is a JSON object of what transformers' `apply_chat_template` is given
    /// (`messages`, `tools`, `add_generation_prompt`, …). Objects keep the order of their keys.
    ///
    /// # Errors
    /// [`ModelError::ChatTemplate`] when it is no JSON object, or the template fails.
    pub fn render_variables(&self, variables: &str) -> Result<String, ModelError> {
        let variables: Variable = serde_json::from_str(variables)
            .map_err(|error| ModelError::ChatTemplate(format!("its variables: {error}")))?;
        let mut given = Vec::new();
        if let Some(object) = variables.as_object()
            && let Some(pairs) = object.try_iter_pairs()
        {
            given
                .extend(pairs.filter_map(|(name, value)| Some((name.as_str()?.to_owned(), value))));
        }
        self.render_all(given)
    }

    /// A special token's text, by its variable's name.
    pub fn special_token(&self, name: &str) -> Option<&str> {
        let (_, token) = self.tokens.iter().find(|(own, _)| own == name)?;
        Some(token)
    }

    /// The template's own text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The moment that `strftime_now` tells.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    fn conversation(
        &self,
        content: &str,
        options: &ChatOptions,
        add_generation_prompt: bool,
    ) -> Result<String, ModelError> {
        let message = |role: &str, content: &str| {
            Variable::from_pairs([
                ("role", Variable::from(role)),
                ("content", Variable::from(content)),
            ])
        };
        let mut messages = Vec::new();
        if let Some(system) = &options.system_prompt {
            messages.push(message("system", system));
        }
        messages.push(message("user", content));
        let mut given = vec![
            ("messages".to_owned(), Variable::from(messages)),
            (
                "add_generation_prompt".to_owned(),
                Variable::from(add_generation_prompt),
            ),
        ];
        if let Some(thinking) = options.thinking {
            let name = self.thinking_variable();
            given.push((name.to_owned(), Variable::from(thinking)));
        }
        if let Some(effort) = options.reasoning_effort {
            given.push((
                "reasoning_effort".to_owned(),
                Variable::from(effort.as_str()),
            ));
        }
        self.render_all(given)
    }

    fn thinking_variable(&self) -> &'static str {
        THINKING_VARIABLES
            .into_iter()
            .find(|name| self.source.contains(name))
            .unwrap_or(THINKING_VARIABLES[0])
    }

    /// An option that changes nothing would be believed to have been heard.
    fn refuse_ignored(
        &self,
        content: &str,
        options: &ChatOptions,
        rendered: &str,
    ) -> Result<(), ModelError> {
        let differs = |other: ChatOptions| {
            // A template that refuses the other value heard it.
            self.conversation(content, &other, true)
                .map_or(true, |other| other != rendered)
        };
        let ignored = |option: &str, what: &str| {
            Err(ModelError::ChatTemplate(format!(
                "{option} changes nothing: this model's template {what}; leave it out"
            )))
        };
        if let Some(thinking) = options.thinking {
            let other = ChatOptions {
                thinking: Some(!thinking),
                ..options.clone()
            };
            if !differs(other) {
                return ignored("--thinking", "does not read `enable_thinking`");
            }
        }
        if let Some(effort) = options.reasoning_effort {
            let others = ReasoningEffort::ALL
                .into_iter()
                .filter(|other| *other != effort);
            if !others.into_iter().any(|other| {
                differs(ChatOptions {
                    reasoning_effort: Some(other),
                    ..options.clone()
                })
            }) {
                return ignored("--reasoning-effort", "does not read `reasoning_effort`");
            }
        }
        if options.system_prompt.is_some() {
            let other = ChatOptions {
                system_prompt: None,
                ..options.clone()
            };
            if !differs(other) {
                return ignored("--system-prompt", "drops system messages");
            }
        }
        Ok(())
    }

    fn render_all(&self, given: Vec<(String, Variable)>) -> Result<String, ModelError> {
        let failed = |error: Error| {
            // What a template says in refusal is for people; where it said it, for its author.
            ModelError::ChatTemplate(format!("it failed: {error}"))
        };
        let template = self.environment.get_template(NAME).map_err(failed)?;
        let mut variables: Vec<(String, Variable)> = Vec::new();
        for name in ["tools", "documents"] {
            variables.push((name.to_owned(), Variable::from(())));
        }
        for (name, token) in &self.tokens {
            variables.push((name.clone(), Variable::from(token.as_str())));
        }
        // Later ones replace earlier ones.
        variables.extend(given);
        let variables = Variable::from_pairs(variables);
        // The template is not ours: whatever it leads its interpreter into, it is the template that failed.
        catch_unwind(AssertUnwindSafe(|| template.render(variables)))
            .map_err(|_| ModelError::ChatTemplate("it failed: its interpreter broke off".into()))?
            .map_err(failed)
    }
}

/// `chat_template` is a text, or a list of named ones of which `default` is meant.
fn template_of(config: &Value) -> Result<String, ModelError> {
    let none = || {
        ModelError::ChatTemplate(
            "the model has no chat template (neither `chat_template` in tokenizer_config.json nor \
             chat_template.jinja): use an instruction-tuned model, or give a template with --chat-template"
                .into(),
        )
    };
    match config.get("chat_template") {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Array(named)) => {
            let named: Vec<(&str, &str)> = named
                .iter()
                .filter_map(|entry| {
                    Some((
                        entry.get("name")?.as_str()?,
                        entry.get("template")?.as_str()?,
                    ))
                })
                .collect();
            if let Some((_, template)) = named.iter().find(|(name, _)| *name == "default") {
                return Ok((*template).to_owned());
            }
            if named.is_empty() {
                return Err(none());
            }
            let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
            Err(ModelError::ChatTemplate(format!(
                "tokenizer_config.json has several, and none is called `default`: {}; give the one you mean with \
                 --chat-template",
                names.join(", ")
            )))
        }
        _ => Err(none()),
    }
}

/// The special tokens that are set, standard ones and a model's own.
fn special_tokens(config: &Value) -> Vec<(String, String)> {
    let mut tokens = Vec::new();
    for name in SPECIAL_TOKENS {
        if let Some(token) = config.get(name).and_then(token_text) {
            tokens.push((name.to_owned(), token));
        }
    }
    for key in ["extra_special_tokens", "model_specific_special_tokens"] {
        if let Some(Value::Object(own)) = config.get(key) {
            tokens.extend(
                own.iter()
                    .filter_map(|(name, token)| Some((name.clone(), token_text(token)?))),
            );
        }
    }
    tokens
}

/// A token is written as its text, or as an object that holds it.
pub(super) fn token_text(value: &Value) -> Option<String> {
    value
        .as_str()
        .or_else(|| value.get("content")?.as_str())
        .map(str::to_owned)
}

#[cfg(test)]
#[path = "chat_template/tests.rs"]
mod tests;
