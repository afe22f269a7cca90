//! Words that announce an answer, and where what they announce begins.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::words;

/// How an answer is announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// `#### 5`.
    Hashes,
    /// `<answer>5</answer>`.
    Tag,
    /// "The final answer is".
    Final,
    /// "The answer is", "Answer:".
    Answer,
    /// "The correct option is".
    Option,
}

/// One announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor {
    pub how: How,
    /// Where its word begins.
    pub start: usize,
    /// Behind its last word; the answer follows.
    pub end: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Answer,
    Ans,
    Hashes,
    Tag,
    Option,
    Result,
}

const WORDS: [(&str, Word); 26] = [
    ("answer", Word::Answer),
    ("ans:", Word::Ans),
    ("ans.", Word::Ans),
    ("ans =", Word::Ans),
    ("####", Word::Hashes),
    ("<answer>", Word::Tag),
    ("<final_answer>", Word::Tag),
    ("<final-answer>", Word::Tag),
    ("[answer]", Word::Tag),
    ("correct option", Word::Option),
    ("correct choice", Word::Option),
    ("correct letter", Word::Option),
    ("correct statement", Word::Option),
    ("correct alternative", Word::Option),
    ("best option", Word::Option),
    ("best choice", Word::Option),
    ("right option", Word::Option),
    ("right choice", Word::Option),
    ("appropriate option", Word::Option),
    ("appropriate choice", Word::Option),
    ("suitable option", Word::Option),
    ("accurate option", Word::Option),
    ("likely option", Word::Option),
    ("final result", Word::Result),
    ("final value", Word::Result),
    ("final solution", Word::Result),
];

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(aho_corasick::MatchKind::LeftmostLongest)
        .build(WORDS.map(|(text, _)| text))
        .ok()
});

/// How far behind "answer" its verb may stand, in bytes.
const MAX_GAP: usize = 140;

/// How many announcements are kept, and how many words that may be one are looked at, from the last on.
const MAX_KEPT: usize = 48;
const MAX_LOOKED_AT: usize = 400;

/// The last announcements, in order.
pub(super) fn find(text: &str) -> Vec<Anchor> {
    let Some(automaton) = AUTOMATON.as_ref() else {
        return Vec::new();
    };
    let found: Vec<_> = automaton.find_iter(text).collect();
    let mut anchors: Vec<Anchor> = found
        .into_iter()
        .rev()
        .take(MAX_LOOKED_AT)
        .filter_map(|found| {
            resolve(
                text,
                found.start(),
                found.end(),
                WORDS[found.pattern().as_usize()].1,
            )
        })
        .take(MAX_KEPT)
        .collect();
    anchors.reverse();
    anchors
}

fn resolve(text: &str, start: usize, end: usize, word: Word) -> Option<Anchor> {
    match word {
        Word::Hashes => hashes(text, start, end),
        Word::Tag => Some(Anchor {
            how: How::Tag,
            start,
            end,
        }),
        Word::Ans => starts_word(text, start).then_some(Anchor {
            how: How::Answer,
            start,
            end,
        }),
        Word::Answer | Word::Option | Word::Result => phrase(text, start, end, word),
    }
}

fn starts_word(text: &str, at: usize) -> bool {
    !text[..at].ends_with(|it: char| it.is_alphanumeric())
}

/// `####` and what follows it on the line.
fn hashes(text: &str, start: usize, end: usize) -> Option<Anchor> {
    let rest = &text[end..];
    let dress = rest
        .bytes()
        .take(16)
        .take_while(|byte| matches!(byte, b'#' | b' ' | b'\t'))
        .count();
    let line = &rest[dress..];
    (!line.is_empty() && !line.starts_with(['#', ' ']) && !line.starts_with('\n')).then(|| Anchor {
        how: How::Hashes,
        start,
        end: text.len() - line.len(),
    })
}

fn phrase(text: &str, start: usize, end: usize, word: Word) -> Option<Anchor> {
    if !starts_word(text, start) {
        return None;
    }
    let window = text.ceil_char_boundary(start.saturating_sub(80)).min(start);
    let before = &text[window..start];
    let sentence = before
        .rfind(['.', '\n', '!', '?', ';'])
        .map_or(before, |at| &before[at + 1..]);
    let last = words::last_word(sentence);
    if words::among(
        last,
        &[
            "to", "can", "cannot", "could", "not", "ll", "must", "will", "we", "i", "you",
            "should", "please", "and",
        ],
    ) || last.ends_with("'ll")
        || conditional(sentence)
    {
        return None;
    }
    let how = match word {
        Word::Option => How::Option,
        Word::Result => How::Final,
        _ if last.eq_ignore_ascii_case("final") => How::Final,
        _ => How::Answer,
    };
    let mut at = end;
    let rest = &text[at..];
    if let Some(plural) = rest.strip_prefix('s').or_else(|| rest.strip_prefix("(s)")) {
        at = text.len() - plural.len();
    }
    let rest = &text[at..];
    if rest.starts_with(|it: char| it.is_alphanumeric() || it == '_') {
        return None;
    }
    let next = words::first_word(rest.trim_start());
    if words::among(
        next,
        &[
            "choices", "choice", "options", "key", "sheet", "format", "this", "it",
        ],
    ) && !rest.trim_start()[next.len()..]
        .trim_start()
        .starts_with("is")
    {
        return None;
    }
    let end = at + binder(rest, heading(sentence))?;
    Some(Anchor { how, start, end })
}

