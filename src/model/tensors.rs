//! A checkpoint's tensors: which there are and how large, under Hugging Face's names.

use super::ModelConfig;

/// Every tensor of a checkpoint with its shape.
pub(super) fn expected_tensors(config: &ModelConfig) -> Vec<(String, Vec<usize>)> {
    let (hidden, head_dim) = (config.hidden, config.head_dim);
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
        if config.architecture.norms_heads() {
            add("self_attn.q_norm.weight", vec![head_dim]);
            add("self_attn.k_norm.weight", vec![head_dim]);
        }
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
        let mut gated = |prefix: &str, width: usize| {
            add(&format!("{prefix}.gate_proj.weight"), vec![width, hidden]);
            add(&format!("{prefix}.up_proj.weight"), vec![width, hidden]);
            add(&format!("{prefix}.down_proj.weight"), vec![hidden, width]);
        };
        match &config.experts {
            None => gated("mlp", config.intermediate),
            Some(experts) => {
                for expert in 0..experts.count {
                    gated(&format!("mlp.experts.{expert}"), experts.intermediate);
                }
                add("mlp.gate.weight", vec![experts.count, hidden]);
            }
        }
    }
    tensors
}
