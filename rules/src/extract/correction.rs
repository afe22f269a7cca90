//! Second thoughts: "Wait, actually it is 6."

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

const CUES: [&str; 18] = [
    "wait,",
    "wait.",
    "wait!",
    "wait -",
    "wait —",
    "wait, actually",
    "actually,",
    "actually the",
    "actually it",
    "correction:",
    "oops",
    "scratch that",
    "hold on",
    "i made a mistake",
    "i made an error",
    "let me correct",
    "sorry,",
    "no, the",
];

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(CUES)
        .ok()
});

/// Where the first correction behind `at` begins.
pub(super) fn after(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    AUTOMATON
        .as_ref()?
        .find_iter(rest)
        .map(|found| found.start())
        .find(|&start| {
            // At the beginning of a sentence.
            rest[..start]
                .trim_end_matches([' ', '\n', '*', '_', '(', '"', '\t'])
                .ends_with(['.', '!', '?', '$', ')', '}', ':', ';', '…', ',', ']'])
                || rest[..start].ends_with('\n')
                || rest[..start].trim().is_empty()
        })
        .map(|start| at + start)
}

/// Does the second thought come to the same?
pub(super) fn confirms(text: &str) -> bool {
    let tail = &text[text.ceil_char_boundary(text.len().saturating_sub(300))..];
    let lower = tail.to_ascii_lowercase();
    [
        "is correct",
        "was correct",
        "is right",
        "was right",
        "confirm",
        "checks out",
        "still holds",
        "so yes",
        "looks good",
        "is indeed",
        "verified",
    ]
    .iter()
    .any(|it| lower.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cues_stand_at_the_beginning_of_a_sentence() {
        assert_eq!(after("5. Wait, actually 6", 1), Some(3));
        assert_eq!(after("5, we actually, well", 1), None);
        assert!(AUTOMATON.is_some());
    }
}
