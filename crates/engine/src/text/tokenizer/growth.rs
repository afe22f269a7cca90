//! How much longer a tokenizer may make a text: its normaliser before the text is split, its decoder when tokens are written
//! as text. A `tokenizer.json` that replaces `a` by `aa` forty times would make a terabyte of one letter.

use serde_json::Value;

use crate::text::TextError;

/// The length that a normalised text may always have, in bytes.
const ALWAYS: f64 = 16e6;
/// The factor by which normalisers of language models may grow a text in theory: Llama's by 12 at worst, a map of
/// `SentencePiece` (33) followed by a longer replacement for spaces by some 100.
const USUAL: f64 = 128.0;
/// The largest factor by which a decoder may grow a text. Known decoders never grow one.
const DECODER: f64 = 16.0;

/// The factor by which the normaliser of a `tokenizer.json` grows a text at worst, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Growth(f64);

impl Growth {
    /// Reads the factor off the normaliser.
    /// Errors: [`TextError::Tokenizer`] for a decoder that grows texts too much; it is refused here because there is no text to
    /// check it against later.
    pub(super) fn from_document(document: &Value) -> Result<Self, TextError> {
        let decoder = factor(&document["decoder"]);
        if decoder > DECODER {
            return Err(TextError::Tokenizer(format!(
                "tokenizer.json: its decoder may make {decoder:.3e} bytes of one, more than {DECODER}: it is damaged, or not \
                 meant well"
            )));
        }
        Ok(Self(factor(&document["normalizer"])))
    }

    /// Fails if the text may become too long.
    pub(super) fn check(self, text: &str) -> Result<(), TextError> {
        let length = text.len() as f64;
        let most = ALWAYS.max(USUAL * length);
        if length * self.0 <= most {
            return Ok(());
        }
        Err(TextError::Tokenizer(format!(
            "tokenizer.json: its normaliser may make {:.3e} bytes of this text's {length}, more than {most}",
            length * self.0
        )))
    }
}

/// How many bytes a stage makes of one byte at worst; 1 if it never makes text longer.
fn factor(stage: &Value) -> f64 {
    let text = |key: &str| stage[key].as_str().unwrap_or_default();
    match text("type") {
        "Sequence" => ["normalizers", "decoders"]
            .iter()
            .filter_map(|key| stage[*key].as_array())
            .flatten()
            .map(factor)
            .product(),
        "Replace" => {
            let content = text("content").len() as f64;
            match stage["pattern"]["String"].as_str().map(str::len) {
                Some(length @ 1..) => (content / length as f64).max(1.0),
                // A pattern may match a single byte, or the empty text before each.
                _ => content + 1.0,
            }
        }
        // It is put before every stretch of text, which may be a single byte.
        "Prepend" => text("prepend").len() as f64 + 1.0,
        "Precompiled" => longest_replacement(text("precompiled_charsmap")),
        "NFKC" | "NFKD" => 11.0,
        "NFC" | "NFD" => 3.0,
        "Lowercase" => 1.5,
        "ByteLevel" => 2.0,
        // It puts spaces around characters, separates letters from their marks, and lowers case.
        "BertNormalizer" => 8.0,
        _ => 1.0,
    }
}

/// The longest text that `SentencePiece`'s map of characters substitutes for one. The texts lie after the map's index, each with a zero at its end.
fn longest_replacement(base64: &str) -> f64 {
    let mut bytes = Vec::with_capacity(base64.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for symbol in base64.bytes() {
        let value = match symbol {
            b'A'..=b'Z' => symbol - b'A',
            b'a'..=b'z' => symbol - b'a' + 26,
            b'0'..=b'9' => symbol - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    let texts = bytes
        .split_first_chunk()
        .and_then(|(size, rest)| rest.get(u32::from_le_bytes(*size) as usize..))
        .unwrap_or(&bytes);
    let longest = texts.split(|byte| *byte == 0).map(<[u8]>::len).max();
    longest.unwrap_or(0).max(1) as f64
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Growth, factor};

    #[test]
    fn stages_grow_by_what_they_put_in() {
        let space = json!({"type": "Replace", "pattern": {"String": " "}, "content": "▁"});
        assert!((factor(&space) - 3.0).abs() < 1e-9);
        let llama = json!({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, space]});
        assert!((factor(&llama) - 12.0).abs() < 1e-9);
        let shorter = json!({"type": "Replace", "pattern": {"String": "▁"}, "content": " "});
        assert!((factor(&shorter) - 1.0).abs() < 1e-9);
        let growth = Growth::from_document(&json!({ "normalizer": llama })).unwrap();
        assert!(growth.check(&"x".repeat(20_000_000)).is_ok());
    }

    #[test]
    fn doubling_is_refused_by_the_length_of_the_text() {
        let double = json!({"type": "Replace", "pattern": {"String": "a"}, "content": "aa"});
        let stages = json!({"type": "Sequence", "normalizers": vec![double.clone(); 20]});
        let growth = Growth::from_document(&json!({ "normalizer": stages })).unwrap();
        assert!(growth.check("a dozen bytes").is_ok());
        assert!(growth.check(&"a".repeat(100)).is_err());
        let stages = json!({"type": "Sequence", "decoders": vec![double; 5]});
        assert!(Growth::from_document(&json!({ "decoder": stages })).is_err());
    }

    /// An index of four bytes, followed by `abc` and `defgh`.
    #[test]
    fn a_map_of_characters_grows_by_its_longest_text() {
        let map =
            json!({"type": "Precompiled", "precompiled_charsmap": "BAAAAAAAAABhYmMAZGVmZ2gA"});
        assert!((factor(&map) - 5.0).abs() < 1e-9);
    }
}
