//! What follows an answer without being one: courtesies, explanations, and the parts that make up a total.

use super::labelled::SIGNS;
use super::words;
use crate::algebra::{self, Budget};
use crate::answer::Answer;
use crate::lexicon::words::APPROXIMATELY;

/// How many lines of a list are looked at.
const MAX_LINES: usize = 64;
/// How many courtesies and explanations a text may end with.
const MAX_ASIDES: usize = 4;

/// Where the next question begins that a response goes on with, as base models do: "A: 18\n\nQ: Tom …".
pub(super) fn next_question(text: &str) -> Option<usize> {
    let lines = text.match_indices('\n').map(|(at, _)| at + 1);
    lines
        .filter(|&at| words::QUESTION.begin(&text[at..]).is_some())
        .take(MAX_LINES)
        .find(|&at| answered(&text[..at]))
}

fn answered(before: &str) -> bool {
    let mut lines = before.lines().rev().filter(|line| !line.trim().is_empty());
    lines.next().is_some_and(|line| {
        let line = line.trim_start_matches(['*', '#', ' ']);
        let said = line.rsplit_once("nswer").map_or("", |it| it.1);
        let states = said.contains([':', '='])
            || said.contains(words::is_digit)
            || words::has(said, &words::BINDER);
        let mut boxes = line.split(r"\boxed{").skip(1);
        line.starts_with("A:")
            || states
            || boxes.any(|it| !it.starts_with('}'))
            || line.ends_with('}')
    }) || before.contains("\n####")
        || (before.strip_prefix("#### "))
            .is_some_and(|it| it.starts_with(words::is_digit) && !it.contains(char::is_alphabetic))
}

/// Is a sentence an aside in brackets, as in "(Each of the 9 takes 5.)" and "(≈ 37.7 cm²)"? A tuple or a formula has fewer words.
pub(super) fn is_bracketed(sentence: &str) -> bool {
    let bare = sentence.trim().trim_end_matches(['.', ' ', '✅', '✓', '✔']);
    let Some(inner) = bare.strip_prefix('(').and_then(|it| it.strip_suffix(')')) else {
        return false;
    };
    let is_word = |it: &&str| it.len() > 1 && it.starts_with(char::is_alphabetic);
    inner.starts_with('≈')
        || !inner.contains(['(', ')']) && words::words_of(inner).filter(is_word).nth(2).is_some()
}

/// Where a text ends that states its answer and goes on with courtesies or an explanation under a heading of its own.
pub(super) fn before_explanation(text: &str) -> usize {
    let mut end = text.trim_end().len();
    for _ in 0..MAX_ASIDES {
        let Some(start) = last_paragraph(&text[..end]) else {
            break;
        };
        let head = text[start..end].trim_start_matches(['*', '_', '#', ' ', '-', '(']);
        let mut closing = words::CLOSING.iter();
        let closes = closing.any(|it| words::after(head, it).is_some());
        let explains = explains(head);
        let before = text[..start].trim_end();
        // An explanation explains what stands before it only where that is an answer, and concludes nothing itself.
        let concludes =
            |it: &str| words::CONCLUDING.contains(it) && !it.eq_ignore_ascii_case("then");
        let unclear = || !states(before) || words::words_of(&text[start..end]).any(concludes);
        if before.is_empty() || !(closes || explains) || explains && unclear() {
            break;
        }
        end = before.len();
    }
    end
}

fn explains(head: &str) -> bool {
    let phrases = words::EXPLANATION.iter();
    let mut rests = phrases.filter_map(|it| words::after(head, it));
    rests.any(|rest| {
        let bare = rest.trim_start_matches([' ', '*', '_']);
        bare.starts_with([':', '\n']) || bare.is_empty()
    })
}

/// Where the paragraph begins that ends the text, or a line with such a heading; an explanation may have several.
fn last_paragraph(text: &str) -> Option<usize> {
    let mut end = text.len();
    for _ in 0..MAX_LINES {
        let at = text[..end].rfind('\n')?;
        let head = text[at..].trim_start_matches(['*', '_', '#', ' ', '-', '(', '\n']);
        let first = words::first_word(head);
        let mut phrases = words::EXPLANATION.iter().chain(words::CLOSING.iter());
        let is_first = |rest: &str| words::first_word(rest).is_empty();
        let mut listed = || phrases.any(|it| words::after(it, first).is_some_and(is_first));
        let begins = if text[..at].ends_with('\n') {
            listed()
        } else {
            explains(head) && !head.contains('\n')
        };
        if begins || at == 0 {
            return Some(at + 1);
        }
        end = at;
    }
    None
}

/// Is the last line of a text a value, or a sentence with one in bold?
fn states(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or(before).trim();
    let valued = line.contains(words::is_digit);
    let lettered = words::words_of(line)
        .any(|word| word.len() == 1 && word.bytes().all(|it| it.is_ascii_uppercase()));
    line.len() <= 40 && (valued || lettered) || line.contains("**") || !before.contains('\n')
}

