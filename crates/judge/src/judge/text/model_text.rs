//! The text side of a model's files, whatever it is asked.

use std::sync::Arc;

use super::generation::GenerationDefaults;
use juror_base::panics;
use juror_engine::checkpoint::{CheckpointError, ModelConfig, ModelSource};
use juror_engine::text::TextError;
use juror_engine::text::chat_template::ChatTemplate;
use juror_engine::text::end_tokens::{EndToken, end_tokens};
use juror_engine::text::tokenizer::Tokenizer;

/// Configuration, tokenizer, and how the model's makers would have it generate.
pub(crate) struct ModelText {
    pub(crate) config: ModelConfig,
    pub(crate) tokenizer: Arc<Tokenizer>,
    pub(crate) generation: GenerationDefaults,
    /// Settings of `generation_config.json` that are not applied.
    pub(crate) notes: Vec<String>,
}

impl ModelText {
    /// Reads the files of a model.
    /// Errors: when one is missing or damaged, or tokenizer and configuration are of different models.
    pub(crate) fn load(source: &ModelSource) -> Result<Self, TextError> {
        let config = ModelConfig::load(source)?;
        let json = source.read_text("tokenizer.json")?;
        let file = source.describe("tokenizer.json");
        let tokenizer = Arc::new(Tokenizer::of_model(&json, &file, config.vocab)?);
        let (mut generation, mut notes) = (GenerationDefaults::default(), Vec::new());
        if let Some(json) = optional(source, "generation_config.json")? {
            let path = source.describe("generation_config.json");
            (generation, notes) = GenerationDefaults::read(&json, &path)?;
        }
        Ok(Self {
            config,
            tokenizer,
            generation,
            notes,
        })
    }

    pub(crate) fn ends(&self, chat: Option<&ChatTemplate>) -> Vec<EndToken> {
        end_tokens(&self.config.eos_token_ids, &self.tokenizer, chat)
    }
}

pub(crate) fn optional(
    source: &ModelSource,
    file: &str,
) -> Result<Option<String>, CheckpointError> {
    source.has(file).then(|| source.read_text(file)).transpose()
}

/// Runs `read`, in which decoders and templates of damaged files may panic in the libraries that run them.
pub(crate) fn guarded<T, E: From<TextError>>(
    source: &ModelSource,
    read: impl FnOnce() -> Result<T, E>,
) -> Result<T, E> {
    panics::guarded(read).unwrap_or_else(|why| {
        Err(TextError::Tokenizer(format!(
            "{source}: its tokenizer or chat template cannot be used: {why}"
        ))
        .into())
    })
}
