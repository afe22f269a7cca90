//! What a server can do: found out with small requests, before a run.

use serde_json::{Map, Value, json};

use super::client::{Failure, patiently};
use super::exchange::{Answered, read};
use super::form::{AnswerForm, FormKey, FormPart};
use super::{Endpoint, EndpointError};
use crate::openai::request::Route;
use juror_engine::text::tokenizer::Tokenizer;

/// What a server can do.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Abilities {
    /// The key of the longest completion.
    pub(super) length: &'static str,
    /// How many of the likeliest tokens it tells the log-probabilities of; none if it tells none.
    pub(super) logprobs: Option<u32>,
    /// It takes a seed.
    pub(super) seed: bool,
    /// It takes a temperature.
    pub(super) temperature: bool,
    /// How it is asked for a form, which it was seen to keep to.
    pub(super) form: Option<FormKey>,
    /// As what model it answers.
    pub(super) answers_as: Option<String>,
    /// What the user should know.
    pub(super) notes: Vec<String>,
}

/// A question whose answer is one word, so that a judge that thinks aloud is known by what it writes instead.
const QUESTION: &str = "Reply with the single word: ready";

/// Tokens for the answer to it.
const SHORT: usize = 64;

/// Likeliest tokens that are asked for: so many as servers usually allow, and fewer where they do not.
const LIKELIEST: [u32; 3] = [20, 5, 1];

impl Abilities {
    /// Of a server that was not asked.
    pub(super) fn unknown() -> &'static Self {
        static UNKNOWN: Abilities = Abilities {
            length: "max_tokens",
            logprobs: None,
            seed: true,
            temperature: true,
            form: None,
            answers_as: None,
            notes: Vec::new(),
        };
        &UNKNOWN
    }

    /// Asks.
    ///
    /// # Errors
    /// Where the server answers no request at all.
    pub(super) fn find(endpoint: &Endpoint) -> Result<Self, EndpointError> {
        let mut found = Self {
            logprobs: Some(LIKELIEST[0]),
            ..Self::unknown().clone()
        };
        let mut probe = Probe { endpoint, asked: 0 };
        let first = loop {
            match probe.ask(&found, None) {
                Ok(answered) => break answered,
                Err(Failure::Refused {
                    status: 400 | 422,
                    why,
                }) if found.adapt(&why) => {}
                Err(failure) => return Err(probe.error(&failure)),
            }
        };
        if !first.has_probabilities {
            found.logprobs = None;
        }
        found.answers_as.clone_from(&first.model);
        if let Some(source) = &endpoint.settings.tokenizer {
            let json = source.read_text("tokenizer.json");
            let tokens = json
                .map_err(|error| error.to_string())
                .and_then(|json| Tokenizer::from_json(&json).map_err(|error| error.to_string()))
                .and_then(|tokenizer| {
                    tokenizer
                        .encode_trusted(QUESTION)
                        .map_err(|error| error.to_string())
                });
            let tokens = tokens.map_err(EndpointError::usage)?.len();
            if first.counted.0 > tokens + 1 || (first.counted.0 > 0 && first.counted.0 < tokens) {
                return Err(EndpointError::usage(format!(
                    "{endpoint:?} counts {} tokens in a prompt that is sent as {tokens}: --tokenizer is of another model",
                    first.counted.0
                )));
            }
        }
        if first.thinks_aloud() {
            found.notes.push(format!(
                "{endpoint:?} shows no end of thinking within a short answer: answers are left free; where its server takes the \
                 thinking apart (a reasoning parser), they can be kept to their form"
            ));
        } else {
            found.form = FormKey::ALL
                .into_iter()
                .find(|key| probe.keeps_to(&found, *key));
        }
        Ok(found)
    }

    /// Whether answers can be kept to a form.
    pub(super) fn asks_for(&self, form: &AnswerForm) -> bool {
        self.form.is_some_and(|key| key.can_say(form))
    }

    /// Leaves out what a server complains of; false if nothing of that is known.
    fn adapt(&mut self, why: &str) -> bool {
        let why = why.to_lowercase();
        if why.contains("max_tokens") && self.length == "max_tokens" {
            self.length = "max_completion_tokens";
        } else if why.contains("logprob") && self.logprobs.is_some() {
            let fewer = LIKELIEST
                .into_iter()
                .filter(|count| Some(*count) < self.logprobs);
            self.logprobs = fewer.max();
        } else if why.contains("seed") && self.seed {
            self.seed = false;
        } else if why.contains("temperature") && self.temperature {
            self.temperature = false;
        } else if self.logprobs.is_some() {
            // Some say only that the request is wrong: the least usual is left out first.
            self.logprobs = None;
        } else if self.seed {
            self.seed = false;
        } else {
            return false;
        }
        true
    }
}

/// The small requests.
struct Probe<'e> {
    endpoint: &'e Endpoint,
    asked: usize,
}

impl Probe<'_> {
    fn ask(
        &mut self,
        abilities: &Abilities,
        form: Option<(FormKey, &AnswerForm)>,
    ) -> Result<Answered, Failure> {
        let endpoint = self.endpoint;
        self.asked += 1;
        let mut body = Map::new();
        body.insert("model".to_owned(), json!(endpoint.model));
        let route = if endpoint.takes_text() {
            body.insert(
                "messages".to_owned(),
                json!([{"role": "user", "content": QUESTION}]),
            );
            Route::Chat
        } else {
            body.insert("prompt".to_owned(), json!(QUESTION));
            Route::Completions
        };
        abilities.settings(route, SHORT, &mut body);
        if abilities.temperature {
            body.insert("temperature".to_owned(), json!(0.0));
        }
        if let Some((key, form)) = form {
            key.set(form, &mut body);
        }
        endpoint.extend(&mut body);
        let name = format!("juror-probe-{}", self.asked);
        let answer = patiently(|| endpoint.client.ask(route, &body, &name))?;
        read(&answer)
            .map_err(|why| Failure::Lasting(format!("its answer to a small request: {why}")))
    }

    /// Whether the server was seen to keep an answer to a form that it would not have by itself. An answer that is not of the
    /// form, or none, is that of a server that does not know the key.
    fn keeps_to(&mut self, abilities: &Abilities, key: FormKey) -> bool {
        const WORDS: [&str; 2] = ["qzxv", "vxzq"];
        let (form, is_kept): (_, fn(&str) -> bool) = if key == FormKey::ResponseFormat {
            let schema = json!({"type": "object", "properties": {"qzxv": {"type": "boolean"}}, "required": ["qzxv"],
                "additionalProperties": false});
            (AnswerForm::Json(schema), |text| {
                let read: Result<Value, _> = serde_json::from_str(text.trim());
                read.is_ok_and(|value| value["qzxv"].is_boolean())
            })
        } else {
            let words = WORDS.map(str::to_owned).into();
            (AnswerForm::Parts(vec![FormPart::Words(words)]), |text| {
                WORDS.contains(&text.trim())
            })
        };
        let asked = self.ask(abilities, Some((key, &form)));
        asked.is_ok_and(|answered| answered.text.is_some_and(|text| is_kept(&text)))
    }

    fn error(&self, failure: &Failure) -> EndpointError {
        let message = format!("{:?}: {}", self.endpoint, failure.why());
        match failure {
            Failure::Passing { .. } => EndpointError::failure(message),
            Failure::Refused { .. } | Failure::Lasting(_) => EndpointError::usage(message),
        }
    }
}
