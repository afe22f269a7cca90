//! What single families read, take where a key is left out, and refuse.

use serde_json::{Value, json};

use super::super::{ModelConfig, Rope, Scores};
use crate::checkpoint::tensors::{expected_tensors, unused};

/// A configuration of four layers with changes; null takes a key out.
fn config(class: &str, changes: &Value) -> Value {
    let mut value = json!({
        "architectures": [class], "vocab_size": 100, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 4,
        "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 512,
        "rms_norm_eps": 1e-6, "rope_theta": 1e4, "hidden_act": "silu", "eos_token_id": 1,
    });
    for (key, change) in changes.as_object().unwrap() {
        if change == "absent" {
            value.as_object_mut().unwrap().remove(key);
        } else {
            value[key] = change.clone();
        }
    }
    value
}

fn parse(class: &str, changes: &Value) -> Result<ModelConfig, String> {
    let text = config(class, changes).to_string();
    ModelConfig::parse(&text, "config.json").map_err(|error| error.to_string())
}

fn yarn(more: &Value) -> Value {
    let mut rope =
        json!({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16});
    for (key, value) in more.as_object().unwrap() {
        rope[key] = value.clone();
    }
    rope
}

const GLM: &str = "Glm4MoeForCausalLM";
const MINIMAX: &str = "MiniMaxM2ForCausalLM";

fn glm(changes: &Value) -> Result<ModelConfig, String> {
    let mut all = json!({"n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 24,
        "num_nextn_predict_layers": 1, "routed_scaling_factor": 2.5, "n_group": 1, "topk_group": 1});
    for (key, value) in changes.as_object().unwrap() {
        all[key] = value.clone();
    }
    parse(GLM, &all)
}

fn minimax(changes: &Value) -> Result<ModelConfig, String> {
    let mut all = json!({"num_local_experts": 8, "num_experts_per_tok": 2, "rotary_dim": 8, "scoring_func": "sigmoid",
        "use_mtp": true, "num_mtp_modules": 3, "mtp_transformer_layers": 1, "attn_type_list": [1, 1, 1, 1],
        "use_qk_norm": true, "qk_norm_type": "per_layer", "use_routing_bias": true, "shared_intermediate_size": 0});
    for (key, value) in changes.as_object().unwrap() {
        all[key] = value.clone();
    }
    parse(MINIMAX, &all)
}

