use super::*;
use juror_judge::catalog::shapes;

#[test]
fn known_shapes_have_the_sizes_their_makers_name() {
    let of = |name: &str| shapes::find(name).unwrap();
    let sizes = |name: &str| {
        let config = of(name);
        (
            parameters(config.parameters()),
            parameters(active_parameters(&config)),
        )
    };
    assert_eq!(sizes("qwen3-8b"), ("8.19 B".into(), "8.19 B".into()));
    assert_eq!(sizes("qwen3-30b-a3b"), ("30.53 B".into(), "3.35 B".into()));
    assert_eq!(sizes("qwen3-0.6b").0, "596.05 M");
    let weight_bytes = |config: &ModelConfig, weights: WeightType| {
        let precision = Precision {
            weights,
            ..Precision::F32
        };
        weight_bytes(config, 1, precision, 0) as u64
    };
    // 16 bits for each of 8.19 B.
    assert_eq!(
        weight_bytes(&of("qwen3-8b"), WeightType::BF16),
        16_381_470_720
    );
    // A table that is looked up alone stays as it is stored, in 16 bits.
    let untied = of("qwen3-8b");
    let in_f32 = 4 * untied.parameters() - 2 * untied.vocab * untied.hidden;
    let shown = format!(", {} with --dtype f32, ", bytes(in_f32 as u64));
    let told = memory(&untied, None);
    assert!(told.contains(&shown), "{told}");
    let config = of("qwen3-0.6b");
    assert_eq!(
        weight_bytes(&config, WeightType::F32),
        4 * config.parameters() as u64
    );
    assert!(weight_bytes(&config, WeightType::Q4K) < weight_bytes(&config, WeightType::Q8_0));
    // 896 is no multiple of 256: of the layers only the matrices that narrow 4864 are in four bits.
    let mut narrow = config;
    (narrow.hidden, narrow.intermediate) = (896, 4864);
    (narrow.heads, narrow.head_dim) = (14, 64);
    let down = narrow.layers * 4864 * 896;
    let eight = weight_bytes(&narrow, WeightType::Q8_0) as f64;
    let four = weight_bytes(&narrow, WeightType::Q4K) as f64;
    assert!((eight - four - down as f64 * (8.5 - 4.625) / 8.0).abs() < 2.0);
    assert!(kv_cache(&of("qwen3-8b")).starts_with("144.0 KiB a token as bf16"));
}

#[test]
fn layers_with_windows_keep_their_window() {
    let config = r#"{"architectures": ["Gemma4ForCausalLM"], "attention_k_eq_v": true, "hidden_size": 5376,
        "hidden_size_per_layer_input": 0, "intermediate_size": 21504, "num_attention_heads": 32, "max_position_embeddings": 4096,
        "num_global_key_value_heads": 4, "num_hidden_layers": 60, "num_key_value_heads": 16, "sliding_window": 1024}"#;
    let config = ModelConfig::parse(config, "gemma-4-31b").unwrap();
    let told = kv_cache(&config);
    assert!(
        told.starts_with("80.0 KiB a token, and 800.0 for each of the last 1024, as bf16"),
        "{told}"
    );
    let whole = (4096 * 80 + 1024 * 800) * 1024;
    assert!(
        told.contains(&format!("{} for one whole context", bytes(whole))),
        "{told}"
    );
}

/// gemma-4-E2B: half of its numbers are a table, and twenty of its layers keep nothing.
#[test]
fn embeddings_of_layers_are_named() {
    let kinds = (1..=35).map(|layer| match layer % 5 {
        0 => "full_attention",
        _ => "sliding_attention",
    });
    let config = serde_json::json!({"architectures": ["Gemma4ForCausalLM"], "hidden_size": 1536, "intermediate_size": 6144,
        "layer_types": kinds.collect::<Vec<_>>(), "num_hidden_layers": 35, "num_key_value_heads": 1, "num_kv_shared_layers": 20,
        "use_double_wide_mlp": true});
    let config = ModelConfig::parse(&config.to_string(), "gemma-4-e2b").unwrap();
    assert_eq!(
        parts(&config),
        "4.63 B: 1.88 B in the layers, 402.65 M in the embedding, which is the output head too, 2.35 B in the layers' own embeddings \
         (4.7 GB as bf16)"
    );
    let told = kv_cache(&config);
    assert!(
        told.starts_with("6.0 KiB a token, and 12.0 for each of the last 512, as bf16"),
        "{told}"
    );
}
