//! Answers that are only supposed, doubted, denied or taken back, and values that say no answer by themselves.

use std::sync::LazyLock;

use super::beside::{self, How};
use super::words::{self, has, is_digit, words_of};
use crate::lexicon::units::currency;
use crate::lexicon::words::{KIND_OF_ANSWER, OPERATION, Words};

/// How many words before an announcement may doubt it.
const NEAR: usize = 6;

/// Is a number the place of something in a row, as in "25th prime", or a part of something? By itself "25th" is the number.
pub(super) fn is_place(text: &str) -> bool {
    let rest = text.trim_start_matches(is_digit);
    let ending = rest.split(' ').next().unwrap_or("");
    let place = rest.len() < text.len()
        && rest.len() > ending.len()
        && matches!(ending, "st" | "nd" | "rd" | "th");
    place || text.starts_with("half of ")
}

/// Is what follows an argument of a function that nobody evaluated, as the 3 of "len(3)"?
pub(super) fn is_argument(before: &str) -> bool {
    let Some((head, _)) = words::ending(before, 200)
        .rsplit_once('(')
        .filter(|(_, inner)| !inner.contains(')'))
    else {
        return false;
    };
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let name = &head[head.trim_end_matches(is_part).len()..];
    name.len() > 1
        && name.contains(|it: char| it.is_ascii_lowercase())
        && !KIND_OF_ANSWER.contains(name)
}

/// Does a text except something from what it says?
pub(super) fn excepts(text: &str) -> bool {
    let said = format!(" {} ", words_of(text).collect::<Vec<_>>().join(" "));
    let mut phrases = words::EXCEPTS.iter();
    phrases.any(|it| said.contains(&format!(" {it} ")))
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
        && !beside::is_same(value, another)
}

/// Is a value one of several in a text that narrates nothing, as the 12 of "12 March 1908"?
pub(super) fn is_one_of_several(before: &str, after: &str) -> bool {
    let words = |text| words_of(text).filter(|it| it.len() > 1 && !words::is_unit(it));
    let is_word = |it: &&str| it.contains(|it: char| it.is_alphabetic());
    let mut said = words(before).chain(words(after)).filter(is_word);
    let narrates = said.nth(1).is_some();
    let result = before
        .trim_end_matches([' ', '*', '_', '\n'])
        .ends_with(['=', '≈', '→', '⇒', '>', ':', '.'])
        || words::CONCLUDING.contains(words::last_word(before));
    !narrates && (before.contains(is_digit) && !result || after.contains(is_digit))
}

/// Does what stands before an announcement doubt it, as in "I don't think that the answer is"?
pub(super) fn doubt(before: &str) -> bool {
    let start = before
        .rfind(['.', '\n', '!', '?', ';', ','])
        .map_or(0, |at| at + 1);
    let mut near: Vec<&str> = words_of(&before[start..]).collect();
    near.reverse();
    near.truncate(NEAR);
    // "half of the answer is", "Twice the answer is", but not "In the second half the answer is"
    let head = before[start..].trim_end_matches(|it: char| !it.is_alphanumeric());
    let told = words_of(head).filter(|it| !words::ARTICLE.contains(it));
    let object = matches!(told.collect::<Vec<_>>()[..], [] | [_] | [.., "of"]);
    // "Some say the answer is"
    let others = near.iter().take(2).any(|it| words::SAYS.contains(it));
    let doubted = others && said_by_others(&before[start..])
        || near.iter().enumerate().any(|(at, word)| {
            words::DOUBTS.contains(word)
                || words::THINKS.contains(word) && near[at..].iter().any(|it| is_denial(it))
        });
    let glue = |word: &&&str| words::DENIED_ANNOUNCEMENT.contains(word);
    let denied = near.iter().find(|word| !glue(word));
    doubted
        || object && beside::changes(head, "", How::Boxed)
        || denied.is_some_and(|it| is_denial(it) || words::DENIES_ANNOUNCEMENT_BEFORE.contains(it))
}

