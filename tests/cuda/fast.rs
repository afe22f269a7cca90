//! The decoder's fast path against the decoder on the CPU in f32: logits of every family, in bf16, f16 and FP8, and what the
//! engine generates with steps that are launched before the last one's tokens are known.

use candle_core::{DType, Device, Tensor};
use juror::engine::{EngineConfig, LoadedModel, ModelSizes, PagedDecoder, StepModel};
use juror::model::attention::{self, AttentionKind, AttentionShape};
use juror::model::cuda::linear::check_fp8;
use juror::model::precision::{KvType, WeightType};
use juror::model::{Decoder, ModelConfig, ModelSource, Precision, Weights};
use serde_json::{Value, json};

use super::paged::{Blocks, Sequence, step};
use super::{BF16, Difference, Tolerance, floats, generate_with, gpu, prompts, same_but_for_ties};

const BLOCK: usize = 16;

/// A small model of a family, with random weights large enough for its logits to spread.
struct Random {
    config: ModelConfig,
    weights: Weights,
    _folder: tempfile::TempDir,
}

impl Random {
    fn new(family: &str, changes: &Value) -> Self {
        let mut config = json!({
            "architectures": [family],
            "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 3,
            "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 64,
            "vocab_size": 1003, "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "rope_theta": 1e4,
            "eos_token_id": 0, "tie_word_embeddings": false, "hidden_act": "silu",
        });
        for (key, value) in changes.as_object().unwrap() {
            config[key] = value.clone();
        }
        let text = config.to_string();
        let config = ModelConfig::parse(&text, "config.json").unwrap();
        let made_up = Weights::random(&config, 7);
        let folder = tempfile::tempdir().unwrap();
        let shapes: Vec<_> = made_up.shapes().map(|(name, _)| name.to_owned()).collect();
        let tensors = shapes.into_iter().map(|name| {
            if name.ends_with("_blocks") || name.ends_with("_scales") {
                let bytes = made_up.get_as_stored(&name, &Device::Cpu).unwrap();
                return (name, bytes);
            }
            let tensor = made_up.get(&name, &Device::Cpu, DType::F32).unwrap();
            // Biases are made up as zeros: instead, numbers between −1 and 1 that differ.
            let tensor = if name.ends_with("bias") {
                let count = tensor.elem_count() as u32;
                let numbers = Tensor::arange(0, count, &Device::Cpu).unwrap();
                let numbers = numbers.to_dtype(DType::F32).unwrap();
                let numbers = (numbers * 1.7).unwrap().sin().unwrap();
                numbers.reshape(tensor.shape()).unwrap()
            } else if name.ends_with("sinks") {
                // Large enough to take a share beside a hundred keys.
                ((tensor * 50.0).unwrap().abs().unwrap() + 3.0).unwrap()
            } else if name.ends_with("norm.weight") {
                tensor
            } else {
                (tensor * 3.0).unwrap()
            };
            (name, tensor.to_dtype(DType::BF16).unwrap())
        });
        let tensors: std::collections::HashMap<String, Tensor> = tensors.collect();
        candle_core::safetensors::save(&tensors, folder.path().join("model.safetensors")).unwrap();
        std::fs::write(folder.path().join("config.json"), text).unwrap();
        let source = ModelSource::resolve(folder.path().to_str().unwrap()).unwrap();
        Self {
            config,
            weights: Weights::open(&source).unwrap(),
            _folder: folder,
        }
    }

    fn on_cpu(&self) -> Decoder {
        Decoder::load(&self.config, &self.weights, &Device::Cpu, Precision::F32).unwrap()
    }

    fn on_gpu(&self, precision: Precision, shared_prefix: bool, plain: bool) -> PagedDecoder {
        LoadedModel::load(&self.config, &self.weights, &gpu(), precision, plain)
            .unwrap()
            .with_cache(&ModelSizes {
                blocks: 600,
                least_blocks: 600,
                block_size: BLOCK,
                tokens: 1024,
                rows: 1024,
                shared_prefix,
            })
            .unwrap()
    }
}

/// Windows, sinks, experts with biases.
fn gpt_oss(changes: &Value) -> Random {
    let mut config = json!({
        "num_local_experts": 16, "num_experts_per_tok": 4, "intermediate_size": 192, "sliding_window": 40,
        "attention_bias": true,
        "rope_scaling": {
            "rope_type": "yarn", "factor": 4.0, "truncate": false, "original_max_position_embeddings": 512,
        },
    });
    for (key, value) in changes.as_object().unwrap() {
        config[key] = value.clone();
    }
    Random::new("GptOssForCausalLM", &config)
}

