//! Small models of every family, with random weights.

use candle_core::{DType, Device, Tensor};
use half::f16;
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::model::attention::{Attention, CacheLayout, LayerKind, with_states};
use juror_engine::model::precision::Quantization;
use juror_engine::model::recurrence::RecurrentStates;
use juror_engine::model::{Decoder, DeviceChoice, ModelError, Precision, PrecisionChoice};
use serde_json::{Value, json};

use super::reference::reference;

/// Tokens of a KV block.
pub(crate) const BLOCK: usize = 16;

/// A small model of a family, with random weights large enough for its logits to spread.
pub(crate) struct Random {
    pub(crate) config: ModelConfig,
    pub(crate) weights: Weights,
    folder: tempfile::TempDir,
}

/// What the numbers of a Llama's keys and values are multiplied by.
#[derive(Clone, Copy)]
pub(crate) struct Stretch {
    /// Keys and values, while queries and the output's weights are divided by it: the logits stay. A power of two is exact.
    pub(crate) keys_and_values: f64,
    /// The biases of keys, further.
    pub(crate) key_biases: f64,
}

impl Random {
    pub(crate) fn new(family: &str, changes: &Value) -> Self {
        let stretch = Stretch {
            keys_and_values: 1.0,
            key_biases: 1.0,
        };
        Self::stretched(family, changes, stretch)
    }

    pub(crate) fn stretched(family: &str, changes: &Value, stretch: Stretch) -> Self {
        let mut config = json!({
            "architectures": [family],
            "hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 3,
            "num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 64,
            "vocab_size": 1003, "max_position_embeddings": 2048, "rms_norm_eps": 1e-6, "rope_theta": 1e4,
            "eos_token_id": 0, "tie_word_embeddings": false, "hidden_act": "silu",
        });
        merge(&mut config, changes);
        let text = config.to_string();
        let config = ModelConfig::parse(&text, "config.json").unwrap();
        let made_up = Weights::random(&config, 7);
        let folder = tempfile::tempdir().unwrap();
        let shapes: Vec<_> = made_up.shapes().map(|(name, _)| name.to_owned()).collect();
        let narrow = config.hidden < 256;
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
            } else if name.ends_with("k_norm.weight") && config.full_layers.is_some() {
                // Whose scores are not divided by the root of a head's width.
                (tensor / (config.head_dim as f64).sqrt()).unwrap()
            } else if name.ends_with("layer_scalar") {
                let digits = name.bytes().filter(u8::is_ascii_digit);
                let layer: f64 = digits.map(|digit| f64::from(digit - b'0')).sum();
                (tensor.ones_like().unwrap() * (0.7 + 0.2 * layer)).unwrap()
            } else if name.ends_with("router.scale") || name.ends_with("per_expert_scale") {
                let count = tensor.elem_count() as u32;
                let numbers = Tensor::arange(0, count, &Device::Cpu).unwrap();
                let numbers = (numbers.to_dtype(DType::F32).unwrap() * 0.9).unwrap();
                numbers.cos().unwrap().affine(0.4, 1.1).unwrap()
            } else if name.ends_with("norm.weight") && !narrow {
                tensor
            } else if name.ends_with("norm.weight") {
                // Made up as ones: around one instead, so that no two are alike.
                let count = tensor.elem_count() as u32;
                let numbers = Tensor::arange(0, count, &Device::Cpu).unwrap();
                let numbers = ((numbers.to_dtype(DType::F32).unwrap() * 1.3).unwrap()
                    + name.len() as f64)
                    .unwrap();
                (tensor + (numbers.sin().unwrap() * 0.3).unwrap()).unwrap()
            } else if [".q_proj.", ".k_proj.", ".qkv_proj.", ".o_proj."]
                .iter()
                .any(|part| name.contains(part))
            {
                // Scores grow with the width: in narrow models too attention is to choose its keys.
                (tensor * if narrow { 9.0 } else { 3.0 }).unwrap()
            } else {
                (tensor * 3.0).unwrap()
            };
            let mut factor = match name.as_str() {
                _ if name.contains(".k_proj.") || name.contains(".v_proj.") => {
                    stretch.keys_and_values
                }
                _ if name.contains(".q_proj.") || name.ends_with(".o_proj.weight") => {
                    stretch.keys_and_values.recip()
                }
                _ => 1.0,
            };
            if name.ends_with(".k_proj.bias") {
                factor *= stretch.key_biases;
            }
            let tensor = (tensor * factor).unwrap();
            (name, tensor.to_dtype(DType::BF16).unwrap())
        });
        let quantization = changes["quantization_config"]["quant_method"].as_str();
        let tensors: std::collections::HashMap<String, Tensor> = tensors
            .flat_map(|(name, tensor)| match quantization {
                Some(method @ ("fp8" | "compressed-tensors")) if name.ends_with("_proj.weight") => {
                    let blocks = changes["quantization_config"]["weight_block_size"].is_array();
                    in_few_bits(method, blocks, &name, &tensor)
                }
                _ => vec![(name, tensor)],
            })
            .collect();
        candle_core::safetensors::save(&tensors, folder.path().join("model.safetensors")).unwrap();
        std::fs::write(folder.path().join("config.json"), text).unwrap();
        Self::open(config, folder)
    }

    fn open(config: ModelConfig, folder: tempfile::TempDir) -> Self {
        let source = juror_judge::catalog::resolve(folder.path().to_str().unwrap()).unwrap();
        Self {
            config,
            weights: Weights::open(&source).unwrap(),
            folder,
        }
    }

    /// The same model with other tensors in its file.
    #[allow(dead_code, reason = "not every test program changes tensors")]
    pub(crate) fn changed(&self, change: impl Fn(&str, Tensor) -> Tensor) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = |folder: &tempfile::TempDir, name: &str| folder.path().join(name);
        let stored = file(&self.folder, "model.safetensors");
        let stored = candle_core::safetensors::load(stored, &Device::Cpu).unwrap();
        let changed = stored.into_iter().map(|(name, tensor)| {
            let tensor = change(&name, tensor);
            (name, tensor)
        });
        let changed: std::collections::HashMap<String, Tensor> = changed.collect();
        candle_core::safetensors::save(&changed, file(&folder, "model.safetensors")).unwrap();
        let config = file(&folder, "config.json");
        std::fs::copy(file(&self.folder, "config.json"), config).unwrap();
        Self::open(self.config.clone(), folder)
    }

    /// What its weights are kept in as they are stored, in bf16 else.
    #[allow(dead_code, reason = "not every test program keeps weights so")]
    pub(crate) fn weights_as_stored(&self) -> Precision {
        let device = DeviceChoice::Cuda(0).open().unwrap();
        let choice = PrecisionChoice {
            quantize: Some(Quantization::Stored),
            ..PrecisionChoice::default()
        };
        choice.resolve(&device, &self.weights).unwrap()
    }

    /// The plainest cache on the CPU, with so many states if it has recurrent layers.
    pub(crate) fn cache(&self, blocks: usize, states: usize) -> Box<dyn Attention> {
        let layout = CacheLayout::from(&self.config);
        let of_kind = |kind: &LayerKind| {
            Ok::<_, ModelError>(reference(kind.shape, blocks, BLOCK, DType::F32))
        };
        let cache = layout.build(of_kind).unwrap();
        match &self.config.recurrent {
            Some(recurrent) => with_states(cache, RecurrentStates::new(recurrent.shape, states)),
            None => cache,
        }
    }

    pub(crate) fn on_cpu(&self) -> Decoder {
        Decoder::load(&self.config, &self.weights, &Device::Cpu, Precision::F32).unwrap()
    }
}

