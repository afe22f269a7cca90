//! Model families against candle-transformers, on random checkpoints: token by token there, in one step here, and the bits
//! of one step against those of many. The goldens of `tests/model` hold the same families against transformers; this package
//! is no default member, since candle-transformers takes long to build: `just candle-transformers`.

#![cfg(test)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::float_cmp
)]

#[path = "../paged/mod.rs"]
mod paged;
#[path = "../model/random_weights.rs"]
mod random_weights;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::{glm4, glm4_new, llama, mistral, phi3, qwen2, qwen3, qwen3_moe};
use random_weights::{checkpoint, ours, sizes};
use serde_json::{Value, json};

const LENGTH: usize = 90;
/// Logits lie between −5 and 5; f32 sums taken in another order differ by less than this.
const TOLERANCE: f32 = 1e-4;

fn compare(config: &Value, theirs: impl FnOnce(VarBuilder, &[u32]) -> Vec<Vec<f32>>) {
    let folder = tempfile::tempdir().unwrap();
    let tensors = checkpoint(folder.path(), config);
    let tokens: Vec<u32> = (0..LENGTH as u32).map(|i| (i * i * 7 + 3) % 61).collect();
    let theirs = theirs(
        VarBuilder::from_tensors(tensors, DType::F32, &Device::Cpu),
        &tokens,
    );
    let whole = ours(folder.path(), &tokens, LENGTH);
    for (position, (ours, theirs)) in whole.iter().zip(&theirs).enumerate() {
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(theirs) {
            assert!(
                (ours - theirs).abs() < TOLERANCE,
                "position {position}: {ours} and {theirs}"
            );
        }
    }
    for chunk in [1, 7] {
        assert!(
            ours(folder.path(), &tokens, chunk) == whole,
            "chunks of {chunk}"
        );
    }
}

fn row(logits: &Tensor) -> Vec<f32> {
    logits.flatten_all().unwrap().to_vec1().unwrap()
}

#[test]
fn qwen3_with_and_without_a_tied_head() {
    for tied in [true, false] {
        let mut config = sizes("Qwen3ForCausalLM");
        config["tie_word_embeddings"] = json!(tied);
        config["max_window_layers"] = json!(3);
        config["use_sliding_window"] = json!(false);
        compare(&config, |vars, tokens| {
            let config: qwen3::Config = serde_json::from_value(config.clone()).unwrap();
            let mut model = qwen3::ModelForCausalLM::new(&config, vars).unwrap();
            one_by_one(tokens, |input, position| model.forward(input, position))
        });
    }
}

#[test]
fn qwen3_with_experts() {
    for normalise in [true, false] {
        let mut config = sizes("Qwen3MoeForCausalLM");
        config["num_experts"] = json!(8);
        config["num_experts_per_tok"] = json!(3);
        config["moe_intermediate_size"] = json!(20);
        config["norm_topk_prob"] = json!(normalise);
        compare(&config, |vars, tokens| {
            let config = qwen3_moe::Config {
                vocab_size: 61,
                hidden_size: 32,
                intermediate_size: 48,
                num_hidden_layers: 3,
                num_attention_heads: 4,
                head_dim: 8,
                attention_bias: false,
                num_key_value_heads: 2,
                max_position_embeddings: 256,
                sliding_window: None,
                max_window_layers: 0,
                tie_word_embeddings: false,
                rope_theta: 10_000.0,
                rms_norm_eps: 1e-6,
                use_sliding_window: false,
                hidden_act: candle_nn::Activation::Silu,
                decoder_sparse_step: 1,
                moe_intermediate_size: 20,
                num_experts_per_tok: 3,
                num_experts: 8,
                norm_topk_prob: normalise,
            };
            let mut model = qwen3_moe::ModelForCausalLM::new(&config, vars).unwrap();
            let one = |(position, token): (usize, &u32)| {
                let input = Tensor::new(&[[*token]], &Device::Cpu).unwrap();
                row(&model.forward(&input, position).unwrap())
            };
            tokens.iter().enumerate().map(one).collect()
        });
    }
}

