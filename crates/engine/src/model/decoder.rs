//! The decoder: a transformer with grouped queries, rotary positions and `SwiGLU`, over packed tokens.
//!
//! One decoder for all families; what a family has or lacks is in its configuration. Every shape below is written with `N`
//! tokens of any number of sequences, side by side without padding.

use std::borrow::Cow;

use candle_core::{DType, Device, Tensor};
use rayon::prelude::*;

use super::attention::Attention;
use super::cpu::matmul::SERIAL;
use super::embedding::{LayerInput, LayerInputs, Table};
use super::feed_forward::{Beside, FeedForward, Gated, Mixture};
use super::linear::Linear;
use super::ops::{self, Heads};
use super::precision::{Precision, WeightType};
use super::profile::{Phase, Profile};
use super::recurrence::{DeltaInputs, DeltaWeights};
use super::rope::{RotaryTable, query_scales};
use super::shard::Shard;
use super::tensor_reader::{Projection, TensorReader};
use super::{ModelError, Result, StepBatch};
use crate::checkpoint::families::HeadNorms;
use crate::checkpoint::tensors::{
    DeltaNames, ExpertNames, FeedForwardNames, GatedNames, LayerNames, Names,
};
use crate::checkpoint::{ModelConfig, Weights};

/// A model's weights on a device, immutable.
pub struct Decoder {
    config: ModelConfig,
    device: Device,
    /// `[vocab, hidden]`; `None` where it is the output head's weight.
    embedding: Option<Table>,
    /// What each layer gets of a token beside the residual stream.
    inputs: Option<LayerInputs>,
    layers: Vec<Layer>,
    norm: Tensor,
    /// `[vocab, hidden]`; the embedding table too when they are tied.
    head: Linear,
    /// One table, or two for different layers.
    ropes: Vec<RotaryTable>,
    /// Steps of at most so many tokens have no product on the CPU that is shared among threads.
    alone: usize,
}

/// How many layers are loaded at the same time on the CPU: each needs memory for its stored form beside its packed form.
const LOADED_AT_ONCE: usize = 2;

struct Layer {
    /// The norm before the mixer.
    attention_norm: Option<Tensor>,
    mixer: Mixer,
    attention_result_norm: Option<Tensor>,
    /// The norm before the feed-forward layer.
    feed_forward_norm: Option<Tensor>,
    feed_forward: FeedForward,
    feed_forward_result_norm: Option<Tensor>,
    input: Option<LayerInput>,
    /// What the layer's result is multiplied with, the residual stream included.
    scale: f64,
}

/// The part of a layer that looks at other tokens.
enum Mixer {
    Attention(Box<AttentionLayer>),
    Recurrent(Box<RecurrentLayer>),
}

struct AttentionLayer {
    /// Its number among the layers with attention.
    index: usize,
    /// Key and value heads; none where it attends to those of another layer.
    kv_heads: usize,
    head_dim: usize,
    /// What queries are multiplied with, before scores are divided by the root of a head's width.
    query_scale: f64,
    /// Queries, keys and values in one product: `[(heads + 2 · kv_heads) · head_dim, hidden]`, or `[(heads + kv_heads) · head_dim,
    /// hidden]` where values are the projected keys.
    qkv: Linear,
    keys_are_values: bool,
    /// Norms of queries and keys, `[head_dim]` or of all heads together, and when they are taken.
    qk_norms: Option<(Tensor, Tensor)>,
    norms: HeadNorms,
    /// Ones, `[head_dim]`, if values are normed.
    value_norm: Option<Tensor>,
    /// The scores of attention sinks by query head, `[heads]`, f32.
    sinks: Option<Tensor>,
    /// What the attended values are multiplied by, behind a sigmoid: `[heads · head_dim, hidden]`.
    gate: Option<Linear>,
    output: Linear,
}

