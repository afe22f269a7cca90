//! Words and signs beside an answer that make it another: a part of "at least 12", "12 or more" or "3 in 4" is no answer.

use super::words::{self, words_of};
use crate::lexicon::units::currency;
use crate::lexicon::words::{APPROXIMATELY, KIND_OF_ANSWER};

/// How many words after a value are looked at for phrases that bound it.
const FAR: usize = 40;

/// How many words of a narrating sentence may belong to its number on either side.
const NEAR: usize = 3;

/// Does what stands before or after an announced value change it?
pub(super) fn change(before: &str, after: &str) -> bool {
    let (clause, aside) = without_brackets(clause(before_contrast(after)));
    let near = up_to(clause, &[',', ';', ':', '(']);
    let before = after_evaluation(before);
    let changed = |word: &str| {
        words::CHANGES_AFTER.contains(word)
            || words::CHANGES_BEFORE.contains(word)
            || APPROXIMATELY.contains(word)
    };
    words_of(aside).take(2).any(changed)
        || words_of(aside).any(|it| words::LEAVES_OUT.contains(it))
        || words_of(aside)
            .next()
            .is_some_and(|it| words::WRONG.contains(it))
        || has(before, &words::CHANGES_BEFORE)
        || deny(before)
        || ends_in_bound(before)
        || ends_in_foreign_bound(before)
        || relates(before)
        || changes(clause)
        || deny(clause)
        || before.trim_end().ends_with(is_operator)
        || operator_follows(clause)
        || number_goes_on(clause)
        || has_phrase(near, false)
        || may_be_another(after)
        || is_case(after)
        || clause.split(',').skip(1).any(|it| has_phrase(it, false))
        || words_of(near).any(|word| word.eq_ignore_ascii_case("than"))
}

/// Does a clause after a value say when it is so: ", provided that a = 0"?
fn conditioned(after: &str) -> bool {
    let mut clauses = after.split(',').skip(1).map(|it| words_of(it).next());
    clauses.any(|first| {
        first.is_some_and(|it| words::CONDITION.contains(it) && !words::among(it, &["when"]))
    })
}

/// Is a value that of one of several cases, as in "5 for n = 1, 8 for n = 2"?
fn is_case(after: &str) -> bool {
    let words: Vec<&str> = words_of(after).take(FAR).collect();
    let number = |word: &str| word.starts_with(|it: char| it.is_ascii_digit());
    // "3 such integers for n = 1, and 5 for n = 2"
    words.iter().take(NEAR).any(|first| {
        words::among(first, &["for", "when", "where", "at", "in", "with"])
            && words
                .windows(2)
                .any(|pair| number(pair[0]) && pair[1] == *first)
    })
}

/// What stands after "which is": in "the square root of 9, which is 3" nothing before it changes the 3.
fn after_evaluation(before: &str) -> &str {
    let mut words = words_of(before).rev();
    let equals = words
        .next()
        .is_some_and(|it| words::among(it, &["is", "equals", "gives"]));
    if equals && words.next() == Some("which") {
        return "";
    }
    before
}

/// What stands after the verb: in "the perimeter of the square is 25" the square is what the sentence is about.
pub(super) fn after_verb(before: &str) -> &str {
    let mut verbs = words_of(before).rev();
    let verb = verbs.find(|it| words::among(it, &["is", "are", "was", "were", "equals"]));
    verb.map_or(before, |verb| {
        &before[words::offset(before, verb) + verb.len()..]
    })
}