#[test]
fn what_a_family_cannot_follow_is_refused_by_key() {
    let smollm = |key: &str, value: Value| {
        let mut changes = json!({});
        changes[key] = value;
        parse("SmolLM3ForCausalLM", &changes)
    };
    let ministral = |rope: Value| {
        let changes = json!({"rope_theta": "absent", "rope_parameters": rope});
        parse("Ministral3ForCausalLM", &changes)
    };
    let exaone = |changes| parse("Exaone4ForCausalLM", &changes);
    let hunyuan = |rope| parse("HunYuanDenseV1ForCausalLM", &json!({"rope_scaling": rope}));
    let cases = vec![
        // A layer too few, and neither 0 nor 1.
        (smollm("no_rope_layers", json!([1, 1, 0])), "no_rope_layers"),
        (
            smollm("no_rope_layers", json!([1, 1, 2, 0])),
            "no_rope_layers",
        ),
        (smollm("no_rope_layers", json!(4)), "no_rope_layers"),
        (
            smollm("no_rope_layer_interval", json!("four")),
            "no_rope_layer_interval",
        ),
        (
            smollm("use_sliding_window", json!(true)),
            "use_sliding_window",
        ),
        (
            smollm("layer_types", json!(vec!["sliding_attention"; 4])),
            "layer_types holds \"sliding_attention\"",
        ),
        (ministral(Value::Null), "no rope_scaling"),
        (
            ministral(yarn(&json!({"rope_theta": 1e6}))),
            "no rope_parameters.llama_4_scaling_beta",
        ),
        (
            ministral(yarn(
                &json!({"rope_theta": 1e6, "llama_4_scaling_beta": -0.1}),
            )),
            "rope_parameters.llama_4_scaling_beta",
        ),
        (
            parse(
                "LlamaForCausalLM",
                &json!({"rope_scaling": yarn(&json!({"llama_4_scaling_beta": 0.1}))}),
            ),
            "rope_scaling.llama_4_scaling_beta",
        ),
        (
            exaone(json!({"sliding_window": 8, "sliding_window_pattern": "LGLG"})),
            "sliding_window_pattern",
        ),
        (
            exaone(json!({"sliding_window": 8, "layer_types": ["sliding_attention"]})),
            "layer_types has 1",
        ),
        (
            exaone(json!({"sliding_window": null, "layer_types": vec!["sliding_attention"; 4]})),
            "no sliding_window",
        ),
        // Without its number the stretching depends on the length of the text.
        (
            hunyuan(json!({"type": "dynamic", "factor": 2.0})),
            "dynamic",
        ),
        (
            hunyuan(json!({"type": "dynamic", "alpha": "many"})),
            "rope_scaling.alpha",
        ),
        (
            parse(
                "LlamaForCausalLM",
                &json!({"rope_scaling": {"type": "dynamic", "alpha": 9.0}}),
            ),
            "dynamic",
        ),
        (
            parse("HunYuanDenseV1ForCausalLM", &json!({"use_cla": true})),
            "use_cla",
        ),
        (
            parse(
                "HunYuanDenseV1ForCausalLM",
                &json!({"attention_head_dim": 8}),
            ),
            "attention_head_dim and head_dim",
        ),
        (
            parse("GraniteForCausalLM", &json!({"residual_multiplier": 0})),
            "residual_multiplier",
        ),
        (
            parse("GraniteForCausalLM", &json!({"logits_scaling": "8"})),
            "logits_scaling",
        ),
        (
            parse("Olmo2ForCausalLM", &json!({"clip_qkv": 8.0})),
            "clip_qkv",
        ),
        (
            parse("Olmo2ForCausalLM", &json!({"num_key_value_heads": 3})),
            "num_key_value_heads",
        ),
        (
            glm(&json!({"first_k_dense_replace": 4})),
            "first_k_dense_replace is 4, of 4 layers",
        ),
        (glm(&json!({"n_group": 2})), "n_group"),
        (
            glm(&json!({"num_experts_per_tok": 9})),
            "num_experts_per_tok (9)",
        ),
        (
            glm(&json!({"n_routed_experts": "absent"})),
            "no n_routed_experts",
        ),
        (glm(&json!({"n_routed_experts": -8})), "n_routed_experts"),
        (
            glm(&json!({"routed_scaling_factor": 0})),
            "routed_scaling_factor",
        ),
        (
            glm(&json!({"moe_intermediate_size": "absent"})),
            "no moe_intermediate_size",
        ),
        (minimax(&json!({"scoring_func": "softmax"})), "scoring_func"),
        (
            minimax(&json!({"qk_norm_type": "per_head"})),
            "qk_norm_type",
        ),
        (minimax(&json!({"rotary_dim": "eight"})), "rotary_dim"),
        (
            minimax(&json!({"rotary_dim": 32})),
            "partial_rotary_factor 2",
        ),
        (
            minimax(&json!({"partial_rotary_factor": 0.25})),
            "rotary_dim and partial_rotary_factor",
        ),
        (
            minimax(&json!({"shared_intermediate_size": 64})),
            "shared_intermediate_size",
        ),
        (
            parse("MixtralForCausalLM", &json!({"num_local_experts": 0})),
            "num_local_experts",
        ),
    ];
    for (refused, parts) in cases {
        let error = refused.map(|config| config.family).unwrap_err();
        assert!(error.contains(parts), "{parts}: {error}");
    }
}

#[test]
fn layers_are_turned_where_the_family_turns_them() {
    let still = |class: &str, changes: &Value| {
        let config = parse(class, changes).unwrap();
        config.second_rope.map(|second| {
            assert_eq!(second.rope, Rope::still());
            second.layers
        })
    };
    let smollm = |changes| still("SmolLM3ForCausalLM", &changes);
    assert_eq!(smollm(json!({})), Some(vec![false, false, false, true]));
    // A 1 is a layer with rotation.
    let listed = json!({"no_rope_layers": [1, 0, 0, 1], "sliding_window": null});
    assert_eq!(smollm(listed), Some(vec![false, true, true, false]));
    assert_eq!(smollm(json!({"no_rope_layers": [1, 1, 1, 1]})), None);
    let exaone = |changes| still("Exaone4ForCausalLM", &changes);
    let hybrid = Some(vec![false, false, false, true]);
    assert_eq!(exaone(json!({"sliding_window": 8})), hybrid);
    let letters = json!({"sliding_window": 8, "sliding_window_pattern": "LLLG"});
    assert_eq!(exaone(letters), hybrid);
    let listed = json!({"sliding_window": 8, "layer_types": ["full_attention", "sliding_attention",
        "sliding_attention", "sliding_attention"]});
    assert_eq!(exaone(listed), Some(vec![true, false, false, false]));
    // A window wider than the context hides nothing, and says as much about rotation.
    let wide = parse("Exaone4ForCausalLM", &json!({})).unwrap();
    assert_eq!((wide.windows[0], wide.second_rope.is_some()), (None, true));
    assert_eq!(
        exaone(json!({"sliding_window": null, "sliding_window_pattern": null})),
        None
    );
}