/// What attention must know of a layer and a step.
struct AttentionStep<'a> {
    heads: Heads<'a>,
    /// How many keys a query sees.
    window: Option<usize>,
    /// What queries are multiplied with by their position, `[N, 1, 1]`.
    position_scales: Option<&'a Tensor>,
}

struct RecurrentLayer {
    /// Its number among the recurrent layers.
    index: usize,
    /// Queries, keys and values: `[channels, hidden]`.
    qkv: Linear,
    /// The gate of the output: `[values, hidden]`.
    gate: Linear,
    /// The step of decay: `[value_heads, hidden]`.
    step: Linear,
    /// The share of the correction: `[value_heads, hidden]`.
    beta: Linear,
    weights: DeltaWeights,
    output: Linear,
}

impl Decoder {
    /// Reads the weights to a device. They must be exactly what the configuration describes, except for an output head of
    /// their own ([`Weights::settle`]).
    /// Errors: [`CheckpointError::Mismatch`](crate::checkpoint::CheckpointError::Mismatch) naming tensors and shapes;
    /// [`ModelError::Unsupported`] for a precision that the device does not compute in; errors of reading.
    pub fn load(
        config: &ModelConfig,
        weights: &Weights,
        device: &Device,
        precision: Precision,
    ) -> Result<Self> {
        let dtype = precision.compute;
        if device.is_cpu() && dtype != DType::F32 {
            return Err(ModelError::Unsupported(format!(
                "the CPU computes in f32, not in {dtype:?}"
            )));
        }
        let config = &*weights.settle(config)?;
        weights.check_model(config)?;
        let names = Names::new(config.family);
        let loader = Loader {
            checkpoint: TensorReader {
                config,
                shard: Shard::WHOLE,
                weights,
                device,
                compute: dtype,
                norms: if config.family.zero_centred {
                    DType::F32
                } else {
                    dtype
                },
                // The CPU packs, and may quantise, what the checkpoint stores; a GPU multiplies in the type it computes in.
                matrices: (!device.is_cpu()).then_some(dtype),
            },
            precision,
        };
        // The largest tensors first: the memory for their stored form is free again when the layers are loaded.
        let head = if config.tie_embeddings {
            &names.embedding
        } else {
            &names.head
        };
        let head = if let Some(head) = loader.packed(head)? {
            head
        } else {
            let head = loader.checkpoint.matrix(head)?;
            Linear::new(head, None, precision.weights.for_head())?
        };
        let embedding = (!config.tie_embeddings).then(|| loader.table(&names.embedding));
        let embedding = embedding.transpose()?;
        let inputs = config.layer_inputs.map(|_| loader.inputs(&names));
        let inputs = inputs.transpose()?;
        let mut layers = Vec::with_capacity(config.layers);
        for first in (0..config.layers).step_by(LOADED_AT_ONCE) {
            let group = first..config.layers.min(first + LOADED_AT_ONCE);
            let load = |index| loader.layer(config, index);
            if device.is_cpu() {
                // One layer is read while another is packed.
                let group = group.into_par_iter().map(load);
                layers.extend(group.collect::<Result<Vec<_>>>()?);
            } else {
                layers.extend(group.map(load).collect::<Result<Vec<_>>>()?);
            }
        }
        Ok(Self {
            embedding,
            inputs,
            layers,
            norm: loader.checkpoint.norm(&names.norm)?,
            head,
            ropes: RotaryTable::all(config, device, dtype)?,
            alone: (SERIAL - 1)
                / (config.hidden * config.vocab.max(2 * config.intermediate)).max(1),
            config: config.clone(),
            device: device.clone(),
        })
    }

    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Computes a step: writes its keys and values to the cache, and returns the logits of the tokens that
    /// [`StepBatch::logits`] names, `[logits.len(), vocab]`, f32.
    /// Errors: [`ModelError::Batch`] for a step that does not fit the model or the cache.
    pub fn forward(&self, batch: &StepBatch, attention: &mut dyn Attention) -> Result<Tensor> {
        self.forward_profiled(batch, attention, &mut Profile::off())
    }

