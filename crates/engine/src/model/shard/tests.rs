use candle_core::{DType, Device, Tensor};
use serde_json::{Value, json};

use super::*;
use crate::checkpoint::Weights;
use crate::checkpoint::tensors::{ExpertNames, FeedForwardNames, LayerNames};
use crate::model::tensor_reader::{Projection, TensorReader};

fn config(family: &str, changes: &Value) -> ModelConfig {
    let mut config = json!({
        "architectures": [family],
        "hidden_size": 24, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 8,
        "num_key_value_heads": 4, "head_dim": 8, "vocab_size": 40, "max_position_embeddings": 64, "rms_norm_eps": 1e-6,
        "rope_theta": 1e4, "eos_token_id": 0, "tie_word_embeddings": false, "hidden_act": "silu",
    });
    for (key, value) in changes.as_object().unwrap() {
        config[key] = value.clone();
    }
    ModelConfig::parse(&config.to_string(), "config.json").unwrap()
}

fn shards(count: usize) -> impl Iterator<Item = Shard> {
    (0..count).map(move |rank| Shard::new(rank, count))
}

fn read<T>(
    config: &ModelConfig,
    shard: Shard,
    read: impl FnOnce(&TensorReader, &LayerNames) -> T,
) -> T {
    let reader = TensorReader {
        config: &shard.config(config).unwrap(),
        shard,
        weights: &Weights::random(config, 3),
        device: &Device::Cpu,
        compute: DType::F32,
        norms: DType::F32,
        matrices: Some(DType::F32),
    };
    read(&reader, &LayerNames::new(config, 0))
}

fn numbers(tensor: &Tensor) -> Vec<Vec<f32>> {
    tensor.to_vec2().unwrap()
}

/// The rows of each part, by the sizes of its pieces, back in the order of the whole.
fn joined(parts: &[Tensor], pieces: &[usize]) -> Vec<Vec<f32>> {
    let mut rows = Vec::new();
    let mut first = 0;
    for size in pieces {
        for part in parts {
            rows.extend_from_slice(&numbers(part)[first..first + size]);
        }
        first += size;
    }
    rows
}

#[test]
fn ranges_are_of_pieces_side_by_side() {
    let second = Shard::new(1, 2);
    assert_eq!(second.outputs(&[4, 2, 2]), [4..8, 10..12, 14..16]);
    assert_eq!(
        second.part_of_each(&[0, 1, 2, 3, 4, 5, 6, 7], 2),
        [2, 3, 6, 7]
    );
    assert_eq!(Shard::WHOLE.outputs(&[4, 2]), [0..4, 4..6]);
}

#[test]
fn sizes_that_do_not_divide_are_refused_with_those_that_do() {
    let config = config("Qwen3ForCausalLM", &json!({}));
    let four = Shard::new(3, 4).config(&config).unwrap();
    assert_eq!(
        (four.heads, four.kv_heads, four.intermediate, four.hidden),
        (2, 1, 16, 24)
    );
    let why = |count| {
        Shard::new(0, count)
            .config(&config)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        why(3),
        "--tensor-parallel 3: the model has 8 attention heads, which do not divide among 3 GPUs; it can be divided among 1, 2, 4"
    );
    assert!(why(8).contains("4 heads of keys and values"), "{}", why(8));
    let odd = ModelConfig {
        intermediate: 63,
        ..config
    };
    let why = Shard::new(0, 2).config(&odd).unwrap_err().to_string();
    assert!(
        why.contains("63 numbers in a feed-forward layer") && why.ends_with("among 1"),
        "{why}"
    );
}

#[test]
fn norms_of_all_heads_together_are_refused_by_name() {
    let config = config("Olmo2ForCausalLM", &json!({}));
    let why = Shard::new(0, 2).config(&config).unwrap_err().to_string();
    assert!(
        why.starts_with("--tensor-parallel 2: Olmo2 norms the queries and keys of all heads"),
        "{why}"
    );
    assert!(Shard::WHOLE.config(&config).is_ok());
}