/// Is what a text is about denied in it?
pub(crate) fn deny(text: &str) -> bool {
    has(text, &words::DENIES)
}

/// Do words in brackets after an answer say that it is none, or that one of several is none: "rejected", "reject -5", "the latter is extraneous"?
pub(super) fn reject(aside: &str, several: bool) -> bool {
    let aside = aside.trim();
    let (first, rest) = aside.split_once(' ').unwrap_or((aside, ""));
    words::REJECTS.contains(aside)
        || several && words::REJECTS.contains(first) && rest.contains(is_digit)
        || several
            && words::NAMES_ONE_OF_SEVERAL.begin(aside).is_some()
            && (deny(aside) || has(aside, &words::REJECTS))
}

/// Does a sentence only say what would be, or what somebody might think: "If it applied, the answer would be 40."?
pub(super) fn supposes(sentence: &str) -> bool {
    let sentence = sentence.rsplit(" but ").next().unwrap_or(sentence);
    said_by_others(sentence)
        || has(sentence, &words::ONLY_SUPPOSES)
        || has(sentence, &words::CONDITION) && has(sentence, &words::UNREAL)
}

/// Do others than who writes say it: "Some would say 20."?
pub(super) fn said_by_others(sentence: &str) -> bool {
    let mut near = 0_usize;
    words_of(sentence).any(|word| {
        let says = near > 0 && words::SAYS.contains(word);
        near = if words::OTHERS.contains(word) {
            2
        } else {
            near.saturating_sub(1)
        };
        says
    })
}

/// Does an announcement deny what it announces, suppose it or reckon with it: "the answer cannot be", "the answer might be", "the answer plus one is"?
pub(super) fn deny_or_suppose(announcement: &str) -> bool {
    let mut rest = words_of(announcement).skip(1);
    let sum = rest.next().is_some_and(|it| OPERATION.contains(it)) && rest.next().is_some();
    let lists = [&words::DENIES, &words::MAY_BE, &words::NO_LONGER_HOLDS];
    sum || lists.iter().any(|it| has(announcement, it))
}

pub(super) fn is_denial(word: &str) -> bool {
    words::DENIES.contains(word) || word.ends_with("n't") || word.ends_with("n’t")
}

/// As [`change_spaceless`], in a sentence that narrates: only the clause of the number belongs to it.
pub(super) fn change_spaceless_near(before: &str, after: &str) -> bool {
    const ENDS: [char; 4] = [',', ';', ':', '.'];
    let start = before.rfind(ENDS).map_or(0, |at| at + 1);
    change_spaceless(&before[start..], after.split(ENDS).next().unwrap_or(after))
}

/// Does what stands around an answer change it, in a script without spaces?
pub(super) fn change_spaceless(before: &str, after: &str) -> bool {
    let within = |it: &str| it.contains(words::is_spaceless) && words::CHANGES_SPACELESS.within(it);
    within(before) || within(after) || scale_spaceless(after) || bound_spaceless(before)
}

/// Does a text in such a script end with what makes a bound of the value after it?
pub(super) fn bound_spaceless(before: &str) -> bool {
    let end = before.trim_end_matches([' ', '$', '*']);
    !before.is_ascii() && words::BOUNDS_SPACELESS.iter().any(|it| end.ends_with(it))
}

/// Does a text in such a script begin with what scales a number before it, and is no unit: "万"?
pub(super) fn scale_spaceless(after: &str) -> bool {
    let rest = after.trim_start();
    // "万升"
    let mut ends = (4..=15).filter(|at| rest.is_char_boundary(*at));
    words::SCALE_SPACELESS.begin(rest).is_some() && !ends.any(|end| words::is_unit(&rest[..end]))
}

/// How far after an answer a retraction is looked for, in bytes.
const RETRACTION: usize = 2_000;

