//! Paged attention behind one trait: the KV cache, and causal attention over it through block tables.
//!
//! Two implementations, one meaning; tests have a third, plain loops with f64 sums, to compare with:
//! - [`Tiled`](AttentionKind::Tiled): the CPU's, vectorised, shared prefixes read once for all rows;
//! - [`Plain`](AttentionKind::Plain): candle tensor operations only, for any device.
//!
//! The CUDA decoder has kernels and a cache of its own ([`super::cuda`]).
//!
//! Each call also returns the log-sum-exp of every query's scores, so that attention over two disjoint sets of keys can be
//! merged exactly (the trick of `FlashAttention`, <https://arxiv.org/abs/2205.14135>, and of cascade attention).

use candle_core::{DType, Device, Tensor};

use super::recurrence::RecurrentStates;
use super::{ModelError, StepBatch};
use crate::checkpoint::ModelConfig;

mod kinds;
mod plain;
mod tiled;

pub use kinds::{CacheLayout, LayerKind, WindowedCache};

/// The KV cache of all layers, and causal attention over it.
pub trait Attention: Send {
    fn block_size(&self) -> usize;

    /// Blocks in the cache. Block ids are `0..blocks()`.
    fn blocks(&self) -> usize;

    /// Checks a step and plans its work. Called once per step, before the layers.
    /// Errors: [`ModelError::Batch`] when the step does not fit the cache.
    fn prepare(&mut self, batch: &StepBatch) -> Result<(), ModelError>;

    /// Writes the step's keys and values to their slots of `layer`, then attends causally through the block tables. With a
    /// `window`, each query sees at most that many keys: its own and those right before it.
    ///
    /// `q` is `[N, heads, head_dim]`, `k` and `v` are `[N, kv_heads, head_dim]`, rotary embedding applied; or `[N, 0, head_dim]`, and
    /// nothing is written, where another layer with the same cache has written them. Scores are scaled by `1/√head_dim`.
    /// Errors: when the shapes are not the prepared step's, or a tensor operation fails.
    fn forward(
        &mut self,
        layer: usize,
        window: Option<usize>,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
    ) -> Result<AttentionOutput, ModelError>;

    /// Keys and values of the first blocks in all layers, in a fixed order; nothing where they are not plain memory, or not all that a sequence leaves behind.
    fn first_blocks(&mut self, _blocks: usize) -> Vec<&mut [u8]> {
        Vec::new()
    }

    /// The cache of layers with windows, where that is one of its own ([`CacheLayout`]).
    fn windowed(&self) -> Option<WindowedCache> {
        None
    }

    /// The states of recurrent layers, where the cache holds any ([`with_states`]).
    fn states(&mut self) -> Option<&mut RecurrentStates> {
        None
    }
}

/// A cache that also holds the states of recurrent layers; its own layers are the others, counted among themselves.
pub fn with_states(attention: Box<dyn Attention>, states: RecurrentStates) -> Box<dyn Attention> {
    Box::new(WithStates { attention, states })
}

struct WithStates {
    attention: Box<dyn Attention>,
    states: RecurrentStates,
}

impl Attention for WithStates {
    fn block_size(&self) -> usize {
        self.attention.block_size()
    }

    fn blocks(&self) -> usize {
        self.attention.blocks()
    }

    fn prepare(&mut self, batch: &StepBatch) -> Result<(), ModelError> {
        self.states.prepare(batch)?;
        self.attention.prepare(batch)
    }

    fn forward(
        &mut self,
        layer: usize,
        window: Option<usize>,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
    ) -> Result<AttentionOutput, ModelError> {
        self.attention.forward(layer, window, q, k, v)
    }

    fn states(&mut self) -> Option<&mut RecurrentStates> {
        Some(&mut self.states)
    }
}

