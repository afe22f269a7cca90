//! Models with recurrent layers, or with a cache for each of two kinds of layers: what llama.cpp says of the same files, and the same from any engine.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use candle_core::{DType, Device, Tensor};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::engine::{
    Completion, Drafts, Engine, EngineConfig, RandomKey, Request, Sampling, Stats,
};
use juror_engine::model::attention::{AttentionKind, CacheLayout, with_states};
use juror_engine::model::precision::Quantization;
use juror_engine::model::recurrence::RecurrentStates;
use juror_engine::model::{Decoder, Precision, PrecisionChoice};
use juror_judge::judge::build::{EngineOptions, check_drafts, load_model};
use tempfile::TempDir;

use crate::paged::{Blocks, logits_in_chunks};

const BLOCK: usize = 4;

fn data(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(path)
}

/// The error of a model whose configuration or weights are read.
pub(crate) fn refusal(path: &Path) -> String {
    let source = match juror_judge::catalog::resolve(path.to_str().unwrap()) {
        Ok(source) => source,
        Err(error) => return error.to_string(),
    };
    let config = match ModelConfig::load(&source) {
        Ok(config) => config,
        Err(error) => return error.to_string(),
    };
    let weights = match Weights::open(&source) {
        Ok(weights) => weights,
        Err(error) => return error.to_string(),
    };
    let decoder = Decoder::load(&config, &weights, &Device::Cpu, Precision::F32);
    decoder
        .err()
        .map_or_else(String::new, |error| error.to_string())
}

/// A copy of a checkpoint with other tensors.
pub(crate) fn changed(name: &str, change: impl FnOnce(&mut HashMap<String, Tensor>)) -> TempDir {
    let (from, folder) = (
        data(&format!("checkpoints/{name}")),
        TempDir::new().unwrap(),
    );
    std::fs::copy(from.join("config.json"), folder.path().join("config.json")).unwrap();
    let file = "model.safetensors";
    let mut tensors = candle_core::safetensors::load(from.join(file), &Device::Cpu).unwrap();
    change(&mut tensors);
    candle_core::safetensors::save(&tensors, folder.path().join(file)).unwrap();
    folder
}

/// Puts each layer's experts into two tensors, as they are published: gates before ups.
fn stack(tensors: &mut HashMap<String, Tensor>) {
    for layer in 0..3 {
        let at = format!("model.layers.{layer}.mlp.experts");
        let mut take = |part: &str| -> Tensor {
            let name = |expert: usize| format!("{at}.{expert}.{part}.weight");
            let all: Vec<Tensor> = (0..6)
                .map(|expert| tensors.remove(&name(expert)).unwrap())
                .collect();
            Tensor::stack(&all, 0).unwrap()
        };
        let (gate, up, down) = (take("gate_proj"), take("up_proj"), take("down_proj"));
        let gate_up = Tensor::cat(&[gate, up], 1).unwrap();
        tensors.insert(format!("{at}.gate_up_proj"), gate_up);
        tensors.insert(format!("{at}.down_proj"), down);
    }
}

/// Logits of 40 tokens, in f32 or quantised.
fn logits(folder: &Path, quantize: Option<Quantization>) -> Vec<f32> {
    let source = juror_judge::catalog::resolve(folder.to_str().unwrap()).unwrap();
    let config = ModelConfig::load(&source).unwrap();
    let weights = Weights::open(&source).unwrap();
    let tokens: Vec<u32> = (0..40).map(|at| at * 11 % 53).collect();
    let choice = PrecisionChoice {
        quantize,
        dtype: quantize.is_none().then_some(DType::F32),
        ..PrecisionChoice::default()
    };
    let precision = choice.resolve(&Device::Cpu, &weights).unwrap();
    let decoder = Decoder::load(&config, &weights, &Device::Cpu, precision).unwrap();
    let (layout, kind) = (CacheLayout::from(&config), Some(AttentionKind::Tiled));
    let mut cache = crate::attention::build_all(kind, &layout, 64, BLOCK, DType::F32);
    let mut sequences = [Blocks::new(64, BLOCK).sequence(&tokens)];
    if let Some(recurrent) = &config.recurrent {
        cache = with_states(cache, RecurrentStates::new(recurrent.shape, 1));
        sequences[0].state = Some(0);
    }
    let logits = logits_in_chunks(&decoder, &mut *cache, &mut sequences, 40, BLOCK);
    logits.concat().concat()
}

