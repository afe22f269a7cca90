//! The model families that the decoder runs: one row for each.
//!
//! A row ([`rows`]) says what a family's files call themselves and their tensors, in Safetensors and in GGUF, which keys of
//! `config.json` they have under other names, leave out or must have at one value, and in what the family differs from a plain decoder
//! (`rows::PLAIN`: norms before both parts of a layer, grouped queries without biases, `SwiGLU`, an output head). Code asks a row for
//! its properties, never for its name, so a family without anything new is a row, a case of `scripts/golden_models.py` with its name in
//! `tests/model/golden_logits.rs`, and a line in `docs/guide/families.md`.
//!
//! A row holds only what is not plain:
//!
//! ```text
//! Family {
//!     name: "Qwen3",
//!     classes: &["Qwen3ForCausalLM"],      // architectures[0]
//!     model_types: &["qwen3"],             // model_type, of files without architectures and of `text_config`
//!     gguf: &["qwen3"],                    // general.architecture
//!     tensors: "layer head_norms",         // groups of tensors.tsv; later ones win
//!     qkv_bias: Bias::Key("attention_bias"),
//!     ..PLAIN
//! }
//! ```

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;
use serde_json::Value;

mod rows;

pub(crate) use rows::FAMILIES;

/// A tensor's place in the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum Part {
    /// The table of embeddings, `[vocab, hidden]`.
    Embedding,
    /// The norm before the output head.
    Norm,
    /// The output head, `[vocab, hidden]`.
    Head,
    AttentionNorm,
    Query,
    Key,
    Value,
    /// Queries, keys and values stored as one matrix.
    QueryKeyValue,
    QueryNorm,
    KeyNorm,
    /// Attention sinks: a learnt score for attending to nothing, by head.
    Sinks,
    AttentionOutput,
    /// The norm of attention's result, before it joins the residual stream.
    AttentionResultNorm,
    FeedForwardNorm,
    Gate,
    Up,
    /// Gate and up stored as one matrix.
    GateUp,
    Down,
    FeedForwardResultNorm,
    /// The number that a layer's result is multiplied with, the residual stream included.
    LayerScale,
    /// Where experts work beside a dense layer: the norm of the latter's result, the norm before the experts, and that of theirs.
    DenseResultNorm,
    ExpertsNorm,
    ExpertsResultNorm,
    /// What the router's inputs are multiplied with, `[hidden]`, and what the experts' weights are, `[experts]`.
    RouterScale,
    ExpertScales,
    Router,
    /// What is added to an expert's score when experts are chosen, and not when they are weighed.
    RouterCorrection,
    /// An expert's matrices, `{}` in the name for its number; in GGUF those of all experts in one tensor.
    ExpertGate,
    ExpertUp,
    /// Gate and up of all experts in one tensor of a GGUF file, an expert's gate before its up.
    ExpertGateUp,
    ExpertDown,
    /// All experts of a layer in one tensor, gate and up alternating.
    ExpertsGateUp,
    ExpertsDown,
    /// The expert that works on every token, and the row that says with which weight.
    SharedGate,
    SharedUp,
    SharedDown,
    SharedWeight,
    /// Queries, keys and values of a recurrent layer.
    DeltaQueryKeyValue,
    /// The gate of a recurrent layer's output.
    DeltaGate,
    /// The step of a state's decay, by value head; what is added to it, and the rate.
    DeltaStep,
    DeltaStepBias,
    DeltaRate,
    /// The share of a state's correction, by value head.
    DeltaBeta,
    DeltaConvolution,
    DeltaNorm,
    DeltaOutput,
    /// What each layer gets of a token beside the residual stream: a table, `[tokens, layers · width]`, what is projected from the token's
    /// embedding, and its norm, `[width]`.
    InputTable,
    InputProjection,
    InputNorm,
    /// How a layer takes its part in: the gate on it, `[width, hidden]`, the way back, and the norm of the result.
    InputGate,
    InputOutput,
    InputResultNorm,
}

impl Part {
    /// Whether it is a norm that scales the residual stream or heads.
    pub(crate) fn is_norm(self) -> bool {
        matches!(
            self,
            Self::Norm
                | Self::AttentionNorm
                | Self::QueryNorm
                | Self::KeyNorm
                | Self::AttentionResultNorm
                | Self::FeedForwardNorm
                | Self::FeedForwardResultNorm
        )
    }

