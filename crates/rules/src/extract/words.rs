//! Words beside an answer: the lists of `lexicon/words.tsv` that extraction asks for, and where a word begins and ends.

use super::scan::{Kinds, passing};
use crate::lexicon::numbers::{NumberWord, cardinal, number_word};
use crate::lexicon::units;
use crate::lexicon::words::lists;
pub(super) use crate::lexicon::words::{FOREIGN_SCALE, JOINS_EITHER, JOINS_LETTERS, List};
pub(super) use crate::lexicon::{ending, in_lower_case, is_digit, leading};

lists! {
    FUNCTION, FUNCTION_WITH_ARGUMENT, UNIT, NO_UNIT, MAGNITUDE, UNIT_PREFIX, ADJECTIVE, NOT_COUNTED, PLURAL, SUBORDINATING, CONCLUDING,
    PREPOSITION, NUMBERED, TWO_LETTERS, AMOUNT, RATIO, OF_ANOTHER, FILLER, NO_ANSWER, VERDICT, BEGINS_NO_ANSWER, ANNOUNCEMENT, HASHES,
    OPTION_ANNOUNCEMENT, FINAL_ANNOUNCEMENT, TAG_ANNOUNCEMENT, BEFORE_NO_ANNOUNCEMENT, CHANGES_CHOICE_BEFORE, CHANGES_AFTER,
    CONDITION, DOUBTS, INTRODUCES, ONLY_SUPPOSES, FALLS, DENIED_ANNOUNCEMENT,
    THINKS, OPPOSITES, DENIES, COURTESY, EXPLAINS, ABBREVIATION, SUPPOSITION, AFTER_NO_ANNOUNCEMENT, PLACEHOLDER, MARKUP_BETWEEN_BOXES,
    SEPARATES_BOXES, REFUSAL, OFFER, REFUSED, OPEN_COMMAND, OPEN_WORD, CHOOSES, CHOICE_VERB, CHOICE_FILLER, CHOICE_QUALITY, CHOICE_NOUN, TAKES_CHOICE,
    SETTLES_NOTHING, OTHERS, SAYS, TAKES_BACK, OPENS_CORRECTION, SAYS_NO, RETRACTION, RETRACTS_SPACELESS, POINTS_BACK, WRONG, FAULT, SCALE_OR_UNIT,
    TAKES_MARKED_CHOICE, POINTS_TO, REASON, RESULT_ANNOUNCEMENT, OPTION, ARTICLE, THINKING_BEGINS, THINKING_ENDS, ANSWER_CHANNEL, OTHER_CHANNEL,
    TURN_ENDS, TEXT_BEGINS, COMMA_LANGUAGE, COMMA_ANNOUNCEMENT, COMMA_FINAL, COMMA_OPTION, COMMA_RESULT, BINDER, SPACELESS_ANNOUNCEMENT,
    SPACELESS_FINAL, SPACELESS_BINDER, WHOLE_ANNOUNCEMENT, SPACELESS_FILLER, CHANGES_SPACELESS, SCALE_SPACELESS, DENIES_ANNOUNCEMENT, CLOSING,
    EXPLANATION, QUESTION, DISPLAY, OBJECT, EMPTY, TURNS, AFFIRMS, ONLY_OPTION, FITS_ALONE, NONE_OF_ALL, DESCRIBES, SAYS_OF_ANSWER,
    ELSEWHERE, JOINS_ITEMS, END_MARKS, ENDS_SPACELESS, ENDS_PROOF, EXCEPTS, EXTENDS_VALUE,
    JOINS_BOX, CORRECTS, CORRECTS_SPACELESS, CORRECTS_ALIKE, ALSO, ALSO_VERB, ALSO_VALID, RESTRICTS_PARAMETER, RESTRICTS_FAMILY,
    LIMITS_DENIAL, NOT_YET, ENGLISH_ARTICLE, OF_THE_LEAST, SAYS_AGAIN, JOINS_CHOICES, TELLS_OF_OPTION, BEFORE_OPTION, CONTRASTS, GIVES_REASON_FIRST, BEGINS_CASE, BEGINS_CONDITION, REFERS, EXCLUDES, REJECTS, NAMES_ONE_OF_SEVERAL, STATES_OF_NUMBER, NONE, WITHOUT_VALUE, REGRETS, LEFT_BLANK, DENIES_ANNOUNCEMENT_BEFORE, UNREAL, MAY_BE, NO_LONGER_HOLDS, DIMENSION, ANOTHER_GUESS, ANOTHER_GUESS_SPACELESS, BEGINS_CLAUSE, OPENS_CORRECTION_ALONE, MAKES, FIRST_PERSON, BETWEEN_SUBJECT_AND_FAULT, TRUTH_IN_ENGLISH, FITS_NOTHING, SUBJECT_OF_CHOICE, TEMPERATURE_SCALE, ALTERNATIVE, REPEATS, BOUNDS_SPACELESS, BOUNDED_SPACELESS, SEVERAL_ANSWERS, FOLLOWS_LETTER, OUGHT, GETS, TOOL_RESULT, LOOKS, OPENS_BOX, NO_ANSWER_IN_BOX,
}