#[test]
fn stacked_experts_are_those_that_are_stored_apart() {
    let apart = logits(&data("checkpoints/qwen3_5-moe"), None);
    let folder = changed("qwen3_5-moe", stack);
    assert!(logits(folder.path(), None) == apart);
}

#[test]
fn what_is_missing_or_of_another_shape_is_named() {
    let moe = "qwen3_5-moe";
    let stacked = "model.layers.1.mlp.experts.gate_up_proj";
    let folder = changed(moe, |tensors| {
        stack(tensors);
        let short = tensors[stacked].narrow(0, 0, 5).unwrap();
        tensors.insert(stacked.into(), short.contiguous().unwrap());
    });
    let error = refusal(folder.path());
    let shapes = "[5, 48, 32], not [6, 48, 32]";
    assert!(error.contains(stacked) && error.contains(shapes), "{error}");
    let rate = "model.layers.0.linear_attn.A_log";
    let folder = changed(moe, |tensors| drop(tensors.remove(rate)));
    assert!(refusal(folder.path()).contains(rate));
    // What guesses several tokens ahead is passed over, a tensor that nobody knows is not.
    let with = |name: &str| {
        changed(moe, |tensors| {
            tensors.insert(name.into(), tensors[rate].clone());
        })
    };
    assert_eq!(refusal(with("mtp.fc.weight").path()), "");
    let unknown = "model.layers.0.linear_attn.new_gate";
    assert!(refusal(with(unknown).path()).contains(unknown));
    // A file without a key that its architecture needs.
    let folder = TempDir::new().unwrap();
    let bytes = std::fs::read(data("gguf/qwen35-q8_0.gguf")).unwrap();
    for key in [
        "ssm.group_count",
        "ssm.inner_size",
        "full_attention_interval",
    ] {
        let key = format!("qwen35.{key}");
        let at = bytes
            .windows(key.len())
            .position(|window| window == key.as_bytes());
        let mut bytes = bytes.clone();
        bytes[at.unwrap()] = b'Q';
        let path = folder.path().join("damaged.gguf");
        std::fs::write(&path, bytes).unwrap();
        let error = refusal(&path);
        assert!(
            error.contains(&format!("no {key} in its metadata")),
            "{error}"
        );
    }
    // Blocks that are neither layers nor said to guess ahead.
    let key = "qwen35.block_count";
    let at = bytes
        .windows(key.len())
        .position(|window| window == key.as_bytes());
    // After the key come the value's type and the value, of four bytes each.
    let at = at.unwrap() + key.len() + 4;
    let mut fewer = bytes.clone();
    fewer[at] -= 1;
    let path = folder.path().join("fewer.gguf");
    std::fs::write(&path, fewer).unwrap();
    let error = refusal(&path);
    let left = format!("blk.{}.", bytes[at] - 1);
    assert!(
        error.contains(&left) || error.contains("layers."),
        "{error}"
    );
}

