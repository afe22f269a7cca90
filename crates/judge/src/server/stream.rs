//! Answers that come piece by piece.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use juror_engine::engine::{Guide, Next};

/// Pieces of a body that wait for their client to take them.
const PIECES: usize = 64;

/// A body, and where its pieces are put. Sending fails once the client has gone.
pub fn channel_body() -> (mpsc::Sender<Result<Bytes, Infallible>>, Body) {
    let (sender, pieces) = mpsc::channel(PIECES);
    (sender, Body::from_stream(ReceiverStream::new(pieces)))
}

/// Sees the tokens of a generation as they come, beside what steers it; ends it once nobody wants them.
pub(super) struct Streamed {
    guide: Option<Box<dyn Guide>>,
    tokens: mpsc::UnboundedSender<u32>,
}

impl Streamed {
    /// The tokens go to `tokens`.
    pub(super) fn new(guide: Option<Box<dyn Guide>>, tokens: mpsc::UnboundedSender<u32>) -> Self {
        Self { guide, tokens }
    }

    fn pass_on(&self, next: Next) -> Next {
        let sent = next
            .append
            .iter()
            .try_for_each(|&token| self.tokens.send(token));
        if sent.is_err() { Next::END } else { next }
    }
}

impl Guide for Streamed {
    fn begin(&mut self) -> Next {
        if self.tokens.is_closed() {
            return Next::END;
        }
        let next = self
            .guide
            .as_mut()
            .map_or(Next::FREE, |guide| guide.begin());
        self.pass_on(next)
    }

    fn push(&mut self, token: u32) -> Next {
        if self.tokens.send(token).is_err() {
            return Next::END;
        }
        let next = self
            .guide
            .as_mut()
            .map_or(Next::FREE, |guide| guide.push(token));
        self.pass_on(next)
    }

    fn end(&mut self) -> Option<Next> {
        let next = self.guide.as_mut()?.end()?;
        Some(self.pass_on(next))
    }
}

/// Ends a generation once nobody waits for it any longer.
pub(super) struct Wanted {
    guide: Option<Box<dyn Guide>>,
    /// Lives as long as the request that waits.
    waits: std::sync::Weak<()>,
}

impl Wanted {
    /// As long as `waits` lives.
    pub(super) fn new(guide: Option<Box<dyn Guide>>, waits: &Arc<()>) -> Self {
        Self {
            guide,
            waits: Arc::downgrade(waits),
        }
    }

    fn or_end(&self, next: Next) -> Next {
        if self.waits.strong_count() == 0 {
            Next::END
        } else {
            next
        }
    }
}

impl Guide for Wanted {
    fn begin(&mut self) -> Next {
        let next = self
            .guide
            .as_mut()
            .map_or(Next::FREE, |guide| guide.begin());
        self.or_end(next)
    }

    fn push(&mut self, token: u32) -> Next {
        let next = self
            .guide
            .as_mut()
            .map_or(Next::FREE, |guide| guide.push(token));
        self.or_end(next)
    }

    fn end(&mut self) -> Option<Next> {
        self.guide.as_mut()?.end()
    }
}