/// Also by a dry run, and where possible numbers of GPUs are named.
#[test]
fn recurrent_layers_and_gated_heads_are_refused_by_name() {
    let recurrent = json!({"num_hidden_layers": 2, "full_attention_interval": 2, "linear_conv_kernel_dim": 4, "linear_num_key_heads": 2,
        "linear_num_value_heads": 4, "linear_key_head_dim": 32, "linear_value_head_dim": 32});
    let mut config = config("Qwen3_5ForCausalLM", &recurrent);
    let why = |config: &ModelConfig| Shard::new(0, 2).config(config).unwrap_err().to_string();
    let first = why(&config);
    assert!(
        first.starts_with("--tensor-parallel 2: Qwen3_5 has recurrent layers")
            && first.ends_with("leave it out"),
        "{first}"
    );
    assert!(Shard::WHOLE.config(&config).is_ok());
    config.recurrent = None;
    let second = why(&config);
    assert!(
        second.contains("gates of heads, which are not divided"),
        "{second}"
    );
}

/// Layers of two shapes, dense layers before experts, and an expert for every token are divided too.
#[test]
fn whatever_has_a_width_is_divided() {
    let gemma = |changes: &Value| {
        let mut all = json!({"num_hidden_layers": 2, "layer_types": ["sliding_attention", "full_attention"], "sliding_window": 8,
            "global_head_dim": 16, "num_global_key_value_heads": 2, "attention_k_eq_v": true, "hidden_size_per_layer_input": 0,
            "hidden_activation": "gelu_pytorch_tanh", "hidden_act": null, "rope_theta": null, "tie_word_embeddings": true});
        for (key, value) in changes.as_object().unwrap() {
            all[key] = value.clone();
        }
        config("Gemma4ForCausalLM", &all)
    };
    let dense = gemma(&json!({}));
    let half = Shard::new(1, 2).config(&dense).unwrap();
    let sizes = |layer: usize| {
        let own = half.at(layer);
        (own.heads, own.kv_heads, own.head_dim)
    };
    assert_eq!(
        (sizes(0), sizes(1), half.intermediate),
        ((4, 2, 8), (4, 1, 16), 32)
    );
    let why = Shard::new(0, 4).config(&dense).unwrap_err().to_string();
    assert!(
        why.contains("2 heads of keys in layers without windows") && why.ends_with("among 1, 2"),
        "{why}"
    );
    let beside = json!({"enable_moe_block": true, "num_experts": 4, "top_k_experts": 2, "moe_intermediate_size": 8});
    let why = Shard::new(0, 2).config(&gemma(&beside)).unwrap_err();
    assert!(
        why.to_string().contains("of experts and of a dense layer"),
        "{why}"
    );
    let glm = json!({"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8, "n_shared_experts": 3,
        "first_k_dense_replace": 1, "num_hidden_layers": 2, "num_nextn_predict_layers": 0});
    let half = Shard::new(0, 2)
        .config(&config("Glm4MoeForCausalLM", &glm))
        .unwrap();
    let experts = half.experts.unwrap();
    assert_eq!(
        (experts.intermediate, experts.shared, half.intermediate),
        (4, Some(12), 32)
    );
}

