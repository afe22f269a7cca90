//! The model's own way of writing a conversation: the Jinja template of `tokenizer_config.json`.
//!
//! A template is rendered as Hugging Face transformers' `apply_chat_template` renders it
//! (<https://huggingface.co/docs/transformers/chat_templating>), to the character, by an interpreter of its own that
//! counts work (docs/decisions/chat-templates.md):
//!
//! | file | what it is for |
//! |---|---|
//! | `lexer`, `parser`, `expressions`, `syntax` | a template's text into tokens, and those into a tree of bounded depth |
//! | `interpreter`, `evaluation`, `calls` | statements; expressions; calls |
//! | `work` | what rendering may cost |
//! | `value`, `repr`, `from_json`, `operators` | Python's values, how they are written and read, and what can be done with them |
//! | `filters`, `string_filters`, `list_filters`, `predicates`, `functions` | what stands after `|` and `is`, and what every template can call |
//! | `methods`, `string_methods`, `formats` | methods of Python's strings, lists and dictionaries |
//! | `json` | `tojson` as Python's `json.dumps` |
//! | `options` | what a user may ask of a template |
//! | `tokenizer_config` | where template and special tokens are found |
//! | [`clock`] | what `strftime_now` tells: one moment for a whole run |
//!
//! The special tokens of `tokenizer_config.json` are variables (`bos_token`, …) where they are set, and do not exist
//! where they are not; `tools` and `documents` exist and are none.

mod calls;
pub(crate) mod clock;
mod evaluation;
mod expressions;
mod filters;
mod formats;
mod from_json;
mod functions;
mod interpreter;
mod json;
mod lexer;
mod list_filters;
mod methods;
mod operators;
mod options;
mod parser;
mod predicates;
mod repr;
mod string_filters;
mod string_methods;
mod syntax;
mod tokenizer_config;
mod value;
mod work;

use std::thread;

use serde_json::Value as Json;

use crate::text::TextError;
pub use clock::{Clock, Moment};
use from_json::from_json;
use interpreter::Rendered;
pub use options::{ChatOptions, ReasoningEffort, TemplateVariable};
use syntax::Template;
use tokenizer_config::{special_tokens, template_of};
use value::Value;
use work::Work;

/// Variables by which templates ask whether the model is to think; those that a template reads are set.
const THINKING_VARIABLES: [&str; 2] = ["enable_thinking", "thinking"];

/// The stack of the thread that parses and renders templates: enough for the deepest nesting allowed.
const STACK: usize = 32 << 20;

/// What `--thinking` does to the prompt of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingSwitch {
    /// Nothing, so it is refused.
    None,
    /// The prompt differs between `on` and `off`, and is that of `on` by default.
    On,
    /// The prompt differs, and is that of `off` by default.
    Off,
    /// The prompt differs, and is a third one by default.
    Neither,
}

/// A compiled chat template.
pub struct ChatTemplate {
    template: Template,
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
    /// [`TextError::ChatTemplate`] when there is none or it does not compile.
    pub fn new(tokenizer_config: &str, separate: Option<String>) -> Result<Self, TextError> {
        let config: Json = serde_json::from_str(tokenizer_config)
            .map_err(|error| TextError::ChatTemplate(format!("tokenizer_config.json: {error}")))?;
        let source = match separate {
            Some(source) => source,
            None => template_of(&config)?,
        };
        let template = on_a_stack_of_its_own(|| parser::parse(&source))?
            .map_err(|fault| TextError::ChatTemplate(format!("it does not compile: {fault}")))?;
        Ok(Self {
            template,
            tokens: special_tokens(&config),
            source,
            clock: Clock::now(),
        })
    }

    /// The text of a conversation in which the user says `content` and the model is to answer.
    ///
    /// # Errors
    /// [`TextError::ChatTemplate`] when the template refuses the conversation, fails, or has no use for an option.
    pub fn render(&self, content: &str, options: &ChatOptions) -> Result<String, TextError> {
        let rendered = self.rendered(content, options, true)?;
        self.refuse_ignored(content, options, &rendered)?;
        Ok(rendered.text)
    }

