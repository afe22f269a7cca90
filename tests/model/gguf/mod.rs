//! Models in GGUF files: the same logits as the checkpoint they were made from, the same tokens, the same verdicts; and what
//! is damaged or unknown is named.

mod files;
mod vocabulary;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::gguf_writer::{self, File, Value, convert};
use crate::paged::{Blocks, logits_in_chunks};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{DType, Device, Tensor};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::model::attention::{AttentionKind, AttentionShape};
use juror_engine::model::precision::{PrecisionChoice, Quantization, WeightType};
use juror_engine::model::{Decoder, Precision};
use serde_json::{Value as Json, json};
use tempfile::TempDir;

const BLOCK: usize = 4;
const LENGTH: usize = 40;

pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The least that a vocabulary can be: tokens that are spelt with letters.
fn letters(file: &mut File, count: usize) {
    let texts: Vec<String> = (0..count).map(|id| format!("t{id}")).collect();
    file.set("tokenizer.ggml.model", Value::Text("gpt2".into()));
    file.set("tokenizer.ggml.pre", Value::Text("qwen2".into()));
    file.set("tokenizer.ggml.tokens", Value::Texts(texts));
    file.set("tokenizer.ggml.merges", Value::Texts(Vec::new()));
}

/// A folder's model as a GGUF file beside it.
pub(crate) fn gguf(folder: &Path, kind: impl Fn(&str) -> GgmlDType) -> PathBuf {
    let mut file = convert(folder, kind);
    let vocab = file
        .tensors
        .iter()
        .find(|tensor| tensor.name == "token_embd.weight")
        .unwrap()
        .shape[0];
    letters(&mut file, vocab);
    let path = folder.join("converted.gguf");
    file.write(&path);
    path
}

/// Logits of every position of a sequence that goes `chunk` tokens a step, as bits.
fn logits(model: &Path, choice: PrecisionChoice, chunk: usize) -> Vec<Vec<u32>> {
    let source = juror_judge::catalog::resolve(model.to_str().unwrap()).unwrap();
    let config = ModelConfig::load(&source).unwrap();
    let weights = Weights::open(&source).unwrap();
    let precision = choice.resolve(&Device::Cpu, &weights).unwrap();
    // What is compared here is weights.
    let precision = Precision {
        kv: DType::F32,
        ..precision
    };
    let decoder = Decoder::load(&config, &weights, &Device::Cpu, precision).unwrap();
    let shape = AttentionShape::from(&config);
    let mut cache = crate::attention::build(AttentionKind::Tiled, &shape, 64, BLOCK, DType::F32);
    let vocab = config.vocab as u32;
    let tokens: Vec<u32> = (0..LENGTH as u32)
        .map(|i| (i * i * 7 + 3) % vocab)
        .collect();
    let mut sequences = [Blocks::new(64, BLOCK).sequence(&tokens)];
    logits_in_chunks(&decoder, &mut *cache, &mut sequences, chunk, BLOCK)
        .remove(0)
        .into_iter()
        .map(|row| row.into_iter().map(f32::to_bits).collect())
        .collect()
}

fn as_stored(model: &Path) -> Vec<Vec<u32>> {
    logits(model, PrecisionChoice::default(), LENGTH)
}

fn wide() -> PrecisionChoice {
    PrecisionChoice {
        dtype: Some(DType::F32),
        ..PrecisionChoice::default()
    }
}

fn quantised(quantize: Quantization) -> PrecisionChoice {
    PrecisionChoice {
        quantize: Some(quantize),
        ..PrecisionChoice::default()
    }
}

/// Root mean square difference, in units of the root mean square of what is expected.
fn difference(ours: &[Vec<u32>], expected: &[Vec<u32>]) -> f64 {
    let pairs = ours.iter().flatten().zip(expected.iter().flatten());
    let (mut errors, mut size) = (0.0, 0.0);
    for (a, b) in pairs {
        let (a, b) = (f64::from(f32::from_bits(*a)), f64::from(f32::from_bits(*b)));
        errors += (a - b) * (a - b);
        size += b * b;
    }
    (errors / size).sqrt()
}

/// Numbers near a normal distribution, the same every time.
fn normal(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..count)
        .map(|_| (0..12).map(|_| next()).sum::<f32>())
        .collect()
}

fn sizes(class: &str, hidden: usize, intermediate: usize) -> Json {
    json!({
        "architectures": [class], "vocab_size": 83, "hidden_size": hidden, "intermediate_size": intermediate,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": hidden / 4,
        "max_position_embeddings": 256, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "hidden_act": "silu",
        "tie_word_embeddings": true, "attention_bias": false, "eos_token_id": [],
    })
}

