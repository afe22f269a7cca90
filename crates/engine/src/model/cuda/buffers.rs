//! A step's activations.

use candle_core::{CudaDevice, DType};

use super::array::Array;
use super::gemm::Gemm;
use super::operations::{Added, Quantised, Target};
use crate::checkpoint::ModelConfig;
use crate::model::Result;

/// The sizes of the largest step that a decoder allocates buffers for. The engine takes them from its `EngineConfig`, which
/// this module does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepLimits {
    pub tokens: usize,
    /// Tokens whose logits are wanted.
    pub rows: usize,
    /// Slots of recurrent states, for a model that has such layers.
    pub states: usize,
}

/// The activations of a step. `P` is [`Gemm::padded`] of the largest step's tokens, `W` of its wanted rows.
pub(super) struct Buffers {
    /// The residual stream, `[P, hidden]`.
    pub(super) hidden: Array,
    /// A norm's result, `[P, hidden]`.
    pub(super) normed: Array,
    /// `[P, (heads + 2 · kv_heads) · head_dim]`, then the gates of heads; what a recurrent layer projects.
    pub(super) qkv: Array,
    /// `[P, heads · head_dim]`
    pub(super) q: Array,
    /// `[P, heads · head_dim]`, or what states return.
    pub(super) attended: Array,
    /// f32 `[P, heads]`
    pub(super) lse: Array,
    /// What is added to the residual stream next, `[P, hidden]`.
    pub(super) added: Array,
    /// `[P, 2 · intermediate]`; for experts `[P · k, …]`.
    pub(super) gate_up: Array,
    /// `[P, intermediate]`; for experts `[P · k, …]`.
    pub(super) gated: Array,
    /// Activations in e4m3, `[P, widest]`, and their scales, f32 `[P]`.
    pub(super) fp8: Option<(Array, Array)>,
    /// What the expert that works on every token gives, or the dense layer beside experts, `[P, hidden]`.
    pub(super) shared: Option<Array>,
    /// The wanted rows of `hidden` and `attended`.
    pub(super) wanted_hidden: Array,
    pub(super) wanted_attended: Array,
    /// f32 `[W, stride]`
    pub(super) logits: Array,
}

impl Buffers {
    pub(super) fn new(
        device: &CudaDevice,
        config: &ModelConfig,
        limits: &StepLimits,
        dtype: DType,
        fp8: bool,
        stride: usize,
    ) -> Result<Self> {
        let (p, w) = (Gemm::padded(limits.tokens), Gemm::padded(limits.rows));
        let hidden = config.hidden;
        let widest = |of: fn(&ModelConfig) -> usize| {
            let layers = (0..config.layers).map(|layer| of(&config.at(layer)));
            layers.max().unwrap_or(0)
        };
        let queries = widest(|own| own.heads * own.head_dim);
        let heads = widest(|own| (own.heads + 2 * own.kv_heads) * own.head_dim);
        let shape = config.recurrent.as_ref().map(|recurrent| recurrent.shape);
        let values = shape.map_or(0, |shape| shape.values());
        let projected = values + shape.map_or(0, |shape| shape.channels());
        let qkv = heads.max(projected);
        let attended = queries.max(values);
        let shared = config.experts.and_then(|experts| experts.shared);
        let (inner, width) = match config.experts {
            None => (config.intermediate, config.intermediate),
            Some(experts) => {
                let dense = if experts.first > 0 {
                    config.intermediate
                } else {
                    0
                };
                let dense = dense.max(shared.unwrap_or(0)).max(config.beside_experts());
                let chosen = experts.per_token * experts.intermediate;
                (chosen.max(dense), experts.intermediate.max(dense))
            }
        };
        let zeros = |elements| Array::zeros(device, elements, dtype, "activations");
        Ok(Self {
            hidden: zeros(p * hidden)?,
            normed: zeros(p * hidden)?,
            qkv: zeros(p * qkv)?,
            q: zeros(p * queries)?,
            attended: zeros(p * attended)?,
            lse: Array::zeros(device, p * config.heads, DType::F32, "activations")?,
            added: zeros(p * hidden)?,
            gate_up: zeros(p * 2 * inner)?,
            gated: zeros(p * inner)?,
            shared: if shared.is_some() || config.beside_experts() > 0 {
                Some(zeros(p * hidden)?)
            } else {
                None
            },
            fp8: if fp8 {
                let widest = hidden.max(attended).max(width);
                Some((
                    Array::zeros(device, p * widest, DType::F8E4M3, "activations")?,
                    Array::zeros(device, p, DType::F32, "activations")?,
                ))
            } else {
                None
            },
            wanted_hidden: zeros(w * hidden)?,
            wanted_attended: zeros(w * attended)?,
            logits: Array::zeros(device, w * stride, DType::F32, "logits")?,
        })
    }

    /// What is added to the residual stream next, with the norm of the branch it comes from, which is applied first, and what it and the
    /// sum are multiplied with.
    pub(super) fn added<'a>(
        &'a self,
        norm: Option<&'a Array>,
        scale: f32,
        sum_scale: f32,
    ) -> Added<'a> {
        Added {
            values: self.added.all(),
            norm: norm.map(Array::all),
            scale,
            sum_scale,
        }
    }

    /// Where the input of a product is written: as it is, or in e4m3.
    pub(super) fn target<'a>(&'a self, plain: &'a Array, fp8: bool) -> Target<'a> {
        match &self.fp8 {
            Some((values, scales)) if fp8 => Target::Fp8(Quantised {
                values: values.all(),
                scales: scales.all(),
            }),
            _ => Target::Plain(plain.all()),
        }
    }
}