/// Is a value at `at` on a line of its own among others, "- Tea: $12", none of which is reckoned, goes on from the one above it or is set off?
pub(super) fn is_item(text: &str, at: usize) -> bool {
    let item = |line: &str| {
        let mark = line.trim().split(' ').next().unwrap_or("");
        let mark = mark.trim_start_matches(words::is_digit);
        let bullet = matches!(mark, "-" | "*" | "•" | "+" | "." | ")");
        (bullet && !line.contains(['=', '≈'])).then(|| line.contains("**"))
    };
    let start = text[..at].rfind('\n').unwrap_or(0);
    let line = text[start..].trim_start().lines().next();
    let above = text[..start].trim_end().rsplit('\n').next();
    // "2. 26.75 and 28.75 makes 55.5", below "1. 23.25 and 3.5 makes 26.75"; "2. Solve it. So it is 7."
    let said = text[start..at].trim_start().split_once(' ');
    let said = said.map_or("", |it| it.1);
    // "Day 2: 18" is none, as "8 - 6: 2" and "I add 8 + 6: 14" are.
    let named = |it: &(&str, &str)| it.0.starts_with(char::is_alphabetic) && !it.0.contains(SIGNS);
    let reckoned = said.rsplit_once(": ").filter(named);
    let reckoned = reckoned.map_or(said, |it| it.1);
    let result = above.and_then(|it| numbers(it).next_back());
    let ends = |it: &str| {
        let word = words::last_word(it);
        word.len() > 1 && !words::ABBREVIATION.contains(word)
    };
    let goes_on = (said.match_indices(". ")).any(|(at, _)| ends(&said[..at]))
        || numbers(reckoned).any(|it| Some(it) == result);
    let [line, above] = [line, above].map(|it| it.and_then(item));
    line.is_some() && line == above && !goes_on
}

/// The numbers of a text, as they are written.
fn numbers(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    let parts = text.split(|it: char| !(it.is_ascii_digit() || matches!(it, '.' | ',')));
    let bare = parts.map(|it| it.trim_matches(['.', ',']));
    bare.filter(|it| !it.is_empty())
}

fn number(text: &str) -> Option<f64> {
    numbers(text).next_back()?.replace(',', "").parse().ok()
}

/// Where a rounded value begins that a sentence says its exact one again with: "5/36, or about 13.9%".
pub(super) fn before_rounded(sentence: &str) -> Option<usize> {
    let at = sentence.rfind(", ")?;
    let exact = sentence[..at].rsplit(' ').next()?.trim_matches(['$', '*']);
    (rounds(exact, &sentence[at..]) == Some(true)).then_some(at)
}

/// Is a value said again as a rounded one that may be it, as 5/36 before ", or about 13.9%"? `None` where no number is said so.
pub(crate) fn rounds(exact: &str, after: &str) -> Option<bool> {
    let after = after.strip_prefix(", ")?;
    let mut said = words::words_of(after).skip_while(|it| words::SAYS_AGAIN.contains(it));
    let rounded = &after[after.find(words::is_digit)?..];
    if !APPROXIMATELY.contains(said.next()?) || rounded.contains(char::is_alphabetic) {
        return None;
    }
    let Ok(Answer::Quantity(exact)) = crate::parse::parse(exact) else {
        return None;
    };
    let near = algebra::approximate(&exact.value, &mut Budget::default())?;
    let percent = rounded.contains('%') && !exact.percent;
    let digits = rounded.trim_end_matches(|it: char| !it.is_ascii_digit());
    let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
    let places = i32::try_from(places).ok()? + if percent { 2 } else { 0 };
    let rounded = number(rounded)? / if percent { 100.0 } else { 1.0 };
    Some((near - rounded).abs() <= 0.501 * 0.1_f64.powi(places))
}

/// Where the bracket begins that a sentence ends with and that explains its number: "$60 in all ($12 per ticket × 5)".
pub(super) fn before_bracket(sentence: &str) -> Option<usize> {
    let inner = sentence
        .trim_end_matches(['.', ' ', '*', '\n'])
        .strip_suffix(')')?;
    let at = inner.rfind(" (")?;
    let has_digit = |text: &str| text.contains(words::is_digit);
    let (before, inner) = (&inner[..at], &inner[at + 2..]);
    let explains = words::words_of(inner).any(|it| it.len() > 2 && !words::OPTION.contains(it))
        && inner.contains([' '])
        && has_digit(inner);
    let read = |text: &str| crate::parse::parse(text).ok();
    // "250 grams (about 2 cups)", "2/3 (≈ 66.7%)"
    let first = words::first_word(inner);
    let roughly =
        inner.starts_with('≈') || APPROXIMATELY.contains(first) || inner.starts_with("i.e.");
    // "120 minutes (that's two hours)"
    let said: Vec<&str> = inner.split(' ').collect();
    let again = matches!(said[..], ["that's" | "that’s", value, unit] if words::is_unit(unit)
        && (value.parse::<f64>().is_ok() || words::is_number_word(value)));
    // "0.75 (75%)"
    let percent = inner.ends_with('%')
        && number(before)
            .zip(number(inner))
            .is_some_and(|(a, b)| (a * 100.0 - b).abs() < 1e-9);
    if percent || has_digit(before) && (again || roughly && has_digit(inner)) {
        return Some(at);
    }
    // "(that's 13 with Tom's)" may change it.
    if said[0].starts_with("that") {
        return None;
    }
    // "35 (thirty-five)"
    if words::is_number_word(inner) && read(before).is_some_and(|it| Some(it) == read(inner)) {
        return Some(at);
    }
    let changes = super::beside::changes("", &sentence[at..], super::beside::How::Announced);
    (explains && has_digit(before) && !inner.contains(')') && !changes).then_some(at)
}