/// How much of a word is looked at, in bytes: a longer one is in no list.
const MAX_WORD: usize = 64;

/// Is `word` a unit of measurement, in this case: `m` and `M` differ?
pub(super) fn is_unit(word: &str) -> bool {
    let unit = units::is_unit(word) && !NO_UNIT.contains_exactly(word);
    unit || UNIT.contains_exactly(word)
}

/// The length of the word that a text begins with and that makes what follows it negative: "minus 7".
pub(super) fn sign(text: &str) -> Option<usize> {
    let mut signs = ["minus ", "negative "].into_iter();
    signs.find(|it| after(text, it).is_some()).map(str::len)
}

/// What follows a phrase that a text begins with, whatever its case.
pub(super) fn after<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(phrase.len())?;
    head.eq_ignore_ascii_case(phrase).then_some(rest)
}

/// Could `word`, after a number, name what is counted?
pub(super) fn is_counted(word: &str) -> bool {
    let plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    (plural || PLURAL.contains(word)) && !NOT_COUNTED.contains(word)
}

/// Is a character of a script that is written without spaces between words, or glues endings to them?
pub(super) fn is_spaceless(character: char) -> bool {
    matches!(character, '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Is `word` a number, several joined by hyphens, or a fraction such as "five-eighths"?
pub(super) fn is_number_word(word: &str) -> bool {
    let small = |it: &str| in_lower_case(it, cardinal).is_some_and(|it| it < 20);
    if let Some((count, part)) = word.split_once('-')
        && small(count)
        && is_part(part)
    {
        return true;
    }
    word.split('-').all(|part| {
        in_lower_case(part, |lower| match number_word(lower) {
            Some(NumberWord::Part(_) | NumberWord::Place(_)) => lower == "half",
            number => number.is_some(),
        })
    })
}

/// Does a word name parts of a whole, as "thirds" does?
pub(super) fn is_part(word: &str) -> bool {
    matches!(in_lower_case(word, number_word), Some(NumberWord::Part(_)))
}

/// Its words, with the digits and apostrophes in them.
pub(super) fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let begins = &rest[run(rest, false)..];
        let (word, after) = begins.split_at(run(begins, true));
        rest = after;
        (!word.is_empty()).then_some(word)
    })
}

/// How many bytes of words, or of what is between them, a text begins with.
pub(super) fn run(text: &str, of_words: bool) -> usize {
    const NOT_IN_WORD: Kinds = passing(b"'", b"");
    let ends = |it: u8| !it.is_ascii() || (NOT_IN_WORD[usize::from(it)] == 0) != of_words;
    let at = text.bytes().position(ends).unwrap_or(text.len());
    let in_word = |it: char| it.is_alphanumeric() || matches!(it, '\'' | '’');
    match text.as_bytes().get(at) {
        Some(next) if !next.is_ascii() => at + leading(&text[at..], |it| in_word(it) == of_words),
        _ => at,
    }
}

/// Is one of its words in a list?
pub(super) fn has(text: &str, list: &List) -> bool {
    words_of(text).any(|word| list.contains(word))
}

/// Where a part of `text` begins in it.
pub(super) fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// The word that ends at the end of `text`.
pub(super) fn last_word(text: &str) -> &str {
    let text = text.trim_end_matches([' ', '\t', '*', '_', '(', '"', '`', ':', ',', '~']);
    let text = ending(text, MAX_WORD);
    let rest = text.trim_end_matches(|it: char| it.is_alphabetic() || it == '\'');
    &text[rest.len()..]
}

/// The word at the beginning of `text`; empty if it begins with something else.
pub(super) fn first_word(text: &str) -> &str {
    let text = &text[..text.floor_char_boundary(MAX_WORD)];
    &text[..leading(text, |it| it.is_alphabetic() || it == '\'')]
}

/// The letters and hyphens that `text` begins with, at most `length` bytes.
pub(super) fn hyphenated(text: &str, length: usize) -> &str {
    let text = &text[..length];
    let end = leading(text, |it| it.is_ascii_alphabetic() || it == '-');
    text[..end].trim_end_matches('-')
}
