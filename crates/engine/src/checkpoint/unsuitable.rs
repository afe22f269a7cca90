//! Recognises files that are given as a model but cannot judge: adapters, weight files without their folder, Git LFS pointers, and models that write no text.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use super::gguf::header::TensorInfo;
use crate::checkpoint::{CheckpointError, Result};
use juror_hub::layout::{ADAPTER_CONFIG, TAKE_A_CHAT_MODEL, pickled};

/// The beginning of a Git LFS pointer (<https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>).
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1";

/// Classes of `architectures` that write no text, or read sound: parts of their names, and what they are.
const CLASSES: [(&str, &str); 3] = [
    (
        "ForSequenceClassification ForTokenClassification RewardModel ValueHead",
        "a reward or classification model, which gives scores and writes no text",
    ),
    (
        "ForMaskedLM BertModel RobertaModel ForQuestionAnswering",
        ENCODER,
    ),
    ("Whisper", "a speech model, which reads sound"),
];
/// Parts of the names of classes that read images.
const VISION_CLASSES: &str = "VLFor VLMoeFor VLChat VL_ Vision Llava";

const ENCODER: &str =
    "an embedding model or another encoder, which gives vectors and writes no text";
const VISION: &str = "a vision model of a family whose text part is not supported";

/// Families that are not supported: beginnings of their classes, their names in GGUF, what they are called, and whether they may be.
const FAMILIES: &str = include_str!("unsupported_families.tsv");

/// Judges that load, by billions of parameters: without experts, and with.
const JUDGES: &str = include_str!("judges_by_size.tsv");

/// What a checkpoint of an unsupported class is, as far as its configuration tells, and what to use instead.
pub(super) fn class(class: &str, config: &Value) -> Option<String> {
    // Scores and vectors come first: their families may be supported otherwise.
    let has = |parts: &str| parts.split(' ').any(|part| class.contains(part));
    if let Some((_, what)) = CLASSES.iter().find(|(parts, _)| has(parts)) {
        return Some(format!("{class} is {what}: {TAKE_A_CHAT_MODEL}"));
    }
    let text = config.get("text_config").unwrap_or(config);
    let instead = || instead(parameters(text), has_experts(text));
    let mut families = families();
    if let Some((_, _, name, state)) =
        families.find(|(classes, ..)| classes.split(' ').any(|start| class.starts_with(start)))
    {
        return Some(format!("{class} is {name}, {state}: {}", instead()));
    }
    if has(VISION_CLASSES) || config.get("vision_config").is_some() {
        return Some(format!("{class} is {VISION}: {}", instead()));
    }
    if config.get("is_encoder_decoder") == Some(&true.into()) {
        let what = "an encoder-decoder model, which is not run here";
        return Some(format!("{class} is {what}: {TAKE_A_CHAT_MODEL}"));
    }
    // `Qwen3Model`, `MistralModel` and similar: the layers without an output head.
    let encoder = class.ends_with("Model");
    encoder.then(|| format!("{class} is {ENCODER}: {TAKE_A_CHAT_MODEL}"))
}

/// What a GGUF file with an unsupported architecture or with a pooling type is, and what to use instead.
pub(super) fn gguf(
    architecture: &str,
    pooled: bool,
    tensors: &BTreeMap<String, TensorInfo>,
) -> Option<String> {
    let any = |parts: &[&str]| parts.iter().any(|part| architecture.contains(part));
    if pooled || any(&["bert", "t5encoder", "embedding"]) {
        return Some(format!(
            "architecture {architecture} is {ENCODER}: {TAKE_A_CHAT_MODEL}"
        ));
    }
    let mut families = families();
    let named = families.find(|(_, names, ..)| names.split(' ').any(|name| name == architecture));
    let what = match named {
        Some((.., name, state)) => format!("{name}, {state}"),
        None if any(&["vl", "clip", "mllama"]) => VISION.to_owned(),
        None => return None,
    };
    let numbers: usize = tensors
        .values()
        .map(|tensor| tensor.shape.iter().product::<usize>())
        .sum();
    let experts = tensors.keys().any(|name| name.contains("_exps."));
    let instead = instead(Some(numbers as f64), experts);
    Some(format!("architecture {architecture} is {what}: {instead}"))
}

