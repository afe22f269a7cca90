//! Does a response that announces nothing state a given answer, in a last line of its own, or at an end of its last sentence?

use super::markup::trim_markup;
use super::words::{self, words_of};
use super::{qualifiers, qualifies, supposes};
use crate::lexicon::numbers::ordinal;

/// How much of a sentence is looked at, in bytes.
const MAX_ENDING: usize = 200;

/// Does a text end in an answer, after a verb or preposition that introduces it, as in "He was born in Providence, Rhode
/// Island." and "The process is called **mitosis**."? `is` compares what stands there with the answer.
pub(crate) fn ends_in(text: &str, is: impl Fn(&str) -> bool) -> bool {
    if text.trim_end().trim_end_matches(')').ends_with('?') {
        return false;
    }
    let text = trim_markup(text.trim_end_matches(['!', '*', ' ', '\n']));
    let sentence = last_sentence(text);
    // "The pressure increases."
    if let ["The" | "the", _, verb] = *words_of(sentence).collect::<Vec<_>>()
        && verb.ends_with('s')
        && is(verb)
    {
        return true;
    }
    // "Canberra is the capital of Australia."
    let mut begins = "is the |are the |was the |is our |is what |is who ".split('|');
    let begins = begins.find_map(|it| sentence.find(it));
    if let Some(at) = begins
        && is(trim_markup(sentence[..at].trim_end()))
        && !qualifiers::deny(&sentence[at..])
        && !supposes(sentence)
        && !sentence.contains(" but ")
    {
        return true;
    }
    // "In other words, the population doubled."
    let again = "In other words, |in other words, |In short: |In short, |i.e. ".split('|');
    let mut again = again.filter_map(|it| Some(sentence.split_once(it)?.1));
    again.any(|it| is(trim_markup(it)))
        || introduced(sentence, &is)
        || without_gloss(sentence).is_some_and(|it| introduced(it, &is))
}

/// The last sentence of a text, or the end of a long one. "U.S." and the "5." of a date end none.
fn last_sentence(text: &str) -> &str {
    let start = text.rfind(['\n', '!', ';']).map_or(0, |at| at + 1);
    let ends = |at: &usize| {
        let word = text[start..*at].rsplit(' ').next().unwrap_or("");
        let day = word.len() <= 2 && word.len() < *at - start && word.parse::<u8>().is_ok();
        !day && !word.contains('.') && !words::ABBREVIATION.contains(word)
    };
    let stops = text[start..].match_indices(". ").map(|(at, _)| start + at);
    let start = stops.filter(ends).last().map_or(start, |at| at + 2);
    &text[start.max(text.ceil_char_boundary(text.len().saturating_sub(MAX_ENDING)))..]
}

/// Is the last line of a text nothing but the answer, after a label or an arrow, or in a paragraph of its own?
pub(crate) fn stands_alone(text: &str, is: impl Fn(&str) -> bool) -> bool {
    let text = text.trim_end();
    let Some((before, line)) = text.rsplit_once('\n').filter(|_| !text.ends_with('?')) else {
        return false;
    };
    let paragraph = before.ends_with('\n');
    let before = before.trim_end().rsplit('\n').next().unwrap_or("").trim();
    let set_off = |it: &str| super::aside::is_item(it) || it.starts_with(['|', '#', '>']);
    if set_off(line) || set_off(before) {
        return false;
    }
    if let Some((label, value)) = line.split_once(':') {
        let label = trim_markup(label);
        return words::LABELS_RESULT.contains(label) && is(trim_markup(value));
    }
    let said = before.trim_end_matches(['*', '"', ')']);
    let over = said.ends_with(['.', '!', ':', '$', '✓', '✔']);
    let denies = || is_elsewhere(said) || qualifies(said) || supposes(said);
    (paragraph || line.starts_with('→'))
        && over
        && !(said.ends_with(':') && denies())
        && is(trim_markup(line))
}

/// Do words say that a sentence is about something else than what is asked for, or doubt it?
fn is_elsewhere(text: &str) -> bool {
    words_of(text).any(|it| {
        words::ELSEWHERE.contains(it) || words::OF_ANOTHER.contains(it) || words::WRONG.contains(it)
    })
}

