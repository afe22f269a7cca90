//! Continuous batching over a paged KV cache.
//!
//! `schedule → launch → collect`, once per step:
//!
//! 1. `Scheduler::schedule` picks, under a token budget, the decode row of every running sequence, then chunks of
//!    prompts; it finds cached prefixes, allocates blocks, and preempts when memory is short.
//! 2. The [`StepModel`] is launched on the packed tokens, and chooses a token for each last row: itself, or through the
//!    [`sampler`].
//! 3. The tokens are collected and the sequences updated; finished sequences leave as [`Completion`]s. A model on a device of its own
//!    has the next step launched first, so that it never waits for the host.
//!
//! The engine knows nothing of judges, prompts or text: a [`Request`] is token ids, sampling parameters and a
//! [`Guide`], which may append known tokens, say which may be chosen, and end the generation.
//! What it promises is that a completion depends on its request alone: not on what else is in the batch, on what was
//! cached, on chunking or on preemption.

pub(crate) mod block_pool;
mod core;
mod drafts;
pub mod guide;
pub(crate) mod logprobs;
mod out_of_memory;
pub mod random;
pub mod sampler;
mod scheduler;
pub(crate) mod sequence;
mod state_pool;
pub mod stats;
mod step_model;
mod thread;
mod windows;

pub use self::core::{Engine, EngineConfig};
pub use block_pool::{BlockHash, BlockId, BlockPool};
pub use drafts::Drafts;
pub use guide::{Allowed, Guide, Next, Then, TokenSet};
pub use logprobs::TokenLogprobs;
pub use sampler::{Choices, Chosen, RowRequest, Sampling, choose};
pub use sequence::{Completion, FinishReason, RandomKey, Request, RequestId};
pub use stats::{Stats, StepObserver, StepReport, Timing};
pub use step_model::{Forward, LogitsModel, Properties, StepModel, Ticket};
pub use thread::{EngineReport, EngineThread};

use crate::model::ModelError;

/// What can go wrong while the engine runs.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("a tensor operation failed: {0}")]
    Tensor(#[from] candle_core::Error),
    #[error("{0}")]
    Config(String),
    #[error(
        "out of memory with one sequence in steps of {tokens} tokens and {blocks} KV blocks ({reason}): free memory on \
         the device, or give a smaller --kv-blocks, --max-new-tokens or model; finished verdicts are in the journal, \
         run the same command again to go on"
    )]
    OutOfMemory {
        /// Tokens of the step that failed.
        tokens: usize,
        blocks: usize,
        reason: String,
    },
    #[error("{0}; finished verdicts are in the journal, run the same command again to go on")]
    Elsewhere(String),
    #[error(
        "an error of juror itself in the engine ({0}); please report it. Finished verdicts are in the journal, run the same \
         command again to go on"
    )]
    Panicked(String),
    #[error(
        "the engine stopped unexpectedly; finished verdicts are in the journal, run the same command again to go on"
    )]
    Stopped,
}

impl EngineError {
    /// Whether the user's request caused the error, as for [`ModelError::is_usage`].
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Model(error) if error.is_usage())
    }
}
