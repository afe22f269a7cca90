//! The model families: their properties, and how their keys are read.

use serde_json::Value;

use super::keys::{Keys, short};
use super::{Activation, Biases, Experts, ModelConfig, Rope, RopeScaling, quantization};
use crate::checkpoint::{CheckpointError, unsuitable};

/// Model families this decoder runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Architecture {
    /// Qwen2 and Qwen2.5: biases on queries, keys and values (<https://arxiv.org/abs/2407.10671>).
    Qwen2,
    /// Qwen3, dense: RMS norm on queries and keys by head (<https://arxiv.org/abs/2505.09388>).
    Qwen3,
    /// Qwen3 with a mixture of experts in every layer.
    Qwen3Moe,
    /// Llama 3 and its like (<https://arxiv.org/abs/2407.21783>).
    Llama,
    /// Mistral: a window over the last keys (<https://arxiv.org/abs/2310.06825>).
    Mistral,
    /// Phi-3 and Phi-4: projections stored as one (<https://arxiv.org/abs/2404.14219>, <https://arxiv.org/abs/2412.08905>).
    Phi3,
    /// GLM-4 9B as transformers names it (<https://arxiv.org/abs/2406.12793>).
    Glm,
    /// The same as it was first published, under the names of its own code.
    ChatGlm,
    /// GLM-4 0414: norms on what attention and the feed-forward layer give, too.
    Glm4,
    /// gpt-oss: sinks, windows in every other layer, experts in MXFP4 (<https://arxiv.org/abs/2508.10925>).
    GptOss,
}

/// Names that checkpoints give themselves: `architectures[0]`, `model_type`, and the family they mean.
const ARCHITECTURES: &[(&str, &str, Architecture)] = &[
    ("Qwen2ForCausalLM", "qwen2", Architecture::Qwen2),
    ("Qwen3ForCausalLM", "qwen3", Architecture::Qwen3),
    ("Qwen3MoeForCausalLM", "qwen3_moe", Architecture::Qwen3Moe),
    ("LlamaForCausalLM", "llama", Architecture::Llama),
    ("MistralForCausalLM", "mistral", Architecture::Mistral),
    ("Phi3ForCausalLM", "phi3", Architecture::Phi3),
    ("GlmForCausalLM", "glm", Architecture::Glm),
    ("Glm4ForCausalLM", "glm4", Architecture::Glm4),
    ("ChatGLMModel", "chatglm", Architecture::ChatGlm),
    (
        "ChatGLMForConditionalGeneration",
        "chatglm",
        Architecture::ChatGlm,
    ),
    ("GptOssForCausalLM", "gpt_oss", Architecture::GptOss),
];

impl Architecture {
    /// The name that checkpoints of it give themselves.
    pub(in crate::checkpoint) fn class(self) -> &'static str {
        let mut known = ARCHITECTURES.iter();
        let own = known.find(|(.., architecture)| *architecture == self);
        own.map_or("", |(class, ..)| class)
    }

    /// Whether queries and keys have an RMS norm by head.
    pub(crate) fn norms_heads(self) -> bool {
        matches!(self, Self::Qwen3 | Self::Qwen3Moe)
    }

    /// Whether the outputs of attention and of the feed-forward layer are normed before they join the residual stream.
    pub(crate) fn norms_results(self) -> bool {
        self == Self::Glm4
    }

    /// Whether heads have attention sinks: a learnt score for attending to nothing, which takes its share of the weights.
    pub(crate) fn has_sinks(self) -> bool {
        self == Self::GptOss
    }

    /// Whether queries, keys and values are stored as one matrix.
    pub(crate) fn fuses_qkv(self) -> bool {
        matches!(self, Self::Phi3 | Self::ChatGlm)
    }

    /// Whether gate and up are stored as one matrix.
    pub(crate) fn fuses_gate_up(self) -> bool {
        matches!(self, Self::Phi3 | Self::Glm | Self::Glm4 | Self::ChatGlm)
    }

    /// Whether the two numbers of a rotary pair are neighbours.
    fn rotates_neighbours(self) -> bool {
        matches!(self, Self::Glm | Self::Glm4 | Self::ChatGlm)
    }
}