/// The configurations of [`in_few_bits`], by name.
pub(crate) fn few_bits() -> [(&'static str, Value); 3] {
    let fp8 = json!({"quant_method": "fp8", "weight_block_size": [FP8_BLOCK, FP8_BLOCK]});
    let int4 = json!({
        "quant_method": "compressed-tensors", "format": "pack-quantized",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": INT4_GROUP}}},
    });
    let outputs = json!({"quant_method": "fp8", "weight_block_size": null});
    [
        ("FP8 in blocks", fp8),
        ("FP8 by outputs", outputs),
        ("four bits", int4),
    ]
    .map(|(name, quantization)| (name, json!({"quantization_config": quantization})))
}

/// Outputs and inputs that have one scale in FP8, and inputs that have one in four bits.
const FP8_BLOCK: usize = 64;
const INT4_GROUP: usize = 32;

/// A weight as checkpoints in FP8 and in whole numbers of four bits store it.
fn in_few_bits(method: &str, blocks: bool, name: &str, weight: &Tensor) -> Vec<(String, Tensor)> {
    let (outputs, inputs) = weight.dims2().unwrap();
    let [rows_of_block, columns_of_block] = if blocks { [FP8_BLOCK; 2] } else { [1, inputs] };
    let numbers = weight.to_dtype(DType::F32).unwrap().flatten_all().unwrap();
    let numbers = numbers.to_vec1::<f32>().unwrap();
    let layer = name.strip_suffix(".weight").unwrap();
    let largest = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
        let of_row = |row| columns.clone().map(move |column| (row, column));
        let all = rows.flat_map(of_row);
        all.fold(1e-6f32, |most, (row, column)| {
            most.max(numbers[row * inputs + column].abs())
        })
    };
    let from = |at: usize, size: usize, end: usize| at * size..((at + 1) * size).min(end);
    if method == "fp8" {
        let down = outputs.div_ceil(rows_of_block);
        let across = inputs.div_ceil(columns_of_block);
        let scales: Vec<f32> = (0..down * across)
            .map(|block| {
                let rows = from(block / across, rows_of_block, outputs);
                largest(rows, from(block % across, columns_of_block, inputs)) / 448.0
            })
            .collect();
        let scale = |at: usize| {
            let (row, column) = (at / inputs / rows_of_block, at % inputs / columns_of_block);
            scales[row * across + column]
        };
        let scaled: Vec<f32> = (0..outputs * inputs)
            .map(|at| numbers[at] / scale(at))
            .collect();
        let values = Tensor::from_vec(scaled, (outputs, inputs), &Device::Cpu).unwrap();
        let scales = Tensor::from_vec(scales, (down, across), &Device::Cpu).unwrap();
        return vec![
            (name.to_owned(), values.to_dtype(DType::F8E4M3).unwrap()),
            (format!("{name}_scale_inv"), scales),
        ];
    }
    let groups = inputs.div_ceil(INT4_GROUP);
    let scales: Vec<f16> = (0..outputs * groups)
        .map(|at| {
            let row = at / groups;
            f16::from_f32(largest(row..row + 1, from(at % groups, INT4_GROUP, inputs)) / 7.0)
        })
        .collect();
    let code = |at: usize| {
        let scale = scales[at / inputs * groups + at % inputs / INT4_GROUP].to_f32();
        (numbers[at] / scale + 8.0).round().clamp(0.0, 15.0) as u32
    };
    let words: Vec<i32> = (0..outputs * inputs / 8)
        .map(|word| {
            let word = (0..8).fold(0u32, |bits, place| {
                bits | code(word * 8 + place) << (4 * place)
            });
            word.cast_signed()
        })
        .collect();
    let words = Tensor::from_vec(words, (outputs, inputs / 8), &Device::Cpu).unwrap();
    let scales = Tensor::from_vec(scales, (outputs, groups), &Device::Cpu).unwrap();
    let shape = Tensor::new(
        &[outputs, inputs].map(|size| i64::try_from(size).unwrap()),
        &Device::Cpu,
    )
    .unwrap();
    vec![
        (format!("{layer}.weight_packed"), words),
        (format!("{layer}.weight_scale"), scales),
        (format!("{layer}.weight_shape"), shape),
    ]
}

