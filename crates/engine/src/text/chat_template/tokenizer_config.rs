//! What `tokenizer_config.json` holds for a chat template: the template, and the special tokens.

use serde_json::Value as Json;

use crate::text::TextError;

/// The special tokens that `tokenizer_config.json` may name, each a variable of the template.
pub(crate) const SPECIAL_TOKENS: &str =
    "bos_token eos_token unk_token sep_token pad_token cls_token mask_token";

/// The template: `chat_template` is a text, or a list of named ones of which `default` is used.
pub(super) fn template_of(config: &Json) -> Result<String, TextError> {
    let none = || {
        TextError::ChatTemplate(
            "the model has no chat template (neither `chat_template` in tokenizer_config.json or chat_template.json \
             nor chat_template.jinja): use an instruction-tuned model, or give a template with --chat-template"
                .into(),
        )
    };
    match config.get("chat_template") {
        Some(Json::String(text)) => Ok(text.clone()),
        Some(Json::Array(named)) => {
            let named: Vec<(&str, &str)> = named
                .iter()
                .filter_map(|entry| {
                    Some((
                        entry.get("name")?.as_str()?,
                        entry.get("template")?.as_str()?,
                    ))
                })
                .collect();
            if let Some((_, template)) = named.iter().find(|(name, _)| *name == "default") {
                return Ok((*template).to_owned());
            }
            if named.is_empty() {
                return Err(none());
            }
            let names: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
            Err(TextError::ChatTemplate(format!(
                "the model has several, and none is called `default`: {}; give the one you mean with --chat-template",
                names.join(", ")
            )))
        }
        _ => Err(none()),
    }
}

/// The special tokens that are set, both the standard ones and a model's own.
pub(super) fn special_tokens(config: &Json) -> Vec<(String, String)> {
    let mut tokens = Vec::new();
    for name in SPECIAL_TOKENS.split(' ') {
        if let Some(token) = config.get(name).and_then(token_text) {
            tokens.push((name.to_owned(), token));
        }
    }
    for key in ["extra_special_tokens", "model_specific_special_tokens"] {
        if let Some(Json::Object(own)) = config.get(key) {
            tokens.extend(
                own.iter()
                    .filter_map(|(name, token)| Some((name.clone(), token_text(token)?))),
            );
        }
    }
    tokens
}

/// A token's text: it is written as a string, or as an object that holds it.
fn token_text(value: &Json) -> Option<String> {
    value
        .as_str()
        .or_else(|| value.get("content")?.as_str())
        .map(str::to_owned)
}
