//! Which of a repository's files a judge needs, and which repositories hold nothing it can use.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::Fault;
use crate::layout::{self, CONFIG_FILE, WEIGHTS_FILE, WEIGHTS_INDEX, is_gguf, pickled};
use crate::name::{FileName, HubId};

/// The files besides the weights, with spaces between them.
pub(crate) const DESCRIPTION: &str = "config.json generation_config.json tokenizer.json tokenizer_config.json chat_template.jinja \
    chat_template.json special_tokens_map.json judge.json";

/// Refuses a repository that has no checkpoint for this program.
pub(crate) fn check(id: &HubId, files: &BTreeSet<String>) -> Result<(), Fault> {
    let refuse = |message: String| {
        Err(Fault::NoCheckpoint {
            id: id.repository().into(),
            revision: id.revision().into(),
            message,
        })
    };
    let named = id.files();
    if let Some(absent) = named.iter().find(|file| !files.contains(file.as_str())) {
        let others = files.iter().filter(|file| is_gguf(Path::new(file)));
        let others: Vec<&str> = others.map(String::as_str).collect();
        return refuse(match others.as_slice() {
            [] => format!("has no file {absent}, and no other GGUF file"),
            others => format!(
                "has no file {absent}; its GGUF files are {}",
                others.join(", ")
            ),
        });
    }
    if !named.is_empty() {
        return Ok(());
    }
    let with_ending = |ending: &str| files.iter().find(|file| file.ends_with(ending));
    if files.contains(layout::SENTENCE_TRANSFORMERS) {
        return refuse(format!(
            "is {}: {}",
            layout::EMBEDDING,
            layout::TAKE_A_CHAT_MODEL
        ));
    }
    if files.contains(WEIGHTS_FILE) || files.contains(WEIGHTS_INDEX) {
        return if files.contains(CONFIG_FILE) {
            Ok(())
        } else {
            refuse("has weights but no config.json: it is not a checkpoint that Hugging Face transformers reads".into())
        };
    }
    if let Some(file) = pickled(files.iter().map(String::as_str)) {
        return refuse(format!(
            "holds pickled weights only ({file}). {}",
            layout::how_to_convert(id.repository())
        ));
    }
    if let Some(file) = with_ending(".gguf").filter(|file| file.contains('/')) {
        return refuse(format!(
            "holds GGUF files in folders: download one of them (for instance {file}) and give its path to --model"
        ));
    }
    if let Some(file) = with_ending(".gguf") {
        let name = format!("--model {}/{file}", id.repository());
        return refuse(format!("holds GGUF files: name one of them, as in {name}"));
    }
    if let Some(file) = with_ending("adapter_model.safetensors") {
        return refuse(format!(
            "holds an adapter only ({file}): put its files into a folder (`hf download {} --local-dir adapter`) and give that \
             with --adapter, beside --model with the model that it was trained on",
            id.repository()
        ));
    }
    refuse(format!(
        "has neither {WEIGHTS_FILE} nor {WEIGHTS_INDEX}: there are no weights to run"
    ))
}

/// The files that describe a model, present or not.
pub(crate) fn description(files: &BTreeSet<String>) -> Vec<FileName> {
    let index = (!files.contains(WEIGHTS_FILE)).then_some(WEIGHTS_INDEX);
    let names = DESCRIPTION.split(' ').chain(index);
    names.filter_map(FileName::parse).collect()
}

/// The weight files of a snapshot whose description was fetched.
///
/// # Errors
/// [`Fault::Index`] for a shard index that names anything but Safetensors files beside it, or shards that the repository
/// does not have.
pub(crate) fn weights(snapshot: &Path, files: &BTreeSet<String>) -> Result<Vec<FileName>, Fault> {
    if files.contains(WEIGHTS_FILE) {
        return Ok(FileName::parse(WEIGHTS_FILE).into_iter().collect());
    }
    let fail = |message: String| Fault::Index {
        path: snapshot.join(WEIGHTS_INDEX),
        message,
    };
    let parse = |shard: String| match FileName::parse(&shard) {
        Some(name) if shard.ends_with(".safetensors") && files.contains(&shard) => Ok(name),
        Some(_) if shard.ends_with(".safetensors") => Err(fail(format!(
            "shard {shard} is not in the repository: it is incomplete"
        ))),
        _ => Err(fail(format!(
            "shard `{shard}` is not a Safetensors file in the same folder"
        ))),
    };
    let shards = layout::weight_files(snapshot)?;
    shards.into_iter().map(parse).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(files: &[&str]) -> Option<String> {
        let id = HubId::parse("org/name").unwrap().unwrap();
        let files = files.iter().map(|&file| file.to_owned()).collect();
        check(&id, &files).err().map(|error| error.to_string())
    }

    #[test]
    fn a_repository_must_hold_a_checkpoint() {
        for whole in [
            &["config.json", "model.safetensors", "pytorch_model.bin"][..],
            &["config.json", "model.safetensors.index.json"],
        ] {
            assert_eq!(refusal(whole), None);
        }
        for (files, parts) in [
            (&["model.safetensors"][..], &["config.json"][..]),
            (
                &["config.json", "pytorch_model-00001-of-00002.bin"],
                &[
                    "pytorch_model-00001-of-00002.bin",
                    "save_pretrained",
                    "org/name",
                ],
            ),
            (&["config.json", "training_args.bin"], &["no weights"]),
            (
                &["README.md", "model.Q4_K_M.gguf"],
                &["--model org/name/model.Q4_K_M.gguf"],
            ),
            (&["Q4_K_M/model.gguf"], &["Q4_K_M/model.gguf", "its path"]),
            (
                &["adapter_config.json", "adapter_model.safetensors"],
                &["adapter", "hf download org/name", "--adapter"],
            ),
            (
                &["config.json", "model.safetensors", "modules.json"],
                &["an embedding model", "chat model"],
            ),
            (&[], &["model.safetensors"]),
        ] {
            let message = refusal(files).unwrap();
            for part in parts {
                assert!(message.contains(part), "`{part}` is not in: {message}");
            }
        }
    }
}