#[test]
fn both_generations_of_olmo_3s_keys_are_the_same() {
    let four = parse(
        "Olmo3ForCausalLM",
        &json!({"rope_theta": 5e5, "sliding_window": 8, "rope_scaling": yarn(&json!({}))}),
    );
    let five = json!({"rope_theta": "absent", "sliding_window": 8, "rope_parameters": {
        "full_attention": yarn(&json!({"rope_theta": 5e5})),
        "sliding_attention": {"rope_type": "default", "rope_theta": 5e5}}});
    let four = four.unwrap();
    assert_eq!(parse("Olmo3ForCausalLM", &five).unwrap(), four);
    let second = four.second_rope.unwrap();
    assert_eq!(second.layers, [true, true, true, false]);
    assert_eq!((second.rope.theta, four.rope.theta), (5e5, 5e5));
    assert_ne!(second.rope.scaling, four.rope.scaling);
    // Without stretching there is one embedding.
    let plain = parse("Olmo3ForCausalLM", &json!({"sliding_window": 8})).unwrap();
    assert_eq!(
        (plain.second_rope, plain.windows),
        (None, vec![Some(8), Some(8), Some(8), None])
    );
}

#[test]
fn keys_that_are_left_out_are_what_transformers_takes() {
    let lacking = |class: &str, keys: &[&str]| {
        let absent = keys.iter().map(|key| ((*key).to_owned(), json!("absent")));
        parse(class, &Value::Object(absent.collect())).unwrap()
    };
    let granite = lacking("GraniteForCausalLM", &["num_key_value_heads", "head_dim"]);
    assert_eq!((granite.kv_heads, granite.head_dim), (4, 8));
    assert_eq!((granite.score_scale, granite.logit_scale), (1.0, 1.0));
    let scaled = parse(
        "GraniteForCausalLM",
        &json!({"logits_scaling": 8.0, "attention_multiplier": 0.5}),
    )
    .unwrap();
    assert_eq!((scaled.score_scale, scaled.logit_scale), (0.5, 0.125));
    let seed = lacking("SeedOssForCausalLM", &["rope_theta"]);
    assert!(seed.biases.qkv && !seed.biases.output);
    let theta = |config: ModelConfig| config.rope.theta as u64;
    assert_eq!(theta(seed), 10_000);
    // Absent is the class's own number, null follows from the width.
    let ernie = "Ernie4_5ForCausalLM";
    assert_eq!(lacking(ernie, &["head_dim"]).head_dim, 128);
    assert_eq!(
        parse(ernie, &json!({"head_dim": null})).unwrap().head_dim,
        8
    );
    assert!(lacking(ernie, &["head_dim"]).tie_embeddings);
    assert_eq!(
        theta(lacking("SmolLM3ForCausalLM", &["rope_theta"])),
        2_000_000
    );
    assert_eq!(theta(lacking("Olmo3ForCausalLM", &["rope_theta"])), 500_000);
    assert_eq!(
        parse("MixtralForCausalLM", &json!({"num_key_value_heads": null}))
            .unwrap()
            .kv_heads,
        4
    );
    let beta = yarn(&json!({"llama_4_scaling_beta": 0}));
    let none = parse("Ministral3ForCausalLM", &json!({"rope_scaling": beta})).unwrap();
    assert_eq!(none.position_scale, None);
    // Zero is no share, as in Devstral 2's file.
    for of_all in [json!(0.0), Value::Null] {
        let shares =
            yarn(&json!({"llama_4_scaling_beta": 0.0, "mscale": 1.0, "mscale_all_dim": of_all}));
        let plain = parse("Ministral3ForCausalLM", &json!({"rope_scaling": shares})).unwrap();
        let without = yarn(&json!({"llama_4_scaling_beta": 0.0}));
        let without = parse("Ministral3ForCausalLM", &json!({"rope_scaling": without})).unwrap();
        assert_eq!(plain.rope, without.rope);
    }
    let longer = parse(
        "SmolLM3ForCausalLM",
        &json!({"no_rope_layers": [0, 1, 1, 1, 0]}),
    )
    .unwrap();
    assert_eq!(
        longer.second_rope.unwrap().layers,
        [true, false, false, false]
    );
    assert!(parse("Ernie4_5_ForCausalLM", &json!({"head_dim": null})).is_ok());
    let alpha = json!({"rope_scaling": {"type": "dynamic", "alpha": 50.0, "factor": 1.0, "beta_fast": 32, "mscale": 1.0}});
    let hunyuan = parse("HunYuanDenseV1ForCausalLM", &alpha).unwrap();
    assert!((hunyuan.rope.theta - 1e4 * 50f64.powf(16.0 / 14.0)).abs() < 1e-6);
}

