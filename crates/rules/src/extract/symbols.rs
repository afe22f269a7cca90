//! The smallest pieces of bare maths: groups in braces, signs of currencies, fractions in one character.

use super::words;

/// Currency signs that stand before a number.
pub(super) fn is_currency(character: char) -> bool {
    character == '$' || !character.is_ascii() && "€£¥₹₽₩₪₫₱₦₴¢".contains(character)
}

/// Could maths go on here, after a comma or "and"?
pub(super) fn begins_operand(text: &str) -> bool {
    let bare = text.trim_start_matches(['-', '+', '±']);
    // "±1, ±i"
    if text.starts_with('±') && words::first_word(bare).len() == 1 {
        return true;
    }
    let Some(first) = bare.chars().next() else {
        return false;
    };
    if first.is_ascii_digit() || matches!(first, '(' | '[' | '{' | '\\' | '√' | 'π' | '∞') {
        return true;
    }
    if is_currency(first) {
        return bare[first.len_utf8()..].starts_with(words::is_digit);
    }
    if first.is_ascii_alphabetic() {
        let word = words::first_word(bare);
        let after = bare[word.len()..].trim_start();
        if words::FUNCTION.contains(word) {
            return true;
        }
        return word.len() <= 2 && (after.starts_with(['=', '<', '>', '≤', '≥', '≠', '_', '^']));
    }
    false
}

/// How deeply the braces of a group nest at most.
const MOST_NESTED: usize = 64;

/// The length of the braced group that `text` begins with; 0 if none.
pub(super) fn group(text: &str) -> usize {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'{') {
        return 0;
    }
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'{' if depth == MOST_NESTED => return 0,
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    0
}

/// Is this a fraction in one character: ½, ⅔?
pub(super) fn is_vulgar(character: char) -> bool {
    matches!(character, '¼'..='¾' | '⅐'..='⅞' | '↉')
}

/// How far the end of an environment is looked for, in bytes.
const MAX_ENVIRONMENT: usize = 2_000;

/// The length of the `\\begin{…} … \\end{…}` that `text` begins with; 0 if it does not end.
pub(super) fn environment(text: &str) -> usize {
    let Some(name) = text
        .strip_prefix("\\begin{")
        .and_then(|rest| rest.split_once('}'))
        .map(|(name, _)| name)
        .filter(|name| name.len() <= 16)
    else {
        return 0;
    };
    let near = &text[..text.floor_char_boundary(MAX_ENVIRONMENT)];
    let close = format!("\\end{{{name}}}");
    near.find(&close).map_or(0, |at| at + close.len())
}