/// Parts of what is stored apart (Qwen2, with biases) and together (Phi-3) are the rows and columns of the whole.
#[test]
fn parts_of_dense_layers_are_the_whole() {
    for family in ["Qwen2ForCausalLM", "Phi3ForCausalLM"] {
        let config = config(family, &json!({"head_dim": null, "hidden_size": 64}));
        let all = |shard| {
            read(&config, shard, |reader, names| {
                reader.qkv(&names.qkv).unwrap()
            })
        };
        let parts: Vec<Projection> = shards(2).map(all).collect();
        let (weight, bias) = all(Shard::WHOLE);
        let pieces = [4, 2, 2].map(|heads| heads * config.head_dim);
        let weights: Vec<Tensor> = parts.iter().map(|(weight, _)| weight.clone()).collect();
        assert_eq!(joined(&weights, &pieces), numbers(&weight), "{family}");
        assert_eq!(bias.is_some(), parts[1].1.is_some());
        let gated = |shard| {
            read(&config, shard, |reader, names| {
                let FeedForwardNames::Dense(names) = &names.feed_forward else {
                    panic!("experts");
                };
                reader.gated(names).unwrap()
            })
        };
        let parts: Vec<_> = shards(4).map(gated).collect();
        let ((wide, _), (narrow, _)) = gated(Shard::WHOLE);
        let wides: Vec<Tensor> = parts.iter().map(|((wide, _), _)| wide.clone()).collect();
        assert_eq!(joined(&wides, &[16, 16]), numbers(&wide), "{family}");
        let narrows: Vec<Tensor> = parts
            .iter()
            .map(|(_, (narrow, _))| narrow.clone())
            .collect();
        assert_eq!(
            numbers(&Tensor::cat(&narrows, 1).unwrap()),
            numbers(&narrow),
            "{family}"
        );
    }
}

/// Gates and ups that alternate; the bias of what is summed is added once.
#[test]
fn parts_of_experts_are_the_whole() {
    let changes = json!({
        "num_local_experts": 3, "num_experts_per_tok": 2, "attention_bias": true, "sliding_window": 8,
        "rope_scaling": {
            "rope_type": "yarn", "factor": 4.0, "truncate": false, "original_max_position_embeddings": 16,
        },
    });
    let config = config("GptOssForCausalLM", &changes);
    let expert = |shard: Shard| {
        read(&config, shard, |reader, names| {
            let FeedForwardNames::Mixture(names) = &names.feed_forward else {
                panic!("no experts");
            };
            let ExpertNames::Together { gate_up, down } = &names.experts else {
                panic!("no experts in one tensor");
            };
            let sizes = reader.config.experts.unwrap();
            reader.expert(gate_up, down, &sizes, 2).unwrap()
        })
    };
    let parts: Vec<_> = shards(2).map(expert).collect();
    let ((wide, _), (narrow, _)) = expert(Shard::WHOLE);
    let wides: Vec<Tensor> = parts.iter().map(|((wide, _), _)| wide.clone()).collect();
    assert_eq!(joined(&wides, &[32, 32]), numbers(&wide));
    let narrows: Vec<Tensor> = parts
        .iter()
        .map(|(_, (narrow, _))| narrow.clone())
        .collect();
    assert_eq!(
        numbers(&Tensor::cat(&narrows, 1).unwrap()),
        numbers(&narrow)
    );
    let zeros = parts[1].1.1.as_ref().unwrap().to_vec1::<f32>().unwrap();
    assert!(zeros.iter().all(|number| number.abs() < f32::MIN_POSITIVE));
}

#[test]
fn codes_are_cut_between_their_factors() {
    use crate::checkpoint::weights::{CodeKind, Codes};
    let codes = Codes {
        kind: CodeKind::Int4,
        shape: [2, 96],
        codes: (0..192).collect(),
        factors: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    };
    let part = codes.some_inputs(&(32..96)).unwrap();
    assert_eq!(
        (part.shape, part.factors.as_slice()),
        ([2, 64], &[2.0, 3.0, 5.0, 6.0][..])
    );
    assert_eq!(
        (part.codes[0], part.codes[64], part.codes[127]),
        (32, 128, 191)
    );
    assert_eq!(codes.some_inputs(&(16..96)), None);
    let same = Codes {
        factors: vec![7.0; 6],
        ..codes
    };
    assert_eq!(same.some_inputs(&(48..96)).unwrap().factors, [7.0; 4]);
}