/// Layers of two kinds have projections of other shapes, and one of the kinds none of values.
#[test]
fn what_a_kind_of_layer_has_not_is_named() {
    let at = |layer: usize, name: &str| format!("model.layers.{layer}.{name}");
    let (values, keys) = (
        at(1, "self_attn.v_proj.weight"),
        at(0, "self_attn.k_proj.weight"),
    );
    let folder = changed("gemma4", |tensors| {
        tensors.insert(values.clone(), tensors[&keys].clone());
    });
    let error = refusal(folder.path());
    assert!(
        error.contains("not expected") && error.contains(&values),
        "{error}"
    );
    let folder = changed("gemma4", |tensors| {
        let wide = tensors[&at(1, "self_attn.q_proj.weight")].clone();
        tensors.insert(keys.clone(), wide);
    });
    let error = refusal(folder.path());
    assert!(
        error.contains(&keys) && error.contains("config.json says [16, 32]"),
        "{error}"
    );
    for (name, missing) in [
        ("gemma4", at(2, "layer_scalar")),
        ("gemma4-moe", at(0, "router.per_expert_scale")),
        ("gemma4-moe", at(1, "pre_feedforward_layernorm_2.weight")),
    ] {
        let folder = changed(name, |tensors| drop(tensors.remove(&missing)));
        assert!(refusal(folder.path()).contains(&missing));
    }
    let stacked = at(1, "experts.down_proj");
    let folder = changed("gemma4-moe", |tensors| {
        let short = tensors[&stacked]
            .narrow(0, 0, 5)
            .unwrap()
            .contiguous()
            .unwrap();
        tensors.insert(stacked.clone(), short);
    });
    assert!(refusal(folder.path()).contains("[5, 32, 24], not [6, 32, 24]"));
    // Experts where the configuration has none.
    let folder = changed("gemma4-moe", |_| ());
    let path = folder.path().join("config.json");
    let config = std::fs::read_to_string(&path).unwrap();
    std::fs::write(
        &path,
        config.replace("\"enable_moe_block\": true", "\"enable_moe_block\": false"),
    )
    .unwrap();
    assert!(refusal(folder.path()).contains("not expected: model.layers.0.experts"));
    // Published files of layers that attend to another's keys hold keys of their own, which nothing reads.
    let folder = changed("gemma4-e2b", |tensors| {
        let keys = tensors[&at(0, "self_attn.k_proj.weight")].clone();
        for part in ["k_proj", "v_proj"] {
            tensors.insert(at(4, &format!("self_attn.{part}.weight")), keys.clone());
        }
        let norm = tensors[&at(0, "self_attn.k_norm.weight")].clone();
        tensors.insert(at(6, "self_attn.k_norm.weight"), norm.clone());
        // transformers passes over whatever is under them.
        for other in ["k_proj.bias", "v_proj.weight_scale", "v_norm.weight"] {
            tensors.insert(at(5, &format!("self_attn.{other}")), norm.clone());
        }
    });
    assert_eq!(
        logits(folder.path(), None),
        logits(&data("checkpoints/gemma4-e2b"), None)
    );
    for missing in [
        "model.embed_tokens_per_layer.weight",
        "model.per_layer_model_projection.weight",
        "model.per_layer_projection_norm.weight",
        "model.layers.0.self_attn.k_proj.weight",
        "model.layers.6.self_attn.q_proj.weight",
        "model.layers.6.per_layer_input_gate.weight",
        "model.layers.0.per_layer_projection.weight",
        "model.layers.3.post_per_layer_input_norm.weight",
    ] {
        let folder = changed("gemma4-e2b", |tensors| drop(tensors.remove(missing)));
        let error = refusal(folder.path());
        assert!(error.contains(&format!("missing: {missing}")), "{error}");
    }
    let foreign = at(6, "self_attn.q_proj.bias");
    let folder = changed("gemma4-e2b", |tensors| {
        let norm = tensors[&at(0, "self_attn.k_norm.weight")].clone();
        tensors.insert(foreign.clone(), norm);
    });
    assert!(refusal(folder.path()).contains(&format!("not expected: {foreign}")));
    // Keys of a file for llama.cpp.
    let bytes = std::fs::read(data("gguf/gemma4-e2b-q8_0.gguf")).unwrap();
    let folder = TempDir::new().unwrap();
    for (key, told) in [
        (
            "attention.sliding_window_pattern",
            "gemma4.attention.sliding_window_pattern is not a list",
        ),
        (
            "attention.head_count_kv",
            "no gemma4.attention.head_count_kv in its metadata",
        ),
        // All layers have keys then, and wide feed-forward layers are none of a kind.
        (
            "attention.shared_kv_layers",
            "gemma4.feed_forward_length is not one number for the 6 layers",
        ),
        (
            "feed_forward_length",
            "no gemma4.feed_forward_length in its metadata",
        ),
        ("embedding_length_per_layer_input", "per_layer"),
        (
            "rope.dimension_count_swa",
            "gemma4.Qope.dimension_count_swa",
        ),
    ] {
        let at = bytes
            .windows(key.len())
            .position(|window| window == key.as_bytes());
        let mut bytes = bytes.clone();
        bytes[at.unwrap()] = b'Q';
        let path = folder.path().join("damaged.gguf");
        std::fs::write(&path, bytes).unwrap();
        let error = refusal(&path);
        assert!(error.contains(told), "{key}: {error}");
    }
    // More layers without keys than there are, and all of a kind.
    for count in [5, 6, 99] {
        let key = b"attention.shared_kv_layers";
        let at = bytes.windows(key.len()).position(|window| window == key);
        let at = at.unwrap() + key.len() + 4;
        let mut bytes = bytes.clone();
        bytes[at] = count;
        let path = folder.path().join("shared.gguf");
        std::fs::write(&path, bytes).unwrap();
        let told = format!("gemma4.attention.shared_kv_layers is {count}, of ");
        assert!(refusal(&path).contains(&told), "{}", refusal(&path));
    }
}

