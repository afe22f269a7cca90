//! Texts that end an answer (`stop`).

use std::sync::Arc;

use crate::protocol::StopMatcher;
use crate::protocol::stop::TextStop;
use juror_engine::engine::{Guide, Next};
use juror_engine::text::tokenizer::{TextStream, Tokenizer};

/// Ends a generation once one of some texts was written.
pub(super) struct StopTexts {
    stream: TextStream,
    matcher: TextStop,
}

impl StopTexts {
    /// For these texts; none where there are none.
    pub(super) fn for_texts(tokenizer: &Arc<Tokenizer>, texts: &[String]) -> Option<Self> {
        (!texts.is_empty()).then(|| Self {
            stream: TextStream::new(Arc::clone(tokenizer)),
            matcher: TextStop::new(texts),
        })
    }

    /// Takes a token; whether one of the texts was written with it.
    pub(super) fn ends_with(&mut self, token: u32) -> bool {
        self.matcher.push(&self.stream.push(token))
    }
}

impl Guide for StopTexts {
    fn push(&mut self, token: u32) -> Next {
        let is_end = self.ends_with(token);
        if is_end { Next::END } else { Next::FREE }
    }
}

pub(super) fn first(written: &str, texts: &[String]) -> Option<usize> {
    let find = |text: &String| written.find(text.as_str());
    texts.iter().filter_map(find).min()
}
