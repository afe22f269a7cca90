//! What stands where an answer would go, and is none: "N/A", `\square`, `[answer]`, "I don't know".

use super::words;

/// What is written for an answer that is not given.
const OPEN: [&str; 25] = [
    "n/a",
    "tbd",
    "tba",
    "todo",
    "answer",
    "your answer",
    "the answer",
    "final answer",
    "your final answer",
    "answer here",
    "your answer here",
    "insert answer",
    "insert answer here",
    "insert your answer",
    "insert your answer here",
    "placeholder",
    "to be determined",
    "not available",
    "i don't know",
    "i don’t know",
    "i do not know",
    "don't know",
    "i'm not sure",
    "i am not sure",
    "no idea",
];

/// Signs of an empty place, whatever their argument.
const EMPTY: [&str; 5] = ["\\square", "\\Square", "\\Box", "\\phantom", "\\hspace"];

/// Does `text` only say where an answer would go?
pub(super) fn is_open(text: &str) -> bool {
    if text.len() > 80 {
        return false;
    }
    let bare = undress(text);
    if let Some(rest) = EMPTY.iter().find_map(|it| bare.strip_prefix(it)) {
        let empty = rest.trim_matches(['{', '}', ' ']).is_empty();
        return empty || (rest.starts_with('{') && rest.find('}') == Some(rest.len() - 1));
    }
    let inner = bare.trim_matches(['[', ']', '<', '>', '_', '.', '?', ' ', '*']);
    words::among(inner, &OPEN)
        || (bare.starts_with('[')
            && bare.ends_with(']')
            && words::among(inner, &["number", "value", "result", "insert", "blank"]))
}

/// The text without commands and braces that only set it.
fn undress(text: &str) -> &str {
    let mut text = text.trim_matches(['$', '*', ' ', '.', '"', '`']);
    for _ in 0..4 {
        let inner = ["\\text{", "\\textbf{", "\\mathrm{", "\\mathbf{", "{"]
            .iter()
            .find_map(|open| text.strip_prefix(open)?.strip_suffix('}'));
        match inner {
            Some(inner) => text = inner.trim(),
            None => break,
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_places_are_no_answers() {
        for text in [
            "N/A",
            "n/a.",
            "TBD",
            r"\text{N/A}",
            r"\text{[answer]}",
            r"\square",
            r"\phantom{0}",
            r"\Box",
            "[Your answer here]",
            "<answer>",
            "[number]",
            r"\text{I don't know}",
        ] {
            assert!(is_open(text), "{text}");
        }
        for text in [
            "",
            "5",
            "none",
            "NA",
            r"\text{none}",
            r"\square ABCD",
            r"\phantom{0}5+1",
            "[1, 2]",
            "a/n",
            "number",
            r"\{\}",
            r"\emptyset",
        ] {
            assert!(!is_open(text), "{text}");
        }
    }
}
