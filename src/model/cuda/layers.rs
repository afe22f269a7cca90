//! The decoder's weights on the device, as its kernels want them.

use candle_core::{CudaDevice, DType, Device, Tensor};

use super::array::Array;
use super::gemm::Weight;
use super::operations::Operations;
use crate::model::config::Experts;
use crate::model::tensors::expected_tensors;
use crate::model::{ModelConfig, ModelError, Weights};

/// One layer.
pub(super) struct Layer {
    pub(super) attention_norm: Array,
    /// Queries, keys and values in one product.
    pub(super) qkv: Weight,
    /// Norms of queries and keys, `[head_dim]`.
    pub(super) qk_norms: Option<(Array, Array)>,
    pub(super) output: Weight,
    pub(super) feed_forward_norm: Array,
    pub(super) feed_forward: FeedForward,
}

/// What follows attention.
pub(super) enum FeedForward {
    /// One gated layer: gate and up in one product, then down.
    Gated { gate_up: Weight, down: Weight },
    /// Many, of which each token has a few.
    Mixture(Mixture),
}

/// The experts of a layer.
pub(super) struct Mixture {
    /// `[experts, hidden]`
    pub(super) router: Weight,
    /// `[experts, 2 · width, hidden]`
    pub(super) gate_up: Array,
    /// `[experts, hidden, width]`
    pub(super) down: Array,
    pub(super) config: Experts,
}

/// All weights.
pub(super) struct Parts {
    /// `[vocab, hidden]`
    pub(super) embedding: Array,
    pub(super) layers: Vec<Layer>,
    pub(super) norm: Array,
    pub(super) head: Weight,
}

/// Reads a checkpoint to a device.
pub(super) struct Loader<'a> {
    pub(super) config: &'a ModelConfig,
    pub(super) weights: &'a Weights,
    pub(super) device: &'a CudaDevice,
    pub(super) operations: &'a Operations,
    /// Whether the layers' weights are quantised to e4m3. Embeddings, head and routers never are.
    pub(super) fp8: bool,
}

impl Loader<'_> {
    /// All weights; they must be exactly what the configuration describes.
    pub(super) fn load(&self) -> Result<Parts, ModelError> {
        let config = self.config;
        if self.fp8 && config.experts.is_some() {
            return Err(ModelError::Unsupported(
                "--quantize fp8 is for models without a mixture of experts".into(),
            ));
        }
        self.weights.check(&expected_tensors(config), |name| {
            (config.tie_embeddings && name == "lm_head.weight")
                || name.ends_with("rotary_emb.inv_freq")
        })?;
        let table = self.get("model.embed_tokens.weight")?;
        let mut head = if config.tie_embeddings {
            Weight::plain(&table, None)?
        } else {
            Weight::plain(&self.get("lm_head.weight")?, None)?
        };
        // Rows of logits begin at multiples of 32 bytes, whatever the vocabulary.
        head.stride = config.vocab.next_multiple_of(8);
        Ok(Parts {
            embedding: Array::of(&table)?,
            layers: (0..config.layers)
                .map(|index| self.layer(index))
                .collect::<Result<_, _>>()?,
            norm: self.vector("model.norm.weight")?,
            head,
        })
    }

    fn layer(&self, index: usize) -> Result<Layer, ModelError> {
        let at = format!("model.layers.{index}");
        let attention = format!("{at}.self_attn");
        let bias = self.config.attention_bias;
        let projections = ["q_proj", "k_proj", "v_proj"].map(|name| format!("{attention}.{name}"));
        Ok(Layer {
            attention_norm: self.vector(&format!("{at}.input_layernorm.weight"))?,
            qkv: self.linear(&projections, bias)?,
            qk_norms: if self.config.architecture.norms_heads() {
                let norm = |name: &str| self.vector(&format!("{attention}.{name}.weight"));
                Some((norm("q_norm")?, norm("k_norm")?))
            } else {
                None
            },
            output: self.linear(&[format!("{attention}.o_proj")], bias)?,
            feed_forward_norm: self.vector(&format!("{at}.post_attention_layernorm.weight"))?,
            feed_forward: match self.config.experts {
                None => FeedForward::Gated {
                    gate_up: self.linear(
                        &["gate_proj", "up_proj"].map(|name| format!("{at}.mlp.{name}")),
                        false,
                    )?,
                    down: self.linear(&[format!("{at}.mlp.down_proj")], false)?,
                },
                Some(experts) => FeedForward::Mixture(self.mixture(&at, experts)?),
            },
        })
    }

    fn mixture(&self, at: &str, experts: Experts) -> Result<Mixture, ModelError> {
        let all = |names: &[&str]| -> Result<Array, ModelError> {
            let parts = (0..experts.count)
                .flat_map(|expert| {
                    names.iter().map(move |name| {
                        self.get(&format!("{at}.mlp.experts.{expert}.{name}.weight"))
                    })
                })
                .collect::<Result<Vec<_>, _>>()?;
            Array::of(&Tensor::cat(&parts, 0)?)
        };
        Ok(Mixture {
            router: Weight::plain(&self.get(&format!("{at}.mlp.gate.weight"))?, None)?,
            gate_up: all(&["gate_proj", "up_proj"])?,
            down: all(&["down_proj"])?,
            config: experts,
        })
    }

    fn get(&self, name: &str) -> Result<Tensor, ModelError> {
        let device = Device::Cuda(self.device.clone());
        let tensor = self.weights.get(name, &device, self.operations.dtype())?;
        Ok(tensor.contiguous()?)
    }

    fn vector(&self, name: &str) -> Result<Array, ModelError> {
        Array::of(&self.get(name)?)
    }

    /// One layer from the outputs of several, side by side.
    fn linear(&self, names: &[String], bias: bool) -> Result<Weight, ModelError> {
        let fused = |what: &str| -> Result<Tensor, ModelError> {
            let parts = names
                .iter()
                .map(|name| self.get(&format!("{name}.{what}")))
                .collect::<Result<Vec<_>, _>>()?;
            match parts.as_slice() {
                [one] => Ok(one.clone()),
                several => Ok(Tensor::cat(several, 0)?),
            }
        };
        let weight = fused("weight")?;
        let bias = if bias { Some(fused("bias")?) } else { None };
        if self.fp8 {
            Weight::fp8(self.device, self.operations, &weight, bias.as_ref())
        } else {
            Weight::plain(&weight, bias.as_ref())
        }
    }
}

impl Parts {
    /// The most outputs of any layer's product.
    pub(super) fn widest(&self) -> usize {
        let widths = self.layers.iter().map(|layer| {
            let feed_forward = match &layer.feed_forward {
                FeedForward::Gated { gate_up, down } => gate_up.outputs.max(down.outputs),
                FeedForward::Mixture(mixture) => mixture.router.outputs,
            };
            layer
                .qkv
                .outputs
                .max(layer.output.outputs)
                .max(feed_forward)
        });
        widths.max().unwrap_or(0)
    }
}

/// The type that the device's kernels read numbers of a rotary table in.
pub(super) const ROTARY: DType = DType::F32;