/// Does a text begin by taking back what stands before it, as in "Wait, that is wrong"?
pub(super) fn takes_back(text: &str) -> bool {
    words_of(text)
        .take(6)
        .any(|word| words::TAKES_BACK.contains(word))
}

/// Words of which one stands in whatever takes an answer back or adds another, of a phrase the longest; then with those of clauses with another.
static TELLS: LazyLock<[Words; 2]> = LazyLock::new(|| {
    // They hold what is wrong, too.
    #[rustfmt::skip]
    let lists = [
        &words::DENIES, &words::FAULT, &words::CORRECTS, &words::OPENS_CORRECTION, &words::ALSO,
        &words::ANOTHER_GUESS, &words::OUGHT, &words::FIRST_PERSON, &words::BEGINS_CASE, &words::BEGINS_CONDITION,
        &words::CONCLUDING,
    ];
    [5, lists.len()].map(|count| {
        let phrases = words::RETRACTION.iter();
        let longest = phrases.filter_map(|it| words_of(it).max_by_key(|it| it.len()));
        let all = lists[..count].iter().flat_map(|it| it.iter());
        Words::of(all.chain(longest).collect())
    })
});

/// Does what follows an answer take it back, or name another that is right, too? Most texts have no word of what does.
pub(super) fn is_changed_later(value: &str, after: &str) -> bool {
    let near = &after[..after.floor_char_boundary(RETRACTION)];
    // In the place of a number stands another.
    let another = !value.contains(is_digit) || near.contains(is_digit);
    let list = &TELLS[usize::from(another)];
    let tells = |it: &str| list.contains(it) || it.ends_with("n't");
    (!near.is_ascii() || near.starts_with('?') || words_of(near).any(tells))
        && (retracted(value, near) || adds_another(value, near))
}

/// Does what follows an answer take it back: "Actually no.", "Wait, that is wrong", "it should be 43"?
pub(super) fn retracted(value: &str, after: &str) -> bool {
    const ENDS: [char; 10] = ['(', ')', '.', '!', '?', '\n', ';', '—', '…', '。'];
    let near = &after[..after.floor_char_boundary(RETRACTION)];
    // "20? Or 30?"
    if let Some(rest) = near.strip_prefix('?') {
        let rest = rest.trim_start_matches(['?', ' ', '*', '$', '\n']);
        let next = words::first_word(rest);
        let following = rest[next.len()..].trim_start();
        let no = words::SAYS_NO.contains(next) && !following.starts_with(char::is_alphanumeric);
        if no || words::ANOTHER_GUESS.contains(next) {
            return true;
        }
    }
    // "Wait, (D)."
    let chosen = value.len() == 1 && value.starts_with(char::is_uppercase);
    let clauses = near
        .split(&ENDS[2 * usize::from(chosen)..])
        .flat_map(|it| it.split(", so "));
    let said = clauses.filter(|it| it.contains(char::is_alphabetic));
    let digits = value.contains(is_digit) && near.contains(is_digit);
    // What is left of its own sentence: "dollars".
    let rest = near.trim_start_matches(['$', '*', ' ']);
    let own = usize::from(rest.starts_with(char::is_lowercase));
    said.enumerate().any(|(index, clause)| {
        retracts(clause, index <= own)
            // "24. No. 36."
            || index == 0 && digits && words::SAYS_NO.contains(clause.trim_matches([' ', '*']))
            || takes_back_in_words(clause.trim_start_matches([' ', ',', '"', '*']))
            || index < 2 + own
                && states_another(value, clause)
                && !says_same(value, &near[words::offset(near, clause)..])
            || words::RETRACTS_SPACELESS.begin(clause.trim()).is_some()
            || index < 2 + own && guesses_spaceless(value, clause)
    })
}

