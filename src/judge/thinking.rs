//! From a completion's tokens to what of it is the judge's answer.
//!
//! The stop rule, token by token, and the reading of a finished completion go the same way, so a generation is never
//! stopped at a verdict that would not be read.

use std::borrow::Cow;
use std::sync::Arc;

use super::harmony::{Channels, HarmonyTokens, Role};
use crate::model::ModelError;
use crate::model::tokenizer::{TextStream, Tokenizer};
use crate::protocol::thinking::{Heard, TagMask, ThinkingStyle, ThinkingTags, blank, mask};

/// Opening and closing tags that the protocols' readers know by themselves.
const KNOWN_TAGS: [(&str, &str); 3] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<analysis>", "</analysis>"),
];

/// Markers of the harmony format; a chat template that has one is of a model that writes them.
const HARMONY_MARKERS: [&str; 2] = ["<|channel|>", "<|message|>"];

/// How this judge's thinking is told from its answer.
#[derive(Debug, Clone)]
pub struct Thinking {
    style: ThinkingStyle,
    way: Way,
}

#[derive(Debug, Clone)]
enum Way {
    /// By the protocol's own reader.
    Reader { starts_in_thinking: bool },
    /// By the ids of markers; the state at the prompt's end.
    Channels(Channels),
    /// By the ids of two tags.
    TagTokens { open: u32, close: u32, inside: bool },
    /// By the letters of two tags.
    TagText { tags: ThinkingTags, inside: bool },
}

/// What a completion says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// All of it, special tokens included.
    pub written: String,
    /// The same with the thinking masked; none if the thinking did not end.
    pub visible: Option<String>,
}

impl Thinking {
    /// Finds the style from the chat template and the tokenizer, unless it is given, and where the prompt leaves the
    /// judge: `generation_prompt` is what the chat template writes for the judge to go on from.
    ///
    /// # Errors
    /// When the style is harmony, or the chat template is of that format, and the tokenizer lacks its tokens.
    pub fn find(
        given: Option<ThinkingStyle>,
        tokenizer: &Tokenizer,
        chat_template: &str,
        generation_prompt: &str,
    ) -> Result<Self, ModelError> {
        let tokens = HarmonyTokens::find(tokenizer);
        let style = given.unwrap_or_else(|| {
            let harmony = chat_template.contains(HARMONY_MARKERS[0])
                || tokens.is_some() && chat_template.contains(HARMONY_MARKERS[1]);
            if harmony {
                ThinkingStyle::Harmony
            } else {
                ThinkingStyle::Think
            }
        });
        let opened = |open: &str, close: &str| {
            generation_prompt
                .rfind(open)
                .is_some_and(|at| !generation_prompt[at..].contains(close))
        };
        let way = match &style {
            ThinkingStyle::None => Way::Reader {
                starts_in_thinking: false,
            },
            ThinkingStyle::Think => Way::Reader {
                starts_in_thinking: KNOWN_TAGS.iter().any(|(open, close)| opened(open, close)),
            },
            ThinkingStyle::Harmony => {
                let tokens = tokens.ok_or_else(|| {
                    ModelError::Tokenizer(
                        "the thinking style is harmony, but tokenizer.json lacks its tokens <|start|>, <|channel|> and \
                         <|message|>; if the model does not write them, say so with --thinking-style"
                            .into(),
                    )
                })?;
                let mut channels = Channels::new(tokens);
                for token in tokenizer.encode_trusted(generation_prompt)? {
                    channels.take(token, || tokenizer.decode(&[token]));
                }
                Way::Channels(channels)
            }
            ThinkingStyle::Tags(tags) => {
                let inside = opened(&tags.open, &tags.close);
                match (
                    tokenizer.added_token(&tags.open),
                    tokenizer.added_token(&tags.close),
                ) {
                    (Some(open), Some(close)) => Way::TagTokens {
                        open,
                        close,
                        inside,
                    },
                    _ => Way::TagText {
                        tags: tags.clone(),
                        inside,
                    },
                }
            }
        };
        Ok(Self { style, way })
    }

    /// The style.
    pub fn style(&self) -> &ThinkingStyle {
        &self.style
    }

    /// True if the protocol's reader begins inside a thinking block that the chat template has opened.
    pub fn starts_in_thinking(&self) -> bool {
        matches!(
            self.way,
            Way::Reader {
                starts_in_thinking: true
            }
        )
    }

