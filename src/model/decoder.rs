//! The decoder: a pre-norm transformer with grouped queries, rotary positions and `SwiGLU`, over packed tokens.
//!
//! Qwen3 (<https://arxiv.org/abs/2505.09388>) with RMS norm on queries and keys by head. Every shape below is written with
//! `N` tokens of any number of sequences, side by side without padding.

use candle_core::{DType, Device, Tensor};

use super::attention::Attention;
use super::linear::Linear;
use super::ops::{self, Heads};
use super::rope::RotaryTable;
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
    mlp_norm: Tensor,
    /// Gate and up in one product: `[2 · intermediate, hidden]`.
    gate_up: Linear,
    down: Linear,
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
        dtype: DType,
    ) -> Result<Self, ModelError> {
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
        let fused = |names: &[String]| -> Result<Tensor, ModelError> {
            let parts = names
                .iter()
                .map(|name| get(name))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Tensor::cat(&parts, 0)?)
        };
        let linear = |prefix: &str, names: &[&str], bias: bool| -> Result<Linear, ModelError> {
            let names_of = |what: &str| {
                names
                    .iter()
                    .map(|name| format!("{prefix}.{name}.{what}"))
                    .collect::<Vec<_>>()
            };
            let bias = if bias {
                Some(fused(&names_of("bias"))?)
            } else {
                None
            };
            Ok(Linear::new(fused(&names_of("weight"))?, bias)?)
        };
        let layers = (0..config.layers).map(|index| {
            let at = format!("model.layers.{index}");
            let attention = format!("{at}.self_attn");
            let mlp = format!("{at}.mlp");
            Ok(Layer {
                attention_norm: get(&format!("{at}.input_layernorm.weight"))?,
                qkv: linear(
                    &attention,
                    &["q_proj", "k_proj", "v_proj"],
                    config.attention_bias,
                )?,
                qk_norms: Some((
                    get(&format!("{attention}.q_norm.weight"))?,
                    get(&format!("{attention}.k_norm.weight"))?,
                )),
                output: linear(&attention, &["o_proj"], config.attention_bias)?,
                mlp_norm: get(&format!("{at}.post_attention_layernorm.weight"))?,
                gate_up: linear(&mlp, &["gate_proj", "up_proj"], false)?,
                down: linear(&mlp, &["down_proj"], false)?,
            })
        });
        let layers = layers.collect::<Result<Vec<_>, ModelError>>()?;
        let table = get("model.embed_tokens.weight")?;
        let (embedding, head) = if config.tie_embeddings {
            (Embedding::Tied, Linear::new(table, None)?)
        } else {
            (
                Embedding::Own(table),
                Linear::new(get("lm_head.weight")?, None)?,
            )
        };
        Ok(Self {
            embedding,
            layers,
            norm: get("model.norm.weight")?,
            head,
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
        if self.device.is_cpu() {
            // Inside the thread pool the passes of a step start without waking it each time.
            return rayon::scope(|_| self.step(batch, attention));
        }
        self.step(batch, attention)
    }

    fn step(&self, batch: &StepBatch, attention: &mut dyn Attention) -> Result<Tensor, ModelError> {
        attention.prepare(batch)?;
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
        let (cos, sin) = self.rope.gather(&batch.positions)?;
        let mut hidden = self.embed(&batch.tokens)?;
        // What the previous layer adds to the residual stream; summed together with the next norm.
        let mut added: Option<Tensor> = None;
        for (index, layer) in self.layers.iter().enumerate() {
            let x;
            (hidden, x) = add_and_norm(hidden, added.take(), &layer.attention_norm, eps)?;
            let heads = Heads {
                heads: self.config.heads,
                kv_heads: self.config.kv_heads,
                head_dim: self.config.head_dim,
                norms: layer.qk_norms.as_ref().map(|(q, k)| (q, k)),
                eps,
                cos: &cos,
                sin: &sin,
            };
            let (q, k, v) = ops::split_heads(&layer.qkv.forward(&x)?, &heads)?;
            let attended = attention.forward(index, &q, &k, &v)?.output;
            let mut attended = attended.reshape((n, self.config.heads * self.config.head_dim))?;
            // The last layer's keys and values are written: from here on only the wanted rows matter.
            if index + 1 == self.layers.len() && wanted < n {
                if wanted == 0 {
                    return self.no_logits();
                }
                let rows = Tensor::new(batch.logits.as_slice(), &self.device)?;
                attended = attended.index_select(&rows, 0)?;
                hidden = hidden.index_select(&rows, 0)?;
            }
            let projected = layer.output.forward(&attended)?;
            let x;
            (hidden, x) = ops::add_rms_norm(&hidden, &projected, &layer.mlp_norm, eps)?;
            added = Some(Linear::feed_forward(&layer.gate_up, &layer.down, &x)?);
        }
        let (_, x) = add_and_norm(hidden, added, &self.norm, eps)?;
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
            x.index_select(&Tensor::new(batch.logits.as_slice(), &self.device)?, 0)?
        };
        Ok(self.head.forward(&x)?.to_dtype(DType::F32)?)
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

/// Every tensor of a checkpoint with its shape, under Hugging Face's names.
fn expected_tensors(config: &ModelConfig) -> Vec<(String, Vec<usize>)> {
    let (hidden, intermediate, head_dim) = (config.hidden, config.intermediate, config.head_dim);
    let (q, kv) = (config.heads * head_dim, config.kv_heads * head_dim);
    let mut tensors = vec![
        (
            "model.embed_tokens.weight".to_owned(),
            vec![config.vocab, hidden],
        ),
        ("model.norm.weight".to_owned(), vec![hidden]),
    ];
    if !config.tie_embeddings {
        tensors.push(("lm_head.weight".to_owned(), vec![config.vocab, hidden]));
    }
    for index in 0..config.layers {
        let mut add = |name: &str, shape: Vec<usize>| {
            tensors.push((format!("model.layers.{index}.{name}"), shape));
        };
        add("input_layernorm.weight", vec![hidden]);
        add("post_attention_layernorm.weight", vec![hidden]);
        add("self_attn.q_norm.weight", vec![head_dim]);
        add("self_attn.k_norm.weight", vec![head_dim]);
        for (name, outputs, inputs) in [
            ("q_proj", q, hidden),
            ("k_proj", kv, hidden),
            ("v_proj", kv, hidden),
            ("o_proj", hidden, q),
        ] {
            add(&format!("self_attn.{name}.weight"), vec![outputs, inputs]);
            if config.attention_bias {
                add(&format!("self_attn.{name}.bias"), vec![outputs]);
            }
        }
        add("mlp.gate_proj.weight", vec![intermediate, hidden]);
        add("mlp.up_proj.weight", vec![intermediate, hidden]);
        add("mlp.down_proj.weight", vec![hidden, intermediate]);
    }
    tensors
}
