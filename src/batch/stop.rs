//! Texts that end an answer (`stop`).

use std::sync::Arc;

use crate::engine::{Guide, Next};
use crate::text::tokenizer::{TextStream, Tokenizer};

/// Ends a generation once one of some texts was written.
pub(super) struct StopTexts {
    stream: TextStream,
    texts: Arc<[String]>,
    /// The end of what was written: what may be the beginning of one of them.
    tail: String,
}

impl StopTexts {
    /// For these texts; none where there are none.
    pub(super) fn for_texts(
        tokenizer: &Arc<Tokenizer>,
        texts: &[String],
    ) -> Option<Box<dyn Guide>> {
        if texts.is_empty() {
            return None;
        }
        Some(Box::new(Self {
            stream: TextStream::new(Arc::clone(tokenizer)),
            texts: texts.into(),
            tail: String::new(),
        }))
    }
}

impl Guide for StopTexts {
    fn push(&mut self, token: u32) -> Next {
        self.tail.push_str(&self.stream.push(token));
        if first(&self.tail, &self.texts).is_some() {
            return Next::END;
        }
        let longest = self.texts.iter().map(String::len).max().unwrap_or(0);
        let cut = self
            .tail
            .floor_char_boundary(self.tail.len().saturating_sub(longest));
        self.tail.drain(..cut);
        Next::FREE
    }
}

/// Where the first of these texts begins.
pub(super) fn first(written: &str, texts: &[String]) -> Option<usize> {
    texts
        .iter()
        .filter_map(|text| written.find(text.as_str()))
        .min()
}
