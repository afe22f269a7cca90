//! Untrusted text for a terminal: names of tensors, files and keys, answers of a hub, messages of a template. A control
//! character in it could move the cursor, set the window's title, or write a line that looks like one of ours.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with all invisible or misleading characters escaped: control characters, characters that change the direction of
/// writing, characters without width, and line separators. `
/// ` is escaped too, so a line stays a line.
pub fn escaped(text: &str) -> Cow<'_, str> {
    escape(text, |_| false)
}

/// As [`escaped`], for text with lines and tabs of its own, which are kept.
pub fn escaped_lines(text: &str) -> Cow<'_, str> {
    escape(text, |character| matches!(character, '\n' | '\t'))
}

fn escape(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let hidden = |character: char| is_hidden(character) && !keep(character);
    if !text.contains(hidden) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if hidden(character) {
            // Writing to a string does not fail.
            let _ = write!(shown, "{}", character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown.into()
}

/// Whether a character is not shown as itself.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::{escaped, escaped_lines};

    #[test]
    fn what_is_not_shown_as_itself_is_escaped() {
        for (text, shown) in [
            ("plain – ünïcödé 日本語 😀", "plain – ünïcödé 日本語 😀"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{9b}2J\u{7f}", "\\u{9b}2J\\u{7f}"),
            ("a\r\nb\tc\0", "a\\r\\nb\\tc\\u{0}"),
            (
                "\u{202e}gnp\u{2066}\u{2069}",
                "\\u{202e}gnp\\u{2066}\\u{2069}",
            ),
            (
                "\u{200b}\u{2028}\u{2029}\u{feff}",
                "\\u{200b}\\u{2028}\\u{2029}\\u{feff}",
            ),
        ] {
            assert_eq!(escaped(text), shown);
        }
        assert_eq!(escaped_lines("a\tb\r\nc\u{1b}"), "a\tb\\r\nc\\u{1b}");
    }
}
