//! Words beside an answer: the lists of `lexicon/words.tsv` that extraction asks for, and where a word begins and ends.

use std::sync::LazyLock;

use crate::lexicon::numbers::{NumberWord, number_word};
use crate::lexicon::units;
use crate::lexicon::words::Words;

pub(super) type List = LazyLock<Words>;

macro_rules! lists {
    ($($name:ident: $list:literal,)*) => {
        $(pub(super) static $name: List = LazyLock::new(|| Words::named($list));)*

        #[cfg(test)]
        const ALL: &[&LazyLock<Words>] = &[$(&$name),*];
    };
}

lists! {
    FUNCTION: "function in prose",
    MODULE: "module",
    FUNCTION_WITH_ARGUMENT: "function with argument",
    UNIT: "unit",
    NO_UNIT: "no unit",
    MAGNITUDE: "magnitude or money",
    UNIT_PREFIX: "unit prefix",
    ADJECTIVE: "adjective of count",
    NOT_COUNTED: "not counted",
    PLURAL: "plural",
    SUBORDINATING: "subordinating",
    CONCLUDING: "concluding",
    PREPOSITION: "preposition",
    NUMBERED: "numbered",
    TWO_LETTERS: "two-letter word",
    AMOUNT: "amount",
    RATIO: "ratio",
    OF_ANOTHER: "of another",
    FILLER: "filler",
    NO_ANSWER: "no answer",
    VERDICT: "verdict",
    BEGINS_NO_ANSWER: "begins no answer",
    ANNOUNCEMENT: "announcement",
    HASHES: "line announcement",
    OPTION_ANNOUNCEMENT: "option announcement",
    FINAL_ANNOUNCEMENT: "final announcement",
    TAG_ANNOUNCEMENT: "tag announcement",
    BEFORE_NO_ANNOUNCEMENT: "before no announcement",
    CHANGES_BEFORE: "changes the value after it",
    CHANGES_CHOICE_BEFORE: "changes the choice after it",
    CHANGES_AFTER: "changes the value before it",
    CONDITION: "condition",
    PHRASE_AFTER: "phrase that bounds the value before",
    JOINS_NUMBERS: "joins numbers",
    DOUBTS: "doubts",
    INTRODUCES: "introduces",
    ONLY_SUPPOSES: "only supposes",
    FALLS: "falls",
    DENIED_ANNOUNCEMENT: "denied announcement",
    INTRODUCES_BY: "introduces by",
    BETWEEN_BUT_AND_VALUE: "between but and value",
    THINKS: "thinks",
    OPPOSITES: "opposites",
    DENIES: "denies",
    COURTESY: "courtesy",
    EXPLAINS: "explains",
    ABBREVIATION: "abbreviation",
    SUPPOSITION: "supposition",
    AFTER_NO_ANNOUNCEMENT: "after no announcement",
    PLACEHOLDER: "placeholder",
    MARKUP_BETWEEN_BOXES: "markup between boxes",
    SEPARATES_BOXES: "separates boxes",
    REFUSAL: "refusal",
    OPEN_COMMAND: "open command",
    OPEN_WORD: "open word",
    CHOOSES: "chooses",
    CHOICE_VERB: "choice verb",
    CHOICE_FILLER: "choice filler",
    CHOICE_QUALITY: "choice quality",
    CHOICE_NOUN: "choice noun",
    TAKES_CHOICE: "takes choice",
    SETTLES_NOTHING: "settles nothing",
    OTHERS: "others",
    SAYS: "says",
    TAKES_BACK: "takes back",
    OPENS_CORRECTION: "opens a correction",
    SAYS_NO: "says no",
    RETRACTION: "retraction",
    RETRACTS_SPACELESS: "retracts without spaces",
    POINTS_BACK: "points back",
    WRONG: "wrong",
    FAULT: "fault",
    FOREIGN_SCALE: "foreign scale",
    TAKES_MARKED_CHOICE: "takes marked choice",
    POINTS_TO: "points to",
    REASON: "reason",
    RESULT_ANNOUNCEMENT: "result announcement",
    OPTION: "option",
    ARTICLE: "article",
    THINKING_BEGINS: "thinking begins",
    THINKING_ENDS: "thinking ends",
    ANSWER_CHANNEL: "answer channel",
    OTHER_CHANNEL: "other channel",
    TURN_ENDS: "turn ends",
    TEXT_BEGINS: "text begins",
    COMMA_LANGUAGE: "comma language",
    COMMA_ANNOUNCEMENT: "comma announcement",
    COMMA_FINAL: "comma final announcement",
    COMMA_OPTION: "comma option announcement",
    COMMA_RESULT: "comma result announcement",
    BINDER: "binder",
    SPACELESS_ANNOUNCEMENT: "spaceless announcement",
    SPACELESS_FINAL: "spaceless final announcement",
    SPACELESS_BINDER: "spaceless binder",
    WHOLE_ANNOUNCEMENT: "whole announcement",
    SPACELESS_FILLER: "spaceless filler",
    CHANGES_SPACELESS: "changes without spaces",
    SCALE_SPACELESS: "scale without spaces",
    DENIES_ANNOUNCEMENT: "denies in announcement",
    CLOSING: "closing",
    HEADING: "heading",
    EXPLANATION: "explanation",
    RESTATES: "restates",
    QUESTION: "question mark",
    DISPLAY: "display environment",
    OBJECT: "object environment",
    EMPTY: "empty command",
}

