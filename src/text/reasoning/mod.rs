//! From a completion's tokens to what of it is the judge's answer.
//!
//! The stop rule, token by token, and the reading of a finished completion go the same way, so a generation is never
//! stopped at a verdict that would not be read.

use std::sync::Arc;

pub(crate) mod harmony;
pub mod tag_mask;

use crate::model::ModelError;
use crate::protocol::pairs::{self, without_unknown};
use crate::text::tokenizer::{TextStream, Tokenizer};
use harmony::{Channels, HarmonyTokens, Role};
use tag_mask::{Heard, TagMask, blank, mask};
pub use tag_mask::{ThinkingStyle, ThinkingTags};

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
    /// The protocol's reader begins inside a thinking block.
    starts_inside: bool,
    /// The pairs of tags that the model's files name or the user gave.
    found: Vec<ThinkingTags>,
}

#[derive(Debug, Clone)]
enum Way {
    /// By the ids of markers; the state at the prompt's end.
    Channels(Channels),
    /// By pairs of tags, if there are any; the protocol's own reader knows some more.
    Tags(Pairs),
}

/// Pairs of tags around thinking.
#[derive(Debug, Clone, Default)]
struct Pairs {
    /// Those that are known by their ids: opening and closing.
    tokens: Arc<[(u32, u32)]>,
    /// The one of them that is open at the prompt's end.
    inside_token: Option<usize>,
    /// Those that are known by their letters.
    texts: Arc<[ThinkingTags]>,
    /// The one of them that is open at the prompt's end.
    inside_text: Option<usize>,
}

