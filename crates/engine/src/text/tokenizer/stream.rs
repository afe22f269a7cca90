//! Decodes a growing sequence of tokens, piece by piece.

use std::sync::Arc;

use super::Tokenizer;

/// How many tokens may be held back for a character whose bytes are incomplete; one has at most four. What stays unreadable longer is no character.
const MOST_HELD_BACK: usize = 8;

/// Turns a growing sequence of tokens into text, piece by piece, holding back bytes that are not yet a character.
pub struct TextStream {
    tokenizer: Arc<Tokenizer>,
    /// The newest tokens; decoding starts here, far enough back for decoders that depend on context.
    tokens: Vec<u32>,
    /// How many of `tokens` are in text that was returned.
    given: usize,
}

impl TextStream {
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
        // A replacement character at the end stands for a character whose bytes are incomplete.
        let waits = now.ends_with('\u{FFFD}') && self.tokens.len() - self.given < MOST_HELD_BACK;
        if now.len() <= before.len() || waits {
            return String::new();
        }
        let piece = now.get(before.len()..).unwrap_or_default().to_owned();
        self.tokens.drain(..self.given);
        self.given = self.tokens.len();
        piece
    }
}