    /// As [`Self::render`], without the generation prompt that asks the model to answer.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn render_without_generation_prompt(
        &self,
        content: &str,
        options: &ChatOptions,
    ) -> Result<String, TextError> {
        self.conversation(content, options, false)
    }

    /// Renders any conversation: `variables` is a JSON object of what transformers' `apply_chat_template` is given
    /// (`messages`, `tools`, `add_generation_prompt`, …). Objects keep the order of their keys.
    ///
    /// # Errors
    /// [`TextError::ChatTemplate`] if it is not a JSON object, or the template fails.
    pub fn render_variables(&self, variables: &str) -> Result<String, TextError> {
        let given = serde_json::from_str(variables).map_err(|error| error.to_string());
        let given = given
            .and_then(from_json)
            .map_err(|why| TextError::ChatTemplate(format!("its variables: {why}")))?;
        let Value::Dict(given) = given else {
            return Err(TextError::ChatTemplate(
                "its variables are no JSON object".into(),
            ));
        };
        let given = given.pairs.iter().filter_map(|(name, value)| {
            let name = name.as_str()?.to_owned();
            Some((name, value.clone()))
        });
        Ok(self.render_all(given.collect(), variables.len())?.text)
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

    /// The clock that `strftime_now` reads.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    fn conversation(
        &self,
        content: &str,
        options: &ChatOptions,
        add_generation_prompt: bool,
    ) -> Result<String, TextError> {
        self.rendered(content, options, add_generation_prompt)
            .map(|rendered| rendered.text)
    }

    fn rendered(
        &self,
        content: &str,
        options: &ChatOptions,
        add_generation_prompt: bool,
    ) -> Result<Rendered, TextError> {
        let mut bytes = content.len();
        let mut messages = Vec::new();
        if let Some(system) = &options.system_prompt {
            bytes += system.len();
            messages.push(("system", system.as_str()));
        }
        messages.push(("user", content));
        let mut given = vec![
            ("messages".to_owned(), conversation(&messages)?),
            (
                "add_generation_prompt".to_owned(),
                Value::Bool(add_generation_prompt),
            ),
        ];
        if let Some(thinking) = options.thinking {
            for name in self.thinking_variables() {
                given.push((name.to_owned(), Value::Bool(thinking)));
            }
        }
        if let Some(effort) = options.reasoning_effort {
            given.push(("reasoning_effort".to_owned(), Value::from(effort.as_str())));
        }
        for variable in &options.variables {
            if given.iter().any(|(name, _)| *name == variable.name) {
                return Err(TextError::ChatTemplate(format!(
                    "its variable `{}` is set twice",
                    variable.name
                )));
            }
            bytes += variable.value.len();
            given.push((variable.name.clone(), variable.value()?));
        }
        self.render_all(given, bytes)
    }

    /// The names by which this template asks whether to think.
    fn thinking_variables(&self) -> impl Iterator<Item = &'static str> {
        THINKING_VARIABLES
            .into_iter()
            .filter(|name| self.template.names.contains(*name))
    }

    /// What `--thinking` does in a conversation that begins with `content`.
    pub fn thinking_switch(&self, content: &str, options: &ChatOptions) -> ThinkingSwitch {
        let with = |thinking| {
            let options = ChatOptions {
                thinking,
                ..options.clone()
            };
            self.conversation(content, &options, true).ok()
        };
        let [on, off, usual] = [Some(true), Some(false), None].map(with);
        if on == off {
            ThinkingSwitch::None
        } else if usual == on {
            ThinkingSwitch::On
        } else if usual == off {
            ThinkingSwitch::Off
        } else {
            ThinkingSwitch::Neither
        }
    }

    /// Refuses an option that does not change the prompt, since its user expects it to.
    fn refuse_ignored(
        &self,
        content: &str,
        options: &ChatOptions,
        rendered: &Rendered,
    ) -> Result<(), TextError> {
        let differs = |other: ChatOptions| {
            // A template that refuses the other value did read it.
            self.conversation(content, &other, true)
                .map_or(true, |other| other != rendered.text)
        };
        let ignored = |option: &str, what: &str| {
            Err(TextError::ChatTemplate(format!(
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
        for variable in &options.variables {
            if !rendered.read.contains(&variable.name) {
                let name = &variable.name;
                return Err(TextError::ChatTemplate(format!(
                    "--template-variable {name}=… changes nothing: this model's template does not read `{name}`; leave it out"
                )));
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

    /// Renders with further variables, of `bytes` bytes in all.
    fn render_all(&self, given: Vec<(String, Value)>, bytes: usize) -> Result<Rendered, TextError> {
        let mut variables: Vec<(String, Value)> = Vec::new();
        for name in ["tools", "documents"] {
            variables.push((name.to_owned(), Value::None));
        }
        for (name, token) in &self.tokens {
            variables.push((name.clone(), Value::from(token.as_str())));
        }
        // Later variables replace earlier ones of the same name.
        variables.extend(given);
        let work = Work::for_bytes(self.source.len().saturating_add(bytes));
        let block = &self.template.block;
        on_a_stack_of_its_own(|| interpreter::render(block, &variables, &self.clock, work))?
            // A template's own message is for the user; the place it came from is for the template's author.
            .map_err(|fault| TextError::ChatTemplate(format!("it failed: {fault}")))
    }
}

/// Runs something whose recursion follows a template's nesting on a thread with a stack large enough for it.
fn on_a_stack_of_its_own<T: Send>(run: impl FnOnce() -> T + Send) -> Result<T, TextError> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("chat template".into());
        let thread = thread
            .stack_size(STACK)
            .spawn_scoped(scope, run)
            .map_err(|error| {
                TextError::ChatTemplate(format!("no thread could be started to render it: {error}"))
            })?;
        thread
            .join()
            .map_err(|_| TextError::ChatTemplate("it failed: its interpreter broke off".into()))
    })
}

/// A conversation: messages of these roles and texts.
fn conversation(messages: &[(&str, &str)]) -> Result<Value, TextError> {
    let mut work = Work::for_bytes(0);
    let mut made = Vec::new();
    let list = messages.iter().try_for_each(|(role, content)| {
        let pairs = vec![
            (Value::from("role"), Value::from(*role)),
            (Value::from("content"), Value::from(*content)),
        ];
        made.push(Value::dictionary(pairs, &mut work)?);
        Ok(())
    });
    list.and_then(|()| Value::list(made, &mut work))
        .map_err(TextError::ChatTemplate)
}

#[cfg(test)]
mod tests;