/// Is a number the place of something in a row, as in "25th prime", or a part of something? By itself "25th" is the number.
pub(super) fn is_place(text: &str) -> bool {
    let rest = text.trim_start_matches(|it: char| it.is_ascii_digit());
    let ending = rest.split(' ').next().unwrap_or("");
    let place = rest.len() < text.len()
        && rest.len() > ending.len()
        && matches!(ending, "st" | "nd" | "rd" | "th");
    place || text.starts_with("half of ")
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
        && !KIND_OF_ANSWER.contains(name)
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

/// Does a number follow before anything sets it off, as in "3 in 4", "4 hr 50 min" or "50 per hundred"?
fn number_goes_on(after: &str) -> bool {
    let near = up_to(after, &[',', ';', ':', '(', '=']);
    let mut words = words_of(near);
    near.contains(|it: char| it.is_ascii_digit())
        || words.next() == Some("per") && words.next().is_some_and(words::is_number_word)
}

/// Is nothing but another number joined to this one, as in "3 in 4" and "12 out of the 15"?
fn is_part_of_number(after: &str) -> bool {
    let mut words = words_of(up_to(after, &['.', ',', ';', ':', '(', '=']))
        .skip_while(|word| words::JOINS_NUMBERS.contains(word))
        .peekable();
    let joined = words_of(after)
        .next()
        .is_some_and(|word| words::JOINS_NUMBERS.contains(word));
    let is_number =
        |word: &str| word.bytes().all(|it| it.is_ascii_digit()) || words::is_number_word(word);
    joined && words.next().is_some_and(is_number) && words.all(words::is_number_word)
}

/// Is a year, or a time of day, only where a time begins or ends, as in "before 1945"?
pub(super) fn is_bounded_time(before: &str, time: &str) -> bool {
    let bounds = ["before", "after", "since", "until", "till"];
    (time.len() == 4 && time.bytes().all(|it| it.is_ascii_digit()) || time.contains(':'))
        && words::among(words::last_word(before), &bounds)
}

/// Is a value that is not negative said again as one that is: "8 in accounting notation, i.e. −8"?
fn is_negated(value: &str, after: &str) -> bool {
    let mut again = ["i.e.", "that is,"].iter();
    let again = again.find_map(|it| after.split_once(it));
    again.is_some_and(|(_, rest)| {
        let rest = rest.trim_start_matches([' ', ',', '$']);
        !value.contains(['-', '−']) && rest.starts_with(['-', '−', '–'])
    })
}

/// Does a sentence that says its value again begin with the negative of it: "-30 dollars, i.e., we owe 30"?
pub(super) fn is_negative_before(before: &str, value: &str) -> bool {
    let digits = value
        .find(|it: char| !it.is_ascii_digit())
        .unwrap_or(value.len());
    let near = before.trim_start_matches(['*', '$', ' ']);
    let first = near.strip_prefix(['-', '−', '–']).unwrap_or("");
    digits > 0 && first.trim_start_matches('$').starts_with(&value[..digits])
}

/// Does a text except something from what it says?
pub(super) fn excepts(text: &str) -> bool {
    let words: Vec<&str> = words_of(text).collect();
    let only = |pair: &[&str]| pair[0] == "only" && words::among(pair[1], &["if", "when", "for"]);
    words
        .iter()
        .any(|it| words::among(it, &["except", "unless"]))
        || words.windows(2).any(only)
}

/// Does what follows a value and its sign deny or change it?
pub(super) fn change_value(before: &str, value: &str, after: &str) -> bool {
    let rounded = super::aside::rounds(value, after) == Some(false);
    change(before, after)
        || is_argument(before)
        || is_negated(value, after)
        || rounded
        || is_rate(value, after)
        || is_replaced(value, after)
}

/// Does the last clause after a value name another number and no more: "306 per wall; with four walls that comes to 1224 in all"?
pub(super) fn is_replaced(value: &str, after: &str) -> bool {
    const SIGNS: &str = "; |, |: | — | – | which is | comes to | makes | totals ";
    let after = after.trim_end_matches(['.', '!', '*', ' ', '\n']);
    if !after.bytes().any(|it| it.is_ascii_digit()) {
        return false;
    }
    let ends = SIGNS
        .split('|')
        .filter_map(|it| Some(after.rfind(it)? + it.len()));
    let Some(at) = ends.max() else {
        return false;
    };
    let said = words_of(&after[at..]).skip_while(|it| words::CONCLUDING.contains(it));
    let said: Vec<&str> = said.take(5).collect();
    let Some((another, unit)) = said.split_first() else {
        return false;
    };
    let number = |it: &str| it.parse::<u64>().ok();
    let own = words_of(value).next().unwrap_or("");
    let bare = unit.len() <= 3
        && !unit
            .iter()
            .any(|it| words::is_unit(it) && *it != "in" || words::is_number_word(it));
    let clear = after[at..]
        .chars()
        .all(|it| it.is_alphanumeric() || " $*".contains(it));
    clear
        && bare
        && number(another).is_some()
        && number(own).is_some()
        && number(another) != number(own)
}

/// Is a value one of each, "42 per box", or what something is more by, "60% more"?
pub(super) fn is_rate(value: &str, after: &str) -> bool {
    let mut said = words_of(after);
    let first = said.next().unwrap_or("");
    let each = first == "per" && said.next().is_some_and(|it| !words::is_unit(it));
    each && value.bytes().all(|it| it.is_ascii_digit())
        || value.ends_with('%') && words::among(first, &["more", "higher", "greater"])
}

/// Do words right after the text of an option change it: "B) 12 cm times 4", "B) 12 cm (or possibly 4)"?
pub(crate) fn change_option(after: &str) -> bool {
    let (rest, aside) = without_brackets(up_to(after, &['.', ',', ';', '\n']));
    let first = |text| words_of(text).next().unwrap_or("");
    words::CHANGES_AFTER.contains(first(rest)) || words::CHANGES_AFTER.contains(first(aside))
}

/// Does "como mínimo" end here, or its like in another language?
fn ends_in_foreign_bound(before: &str) -> bool {
    let mut words = words_of(before).rev();
    let pair = words.next().zip(words.next());
    pair.is_some_and(|(last, first)| is_phrase(&words::BOUND_BEFORE, before, first, last))
}

/// Does "a minimum of" or "anything but" end here?
fn ends_in_bound(before: &str) -> bool {
    // "up to \\{x : x > 0\\}", "up to B) 5"
    let before = before.rfind("\\{").map_or(before, |at| &before[..at]);
    let before = before_label(before);
    // "up to Rs. 5", "up to a million"
    let passed = |word: &&str| {
        currency(word).is_some()
            || words::among(word, &["a", "an", "the"])
            || KIND_OF_ANSWER.contains(word)
    };
    let mut words = words_of(before).rev().skip_while(passed);
    let (joins, noun) = (words.next(), words.next().unwrap_or(""));
    match joins {
        Some("to") => words::among(noun, &["up", "close", "next", "prior"]),
        Some("as") => words::among(noun, &["many", "few", "much", "little", "high", "low"]),
        Some("of") => words::OF_ANOTHER.contains(noun),
        Some("but") => words::among(noun, &["anything", "everything", "all"]),
        _ => false,
    }
}

/// What stands before the letter of an option: "up to" of "up to B)".
fn before_label(before: &str) -> &str {
    let bare = before.trim_end();
    let Some(inner) = bare.strip_suffix([')', '.', ':']) else {
        return before;
    };
    let inner = inner.trim_end_matches(|it: char| it.is_ascii_uppercase());
    let letters = bare.len() - inner.len();
    if letters == 2 {
        inner.trim_end_matches('(')
    } else {
        before
    }
}

/// Is the value said to be another, as in "though it could be 16" and "but it is 16"?
fn may_be_another(after: &str) -> bool {
    let words: Vec<&str> = words_of(after).take(FAR).collect();
    let is_value = |word: &&str| word.starts_with(|it: char| it.is_ascii_digit());
    // "27 cookies each, so 54 in total"
    let concluded = |it: &str| {
        let mut said = words_of(it).skip_while(|it| words::among(it, &["exactly", "only", "just"]));
        said.next()
            .is_some_and(|it| is_value(&it) || words::is_number_word(it))
    };
    if after.split(", so ").skip(1).any(concluded) {
        return true;
    }
    // "56 pairs, which is 112 gloves"; "120 minutes, which is 2 hours" is the same again.
    let also = after.split_once(", which ").map_or("", |(_, rest)| rest);
    // "50; their difference, which is asked for, is 10"
    let other = after
        .rsplit_once(';')
        .and_then(|(_, it)| it.rsplit_once(" is "));
    if other.is_some_and(|(_, it)| words_of(it).next().as_ref().is_some_and(is_value)) {
        return true;
    }
    let mut also =
        words_of(also).skip_while(|it| words::among(it, &["is", "are", "makes", "gives"]));
    if also.next().as_ref().is_some_and(is_value)
        && also
            .next()
            .is_some_and(|it| !words::is_unit(it) && words::is_counted(it))
    {
        return true;
    }
    // "200 kg each, a total of 600 kg"
    let total =
        |pair: &[&str]| words::among(pair[0], &["of", "de", "di", "von"]) && is_value(&pair[1]);
    let mut totals = words
        .windows(3)
        .filter(|it| it[0].eq_ignore_ascii_case("total"));
    if totals.any(|it| total(&it[1..])) {
        return true;
    }
    // "which double counts; dividing by two gives **18**", "on Mondays; otherwise 0"
    let otherwise = words.iter().skip_while(|it| **it != "otherwise").skip(1);
    let later = after.rsplit_once(';').map_or("", |(_, clause)| clause);
    let gives = words_of(later).any(|it| words::CONCLUDING.contains(it) || it == "now")
        || later.contains("**");
    if gives && later.contains(|it: char| it.is_ascii_digit()) || otherwise.take(3).any(&is_value) {
        return true;
    }
    let supposed = words.windows(3).any(|three| {
        words::among(three[0], &["could", "might", "may"])
            && three[1] == "be"
            && is_value(&three[2])
    });
    let replaced = words.iter().skip_while(|it| **it != "but").skip(1);
    let between = |word: &&&str| words::BETWEEN_BUT_AND_VALUE.contains(word);
    // "240, but after fixing the sign it's 204"
    let rest: Vec<&&str> = replaced.clone().collect();
    let corrected = rest
        .windows(2)
        .any(|pair| words::among(pair[0], &["it's", "it’s", "is", "get"]) && is_value(pair[1]));
    supposed
        || corrected
        || replaced
            .clone()
            .find(|it| !between(it))
            .is_some_and(is_value)
}

/// Is what follows the whole of a part that is named, as in "3 sur 12"?
fn ends_in_whole(before: &str) -> bool {
    let mut words = words_of(before).rev();
    let joins = words
        .next()
        .is_some_and(|it| words::among(it, &["sur", "von", "из", "su", "sobre"]));
    joins
        && words
            .next()
            .is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Does a value only stand in a relation to the answer, as in "divisible by 12" and "starting from 12"?
fn relates(before: &str) -> bool {
    let mut words = words_of(before).rev();
    match words.next() {
        // "starting from 12", "the sum of the first 12", "before 1945", "three times 9"
        Some(
            "from" | "through" | "first" | "last" | "next" | "before" | "after" | "since" | "until"
            | "times",
        ) => true,
        // "zero point five"
        Some("point") => words.next().is_some_and(words::is_number_word),
        Some("by") => !words
            .next()
            .is_some_and(|it| words::INTRODUCES_BY.contains(it)),
        _ => false,
    }
}

/// Does "three times", "every" or "is not even close to" end here?
fn multiplied(before: &str) -> bool {
    let mut words = words_of(before).rev();
    let is_number = |word| words::is_number_word(word) || word.parse::<u32>().is_ok();
    match words.next() {
        Some("every" | "Every" | "fois" | "veces" | "vezes" | "volte" | "раза") => true,
        Some("times") => words.next().is_some_and(is_number),
        // "is not even close to", "less than or equal to"
        Some("to") => {
            before.trim_end().ends_with("or equal to")
                || words_of(after_verb(before)).next().is_some_and(is_denial)
        }
        _ => false,
    }
}

/// Up to the words that say what the answer is not, as in "15 (not 16)" and "15, rather than 16".
fn before_contrast(after: &str) -> &str {
    const ENDS: &str = "(not |, not | and not |, rather than |, instead of ";
    let mut fours = after.as_bytes().windows(4);
    if !fours.any(|it| matches!(it, b"not " | b"rath" | b"inst")) {
        return after;
    }
    let end = ENDS.split('|').filter_map(|it| after.find(it)).min();
    &after[..end.unwrap_or(after.len())]
}

/// Is there a phrase after a value that bounds it, as "at most" and "and above"? `doubts`: only one such as "or perhaps" counts, since a text
/// may follow.
fn has_phrase(after: &str, doubts: bool) -> bool {
    // "at the very least" is "at least".
    let very = after.contains(" very ");
    let words = words_of(after).take(FAR);
    let words: Vec<&str> = words
        .filter(|it| !(very && words::among(it, &["the", "very"])))
        .collect();
    let counts = |first: &str| !doubts || first.eq_ignore_ascii_case("or");
    words
        .windows(2)
        .any(|pair| counts(pair[0]) && is_phrase(&words::PHRASE_AFTER, after, pair[0], pair[1]))
}

/// Are two words of a text, one after the other, a phrase of a list? More than a space may stand between them.
fn is_phrase(list: &words::List, text: &str, one: &str, other: &str) -> bool {
    let (from, to) = (words::offset(text, one), words::offset(text, other));
    if from + one.len() + 1 == to {
        list.contains(&text[from..to + other.len()])
    } else {
        list.contains(&format!("{one} {other}"))
    }
}

/// Is a value one of several in a text that narrates nothing, as the 12 of "12 March 1908"?
pub(super) fn is_one_of_several(before: &str, after: &str) -> bool {
    let words = |text| words_of(text).filter(|it| it.len() > 1 && !words::is_unit(it));
    let is_word = |it: &&str| it.contains(|it: char| it.is_alphabetic());
    let narrates = words(before)
        .chain(words(after))
        .filter(is_word)
        .nth(1)
        .is_some();
    let digit = |it: char| it.is_ascii_digit();
    let result = before
        .trim_end_matches([' ', '*', '_', '\n'])
        .ends_with(['=', '≈', '→', ':', '.'])
        || words::CONCLUDING.contains(words::last_word(before));
    !narrates && (before.contains(digit) && !result || after.contains(digit))
}

/// Does what stands before an announcement doubt it, as in "I don't think that the answer is"?
pub(super) fn doubt(before: &str) -> bool {
    let start = before
        .rfind(['.', '\n', '!', '?', ';', ','])
        .map_or(0, |at| at + 1);
    let near: Vec<&str> = words_of(&before[start..]).rev().take(NEAR * 2).collect();
    let doubted = near.iter().enumerate().any(|(at, word)| {
        words::DOUBTS.contains(word)
            || words::THINKS.contains(word) && near[at..].iter().any(|it| is_denial(it))
    });
    let glue = |word: &&&str| words::DENIED_ANNOUNCEMENT.contains(word);
    let denied = near.iter().find(|word| !glue(word));
    doubted || denied.is_some_and(|it| is_denial(it) || words::among(it, &["no", "thought"]))
}

/// The text before the first of these signs.
fn up_to<'t>(text: &'t str, signs: &[char]) -> &'t str {
    &text[..text.find(signs).unwrap_or(text.len())]
}

