//! Which of a repository's files a judge needs, and which repositories hold nothing it can use.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::Fault;
use crate::layout::{self, CONFIG_FILE, WEIGHTS_FILE, WEIGHTS_INDEX, is_gguf, pickled};
use crate::name::{FileName, HubId};

/// Everything but the weights.
pub(crate) const DESCRIPTION: [&str; 7] = [
    CONFIG_FILE,
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "chat_template.jinja",
    "special_tokens_map.json",
    "judge.json",
];

/// Refuses a repository whose files are no checkpoint for this program.
pub(crate) fn check(id: &HubId, files: &BTreeSet<String>) -> Result<(), Fault> {
    let refuse = |message: String| {
        Err(Fault::NoCheckpoint {
            id: id.repository().into(),
            revision: id.revision().into(),
            message,
        })
    };
    if let Some(absent) = id
        .files()
        .iter()
        .find(|file| !files.contains(file.as_str()))
    {
        let others: Vec<&str> = files
            .iter()
            .map(String::as_str)
            .filter(|file| is_gguf(Path::new(file)))
            .collect();
        return refuse(match others.as_slice() {
            [] => format!("has no file {absent}, and no other GGUF file"),
            others => format!(
                "has no file {absent}; its GGUF files are {}",
                others.join(", ")
            ),
        });
    }
    if !id.files().is_empty() {
        return Ok(());
    }
    let with_ending = |ending: &str| {
        let files = files.iter().map(String::as_str);
        let mut matching = files.filter(|file| file.ends_with(ending));
        matching.next().map(str::to_owned)
    };
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
    if let Some(file) = with_ending(".gguf") {
        return refuse(if file.contains('/') {
            format!(
                "holds GGUF files in folders: download one of them (for instance {file}) and give its path to --model"
            )
        } else {
            format!(
                "holds GGUF files: name one of them, as in --model {}/{file}",
                id.repository()
            )
        });
    }
    if let Some(file) = with_ending("adapter_model.safetensors") {
        return refuse(format!(
            "holds an adapter only ({file}). {}",
            layout::how_to_merge(id.repository(), None)
        ));
    }
    refuse(format!(
        "has neither {WEIGHTS_FILE} nor {WEIGHTS_INDEX}: there are no weights to run"
    ))
}

/// The files that describe a model, whether it has them or not.
pub(crate) fn description(files: &BTreeSet<String>) -> Vec<FileName> {
    let index = (!files.contains(WEIGHTS_FILE)).then_some(WEIGHTS_INDEX);
    DESCRIPTION
        .into_iter()
        .chain(index)
        .filter_map(FileName::parse)
        .collect()
}

/// The weight files of a snapshot whose description has come.
///
/// # Errors
/// [`Fault::Index`] for a shard index that names anything but Safetensors files beside it, or shards that the repository does
/// not have.
pub(crate) fn weights(snapshot: &Path, files: &BTreeSet<String>) -> Result<Vec<FileName>, Fault> {
    if files.contains(WEIGHTS_FILE) {
        return Ok(FileName::parse(WEIGHTS_FILE).into_iter().collect());
    }
    let fail = |message: String| Fault::Index {
        path: snapshot.join(WEIGHTS_INDEX),
        message,
    };
    let mut shards = Vec::new();
    for shard in layout::weight_files(snapshot)? {
        let name = FileName::parse(&shard)
            .filter(|name| name.as_str().ends_with(".safetensors"))
            .ok_or_else(|| {
                fail(format!(
                    "shard `{shard}` is not a Safetensors file in the same folder"
                ))
            })?;
        if !files.contains(name.as_str()) {
            return Err(fail(format!(
                "shard {name} is not in the repository: it is incomplete"
            )));
        }
        shards.push(name);
    }
    Ok(shards)
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
        assert_eq!(
            refusal(&["config.json", "model.safetensors", "pytorch_model.bin"]),
            None
        );
        assert_eq!(
            refusal(&["config.json", "model.safetensors.index.json"]),
            None
        );
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
                &["adapter", "merge_and_unload", "org/name"],
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
