//! Checkpoints that are damaged, foreign or hostile: each is refused with a message that names what is wrong.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use juror_engine::checkpoint::{ModelConfig, ModelSource, Weights};
use juror_engine::model::{Decoder, DeviceChoice, ModelError, Precision};
use serde_json::{Value, json};
use tempfile::TempDir;

fn checkpoint(name: &str) -> TempDir {
    let from = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/checkpoints")
        .join(name);
    let folder = TempDir::new().unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    folder
}

fn load(folder: &Path) -> Result<Decoder, ModelError> {
    let source = juror_judge::catalog::resolve(folder.to_str().unwrap())?;
    let config = ModelConfig::load(&source)?;
    Decoder::load(
        &config,
        &Weights::open(&source)?,
        &Device::Cpu,
        Precision::F32,
    )
}

/// Changes a file of a good checkpoint, and returns what loading says then.
fn refusal(name: &str, file: &str, change: impl FnOnce(&mut Vec<u8>)) -> String {
    let folder = checkpoint(name);
    load(folder.path()).expect("the checkpoint is good before the change");
    let path = folder.path().join(file);
    let mut bytes = fs::read(&path).unwrap();
    change(&mut bytes);
    fs::write(&path, bytes).unwrap();
    load(folder.path())
        .err()
        .expect("the change is refused")
        .to_string()
}

/// A change of text in a file.
fn replace(from: &str, to: &str) -> impl FnOnce(&mut Vec<u8>) {
    move |bytes| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        assert!(text.contains(from), "{from} is not in the file");
        *bytes = text.replacen(from, to, 1).into_bytes();
    }
}

/// A change of text in a Safetensors header, by text of the same length.
fn replace_header(from: &str, to: &str) -> impl FnOnce(&mut Vec<u8>) {
    assert_eq!(from.len(), to.len());
    move |bytes| {
        let at = bytes
            .windows(from.len())
            .position(|window| window == from.as_bytes());
        let at = at.expect("header text");
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
}

fn has(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

/// Towers are skipped by the beginnings of their names; nothing else is.
#[test]
fn what_a_text_part_does_not_know_is_named() {
    let tensor = "vision_tower.ln_pre.weight";
    for other in ["vision_tower_ln_pre.weight", "model.layers.0.tower.weigh"] {
        let message = refusal(
            "mistral3",
            "model.safetensors",
            replace_header(tensor, other),
        );
        has(&message, &["not expected", other]);
    }
    // In the language part a tower's name is a foreign one.
    let message = refusal(
        "qwen3-vl",
        "model.safetensors",
        replace_header(
            "model.visual.merger.linear_fc1.weight",
            "model.language_model.visual.fc1.weigh",
        ),
    );
    has(&message, &["not expected", "model.visual.fc1.weigh"]);
    for (name, from, to, parts) in [
        (
            "mistral3",
            "\"image_token_index\": 10",
            "\"image_gates\": 10",
            ["image_gates", "not supported"],
        ),
        (
            "mistral3",
            "\"model_type\": \"mistral\"",
            "\"model_type\": \"mistrial\"",
            ["mistrial", "text_config.model_type"],
        ),
        (
            "gemma3",
            "\"sliding_attention\": {",
            "\"chunked_attention\": {",
            ["rope_parameters.chunked_attention", "not supported"],
        ),
        (
            "gemma3",
            "\"gelu_pytorch_tanh\"",
            "\"gelu\"",
            ["hidden_activation", "gelu_pytorch_tanh"],
        ),
        (
            "gemma3",
            "\"query_pre_attn_scalar\": 20",
            "\"query_pre_attn_scalar\": -1",
            ["query_pre_attn_scalar", "positive"],
        ),
    ] {
        has(&refusal(name, "config.json", replace(from, to)), &parts);
    }
}

/// The class of Granite 4.0 is that of its hybrids too; older files call attention by another name.
#[test]
fn only_granites_without_state_space_layers_and_experts_load() {
    let named = checkpoint("granite-hybrid");
    let path = named.path().join("config.json");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"full_attention\"", "\"attention\"")).unwrap();
    load(named.path()).unwrap();
    for (from, to) in [
        ("\"full_attention\"", "\"mamba\""),
        ("\"full_attention\"", "\"linear_attention\""),
        ("\"num_local_experts\": 0", "\"num_local_experts\": 4"),
        ("\"num_local_experts\": 0,", ""),
        ("\"position_embedding_type\": \"rope\",", ""),
    ] {
        let message = refusal("granite-hybrid", "config.json", replace(from, to));
        let parts = ["Granite with state-space layers", "a judge of like size"];
        has(&message, &parts);
    }
}

