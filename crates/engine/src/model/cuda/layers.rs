//! The decoder's weights on the device.

use candle_core::{CudaDevice, DType, Device, Tensor};

use super::array::Array;
use super::buffers::StepLimits;
use super::expert_weights::ExpertLoader;
use super::gemm::Weight;
use super::grouped::GroupedWeights;
use super::kv_scales::{KvProjection, KvScales};
use super::linear::{Linear, Products};
use super::operations::Operations;
use crate::checkpoint::config::Experts;
use crate::checkpoint::tensors::{ExpertNames, FeedForwardNames, LayerNames, Names};
use crate::checkpoint::weights::Codes;
use crate::checkpoint::{ModelConfig, Weights};
use crate::model::ModelError;
use crate::model::precision::WeightType;
use crate::model::shard::{Division, Shard};
use crate::model::tensor_reader::{Projection, TensorReader};

pub(super) struct Layer {
    pub(super) attention_norm: Array,
    /// Queries, keys and values in one product.
    pub(super) qkv: Linear,
    /// Norms of queries and keys, `[head_dim]`.
    pub(super) qk_norms: Option<(Array, Array)>,
    /// f32 `[heads]`
    pub(super) sinks: Option<Array>,
    pub(super) output: Linear,
    /// The norm of attention's output.
    pub(super) attention_result_norm: Option<Array>,
    pub(super) feed_forward_norm: Array,
    pub(super) feed_forward: FeedForward,
    /// The norm of the feed-forward layer's output.
    pub(super) feed_forward_result_norm: Option<Array>,
}

/// What follows attention.
#[allow(
    clippy::large_enum_variant,
    reason = "one for each layer, all of the same kind"
)]
pub(super) enum FeedForward {
    /// One gated layer: gate and up in one product, then down.
    Gated { gate_up: Linear, down: Linear },
    /// Many gated layers, of which each token uses a few.
    Mixture(Mixture),
}

/// The experts of a layer.
pub(super) struct Mixture {
    /// `[experts, hidden]`
    pub(super) router: Weight,
    pub(super) gate_up: GroupedWeights,
    pub(super) down: GroupedWeights,
    pub(super) config: Experts,
}

/// All weights of a model.
pub(super) struct Parts {
    /// `[vocab, hidden]`
    pub(super) embedding: Array,
    pub(super) layers: Vec<Layer>,
    pub(super) norm: Array,
    pub(super) head: Weight,
    /// For each layer; of a cache in e4m3 alone, else empty.
    pub(super) kv_scales: Vec<KvScales>,
}

/// Reads a checkpoint to a device.
pub(super) struct Loader<'a> {
    /// The sizes of what this GPU computes.
    pub(super) config: &'a ModelConfig,
    pub(super) shard: Shard,
    pub(super) weights: &'a Weights,
    pub(super) device: Device,
    pub(super) cuda: &'a CudaDevice,
    pub(super) operations: &'a Operations,
    /// What the layers' weights are kept in: the type of the activations, e4m3, or what the checkpoint stores. Embeddings, head and
    /// routers are always in the first.
    pub(super) layers: WeightType,
    /// Room for the largest layer's weight, of weights that stay as the checkpoint stores them.
    pub(super) room: Option<&'a Tensor>,
    /// Whether keys and values will be stored in e4m3.
    pub(super) fp8_cache: bool,
}

