//! What goes over the wire between a client and a server of OpenAI's API, for whoever stands at either end: the server here, a server that is
//! asked, and batch files.
//!
//! Requests are read, and answers written, in `crate::openai`, which needs a model here for it.

pub(crate) mod answer;
pub(crate) mod form;
pub(crate) mod logprobs;

/// Bytes of text that a token stands for, cautiously: English and formulas have more.
pub(crate) const BYTES_PER_TOKEN: usize = 3;

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