#[test]
fn damaged_weight_files() {
    let file = "model.safetensors";
    has(
        &refusal("qwen3-tied", file, |bytes| bytes.truncate(5)),
        &[file, "5 bytes"],
    );
    has(
        &refusal("qwen3-tied", file, |bytes| bytes.truncate(500)),
        &[file, "500"],
    );
    has(
        &refusal("qwen3-tied", file, |bytes| bytes.truncate(40_000)),
        &[file, "40000", "download"],
    );
    has(
        &refusal("qwen3-tied", file, |bytes| bytes.push(0)),
        &[file, "describes"],
    );
    has(
        &refusal("qwen3-tied", file, |bytes| bytes[..8].fill(0xff)),
        &[file, "claims"],
    );
    has(
        &refusal("qwen3-tied", file, |bytes| bytes[8] = b'!'),
        &[file, "damaged"],
    );
    has(
        &refusal("qwen3-tied", file, replace_header("[67,32]", "[99,32]")),
        &[file, "damaged"],
    );
    has(
        &refusal("qwen3-tied", file, replace_header("BF16", "BOOL")),
        &[file],
    );
}

#[test]
fn tensors_that_do_not_fit_the_configuration() {
    let config = "config.json";
    let message = refusal(
        "qwen3-tied",
        config,
        replace("\"intermediate_size\": 48", "\"intermediate_size\": 40"),
    );
    has(&message, &["gate_proj", "[48, 32]", "[40, 32]", "more"]);
    let message = refusal("qwen3-tied", config, |bytes| {
        let mut value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        value["num_hidden_layers"] = 1.into();
        value["layer_types"] = serde_json::Value::Null;
        *bytes = value.to_string().into_bytes();
    });
    has(&message, &["not expected", "model.layers.1."]);
    let message = refusal(
        "qwen3-tied",
        config,
        replace("\"attention_bias\": false", "\"attention_bias\": true"),
    );
    has(&message, &["missing", "bias [64]"]);
    let message = refusal(
        "qwen3-untied",
        config,
        replace("\"num_key_value_heads\": 1", "\"num_key_value_heads\": 3"),
    );
    has(&message, &["k_proj", "[8, 20]", "[24, 20]"]);
    let message = refusal(
        "qwen3-tied",
        config,
        replace(
            "\"tie_word_embeddings\": true",
            "\"tie_word_embeddings\": false",
        ),
    );
    has(&message, &["missing", "lm_head.weight [67, 32]"]);
}

#[test]
fn damaged_and_hostile_shard_indices() {
    let index = "model.safetensors.index.json";
    let shard = "model-00001-of-00003.safetensors";
    for elsewhere in [
        "../model.safetensors",
        "/etc/passwd",
        "a/b.safetensors",
        "..",
        "c:\\\\x",
    ] {
        let message = refusal("qwen3-untied", index, replace(shard, elsewhere));
        has(&message, &[index, "not a plain file name"]);
    }
    let message = refusal(
        "qwen3-untied",
        index,
        replace(shard, "model-00002-of-00003.safetensors"),
    );
    has(&message, &[index, "does not"]);
    has(
        &refusal("qwen3-untied", index, replace(shard, "gone.safetensors")),
        &["gone.safetensors"],
    );
    has(
        &refusal("qwen3-untied", index, |bytes| bytes.truncate(30)),
        &[index, "not a shard index"],
    );
    let folder = checkpoint("qwen3-untied");
    fs::remove_file(folder.path().join(shard)).unwrap();
    has(&load(folder.path()).err().unwrap().to_string(), &[shard]);
}