    /// A text under judgement in which tags that would end the judge's thinking, were it to quote them, are broken: `<`
    /// becomes `‹`, and behind another first character comes a space. Where tags are known by their ids, or are those
    /// that are [reserved](crate::protocol::neutralise) anyway, there is nothing to do.
    pub fn without_tags<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Way::TagText { tags, .. } = &self.way else {
            return Cow::Borrowed(text);
        };
        let mut safe = Cow::Borrowed(text);
        for tag in [&tags.open, &tags.close] {
            if safe.contains(tag.as_str()) {
                let mut characters = tag.chars();
                let broken = match characters.next() {
                    Some('<') => format!("‹{}", characters.as_str()),
                    Some(first) => format!("{first} {}", characters.as_str()),
                    None => continue,
                };
                safe = Cow::Owned(safe.replace(tag.as_str(), &broken));
            }
        }
        safe
    }

    /// Tags of the thinking that are plain letters: read as thinking wherever the judge writes them.
    pub(super) fn plain_tags(&self) -> impl Iterator<Item = &str> {
        let tags = match &self.way {
            Way::TagText { tags, .. } => Some([tags.open.as_str(), tags.close.as_str()]),
            _ => None,
        };
        tags.into_iter().flatten()
    }

    /// The tokens that end a generation, given the model's own.
    pub fn ends(&self, own: &[u32], tokenizer: &Tokenizer) -> Vec<u32> {
        match (&self.way, HarmonyTokens::find(tokenizer)) {
            (Way::Channels(_), Some(tokens)) => tokens.ends(own),
            _ => own.to_vec(),
        }
    }

    /// Reads a finished completion.
    pub fn read(&self, tokenizer: &Tokenizer, tokens: &[u32]) -> Answer {
        match &self.way {
            Way::Reader { .. } => {
                let written = tokenizer.decode(tokens);
                Answer {
                    visible: Some(written.clone()),
                    written,
                }
            }
            Way::TagText { tags, inside } => {
                let written = tokenizer.decode(tokens);
                Answer {
                    visible: mask(&written, tags, *inside),
                    written,
                }
            }
            Way::Channels(_) | Way::TagTokens { .. } => self.read_by_tokens(tokenizer, tokens),
        }
    }

    fn read_by_tokens(&self, tokenizer: &Tokenizer, tokens: &[u32]) -> Answer {
        let mut machine = Machine::new(&self.way);
        let (mut written, mut visible) = (String::new(), String::new());
        let mut at = 0;
        while at < tokens.len() {
            // A stretch of tokens that are alike; their bytes may make up characters together.
            let (role, restart) = machine.take(tokens[at], tokenizer);
            let mut end = at + 1;
            while end < tokens.len() && role != Role::Marker {
                let mut next = machine.clone();
                if next.take(tokens[end], tokenizer) != (role, false) {
                    break;
                }
                machine = next;
                end += 1;
            }
            let text = tokenizer.decode(&tokens[at..end]);
            if restart {
                let before = visible.len();
                visible.clear();
                blank(&mut visible, before);
            }
            if role == Role::Answer {
                visible.push_str(&text);
            } else {
                blank(&mut visible, text.len());
            }
            written.push_str(&text);
            at = end;
        }
        Answer {
            visible: machine.is_finished().then_some(visible),
            written,
        }
    }

    /// A stream for the stop rule.
    pub fn stream(&self, tokenizer: Arc<Tokenizer>) -> AnswerStream {
        AnswerStream {
            machine: match &self.way {
                Way::Channels(_) | Way::TagTokens { .. } => Some(Machine::new(&self.way)),
                _ => None,
            },
            mask: match &self.way {
                Way::TagText { tags, inside } => Some(TagMask::new(tags.clone(), *inside)),
                _ => None,
            },
            text: TextStream::new(Arc::clone(&tokenizer)),
            tokenizer,
        }
    }
}

/// Follows a completion by its tokens.
#[derive(Debug, Clone)]
enum Machine {
    Channels(Channels),
    Tags { open: u32, close: u32, inside: bool },
}

impl Machine {
    fn new(way: &Way) -> Self {
        match way {
            Way::Channels(channels) => Self::Channels(channels.clone()),
            Way::TagTokens {
                open,
                close,
                inside,
            } => Self::Tags {
                open: *open,
                close: *close,
                inside: *inside,
            },
            // Neither is followed by tokens: everything is the answer.
            Way::Reader { .. } | Way::TagText { .. } => Self::Tags {
                open: u32::MAX,
                close: u32::MAX,
                inside: false,
            },
        }
    }

    /// What a token is, and whether everything before it turns out to be thinking.
    fn take(&mut self, token: u32, tokenizer: &Tokenizer) -> (Role, bool) {
        match self {
            Self::Channels(channels) => {
                let role = channels.take(token, || tokenizer.decode(&[token]));
                (role, false)
            }
            Self::Tags {
                open,
                close,
                inside,
            } => {
                if token == *open {
                    *inside = true;
                    (Role::Marker, false)
                } else if token == *close {
                    let restart = !*inside;
                    *inside = false;
                    (Role::Marker, restart)
                } else if *inside {
                    (Role::Other, false)
                } else {
                    (Role::Answer, false)
                }
            }
        }
    }

    fn is_finished(&self) -> bool {
        match self {
            Self::Channels(channels) => channels.is_finished(),
            Self::Tags { inside, .. } => !inside,
        }
    }
}

/// A completion's answer, token by token.
pub struct AnswerStream {
    machine: Option<Machine>,
    mask: Option<TagMask>,
    text: TextStream,
    tokenizer: Arc<Tokenizer>,
}

impl AnswerStream {
    /// Takes a token; gives what became certain of the answer. Where thinking stood there may be spaces.
    pub fn push(&mut self, token: u32) -> Heard {
        let Some(machine) = &mut self.machine else {
            let piece = self.text.push(token);
            return match &mut self.mask {
                Some(mask) => mask.push(&piece),
                None => Heard {
                    restart: false,
                    text: piece,
                },
            };
        };
        let (role, restart) = machine.take(token, &self.tokenizer);
        let text = match role {
            Role::Answer => self.text.push(token),
            Role::Marker => {
                self.text = TextStream::new(Arc::clone(&self.tokenizer));
                " ".to_owned()
            }
            Role::Other => String::new(),
        };
        Heard { restart, text }
    }
}

#[cfg(test)]
#[path = "thinking_tests.rs"]
mod tests;