fn save(folder: &Path, tensors: &HashMap<String, Tensor>) {
    candle_core::safetensors::save(tensors, folder.join("model.safetensors")).unwrap();
}

/// A checkpoint in f32 with weights wide enough that logits differ by several units.
fn checkpoint(config: &Json) -> TempDir {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    let config = ModelConfig::parse(&config.to_string(), "config.json").unwrap();
    let tensors = Weights::random(&config, 1)
        .shapes()
        .enumerate()
        .map(|(seed, (name, shape))| {
            let numbers = normal(shape.iter().product(), seed as u32);
            let (mean, deviation) = match shape {
                [_] if name.ends_with("norm.weight") => (1.0, 0.2),
                [.., inputs] => (0.0, 1.2 / (*inputs as f32).sqrt()),
                [] => (0.0, 1.0),
            };
            let numbers: Vec<f32> = numbers.iter().map(|x| mean + deviation * x).collect();
            let tensor = Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap();
            (name.to_owned(), tensor)
        })
        .collect();
    save(folder.path(), &tensors);
    folder
}

/// A copy of a checkpoint whose matrices went through a type of GGML, back in f32: what candle says they are.
fn dequantised(folder: &Path, kind: impl Fn(&str) -> GgmlDType) -> TempDir {
    let copy = TempDir::new().unwrap();
    std::fs::copy(folder.join("config.json"), copy.path().join("config.json")).unwrap();
    let tensors = gguf_writer::tensors(folder)
        .into_iter()
        .map(|(name, tensor)| {
            let tensor = match tensor.rank() {
                1 => tensor,
                _ => QTensor::quantize(&tensor, kind(&name))
                    .unwrap()
                    .dequantize(&Device::Cpu)
                    .unwrap(),
            };
            (name, tensor)
        })
        .collect();
    save(copy.path(), &tensors);
    copy
}

/// Every family, from checkpoints that transformers made: bf16, all of them but the one that is not.
#[test]
fn float_files_have_the_bits_of_safetensors() {
    for (name, kind) in [
        ("qwen2", GgmlDType::BF16),
        ("qwen3-tied", GgmlDType::F32),
        ("qwen3-tied", GgmlDType::BF16),
        ("qwen3-untied", GgmlDType::F32),
        ("qwen3-yarn", GgmlDType::BF16),
        ("qwen3-moe", GgmlDType::BF16),
        ("llama", GgmlDType::BF16),
        ("llama-linear", GgmlDType::BF16),
        ("mistral", GgmlDType::BF16),
        ("phi3", GgmlDType::BF16),
        ("phi3-longrope", GgmlDType::BF16),
        ("glm", GgmlDType::BF16),
        ("glm4", GgmlDType::BF16),
        ("chatglm", GgmlDType::BF16),
        ("gpt-oss", GgmlDType::BF16),
    ] {
        let original = repository("tests/data/checkpoints").join(name);
        let expected = as_stored(&original);
        let folder = TempDir::new().unwrap();
        std::fs::copy(
            original.join("config.json"),
            folder.path().join("config.json"),
        )
        .unwrap();
        save(folder.path(), &gguf_writer::tensors(&original));
        let ours = as_stored(&gguf(folder.path(), |_| kind));
        // Files have divisors of angles rounded to f32.
        if matches!(name, "llama" | "phi3-longrope") {
            let difference = difference(&ours, &expected);
            assert!(difference < 1e-6, "{name}: {difference}");
        } else {
            assert!(ours == expected, "{name}, {kind:?}");
        }
    }
}

/// Files of Gemma have no key for the scale of scores: it is that of a head's width, but for one size.
#[test]
fn files_of_gemma_have_the_bits_of_safetensors() {
    for name in ["gemma2", "gemma3"] {
        let original = repository("tests/data/checkpoints").join(name);
        let folder = TempDir::new().unwrap();
        let config = std::fs::read_to_string(original.join("config.json")).unwrap();
        let mut config: Json = serde_json::from_str(&config).unwrap();
        config["query_pre_attn_scalar"] = config["head_dim"].clone();
        std::fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
        save(folder.path(), &gguf_writer::tensors(&original));
        let expected = as_stored(folder.path());
        let file = gguf(folder.path(), |_| GgmlDType::BF16);
        assert!(as_stored(&file) == expected, "{name}");
    }
}

