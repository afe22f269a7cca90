//! `config.json`: what a checkpoint is, as far as this decoder can run it.
//!
//! A key that would change the result and is not supported is an error that names the key, and so is a key that this program
//! does not know: nothing that matters is silently ignored. Keys are those of Hugging Face transformers, versions 4 and 5,
//! and what a family's own code calls otherwise ([`Family::renamed`]). Of a model that reads images too the text part counts.

mod keys;
mod quantization;
mod read;
mod recurrent;
mod rope;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value;

pub(crate) use self::quantization::Zeros;
pub use self::quantization::{Fp8Scales, IntegerForm, Quantization};
pub use self::recurrent::{Recurrent, RecurrentShape};
pub use self::rope::{PositionScale, Rope, RopeScaling};

pub(super) use self::keys::{Keys, is_nothing, short};
use super::ModelSource;
pub use super::families::Scores;
use super::families::{Family, HeadNorms, Part};
use super::tensors::MAX_TENSORS;
use crate::checkpoint::CheckpointError;
use juror_hub::layout::CONFIG_FILE;

/// The longest supported context: how many positions get rotary angles.
pub(crate) const MAX_POSITIONS: usize = 1 << 17;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Experts {
    /// Experts in a layer, `num_experts` or `num_local_experts`.
    pub count: usize,
    /// Experts that work on a token, `num_experts_per_tok`.
    pub per_token: usize,
    /// Width of an expert, `moe_intermediate_size`.
    pub(crate) intermediate: usize,
    /// Whether the weights of a token's experts are scaled to sum to 1, `norm_topk_prob`.
    pub(crate) normalise: bool,
    /// How a router's logits become scores.
    pub(crate) scores: Scores,
    /// What their weights are multiplied with in the end, `routed_scaling_factor`.
    pub(crate) scale: f64,
    /// Width of the expert that works on every token, beside the chosen ones, if there is one.
    pub(crate) shared: Option<usize>,
    /// The first layer that has experts; those before have a feed-forward layer of width [`ModelConfig::intermediate`].
    pub(crate) first: usize,
    /// Whether they work beside a dense layer of width [`ModelConfig::intermediate`].
    pub(crate) beside_dense: bool,
    /// Whether their weights are stored in MXFP4, `quantization_config`.
    pub(crate) mxfp4: bool,
    /// Whether a layer's are stored in one tensor, gate and up alternating: gpt-oss, but not its GGUF files.
    pub(crate) together: bool,
}

/// What a feed-forward layer does between its wide products.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// `silu(gate) · up`
    Silu,
    /// `gelu(gate) · up`, in the form with a hyperbolic tangent
    Gelu,
    /// gpt-oss: `gate · sigmoid(alpha · gate) · (up + 1)`, with the gate limited from above and `up` on both sides.
    Clamped { alpha: f64, limit: f64 },
}

/// Which linear layers have biases.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Biases {
    /// Queries, keys and values.
    pub qkv: bool,
    /// Attention's output.
    pub(crate) output: bool,
    /// The feed-forward layer, or the experts and their router.
    pub(crate) feed_forward: bool,
}

/// A rotary embedding that some of the layers have.
#[derive(Debug, Clone, PartialEq)]
pub struct SecondRope {
    /// The embedding.
    pub rope: Rope,
    pub layers: Vec<bool>,
}

/// What layers without windows have of their own, in place of the sizes of the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullLayers {
    pub layers: Vec<bool>,
    pub kv_heads: usize,
    pub head_dim: usize,
    /// Whether their values are their projected keys, before these are normed and rotated.
    pub(crate) keys_are_values: bool,
}

/// Layers without keys and values of their own, the last ones: each attends to those of the last layer of its kind that has any.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharingLayers {
    /// How many, `num_kv_shared_layers`.
    pub count: usize,
    /// Width of their feed-forward layers.
    pub(crate) intermediate: usize,
}

/// What each layer gets of a token beside the residual stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerInputs {
    /// How many numbers a layer gets, `hidden_size_per_layer_input`.
    pub width: usize,
    /// Tokens in the table of them, `vocab_size_per_layer_input`.
    pub(crate) rows: usize,
}

