//! The bytes that tokens stand for in the middle of a text.

use std::collections::HashMap;

use tokenizers::DecoderWrapper;

use super::shared_model::Library;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    /// Each byte as a character of its own (GPT-2's alphabet).
    ByteLevel,
    /// As text with `▁` for a space; bytes that are no text as `<0x0A>`.
    Text,
}

/// The bytes of each token id: empty for special tokens, for the added token of unknown characters, and for ids without a
/// token. `None` if the vocabulary does not tell, as with `WordPiece`, whose decoder joins words by rules of its own.
pub(super) fn of_vocabulary(
    tokenizer: &Library,
    is_unknown: impl Fn(u32) -> bool,
) -> Option<Vec<Vec<u8>>> {
    let writing = tokenizer.get_decoder().and_then(writing)?;
    let vocabulary = tokenizer.get_vocab(true);
    let added = tokenizer.get_added_tokens_decoder();
    let size = vocabulary.values().max().map_or(0, |&id| id as usize + 1);
    let alphabet = alphabet();
    let mut bytes = vec![Vec::new(); size];
    for (piece, &id) in &vocabulary {
        bytes[id as usize] = match (added.get(&id), writing) {
            (Some(token), _) if token.special || is_unknown(id) => Vec::new(),
            (Some(_), Writing::ByteLevel) => piece.clone().into_bytes(),
            (Some(_), Writing::Text) => piece.replace('▁', " ").into_bytes(),
            (None, Writing::ByteLevel) => {
                let bytes = piece.chars().map(|written| alphabet.get(&written).copied());
                bytes.collect::<Option<_>>().unwrap_or_default()
            }
            (None, Writing::Text) => match byte_of(piece) {
                // A byte that is also a token by its character is written as that character.
                Some(byte)
                    if byte.is_ascii()
                        && vocabulary.contains_key(&char::from(byte).to_string()) =>
                {
                    Vec::new()
                }
                Some(byte) => vec![byte],
                None => piece.replace('▁', " ").into_bytes(),
            },
        };
    }
    Some(bytes)
}

/// The byte of a piece such as `<0x0A>`.
fn byte_of(piece: &str) -> Option<u8> {
    let digits = piece.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok())?
}

fn writing(decoder: &DecoderWrapper) -> Option<Writing> {
    match decoder {
        DecoderWrapper::ByteLevel(_) => Some(Writing::ByteLevel),
        DecoderWrapper::Metaspace(_) | DecoderWrapper::ByteFallback(_) => Some(Writing::Text),
        DecoderWrapper::Sequence(decoders) => decoders.get_decoders().iter().find_map(writing),
        _ => None,
    }
}

/// GPT-2's characters for bytes: the byte's own character if it is printable, else the next one from U+0100 on.
fn alphabet() -> HashMap<char, u8> {
    let is_printed = |byte: u8| matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut others = '\u{100}'..;
    let bytes = (0..=u8::MAX).filter_map(|byte| {
        let written = if is_printed(byte) {
            Some(char::from(byte))
        } else {
            others.next()
        };
        Some((written?, byte))
    });
    bytes.collect()
}
