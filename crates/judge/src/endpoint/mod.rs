//! A judge that runs elsewhere: a model behind a server of OpenAI's API, asked live.
//!
//! ```text
//! Request ─▶ pace: waits for its turn ─▶ body ─POST─▶ server ─▶ answer ─▶ Completion ─▶ the runtime, as from an engine here
//! ```
//!
//! Two ways to ask. As **text**: the prompt is one message, which the server renders and tokenises; control tokens of all known
//! families are broken in what is judged. Here its tokens are the bytes of its text, so that everything downstream (equal requests,
//! the cache, thinking, the protocols' readers) is the same as of a model here. As **tokens**, where the model's tokenizer is at
//! hand: the prompt is rendered and tokenised here, as for a model here, and texts under judgement can spell no control token.

mod abilities;
mod backend;
mod client;
mod exchange;
mod pace;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::judge::text::model::{BARE, MAX_NEW_TOKENS, TextParts, known_judge_named};
use crate::judge::text::prompt::PromptError;
use crate::judge::text::source::{AskedServer, ModelServer, Served};
use crate::judge::{ChatSettings, GenerationDefaults, JudgeFile, JudgeText};
use crate::protocol::{PromptTemplate, Protocol, ScaffoldWants};
use crate::runtime::{Ask, IdleBackend};
pub use crate::wire::EndpointError;
use crate::wire::Route;
use crate::wire::form::{FormKey, ServerForm};
use abilities::{Abilities, Asking};

use client::Client;
use exchange::Exchange;
use juror_engine::checkpoint::{CheckpointError, ModelSource};
use juror_engine::text::chat_template::ChatTemplate;
use juror_engine::text::tokenizer::Tokenizer;

/// Requests at once, at most, where the user does not say.
pub const MOST_AT_ONCE: usize = 64;

/// Requests at once, at most, whatever the user says: each takes a thread and a connection.
pub const LIMIT_AT_ONCE: u32 = 4096;

/// How long an answer may take where the user does not say.
pub const PATIENCE: Duration = Duration::from_mins(10);

/// The context of a server that does not say how long it is.
const ANY_CONTEXT: usize = 1 << 30;

#[derive(Clone)]
pub struct EndpointSettings {
    /// The key that is sent, if one is. It is in no manifest, no journal and no message.
    pub key: Option<String>,
    /// Requests at once, at most: from 1 to [`LIMIT_AT_ONCE`]; the nearest of these where it is another number.
    pub most_at_once: usize,
    pub requests_per_minute: Option<u32>,
    /// Tokens of prompts and completions together after which no more is asked.
    pub most_tokens: Option<u64>,
    /// How long an answer may take.
    pub patience: Duration,
    /// The files of the model's tokenizer, configuration and chat template: prompts are then sent as tokens.
    pub tokenizer: Option<ModelSource>,
    /// Further keys of each request's body; null leaves one out.
    pub body: Map<String, Value>,
    /// Where the server took all of an answer for thinking, it is read there.
    pub answer_in_reasoning: bool,
}

impl EndpointSettings {
    fn at_once(&self) -> usize {
        self.most_at_once.clamp(1, LIMIT_AT_ONCE as usize)
    }
}

impl Default for EndpointSettings {
    fn default() -> Self {
        Self {
            key: None,
            most_at_once: MOST_AT_ONCE,
            requests_per_minute: None,
            most_tokens: None,
            patience: PATIENCE,
            tokenizer: None,
            body: Map::new(),
            answer_in_reasoning: false,
        }
    }
}

impl fmt::Debug for EndpointSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndpointSettings")
            .field("key", &self.key.as_ref().map(|_| "(hidden)"))
            .field("most_at_once", &self.most_at_once)
            .field("requests_per_minute", &self.requests_per_minute)
            .field("most_tokens", &self.most_tokens)
            .field("patience", &self.patience)
            .field("body", &self.body.keys())
            .finish_non_exhaustive()
    }
}

