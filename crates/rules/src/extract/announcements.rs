//! Words that announce an answer, and where what they announce begins.

use std::sync::LazyLock;

use super::scan::{Kinds, passing};
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor {
    pub how: AnchorKind,
    /// Where its word begins.
    pub start: usize,
    /// After its last word; the answer follows.
    pub end: usize,
    /// Is it of a language with a decimal comma?
    pub comma: bool,
}

/// How a phrase announces, and in what kind of language.
#[derive(Debug, Clone, Copy)]
struct Phrase {
    how: AnchorKind,
    comma: bool,
    /// What stands before and after it may be the same run of letters.
    spaceless: bool,
}

/// What a byte is that one of the words begins with.
const BEGINS: u8 = 2;

/// The words that may announce an answer, by the byte they begin with.
struct Announcements {
    /// Which bytes, in either case, some of them [`BEGINS`] with, and 1 for what is in no word.
    kinds: Kinds,
    /// Which two bytes, in lower case: few words of a text begin so. They stand before their words, too.
    pairs: Box<[u64; 1024]>,
    by_first: Vec<Vec<(usize, &'static str, Phrase)>>,
}

static WORDS: LazyLock<Announcements> = LazyLock::new(|| {
    use AnchorKind::{Answer, Final, Hashes, Option, Result, Tag};
    #[rustfmt::skip]
    let lists = [
        (&words::ANNOUNCEMENT, Answer, false, false), (&words::OPTION_ANNOUNCEMENT, Option, false, false),
        (&words::RESULT_ANNOUNCEMENT, Result, false, false), (&words::FINAL_ANNOUNCEMENT, Final, false, false),
        (&words::TAG_ANNOUNCEMENT, Tag, false, false), (&words::HASHES, Hashes, false, false),
        (&words::COMMA_ANNOUNCEMENT, Answer, true, false), (&words::COMMA_OPTION, Option, true, false),
        (&words::COMMA_RESULT, Result, true, false), (&words::COMMA_FINAL, Final, true, false),
        (&words::SPACELESS_ANNOUNCEMENT, Answer, false, true), (&words::SPACELESS_FINAL, Final, false, true),
        (&words::WHOLE_ANNOUNCEMENT, Option, false, true),
    ];
    let mut found = Announcements {
        kinds: passing(b"", b""),
        pairs: Box::new([0; 1024]),
        by_first: vec![Vec::new(); 256],
    };
    for (list, how, comma, spaceless) in lists {
        for word in list.iter() {
            let pair = lower_pair(word.as_bytes(), 0);
            found.pairs[pair / 64] |= 1 << (pair % 64);
            let phrase = Phrase {
                how,
                comma,
                spaceless,
            };
            found.by_first[pair >> 8].push((pair, word, phrase));
            for first in [word.as_bytes()[0], word.as_bytes()[0].to_ascii_uppercase()] {
                found.kinds[usize::from(first)] |= BEGINS;
            }
        }
    }
    found
});

/// Two bytes of a text in lower case.
fn lower_pair(bytes: &[u8], at: usize) -> usize {
    let byte = |at: usize| usize::from(bytes.get(at).map_or(0, u8::to_ascii_lowercase));
    byte(at) << 8 | byte(at + 1)
}

impl Announcements {
    /// The longest one that begins at `at`.
    fn at(&self, bytes: &[u8], at: usize) -> Option<(usize, Phrase)> {
        let pair = lower_pair(bytes, at);
        if self.pairs[pair / 64] >> (pair % 64) & 1 == 0 {
            return None;
        }
        let begins = |word: &str| {
            let part = bytes.get(at..at + word.len());
            part.is_some_and(|part| part.eq_ignore_ascii_case(word.as_bytes()))
        };
        let own = self.by_first[pair >> 8].iter();
        own.filter(|(own, word, _)| *own == pair && begins(word))
            .max_by_key(|(_, word, _)| word.len())
            .map(|(_, word, phrase)| (word.len(), *phrase))
    }

