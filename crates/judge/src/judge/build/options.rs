//! What a user may ask of an engine.

use juror_engine::checkpoint::ModelConfig;
use juror_engine::engine::Drafts;
use juror_engine::model::{ModelError, PrecisionChoice, Shard};

/// What the user asked of an engine; a size that is `None` is chosen by [`engine_config`](super::engine_config).
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// What weights, activations, keys and values are stored in.
    pub precision: PrecisionChoice,
    /// Most sequences at once.
    pub max_sequences: Option<usize>,
    /// Most tokens a step.
    pub token_budget: Option<usize>,
    /// Most tokens of one prompt a step.
    pub prefill_chunk: Option<usize>,
    /// KV blocks of 16 tokens.
    pub blocks: Option<usize>,
    /// Compute every prompt from its beginning.
    pub no_prefix_cache: bool,
    /// Keep the embedded judge's keys and values of the template in the user's cache folder from one start to the next, on a CPU.
    pub keep_prefix: bool,
    /// Tokens drafted from the prompt.
    pub drafts: Drafts,
    /// Compute with candle's operations alone where there are kernels of our own too: the baseline of measurements.
    pub plain_operations: bool,
    /// Have every sequence attend to a shared prefix by itself.
    pub no_shared_prefix: bool,
    /// How many NVIDIA GPUs hold one model together, each a part of every layer; none for one that holds it alone. Of judges that
    /// share GPUs at the same time one at most may ask for it: NCCL takes one group on a GPU.
    pub tensor_parallel: Option<usize>,
    /// Bytes of memory that others will want of the device: the weights of judges beside this one that are not loaded yet.
    pub left_to_others: usize,
    /// How many judges beside this one will share what is left.
    pub others: usize,
}

#[warn(missing_docs)]
impl EngineOptions {
    /// How many devices hold one model together.
    pub(crate) fn devices_of_a_model(&self) -> usize {
        self.tensor_parallel.unwrap_or(1).max(1)
    }

    /// The sizes of the part of a model that one device computes.
    pub fn part(&self, config: &ModelConfig) -> Result<ModelConfig, ModelError> {
        Shard::new(0, self.devices_of_a_model()).config(config)
    }
}