/// Does what stands around the letter of a choice, whose text may follow it, change it?
pub(super) fn change_choice(before: &str, letter: &str, after: &str) -> bool {
    // "B: to the left" has a text.
    let text = letter.ends_with([':', '.', ')']);
    let joined = words_of(after).next();
    has(before, &words::CHANGES_CHOICE_BEFORE)
        || deny(before)
        // The text of an option may be "False" or "Not enough information".
        || (words_of(after).next().is_some_and(is_verb) && denied_after(after))
        || has_phrase(up_to(after, &[',', ';', ':', '(', '.']), text)
        || joined.is_some_and(|word| words::CHANGES_AFTER.contains(word))
}

/// Does what stands around an answer in words change it, or go on with it as a list?
pub(super) fn change_words(before: &str, after: &str) -> bool {
    has(before, &words::CHANGES_BEFORE)
        || ends_in_bound(before)
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

/// Does what stands around a value within a sentence that narrates change it? Only the nearest words belong to it.
pub(super) fn change_near(before: &str, after: &str) -> bool {
    let from = words_of(before)
        .rev()
        .take(NEAR)
        .last()
        .map_or(before.len(), |word| words::offset(before, word));
    // "18 is merely a lower bound."
    let far = if words_of(before).next().is_none() {
        3
    } else {
        1
    };
    let to = words_of(after)
        .take(NEAR * far)
        .last()
        .map_or(0, |word| words::offset(after, word) + word.len());
    let fragment = words_of(before).nth(2 * NEAR).is_none() && !before.contains(" by ");
    let alone = from == 0 || fragment;
    let joined = is_part_of_number(after);
    let elsewhere = may_be_another(after) || is_case(after);
    let multiplied = multiplied(before);
    let conditioned = conditioned(after);
    // "closed interval from 2 to 6"
    let of_interval = before.trim_end().ends_with(" to")
        && words_of(before).any(|it| it.eq_ignore_ascii_case("interval"));
    let (before, after) = (&before[from..], clause(&after[..to]));
    let last = words::last_word(before);
    let relative = words::among(last, &["before", "beyond", "past", "unlike"])
        && !before.trim_end().ends_with([',', ':']);
    elsewhere
        || relative
        || of_interval
        || conditioned
        || ends_in_foreign_bound(before)
        || has(after_verb(before), &words::CHANGES_BEFORE)
        || deny_announcement(before)
        || deny(before)
        || multiplied
        || ends_in_bound(before) && (alone || before.trim_end().ends_with("to"))
        || joined
        || ends_in_whole(before)
        || words_of(after)
            .last()
            .is_some_and(|it| it.len() == 1 && it.starts_with(char::is_lowercase))
            && words_of(after).rev().nth(1) == Some("than")
        || changes(after)
        || has_phrase(after, false)
        || deny(after)
        || before.trim_end().ends_with(is_operator)
        || operator_follows(after)
}

/// Is what follows denied right before it, as in "the answer is not", or a part of what is computed, as in "180 -"?
pub(super) fn denied_before(before: &str) -> bool {
    let operand = before.trim_end_matches([' ', '$']);
    let left = operand.trim_end_matches(is_operator);
    if left.len() < operand.len()
        && !left.is_empty()
        && left.trim_end().ends_with(|it: char| it.is_ascii_digit())
    {
        return true;
    }
    let start = before
        .rfind([',', ';', ':', '.', '\n'])
        .map_or(0, |at| at + 1);
    let mut near = words_of(&before[start..]).rev().take(NEAR).peekable();
    near.peek().is_some_and(|it| *it != "but") && near.any(is_denial)
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
                .map_or(0, |word| words::offset(after, word) + word.len())],
        )
}

