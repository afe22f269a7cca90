//! Random checkpoints made on the spot.

use std::collections::HashMap;
use std::path::Path;

use crate::paged::{Blocks, logits_in_chunks};
use candle_core::{DType, Device, Tensor};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::model::attention::{self, AttentionKind, AttentionShape};
use juror_engine::model::{Decoder, Precision, PrecisionChoice};
use serde_json::{Value, json};

const BLOCK: usize = 4;

pub(crate) fn sizes(class: &str) -> Value {
    json!({
        "architectures": [class], "vocab_size": 61, "hidden_size": 32, "intermediate_size": 48,
        "num_hidden_layers": 3, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
        "max_position_embeddings": 256, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu",
        "tie_word_embeddings": false, "attention_bias": false,
    })
}

/// A checkpoint's folder with weights wide enough that logits differ by several units, and its tensors.
pub(crate) fn checkpoint(folder: &Path, config: &Value) -> HashMap<String, Tensor> {
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
pub(crate) fn ours(folder: &Path, tokens: &[u32], chunk: usize) -> Vec<Vec<f32>> {
    ours_as(Precision::F32, folder, tokens, chunk)
}

pub(crate) fn ours_as(
    precision: Precision,
    folder: &Path,
    tokens: &[u32],
    chunk: usize,
) -> Vec<Vec<f32>> {
    let source = juror_judge::catalog::resolve(folder.to_str().unwrap()).unwrap();
    let config = ModelConfig::load(&source).unwrap();
    let weights = Weights::open(&source).unwrap();
    let decoder = Decoder::load(&config, &weights, &Device::Cpu, precision).unwrap();
    logits_of(&decoder, tokens, chunk)
}

pub(crate) fn logits_of(decoder: &Decoder, tokens: &[u32], chunk: usize) -> Vec<Vec<f32>> {
    let shape = AttentionShape::from(decoder.config());
    let mut cache = attention::build(
        AttentionKind::Tiled,
        &shape,
        64,
        BLOCK,
        &Device::Cpu,
        DType::F32,
    )
    .unwrap();
    let mut sequences = [Blocks::new(64, BLOCK).sequence(tokens)];
    logits_in_chunks(decoder, &mut *cache, &mut sequences, chunk, BLOCK).remove(0)
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
