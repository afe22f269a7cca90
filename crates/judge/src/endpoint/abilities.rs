//! What a server can do for a judge: found out with small requests, before a run.

use std::time::SystemTime;

use serde_json::{Map, Value, json};

use super::client::{Failure, Passing, patiently};
use super::exchange::{Answered, messages, read, render_as};
use super::{Endpoint, EndpointError};
use crate::wire::form::{FormKey, FormPart, ServerForm};
use crate::wire::{Route, extend};
use juror_data::journal::ChatIdentity;
use juror_engine::text::tokenizer::Tokenizer;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Abilities {
    /// It was asked.
    pub(super) is_known: bool,
    /// The key for a completion's limit.
    pub(super) length: &'static str,
    /// Of how many of the likeliest tokens it gives log-probabilities; `None` if of none.
    pub(super) logprobs: Option<u32>,
    pub(super) seed: bool,
    pub(super) temperature: bool,
    pub(super) stop: bool,
    /// The key with which it was seen to keep to the protocol's form.
    pub(super) form: Option<FormKey>,
    /// The model thinks within its answer: one that is cut before its thinking ends holds no verdict.
    pub(super) thinks_aloud: bool,
    pub(super) notes: Vec<String>,
}

/// A question whose answer is one word, so that a judge that thinks aloud is known by what it writes instead.
const QUESTION: &str = "Reply with the single word: ready";

/// Text that tokenizers cut differently.
const TELLING: &str = "Reply with the single word: ready\n  3.14159 x² ≤ 10⁻³;\tdef f(a_b):  return \\frac{1}{2}  # 汉字, naïve — 😀";

/// Tokens for the answer to it, and for thinking too where the server takes that out of the answer.
const SHORT: usize = 64;
const WITH_THINKING: usize = 2048;

/// Likeliest tokens that are asked for: so many as servers usually allow, and fewer where they do not.
const LIKELIEST: [u32; 2] = [20, 5];

/// How a judge is asked beside its prompts.
pub(super) struct Asking<'a> {
    pub(super) route: Route,
    pub(super) chat: Option<&'a ChatIdentity>,
    /// Texts that end the protocol's answers.
    pub(super) stop: &'a [String],
    /// The form of the protocol's answers, if it has one that can be asked for.
    pub(super) form: Option<ServerForm>,
}

impl Abilities {
    /// Of a server that was not asked.
    pub(super) fn unknown() -> Self {
        Self {
            is_known: false,
            length: "max_tokens",
            logprobs: None,
            seed: true,
            temperature: true,
            stop: true,
            form: None,
            thinks_aloud: false,
            notes: Vec::new(),
        }
    }