/// gpt-oss as it is published: experts in MXFP4, everything else in bf16.
#[test]
fn experts_of_four_bits_keep_their_values() {
    let original = repository("tests/data/checkpoints/gpt-oss-mxfp4");
    let folder = TempDir::new().unwrap();
    for name in ["config.json", "model.safetensors"] {
        std::fs::copy(original.join(name), folder.path().join(name)).unwrap();
    }
    let file = gguf(folder.path(), |_| GgmlDType::BF16);
    let expected = logits(&original, wide(), LENGTH);
    assert!(logits(&file, wide(), LENGTH) == expected);
    // Activations of the experts are rounded to eight bits.
    let blocks = difference(&as_stored(&file), &expected);
    assert!((1e-6..0.02).contains(&blocks), "{blocks}");
    // Bytes as in Safetensors, where the gates are every other row of one tensor.
    let [published, file] = [original, file].map(|path| {
        let source = juror_judge::catalog::resolve(path.to_str().unwrap()).unwrap();
        Weights::open(&source).unwrap()
    });
    assert!(published.mxfp4_numbers() > 0);
    assert_eq!(file.mxfp4_numbers(), published.mxfp4_numbers());
    let name = "model.layers.1.mlp.experts";
    let gate = file
        .mxfp4(&format!("{name}.2.gate_proj.weight"))
        .unwrap()
        .unwrap();
    for (ours, what) in gate.iter().zip(["blocks", "scales"]) {
        let all = published
            .get_part(&format!("{name}.gate_up_proj_{what}"), 2, &Device::Cpu)
            .unwrap();
        let rows: Vec<Vec<u8>> = all.flatten_from(1).unwrap().to_vec2().unwrap();
        assert_eq!(
            *ours,
            rows.into_iter().step_by(2).flatten().collect::<Vec<u8>>()
        );
    }
    assert!(file.mxfp4("model.norm.weight").unwrap().is_none());
}

#[test]
fn half_precision_too() {
    let folder = checkpoint(&sizes("Qwen3ForCausalLM", 32, 64));
    let file = gguf(folder.path(), |_| GgmlDType::F16);
    let half = PrecisionChoice {
        dtype: Some(DType::F16),
        ..PrecisionChoice::default()
    };
    let expected = logits(folder.path(), half, LENGTH);
    assert!(as_stored(&file) == expected);
}

/// Mistral Small 3 has the name of Ministral 3 in new files, without its angles and scales by position.
#[test]
fn mistral_small_under_the_name_of_ministral() {
    let folder = checkpoint(&sizes("LlamaForCausalLM", 32, 64));
    let expected = as_stored(folder.path());
    let mut file = convert(folder.path(), |_| GgmlDType::F32);
    letters(&mut file, 83);
    for (key, value) in &mut file.metadata {
        if let Some(key_of) = key.strip_prefix("llama.") {
            *key = format!("mistral3.{key_of}");
        } else if key == "general.architecture" {
            *value = Value::Text("mistral3".into());
        }
    }
    let path = folder.path().join("mistral3.gguf");
    file.write(&path);
    assert!(as_stored(&path) == expected);
}

/// The published Llama 3's stretching is found again, to the bit.
#[test]
fn stretched_angles_of_llama_3() {
    let mut config = sizes("LlamaForCausalLM", 32, 64);
    config["rope_theta"] = 500_000.0.into();
    let plain = as_stored(checkpoint(&config).path());
    config["rope_scaling"] = json!({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 8192});
    let folder = checkpoint(&config);
    let expected = as_stored(folder.path());
    assert!(expected != plain);
    assert!(as_stored(&gguf(folder.path(), |_| GgmlDType::F32)) == expected);
}

#[test]
fn stacked_experts_are_taken_apart() {
    let mut config = sizes("Qwen3MoeForCausalLM", 64, 64);
    config["num_experts"] = json!(4);
    config["num_experts_per_tok"] = json!(2);
    config["moe_intermediate_size"] = json!(32);
    config["norm_topk_prob"] = json!(true);
    let folder = checkpoint(&config);
    let file = gguf(folder.path(), |_| GgmlDType::F32);
    assert!(as_stored(&file) == as_stored(folder.path()));
    let file = gguf(folder.path(), |_| GgmlDType::Q8_0);
    let expected = logits(folder.path(), quantised(Quantization::Q8_0), LENGTH);
    assert!(as_stored(&file) == expected);
}

