//! The model's own way of writing a conversation: the Jinja template of `tokenizer_config.json`.
//!
//! A template is rendered as Hugging Face transformers' `apply_chat_template` renders it (<https://huggingface.co/docs/transformers/chat_templating>), to the
//! character, by minijinja (docs/decisions/chat-templates.md).
//!
//! The special tokens of `tokenizer_config.json` are variables (`bos_token`, …) where they are set, and do not exist
//! where they are not; `tools` and `documents` exist and are none.

pub(crate) mod clock;
mod environment;
mod json;
mod options;
pub mod probe;
pub(crate) mod tokenizer_config;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::thread;

use juror_base::threads::lock;
use minijinja::value::{Object, Serde, Value};
use minijinja::{Environment, Error, ErrorKind};
use serde_json::{Value as Json, json};

use crate::text::TextError;
pub use clock::{Clock, Moment};
pub use options::{ChatOptions, ReasoningEffort, TemplateVariable};
use tokenizer_config::{special_tokens, template_of};

/// Variables by which templates ask whether the model is to think; those that a template reads are set.
const THINKING_VARIABLES: [&str; 2] = ["enable_thinking", "thinking"];

/// The stack of the thread that compiles and renders templates.
const STACK: usize = 32 << 20;

/// The most characters of a template's own message.
const MAX_MESSAGE: usize = 1000;

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
    /// Errors: [`TextError::ChatTemplate`] when there is none or it does not compile.
    pub fn new(tokenizer_config: &str, separate: Option<String>) -> Result<Self, TextError> {
        Self::read(tokenizer_config, separate, |_| Ok(()))
    }

    /// As [`Self::new`], of a template that others wrote: it is tried first, in a child of the program ([`probe`]).
    /// Errors: as [`Self::new`], and for a template that takes too much.
    pub fn of_model(tokenizer_config: &str, separate: Option<String>) -> Result<Self, TextError> {
        Self::read(tokenizer_config, separate, probe::check)
    }

    fn read(
        tokenizer_config: &str,
        separate: Option<String>,
        check: impl Fn(&str) -> Result<(), TextError>,
    ) -> Result<Self, TextError> {
        let config: Json = serde_json::from_str(tokenizer_config)
            .map_err(|error| TextError::ChatTemplate(format!("tokenizer_config.json: {error}")))?;
        let source = match separate {
            Some(source) => source,
            None => template_of(&config)?,
        };
        check(&source)?;
        let clock = Clock::now();
        let environment = on_a_stack_of_its_own(|| environment::environment(&source, &clock))?
            .map_err(|error| TextError::ChatTemplate(format!("it does not compile: {error}")))?;
        Ok(Self {
            environment,
            tokens: special_tokens(&config),
            source,
            clock,
        })
    }

    /// The text of a conversation in which the user says `content` and the model is to answer.
    /// Errors: [`TextError::ChatTemplate`] when the template refuses the conversation, fails, or has no use for an option.
    pub fn render(&self, content: &str, options: &ChatOptions) -> Result<String, TextError> {
        let rendered = self.rendered(content, options, true)?;
        self.refuse_ignored(content, options, &rendered)?;
        Ok(rendered.text)
    }

    /// As [`Self::render`], without the generation prompt that asks the model to answer.
    pub fn render_without_generation_prompt(
        &self,
        content: &str,
        options: &ChatOptions,
    ) -> Result<String, TextError> {
        self.conversation(content, options, false)
    }

    /// Renders any conversation: `variables` is a JSON object of what transformers' `apply_chat_template` is given
    /// (`messages`, `tools`, `add_generation_prompt`, …). Objects keep the order of their keys.
    /// Errors: [`TextError::ChatTemplate`] if it is not a JSON object, or the template fails.
    pub fn render_variables(&self, variables: &str) -> Result<String, TextError> {
        let given: HashMap<String, Json> = serde_json::from_str(variables)
            .map_err(|error| TextError::ChatTemplate(format!("its variables: {error}")))?;
        let given = given
            .into_iter()
            .map(|(name, value)| (name, Value::from(Serde(value))));
        Ok(self.render_all(given.collect(), variables.len())?.text)
    }

    pub fn special_token(&self, name: &str) -> Option<&str> {
        let (_, token) = self.tokens.iter().find(|(own, _)| own == name)?;
        Some(token)
    }

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
            messages.push(json!({"role": "system", "content": system}));
        }
        messages.push(json!({"role": "user", "content": content}));
        let mut given = vec![
            ("messages".to_owned(), Value::from(Serde(messages))),
            (
                "add_generation_prompt".to_owned(),
                Value::from(add_generation_prompt),
            ),
        ];
        if let Some(thinking) = options.thinking {
            for name in self.thinking_variables() {
                given.push((name.to_owned(), Value::from(thinking)));
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
            .filter(|name| self.source.contains(name))
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
        let mut values: HashMap<String, Value> = HashMap::new();
        for name in ["tools", "documents"] {
            values.insert(name.to_owned(), Value::from(()));
        }
        for (name, token) in &self.tokens {
            values.insert(name.clone(), Value::from(token.as_str()));
        }
        // Later variables replace earlier ones of the same name.
        values.extend(given);
        let variables = Arc::new(Variables {
            values,
            read: Mutex::default(),
        });
        let mut environment = self.environment.clone();
        environment.set_fuel(Some(environment::fuel(
            self.source.len().saturating_add(bytes),
        )));
        let context = Value::from_dyn_object(Arc::clone(&variables));
        let rendered = on_a_stack_of_its_own(|| {
            let captured = environment
                .get_template(environment::TEMPLATE)?
                .render_captured(context)?;
            let spent = captured.state().fuel_levels().map_or(0, |(spent, _)| spent);
            Ok((captured.into_output(), spent))
        })?;
        let (text, spent) = rendered.map_err(|error: Error| {
            TextError::ChatTemplate(format!("it failed: {}", said(&error)))
        })?;
        let read = std::mem::take(&mut *lock(&variables.read));
        Ok(Rendered { text, read, spent })
    }
}

struct Rendered {
    text: String,
    /// Variables that it asked for.
    read: BTreeSet<String>,
    /// What it cost, in minijinja's fuel.
    #[cfg_attr(not(test), expect(dead_code))]
    spent: u64,
}

/// The variables of a rendering, which know which of them were asked for.
#[derive(Debug)]
struct Variables {
    values: HashMap<String, Value>,
    read: Mutex<BTreeSet<String>>,
}

impl Object for Variables {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let name = key.as_str()?;
        let value = self.values.get(name)?;
        lock(&self.read).insert(name.to_owned());
        Some(value.clone())
    }
}

/// What is said of a template that failed. A template's own message is for the user; the place it came from is for the template's author.
fn said(error: &Error) -> String {
    let kind = error.kind();
    let said = match error.detail() {
        Some(detail) if kind == ErrorKind::InvalidOperation => detail.to_owned(),
        Some(detail) => format!("{kind}: {detail}"),
        None if kind == ErrorKind::OutOfFuel => {
            "it takes more work or memory than a chat template may: it loops too long, or a value grows too large".into()
        }
        None => kind.to_string(),
    };
    match said.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}…", &said[..end]),
        None => said,
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
            .map_err(|_| TextError::ChatTemplate("it failed: rendering broke off".into()))
    })
}

#[cfg(test)]
mod tests;