/// Does a clause after an answer say another in its place: "actually 13", "or rather 13", "it should be 13"?
fn states_another(value: &str, clause: &str) -> bool {
    /// How many words such a clause has at most, and within how many it shows what it is.
    const MOST: usize = 8;
    const OPENING: usize = 4;
    /// How many words its number may have with those after it.
    const UNIT: usize = 2;
    let said: Vec<&str> = words_of(clause).take(MOST + 1).collect();
    // "that gives 13 instead"
    let trailing = said.last().is_some_and(|it| words::CORRECTS.contains(it));
    let told = &said[..said.len() - usize::from(trailing)];
    // "it could also be 16 apples"
    let number = told.iter().rposition(|it| it.starts_with(is_digit));
    let number = number.filter(|at| value.contains(is_digit) && at + UNIT >= told.len());
    let end = number.map_or(told.len(), |at| at + 1);
    let Some((last, head)) = told[..end].split_last() else {
        return false;
    };
    let opening = &head[..head.len().min(if end == told.len() { OPENING } else { 0 })];
    let denied = head.first().is_some_and(|it| is_denial(it));
    let plain = || {
        #[rustfmt::skip]
        let lists = [&words::CORRECTS, &words::POINTS_BACK, &words::BINDER, &words::FILLER, &words::FIRST_PERSON, &words::ALSO, &words::ALSO_VERB, &words::OUGHT, &words::GETS, &words::PREPOSITION, &words::THINKS, &words::ANOTHER_GUESS];
        head.iter().all(|it| {
            lists.iter().any(|list| list.contains(it)) || words_of(value).any(|own| own == *it)
        })
    };
    let capital = |it: &str| it.starts_with(char::is_uppercase);
    let like = match value.len() {
        _ if value.contains(is_digit) => last.starts_with(is_digit),
        1 => last.len() == 1 && capital(last),
        // "I mean Rome"
        _ => capital(value) && last.len() > 2 && capital(last) && (denied || plain()),
    };
    if !like || said.len() > MOST {
        return false;
    }
    let is = |at: usize, list: &words::List| head.get(at).is_some_and(|it| list.contains(it));
    // "for 4 days it is 16", "so it is 16", "I think it is 16", "we get 16"
    let condition = is(0, &words::BEGINS_CONDITION);
    let verb = |it: &str| words::BINDER.contains(it) || words::ALSO_VERB.contains(it);
    let set_off = |it: &str| clause[..words::offset(clause, it)].ends_with(", ");
    // "wenn es regnet, sind es 16"
    let said = |a: &str, b: &str| words::POINTS_BACK.contains(a) && verb(b);
    let states = |it: &[&str]| said(it[0], it[1]) || said(it[1], it[0]);
    // "si llueve, son 16", "if it rains, then 16", "if it rains, 16"
    let apart = |it: &&str| set_off(it) && (verb(it) || words::FILLER.contains(it));
    // "So it is 100% certain."
    let share = clause.contains('%') && !value.contains('%');
    let concludes = is(0, &words::CONCLUDING) && is(1, &words::SUBJECT_OF_CHOICE) && !share;
    let begins = concludes || is(0, &words::BEGINS_CASE) || is(0, &words::FIRST_PERSON);
    let case = (condition || begins) && head.windows(2).next_back().is_some_and(states)
        || condition && (set_off(last) || head.last().is_some_and(apart))
        || head.len() == 2 && is(0, &words::FIRST_PERSON) && is(1, &words::GETS);
    let denies_it = |it: &[&str]| is_denial(it[0]) && words_of(value).eq([it[1]]);
    let corrects = case
        || trailing
        || is(0, &words::OUGHT) && is(1, &words::FILLER)
        || head.iter().any(|it| words::OUGHT.contains(it)) && plain()
        || is(0, &words::ANOTHER_GUESS)
            && (end == told.len() && !clause.starts_with(',')
                || value.bytes().all(|it| it.is_ascii_alphanumeric()))
        || opening.iter().any(|it| words::CORRECTS.contains(it))
        || head.windows(2).any(denies_it);
    let reckons = |it: &str| it.contains(['+', '*', '/']);
    let begins = |it: &&str| words::BEGINS_CLAUSE.contains(it) && !words::JOINS_ITEMS.contains(it);
    let joins = head.split_last().is_some_and(|(no, before)| {
        let opens = |it: &&str| words::CORRECTS.contains(it) || begins(it);
        words::DENIES_ANNOUNCEMENT.contains(no) && !before.is_empty() && !before.iter().any(opens)
    });
    corrects
        // "rather than 35", "but not D"; "y no 35", but "wait no 35" corrects
        && !head.last().is_some_and(|it| words::PREPOSITION.contains(it) || is_denial(it))
        && (set_off(last) || !joins)
        && (!reckons(clause) || reckons(value))
        && !clause.contains('=')
        && (case || denied || !head.iter().any(|it| it.starts_with(is_digit)))
        && (!words_of(value).any(|it| it == *last)
            || value.starts_with('-') != clause[..words::offset(clause, last)].ends_with('-'))
}