/// Windows, sinks, experts with biases.
fn gpt_oss(quantization: &Value, sizes: &Value) -> Random {
    let mut config = json!({
        "num_local_experts": 16, "num_experts_per_tok": 4, "intermediate_size": 192, "sliding_window": 40,
        "attention_bias": true,
        "rope_scaling": {
            "rope_type": "yarn", "factor": 4.0, "truncate": false, "original_max_position_embeddings": 512,
        },
    });
    merge(&mut config, quantization);
    merge(&mut config, sizes);
    Random::new("GptOssForCausalLM", &config)
}

fn merge(config: &mut Value, changes: &Value) {
    for (key, value) in changes.as_object().unwrap() {
        config[key] = value.clone();
    }
}

/// What Gemma's configuration has besides `changes`.
fn gemma(changes: &Value) -> Value {
    let mut config = json!({
        "hidden_act": "gelu_pytorch_tanh", "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 40,
        "query_pre_attn_scalar": 50, "tie_word_embeddings": true, "num_hidden_layers": 4,
    });
    merge(&mut config, changes);
    config
}

/// Models that the kernels run on one GPU: with heads too few to divide, and with recurrent layers. `sizes` go over those here.
pub(crate) fn families_of_one_gpu(sizes: &Value) -> Vec<(&'static str, Random)> {
    let random = |family, changes: &Value, mut config: Value| {
        merge(&mut config, sizes);
        merge(&mut config, changes);
        Random::new(family, &config)
    };
    let wide = json!({"head_dim": 256, "num_attention_heads": 2, "num_key_value_heads": 1});
    // About a head's width, as in what is published: on the scale of narrow heads, scores of wide ones spread so far that rounding
    // decides which keys count (log-probabilities differ by 0.6 in bf16 and 0.03 in f16, with 50 in place of 200).
    let mut wide_gemma = wide.clone();
    wide_gemma["query_pre_attn_scalar"] = json!(200);
    let delta = |value_dim: usize| {
        json!({
            "full_attention_interval": 2, "num_hidden_layers": 4, "attn_output_gate": true, "linear_conv_kernel_dim": 4,
            "linear_num_key_heads": 2, "linear_num_value_heads": 4, "linear_key_head_dim": 32,
            "linear_value_head_dim": value_dim,
        })
    };
    let experts = json!({
        "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "shared_expert_intermediate_size": 96,
    });
    let bounded = json!({"final_logit_softcapping": 20.0});
    vec![
        (
            "Gemma 3, heads of 256",
            random("Gemma3ForCausalLM", &wide_gemma, gemma(&bounded)),
        ),
        (
            "Qwen3.5",
            random("Qwen3_5ForCausalLM", &json!({}), delta(64)),
        ),
        (
            "Qwen3.5, heads of 256",
            random("Qwen3_5ForCausalLM", &wide, delta(32)),
        ),
        (
            "Qwen3.5, a MoE",
            random("Qwen3_5MoeForCausalLM", &experts, delta(32)),
        ),
    ]
}