/// Classes, names in GGUF, name, and whether it is not supported yet or will not be.
fn families() -> impl Iterator<Item = (&'static str, &'static str, &'static str, &'static str)> {
    FAMILIES.lines().filter_map(|line| {
        let mut cells = line.split('\t');
        let mut cell = || cells.next();
        let (classes, names, name) = (cell()?, cell()?, cell()?);
        let state = match cell()? {
            "yet" => "which is not supported yet",
            _ => "which will not be supported",
        };
        Some((classes, names, name, state))
    })
}

/// A judge of like size, with or without experts as that is; one of middling size if it is unknown.
fn instead(parameters: Option<f64>, experts: bool) -> String {
    let billions = parameters.unwrap_or(8e9) / 1e9;
    let rows = JUDGES.lines().filter_map(|line| {
        let mut cells = line.split('\t');
        let size: f64 = cells.next()?.parse().ok()?;
        let with_experts = cells.next()? == "experts";
        Some((size, with_experts, cells.next()?))
    });
    let apart = |size: f64| (size / billions).ln().abs();
    let nearest = rows
        .filter(|(_, with_experts, _)| *with_experts == experts)
        .min_by(|a, b| apart(a.0).total_cmp(&apart(b.0)));
    let (size, _, model) = nearest.unwrap_or((8.2, false, "Qwen/Qwen3-8B"));
    format!("a judge of like size that loads is {model} ({size} billion parameters)")
}

/// Roughly how many parameters a configuration describes.
fn parameters(config: &Value) -> Option<f64> {
    let number = |keys: &[&str]| keys.iter().find_map(|key| config.get(key)?.as_f64());
    let hidden = number(&["hidden_size"])?;
    let layers = number(&["num_hidden_layers"])?;
    let wide = number(&["intermediate_size"]).unwrap_or(4.0 * hidden);
    let experts = number(&EXPERTS).filter(|count| *count > 1.0);
    let feed_forward = match experts {
        Some(count) => count * number(&["moe_intermediate_size"]).unwrap_or(wide),
        None => wide,
    };
    let layer = hidden * (3.0 * hidden + 3.0 * feed_forward);
    Some(layers * layer + hidden * number(&["vocab_size"]).unwrap_or(0.0))
}

/// Keys for the number of experts.
const EXPERTS: [&str; 3] = ["num_experts", "num_local_experts", "n_routed_experts"];

fn has_experts(config: &Value) -> bool {
    let count = EXPERTS.iter().find_map(|key| config.get(key)?.as_u64());
    count.is_some_and(|count| count > 1)
}