/// Do words after a value change it? "3 times" and "3 times in total" are counts, "3 times 4" and "3 times the size" are none; "3 tenths" is a
/// fraction.
fn changes(after: &str) -> bool {
    let mut words = words_of(after);
    let first = words.next().unwrap_or("");
    let counts = |next: &str| words::FOLLOWS_COUNT.contains(next);
    let is_count = first == "times" && words.next().is_none_or(counts);
    let after = if is_count {
        words
            .next()
            .map_or("", |word| &after[words::offset(after, word)..])
    } else {
        after
    };
    // "two dozen and one"
    let goes_on = first == "and" && words_of(after).nth(1).is_some_and(words::is_number_word);
    // "2/5 of a percent"
    let of_percent = first == "of"
        && words_of(after)
            .nth(2)
            .is_some_and(|it| words::among(it, &["percent", "per"]));
    let places = first == "point" && words_of(after).nth(1).is_some_and(words::is_number_word);
    goes_on || places || of_percent || words::is_part(first) || has(after, &words::CHANGES_AFTER)
}

/// Does what stands before a value only suppose it, as in "it could be 12", or say what was, as in "it used to be 12"?
pub(super) fn could_be(before: &str) -> bool {
    let mut words = words_of(before).rev();
    words.next() == Some("be")
        && words.next().is_some_and(|it| {
            let said = ["used", "said", "thought", "believed", "supposed", "assumed"];
            suppose(it) || it == "to" && words.next().is_some_and(|it| said.contains(&it))
        })
}

