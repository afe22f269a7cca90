//! Ratios in words: "9 to 7".

use super::maths;

/// The length of the number that `text` begins with; 0 if none.
fn number(text: &str) -> usize {
    let run = maths::run(text, 0).filter(|run| run.number);
    run.map_or(0, |run| run.end)
}

/// The ratio that `text` begins with, written with colons, and its length.
pub(super) fn leading(text: &str) -> Option<(String, usize)> {
    let mut end = number(text);
    if end == 0 {
        return None;
    }
    let mut ratio = text[..end].to_owned();
    let mut parts = 1;
    while let Some(rest) = text[end..].strip_prefix(" to ") {
        let length = number(rest);
        if length == 0 {
            break;
        }
        ratio.push(':');
        ratio.push_str(&rest[..length]);
        end += 4 + length;
        parts += 1;
    }
    let over = text[end..]
        .trim_start_matches(['*', '`', '"', ')'])
        .chars()
        .next()
        .is_none_or(|it| matches!(it, '.' | ',' | ';' | '!' | '\n'));
    (parts > 1 && over).then_some((ratio, end))
}