/// A model behind a server of OpenAI's API.
pub struct Endpoint {
    client: Client,
    /// The model's name, as the server knows it.
    model: String,
    /// What the server says of itself and of the model, keys in order; if it differs, so does the model.
    about: Value,
    /// Most tokens of prompt and completion together, if the server says so.
    context: Option<usize>,
    listed: Vec<String>,
    settings: EndpointSettings,
    /// Whether to try what it can do.
    is_tried: bool,
    /// The model that answered when it was tried.
    answers_as: OnceLock<Option<String>>,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.model, self.client.base())
    }
}

/// Whether a model's name is the address of a server.
pub fn is_address(name: &str) -> bool {
    name.starts_with("http://") || name.starts_with("https://")
}

impl Endpoint {
    /// Asks a server what models it has. `name` is its address, then `#` and the model's name; without a name it must have exactly one
    /// model. Only if `is_tried` is it asked to generate anything before a run.
    /// Errors: [`EndpointError`] where it cannot be reached, refuses the key, or has no such model.
    pub fn connect(
        name: &str,
        settings: EndpointSettings,
        is_tried: bool,
    ) -> Result<Arc<Self>, EndpointError> {
        let (address, model) = match name.split_once('#') {
            Some((address, model)) => (address, Some(model).filter(|model| !model.is_empty())),
            None => (name, None),
        };
        // The address of a route, as programs for one have it.
        let bare = address.trim_end_matches('/');
        let mut routes = ["/chat/completions", "/completions", "/models"].into_iter();
        let address = routes
            .find_map(|route| bare.strip_suffix(route))
            .unwrap_or(address);
        let (client, listed) = Client::connect(address, &settings, model.is_some())?;
        let models: Vec<&Value> = listed["data"].as_array().into_iter().flatten().collect();
        let id = |entry: &Value| entry["id"].as_str().map(str::to_owned);
        let ends = |entry: &Value, name: &str| {
            let before = entry["id"].as_str().and_then(|id| id.strip_suffix(name));
            before.is_some_and(|before| before.ends_with('/'))
        };
        let mut likely = models
            .iter()
            .copied()
            .filter(|entry| model.is_none_or(|name| ends(entry, name)));
        // The last part of one name alone, as of Google's `models/NAME`, or the one that there is.
        let only = likely.next().filter(|_| likely.next().is_none());
        let named = model.and_then(|name| models.iter().copied().find(|entry| entry["id"] == name));
        let entry = named.or(only);
        let base = client.base();
        // Some list none, or not all that they have.
        let Some(model) = entry.and_then(id).or(model.map(str::to_owned)) else {
            let names: Vec<String> = models.iter().filter_map(|one| id(one)).take(8).collect();
            let names = Some(names.join(", ")).filter(|names| !names.is_empty());
            return Err(EndpointError::usage(format!(
                "which of the models of {base}? It lists {}: name one, as `--endpoint {base} --model NAME` or `--model {base}#NAME`",
                names.as_deref().unwrap_or("none")
            )));
        };
        let context = entry.and_then(|entry| {
            let said = ["max_model_len", "context_length", "max_context_length"]
                .iter()
                .find_map(|key| entry[*key].as_u64());
            said.or(entry["meta"]["n_ctx_train"].as_u64())
        });
        let about = json!({
            "entry": entry.map(described),
            "version": client.version()?,
        });
        let endpoint = Self {
            model,
            about,
            context: context.and_then(|tokens| usize::try_from(tokens).ok()),
            listed: models.iter().filter_map(|one| id(one)).collect(),
            client,
            settings,
            is_tried,
            answers_as: OnceLock::new(),
        };
        Ok(Arc::new(endpoint))
    }

    /// Whether it is asked in text, not in tokens.
    pub(crate) fn takes_text(&self) -> bool {
        self.settings.tokenizer.is_none()
    }

