//! What takes an answer back: "Actually no.", "Wait, that is wrong", "I made a mistake".

use super::qualifiers::is_denial;
use super::words::{self, words_of};

/// How far after an answer a retraction is looked for, in bytes.
const RETRACTION: usize = 2_000;

/// Does a text begin by taking back what stands before it, as in "Wait, that is wrong"?
pub(super) fn takes_back(text: &str) -> bool {
    words_of(text)
        .take(6)
        .any(|word| words::TAKES_BACK.contains(word))
}

/// Does what follows an answer take it back: "Actually no.", "Wait, that is wrong", "it should be 43"?
pub(crate) fn retracted(after: &str) -> bool {
    let near = &after[..after.floor_char_boundary(RETRACTION)];
    // "20? Or 30?"
    if let Some(rest) = near.strip_prefix('?') {
        let rest = rest.trim_start_matches(['?', ' ', '*', '$', '\n']);
        let next = words::first_word(rest);
        let following = rest[next.len()..].trim_start();
        let no = words::SAYS_NO.contains(next) && !following.starts_with(char::is_alphanumeric);
        if no || words::among(next, &["or", "maybe", "perhaps"]) {
            return true;
        }
    }
    let clauses = near.split(['.', '!', '?', '\n', ';', '(', ')', '—', '…']);
    let clauses = clauses.flat_map(|it| it.split(", so "));
    let said = clauses.filter(|it| it.contains(char::is_alphabetic));
    said.enumerate().any(|(index, clause)| {
        retracts(clause, index == 0) || words::RETRACTS_SPACELESS.begin(clause.trim()).is_some()
    })
}

/// Does one clause take an answer back: a correction that is opened and denies, a phrase of the table, or a fault that is admitted?
/// What "that" points to is the answer only in the first clause after it.
fn retracts(clause: &str, first: bool) -> bool {
    let joins = |word: &&str| words::among(word, &["but", "however", "well", "and", "so"]);
    let words: Vec<&str> = words_of(clause).skip_while(joins).take(10).collect();
    let opens = |word: &&&str| words::OPENS_CORRECTION.contains(word);
    let opened = words.iter().take_while(opens).count();
    let said = &words[opened..];
    let said = &said[said.iter().take_while(|it| joins(it)).count()..];
    // "the answer must be wrong"
    let explicit = said.len() > 2
        && said[1].eq_ignore_ascii_case("answer")
        && words::SAYS_OF_ANSWER.contains(said[2]);
    let said = &said[usize::from(explicit)..];
    // "no, 14": another answer and nothing else.
    let another = first
        && matches!(said, [value] | [_, value] if value.chars().count() == 1
            || value.starts_with(|it: char| it.is_ascii_digit()));
    let no = (opened > 1 || another)
        && words[..opened].iter().enumerate().any(|(at, word)| {
            let following = &clause[words::offset(clause, word) + word.len()..];
            let alone = following.trim().is_empty() || following.starts_with(',');
            // "no wait, it's 32", "wait, it's 32"
            words::SAYS_NO.contains(word) && (alone || at + 1 < opened)
                || another
                    && following.starts_with(',')
                    && words::among(word, &["wait", "actually"])
        });
    let Some(&subject) = said.first() else {
        return no;
    };
    let phrase = takes_back_in_words(&clause[words::offset(clause, subject)..]);
    let near = &said[1..said.len().min(7)];
    let any = |list: &words::List| near.iter().any(|word| list.contains(word));
    let denied = said.iter().take(7).any(|word| is_denial(word));
    let wrong = any(&words::WRONG) || denied && any(&words::VERDICT);
    let fault = near.iter().find(|it| !is_adverb(it));
    let admitted = fault.is_some_and(|it| words::FAULT.contains(it))
        || any(&words::FAULT) && near.iter().any(|it| words::among(it, &["made", "make"]));
    no || phrase
        || (first || opened > 0 || explicit) && words::POINTS_BACK.contains(subject) && wrong
        || words::among(subject, &["i", "we"]) && admitted && !near.contains(&"no")
        || opened > 0 && near.iter().any(|it| it.eq_ignore_ascii_case("should"))
}

/// Does a text begin with a phrase that takes back what stands before it, as in "never mind"?
pub(super) fn takes_back_in_words(text: &str) -> bool {
    let Some(first) = text.bytes().next() else {
        return false;
    };
    let first = first.to_ascii_lowercase();
    let phrases = words::RETRACTION.iter();
    let mut phrases = phrases.filter(|phrase| phrase.as_bytes()[0] == first);
    phrases.any(|phrase| {
        let begins = text
            .get(..phrase.len())
            .is_some_and(|it| it.eq_ignore_ascii_case(phrase));
        begins && !text[phrase.len()..].starts_with(char::is_alphanumeric)
    })
}

fn is_adverb(word: &str) -> bool {
    word.ends_with("ly") || words::among(word, &["just", "have", "had", "was", "think"])
}
