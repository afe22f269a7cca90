//! Answers that come piece by piece.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::runtime::Ask;
use juror_engine::engine::{Guide, Next};

/// Pieces of a body that wait for their client to take them.
const PIECES: usize = 64;

/// A body, and where its pieces are put. Sending fails once the client has gone.
pub fn channel_body() -> (mpsc::Sender<Result<Bytes, Infallible>>, Body) {
    let (sender, pieces) = mpsc::channel(PIECES);
    (sender, Body::from_stream(ReceiverStream::new(pieces)))
}

/// Sees the tokens of a generation as they come, beside what steers it; ends it once nobody wants them.
pub(super) struct Watched<F> {
    guide: Option<Box<dyn Guide>>,
    /// Whether this token is wanted, or any at all.
    wants: F,
}

impl<F: FnMut(Option<u32>) -> bool + Send + 'static> Watched<F> {
    /// Has `wants` see what is generated.
    pub(super) fn steer(ask: &mut Ask, wants: F) {
        let guide = ask.request.guide.take();
        ask.request.guide = Some(Box::new(Self { guide, wants }));
    }

    fn pass_on(&mut self, next: Next) -> Next {
        let mut appended = next.append.iter();
        let wanted = appended.all(|&token| (self.wants)(Some(token)));
        if wanted { next } else { Next::END }
    }
}

impl<F: FnMut(Option<u32>) -> bool + Send + 'static> Guide for Watched<F> {
    fn begin(&mut self) -> Next {
        if !(self.wants)(None) {
            return Next::END;
        }
        let guide = self.guide.as_mut();
        let next = guide.map_or(Next::FREE, |guide| guide.begin());
        self.pass_on(next)
    }

    fn push(&mut self, token: u32) -> Next {
        if !(self.wants)(Some(token)) {
            return Next::END;
        }
        let guide = self.guide.as_mut();
        let next = guide.map_or(Next::FREE, |guide| guide.push(token));
        self.pass_on(next)
    }

    fn end(&mut self) -> Option<Next> {
        let next = self.guide.as_mut()?.end()?;
        Some(self.pass_on(next))
    }
}
