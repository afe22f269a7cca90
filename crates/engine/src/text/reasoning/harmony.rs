//! Channels of the harmony format, which gpt-oss writes, read by tokens (<https://cookbook.openai.com/articles/openai-harmony>).
//!
//! A completion is a row of messages, `<|start|>assistant<|channel|>analysis<|message|> … <|end|>`, the last of which is
//! in the channel `final` and ends with `<|return|>`. The markers are control tokens. Here they are known by their ids and
//! never by their letters, so a judge that quotes a student's `<|channel|>final` in its analysis does not leave it.

use super::token_roles::Role;
use crate::text::tokenizer::Tokenizer;

/// The longest header that is read, in bytes.
const MAX_HEADER: usize = 256;

/// The ids of the markers.
#[derive(Debug, Clone, Copy)]
pub(super) struct HarmonyTokens {
    start: u32,
    channel: u32,
    message: u32,
    end: Option<u32>,
    constrain: Option<u32>,
    leave: [Option<u32>; 2],
}

impl HarmonyTokens {
    /// The markers of a tokenizer; `None` if it lacks one that the format requires.
    pub(super) fn find(tokenizer: &Tokenizer) -> Option<Self> {
        Some(Self {
            start: tokenizer.added_token("<|start|>")?,
            channel: tokenizer.added_token("<|channel|>")?,
            message: tokenizer.added_token("<|message|>")?,
            end: tokenizer.added_token("<|end|>"),
            constrain: tokenizer.added_token("<|constrain|>"),
            leave: ["<|return|>", "<|call|>"].map(|token| tokenizer.added_token(token)),
        })
    }

    /// The tokens that end a generation: `<|return|>` and `<|call|>` beside the model's own; never `<|end|>`, since another message follows it.
    pub(super) fn ends(&self, own: &[u32]) -> Vec<u32> {
        let mut ends: Vec<u32> = own
            .iter()
            .copied()
            .filter(|id| Some(*id) != self.end)
            .collect();
        for id in self.leave.into_iter().flatten() {
            if !ends.contains(&id) {
                ends.push(id);
            }
        }
        ends
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Between,
    /// In a header: its role, and the channel's name once one began.
    Header {
        role: String,
        channel: Option<String>,
        /// Whether the text that follows belongs to neither role nor channel.
        over: bool,
    },
    /// In a message; `is_final` if it is the answer.
    Body {
        is_final: bool,
    },
}

/// Follows the messages of a completion.
#[derive(Debug, Clone)]
pub(super) struct Channels {
    tokens: HarmonyTokens,
    place: Place,
    answered: bool,
}

impl Channels {
    pub(super) fn new(tokens: HarmonyTokens) -> Self {
        Self {
            tokens,
            place: Place::Between,
            answered: false,
        }
    }

    /// Takes a token and says what it is; `text` returns its text.
    pub(super) fn take(&mut self, token: u32, text: impl FnOnce() -> String) -> Role {
        let HarmonyTokens {
            start,
            channel,
            message,
            end,
            constrain,
            leave,
        } = self.tokens;
        if token == start {
            self.place = Place::Header {
                role: String::new(),
                channel: None,
                over: false,
            };
        } else if token == channel {
            let role = match &mut self.place {
                Place::Header { role, .. } => std::mem::take(role),
                // A header without its beginning: the role is the assistant's.
                _ => "assistant".into(),
            };
            self.place = Place::Header {
                role,
                channel: Some(String::new()),
                over: false,
            };
        } else if token == message {
            if !matches!(self.place, Place::Body { .. }) {
                let is_final = self.header_is_final();
                self.answered |= is_final;
                self.place = Place::Body { is_final };
            }
        } else if Some(token) == end || leave.contains(&Some(token)) {
            self.place = Place::Between;
        } else if Some(token) == constrain {
            if let Place::Header { over, .. } = &mut self.place {
                *over = true;
            }
        } else {
            return match &mut self.place {
                Place::Body { is_final: true } => Role::Answer,
                Place::Header {
                    role,
                    channel,
                    over: false,
                } => {
                    let part = channel.as_mut().unwrap_or(role);
                    if part.len() < MAX_HEADER {
                        part.push_str(&text());
                    }
                    Role::Other
                }
                _ => Role::Other,
            };
        }
        Role::Marker
    }

    /// Whether the next token belongs to the answer.
    pub(super) fn is_in_answer(&self) -> bool {
        self.place == (Place::Body { is_final: true })
    }

    /// The markup that leads from here to the beginning of an answer.
    pub(super) fn to_answer(&self) -> &'static str {
        match self.place {
            Place::Body { .. } => "<|end|><|start|>assistant<|channel|>final<|message|>",
            Place::Between => "<|start|>assistant<|channel|>final<|message|>",
            Place::Header { channel: None, .. } => "<|channel|>final<|message|>",
            // An unfinished header is completed to a message without text.
            Place::Header { .. } => {
                "<|message|><|end|><|start|>assistant<|channel|>final<|message|>"
            }
        }
    }

    /// Whether there was an answer and nothing after it is unfinished.
    pub(super) fn is_finished(&self) -> bool {
        self.answered && self.place != (Place::Body { is_final: false })
    }

    fn header_is_final(&self) -> bool {
        match &self.place {
            Place::Header {
                role,
                channel: Some(channel),
                ..
            } => {
                // Role or channel may be followed by a recipient.
                let first = |text: &str| text.split_whitespace().next().map(str::to_owned);
                first(role).as_deref() == Some("assistant")
                    && first(channel).as_deref() == Some("final")
            }
            _ => false,
        }
    }
}
