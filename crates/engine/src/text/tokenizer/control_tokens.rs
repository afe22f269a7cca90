//! The tokenizer for text under judgement: the same vocabulary without added tokens.
//!
//! Where the plain vocabulary lists control tokens too, as those of `SentencePiece` do, they get names there that no text
//! spells: a model that matches whole pieces (Unigram, or BPE that takes whole words) would otherwise turn the letters into
//! `</s>`. Tags that would close a field are handled by `protocol/untrusted`.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use tokenizers::TokenizerBuilder;

use super::shared_model::{Library, SharedModel};
use super::unreadable;
use crate::text::TextError;

/// The prefix of names that no text spells: a Unicode noncharacter.
const HIDDEN: char = '\u{FDD3}';

/// The `model` of `document` for text under judgement, if it must be another than the trusted one.
pub(super) fn hidden_model(
    mut model: Value,
    document: &Value,
) -> Result<Option<SharedModel>, TextError> {
    let control = control_tokens(document);
    if !lists(&model, &control) {
        return Ok(None);
    }
    rename(&mut model, &control);
    let read = SharedModel::from_json(model);
    read.map(Some).map_err(|error| unreadable(&error))
}

/// The tokenizer without added tokens. Its post-processor, which may name some, is never run.
pub(super) fn without_added_tokens(
    trusted: &Library,
    model: SharedModel,
) -> Result<Library, TextError> {
    TokenizerBuilder::new()
        .with_model(model)
        .with_normalizer(trusted.get_normalizer().cloned())
        .with_pre_tokenizer(trusted.get_pre_tokenizer().cloned())
        .with_decoder(trusted.get_decoder().cloned())
        .build()
        .map_err(|error| unreadable(&error))
}

/// The document with unspellable names for the added tokens that `hides` picks by their text and whether they are special,
/// and the ids of these tokens. All ids stay the same.
pub(super) fn hidden(
    document: &Value,
    hides: &dyn Fn(&str, bool) -> bool,
) -> (Value, HashSet<u32>) {
    let mut copy = document.clone();
    let mut names = HashSet::new();
    let mut ids = HashSet::new();
    let added = copy.get_mut("added_tokens").and_then(Value::as_array_mut);
    for token in added.into_iter().flatten() {
        let special = token.get("special").and_then(Value::as_bool) == Some(true);
        let id = token.get("id").and_then(Value::as_u64);
        let name = token.get("content").and_then(Value::as_str);
        if let (Some(name), Some(id)) = (name, id)
            && hides(name, special)
        {
            names.insert(name.to_owned());
            ids.extend(u32::try_from(id).ok());
            token["content"] = Value::String(format!("{HIDDEN}{id}"));
        }
    }
    if let Some(model) = copy.get_mut("model") {
        rename(model, &names);
    }
    if let Some(object) = copy.as_object_mut() {
        // A post-processor may name added tokens by their text; it is never run.
        object.insert("post_processor".into(), Value::Null);
    }
    (copy, ids)
}

/// Whether this is the name of a control token, special or not: a name in angle or square brackets that is not a byte (`<0x0A>`).
pub(super) fn is_markup(name: &str) -> bool {
    let inside = name
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
        .or_else(|| name.strip_prefix('[')?.strip_suffix(']'));
    inside.is_some_and(|inside| {
        inside.contains(|character: char| character.is_alphanumeric()) && !is_byte(inside)
    })
}

fn is_byte(inside: &str) -> bool {
    inside
        .strip_prefix("0x")
        .is_some_and(|digits| digits.len() == 2 && u8::from_str_radix(digits, 16).is_ok())
}

pub(super) fn unknown_token(document: &Value) -> Option<String> {
    let model = document.get("model")?;
    if let Some(name) = model.get("unk_token").and_then(Value::as_str) {
        return Some(name.to_owned());
    }
    let id = usize::try_from(model.get("unk_id")?.as_u64()?).ok()?;
    let piece = model.get("vocab")?.get(id)?.get(0)?.as_str()?;
    Some(piece.to_owned())
}

/// The names of the control tokens among the added ones.
fn control_tokens(document: &Value) -> HashSet<String> {
    document
        .get("added_tokens")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|token| {
            let content = token.get("content")?.as_str()?;
            let special = token.get("special").and_then(Value::as_bool) == Some(true);
            (special || is_markup(content)).then(|| content.to_owned())
        })
        .collect()
}

/// Whether the plain vocabulary lists one of these tokens.
fn lists(model: &Value, control: &HashSet<String>) -> bool {
    match model.get("vocab") {
        Some(Value::Object(vocabulary)) => control.iter().any(|name| vocabulary.contains_key(name)),
        Some(Value::Array(pieces)) => pieces
            .iter()
            .filter_map(|piece| piece.get(0)?.as_str())
            .any(|name| control.contains(name)),
        _ => false,
    }
}

/// Renames these tokens of the plain vocabulary, and drops the merges that would make them.
fn rename(model: &mut Value, control: &HashSet<String>) {
    let Some(model) = model.as_object_mut() else {
        return;
    };
    let mut renamed: HashMap<String, String> = HashMap::new();
    match model.get_mut("vocab") {
        Some(Value::Object(vocabulary)) => {
            for name in control {
                if let Some(id) = vocabulary.remove(name) {
                    let hidden = format!("{HIDDEN}{id}");
                    vocabulary.insert(hidden.clone(), id);
                    renamed.insert(name.clone(), hidden);
                }
            }
        }
        Some(Value::Array(pieces)) => {
            for (id, piece) in pieces.iter_mut().enumerate() {
                if let Some(Value::String(name)) = piece.get_mut(0)
                    && control.contains(name)
                {
                    *name = format!("{HIDDEN}{id}");
                }
            }
        }
        _ => {}
    }
    if renamed.is_empty() {
        return;
    }
    if let Some(Value::String(unknown)) = model.get_mut("unk_token")
        && let Some(hidden) = renamed.get(unknown)
    {
        unknown.clone_from(hidden);
    }
    if let Some(Value::Array(merges)) = model.get_mut("merges") {
        merges.retain(|merge| match parts(merge) {
            Some((left, right)) => {
                !renamed.contains_key(left)
                    && !renamed.contains_key(right)
                    && !renamed.contains_key(&format!("{left}{right}"))
            }
            None => true,
        });
    }
}

/// The two parts of a merge, which is written as `left right` or as a list.
fn parts(merge: &Value) -> Option<(&str, &str)> {
    match merge {
        Value::String(text) => text.split_once(' '),
        Value::Array(_) => Some((merge.get(0)?.as_str()?, merge.get(1)?.as_str()?)),
        _ => None,
    }
}
