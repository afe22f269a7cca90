//! The decoder's weights on the device.

use candle_core::{CudaDevice, DType, Device, Tensor};

use super::array::Array;
use super::buffers::StepLimits;
use super::delta::DeltaLayer;
use super::expert_weights::ExpertLoader;
use super::gemm::Weight;
use super::grouped::GroupedWeights;
use super::kv_scales::{KvProjection, KvScales};
use super::linear::{Linear, Products};
use super::operations::Operations;
use crate::checkpoint::config::Experts;
use crate::checkpoint::tensors::{
    DeltaNames, ExpertNames, FeedForwardNames, LayerNames, Names, SharedNames,
};
use crate::checkpoint::weights::Codes;
use crate::checkpoint::{ModelConfig, Weights};
use crate::model::ModelError;
use crate::model::precision::WeightType;
use crate::model::shard::{Division, Shard};
use crate::model::tensor_reader::{Projection, TensorReader};

pub(super) struct Layer {
    pub(super) attention_norm: Array,
    pub(super) mixer: Mixer,
    pub(super) output: Linear,
    /// The norm of attention's output.
    pub(super) attention_result_norm: Option<Array>,
    pub(super) feed_forward_norm: Array,
    pub(super) feed_forward: FeedForward,
    /// The norm of the feed-forward layer's output.
    pub(super) feed_forward_result_norm: Option<Array>,
}

/// The part of a layer that looks at other tokens.
#[allow(
    clippy::large_enum_variant,
    reason = "one for each layer, mostly of one kind"
)]
pub(super) enum Mixer {
    Attention(AttentionLayer),
    Recurrent(DeltaLayer),
}

pub(super) struct AttentionLayer {
    /// Its number among the layers with attention.
    pub(super) index: usize,
    /// Queries, keys and values in one product.
    pub(super) qkv: Linear,
    /// Norms of queries and keys, `[head_dim]`.
    pub(super) qk_norms: Option<(Array, Array)>,
    /// f32 `[heads]`
    pub(super) sinks: Option<Array>,
    /// What the attended values are multiplied by, behind a sigmoid: `[heads · head_dim, hidden]`.
    pub(super) gate: Option<Linear>,
}

impl Mixer {
    /// The product that the layer begins with.
    pub(super) fn projection(&self) -> &Linear {
        match self {
            Self::Attention(layer) => &layer.qkv,
            Self::Recurrent(layer) => &layer.projected,
        }
    }
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
    pub(super) shared: Option<SharedExpert>,
    pub(super) config: Experts,
}

