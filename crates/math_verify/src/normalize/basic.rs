//! Commands that mean the same or nothing, and words that stand for signs.

use super::rewrite::{Rewriting, replaced};
use crate::chars::{
    byte_at, byte_before, char_at, char_before, goes_on, is_word, space_len, spaces_end,
};

/// Left delimiters, as they stand after `\left`.
#[rustfmt::skip]
const LEFT: [&str; 17] = [
    "\\{", "{", "\\|", "|", "[", "(", "\\rbracl", "\\lgroup", "\\lbrace", "\\lbrack", "\\vert", "\\lvert", "\\lceil",
    "\\lfloor", "\\langle", "\\llcorner", "\\ulcorner",
];

/// Right delimiters, as they stand after `\right`.
#[rustfmt::skip]
const RIGHT: [&str; 16] = [
    "\\}", "}", "\\|", "|", "]", ")", "\\rbrack", "\\rgroup", "\\rbrace", "\\vert", "\\rvert", "\\rceil", "\\rfloor",
    "\\rangle", "\\lrcorner", "\\urcorner",
];

/// All steps in Math-Verify's order.
pub(super) fn basic(text: &mut String) {
    for (what, with) in [
        ("\\mathrm{T}", "T"),
        ("\\mathrm{d}", "d"),
        ("{\\rm d}", "d"),
        ("\\left[\\begin{matrix}", "\\begin{bmatrix}"),
        ("\\end{matrix}\\right]", "\\end{bmatrix}"),
    ] {
        apply(text, |text| replaced(text, what, with));
    }
    apply(text, |text| without_sizes(text, "left", &LEFT));
    apply(text, |text| without_sizes(text, "right", &RIGHT));
    apply(text, falling_factorials);
    apply(text, without_noise);
    apply(text, plain_signs);
    apply(text, |text| {
        text.contains(['\n', '\t'])
            .then(|| text.replace(['\n', '\t'], " "))
    });
    if !text.contains("matrix") {
        apply(text, single_backslashes);
    }
}

/// Replaces `text` by what `step` makes of it.
pub(super) fn apply(text: &mut String, step: impl FnOnce(&str) -> Option<String>) {
    if let Some(new) = step(text) {
        *text = new;
    }
}

/// The positions of `byte` in `text`.
pub(super) fn positions(text: &str, byte: u8) -> impl Iterator<Item = usize> {
    text.bytes()
        .enumerate()
        .filter(move |(_, b)| *b == byte)
        .map(|(at, _)| at)
}

/// `\left(` to `(`.
fn without_sizes(text: &str, side: &str, delimiters: &[&str]) -> Option<String> {
    let mut new = Rewriting::of(text);
    for at in positions(text, b'\\') {
        let mut after = at + 1;
        if byte_at(text, after) == b'm' {
            after += 1;
        }
        if goes_on(text, after, side) {
            after += side.len();
            if delimiters
                .iter()
                .any(|delimiter| goes_on(text, after, delimiter))
            {
                new.cut(at, after);
            }
        }
    }
    new.finish()
}

/// `(n)_{k}` to n! / (n − k)!.
fn falling_factorials(text: &str) -> Option<String> {
    let part = |start: usize, close: &str| {
        let length = text
            .as_bytes()
            .get(start..)?
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || b"+-*/\\ ".contains(b))
            .count();
        let end = start + length;
        (length > 0 && goes_on(text, end, close)).then(|| (&text[start..end], end + close.len()))
    };
    let mut new = Rewriting::of(text);
    for at in positions(text, b'(') {
        if new.is_past(at) {
            continue;
        }
        let Some((n, after)) = part(at + 1, ")_{") else {
            continue;
        };
        let Some((k, end)) = part(after, "}") else {
            continue;
        };
        new.replace(at, end, &["\\frac{(", n, ")!}{((", n, ")-(", k, "))!}"]);
    }
    new.finish()
}