impl Pairs {
    /// Pairs whose tags are tokens of the vocabulary are known by them.
    fn new(
        tokenizer: &Tokenizer,
        found: &[ThinkingTags],
        opened: impl Fn(&ThinkingTags) -> bool,
    ) -> Self {
        let (mut tokens, mut texts) = (Vec::new(), Vec::new());
        let (mut inside_token, mut inside_text) = (None, None);
        for tags in found {
            let ids = [&tags.open, &tags.close].map(|tag| tokenizer.added_token(tag));
            if let [Some(open), Some(close)] = ids {
                if opened(tags) {
                    inside_token = Some(tokens.len());
                }
                tokens.push((open, close));
            } else {
                if opened(tags) {
                    inside_text = Some(texts.len());
                }
                texts.push(tags.clone());
            }
        }
        Self {
            tokens: tokens.into(),
            inside_token,
            texts: texts.into(),
            inside_text,
        }
    }
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
        let is_given = given.is_some();
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
                .is_some_and(|at| !generation_prompt[at + open.len()..].contains(close))
        };
        let is_opened = |tags: &ThinkingTags| opened(&tags.open, &tags.close);
        let reader_opened = KNOWN_TAGS.iter().any(|(open, close)| opened(open, close));
        let mut found = Vec::new();
        let mut starts_inside = false;
        let way = match &style {
            ThinkingStyle::None => Way::Tags(Pairs::default()),
            ThinkingStyle::Think => {
                // Whoever says that it is `<think>` is believed; else the model's files tell of other tags.
                if !is_given {
                    found = pairs::find(tokenizer.added_tokens(), chat_template);
                }
                starts_inside = reader_opened;
                Way::Tags(Pairs::new(tokenizer, &found, is_opened))
            }
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
                found.push(tags.clone());
                Way::Tags(Pairs::new(tokenizer, &found, is_opened))
            }
        };
        if style == ThinkingStyle::Think {
            // What the reader knows by itself is told too, where the model's files name it.
            let named =
                |tag: &str| tokenizer.added_token(tag).is_some() || chat_template.contains(tag);
            let known = KNOWN_TAGS
                .iter()
                .filter(|(open, close)| named(open) || named(close));
            found.splice(
                0..0,
                known.map(|(open, close)| ThinkingTags {
                    open: (*open).to_owned(),
                    close: (*close).to_owned(),
                }),
            );
        }
        Ok(Self {
            style,
            way,
            starts_inside,
            found,
        })
    }

    /// How the model writes its thinking, for people.
    pub fn describe(&self) -> String {
        match (&self.style, self.found.as_slice()) {
            (ThinkingStyle::None, _) => "all it writes is its answer".into(),
            (ThinkingStyle::Harmony, _) => "thinks in harmony channels".into(),
            (_, []) => "its files name no thinking".into(),
            (_, found) => {
                let pairs: Vec<String> = found
                    .iter()
                    .map(|tags| format!("{} … {}", tags.open, tags.close))
                    .collect();
                format!("thinks in {}", pairs.join(", "))
            }
        }
    }

    /// The style.
    pub fn style(&self) -> &ThinkingStyle {
        &self.style
    }

    /// True if the protocol's reader begins inside a thinking block that the chat template has opened.
    pub fn starts_in_thinking(&self) -> bool {
        self.starts_inside
    }

    /// Thinking tags that are known by their letters: they are read as such wherever the judge writes them, so no text under
    /// judgement may hold them.
    pub(crate) fn plain_tags(&self) -> impl Iterator<Item = &str> {
        let texts = match &self.way {
            Way::Tags(pairs) => &*pairs.texts,
            Way::Channels(_) => &[],
        };
        texts
            .iter()
            .flat_map(|tags| [tags.open.as_str(), tags.close.as_str()])
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
        let pairs = match &self.way {
            Way::Channels(_) => return self.read_by_tokens(tokenizer, tokens),
            Way::Tags(pairs) => pairs,
        };
        let Answer { written, visible } = if pairs.tokens.is_empty() {
            let written = tokenizer.decode(tokens);
            Answer {
                visible: Some(written.clone()),
                written,
            }
        } else {
            self.read_by_tokens(tokenizer, tokens)
        };
        Answer {
            visible: match visible {
                Some(visible) if !pairs.texts.is_empty() => {
                    mask(&visible, Arc::clone(&pairs.texts), pairs.inside_text)
                }
                Some(visible) if self.style == ThinkingStyle::None => {
                    Some(without_unknown(&visible))
                }
                visible => visible,
            },
            written,
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
                Way::Tags(pairs) if pairs.tokens.is_empty() => None,
                way => Some(Machine::new(way)),
            },
            mask: match &self.way {
                Way::Tags(pairs) if !pairs.texts.is_empty() => {
                    Some(TagMask::new(Arc::clone(&pairs.texts), pairs.inside_text))
                }
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
    Tags {
        pairs: Arc<[(u32, u32)]>,
        inside: Option<usize>,
    },
}

impl Machine {
    fn new(way: &Way) -> Self {
        match way {
            Way::Channels(channels) => Self::Channels(channels.clone()),
            Way::Tags(pairs) => Self::Tags {
                pairs: Arc::clone(&pairs.tokens),
                inside: pairs.inside_token,
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
            Self::Tags { pairs, inside } => {
                if let Some(open) = *inside {
                    if token == pairs[open].1 {
                        *inside = None;
                        (Role::Marker, false)
                    } else {
                        (Role::Other, false)
                    }
                } else if let Some(opened) = pairs.iter().position(|(open, _)| token == *open) {
                    *inside = Some(opened);
                    (Role::Marker, false)
                } else {
                    let closes = pairs.iter().any(|(_, close)| token == *close);
                    let role = if closes { Role::Marker } else { Role::Answer };
                    (role, closes)
                }
            }
        }
    }

    fn is_finished(&self) -> bool {
        match self {
            Self::Channels(channels) => channels.is_finished(),
            Self::Tags { inside, .. } => inside.is_none(),
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
        let heard = match &mut self.machine {
            None => Heard {
                restart: false,
                text: self.text.push(token),
            },
            Some(machine) => {
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
        };
        let Some(mask) = &mut self.mask else {
            return heard;
        };
        if heard.restart {
            mask.restart();
        }
        let masked = mask.push(&heard.text);
        Heard {
            restart: heard.restart || masked.restart,
            text: masked.text,
        }
    }
}

#[cfg(test)]
mod tests;