    /// All of them in a text, where a word may begin, without overlap.
    fn all(&self, text: &str) -> Vec<(usize, usize, Phrase)> {
        let bytes = text.as_bytes();
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(&byte) = bytes.get(at) {
            let kind = self.kinds[usize::from(byte)];
            let mut last = kind;
            at += 1;
            if kind & BEGINS != 0
                && let Some((length, phrase)) = self.at(bytes, at - 1)
            {
                found.push((at - 1, at - 1 + length, phrase));
                at += length - 1;
                last = self.kinds[usize::from(bytes[at - 1])];
            }
            // None begins within a word.
            if last & 1 == 0 {
                let in_word = |it: &&u8| self.kinds[usize::from(**it)] & 1 == 0;
                at += bytes[at..].iter().take_while(in_word).count();
            }
        }
        found
    }
}

/// How far after "answer" its verb may stand, in bytes.
const MAX_GAP: usize = 140;

/// How many announcements are kept, and how many words that may be one are looked at, from the last on.
const MAX_KEPT: usize = 48;
const MAX_LOOKED_AT: usize = 400;

/// The last announcements, in order.
pub(super) fn find(text: &str) -> Vec<Anchor> {
    let found = WORDS.all(text).into_iter().rev().take(MAX_LOOKED_AT);
    let mut anchors: Vec<Anchor> = found
        .filter_map(|(start, end, said)| match said.how {
            AnchorKind::Hashes => hashes(text, start, end),
            AnchorKind::Tag => Some(anchor(said, start, end)),
            _ if said.spaceless => spaceless(text, start, end, said),
            _ => phrase(text, start, end, said),
        })
        .take(MAX_KEPT)
        .collect();
    anchors.reverse();
    anchors
}

/// Does a text hold no words that may announce an answer?
pub(super) fn are_none(text: &str) -> bool {
    WORDS.all(text).is_empty()
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
    let closed = rest[..rest.len() - bare.len()].contains(['】', '」']);
    let complete =
        closed || text[start..end].ends_with([':', '：']) || said.how == AnchorKind::Option;
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
    let near = &rest[..rest.floor_char_boundary(16)];
    let line = &rest[words::leading(near, |it| matches!(it, '#' | ' ' | '\t'))..];
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
    let before = words::ending(&text[..start], 80);
    let sentence = before
        .rfind(['.', '\n', '!', '?', ';'])
        .map_or(before, |at| &before[at + 1..]);
    // "One might guess 40, but the answer is 44."
    let sentence = sentence.rsplit(" but ").next().unwrap_or(sentence);
    let last = words::last_word(sentence);
    let supposed = sentence
        .split_whitespace()
        .any(|word| words::SUPPOSITION.contains(word.trim_matches(|it: char| !it.is_alphabetic())));
    // "The least likely answer is A."
    let before: Vec<&str> = words::words_of(sentence).collect();
    let least = matches!(before[..], [.., it] if words::OF_THE_LEAST.contains(it))
        || matches!(before[..], [.., it, _] if it.eq_ignore_ascii_case("least"));
    if supposed || least || words::BEFORE_NO_ANNOUNCEMENT.contains(last) || last.ends_with("'ll") {
        return None;
    }
    let how = match said.how {
        AnchorKind::Answer if last.eq_ignore_ascii_case("final") => AnchorKind::Final,
        how => how,
    };
    let rest = &text[end..];
    let mut plural = ["s", "(s)"].into_iter();
    let rest = plural.find_map(|it| rest.strip_prefix(it)).unwrap_or(rest);
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
    // Nothing but markup and an adjective before it on its line.
    let bare = sentence.trim_matches(|it: char| !it.is_alphanumeric());
    let heading = bare.split_whitespace().count() <= 2;
    let reach = match how {
        // "Answer choices: A) 5" lists them.
        AnchorKind::Result if !heading || rest.len() < text.len() - end => return None,
        // "Ans. (B)"
        AnchorKind::Result if text[..end].ends_with('.') => 0,
        _ => match binder(rest, heading) {
            // "Choice analysis:"
            Some(reach)
                if how == AnchorKind::Result && rest[..reach].contains(char::is_alphabetic) =>
            {
                return None;
            }
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

/// How far the words reach that join "answer" to what it is: `:`, "is", "would be", a line's end below a heading.
fn binder(rest: &str, heading: bool) -> Option<usize> {
    let near = &rest[..rest.floor_char_boundary(MAX_GAP)];
    let bare = near.trim_start_matches([
        '*', '_', '"', ')', '`', ' ', '\'', ']', '”', '}', '<', '>', '/',
    ]);
    let skipped = near.len() - bare.len();
    // "Правильный ответ — 18"
    let signs = ["->", "=>", "⇒", ":", "=", "→", "：", "— "];
    if let Some(sign) = signs.iter().find(|it| bare.starts_with(**it)) {
        return Some(skipped + sign.trim_end().len());
    }
    // "Ans - zero"; "Ans - 5" may be negative.
    let dash = ["- ", "– "].iter().find_map(|it| bare.strip_prefix(it));
    if heading && dash.is_some_and(|it| it.starts_with(char::is_alphabetic)) {
        return Some(near.len() - dash.map_or(0, str::len));
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
