//! Chains of equations: what of `48 + 24 = 72` or `A = \frac12 \cdot 6 = 3` is the answer.

use std::borrow::Cow;

/// Cuts a formula of a derivation down to its result. An equation that is itself the answer stays.
pub(super) fn result(text: &str) -> Cow<'_, str> {
    // The equations within an environment are its own.
    if text.contains("\\begin") {
        return Cow::Borrowed(text);
    }
    let signs = equals(text);
    let (Some(&first), Some(&last)) = (signs.first(), signs.last()) else {
        return Cow::Borrowed(text);
    };
    let left = text[..first].trim();
    let right = text[last + 1..].trim();
    if right.is_empty() {
        return Cow::Borrowed(text);
    }
    if left.is_empty() {
        return Cow::Borrowed(right);
    }
    // Lists such as `x = 1, y = 2` are no chains.
    if has_list(text) {
        return Cow::Borrowed(text);
    }
    if is_name(left) {
        return if signs.len() == 1 {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(format!("{left} = {right}"))
        };
    }
    let computed = left.contains(|it: char| it.is_ascii_digit()) && !has_variables(left);
    if (computed || signs.len() > 1) && !has_variables(right) {
        return Cow::Borrowed(right);
    }
    Cow::Borrowed(text)
}

/// Where the `=` signs outside of brackets are; none if there are other relations among them.
fn equals(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut depth = 0i32;
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => {
                at += 1;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b'<' | b'>' if depth <= 0 => return Vec::new(),
            b'=' if depth <= 0 => {
                let before = at.checked_sub(1).map(|at| bytes[at]);
                let after = bytes.get(at + 1);
                if !matches!(before, Some(b'!' | b':' | b'='))
                    && !matches!(after, Some(b'=' | b'>'))
                {
                    found.push(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Is there a comma, "and" or "or" outside of brackets?
fn has_list(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut depth = 0i32;
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            b',' | b';' if depth <= 0 => {
                let grouping = bytes.get(at + 1).is_some_and(u8::is_ascii_digit)
                    && at > 0
                    && bytes[at - 1].is_ascii_digit();
                let space = at > 0 && bytes[at - 1] == b'\\';
                if !grouping && !space {
                    return true;
                }
            }
            _ => {}
        }
    }
    text.contains(" and ") || text.contains(" or ") || text.contains("\\text{")
}

/// Commands that compute.
const COMMANDS: &str = r"\cdot \times \frac \sqrt \sum \int";

/// Is this the name of something: `x`, `f(x)`, `A_1`, `|AB|`, `\angle ABC`, `(x, y)`, `P(A \cap B)`?
fn is_name(text: &str) -> bool {
    let first = text.chars().next().unwrap_or(' ');
    let outside = strip_arguments(text);
    let operators = outside.contains(['+', '*', '/', '^', '×', '÷', '·', '-', '√', '!'])
        || COMMANDS.split(' ').any(|it| outside.contains(it));
    !operators && !first.is_ascii_digit() && text.chars().any(char::is_alphabetic)
}

/// The text without what stands in brackets and subscripts.
fn strip_arguments(text: &str) -> String {
    let mut depth = 0usize;
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(character),
            _ => {}
        }
    }
    out
}

/// Are there variables in it: single letters that are no part of a command, a word, or a number's unit?
fn has_variables(text: &str) -> bool {
    const GREEK: &str = "alpha beta gamma theta phi lambda mu sigma omega";
    let mut runs = text.split(|it: char| !it.is_ascii_alphabetic());
    runs.any(|run| {
        let command = text[..super::words::offset(text, run)].ends_with('\\');
        command && !run.is_empty() && GREEK.split(' ').any(|it| it == run)
            || !command && run.len() == 1 && !matches!(run, "e" | "i")
    })
}
