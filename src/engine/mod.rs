//! Continuous batching over a paged KV cache.
//!
//! `schedule → run → postprocess`, once per step:
//!
//! 1. [`Scheduler::schedule`] picks, under a token budget, the decode row of every running sequence, then chunks of
//!    prompts; it finds cached prefixes, allocates blocks, and preempts when memory is short.
//! 2. The [`StepModel`] computes the packed tokens and returns the logits of the last rows.
//! 3. The [`sampler`] chooses a token a row; finished sequences leave as [`Completion`]s.
//!
//! The engine knows nothing of judges, prompts or text: a [`Request`] is token ids, sampling parameters and a stop rule.
//! What it promises is that a completion depends on its request alone: not on what else is in the batch, on what was
//! cached, on chunking or on preemption.

pub mod block_pool;
mod core;
mod paged;
pub mod random;
pub mod sampler;
pub mod scheduler;
pub mod sequence;
pub mod stats;
mod thread;

pub use self::core::{Engine, EngineConfig, StepModel};
pub use block_pool::{BlockHash, BlockId, BlockPool};
pub use paged::PagedDecoder;
pub use sampler::Sampling;
pub use scheduler::Scheduler;
pub use sequence::{Choices, Completion, FinishReason, RandomKey, Request, RequestId, Stop};
pub use stats::{Stats, StepObserver, StepReport, Timing};
pub use thread::EngineThread;

/// What can go wrong while the engine runs.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The model failed.
    #[error(transparent)]
    Model(#[from] crate::model::ModelError),
    /// A tensor operation outside the model failed.
    #[error("a tensor operation failed: {0}")]
    Tensor(#[from] candle_core::Error),
    /// The configuration cannot work.
    #[error("{0}")]
    Config(String),
    /// The engine's thread ended without saying why.
    #[error(
        "the engine stopped unexpectedly; finished verdicts are in the journal, run the same command again to go on"
    )]
    Stopped,
}
