//! Text to token ids and back.
//!
//! There are two ways in. Trusted text (template, chat markup) is tokenised as its author meant it: `<|im_end|>` is a
//! control token. Text under judgement is tokenised by a twin of the tokenizer that knows no added tokens at all, so
//! whatever a student writes stays ordinary text (see `docs/decisions/untrusted-text.md`).

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use super::ModelError;

/// A model's tokenizer (`tokenizer.json`).
pub struct Tokenizer {
    trusted: tokenizers::Tokenizer,
    /// The same vocabulary and merges, without any added token.
    untrusted: tokenizers::Tokenizer,
    control: HashSet<u32>,
}

impl Tokenizer {
    /// Reads a `tokenizer.json`.
    ///
    /// # Errors
    /// [`ModelError::Tokenizer`] when it is not JSON or not a tokenizer.
    pub fn from_json(json: &str) -> Result<Self, ModelError> {
        let unreadable = |error: &dyn std::fmt::Display| {
            ModelError::Tokenizer(format!("tokenizer.json: {error}"))
        };
        let trusted: tokenizers::Tokenizer = json.parse().map_err(|error| unreadable(&error))?;
        let mut twin: Value = serde_json::from_str(json).map_err(|error| unreadable(&error))?;
        if let Some(object) = twin.as_object_mut() {
            object.insert("added_tokens".into(), Value::Array(Vec::new()));
            // A post-processor may name added tokens that the twin does not have; it is never run.
            object.insert("post_processor".into(), Value::Null);
        }
        let untrusted = twin
            .to_string()
            .parse()
            .map_err(|error| unreadable(&error))?;
        let control = trusted
            .get_added_tokens_decoder()
            .into_iter()
            .filter(|(_, token)| token.special)
            .map(|(id, _)| id)
            .collect();
        Ok(Self {
            trusted,
            untrusted,
            control,
        })
    }

    /// Token ids of text we wrote: added and special tokens are recognised, none is put around it.
    ///
    /// # Errors
    /// [`ModelError::Tokenizer`] if the tokenizer refuses the text.
    pub fn encode_trusted(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let encoding = self.trusted.encode_fast(text, false);
        Ok(encoding
            .map_err(|error| ModelError::Tokenizer(error.to_string()))?
            .get_ids()
            .to_vec())
    }

    /// Token ids of text under judgement: never a control token, whatever it says.
    ///
    /// # Errors
    /// [`ModelError::Tokenizer`] if the tokenizer refuses the text, or if its plain vocabulary holds a control token
    /// that the text spells out.
    pub fn encode_untrusted(&self, text: &str) -> Result<Vec<u32>, ModelError> {
        let encoding = self
            .untrusted
            .encode_fast(text, false)
            .map_err(|error| ModelError::Tokenizer(error.to_string()))?;
        let ids = encoding.get_ids();
        if let Some(id) = ids.iter().find(|id| self.control.contains(id)) {
            let token = self.trusted.id_to_token(*id).unwrap_or_default();
            return Err(ModelError::Tokenizer(format!(
                "the text would become the control token {token}"
            )));
        }
        Ok(ids.to_vec())
    }

    /// The text of token ids, special tokens included.
    pub fn decode(&self, ids: &[u32]) -> String {
        // Unknown ids are skipped by the library; there is no other way for decoding to fail.
        self.trusted.decode(ids, false).unwrap_or_default()
    }

    /// One past the highest token id.
    pub fn vocab_size(&self) -> usize {
        self.trusted
            .get_vocab(true)
            .into_values()
            .max()
            .map_or(0, |id| id as usize + 1)
    }

    /// All tokens that spell `word`, whatever their case and surrounding space, in order of id.
    pub fn variants(&self, word: &str) -> Vec<u32> {
        (0..self.vocab_size() as u32)
            .filter(|id| !self.control.contains(id))
            .filter(|&id| self.decode(&[id]).trim().eq_ignore_ascii_case(word))
            .collect()
    }
}

/// Turns a growing sequence of tokens into text, piece by piece, holding back bytes that are not yet a character.
pub struct TextStream {
    tokenizer: Arc<Tokenizer>,
    /// The newest tokens: decoding starts here, far enough back for context-dependent decoders.
    tokens: Vec<u32>,
    /// Of `tokens`, those whose text was handed out.
    given: usize,
}

impl TextStream {
    /// A stream at the beginning of a text.
    pub fn new(tokenizer: Arc<Tokenizer>) -> Self {
        Self {
            tokenizer,
            tokens: Vec::new(),
            given: 0,
        }
    }

    /// Takes a token; returns the text that became certain with it, possibly none.
    pub fn push(&mut self, token: u32) -> String {
        self.tokens.push(token);
        let before = self.tokenizer.decode(&self.tokens[..self.given]);
        let now = self.tokenizer.decode(&self.tokens);
        // A replacement character at the end is a character whose bytes are still coming.
        if now.len() <= before.len() || now.ends_with('\u{FFFD}') {
            return String::new();
        }
        let piece = now.get(before.len()..).unwrap_or_default().to_owned();
        self.tokens.drain(..self.given);
        self.given = self.tokens.len();
        piece
    }
}