    fn is_outside(self) -> bool {
        matches!(
            self,
            Self::Embedding
                | Self::Norm
                | Self::Head
                | Self::InputTable
                | Self::InputProjection
                | Self::InputNorm
        )
    }
}

/// What a part is called in Safetensors and in GGUF, a row of `tensors.tsv`: an empty name is none.
#[derive(Debug, PartialEq)]
struct TensorName {
    part: Part,
    hub: &'static str,
    gguf: &'static str,
    /// Whether these name a tensor, and not a module.
    is_whole: bool,
}

impl TensorName {
    fn parse(line: &'static str) -> Option<Self> {
        let mut words = line.split('\t').map(|word| word.trim_matches('-'));
        let part: Result<Part, Error> = Part::deserialize(words.next()?.into_deserializer());
        Some(Self {
            part: part.ok()?,
            hub: words.next()?,
            gguf: words.next()?,
            is_whole: words.next() == Some("whole"),
        })
    }
}

const TENSORS: &str = include_str!("tensors.tsv");

static GROUPS: LazyLock<HashMap<&str, Vec<TensorName>>> = LazyLock::new(|| {
    let (mut groups, mut name) = (HashMap::<_, Vec<_>>::new(), "");
    for line in TENSORS.lines().filter(|line| !line.starts_with('#')) {
        if line.contains('\t') {
            groups
                .entry(name)
                .or_default()
                .extend(TensorName::parse(line));
        } else {
            name = line;
        }
    }
    groups
});

/// Whether a linear layer has biases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bias {
    Never,
    Always,
    /// If this key of config.json says so.
    Key(&'static str),
}

/// What a row writes as `name=other name=other`.
pub(crate) fn pairs(words: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    words.split(' ').filter_map(|word| word.split_once('='))
}

/// Keys of config.json and their values, of a row's `rms_norm_eps=1e-6 norm_type=rms`: JSON, or else a text.
pub(crate) fn settings(words: &'static str) -> impl Iterator<Item = (&'static str, Value)> {
    pairs(words).map(|(key, value)| {
        let read = serde_json::from_str(value);
        (key, read.unwrap_or_else(|_| value.into()))
    })
}

/// Which layers have a window over the last keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Windows {
    Never,
    /// All, if `sliding_window` is set.
    All,
    /// Those from `max_window_layers` on, if `use_sliding_window` says so.
    Switched,
    /// All but every n-th one.
    AllButEvery(usize),
}

/// What a feed-forward layer does with gate and up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// `silu(gate) · up`
    Silu,
    /// `gelu(gate) · up`, in the form with a hyperbolic tangent.
    Gelu,
    /// gpt-oss' limits on both.
    Clamped,
}

/// How queries and keys are normed, in a family with weights for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadNorms {
    /// Each head, before rotation.
    ByHead,
    AfterRotation,
    /// All heads of a token as one vector, before rotation.
    Together,
}

/// Layers whose queries and keys are not rotated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unrotated {
    Never,
    /// Those without a 1 in `no_rope_layers`, or every n-th, `no_rope_layer_interval`.
    Listed,
    /// Those without a window, in a model in which others have one.
    BesideWindows,
}