/// Does a text begin with words and then the same value, written in another way: "or 0.5", "or 1.5 hours"?
fn says_same(value: &str, text: &str) -> bool {
    let said = text.split(['\n', '!', '?', ';']).next().unwrap_or("");
    let said = said.split(". ").next().unwrap_or("");
    let said = said.trim_start_matches(|it: char| !it.is_ascii_digit() && !"\\-".contains(it));
    beside::is_same(value, said.trim_end_matches([' ', '$', '*', '.']))
}

/// The same where words stand without spaces, and nothing follows the number: "或者99", "99かもしれません".
fn guesses_spaceless(value: &str, clause: &str) -> bool {
    const MOST: usize = 60;
    const BLANK: &[char] = &[' ', '$', '*', ',', '、', '，', '。'];
    let another = clause.trim_matches(|it: char| !it.is_ascii_digit());
    let (before, after) = clause.split_once(another).unwrap_or_default();
    let (before, after) = (before.trim_end_matches(BLANK), after.trim_matches(BLANK));
    let guesses = &words::ANOTHER_GUESS_SPACELESS;
    let mut lists = [guesses, &words::SPACELESS_BINDER].into_iter();
    let states = lists.any(|list| list.iter().any(|it| before.ends_with(it)));
    let ends = after.is_empty() || words::ENDS_SPACELESS.contains_exactly(after);
    clause.len() <= MOST
        && value.contains(is_digit)
        && another.parse::<f64>().is_ok()
        && (ends && states && guesses.within(before) || before.is_empty() && guesses.within(after))
        && !beside::is_same(value, another)
}

/// The verb that says what is right instead.
const SHOULD: &str = "should";