    /// As [`Self::forward`], recording the times of its phases.
    pub fn forward_profiled(
        &self,
        batch: &StepBatch,
        attention: &mut dyn Attention,
        profile: &mut Profile,
    ) -> Result<Tensor> {
        if self.device.is_cpu() && batch.tokens.len() > self.alone {
            // On a thread of the pool, the passes of a step start without waking it each time.
            return rayon::scope(|_| self.step(batch, attention, profile));
        }
        self.step(batch, attention, profile)
    }

    fn step(
        &self,
        batch: &StepBatch,
        attention: &mut dyn Attention,
        profile: &mut Profile,
    ) -> Result<Tensor> {
        let device = &self.device;
        let mut batch = Cow::Borrowed(batch);
        profile.time(Phase::Attention, device, || attention.prepare(&batch))?;
        if let Some(token) = batch
            .tokens
            .iter()
            .find(|&&token| token as usize >= self.config.vocab)
        {
            return Err(ModelError::Batch(format!(
                "token {token}, but the vocabulary has {}",
                self.config.vocab
            )));
        }
        let (n, wanted) = (batch.tokens.len(), batch.logits.len());
        if n == 0 {
            return self.no_logits();
        }
        let eps = self.config.rms_norm_eps as f32;
        let (mut hidden, mut inputs, mut angles) =
            profile.time(Phase::Embedding, device, || {
                let hidden = self.embed(&batch.tokens)?;
                let inputs = self.inputs.as_ref();
                let inputs = inputs.map(|inputs| inputs.forward(&batch.tokens, &hidden));
                Ok::<_, ModelError>((hidden, inputs.transpose()?, self.angles(&batch)?))
            })?;
        let scale = self.config.position_scale.as_ref();
        let position_scales = scale.and_then(|scale| query_scales(scale, &batch.positions));
        let position_scales = position_scales.map(|scales| {
            let scales = Tensor::from_vec(scales, (n, 1, 1), device)?;
            scales.to_dtype(hidden.dtype())
        });
        let position_scales = position_scales.transpose()?;
        // What the previous layer adds to the residual stream, fused with the next norm.
        let mut added: Option<Tensor> = None;
        for (index, layer) in self.layers.iter().enumerate() {
            // All keys and values are written; from here on only the wanted rows matter.
            if index == self.config.first_sharing() && wanted < n {
                if wanted == 0 {
                    return self.no_logits();
                }
                let rows = Tensor::new(batch.logits.as_slice(), device)?;
                let pick = |x: &Tensor| x.index_select(&rows, 0);
                hidden = pick(&hidden)?;
                added = added.as_ref().map(pick).transpose()?;
                inputs = inputs.as_ref().map(pick).transpose()?;
                batch = Cow::Owned(batch.wanted());
                angles = self.angles(&batch)?;
                profile.time(Phase::Attention, device, || attention.prepare(&batch))?;
            }
            let x;
            (hidden, x) = profile.time(Phase::Elementwise, device, || {
                add_and_norm(hidden, added.take(), layer.attention_norm.as_ref(), eps)
            })?;
            let (cos, sin) = &angles[usize::from(self.config.has_second_rope(index))];
            let (mut attended, output) = match &layer.mixer {
                Mixer::Attention(mixer) => {
                    let heads = Heads {
                        heads: self.config.heads,
                        kv_heads: mixer.kv_heads,
                        head_dim: mixer.head_dim,
                        norms: mixer.norms_of(HeadNorms::ByHead),
                        eps,
                        cos,
                        sin,
                    };
                    let step = AttentionStep {
                        heads,
                        window: self.config.windows[index],
                        position_scales: position_scales.as_ref(),
                    };
                    let attended = mixer.forward(&x, &step, attention, profile)?;
                    (attended, &mixer.output)
                }
                Mixer::Recurrent(mixer) => {
                    let read = mixer.forward(&x, attention, profile)?;
                    (read, &mixer.output)
                }
            };
            // The last layer's keys and values are written; from here on only the wanted rows matter.
            if index + 1 == self.layers.len() && wanted < hidden.dim(0)? {
                if wanted == 0 {
                    return self.no_logits();
                }
                let rows = Tensor::new(batch.logits.as_slice(), device)?;
                let pick = |x: &Tensor| x.index_select(&rows, 0);
                (attended, hidden) = (pick(&attended)?, pick(&hidden)?);
                inputs = inputs.as_ref().map(pick).transpose()?;
            }
            let projected = profile.time(Phase::Gemm, device, || output.forward(&attended))?;
            let x;
            (hidden, x) = profile.time(Phase::Elementwise, device, || {
                let projected = self.result(projected, layer.attention_result_norm.as_ref())?;
                add_and_norm(
                    hidden,
                    Some(projected),
                    layer.feed_forward_norm.as_ref(),
                    eps,
                )
            })?;
            let fed = profile.time(Phase::Gemm, device, || {
                layer.feed_forward.forward(&x, &hidden)
            })?;
            let result;
            (hidden, result) = profile.time(Phase::Elementwise, device, || {
                let mut result = self.result(fed, layer.feed_forward_result_norm.as_ref())?;
                let scaled = |x| scaled(x, layer.scale);
                if let (Some(input), Some(inputs)) = (&layer.input, &inputs) {
                    hidden = (hidden + result)?;
                    result = input.forward(&hidden, &inputs.narrow(1, index, 1)?.squeeze(1)?)?;
                }
                Ok::<_, ModelError>((scaled(hidden)?, scaled(result)?))
            })?;
            added = Some(result);
        }
        let (_, x) = profile.time(Phase::Elementwise, device, || {
            add_and_norm(hidden, added, Some(&self.norm), eps)
        })?;
        profile.time(Phase::Head, device, || {
            let logits = self.head.forward(&x)?.to_dtype(DType::F32)?;
            let logits = scaled(logits, self.config.logit_scale)?;
            match self.config.logit_softcap {
                Some(bound) => ops::softcap(&logits, bound),
                None => Ok(logits),
            }
        })
    }