#[test]
fn llama_with_and_without_stretched_angles() {
    for stretched in [false, true] {
        let mut config = sizes("LlamaForCausalLM");
        config.as_object_mut().unwrap().remove("head_dim");
        let scaling = stretched.then_some(llama::Llama3RopeConfig {
            factor: 8.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
            original_max_position_embeddings: 64,
            rope_type: llama::Llama3RopeType::Llama3,
        });
        if stretched {
            config["rope_scaling"] = json!({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": 64});
        }
        compare(&config, |vars, tokens| {
            let config = llama::Config {
                hidden_size: 32,
                intermediate_size: 48,
                vocab_size: 61,
                num_hidden_layers: 3,
                num_attention_heads: 4,
                num_key_value_heads: 2,
                use_flash_attn: false,
                rms_norm_eps: 1e-6,
                rope_theta: 10_000.0,
                bos_token_id: None,
                eos_token_id: None,
                rope_scaling: scaling,
                max_position_embeddings: 256,
                tie_word_embeddings: false,
            };
            let mut cache = llama::Cache::new(true, DType::F32, &config, &Device::Cpu).unwrap();
            let model = llama::Llama::load(vars, &config).unwrap();
            let one = |(position, token): (usize, &u32)| {
                let input = Tensor::new(&[[*token]], &Device::Cpu).unwrap();
                row(&model.forward(&input, position, &mut cache).unwrap())
            };
            tokens.iter().enumerate().map(one).collect()
        });
    }
}

/// Logits of their model, which takes one token after the other.
fn one_by_one(
    tokens: &[u32],
    mut forward: impl FnMut(&Tensor, usize) -> candle_core::Result<Tensor>,
) -> Vec<Vec<f32>> {
    let mut one = |(position, token): (usize, &u32)| {
        let input = Tensor::new(&[[*token]], &Device::Cpu).unwrap();
        row(&forward(&input, position).unwrap())
    };
    tokens.iter().enumerate().map(&mut one).collect()
}

#[test]
fn qwen2() {
    for tied in [false, true] {
        let mut config = sizes("Qwen2ForCausalLM");
        config["tie_word_embeddings"] = json!(tied);
        config["sliding_window"] = json!(16);
        config["max_window_layers"] = json!(3);
        config["use_sliding_window"] = json!(false);
        compare(&config, |vars, tokens| {
            let config: qwen2::Config = serde_json::from_value(config.clone()).unwrap();
            let mut model = qwen2::ModelForCausalLM::new(&config, vars).unwrap();
            one_by_one(tokens, |input, position| model.forward(input, position))
        });
    }
}

#[test]
fn mistral_without_a_window() {
    let mut config = sizes("MistralForCausalLM");
    config["head_dim"] = json!(16);
    compare(&config, |vars, tokens| {
        let config: mistral::Config = serde_json::from_value(config.clone()).unwrap();
        let mut model = mistral::Model::new(&config, vars).unwrap();
        one_by_one(tokens, |input, position| model.forward(input, position))
    });
}

#[test]
fn phi3_with_whole_and_partial_rotation() {
    for share in [1.0, 0.75] {
        let mut config = sizes("Phi3ForCausalLM");
        config["partial_rotary_factor"] = json!(share);
        compare(&config, |vars, tokens| {
            let config: phi3::Config = serde_json::from_value(config.clone()).unwrap();
            let mut model = phi3::Model::new(&config, vars).unwrap();
            one_by_one(tokens, |input, position| model.forward(input, position))
        });
    }
}

#[test]
fn glm4_of_0414() {
    let mut config = sizes("Glm4ForCausalLM");
    config["partial_rotary_factor"] = json!(0.5);
    config["attention_bias"] = json!(true);
    compare(&config, |vars, tokens| {
        let config: glm4_new::Config = serde_json::from_value(config.clone()).unwrap();
        let mut model = glm4_new::ModelForCausalLM::new(&config, vars).unwrap();
        one_by_one(tokens, |input, position| model.forward(input, position))
    });
}

#[test]
fn glm4_under_its_first_names() {
    let config = json!({
        "architectures": ["ChatGLMModel"], "num_layers": 3, "padded_vocab_size": 61, "hidden_size": 32,
        "ffn_hidden_size": 48, "kv_channels": 8, "num_attention_heads": 4, "seq_length": 256, "layernorm_epsilon": 1e-6,
        "rmsnorm": true, "apply_residual_connection_post_layernorm": false, "post_layer_norm": true,
        "add_bias_linear": false, "add_qkv_bias": true, "bias_dropout_fusion": true, "multi_query_attention": true,
        "multi_query_group_num": 2, "apply_query_key_layer_scaling": true, "attention_softmax_in_fp32": true,
        "fp32_residual_connection": false, "rope_ratio": 50, "original_rope": true,
    });
    compare(&config, |vars, tokens| {
        let config: glm4::Config = serde_json::from_value(config.clone()).unwrap();
        let mut model = glm4::Model::new(&config, vars).unwrap();
        one_by_one(tokens, |input, _| model.forward(input))
    });
}
