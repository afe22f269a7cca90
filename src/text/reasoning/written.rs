//! Thinking in a text that another engine decoded: tags are known by their letters alone.

use std::sync::Arc;

use super::tag_mask::{blank, mask};
use super::{Answer, Markup, READER_TAGS, Thinking, ThinkingStyle, ThinkingTags};
use crate::text::tokenizer::Tokenizer;

/// What begins a channel of the harmony format, and the header of the one that holds the answer.
const CHANNEL: &str = "<|channel|>";
const FINAL: &str = "<|channel|>final<|message|>";

/// How thinking is told from the answer in the text of a completion.
#[derive(Debug, Clone)]
pub struct WrittenThinking {
    style: ThinkingStyle,
    /// Tags that the protocols' readers do not know by themselves.
    pairs: Arc<[ThinkingTags]>,
    /// The one of them that is open at the prompt's end.
    inside: Option<usize>,
    /// The protocol's reader begins inside a thinking block.
    starts_inside: bool,
}

impl WrittenThinking {
    /// As the user says it; `starts_inside` where the prompt has opened the thinking.
    pub fn of_style(style: ThinkingStyle, starts_inside: bool) -> Self {
        let pairs: Arc<[ThinkingTags]> = match &style {
            ThinkingStyle::Tags(tags) => [tags.clone()].into(),
            _ => [].into(),
        };
        let inside = (starts_inside && !pairs.is_empty()).then_some(0);
        Self {
            starts_inside: starts_inside && style == ThinkingStyle::Think,
            style,
            pairs,
            inside,
        }
    }

    /// As a model's files say it.
    pub fn of_model(thinking: &Thinking, tokenizer: &Tokenizer) -> Self {
        let known = |tags: &ThinkingTags| {
            READER_TAGS
                .iter()
                .any(|(open, close)| tags.open == *open && tags.close == *close)
        };
        let by_reader = thinking.style == ThinkingStyle::Think;
        let pairs: Arc<[ThinkingTags]> = thinking
            .found
            .iter()
            .filter(|tags| !(by_reader && known(tags)))
            .cloned()
            .collect();
        // Pairs are numbered apart: those of tokens, and those of letters.
        let inside = match &thinking.markup {
            Markup::Channels(_) => None,
            Markup::Tags(of_model) => {
                let is_token = |tags: &ThinkingTags| {
                    [&tags.open, &tags.close]
                        .into_iter()
                        .all(|tag| tokenizer.added_token(tag).is_some())
                };
                let numbered = |of_tokens: bool, number: usize| {
                    let places = 0..pairs.len();
                    places
                        .filter(|&at| is_token(&pairs[at]) == of_tokens)
                        .nth(number)
                };
                let token = of_model
                    .inside_token
                    .and_then(|number| numbered(true, number));
                token.or(of_model
                    .inside_text
                    .and_then(|number| numbered(false, number)))
            }
        };
        Self {
            style: thinking.style.clone(),
            pairs,
            inside,
            starts_inside: thinking.starts_inside,
        }
    }

    /// The style.
    pub fn style(&self) -> &ThinkingStyle {
        &self.style
    }

    /// True if the protocol's reader begins inside a thinking block.
    pub fn starts_in_thinking(&self) -> bool {
        self.starts_inside
    }

    /// Reads a completion's text; `is_apart` where the engine took the thinking out of it.
    pub fn read(&self, text: &str, is_apart: bool) -> Answer {
        let visible = if self.style == ThinkingStyle::Harmony {
            of_channels(text)
        } else if self.pairs.is_empty() {
            Some(text.to_owned())
        } else {
            let inside = self.inside.filter(|_| !is_apart);
            mask(text, Arc::clone(&self.pairs), inside)
        };
        Answer {
            written: text.to_owned(),
            visible,
        }
    }
}

/// The final channel's text; all of a text without channels, which the engine took out.
fn of_channels(text: &str) -> Option<String> {
    if !text.contains(CHANNEL) {
        return Some(text.to_owned());
    }
    let start = text.rfind(FINAL)? + FINAL.len();
    let rest = &text[start..];
    let end = rest.find("<|").unwrap_or(rest.len());
    let mut visible = String::with_capacity(text.len());
    blank(&mut visible, start);
    visible.push_str(&rest[..end]);
    Some(visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_masked_by_letters() {
        let tags = || ThinkingStyle::Tags("[THINK],[/THINK]".parse().unwrap());
        for (style, starts_inside, is_apart, text, visible) in [
            (
                ThinkingStyle::Think,
                false,
                false,
                "<think>a</think>b",
                Some("<think>a</think>b"),
            ),
            (tags(), false, false, "[THINK]a[/THINK]b", Some("b")),
            (tags(), false, false, "[THINK]a", None),
            (tags(), true, false, "a", None),
            (tags(), true, false, "a[/THINK]b", Some("b")),
            (tags(), true, true, "b", Some("b")),
            (ThinkingStyle::Harmony, false, false, "b", Some("b")),
            (
                ThinkingStyle::Harmony,
                false,
                false,
                "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>",
                Some("b"),
            ),
            (
                ThinkingStyle::Harmony,
                false,
                false,
                "<|channel|>analysis<|message|>a",
                None,
            ),
        ] {
            let thinking = WrittenThinking::of_style(style, starts_inside);
            let answer = thinking.read(text, is_apart);
            assert_eq!(answer.visible.as_deref().map(str::trim), visible, "{text}");
            assert_eq!(answer.written, text);
        }
    }

    #[test]
    fn a_models_files_say_which_tags_there_are_and_which_is_open() {
        let tokenizer =
            Tokenizer::from_json(include_str!("../../../models/tiny/tokenizer.json")).unwrap();
        let template = "<ponder_x> [THINK] [/THINK] <scratchpad> </scratchpad>";
        for (prompt, text, visible) in [
            ("", "[THINK]a[/THINK]<scratchpad>b</scratchpad>c", Some("c")),
            ("[THINK]", "a", None),
            ("[THINK]", "a[/THINK]c", Some("c")),
            ("<scratchpad>", "a</scratchpad>c", Some("c")),
            ("<scratchpad>", "a[/THINK]c", None),
        ] {
            let found = Thinking::find(None, &tokenizer, template, prompt).unwrap();
            let thinking = WrittenThinking::of_model(&found, &tokenizer);
            let answer = thinking.read(text, false);
            assert_eq!(answer.visible.as_deref().map(str::trim), visible, "{text}");
        }
        let found = Thinking::find(None, &tokenizer, "<think>", "<think>").unwrap();
        assert!(WrittenThinking::of_model(&found, &tokenizer).starts_in_thinking());
    }
}
