//! Recognises files that are given as a model but cannot judge: adapters, weight files without their folder, Git LFS
//! pointers, and models that write no text.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::checkpoint::CheckpointError;
use juror_hub::layout::{ADAPTER_CONFIG, TAKE_A_CHAT_MODEL, pickled};

/// The beginning of a Git LFS pointer (<https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md>).
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1";

/// Classes of `architectures` that write no text, or read more than text: a part of the name, and what they are.
const CLASSES: [(&str, &str); 15] = [
    ("ForSequenceClassification", REWARD),
    ("ForTokenClassification", REWARD),
    ("RewardModel", REWARD),
    ("ValueHead", REWARD),
    ("ForMaskedLM", ENCODER),
    ("BertModel", ENCODER),
    ("RobertaModel", ENCODER),
    ("ForQuestionAnswering", ENCODER),
    ("VLFor", VISION),
    ("VLMoeFor", VISION),
    ("VLChat", VISION),
    ("VL_", VISION),
    ("Vision", VISION),
    ("Llava", VISION),
    ("Whisper", "a speech model, which reads sound"),
];

const REWARD: &str = "a reward or classification model, which gives scores and writes no text";
const ENCODER: &str =
    "an embedding model or another encoder, which gives vectors and writes no text";
const VISION: &str = "a vision model, which reads images beside text";

/// What a checkpoint of an unsupported class is, as far as its configuration tells, and what to use instead.
pub(super) fn class(class: &str, config: impl Fn(&str) -> Option<Value>) -> Option<String> {
    let by_name = CLASSES.iter().find(|(part, _)| class.contains(part));
    let what = match by_name {
        Some((_, what)) => *what,
        None if config("vision_config").is_some() => VISION,
        None if config("is_encoder_decoder") == Some(true.into()) => {
            "an encoder-decoder model, which is not run here"
        }
        // `Qwen3Model`, `MistralModel` and similar: the layers without an output head.
        None if class.ends_with("Model") => ENCODER,
        None => return None,
    };
    let advice = if what == VISION {
        "take the text model of its family, or one that `juror models list --known` shows"
    } else {
        TAKE_A_CHAT_MODEL
    };
    Some(format!("{class} is {what}: {advice}"))
}

/// What a GGUF file with an unsupported architecture or with a pooling type is, and what to use instead.
pub(super) fn gguf(architecture: &str, pooled: bool) -> Option<String> {
    let any = |parts: &[&str]| parts.iter().any(|part| architecture.contains(part));
    let what = if pooled || any(&["bert", "t5encoder", "embedding"]) {
        ENCODER
    } else if any(&["vl", "clip", "mllama"]) {
        VISION
    } else {
        return None;
    };
    Some(format!(
        "architecture {architecture} is {what}: {TAKE_A_CHAT_MODEL}"
    ))
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

/// Refuses a folder with an adapter: one that is nothing else, or with `whole` one where it lies beside a whole model, since it
/// is unknown whether it is meant to be applied.
///
/// # Errors
/// [`CheckpointError::Unsupported`] if there is one.
pub(super) fn refuse_adapter(folder: &Path, whole: bool) -> Result<(), CheckpointError> {
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
///
/// # Errors
/// [`CheckpointError::Unsupported`] for one.
pub(super) fn refuse_pointer(path: &Path) -> Result<(), CheckpointError> {
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
