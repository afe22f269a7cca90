//! A judge: a model under a protocol, ready to be asked.

use std::sync::Arc;

use candle_core::Device;
use serde_json::Value;

use super::prompt::{PromptBuilder, PromptError};
use super::sizing::engine_config;
use crate::engine::{
    Choices, Engine, EngineError, LoadedModel, ModelSizes, PagedDecoder, Sampling,
};
use crate::model::chat_template::ChatTemplate;
use crate::model::tokenizer::Tokenizer;
use crate::model::weights::LoadProgress;
use crate::model::{ModelConfig, ModelError, ModelSource, PrecisionChoice, Weights};
use crate::protocol::{PromptTemplate, Protocol};

/// Sizes of a run's engine; `None` lets the device decide.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngineSizes {
    /// Most samples at once.
    pub max_sequences: Option<usize>,
    /// Most tokens a step.
    pub token_budget: Option<usize>,
    /// Most tokens of one prompt a step.
    pub prefill_chunk: Option<usize>,
    /// KV blocks of 16 tokens.
    pub kv_blocks: Option<usize>,
    /// Compute every prompt from its beginning.
    pub no_prefix_cache: bool,
    /// What weights, activations, keys and values are stored in.
    pub precision: PrecisionChoice,
    /// Compute with candle's operations alone where there are kernels of our own too: the baseline of measurements.
    pub plain_operations: bool,
    /// Have every sequence attend to a shared prefix by itself.
    pub no_shared_prefix: bool,
    /// Bytes of the longest sample's texts, if known: room is made for them, since no token is shorter than a byte.
    pub longest_text: usize,
    /// Bytes of a typical sample's texts; 0 if not known.
    pub typical_text: usize,
}

impl EngineSizes {
    /// Checks that nothing given is zero.
    ///
    /// # Errors
    /// A message that names the first size that is.
    pub fn validate(&self) -> Result<(), EngineError> {
        let sizes = [
            ("--max-sequences", self.max_sequences),
            ("--token-budget", self.token_budget),
            ("--prefill-chunk", self.prefill_chunk),
            ("--kv-blocks", self.kv_blocks),
        ];
        match sizes.into_iter().find(|(_, size)| *size == Some(0)) {
            Some((name, _)) => Err(EngineError::Config(format!("{name} must be at least 1"))),
            None => Ok(()),
        }
    }
}

/// The judge's text side: what it takes to write a prompt and to read an answer. Needs no weights.
pub struct JudgeText {
    /// The protocol.
    pub protocol: &'static dyn Protocol,
    /// Writes prompts.
    pub prompts: PromptBuilder,
    /// Tokens that end a generation.
    pub eos: Arc<[u32]>,
    /// Token variants of True and False.
    pub choices: Arc<Choices>,
    /// The model's sizes.
    pub config: ModelConfig,
    /// How the model's makers would have it generate.
    pub generation: GenerationDefaults,
}

/// What `generation_config.json` recommends.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct GenerationDefaults {
    /// Sampling, if the model is to be sampled.
    pub sampling: Option<Sampling>,
    /// The longest completion.
    pub max_new_tokens: Option<usize>,
}

impl GenerationDefaults {
    fn read(json: &Value) -> Self {
        let number = |key: &str| json[key].as_f64();
        let count = |key: &str| json[key].as_u64().map(|count| count as usize);
        let sampling = (json["do_sample"].as_bool() == Some(true)).then(|| Sampling {
            temperature: number("temperature").unwrap_or(1.0),
            top_k: count("top_k").unwrap_or(0),
            top_p: number("top_p").unwrap_or(1.0),
            min_p: number("min_p").unwrap_or(0.0),
        });
        Self {
            sampling,
            max_new_tokens: count("max_new_tokens"),
        }
    }
}

impl JudgeText {
    /// Reads configuration, tokenizer and chat template.
    ///
    /// # Errors
    /// When one of them is missing or damaged, or the prompt does not pass through the chat template.
    pub fn load(
        source: &ModelSource,
        protocol: &'static dyn Protocol,
        template: &PromptTemplate,
    ) -> Result<Self, PromptError> {
        let config = ModelConfig::load(source)?;
        let tokenizer = Arc::new(Tokenizer::from_json(&source.read_text("tokenizer.json")?)?);
        let separate = optional(source, "chat_template.jinja")?;
        let chat = ChatTemplate::new(&source.read_text("tokenizer_config.json")?, separate)?;
        let prompts = PromptBuilder::new(Arc::clone(&tokenizer), &chat, template)?;
        if tokenizer.vocab_size() > config.vocab {
            return Err(ModelError::Tokenizer(format!(
                "tokenizer.json has token ids up to {}, config.json a vocabulary of {}: they are not of the same model",
                tokenizer.vocab_size() - 1,
                config.vocab
            ))
            .into());
        }
        let mut generation = GenerationDefaults::default();
        if let Some(json) = optional(source, "generation_config.json")? {
            let json: Value = serde_json::from_str(&json).map_err(|error| ModelError::Config {
                path: source.describe("generation_config.json"),
                message: error.to_string(),
            })?;
            generation = GenerationDefaults::read(&json);
        }
        let choices = Arc::new(Choices {
            yes: tokenizer.variants("true"),
            no: tokenizer.variants("false"),
        });
        Ok(Self {
            protocol,
            prompts,
            eos: config.eos_token_ids.as_slice().into(),
            choices,
            config,
            generation,
        })
    }
}

/// A file that a model may lack.
fn optional(source: &ModelSource, file: &str) -> Result<Option<String>, ModelError> {
    source.has(file).then(|| source.read_text(file)).transpose()
}

/// Loads the weights, noting in `progress` how much was read, and builds an engine for them.
///
/// # Errors
/// When the weights are damaged or do not fit the configuration, or a size cannot work.
pub fn build_engine(
    source: &ModelSource,
    text: &JudgeText,
    device: &Device,
    sizes: &EngineSizes,
    max_new_tokens: usize,
    progress: Arc<LoadProgress>,
) -> Result<Engine<PagedDecoder>, EngineError> {
    let weights = Weights::open_with(source, progress)?;
    let precision = sizes.precision.resolve(device, weights.stored())?;
    let plain = sizes.plain_operations;
    let model = LoadedModel::load(&text.config, &weights, device, precision, plain)?;
    let config = engine_config(text, precision, device, sizes, max_new_tokens);
    let model = model.with_cache(&ModelSizes::new(&config, !sizes.no_shared_prefix))?;
    Engine::new(model, &config)
}