    /// The output of a part of a layer as it joins the residual stream: normed and scaled if the family does that.
    fn result(&self, x: Tensor, norm: Option<&Tensor>) -> candle_core::Result<Tensor> {
        let x = match norm {
            Some(weight) => ops::rms_norm(&x, weight, self.config.rms_norm_eps as f32)?,
            None => x,
        };
        scaled(x, self.config.result_scale)
    }

    /// Empty logits, on the host: some GPU drivers fail to allocate nothing.
    fn no_logits(&self) -> Result<Tensor> {
        let shape = (0, self.config.vocab);
        Ok(Tensor::zeros(shape, DType::F32, &Device::Cpu)?)
    }

    /// From `[N]` token ids to `[N, hidden]`.
    fn embed(&self, tokens: &[u32]) -> Result<Tensor> {
        let rows = match &self.embedding {
            Some(table) => table.rows(tokens, &self.norm, &self.device)?,
            None => self.head.rows(tokens, &self.device)?,
        };
        Ok(scaled(rows, self.config.embedding_scale)?)
    }

    /// Each rotary embedding's cosines and sines of a step.
    fn angles(&self, batch: &StepBatch) -> Result<Vec<(Tensor, Tensor)>> {
        self.ropes.iter().map(|rope| rope.gather(batch)).collect()
    }
}

/// A tensor times a number, if that is not 1.
fn scaled(x: Tensor, factor: f64) -> candle_core::Result<Tensor> {
    if (factor - 1.0).abs() < 1e-12 {
        return Ok(x);
    }
    x * factor
}

impl AttentionLayer {
    /// The norms of queries and keys if they are taken in this way.
    fn norms_of(&self, kind: HeadNorms) -> Option<(&Tensor, &Tensor)> {
        let norms = self.qk_norms.as_ref().map(|(q, k)| (q, k));
        norms.filter(|_| self.norms == kind)
    }

