//! Texts without an answer: refusals, responses that were cut off, and what stands where an answer would go.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, Match, MatchKind};

use super::words;

/// The phrases of a refusal, and offers that hold one. `None` where they cannot be compiled, which a test excludes.
static REFUSAL: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        // Sooner built than the fastest.
        .kind(Some(AhoCorasickKind::ContiguousNFA))
        .match_kind(MatchKind::LeftmostLongest)
        .build(words::OFFER.iter().chain(words::REFUSAL.iter()))
        .ok()
});

/// How much of the end of a long response is read for a refusal, in bytes.
const WINDOW: usize = 600;

/// Where the last phrase ends in which a response refuses to answer, and whether it may only regret something. "Let me know if you need more information!" is none.
pub(crate) fn refusal(text: &str) -> Option<(usize, bool)> {
    let text = text.trim_end();
    let start = text.trim_start_matches(|it: char| it.is_whitespace() || "*_\"#".contains(it));
    let mut regrets = words::REGRETS.iter();
    let regret = regrets.find_map(|it| words::after(start, it));
    let short = text.len() <= 2 * WINDOW;
    let read = words::ending(text, if short { text.len() } else { WINDOW });
    let offers = words::OFFER.iter().count();
    // An offer that nothing stands before answers nothing.
    let alone = |it: &Match| !read[..it.start()].contains(['.', '!', '\n']);
    let refuses = |it: &Match| it.pattern().as_usize() >= offers || alone(it);
    let last = REFUSAL.as_ref()?.find_iter(read).filter(refuses).last();
    let (rest, regrets) = match last.map(|it| it.range()) {
        Some(said) => (&read[said.end..], words::REGRETS.contains(&read[said])),
        None => (regret?, true),
    };
    Some((text.len() - rest.len(), regrets))
}

/// Is a value refused with what `between` separates from such a phrase before it: "I cannot answer 5 questions", "I don't know; 5 or 6", but not "Sorry, it is 5" and
/// "I don't know why, but it is 5"?
pub(super) fn refuses(between: &str, regrets: bool) -> bool {
    let ends = |it: char| ",.;:!?\n–—".contains(it);
    let clause = between.split(ends).next().unwrap_or("");
    let all = words::words_of(clause).all(|it| words::REFUSED.contains(it));
    let whole = all && !clause.contains(['"', '”']);
    clause.len() == between.len() || whole && !regrets
}

/// Does the text break off in the middle of a sentence or a formula?
pub(super) fn is_cut_off(text: &str) -> bool {
    // A rule of Markdown ends nothing.
    let bare = text.trim_end().trim_end_matches("----").trim_end();
    let bare = bare.trim_end_matches(['*', '_', '`', ' ', '"']);
    let word = words::last_word(bare);
    match bare.chars().next_back() {
        None => true,
        Some('.') => bare.ends_with("..."),
        Some(last) if !last.is_alphabetic() => "=+×÷·<>≈([{,/^&:−-;".contains(last),
        _ if bare[..bare.len() - word.len()].ends_with('\\') => words::OPEN_COMMAND.contains(word),
        _ => word == "a" || words::OPEN_WORD.contains(word),
    }
}

/// Does `text` only say where an answer would go: "N/A", `\square`, `[answer]`, "I don't know", nothing?
pub(super) fn is_placeholder(text: &str) -> bool {
    if text.len() > 80 || text.contains("\\{") {
        return false;
    }
    let mut bare = text.trim_matches(['$', '*', ' ', '.', '"', '`', '\n']);
    let opens = ["\\text{", "\\textbf{", "\\mathrm{", "\\mathbf{", "{"];
    while let Some(inner) = opens
        .iter()
        .find_map(|it| bare.strip_prefix(it)?.strip_suffix('}'))
    {
        bare = inner.trim();
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