/// Drops dollar signs, quotes (primes too), `\!`, empty `\text{}` and `\displaystyle`.
fn without_noise(text: &str) -> Option<String> {
    let mut new = Rewriting::of(text);
    let mut at = 0;
    while let Some(offset) = text
        .as_bytes()
        .get(at..)
        .and_then(|rest| rest.iter().position(|b| b"\\$\"'".contains(b)))
    {
        at += offset;
        let end = match byte_at(text, at) {
            b'$' => at + 1,
            b'\\' => noise_command(text, at).unwrap_or(at),
            _ if byte_before(text, at) == b'\\' => at,
            _ => at + 1,
        };
        if end > at {
            new.cut(at, end);
            at = end;
        } else {
            at += 1;
        }
    }
    new.finish()
}

/// The end of a command without meaning.
fn noise_command(text: &str, at: usize) -> Option<usize> {
    let after = at + 1;
    match byte_at(text, after) {
        b'$' => Some(after + 1),
        b'!' => Some(spaces_end(text, after + 1)),
        b'm' => goes_on(text, after, "mathrm{th}").then_some(after + 10),
        b'd' => goes_on(text, after, "displaystyle").then_some(after + 12),
        b't' if goes_on(text, after, "text") => {
            let open = spaces_end(text, after + 4);
            let close = (byte_at(text, open) == b'{').then(|| spaces_end(text, open + 1))?;
            (byte_at(text, close) == b'}').then_some(close + 1)
        }
        _ => None,
    }
}

/// Synonyms to one spelling, and words to signs, in a single pass from the left.
fn plain_signs(text: &str) -> Option<String> {
    let mut new = Rewriting::of(text);
    let mut at = 0;
    while at < text.len() {
        let byte = byte_at(text, at);
        let found = match byte {
            b'\\' => command(text, at),
            b'{' if byte_at(text, at + 1) == b'.' => Some((at + 2, "{0.")),
            b'{' => braced_comma(text, at).map(|end| (end, ",")),
            b'~' => goes_on(text, at, "~=").then_some((at + 2, "\\approx")),
            b',' => after_comma(text, at),
            b'a' | b'o' => not_after_letter(text, at)
                .then(|| and_or(text, at))
                .flatten()
                .map(|end| (end, ",")),
            b'i' => infinity(text, at),
            b'p' if !char_before(text, at).is_some_and(is_word) => {
                percent_word(text, at).map(|end| (end, "\\%"))
            }
            b'\t'..=b'\r' | b'\x1c'..=b' ' | 0x80.. if space_len(text, at) > 0 => {
                let end = spaces_end(text, at);
                let found = after_spaces(text, at, end);
                at = found.map_or(end, |(start, ..)| start);
                if found.is_none() {
                    continue;
                }
                found.map(|(_, end, with)| (end, with))
            }
            _ => None,
        };
        match found {
            Some((end, with)) => {
                new.replace(at, end, &[with]);
                at = end;
            }
            None => at += 1,
        }
    }
    new.finish()
}

/// White space from `at` to `end` with what follows it: where the part of it begins that is replaced, and where that ends.
fn after_spaces(text: &str, at: usize, end: usize) -> Option<(usize, usize, &'static str)> {
    let last = end - char_before(text, end).map_or(1, char::len_utf8);
    let all = |end, with| (at, end, with);
    match byte_at(text, end) {
        b'.' => Some((last, end + 1, " 0.")),
        b'{' => braced_comma(text, end).map(|end| all(end, ",")),
        b'a' | b'o' => {
            let first = at + space_len(text, at);
            let start = if not_after_letter(text, at) {
                at
            } else {
                first
            };
            let word = and_or(text, end).filter(|_| start < end);
            word.map(|end| (start, end, ","))
        }
        b'\\' => and_or_text(text, end).map(|end| all(end, ",")),
        b'p' => percent_word(text, end).map(|end| all(end, "\\%")),
        b's' if byte_at(text, last) == b' ' && goes_on(text, end, "sqrt") => {
            Some((last, end + 4, "\\sqrt"))
        }
        _ => None,
    }
}