fn is_verb(word: &str) -> bool {
    words::MAY_DENY.contains(word)
}

/// Is what a text is about denied in it?
pub(crate) fn deny(text: &str) -> bool {
    has(text, &words::DENIES)
}

/// Does a sentence only say what would be, or what somebody might think: "If it applied, the answer would be 40."?
pub(super) fn supposes(sentence: &str) -> bool {
    let sentence = sentence.rsplit(" but ").next().unwrap_or(sentence);
    let any = |test: &dyn Fn(&str) -> bool| words_of(sentence).any(test);
    // "Some would say 20."
    let mut near = 0_usize;
    let said_by_others = words_of(sentence).any(|word| {
        let says = near > 0 && words::SAYS.contains(word);
        near = if words::OTHERS.contains(word) {
            2
        } else {
            near.saturating_sub(1)
        };
        says
    });
    said_by_others
        || any(&|word| words::ONLY_SUPPOSES.contains(word))
        || any(&|word| words::CONDITION.contains(word))
            && any(&|word| words::among(word, &["would", "were"]))
}

/// Does an announcement only suppose: "the answer might be"?
pub(super) fn suppose(announcement: &str) -> bool {
    words_of(announcement).any(|word| words::among(word, &["might", "may", "could"]))
}

/// A sign that joins a value to what stands beside it.
fn is_operator(sign: char) -> bool {
    "<>≤≥≠≪≫+-–−/^×÷".contains(sign)
}

