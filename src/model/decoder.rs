//! The decoder: a pre-norm transformer with grouped queries, rotary positions and `SwiGLU`, over packed tokens.
//!
//! One decoder for all families; what a family has or lacks is in its configuration. Every shape below is written with `N`
//! tokens of any number of sequences, side by side without padding.

use candle_core::{DType, Device, Tensor};

use super::attention::Attention;
use super::feed_forward::{FeedForward, Gated, Mixture};
use super::linear::Linear;
use super::ops::{self, Heads};
use super::precision::{Precision, WeightType};
use super::profile::{Phase, Profile};
use super::rope::RotaryTable;
use super::tensors::expected_tensors;
use super::{ModelConfig, ModelError, StepBatch, Weights};

/// A model's weights on a device, immutable.
pub struct Decoder {
    config: ModelConfig,
    device: Device,
    embedding: Embedding,
    layers: Vec<Layer>,
    norm: Tensor,
    /// `[vocab, hidden]`; the embedding table too when they are tied.
    head: Linear,
    rope: RotaryTable,
}

enum Embedding {
    /// `[vocab, hidden]`
    Own(Tensor),
    /// The output head's weight.
    Tied,
}

struct Layer {
    attention_norm: Tensor,
    /// Queries, keys and values in one product: `[(heads + 2 · kv_heads) · head_dim, hidden]`.
    qkv: Linear,
    /// Norms of queries and keys, `[head_dim]`.
    qk_norms: Option<(Tensor, Tensor)>,
    output: Linear,
    feed_forward_norm: Tensor,
    feed_forward: FeedForward,
}

impl Decoder {
    /// Reads the weights to a device. They must be exactly what the configuration describes.
    ///
    /// # Errors
    /// [`ModelError::Mismatch`] naming tensors and shapes; [`ModelError::Unsupported`] for a precision that the device
    /// does not compute in; whatever reading gives.
    pub fn load(
        config: &ModelConfig,
        weights: &Weights,
        device: &Device,
        precision: Precision,
    ) -> Result<Self, ModelError> {
        let dtype = precision.compute;
        if device.is_cpu() && dtype != DType::F32 {
            return Err(ModelError::Unsupported(format!(
                "the CPU computes in f32, not in {dtype:?}"
            )));
        }
        // A tied checkpoint may carry the head it does not use, and old ones the rotary frequencies.
        weights.check(&expected_tensors(config), |name| {
            (config.tie_embeddings && name == "lm_head.weight")
                || name.ends_with("rotary_emb.inv_freq")
        })?;
        let get = |name: &str| weights.get(name, device, dtype);
        let loader = Loader {
            weights,
            device,
            precision,
        };
        let layers = (0..config.layers)
            .map(|index| loader.layer(config, index))
            .collect::<Result<Vec<_>, ModelError>>()?;
        let head = if config.tie_embeddings {
            "model.embed_tokens"
        } else {
            "lm_head"
        };
        Ok(Self {
            embedding: if config.tie_embeddings {
                Embedding::Tied
            } else {
                Embedding::Own(get("model.embed_tokens.weight")?)
            },
            layers,
            norm: get("model.norm.weight")?,
            head: loader.linear(&[head], false, precision.weights.for_head())?,
            rope: RotaryTable::new(config, device, dtype)?,
            config: config.clone(),
            device: device.clone(),
        })
    }

    /// The model's configuration.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Where the weights are.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Positions the model can take: `0..max_positions()`.
    pub fn max_positions(&self) -> usize {
        self.rope.positions()
    }

    /// Computes a step: writes its keys and values to the cache, and returns the logits of the tokens that
    /// [`StepBatch::logits`] names, `[logits.len(), vocab]`, f32.
    ///
    /// # Errors
    /// [`ModelError::Batch`] for a step that does not fit the model or the cache.
    pub fn forward(
        &self,
        batch: &StepBatch,
        attention: &mut dyn Attention,
    ) -> Result<Tensor, ModelError> {
        self.forward_profiled(batch, attention, &mut Profile::off())
    }