/// Does one clause take an answer back: a correction that is opened and denies, a phrase of the table, or a fault that is admitted?
fn retracts(clause: &str, first: bool) -> bool {
    let joins = |word: &&str| words::BEGINS_CLAUSE.contains(word);
    let words: Vec<&str> = words_of(clause).skip_while(joins).take(10).collect();
    let opens = |word: &&&str| words::OPENS_CORRECTION.contains(word);
    let opened = words.iter().take_while(opens).count();
    let said = &words[opened..];
    let said = &said[said.iter().take_while(|it| joins(it)).count()..];
    // "the answer must be wrong", but not "the answer is 7 would be wrong"
    let digit = |it: &&str| it.starts_with(is_digit);
    let explicit = said.len() > 2
        && !said.iter().take(7).any(digit)
        && said[1].eq_ignore_ascii_case("answer")
        && words::SAYS_OF_ANSWER.contains(said[2]);
    let said = &said[usize::from(explicit)..];
    // "no, 14": another answer and nothing else.
    let another = first
        && matches!(said, [value] | [_, value] | [_, _, value] if value.chars().count() == 1
            || value.starts_with(is_digit)
            || said.len() == 1 && value.starts_with(char::is_uppercase));
    let no = (opened > 1 || another)
        && words[..opened].iter().enumerate().any(|(at, word)| {
            let following = &clause[words::offset(clause, word) + word.len()..];
            let alone = following.trim().is_empty() || following.starts_with(',');
            // "no wait, it's 32", "wait, it's 32"
            words::SAYS_NO.contains(word) && (alone || at + 1 < opened)
                || another
                    && following.starts_with(',')
                    && words::OPENS_CORRECTION_ALONE.contains(word)
        });
    let Some(&subject) = said.first() else {
        // "Wait."
        let alone = |it: &&str| words::OPENS_CORRECTION_ALONE.contains(it);
        return no || first && words.first().is_some_and(alone);
    };
    let from = &clause[words::offset(clause, subject)..];
    // "However, the question asks for the remainder"
    let contrasts = words::CORRECTS.contains(words::first_word(clause.trim_start()));
    let phrase = takes_back_in_words(from) || contrasts && words::NOT_YET.begin(from).is_some();
    let near = &said[1..said.len().min(7)];
    let any = |list: &words::List| near.iter().any(|word| list.contains(word));
    let denied = said.iter().take(7).any(|word| is_denial(word));
    let wrong = any(&words::WRONG) || denied && any(&words::VERDICT);
    let adverb = |it: &str| it.ends_with("ly") || words::BETWEEN_SUBJECT_AND_FAULT.contains(it);
    let fault = near.iter().find(|it| !adverb(it));
    let admitted = fault.is_some_and(|it| words::FAULT.contains(it))
        || any(&words::FAULT) && near.iter().any(|it| words::MAKES.contains(it));
    no || phrase
        || (first || opened > 0 || explicit) && words::POINTS_BACK.contains(subject) && wrong
        || words::FIRST_PERSON.contains(subject) && admitted && !near.contains(&"no")
        || opened > 0 && near.iter().any(|it| it.eq_ignore_ascii_case(SHOULD))
}

/// How much of what stands before an announcement is looked at for a correction, in bytes.
const CORRECTION: usize = 400;

/// Do words between an answer and another that is announced after it correct the first? `alike`: so does "the correct answer is".
pub(super) fn corrects(between: &str, alike: bool) -> bool {
    let near = words::ending(between, CORRECTION);
    has(near, &words::CORRECTS)
        || words::CORRECTS_SPACELESS.within(near)
        || alike && has(near, &words::CORRECTS_ALIKE)
}

/// Does what follows an answer name another that is right, too: "B is also correct.", "x = 7 works as well.", "Both A and B are correct."?
fn adds_another(value: &str, near: &str) -> bool {
    /// How many words the other answer has at most, with those before it.
    const MOST: usize = 5;
    let own = |word: &str| words_of(value).any(|it| it == word);
    let digits = value.contains(is_digit);
    let chosen = !digits && (value.len() == 1 || value.contains(", "));
    let clauses = near.split(['.', '!', '?', '\n', ';']);
    clauses.filter(|it| has(it, &words::ALSO)).any(|clause| {
        let said: Vec<&str> = words_of(clause).take(16).collect();
        let verb = said.iter().position(|it| words::ALSO_VERB.contains(it));
        let head = &said[..verb.unwrap_or(said.len())];
        let valid = said[head.len()..]
            .iter()
            .any(|it| words::ALSO_VALID.contains(it));
        // Another letter of a choice, another number.
        let name = |it: &str| {
            let like = if chosen {
                it.len() == 1 && it != "I" && it.starts_with(|it: char| it.is_ascii_uppercase())
            } else {
                digits && it.starts_with(is_digit)
            };
            like && !own(it)
        };
        // "Lyon is also correct."
        let named = || {
            let first = head.last().filter(|it| it.len() > 2 && head.len() <= 2);
            !digits
                && first.is_some_and(|it| it.starts_with(char::is_uppercase))
                && !words::SUBJECT_OF_CHOICE.contains(head[0])
                && !words::ALSO.contains(head[0])
        };
        head.len() <= MOST
            && (valid || verb.is_none() && head.len() <= 2)
            && !said
                .iter()
                .any(|it| is_denial(it) || words::WRONG.contains(it))
            && (head.iter().any(|it| name(it)) || valid && named())
    })
}