/// The error for a file that was given as a model and is not a GGUF file; it says what the file is.
pub(super) fn file(path: &Path) -> CheckpointError {
    if let Err(error) = refuse_pointer(path) {
        return error;
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    if name.starts_with("adapter_model.")
        && let Err(error) = refuse_adapter(folder, false)
    {
        return error;
    }
    if pickled(std::iter::once(name.as_str())).is_some() {
        return CheckpointError::Pickled {
            folder: folder.into(),
            file: name,
        };
    }
    let what = if path
        .extension()
        .is_some_and(|ending| ending == "safetensors")
    {
        "is a file of weights alone"
    } else if begins_with(path, b"GGUF") {
        "is a GGUF file without the ending .gguf: rename it. Otherwise"
    } else {
        "is neither a folder nor a GGUF file"
    };
    CheckpointError::Unsupported(format!(
        "{}: {what}: --model takes the folder that holds config.json, tokenizer.json and all *.safetensors, as in \
         --model {}, or one GGUF file",
        path.display(),
        folder.display()
    ))
}

/// The error for a text file that a folder lacks; it says what is there in its place.
pub(super) fn missing(folder: &Path, file: &str) -> CheckpointError {
    if file != "tokenizer.json" || !folder.join(TEKKEN).is_file() {
        return CheckpointError::missing(folder, file);
    }
    CheckpointError::Unsupported(format!(
        "{}: its tokenizer is {TEKKEN} alone, the format of mistral-common, which is not read: put {file} and \
         tokenizer_config.json of the same model beside it (a repository with a conversion for transformers has them), or give \
         a GGUF file",
        folder.display()
    ))
}

/// The tokenizer of Mistral's newer repositories.
const TEKKEN: &str = "tekken.json";

/// Refuses a folder with an adapter: one that is nothing else, or with `whole` one where it lies beside a whole model, since it
/// is unknown whether it is meant to be applied.
pub(super) fn refuse_adapter(folder: &Path, whole: bool) -> Result<()> {
    let shown = folder.display();
    if !folder.join(ADAPTER_CONFIG).is_file() {
        return Ok(());
    }
    Err(CheckpointError::Unsupported(if whole {
        format!(
            "{shown}: a whole model and beside it an adapter ({ADAPTER_CONFIG}), which juror would not apply. To apply it, move \
             its files into a folder of their own and give that with --adapter; if the weights are merged already, move \
             {ADAPTER_CONFIG} out of the folder"
        )
    } else {
        format!(
            "{shown}: an adapter, not a whole model: give --model the model that it was trained on, and --adapter {shown}"
        )
    }))
}

/// Refuses a file that is a Git LFS pointer, which a clone leaves where Git LFS is not installed.
pub(super) fn refuse_pointer(path: &Path) -> Result<()> {
    if !begins_with(path, POINTER) {
        return Ok(());
    }
    Err(CheckpointError::Unsupported(format!(
        "{}: a Git LFS pointer, not the file itself, since the repository was cloned without Git LFS: run `git lfs install` and \
         `git lfs pull` in its folder, or let juror fetch the model (`juror models pull ORG/NAME`)",
        path.display()
    )))
}

/// Whether a file can be read and begins with these bytes.
fn begins_with(path: &Path, bytes: &[u8]) -> bool {
    let mut first = vec![0; bytes.len()];
    File::open(path).is_ok_and(|mut file| file.read_exact(&mut first).is_ok() && first == bytes)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{class, families};

    #[test]
    fn unsupported_families_are_named_with_a_judge_of_like_size() {
        for (name, config, parts) in [
            (
                "DeepseekV2ForCausalLM",
                json!({"hidden_size": 2048, "num_hidden_layers": 48, "num_experts": 512, "moe_intermediate_size": 512,
                    "vocab_size": 151_936}),
                ["DeepSeek, which will not be supported", "gpt-oss-120b"],
            ),
            (
                "Llama4ForConditionalGeneration",
                json!({"vision_config": {}, "text_config": {"hidden_size": 5376, "num_hidden_layers": 60,
                    "intermediate_size": 21504, "vocab_size": 262_144}}),
                ["Llama 4, which will not be supported", "Qwen/Qwen3-32B"],
            ),
            (
                "MiniMaxM3ForCausalLM",
                json!({}),
                ["which will not be supported", "Qwen/Qwen3-8B"],
            ),
            (
                "Qwen3_5ForSequenceClassification",
                json!({}),
                ["a reward or classification model", "take a chat model"],
            ),
        ] {
            let message = class(name, &config).unwrap();
            for part in parts {
                assert!(message.contains(part), "{message}: not {part}");
            }
        }
        assert_eq!(class("UnheardOfForCausalLM", &json!({})), None);
    }

    #[test]
    fn the_guide_lists_what_is_missing() {
        let page = include_str!("../../../../docs/guide/families.md");
        let rows = families().count();
        assert_eq!(rows, super::FAMILIES.lines().count());
        for (_, _, name, state) in families() {
            let missing = state.ends_with("yet");
            assert!(!missing || page.contains(name), "{name}");
        }
    }
}
