//! JSON with the bare `NaN`, `Infinity` and `-Infinity` that Python, `DuckDB` and others write, and that JSON does not have.

use std::borrow::Cow;

/// The words that are read as null, the longest first.
const WORDS: [&str; 4] = ["-Infinity", "Infinity", "NaN", UNNAMED];
/// What a table's reader writes for a class label that stands for none.
pub(crate) const UNNAMED: &str = "NoClass";
const NULL: &[u8] = b"null";

/// Whether a table's reader found in a cell what is no text: it escapes its first character, a bracket or an `n`. Of ASCII other writers
/// escape `<`, `&`, quotes and the like.
pub(crate) fn is_marked(json: &str) -> bool {
    let code = json.strip_prefix("\"\\u00").and_then(|it| it.get(..2));
    code.is_some_and(|code| ["5b", "7b", "28", "6e", "4e"].contains(&code))
}

/// Whether that was `nan` or `None`.
pub fn is_marked_none(json: &str) -> bool {
    is_marked(json) && json[5..].starts_with(['6', '4'])
}

/// A text of JSON whose bare words are replaced by null.
#[derive(Debug)]
pub(crate) struct JsonText<'l> {
    text: Cow<'l, str>,
    /// Where each of them is in the text, and which it was.
    words: Vec<(usize, &'static str)>,
}

impl<'l> JsonText<'l> {
    /// Reads a text in one pass; without such words it stays as it is.
    pub(crate) fn new(line: &'l str) -> Self {
        let mut words = Vec::new();
        let text = match replaced(line.as_bytes(), &mut words).map(String::from_utf8) {
            // Whole words of ASCII were replaced, so it is UTF-8 as before.
            Some(Ok(text)) => Cow::Owned(text),
            _ => Cow::Borrowed(line),
        };
        Self { text, words }
    }

    pub(crate) fn of_bytes(line: &'l [u8]) -> Result<Self, String> {
        std::str::from_utf8(line).map(Self::new).map_err(|error| {
            let (at, column) = (error.valid_up_to(), error.valid_up_to() + 1);
            let byte = line.get(at).copied().unwrap_or_default();
            let cure = "convert the file to UTF-8";
            format!("not UTF-8 from column {column} on (byte 0x{byte:02x}): {cure}")
        })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// What a value was written as, if the null at this byte of the text was one of the words.
    pub(crate) fn word(&self, at: usize) -> Option<&'static str> {
        let found = self.words.binary_search_by_key(&at, |(at, _)| *at);
        let (_, word) = self.words[found.ok()?];
        Some(match word {
            UNNAMED => "a class label without a name",
            word => word,
        })
    }

    /// The column, from 1, that a byte of the text had as it was written.
    pub(crate) fn column(&self, column: usize) -> usize {
        let before = self.words.partition_point(|(at, _)| at + 1 < column);
        let longer = self.words[..before].iter();
        // Longer words are followed by spaces in their place.
        column - longer.filter(|(_, word)| word.len() < NULL.len()).count()
    }
}

/// The bytes of JSON with null for bare `NaN`, `Infinity` and `-Infinity`.
pub fn without_nan(json: &[u8]) -> Cow<'_, [u8]> {
    replaced(json, &mut Vec::new()).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// JSON with texts in place of whole numbers beyond 64 bits, of which a number would lose digits.
pub(crate) fn with_all_digits(json: &str) -> Cow<'_, str> {
    let (mut text, mut copied) = (String::new(), 0);
    let (mut at, mut is_within) = (0, false);
    while let Some(&byte) = json.as_bytes().get(at) {
        if is_within || byte == b'"' {
            is_within ^= byte == b'"';
            // An escaped byte ends no string.
            at += if byte == b'\\' { 2 } else { 1 };
            continue;
        }
        let is_part = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let length = json.as_bytes()[at..].iter().take_while(is_part).count();
        let number = &json[at..at + length];
        let is_short = || number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
        if length > 18 && !number.contains(['.', 'e', 'E']) && !is_short() {
            text.extend([&json[copied..at], "\"", number, "\""]);
            copied = at + length;
        }
        at += length.max(1);
    }
    if copied == 0 {
        return json.into();
    }
    text.push_str(&json[copied..]);
    text.into()
}

/// The bytes with null for bare words; `None` if there are none. `words` receives their places.
fn replaced(json: &[u8], words: &mut Vec<(usize, &'static str)>) -> Option<Vec<u8>> {
    // Nearly all lines have none.
    let mut rest = json;
    loop {
        let at = rest.iter().position(|byte| matches!(byte, b'N' | b'I'))?;
        rest = &rest[at..];
        if WORDS.iter().any(|word| rest.starts_with(word.as_bytes())) {
            break;
        }
        rest = &rest[1..];
    }
    let mut text = Vec::with_capacity(json.len() + 8);
    let (mut at, mut is_within) = (0, false);
    while let Some(&byte) = json.get(at) {
        let rest = &json[at..];
        let word = WORDS.iter().find(|word| rest.starts_with(word.as_bytes()));
        let is_part = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
        match word {
            Some(word) if !is_within && !is_part(text.last()) && !is_part(rest.get(word.len())) => {
                words.push((text.len(), word));
                text.extend_from_slice(NULL);
                text.resize(text.len() + word.len().saturating_sub(NULL.len()), b' ');
                at += word.len();
            }
            _ => {
                // An escaped byte ends no string.
                let taken = if is_within && byte == b'\\' { 2 } else { 1 };
                is_within ^= byte == b'"';
                text.extend_from_slice(&rest[..taken.min(rest.len())]);
                at += taken;
            }
        }
    }
    (!words.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
