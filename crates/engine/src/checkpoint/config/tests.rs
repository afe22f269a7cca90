//! Keys that are supported, and keys that are refused.

use serde_json::{Value, json};

use super::{ModelConfig, RopeScaling};
use crate::checkpoint::families::FAMILIES;

mod families;
mod kernels;

fn config() -> Value {
    json!({
        "architectures": ["Qwen3ForCausalLM"], "vocab_size": 100, "hidden_size": 32,
        "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "head_dim": 16, "max_position_embeddings": 512, "rms_norm_eps": 1e-6, "rope_theta": 1e6, "eos_token_id": [1, 2],
        "hidden_act": "silu", "rope_scaling": null, "use_sliding_window": false, "tie_word_embeddings": true,
    })
}

fn parse(value: &Value) -> Result<ModelConfig, String> {
    ModelConfig::parse(&value.to_string(), "config.json").map_err(|error| error.to_string())
}

#[test]
fn every_architecture_is_in_the_guide() {
    let page = include_str!("../../../../../docs/guide/families.md");
    let mut value = config();
    value["architectures"] = json!(["Other"]);
    let error = parse(&value).unwrap_err();
    let (_, supported) = error.split_once("supported: ").unwrap();
    for name in supported.split(", ") {
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}

#[test]
fn both_generations_of_transformers() {
    let four = parse(&config()).unwrap();
    assert_eq!((four.family.name, four.rope.theta), ("Qwen3", 1e6));
    assert_eq!(four.eos_token_ids, [1, 2]);
    let mut five = config();
    five.as_object_mut().unwrap().remove("rope_theta");
    five["rope_parameters"] = json!({"rope_theta": 1e6, "rope_type": "default"});
    // The same number in two ways.
    let mut both = five.clone();
    both["rope_theta"] = json!(1_000_000);
    both["rope_scaling"] = json!({"rope_theta": 1_000_000, "rope_type": "default"});
    assert!((parse(&both).unwrap().rope.theta - 1e6).abs() < 1e-9);
    both["rope_theta"] = json!(10_000);
    assert!(parse(&both).unwrap_err().contains("differ"));
    five["layer_types"] = json!(["full_attention", "full_attention"]);
    assert_eq!(parse(&five).unwrap(), four);
}

#[test]
fn what_would_change_the_result_is_named() {
    for (key, value) in [
        (
            "rope_scaling",
            json!({"rope_type": "dynamic", "factor": 4.0}),
        ),
        ("rope_scaling", json!({"factor": 4.0})),
        ("rope_scaling", json!("yarn")),
        ("rope_scaling", json!({"rope_type": "yarn", "factor": "4"})),
        (
            "rope_parameters",
            json!({"rope_theta": 1e6, "rope_type": "longrope"}),
        ),
        ("use_sliding_window", json!("yes")),
        ("hidden_act", json!("gelu")),
        ("quantization_config", json!({"bits": 4})),
        ("layer_types", json!(["full_attention"])),
        (
            "layer_types",
            json!(["full_attention", "chunked_attention"]),
        ),
        (
            "layer_types",
            json!(["full_attention", "sliding_attention"]),
        ),
        ("partial_rotary_factor", json!(0.2)),
        ("partial_rotary_factor", json!(2)),
        ("attn_logit_softcapping", json!(50.0)),
        ("query_pre_attn_scalar", json!(256)),
        ("no_rope_layers", json!([0])),
        ("is_encoder_decoder", json!(true)),
        ("head_dim", json!(15)),
        ("num_key_value_heads", json!(3)),
        ("hidden_size", json!(1e18)),
        ("vocab_size", json!(-1)),
        ("rms_norm_eps", json!("small")),
        ("eos_token_id", json!("<|end|>")),
    ] {
        let mut changed = config();
        changed[key] = value;
        let message = parse(&changed).unwrap_err();
        assert!(message.contains(key), "{key}: {message}");
    }
    for key in ["vocab_size", "head_dim", "rope_theta", "rms_norm_eps"] {
        let mut lacking = config();
        lacking.as_object_mut().unwrap().remove(key);
        assert!(parse(&lacking).unwrap_err().contains(key));
    }
}

#[test]
fn llama_without_a_head_width_and_with_stretched_angles() {
    let mut llama = config();
    llama["architectures"] = json!(["LlamaForCausalLM"]);
    llama.as_object_mut().unwrap().remove("head_dim");
    llama["rope_scaling"] = json!({"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 8192});
    let parsed = parse(&llama).unwrap();
    assert_eq!((parsed.family.name, parsed.head_dim), ("Llama", 8));
    let RopeScaling::Llama3 {
        original_positions, ..
    } = parsed.rope.scaling
    else {
        panic!("{:?}", parsed.rope);
    };
    assert!((original_positions - 8192.0).abs() < 1e-9);
    llama["rope_scaling"]["factor"] = json!(-1);
    assert!(parse(&llama).unwrap_err().contains("rope_scaling.factor"));
}

/// Qwen3.5-9B as published: the keys of its text part, its tower's, and those of the part that guesses ahead.
fn qwen3_5() -> Value {
    let kinds: Vec<&str> = (1..=32)
        .map(|layer| match layer % 4 {
            0 => "full_attention",
            _ => "linear_attention",
        })
        .collect();
    let text = r#"{
        "attention_bias": false, "attention_dropout": 0.0, "attn_output_gate": true, "dtype": "bfloat16",
        "eos_token_id": 248044, "full_attention_interval": 4, "head_dim": 256, "hidden_act": "silu",
        "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 12288,
        "linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_num_key_heads": 16,
        "linear_num_value_heads": 32, "linear_value_head_dim": 128, "mamba_ssm_dtype": "float32",
        "max_position_embeddings": 262144, "mlp_only_layers": [], "model_type": "qwen3_5_text",
        "mtp_num_hidden_layers": 1, "mtp_use_dedicated_embeddings": false, "num_attention_heads": 16,
        "num_hidden_layers": 32, "num_key_value_heads": 4, "rms_norm_eps": 1e-6, "use_cache": true,
        "vocab_size": 248320, "rope_parameters": {"mrope_interleaved": true, "mrope_section": [11, 11, 10],
        "partial_rotary_factor": 0.25, "rope_theta": 1e7, "rope_type": "default"}
    }"#;
    let mut text: Value = serde_json::from_str(text).unwrap();
    text["layer_types"] = json!(kinds);
    json!({
        "architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5", "image_token_id": 248_056,
        "video_token_id": 248_057, "vision_start_token_id": 248_053, "vision_end_token_id": 248_054,
        "tie_word_embeddings": false, "vision_config": {"depth": 27}, "text_config": text,
    })
}

#[test]
fn recurrent_layers_are_read_and_contradictions_named() {
    let config = parse(&qwen3_5()).unwrap();
    let recurrent = config.recurrent.as_ref().unwrap();
    assert_eq!((recurrent.shape.layers, config.attention_layers()), (24, 8));
    assert!(config.is_recurrent(0) && !config.is_recurrent(3));
    assert_eq!(config.rope.dims, 64);
    // 8.95 B without the tower and the part that guesses ahead.
    let billions = config.parameters() as f64 / 1e9;
    assert!((8.9..9.0).contains(&billions), "{billions}");
    let mut without = qwen3_5();
    without["text_config"]["layer_types"] = Value::Null;
    assert_eq!(parse(&without).unwrap().recurrent, config.recurrent);
    for (key, value, message) in [
        (
            "layer_types",
            json!(["full_attention"]),
            "layer_types has 1 layers",
        ),
        (
            "layer_types",
            json!(vec!["mamba"; 32]),
            "layer_types holds \"mamba\"",
        ),
        (
            "layer_types",
            json!(vec!["linear_attention"; 32]),
            "without any full_attention",
        ),
        (
            "linear_num_value_heads",
            json!(24),
            "linear_num_value_heads (24)",
        ),
        (
            "linear_num_key_heads",
            Value::Null,
            "no linear_num_key_heads",
        ),
        (
            "linear_conv_kernel_dim",
            json!(400),
            "linear_conv_kernel_dim is 400",
        ),
        ("attn_output_gate", json!(false), "attn_output_gate"),
        ("use_new_recurrence", json!(true), "use_new_recurrence"),
    ] {
        let mut changed = qwen3_5();
        changed["text_config"][key] = value;
        let error = parse(&changed).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    // Without a recurrent layer it still has gates.
    let mut full = qwen3_5();
    full["text_config"]["layer_types"] = json!(vec!["full_attention"; 32]);
    let full = parse(&full).unwrap();
    assert!(full.recurrent.is_none() && full.beyond_kernels().is_none());
    // Null is as good as none.
    let mut other = qwen3_5();
    other["text_config"]["rope_parameters"] = json!({"rope_type": "default", "rope_theta": 1e7});
    other["text_config"]["partial_rotary_factor"] = Value::Null;
    assert_eq!(parse(&other).unwrap().rope.dims, 64);
    // No layer here would have a second rotary embedding.
    other["text_config"]["rope_parameters"] = json!({"full_attention": {"rope_theta": 1e7, "partial_rotary_factor": 0.25},
        "sliding_attention": {"rope_theta": 1e4}});
    assert!(parse(&other).is_err());
    let mut two = qwen3_5();
    two["quantization_config"] = json!({"quant_method": "fp8"});
    two["text_config"]["quantization_config"] = json!({"quant_method": "awq"});
    let error = parse(&two).unwrap_err();
    assert!(error.contains("differ"), "{error}");
    let mut neither = qwen3_5();
    neither["text_config"]["layer_types"] = Value::Null;
    neither["text_config"]["full_attention_interval"] = Value::Null;
    let error = parse(&neither).unwrap_err();
    assert!(
        error.contains("no layer_types, and no full_attention_interval"),
        "{error}"
    );
}

#[test]
fn experts_are_read_and_layers_without_them_refused() {
    let mut mixture = config();
    mixture["architectures"] = json!(["Qwen3MoeForCausalLM"]);
    assert!(parse(&mixture).unwrap_err().contains("num_experts"));
    mixture["num_experts"] = json!(8);
    mixture["num_experts_per_tok"] = json!(2);
    mixture["moe_intermediate_size"] = json!(16);
    mixture["norm_topk_prob"] = json!(true);
    let experts = parse(&mixture).unwrap().experts.unwrap();
    assert_eq!(
        (experts.count, experts.per_token, experts.normalise),
        (8, 2, true)
    );
    for (key, value) in [
        ("mlp_only_layers", json!([0])),
        ("decoder_sparse_step", json!(2)),
        ("num_experts_per_tok", json!(9)),
    ] {
        let mut changed = mixture.clone();
        changed[key] = value;
        assert!(parse(&changed).unwrap_err().contains(key));
    }
    let mut dense = config();
    dense["num_experts"] = json!(8);
    assert!(parse(&dense).unwrap_err().contains("num_experts"));
}

#[test]
fn an_unknown_architecture_lists_the_known() {
    let mut other = config();
    other["architectures"] = json!(["UnheardOfForCausalLM"]);
    let message = parse(&other).unwrap_err();
    assert!(
        message.contains("UnheardOfForCausalLM") && message.contains("Qwen3ForCausalLM"),
        "{message}"
    );
}

#[test]
fn keys_without_effect_are_passed_over_and_unknown_ones_are_not() {
    let mut harmless = config();
    harmless["attention_dropout"] = json!(0.1);
    harmless["unsloth_version"] = json!("2025.1");
    harmless["use_cache"] = json!(true);
    harmless["some_switch"] = json!(false);
    harmless["sliding_window"] = json!(4096);
    harmless["max_window_layers"] = json!(2);
    // Of Gemma 2's, SmolLM2's and ALLaM's files, and of trainers.
    harmless["cache_implementation"] = json!("hybrid");
    harmless["transformers.js_config"] = json!({"dtype": "q4"});
    harmless["internal_version"] = json!("7b-alpha-v1.27.2.25");
    harmless["num_logits_to_keep"] = json!(1);
    harmless["_attn_implementation_internal"] = json!("sdpa");
    harmless["neftune_noise_alpha"] = json!(5.0);
    assert_eq!(parse(&harmless).unwrap(), parse(&config()).unwrap());
    harmless["some_switch"] = json!(true);
    assert!(parse(&harmless).unwrap_err().contains("some_switch"));
}

#[test]
fn windows_are_where_the_family_has_them() {
    let windows = |changes: &Value| {
        let mut config = config();
        for (key, value) in changes.as_object().unwrap() {
            config[key] = value.clone();
        }
        parse(&config).unwrap().windows
    };
    let sliding = json!({"sliding_window": 64, "use_sliding_window": true, "max_window_layers": 1});
    assert_eq!(windows(&sliding), [None, Some(64)]);
    let mistral = json!({"architectures": ["MistralForCausalLM"], "sliding_window": 64});
    assert_eq!(windows(&mistral), [Some(64), Some(64)]);
    let none = json!({"architectures": ["MistralForCausalLM"], "sliding_window": null});
    assert_eq!(windows(&none), [None, None]);
    let listed = json!({"sliding_window": 64, "use_sliding_window": true,
        "layer_types": ["sliding_attention", "full_attention"]});
    assert_eq!(windows(&listed), [Some(64), None]);
}

/// The published configurations give the number of parameters that their makers state.
/// As transformers 4.52 and newer save Qwen2.5-VL: the text part's keys also outside, where transformers does not read them.
#[test]
fn keys_outside_that_the_text_part_has_too_do_not_count() {
    let inner = json!({"architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl_text", "hidden_act": "silu",
        "hidden_size": 32, "intermediate_size": 64, "max_position_embeddings": 512, "max_window_layers": 2,
        "num_attention_heads": 4, "num_hidden_layers": 2, "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "rope_theta": 1e6,
        "rope_scaling": {"mrope_section": [1, 1, 2], "rope_type": "default", "type": "default"}, "sliding_window": null,
        "use_sliding_window": false, "vocab_size": 100});
    let plain = json!({"architectures": ["Qwen2_5_VLForConditionalGeneration"], "model_type": "qwen2_5_vl",
        "vision_config": {"depth": 2}, "tie_word_embeddings": false, "text_config": inner});
    let mut repeated = plain.clone();
    let outer = repeated.as_object_mut().unwrap();
    for (key, value) in inner.as_object().unwrap() {
        outer.entry(key).or_insert_with(|| value.clone());
    }
    outer.insert("sliding_window".into(), json!(32768));
    outer.insert("vocab_size".into(), json!(7));
    assert_eq!(parse(&repeated).unwrap(), parse(&plain).unwrap());
    assert_eq!(parse(&plain).unwrap().vocab, 100);
    // One that is only outside is none of the text part.
    repeated["text_config"]
        .as_object_mut()
        .unwrap()
        .remove("vocab_size");
    assert!(parse(&repeated).unwrap_err().contains("vocab_size"));
}

#[test]
fn published_configurations_are_read() {
    let published = [
        (
            "Qwen2.5-7B-Instruct",
            7.616,
            json!({"architectures": ["Qwen2ForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 151_643,
                "eos_token_id": 151_645, "hidden_act": "silu", "hidden_size": 3584, "initializer_range": 0.02,
                "intermediate_size": 18944, "max_position_embeddings": 32768, "max_window_layers": 28,
                "model_type": "qwen2", "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
                "rms_norm_eps": 1e-6, "rope_theta": 1_000_000.0, "sliding_window": 131_072, "tie_word_embeddings": false,
                "torch_dtype": "bfloat16", "transformers_version": "4.43.1", "use_cache": true,
                "use_sliding_window": false, "vocab_size": 152_064}),
        ),
        (
            "Mistral-7B-Instruct-v0.3",
            7.248,
            json!({"architectures": ["MistralForCausalLM"], "attention_dropout": 0.0, "bos_token_id": 1, "eos_token_id": 2,
                "hidden_act": "silu", "hidden_size": 4096, "initializer_range": 0.02, "intermediate_size": 14336,
                "max_position_embeddings": 32768, "model_type": "mistral", "num_attention_heads": 32,
                "num_hidden_layers": 32, "num_key_value_heads": 8, "rms_norm_eps": 1e-5, "rope_theta": 1_000_000.0,
                "sliding_window": null, "tie_word_embeddings": false, "torch_dtype": "bfloat16", "use_cache": true,
                "vocab_size": 32768}),
        ),
        (
            "phi-4",
            14.660,
            json!({"architectures": ["Phi3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
                "bos_token_id": 100_257, "embd_pdrop": 0.0, "eos_token_id": 100_265, "hidden_act": "silu",
                "hidden_size": 5120, "initializer_range": 0.02, "intermediate_size": 17920,
                "max_position_embeddings": 16384, "model_type": "phi3", "num_attention_heads": 40,
                "num_hidden_layers": 40, "num_key_value_heads": 10, "original_max_position_embeddings": 16384,
                "pad_token_id": 100_349, "resid_pdrop": 0.0, "rms_norm_eps": 1e-5, "rope_scaling": null,
                "rope_theta": 250_000, "sliding_window": null, "tie_word_embeddings": false, "torch_dtype": "bfloat16",
                "use_cache": true, "vocab_size": 100_352}),
        ),
        (
            "Phi-4-mini-instruct",
            3.836,
            json!({"architectures": ["Phi3ForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
                "auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"}, "bos_token_id": 199_999, "embd_pdrop": 0.0,
                "eos_token_id": 199_999, "full_attn_mod": 1, "hidden_act": "silu", "hidden_size": 3072,
                "initializer_range": 0.02, "intermediate_size": 8192, "interpolate_factor": 1, "lm_head_bias": false,
                "max_position_embeddings": 131_072, "mlp_bias": false, "model_type": "phi3",
                "num_attention_heads": 24, "num_hidden_layers": 32, "num_key_value_heads": 8,
                "original_max_position_embeddings": 4096, "pad_token_id": 199_999, "partial_rotary_factor": 0.75,
                "resid_pdrop": 0.0, "rms_norm_eps": 1e-5, "rope_scaling": {"long_factor": vec![1.5; 48],
                "short_factor": vec![1.0; 48], "type": "longrope"}, "rope_theta": 10000.0, "sliding_window": 262_144,
                "tie_word_embeddings": true, "torch_dtype": "bfloat16", "use_cache": true, "vocab_size": 200_064}),
        ),
        (
            "glm-4-9b-chat",
            9.400,
            json!({"_name_or_path": "THUDM/glm-4-9b-chat", "model_type": "chatglm", "architectures": ["ChatGLMModel"],
                "add_bias_linear": false, "add_qkv_bias": true, "apply_query_key_layer_scaling": true,
                "apply_residual_connection_post_layernorm": false, "attention_dropout": 0.0,
                "attention_softmax_in_fp32": true, "bias_dropout_fusion": true, "ffn_hidden_size": 13696,
                "fp32_residual_connection": false, "hidden_dropout": 0.0, "hidden_size": 4096, "kv_channels": 128,
                "layernorm_epsilon": 1.5625e-07, "multi_query_attention": true, "multi_query_group_num": 2,
                "num_attention_heads": 32, "num_hidden_layers": 40, "num_layers": 40, "rope_ratio": 500,
                "original_rope": true, "padded_vocab_size": 151_552, "post_layer_norm": true, "rmsnorm": true,
                "seq_length": 131_072, "use_cache": true, "torch_dtype": "bfloat16", "tie_word_embeddings": false,
                "eos_token_id": [151_329, 151_336, 151_338], "pad_token_id": 151_329}),
        ),
        (
            "glm-4-9b-chat-hf",
            9.400,
            json!({"architectures": ["GlmForCausalLM"], "attention_bias": true, "attention_dropout": 0.0,
                "eos_token_id": [151_329, 151_336, 151_338], "head_dim": 128, "hidden_act": "silu", "hidden_size": 4096,
                "initializer_range": 0.02, "intermediate_size": 13696, "max_position_embeddings": 131_072,
                "model_type": "glm", "num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 2,
                "pad_token_id": 151_329, "rms_norm_eps": 1.5625e-07, "rope_theta": 5_000_000.0,
                "tie_word_embeddings": false, "torch_dtype": "bfloat16", "use_cache": true, "vocab_size": 151_552}),
        ),
        // Heads, widths and more are left out there, and taken from the family.
        (
            "gemma-3-4b-it, its text part",
            3.880,
            json!({"architectures": ["Gemma3ForConditionalGeneration"], "boi_token_index": 255_999, "eoi_token_index": 256_000,
                "eos_token_id": [1, 106], "image_token_index": 262_144, "initializer_range": 0.02, "mm_tokens_per_image": 256,
                "model_type": "gemma3", "text_config": {"hidden_size": 2560, "intermediate_size": 10240,
                "model_type": "gemma3_text", "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
                "sliding_window": 1024}, "torch_dtype": "bfloat16", "vision_config": {"hidden_size": 1152}}),
        ),
        (
            "Mistral-Small-3.1-24B-Instruct-2503, its text part",
            23.572,
            json!({"architectures": ["Mistral3ForConditionalGeneration"], "image_token_index": 10, "model_type": "mistral3",
                "multimodal_projector_bias": false, "projector_hidden_act": "gelu", "spatial_merge_size": 2,
                "tie_word_embeddings": false, "text_config": {"attention_dropout": 0.0, "head_dim": 128, "hidden_act": "silu",
                "hidden_size": 5120, "initializer_range": 0.02, "intermediate_size": 32768,
                "max_position_embeddings": 131_072, "model_type": "mistral", "num_attention_heads": 32,
                "num_hidden_layers": 40, "num_key_value_heads": 8, "rms_norm_eps": 1e-5, "rope_theta": 1e9,
                "sliding_window": null, "use_cache": true, "vocab_size": 131_072}, "torch_dtype": "bfloat16",
                "vision_config": {"hidden_size": 1024}, "vision_feature_layer": -1}),
        ),
        (
            "gpt-oss-20b",
            20.915,
            json!({"architectures": ["GptOssForCausalLM"], "attention_bias": true, "attention_dropout": 0.0,
                "eos_token_id": 200_002, "experts_per_token": 4, "head_dim": 64, "hidden_act": "silu",
                "hidden_size": 2880, "initial_context_length": 4096, "initializer_range": 0.02,
                "intermediate_size": 2880, "layer_types": (["sliding_attention", "full_attention"].repeat(12)),
                "max_position_embeddings": 131_072, "model_type": "gpt_oss", "num_attention_heads": 64,
                "num_experts_per_tok": 4, "num_hidden_layers": 24, "num_key_value_heads": 8, "num_local_experts": 32,
                "output_router_logits": false, "pad_token_id": 199_999, "quantization_config":
                {"modules_to_not_convert": ["lm_head"], "quant_method": "mxfp4"}, "rms_norm_eps": 1e-5, "rope_scaling":
                {"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0, "original_max_position_embeddings": 4096,
                "rope_type": "yarn", "truncate": false}, "rope_theta": 150_000, "router_aux_loss_coef": 0.9,
                "sliding_window": 128, "swiglu_limit": 7.0, "tie_word_embeddings": false, "use_cache": true,
                "vocab_size": 201_088}),
        ),
    ];
    for (name, billions, config) in published {
        let config = parse(&config).unwrap_or_else(|message| panic!("{name}: {message}"));
        let found = config.parameters() as f64 / 1e9;
        assert!(
            (found - billions).abs() < 0.002,
            "{name} has {found} billion"
        );
    }
}

/// Windows and rotary bases of Gemma 3 by layer; a window wider than the context hides nothing, and its layers still turn otherwise.
#[test]
fn gemma_differs_by_layer() {
    let mut gemma = json!({"architectures": ["Gemma3ForCausalLM"], "hidden_size": 640, "intermediate_size": 2048,
        "num_hidden_layers": 7, "rope_scaling": {"rope_type": "linear", "factor": 8.0}, "sliding_window": 512});
    let parsed = parse(&gemma).unwrap();
    let windowed = [true, true, true, true, true, false, true];
    assert_eq!(
        parsed.windows,
        windowed.map(|windowed| windowed.then_some(512))
    );
    let second = parsed.second_rope.clone().unwrap();
    assert_eq!(
        (second.layers, second.rope.theta, second.rope.scaling),
        (windowed.to_vec(), 1e4, RopeScaling::None)
    );
    assert_eq!(
        (parsed.rope.theta, &parsed.rope.scaling),
        (1e6, &RopeScaling::Linear { factor: 8.0 })
    );
    assert!(
        (parsed.embedding_scale - 640f64.sqrt()).abs() < 1e-12
            && (parsed.score_scale - 1.0 / 16.0).abs() < 1e-12
    );
    assert_eq!((parsed.score_softcap, parsed.logit_softcap), (None, None));
    // The kernels know all of it.
    assert_eq!(parsed.beyond_kernels(), None);
    assert_eq!(parse(&config()).unwrap().beyond_kernels(), None);
    gemma["sliding_window"] = json!(1 << 20);
    gemma["query_pre_attn_scalar"] = json!(168);
    let parsed = parse(&gemma).unwrap();
    assert_eq!(parsed.windows, [None; 7]);
    assert_eq!(parsed.second_rope.unwrap().layers, windowed);
    assert!((parsed.score_scale - 168f64.powf(-0.5)).abs() < 1e-12);
    gemma["architectures"] = json!(["Gemma2ForCausalLM"]);
    gemma.as_object_mut().unwrap().remove("rope_scaling");
    for bound in [1e-50, 1e39] {
        let mut beyond = gemma.clone();
        beyond["final_logit_softcapping"] = json!(bound);
        let error = parse(&beyond).unwrap_err();
        assert!(error.contains("final_logit_softcapping is"), "{error}");
    }
    let parsed = parse(&gemma).unwrap();
    assert_eq!(
        (
            parsed.score_softcap,
            parsed.logit_softcap,
            parsed.second_rope
        ),
        (Some(50.0), Some(30.0), None)
    );
}

/// gemma-4-31B, as it is published.
fn gemma4() -> Value {
    let mut layers = ["sliding_attention"; 6];
    layers[5] = "full_attention";
    json!({"architectures": ["Gemma4ForCausalLM"], "attention_k_eq_v": true, "enable_moe_block": false,
        "final_logit_softcapping": 30.0, "global_head_dim": 512, "head_dim": 256, "hidden_activation": "gelu_pytorch_tanh",
        "hidden_size": 5376, "hidden_size_per_layer_input": 0, "intermediate_size": 21504, "layer_types": layers.repeat(10),
        "max_position_embeddings": 262_144, "num_attention_heads": 32, "num_experts": null, "num_global_key_value_heads": 4,
        "num_hidden_layers": 60, "num_key_value_heads": 16, "num_kv_shared_layers": 0, "rms_norm_eps": 1e-6, "rope_parameters":
        {"full_attention": {"partial_rotary_factor": 0.25, "rope_theta": 1e6, "rope_type": "proportional"},
        "sliding_attention": {"rope_theta": 1e4, "rope_type": "default"}}, "sliding_window": 1024,
        "tie_word_embeddings": true, "use_bidirectional_attention": "vision", "use_double_wide_mlp": false,
        "vocab_size": 262_144, "vocab_size_per_layer_input": 262_144})
}

#[test]
fn gemma_4_has_heads_of_another_width_in_layers_without_windows() {
    let parsed = parse(&gemma4()).unwrap();
    let billions = parsed.parameters() as f64 / 1e9;
    assert!((billions - 30.697).abs() < 0.001, "{billions}");
    for (layer, expected) in [(4, (16, 256, false, 1e4)), (5, (4, 512, true, 1e6))] {
        let own = parsed.at(layer);
        let found = (own.kv_heads, own.head_dim, own.keys_are_values);
        assert_eq!((found.0, found.1, found.2, own.rope.theta), expected);
        assert_eq!(own.rope.dims, own.head_dim);
    }
    let turned = RopeScaling::Proportional {
        turned: 64,
        factor: 1.0,
    };
    assert_eq!((&parsed.rope.scaling, parsed.rope.dims), (&turned, 512));
    assert!((parsed.score_scale - 1.0).abs() < 1e-12);
    // What is left out is what the class takes, and the last layer sees everything whatever is said of it.
    let mut brief = gemma4();
    for key in [
        "global_head_dim",
        "layer_types",
        "rope_parameters",
        "vocab_size",
    ] {
        brief.as_object_mut().unwrap().remove(key);
    }
    assert_eq!(parse(&brief).unwrap(), parsed);
    brief["rope_parameters"] = Value::Null;
    assert_eq!(parse(&brief).unwrap(), parsed);
    let mut last = gemma4();
    last["layer_types"][59] = "sliding_attention".into();
    assert_eq!(parse(&last).unwrap(), parsed);
    // Sizes by layer, as transformers 5 writes them.
    let mut by_layer = brief.clone();
    by_layer["num_global_key_value_heads"] = Value::Null;
    let full = (5..60).step_by(6);
    let own = full.map(|layer| {
        (
            format!("{layer:02}"),
            json!({"head_dim": 512, "num_key_value_heads": 4}),
        )
    });
    by_layer["per_layer_config"] = Value::Object(own.collect());
    assert_eq!(parse(&by_layer).unwrap(), parsed);
    // Without shared keys and values their number is the same in all layers.
    brief["attention_k_eq_v"] = json!(false);
    assert_eq!(parse(&brief).unwrap().at(5).kv_heads, 16);
    let unsaid = |key: &str, value: Value| {
        let mut changed = by_layer.clone();
        changed["per_layer_config"][key] = value;
        parse(&changed).unwrap_err()
    };
    assert!(unsaid("4", json!({"head_dim": 512})).contains("per_layer_config.4: head_dim"));
    assert!(unsaid("17", json!({})).contains("per_layer_config.17: head_dim"));
    assert!(
        unsaid(
            "17",
            json!({"head_dim": 512, "num_key_value_heads": 4, "mlp": 1})
        )
        .contains("17.mlp")
    );
    assert!(unsaid("60", json!({})).contains("names layer 60 of 60"));
    assert!(unsaid("5", json!({"head_dim": 512})).contains("names layer 5 twice"));
    assert!(unsaid("05", json!({"head_dim": -1})).contains("head_dim is -1"));
    for none in [json!({}), Value::Null] {
        let mut same = gemma4();
        same["per_layer_config"] = none;
        let keys = same.as_object_mut().unwrap();
        keys.remove("global_head_dim");
        keys.remove("num_global_key_value_heads");
        let full = parse(&same).unwrap().full_layers.unwrap();
        assert_eq!((full.head_dim, full.kv_heads), (256, 16));
    }
    let theta = json!({"rope_theta": 1e4});
    for (key, value, told) in [
        ("per_layer_config", json!([1]), "per_layer_config is [1]"),
        (
            "per_layer_config",
            json!({"5": {"head_dim": 128}}),
            "global_head_dim and per_layer_config differ",
        ),
        (
            "num_global_key_value_heads",
            json!(5),
            "32 query heads are not a multiple of 5 key heads (layers without",
        ),
        (
            "global_head_dim",
            json!(1 << 20),
            "head width of layers without windows",
        ),
        (
            "use_bidirectional_attention",
            json!("all"),
            "use_bidirectional_attention \"all\"",
        ),
        // The first five layers have windows.
        (
            "num_kv_shared_layers",
            json!(55),
            "num_kv_shared_layers is 55, of 60 layers",
        ),
        (
            "num_kv_shared_layers",
            json!(60),
            "num_kv_shared_layers is 60, of 60 layers",
        ),
        (
            "num_kv_shared_layers",
            json!(61),
            "num_kv_shared_layers is 61, of 60 layers",
        ),
        (
            "num_kv_shared_layers",
            json!(-1),
            "num_kv_shared_layers is -1",
        ),
        (
            "num_kv_shared_layers",
            Value::Null,
            "num_kv_shared_layers is null",
        ),
        (
            "use_double_wide_mlp",
            Value::Null,
            "use_double_wide_mlp is null",
        ),
        (
            "hidden_size_per_layer_input",
            Value::Null,
            "no hidden_size_per_layer_input",
        ),
        (
            "vocab_size_per_layer_input",
            Value::Null,
            "no vocab_size_per_layer_input",
        ),
        (
            "use_double_wide_mlp",
            json!(2),
            "use_double_wide_mlp is 2, not true or false",
        ),
        (
            "hidden_size_per_layer_input",
            json!(0.5),
            "hidden_size_per_layer_input is 0.5",
        ),
        (
            "hidden_size_per_layer_input",
            json!(1 << 15),
            "width of each layer's input",
        ),
        (
            "layer_types",
            json!(vec!["chunked_attention"; 60]),
            "chunked_attention",
        ),
        (
            "rope_parameters",
            json!({"sliding_attention": &theta}),
            "no rope_parameters.full_attention",
        ),
        ("rope_parameters", json!({}), "no rope_parameters.full"),
        (
            "rope_parameters",
            json!({"sliding_attention": {"rope_type": "default"}, "full_attention": &theta}),
            "no rope_theta",
        ),
        // For all layers, which transformers fails on, and keys that it does not read.
        ("rope_parameters", theta.clone(), "no rope_parameters.full"),
        ("rope_theta", json!(1e4), "rope_theta is not supported"),
        (
            "rope_scaling",
            json!({"rope_type": "linear", "factor": 8.0}),
            "rope_scaling is not supported",
        ),
        (
            "rope_local_base_freq",
            json!(77.0),
            "rope_local_base_freq is not supported",
        ),
        // transformers divides by it, and gives no numbers.
        (
            "final_logit_softcapping",
            json!(0.0),
            "final_logit_softcapping is not a positive number",
        ),
        (
            "rope_parameters",
            json!({"sliding_attention": &theta, "full_attention": {"partial_rotary_factor": 0.5, "rope_theta": 1e6}}),
            "partial_rotary_factor is supported with",
        ),
        (
            "rope_parameters",
            json!({"sliding_attention": &theta, "full_attention": {"rope_type": "proportional", "rope_theta": 1e6, "mscale": 2}}),
            "mscale",
        ),
    ] {
        let mut changed = gemma4();
        changed[key] = value;
        let error = parse(&changed).unwrap_err();
        assert!(error.contains(told), "{key}: {error}");
    }
}

/// E2B and E4B as they are published; numbers of parameters are those that transformers counts.
#[test]
fn gemma_4_e2b_attends_to_keys_of_other_layers() {
    let mut e2b = gemma4();
    let keys = e2b.as_object_mut().unwrap();
    let layers = |count: usize, every: usize| {
        let full = (1..=count).map(|layer| layer.is_multiple_of(every));
        let kinds = full.map(|full| {
            if full {
                "full_attention"
            } else {
                "sliding_attention"
            }
        });
        json!(kinds.collect::<Vec<_>>())
    };
    keys.extend(
        json!({"attention_k_eq_v": false, "hidden_size": 1536, "hidden_size_per_layer_input": 256, "intermediate_size": 6144,
            "layer_types": layers(35, 5), "max_position_embeddings": 131_072, "num_attention_heads": 8,
            "num_global_key_value_heads": null, "num_hidden_layers": 35, "num_key_value_heads": 1, "num_kv_shared_layers": 20,
            "sliding_window": 512, "use_bidirectional_attention": null, "use_double_wide_mlp": true})
        .as_object()
        .unwrap()
        .clone(),
    );
    let parsed = parse(&e2b).unwrap();
    assert_eq!(parsed.parameters(), 4_628_569_344 + 35);
    assert_eq!(parsed.input_table(), 2_348_810_240);
    let tables = parsed.input_table() + 262_144 * 1536;
    // Norms and scalars aside.
    let rest = parsed.parameters() - tables - parsed.active_layer_parameters();
    assert!(rest < 400_000, "{rest}");
    // The last layers with keys are a full one, and before it one with a window.
    for (layer, keys, width, heads) in [
        (13, 13, 6144, 1),
        (14, 14, 6144, 1),
        (15, 13, 12_288, 0),
        (34, 14, 12_288, 0),
    ] {
        let own = parsed.at(layer);
        assert_eq!(
            (parsed.keys_of(layer), own.intermediate, own.kv_heads),
            (keys, width, heads)
        );
    }
    // Left out, inputs are as wide as in the class, and the table of all tokens.
    for key in ["hidden_size_per_layer_input", "vocab_size_per_layer_input"] {
        let mut brief = e2b.clone();
        brief.as_object_mut().unwrap().remove(key);
        assert_eq!(parse(&brief).unwrap(), parsed);
    }
    let mut few = e2b.clone();
    few["vocab_size_per_layer_input"] = json!(262_143);
    let error = parse(&few).unwrap_err();
    assert!(
        error.contains("vocab_size_per_layer_input is 262143"),
        "{error}"
    );
    let keys = e2b.as_object_mut().unwrap();
    keys.extend(
        json!({"hidden_size": 2560, "intermediate_size": 10_240, "layer_types": layers(42, 6), "num_hidden_layers": 42,
            "num_key_value_heads": 2, "num_kv_shared_layers": 18, "use_double_wide_mlp": false})
        .as_object()
        .unwrap()
        .clone(),
    );
    let parsed = parse(&e2b).unwrap();
    assert_eq!(parsed.parameters(), 7_463_013_376 + 42);
    assert_eq!((parsed.keys_of(24), parsed.keys_of(41)), (22, 23));
    assert_eq!(parsed.at(41).intermediate, 10_240);
    // 12B has a class of its own, and no inputs.
    e2b["architectures"] = json!(["Gemma4UnifiedForCausalLM"]);
    let error = parse(&e2b).unwrap_err();
    assert!(error.contains("hidden_size_per_layer_input 256"), "{error}");
    e2b["hidden_size_per_layer_input"] = json!(0);
    assert_eq!(parse(&e2b).unwrap().sharing, parsed.sharing);
}

#[test]
fn what_is_left_out_is_what_the_family_takes() {
    let glm = json!({"architectures": ["Glm4ForCausalLM"], "vocab_size": 100, "hidden_size": 32, "intermediate_size": 64,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
        "max_position_embeddings": 512, "rms_norm_eps": 1e-6});
    let rope = parse(&glm).unwrap().rope;
    assert_eq!((rope.dims, rope.interleaved, rope.theta), (8, true, 1e4));
    let mut mistral = config();
    mistral["architectures"] = json!(["MistralForCausalLM"]);
    mistral["max_position_embeddings"] = json!(1 << 20);
    let parsed = parse(&mistral).unwrap();
    assert_eq!(parsed.windows, [Some(4096); 2]);
    assert_eq!(parsed.max_positions, 1 << 17);
    mistral["sliding_window"] = json!(1 << 20);
    assert_eq!(parse(&mistral).unwrap().windows, [None; 2]);
}

#[test]
fn absurd_sizes_and_unknown_keys_of_the_rotary_embedding_are_refused() {
    for (key, value) in [
        ("num_hidden_layers", json!(100_000)),
        ("hidden_size", json!(1 << 20)),
        ("head_dim", json!(1 << 20)),
        (
            "rope_scaling",
            json!({"rope_type": "yarn", "factor": 2.0, "attn_factor": 3.0}),
        ),
        (
            "rope_scaling",
            json!({"rope_type": "yarn", "factor": 2.0, "short_factor": [1.0]}),
        ),
        (
            "rope_scaling",
            json!({"rope_type": "default", "rope_theta": 5.0}),
        ),
    ] {
        let mut changed = config();
        changed[key] = value.clone();
        assert!(parse(&changed).is_err(), "{key}: {value}");
    }
}

/// What transformers 5.24 makes of keys that say nothing.
#[test]
fn null_and_empty_values_are_read_as_transformers_reads_them() {
    let with = |class: &str, key: &str, value: Value| {
        let mut changed = config();
        changed["architectures"] = json!([class]);
        changed[key] = value;
        parse(&changed)
    };
    for class in [
        "LlamaForCausalLM",
        "MistralForCausalLM",
        "Qwen2ForCausalLM",
        "Qwen3ForCausalLM",
    ] {
        let plain = with(class, "rope_scaling", Value::Null).unwrap();
        for (key, value) in [
            ("rope_scaling", json!({})),
            ("rope_scaling", json!([])),
            ("rope_parameters", json!({})),
            ("rope_parameters", Value::Null),
            ("quantization_config", json!({})),
            ("quantization_config", Value::Null),
            ("layer_types", Value::Null),
        ] {
            assert_eq!(
                with(class, key, value.clone()).as_ref(),
                Ok(&plain),
                "{class} {key} {value}"
            );
        }
        let heads = with(class, "num_key_value_heads", Value::Null).unwrap();
        assert_eq!((heads.heads, heads.kv_heads), (4, 4), "{class}");
    }
    for class in ["LlamaForCausalLM", "MistralForCausalLM"] {
        assert_eq!(with(class, "head_dim", Value::Null).unwrap().head_dim, 8);
    }
    // Left out, the classes have numbers of their own.
    let mut lacking = config();
    lacking
        .as_object_mut()
        .unwrap()
        .remove("num_key_value_heads");
    assert!(parse(&lacking).unwrap_err().contains("num_key_value_heads"));
    lacking["architectures"] = json!(["LlamaForCausalLM"]);
    assert_eq!(parse(&lacking).unwrap().kv_heads, 4);
}

#[test]
fn gpt_oss_without_a_stretched_context_is_refused() {
    let mut value = config();
    for (key, given) in [
        ("architectures", json!(["GptOssForCausalLM"])),
        ("num_local_experts", json!(4)),
        ("num_experts_per_tok", json!(2)),
        ("sliding_window", json!(128)),
    ] {
        value[key] = given;
    }
    // transformers then takes the class's own YaRN.
    for nothing in [Value::Null, json!({})] {
        value["rope_scaling"] = nothing;
        assert!(parse(&value).unwrap_err().contains("no rope_scaling"));
    }
}

/// transformers builds what `model_type` says, whatever `architectures` lists.
#[test]
fn a_class_of_one_family_and_a_type_of_another_are_a_contradiction() {
    let rows = FAMILIES.iter();
    let rows = rows.filter(|row| !row.classes.is_empty() && !row.model_types.is_empty());
    for one in rows.clone() {
        for other in rows.clone().filter(|other| *other != one) {
            let (class, kind) = (one.classes[0], other.model_types[0]);
            let config = json!({"architectures": [class], "model_type": kind});
            let told = format!("architectures says {class}, and model_type {kind}");
            assert!(parse(&config).unwrap_err().contains(&told));
        }
    }
    // Of what images are read with too, outside and in the text part.
    let gemma = "Gemma4ForConditionalGeneration";
    for (class, kind) in [
        (gemma, "llama"),
        (gemma, "gemma4_unified"),
        (gemma, "gemma4_text"),
        ("Qwen3ForCausalLM", "gemma4"),
        ("Gemma4ForCausalLM", "gemma4"),
        ("LlamaForCausalLM", "gpt2"),
    ] {
        let config = json!({"architectures": [class], "model_type": kind});
        let told = format!("architectures says {class}, and model_type {kind}, not ");
        assert!(parse(&config).unwrap_err().contains(&told));
    }
    for (class, kind, text_class, fits) in [
        (gemma, "gemma4_text", "Gemma4ForCausalLM", true),
        (gemma, "gemma4_text", gemma, true),
        (gemma, "llama", "LlamaForCausalLM", false),
        (gemma, "gemma4_text", "LlamaForCausalLM", false),
        (
            gemma,
            "gemma4_text",
            "Gemma3ForConditionalGeneration",
            false,
        ),
        (gemma, "gemma4_unified_text", gemma, false),
        (
            "Gemma3ForConditionalGeneration",
            "gemma3_text",
            "Gemma3ForCausalLM",
            true,
        ),
        (
            "Qwen2_5_VLForConditionalGeneration",
            "qwen2_5_vl_text",
            "Qwen2_5_VLForConditionalGeneration",
            true,
        ),
        (
            "Mistral3ForConditionalGeneration",
            "mistral",
            "MistralForCausalLM",
            true,
        ),
        (
            "Mistral3ForConditionalGeneration",
            "ministral3",
            "Ministral3ForCausalLM",
            true,
        ),
        (
            "Mistral3ForConditionalGeneration",
            "mistral",
            "LlamaForCausalLM",
            false,
        ),
        (
            "LlavaForConditionalGeneration",
            "mistral",
            "MistralForCausalLM",
            true,
        ),
        (
            "LlavaForConditionalGeneration",
            "qwen2",
            "Qwen2ForCausalLM",
            true,
        ),
        (
            "InternVLForConditionalGeneration",
            "qwen3",
            "Qwen3ForCausalLM",
            true,
        ),
    ] {
        let text = json!({"model_type": kind, "architectures": [text_class]});
        let error = parse(&json!({"architectures": [class], "text_config": text})).unwrap_err();
        let refused = error.contains(&format!(
            "{class}'s text part is of the family {kind} (text_config.model_type) and {text_class}"
        ));
        assert_eq!(refused, !fits, "{class}, {kind}, {text_class}: {error}");
    }
    let mut wrapped =
        json!({"architectures": ["Mistral3ForConditionalGeneration"], "text_config": config()});
    wrapped["text_config"]["model_type"] = json!("qwen3");
    wrapped["tie_word_embeddings"] = json!("no");
    let error = parse(&wrapped).unwrap_err();
    assert!(error.contains("tie_word_embeddings is \"no\""), "{error}");
}
