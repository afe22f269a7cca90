//! What stands in boxes.

use std::borrow::Cow;

use crate::chars::{byte_at, goes_on, is_word, spaces_end, strip};

/// Which of several boxes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Boxes {
    All,
    /// The last one, and those before it as long as the next one stands near.
    Last,
}

/// The contents of the boxes of `text`, joined by commas; the text itself where there are none.
pub(super) fn unboxed(text: &str, boxes: Boxes) -> Cow<'_, str> {
    let mut contents: Vec<&str> = Vec::new();
    let mut next_start = None;
    let mut limit = text.len();
    while let Some((start, after)) = last_box(text, limit) {
        let inner = spaces_end(text, after);
        if inner >= limit {
            break;
        }
        let closed = if byte_at(text, inner) == b'{' {
            closing_brace(text, inner, limit)
        } else {
            None
        };
        let Some(close) = closed else {
            // Nothing bounds it. The last box then holds the rest of the text; one before it does not count.
            if contents.is_empty() {
                contents.push(text.get(inner..).unwrap_or_default());
            }
            break;
        };
        let content = strip(text.get(inner + 1..close).unwrap_or_default());
        if let (Boxes::Last, Some(next_start)) = (boxes, next_start) {
            let between = text.get(close + 1..next_start).unwrap_or_default();
            if !is_near(between, contents.last().copied() != Some(content)) {
                break;
            }
        }
        if contents.last() != Some(&content) {
            contents.push(content);
        }
        next_start = Some(start);
        limit = start;
    }
    match contents.as_slice() {
        [] => Cow::Borrowed(text),
        [only] => Cow::Borrowed(only),
        _ => {
            contents.reverse();
            Cow::Owned(contents.join(","))
        }
    }
}

/// Where the last `\boxed` or `\fbox` before `limit` begins, and where the command ends.
fn last_box(text: &str, limit: usize) -> Option<(usize, usize)> {
    let mut before = limit;
    while let Some(start) = text.get(..before)?.rfind('\\') {
        for command in ["\\boxed", "\\fbox"] {
            if goes_on(text, start, command) && start + command.len() <= limit {
                return Some((start, start + command.len()));
            }
        }
        before = start;
    }
    None
}

/// The brace before `limit` that closes the one at `open`.
fn closing_brace(text: &str, open: usize, limit: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (offset, byte) in text.as_bytes().get(open..limit)?.iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(open + offset);
                }
            }
            _ => {}
        }
    }
    None
}

/// Are two boxes with `between` between them one answer?
fn is_near(between: &str, differ: bool) -> bool {
    // Only the first seventy characters matter.
    let length = between.chars().take(70).count();
    length < 10 || (differ && length < 70 && has_separator(between))
}

/// Is there a comma, a semicolon, or one of the words "and" and "or"?
fn has_separator(text: &str) -> bool {
    text.contains([',', ';'])
        || text
            .split(|c| !is_word(c))
            .any(|word| word == "and" || word == "or")
}