/// The sizes and constants of a decoder.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    pub family: &'static Family,
    /// Whether it is the text part of a model that reads images or sound too; what reads these is not loaded.
    pub text_part: bool,
    /// Token ids, `vocab_size`.
    pub vocab: usize,
    /// Width of the residual stream, `hidden_size`.
    pub hidden: usize,
    /// Width of the feed-forward layer, `intermediate_size`.
    pub intermediate: usize,
    /// Layers, `num_hidden_layers`.
    pub layers: usize,
    /// Query heads, `num_attention_heads`.
    pub heads: usize,
    /// Key and value heads, `num_key_value_heads`; none as a layer sees it that attends to another's ([`Self::at`]).
    pub kv_heads: usize,
    /// Width of a head; not always `hidden / heads`.
    pub head_dim: usize,
    /// Whether values are the projected keys, before these are normed and rotated.
    pub(crate) keys_are_values: bool,
    /// What of this is otherwise in layers without windows.
    pub full_layers: Option<FullLayers>,
    /// The layers that attend to another layer's keys and values.
    pub sharing: Option<SharingLayers>,
    /// What each layer gets of a token beside the residual stream.
    pub layer_inputs: Option<LayerInputs>,
    /// The number of positions: `max_position_embeddings`, or what `YaRN` stretches the original context to if that is more,
    /// up to the limit of this program (131,072).
    pub max_positions: usize,
    /// Epsilon of the norms, `rms_norm_eps`.
    pub rms_norm_eps: f64,
    pub rope: Rope,
    /// Another one, of some of the layers.
    pub second_rope: Option<SecondRope>,
    /// How queries grow with their position, if they do.
    pub position_scale: Option<PositionScale>,
    /// Whether queries and keys are normed, as the family does it.
    pub head_norms: bool,
    /// What embeddings are multiplied with.
    pub embedding_scale: f64,
    /// What the results of attention and of the feed-forward layer are multiplied with before they join the residual stream.
    pub result_scale: f64,
    /// What logits are multiplied with.
    pub logit_scale: f64,
    /// What scores are multiplied with; `1 / √head_dim` unless the family says otherwise.
    pub score_scale: f64,
    /// The bound `c` of scores, which become `c · tanh(score / c)`, `attn_logit_softcapping`.
    pub score_softcap: Option<f64>,
    /// The same of logits, `final_logit_softcapping`.
    pub logit_softcap: Option<f64>,
    /// For each layer, how many keys a query sees, its own included; `None` where it sees all of them.
    pub windows: Vec<Option<usize>>,
    /// The layers that keep a state in place of keys and values, if there are any.
    pub recurrent: Option<Recurrent>,
    /// The experts of every layer, or of all but the first, in place of a feed-forward layer of width [`Self::intermediate`], or beside it.
    pub experts: Option<Experts>,
    /// Layers behind the others that guess several tokens ahead, and are not loaded.
    pub layers_ahead: usize,
    /// How linear layers are stored, if not number by number.
    pub quantization: Option<Quantization>,
    pub activation: Activation,
    /// Whether the output head is the embedding table.
    pub tie_embeddings: bool,
    pub biases: Biases,
    /// Tokens that end a generation: `generation_config.json`'s where there is one, else `config.json`'s.
    pub eos_token_ids: Vec<u32>,
}