/// Another file may hold tensors that others replace: the index says which are the model's.
#[test]
fn the_index_decides_between_shards_that_hold_the_same_tensor() {
    let name = "model.layers.0.self_attn.q_proj.weight";
    for (overlay, chosen) in [
        ("a-overlay.safetensors", true),
        ("z-overlay.safetensors", true),
        ("z-overlay.safetensors", false),
    ] {
        let folder = checkpoint("qwen3-untied");
        let path = folder.path().join("model.safetensors.index.json");
        let mut index: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let shard = index["weight_map"][name].as_str().unwrap().to_owned();
        let before =
            candle_core::safetensors::load(folder.path().join(&shard), &Device::Cpu).unwrap();
        let zeros = before[name].zeros_like().unwrap();
        let only = Tensor::zeros(1, DType::F32, &Device::Cpu).unwrap();
        let tensors = HashMap::from([
            (name, zeros),
            ("model.norm.weight", before[name].clone()),
            ("overlay.only", only),
        ]);
        candle_core::safetensors::save(&tensors, folder.path().join(overlay)).unwrap();
        // Each file that the index names is opened.
        index["weight_map"]["overlay.only"] = json!(overlay);
        if chosen {
            index["weight_map"][name] = json!(overlay);
        }
        fs::write(&path, index.to_string()).unwrap();
        let weights = Weights::open(&ModelSource::Folder(folder.path().into())).unwrap();
        let read = weights.get(name, &Device::Cpu, DType::F32).unwrap();
        let sum = read
            .abs()
            .unwrap()
            .sum_all()
            .unwrap()
            .to_scalar::<f32>()
            .unwrap();
        assert_eq!(sum == 0.0, chosen, "{overlay}");
        assert_eq!(
            weights
                .get("model.norm.weight", &Device::Cpu, DType::F32)
                .unwrap()
                .rank(),
            1
        );
        // Without a word of the index nothing decides.
        index["weight_map"].as_object_mut().unwrap().remove(name);
        fs::write(&path, index.to_string()).unwrap();
        has(
            &load(folder.path()).err().unwrap().to_string(),
            &[name, "another shard"],
        );
    }
}

#[test]
fn names_that_are_no_model() {
    // Of the form of an id on the hub it would be one.
    let nowhere = juror_judge::catalog::resolve("some/folder/model").unwrap_err();
    has(
        &nowhere.to_string(),
        &["some/folder/model", "tiny", "folder", "org/name"],
    );
    let empty = TempDir::new().unwrap();
    has(
        &load(empty.path()).err().unwrap().to_string(),
        &["config.json"],
    );
    let folder = checkpoint("qwen3-tied");
    fs::remove_file(folder.path().join("model.safetensors")).unwrap();
    has(
        &load(folder.path()).err().unwrap().to_string(),
        &["model.safetensors"],
    );
}

