//! The bytes that tokens stand for in the middle of a text.

use std::collections::{HashMap, HashSet};

use tokenizers::DecoderWrapper;

/// How a vocabulary writes bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    /// Each byte as a character of its own (GPT-2's alphabet).
    ByteLevel,
    /// As text with `▁` for a space; bytes that are no text as `<0x0A>`.
    Text,
}

/// Of each id its bytes; none for the ids in `without` and for those of no token. The `added` tokens are written as they are. `None` where the vocabulary does not say them:
/// that of `WordPiece`, whose decoder puts words together by rules of its own.
pub(super) fn of(
    tokenizer: &tokenizers::Tokenizer,
    added: &HashMap<String, u32>,
    without: &HashSet<u32>,
) -> Option<Vec<Vec<u8>>> {
    let writing = tokenizer.get_decoder().and_then(writing)?;
    let vocabulary = tokenizer.get_vocab(true);
    let size = vocabulary.values().max().map_or(0, |&id| id as usize + 1);
    let alphabet = alphabet();
    let mut bytes = vec![Vec::new(); size];
    let written: HashSet<&str> = vocabulary.keys().map(String::as_str).collect();
    for (piece, &id) in vocabulary.iter().filter(|(_, id)| !without.contains(id)) {
        if added.contains_key(piece) {
            bytes[id as usize] = piece.clone().into_bytes();
            continue;
        }
        bytes[id as usize] = match (writing, byte_of(piece)) {
            (Writing::ByteLevel, _) => piece
                .chars()
                .map(|written| alphabet.get(&written).copied())
                .collect::<Option<_>>()
                .unwrap_or_default(),
            // A byte that is a token by its character too is written as that.
            (Writing::Text, Some(byte)) => match char::from(byte) {
                own if own.is_ascii() && written.contains(own.to_string().as_str()) => Vec::new(),
                _ => vec![byte],
            },
            (Writing::Text, None) => piece.replace('▁', " ").into_bytes(),
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

/// GPT-2's characters for bytes: itself where it can be printed, else the next of those from U+0100 on.
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