    /// [`Self::forward`], noting where the time goes.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn forward_profiled(
        &self,
        batch: &StepBatch,
        attention: &mut dyn Attention,
        profile: &mut Profile,
    ) -> Result<Tensor, ModelError> {
        if self.device.is_cpu() {
            // Inside the thread pool the passes of a step start without waking it each time.
            return rayon::scope(|_| self.step(batch, attention, profile));
        }
        self.step(batch, attention, profile)
    }

    fn step(
        &self,
        batch: &StepBatch,
        attention: &mut dyn Attention,
        profile: &mut Profile,
    ) -> Result<Tensor, ModelError> {
        let device = &self.device;
        profile.time(Phase::Attention, None, device, || attention.prepare(batch))?;
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
        let (mut hidden, (cos, sin)) = profile.time(Phase::Embedding, None, device, || {
            let angles = self.rope.gather(&batch.positions)?;
            Ok::<_, ModelError>((self.embed(&batch.tokens)?, angles))
        })?;
        // What the previous layer adds to the residual stream; summed together with the next norm.
        let mut added: Option<Tensor> = None;
        for (index, layer) in self.layers.iter().enumerate() {
            let at = Some(index);
            let x;
            (hidden, x) = profile.time(Phase::Elementwise, at, device, || {
                add_and_norm(hidden, added.take(), &layer.attention_norm, eps)
            })?;
            let heads = Heads {
                heads: self.config.heads,
                kv_heads: self.config.kv_heads,
                head_dim: self.config.head_dim,
                norms: layer.qk_norms.as_ref().map(|(q, k)| (q, k)),
                eps,
                cos: &cos,
                sin: &sin,
            };
            let qkv = profile.time(Phase::Gemm, at, device, || layer.qkv.forward(&x))?;
            let (q, k, v) = profile.time(Phase::Elementwise, at, device, || {
                ops::split_heads(&qkv, &heads)
            })?;
            let attended = profile.time(Phase::Attention, at, device, || {
                attention.forward(index, &q, &k, &v)
            })?;
            let mut attended = attended
                .output
                .reshape((n, self.config.heads * self.config.head_dim))?;
            // The last layer's keys and values are written: from here on only the wanted rows matter.
            if index + 1 == self.layers.len() && wanted < n {
                if wanted == 0 {
                    return self.no_logits();
                }
                let rows = Tensor::new(batch.logits.as_slice(), device)?;
                attended = attended.index_select(&rows, 0)?;
                hidden = hidden.index_select(&rows, 0)?;
            }
            let projected =
                profile.time(Phase::Gemm, at, device, || layer.output.forward(&attended))?;
            let x;
            (hidden, x) = profile.time(Phase::Elementwise, at, device, || {
                ops::add_rms_norm(&hidden, &projected, &layer.feed_forward_norm, eps)
            })?;
            added = Some(profile.time(Phase::Gemm, at, device, || layer.feed_forward.forward(&x))?);
        }
        let (_, x) = profile.time(Phase::Elementwise, None, device, || {
            add_and_norm(hidden, added, &self.norm, eps)
        })?;
        // With all rows wanted they were not picked above, and may be wanted in another order.
        let in_order = wanted < n
            || batch
                .logits
                .iter()
                .enumerate()
                .all(|(i, &index)| i == index as usize);
        let x = if in_order {
            x
        } else {
            x.index_select(&Tensor::new(batch.logits.as_slice(), device)?, 0)?
        };
        profile.time(Phase::Head, None, device, || {
            self.head.forward(&x)?.to_dtype(DType::F32)
        })
    }

    /// On the host: not every GPU driver allocates nothing.
    fn no_logits(&self) -> Result<Tensor, ModelError> {
        let shape = (0, self.config.vocab);
        Ok(Tensor::zeros(shape, DType::F32, &Device::Cpu)?)
    }

    /// `[N]` token ids to `[N, hidden]`.
    fn embed(&self, tokens: &[u32]) -> Result<Tensor, ModelError> {
        Ok(match &self.embedding {
            Embedding::Own(table) => table.index_select(&Tensor::new(tokens, &self.device)?, 0)?,
            Embedding::Tied => self.head.rows(tokens, &self.device)?,
        })
    }
}

