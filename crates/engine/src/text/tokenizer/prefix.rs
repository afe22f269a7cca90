//! The prefix that a tokenizer puts before a text, and how to remove it from the tokenizer.
//!
//! Tokenizers that come from `SentencePiece` write a space as `▁` and put one before a text, so that its first word is written like any other. In
//! `tokenizer.json` that is the normaliser `Prepend` (Llama 2, Mistral), which acts on each stretch between added tokens; or the pre-tokeniser `Metaspace`,
//! with the scheme `always` (each stretch) or `first` (only the beginning of the text); or `ByteLevel` with `add_prefix_space` (each stretch).

use serde_json::Value;

use super::Place;

/// Before which texts the prefix is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    /// Before the whole text alone.
    Text,
    /// Before every stretch between added tokens.
    Stretches,
}

impl Prefix {
    /// Whether the prefix is put before text at that place.
    pub(super) fn is_put_at(self, place: Place) -> bool {
        match place {
            Place::Beginning => true,
            Place::BehindToken => self == Self::Stretches,
            Place::Within => false,
        }
    }
}

/// Removes the prefix from a `tokenizer.json`; `None` if there is none.
///
/// A pre-tokeniser that follows another one in a sequence acts on each of the other's pieces, in the middle of a text as at its beginning; it stays.
pub(super) fn remove(document: &mut Value) -> Option<Prefix> {
    let normalizer = document.get_mut("normalizer").and_then(remove_prepend);
    let pre_tokenizer = document.get_mut("pre_tokenizer").and_then(remove_space);
    normalizer.or(pre_tokenizer)
}

fn kind(value: &Value) -> &str {
    value
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default()
}

fn remove_prepend(normalizer: &mut Value) -> Option<Prefix> {
    match kind(normalizer) {
        "Prepend" => {
            *normalizer = Value::Null;
            Some(Prefix::Stretches)
        }
        "Sequence" => {
            let steps = normalizer.get_mut("normalizers")?.as_array_mut()?;
            let before = steps.len();
            steps.retain(|step| kind(step) != "Prepend");
            (steps.len() < before).then_some(Prefix::Stretches)
        }
        _ => None,
    }
}

fn remove_space(pre_tokenizer: &mut Value) -> Option<Prefix> {
    match kind(pre_tokenizer) {
        "Sequence" => remove_space(
            pre_tokenizer
                .get_mut("pretokenizers")?
                .as_array_mut()?
                .first_mut()?,
        ),
        "Metaspace" => {
            let object = pre_tokenizer.as_object_mut()?;
            let old = object.remove("add_prefix_space");
            let scheme = object.insert("prepend_scheme".into(), "never".into());
            if old == Some(Value::Bool(false)) {
                return None;
            }
            match scheme.as_ref().and_then(Value::as_str) {
                Some("never") => None,
                Some("first") => Some(Prefix::Text),
                _ => Some(Prefix::Stretches),
            }
        }
        "ByteLevel" => {
            let object = pre_tokenizer.as_object_mut()?;
            let was = object.insert("add_prefix_space".into(), false.into());
            (was != Some(Value::Bool(false))).then_some(Prefix::Stretches)
        }
        _ => None,
    }
}
