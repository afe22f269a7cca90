//! Model families against candle-transformers, on random checkpoints made on the spot: token by token there, in one step
//! here, and the bits of one step against those of many.

use std::collections::HashMap;
use std::path::Path;

use crate::paged::{Blocks, logits_in_chunks};
use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::{glm4, glm4_new, llama, mistral, phi3, qwen2, qwen3_moe};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::model::attention::{AttentionKind, AttentionShape};
use juror_engine::model::{Decoder, Precision, PrecisionChoice};
use serde_json::{Value, json};

const BLOCK: usize = 4;
const LENGTH: usize = 90;
/// Logits lie between −5 and 5; f32 sums taken in another order differ by less than this.
const TOLERANCE: f32 = 1e-4;

fn sizes(class: &str) -> Value {
    json!({
        "architectures": [class], "vocab_size": 61, "hidden_size": 32, "intermediate_size": 48,
        "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
        "max_position_embeddings": 256, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu",
        "tie_word_embeddings": false, "attention_bias": false,
    })
}

/// A checkpoint's folder with weights wide enough that logits differ by several units, and its tensors.
fn checkpoint(folder: &Path, config: &Value) -> HashMap<String, Tensor> {
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let config = ModelConfig::parse(&config.to_string(), "config.json").unwrap();
    let tensors: HashMap<String, Tensor> = Weights::random(&config, 1)
        .shapes()
        .map(|(name, shape)| {
            let (mean, deviation) = if name.ends_with("norm.weight") {
                (1.0, 0.2)
            } else if let [_] = shape {
                (0.0, 0.5)
            } else {
                (0.0, 1.2 / (shape[1] as f32).sqrt())
            };
            let tensor = Tensor::randn(mean, deviation, shape, &Device::Cpu).unwrap();
            (name.to_owned(), tensor)
        })
        .collect();
    candle_core::safetensors::save(&tensors, folder.join("model.safetensors")).unwrap();
    tensors
}

/// Logits of every position of a sequence that goes `chunk` tokens a step.
fn ours(folder: &Path, tokens: &[u32], chunk: usize) -> Vec<Vec<f32>> {
    ours_as(Precision::F32, folder, tokens, chunk)
}

fn ours_as(precision: Precision, folder: &Path, tokens: &[u32], chunk: usize) -> Vec<Vec<f32>> {
    let source = juror_judge::catalog::resolve(folder.to_str().unwrap()).unwrap();
    let config = ModelConfig::load(&source).unwrap();
    let weights = Weights::open(&source).unwrap();
    let decoder = Decoder::load(&config, &weights, &Device::Cpu, precision).unwrap();
    logits_of(&decoder, tokens, chunk)
}

pub(crate) fn logits_of(decoder: &Decoder, tokens: &[u32], chunk: usize) -> Vec<Vec<f32>> {
    let shape = AttentionShape::from(decoder.config());
    let mut cache = crate::attention::build(AttentionKind::Tiled, &shape, 64, BLOCK, DType::F32);
    let mut sequences = [Blocks::new(64, BLOCK).sequence(tokens)];
    logits_in_chunks(decoder, &mut *cache, &mut sequences, chunk, BLOCK).remove(0)
}

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

#[test]
fn weights_in_fp8_are_multiplied_with_their_blocks_scales() {
    const BLOCK: [usize; 2] = [16, 24];
    let mut config = sizes("Qwen3ForCausalLM");
    let [exact, rounded, stored] = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let tensors = checkpoint(exact.path(), &config);
    let (mut wide, mut bf16, mut small) = (tensors.clone(), tensors.clone(), tensors.clone());
    for (name, tensor) in &tensors {
        let Ok((rows, columns)) = tensor.dims2() else {
            continue;
        };
        if !name.contains("_proj") {
            continue;
        }
        let blocks = (rows.div_ceil(BLOCK[0]), columns.div_ceil(BLOCK[1]));
        let scales = Tensor::rand(0.01f32, 0.03, blocks, &Device::Cpu).unwrap();
        let spread = {
            let scales: Vec<Vec<f32>> = scales.to_vec2().unwrap();
            let all = (0..rows).flat_map(|row| {
                let scales = &scales[row / BLOCK[0]];
                (0..columns).map(move |column| scales[column / BLOCK[1]])
            });
            Tensor::from_iter(all.collect::<Vec<_>>(), &Device::Cpu).unwrap()
        };
        let spread = spread.reshape((rows, columns)).unwrap();
        let eight = (tensor / &spread).unwrap().to_dtype(DType::F8E4M3).unwrap();
        let back = (eight.to_dtype(DType::F32).unwrap() * spread).unwrap();
        bf16.insert(name.clone(), back.to_dtype(DType::BF16).unwrap());
        wide.insert(name.clone(), back);
        small.insert(name.clone(), eight);
        small.insert(format!("{name}_scale_inv"), scales);
    }
    let save = |tensors: &HashMap<String, Tensor>, folder: &Path, config: &Value| {
        candle_core::safetensors::save(tensors, folder.join("model.safetensors")).unwrap();
        std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    };
    save(&wide, exact.path(), &config);
    save(&bf16, rounded.path(), &config);
    config["quantization_config"] = json!({"quant_method": "fp8", "weight_block_size": BLOCK});
    save(&small, stored.path(), &config);
    let tokens: Vec<u32> = (0..20).map(|i| (i * 7 + 3) % 61).collect();
    let as_type = |dtype, folder: &tempfile::TempDir| {
        let choice = PrecisionChoice {
            dtype: Some(dtype),
            kv: Some(DType::F32),
            ..PrecisionChoice::default()
        };
        let precision = choice.resolve(&Device::Cpu, DType::BF16).unwrap();
        ours_as(precision, folder.path(), &tokens, 20)
    };
    // In each type they are what the product with the scale is there, rounded once: as in transformers, by `dtype`.
    for dtype in [DType::F32, DType::F16] {
        assert!(
            as_type(dtype, &exact) == as_type(dtype, &stored),
            "{dtype:?}"
        );
    }
    assert!(as_type(DType::BF16, &rounded) == as_type(DType::BF16, &stored));
    assert!(as_type(DType::F32, &rounded) != as_type(DType::F32, &stored));
}

#[test]
fn a_head_in_the_file_counts_though_the_configuration_ties_it() {
    let mut config = sizes("Qwen3ForCausalLM");
    let folder = tempfile::tempdir().unwrap();
    let mut tensors = checkpoint(folder.path(), &config);
    let tokens: Vec<u32> = (0..20).map(|i| (i * 7 + 3) % 61).collect();
    let logits = || ours(folder.path(), &tokens, 20);
    let own = logits();
    config["tie_word_embeddings"] = json!(true);
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    assert!(logits() == own, "the head in the file was dropped");
    let save = |tensors: &HashMap<String, Tensor>| {
        let path = folder.path().join("model.safetensors");
        candle_core::safetensors::save(tensors, path).unwrap();
    };
    // With the same numbers it is the table.
    tensors.insert(
        "lm_head.weight".into(),
        tensors["model.embed_tokens.weight"].clone(),
    );
    save(&tensors);
    let same = logits();
    tensors.remove("lm_head.weight");
    save(&tensors);
    assert!(logits() == same && same != own);
}
