//! Chains of equations: what of `48 + 24 = 72` or `A = \frac12 \cdot 6 = 3` is the answer.

use std::borrow::Cow;

use super::words::{is_digit, offset};

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
    let computed = left.contains(is_digit) && !has_variables(left);
    if (computed || signs.len() > 1) && !has_variables(right) {
        return Cow::Borrowed(right);
    }
    Cow::Borrowed(text)
}

/// The characters outside of brackets, and where they stand.
fn outside(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut depth = 0_usize;
    text.char_indices().filter(move |(_, it)| {
        match it {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    })
}

/// Where the `=` signs outside of brackets are; none if there are other relations among them.
fn equals(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for (at, sign) in outside(text) {
        let (before, after) = (&text[..at], &text[at + sign.len_utf8()..]);
        let relation = before.ends_with(['!', ':', '=']) || after.starts_with(['=', '>']);
        match sign {
            '<' | '>' if !before.ends_with('\\') => return Vec::new(),
            '=' if !relation => found.push(at),
            _ => {}
        }
    }
    found
}

/// Is there a comma, "and" or "or" outside of brackets?
fn has_list(text: &str) -> bool {
    let parts = |(at, sign): (usize, char)| {
        let grouping =
            text[at + sign.len_utf8()..].starts_with(is_digit) && text[..at].ends_with(is_digit);
        matches!(sign, ',' | ';') && !grouping && !text[..at].ends_with('\\')
    };
    let joins = |it: &str| text.contains(it);
    outside(text).any(parts) || joins(" and ") || joins(" or ") || joins("\\text{")
}

/// Commands that compute.
const COMMANDS: &str = r"\cdot \times \frac \sqrt \sum \int";

/// Is this the name of something: `x`, `f(x)`, `A_1`, `|AB|`, `\angle ABC`, `(x, y)`, `P(A \cap B)`?
fn is_name(text: &str) -> bool {
    let first = text.chars().next().unwrap_or(' ');
    let outside: String = outside(text).map(|it| it.1).collect();
    let operators = outside.contains(['+', '*', '/', '^', '×', '÷', '·', '-', '√', '!'])
        || COMMANDS.split(' ').any(|it| outside.contains(it));
    !operators && !first.is_ascii_digit() && text.chars().any(char::is_alphabetic)
}

/// Are there variables in it: single letters that are no part of a command, a word, or a number's unit?
fn has_variables(text: &str) -> bool {
    const GREEK: &str = "alpha beta gamma theta phi lambda mu sigma omega";
    let mut runs = text.split(|it: char| !it.is_ascii_alphabetic());
    runs.any(|run| {
        let command = text[..offset(text, run)].ends_with('\\');
        command && !run.is_empty() && GREEK.split(' ').any(|it| it == run)
            || !command && run.len() == 1 && !matches!(run, "e" | "i")
    })
}
