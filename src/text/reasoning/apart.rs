//! A completion as two texts: its thinking, and its answer.

use super::{Answer, READER_TAGS, Thinking, ThinkingStyle};

/// A completion with its thinking apart from its answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Apart {
    /// The answer; none where the thinking did not end.
    pub content: Option<String>,
    /// The thinking, where it is not a part of the answer's text.
    pub thinking: Option<String>,
}

impl Thinking {
    /// Takes the thinking out of a completion. Thinking in tags that the model writes itself and every reader knows
    /// (`<think> … </think>`) stays in the text.
    pub fn apart(&self, answer: Answer) -> Apart {
        let Answer { written, visible } = answer;
        if self.style == ThinkingStyle::None {
            return whole(written);
        }
        if self.starts_inside {
            let closings = READER_TAGS
                .iter()
                .filter_map(|(_, close)| Some((written.find(close)?, close.len())));
            return match closings.min() {
                Some((at, length)) => Apart {
                    content: Some(written[at + length..].trim_start().to_owned()),
                    thinking: Some(written[..at].to_owned()),
                },
                None => thought(written),
            };
        }
        let Some(visible) = visible else {
            return thought(written);
        };
        if visible == written {
            return whole(written);
        }
        // Masked thinking is spaces, byte for byte.
        let masked = visible.len() - visible.trim_start().len();
        Apart {
            thinking: written.get(..masked).map(str::to_owned),
            content: Some(visible[masked..].to_owned()),
        }
    }
}

fn whole(written: String) -> Apart {
    Apart {
        content: Some(written),
        thinking: None,
    }
}

fn thought(written: String) -> Apart {
    Apart {
        content: None,
        thinking: Some(written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokenizer::Tokenizer;

    #[test]
    fn thinking_that_readers_do_not_know_is_taken_out() {
        let tokenizer =
            Tokenizer::from_json(include_str!("../../../models/tiny/tokenizer.json")).unwrap();
        for (style, prompt, written, content, thought) in [
            (
                None,
                "",
                "<think>a</think>b",
                Some("<think>a</think>b"),
                None,
            ),
            (
                None,
                "<think>\n",
                "a\n</think>\n\nb",
                Some("b"),
                Some("a\n"),
            ),
            (None, "<think>\n", "a", None, Some("a")),
            (None, "<think>\n\n</think>\n", "b", Some("b"), None),
            (Some("none"), "<think>", "a", Some("a"), None),
            (
                Some("[T],[/T]"),
                "",
                "[T]a[/T] b",
                Some("b"),
                Some("[T]a[/T] "),
            ),
            (Some("[T],[/T]"), "[T]", "a[/T]b", Some("b"), Some("a[/T]")),
            (Some("[T],[/T]"), "", "[T]a", None, Some("[T]a")),
            (Some("[T],[/T]"), "", "b", Some("b"), None),
        ] {
            let style = style.map(|style| match style.parse() {
                Ok(tags) => ThinkingStyle::Tags(tags),
                Err(_) => style.parse().unwrap(),
            });
            let thinking = Thinking::find(style, &tokenizer, "", prompt).unwrap();
            let tokens = tokenizer.encode_trusted(written).unwrap();
            let expected = Apart {
                content: content.map(str::to_owned),
                thinking: thought.map(str::to_owned),
            };
            assert_eq!(
                thinking.apart(thinking.read(&tokenizer, &tokens)),
                expected,
                "{written}"
            );
        }
    }
}
