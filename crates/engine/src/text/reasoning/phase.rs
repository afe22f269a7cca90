//! Whether a judge still thinks, token by token: where a constrained answer begins.

use std::sync::Arc;

use super::harmony::Channels;
use super::style::ThinkingTags;
use super::{Markup, Thinking};
use crate::text::tokenizer::{TextStream, Tokenizer};

pub enum Beginning {
    Answer,
    Thinking(Thought),
    /// With the opening tag of one of these pairs, or with the answer.
    Either(Vec<ThinkingTags>),
}

/// The judge's thinking, until it ends.
pub struct Thought(Kind);

enum Kind {
    Tag {
        close: String,
        stream: TextStream,
        /// The end of the text so far, as long as the closing tag.
        tail: String,
    },
    /// Until a message in the channel `final`.
    Channels {
        channels: Channels,
        tokenizer: Arc<Tokenizer>,
    },
}

impl Thinking {
    /// How a completion begins, as far as the prompt and the model's files tell.
    pub fn beginning(&self, tokenizer: &Arc<Tokenizer>) -> Beginning {
        if let Markup::Channels(channels) = &self.markup {
            return Beginning::Thinking(Thought(Kind::Channels {
                channels: channels.clone(),
                tokenizer: Arc::clone(tokenizer),
            }));
        }
        match (&self.opened, self.found.as_slice()) {
            (Some(tags), _) => Beginning::Thinking(Thought::until(&tags.close, tokenizer)),
            (None, found) if !found.is_empty() && !self.closed => Beginning::Either(found.to_vec()),
            _ => Beginning::Answer,
        }
    }

    /// The pair of tags that a text opens and does not close.
    pub fn left_open(&self, text: &str) -> Option<&ThinkingTags> {
        self.found.iter().find(|tags| is_open(text, tags))
    }
}

/// The added tokens that open a pair of tags, each with the text that closes it. Tags of several tokens are left out: an
/// answer could begin with the first of them.
pub fn opening_tokens(pairs: &[ThinkingTags], tokenizer: &Tokenizer) -> Vec<(u32, String)> {
    let opened =
        |tags: &ThinkingTags| Some((tokenizer.added_token(&tags.open)?, tags.close.clone()));
    pairs.iter().filter_map(opened).collect()
}

/// Whether a text opens a pair of tags without closing it after that.
pub(super) fn is_open(text: &str, tags: &ThinkingTags) -> bool {
    text.rfind(&tags.open)
        .is_some_and(|at| !text[at + tags.open.len()..].contains(&tags.close))
}

impl Thought {
    /// Thinking that ends with this tag.
    pub fn until(close: &str, tokenizer: &Arc<Tokenizer>) -> Self {
        Self(Kind::Tag {
            close: close.to_owned(),
            stream: TextStream::new(Arc::clone(tokenizer)),
            tail: String::new(),
        })
    }

    /// Takes a token; returns whether the answer begins after it.
    pub fn push(&mut self, token: u32) -> bool {
        match &mut self.0 {
            Kind::Tag {
                close,
                stream,
                tail,
            } => {
                tail.push_str(&stream.push(token));
                if tail.contains(close.as_str()) {
                    return true;
                }
                let from = tail.len().saturating_sub(close.len());
                tail.drain(..tail.floor_char_boundary(from));
                false
            }
            Kind::Channels {
                channels,
                tokenizer,
            } => {
                channels.take(token, || tokenizer.decode(&[token]));
                channels.is_in_answer()
            }
        }
    }

    /// Whether white space may stand between it and the answer.
    pub fn has_break(&self) -> bool {
        matches!(self.0, Kind::Tag { .. })
    }

    /// The text that ends the thinking at once, after which the answer begins.
    pub fn end(&self) -> String {
        match &self.0 {
            Kind::Tag { close, .. } => format!("\n{close}\n\n"),
            Kind::Channels { channels, .. } => channels.to_answer().to_owned(),
        }
    }
}
