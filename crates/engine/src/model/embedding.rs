//! Tables with a row for each token: the embedding, and what each layer gets of a token beside the residual stream.
//!
//! Gemma 4 E2B and E4B have such inputs ("per-layer embeddings"): of each token every layer gets a few numbers of its own, partly from a
//! table and partly projected from the token's embedding, and takes them in behind its feed-forward layer.

use candle_core::{Device, Tensor};

use super::linear::Linear;
use super::{Result, ops};

pub(super) enum Table {
    /// `[tokens, width]`, as stored.
    Own(Tensor),
    /// The same in the blocks of a GGUF file, on the CPU.
    Packed(Linear),
}

impl Table {
    /// From `[N]` token ids to `[N, width]`.
    pub(super) fn rows(
        &self,
        tokens: &[u32],
        like: &Tensor,
        device: &Device,
    ) -> candle_core::Result<Tensor> {
        match self {
            Self::Own(table) => table
                .index_select(&Tensor::new(tokens, device)?, 0)?
                .to_dtype(like.dtype()),
            Self::Packed(table) => table.rows(tokens, device),
        }
    }
}

/// What all layers get of a token.
pub(super) struct LayerInputs {
    /// `[tokens, layers · width]`
    pub(super) table: Table,
    /// `[layers · width, hidden]`
    pub(super) projection: Linear,
    /// `[width]`
    pub(super) norm: Tensor,
    pub(super) eps: f32,
}

impl LayerInputs {
    /// From the ids of tokens and their embeddings, `[N, hidden]`, to `[N, layers, width]`.
    pub(super) fn forward(&self, tokens: &[u32], embedded: &Tensor) -> Result<Tensor> {
        let width = self.norm.dim(0)?;
        let (n, hidden) = embedded.dims2()?;
        let rows = self.table.rows(tokens, &self.norm, embedded.device())?;
        let projected = (self.projection.forward(embedded)? * (1.0 / (hidden as f64).sqrt()))?;
        let shape = (n, projected.dim(1)? / width, width);
        let projected = ops::rms_norm(&projected.reshape(shape)?, &self.norm, self.eps)?;
        let rows = (rows.reshape(shape)? * (width as f64).sqrt())?;
        Ok(((projected + rows)? * std::f64::consts::FRAC_1_SQRT_2)?)
    }
}

pub(super) struct LayerInput {
    /// `[width, hidden]`
    pub(super) gate: Linear,
    /// `[hidden, width]`
    pub(super) output: Linear,
    /// `[hidden]`
    pub(super) norm: Tensor,
    pub(super) eps: f32,
}

impl LayerInput {
    /// What the input, `[N, width]`, adds to the residual stream, `[N, hidden]`.
    pub(super) fn forward(&self, hidden: &Tensor, input: &Tensor) -> Result<Tensor> {
        let gate = self.gate.forward(hidden)?;
        let inner = ops::gelu_mul(&Tensor::cat(&[&gate, input], 1)?)?;
        let result = self.output.forward(&inner)?;
        Ok(ops::rms_norm(&result, &self.norm, self.eps)?)
    }
}
