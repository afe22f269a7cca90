//! Reasoning: separates a model's thinking from its answer.
//!
//! Only the answer counts: a tag in the thinking is never read. Most models write `<think> … </think>`, which the protocols' readers know by themselves. Others
//! write their thinking between tags of their own, or, as gpt-oss does, in another channel; it is then masked before a protocol sees the completion.
//!
//! The stop rule, token by token, and the reading of a finished completion go the same way, so a generation is never
//! stopped at a verdict that would not be read.

mod harmony;
mod phase;
mod style;
pub mod tag_mask;
pub mod tag_pairs;
mod token_roles;

use std::sync::Arc;

use crate::text::TextError;
use crate::text::tokenizer::{TextStream, Tokenizer};
use harmony::{Channels, HarmonyTokens};
pub use phase::{Beginning, Thought, opening_tokens};
pub use style::{ThinkingStyle, ThinkingTags};
use tag_mask::{TagMask, VisibleText, blank, mask};
use token_roles::{Role, RoleTracker};

/// Opening and closing tags that the protocols' readers know by themselves.
const READER_TAGS: [(&str, &str); 3] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<analysis>", "</analysis>"),
];

/// Markers of the harmony format; a chat template that contains one belongs to a model that writes it.
const HARMONY_MARKERS: [&str; 2] = ["<|channel|>", "<|message|>"];

/// How a model's thinking is separated from its answer.
#[derive(Debug, Clone)]
pub struct Thinking {
    style: ThinkingStyle,
    markup: Markup,
    /// The protocol's reader begins inside a thinking block.
    starts_inside: bool,
    /// The pairs of tags that the model's files name or the user gave.
    found: Vec<ThinkingTags>,
    /// The pair that is open at the prompt's end.
    opened: Option<ThinkingTags>,
    /// Whether the prompt ends after closed thinking: the judge was told not to think.
    closed: bool,
}

#[derive(Debug, Clone)]
enum Markup {
    /// Channels, by the ids of their markers; the state at the prompt's end.
    Channels(Channels),
    /// Pairs of tags, if any, in addition to those that the protocols' readers know.
    Tags(TagPairs),
}

#[derive(Debug, Clone, Default)]
struct TagPairs {
    /// The opening and closing tags that are known by their ids.
    tokens: Arc<[(u32, u32)]>,
    /// The one of them that is open at the prompt's end.
    inside_token: Option<usize>,
    /// Those that are known by their letters.
    texts: Arc<[ThinkingTags]>,
    /// The one of them that is open at the prompt's end.
    inside_text: Option<usize>,
}

impl TagPairs {
    /// Sorts pairs into those whose tags are tokens of the vocabulary, known by their ids, and those known by their letters.
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

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisibleAnswer {
    /// All of it, special tokens included.
    pub written: String,
    /// The same with the thinking masked; `None` if the thinking did not end.
    pub visible: Option<String>,
}

impl VisibleAnswer {
    /// How many bytes of what was written stand before the answer: thinking that is masked, or whose tags the protocols' readers know.
    pub fn thinking_bytes(&self) -> usize {
        let Some(visible) = &self.visible else {
            return self.written.len();
        };
        let masked = visible.len() - visible.trim_start().len();
        let closing = READER_TAGS.iter().filter_map(|(_, closing)| {
            let at = visible.find(closing)?;
            Some(at + closing.len())
        });
        closing.max().unwrap_or(0).max(masked)
    }
}

impl Thinking {
    /// Finds the style from the chat template and the tokenizer, unless it is given, and where the prompt leaves the
    /// judge: `generation_prompt` is what the chat template writes for the judge to go on from.
    /// Errors: when the style is harmony, or the chat template is of that format, and the tokenizer lacks its tokens.
    pub fn find(
        given: Option<ThinkingStyle>,
        tokenizer: &Tokenizer,
        chat_template: &str,
        generation_prompt: &str,
    ) -> Result<Self, TextError> {
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
        let is_opened = |tags: &ThinkingTags| phase::is_open(generation_prompt, tags);
        let reader_tags = READER_TAGS.map(|(open, close)| ThinkingTags {
            open: open.to_owned(),
            close: close.to_owned(),
        });
        let reader_opened = reader_tags.iter().find(|tags| is_opened(tags));
        let mut found = Vec::new();
        let mut starts_inside = false;
        let markup = match &style {
            ThinkingStyle::None => Markup::Tags(TagPairs::default()),
            ThinkingStyle::Think => {
                // A given style is final; otherwise further tags are looked up in the model's files.
                if !is_given {
                    found = tag_pairs::find(tokenizer.added_tokens(), chat_template);
                }
                starts_inside = reader_opened.is_some();
                Markup::Tags(TagPairs::new(tokenizer, &found, is_opened))
            }
            ThinkingStyle::Harmony => {
                let tokens = tokens.ok_or_else(|| {
                    TextError::Tokenizer(
                        "the thinking style is harmony, but the tokenizer lacks its tokens <|start|>, <|channel|> and \
                         <|message|>; if the model does not write them, say so with --thinking-style"
                            .into(),
                    )
                })?;
                let mut channels = Channels::new(tokens);
                for token in tokenizer.encode_trusted(generation_prompt)? {
                    channels.take(token, || tokenizer.decode(&[token]));
                }
                Markup::Channels(channels)
            }
            ThinkingStyle::Tags(tags) => {
                found.push(tags.clone());
                Markup::Tags(TagPairs::new(tokenizer, &found, is_opened))
            }
        };
        let is_named =
            |tag: &str| tokenizer.added_token(tag).is_some() || chat_template.contains(tag);
        if style == ThinkingStyle::Think {
            // Of those that a completion's reader knows what the model's files name, and `<think>` if the user gave the style.
            let known = reader_tags.iter().enumerate().filter(|(at, tags)| {
                is_named(&tags.open) || is_named(&tags.close) || is_given && *at == 0
            });
            found.splice(0..0, known.map(|(_, tags)| tags.clone()));
        }
        let reader_opened = reader_opened.filter(|_| starts_inside);
        let opened = found.iter().find(|tags| is_opened(tags)).or(reader_opened);
        let closed = found
            .iter()
            .any(|tags| generation_prompt.contains(&tags.close));
        Ok(Self {
            style,
            markup,
            starts_inside,
            opened: opened.cloned(),
            closed,
            found,
        })
    }

