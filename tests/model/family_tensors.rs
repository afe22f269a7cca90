//! Tensors that a family needs, in the shapes that it needs them in: any other is one error that names it.

use std::collections::HashMap;

use candle_core::{DType, Device, Tensor};

use crate::llama_cpp::{data, load, logits};
use crate::recurrent::{changed, refusal};

type Tensors = HashMap<String, Tensor>;

fn zeros(shape: &[usize]) -> Tensor {
    Tensor::zeros(shape, DType::BF16, &Device::Cpu).unwrap()
}

#[test]
fn tensors_that_do_not_fit_the_configuration_are_named() {
    let layer = "model.layers.1";
    let misshapen: [(&str, &str, &[usize], &str); 8] = [
        ("olmo2", "self_attn.q_norm.weight", &[8], "says [32]"),
        ("exaone4", "self_attn.k_norm.weight", &[16], "says [8]"),
        (
            "glm4_moe",
            "mlp.experts.3.down_proj.weight",
            &[32, 24],
            "says [32, 20]",
        ),
        (
            "glm4_moe",
            "mlp.gate.e_score_correction_bias",
            &[5],
            "says [6]",
        ),
        (
            "glm4_moe",
            "mlp.shared_experts.up_proj.weight",
            &[20, 32],
            "says [40, 32]",
        ),
        ("minimax_m2", "self_attn.k_norm.weight", &[16], "says [32]"),
        (
            "mixtral",
            "block_sparse_moe.experts.2.w1.weight",
            &[32, 24],
            "says [24, 32]",
        ),
        ("seed_oss", "self_attn.v_proj.bias", &[64], "says [32]"),
    ];
    for (name, tensor, shape, says) in misshapen {
        let tensor = format!("{layer}.{tensor}");
        let folder = changed(name, |tensors| {
            assert!(tensors.insert(tensor.clone(), zeros(shape)).is_some());
        });
        let error = refusal(folder.path());
        assert!(
            error.contains(&tensor) && error.contains(says),
            "{name}: {error}"
        );
    }
    for (name, tensor) in [
        ("olmo3", "post_feedforward_layernorm.weight"),
        ("hunyuan", "self_attn.key_layernorm.weight"),
        ("glm4_moe", "mlp.gate.e_score_correction_bias"),
        ("glm4_moe", "self_attn.q_norm.weight"),
        ("minimax_m2", "block_sparse_moe.experts.5.w3.weight"),
        ("mixtral", "block_sparse_moe.gate.weight"),
        ("ernie4_5", "mlp.down_proj.bias"),
    ] {
        let tensor = format!("{layer}.{tensor}");
        let folder = changed(name, |tensors| assert!(tensors.remove(&tensor).is_some()));
        let error = refusal(folder.path());
        assert!(
            error.contains(&format!("missing: {tensor}")),
            "{name}: {error}"
        );
    }
    // A norm before attention where the family has none, a dense layer where there are experts, and a layer too many.
    for (name, tensor, expected) in [
        ("olmo2", "layers.0.input_layernorm.weight", true),
        ("glm4_moe", "layers.1.mlp.gate_proj.weight", true),
        ("glm4_moe", "layers.3.eh_proj.weight", true),
        ("smollm3", "layers.1.self_attn.q_proj.bias", true),
        // What guesses a token ahead is passed over.
        ("glm4_moe", "layers.2.eh_proj.weight", false),
    ] {
        let tensor = format!("model.{tensor}");
        let folder = changed(name, |tensors| {
            drop(tensors.insert(tensor.clone(), zeros(&[32])));
        });
        let error = refusal(folder.path());
        let named = error.contains(&format!("not expected: {tensor}"));
        assert_eq!(
            (named, error.is_empty()),
            (expected, !expected),
            "{name}: {error}"
        );
    }
}

#[test]
fn experts_of_another_number_than_a_file_says_are_named() {
    let folder = tempfile::tempdir().unwrap();
    for (name, key) in [
        ("mixtral", "llama.expert_count"),
        ("glm4moe", "glm4moe.expert_count"),
    ] {
        let mut bytes = std::fs::read(data(&format!("gguf/{name}.gguf"))).unwrap();
        let mut places = bytes.windows(key.len());
        let at = places.position(|window| window == key.as_bytes()).unwrap();
        // After the key comes the value's type, of four bytes.
        bytes[at + key.len() + 4] += 1;
        let path = folder.path().join("more.gguf");
        std::fs::write(&path, bytes).unwrap();
        let error = refusal(&path);
        assert!(
            error.contains("ffn_down_exps.weight") || error.contains(".experts."),
            "{error}"
        );
    }
}

/// Puts inputs before outputs in every tensor of experts, as the makers' files have it.
fn transpose(tensors: &mut Tensors) {
    for (name, tensor) in tensors.iter_mut() {
        if name.contains(".experts.") {
            *tensor = tensor.transpose(1, 2).unwrap().contiguous().unwrap();
        }
    }
}

#[test]
fn experts_may_be_stored_with_inputs_before_outputs() {
    let tokens: Vec<u32> = (0..30).map(|at| at * 11 % 53).collect();
    let name = "qwen3-vl-moe";
    let bits = |path| logits(&load(path, None), &tokens, 30);
    let folder = changed(name, transpose);
    assert_eq!(bits(folder.path()), bits(&data("checkpoints/qwen3-vl-moe")));
    // One of the two alone is of another shape.
    let tensor = "model.language_model.layers.0.mlp.experts.down_proj";
    let folder = changed(name, |tensors| {
        let down = tensors[tensor].clone();
        transpose(tensors);
        tensors.insert(tensor.into(), down);
    });
    let error = refusal(folder.path());
    let named = "model.layers.0.mlp.experts.down_proj has the shape [4, 32, 24], not [4, 24, 32]";
    assert!(error.contains(named), "{error}");
}

#[test]
fn joined_projections_of_another_shape_are_named() {
    let tensor = "model.layers.0.linear_attn.in_proj_ba.weight";
    let folder = changed("qwen3_next", |tensors| {
        drop(tensors.insert(tensor.into(), zeros(&[4, 32])));
    });
    let error = refusal(folder.path());
    assert!(
        error.contains(&format!("{tensor} is [4, 32], config.json says [8, 32]")),
        "{error}"
    );
}
