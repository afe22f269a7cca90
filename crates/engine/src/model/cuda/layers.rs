//! The decoder's weights on the device.

use std::slice::from_ref;

use candle_core::{CudaDevice, DType, Device, Tensor};

use super::array::Array;
use super::buffers::StepLimits;
use super::delta::DeltaLayer;
use super::expert_weights::ExpertLoader;
use super::gemm::Weight;
use super::grouped::GroupedWeights;
use super::kv_scales::{KvProjection, KvScales};
use super::linear::{Linear, Products};
use super::operations::{HeadsForm, Operations};
use crate::checkpoint::config::Experts;
use crate::checkpoint::families::HeadNorms;
use crate::checkpoint::tensors::{
    BesideNames, DeltaNames, FeedForwardNames, GatedNames, LayerNames, MixtureNames, Names,
    SharedNames,
};
use crate::checkpoint::weights::Codes;
use crate::checkpoint::{ModelConfig, Weights};
use crate::model::precision::WeightType;
use crate::model::shard::{Division, Shard};
use crate::model::tensor_reader::{Projection, TensorReader};
use crate::model::{ModelError, Result};

pub(super) struct Layer {
    /// The norm before the mixer, if there is one.
    pub(super) attention_norm: Option<Array>,
    pub(super) mixer: Mixer,
    pub(super) output: Linear,
    pub(super) attention_result_norm: Option<Array>,
    /// The norm before the feed-forward layer, if there is one.
    pub(super) feed_forward_norm: Option<Array>,
    pub(super) feed_forward: FeedForward,
    pub(super) feed_forward_result_norm: Option<Array>,
    /// What the layer's result is multiplied with, the residual stream included.
    pub(super) scale: f32,
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
    pub(super) kv_heads: usize,
    pub(super) head_dim: usize,
    /// Queries, keys and values in one product.
    pub(super) qkv: Linear,
    /// Norms of queries and keys, `[head_dim]`, or of all heads together, before anything else is done to them.
    pub(super) qk_norms: Option<(Array, Array)>,
    pub(super) norms_together: bool,
    pub(super) form: HeadsForm,
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

pub(super) struct Mixture {
    /// Parts of the weight, one under the other, that add up to its numbers in f32: `[parts · experts, hidden]`.
    pub(super) router: Weight,
    /// f32 `[experts]`
    pub(super) router_bias: Option<Array>,
    pub(super) gate_up: GroupedWeights,
    pub(super) down: GroupedWeights,
    /// What is added to an expert's score when experts are chosen, f32 `[experts]`.
    pub(super) correction: Option<Array>,
    /// What the weight of each is multiplied with, f32 `[experts]`.
    pub(super) scales: Option<Array>,
    /// The gated layer that works on every token, if there is one.
    pub(super) shared: Option<SharedExpert>,
    pub(super) config: Experts,
}

/// The expert that works on every token, or the dense layer that experts work beside.
pub(super) struct SharedExpert {
    pub(super) gate_up: Linear,
    pub(super) down: Linear,
    /// The row whose product's sigmoid is its weight, `[hidden]`, unless that is 1.
    pub(super) weight: Option<Array>,
    pub(super) beside: Option<BesideNorms>,
}

/// Norms where experts work on the residual stream beside a dense layer, `[hidden]` each.
pub(super) struct BesideNorms {
    /// Of the dense layer's result.
    pub(super) dense_result: Array,
    /// Ones: the router's norm has no weight.
    pub(super) router: Array,
    /// Before the experts, and of their result.
    pub(super) experts: Array,
    pub(super) result: Array,
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
    /// routers are always in the first, norms in f32.
    pub(super) layers: WeightType,
    /// Room for the largest layer's weight, of weights that stay as the checkpoint stores them.
    pub(super) room: Option<&'a Tensor>,
    /// Whether keys and values will be stored in e4m3.
    pub(super) fp8_cache: bool,
}

impl Loader<'_> {
    /// Reads all weights of this GPU's part.
    pub(super) fn load(&self) -> Result<Parts> {
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
            embedding: Array::from_tensor(&table)?,
            layers: (0..config.layers)
                .map(|index| {
                    let own = &*config.at(index);
                    Loader {
                        config: own,
                        device: self.device.clone(),
                        ..*self
                    }
                    .layer(config, index, &mut kv_scales)
                })
                .collect::<Result<_, _>>()?,
            kv_scales,
            norm: Array::from_tensor(&checkpoint.norm(&names.norm)?)?,
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
            norms: DType::F32,
            matrices: Some(dtype),
        }
    }

    /// Reads a layer of a model, whose own sizes this loader has; with a cache in e4m3 adds its scales to `kv_scales`.
    fn layer(
        &self,
        config: &ModelConfig,
        index: usize,
        kv_scales: &mut Vec<KvScales>,
    ) -> Result<Layer> {
        let checkpoint = self.checkpoint();
        let names = LayerNames::new(config, index);
        let norm = |name: &Option<String>| {
            let name = name.as_ref();
            name.map(|name| checkpoint.norm(name)).transpose()
        };
        let attention_norm = norm(&names.attention_norm)?;
        let recurrent = (0..index).filter(|&before| config.is_recurrent(before));
        let recurrent = recurrent.count();
        let (mixer, width) = if let Some(delta) = &names.delta {
            let shape = self.config.recurrent.as_ref();
            let values = shape.map_or(0, |recurrent| recurrent.shape.values());
            (Mixer::Recurrent(self.delta(delta, recurrent)?), values)
        } else {
            let place = (index, index - recurrent);
            let attention = self.attention(&names, place, attention_norm.as_ref(), kv_scales)?;
            let queries = self.config.heads * self.config.head_dim;
            (Mixer::Attention(attention), queries)
        };
        let optional = |name| norm(name)?.as_ref().map(Array::from_tensor).transpose();
        let output = names
            .delta
            .as_ref()
            .map_or(&names.output, |delta| &delta.output);
        let output = from_ref(output);
        Ok(Layer {
            attention_norm: attention_norm
                .as_ref()
                .map(Array::from_tensor)
                .transpose()?,
            mixer,
            output: self.linear(output, self.config.biases.output, Division::Inputs(width))?,
            attention_result_norm: optional(&names.attention_result_norm)?,
            feed_forward_norm: optional(&names.feed_forward_norm)?,
            feed_forward_result_norm: optional(&names.feed_forward_result_norm)?,
            scale: match &names.scale {
                Some(name) => checkpoint.numbers(name)?.first().copied().unwrap_or(1.0),
                None => 1.0,
            },
            feed_forward: match &names.feed_forward {
                FeedForwardNames::Dense(names) => {
                    let (gate_up, down) = self.gated(names, self.config.intermediate)?;
                    FeedForward::Gated { gate_up, down }
                }
                FeedForwardNames::Mixture(names) => FeedForward::Mixture(self.mixture(names)?),
            },
        })
    }

    /// A recurrent layer, the `index`-th of them.
    fn delta(&self, names: &DeltaNames, index: usize) -> Result<DeltaLayer> {
        let checkpoint = self.checkpoint();
        let recurrent = self.config.recurrent.as_ref();
        let joined = recurrent.filter(|_| names.are_joined());
        let (projected, step_beta) = match joined {
            None => {
                let wide = [names.qkv.clone(), names.gate.clone()];
                let small = [names.step.clone(), names.beta.clone()];
                let projected = self.linear(&wide, false, Division::Outputs(&[]))?;
                (projected, checkpoint.linear(&small, false)?.0)
            }
            Some(recurrent) => {
                let [qkv, gate, beta, step] = DeltaNames::joined_rows(&recurrent.shape);
                let (wide, small) = (from_ref(&names.qkv), from_ref(&names.beta));
                let wide_rows = [qkv, gate].concat();
                let codes = || {
                    let codes = checkpoint.codes(wide, Division::Outputs(&[]))?;
                    Ok(codes.map(|codes| codes.in_order(&wide_rows)))
                };
                let pick = |names, rows: &[usize]| {
                    let rows = rows.iter().map(|row| *row as u32);
                    let rows = Tensor::from_iter(rows, &self.device)?;
                    let (weight, _) = checkpoint.linear(names, false)?;
                    Ok::<_, ModelError>(weight.index_select(&rows, 0)?)
                };
                let projected = match self.stored(wide, codes, || Ok(None))? {
                    Some(stored) => stored,
                    None => self.quantised((pick(wide, &wide_rows)?, None))?,
                };
                (projected, pick(small, &[step, beta].concat())?)
            }
        };
        let weights = checkpoint.delta(names)?;
        Ok(DeltaLayer {
            index,
            projected,
            step_beta: Weight::plain(&step_beta, None)?,
            convolution: self.upload(weights.convolution)?,
            rate: self.upload(weights.rate)?,
            step_bias: self.upload(weights.step_bias)?,
            norm: self.upload(weights.norm)?,
            eps: weights.eps,
        })
    }

    /// A layer's attention: `index` among all layers, and among those with attention.
    fn attention(
        &self,
        names: &LayerNames,
        (index, place): (usize, usize),
        attention_norm: Option<&Tensor>,
        kv_scales: &mut Vec<KvScales>,
    ) -> Result<AttentionLayer> {
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
        if let (Some((weight, bias)), true, Some(norm)) = (&numbers, self.fp8_cache, attention_norm)
        {
            let projection = KvProjection {
                weight,
                bias: bias.as_ref(),
                norm,
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
        let family = self.config.family;
        Ok(AttentionLayer {
            index: place,
            kv_heads: self.config.kv_heads,
            head_dim: self.config.head_dim,
            norms_together: family.head_norms == HeadNorms::Together,
            form: HeadsForm {
                keys_are_values: self.config.keys_are_values,
                norms_values: family.norms_values,
                norms_last: family.head_norms == HeadNorms::AfterRotation,
            },
            qkv,
            qk_norms: match &head_norms {
                Some((q, k)) => Some((Array::from_tensor(q)?, Array::from_tensor(k)?)),
                None => None,
            },
            sinks: match &names.sinks {
                // Their exponentials are summed in f32, as those of the scores.
                Some(sinks) => Some(Array::from_tensor(
                    &checkpoint.sinks(sinks)?.to_dtype(DType::F32)?,
                )?),
                None => None,
            },
            gate: self.head_gate(&names.qkv)?,
        })
    }

    /// The gate of what attention's heads return, if the family has one.
    fn head_gate(&self, names: &[String]) -> Result<Option<Linear>> {
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

    fn mixture(&self, names: &MixtureNames) -> Result<Mixture> {
        let (beside, sizes) = (&names.beside, names.sizes);
        let checkpoint = self.checkpoint();
        // On the host, in f32: it is small, and rounded it would choose other experts.
        let on_host = TensorReader {
            device: &Device::Cpu,
            compute: DType::F32,
            matrices: Some(DType::F32),
            ..checkpoint
        };
        let (mut weight, bias) =
            on_host.linear(from_ref(&names.router), self.config.biases.feed_forward)?;
        if let Some(beside) = beside {
            let scale = on_host.vector(&beside.router_scale)?;
            weight = weight.broadcast_mul(&(scale / (self.config.hidden as f64).sqrt())?)?;
        }
        let bias = bias.map(|bias| bias.to_device(&self.device)).transpose()?;
        let parts = in_parts(weight, self.operations.dtype())?;
        let [gate_up, down] = ExpertLoader {
            checkpoint: &checkpoint,
            names: &names.experts,
            sizes,
            cuda: self.cuda,
            operations: self.operations,
            layers: self.layers,
        }
        .load()?;
        let numbers = |name: &String| self.upload(checkpoint.numbers(name)?);
        let scales = beside.as_ref().map(|beside| numbers(&beside.expert_scales));
        Ok(Mixture {
            router: Weight::plain(&parts.to_device(&self.device)?, None)?,
            router_bias: bias.as_ref().map(Array::from_tensor).transpose()?,
            gate_up,
            down,
            correction: names.correction.as_ref().map(numbers).transpose()?,
            scales: scales.transpose()?,
            shared: match (&names.shared, beside) {
                (Some(names), _) => Some(self.shared(names)?),
                (None, Some(names)) => Some(self.beside(names)?),
                (None, None) => None,
            },
            config: sizes,
        })
    }

    /// The expert that works on every token.
    fn shared(&self, names: &SharedNames) -> Result<SharedExpert> {
        let experts = self.config.experts;
        let width = experts.and_then(|experts| experts.shared).unwrap_or(0);
        let (gate_up, down) = self.gated(&names.expert, width)?;
        let weight = names.weight.as_ref().map(|name| {
            let (row, _) = self.checkpoint().linear(from_ref(name), false)?;
            Array::from_tensor(&row)
        });
        Ok(SharedExpert {
            gate_up,
            down,
            weight: weight.transpose()?,
            beside: None,
        })
    }

    /// The dense layer that experts work beside.
    fn beside(&self, names: &BesideNames) -> Result<SharedExpert> {
        let (gate_up, down) = self.gated(&names.dense, self.config.intermediate)?;
        let checkpoint = self.checkpoint();
        let norm = |name: &str| Array::from_tensor(&checkpoint.norm(name)?);
        let ones = self.upload(vec![1.0; self.config.hidden])?;
        Ok(SharedExpert {
            gate_up,
            down,
            weight: None,
            beside: Some(BesideNorms {
                dense_result: norm(&names.dense_result_norm)?,
                router: ones,
                experts: norm(&names.norm)?,
                result: norm(&names.result_norm)?,
            }),
        })
    }

    /// A gated layer of this width on this GPU.
    fn gated(&self, names: &GatedNames, width: usize) -> Result<(Linear, Linear)> {
        let bias = self.config.biases.feed_forward;
        let down = from_ref(&names.down);
        let gate_up = self.linear(&names.gate_up, bias, Division::Outputs(&[width; 2]))?;
        Ok((gate_up, self.linear(down, bias, Division::Inputs(width))?))
    }

    fn upload(&self, numbers: Vec<f32>) -> Result<Array> {
        let count = numbers.len();
        Array::from_tensor(&Tensor::from_vec(numbers, count, &self.device)?)
    }

    /// A layer's weight that joins the outputs of several.
    fn linear(&self, names: &[String], bias: bool, division: Division) -> Result<Linear> {
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
        codes: impl FnOnce() -> Result<Option<Codes>>,
        bias: impl FnOnce() -> Result<Option<Tensor>>,
    ) -> Result<Option<Linear>> {
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

    fn quantised(&self, (weight, bias): Projection) -> Result<Linear> {
        Ok(Linear::Whole(if self.layers == WeightType::F8E4M3 {
            Weight::fp8(self.cuda, self.operations, &weight, bias.as_ref())?
        } else {
            Weight::plain(&weight, bias.as_ref())?
        }))
    }
}

impl Parts {
    /// How many numbers a router returns of a token, at most.
    pub(super) fn routed(&self) -> Option<usize> {
        let routers = self
            .layers
            .iter()
            .filter_map(|layer| match &layer.feed_forward {
                FeedForward::Mixture(mixture) => Some(mixture.router.outputs),
                FeedForward::Gated { .. } => None,
            });
        routers.max()
    }

    /// Prepares the products of steps within `limits`; activations are `dtype`.
    pub(super) fn prepare(
        &mut self,
        device: &CudaDevice,
        products: &mut Products,
        limits: &StepLimits,
        dtype: DType,
    ) -> Result<()> {
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
                    products.prepare(device, &mut mixture.router, DType::F32, all)?;
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

/// A matrix in f32 as parts in `dtype`, one under the other, that add up to it: bf16 and f16 numbers are one part, and of others bf16's
/// three are exact, while f16's leave what is below its smallest number.
fn in_parts(mut rest: Tensor, dtype: DType) -> candle_core::Result<Tensor> {
    let mut parts = vec![rest.to_dtype(dtype)?];
    while let Some(part) = parts.last() {
        rest = (rest - part.to_dtype(DType::F32)?)?;
        let part = rest.to_dtype(dtype)?;
        let largest = part.to_dtype(DType::F32)?.abs()?.max_all()?;
        if largest.to_scalar::<f32>()? > 0.0 {
            parts.push(part);
        } else {
            break;
        }
    }
    Tensor::cat(&parts, 0)
}

/// The type of rotary tables that the device's kernels read.
pub(super) const ROTARY: DType = DType::F32;
