//! The names of GGUF's tensors in Hugging Face's checkpoints, and how llama.cpp's converter has rearranged them.

use super::header::{StorageType, TensorInfo};
use crate::checkpoint::config::Architecture;
use crate::checkpoint::weights::RowOrder;

/// Architectures that are supported: `general.architecture`. Mistral is `llama` too, and the first GLM-4 is `chatglm` also
/// under its own code's names.
const FAMILIES: [(&str, Architecture); 8] = [
    ("qwen2", Architecture::Qwen2),
    ("qwen3", Architecture::Qwen3),
    ("qwen3moe", Architecture::Qwen3Moe),
    ("llama", Architecture::Llama),
    ("phi3", Architecture::Phi3),
    ("glm4", Architecture::Glm4),
    ("chatglm", Architecture::Glm),
    ("gpt-oss", Architecture::GptOss),
];

/// The family of a name in files.
pub(super) fn family(name: &str) -> Option<Architecture> {
    let mut families = FAMILIES.iter();
    families
        .find(|(known, _)| *known == name)
        .map(|(_, family)| *family)
}

/// The names of all families, for messages.
pub(super) fn families() -> String {
    FAMILIES.map(|(name, _)| name).join(", ")
}

/// A tensor under the name that the decoder uses.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NamedTensor {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) kind: StorageType,
    /// Its place, in bytes from the beginning of the file.
    pub(crate) offset: u64,
    pub(crate) bytes: usize,
    pub(crate) rows: RowOrder,
}

/// Tensors that describe the rotary embedding and are not weights.
pub(super) const FACTORS: [&str; 3] = [
    "rope_freqs.weight",
    "rope_factors_long.weight",
    "rope_factors_short.weight",
];

/// A tensor of the file as one of the checkpoint, or as several if it stacks a layer's `experts`. A tensor with an unknown
/// name keeps it, and is refused when the weights are checked.
pub(super) fn rename(
    family: Architecture,
    head_dim: usize,
    experts: Option<usize>,
    name: &str,
    info: &TensorInfo,
) -> Vec<NamedTensor> {
    let whole = |name: String, rows: RowOrder| {
        vec![NamedTensor {
            name,
            shape: info.shape.clone(),
            kind: info.kind,
            offset: info.offset,
            bytes: info.bytes,
            rows,
        }]
    };
    let chat_glm = family == Architecture::ChatGlm;
    let outside = match (name, chat_glm) {
        ("token_embd.weight", false) => Some("model.embed_tokens.weight"),
        ("output_norm.weight", false) => Some("model.norm.weight"),
        ("output.weight", false) => Some("lm_head.weight"),
        ("token_embd.weight", true) => Some("transformer.embedding.word_embeddings.weight"),
        ("output_norm.weight", true) => Some("transformer.encoder.final_layernorm.weight"),
        ("output.weight", true) => Some("transformer.output_layer.weight"),
        _ => None,
    };
    if let Some(outside) = outside {
        return whole(outside.into(), RowOrder::Stored);
    }
    let Some((layer, part, what)) = in_layer(name) else {
        return whole(name.into(), RowOrder::Stored);
    };
    // With another number of experts than the metadata says it stays whole, and is refused for that.
    if let Some(projection) = stacked(part)
        && let [count, shape @ ..] = info.shape.as_slice()
        && Some(*count) == experts
        && !shape.is_empty()
    {
        let bytes = info.bytes / count;
        return (0..*count)
            .map(|expert| NamedTensor {
                name: format!("model.layers.{layer}.mlp.experts.{expert}.{projection}.{what}"),
                shape: shape.to_vec(),
                kind: info.kind,
                offset: info.offset + (expert * bytes) as u64,
                bytes,
                rows: RowOrder::Stored,
            })
            .collect();
    }
    if family == Architecture::GptOss && part == "attn_sinks" {
        return whole(
            format!("model.layers.{layer}.self_attn.sinks"),
            RowOrder::Stored,
        );
    }
    let translated = if chat_glm {
        chat_glm_part(part)
    } else {
        hugging_face_part(family, part)
    };
    let Some(translated) = translated else {
        return whole(name.into(), RowOrder::Stored);
    };
    let layers = if chat_glm {
        "transformer.encoder.layers"
    } else {
        "model.layers"
    };
    let rows = if matches!(family, Architecture::Llama | Architecture::Mistral)
        && matches!(part, "attn_q" | "attn_k")
    {
        RowOrder::Pairs { head_dim }
    } else {
        RowOrder::Stored
    };
    whole(format!("{layers}.{layer}.{translated}.{what}"), rows)
}

/// Whether a tensor stacks all experts of a layer.
pub(super) fn is_stacked(name: &str, info: &TensorInfo) -> bool {
    info.shape.len() > 1 && in_layer(name).is_some_and(|(_, part, _)| stacked(part).is_some())
}

fn stacked(part: &str) -> Option<&'static str> {
    Some(match part {
        "ffn_gate_exps" => "gate_proj",
        "ffn_up_exps" => "up_proj",
        "ffn_down_exps" => "down_proj",
        _ => return None,
    })
}

/// The layer, the part and the suffix of a name such as `blk.LAYER.PART.weight`.
fn in_layer(name: &str) -> Option<(usize, &str, &str)> {
    let (layer, rest) = name.strip_prefix("blk.")?.split_once('.')?;
    let (part, what) = rest.rsplit_once('.')?;
    Some((layer.parse().ok()?, part, what))
}

fn hugging_face_part(family: Architecture, part: &str) -> Option<&'static str> {
    Some(match part {
        "attn_norm" => "input_layernorm",
        "attn_q" => "self_attn.q_proj",
        "attn_k" => "self_attn.k_proj",
        "attn_v" => "self_attn.v_proj",
        "attn_qkv" => "self_attn.qkv_proj",
        "attn_output" => "self_attn.o_proj",
        "attn_q_norm" => "self_attn.q_norm",
        "attn_k_norm" => "self_attn.k_norm",
        "post_attention_norm" if family == Architecture::GptOss => "post_attention_layernorm",
        "post_attention_norm" => "post_self_attn_layernorm",
        "ffn_norm" => "post_attention_layernorm",
        "post_ffw_norm" => "post_mlp_layernorm",
        "ffn_gate" => "mlp.gate_proj",
        "ffn_up" if family.fuses_gate_up() => "mlp.gate_up_proj",
        "ffn_up" => "mlp.up_proj",
        "ffn_down" => "mlp.down_proj",
        "ffn_gate_inp" if family == Architecture::GptOss => "mlp.router",
        "ffn_gate_inp" => "mlp.gate",
        _ => return None,
    })
}

fn chat_glm_part(part: &str) -> Option<&'static str> {
    Some(match part {
        "attn_norm" => "input_layernorm",
        "attn_qkv" => "self_attention.query_key_value",
        "attn_output" => "self_attention.dense",
        "ffn_norm" => "post_attention_layernorm",
        "ffn_up" => "mlp.dense_h_to_4h",
        "ffn_down" => "mlp.dense_4h_to_h",
        _ => return None,
    })
}