/// The residual stream with what is still to be added, and its norm.
fn add_and_norm(
    hidden: Tensor,
    added: Option<Tensor>,
    weight: &Tensor,
    eps: f32,
) -> Result<(Tensor, Tensor), ModelError> {
    if let Some(added) = added {
        return Ok(ops::add_rms_norm(&hidden, &added, weight, eps)?);
    }
    let x = ops::rms_norm(&hidden, weight, eps)?;
    Ok((hidden, x))
}

/// Reads layers.
struct Loader<'a> {
    weights: &'a Weights,
    device: &'a Device,
    precision: Precision,
}

impl Loader<'_> {
    fn layer(&self, config: &ModelConfig, index: usize) -> Result<Layer, ModelError> {
        let at = format!("model.layers.{index}");
        let attention = format!("{at}.self_attn");
        let get = |name: &str| {
            let name = format!("{at}.{name}.weight");
            self.weights.get(&name, self.device, self.precision.compute)
        };
        let weight_type = self.precision.weights;
        let projections = ["q_proj", "k_proj", "v_proj"].map(|name| format!("{attention}.{name}"));
        let feed_forward = match config.experts {
            None => FeedForward::Dense(self.gated(&format!("{at}.mlp"))?),
            Some(experts) => FeedForward::Mixture(Mixture {
                // Small, and its rounding would choose other experts.
                router: self.linear(
                    &[&format!("{at}.mlp.gate")],
                    false,
                    weight_type.for_router(self.precision.compute),
                )?,
                experts: (0..experts.count)
                    .map(|expert| self.gated(&format!("{at}.mlp.experts.{expert}")))
                    .collect::<Result<_, _>>()?,
                config: experts,
            }),
        };
        Ok(Layer {
            attention_norm: get("input_layernorm")?,
            qkv: self.linear(
                &projections.each_ref().map(String::as_str),
                config.attention_bias,
                weight_type,
            )?,
            qk_norms: if config.architecture.norms_heads() {
                Some((get("self_attn.q_norm")?, get("self_attn.k_norm")?))
            } else {
                None
            },
            output: self.linear(
                &[&format!("{attention}.o_proj")],
                config.attention_bias,
                weight_type,
            )?,
            feed_forward_norm: get("post_attention_layernorm")?,
            feed_forward,
        })
    }

    fn gated(&self, prefix: &str) -> Result<Gated, ModelError> {
        let name = |name: &str| format!("{prefix}.{name}");
        let weight_type = self.precision.weights;
        Ok(Gated {
            gate_up: self.linear(&[&name("gate_proj"), &name("up_proj")], false, weight_type)?,
            down: self.linear(&[&name("down_proj")], false, weight_type)?,
        })
    }

    /// One layer from the outputs of several, side by side.
    fn linear(
        &self,
        names: &[&str],
        bias: bool,
        weight_type: WeightType,
    ) -> Result<Linear, ModelError> {
        let fused = |what: &str, dtype: Option<DType>| -> Result<Tensor, ModelError> {
            let parts = names
                .iter()
                .map(|name| {
                    let name = format!("{name}.{what}");
                    match dtype {
                        Some(dtype) => self.weights.get(&name, self.device, dtype),
                        None => self.weights.get_as_stored(&name, self.device),
                    }
                })
                .collect::<Result<Vec<_>, _>>()?;
            let same = parts
                .windows(2)
                .all(|pair| pair[0].dtype() == pair[1].dtype());
            let parts = if same {
                parts
            } else {
                parts
                    .iter()
                    .map(|part| part.to_dtype(DType::F32))
                    .collect::<candle_core::Result<_>>()?
            };
            match parts.as_slice() {
                [one] => Ok(one.clone()),
                several => Ok(Tensor::cat(several, 0)?),
            }
        };
        let compute = self.precision.compute;
        let bias = if bias {
            Some(fused("bias", Some(compute))?)
        } else {
            None
        };
        // The CPU packs, and may quantise, what the checkpoint stores; a GPU multiplies in the type it computes in.
        let dtype = (!self.device.is_cpu()).then_some(compute);
        Ok(Linear::new(fused("weight", dtype)?, bias, weight_type)?)
    }
}