impl Loader<'_> {
    /// Reads all weights of this GPU's part.
    pub(super) fn load(&self) -> Result<Parts, ModelError> {
        let config = self.config;
        let names = Names::new(config.family);
        let checkpoint = self.checkpoint();
        let table = checkpoint.matrix(&names.embedding)?;
        let mut head = if config.tie_embeddings {
            Weight::plain(&table, None)?
        } else {
            let head = checkpoint.matrix(&names.head)?;
            Weight::plain(&head, None)?
        };
        // Rows of logits then begin at multiples of 32 bytes for any vocabulary.
        head.stride = config.vocab.next_multiple_of(8);
        let mut kv_scales = Vec::new();
        Ok(Parts {
            embedding: Array::of(&table)?,
            layers: (0..config.layers)
                .map(|index| self.layer(index, &mut kv_scales))
                .collect::<Result<_, _>>()?,
            kv_scales,
            norm: Array::of(&checkpoint.vector(&names.norm)?)?,
            head,
        })
    }

    fn checkpoint(&self) -> TensorReader<'_> {
        let dtype = self.operations.dtype();
        TensorReader {
            config: self.config,
            shard: self.shard,
            weights: self.weights,
            device: &self.device,
            compute: dtype,
            matrices: Some(dtype),
        }
    }

    /// Reads a layer; with a cache in e4m3 adds its scales to `kv_scales`.
    fn layer(&self, index: usize, kv_scales: &mut Vec<KvScales>) -> Result<Layer, ModelError> {
        let checkpoint = self.checkpoint();
        let names = LayerNames::new(self.config, index);
        // Models without them are not run by these kernels.
        let required = |name: &Option<String>| match name {
            Some(name) => checkpoint.vector(name),
            None => Err(ModelError::Unsupported(
                "no CUDA kernels for layers without norms before their parts".into(),
            )),
        };
        let attention_norm = required(&names.attention_norm)?;
        let head_norms = match &names.head_norms {
            Some([q, k]) => Some((checkpoint.head_norm(q)?, checkpoint.head_norm(k)?)),
            None => None,
        };
        let stored = self.stored(
            &names.qkv,
            || checkpoint.qkv_codes(&names.qkv),
            || checkpoint.qkv_bias(&names.qkv),
        )?;
        let numbers = match &stored {
            Some(_) if !self.fp8_cache => None,
            _ => Some(checkpoint.qkv(&names.qkv)?),
        };
        if let (Some((weight, bias)), true) = (&numbers, self.fp8_cache) {
            let projection = KvProjection {
                weight,
                bias: bias.as_ref(),
                norm: &attention_norm,
                key_norm: head_norms.as_ref().map(|(_, k)| k),
                kv_heads: self.config.kv_heads,
                head_dim: self.config.head_dim,
            };
            kv_scales.push(projection.scales()?.map_err(|why| {
                ModelError::Unsupported(format!(
                    "no keys and values in FP8 for this model: in layer {index} {why}; leave out --kv-dtype fp8"
                ))
            })?);
        }
        let qkv = match stored {
            Some(stored) => stored,
            None => self.quantised(match numbers {
                Some(numbers) => numbers,
                None => checkpoint.qkv(&names.qkv)?,
            })?,
        };
        let vector = |name: &str| Array::of(&checkpoint.vector(name)?);
        let optional = |name: &Option<String>| name.as_deref().map(vector).transpose();
        let output = [names.output];
        let queries = self.config.heads * self.config.head_dim;
        Ok(Layer {
            attention_norm: Array::of(&attention_norm)?,
            qkv,
            qk_norms: match &head_norms {
                Some((q, k)) => Some((Array::of(q)?, Array::of(k)?)),
                None => None,
            },
            sinks: match &names.sinks {
                // Their exponentials are summed in f32, as those of the scores.
                Some(sinks) => Some(Array::of(&checkpoint.sinks(sinks)?.to_dtype(DType::F32)?)?),
                None => None,
            },
            output: self.linear(
                &output,
                self.config.biases.output,
                Division::Inputs(queries),
            )?,
            attention_result_norm: optional(&names.attention_result_norm)?,
            feed_forward_norm: Array::of(&required(&names.feed_forward_norm)?)?,
            feed_forward_result_norm: optional(&names.feed_forward_result_norm)?,
            feed_forward: match &names.feed_forward {
                FeedForwardNames::Dense(names) => {
                    let bias = self.config.biases.feed_forward;
                    let width = self.config.intermediate;
                    let (gate_up, down) = (&names.gate_up, std::slice::from_ref(&names.down));
                    FeedForward::Gated {
                        gate_up: self.linear(gate_up, bias, Division::Outputs(&[width; 2]))?,
                        down: self.linear(down, bias, Division::Inputs(width))?,
                    }
                }
                FeedForwardNames::Mixture {
                    router,
                    experts,
                    sizes,
                    ..
                } => FeedForward::Mixture(self.mixture(router, experts, *sizes)?),
            },
        })
    }

    fn mixture(
        &self,
        router: &str,
        names: &ExpertNames,
        sizes: Experts,
    ) -> Result<Mixture, ModelError> {
        let checkpoint = self.checkpoint();
        let bias = self.config.biases.feed_forward;
        let (router, router_bias) = checkpoint.linear(&[router.to_owned()], bias)?;
        let [gate_up, down] = ExpertLoader {
            checkpoint: &checkpoint,
            names,
            sizes,
            cuda: self.cuda,
            operations: self.operations,
            layers: self.layers,
        }
        .load()?;
        Ok(Mixture {
            router: Weight::plain(&router, router_bias.as_ref())?,
            gate_up,
            down,
            config: sizes,
        })
    }

    /// A layer's weight that joins the outputs of several.
    fn linear(
        &self,
        names: &[String],
        bias: bool,
        division: Division,
    ) -> Result<Linear, ModelError> {
        let checkpoint = self.checkpoint();
        let own_bias = || checkpoint.part_of_bias(names, division);
        let biases = || bias.then(own_bias).transpose();
        match self.stored(names, || checkpoint.codes(names, division), biases)? {
            Some(stored) => Ok(stored),
            None => self.quantised(checkpoint.part(names, bias, division)?),
        }
    }

    /// A layer's weight as the checkpoint stores it, if it is to stay so and can.
    fn stored(
        &self,
        names: &[String],
        codes: impl FnOnce() -> Result<Option<Codes>, ModelError>,
        bias: impl FnOnce() -> Result<Option<Tensor>, ModelError>,
    ) -> Result<Option<Linear>, ModelError> {
        match self.layers {
            WeightType::Stored { .. } => {
                let kept = match (codes()?, self.room) {
                    (Some(codes), Some(room)) => Linear::stored(&codes, bias()?.as_ref(), room)?,
                    _ => None,
                };
                if kept.is_none() {
                    self.checkpoint().may_be_widened(names)?;
                }
                Ok(kept)
            }
            // Quantising what was quantised would round twice.
            WeightType::F8E4M3 if self.checkpoint().scales_are_of_outputs(names)? => match codes()?
            {
                Some(codes) => {
                    let weight = Weight::fp8_as_stored(&codes, bias()?.as_ref(), &self.device)?;
                    Ok(weight.map(Linear::Whole))
                }
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn quantised(&self, (weight, bias): Projection) -> Result<Linear, ModelError> {
        Ok(Linear::Whole(if self.layers == WeightType::F8E4M3 {
            Weight::fp8(self.cuda, self.operations, &weight, bias.as_ref())?
        } else {
            Weight::plain(&weight, bias.as_ref())?
        }))
    }
}

impl Parts {
    /// Prepares the products of steps within `limits`; activations are `dtype`, routers' results `router`.
    pub(super) fn prepare(
        &mut self,
        device: &CudaDevice,
        products: &mut Products,
        limits: &StepLimits,
        (dtype, router): (DType, DType),
    ) -> Result<(), ModelError> {
        for layer in &mut self.layers {
            let mut linears = vec![&mut layer.qkv, &mut layer.output];
            match &mut layer.feed_forward {
                FeedForward::Gated { gate_up, down } => linears.extend([gate_up, down]),
                FeedForward::Mixture(mixture) => {
                    let all = 1..=limits.tokens;
                    products.prepare(device, &mut mixture.router, router, all)?;
                }
            }
            for linear in linears {
                let (weight, from) = linear.whole_mut();
                products.prepare(device, weight, dtype, from..=limits.tokens)?;
            }
        }
        products.prepare(device, &mut self.head, DType::F32, 1..=limits.rows)
    }
}

/// The type of rotary tables that the device's kernels read.
pub(super) const ROTARY: DType = DType::F32;