    /// Asks; also gives the model that it says has answered.
    pub(super) fn find(
        endpoint: &Endpoint,
        asking: &Asking,
    ) -> Result<(Self, Option<String>), EndpointError> {
        let probe = Probe { endpoint, asking };
        let mut found = Self {
            is_known: true,
            logprobs: Some(LIKELIEST[0]),
            ..Self::unknown()
        };
        let mut length = SHORT;
        let first = loop {
            let asked = probe.ask(&found, json!(QUESTION), length, None);
            // All of it was thinking, which the server takes apart.
            let is_short = match &asked {
                Ok(Answered { said, .. }) => said.is_cut && said.thinks_apart && said.is_blank(),
                Err(failure) => failure.why().contains("output limit was reached"),
            };
            match asked {
                _ if is_short && length == SHORT => length = WITH_THINKING,
                Ok(answered) => break answered,
                // OpenAI refuses log-probabilities of some models with 403.
                Err(Failure::Refused {
                    status: status @ (400 | 403 | 422),
                    why,
                }) if found.adapt(&why, status != 403) => {}
                Err(failure) => return Err(probe.error(&failure)),
            }
        };
        if !first.has_probabilities() {
            found.logprobs = None;
        }
        if !found.temperature {
            found.notes.push(format!(
                "{endpoint:?} takes no temperature: it draws its answers as it likes, and equal requests may be answered differently"
            ));
        }
        if let Some(source) = &endpoint.settings.tokenizer {
            let json = source.read_text("tokenizer.json");
            let tokenizer = json
                .map_err(|error| error.to_string())
                .and_then(|json| Tokenizer::from_json(&json).map_err(|error| error.to_string()));
            let tokenizer = tokenizer.map_err(EndpointError::usage)?;
            probe.check_tokenizer(&found, &tokenizer)?;
            // The model's files say how it thinks; no form could leave that free.
            return Ok((found, first.model));
        }
        found.thinks_aloud = first.thinks_aloud();
        if found.thinks_aloud {
            found.notes.push(format!(
                "{endpoint:?} shows no end of thinking within a short answer: answers are left free; where its server takes the \
                 thinking apart (a reasoning parser), they can be kept to their form"
            ));
        } else if let Some(form) = &asking.form {
            if first.said.thinks_apart {
                length = WITH_THINKING;
            }
            for key in FormKey::ALL {
                let is_kept = probe.keeps_to(&found, length, key, form);
                if is_kept.map_err(|failure| probe.error(&failure))? {
                    found.form = Some(key);
                    break;
                }
            }
        }
        Ok((found, first.model))
    }

    /// Leaves out what a server complains of, or `guesses` where that is unsaid; false if nothing of that is known.
    fn adapt(&mut self, why: &str, guesses: bool) -> bool {
        let why = why.to_lowercase();
        if why.contains("max_tokens") && self.length == "max_tokens" {
            self.length = "max_completion_tokens";
        } else if why.contains("logprob") && self.logprobs.is_some() {
            let is_less = |count: &_| Some(*count) < self.logprobs;
            self.logprobs = LIKELIEST.into_iter().filter(is_less).max();
        } else if why.contains("seed") && self.seed {
            self.seed = false;
        } else if why.contains("temperature") && self.temperature {
            self.temperature = false;
        } else if why.contains("stop") && self.stop {
            self.stop = false;
        } else if !guesses {
            return false;
        } else if self.logprobs.is_some() {
            // Some say only that the request is wrong: the least usual is left out first.
            self.logprobs = None;
        } else if self.seed {
            self.seed = false;
        } else if self.stop {
            self.stop = false;
        } else {
            return false;
        }
        true
    }
}

struct Probe<'e> {
    endpoint: &'e Endpoint,
    asking: &'e Asking<'e>,
}