/// What `YaRN` has by itself stands in older files of `OLMo` 3; in any other it would be multiplied with a second time.
#[test]
fn the_factor_of_yarn_is_in_files_of_olmo_alone() {
    for (name, arch) in [("olmo3", "olmo2"), ("mistral3", "mistral3")] {
        let mut bytes = std::fs::read(data(&format!("gguf/{name}.gguf"))).unwrap();
        let text = |text: &str| {
            [
                (text.len() as u64).to_le_bytes().as_slice(),
                text.as_bytes(),
            ]
            .concat()
        };
        let factor = 0.1f32.mul_add(4.0f32.ln(), 1.0);
        let mut more = text(&format!("{arch}.rope.scaling.attn_factor"));
        more.extend(6u32.to_le_bytes());
        more.extend(factor.to_le_bytes());
        // Another one, so that tensors are moved by a multiple of their alignment.
        more.extend(text(&"x".repeat(64 - 13 - more.len())));
        more.extend([0u32.to_le_bytes().as_slice(), &[1]].concat());
        assert_eq!(more.len(), 64);
        let path = data(&format!("gguf/{name}.gguf"));
        let source = juror_judge::catalog::resolve(path.to_str().unwrap()).unwrap();
        let before = ModelConfig::load(&source).unwrap();
        bytes[16] += 2;
        bytes.splice(24..24, more);
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("factor.gguf");
        std::fs::write(&path, bytes).unwrap();
        if arch == "olmo2" {
            let source = juror_judge::catalog::resolve(path.to_str().unwrap()).unwrap();
            assert_eq!(ModelConfig::load(&source).unwrap(), before);
        } else {
            let told = format!("{arch}.rope.scaling.attn_factor is not supported");
            assert!(refusal(&path).contains(&told), "{}", refusal(&path));
        }
    }
}

#[test]
fn a_number_of_drafts_is_refused_by_name() {
    let folder = data("checkpoints/qwen3_5");
    let source = juror_judge::catalog::resolve(folder.to_str().unwrap()).unwrap();
    let config = ModelConfig::load(&source).unwrap();
    let check = |drafts| {
        let options = EngineOptions {
            drafts,
            ..EngineOptions::default()
        };
        check_drafts(&config, &Device::Cpu, Precision::F32, &options)
    };
    let error = check(Drafts::Most(2)).unwrap_err().to_string();
    assert!(
        error.contains("--drafts N: Qwen3_5 has recurrent layers"),
        "{error}"
    );
    assert!(check(Drafts::Auto).is_ok() && check(Drafts::Off).is_ok());
}

#[test]
fn weights_may_be_quantised() {
    for name in [
        "qwen3_5",
        "qwen3_5-moe",
        "gemma4",
        "gemma4-e2b",
        "gemma4-moe",
    ] {
        let folder = data(&format!("checkpoints/{name}"));
        let (exact, rounded) = (
            logits(&folder, None),
            logits(&folder, Some(Quantization::Q8_0)),
        );
        let pairs = exact.iter().zip(&rounded);
        let differences: f32 = pairs.map(|(a, b)| (a - b).abs()).sum();
        // A token of the small mixture may go to another expert.
        let mean = differences / exact.len() as f32;
        assert!((1e-4..0.15).contains(&mean), "{name}: {mean}");
    }
}