/// Does a sign follow that joins more to the value? A dash before words sets them off.
fn operator_follows(after: &str) -> bool {
    let after = after.trim_start();
    let dash = after.strip_prefix(['-', '–']).is_some_and(|rest| {
        rest.starts_with(' ') && words::first_word(rest.trim_start()).len() > 1
    });
    // "2 $\\text{dozen}$"
    let formula = after.strip_prefix('$').is_some_and(|rest| {
        rest.starts_with(|it: char| it == '\\' || it.is_alphabetic())
            && !words::is_unit(words::first_word(rest))
    });
    after.starts_with(is_operator) && !dash || formula
}

/// Is an announcement denied, in one of the languages: "La respuesta no es 18"?
pub(super) fn deny_announcement(text: &str) -> bool {
    has(text, &words::DENIES_ANNOUNCEMENT)
}

/// Up to the words that explain the answer, which may say what they like.
fn clause(after: &str) -> &str {
    let end = words_of(after)
        .find(|word| words::SUBORDINATING.contains(word) && !words::CONDITION.contains(word))
        .map_or(after.len(), |word| words::offset(after, word));
    &after[..end]
}

/// Does a word of another language scale a value: "1,8 millones", "18 Prozent"?
pub(super) fn scaled(text: &str) -> bool {
    has(text, &words::FOREIGN_SCALE)
}

