//! Characters as Python's `re` and `str` class them, by byte position.

/// The zeros of all blocks of ten decimal digits of Unicode 14, without ASCII's.
#[rustfmt::skip]
const ZEROS: [u32; 65] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xde6, 0xe50, 0xed0, 0xf20,
    0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90, 0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0,
    0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10, 0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0,
    0x11450, 0x114d0, 0x11650, 0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0,
    0x16b50, 0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// `\s`, `str.isspace`: Rust's white space and the four separators of ASCII.
pub(super) fn is_space(c: char) -> bool {
    match c {
        '\t'..='\r' | '\x1c'..=' ' => true,
        '\0'..='\x7f' => false,
        _ => c.is_whitespace(),
    }
}

/// `\d`.
pub(super) fn is_digit(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_digit();
    }
    let code = u32::from(c);
    match ZEROS.binary_search(&code) {
        Ok(_) => true,
        Err(0) => false,
        Err(after) => code - ZEROS[after - 1] < 10,
    }
}

/// `\w`.
pub(super) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The character that begins at `at`, if one does.
pub(super) fn char_at(text: &str, at: usize) -> Option<char> {
    match text.as_bytes().get(at) {
        Some(&byte) if byte.is_ascii() => Some(byte as char),
        Some(_) => text.get(at..)?.chars().next(),
        None => None,
    }
}

/// The character that ends at `at`, if one does.
pub(super) fn char_before(text: &str, at: usize) -> Option<char> {
    match text.as_bytes().get(at.checked_sub(1)?) {
        Some(&byte) if byte.is_ascii() => Some(byte as char),
        Some(_) => text.get(..at)?.chars().next_back(),
        None => None,
    }
}

/// The byte that begins at `at`; 0 past the end.
pub(super) fn byte_at(text: &str, at: usize) -> u8 {
    text.as_bytes().get(at).copied().unwrap_or(0)
}

/// The byte before `at`; 0 at the start.
pub(super) fn byte_before(text: &str, at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |before| byte_at(text, before))
}

/// Does `text` go on with `word` at `at`?
pub(super) fn goes_on(text: &str, at: usize, word: &str) -> bool {
    text.as_bytes()
        .get(at..)
        .is_some_and(|rest| rest.starts_with(word.as_bytes()))
}

/// The length in bytes of the white-space character at `at`; 0 where there is none.
pub(super) fn space_len(text: &str, at: usize) -> usize {
    char_at(text, at)
        .filter(|c| is_space(*c))
        .map_or(0, char::len_utf8)
}

/// The length in bytes of the digit at `at`; 0 where there is none.
pub(super) fn digit_len(text: &str, at: usize) -> usize {
    char_at(text, at)
        .filter(|c| is_digit(*c))
        .map_or(0, char::len_utf8)
}

/// The end of the digits that begin at `at`.
pub(super) fn digits_end(text: &str, mut at: usize) -> usize {
    loop {
        match digit_len(text, at) {
            0 => return at,
            length => at += length,
        }
    }
}

/// The end of the white space that begins at `at`. For texts in which no run is looked at more than a few times.
pub(super) fn spaces_end(text: &str, mut at: usize) -> usize {
    loop {
        match space_len(text, at) {
            0 => return at,
            length => at += length,
        }
    }
}

/// The start of the white space that ends at `at`.
pub(super) fn spaces_start(text: &str, mut at: usize) -> usize {
    while let Some(c) = char_before(text, at).filter(|c| is_space(*c)) {
        at -= c.len_utf8();
    }
    at
}

/// `str.strip()`.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Where `$` matches without flags: at the end, and before a line feed that ends the text.
pub(super) fn at_end(text: &str, at: usize) -> bool {
    at == text.len() || (at + 1 == text.len() && byte_at(text, at) == b'\n')
}

/// The byte position `count` characters after `from`, or the end of the text.
pub(super) fn characters_on(text: &str, from: usize, count: usize) -> usize {
    let bytes = text.as_bytes();
    let near = (from + count).min(bytes.len());
    if bytes[from.min(near)..near].is_ascii() {
        return near;
    }
    text.get(from..)
        .and_then(|rest| rest.char_indices().nth(count))
        .map_or(text.len(), |(offset, _)| from + offset)
}

#[cfg(test)]
mod tests;