    /// How the model writes its thinking, in words for the user.
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

    pub fn style(&self) -> &ThinkingStyle {
        &self.style
    }

    /// Whether the protocol's reader begins inside a thinking block that the chat template has opened.
    pub fn starts_in_thinking(&self) -> bool {
        self.starts_inside
    }

    /// Thinking tags that are known by their letters. They take effect wherever the judge writes them, so text under judgement must not contain them.
    pub fn text_tags(&self) -> impl Iterator<Item = &str> {
        let texts = match &self.markup {
            Markup::Tags(pairs) => &*pairs.texts,
            Markup::Channels(_) => &[],
        };
        texts
            .iter()
            .flat_map(|tags| [tags.open.as_str(), tags.close.as_str()])
    }

    /// The tokens that end a generation: `own`, the model's, and those of the style.
    pub fn ends(&self, own: &[u32], tokenizer: &Tokenizer) -> Vec<u32> {
        match (&self.markup, HarmonyTokens::find(tokenizer)) {
            (Markup::Channels(_), Some(tokens)) => tokens.ends(own),
            _ => own.to_vec(),
        }
    }

    pub fn read(&self, tokenizer: &Tokenizer, tokens: &[u32]) -> VisibleAnswer {
        let pairs = match &self.markup {
            Markup::Channels(_) => return self.read_by_tokens(tokenizer, tokens),
            Markup::Tags(pairs) => pairs,
        };
        let VisibleAnswer { written, visible } = if pairs.tokens.is_empty() {
            let written = tokenizer.decode(tokens);
            VisibleAnswer {
                visible: Some(written.clone()),
                written,
            }
        } else {
            self.read_by_tokens(tokenizer, tokens)
        };
        VisibleAnswer {
            visible: match visible {
                Some(visible) if !pairs.texts.is_empty() => {
                    mask(&visible, Arc::clone(&pairs.texts), pairs.inside_text)
                }
                visible => visible,
            },
            written,
        }
    }

    fn read_by_tokens(&self, tokenizer: &Tokenizer, tokens: &[u32]) -> VisibleAnswer {
        let mut roles = RoleTracker::new(&self.markup);
        let (mut written, mut visible) = (String::new(), String::new());
        let mut at = 0;
        while at < tokens.len() {
            // A run of tokens with the same role; the bytes of several may make up one character.
            let (role, restart) = roles.take(tokens[at], tokenizer);
            let mut end = at + 1;
            while end < tokens.len() && role != Role::Marker {
                let mut next = roles.clone();
                if next.take(tokens[end], tokenizer) != (role, false) {
                    break;
                }
                roles = next;
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
        VisibleAnswer {
            visible: roles.is_finished().then_some(visible),
            written,
        }
    }

    /// Whether the answer is all that was written: any thinking stands in tags that every reader knows.
    pub fn is_plain(&self) -> bool {
        matches!(&self.markup, Markup::Tags(pairs) if pairs.tokens.is_empty() && pairs.texts.is_empty())
    }

    pub fn stream(&self, tokenizer: Arc<Tokenizer>) -> AnswerStream {
        AnswerStream {
            roles: match &self.markup {
                Markup::Tags(pairs) if pairs.tokens.is_empty() => None,
                markup => Some(RoleTracker::new(markup)),
            },
            mask: match &self.markup {
                Markup::Tags(pairs) if !pairs.texts.is_empty() => {
                    Some(TagMask::new(Arc::clone(&pairs.texts), pairs.inside_text))
                }
                _ => None,
            },
            text: TextStream::new(Arc::clone(&tokenizer)),
            tokenizer,
        }
    }
}

/// A completion's answer, token by token.
pub struct AnswerStream {
    roles: Option<RoleTracker>,
    mask: Option<TagMask>,
    text: TextStream,
    tokenizer: Arc<Tokenizer>,
}

impl AnswerStream {
    /// Takes a token and returns what it adds to the visible text, in which thinking is masked by spaces.
    pub fn push(&mut self, token: u32) -> VisibleText {
        let added = match &mut self.roles {
            None => VisibleText {
                restart: false,
                text: self.text.push(token),
            },
            Some(roles) => {
                let (role, restart) = roles.take(token, &self.tokenizer);
                let text = match role {
                    Role::Answer => self.text.push(token),
                    Role::Marker => {
                        self.text = TextStream::new(Arc::clone(&self.tokenizer));
                        " ".to_owned()
                    }
                    Role::Other => String::new(),
                };
                VisibleText { restart, text }
            }
        };
        let Some(mask) = &mut self.mask else {
            return added;
        };
        if added.restart {
            mask.restart();
        }
        let masked = mask.push(&added.text);
        VisibleText {
            restart: added.restart || masked.restart,
            text: masked.text,
        }
    }
}