/// Twelve prompts of three kinds behind a template, each twice.
fn requests() -> Vec<Request> {
    (0..24_u64)
        .map(|id| {
            let sample = id as usize % 12;
            let tokens = (0..40 + sample % 5).map(|at| match at {
                0..20 => at * 7 % 53,
                20..30 => (at * (sample % 3 + 1)) % 53,
                _ => (at * 11 + sample) % 53,
            });
            Request {
                id,
                prompt: tokens.map(|token| token as u32).collect(),
                max_new_tokens: 12,
                sampling: if id % 2 == 0 {
                    Sampling::GREEDY
                } else {
                    Sampling {
                        temperature: 0.9,
                        ..Sampling::GREEDY
                    }
                },
                random_key: RandomKey {
                    seed: 3,
                    sample: sample as u64,
                    trial: 0,
                },
                eos: Arc::from([]),
                guide: None,
                choices: None,
                logprobs: Some(2),
                background: false,
            }
        })
        .collect()
}

fn run(name: &str, sizes: &EngineConfig, requests: Vec<Request>) -> (Vec<Completion>, Stats) {
    let folder = data(&format!("checkpoints/{name}"));
    let source = juror_judge::catalog::resolve(folder.to_str().unwrap()).unwrap();
    let config = ModelConfig::load(&source).unwrap();
    let weights = Weights::open(&source).unwrap();
    let devices = [Device::Cpu];
    let model = load_model(&config, &weights, &devices, Precision::F32, false).unwrap();
    let model = model.with_cache(sizes, true).unwrap();
    let mut engine = Engine::new(model, sizes).unwrap();
    for request in requests {
        engine.add(request);
    }
    let mut completions = Vec::new();
    while engine.has_work() {
        completions.extend(engine.step().unwrap());
    }
    completions.sort_by_key(|completion| completion.id);
    (completions, engine.stats())
}

/// Tokens and the bits of their log-probabilities.
fn bits(completions: &[Completion]) -> Vec<(u64, Vec<u32>, Vec<u32>)> {
    let bits = |completion: &Completion| {
        let logprobs = completion.logprobs.iter().flatten();
        let logprobs = logprobs.map(|one| one.logprob.to_bits()).collect();
        (completion.id, completion.tokens.clone(), logprobs)
    };
    completions.iter().map(bits).collect()
}

#[test]
fn completions_are_bitwise_the_same_however_they_are_scheduled() {
    let roomy = EngineConfig {
        blocks: 500,
        least_blocks: 1,
        block_size: BLOCK,
        max_sequences: 24,
        token_budget: 512,
        max_prefill_chunk: 512,
        context_length: 256,
        prefix_cache: true,
        pinned_prefix: Vec::new(),
        drafts: Drafts::Auto,
    };
    let template: Vec<u32> = (0..20).map(|at| at * 7 % 53).collect();
    let alone = EngineConfig {
        max_sequences: 1,
        prefix_cache: false,
        ..roomy.clone()
    };
    let chunks = EngineConfig {
        token_budget: 24,
        max_prefill_chunk: 7,
        ..roomy.clone()
    };
    let pinned = EngineConfig {
        pinned_prefix: template,
        max_sequences: 5,
        ..roomy.clone()
    };
    let preempted = EngineConfig {
        blocks: 40,
        ..pinned.clone()
    };
    for name in [
        "qwen3_5",
        "qwen3_5-moe",
        "gemma3",
        "gemma4",
        "gemma4-e2b",
        "gemma4-moe",
    ] {
        let (expected, _) = run(name, &alone, requests());
        let expected = bits(&expected);
        for sizes in [&roomy, &chunks, &pinned, &preempted] {
            let (completions, stats) = run(name, sizes, requests());
            assert!(bits(&completions) == expected, "{name}, {sizes:?}");
            let reversed = requests().into_iter().rev().collect();
            let (completions, _) = run(name, sizes, reversed);
            assert!(
                bits(&completions) == expected,
                "{name}, {sizes:?}, reversed"
            );
            assert!(stats.cached_tokens > 0, "{name}, {sizes:?}");
            assert_eq!(stats.preemptions > 0, sizes.blocks == 40, "{name}");
        }
    }
}