pub(super) fn is_denial(word: &str) -> bool {
    words::DENIES.contains(word) || word.ends_with("n't") || word.ends_with("n’t")
}

/// As [`change_spaceless`], in a sentence that narrates: only the clause of the number belongs to it.
pub(super) fn change_spaceless_near(before: &str, after: &str) -> bool {
    const ENDS: [char; 4] = [',', ';', ':', '.'];
    let start = before.rfind(ENDS).map_or(0, |at| at + 1);
    change_spaceless(&before[start..], up_to(after, &ENDS))
}

/// Does what stands around an answer change it, in a script without spaces?
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

/// How many bytes of a statement are looked at.
const OPPOSED: usize = 400;

/// Whose dollars a text names: C of "C$24".
pub(crate) fn dollars(text: &str) -> &str {
    let near = &text[..text.floor_char_boundary(OPPOSED)];
    let at = near.find('$').filter(|at| {
        near[at + 1..]
            .trim_start()
            .starts_with(|it: char| it.is_ascii_digit())
    });
    let before = &near[..at.unwrap_or(0)];
    let whose = &before[before
        .trim_end_matches(|it: char| it.is_ascii_uppercase())
        .len()..];
    if whose == "US" { "" } else { whose }
}

/// The code of the currency that a text names: EUR of "EUR 2,400".
pub(crate) fn currency_code(text: &str) -> Option<&'static str> {
    let near = &text[..text.floor_char_boundary(OPPOSED)];
    let is_code = |it: &&str| it.len() == 3 && it.bytes().all(|byte| byte.is_ascii_uppercase());
    let mut codes = words_of(near).filter(is_code).filter_map(currency);
    codes.next().map(|(code, _)| code)
}