#[test]
fn quantised_files_have_the_bits_of_quantising_at_load() {
    let folder = checkpoint(&sizes("Qwen3ForCausalLM", 256, 512));
    let file = gguf(folder.path(), |_| GgmlDType::Q8_0);
    let expected = logits(folder.path(), quantised(Quantization::Q8_0), LENGTH);
    assert!(as_stored(&file) == expected, "Q8_0");
    // The head, which is the embedding table here, in eight bits: as `--quantize q4k` has it.
    let file = gguf(folder.path(), |name| match name {
        "token_embd.weight" => GgmlDType::Q8_0,
        _ => GgmlDType::Q4K,
    });
    let expected = logits(folder.path(), quantised(Quantization::Q4K), LENGTH);
    assert!(as_stored(&file) == expected, "Q4_K");
}

/// Heads whose rows are put in order at load, with biases, and projections that are stored as one.
#[test]
fn blocks_of_rows_in_another_order() {
    let mut glm = sizes("Glm4ForCausalLM", 128, 128);
    glm["partial_rotary_factor"] = json!(0.5);
    glm["attention_bias"] = true.into();
    let mut phi = sizes("Phi3ForCausalLM", 128, 128);
    phi["partial_rotary_factor"] = json!(0.75);
    let mut llama = sizes("LlamaForCausalLM", 128, 128);
    llama["attention_bias"] = true.into();
    for config in [glm, phi, llama, sizes("Qwen2ForCausalLM", 128, 128)] {
        let folder = checkpoint(&config);
        let file = gguf(folder.path(), |_| GgmlDType::Q8_0);
        let expected = logits(folder.path(), quantised(Quantization::Q8_0), LENGTH);
        assert!(as_stored(&file) == expected, "{}", config["architectures"]);
        let widened = logits(&file, wide(), LENGTH);
        let reference = dequantised(folder.path(), |_| GgmlDType::Q8_0);
        assert!(widened == as_stored(reference.path()));
    }
}

/// With `--dtype f32` the logits are those of the weights that candle reads from the same blocks. In blocks, activations
/// are rounded to eight bits too: about 1 % in each layer's products, over two layers of random weights 2 %.
#[test]
fn every_type_has_the_values_that_candle_reads() {
    let mut config = sizes("Qwen3ForCausalLM", 256, 512);
    config["tie_word_embeddings"] = false.into();
    let folder = checkpoint(&config);
    for kind in [
        GgmlDType::Q4_0,
        GgmlDType::Q4_1,
        GgmlDType::Q5_0,
        GgmlDType::Q5_1,
        GgmlDType::Q8_0,
        GgmlDType::Q4K,
        GgmlDType::Q5K,
        GgmlDType::Q6K,
    ] {
        let reference = dequantised(folder.path(), |_| kind);
        let expected = as_stored(reference.path());
        let file = gguf(folder.path(), |_| kind);
        let widened = difference(&logits(&file, wide(), LENGTH), &expected);
        assert!(widened < 1e-5, "{kind:?} as f32: {widened}");
        let blocks = difference(&as_stored(&file), &expected);
        assert!(blocks < 0.03, "{kind:?}: {blocks}");
    }
}

/// Types as `Q4_K_M` mixes them: values and half of the down projections in six bits, so that queries, keys and values
/// side by side are of two types.
fn mixed(name: &str) -> GgmlDType {
    match name {
        "token_embd.weight" => GgmlDType::Q5K,
        "output.weight" => GgmlDType::Q6K,
        _ if name.contains("attn_v") || name.contains("blk.1.ffn_down") => GgmlDType::Q6K,
        _ => GgmlDType::Q4K,
    }
}

#[test]
fn logits_of_mixed_types_do_not_depend_on_the_step() {
    let mut config = sizes("Qwen3ForCausalLM", 256, 512);
    config["tie_word_embeddings"] = false.into();
    let folder = checkpoint(&config);
    let file = gguf(folder.path(), mixed);
    let whole = as_stored(&file);
    for chunk in [1, 7] {
        let chunks = logits(&file, PrecisionChoice::default(), chunk);
        assert!(chunks == whole, "chunks of {chunk}");
    }
    let source = juror_judge::catalog::resolve(file.to_str().unwrap()).unwrap();
    let weights = Weights::open(&source).unwrap();
    let stored = WeightType::from(&weights);
    let WeightType::Stored { centibits } = stored else {
        panic!("{stored:?}");
    };
    assert!((450..660).contains(&centibits), "{centibits}");
}
