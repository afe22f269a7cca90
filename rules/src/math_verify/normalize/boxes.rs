//! What stands in boxes.

use std::borrow::Cow;

use crate::math_verify::chars::{byte_at, goes_on, is_word, spaces_end, strip};

/// Which of several boxes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::math_verify) enum Boxes {
    /// All of them.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_joined_from_the_right() {
        for (text, all, last) in [
            ("5", "5", "5"),
            (r"\boxed{1}", "1", "1"),
            (r"\boxed{1} papers and \boxed{2} bins", "1,2", "1,2"),
            (r"\boxed{1} no no no no no \boxed{2}", "1,2", "2"),
            (r"\boxed{a}\boxed{b}", "a,b", "a,b"),
            (r"\boxed{a}\boxed{a}", "a", "a"),
            (r"\boxed{\boxed{3}}", "3", "3"),
            (r"\boxed{ 3 } \fbox {4}", "3,4", "3,4"),
            (r"\boxed 5 is", "5 is", "5 is"),
            (r"\boxed{1}, \boxed{2", "{2", "{2"),
            (r"\boxed", r"\boxed", r"\boxed"),
            (
                r"\boxed{x}   \boxed  ",
                r"\boxed{x}   \boxed  ",
                r"\boxed{x}   \boxed  ",
            ),
            (r"\boxed{}\boxed{b}", ",b", ",b"),
        ] {
            assert_eq!(unboxed(text, Boxes::All), all, "{text}");
            assert_eq!(unboxed(text, Boxes::Last), last, "{text}");
        }
    }

    #[test]
    fn distance_is_counted_in_characters() {
        let pair = |between: &str| format!(r"\boxed{{1}}{between}\boxed{{2}}");
        assert_eq!(unboxed(&pair("äääääääää"), Boxes::Last), "1,2");
        assert_eq!(unboxed(&pair("ääääääääää"), Boxes::Last), "2");
        assert_eq!(
            unboxed(&pair(&format!("{} or", " ".repeat(66))), Boxes::Last),
            "1,2"
        );
        assert_eq!(
            unboxed(&pair(&format!("{} or", " ".repeat(67))), Boxes::Last),
            "2"
        );
        assert_eq!(unboxed(&pair("              for     "), Boxes::Last), "2");
    }
}
