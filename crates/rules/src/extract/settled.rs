//! The choice that a sentence settles on: "Option D is correct", "so we are left with C", "my pick would be (B)".

use std::ops::Range;

use super::choice::{self, Choice};
use super::qualifiers;
use super::words;

/// How many words may stand between a letter and the verb that settles on it: the text of the option.
const MAX_TEXT: usize = 80;

/// How long a sentence may be that settles on a choice, in bytes.
const MAX_SENTENCE: usize = 800;

/// The choice and where its letter stands in `sentence`; `None` also where it settles on two.
pub(super) fn settled(sentence: &str) -> Option<(Choice, Range<usize>)> {
    if sentence.len() > MAX_SENTENCE || !has_letter(sentence) {
        return None;
    }
    // "Students often choose B", "B would be right if …"
    if words::has(sentence, &words::SETTLES_NOTHING) || qualifiers::supposes(sentence) {
        return None;
    }
    let mut found: Option<(Choice, Range<usize>)> = None;
    let mut at = 0;
    while at < sentence.len() {
        let Some((choice, range)) = mention(sentence, at) else {
            at += step(&sentence[at..]);
            continue;
        };
        at = range.end.max(at + 1);
        if sentence[range.clone()].contains(" or ") {
            return None;
        }
        let (before, after) = (&sentence[..range.start], &sentence[range.end..]);
        // "Only option D satisfies both conditions."
        let rest = after.trim_matches(['*', '_', ' ', ')', '.']);
        let only = words::ONLY_OPTION.contains(before.trim_matches(['*', '_', ' ', '(']))
            && (rest.is_empty() || words::FITS_ALONE.contains(rest));
        let confirmed = only || is_confirmed(&choice, after);
        if !(confirmed || is_taken(&choice, before, after)) {
            continue;
        }
        match &found {
            Some((earlier, _)) if earlier.letters != choice.letters => return None,
            _ => found = Some((choice, range)),
        }
    }
    found
}

/// Does a letter stand by itself that may be one of a choice? Asked first, since few sentences have one.
fn has_letter(sentence: &str) -> bool {
    let bytes = sentence.as_bytes();
    bytes.iter().enumerate().any(|(at, byte)| {
        let free = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        let next = bytes.get(at + 1);
        match byte {
            b'A'..=b'J' => free && next.is_none_or(|it| !it.is_ascii_alphanumeric()),
            b'a'..=b'j' => free && next == Some(&b')'),
            _ => false,
        }
    })
}

/// To the next place where a word or a mark may begin.
fn step(rest: &str) -> usize {
    let first = rest.chars().next().unwrap_or(' ');
    if first.is_alphanumeric() {
        words::run(rest, true)
    } else {
        first.len_utf8()
    }
}

/// A letter that is marked or named as a choice, or stands for itself, at `at`.
fn mention(sentence: &str, at: usize) -> Option<(Choice, Range<usize>)> {
    let rest = &sentence[at..];
    // In a formula it is a variable.
    if rest.starts_with('$') || sentence[..at].ends_with(['$', '\\']) {
        return None;
    }
    let named = choice::strip_name(rest);
    let inner = named.unwrap_or(rest);
    let choice = choice::leading(inner, named.is_some())?;
    let start = sentence.len() - inner.len();
    let range = start..start + choice.end;
    let marked = choice.marked || named.is_some();
    Some((Choice { marked, ..choice }, range))
}

/// Does what follows the letter, or its text, say that it is right?
fn is_confirmed(choice: &Choice, after: &str) -> bool {
    let bare = after.trim_start_matches(['*', '_', ' ', ')', '.', ':', '"', '$']);
    if says_right(bare) {
        return true;
    }
    let window = &after[..after.floor_char_boundary(MAX_TEXT)];
    let comma = window.find([',', ';', '?']).unwrap_or(window.len());
    choice.marked
        && window[..comma]
            .match_indices([' ', '*', ')'])
            .any(|(space, _)| says_right(&after[space + 1..]))
}