/// A comma with the word or the dots after it.
fn after_comma(text: &str, at: usize) -> Option<(usize, &'static str)> {
    let after = spaces_end(text, at + 1);
    if let Some(end) = and_or(text, after)
        && not_after_letter(text, at)
    {
        return Some((end, ","));
    }
    if let Some(end) = and_or_text(text, after) {
        return Some((end, ","));
    }
    goes_on(text, at + 1, "\\ldots").then_some((at + 7, " "))
}

/// A command that begins at `at`.
fn command(text: &str, at: usize) -> Option<(usize, &'static str)> {
    let after = at + 1;
    match byte_at(text, after) {
        b'm' if goes_on(text, after, "math") => {
            first_of(text, after + 4, &["rm", "it", "bf"]).map(|end| (end, "\\text"))
        }
        b't' if goes_on(text, after, "text") => {
            if let Some(end) = first_of(text, after + 4, &["normal", "bf", "it", "rm"]) {
                return Some((end, "\\text"));
            }
            if let Some(end) = and_or_text(text, at) {
                return Some((end, ","));
            }
            first_of(text, after + 4, &["{percentage}", "{percent}", "{pct}"]).map(|end| (end, "%"))
        }
        b't' | b'd' | b'c' if goes_on(text, after + 1, "frac") => Some((after + 5, "\\frac")),
        b'l' => goes_on(text, after, "ldots").then_some((after + 5, " ")),
        _ if byte_before(text, at) != b'\\' => match space_len(text, after) {
            0 => None,
            length => Some((after + length, " ")),
        },
        _ => None,
    }
}

/// "infinity" and "inf".
fn infinity(text: &str, at: usize) -> Option<(usize, &'static str)> {
    if goes_on(text, at, "infinity") {
        return Some((at + 8, "\\infty"));
    }
    // `\inf`, and with it `\infty`, is a command.
    (goes_on(text, at, "inf") && byte_before(text, at) != b'\\').then_some((at + 3, "\\infty"))
}

/// The end of the first of `words` that stands at `at`.
fn first_of(text: &str, at: usize, words: &[&str]) -> Option<usize> {
    words
        .iter()
        .find(|word| goes_on(text, at, word))
        .map(|word| at + word.len())
}

fn not_after_letter(text: &str, at: usize) -> bool {
    !byte_before(text, at).is_ascii_alphabetic()
}

/// The end of `{,}` with any white space inside.
fn braced_comma(text: &str, at: usize) -> Option<usize> {
    let comma = (byte_at(text, at) == b'{').then(|| spaces_end(text, at + 1))?;
    let close = (byte_at(text, comma) == b',').then(|| spaces_end(text, comma + 1))?;
    (byte_at(text, close) == b'}').then_some(close + 1)
}

/// The end of "and" or "or", no letter after it.
fn and_or(text: &str, at: usize) -> Option<usize> {
    first_of(text, at, &["and", "or"]).filter(|end| !byte_at(text, *end).is_ascii_alphabetic())
}

/// The end of `\text{and}` or `\text{or}`.
fn and_or_text(text: &str, at: usize) -> Option<usize> {
    let word = goes_on(text, at, "\\text{").then(|| spaces_end(text, at + 6))?;
    let close = spaces_end(text, first_of(text, word, &["and", "or"])?);
    (byte_at(text, close) == b'}').then_some(close + 1)
}

fn percent_word(text: &str, at: usize) -> Option<usize> {
    first_of(text, at, &["percentage", "percent", "pct"])
        .filter(|end| !char_at(text, *end).is_some_and(is_word))
}

/// `\\alpha` to `\alpha`.
fn single_backslashes(text: &str) -> Option<String> {
    let mut new = Rewriting::of(text);
    for at in positions(text, b'\\') {
        if byte_at(text, at + 1) == b'\\' && byte_at(text, at + 2).is_ascii_alphabetic() {
            new.cut(at, at + 1);
        }
    }
    new.finish()
}