    /// From `[N, hidden]` to the attended values, `[N, heads · head_dim]`.
    fn forward(
        &self,
        x: &Tensor,
        step: &AttentionStep,
        attention: &mut dyn Attention,
        profile: &mut Profile,
    ) -> Result<Tensor> {
        let device = x.device();
        let qkv = profile.time(Phase::Gemm, device, || self.qkv.forward(x))?;
        let heads = &step.heads;
        let (q, k, v) = profile.time(Phase::Elementwise, device, || {
            let qkv = match self.norms_of(HeadNorms::Together) {
                Some((q, k)) => ops::norm_parts(&qkv, [q, k], heads.eps)?,
                None => qkv,
            };
            let qkv = if self.keys_are_values {
                let first = heads.heads * heads.head_dim;
                let keys = qkv.narrow(1, first, heads.kv_heads * heads.head_dim)?;
                Tensor::cat(&[&qkv, &keys], 1)?
            } else {
                qkv
            };
            let (mut q, mut k, mut v) = ops::split_heads(&qkv, heads)?;
            if let Some(ones) = &self.value_norm {
                v = ops::rms_norm(&v, ones, heads.eps)?;
            }
            if let Some((q_norm, k_norm)) = self.norms_of(HeadNorms::AfterRotation) {
                q = ops::rms_norm(&q, q_norm, heads.eps)?;
                k = ops::rms_norm(&k, k_norm, heads.eps)?;
            }
            if let Some(scales) = step.position_scales {
                q = q.broadcast_mul(scales)?;
            }
            Ok::<_, ModelError>((scaled(q, self.query_scale)?, k, v))
        })?;
        let attended = profile.time(Phase::Attention, device, || {
            let attended = attention.forward(self.index, step.window, &q, &k, &v)?;
            match &self.sinks {
                Some(sinks) => Ok(ops::share_with_sinks(&attended, sinks)?),
                None => Ok::<_, ModelError>(attended.output),
            }
        })?;
        let attended = attended.reshape((x.dim(0)?, heads.heads * heads.head_dim))?;
        let Some(gate) = &self.gate else {
            return Ok(attended);
        };
        let gate = profile.time(Phase::Gemm, device, || gate.forward(x))?;
        profile.time(Phase::Elementwise, device, || {
            Ok::<_, ModelError>(ops::sigmoid_mul(&attended, &gate)?)
        })
    }
}

impl RecurrentLayer {
    /// From `[N, hidden]` to what the states return, `[N, values]`.
    fn forward(
        &self,
        x: &Tensor,
        attention: &mut dyn Attention,
        profile: &mut Profile,
    ) -> Result<Tensor> {
        let device = x.device();
        let [qkv, gate, step, beta] = profile.time(Phase::Gemm, device, || {
            let of = |linear: &Linear| linear.forward(x);
            let parts = [
                of(&self.qkv)?,
                of(&self.gate)?,
                of(&self.step)?,
                of(&self.beta)?,
            ];
            Ok::<_, ModelError>(parts)
        })?;
        let inputs = DeltaInputs {
            qkv: &qkv,
            gate: &gate,
            step: &step,
            beta: &beta,
        };
        profile.time(Phase::Attention, device, || {
            let Some(states) = attention.states() else {
                let message = "a model with recurrent layers, and a cache without states";
                return Err(ModelError::Batch(message.into()));
            };
            states.forward(self.index, &self.weights, &inputs)
        })
    }
}

/// The residual stream after adding what is still due, and its norm; without a weight what follows sees it as it is.
fn add_and_norm(
    hidden: Tensor,
    added: Option<Tensor>,
    weight: Option<&Tensor>,
    eps: f32,
) -> candle_core::Result<(Tensor, Tensor)> {
    match (added, weight) {
        (Some(added), Some(weight)) => ops::add_rms_norm(&hidden, &added, weight, eps),
        (None, Some(weight)) => {
            let x = ops::rms_norm(&hidden, weight, eps)?;
            Ok((hidden, x))
        }
        (added, None) => {
            let sum = match added {
                Some(added) => (hidden + added)?,
                None => hidden,
            };
            Ok((sum.clone(), sum))
        }
    }
}