/// How a router's logits become scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scores {
    /// Those of all experts sum to 1.
    Softmax,
    /// Each on its own.
    Sigmoid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Factor {
    /// What it is in a plain decoder.
    Plain,
    Of(&'static str),
    /// 1 divided by this key's number.
    InverseOf(&'static str),
    /// The root of `hidden_size`.
    RootOfWidth,
    /// 1 divided by the root of this key's number.
    InverseRootOf(&'static str),
    One,
}

/// Keys of sizes that layers without windows have in place of those of the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FullLayerKeys {
    /// The width of a head, and what it is where the key is left out.
    pub(crate) head_dim: (&'static str, usize),
    /// Whether values are the projected keys, before these are normed and rotated.
    pub(crate) keys_are_values: &'static str,
    /// Key heads, which count where values are keys.
    pub(crate) kv_heads: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct ExpertKeys {
    /// How many there are: the first of these keys that is given.
    pub(crate) count: &'static [&'static str],
    pub(crate) width: &'static str,
    /// Whether the weights of a token's experts are scaled to sum to 1; they always are where there is no such key.
    pub(crate) normalise: Option<&'static str>,
    /// The width of an expert that works on every token, if there is one.
    pub(crate) shared: Option<SharedWidth>,
    /// How its scores are made, and the key of a number that the weights are multiplied with.
    pub(crate) scores: Scores,
    pub(crate) scale: Option<&'static str>,
    /// The key that says how many layers have no experts, the first ones.
    pub(crate) dense: Option<&'static str>,
    /// Whether there are any, where that is a key's to say; they work beside a dense layer then, on the residual stream.
    pub(crate) beside_dense: Option<&'static str>,
    /// Whether Safetensors stack them in two tensors, `experts.gate_up_proj`, `[experts, 2 · width, hidden]` with gates before ups,
    /// and `experts.down_proj`, `[experts, hidden, width]`.
    pub(crate) stacked: bool,
}

/// The key that gives the width of an expert that works on every token.
#[derive(Debug, Clone, Copy)]
pub(crate) enum SharedWidth {
    Width(&'static str),
    /// The number of experts as wide as the others that it stands for.
    Experts(&'static str),
}

pub struct Family {
    /// What `juror models show` calls it.
    pub(crate) name: &'static str,
    /// Names that its checkpoints give themselves, `architectures[0]`.
    pub(crate) classes: &'static [&'static str],
    /// `model_type` of its checkpoints.
    pub(crate) model_types: &'static [&'static str],
    /// `general.architecture` of its GGUF files.
    pub(crate) gguf: &'static [&'static str],
    /// The groups of its tensors' names. A part that two of them name has the name of the later one.
    pub(crate) tensors: &'static str,
    /// What stands before a layer's number in Safetensors.
    pub(crate) layers: &'static str,
    /// Its own names for keys of config.json, and transformers' names for them.
    pub(crate) renamed: &'static str,
    /// What keys are taken to be where config.json leaves them out, as [`settings`] reads it.
    pub(crate) defaults: &'static str,
    /// Keys that may have one value only.
    pub(crate) fixed: &'static str,
    /// Keys of its files that do not change the result, with spaces between them.
    pub(crate) without_effect: &'static str,
    /// Whether the width of a head is `hidden_size / num_attention_heads` where config.json leaves it out.
    pub(crate) divides_width: bool,
    /// Whether there are as many key heads as query heads where config.json leaves their number out.
    pub(crate) own_keys: bool,
    /// The base of the rotary embedding where config.json leaves it out.
    pub(crate) theta: Option<f64>,
    /// Whether `rope_ratio` multiplies that base.
    pub(crate) theta_ratio: bool,
    /// Whether the two numbers of a rotary pair are neighbours.
    pub(crate) rotates_neighbours: bool,
    /// The key of how many of a head's numbers are rotated, where files say that and not which part.
    pub(crate) rotary_width: Option<&'static str>,
    /// Whether a way of stretching angles must be given.
    pub(crate) must_stretch: bool,
    /// The key for how many layers behind the last one guess further tokens (MTP); they are not loaded.
    pub(crate) layers_ahead: Option<&'static str>,
    /// Whether `alpha` beside the type `dynamic` says how far the base is stretched, whatever the length of a text.
    pub(crate) stretches_base: bool,
    /// Whether queries are scaled by their position, `llama_4_scaling_beta`.
    pub(crate) scales_by_position: bool,
    pub(crate) unrotated: Unrotated,
    pub(crate) head_norms: HeadNorms,
    /// Whether its class is also of models with state-space layers or experts, which are not run.
    pub(crate) is_hybrids: bool,
    /// The key that says whether there are norms of heads; there are where there is no such key.
    pub(crate) head_norms_key: Option<&'static str>,
    pub(crate) qkv_bias: Bias,
    pub(crate) output_bias: Bias,
    pub(crate) feed_forward_bias: Bias,
    pub(crate) windows: Windows,
    /// What layers without windows have of their own.
    pub(crate) full_layers: Option<FullLayerKeys>,
    /// Whether its last layers may attend to keys and values of others, `num_kv_shared_layers`.
    pub(crate) shares_keys: bool,
    /// Whether the last layer has no window, whatever the file says.
    pub(crate) ends_full: bool,
    pub(crate) experts: Option<ExpertKeys>,
    pub(crate) gate: Gate,
    /// Whether a norm's weight is 1 more than what Safetensors store.
    pub(crate) zero_centred: bool,
    /// What embeddings are multiplied with.
    pub(crate) embedding_scale: Factor,
    /// What the results of attention and of the feed-forward layer are multiplied with before they join the residual stream.
    pub(crate) result_scale: Factor,
    /// What logits are multiplied with.
    pub(crate) logit_scale: Factor,
    /// What scores are multiplied with, in place of `1 / √head_dim`.
    pub(crate) score_scale: Factor,
    /// Keys of the bounds that a hyperbolic tangent sets on scores, and on logits.
    pub(crate) score_softcap: Option<&'static str>,
    pub(crate) logit_softcap: Option<&'static str>,
    /// The key of the rotary base of layers with windows, and the base where it is left out, if that is another.
    pub(crate) window_theta: Option<(&'static str, f64)>,
    /// Whether what stretches angles is about layers without windows alone.
    pub(crate) stretches_full_layers: bool,
    /// The share of pairs that turn in layers without windows where no key says so, their exponents those of the whole head.
    pub(crate) proportional: Option<f64>,
    /// Whether values are normed by head, without a weight.
    pub(crate) norms_values: bool,
    /// Whether the projection of queries has, behind each head's, as many rows of a gate for what the head returns.
    pub(crate) gates_heads: bool,
    /// Keys of config.json that its GGUF files, or its older ones, have no keys for.
    pub(crate) gguf_lacks: &'static str,
    /// The same of `rope_scaling`.
    pub(crate) gguf_rope: &'static str,
    /// Whether the converter to GGUF puts the two rows of a rotary pair side by side.
    pub(crate) gguf_pairs: bool,
    /// Numbers of config.json that GGUF files may have, and their keys there.
    pub(crate) gguf_numbers: &'static str,
    /// The number of layers of the one size whose scores are scaled by the width of the residual stream for each head; files do not say.
    pub(crate) gguf_wide_scores: Option<usize>,
    /// How its router weighs experts, as GGUF numbers it (`expert_gating_func`).
    pub(crate) gguf_gating: u64,
    /// Whether its older GGUF files have the factor of scores that `YaRN` has by itself.
    pub(crate) gguf_yarn_factor: bool,
    /// Keys that must be true where a GGUF file has them.
    pub(crate) gguf_true: &'static [&'static str],
}

/// A class of models that read images or sound too, of which the text part is a family's model.
pub(crate) struct Wrapper {
    /// `architectures[0]`
    pub(crate) class: &'static str,
    pub(crate) model_type: &'static str,
    /// `text_config.model_type`, where there is none.
    pub(crate) text: &'static str,
    /// Whether the embedding table is the output head too where no key says so.
    pub(crate) ties: bool,
}

/// Classes with towers for images or sound, one a line: class, `model_type`, that of the text part, and `tied` for a head that is the table.
const WRAPPERS: &str = include_str!("wrappers.tsv");

pub(crate) fn wrappers() -> impl Iterator<Item = Wrapper> {
    WRAPPERS.lines().filter_map(|line| {
        let mut words = line.split('\t');
        Some(Wrapper {
            class: words.next()?,
            model_type: words.next()?,
            text: words.next()?,
            ties: words.next() == Some("tied"),
        })
    })
}

/// Beginnings of names of tensors that read images and sound, or guess several tokens ahead.
const TOWERS: &str = "model.visual. visual. model.vision_tower. vision_tower. model.vision_embedder. model.vision_model. vision_model. \
    model.multi_modal_projector. multi_modal_projector. model.embed_vision. model.audio_tower. model.embed_audio. mtp.";

/// Beginnings of names of the text part's tensors, as older and newer files have them, and what its own class calls them.
const TEXT_PARTS: &[(&str, &str)] = &[
    ("model.language_model.", "model."),
    ("language_model.model.", "model."),
    ("language_model.lm_head.", "lm_head."),
];

/// The name that a tensor of a wrapped model has in the text part alone; `None` for one that a text does not need.
pub(crate) fn name_in_text_part(name: &str) -> Option<String> {
    if TOWERS
        .split_whitespace()
        .any(|tower| name.starts_with(tower))
    {
        return None;
    }
    let mut parts = TEXT_PARTS.iter();
    let renamed =
        parts.find_map(|(wrapped, plain)| Some(format!("{plain}{}", name.strip_prefix(wrapped)?)));
    Some(renamed.unwrap_or_else(|| name.to_owned()))
}

impl Family {
    /// What messages call it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The name that checkpoints of it give themselves.
    pub(in crate::checkpoint) fn class(&self) -> &'static str {
        self.classes.first().copied().unwrap_or_default()
    }

    fn rows(&self) -> impl DoubleEndedIterator<Item = &'static TensorName> {
        let groups = self.tensors.split(' ');
        groups.filter_map(|group| GROUPS.get(group)).flatten()
    }

    /// What a part is called, if the family has it.
    fn row(&self, part: Part) -> Option<&'static TensorName> {
        let row = self.rows().rfind(|row| row.part == part);
        row.filter(|row| !row.hub.is_empty())
    }

    pub(crate) fn has(&self, part: Part) -> bool {
        self.row(part).is_some()
    }

    /// The names in Safetensors of its norms, with everything before them in layers left out.
    pub(crate) fn norms(&self) -> impl Iterator<Item = &'static str> {
        let norms = self.rows().filter(|row| row.part.is_norm());
        norms.map(|row| row.hub).filter(|name| !name.is_empty())
    }

    /// A part outside of layers: its module's name in Safetensors.
    pub(crate) fn outside(&self, part: Part) -> &'static str {
        self.row(part).map_or("", |row| row.hub)
    }

    /// A layer's part: the name of its module, or of its tensor if that is not a module's.
    pub(crate) fn in_layer(&self, layer: usize, part: Part) -> Option<String> {
        let name = self.row(part)?.hub;
        Some(format!("{}.{layer}.{name}", self.layers))
    }

    /// The name in Safetensors of a tensor of a GGUF file, `{}` for an expert's number, and the part it is.
    pub(crate) fn named_in_gguf(&self, name: &str) -> Option<(Part, String)> {
        let (layer, rest) = match name
            .strip_prefix("blk.")
            .and_then(|rest| rest.split_once('.'))
        {
            Some((layer, rest)) => (Some(layer.parse::<usize>().ok()?), rest),
            None => (None, name),
        };
        let (module, kind) = rest.rsplit_once('.').unwrap_or((rest, ""));
        let row = self.rows().find(|row| {
            let known = if row.is_whole { rest } else { module };
            !row.gguf.is_empty()
                && row.gguf == known
                && row.part.is_outside() == layer.is_none()
                // A name that a later group replaces is not looked up.
                && self.row(row.part) == Some(row)
        })?;
        let named = if row.is_whole {
            row.hub.to_owned()
        } else {
            format!("{}.{kind}", row.hub)
        };
        Some((
            row.part,
            match layer {
                Some(layer) => format!("{}.{layer}.{named}", self.layers),
                None => named,
            },
        ))
    }
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Family {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{FAMILIES, GROUPS, Part, TENSORS, WRAPPERS, settings, wrappers};

    #[test]
    fn every_line_of_tensors_is_read_and_every_group_is_there() {
        let written = TENSORS.lines().filter(|line| line.contains('\t'));
        let read: usize = GROUPS.values().map(Vec::len).sum();
        assert_eq!(read, written.count());
        let rows = GROUPS.values().flatten();
        assert!(
            rows.clone()
                .all(|row| row.part.is_norm() || !row.hub.is_empty())
        );
        let named: BTreeSet<&str> = FAMILIES
            .iter()
            .flat_map(|one| one.tensors.split(' '))
            .collect();
        assert_eq!(named, GROUPS.keys().copied().collect());
    }

    #[test]
    fn every_word_of_the_settings_is_read() {
        for family in FAMILIES {
            for words in [
                family.defaults,
                family.fixed,
                family.gguf_lacks,
                family.gguf_rope,
                family.renamed,
                family.gguf_numbers,
            ] {
                let read = settings(words).filter(|(key, value)| !key.is_empty() && value != "");
                let words: Vec<&str> = words.split_whitespace().collect();
                assert_eq!(read.count(), words.len(), "{family:?}: {words:?}");
            }
        }
        let read: Vec<_> = settings("a=1 b=1e-6 c=true d=per_layer").collect();
        let values = [1.into(), 1e-6.into(), true.into(), "per_layer".into()];
        assert_eq!(
            read,
            ["a", "b", "c", "d"]
                .into_iter()
                .zip(values)
                .collect::<Vec<_>>()
        );
    }

    #[test]
    fn rows_have_their_own_names_and_parts() {
        let mut names = BTreeSet::new();
        let mut classes = BTreeSet::new();
        for family in FAMILIES {
            assert!(names.insert(family.name), "{family:?} twice");
            for class in family.classes {
                assert!(classes.insert(class), "{class} twice");
            }
            for part in [
                Part::Embedding,
                Part::Norm,
                Part::Head,
                Part::AttentionOutput,
            ] {
                assert!(family.has(part), "{family:?} lacks {part:?}");
            }
            // A norm stands before a part of a layer, or after it.
            let either = |before, after| family.has(before) || family.has(after);
            assert!(either(Part::AttentionNorm, Part::AttentionResultNorm));
            assert!(either(Part::FeedForwardNorm, Part::FeedForwardResultNorm));
        }
    }

    #[test]
    fn a_line_of_wrappers_is_three_words_and_perhaps_tied() {
        for line in WRAPPERS.lines() {
            let words: Vec<&str> = line.split('\t').collect();
            assert!(words.iter().all(|word| !word.is_empty()), "{line:?}");
            assert!(
                matches!(words[..], [_, _, _] | [_, _, _, "tied"]),
                "{line:?}"
            );
        }
        assert_eq!(wrappers().count(), WRAPPERS.lines().count());
    }

    /// A name in GGUF leads to the part that has it in this family: `post_attention_norm` is the norm of attention's result in one
    /// and the norm before the feed-forward layer in another.
    #[test]
    fn names_in_gguf_are_those_of_the_family() {
        for (name, tensor, expected) in [
            (
                "Glm4",
                "blk.3.post_attention_norm.weight",
                "model.layers.3.post_self_attn_layernorm.weight",
            ),
            (
                "GptOss",
                "blk.3.post_attention_norm.weight",
                "model.layers.3.post_attention_layernorm.weight",
            ),
            (
                "GptOss",
                "blk.0.attn_sinks.weight",
                "model.layers.0.self_attn.sinks",
            ),
            (
                "Qwen3Moe",
                "blk.1.ffn_up_exps.weight",
                "model.layers.1.mlp.experts.{}.up_proj.weight",
            ),
            (
                "Phi3",
                "blk.1.ffn_up.weight",
                "model.layers.1.mlp.gate_up_proj.weight",
            ),
            (
                "Olmo2",
                "blk.1.post_attention_norm.weight",
                "model.layers.1.post_attention_layernorm.weight",
            ),
            (
                "SeedOss",
                "blk.1.post_attention_norm.weight",
                "model.layers.1.post_attention_layernorm.weight",
            ),
            (
                "Glm4Moe",
                "blk.1.exp_probs_b.bias",
                "model.layers.1.mlp.gate.e_score_correction_bias",
            ),
            (
                "Mixtral",
                "blk.1.ffn_down_exps.weight",
                "model.layers.1.block_sparse_moe.experts.{}.w2.weight",
            ),
            (
                "Qwen2",
                "blk.1.attn_q.bias",
                "model.layers.1.self_attn.q_proj.bias",
            ),
            (
                "Gemma4",
                "blk.2.ffn_gate_inp.scale",
                "model.layers.2.router.scale",
            ),
            (
                "Gemma4",
                "blk.2.ffn_down_exps.scale",
                "model.layers.2.router.per_expert_scale",
            ),
            (
                "Gemma4",
                "blk.2.ffn_gate_inp.weight",
                "model.layers.2.router.proj.weight",
            ),
            (
                "ChatGlm",
                "output.weight",
                "transformer.output_layer.weight",
            ),
        ] {
            let family = FAMILIES.iter().find(|family| family.name == name).unwrap();
            assert_eq!(family.named_in_gguf(tensor).unwrap().1, expected, "{name}");
        }
        let qwen3 = FAMILIES
            .iter()
            .find(|family| family.name == "Qwen3")
            .unwrap();
        for foreign in [
            "blk.0.attn_sinks.weight",
            "blk.0.output.weight",
            "attn_q.weight",
            "blk.x.attn_q.weight",
        ] {
            assert_eq!(qwen3.named_in_gguf(foreign), None, "{foreign}");
        }
    }
}
