//! A model's files in the hub's layout: their names, the index of shards, and advice for those that cannot be run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};

use serde::Deserialize;

use crate::error::Fault;

/// The file that describes a model.
pub const CONFIG_FILE: &str = "config.json";
/// Weights in one file.
pub const WEIGHTS_FILE: &str = "model.safetensors";
/// The index of weights in several files.
pub const WEIGHTS_INDEX: &str = "model.safetensors.index.json";
/// The description of an adapter by peft.
pub const ADAPTER_CONFIG: &str = "adapter_config.json";
/// Its weights.
pub const ADAPTER_WEIGHTS: &str = "adapter_model.safetensors";
/// The list of modules by sentence-transformers: the last ones pool hidden states into one vector.
pub const SENTENCE_TRANSFORMERS: &str = "modules.json";

/// What a folder with sentence-transformers' files is, for messages.
pub const EMBEDDING: &str =
    "an embedding model of sentence-transformers (modules.json), which gives vectors";
/// What to use in place of a model that writes no text, for messages.
pub const TAKE_A_CHAT_MODEL: &str = "a judge must write its verdict as text, so take a chat model instead, for instance one that \
     `juror models list --known` shows";

/// The longest index that is read, in bytes.
const MAX_INDEX: u64 = 128 << 20;

/// Extensions of files that hold pickled Python objects.
const PICKLED: [&str; 5] = ["bin", "pt", "pth", "ckpt", "pkl"];

/// Whether it is a GGUF file, by its name.
pub fn is_gguf(path: &Path) -> bool {
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("gguf"))
}

/// The shard that each tensor of an index is in.
///
/// # Errors
/// What is wrong with the index, as text for the user.
pub fn parse_index(text: &str) -> Result<BTreeMap<String, String>, String> {
    #[derive(Deserialize)]
    struct Index {
        weight_map: BTreeMap<String, String>,
    }
    if text.starts_with("version https://git-lfs") {
        return Err("a Git LFS pointer, not the file itself".to_owned());
    }
    let index: Index =
        serde_json::from_str(text).map_err(|error| format!("not a shard index: {error}"))?;
    // Shards are plain names in the same folder; a foreign index must not reach other files.
    for file in index.weight_map.values() {
        let mut parts = Path::new(file).components();
        let plain = matches!(
            (parts.next(), parts.next()),
            (Some(Component::Normal(_)), None)
        );
        if !plain || file.contains('\\') || file.contains(':') {
            return Err(format!("shard `{file}` is not a plain file name"));
        }
    }
    Ok(index.weight_map)
}

/// The names of the weight files of a model's folder, in a fixed order.
pub(crate) fn weight_files(folder: &Path) -> Result<Vec<String>, Fault> {
    let index = folder.join(WEIGHTS_INDEX);
    if folder.join(WEIGHTS_FILE).is_file() || !index.is_file() {
        return Ok(vec![WEIGHTS_FILE.into()]);
    }
    let fail = |message: String| Fault::Index {
        path: index.clone(),
        message,
    };
    let size = index.metadata().map_or(0, |data| data.len());
    if size > MAX_INDEX {
        return Err(fail(format!("{size} bytes are too many for an index")));
    }
    let text = std::fs::read_to_string(&index).map_err(|source| fail(source.to_string()))?;
    let files: BTreeSet<String> = parse_index(&text).map_err(fail)?.into_values().collect();
    Ok(files.into_iter().collect())
}

/// The first file with pickled weights.
pub fn pickled<'n>(files: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let is_pickled = |file: &&str| {
        let ending = Path::new(file).extension();
        ending.is_some_and(|ending| PICKLED.iter().any(|pickled| ending == *pickled))
    };
    let mut files = files.filter(|file| *file != "training_args.bin");
    files.find(is_pickled)
}

/// The first file with pickled weights in a folder.
pub fn pickled_in(folder: &Path) -> Option<String> {
    let entries = std::fs::read_dir(folder).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let names: Vec<String> = names.collect();
    pickled(names.iter().map(String::as_str)).map(str::to_owned)
}

/// What to do with pickled weights of `model`, a hub id or a folder.
pub fn how_to_convert(model: &str) -> String {
    format!(
        "Reading a pickle runs whatever code is in it, so juror never opens one. Convert it where that is no danger: \
         python -c \"from transformers import AutoModelForCausalLM as M, AutoTokenizer as T; \
         M.from_pretrained('{model}').save_pretrained('converted'); T.from_pretrained('{model}').save_pretrained('converted')\" \
         and give the folder `converted` to --model"
    )
}
