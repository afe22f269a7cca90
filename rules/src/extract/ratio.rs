//! Ratios in words: "9 to 7".

use super::symbols;

/// The ratio that `text` begins with, written with colons, and its length.
pub(super) fn leading(text: &str) -> Option<(String, usize)> {
    let mut end = symbols::number(text);
    if end == 0 {
        return None;
    }
    let mut ratio = text[..end].to_owned();
    let mut parts = 1;
    while let Some(rest) = text[end..].strip_prefix(" to ") {
        let length = symbols::number(rest);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_in_words() {
        assert_eq!(leading("9 to 7."), Some(("9:7".to_owned(), 6)));
        assert_eq!(leading("6 to 3 to 7"), Some(("6:3:7".to_owned(), 11)));
        assert_eq!(leading("9 to 7 people"), None);
        assert_eq!(leading("9"), None);
    }
}
