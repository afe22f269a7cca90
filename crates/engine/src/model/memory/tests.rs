use candle_core::DType;

use super::{
    CacheLayout, MemoryFootprint, ModelConfig, Precision, WeightType, layer_bits, weight_bytes,
    widening_room,
};
use crate::model::Shard;

#[test]
fn weights_take_what_their_types_do() {
    let config = r#"{"architectures": ["GptOssForCausalLM"], "vocab_size": 201088, "hidden_size": 2880,
        "intermediate_size": 2880, "num_hidden_layers": 24, "num_attention_heads": 64, "num_key_value_heads": 8,
        "head_dim": 64, "num_local_experts": 32, "num_experts_per_tok": 4, "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5, "rope_theta": 150000, "rope_scaling": {"rope_type": "yarn", "factor": 32.0,
        "beta_fast": 32.0, "beta_slow": 1.0, "original_max_position_embeddings": 4096, "truncate": false},
        "sliding_window": 128, "tie_word_embeddings": false}"#;
    let config = ModelConfig::parse(config, "gpt-oss-20b").unwrap();
    let bf16 = Precision::all(DType::BF16);
    let gigabytes = |bytes: usize| bytes as f64 / 1e9;
    let plain = gigabytes(weight_bytes(&config, 1, bf16, 0));
    assert!((41.5..42.1).contains(&plain), "{plain}");
    // Its makers' checkpoint has 13.76 GB.
    let experts = 24 * 32 * 3 * 2880 * 2880;
    let packed = gigabytes(weight_bytes(&config, 1, bf16, experts));
    assert!((13.7..13.8).contains(&packed), "{packed}");
    // Then FP8 is for attention alone.
    let fp8 = Precision {
        weights: WeightType::F8E4M3,
        ..bf16
    };
    let fp8 = gigabytes(weight_bytes(&config, 1, fp8, experts));
    assert!((12.9..13.3).contains(&fp8), "{fp8}");
    // An average over all matrices, and room for the largest that may be widened, which is attention's: experts are not.
    let stored = |compute| Precision {
        weights: WeightType::Stored { centibits: 800 },
        compute,
        ..bf16
    };
    let all = config.parameters();
    assert_eq!(weight_bytes(&config, 1, stored(DType::F32), 0), all);
    let room = 2 * (64 + 2 * 8) * 64 * 2880;
    assert_eq!(weight_bytes(&config, 1, stored(DType::BF16), 0), all + room);
}

/// A model of 7.6 billion numbers whose layers are in four bits and whose tables, a seventh of it, are in 16.
#[test]
fn each_of_several_gpus_has_the_tables() {
    let config = r#"{"architectures": ["Qwen2ForCausalLM"], "vocab_size": 152064, "hidden_size": 3584,
        "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
        "max_position_embeddings": 32768, "rms_norm_eps": 1e-6, "rope_theta": 1e6, "tie_word_embeddings": false,
        "hidden_act": "silu"}"#;
    let config = ModelConfig::parse(config, "qwen2-7b").unwrap();
    let tables = 2 * 152_064 * 3584;
    let layers = config.parameters() - tables;
    let bits = (16 * tables + 4 * layers) as f64 / config.parameters() as f64;
    let stored = Precision {
        weights: WeightType::Stored {
            centibits: (100.0 * bits).round() as u16,
        },
        ..Precision::all(DType::BF16)
    };
    for parts in [1, 2, 4] {
        let part = Shard::new(0, parts).config(&config).unwrap();
        let own = weight_bytes(&part, parts, stored, 0) - 2 * widening_room(&part);
        let expected = 2 * tables + layers / 2 / parts;
        let difference = own.abs_diff(expected) as f64 / expected as f64;
        assert!(
            difference < 2e-3,
            "{own} of {expected} bytes in {parts} parts"
        );
    }
}

/// A state of Qwen3.5-9B is worth the keys and values of 1,600 tokens, of its eight layers with attention.
#[test]
fn recurrent_states_are_counted_and_their_layers_keep_no_keys() {
    let config = r#"{"architectures": ["Qwen3_5ForCausalLM"], "vocab_size": 248320, "hidden_size": 4096,
        "intermediate_size": 12288, "num_hidden_layers": 32, "num_attention_heads": 16, "num_key_value_heads": 4,
        "head_dim": 256, "full_attention_interval": 4, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
        "linear_key_head_dim": 128, "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4,
        "max_position_embeddings": 262144, "rms_norm_eps": 1e-6, "rope_theta": 1e7}"#;
    let config = ModelConfig::parse(config, "qwen3.5-9b").unwrap();
    let precision = Precision::all(DType::BF16);
    let footprint = MemoryFootprint::new(&config, precision, &candle_core::Device::Cpu);
    assert_eq!(footprint.kv_bytes_per_token, 8 * 2 * 4 * 256 * 2);
    let heads = 32 * 128 * 128;
    let inputs = 3 * (2 * 16 * 128 + 32 * 128);
    assert_eq!(footprint.state_bytes, 24 * (heads + inputs) * 4);
}

