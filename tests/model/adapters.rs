//! Adapters made by peft: merged logits against those of peft's `merge_and_unload` (`scripts/golden_adapters.py`), the types
//! that merged weights are held in, and adapters that are refused.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use candle_core::quantized::GgmlDType;
use candle_core::{DType, Device, Tensor};
use juror_engine::checkpoint::{Adapter, ModelConfig, ModelSource, Weights};
use juror_engine::model::attention::AttentionKind;
use juror_engine::model::precision::Quantization;
use juror_engine::model::{Decoder, PrecisionChoice};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::golden_logits::Checkpoint;
use crate::random_weights;

const NAMES: [&str; 14] = [
    "chatglm",
    "embeddings",
    "experts",
    "gemma3",
    "glm4",
    "gpt-oss",
    "llama",
    "norms",
    "phi3",
    "qwen2-head",
    "qwen3",
    "qwen3-table",
    "qwen3-vl",
    "qwen3_5",
];

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

#[test]
fn every_adapter_is_compared() {
    let entries = fs::read_dir(folder("adapters")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(names, NAMES);
}

/// The base is found by the path in the adapter's description.
#[test]
fn logits_equal_those_of_models_that_peft_has_merged() {
    for name in NAMES {
        let merged = Checkpoint::of(&format!("tests/data/adapters/{name}"));
        for chunk in [usize::MAX, 7] {
            merged.compare(AttentionKind::Tiled, chunk);
        }
    }
}

fn tensors(path: &Path) -> HashMap<String, Tensor> {
    candle_core::safetensors::load(path, &Device::Cpu).unwrap()
}

/// A weight is merged in f32, and rounded or quantised once: as that of a checkpoint with the sums in f32.
#[test]
fn merged_weights_are_rounded_once() {
    let source = juror_judge::catalog::resolve("tests/data/adapters/glm4").unwrap();
    let config = ModelConfig::load(&source).unwrap();
    let weights = Weights::open(&source).unwrap();
    let whole = TempDir::new().unwrap();
    let sums: HashMap<String, Tensor> = weights
        .shapes()
        .map(|(name, _)| {
            (
                name.to_owned(),
                weights.get(name, &Device::Cpu, DType::F32).unwrap(),
            )
        })
        .collect();
    candle_core::safetensors::save(&sums, whole.path().join("model.safetensors")).unwrap();
    fs::copy(
        folder("checkpoints/glm4/config.json"),
        whole.path().join("config.json"),
    )
    .unwrap();
    let whole = Weights::open(&ModelSource::Folder(whole.path().into())).unwrap();
    let tokens: Vec<u32> = (0..20).map(|i| (i * 7 + 3) % 53).collect();
    let mut seen = Vec::new();
    for (dtype, quantize) in [
        (Some(DType::BF16), None),
        (Some(DType::F16), None),
        (None, Some(Quantization::Q8_0)),
    ] {
        let choice = PrecisionChoice {
            dtype,
            quantize,
            kv: None,
        };
        let logits = |weights: &Weights| {
            let precision = choice.resolve(&Device::Cpu, DType::BF16).unwrap();
            let decoder = Decoder::load(&config, weights, &Device::Cpu, precision).unwrap();
            random_weights::logits_of(&decoder, &tokens, 20)
        };
        let merged = logits(&weights);
        assert!(merged == logits(&whole), "{dtype:?} {quantize:?}");
        assert!(!seen.contains(&merged));
        seen.push(merged);
    }
    // The base model's type is kept.
    let kept = PrecisionChoice::default()
        .resolve(&Device::Cpu, &weights)
        .unwrap();
    assert_eq!(kept.weights.as_str(), "bf16");
}

/// An adapter of `tests/data`, with another description, or other tensors.
fn changed(
    name: &str,
    describe: impl FnOnce(&mut Value),
    change: impl FnOnce(&mut HashMap<String, Tensor>),
) -> TempDir {
    let (from, to) = (folder("adapters").join(name), TempDir::new().unwrap());
    let text = fs::read_to_string(from.join("adapter_config.json")).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    describe(&mut config);
    fs::write(to.path().join("adapter_config.json"), config.to_string()).unwrap();
    let mut weights = tensors(&from.join("adapter_model.safetensors"));
    change(&mut weights);
    candle_core::safetensors::save(&weights, to.path().join("adapter_model.safetensors")).unwrap();
    to
}

#[track_caller]
fn refused(
    name: &str,
    describe: impl FnOnce(&mut Value),
    change: impl FnOnce(&mut HashMap<String, Tensor>),
    parts: &[&str],
) {
    let adapter = changed(name, describe, change);
    let read = juror_judge::catalog::resolve(adapter.path().to_str().unwrap())
        .and_then(|source| Weights::open(&source).map(|_| ()));
    let message = read.expect_err("it is refused").to_string();
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

fn as_it_is(_: &mut HashMap<String, Tensor>) {}

#[test]
fn kinds_of_adapters_that_are_not_merged_are_named() {
    for (key, value, parts) in [
        ("use_dora", json!(true), &["use_dora", "DoRA", "peft"][..]),
        ("peft_type", json!("IA3"), &["IA3", "only LORA"]),
        (
            "init_lora_weights",
            json!("pissa_niter_4"),
            &["pissa_niter_4", "path_initial_model_for_weight_conversion"],
        ),
        (
            "target_parameters",
            json!(["mlp.experts.gate_up_proj"]),
            &["target_parameters", "gate_up_proj"],
        ),
        (
            "layer_replication",
            json!([[0, 2], [1, 2]]),
            &["layer_replication"],
        ),
        ("lora_bias", json!(true), &["lora_bias"]),
        (
            "alora_invocation_tokens",
            json!([5, 6]),
            &["activated LoRA"],
        ),
        (
            "trainable_token_indices",
            json!([1]),
            &["trainable_token_indices"],
        ),
        ("use_of_tomorrow", json!(3), &["use_of_tomorrow"]),
        (
            "rank_pattern",
            json!({"q_proj(?=x)": 3}),
            &["rank_pattern", "q_proj(?=x)"],
        ),
        (
            "rank_pattern",
            json!({"q_proj": 7}),
            &["q_proj", "rank 3", "says 7"],
        ),
        ("r", json!(0), &["r is not a positive number"]),
        (
            "base_model_name_or_path",
            json!("org/never-fetched"),
            &["org/never-fetched", "--model org/never-fetched --adapter"],
        ),
        (
            "base_model_name_or_path",
            json!("no; rm -rf /"),
            &["--model BASE --adapter"],
        ),
        (
            "base_model_name_or_path",
            json!("tests/data/checkpoints/qwen3-tied"),
            &["trained on another model"],
        ),
    ] {
        refused("qwen3", |config| config[key] = value, as_it_is, parts);
    }
    let bias = |config: &mut Value| config["bias"] = json!("all");
    refused(
        "qwen3",
        bias,
        |tensors| {
            let bias = Tensor::zeros(20, DType::F32, &Device::Cpu).unwrap();
            tensors.insert(
                "base_model.model.model.layers.0.self_attn.o_proj.bias".into(),
                bias,
            );
        },
        &["not merged", "model.layers.0.self_attn.o_proj.bias"],
    );
}

#[test]
fn tensors_that_are_not_merged_are_named() {
    let layer = "base_model.model.model.layers.0.self_attn.q_proj";
    let same = |_: &mut Value| {};
    let drop_one = |tensors: &mut HashMap<String, Tensor>| {
        tensors.remove(&format!("{layer}.lora_A.weight"));
    };
    refused(
        "llama",
        same,
        drop_one,
        &["not merged", "model.layers.0.self_attn.q_proj"],
    );
    let magnitude = |tensors: &mut HashMap<String, Tensor>| {
        let tensor = Tensor::ones(32, DType::F32, &Device::Cpu).unwrap();
        tensors.insert(format!("{layer}.lora_magnitude_vector"), tensor);
    };
    refused(
        "llama",
        same,
        magnitude,
        &["not merged", "lora_magnitude_vector"],
    );
    let stranger = |tensors: &mut HashMap<String, Tensor>| {
        let tensor = Tensor::ones((2, 2), DType::F32, &Device::Cpu).unwrap();
        tensors.insert("classifier.weight".into(), tensor);
    };
    refused(
        "llama",
        same,
        stranger,
        &["not merged", "classifier.weight"],
    );
    // Merged, a table that is the output head too would change both, and only one was trained.
    let tied = |config: &mut Value| {
        config["base_model_name_or_path"] = json!("tests/data/checkpoints/qwen3-tied");
    };
    refused(
        "embeddings",
        tied,
        as_it_is,
        &["lm_head is adapted", "output head too"],
    );
}

#[test]
fn adapters_that_lack_what_was_trained_or_change_nothing_are_refused() {
    let same = |_: &mut Value| {};
    refused(
        "llama",
        same,
        HashMap::clear,
        &["holds no tensors", "changes nothing"],
    );
    let untrained = |tensors: &mut HashMap<String, Tensor>| {
        for (_, tensor) in tensors
            .iter_mut()
            .filter(|(name, _)| name.contains("lora_B"))
        {
            *tensor = tensor.zeros_like().unwrap();
        }
    };
    refused("llama", same, untrained, &["changes nothing", "zero"]);
    // One product that is not zero is enough.
    let one = changed("llama", same, |tensors| {
        let name = "base_model.model.model.layers.1.self_attn.q_proj.lora_B.weight";
        let kept = tensors[name].clone();
        untrained(tensors);
        tensors.insert(name.into(), kept);
    });
    let source = juror_judge::catalog::resolve(one.path().to_str().unwrap()).unwrap();
    Weights::open(&source).unwrap();
    // A module that was trained whole changes the model even where every product is zero; not if it is the base model's.
    let head = "base_model.model.lm_head.weight";
    let base = juror_judge::catalog::resolve("tests/data/checkpoints/qwen3-untied").unwrap();
    let base = Weights::open(&base)
        .unwrap()
        .get("lm_head.weight", &Device::Cpu, DType::F32)
        .unwrap();
    let whole = changed("qwen3", same, untrained);
    let source = juror_judge::catalog::resolve(whole.path().to_str().unwrap()).unwrap();
    Weights::open(&source).unwrap();
    let as_before = |tensors: &mut HashMap<String, Tensor>| {
        untrained(tensors);
        tensors.insert(head.into(), base);
    };
    refused("qwen3", same, as_before, &["changes nothing"]);
    // peft fails on these too.
    for (name, tensor) in [
        ("qwen3", head),
        ("qwen2-head", head),
        ("qwen3-table", "base_model.model.model.embed_tokens.weight"),
        (
            "norms",
            "base_model.model.model.layers.1.input_layernorm.weight",
        ),
    ] {
        let drop = |tensors: &mut HashMap<String, Tensor>| {
            tensors.remove(tensor).expect("it is there");
        };
        refused(name, same, drop, &["missing", tensor, "modules_to_save"]);
    }
    // A module that the base model does not have is none to save, as for peft.
    let other = |config: &mut Value| config["modules_to_save"] = json!(["score"]);
    let other = changed("llama", other, as_it_is);
    let source = juror_judge::catalog::resolve(other.path().to_str().unwrap()).unwrap();
    Weights::open(&source).unwrap();
    let no_list = |config: &mut Value| config["modules_to_save"] = json!("lm_head");
    refused("llama", no_list, as_it_is, &["modules_to_save"]);
}

#[test]
fn gguf_files_take_no_adapter() {
    let model = TempDir::new().unwrap();
    for file in ["config.json", "model.safetensors"] {
        fs::copy(
            folder("checkpoints/llama").join(file),
            model.path().join(file),
        )
        .unwrap();
    }
    let file = crate::gguf::gguf(model.path(), |_| GgmlDType::F32);
    let adapter = Adapter::open(&folder("adapters/llama")).unwrap();
    let base = juror_judge::catalog::resolve(file.to_str().unwrap()).unwrap();
    let message = base.with_adapter(adapter).unwrap_err().to_string();
    assert!(message.contains("not merged into a GGUF file"), "{message}");
}