    /// Most tokens of a completion that leave room for a prompt, as far as the server says how long its context is.
    fn most_new_tokens(&self) -> usize {
        self.context.map_or(usize::MAX, |context| context / 2)
    }

    /// What was found out, in words.
    fn describe(&self, abilities: &Abilities) -> String {
        let form = match abilities.form {
            Some(form) => format!("answers kept to their form by `{}`", form.name()),
            None => "answers in free text".to_owned(),
        };
        let known = match abilities.logprobs {
            Some(_) => "with probabilities",
            None => "without probabilities",
        };
        let (texts, ids) = ("prompts as messages", "prompts as tokens");
        let asked = if self.takes_text() { texts } else { ids };
        format!("{self:?}: {asked}, {form}, {known}")
    }

    /// Which of OpenAI's two routes prompts of a protocol take.
    fn route(&self, protocol: &Protocol) -> Route {
        if self.takes_text() && protocol.chat {
            Route::Chat
        } else {
            Route::Completions
        }
    }
}

impl ModelServer for Endpoint {
    fn model(&self) -> &str {
        &self.model
    }

    fn address(&self) -> &str {
        self.client.base()
    }

    fn hash(&self) -> Result<String, CheckpointError> {
        let tokenizer = self.settings.tokenizer.as_ref();
        let files = tokenizer.map(ModelSource::description_hash).transpose()?;
        let mut told = json!({
            "address": self.address(),
            "model": self.model,
            "about": self.about,
            "answers_as": self.answers_as.get(),
            "body": self.settings.body,
            "files": files,
        });
        // Other runs know nothing of it.
        if self.settings.answer_in_reasoning {
            told["answer_in_reasoning"] = true.into();
        }
        Ok(blake3::hash(told.to_string().as_bytes())
            .to_hex()
            .to_string())
    }

    fn text(
        self: Arc<Self>,
        protocol: &Arc<Protocol>,
        template: &PromptTemplate,
        settings: &ChatSettings,
    ) -> Result<JudgeText, PromptError> {
        let mut text = match &self.settings.tokenizer {
            Some(source) => {
                let mut text = JudgeText::load_with(source, protocol, template, settings)?;
                text.context = self.context.unwrap_or(text.context).min(text.context);
                let most = self.most_new_tokens();
                text.generation.max_new_tokens = text
                    .generation
                    .max_new_tokens
                    .map(|tokens| tokens.min(most));
                text
            }
            None if settings.template.is_some() => return Err(PromptError::RenderedElsewhere),
            None => {
                let parts = TextParts {
                    name: format!("{self:?}"),
                    config: None,
                    context: ANY_CONTEXT,
                    most_new_tokens: self.most_new_tokens(),
                    ends: Vec::new(),
                    tokenizer: Arc::new(Tokenizer::from_json(&byte_tokenizer())?),
                    chat: ChatTemplate::new("{}", Some(BARE.to_owned()))?,
                    judge: JudgeFile::default(),
                    known: known_judge_named(&self.model),
                    generation: GenerationDefaults {
                        max_new_tokens: Some(MAX_NEW_TOKENS.min(self.most_new_tokens())),
                        ..GenerationDefaults::default()
                    },
                    notes: Vec::new(),
                    is_for_others: true,
                };
                JudgeText::of_parts(parts, protocol, template, settings)?
            }
        };
        let form = protocol
            .scaffold(&ScaffoldWants::default())
            .and_then(|scaffold| ServerForm::from_scaffold(&scaffold));
        let asking = Asking {
            route: self.route(protocol.as_ref()),
            chat: text.chat.as_ref(),
            stop: &protocol.stop_texts,
            form,
        };
        let abilities = if self.is_tried {
            let (abilities, answers_as) = Abilities::find(&self, &asking)?;
            // Services list models under other names than those that they are asked by; a server of one model takes any name.
            let other = answers_as
                .as_ref()
                .filter(|it| self.listed == [it.as_str()]);
            if let (Value::Null, Some(other)) = (&self.about["entry"], other) {
                let why = format!(
                    "{self:?} is not among the models that this server lists, and `{other}` answers for it: name that one as --model"
                );
                return Err(EndpointError::usage(why).into());
            }
            // Under another protocol it is the same model.
            let _ = self.answers_as.set(answers_as);
            abilities
        } else {
            Abilities::unknown()
        };
        if self.about["entry"].is_null() {
            let note = format!(
                "{self:?} is not among the models that this server lists; it is asked for all the same"
            );
            text.notes.push(note);
        }
        text.notes.extend_from_slice(&abilities.notes);
        let form = abilities.form.map(FormKey::name);
        let served = Served {
            takes_text: self.takes_text(),
            context: self.context,
            lacks_probabilities: abilities.is_known && abilities.logprobs.is_none(),
            has_form: form.is_some(),
            draws_anyway: !abilities.temperature,
            key: format!(" {form:?} {}", abilities.logprobs.is_some()),
            description: self.describe(&abilities),
            most_at_once: self.settings.at_once(),
            server: Arc::new(ServedModel {
                endpoint: self,
                abilities,
                without_form: AtomicUsize::new(0),
                answered: OnceLock::new(),
            }),
        };
        Ok(text.served_by(served))
    }
}

