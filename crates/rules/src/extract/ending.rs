//! Does a response that announces nothing state a given answer at an end of its last sentence?

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
        && !words_of(sentence).any(|it| words::CONTRASTS.contains(it))
    {
        return true;
    }
    introduced(sentence, &is)
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

/// Does a sentence end in the answer, after a word that introduces it?
fn introduced(sentence: &str, is: &impl Fn(&str) -> bool) -> bool {
    let Some(last) = words_of(sentence)
        .filter(|word| words::INTRODUCES.contains(word))
        .last()
    else {
        return false;
    };
    let at = words::offset(sentence, last);
    let (before, mut rest) = (&sentence[..at], sentence[at + last.len()..].trim_start());
    let article = words::first_word(rest);
    // "At first.", "In a second."
    let idiom =
        last.eq_ignore_ascii_case("at") && article != "the" || last == "in" && article == "a";
    if idiom && ordinal(&words::last_word(rest).to_ascii_lowercase()).is_some() {
        return false;
    }
    if words::ENGLISH_ARTICLE.contains(article) {
        rest = rest[article.len()..].strip_prefix(' ').unwrap_or(rest);
    }
    // "Since the discriminant is negative, there are no real solutions." Other clauses say when it is so.
    let first = words::first_word(before.trim_start());
    let second = words_of(before).nth(1).unwrap_or("");
    let since = words::GIVES_REASON_FIRST.contains(first)
        && !["far", "long", "soon", "if", "though"].contains(&second);
    let clause = before.split_once(", ").filter(|_| since);
    let main = clause.map_or(before, |(_, main)| main);
    let case = words::BEGINS_CASE.contains(first)
        && before.contains(|it: char| it.is_ascii_digit() || "=<>≤≥".contains(it));
    let bound = !since
        && (words::SUBORDINATING.contains(first) || first.eq_ignore_ascii_case("as"))
        || case;
    // "born in the same year as Shakespeare"
    let same = last == "as" && words_of(main).any(|it| it == "same");
    // It is about something else than what is asked for, or doubted.
    let lists = [&words::ELSEWHERE, &words::OF_ANOTHER, &words::WRONG];
    let elsewhere = words_of(main).any(|it| lists.iter().any(|list| list.contains(it)));
    if bound || same || elsewhere || qualifies(main) || supposes(before) {
        return false;
    }
    // "Paris, the capital of France"
    let (name, of) = rest.split_once(", the capital of ").unwrap_or((rest, ""));
    !of.contains(' ') && is(trim_markup(name))
}