/// Does a statement say that what `pred` counts holds what `gold` counts: "15 pairs of apples" for 15 apples?
pub(crate) fn holds(gold: &str, pred: &str, statement: &str) -> bool {
    let [inner, outer] = [gold, pred].map(words::last_word);
    inner.len() > 2 && outer.len() > 2 && statement.contains(&format!("{outer} of {inner}"))
}

/// Does one text say the opposite of the other: a loss and a profit, an increase and a decrease?
pub(crate) fn opposed<'t>(one: &'t str, other: &'t str) -> bool {
    let words = |text: &'t str| -> Vec<&'t str> {
        let near = &text[..text.floor_char_boundary(OPPOSED)];
        // "a.m." is no word.
        let halves = [
            ("a.m.", "am"),
            ("p.m.", "pm"),
            ("A.M.", "am"),
            ("P.M.", "pm"),
        ];
        let halves = halves.into_iter().filter(|(it, _)| near.contains(it));
        words_of(near)
            .filter(|it| it.len() > 1 && it.starts_with(char::is_alphabetic))
            .chain(halves.map(|(_, it)| it))
            .collect()
    };
    let one = words(one);
    // Most answers have no words.
    if one.is_empty() {
        return false;
    }
    let other = words(other);
    let has = |words: &[&str], stem: &str| {
        words.iter().any(|word| {
            word.get(..stem.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(stem))
                && (stem.len() > 4 || word.len() <= stem.len() + 1)
        })
    };
    let says = |words: &[&str], stem: &str, not: &str| has(words, stem) && !has(words, not);
    words::OPPOSITES.iter().any(|pair| {
        pair.split_once(' ').is_some_and(|(a, b)| {
            says(&one, a, b) && says(&other, b, a) || says(&one, b, a) && says(&other, a, b)
        })
    })
}

/// Does a text state its value as lost: "a decrease of 15%"?
pub(crate) fn falls(text: &str) -> bool {
    has(&text[..text.floor_char_boundary(OPPOSED)], &words::FALLS)
}
