//! Words and signs beside an answer that make it another: a part of "at least 12", "12 or more" or "3 in 4" is no answer.

use super::words;

/// How many words of a narrating sentence may belong to its number on either side.
const NEAR: usize = 3;

/// Does what stands before or behind an announced value change it?
pub(super) fn change(before: &str, after: &str) -> bool {
    let clause = clause(after);
    has(before, &words::CHANGES_BEFORE)
        || deny(before)
        || has(clause, &words::CHANGES_AFTER)
        || deny(clause)
        || before.trim_end().ends_with(is_operator)
        || clause.trim_start().starts_with(is_operator)
        || number_goes_on(clause)
}

/// Is what follows an argument of a function that nobody evaluated, as the 3 of "len(3)"?
pub(super) fn is_argument(before: &str) -> bool {
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(200))..];
    let mut closed = 0_usize;
    let open = near.char_indices().rev().find(|&(_, it)| {
        closed += usize::from(it == ')');
        let opens = it == '(' && closed == 0;
        closed -= usize::from(it == '(' && closed > 0);
        opens
    });
    let Some((open, _)) = open else {
        return false;
    };
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let name = &near[near[..open].trim_end_matches(is_part).len()..open];
    name.len() > 1
        && name.contains(|it: char| it.is_ascii_lowercase())
        && !crate::lexicon::words::KIND_OF_ANSWER.contains(name)
}

/// Does a number follow before anything sets it off, as in "3 in 4" or "4 hr 50 min"?
fn number_goes_on(after: &str) -> bool {
    let end = after.find([',', ';', ':', '(', '=']).unwrap_or(after.len());
    after[..end].contains(|it: char| it.is_ascii_digit())
}

/// The same for the letter of a choice, whose text may follow.
pub(super) fn change_choice(before: &str, after: &str) -> bool {
    let joined = words_of(after).next();
    has(before, &words::CHANGES_BEFORE)
        || deny(before)
        || denied_after(after)
        || joined.is_some_and(|word| words::CHANGES_AFTER.contains(word))
}

/// The same for an answer in words, which may be followed by more of a list.
pub(super) fn change_words(before: &str, after: &str) -> bool {
    has(before, &words::CHANGES_BEFORE)
        || deny(before)
        || words_of(after).any(|word| matches!(word, "and" | "or"))
}

/// The same for a value within a sentence that narrates, where only the nearest words belong to it.
pub(super) fn change_near(before: &str, after: &str) -> bool {
    let from = words_of(before)
        .rev()
        .take(NEAR)
        .last()
        .map_or(before.len(), |word| offset(before, word));
    let to = words_of(after)
        .take(NEAR)
        .last()
        .map_or(0, |word| offset(after, word) + word.len());
    let (before, after) = (&before[from..], clause(&after[..to]));
    has(before, &words::CHANGES_BEFORE)
        || deny(before)
        || has(after, &words::CHANGES_AFTER)
        || deny(after)
        || before.trim_end().ends_with(is_operator)
        || after.trim_start().starts_with(is_operator)
}

/// Is what stands before `after` denied there, as in "12 is incorrect"?
pub(super) fn denied_after(after: &str) -> bool {
    let sets_off = after.trim_start().starts_with([',', '.', ';', '(']);
    let says = words_of(after).next().is_some_and(|word| {
        words::among(word, &["is", "are", "was"]) || words::DENIES.contains(word)
    });
    !sets_off
        && says
        && deny(
            &after[..words_of(after)
                .take(NEAR)
                .last()
                .map_or(0, |word| offset(after, word) + word.len())],
        )
}

/// Is what a text is about denied in it?
pub(super) fn deny(text: &str) -> bool {
    has(text, &words::DENIES)
}

/// A sign that joins a value to what stands beside it.
fn is_operator(sign: char) -> bool {
    matches!(
        sign,
        '<' | '>' | '≤' | '≥' | '+' | '-' | '–' | '−' | '/' | '^' | '×' | '÷'
    )
}

/// Up to the words that explain the answer, which may say what they like.
fn clause(after: &str) -> &str {
    let end = words_of(after)
        .find(|word| words::SUBORDINATING.contains(word) && !words::CONDITION.contains(word))
        .map_or(after.len(), |word| offset(after, word));
    &after[..end]
}

fn has(text: &str, list: &words::List) -> bool {
    words_of(text).any(|word| list.contains(word))
}

fn offset(text: &str, word: &str) -> usize {
    word.as_ptr() as usize - text.as_ptr() as usize
}

fn words_of(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|it: char| !(it.is_alphanumeric() || matches!(it, '\'' | '’')))
        .filter(|word| !word.is_empty())
}
