//! Models by name whose shape is known, so that their speed can be measured without a download.

use juror_engine::checkpoint::CheckpointError;
use juror_engine::checkpoint::ModelConfig;
use juror_engine::checkpoint::config::Quantization;

/// The names of `--synthetic`, each with the `config.json` keys that its makers publish.
pub(crate) const SHAPES: [(&str, &str); 6] = [
    (
        "qwen3-0.6b",
        r#"{"architectures": ["Qwen3ForCausalLM"], "vocab_size": 151936, "hidden_size": 1024, "intermediate_size": 3072,
            "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 8, "head_dim": 128,
            "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000, "tie_word_embeddings": true}"#,
    ),
    (
        "qwen3-4b",
        r#"{"architectures": ["Qwen3ForCausalLM"], "vocab_size": 151936, "hidden_size": 2560, "intermediate_size": 9728,
            "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
            "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000, "tie_word_embeddings": true}"#,
    ),
    (
        "qwen3-8b",
        r#"{"architectures": ["Qwen3ForCausalLM"], "vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 12288,
            "num_hidden_layers": 36, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
            "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000, "tie_word_embeddings": false}"#,
    ),
    (
        "qwen3-30b-a3b",
        r#"{"architectures": ["Qwen3MoeForCausalLM"], "vocab_size": 151936, "hidden_size": 2048, "intermediate_size": 6144,
            "num_hidden_layers": 48, "num_attention_heads": 32, "num_key_value_heads": 4, "head_dim": 128,
            "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": 768, "norm_topk_prob": true,
            "decoder_sparse_step": 1, "mlp_only_layers": [],
            "max_position_embeddings": 40960, "rms_norm_eps": 1e-6, "rope_theta": 1000000, "tie_word_embeddings": false}"#,
    ),
    (
        "llama-3.1-8b",
        r#"{"architectures": ["LlamaForCausalLM"], "vocab_size": 128256, "hidden_size": 4096, "intermediate_size": 14336,
            "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128,
            "max_position_embeddings": 131072, "rms_norm_eps": 1e-5, "rope_theta": 500000, "tie_word_embeddings": false,
            "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                             "original_max_position_embeddings": 8192}}"#,
    ),
    (
        "llama-3.3-70b",
        r#"{"architectures": ["LlamaForCausalLM"], "vocab_size": 128256, "hidden_size": 8192, "intermediate_size": 28672,
            "num_hidden_layers": 80, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
            "max_position_embeddings": 131072, "rms_norm_eps": 1e-5, "rope_theta": 500000, "tie_word_embeddings": false,
            "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                             "original_max_position_embeddings": 8192}}"#,
    ),
];

/// What follows a shape's name whose layers are stored in few bits, as its makers publish them too.
const STORED: [(&str, Quantization); 2] = [
    ("-fp8", Quantization::FP8_BLOCKS),
    ("-awq", Quantization::AWQ),
];

/// The configuration of a named shape, with `-fp8` or `-awq` stored so, or of a `config.json`.
///
/// # Errors
/// [`CheckpointError::UnknownShape`] with the names there are; the file's own error.
pub fn find(name: &str) -> Result<ModelConfig, CheckpointError> {
    let lower = name.to_lowercase();
    let stored = STORED
        .iter()
        .find_map(|(ending, stored)| Some((lower.strip_suffix(ending)?, *stored)));
    let (shape, quantization) = match stored {
        Some((shape, stored)) => (shape, Some(stored)),
        None => (lower.as_str(), None),
    };
    if let Some((_, text)) = SHAPES.iter().find(|(known, _)| *known == shape) {
        let mut config = ModelConfig::parse(text, name)?;
        config.quantization = quantization;
        return Ok(config);
    }
    match juror_data::read_text(std::path::Path::new(name)) {
        Ok(text) => ModelConfig::parse(&text, name),
        Err(_)
            if !name.contains(['/', '.', '\\'])
                || SHAPES.iter().any(|(shape, _)| shape.starts_with(name)) =>
        {
            Err(CheckpointError::UnknownShape {
                name: name.into(),
                known: SHAPES.map(|(shape, _)| shape).join(", ") + ", each with -fp8 or -awq",
            })
        }
        Err(source) => Err(CheckpointError::reading(name)(source)),
    }
}

#[cfg(test)]
mod tests {
    use super::{SHAPES, find};

    #[test]
    fn shapes_have_the_parameters_their_names_say() {
        // Published counts, in millions.
        let published = [596.0, 4022.0, 8191.0, 30_532.0, 8030.0, 70_554.0];
        for ((name, _), millions) in SHAPES.iter().zip(published) {
            let parameters = find(name).unwrap().parameters() as f64 / 1e6;
            assert!(
                (parameters - millions).abs() < 1.0,
                "{name} has {parameters} million"
            );
        }
        let stored = find("Qwen3-8B-AWQ").unwrap();
        assert_eq!(stored.hidden, find("qwen3-8b").unwrap().hidden);
        assert!(stored.quantization.is_some());
        let active = find("qwen3-30b-a3b").unwrap().active_layer_parameters() as f64 / 1e9;
        assert!((2.6..3.3).contains(&active), "{active}");
    }

    #[test]
    fn an_unknown_shape_lists_the_known_and_a_missing_file_is_named() {
        assert!(find("qwen9").unwrap_err().to_string().contains("qwen3-8b"));
        let message = find("no/such/config.json").unwrap_err().to_string();
        assert!(message.contains("no/such/config.json"));
    }
}
