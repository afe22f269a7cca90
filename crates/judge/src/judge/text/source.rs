//! Where a judge's model is: its files are here, or a server has it. What a server is (`crate::endpoint`) is not known here.

use std::fmt;
use std::sync::Arc;

use super::model::{known_judge_named, protocol_of};
use super::prompt::PromptError;
use crate::judge::{ChatSettings, JudgeText, default_protocol};
use crate::protocol::{PromptTemplate, Protocol};
use crate::runtime::{Ask, IdleBackend};
use juror_engine::checkpoint::{CheckpointError, ModelSource};

/// The model of a judge, wherever it runs.
#[derive(Debug, Clone)]
pub enum JudgeModel {
    Here(ModelSource),
    Elsewhere(Arc<dyn ModelServer>),
}

impl From<ModelSource> for JudgeModel {
    fn from(source: ModelSource) -> Self {
        Self::Here(source)
    }
}

impl JudgeModel {
    /// Its text side under a protocol.
    pub fn text(
        &self,
        protocol: &Arc<Protocol>,
        template: &PromptTemplate,
        settings: &ChatSettings,
    ) -> Result<JudgeText, PromptError> {
        match self {
            Self::Here(source) => JudgeText::load_with(source, protocol, template, settings),
            Self::Elsewhere(server) => Arc::clone(server).text(protocol, template, settings),
        }
    }

    /// Its files, if they are here.
    pub fn files(&self) -> Option<&ModelSource> {
        match self {
            Self::Here(source) => Some(source),
            Self::Elsewhere(_) => None,
        }
    }

    /// The server that has it, if one does.
    pub fn server(&self) -> Option<&Arc<dyn ModelServer>> {
        match self {
            Self::Here(_) => None,
            Self::Elsewhere(server) => Some(server),
        }
    }

    pub fn hash(&self) -> Result<String, CheckpointError> {
        match self {
            Self::Here(source) => source.hash(),
            Self::Elsewhere(server) => server.hash(),
        }
    }

    /// Where it is from: a repository and commit on the hub, or a server's address.
    pub fn origin(&self) -> Option<String> {
        match self {
            Self::Here(source) => source.origin(),
            Self::Elsewhere(server) => Some(server.address().to_owned()),
        }
    }

    /// The protocol that it is asked under where the user names none.
    pub fn default_protocol(&self) -> &'static str {
        match self {
            Self::Here(source) => default_protocol(source),
            Self::Elsewhere(server) => protocol_of(known_judge_named(server.model())),
        }
    }
}

impl fmt::Display for JudgeModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Here(source) => write!(f, "{source}"),
            Self::Elsewhere(server) => write!(f, "{server:?}"),
        }
    }
}

pub trait ModelServer: fmt::Debug + Send + Sync {
    fn model(&self) -> &str;

    /// Its address, as a manifest has it.
    fn address(&self) -> &str;

    /// What tells the model from others: the server's address, what it says of itself and of the model, and what of the user's settings answers depend on.
    fn hash(&self) -> Result<String, CheckpointError>;

    /// The text side of the judge. Unless only a description is wanted, the server is asked, with a few small requests, what it can do.
    fn text(
        self: Arc<Self>,
        protocol: &Arc<Protocol>,
        template: &PromptTemplate,
        settings: &ChatSettings,
    ) -> Result<JudgeText, PromptError>;
}

/// A model behind a server, and what that can do for a judge.
pub(crate) struct Served {
    /// It is asked in text, not in tokens.
    pub(crate) takes_text: bool,
    /// The server's context in tokens, if it says how long that is.
    pub(crate) context: Option<usize>,
    /// It was found to tell no probabilities.
    pub(crate) lacks_probabilities: bool,
    /// Answers are kept to the protocol's form.
    pub(crate) has_form: bool,
    /// Equal requests at temperature 0 may be answered differently.
    pub(crate) draws_anyway: bool,
    /// What answers depend on besides the model: probabilities, and the form.
    pub(crate) key: String,
    /// What was found out, in words.
    pub(crate) description: String,
    pub(crate) most_at_once: usize,
    pub(crate) server: Arc<dyn AskedServer>,
}

pub(crate) trait AskedServer: Send + Sync {
    /// Requests so far that were made again without their form.
    fn without_form(&self) -> usize;

    /// Notes a request that it has answered in an earlier run.
    fn has_answered(self: Arc<Self>, text: &Arc<JudgeText>, ask: Option<Ask>);

    /// What answers the runtime's requests for the judge.
    fn backend(self: Arc<Self>, text: &Arc<JudgeText>) -> IdleBackend;
}
