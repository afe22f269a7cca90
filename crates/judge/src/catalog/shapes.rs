//! Models by name whose shape is known, so that their speed can be measured without a download.

use juror_engine::checkpoint::CheckpointError;
use juror_engine::checkpoint::ModelConfig;
use juror_engine::checkpoint::config::Quantization;

/// The names of `--synthetic`, each with the `config.json` keys that its makers publish.
pub(crate) fn shapes() -> impl Iterator<Item = (&'static str, &'static str)> {
    crate::rows(include_str!("shapes.tsv"))
}

/// What follows a shape's name whose layers are stored in few bits, as its makers publish them too.
const STORED: [(&str, Quantization); 2] = [
    ("-fp8", Quantization::FP8_BLOCKS),
    ("-awq", Quantization::AWQ),
];

/// The configuration of a named shape, with `-fp8` or `-awq` stored so, or of a `config.json`.
/// Errors: [`CheckpointError::UnknownShape`] with the names there are; the file's own error.
pub fn find(name: &str) -> Result<ModelConfig, CheckpointError> {
    let lower = name.to_lowercase();
    let stored = STORED
        .iter()
        .find_map(|(ending, stored)| Some((lower.strip_suffix(ending)?, *stored)));
    let (shape, quantization) = match stored {
        Some((shape, stored)) => (shape, Some(stored)),
        None => (lower.as_str(), None),
    };
    if let Some((_, text)) = shapes().find(|(known, _)| *known == shape) {
        let mut config = ModelConfig::parse(text, name)?;
        config.quantization = quantization;
        return Ok(config);
    }
    match juror_data::read_text(std::path::Path::new(name)) {
        Ok(text) => ModelConfig::parse(&text, name),
        Err(_)
            if !name.contains(['/', '.', '\\'])
                || shapes().any(|(shape, _)| shape.starts_with(name)) =>
        {
            let known: Vec<&str> = shapes().map(|(shape, _)| shape).collect();
            Err(CheckpointError::UnknownShape {
                name: name.into(),
                known: known.join(", ") + ", each with -fp8 or -awq",
            })
        }
        Err(source) => Err(CheckpointError::reading(name)(source)),
    }
}

#[cfg(test)]
mod tests {
    use super::{find, shapes};

    #[test]
    fn shapes_have_the_parameters_their_names_say() {
        // Published counts, in millions.
        let published = [596.0, 4022.0, 8191.0, 30_532.0, 8030.0, 70_554.0];
        for ((name, _), millions) in shapes().zip(published) {
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