/// Do words after an answer with a parameter narrow it: "x = π/4 + πn, n is an odd integer"?
pub(super) fn restricts_parameter(value: &str, after: &str) -> bool {
    if !after.contains(char::is_alphabetic) {
        return false;
    }
    let mut letters = value.split(|it: char| !it.is_ascii_alphabetic());
    let is_word = |letter: &str| words_of(after).any(|it| it == letter);
    let family = value.contains('=') && (value.contains("pi") || value.contains('π'));
    (has(after, &words::RESTRICTS_PARAMETER) || family && has(after, &words::RESTRICTS_FAMILY))
        && letters.any(|it| it.len() == 1 && is_word(it))
}

/// Does a text begin with a phrase that takes back what stands before it, as in "never mind"?
pub(super) fn takes_back_in_words(text: &str) -> bool {
    let first = text.bytes().next().map(|it| it.to_ascii_lowercase());
    let phrases = words::RETRACTION.iter();
    let mut phrases = phrases.filter(|phrase| phrase.bytes().next() == first);
    phrases.any(|it| {
        let rest = words::after(text, it);
        rest.is_some_and(|it| !it.starts_with(char::is_alphanumeric))
    })
}

/// How many bytes of a statement are looked at.
const OPPOSED: usize = 400;

/// Whose dollars a text names: C of "C$24".
pub(crate) fn dollars(text: &str) -> &str {
    let near = &text[..text.floor_char_boundary(OPPOSED)];
    let (before, after) = near.split_once('$').unwrap_or_default();
    let whose = &before[before
        .trim_end_matches(|it: char| it.is_ascii_uppercase())
        .len()..];
    let priced = after.trim_start().starts_with(is_digit);
    if whose == "US" || !priced { "" } else { whose }
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
    let of = |outer| format!("{outer} of {inner}");
    let said = [statement, pred].iter().any(|it| it.contains(" of "));
    inner.len() > 2
        && said
        && (outer.len() > 2 && statement.contains(&of(outer)) || pred.contains(&of("")))
}

/// Does one text say the opposite of the other: a loss and a profit, an increase and a decrease?
pub(crate) fn opposed<'t>(one: &'t str, other: &'t str) -> bool {
    static PAIRS: LazyLock<Vec<(&str, &str)>> =
        LazyLock::new(|| (words::OPPOSITES.iter().filter_map(|it| it.split_once(' '))).collect());
    let words = |text: &'t str| -> Vec<&'t str> {
        let near = &text[..text.floor_char_boundary(OPPOSED)];
        // "a.m." is no word.
        #[rustfmt::skip]
        let halves = [("a.m.", "am"), ("p.m.", "pm"), ("A.M.", "am"), ("P.M.", "pm")];
        let is_there = |it: &(&str, &str)| near.contains('.') && near.contains(it.0);
        let halves = halves.into_iter().filter(is_there);
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
    let like = |it: &str, stem: &str| {
        it.as_bytes()[0].eq_ignore_ascii_case(&stem.as_bytes()[0])
            && words::after(it, stem).is_some()
            && (stem.len() > 5 || it.len() <= stem.len() + 1)
    };
    let has = |words: &[&str], stem: &str| words.iter().any(|it| like(it, stem));
    let says = |words: &[&str], stem: &str, not: &str| has(words, stem) && !has(words, not);
    PAIRS.iter().any(|&(a, b)| {
        says(&one, a, b) && says(&other, b, a) || says(&one, b, a) && says(&other, a, b)
    })
}

/// Does a text state its value as lost: "a decrease of 15%"?
pub(crate) fn falls(text: &str) -> bool {
    has(&text[..text.floor_char_boundary(OPPOSED)], &words::FALLS)
}