/// How much of a word is looked at, in bytes: a longer one is in no list.
const MAX_WORD: usize = 64;

/// Is `word` in `list`, whatever its case?
pub(super) fn among(word: &str, list: &[&str]) -> bool {
    list.iter().any(|other| other.eq_ignore_ascii_case(word))
}

/// Is `word` a unit of measurement, in this case: `m` and `M` differ?
pub(super) fn is_unit(word: &str) -> bool {
    let unit = units::is_unit(word) && !NO_UNIT.contains_exactly(word);
    unit || UNIT.contains_exactly(word)
}

/// The length of the word that a text begins with and that makes what follows it negative: "minus 7".
pub(super) fn sign(text: &str) -> Option<usize> {
    let mut signs = ["minus ", "negative "].into_iter();
    let begins = |it: &str| {
        text.get(..it.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(it))
    };
    signs.find(|it| begins(it)).map(str::len)
}

/// Could `word`, after a number, name what is counted?
pub(super) fn is_counted(word: &str) -> bool {
    !NOT_COUNTED.contains(word)
        && ((word.len() > 3 && word.ends_with('s') && !word.ends_with("ss"))
            || PLURAL.contains(word))
}

/// Is a character of a script that is written without spaces between words, or glues endings to them?
pub(super) fn is_spaceless(character: char) -> bool {
    matches!(character, '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Is `word` a number, or several joined by hyphens?
pub(super) fn is_number_word(word: &str) -> bool {
    word.split('-').all(|part| {
        let lower = part.to_ascii_lowercase();
        match number_word(&lower) {
            Some(NumberWord::Part(_) | NumberWord::Place(_)) => lower == "half",
            number => number.is_some(),
        }
    })
}

/// Does a word name parts of a whole, as "thirds" does?
pub(super) fn is_part(word: &str) -> bool {
    matches!(
        number_word(&word.to_ascii_lowercase()),
        Some(NumberWord::Part(_))
    )
}

/// Its words, with the digits and apostrophes in them.
pub(super) fn words_of(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|it: char| !(it.is_alphanumeric() || matches!(it, '\'' | '’')))
        .filter(|word| !word.is_empty())
}

/// Where a part of `text` begins in it.
pub(super) fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// The word that ends at the end of `text`.
pub(super) fn last_word(text: &str) -> &str {
    let text = text.trim_end_matches([' ', '\t', '*', '_', '(', '"', '`', ':', ',', '~']);
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(MAX_WORD))..];
    let start = text
        .rfind(|character: char| !(character.is_alphabetic() || character == '\''))
        .map_or(0, |at| {
            at + text[at..].chars().next().map_or(1, char::len_utf8)
        });
    &text[start..]
}

/// The word at the beginning of `text`; empty if it begins with something else.
pub(super) fn first_word(text: &str) -> &str {
    let text = &text[..text.floor_char_boundary(MAX_WORD)];
    let length = text
        .find(|character: char| !(character.is_alphabetic() || character == '\''))
        .unwrap_or(text.len());
    &text[..length]
}

/// The letters and hyphens that `text` begins with, at most `length` bytes.
pub(super) fn hyphenated(text: &str, length: usize) -> &str {
    let text = &text[..length];
    let end = text
        .find(|it: char| !(it.is_ascii_alphabetic() || it == '-'))
        .unwrap_or(text.len());
    text[..end].trim_end_matches('-')
}

#[cfg(test)]
#[test]
fn every_list_is_in_the_table() {
    assert!(ALL.iter().all(|list| list.iter().next().is_some()));
}
