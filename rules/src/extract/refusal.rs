//! Refusals, and responses that were cut off.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::words;

const PHRASES: &[&str] = &[
    "i cannot determine",
    "i can't determine",
    "cannot determine the answer",
    "i cannot solve",
    "i can't solve",
    "i cannot answer",
    "i can't answer",
    "i cannot provide",
    "i can't provide",
    "i cannot help",
    "i can't help",
    "i can't assist",
    "i cannot assist",
    "i don't know",
    "i do not know",
    "i am not sure",
    "i'm not sure",
    "i am unable",
    "i'm unable",
    "i was unable",
    "unable to solve",
    "unable to determine",
    "unable to answer",
    "unable to find",
    "unable to provide",
    "i give up",
    "as an ai",
    "as a language model",
    "cannot be solved without",
    "can't be solved without",
    "cannot be answered without",
    "not possible to solve",
    "please provide",
    "could you provide",
    "could you please",
    "can you provide",
    "need more information",
    "without more information",
    "without additional information",
    "i couldn't",
    "i could not",
    "i have no idea",
    "not able to solve",
    "no answer",
];

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(PHRASES)
        .ok()
});

/// How much of the beginning and of the end of a response is read for a refusal, in bytes.
const WINDOW: usize = 600;

/// Does the response refuse to answer?
pub(super) fn is_refusal(text: &str) -> bool {
    let text = text.trim();
    let start = text.trim_start_matches(['*', '_', '"', '#', ' ']);
    if words::among(words::first_word(start), &["sorry", "unfortunately"]) {
        return true;
    }
    let head = &start[..start.floor_char_boundary(40)];
    if ["I'm sorry", "I am sorry", "I apologize", "I’m sorry"]
        .iter()
        .any(|it| head.starts_with(it))
    {
        return true;
    }
    let Some(automaton) = AUTOMATON.as_ref() else {
        return false;
    };
    if text.len() <= 2 * WINDOW {
        return automaton.is_match(text);
    }
    let tail = &text[text.ceil_char_boundary(text.len() - WINDOW)..];
    automaton.is_match(tail)
}

/// Does the text break off in the middle of a sentence or a formula?
pub(super) fn is_cut_off(text: &str) -> bool {
    let text = text.trim_end();
    let bare = text.trim_end_matches(['*', '_', '`', ' ', '"']);
    let Some(last) = bare.chars().next_back() else {
        return true;
    };
    if matches!(
        last,
        '=' | '+'
            | '×'
            | '÷'
            | '·'
            | '<'
            | '>'
            | '≈'
            | '('
            | '['
            | '{'
            | ','
            | '/'
            | '^'
            | '&'
            | ':'
            | '−'
            | '-'
            | ';'
    ) {
        return true;
    }
    if matches!(last, '.' | '!' | '?' | '。') {
        return bare.ends_with("...") && !bare.ends_with("\\ldots");
    }
    if last.is_alphabetic() {
        let word = words::last_word(bare);
        if bare[..bare.len() - word.len()].ends_with('\\') {
            return words::among(
                word,
                &[
                    "cdot", "times", "frac", "sqrt", "div", "approx", "pm", "left", "leq", "geq",
                    "dfrac",
                ],
            );
        }
        return word == "a"
            || words::among(
                word,
                &[
                    "is",
                    "are",
                    "was",
                    "be",
                    "the",
                    "an",
                    "of",
                    "to",
                    "and",
                    "or",
                    "so",
                    "then",
                    "we",
                    "which",
                    "that",
                    "this",
                    "in",
                    "on",
                    "at",
                    "by",
                    "for",
                    "from",
                    "with",
                    "as",
                    "if",
                    "when",
                    "since",
                    "because",
                    "therefore",
                    "thus",
                    "hence",
                    "has",
                    "have",
                    "had",
                    "get",
                    "gives",
                    "equals",
                    "equal",
                    "plus",
                    "minus",
                    "times",
                    "need",
                    "needs",
                    "first",
                    "next",
                    "now",
                    "let",
                    "he",
                    "she",
                    "it",
                    "they",
                    "you",
                    "their",
                    "his",
                    "her",
                    "its",
                    "our",
                    "my",
                    "can",
                    "will",
                    "would",
                    "must",
                    "should",
                    "than",
                    "into",
                    "per",
                    "but",
                    "not",
                    "where",
                    "what",
                    "how",
                    "each",
                    "every",
                    "multiply",
                    "add",
                    "subtract",
                    "divide",
                    "calculate",
                    "find",
                    "using",
                    "these",
                    "those",
                    "there",
                    "us",
                    "means",
                ],
            );
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_and_truncation() {
        for text in [
            "I cannot determine the value.",
            "Sorry, I can't do that.",
            "I don't know.",
            "As an AI, I have no eyes.",
        ] {
            assert!(is_refusal(text), "{text}");
        }
        for text in ["The answer is 5.", "There is no solution."] {
            assert!(!is_refusal(text), "{text}");
        }
        for text in [
            "so the total is",
            "5 + 3 =",
            "Then we",
            "and so on...",
            "2 \\times",
        ] {
            assert!(is_cut_off(text), "{text}");
        }
        for text in ["It is 5.", "5", "5 apples", "x + 1", "(1, 2)", "5%"] {
            assert!(!is_cut_off(text), "{text}");
        }
        assert!(AUTOMATON.is_some());
    }
}