/// Reads a configuration. Each key must be followed, or be known to have no effect; any other is refused.
pub(super) fn parse(keys: &Keys) -> Result<ModelConfig, CheckpointError> {
    let architecture = architecture(keys)?;
    let config = if architecture == Architecture::ChatGlm {
        chat_glm(keys)?
    } else {
        hugging_face(keys, architecture)?
    };
    keys.must_be("is_encoder_decoder", false)?;
    keys.must_be("add_cross_attention", false)?;
    keys.must_be("tie_encoder_decoder", false)?;
    // Keys that matter to encoders only.
    keys.get("is_decoder");
    keys.all_asked_for()?;
    Ok(config)
}

fn architecture(keys: &Keys) -> Result<Architecture, CheckpointError> {
    let class = keys
        .get("architectures")
        .and_then(|list| list.get(0))
        .and_then(Value::as_str);
    let kind = keys.get("model_type").and_then(Value::as_str);
    let known = ARCHITECTURES
        .iter()
        .find(|(name, model_type, _)| match class {
            Some(class) => class == *name,
            None => kind == Some(*model_type),
        });
    if let Some((_, _, architecture)) = known {
        return Ok(*architecture);
    }
    let unsuitable = |name| unsuitable::class(name, |key| keys.get(key).cloned());
    if let Some(what) = class.or(kind).and_then(unsuitable) {
        return keys.fail(what);
    }
    let supported: Vec<&str> = ARCHITECTURES.iter().map(|(name, ..)| *name).collect();
    keys.fail(format!(
        "architecture {} is not supported; supported: {}",
        class
            .or(kind)
            .unwrap_or("(neither `architectures` nor `model_type` is given)"),
        supported.join(", ")
    ))
}

/// Reads a configuration with the keys of transformers.
fn hugging_face(keys: &Keys, architecture: Architecture) -> Result<ModelConfig, CheckpointError> {
    use Architecture::{Glm, Glm4, GptOss, Llama, Mistral, Phi3, Qwen2, Qwen3, Qwen3Moe};
    let (hidden, heads) = (keys.size("hidden_size")?, keys.size("num_attention_heads")?);
    let head_dim = match keys.optional_size("head_dim")? {
        Some(head_dim) => head_dim,
        None if matches!(architecture, Qwen2 | Llama | Mistral | Phi3)
            && hidden.is_multiple_of(heads) =>
        {
            hidden / heads
        }
        None => return keys.fail("no head_dim"),
    };
    let default_theta = matches!(architecture, Llama | Phi3 | Glm | Glm4).then_some(10_000.0);
    let default_partial = if matches!(architecture, Glm | Glm4) {
        0.5
    } else {
        1.0
    };
    if architecture == GptOss && keys.lacks("rope_scaling") && keys.lacks("rope_parameters") {
        return keys.fail("no rope_scaling");
    }
    let rope = Rope::parse(
        keys,
        head_dim,
        architecture.rotates_neighbours(),
        default_theta,
        default_partial,
    )?;
    // Checkpoints stretched with YaRN often leave this at the original value.
    let stretched = rope.stretched_context().unwrap_or(0);
    let max_positions = keys.size("max_position_embeddings")?.max(stretched);
    let layers = keys.size("num_hidden_layers")?;
    keys.must_be("hidden_act", "silu")?;
    let attention_bias = keys.flag("attention_bias", architecture == GptOss)?;
    let biases = match architecture {
        // transformers has these biases whatever the key says.
        Qwen2 => Biases {
            qkv: true,
            ..Biases::default()
        },
        Glm | Glm4 => Biases {
            qkv: attention_bias,
            ..Biases::default()
        },
        GptOss => Biases {
            qkv: attention_bias,
            output: attention_bias,
            feed_forward: true,
        },
        Llama | Qwen3 | Qwen3Moe => Biases {
            qkv: attention_bias,
            output: attention_bias,
            feed_forward: architecture == Llama && keys.flag("mlp_bias", false)?,
        },
        _ => {
            keys.must_be("attention_bias", false)?;
            Biases::default()
        }
    };
    let kv_heads = match keys.optional_size("num_key_value_heads")? {
        Some(kv_heads) => kv_heads,
        // In older checkpoints every head has keys and values of its own.
        None if architecture == Llama => heads,
        None => return keys.fail("no num_key_value_heads"),
    };
    let activation = if architecture == GptOss {
        let number = |key: &str, default: f64| match keys.get(key) {
            None => Ok(default),
            value => keys.positive(key, value),
        };
        Activation::Clamped {
            alpha: number("swiglu_alpha", 1.702)?,
            limit: number("swiglu_limit", 7.0)?,
        }
    } else {
        Activation::Silu
    };
    if architecture == Phi3 {
        // Phi-4-mini names two ways of mixing layers and positions but uses neither.
        keys.must_be("full_attn_mod", 1)?;
        keys.must_be("interpolate_factor", 1)?;
        keys.must_be("lm_head_bias", false)?;
    }
    if architecture == Qwen3Moe {
        keys.must_be("use_qk_norm", true)?;
        keys.must_be("shared_expert_intermediate_size", 0)?;
    }
    if architecture == GptOss {
        // Other names for sizes given already, in the makers' own files.
        keys.get("experts_per_token");
        keys.get("initial_context_length");
        keys.get("max_window_layers");
    }
    Ok(ModelConfig {
        architecture,
        vocab: keys.size("vocab_size")?,
        hidden,
        intermediate: keys.size("intermediate_size")?,
        layers,
        heads,
        kv_heads,
        head_dim,
        max_positions,
        rms_norm_eps: keys.positive("rms_norm_eps", keys.get("rms_norm_eps"))?,
        windows: windows(keys, architecture, layers, max_positions)?,
        experts: experts(keys, architecture)?,
        quantization: quantization::parse(keys, architecture)?,
        activation,
        tie_embeddings: keys.flag("tie_word_embeddings", false)?,
        biases,
        eos_token_ids: keys.token_ids("eos_token_id")?,
        rope,
    })
}

