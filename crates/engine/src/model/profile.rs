//! Times the parts of a step inside the model.

use std::time::{Duration, Instant};

use candle_core::Device;

use super::{ModelError, Result};

/// A part of the decoder's work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Token embeddings and rotary angles.
    Embedding,
    /// Norms, splitting and rotating heads; sums over several GPUs.
    Elementwise,
    /// Matrix products with the weights of the layers, the feed-forward's activation included.
    Gemm,
    /// Writing keys and values, and attention over them.
    Attention,
    /// The product with the output head.
    Head,
    Sampling,
}

impl Phase {
    /// A name for tables and traces.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::Elementwise => "elementwise",
            Self::Gemm => "gemm",
            Self::Attention => "attention",
            Self::Head => "head",
            Self::Sampling => "sampling",
        }
    }
}

/// A timed stretch of work.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    pub phase: Phase,
    pub start: Instant,
    pub duration: Duration,
}

/// Collects spans when it is on. A GPU runs asynchronously, so there each span waits for the device: profiled steps are
/// slower than others, and only the proportions of their times mean something.
#[derive(Debug, Default)]
pub struct Profile {
    on: bool,
    spans: Vec<Span>,
}

impl Profile {
    /// A profile that collects nothing and costs nothing.
    pub fn off() -> Self {
        Self::default()
    }

    pub fn on() -> Self {
        Self {
            on: true,
            spans: Vec::new(),
        }
    }

    /// The spans collected since the last call.
    pub fn take(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.spans)
    }

    /// Runs `work`, and records how long it took on `device`.
    pub(crate) fn time<T, E: Into<ModelError>>(
        &mut self,
        phase: Phase,
        device: &Device,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T> {
        if !self.on {
            return work().map_err(Into::into);
        }
        let start = Instant::now();
        let result = work().map_err(Into::into)?;
        device.synchronize()?;
        self.spans.push(Span {
            phase,
            start,
            duration: start.elapsed(),
        });
        Ok(result)
    }
}
