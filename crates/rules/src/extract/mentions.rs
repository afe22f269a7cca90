//! Does a text that announces nothing name a given answer near its end? Then what else was read there may not be what is meant.

use unicode_normalization::UnicodeNormalization as _;

use super::markup::trim_markup as bare;
use super::{qualifiers, words};

/// How much of the end of a response is searched for the words of a reference.
const MENTION: usize = 600;

/// Does the last line of a response that announces nothing name a part of an answer: "Everest" of "Mount Everest"? Or its signs in
/// another form, `H₂O` for `H_2O`? Or does it deny something, where the answer is that there is none?
pub(crate) fn mentions_part(text: &str, answer: &str) -> bool {
    let near = words::ending(text, MENTION);
    let line = near.trim_end().rsplit('\n').next().unwrap_or("");
    let answer = bare(answer);
    let mut said = words::words_of(line);
    let none = |it: &str| qualifiers::is_denial(it) || words::NONE.contains(it);
    let has_none = |it: &str| none(it) || words::WITHOUT_VALUE.contains(it);
    if words::words_of(answer).any(has_none) {
        return said.any(none);
    }
    let squeezed = |it: &str| {
        it.nfkc()
            .filter(|it| it.is_alphanumeric())
            .collect::<String>()
    };
    let lowered = |it: char| ('₀'..='₉').contains(&it);
    if line.contains(lowered) && squeezed(line).contains(&squeezed(answer)) {
        return true;
    }
    let name = answer.rsplit(' ').next().unwrap_or("");
    let named = name.len() > 3 && name.len() < answer.len() && name.starts_with(char::is_uppercase);
    // "North Korea" is no way to say "South Korea".
    let sentence = words::words_of(line).count() > words::words_of(answer).count() + 1;
    named && sentence && said.any(|it| it == name)
}

/// Do the last three lines of a text, or one for each number, `read` apart, hold all numbers of an answer, or where it has none all its words?
pub(crate) fn holds_near_end(text: &str, read: &str, answer: &str) -> bool {
    let near = words::ending(text, MENTION);
    let fence = |it: &&str| it.trim().is_empty() || it.starts_with("```");
    let (numbers, mut words): (Vec<_>, Vec<_>) =
        tokens(bare(answer), false).partition(|it| it.ends_with(words::is_digit));
    if words.len() > 1 || !numbers.is_empty() {
        words.retain(|it| it.chars().count() > 2 && it != "the" && it != "and");
    }
    let lines = near.lines().rev().filter(|it| !fence(it));
    let lines: Vec<_> = lines.take(numbers.len().max(3)).collect();
    let whole = lines.join("\n");
    let end = match read {
        "" => whole.clone(),
        read => whole.replacen(read, " ", 1),
    };
    let among: Vec<_> = tokens(&end, true).collect();
    let held = |of: &[String]| !of.is_empty() && of.iter().all(|it| among.contains(it));
    // "It moves west at 20 m/s."
    let all = || {
        if words.is_empty() || numbers.is_empty() || answer.contains('\\') {
            return false;
        }
        let among: Vec<_> = tokens(&whole, true).collect();
        let own: Vec<_> = tokens(answer, false).collect();
        let mut wanted = numbers.iter().chain(&words);
        wanted.all(|it| among.contains(it)) && tokens(read, false).all(|it| own.contains(&it))
    };
    held(&numbers) || numbers.is_empty() && held(&words) || all()
}

/// The words of a text, small but for single letters, and its numbers with their signs, without separators and zeros at their ends;
/// if `stated` none that an operator stands beside.
fn tokens(text: &str, stated: bool) -> impl Iterator<Item = String> {
    let text = text.replace("\\text", " ").replace("**", " ");
    let text = text.replace('−', "-");
    let operator = |it: char| "+*/×÷·^".contains(it);
    let parts = text.split(|it: char| !(it.is_alphanumeric() || matches!(it, '.' | ',')));
    // Between blanks there are empty parts, before each of which all blanks would be walked over.
    let plain = |part: &str| {
        if part.is_empty() {
            return String::new();
        }
        let at = words::offset(&text, part);
        let token = part.trim_matches([',', '.']).replace(',', "");
        let number = token.starts_with(words::is_digit);
        let (before, after) = (&text[..at], text[at + part.len()..].trim_start());
        let beside = before.trim_end().ends_with(operator) || after.starts_with(operator);
        if stated && number && (beside || after.starts_with("- ")) {
            return String::new();
        }
        let signed = before.strip_suffix('-').filter(|_| number);
        let sign = signed
            .is_some_and(|it| !it.ends_with(|last: char| last.is_alphanumeric() || last == ')'));
        let token = match token.split_once('.') {
            Some((whole, places)) if number => {
                let rest = places.trim_end_matches('0');
                [whole, rest].join(if rest.is_empty() { "" } else { "." })
            }
            _ if token.len() < 2 => token,
            _ => token.to_lowercase(),
        };
        if sign { format!("-{token}") } else { token }
    };
    let plain: Vec<_> = parts.map(plain).filter(|it| !it.is_empty()).collect();
    plain.into_iter()
}
