//! A judge: a model under a protocol, ready to be asked.

use std::sync::Arc;

use candle_core::{DType, Device};
use serde_json::Value;

use super::prompt::{PromptBuilder, PromptError};
use crate::engine::{Choices, Engine, EngineConfig, EngineError, PagedDecoder, Sampling};
use crate::model::attention::{AttentionKind, AttentionShape, build, kv_bytes_per_token};
use crate::model::chat_template::ChatTemplate;
use crate::model::tokenizer::Tokenizer;
use crate::model::{Decoder, ModelConfig, ModelError, ModelSource, PrecisionChoice, Weights};
use crate::protocol::{PromptTemplate, Protocol};

/// Token positions a KV block.
const BLOCK_SIZE: usize = 16;

/// Tokens of a prompt beside the template that room is made for, unless the number of blocks is given.
const OWN_PROMPT_TOKENS: usize = 512;

/// Memory for keys and values on a GPU unless the number of blocks is given.
const GPU_KV_BYTES: usize = 8 << 30;

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
    /// Bytes of the longest sample's texts, if known: room is made for them, since no token is shorter than a byte.
    pub longest_text: usize,
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

/// Loads the weights and builds an engine for them.
///
/// # Errors
/// When the weights are damaged or do not fit the configuration, or a size cannot work.
pub fn build_engine(
    source: &ModelSource,
    text: &JudgeText,
    device: &Device,
    sizes: &EngineSizes,
    max_new_tokens: usize,
) -> Result<Engine<PagedDecoder>, EngineError> {
    let weights = Weights::open(source)?;
    let precision = sizes.precision.resolve(device, weights.stored_dtype())?;
    let decoder = Decoder::load(&text.config, &weights, device, precision)?;
    let dtype = precision.kv.dtype();
    let shape = AttentionShape::from(&text.config);
    let config = engine_config(text, &shape, device, dtype, sizes, max_new_tokens);
    let place = device.clone();
    let cache = move |blocks| {
        let kind = AttentionKind::for_device(&place);
        build(kind, &shape, blocks, BLOCK_SIZE, &place, dtype)
    };
    let least = config.least_blocks;
    let (model, blocks) = PagedDecoder::with_cache(decoder, config.blocks, least, Box::new(cache))?;
    Engine::new(model, &EngineConfig { blocks, ..config })
}

/// The engine's sizes for a device, where the user gave none.
fn engine_config(
    text: &JudgeText,
    shape: &AttentionShape,
    device: &Device,
    dtype: DType,
    sizes: &EngineSizes,
    max_new_tokens: usize,
) -> EngineConfig {
    let max_sequences = sizes
        .max_sequences
        .unwrap_or(if device.is_cpu() { 64 } else { 256 });
    let token_budget = sizes
        .token_budget
        .unwrap_or(if device.is_cpu() { 512 } else { 8192 });
    let context_length = text.config.max_positions;
    // What does not fit the context never reaches the engine, whatever limit was asked for.
    let max_new_tokens = max_new_tokens.min(context_length);
    let shared = text.prompts.shared_prefix().len();
    let template = shared.div_ceil(BLOCK_SIZE);
    // Any one sequence must always fit, however small a cache is asked for and however little memory there is: the
    // size of the cache must never decide a verdict.
    let longest = (shared + OWN_PROMPT_TOKENS)
        .saturating_add(sizes.longest_text)
        .saturating_add(max_new_tokens);
    let one = template + longest.min(context_length).div_ceil(BLOCK_SIZE);
    let wanted = sizes.kv_blocks.unwrap_or_else(|| {
        let block_bytes = kv_bytes_per_token(shape, dtype) * BLOCK_SIZE;
        let memory = if device.is_cpu() {
            available_memory() / 5 * 2
        } else {
            GPU_KV_BYTES
        };
        // Most completions end well before their limit.
        let expected = OWN_PROMPT_TOKENS + max_new_tokens / 2;
        let wanted = max_sequences
            .saturating_mul(expected.div_ceil(BLOCK_SIZE))
            .saturating_add(template);
        wanted.min(memory / block_bytes.max(1))
    });
    EngineConfig {
        blocks: wanted.max(one),
        least_blocks: one,
        block_size: BLOCK_SIZE,
        max_sequences,
        token_budget,
        max_prefill_chunk: sizes.prefill_chunk.unwrap_or(token_budget),
        context_length,
        prefix_cache: !sizes.no_prefix_cache,
        pinned_prefix: text.prompts.shared_prefix().to_vec(),
    }
}

/// Bytes of memory that a new allocation may use: what Linux calls available, elsewhere a cautious guess.
fn available_memory() -> usize {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let available = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))
        .unwrap_or_default();
    available
        .trim()
        .trim_end_matches(" kB")
        .parse::<usize>()
        .map_or(4 << 30, |kilobytes| kilobytes << 10)
}