struct Loader<'a> {
    checkpoint: TensorReader<'a>,
    precision: Precision,
}

impl Loader<'_> {
    /// A layer, with the sizes that it has of its own.
    fn layer(&self, config: &ModelConfig, index: usize) -> Result<Layer> {
        let own = config.at(index);
        let checkpoint = TensorReader {
            config: &own,
            ..self.checkpoint
        };
        let own = Loader {
            checkpoint,
            precision: self.precision,
        };
        own.layer_of(config, index)
    }

    fn layer_of(&self, config: &ModelConfig, index: usize) -> Result<Layer> {
        let names = LayerNames::new(config, index);
        let checkpoint = &self.checkpoint;
        let own = checkpoint.config;
        let optional =
            |name: &Option<String>| name.as_ref().map(|name| checkpoint.norm(name)).transpose();
        let recurrent = (0..index).filter(|&before| config.is_recurrent(before));
        let recurrent = recurrent.count();
        let mixer = if let Some(names) = &names.delta {
            Mixer::Recurrent(Box::new(self.delta(names, recurrent)?))
        } else {
            Mixer::Attention(Box::new(AttentionLayer {
                index: index - recurrent,
                kv_heads: own.kv_heads,
                head_dim: own.head_dim,
                query_scale: own.score_scale * (own.head_dim as f64).sqrt(),
                qkv: self.qkv(&names.qkv)?,
                keys_are_values: own.keys_are_values,
                qk_norms: match &names.head_norms {
                    Some([q, k]) => {
                        let k = if own.kv_heads == 0 { q } else { k };
                        Some((checkpoint.head_norm(q)?, checkpoint.head_norm(k)?))
                    }
                    None => None,
                },
                norms: config.family.head_norms,
                value_norm: if own.family.norms_values && own.kv_heads > 0 {
                    let (dtype, device) = (checkpoint.compute, checkpoint.device);
                    Some(Tensor::ones(own.head_dim, dtype, device)?)
                } else {
                    None
                },
                // Their exponentials are summed in f32, as those of the scores.
                sinks: match &names.sinks {
                    Some(sinks) => Some(checkpoint.vector(sinks)?.to_dtype(DType::F32)?),
                    None => None,
                },
                gate: self.head_gate(&names.qkv)?,
                output: self.linear(&[names.output], config.biases.output)?,
            }))
        };
        Ok(Layer {
            attention_norm: optional(&names.attention_norm)?,
            mixer,
            attention_result_norm: optional(&names.attention_result_norm)?,
            feed_forward_norm: optional(&names.feed_forward_norm)?,
            feed_forward: self.feed_forward(config, &names.feed_forward)?,
            feed_forward_result_norm: optional(&names.feed_forward_result_norm)?,
            input: match &names.inputs {
                Some([gate, output, norm]) => Some(LayerInput {
                    gate: self.linear(std::slice::from_ref(gate), false)?,
                    output: self.linear(std::slice::from_ref(output), false)?,
                    norm: checkpoint.norm(norm)?,
                    eps: config.rms_norm_eps as f32,
                }),
                None => None,
            },
            scale: match &names.scale {
                Some(name) => checkpoint
                    .numbers(name)?
                    .first()
                    .copied()
                    .map_or(1.0, f64::from),
                None => 1.0,
            },
        })
    }

    /// A recurrent layer, the `index`-th of them.
    fn delta(&self, names: &DeltaNames, index: usize) -> Result<RecurrentLayer> {
        let linear = |name: &String| self.linear(std::slice::from_ref(name), false);
        let recurrent = self.checkpoint.config.recurrent.as_ref();
        let joined = recurrent.filter(|_| names.are_joined());
        let joined = joined.map(|recurrent| DeltaNames::joined_rows(&recurrent.shape));
        let part = |name: &String, rows: usize| {
            let (mut weight, _) = self.checkpoint.linear(std::slice::from_ref(name), false)?;
            if let Some(joined) = &joined {
                let rows = joined[rows].iter().map(|row| *row as u32);
                let rows = Tensor::from_iter(rows, weight.device())?;
                weight = weight.index_select(&rows, 0)?;
            }
            Ok::<_, ModelError>(weight)
        };
        let wide = |name, rows| match joined {
            Some(_) => Ok(Linear::new(
                part(name, rows)?,
                None,
                self.precision.weights,
            )?),
            None => linear(name),
        };
        Ok(RecurrentLayer {
            index,
            qkv: wide(&names.qkv, 0)?,
            gate: wide(&names.gate, 1)?,
            beta: Linear::exact(part(&names.beta, 2)?, None)?,
            step: Linear::exact(part(&names.step, 3)?, None)?,
            weights: self.checkpoint.delta(names)?,
            output: linear(&names.output)?,
        })
    }

    /// The gate of what attention's heads return, if the family has one.
    fn head_gate(&self, names: &[String]) -> Result<Option<Linear>> {
        if !self.checkpoint.config.family.gates_heads {
            return Ok(None);
        }
        if self.keeps_blocks()
            && let Some(weight) = self.checkpoint.packed_head_gate(names)?
        {
            return Ok(Some(Linear::packed(weight, None)));
        }
        let (weight, bias) = self.checkpoint.head_gate(names)?;
        Ok(Some(Linear::new(weight, bias, self.precision.weights)?))
    }

    fn feed_forward(&self, config: &ModelConfig, names: &FeedForwardNames) -> Result<FeedForward> {
        let names = match names {
            FeedForwardNames::Mixture(names) => names,
            FeedForwardNames::Dense(names) => return Ok(FeedForward::Dense(self.gated(names)?)),
        };
        let sizes = names.sizes;
        let router = std::slice::from_ref(&names.router);
        // Rounding it would choose other experts.
        let exact = TensorReader {
            compute: DType::F32,
            matrices: self.checkpoint.matrices.map(|_| DType::F32),
            ..self.checkpoint
        };
        let (mut router, bias) = exact.linear(router, config.biases.feed_forward)?;
        if let Some(beside) = &names.beside {
            let scale = (exact.vector(&beside.router_scale)? / (config.hidden as f64).sqrt())?;
            router = router.to_dtype(DType::F32)?.broadcast_mul(&scale)?;
        }
        let experts = (0..sizes.count)
            .map(|index| match &names.experts {
                ExpertNames::Apart(experts) => self.gated(&experts[index]),
                ExpertNames::Together { gate_up, down } if sizes.mxfp4 && self.keeps_blocks() => {
                    let [wide, narrow] = self
                        .checkpoint
                        .packed_expert(gate_up, down, &sizes, index)?;
                    Ok(Gated {
                        gate_up: Linear::packed(wide.0, Some(wide.1)),
                        down: Linear::packed(narrow.0, Some(narrow.1)),
                        activation: config.activation,
                    })
                }
                ExpertNames::Together { gate_up, down } => {
                    self.expert(self.checkpoint.expert(gate_up, down, &sizes, index)?)
                }
            })
            .collect::<Result<_>>()?;
        let shared = names.shared.as_ref().map(|names| {
            let weight = names.weight.as_ref().map(|name| {
                let (weight, _) = self.checkpoint.linear(std::slice::from_ref(name), false)?;
                Ok::<_, ModelError>(Linear::exact(weight, None)?)
            });
            Ok::<_, ModelError>((self.gated(&names.expert)?, weight.transpose()?))
        });
        let correction = names.correction.as_ref();
        let correction = correction.map(|name| self.checkpoint.numbers(name));
        let mut mixture = Mixture {
            router: Linear::exact(router, bias)?,
            correction: correction.transpose()?,
            experts,
            shared: shared.transpose()?,
            config: sizes,
            scales: None,
        };
        let Some(names) = &names.beside else {
            return Ok(FeedForward::Mixture(Box::new(mixture)));
        };
        let checkpoint = &self.checkpoint;
        mixture.scales = Some(checkpoint.numbers(&names.expert_scales)?);
        let norm = checkpoint.norm(&names.norm)?;
        Ok(FeedForward::Beside(Box::new(Beside {
            dense: self.gated(&names.dense)?,
            dense_result_norm: checkpoint.norm(&names.dense_result_norm)?,
            ones: norm.ones_like()?,
            norm,
            mixture,
            result_norm: checkpoint.norm(&names.result_norm)?,
            eps: config.rms_norm_eps as f32,
        })))
    }

    fn gated(&self, names: &GatedNames) -> Result<Gated> {
        if !self.keeps_blocks() {
            return self.expert(self.checkpoint.gated(names)?);
        }
        let bias = self.checkpoint.config.biases.feed_forward;
        Ok(Gated {
            gate_up: self.linear(&names.gate_up, bias)?,
            down: self.linear(std::slice::from_ref(&names.down), bias)?,
            activation: self.checkpoint.config.activation,
        })
    }

    fn expert(&self, (wide, narrow): (Projection, Projection)) -> Result<Gated> {
        let weight_type = self.precision.weights;
        Ok(Gated {
            gate_up: Linear::new(wide.0, wide.1, weight_type)?,
            down: Linear::new(narrow.0, narrow.1, weight_type)?,
            activation: self.checkpoint.config.activation,
        })
    }

    /// The joined projection of queries, keys and values.
    fn qkv(&self, names: &[String]) -> Result<Linear> {
        if self.keeps_blocks()
            && let Some((weight, bias)) = self.checkpoint.packed_qkv(names)?
        {
            return Ok(Linear::packed(weight, bias));
        }
        let (weight, bias) = self.checkpoint.qkv(names)?;
        Ok(Linear::new(weight, bias, self.precision.weights)?)
    }

    /// One linear layer that joins the outputs of several.
    fn linear(&self, names: &[String], bias: bool) -> Result<Linear> {
        if self.keeps_blocks()
            && let Some((weight, bias)) = self.checkpoint.packed_linear(names, bias)?
        {
            return Ok(Linear::packed(weight, bias));
        }
        let (weight, bias) = self.checkpoint.linear(names, bias)?;
        Ok(Linear::new(weight, bias, self.precision.weights)?)
    }

    /// A table of rows by token, as it is stored.
    fn table(&self, name: &str) -> Result<Table> {
        Ok(match self.packed(name)? {
            Some(table) => Table::Packed(table),
            None => Table::Own(self.checkpoint.matrix(name)?),
        })
    }

    /// What each layer gets of a token beside the residual stream.
    fn inputs(&self, names: &Names) -> Result<LayerInputs> {
        let [table, norm, projection] = &names.inputs;
        Ok(LayerInputs {
            table: self.table(table)?,
            projection: self.linear(std::slice::from_ref(projection), false)?,
            norm: self.checkpoint.norm(norm)?,
            eps: self.checkpoint.config.rms_norm_eps as f32,
        })
    }

    /// A matrix in the blocks of a GGUF file, by its full name.
    fn packed(&self, name: &str) -> Result<Option<Linear>> {
        if !self.keeps_blocks() {
            return Ok(None);
        }
        let weight = self.checkpoint.packed(&[name.to_owned()], None)?;
        Ok(weight.map(|weight| Linear::packed(weight, None)))
    }

    /// Whether weights stay in the blocks in which they are stored.
    fn keeps_blocks(&self) -> bool {
        let stored = matches!(self.precision.weights, WeightType::Stored { .. });
        stored && self.checkpoint.device.is_cpu()
    }
}