/// The attention window of each layer.
fn windows(
    keys: &Keys,
    architecture: Architecture,
    layers: usize,
    positions: usize,
) -> Result<Vec<Option<usize>>, CheckpointError> {
    use Architecture::{GptOss, Mistral, Phi3, Qwen2, Qwen3, Qwen3Moe};
    let qwen = matches!(architecture, Qwen2 | Qwen3 | Qwen3Moe);
    // Qwen's files name a window that is not used.
    let used = match architecture {
        Qwen2 | Qwen3 | Qwen3Moe => keys.flag("use_sliding_window", false)?,
        Mistral | Phi3 | GptOss => true,
        _ => false,
    };
    let window = if qwen || used {
        // The default of transformers where the key is left out; null means no window.
        let default = match architecture {
            Mistral => Some(4096),
            GptOss => Some(128),
            _ => None,
        };
        let window = match keys.optional_size("sliding_window")? {
            None if keys.lacks("sliding_window") => default,
            window => window,
        };
        // A window as wide as the context hides nothing.
        window.filter(|window| used && *window < positions)
    } else {
        None
    };
    let first = if qwen {
        match keys.get("max_window_layers") {
            None if used => 28,
            None => 0,
            Some(value) => match value.as_u64() {
                Some(first) => first as usize,
                None => {
                    return keys.fail(format!("max_window_layers is {}", short(value)));
                }
            },
        }
    } else {
        0
    };
    let Some(kinds) = keys.get("layer_types") else {
        if architecture == GptOss {
            return Ok((0..layers)
                .map(|layer| window.filter(|_| layer % 2 == 0))
                .collect());
        }
        return Ok((0..layers)
            .map(|layer| window.filter(|_| layer >= first))
            .collect());
    };
    let kinds = kinds.as_array().map_or(&[][..], Vec::as_slice);
    if kinds.len() != layers {
        return keys.fail(format!(
            "layer_types has {} layers, num_hidden_layers is {layers}",
            kinds.len()
        ));
    }
    kinds
        .iter()
        .map(|kind| match (kind.as_str(), window) {
            (Some("full_attention"), _) => Ok(None),
            (Some("sliding_attention"), Some(window)) => Ok(Some(window)),
            (Some("sliding_attention"), None) if keys.get("sliding_window").is_some() => Ok(None),
            (Some("sliding_attention"), None) => {
                keys.fail("layer_types holds \"sliding_attention\", but there is no sliding_window")
            }
            _ => keys.fail(format!(
                "layer_types holds {}, only \"full_attention\" and \"sliding_attention\" are supported",
                short(kind)
            )),
        })
        .collect()
}