/// Keys of Gemma 4: heads of two widths, in the wide ones values are keys.
fn gemma4(changes: &Value) -> Value {
    let mut config = json!({
        "hidden_act": "gelu_pytorch_tanh", "hidden_activation": "gelu_pytorch_tanh", "sliding_window": 40,
        "tie_word_embeddings": true, "head_dim": 256,
        "global_head_dim": 512, "num_attention_heads": 2, "num_key_value_heads": 2, "num_global_key_value_heads": 1,
        "attention_k_eq_v": true, "hidden_size_per_layer_input": 0, "final_logit_softcapping": 20.0,
        "rope_theta": null, "num_hidden_layers": 3, "layer_types": ["sliding_attention", "full_attention", "full_attention"],
    });
    merge(&mut config, changes);
    config
}

/// A model of each family that differs from a plain decoder in something of its own, and whether several GPUs can hold it. `sizes`
/// go over those here, but for heads and layers that a family needs.
pub(crate) fn families_with_parts_of_their_own(sizes: &Value) -> Vec<(&'static str, bool, Random)> {
    let yarn = json!({
        "rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16,
        "llama_4_scaling_beta": 0.5,
    });
    let experts = json!({"num_local_experts": 4, "num_experts_per_tok": 2});
    let with = |mut keys: Value, more: &Value| {
        merge(&mut keys, more);
        keys
    };
    let hybrid = json!({
        "num_hidden_layers": 3, "sliding_window": 40,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    });
    let beside_dense = json!({
        "enable_moe_block": true, "num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 64,
    });
    let glm = json!({
        "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64, "n_shared_experts": 2, "use_qk_norm": true,
        "first_k_dense_replace": 1, "routed_scaling_factor": 2.5, "num_nextn_predict_layers": 0, "attention_bias": true,
    });
    let minimax = json!({
        "num_local_experts": 4, "num_experts_per_tok": 2, "intermediate_size": 64, "rotary_dim": 16, "scoring_func": "sigmoid",
        "use_qk_norm": true, "use_routing_bias": true,
    });
    let delta = json!({
        "num_hidden_layers": 2, "layer_types": ["linear_attention", "full_attention"], "linear_num_key_heads": 2,
        "linear_num_value_heads": 4, "linear_key_head_dim": 32, "linear_value_head_dim": 32, "linear_conv_kernel_dim": 4,
        "shared_expert_intermediate_size": 64, "norm_topk_prob": true, "moe_intermediate_size": 64,
    });
    let rows = [
        (
            "Seed-OSS",
            true,
            "SeedOssForCausalLM",
            json!({"attention_out_bias": false}),
        ),
        (
            "ERNIE 4.5",
            true,
            "Ernie4_5ForCausalLM",
            json!({"use_bias": true}),
        ),
        (
            "Mixtral, a MoE",
            true,
            "MixtralForCausalLM",
            experts.clone(),
        ),
        (
            "Granite, scales",
            true,
            "GraniteForCausalLM",
            json!({"residual_multiplier": 0.6, "attention_multiplier": 0.2, "embedding_multiplier": 3.0, "logits_scaling": 1.6}),
        ),
        (
            "SmolLM3, a layer without rotation",
            true,
            "SmolLM3ForCausalLM",
            json!({"no_rope_layers": [1, 0], "num_hidden_layers": 2}),
        ),
        (
            "Hunyuan, norms after rotation",
            true,
            "HunYuanDenseV1ForCausalLM",
            json!({}),
        ),
        (
            "Ministral 3, queries by position",
            true,
            "Ministral3ForCausalLM",
            json!({"rope_theta": null, "rope_parameters": yarn}),
        ),
        (
            "EXAONE 4, norms of results alone, a layer without rotation",
            true,
            "Exaone4ForCausalLM",
            hybrid.clone(),
        ),
        (
            "GLM-4.5, a MoE behind a dense layer",
            true,
            "Glm4MoeForCausalLM",
            glm,
        ),
        (
            "OLMo 3, norms of all heads together",
            false,
            "Olmo3ForCausalLM",
            hybrid,
        ),
        ("MiniMax M2, a MoE", false, "MiniMaxM2ForCausalLM", minimax),
        (
            "Qwen3-Next, a MoE",
            false,
            "Qwen3NextForCausalLM",
            with(delta, &experts),
        ),
        (
            "Gemma 4",
            true,
            "Gemma4ForCausalLM",
            gemma4(&json!({"num_global_key_value_heads": 2, "num_attention_heads": 4})),
        ),
        (
            "Gemma 4, a MoE beside a dense layer",
            false,
            "Gemma4ForCausalLM",
            gemma4(&beside_dense),
        ),
    ];
    rows.into_iter()
        .map(|(name, several, class, keys)| {
            let random = Random::new(class, &with(sizes.clone(), &keys));
            (name, several, random)
        })
        .collect()
}

