//! What belongs to a folder's `tokenizer_config.json` and lies in files beside it.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{CheckpointError, ModelSource, Result};
use crate::text::chat_template::tokenizer_config::SPECIAL_TOKENS;

/// Where transformers puts templates that have names.
const NAMED: &str = "additional_chat_templates";

/// The text of `tokenizer_config.json` with what transformers adds to it. The tokens of `special_tokens_map.json` count where there is no
/// `added_tokens_decoder`. A template is in `chat_template.json` where an older processor has saved it, or one of those with names.
pub(super) fn completed(folder: &Path, text: String) -> Result<String> {
    let source = ModelSource::Folder(folder.into());
    // What is no JSON is an error where it is used.
    let Ok(mut config) = serde_json::from_str::<Map<String, Value>>(&text) else {
        return Ok(text);
    };
    let object = |file: &str| -> Result<Map<String, Value>> {
        if !source.has(file) {
            return Ok(Map::new());
        }
        serde_json::from_str(&source.read_text(file)?)
            .map_err(|error| CheckpointError::reading(source.describe(file))(error.into()))
    };
    let mut more = Map::new();
    if !config.contains_key("added_tokens_decoder") {
        more = object("special_tokens_map.json")?;
        // Only what is read, and is otherwise there: the text is part of a model's identity.
        let is_read = |key: &String| SPECIAL_TOKENS.split(' ').any(|name| name == key);
        let own = |key: &String| text_of(config.get(key).unwrap_or(&Value::Null));
        more.retain(|key, token| is_read(key) && own(key) != text_of(token));
    }
    let is_there = config.get("chat_template").is_some_and(|it| !it.is_null());
    if !is_there && !source.has("chat_template.jinja") {
        more.extend(object("chat_template.json")?.remove_entry("chat_template"));
        if !more.contains_key("chat_template") {
            let entries = folder.join(NAMED).read_dir().into_iter().flatten();
            let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
            let mut named = Vec::new();
            for file in names {
                if let Some(name) = file.strip_suffix(".jinja") {
                    let template = source.read_text(&format!("{NAMED}/{file}"))?;
                    named.push(json!({"name": name, "template": template}));
                }
            }
            named.sort_by_key(Value::to_string);
            more.extend((!named.is_empty()).then(|| ("chat_template".into(), named.into())));
        }
    }
    if more.is_empty() {
        return Ok(text);
    }
    config.extend(more);
    Ok(Value::from(config).to_string())
}

/// A token's text, which may be in an object.
fn text_of(token: &Value) -> &Value {
    token.get("content").unwrap_or(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `config` becomes beside these files.
    fn read(config: &Value, files: &[(&str, Value)]) -> Result<Value, CheckpointError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(NAMED)).unwrap();
        for (file, content) in files {
            let text = content
                .as_str()
                .map_or_else(|| content.to_string(), str::to_owned);
            std::fs::write(folder.path().join(file), text).unwrap();
        }
        let text = completed(folder.path(), config.to_string())?;
        Ok(serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn tokens_and_templates_are_found_beside_the_file() {
        let map = (
            "special_tokens_map.json",
            json!({"bos_token": {"content": "<s>", "lstrip": false}, "pad_token": "<p>"}),
        );
        let template = ("chat_template.json", json!({"chat_template": "A"}));
        let named = [
            ("additional_chat_templates/tool_use.jinja", json!("T")),
            ("additional_chat_templates/rag.jinja", json!("R")),
            ("additional_chat_templates/notes.txt", json!("N")),
        ];
        let both = json!([{"name": "rag", "template": "R"}, {"name": "tool_use", "template": "T"}]);
        for (config, files, expected) in [
            (json!({"a": 1}), vec![], json!({"a": 1})),
            (
                json!({"pad_token": "<p>"}),
                vec![map.clone()],
                json!({"pad_token": "<p>", "bos_token": {"content": "<s>", "lstrip": false}}),
            ),
            // What nothing reads is left out, and a token that neither has.
            (
                json!({"a": 1}),
                vec![(
                    "special_tokens_map.json",
                    json!({"additional_special_tokens": ["<x>"], "image_token": "<i>", "bos_token": null}),
                )],
                json!({"a": 1}),
            ),
            // As transformers has it: these are the tokens of older files alone, and there they go first.
            (
                json!({"added_tokens_decoder": {}}),
                vec![map.clone()],
                json!({"added_tokens_decoder": {}}),
            ),
            (
                json!({"bos_token": "<b>"}),
                vec![("special_tokens_map.json", json!({"bos_token": "<s>"}))],
                json!({"bos_token": "<s>"}),
            ),
            (
                json!({"chat_template": null}),
                vec![template.clone()],
                json!({"chat_template": "A"}),
            ),
            (
                json!({"chat_template": "B"}),
                vec![template.clone()],
                json!({"chat_template": "B"}),
            ),
            (
                json!({}),
                vec![template.clone(), ("chat_template.jinja", json!("C"))],
                json!({}),
            ),
            (json!({}), named.to_vec(), json!({"chat_template": both})),
        ] {
            assert_eq!(
                read(&config, &files).unwrap(),
                expected,
                "{config} {files:?}"
            );
        }
        let error = read(&json!({}), &[("chat_template.json", json!("{"))]).unwrap_err();
        assert!(error.to_string().contains("chat_template.json"), "{error}");
    }

    #[test]
    fn a_file_that_lacks_nothing_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("special_tokens_map.json"),
            r#"{"bos_token": "<s>"}"#,
        )
        .unwrap();
        for text in [
            r#"{ "bos_token": {"content": "<s>"},  "chat_template": "A" }"#,
            "{",
            "[]",
        ] {
            assert_eq!(completed(folder.path(), text.to_owned()).unwrap(), text);
        }
    }
}