/// "is correct", "would be the best choice", "makes the most sense".
pub(super) fn says_right(text: &str) -> bool {
    let text = text.trim_start();
    if words::CHOOSES.iter().any(|phrase| {
        text.strip_prefix(phrase).is_some_and(|rest| {
            // "fits none of them"
            let object = words::words_of(rest).take(4);
            let none = |it| words::FITS_NOTHING.contains(it);
            !rest.starts_with(|it: char| it.is_alphanumeric())
                && !object
                    .into_iter()
                    .any(|it| none(it) || qualifiers::is_denial(it))
        })
    }) {
        return true;
    }
    let mut rest = text;
    let (mut verb, mut right, mut noun, mut only) = (false, false, false, false);
    for _ in 0..9 {
        let next = rest.trim_start_matches([' ', '*', ',']);
        let word = words::first_word(next);
        if !verb {
            verb = words::CHOICE_VERB.contains(word);
            if !verb {
                return false;
            }
        } else if words::CHOICE_NOUN.contains(word) {
            // "is the only one that fits"
            noun = right || !word.eq_ignore_ascii_case("one") || only;
            noun &= !only || !qualifiers::deny(next);
            break;
        } else if words::CHOICE_QUALITY.contains(word) {
            right = true;
        } else if !words::CHOICE_FILLER.contains(word) {
            break;
        }
        only |= word.eq_ignore_ascii_case("only");
        rest = &next[word.len()..];
    }
    // "is the best conductor"
    let next = words::first_word(rest.trim_start_matches(' '));
    let over = rest.trim_start_matches(['*', '"', ')', ' ']).is_empty()
        || rest.starts_with(['.', ',', ';', '!', '*', '\n'])
        || words::SUBORDINATING.contains(next)
        || words::REASON.contains(next);
    noun || right && over
}

/// Do the words before the letter take it: "I choose", "must be", "so", "left with"?
fn is_taken(choice: &Choice, before: &str, after: &str) -> bool {
    let mut last = "";
    let mut head = before;
    for _ in 0..4 {
        head = head.trim_end_matches([' ', '*', '_', ':', ',', '(', '"', '$', '\\']);
        last = words::last_word(head);
        head = &head[..words::offset(head, last)];
        let takes = words::TAKES_CHOICE.contains(last)
            || words::TAKES_MARKED_CHOICE.contains(last)
            || words::CONCLUDING.contains(last)
            || last.eq_ignore_ascii_case("to");
        let skipped = words::CHOICE_FILLER.contains(last)
            || words::OPTION.contains(last)
            || words::CHOICE_QUALITY.contains(last);
        if takes || !skipped {
            break;
        }
    }
    // A lone letter may be a variable or a point, unless the sentence is about options.
    let lists = [&words::CHOICE_NOUN, &words::CHOICE_QUALITY, &words::OPTION];
    let clear = choice.marked
        || lists.into_iter().any(|it| words::has(before, it))
        || words::SUBJECT_OF_CHOICE.contains(words::first_word(before));
    let to = last.eq_ignore_ascii_case("to") && words::POINTS_TO.contains(words::last_word(head));
    let taken = words::TAKES_CHOICE.contains(last)
        || clear && (words::TAKES_MARKED_CHOICE.contains(last) || to)
        || words::CONCLUDING.contains(last) && (choice.marked || head.trim().is_empty());
    let rest = after.trim_start_matches(['*', '_', ')', '"', '$', '`']);
    let word = words::first_word(rest.trim_start());
    let ends =
        |text: &str| text.trim_start().is_empty() || text.starts_with(['.', ',', ';', '!', ':']);
    let over = ends(rest)
        // "I pick B here."
        || words::CHOICE_FILLER.contains(word) && ends(&rest.trim_start()[word.len()..])
        || words::SUBORDINATING.contains(word)
        || words::REASON.contains(word);
    // "So the right one is the third option, (C)."
    let concluded = || {
        let named = words::has(before, &words::CHOICE_QUALITY);
        let changed = [&words::CHANGES_CHOICE_BEFORE, &words::WRONG];
        choice.marked
            && ends(rest)
            && (named || before.contains(" go for ") || before.contains(" go with "))
            && words::CONCLUDING.contains(words::first_word(before.trim_start()))
            && !has_letter(before)
            && !qualifiers::deny(before)
            && !changed.into_iter().any(|it| words::has(before, it))
    };
    taken && (over || choice.marked) || concluded()
}

/// A choice that stands in bold on a line of its own, where no other does.
pub(super) fn emphasized(text: &str, sentence: &str) -> Option<(Choice, Range<usize>)> {
    let line = sentence.trim();
    let inner = line.strip_prefix("**")?.trim_end_matches(['.', '*']);
    let (choice, after) = choice::whole(inner)?;
    let bold = |line: &&str| {
        let other = line.trim_start_matches([' ', '-', '>']).strip_prefix("**");
        other
            .and_then(|it| choice::leading(it, false))
            .is_some_and(|it| it.letters != choice.letters)
    };
    let end = words::offset(sentence, after);
    let start = sentence.len() - sentence.trim_start().len();
    (line.ends_with("**") && text.lines().find(bold).is_none()).then_some((choice, start..end))
}
