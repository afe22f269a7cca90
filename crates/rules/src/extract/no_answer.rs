//! Texts without an answer: refusals, responses that were cut off, and what stands where an answer would go.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::words;

/// The phrases of a refusal. `None` where they cannot be compiled, which a test excludes.
static REFUSAL: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        // Sooner built than the fastest.
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .build(words::REFUSAL.iter())
        .ok()
});

/// How much of the end of a long response is read for a refusal, in bytes.
const WINDOW: usize = 600;

/// Does the response refuse to answer?
pub(crate) fn is_refusal(text: &str) -> bool {
    let text = text.trim();
    let start = text.trim_start_matches(['*', '_', '"', '#', ' ']);
    let apologises = ["I'm sorry", "I am sorry", "I apologize", "I’m sorry"]
        .iter()
        .any(|it| start.starts_with(it));
    if apologises || words::REGRETS.contains(words::first_word(start)) {
        return true;
    }
    let short = text.len() <= 2 * WINDOW;
    let read = if short {
        text
    } else {
        words::ending(text, WINDOW)
    };
    REFUSAL
        .as_ref()
        .is_some_and(|phrases| phrases.is_match(read))
}

/// Does the text break off in the middle of a sentence or a formula?
pub(super) fn is_cut_off(text: &str) -> bool {
    // A rule of Markdown ends nothing.
    let bare = text.trim_end().trim_end_matches("----").trim_end();
    let bare = bare.trim_end_matches(['*', '_', '`', ' ', '"']);
    let Some(last) = bare.chars().next_back() else {
        return true;
    };
    if "=+×÷·<>≈([{,/^&:−-;".contains(last) {
        return true;
    }
    if last == '.' {
        return bare.ends_with("...") && !bare.ends_with("\\ldots");
    }
    if !last.is_alphabetic() {
        return false;
    }
    let word = words::last_word(bare);
    if bare[..bare.len() - word.len()].ends_with('\\') {
        words::OPEN_COMMAND.contains(word)
    } else {
        word == "a" || words::OPEN_WORD.contains(word)
    }
}

/// Does `text` only say where an answer would go: "N/A", `\square`, `[answer]`, "I don't know", nothing?
pub(super) fn is_placeholder(text: &str) -> bool {
    if text.len() > 80 || text.contains("\\{") {
        return false;
    }
    let mut bare = text.trim_matches(['$', '*', ' ', '.', '"', '`', '\n']);
    for _ in 0..4 {
        let inner = ["\\text{", "\\textbf{", "\\mathrm{", "\\mathbf{", "{"]
            .iter()
            .find_map(|open| bare.strip_prefix(open)?.strip_suffix('}'));
        match inner {
            Some(inner) => bare = inner.trim(),
            None => break,
        }
    }
    if let Some((_, rest)) = words::EMPTY.begin(bare) {
        let empty = rest.trim_matches(['{', '}', ' ']).is_empty();
        return empty || (rest.starts_with('{') && rest.find('}') == Some(rest.len() - 1));
    }
    let inner = bare.trim_matches(['[', ']', '<', '>', '_', '.', '…', '?', ' ', '*']);
    (inner.is_empty() && !bare.starts_with('['))
        || words::PLACEHOLDER.contains(inner)
        || (bare.starts_with('[') && bare.ends_with(']') && words::LEFT_BLANK.contains(inner))
}