/// The result of attention for each of a step's tokens.
#[derive(Debug, Clone)]
pub struct AttentionOutput {
    /// `[N, heads, head_dim]`, in the dtype of `q`.
    pub output: Tensor,
    /// Natural logarithm of the sum of exponentials of each query's scaled scores, `[N, heads]`, f32.
    pub lse: Tensor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionKind {
    /// Vectorised tiles; CPU.
    Tiled,
    /// candle tensor operations; any device.
    Plain,
}

impl AttentionKind {
    pub fn for_device(device: &Device) -> Self {
        if device.is_cpu() {
            Self::Tiled
        } else {
            Self::Plain
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttentionShape {
    /// Layers with attention, each with its own cache.
    pub layers: usize,
    pub heads: usize,
    /// Key and value heads; `heads` is a multiple of it. Query head `h` reads key head `h / (heads / kv_heads)`.
    pub kv_heads: usize,
    pub head_dim: usize,
    /// The bound `c` of scaled scores, which become `c · tanh(score / c)`.
    pub softcap: Option<f32>,
}

impl AttentionShape {
    /// Query heads per key head.
    pub(crate) fn group(&self) -> usize {
        self.heads / self.kv_heads
    }

    /// Scale of the scores, `1/√head_dim`.
    pub(crate) fn scale(&self) -> f32 {
        1.0 / (self.head_dim as f32).sqrt()
    }

    /// Checks a call's layer and shapes against the prepared step of `n` tokens.
    fn check_step(
        &self,
        n: usize,
        layer: usize,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
    ) -> Result<(), ModelError> {
        let fits = |kv_heads| k.dims() == [n, kv_heads, self.head_dim] && k.dims() == v.dims();
        if layer >= self.layers
            || q.dims() != [n, self.heads, self.head_dim]
            || !(fits(self.kv_heads) || fits(0))
        {
            return Err(ModelError::Batch(format!(
                "layer {layer} with q {:?}, k {:?}, v {:?} does not fit a prepared step of {n} tokens and {self:?}",
                q.dims(),
                k.dims(),
                v.dims()
            )));
        }
        Ok(())
    }

    fn check(&self) -> Result<(), ModelError> {
        let zero = self.layers == 0 || self.heads == 0 || self.kv_heads == 0 || self.head_dim == 0;
        if zero || !self.heads.is_multiple_of(self.kv_heads) {
            return Err(ModelError::Unsupported(format!("attention over {self:?}")));
        }
        Ok(())
    }
}

impl From<&ModelConfig> for AttentionShape {
    fn from(config: &ModelConfig) -> Self {
        Self {
            layers: config.attention_layers(),
            heads: config.heads,
            kv_heads: config.kv_heads,
            head_dim: config.head_dim,
            softcap: config.score_softcap.map(|bound| bound as f32),
        }
    }
}

/// Bytes of cache that one token needs over all layers, keys and values.
pub fn kv_bytes_per_token(shape: &AttentionShape, dtype: DType) -> usize {
    2 * shape.layers * shape.kv_heads * shape.head_dim * dtype.size_in_bytes()
}

/// Allocates a cache of `blocks` blocks of `block_size` tokens on `device`, stored in `dtype`.
/// Errors: when the kind cannot run on the device or in the dtype, or there is not enough memory.
pub fn build(
    kind: AttentionKind,
    shape: &AttentionShape,
    blocks: usize,
    block_size: usize,
    device: &Device,
    dtype: DType,
) -> Result<Box<dyn Attention>, ModelError> {
    shape.check()?;
    let slots = blocks
        .checked_mul(block_size)
        .filter(|&slots| slots > 0 && slots < u32::MAX as usize);
    if slots.is_none() {
        return Err(ModelError::Unsupported(format!(
            "a KV cache of {blocks} blocks of {block_size} tokens is beyond what can be addressed; ask for fewer blocks"
        )));
    }
    if kind != AttentionKind::Plain {
        if !device.is_cpu() {
            return Err(ModelError::Unsupported(format!(
                "{kind:?} attention runs on the CPU; use AttentionKind::Plain on other devices"
            )));
        }
        if !matches!(dtype, DType::F32 | DType::F16 | DType::BF16) {
            return Err(ModelError::Unsupported(format!(
                "a KV cache in {dtype:?} on the CPU; choose f32, f16 or bf16"
            )));
        }
    }
    Ok(match kind {
        AttentionKind::Tiled => tiled::build(*shape, blocks, block_size, dtype)?,
        AttentionKind::Plain => Box::new(plain::Plain::new(
            *shape, blocks, block_size, device, dtype,
        )?),
    })
}
