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
