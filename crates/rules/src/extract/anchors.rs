//! Words that announce an answer, and where what they announce begins.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::words;

/// How an answer is announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnchorKind {
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
    pub how: AnchorKind,
    /// Where its word begins.
    pub start: usize,
    /// Behind its last word; the answer follows.
    pub end: usize,
}

/// The words that may announce an answer, and how each of them does. `None` where they cannot be compiled, which a test
/// excludes.
static WORDS: LazyLock<Option<(AhoCorasick, Vec<AnchorKind>)>> = LazyLock::new(|| {
    let lists = [
        (&words::ANNOUNCEMENT, AnchorKind::Answer),
        (&words::OPTION_ANNOUNCEMENT, AnchorKind::Option),
        (&words::FINAL_ANNOUNCEMENT, AnchorKind::Final),
        (&words::TAG_ANNOUNCEMENT, AnchorKind::Tag),
    ];
    let listed = lists
        .iter()
        .flat_map(|(list, how)| list.iter().map(|word| (word, *how)));
    let (words, kinds): (Vec<_>, Vec<_>) = listed.chain([("####", AnchorKind::Hashes)]).unzip();
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(aho_corasick::MatchKind::LeftmostLongest)
        .build(words)
        .ok()?;
    Some((automaton, kinds))
});

/// How far behind "answer" its verb may stand, in bytes.
const MAX_GAP: usize = 140;

/// How many announcements are kept, and how many words that may be one are looked at, from the last on.
const MAX_KEPT: usize = 48;
const MAX_LOOKED_AT: usize = 400;

/// The last announcements, in order.
pub(super) fn find(text: &str) -> Vec<Anchor> {
    let Some((automaton, kinds)) = WORDS.as_ref() else {
        return Vec::new();
    };
    let found: Vec<_> = automaton.find_iter(text).collect();
    let mut anchors: Vec<Anchor> = found
        .into_iter()
        .rev()
        .take(MAX_LOOKED_AT)
        .filter_map(|found| {
            let (start, end) = (found.start(), found.end());
            match kinds[found.pattern().as_usize()] {
                AnchorKind::Hashes => hashes(text, start, end),
                how @ AnchorKind::Tag => Some(Anchor { how, start, end }),
                how => phrase(text, start, end, how),
            }
        })
        .take(MAX_KEPT)
        .collect();
    anchors.reverse();
    anchors
}

/// `####` and what follows it on the line.
fn hashes(text: &str, start: usize, end: usize) -> Option<Anchor> {
    let rest = &text[end..];
    let blanks = rest
        .bytes()
        .take(16)
        .take_while(|byte| matches!(byte, b'#' | b' ' | b'\t'))
        .count();
    let line = &rest[blanks..];
    (!line.is_empty() && !line.starts_with(['#', ' ', '\n'])).then(|| Anchor {
        how: AnchorKind::Hashes,
        start,
        end: text.len() - line.len(),
    })
}

fn phrase(text: &str, start: usize, end: usize, how: AnchorKind) -> Option<Anchor> {
    if text[..start].ends_with(|it: char| it.is_alphanumeric()) {
        return None;
    }
    let window = text.ceil_char_boundary(start.saturating_sub(80)).min(start);
    let before = &text[window..start];
    let sentence = before
        .rfind(['.', '\n', '!', '?', ';'])
        .map_or(before, |at| &before[at + 1..]);
    let last = words::last_word(sentence);
    let supposed = sentence
        .split_whitespace()
        .any(|word| words::SUPPOSITION.contains(word.trim_matches(|it: char| !it.is_alphabetic())));
    if supposed || words::BEFORE_NO_ANNOUNCEMENT.contains(last) || last.ends_with("'ll") {
        return None;
    }
    let how = match how {
        AnchorKind::Answer if last.eq_ignore_ascii_case("final") => AnchorKind::Final,
        how => how,
    };
    let rest = &text[end..];
    let rest = rest
        .strip_prefix('s')
        .or_else(|| rest.strip_prefix("(s)"))
        .unwrap_or(rest);
    if rest.starts_with(|it: char| it.is_alphanumeric() || it == '_') {
        return None;
    }
    let next = words::first_word(rest.trim_start());
    if words::AFTER_NO_ANNOUNCEMENT.contains(next)
        && !rest.trim_start()[next.len()..]
            .trim_start()
            .starts_with("is")
    {
        return None;
    }
    let end = text.len() - rest.len() + binder(rest, is_heading(sentence))?;
    Some(Anchor { how, start, end })
}

/// Is "answer" the word of a heading: nothing but markup and an adjective before it on its line?
fn is_heading(before: &str) -> bool {
    let bare = before.trim_matches(|it: char| !it.is_alphanumeric());
    bare.split_whitespace().count() <= 2
}

/// How far the words reach that join "answer" to what it is: `:`, "is", "would be", a line's end below a heading.
fn binder(rest: &str, heading: bool) -> Option<usize> {
    let near = &rest[..rest.floor_char_boundary(MAX_GAP)];
    let bare = near.trim_start_matches([
        '*', '_', '"', ')', '`', ' ', '\'', ']', '”', '}', '<', '>', '/',
    ]);
    let skipped = near.len() - bare.len();
    if let Some(sign) = bare.chars().next()
        && matches!(sign, ':' | '=' | '→' | '：')
    {
        return Some(skipped + sign.len_utf8());
    }
    if heading && (bare.starts_with('\n') || bare.starts_with("\\n")) {
        return Some(skipped);
    }
    // The first verb before the sentence is over.
    let mut at = 0;
    while let Some(first) = near[at..].chars().next() {
        let here = &near[at..];
        match first {
            '\n' | ';' | '?' | '!' => return None,
            // The next cell of a table.
            '|' if here[1..].starts_with(' ') => return None,
            '.' if !here[1..].starts_with(|it: char| it.is_alphanumeric()) => return None,
            ':' | '=' => return Some(at + 1),
            _ => {}
        }
        if !first.is_alphabetic() {
            at += first.len_utf8();
            continue;
        }
        let word = words::first_word(here);
        if words::among(word, &["is", "are", "was", "equals", "be", "becomes"])
            && !here[word.len()..].starts_with(|it: char| it.is_alphanumeric())
        {
            return Some(at + word.len());
        }
        at += word.len().max(1);
    }
    None
}
