//! What goes over the wire between a client and a server of OpenAI's API, for whoever stands at either end: the server here, a server that is
//! asked, and batch files.
//!
//! Requests are read, and answers written, in `crate::openai`, which needs a model here for it.

pub(crate) mod answer;
pub(crate) mod form;
pub(crate) mod logprobs;

use serde_json::{Map, Value, json};

use juror_engine::engine::Sampling;

/// How tokens are chosen beside the temperature, as a request says it. Two are not OpenAI's: they stand there only where they choose.
pub(crate) fn set_sampling(sampling: Sampling, body: &mut Map<String, Value>) {
    for (key, value, chooses) in [
        ("top_p", json!(sampling.top_p), sampling.top_p < 1.0),
        ("top_k", json!(sampling.top_k), sampling.top_k > 0),
        ("min_p", json!(sampling.min_p), sampling.min_p > 0.0),
    ] {
        if chooses {
            body.insert(key.to_owned(), value);
        }
    }
}

/// Adds a user's own keys to a request; null leaves one out.
pub(crate) fn extend(body: &mut Map<String, Value>, own: &Map<String, Value>) {
    body.extend(own.clone());
    body.retain(|key, _| own.get(key).is_none_or(|value| !value.is_null()));
}

/// Bytes of text that a token stands for, cautiously: English and formulas have more.
pub(crate) const BYTES_PER_TOKEN: usize = 3;

/// Seeds of requests are below this: a number that every engine takes.
pub(crate) const SEEDS: u32 = 1 << 31;

/// Where a request goes: which of OpenAI's two shapes its body and its answer have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    Chat,
    Completions,
}

impl Route {
    pub fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Completions => "/v1/completions",
        }
    }

    pub(crate) fn from_path(path: &str) -> Option<Self> {
        [Self::Chat, Self::Completions]
            .into_iter()
            .find(|route| route.path() == path)
    }
}

/// Why a server cannot be asked.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct EndpointError {
    message: String,
    is_usage: bool,
}

impl EndpointError {
    pub(crate) fn usage(message: String) -> Self {
        Self {
            message,
            is_usage: true,
        }
    }

    pub(crate) fn failure(message: String) -> Self {
        Self {
            message,
            is_usage: false,
        }
    }

    /// True where what the user has said is at fault: the address, the key, the model's name.
    pub fn is_usage(&self) -> bool {
        self.is_usage
    }
}
