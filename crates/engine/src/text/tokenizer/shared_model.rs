//! The vocabulary and merges of a tokenizer, which its twins share: they take up nearly all of its memory, and of the time to read it.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use tokenizers::models::bpe::BPE;
use tokenizers::models::{ModelWrapper, TrainerWrapper};
use tokenizers::{
    DecoderWrapper, Model, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper, Result,
    Token, TokenizerImpl,
};

/// The library's tokenizer with a model that others may share.
pub(super) type Library = TokenizerImpl<
    SharedModel,
    NormalizerWrapper,
    PreTokenizerWrapper,
    PostProcessorWrapper,
    DecoderWrapper,
>;

#[derive(Debug, Clone)]
pub(super) struct SharedModel(Arc<ModelWrapper>);

impl Deref for SharedModel {
    type Target = ModelWrapper;

    fn deref(&self) -> &ModelWrapper {
        &self.0
    }
}

impl SharedModel {
    /// Reads the `model` of a `tokenizer.json`.
    pub(super) fn from_json(mut model: Value) -> serde_json::Result<Self> {
        let is_bpe = model["type"] == "BPE";
        if let Some(keys) = model.as_object_mut().filter(|_| is_bpe) {
            keys.remove("type");
            return Ok(Self::from(ModelWrapper::BPE(BPE::deserialize(model)?)));
        }
        ModelWrapper::deserialize(model).map(Self::from)
    }
}

impl From<ModelWrapper> for SharedModel {
    fn from(mut model: ModelWrapper) -> Self {
        if let ModelWrapper::BPE(model) = &mut model {
            // Training leaves out merges at random: the same text would have other tokens each time.
            model.dropout = None;
        }
        Self(Arc::new(model))
    }
}

/// From a `tokenizer.json` in memory. Byte pairs, which nearly all vocabularies are, are read straight from their text: the library's own way, which looks for
/// the type first, makes three trees of them. That way reads all else, such as a key unknown to the other, and says what is wrong.
impl<'de> Deserialize<'de> for SharedModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = <&RawValue>::deserialize(deserializer)?.get();
        serde_json::from_str(text)
            .map(ModelWrapper::BPE)
            .or_else(|_| serde_json::from_str(text))
            .map(Self::from)
            .map_err(D::Error::custom)
    }
}

impl Model for SharedModel {
    type Trainer = TrainerWrapper;

    fn tokenize(&self, sequence: &str) -> Result<Vec<Token>> {
        self.0.tokenize(sequence)
    }

    fn token_to_id(&self, token: &str) -> Option<u32> {
        self.0.token_to_id(token)
    }

    fn id_to_token(&self, id: u32) -> Option<String> {
        self.0.id_to_token(id)
    }

    fn get_vocab(&self) -> HashMap<String, u32> {
        self.0.get_vocab()
    }

    fn get_vocab_size(&self) -> usize {
        self.0.get_vocab_size()
    }

    fn save(&self, folder: &Path, prefix: Option<&str>) -> Result<Vec<PathBuf>> {
        self.0.save(folder, prefix)
    }

    fn get_trainer(&self) -> TrainerWrapper {
        self.0.get_trainer()
    }
}
