//! A judge by the name of its model: the files that [`catalog`] finds, or a server ([`Endpoint`]).

use std::path::PathBuf;
use std::sync::Arc;

use crate::catalog;
use crate::endpoint::{Endpoint, EndpointSettings, is_address};
use crate::judge::build::{WorkloadLengths, open_devices};
use crate::judge::{AnswerCache, ChatSettings, EngineOptions, Judge, JudgeModel, LoadError, cache};
use crate::protocol::{self, PromptTemplate};
use juror_engine::model::{DeviceChoice, PrecisionChoice};
use juror_hub::{Want, Watch};

/// The model that a name stands for: `http://HOST:PORT/v1#MODEL` of a server, which is asked as `settings` say; else as
/// [`catalog::resolve_watched`]. Without its weights wanted, a server is not asked what it can do.
///
/// # Errors
/// [`LoadError`]: its files cannot be had, or its server cannot be asked.
pub fn find(
    name: &str,
    want: Want,
    settings: &EndpointSettings,
    watch: &Watch,
) -> Result<JudgeModel, LoadError> {
    if !is_address(name) {
        return Ok(JudgeModel::Here(catalog::resolve_watched(
            name, want, watch,
        )?));
    }
    let is_tried = want == Want::Everything;
    let endpoint = Endpoint::connect(name, settings.clone(), is_tried)?;
    Ok(JudgeModel::Elsewhere(endpoint))
}

/// Settings of a [`Judge`] before it is loaded; see [`Judge::builder`].
#[derive(Debug, Clone)]
pub struct JudgeBuilder {
    model: String,
    protocol: Option<String>,
    prompt: Option<String>,
    devices: Vec<DeviceChoice>,
    chat: ChatSettings,
    engine: EngineOptions,
    cache: Option<(PathBuf, u64)>,
    endpoint: EndpointSettings,
}

impl JudgeBuilder {
    /// The protocol: what the judge is asked, and how its answer is read. A built-in one's name, or the path of a file that
    /// ends in `.toml`; a known judge's own, else `prime`, if not set.
    #[must_use]
    pub fn protocol(mut self, name: impl Into<String>) -> Self {
        self.protocol = Some(name.into());
        self
    }

    /// Another prompt text than the protocol's, with `{{question}}`, `{{student_answer}}` and `{{reference_answer}}`.
    #[must_use]
    pub fn prompt(mut self, text: impl Into<String>) -> Self {
        self.prompt = Some(text.into());
        self
    }

    /// Where the model runs: one engine for each device, or for each so many as [`EngineOptions::tensor_parallel`] says. A GPU if there is one, else the CPU, if not set.
    #[must_use]
    pub fn devices(mut self, devices: impl IntoIterator<Item = DeviceChoice>) -> Self {
        self.devices = devices.into_iter().collect();
        self
    }

    /// What weights, keys and values are stored in.
    #[must_use]
    pub fn precision(mut self, precision: PrecisionChoice) -> Self {
        self.engine.precision = precision;
        self
    }

    /// The engine's sizes: they change speed and memory, never a verdict.
    #[must_use]
    pub fn engine(mut self, options: EngineOptions) -> Self {
        self.engine = options;
        self
    }

    /// Settings of the chat template and the thinking.
    #[must_use]
    pub fn chat(mut self, settings: ChatSettings) -> Self {
        self.chat = settings;
        self
    }

    /// Judges samples outside the judge's own domain too, instead of giving them [`Status::OutOfDomain`](juror_data::verdict::Status::OutOfDomain).
    #[must_use]
    pub fn force_domain(mut self, force: bool) -> Self {
        self.chat.force_domain = force;
        self
    }

    /// How a server is asked, where the model's name is the address of one (`http://HOST:PORT/v1#MODEL`).
    #[must_use]
    pub fn endpoint(mut self, settings: EndpointSettings) -> Self {
        self.endpoint = settings;
        self
    }

    /// Keeps answers in a folder of at most `size` bytes, and looks for them there before the model is asked: for other runs and other processes.
    #[must_use]
    pub fn cache(mut self, folder: impl Into<PathBuf>, size: u64) -> Self {
        self.cache = Some((folder.into(), size));
        self
    }

    /// Reads the model's files, fetching those of a model on the hub that the cache does not have, and builds the engines.
    ///
    /// # Errors
    /// [`LoadError`]: what is missing or damaged, or which device cannot be used.
    pub fn load(self) -> Result<Judge, LoadError> {
        let named = self.protocol.as_deref();
        let named = named.map(protocol::resolve).transpose()?;
        let model = find(&self.model, Want::Everything, &self.endpoint, &|_| {})?;
        let protocol = match named {
            Some(protocol) => protocol,
            None => protocol::resolve(model.default_protocol())?,
        };
        let text = self.prompt.as_deref().or(protocol.template.as_deref());
        let template = PromptTemplate::parse(text.ok_or_else(|| LoadError::NoPrompt {
            protocol: protocol.name.clone(),
        })?)?;
        let mut text = model.text(&protocol, &template, &self.chat)?;
        if let Some(source) = model.files() {
            text.settle_head(source)?;
        }
        let options = text.run_options(1);
        let here = model.files().map_or(&[][..], |_| &self.devices);
        let devices = open_devices(here, &self.engine)?;
        let lengths = WorkloadLengths::of_any(&text, options.max_new_tokens);
        let cache = match &self.cache {
            Some((folder, size)) => {
                let devices = devices.iter().flat_map(|one| &one.all);
                let identity = cache::identity(&model, &self.engine, devices)?;
                Some(Arc::new(AnswerCache::open(folder, identity, *size)?))
            }
            None => None,
        };
        let text = Arc::new(text);
        let mut judge = Judge::build(&model, text, devices, &self.engine, &lengths, &mut |_| {})?;
        judge.options().cache = cache;
        Ok(judge)
    }
}

impl Judge {
    /// Loads a model under a known judge's own protocol, else `prime`, with the settings that its makers recommend: `tiny` (built in), a folder, a
    /// GGUF file, or an id on the Hugging Face hub, as `--model` on the command line.
    ///
    /// # Errors
    /// As [`JudgeBuilder::load`].
    pub fn load(model: impl Into<String>) -> Result<Self, LoadError> {
        Self::builder(model).load()
    }

    /// Settings to be changed before the model is loaded.
    pub fn builder(model: impl Into<String>) -> JudgeBuilder {
        JudgeBuilder {
            model: model.into(),
            protocol: None,
            prompt: None,
            devices: vec![DeviceChoice::Auto],
            chat: ChatSettings::default(),
            engine: EngineOptions::default(),
            cache: None,
            endpoint: EndpointSettings::default(),
        }
    }
}