#[test]
fn routers_of_sigmoids_dense_layers_and_layers_ahead_are_read() {
    let config = glm(&json!({})).unwrap();
    let experts = config.experts.unwrap();
    assert_eq!(
        (experts.first, experts.shared, experts.scores),
        (1, Some(24), Scores::Sigmoid)
    );
    assert!(experts.normalise && !config.head_norms && config.rope.dims == 8);
    assert!((experts.scale - 2.5).abs() < 1e-12);
    let names: Vec<String> = expected_tensors(&config)
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let has = |name: &str| {
        names
            .iter()
            .any(|known| known == &format!("model.layers.{name}"))
    };
    assert!(has("0.mlp.gate_proj.weight") && !has("0.mlp.gate.weight"));
    assert!(has("1.mlp.gate.e_score_correction_bias") && !has("1.mlp.gate_proj.weight"));
    assert!(has("1.mlp.shared_experts.up_proj.weight") && !has("1.self_attn.q_norm.weight"));
    assert!(unused(&config, "model.layers.4.eh_proj.weight"));
    for name in [
        "model.layers.5.eh_proj.weight",
        "model.layers.3.eh_proj.weight",
        "model.layers.x.y",
    ] {
        assert!(!unused(&config, name), "{name}");
    }
    let none =
        glm(&json!({"n_shared_experts": 0, "first_k_dense_replace": 0, "use_qk_norm": true}))
            .unwrap();
    assert!(none.head_norms && none.experts.unwrap().shared.is_none());
    let minimax = minimax(&json!({})).unwrap();
    assert_eq!(
        (minimax.rope.dims, minimax.head_norm_widths()),
        (8, [64, 32])
    );
    // The CUDA kernels know all of it.
    let beyond = |class, changes| parse(class, &changes).unwrap().beyond_kernels();
    for (class, changes) in [
        ("Olmo2ForCausalLM", json!({})),
        ("Exaone4ForCausalLM", json!({})),
        ("HunYuanDenseV1ForCausalLM", json!({})),
        ("SmolLM3ForCausalLM", json!({})),
        (
            "GraniteForCausalLM",
            json!({"residual_multiplier": 0.5, "attention_multiplier": 0.25}),
        ),
        (
            "Ministral3ForCausalLM",
            json!({"rope_scaling": yarn(&json!({"llama_4_scaling_beta": 0.1}))}),
        ),
    ] {
        assert_eq!(beyond(class, changes), None, "{class}");
    }
    assert!(config.beyond_kernels().is_none() && minimax.beyond_kernels().is_none());
    assert_eq!(beyond("SeedOssForCausalLM", json!({})), None);
    assert_eq!(
        beyond("MixtralForCausalLM", json!({"num_local_experts": 8})),
        None
    );
}

/// The sizes that are published with these models give the number of parameters that their makers state.
#[test]
fn published_sizes_are_counted() {
    let sizes = |hidden: usize, wide: usize, layers: usize, heads: [usize; 3], vocab: usize| {
        json!({"hidden_size": hidden, "intermediate_size": wide, "num_hidden_layers": layers, "num_attention_heads": heads[0],
            "num_key_value_heads": heads[1], "head_dim": heads[2], "vocab_size": vocab, "tie_word_embeddings": false})
    };
    let with = |mut sizes: Value, more: Value| {
        for (key, value) in more.as_object().unwrap() {
            sizes[key] = value.clone();
        }
        sizes
    };
    for (class, sizes, billions) in [
        (
            "MixtralForCausalLM",
            with(
                sizes(4096, 14336, 32, [32, 8, 128], 32000),
                json!({"num_local_experts": 8}),
            ),
            46.70,
        ),
        (
            GLM,
            with(
                sizes(4096, 10944, 46, [96, 8, 128], 151_552),
                json!({"n_routed_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 1408, "attention_bias": true}),
            ),
            106.85,
        ),
        (
            MINIMAX,
            with(
                sizes(3072, 1536, 62, [48, 8, 128], 200_064),
                json!({"num_local_experts": 256, "num_experts_per_tok": 8}),
            ),
            228.70,
        ),
        (
            "SmolLM3ForCausalLM",
            with(
                sizes(2048, 11008, 36, [16, 4, 128], 128_256),
                json!({"tie_word_embeddings": true}),
            ),
            3.075,
        ),
        (
            "SeedOssForCausalLM",
            sizes(5120, 27648, 64, [80, 8, 128], 155_136),
            36.15,
        ),
        (
            "Olmo2ForCausalLM",
            sizes(4096, 11008, 32, [32, 32, 128], 100_352),
            7.299,
        ),
    ] {
        let counted = parse(class, &sizes).unwrap().parameters() as f64 / 1e9;
        assert!(
            (counted / billions - 1.0).abs() < 2e-3,
            "{class}: {counted}"
        );
    }
}