impl ModelConfig {
    /// What our CUDA kernels do not compute: candle's operations run it, or nothing does on a GPU. Whatever is new is looked at for this (`tests/kernels.rs`).
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) fn beyond_kernels(&self) -> Option<&'static str> {
        if self.sharing.is_some() || self.layer_inputs.is_some() {
            return Some("inputs of each layer, or layers with another's keys");
        }
        let scores = self.experts.map(|experts| experts.scores);
        (scores == Some(Scores::Softmax) && self.family.has(Part::RouterCorrection))
            .then_some("a softmax whose experts are chosen by other numbers")
    }

    /// The number of parameters; tied ones count once.
    pub fn parameters(&self) -> usize {
        let when = |there: bool, count: usize| if there { count } else { 0 };
        let family = self.family;
        let of_attention = |layer: usize| {
            let own = self.at(layer);
            let (queries, keys) = (own.heads * own.head_dim, own.kv_heads * own.head_dim);
            own.attention_weights()
                + when(own.biases.qkv, queries + 2 * keys)
                + when(own.biases.output, own.hidden)
                + when(own.head_norms, own.head_norm_widths().iter().sum())
                + when(family.has(Part::Sinks), own.heads)
        };
        let attention = (0..self.layers).filter(|&layer| !self.is_recurrent(layer));
        let gated = |width: usize| {
            3 * self.hidden * width + when(self.biases.feed_forward, 2 * width + self.hidden)
        };
        let with_experts = self.experts.as_ref().map_or(0, |experts| {
            let router = self.hidden
                + usize::from(self.biases.feed_forward)
                + usize::from(family.has(Part::RouterCorrection));
            let shared = |width| gated(width) + when(family.has(Part::SharedWeight), self.hidden);
            // Norms, and scales.
            let beside = 4 * self.hidden + experts.count;
            experts.count * (gated(experts.intermediate) + router)
                + experts.shared.map_or(0, shared)
                + when(experts.beside_dense, beside)
        });
        let norms = [
            Part::AttentionNorm,
            Part::AttentionResultNorm,
            Part::FeedForwardNorm,
            Part::FeedForwardResultNorm,
        ];
        let norms = norms.iter().filter(|part| family.has(**part)).count() * self.hidden
            + when(family.has(Part::LayerScale), 1);
        let dense: usize = self.dense_widths().map(gated).sum();
        let experts = self.layers - self.dense_layers();
        let embeddings = if self.tie_embeddings { 1 } else { 2 } * self.vocab * self.hidden;
        let recurrent = self.recurrent.as_ref().map_or(0, |recurrent| {
            let shape = &recurrent.shape;
            let others = shape.taps * shape.channels() + 2 * shape.value_heads + shape.value_dim;
            shape.layers * (shape.weights(self.hidden) + others)
        });
        embeddings
            + attention.map(of_attention).sum::<usize>()
            + recurrent
            + dense
            + experts * with_experts
            + self.layers * norms
            + self.input_table()
            + self.input_weights()
            + self
                .layer_inputs
                .map_or(0, |inputs| inputs.width + self.layers * self.hidden)
            + self.hidden
    }

    fn dense_layers(&self) -> usize {
        self.experts
            .map_or(self.layers, |experts| experts.first.min(self.layers))
    }

    /// How many numbers are normed together: of queries, and of keys.
    pub(crate) fn head_norm_widths(&self) -> [usize; 2] {
        match self.family.head_norms {
            HeadNorms::Together => [self.heads, self.kv_heads].map(|heads| heads * self.head_dim),
            _ if self.kv_heads == 0 => [self.head_dim, 0],
            HeadNorms::ByHead | HeadNorms::AfterRotation => [self.head_dim; 2],
        }
    }

    /// The configuration as a layer sees it: sizes and the rotary embedding are the layer's own.
    pub fn at(&self, layer: usize) -> Cow<'_, Self> {
        let Some(full) = &self.full_layers else {
            return Cow::Borrowed(self);
        };
        let mut own = self.clone();
        own.rope.clone_from(self.rope_at(layer));
        if full.layers[layer] {
            (own.kv_heads, own.head_dim) = (full.kv_heads, full.head_dim);
            own.keys_are_values = full.keys_are_values;
        }
        own.intermediate = self.intermediate_at(layer);
        if self.keys_of(layer) != layer {
            (own.kv_heads, own.keys_are_values) = (0, false);
        }
        Cow::Owned(own)
    }

    /// The first layer that attends to another layer's keys and values; the number of layers if none does.
    pub fn first_sharing(&self) -> usize {
        self.layers - self.sharing.map_or(0, |sharing| sharing.count)
    }

    /// The layer whose keys and values a layer attends to: itself, or the last one of its kind that has any.
    pub(crate) fn keys_of(&self, layer: usize) -> usize {
        let first = self.first_sharing();
        if layer < first {
            return layer;
        }
        let full = self.full_layers.as_ref();
        let kind = |layer: usize| full.is_some_and(|full| full.layers[layer]);
        let mut before = (0..first).rev();
        let other = before.find(|&other| kind(other) == kind(layer));
        other.unwrap_or(layer)
    }

    /// The width of a layer's dense feed-forward layer.
    fn intermediate_at(&self, layer: usize) -> usize {
        match self.sharing {
            Some(sharing) if layer >= self.first_sharing() => sharing.intermediate,
            _ => self.intermediate,
        }
    }

    /// The widths of all dense feed-forward layers.
    pub(crate) fn dense_widths(&self) -> impl Iterator<Item = usize> + Clone {
        let dense = match self.experts {
            Some(experts) if !experts.beside_dense => self.dense_layers(),
            _ => self.layers,
        };
        (0..dense).map(|layer| self.intermediate_at(layer))
    }

    /// Numbers in the table of what each layer gets of a token.
    pub fn input_table(&self) -> usize {
        let inputs = self.layer_inputs;
        inputs.map_or(0, |inputs| self.layers * inputs.width * inputs.rows)
    }

    /// Numbers of the matrices that such inputs come from and go through.
    fn input_weights(&self) -> usize {
        3 * self.layers * self.layer_inputs.map_or(0, |inputs| inputs.width) * self.hidden
    }

    /// Whether a layer has the second rotary embedding.
    pub(crate) fn has_second_rope(&self, layer: usize) -> bool {
        let second = self.second_rope.as_ref();
        second.is_some_and(|second| second.layers[layer])
    }

    /// The rotary embedding of a layer.
    fn rope_at(&self, layer: usize) -> &Rope {
        match &self.second_rope {
            Some(second) if second.layers[layer] => &second.rope,
            _ => &self.rope,
        }
    }

    /// The configuration as the layer sees it whose projections around attention are the widest, with the widest feed-forward layer.
    pub(crate) fn at_widest(&self) -> Cow<'_, Self> {
        let full = self.full_layers.as_ref();
        let layers = full.map_or(0..1, |full| 0..full.layers.len());
        let layers = layers.map(|layer| self.at(layer));
        let widest = layers.max_by_key(|own| (own.heads + 2 * own.kv_heads) * own.head_dim);
        let mut widest = widest.unwrap_or(Cow::Borrowed(self));
        if let Some(sharing) = self.sharing {
            widest.to_mut().intermediate = sharing.intermediate;
        }
        widest
    }

    /// The width of a dense layer beside experts, if there is one.
    pub(crate) fn beside_experts(&self) -> usize {
        let beside = self.experts.is_some_and(|experts| experts.beside_dense);
        if beside { self.intermediate } else { 0 }
    }

    /// Layers with attention; the others are recurrent.
    pub fn attention_layers(&self) -> usize {
        let recurrent = self.recurrent.as_ref();
        self.layers - recurrent.map_or(0, |recurrent| recurrent.shape.layers)
    }

    pub(crate) fn is_recurrent(&self, layer: usize) -> bool {
        let recurrent = self.recurrent.as_ref();
        recurrent.is_some_and(|recurrent| recurrent.layers[layer])
    }

    /// The numbers of a layer's projections around attention.
    fn attention_weights(&self) -> usize {
        let (queries, keys) = (self.heads * self.head_dim, self.kv_heads * self.head_dim);
        let projected = if self.family.gates_heads { 3 } else { 2 } * queries
            + if self.keys_are_values { 1 } else { 2 } * keys;
        self.hidden * projected
    }

    /// The weights of the layers that a token is multiplied with: without embeddings, head and the experts that it does not
    /// use. Each costs two floating-point operations per token, apart from attention.
    pub fn active_layer_parameters(&self) -> usize {
        // Two thirds of the matrices of layers' inputs are in the layers.
        self.active_parameters_in(0..self.layers) + self.input_weights() / 3
    }

    /// The part of these in layers that attend to another's keys: only tokens go through them whose logits are wanted.
    pub fn sharing_layer_parameters(&self) -> usize {
        self.active_parameters_in(self.first_sharing()..self.layers)
    }

    fn active_parameters_in(&self, layers: Range<usize>) -> usize {
        let with_experts = self.experts.as_ref().map_or(0, |experts| {
            let width = experts.intermediate * experts.per_token + experts.shared.unwrap_or(0);
            self.hidden * (3 * width + experts.count)
        });
        let inputs = self.layer_inputs.map_or(0, |inputs| 2 * inputs.width);
        let one = |layer: usize| {
            let own = self.at(layer);
            let recurrent = self.recurrent.as_ref().filter(|all| all.layers[layer]);
            let recurrent = recurrent.map(|all| all.shape.weights(self.hidden));
            let mixer = recurrent.unwrap_or_else(|| own.attention_weights());
            let mixed = usize::from(layer >= self.dense_layers());
            let dense = own.beside_experts().max((1 - mixed) * own.intermediate);
            mixer + self.hidden * (3 * dense + inputs) + mixed * with_experts
        };
        layers.map(one).sum()
    }

    /// Reads `config.json`, and the end tokens of `generation_config.json`, of a model.
    pub fn load(source: &ModelSource) -> Result<Self, CheckpointError> {
        let path = source.describe(CONFIG_FILE);
        let text = source.read_text(CONFIG_FILE)?;
        if !matches!(source, ModelSource::Gguf(_)) {
            let value = read(&text, &path)?;
            let keys = Keys::new(&value, &path);
            for own in [read::CONVERTED, read::EXPERTS_APART] {
                if !keys.lacks(own) {
                    return keys.fail(format!("{own} is not supported"));
                }
            }
        }
        let mut config = Self::parse(&text, &path)?;
        let generation = "generation_config.json";
        if source.has(generation) {
            let path = source.describe(generation);
            let value = read(&source.read_text(generation)?, &path)?;
            let ids = Keys::new(&value, &path).token_ids("eos_token_id")?;
            if !ids.is_empty() {
                config.eos_token_ids = ids;
            }
        }
        Ok(config)
    }

    /// Reads the text of a `config.json`; `path` is its name in messages.
    pub fn parse(text: &str, path: &str) -> Result<Self, CheckpointError> {
        let value = read(text, path)?;
        let keys = Keys::new(&value, path);
        let mut config = read::parse(&value, path)?;
        // Far beyond any model; with these limits products of sizes fit in 64 bits, and lists of tensors in memory.
        let experts = config.experts;
        let full = config.full_layers.as_ref();
        let of_full = full.map_or(0, |full| full.head_dim);
        let inputs = config.layer_inputs.map_or(0, |inputs| inputs.width);
        let of_experts = |size: fn(Experts) -> usize| experts.map_or(0, size);
        for (what, size, most) in [
            ("number of layers", config.layers, 512),
            ("hidden size", config.hidden, 1 << 16),
            ("intermediate size", config.intermediate, 1 << 18),
            ("number of heads", config.heads, 1024),
            ("head width", config.head_dim, 1024),
            ("head width of layers without windows", of_full, 1024),
            ("width of each layer's input", inputs, 1 << 14),
            ("number of experts", of_experts(|own| own.count), 1024),
            ("expert width", of_experts(|own| own.intermediate), 1 << 18),
            (
                "width of the expert that works on every token",
                of_experts(|own| own.shared.unwrap_or(0)),
                1 << 18,
            ),
        ] {
            if size > most {
                return keys.fail(format!(
                    "the {what} is {size}: no more than {most} is supported"
                ));
            }
        }
        let experts = experts.map_or(0, |experts| experts.count * config.layers);
        if experts > MAX_TENSORS / 4 {
            return keys.fail(format!(
                "{experts} experts in all layers: no more than {} are supported",
                MAX_TENSORS / 4
            ));
        }
        let kv_heads = full.map(|full| (full.kv_heads, "layers without windows, "));
        for (kv_heads, of) in [(config.kv_heads, "")].into_iter().chain(kv_heads) {
            if !config.heads.is_multiple_of(kv_heads) {
                return keys.fail(format!(
                    "{} query heads are not a multiple of {kv_heads} key heads ({of}num_attention_heads, num_key_value_heads)",
                    config.heads
                ));
            }
        }
        config.max_positions = config.max_positions.min(MAX_POSITIONS);
        Ok(config)
    }
}

pub(super) fn read(text: &str, path: &str) -> Result<Value, CheckpointError> {
    serde_json::from_str(text).map_err(|error| CheckpointError::Config {
        path: path.into(),
        message: format!("not JSON: {error}"),
    })
}
