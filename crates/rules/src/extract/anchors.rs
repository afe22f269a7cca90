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
    /// A heading "Solution:", which announces a choice and nothing else.
    Result,
}

/// One announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor {
    pub how: AnchorKind,
    /// Where its word begins.
    pub start: usize,
    /// Behind its last word; the answer follows.
    pub end: usize,
    /// Is it of a language with a decimal comma?
    pub comma: bool,
}

/// How a phrase announces, and in what kind of language.
#[derive(Debug, Clone, Copy)]
struct Phrase {
    how: AnchorKind,
    comma: bool,
    /// What stands before and behind it may be the same run of letters.
    spaceless: bool,
}

/// The words that may announce an answer, and how each of them does. `None` where they cannot be compiled, which a test
/// excludes.
static WORDS: LazyLock<Option<(AhoCorasick, Vec<Phrase>)>> = LazyLock::new(|| {
    use AnchorKind::{Answer, Final, Hashes, Option, Result, Tag};
    let lists = [
        (&words::ANNOUNCEMENT, Answer, false, false),
        (&words::OPTION_ANNOUNCEMENT, Option, false, false),
        (&words::RESULT_ANNOUNCEMENT, Result, false, false),
        (&words::FINAL_ANNOUNCEMENT, Final, false, false),
        (&words::TAG_ANNOUNCEMENT, Tag, false, false),
        (&words::COMMA_ANNOUNCEMENT, Answer, true, false),
        (&words::COMMA_OPTION, Option, true, false),
        (&words::COMMA_RESULT, Result, true, false),
        (&words::COMMA_FINAL, Final, true, false),
        (&words::SPACELESS_ANNOUNCEMENT, Answer, false, true),
        (&words::SPACELESS_FINAL, Final, false, true),
        (&words::WHOLE_ANNOUNCEMENT, Option, false, true),
    ];
    let phrase = |how, comma, spaceless| Phrase {
        how,
        comma,
        spaceless,
    };
    let listed = lists.iter().flat_map(|(list, how, comma, spaceless)| {
        list.iter()
            .map(move |word| (word, phrase(*how, *comma, *spaceless)))
    });
    let hashes = ("####", phrase(Hashes, false, false));
    let (words, kinds): (Vec<_>, Vec<_>) = listed.chain([hashes]).unzip();
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(aho_corasick::MatchKind::LeftmostLongest)
        .kind(Some(aho_corasick::AhoCorasickKind::DFA))
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
            let said = kinds[found.pattern().as_usize()];
            match said.how {
                AnchorKind::Hashes => hashes(text, start, end),
                AnchorKind::Tag => Some(anchor(said, start, end)),
                _ if said.spaceless => spaceless(text, start, end, said),
                _ => phrase(text, start, end, said),
            }
        })
        .take(MAX_KEPT)
        .collect();
    anchors.reverse();
    anchors
}

fn anchor(phrase: Phrase, start: usize, end: usize) -> Anchor {
    Anchor {
        how: phrase.how,
        start,
        end,
        comma: phrase.comma,
    }
}

/// "答案是", "答えは", "정답:": the answer follows at once, or on the line below.
fn spaceless(text: &str, start: usize, end: usize, said: Phrase) -> Option<Anchor> {
    let rest = &text[end..];
    let bare = rest.trim_start_matches(['*', '_', ' ', '】', '」', '#']);
    let at = end + rest.len() - bare.len();
    let complete = text[start..end].ends_with([':', '：']) || said.how == AnchorKind::Option;
    let bound = match words::SPACELESS_BINDER.begin(bare) {
        Some((word, rest)) => {
            at + word.len() + rest.len() - rest.trim_start_matches([',', '、', ' ']).len()
        }
        None if complete || bare.starts_with('\n') => at,
        None => return None,
    };
    Some(anchor(said, start, bound))
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
        comma: false,
    })
}

fn phrase(text: &str, start: usize, end: usize, said: Phrase) -> Option<Anchor> {
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
    let how = match said.how {
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
    let heading = is_heading(sentence);
    let reach = match how {
        // "Answer choices: A) 5" lists them.
        AnchorKind::Result if !heading || rest.len() < text.len() - end => return None,
        // "Ans. (B)"
        AnchorKind::Result if text[..end].ends_with('.') => 0,
        _ => match binder(rest, heading) {
            Some(reach) => reach,
            // "Damit ist die Antwort C."
            None if said.comma
                && sentence
                    .split_whitespace()
                    .any(|it| words::BINDER.contains(it)) =>
            {
                0
            }
            None => return None,
        },
    };
    let end = text.len() - rest.len() + reach;
    let colon = text[..end].ends_with([':', '：', '.']);
    // "## Conclusion" on a line of its own.
    let line_over = rest.trim_start_matches([' ', '*']).starts_with('\n');
    let titled = sentence.trim_start().starts_with('#') && line_over;
    let said = Phrase { how, ..said };
    (colon || titled || how != AnchorKind::Result).then(|| anchor(said, start, end))
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
    // "Правильный ответ — 18"
    if let Some(rest) = bare.strip_prefix('—')
        && rest.starts_with(' ')
    {
        return Some(skipped + '—'.len_utf8());
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
        if words::BINDER.contains(word)
            && !here[word.len()..].starts_with(|it: char| it.is_alphanumeric())
        {
            return Some(at + word.len());
        }
        at += word.len().max(1);
    }
    None
}
