//! Words and signs beside an answer that make it another: a part of "at least 12", "12 or more" or "3 in 4" is no answer.

use super::words;
use crate::lexicon::words::APPROXIMATELY;

/// How many words of a narrating sentence may belong to its number on either side.
const NEAR: usize = 3;

/// Does what stands before or behind an announced value change it?
pub(super) fn change(before: &str, after: &str) -> bool {
    let (clause, aside) = without_brackets(clause(after));
    let changed = |word: &str| {
        words::CHANGES_AFTER.contains(word)
            || words::CHANGES_BEFORE.contains(word)
            || APPROXIMATELY.contains(word)
    };
    words_of(aside).take(2).any(changed)
        || has(before, &words::CHANGES_BEFORE)
        || deny(before)
        || has(clause, &words::CHANGES_AFTER)
        || deny(clause)
        || before.trim_end().ends_with(is_operator)
        || clause.trim_start().starts_with(is_operator)
        || number_goes_on(clause)
}

/// A text without its first brackets, and what they hold: "(3 cubes, 7 spheres)" explains a number, "(or 6)" changes it.
fn without_brackets(text: &str) -> (&str, &str) {
    match text
        .trim_start()
        .strip_prefix('(')
        .and_then(|it| it.split_once(')'))
    {
        Some((inner, rest)) => (rest, inner),
        None => (text, ""),
    }
}

/// Does a number follow before anything sets it off, as in "3 in 4" or "4 hr 50 min"?
fn number_goes_on(after: &str) -> bool {
    let end = after.find([',', ';', ':', '(', '=']).unwrap_or(after.len());
    after[..end].contains(|it: char| it.is_ascii_digit())
}

/// The same for the letter of a choice, whose text may follow.
pub(super) fn change_choice(before: &str, after: &str) -> bool {
    let joined = words_of(after).next();
    has(before, &words::CHANGES_CHOICE_BEFORE)
        || deny(before)
        // The text of an option may be "False" or "Not enough information".
        || (words_of(after).next().is_some_and(is_verb) && denied_after(after))
        || joined.is_some_and(|word| words::CHANGES_AFTER.contains(word))
}

/// The same for an answer in words, which may be followed by more of a list.
pub(super) fn change_words(before: &str, after: &str) -> bool {
    has(before, &words::CHANGES_BEFORE)
        || deny(before)
        || words_of(after).any(|word| matches!(word, "and" | "or"))
        || goes_on(after)
}

/// Is it the first part of a name, as in "Providence, Rhode Island"?
fn goes_on(after: &str) -> bool {
    let Some(rest) = after.strip_prefix(", ") else {
        return false;
    };
    let rest = rest.trim_end_matches(['.', '*', '"', ' ']);
    let count = rest.split_whitespace().count();
    count <= 3
        && rest
            .split_whitespace()
            .all(|word| word.starts_with(char::is_uppercase))
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
        || deny_announcement(before)
        || deny(before)
        || has(after, &words::CHANGES_AFTER)
        || deny(after)
        || before.trim_end().ends_with(is_operator)
        || after.trim_start().starts_with(is_operator)
}

/// Is what stands before `after` denied there, as in "12 is incorrect"?
pub(super) fn denied_after(after: &str) -> bool {
    let sets_off = after.trim_start().starts_with([',', '.', ';', '(']);
    let says = words_of(after)
        .next()
        .is_some_and(|word| is_verb(word) || words::DENIES.contains(word));
    !sets_off
        && says
        && deny(
            &after[..words_of(after)
                .take(NEAR)
                .last()
                .map_or(0, |word| offset(after, word) + word.len())],
        )
}

fn is_verb(word: &str) -> bool {
    const VERBS: [&str; 8] = [
        "is", "are", "was", "isn't", "isn’t", "cannot", "can't", "can’t",
    ];
    words::among(word, &VERBS)
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

/// Is an announcement denied, in one of the languages: "La respuesta no es 18"?
pub(super) fn deny_announcement(text: &str) -> bool {
    has(text, &words::DENIES_ANNOUNCEMENT)
}

/// Up to the words that explain the answer, which may say what they like.
fn clause(after: &str) -> &str {
    let end = words_of(after)
        .find(|word| words::SUBORDINATING.contains(word) && !words::CONDITION.contains(word))
        .map_or(after.len(), |word| offset(after, word));
    &after[..end]
}

/// Does a word of another language scale a value: "1,8 millones", "18 Prozent"?
pub(super) fn scaled(text: &str) -> bool {
    has(text, &words::FOREIGN_SCALE)
}

/// Does a text begin by taking back what stands before it, as in "Wait, that is wrong"?
pub(super) fn takes_back(text: &str) -> bool {
    words_of(text)
        .take(6)
        .any(|word| words::TAKES_BACK.contains(word))
}

/// The same for what stands around an answer in a script without spaces.
pub(super) fn change_spaceless(before: &str, after: &str) -> bool {
    let within = |text: &str| {
        text.contains(words::is_spaceless)
            && words::CHANGES_SPACELESS.iter().any(|it| text.contains(it))
    };
    within(before) || within(after) || words::SCALE_SPACELESS.begin(after.trim_start()).is_some()
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