impl Probe<'_> {
    fn ask(
        &self,
        abilities: &Abilities,
        prompt: Value,
        length: usize,
        form: Option<(FormKey, &ServerForm)>,
    ) -> Result<Answered, Failure> {
        let Self { endpoint, asking } = self;
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(endpoint.model));
        match asking.route {
            Route::Chat => {
                body.insert("messages".to_owned(), messages(asking.chat, &prompt));
                if let Some(chat) = asking.chat {
                    render_as(chat, &mut body);
                }
            }
            Route::Completions => {
                body.insert("prompt".to_owned(), prompt);
            }
        }
        abilities.settings(asking.route, length, &mut body);
        if abilities.temperature {
            body.insert("temperature".to_owned(), json!(0.0));
        }
        if abilities.seed {
            body.insert("seed".to_owned(), json!(1));
        }
        if let Some((key, form)) = form {
            key.set(form, &mut body);
        } else if abilities.stop && !asking.stop.is_empty() {
            body.insert("stop".to_owned(), json!(asking.stop));
        }
        extend(&mut body, &endpoint.settings.body);
        // Asked anew in every run: what a server can do may have changed.
        let name = new_name(&body);
        let patience = endpoint.settings.patience;
        let mut is_said = false;
        let asked = patiently(patience, || {
            let answer = endpoint.client.ask(asking.route, &body, length, &name);
            is_said = answer.is_ok();
            read(&endpoint.client, &answer?).map_err(|unread| match unread.failure {
                Failure::Passing { why, kind, .. } if form.is_some() && kind == Passing::Broken => {
                    Failure::Refused { status: 200, why }
                }
                failure => failure,
            })
        });
        // Gateways say so too, as their answer, that a form is none of theirs.
        asked.map_err(|failure| match failure {
            Failure::Passing { why, .. } if is_said && form.is_some() => {
                Failure::Refused { status: 200, why }
            }
            failure => failure,
        })
    }

    /// Whether the server was seen to keep answers to forms asked for by this key: to one that no model would follow by itself, and then to the protocol's own.
    fn keeps_to(
        &self,
        abilities: &Abilities,
        length: usize,
        key: FormKey,
        own: &ServerForm,
    ) -> Result<bool, Failure> {
        const WORDS: [&str; 2] = ["qzxv", "vxzq"];
        if !key.can_say(own) {
            return Ok(false);
        }
        let unlikely = match own {
            ServerForm::Json(_) => ServerForm::Json(
                json!({"type": "object", "properties": {"qzxv": {"type": "boolean"}}, "required": ["qzxv"],
                    "additionalProperties": false}),
            ),
            ServerForm::Parts(_) | ServerForm::Regex(_) => {
                ServerForm::Parts(vec![FormPart::Words(WORDS.map(str::to_owned).into())])
            }
        };
        for form in [&unlikely, own] {
            let longest = length.max(SHORT * 4);
            match self.ask(abilities, json!(QUESTION), longest, Some((key, form))) {
                Ok(answered) if form.matches(answered.text()) => {}
                Ok(_) | Err(Failure::Refused { .. }) => return Ok(false),
                Err(failure) => return Err(failure),
            }
        }
        Ok(true)
    }

    /// Whether the server takes tokens for prompts, and has the tokenizer that they are made with.
    fn check_tokenizer(
        &self,
        abilities: &Abilities,
        tokenizer: &Tokenizer,
    ) -> Result<(), EndpointError> {
        let tokens = tokenizer.encode_trusted(TELLING);
        let tokens = tokens.map_err(|error| EndpointError::usage(error.to_string()))?;
        let count = |prompt: Value| {
            let answered = self.ask(abilities, prompt, 1, None);
            Ok(answered
                .map_err(|failure| self.error(&failure))?
                .counted()
                .0)
        };
        let as_tokens = count(json!(tokens))?;
        let as_text = count(json!(TELLING))?;
        let known = as_tokens > 0 && as_text > 0;
        // A token may be put before a text.
        let is_same =
            as_tokens == tokens.len() && (as_text == as_tokens || as_text == as_tokens + 1);
        if known && !is_same {
            return Err(EndpointError::usage(format!(
                "{:?} counts {as_text} tokens in a text of {} by --tokenizer, and {as_tokens} where it is sent as these: it is of \
                 another model",
                self.endpoint,
                tokens.len()
            )));
        }
        Ok(())
    }

    fn error(&self, failure: &Failure) -> EndpointError {
        failure.error(&format!("{:?}", self.endpoint))
    }
}

/// A name by which no other request is known, so that no earlier answer to this body is given again.
pub(super) fn new_name(body: &Map<String, Value>) -> String {
    let now = SystemTime::now();
    let told = format!("{} {now:?} {}", std::process::id(), json!(body));
    format!("juror-{}", &blake3::hash(told.as_bytes()).to_hex()[..32])
}

impl Endpoint {
    /// Whether it answers a question for one word now.
    pub(super) fn answers(&self, abilities: &Abilities, route: Route) -> bool {
        let asking = Asking {
            route,
            chat: None,
            stop: &[],
            form: None,
        };
        let probe = Probe {
            endpoint: self,
            asking: &asking,
        };
        probe.ask(abilities, json!(QUESTION), 1, None).is_ok()
    }
}