/// The experts, for a family that has them.
fn experts(keys: &Keys, architecture: Architecture) -> Result<Option<Experts>, CheckpointError> {
    let mxfp4 = keys
        .get("quantization_config")
        .is_some_and(|quantisation| quantisation.get("quant_method") == Some(&"mxfp4".into()));
    let experts = match architecture {
        Architecture::Qwen3Moe => Experts {
            // transformers 5 has one name for all families.
            count: match keys.optional_size("num_local_experts")? {
                Some(count) => count,
                None => keys.size("num_experts")?,
            },
            per_token: keys.size("num_experts_per_tok")?,
            intermediate: keys.size("moe_intermediate_size")?,
            normalise: keys.flag("norm_topk_prob", false)?,
            mxfp4,
            together: false,
        },
        Architecture::GptOss => Experts {
            count: keys.size("num_local_experts")?,
            per_token: keys.size("num_experts_per_tok")?,
            intermediate: keys.size("intermediate_size")?,
            // The best experts are chosen first, and their weights then sum to 1.
            normalise: true,
            mxfp4,
            // A key of our own for GGUF files, which store experts apart.
            together: !keys.flag("experts_apart", false)?,
        },
        _ => return Ok(None),
    };
    if experts.per_token > experts.count {
        return keys.fail(format!(
            "num_experts_per_tok ({}) is more than the {} experts there are",
            experts.per_token, experts.count
        ));
    }
    let dense = keys
        .get("mlp_only_layers")
        .is_some_and(|layers| layers.as_array().is_none_or(|layers| !layers.is_empty()));
    if dense {
        return keys.fail("mlp_only_layers: layers without experts are not supported");
    }
    keys.must_be("decoder_sparse_step", 1)?;
    Ok(Some(experts))
}

/// Reads a configuration with the keys of GLM-4's first code.
fn chat_glm(keys: &Keys) -> Result<ModelConfig, CheckpointError> {
    keys.must_be("rmsnorm", true)?;
    keys.must_be("post_layer_norm", true)?;
    keys.must_be("add_bias_linear", false)?;
    keys.must_be("apply_residual_connection_post_layernorm", false)?;
    keys.must_be("original_rope", true)?;
    // Keys about how a product is computed, not about its result.
    for key in [
        "apply_query_key_layer_scaling",
        "attention_softmax_in_fp32",
        "fp32_residual_connection",
        "quantization_bit",
        "pre_seq_len",
        "prefix_projection",
        "vocab_size",
    ] {
        let value = keys.get(key);
        let stored_otherwise = matches!(key, "quantization_bit" | "pre_seq_len")
            && value.is_some_and(|value| *value != 0);
        if stored_otherwise {
            return keys.fail(format!("{key} is not supported"));
        }
    }
    let (heads, head_dim) = (keys.size("num_attention_heads")?, keys.size("kv_channels")?);
    // Without it queries, keys and values are interleaved by head in their matrix.
    if !keys.flag("multi_query_attention", false)? {
        return keys.fail("multi_query_attention must be true");
    }
    let kv_heads = keys.size("multi_query_group_num")?;
    if !head_dim.is_multiple_of(4) {
        return keys.fail(format!(
            "kv_channels is {head_dim}, but half of each head is rotated in pairs"
        ));
    }
    let ratio = match keys.get("rope_ratio") {
        None => 1.0,
        ratio => keys.positive("rope_ratio", ratio)?,
    };
    let layers = keys.size("num_layers")?;
    keys.must_be("num_hidden_layers", layers)?;
    Ok(ModelConfig {
        architecture: Architecture::ChatGlm,
        vocab: keys.size("padded_vocab_size")?,
        hidden: keys.size("hidden_size")?,
        intermediate: keys.size("ffn_hidden_size")?,
        layers,
        heads,
        kv_heads,
        head_dim,
        max_positions: keys.size("seq_length")?,
        rms_norm_eps: keys.positive("layernorm_epsilon", keys.get("layernorm_epsilon"))?,
        rope: Rope {
            theta: 10_000.0 * ratio,
            dims: head_dim / 2,
            interleaved: true,
            scaling: RopeScaling::None,
        },
        windows: vec![None; layers],
        experts: None,
        quantization: None,
        activation: Activation::Silu,
        tie_embeddings: keys.flag("tie_word_embeddings", false)?,
        biases: Biases {
            qkv: keys.flag("add_qkv_bias", false)?,
            ..Biases::default()
        },
        eos_token_ids: keys.token_ids("eos_token_id")?,
    })
}