/// The expert that works on every token.
pub(super) struct SharedExpert {
    pub(super) gate_up: Linear,
    pub(super) down: Linear,
    /// The row whose product's sigmoid is its weight, `[hidden]`.
    pub(super) weight: Array,
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
        let recurrent = (0..index).filter(|&before| self.config.is_recurrent(before));
        let recurrent = recurrent.count();
        let (mixer, width) = if let Some(delta) = &names.delta {
            let shape = self.config.recurrent.as_ref();
            let values = shape.map_or(0, |recurrent| recurrent.shape.values());
            (Mixer::Recurrent(self.delta(delta, recurrent)?), values)
        } else {
            let place = (index, index - recurrent);
            let attention = self.attention(&names, place, &attention_norm, kv_scales)?;
            let queries = self.config.heads * self.config.head_dim;
            (Mixer::Attention(attention), queries)
        };
        let vector = |name: &str| Array::of(&checkpoint.vector(name)?);
        let optional = |name: &Option<String>| name.as_deref().map(vector).transpose();
        let output = names
            .delta
            .as_ref()
            .map_or(&names.output, |delta| &delta.output);
        let output = std::slice::from_ref(output);
        Ok(Layer {
            attention_norm: Array::of(&attention_norm)?,
            mixer,
            output: self.linear(&output, self.config.biases.output, Division::Inputs(width))?,
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
                    shared,
                    sizes,
                    ..
                } => {
                    FeedForward::Mixture(self.mixture(router, experts, shared.as_ref(), *sizes)?)
                }
            },
        })
    }

    /// A recurrent layer, the `index`-th of them.
    fn delta(&self, names: &DeltaNames, index: usize) -> Result<DeltaLayer, ModelError> {
        let checkpoint = self.checkpoint();
        let small = [names.step.clone(), names.beta.clone()];
        let (step_beta, _) = checkpoint.linear(&small, false)?;
        let weights = checkpoint.delta(names)?;
        let upload = |numbers: Vec<f32>| {
            let count = numbers.len();
            Array::of(&Tensor::from_vec(numbers, count, &self.device)?)
        };
        Ok(DeltaLayer {
            index,
            projected: self.linear(
                &[names.qkv.clone(), names.gate.clone()],
                false,
                Division::Outputs(&[]),
            )?,
            step_beta: Weight::plain(&step_beta, None)?,
            convolution: upload(weights.convolution)?,
            rate: upload(weights.rate)?,
            step_bias: upload(weights.step_bias)?,
            norm: upload(weights.norm)?,
            eps: weights.eps,
        })
    }

    /// A layer's attention: `index` among all layers, and among those with attention.
    fn attention(
        &self,
        names: &LayerNames,
        (index, place): (usize, usize),
        attention_norm: &Tensor,
        kv_scales: &mut Vec<KvScales>,
    ) -> Result<AttentionLayer, ModelError> {
        let checkpoint = self.checkpoint();
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
                norm: attention_norm,
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
        Ok(AttentionLayer {
            index: place,
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
            gate: self.head_gate(&names.qkv)?,
        })
    }

    /// The gate of what attention's heads return, if the family has one.
    fn head_gate(&self, names: &[String]) -> Result<Option<Linear>, ModelError> {
        if !self.config.family.gates_heads {
            return Ok(None);
        }
        let checkpoint = self.checkpoint();
        // With a bias, which none has so far, its rows would have to be picked too.
        let stored = if self.config.biases.qkv {
            None
        } else {
            self.stored(
                &names[..1],
                || checkpoint.head_gate_codes(names),
                || Ok(None),
            )?
        };
        Ok(Some(match stored {
            Some(stored) => stored,
            None => self.quantised(checkpoint.head_gate(names)?)?,
        }))
    }

    fn mixture(
        &self,
        router: &str,
        names: &ExpertNames,
        shared: Option<&SharedNames>,
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
            shared: shared.map(|names| self.shared(names)).transpose()?,
            config: sizes,
        })
    }

    /// The expert that works on every token.
    fn shared(&self, names: &SharedNames) -> Result<SharedExpert, ModelError> {
        let bias = self.config.biases.feed_forward;
        let experts = self.config.experts;
        let width = experts.and_then(|experts| experts.shared).unwrap_or(0);
        let expert = &names.expert;
        let down = std::slice::from_ref(&expert.down);
        let Some(weight) = &names.weight else {
            let why =
                "no CUDA kernels for an expert that works on every token with the same weight";
            return Err(ModelError::Unsupported(why.into()));
        };
        let weight = std::slice::from_ref(weight);
        Ok(SharedExpert {
            gate_up: self.linear(&expert.gate_up, bias, Division::Outputs(&[width; 2]))?,
            down: self.linear(down, bias, Division::Inputs(width))?,
            weight: Array::of(&self.checkpoint().linear(weight, false)?.0)?,
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
            let all = 1..=limits.tokens;
            let mut linears = vec![&mut layer.output];
            match &mut layer.mixer {
                Mixer::Attention(attention) => {
                    linears.push(&mut attention.qkv);
                    linears.extend(&mut attention.gate);
                }
                Mixer::Recurrent(delta) => {
                    linears.push(&mut delta.projected);
                    products.prepare(device, &mut delta.step_beta, DType::F32, all.clone())?;
                }
            }
            match &mut layer.feed_forward {
                FeedForward::Gated { gate_up, down } => linears.extend([gate_up, down]),
                FeedForward::Mixture(mixture) => {
                    products.prepare(device, &mut mixture.router, router, all)?;
                    if let Some(shared) = &mut mixture.shared {
                        linears.extend([&mut shared.gate_up, &mut shared.down]);
                    }
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