/// A model behind a server, and what that can do for a judge.
#[derive(Debug)]
pub(crate) struct ServedModel {
    endpoint: Arc<Endpoint>,
    abilities: Abilities,
    /// Requests that were made again without the form, which the server refused.
    without_form: AtomicUsize,
    /// A request that was answered: its body, and the most tokens of its answer.
    answered: OnceLock<(Map<String, Value>, usize)>,
}

impl AskedServer for ServedModel {
    fn without_form(&self) -> usize {
        self.without_form.load(Ordering::Relaxed)
    }

    fn has_answered(self: Arc<Self>, text: &Arc<JudgeText>, ask: Option<Ask>) {
        if let Some(Ask { request, form, .. }) = ask {
            let (body, _) = Exchange::new(&self, text).body(&request, form.as_deref());
            let _ = self.answered.set((body, request.max_new_tokens));
        }
    }

    fn backend(self: Arc<Self>, text: &Arc<JudgeText>) -> IdleBackend {
        backend::idle_backend(&self, text)
    }
}

/// What an entry of a list of models says of the model, without what changes while a server runs.
fn described(entry: &Value) -> Value {
    let lasting = |holder: &Value, keys: &[&str]| -> Value {
        let given = keys.iter().filter_map(|key| {
            let value = holder.get(*key).filter(|value| !value.is_null())?;
            Some(((*key).to_owned(), value.clone()))
        });
        Value::Object(given.collect())
    };
    json!([
        lasting(
            entry,
            &["id", "root", "parent", "owned_by", "max_model_len"]
        ),
        lasting(
            &entry["meta"],
            &["n_ctx_train", "n_params", "n_vocab", "size"]
        ),
    ])
}

/// `tokenizer.json` of a tokenizer whose tokens are bytes: the id of each is its value.
fn byte_tokenizer() -> String {
    // The characters that stand for bytes in such a file (Radford et al. 2019, as in GPT-2): printable ones for themselves.
    let is_printable = |byte: u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let mut next = 256;
    let vocabulary: Map<String, Value> = (0..=255_u8)
        .map(|byte| {
            let code = if is_printable(byte) {
                u32::from(byte)
            } else {
                next += 1;
                next - 1
            };
            let character = char::from_u32(code).unwrap_or_default();
            (character.to_string(), json!(byte))
        })
        .collect();
    let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false});
    let tokenizer = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": null,
        "pre_tokenizer": bytes,
        "post_processor": null,
        "decoder": bytes,
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
    });
    tokenizer.to_string()
}