/// Is the sentence up to the word one that only supposes an answer?
fn conditional(sentence: &str) -> bool {
    let mut words_before = sentence.split_whitespace();
    words_before.any(|word| {
        let word = word.trim_matches(|it: char| !it.is_alphabetic());
        words::among(
            word,
            &[
                "if", "whether", "suppose", "assume", "unless", "assuming", "what", "which",
                "would", "might", "could", "may", "maybe", "perhaps",
            ],
        )
    })
}

/// Is "answer" the word of a heading: nothing but dress and an adjective before it on its line?
fn heading(before: &str) -> bool {
    let bare = before.trim_matches(|it: char| !it.is_alphanumeric());
    bare.split_whitespace().count() <= 2
}

/// How far the words reach that join "answer" to what it is: `:`, "is", "would be", a line's end below a heading.
fn binder(rest: &str, heading: bool) -> Option<usize> {
    let limit = rest.floor_char_boundary(MAX_GAP);
    let near = &rest[..limit];
    let bare = near.trim_start_matches([
        '*', '_', '"', ')', '`', ' ', '\'', ']', '”', '}', '<', '>', '/',
    ]);
    let skipped = near.len() - bare.len();
    if bare.starts_with([':', '=', '→', '：']) {
        let first = bare.chars().next().map_or(1, char::len_utf8);
        return Some(skipped + first);
    }
    if let Some(after) = bare
        .strip_prefix("- ")
        .or_else(|| bare.strip_prefix("– "))
        .or_else(|| bare.strip_prefix("— "))
        && heading
    {
        return Some(near.len() - after.len());
    }
    if heading && (bare.starts_with('\n') || bare.starts_with("\\n")) {
        return Some(skipped);
    }
    if heading
        && near.contains("**")
        && near[..skipped].contains("**")
        && bare.starts_with(|it: char| it.is_ascii_digit() || it == '$' || it == '\\')
    {
        return Some(skipped);
    }
    // The first verb before the sentence is over.
    let mut at = 0;
    while at < near.len() {
        let here = &near[at..];
        let first = here.chars().next()?;
        match first {
            '\n' | ';' | '?' | '!' => return None,
            '.' if !here[1..].starts_with(|it: char| it.is_alphanumeric()) => return None,
            ':' | '=' => return Some(at + 1),
            _ => {}
        }
        if first.is_alphabetic() {
            let word = words::first_word(here);
            let after = &here[word.len()..];
            if words::among(word, &["is", "are", "was", "equals", "be", "becomes"])
                && !after.starts_with(|it: char| it.is_alphanumeric())
            {
                return Some(at + word.len());
            }
            if word.eq_ignore_ascii_case("comes")
                || word.eq_ignore_ascii_case("turns")
                || word.eq_ignore_ascii_case("works")
            {
                for tail in [" out to be", " out to", " out as", " to be", " to"] {
                    if after.starts_with(tail) {
                        return Some(at + word.len() + tail.len());
                    }
                }
            }
            at += word.len().max(1);
        } else {
            at += first.len_utf8();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcements_are_found() {
        for (text, expected) in [
            ("The answer is 5", Some((How::Answer, " 5"))),
            ("The final answer is: 5", Some((How::Final, ": 5"))),
            ("**Answer:** 5", Some((How::Answer, "** 5"))),
            ("**Answer**: 5", Some((How::Answer, " 5"))),
            ("### Answer\n5", Some((How::Answer, "\n5"))),
            ("**Final Answer**\n\n5", Some((How::Final, "\n\n5"))),
            ("The answer to the question is 5", Some((How::Answer, " 5"))),
            (
                "The answer, in simplest form, would be 5",
                Some((How::Answer, " 5")),
            ),
            ("#### 5", Some((How::Hashes, "5"))),
            ("<answer>5", Some((How::Tag, "5"))),
            ("Ans: 5", Some((How::Answer, " 5"))),
            ("The correct option is B", Some((How::Option, " B"))),
            ("The answers are 3 and 4", Some((How::Answer, " 3 and 4"))),
            ("To answer this, we need 5: 4", None),
            ("If the answer is 5", None),
            ("I answered 5", None),
            ("Answer choices: A) 5", None),
            ("This is my answer. It is 5", None),
        ] {
            let found = find(text).last().map(|it| (it.how, &text[it.end..]));
            assert_eq!(found, expected, "{text}");
        }
        assert!(AUTOMATON.is_some());
    }
}