/// A model of each family that the kernels run. `sizes` go over those here.
pub(crate) fn families(sizes: &Value) -> Vec<(&'static str, Random)> {
    let random = |family, mut changes: Value| {
        merge(&mut changes, sizes);
        Random::new(family, &changes)
    };
    let factors = sizes["head_dim"].as_u64().unwrap_or(64) as u32 / 2;
    vec![
        ("Qwen3", random("Qwen3ForCausalLM", json!({}))),
        (
            "Qwen3, tied, heads of 128",
            random(
                "Qwen3ForCausalLM",
                json!({"head_dim": 128, "num_attention_heads": 4, "tie_word_embeddings": true, "vocab_size": 1024}),
            ),
        ),
        (
            "Llama",
            random(
                "LlamaForCausalLM",
                json!({"attention_bias": true, "mlp_bias": true}),
            ),
        ),
        (
            "Qwen3-MoE",
            random(
                "Qwen3MoeForCausalLM",
                json!({"num_experts": 16, "num_experts_per_tok": 4, "moe_intermediate_size": 128, "norm_topk_prob": true}),
            ),
        ),
        (
            "GLM-4 0414, norms of results",
            random(
                "Glm4ForCausalLM",
                json!({"attention_bias": true, "partial_rotary_factor": 0.5}),
            ),
        ),
        (
            "Mistral, a window everywhere",
            random("MistralForCausalLM", json!({"sliding_window": 40})),
        ),
        (
            "Qwen2, a window in some layers",
            random(
                "Qwen2ForCausalLM",
                json!({"use_sliding_window": true, "sliding_window": 100, "max_window_layers": 1}),
            ),
        ),
        // Some sequences here outgrow the original context, and some do not.
        (
            "Phi-3, angles by length",
            random(
                "Phi3ForCausalLM",
                json!({
                    "num_attention_heads": 4, "original_max_position_embeddings": 80, "sliding_window": 1500,
                    "rope_scaling": {
                        "type": "longrope",
                        "short_factor": (0..factors).map(|i| 1.0 + 0.01 * f64::from(i)).collect::<Vec<_>>(),
                        "long_factor": (0..factors).map(|i| 2.0 + 0.5 * f64::from(i)).collect::<Vec<_>>(),
                    },
                }),
            ),
        ),
        ("gpt-oss, a MoE", gpt_oss(&json!({}), sizes)),
        (
            "Gemma 2, bounds, windows in every other layer",
            random(
                "Gemma2ForCausalLM",
                gemma(&json!({"attn_logit_softcapping": 5.0, "final_logit_softcapping": 8.0})),
            ),
        ),
        (
            "Gemma 3, angles by layer",
            random(
                "Gemma3ForCausalLM",
                gemma(&json!({"sliding_window_pattern": 2})),
            ),
        ),
        (
            "gpt-oss, a MoE in MXFP4",
            gpt_oss(
                &json!({"quantization_config": {"quant_method": "mxfp4"}}),
                sizes,
            ),
        ),
    ]
}