/// A sentence without what it adds to the name that it ends in: ", the capital of Australia", ", often nicknamed Honest Abe", "(not Sydney, as many assume)".
fn without_gloss(sentence: &str) -> Option<&str> {
    use words::{CHANGES_AFTER, CHANGES_GLOSS, DENIES, FAULT, OTHERS, SAYS, SUBORDINATING, TURNS};
    let lists = [
        &CHANGES_AFTER,
        &SUBORDINATING,
        &TURNS,
        &DENIES,
        &SAYS,
        &OTHERS,
        &FAULT,
        &CHANGES_GLOSS,
    ];
    let changes = |it: &str| lists.iter().any(|list| list.contains(it));
    if let Some(inner) = sentence.strip_suffix(')') {
        let (name, inner) = inner.rsplit_once(" (")?;
        if words::among(words::first_word(inner), &["also", "known", "called"]) {
            return (!words_of(inner).any(changes) && !is_elsewhere(inner)).then_some(name);
        }
        let other = inner.strip_prefix("not ")?;
        return (other.starts_with(char::is_alphabetic)
            && !words_of(other).any(|it| words::among(it, &["or", "but", "not"])))
        .then_some(name);
    }
    let mut commas = sentence.match_indices(", ");
    let (at, _) =
        commas.find(|(at, _)| words::GLOSSES.contains(words::first_word(&sentence[at + 2..])))?;
    let gloss = &sentence[at..];
    (!words_of(gloss).any(changes) && !is_elsewhere(gloss)).then_some(&sentence[..at])
}

/// Does a sentence end in the answer, after a word that introduces it?
fn introduced(sentence: &str, is: &impl Fn(&str) -> bool) -> bool {
    let Some(last) = words_of(sentence).rfind(|word| words::INTRODUCES.contains(word)) else {
        return false;
    };
    let at = words::offset(sentence, last);
    let (before, mut rest) = (&sentence[..at], sentence[at + last.len()..].trim_start());
    // "is therefore invalid", "is with Claire"
    let adverb = words::first_word(rest);
    if words::AFTER_INTRODUCES.contains(adverb) {
        rest = rest[adverb.len()..].trim_start();
    }
    let article = words::first_word(rest);
    // "At first.", "In a second."
    let idiom = words::among(last, &["at"]) && article != "the" || last == "in" && article == "a";
    if idiom && ordinal(&words::last_word(rest).to_ascii_lowercase()).is_some() {
        return false;
    }
    if words::BEFORE_NAME.contains(article) {
        rest = rest[article.len()..].strip_prefix(' ').unwrap_or(rest);
    }
    // "Since the discriminant is negative, there are no real solutions." Other clauses say when it is so.
    let first = words::first_word(before.trim_start());
    let second = words_of(before).nth(1).unwrap_or("");
    let since = words::among(first, &["since", "because", "as"])
        && !["far", "long", "soon", "if", "though"].contains(&second);
    // What is concluded stands by itself.
    let concluded = ", so |, hence |, thus |, therefore ".split('|');
    let concluded = concluded
        .filter_map(|it| Some(before.rsplit_once(it)?.1))
        .min_by_key(|it| it.len());
    let clause = before.split_once(", ").filter(|_| since);
    let main = concluded.unwrap_or(clause.map_or(before, |(_, main)| main));
    let case = concluded.is_none()
        && words::among(first, &["for", "at", "in", "with"])
        && before.contains(|it: char| it.is_ascii_digit() || "=<>≤≥".contains(it));
    let bound =
        !since && (words::SUBORDINATING.contains(first) || words::among(first, &["as"])) || case;
    if bound || is_elsewhere(main) || qualifies(main) || supposes(before) {
        return false;
    }
    is(trim_markup(rest))
}

/// The values of a list of bullets that ends a text, after a line that says nothing else of them, as one list: "2, 3" of "They are:\n- 2\n- 3".
pub(crate) fn listed(text: &str) -> Option<String> {
    let lines = text.trim_end().lines().rev().map(str::trim);
    let mut lines = lines.filter(|it| !it.is_empty()).peekable();
    let mut values = Vec::new();
    while let Some(line) = lines.next_if(|it| super::aside::is_item(it)) {
        values.push(item(line)?);
    }
    let line = lines.next().filter(|_| values.len() > 1)?;
    let before = line.trim_end_matches(['*', ':']);
    let last = words::last_word(before);
    let ends = before.len() < line.len() || words::among(last, &["is", "are"]);
    let other = |it: &str| words::OTHERS.contains(it) || words::CONDITION.contains(it);
    // "The primes below 10 are": what stands before the verb says which they are.
    let changed = qualifies(qualifiers::after_verb(before)) || qualifiers::deny(before);
    let open = words::PREPOSITION.contains(last) || words_of(before).any(other);
    values.reverse();
    (ends && !open && !changed && !is_elsewhere(before) && !supposes(before))
        .then(|| values.join(", "))
}

/// What a line of a list holds, if that is one value.
fn item(line: &str) -> Option<&str> {
    let marks = |it: char| it.is_ascii_digit() || "*•+-".contains(it);
    let marked = line.trim().trim_start_matches(marks);
    let value = trim_markup(marked.strip_prefix(['.', ')']).unwrap_or(marked));
    let plain = value.contains(char::is_alphanumeric) && !value.contains(['?', ':']);
    (plain && !line.contains(['?', '…']) && !value.contains(" or ") && !qualifiers::deny(value))
        .then_some(value)
}