fn families() -> Vec<(&'static str, Random)> {
    vec![
        ("Qwen3", Random::new("Qwen3ForCausalLM", &json!({}))),
        (
            "Qwen3, tied, heads of 128",
            Random::new(
                "Qwen3ForCausalLM",
                &json!({"head_dim": 128, "num_attention_heads": 4, "tie_word_embeddings": true, "vocab_size": 1024}),
            ),
        ),
        (
            "Llama",
            Random::new(
                "LlamaForCausalLM",
                &json!({"attention_bias": true, "mlp_bias": true}),
            ),
        ),
        (
            "Qwen3-MoE",
            Random::new(
                "Qwen3MoeForCausalLM",
                &json!({"num_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 128, "norm_topk_prob": true}),
            ),
        ),
        (
            "GLM-4 0414, norms of results",
            Random::new(
                "Glm4ForCausalLM",
                &json!({"attention_bias": true, "partial_rotary_factor": 0.5}),
            ),
        ),
        (
            "Mistral, a window everywhere",
            Random::new("MistralForCausalLM", &json!({"sliding_window": 40})),
        ),
        (
            "Qwen2, a window in some layers",
            Random::new(
                "Qwen2ForCausalLM",
                &json!({"use_sliding_window": true, "sliding_window": 100, "max_window_layers": 1}),
            ),
        ),
        // Some sequences here outgrow the original context, and some do not.
        (
            "Phi-3, angles by length",
            Random::new(
                "Phi3ForCausalLM",
                &json!({
                    "num_attention_heads": 4, "original_max_position_embeddings": 80, "sliding_window": 1500,
                    "rope_scaling": {
                        "type": "longrope",
                        "short_factor": (0..32).map(|i| 1.0 + 0.01 * f64::from(i)).collect::<Vec<_>>(),
                        "long_factor": (0..32).map(|i| 2.0 + 0.5 * f64::from(i)).collect::<Vec<_>>(),
                    },
                }),
            ),
        ),
        ("gpt-oss, a MoE", gpt_oss(&json!({}))),
        (
            "gpt-oss, a MoE in MXFP4",
            gpt_oss(&json!({"quantization_config": {"quant_method": "mxfp4"}})),
        ),
    ]
}

/// Logits of prompts that are computed in chunks beside each other, some sharing a prefix: on the CPU in f32, and by `model`.
fn compare(name: &str, random: &Random, model: &mut PagedDecoder, allowed: f32) {
    let cpu = random.on_cpu();
    let shape = AttentionShape::from(&random.config);
    let mut cache = attention::build(
        AttentionKind::Reference,
        &shape,
        600,
        BLOCK,
        &Device::Cpu,
        DType::F32,
    )
    .unwrap();
    let mut blocks = Blocks::new(600, BLOCK);
    let prompt = |length: usize, salt: usize| -> Vec<u32> {
        (0..length)
            .map(|at| ((at * 37 + salt * 101 + at * at) % random.config.vocab) as u32)
            .collect()
    };
    let short = random.config.rope.short_context();
    let mut sequences: Vec<_> = [(400, 1), (70, 2), (18, 3), (1, 4)]
        .into_iter()
        .map(|(length, salt)| Sequence {
            long: short.is_some_and(|short| length > short),
            ..blocks.sequence(&prompt(length, salt))
        })
        .collect();
    for own in [30, 9] {
        let mut sequence = sequences[0].clone();
        sequence.tokens.truncate(128);
        sequence.blocks.truncate(128 / BLOCK);
        sequence.cached = 128;
        sequence.tokens.extend(prompt(own, own));
        blocks.grow(&mut sequence);
        sequences.push(sequence);
    }
    let mut difference = Difference::default();
    let mut spread = 0f32;
    let steps: [&[(usize, usize)]; 4] = [
        &[(0, 350), (1, 60), (3, 1)],
        &[(0, 1), (1, 9), (2, 17), (4, 29), (5, 8)],
        &[(0, 1), (1, 1), (2, 1), (4, 1), (5, 1)],
        &[(0, 48)],
    ];
    for taken in steps {
        let mut parts: Vec<_> = sequences
            .iter_mut()
            .enumerate()
            .filter_map(|(index, sequence)| {
                let (_, count) = taken.iter().find(|(part, _)| *part == index)?;
                Some((sequence, *count))
            })
            .collect();
        let mut batch = step(&mut parts, BLOCK);
        // Some rows, not in order.
        batch.logits.retain(|row| row % 3 != 1);
        batch.logits.reverse();
        let expected = floats(&cpu.forward(&batch, cache.as_mut()).unwrap());
        let ours = floats(&model.logits(&batch).unwrap());
        difference.add(&ours, &expected);
        spread = expected.iter().fold(spread, |most, x| most.max(x.abs()));
    }
    let (worst, mean) = (difference.worst, difference.mean());
    println!(
        "measured | logits up to {spread:.1}, {name} | worst {worst:.1e}, mean {mean:.1e} | {allowed:.0e}, mean {:.0e}",
        allowed / 8.0
    );
    assert!(
        worst < allowed && mean < f64::from(allowed / 8.0),
        "{name}: worst {worst:e}, mean {mean:e}"
    );
    assert!(
        spread > 1.0,
        "{name}: logits up to {spread} compare nothing"
    );
}

#[test]
fn logits_of_every_family() {
    for (name, random) in families() {
        for dtype in [DType::BF16, DType::F16] {
            // Experts can change where two are equally likely, and with them a token's logits.
            let factor = if name.contains("MoE") { 4.0 } else { 1.0 };
            let allowed = factor * if dtype == DType::BF16 { 0.4 } else { 0.08 };
            for shared_prefix in [true, false] {
                let mut model = random.on_gpu(Precision::all(dtype), shared_prefix, false);
                assert!(
                    model.properties().lags,
                    "{name} is computed by plain operations"
                );
                let name = format!("{name}, {dtype:?}, prefixes shared: {shared_prefix}");
                compare(&name, &random, &mut model, allowed);
            }
        }
    }
}

#[test]
fn logits_in_fp8() {
    for (name, random) in families() {
        let cache = Precision {
            kv: KvType::F8E4M3,
            ..Precision::all(DType::BF16)
        };
        let mut model = random.on_gpu(cache, true, false);
        compare(&format!("{name}, cache in e4m3"), &random, &mut model, 3.0);
        let weights = Precision {
            weights: WeightType::F8E4M3,
            ..Precision::all(DType::BF16)
        };
        if let Err(error) = check_fp8(gpu().as_cuda_device().unwrap()) {
            println!("measured | weights in e4m3, {name} | {error} | not on this GPU");
            continue;
        }
        let mut model = random.on_gpu(weights, true, false);
        let name = format!("{name}, weights in e4m3");
        compare(&name, &random, &mut model, 3.0);
    }
}

#[test]
fn greedy_tokens_of_launched_steps() {
    for (name, random) in families() {
        let judge = random.on_cpu();
        let prompts = prompts(random.config.vocab);
        let config = EngineConfig {
            blocks: 600,
            least_blocks: 64,
            block_size: BLOCK,
            max_sequences: 64,
            token_budget: 512,
            max_prefill_chunk: 512,
            context_length: judge.max_positions(),
            prefix_cache: true,
            pinned_prefix: Vec::new(),
        };
        let run = |config: &EngineConfig, shared_prefix, plain| {
            let model = random.on_gpu(Precision::all(DType::BF16), shared_prefix, plain);
            generate_with(model, prompts.clone(), config).0
        };
        // Experts can change where two are equally likely.
        let tolerance = Tolerance {
            tie: if name.contains("MoE") { 1.5 } else { BF16.tie },
            ..BF16
        };
        let plain = run(&config, false, true);
        let compare = |ours: &[Vec<u32>], expected: &[Vec<u32>], what: &str| {
            let what = format!("greedy tokens, {name}, bf16: {what}");
            same_but_for_ties(&judge, ours, expected, &tolerance, &what);
        };
        let together = run(&config, true, false);
        compare(&together, &plain, "our kernels, and plain operations");
        compare(
            &run(&config, false, false),
            &together,
            "prefixes attended to one by one, and together",
        );
        let alone = EngineConfig {
            max_sequences: 1,
            ..config.clone()
        };
        compare(
            &run(&alone, true, false),
            &together,
            "one by one, and 64 at once",
        );
        let cramped = EngineConfig {
            blocks: 64,
            max_prefill_chunk: 7,
            ..config.clone()
        };
        compare(
            &run(&cramped, true, false),
            &together,
            "a small cache that preempts and chunks of 7, and a large one",
        );
    }
}