/// gemma-4-31B: keys and values of 16 heads of 256 in 50 layers, and of 4 of 512 in 10; the widest projections are those of the latter.
#[test]
fn layers_of_two_shapes_are_counted_each() {
    let config = r#"{"architectures": ["Gemma4ForCausalLM"], "attention_k_eq_v": true, "hidden_size": 5376,
        "hidden_size_per_layer_input": 0, "intermediate_size": 21504, "num_attention_heads": 32,
        "num_global_key_value_heads": 4, "num_hidden_layers": 60, "num_key_value_heads": 16, "sliding_window": 1024}"#;
    let config = ModelConfig::parse(config, "gemma-4-31b").unwrap();
    let precision = Precision::all(DType::BF16);
    let footprint = MemoryFootprint::new(&config, precision, &candle_core::Device::Cpu);
    let windowed = (1024, 800 << 10);
    assert_eq!(
        (footprint.kv_bytes_per_token, footprint.windowed),
        (80 << 10, Some(windowed))
    );
    assert_eq!(widening_room(&config), 2 * 21504 * 5376);
    let narrow = ModelConfig {
        intermediate: 64,
        ..config
    };
    assert_eq!(widening_room(&narrow), (32 + 2 * 4) * 512 * 5376);
    let half = Shard::new(1, 2).config(&narrow).unwrap();
    assert_eq!(widening_room(&half), (16 + 2 * 2) * 512 * 5376);
}

/// gemma-4-E2B: 15 of 35 layers have keys, three of them without windows. The table of layers' inputs stays as it is stored.
#[test]
fn layers_that_attend_to_other_layers_have_no_cache() {
    let kinds = (1..=35).map(|layer| match layer % 5 {
        0 => "full_attention",
        _ => "sliding_attention",
    });
    let mut json = serde_json::json!({"architectures": ["Gemma4ForCausalLM"], "hidden_size": 1536, "intermediate_size": 6144,
        "layer_types": kinds.collect::<Vec<_>>(), "num_hidden_layers": 35, "num_key_value_heads": 1, "num_kv_shared_layers": 20,
        "use_double_wide_mlp": true});
    let config = ModelConfig::parse(&json.to_string(), "gemma-4-e2b").unwrap();
    let (cpu, bf16) = (candle_core::Device::Cpu, Precision::all(DType::BF16));
    let footprint = MemoryFootprint::new(&config, bf16, &cpu);
    assert_eq!(
        (footprint.kv_bytes_per_token, footprint.windowed),
        (3 * 512 * 4, Some((512, 12 * 256 * 4)))
    );
    let layout = CacheLayout::from(&config);
    assert_eq!(layout.layers(&config).count(), 35);
    // The widest feed-forward layer, and inputs of all layers.
    assert!(footprint.activation_bytes_per_token > 2 * (3 * 12_288 + 35 * 256));
    assert_eq!(widening_room(&config), 2 * 12_288 * 1536);
    // Beside experts the same layers are the widest, and their last matrices count by their own widths.
    for (key, value) in [
        ("num_experts", 8),
        ("top_k_experts", 2),
        ("moe_intermediate_size", 704),
    ] {
        json[key] = value.into();
    }
    json["enable_moe_block"] = true.into();
    let beside = ModelConfig::parse(&json.to_string(), "experts").unwrap();
    assert_eq!(widening_room(&beside), 2 * 12_288 * 1536);
    let more = MemoryFootprint::new(&beside, bf16, &cpu).activation_bytes_per_token;
    assert_eq!(more - footprint.activation_bytes_per_token, 2 * 3 * 2 * 704);
    let eight = Precision {
        weights: WeightType::Q8_0,
        ..Precision::F32
    };
    let (table, head) = (35 * 256 * 262_144, 262_144 * 1536);
    let layers = config.parameters() - table - head;
    let bits = 16 * table + 17 * (layers + head) / 2;
    assert!(weight_bytes(&config, 1, eight, 0).abs_diff(bits / 8) < 8);
}

/// Rows of 1,408 numbers, of experts, do not fit the blocks of four bits; those of 10,752, of dense layers, do.
#[test]
fn layers_before_those_with_experts_are_counted_as_they_are() {
    let config = r#"{"architectures": ["Glm4MoeForCausalLM"], "vocab_size": 1000, "hidden_size": 1024,
        "intermediate_size": 10752, "num_hidden_layers": 10, "num_attention_heads": 8, "num_key_value_heads": 8,
        "head_dim": 128, "n_routed_experts": 16, "num_experts_per_tok": 2, "moe_intermediate_size": 1408,
        "n_shared_experts": 1, "first_k_dense_replace": 9, "routed_scaling_factor": 1.0, "rope_theta": 1e6,
        "max_position_embeddings": 4096, "rms_norm_eps": 1e-5, "attention_bias": false, "tie_word_embeddings": false}"#;
    let config = ModelConfig::parse(config, "glm").unwrap();
    let layers = config.parameters() - 2 * 1000 * 1024;
    // The down projections of 16 experts and of the shared one, in the last layer alone.
    let eight = (17 * 1408 * 1024) as f64 / layers as f64;
    let (four, of_eight) = (WeightType::Q4K.bits(), WeightType::Q8_0.bits());
    let bits = layer_bits(&config, WeightType::Q4K);
    assert!(
        (bits - four - (of_eight - four) * eight).abs() < 1e-9,
        "{bits}"
    );
    // The widest layer is a dense one.
    let footprint = MemoryFootprint::new(
        &config,
        Precision::all(DType::BF16),
        &candle_core::Device::Cpu,
    );
    assert!(footprint.activation_bytes_per_token > 2 * 3 * 10752);
}