#[test]
fn a_hash_follows_content_and_not_place() {
    let hash = |folder: &Path| {
        juror_judge::catalog::resolve(folder.to_str().unwrap())
            .unwrap()
            .hash()
            .unwrap()
    };
    let (a, b) = (checkpoint("qwen3-tied"), checkpoint("qwen3-tied"));
    assert_eq!(hash(a.path()), hash(b.path()));
    for file in ["config.json", "model.safetensors"] {
        let changed = checkpoint("qwen3-tied");
        let path = changed.path().join(file);
        let mut bytes = fs::read(&path).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        fs::write(&path, bytes).unwrap();
        assert_ne!(hash(changed.path()), hash(a.path()), "{file}");
    }
    let sharded = checkpoint("qwen3-untied");
    let before = hash(sharded.path());
    let path = sharded.path().join("model-00003-of-00003.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&path, bytes).unwrap();
    assert_ne!(hash(sharded.path()), before);
}

#[test]
fn the_embedded_model_loads() {
    let source = juror_judge::catalog::resolve("tiny").unwrap();
    let config = ModelConfig::load(&source).unwrap();
    let weights = Weights::open(&source).unwrap();
    assert!(!config.eos_token_ids.is_empty());
    assert!(weights.shapes().next().is_some() && source.has("tokenizer.json"));
    Decoder::load(&config, &weights, &Device::Cpu, Precision::F32).unwrap();
    has(
        &source.read_text("nothing.json").unwrap_err().to_string(),
        &["nothing.json", "tiny"],
    );
}

#[test]
fn yarn_stretches_the_context_over_a_small_one_that_was_left() {
    let folder = checkpoint("qwen3-yarn");
    let path = folder.path().join("config.json");
    let given: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for (positions, factor, original, limit, said) in [
        // As Qwen's model cards say it: the rest of the file stays.
        (
            40960,
            3.0,
            Some(32768),
            98304,
            "98304 tokens (YaRN stretches 32768 by 3)",
        ),
        (
            40960,
            4.0,
            Some(32768),
            131_072,
            "131072 tokens (YaRN stretches 32768 by 4)",
        ),
        (
            256,
            4.0,
            None,
            1024,
            "1024 tokens (YaRN stretches 256 by 4)",
        ),
        (
            256,
            1.0,
            Some(64),
            256,
            "256 tokens (YaRN stretches 64 by 1)",
        ),
        (
            40960,
            8.0,
            Some(32768),
            131_072,
            "131072 tokens, the most here (YaRN stretches 32768 by 8)",
        ),
        (
            1000,
            1e300,
            Some(32768),
            131_072,
            "131072 tokens, the most here",
        ),
    ] {
        let mut config = given.clone();
        config["max_position_embeddings"] = positions.into();
        let rope = config["rope_parameters"].as_object_mut().unwrap();
        rope.insert("factor".into(), factor.into());
        rope.insert("original_max_position_embeddings".into(), original.into());
        fs::write(&path, config.to_string()).unwrap();
        let parsed = ModelConfig::parse(&config.to_string(), "config.json").unwrap();
        assert_eq!(parsed.max_positions, limit, "{factor}");
        let shown = juror(&["models", "show", folder.path().to_str().unwrap()]);
        has(&shown, &[said]);
    }
    let shown = |name: &str| juror(&["models", "show", checkpoint(name).path().to_str().unwrap()]);
    has(
        &shown("phi3-longrope"),
        &["256 tokens (LongRoPE: other angles from 48 on)"],
    );
    has(&shown("qwen3-tied"), &["256 tokens\n"]);
}

/// What the program says, on both outputs.
fn juror(arguments: &[&str]) -> String {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_juror"))
        .args(arguments)
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    format!(
        "{}{}",
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap()
    )
}

#[test]
fn a_head_of_its_own_under_tied_embeddings_is_told() {
    let folder = TempDir::new().unwrap();
    let tiny = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models/tiny");
    for file in [
        "tokenizer.json",
        "tokenizer_config.json",
        "generation_config.json",
    ] {
        fs::copy(tiny.join(file), folder.path().join(file)).unwrap();
    }
    let config = fs::read_to_string(tiny.join("config.json")).unwrap();
    let mut config: serde_json::Value = serde_json::from_str(&config).unwrap();
    let weights = tiny.join("model.safetensors");
    let mut tensors = candle_core::safetensors::load(weights, &Device::Cpu).unwrap();
    let table = tensors["model.embed_tokens.weight"].clone();
    config["tie_word_embeddings"] = true.into();
    fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    fs::write(
        folder.path().join("in.jsonl"),
        r#"{"question": "1 + 1?", "reference_answer": "2", "response": "2"}"#,
    )
    .unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (model, input) = (at(""), at("in.jsonl"));
    let judged = ["judge", &input, "--model", &model, "--max-new-tokens", "2"];
    for (head, told) in [
        (None, false),
        (Some(table.clone()), false),
        (Some((table * 0.5).unwrap()), true),
    ] {
        tensors.remove("lm_head.weight");
        tensors.extend(head.map(|head| ("lm_head.weight".to_owned(), head)));
        candle_core::safetensors::save(&tensors, folder.path().join("model.safetensors")).unwrap();
        for said in [juror(&judged), juror(&["models", "show", &model])] {
            let there = said.contains("tie_word_embeddings is true in config.json");
            assert_eq!(there, told, "{said}");
            assert!(!said.contains("error:"), "{said}");
        }
    }
}

#[test]
fn devices() {
    for (text, choice) in [
        ("auto", DeviceChoice::Auto),
        ("cpu", DeviceChoice::Cpu),
        ("cuda:0", DeviceChoice::Cuda(0)),
        ("cuda:3", DeviceChoice::Cuda(3)),
        ("metal", DeviceChoice::Metal),
    ] {
        assert_eq!(text.parse::<DeviceChoice>().unwrap(), choice);
        assert_eq!(choice.to_string(), text);
    }
    assert_eq!(
        "cuda".parse::<DeviceChoice>().unwrap(),
        DeviceChoice::Cuda(0)
    );
    for text in ["", "gpu", "cuda:", "cuda:x", "cuda:-1"] {
        has(
            &text.parse::<DeviceChoice>().unwrap_err().to_string(),
            &["cpu, cuda"],
        );
    }
    assert!(DeviceChoice::Cpu.open().unwrap().is_cpu());
    if !candle_core::utils::cuda_is_available() {
        has(
            &DeviceChoice::Cuda(0).open().unwrap_err().to_string(),
            &["--features cuda", "--device cpu"],
        );
    }
    if !candle_core::utils::metal_is_available() {
        has(
            &DeviceChoice::Metal.open().unwrap_err().to_string(),
            &["--features metal", "--device cpu"],
        );
    }
}
