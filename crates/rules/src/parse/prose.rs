//! Whether a text is words, and no formula that could not be read.

use super::letters::{self, Run, is_wordlike};
use super::plain::plain_text;
use super::runs::is_word_letter;
use super::spelled;
use super::token::Kind;
use crate::lexicon::{is_digit, numbers, units, words};

/// Is this words and nothing that has a value?
pub(super) fn is_words(plain: &str) -> bool {
    if plain.contains(|c: char| !is_prose(c)) || is_applied(plain) {
        return false;
    }
    let mut found = false;
    let mut valued = false;
    let mut count = 0_usize;
    let mut lengths = 0_usize;
    let mut first = true;
    for run in plain.split(|c: char| !is_word_letter(c) && !matches!(c, '\'' | '’')) {
        if run.is_empty() {
            continue;
        }
        count += 1;
        lengths += run.len();
        if std::mem::take(&mut first) {
            let lower = run.to_ascii_lowercase();
            let leads = spelled::number(&[&lower]).is_some()
                || numbers::scale(&lower).is_some()
                || words::APPROXIMATELY.contains(&lower)
                || matches!(lower.as_str(), "minus" | "negative" | "half");
            let article = matches!(lower.as_str(), "a" | "an") && {
                let second = plain.split_whitespace().nth(1).unwrap_or("");
                spelled::number(&["a", second]).is_some()
            };
            if leads || article {
                return false;
            }
        }
        if words::OPERATION.contains(run) {
            return false;
        }
        match letters::read(run, false, None) {
            Run::One(Kind::Word(_)) => found = true,
            Run::One(Kind::And | Kind::Or) => {}
            Run::One(_) | Run::Parts(_) => valued = true,
            Run::Letters => {
                found |= is_wordlike(run) || (run.len() == 3 && count == 1 && is_name(run));
            }
        }
    }
    found && (!valued || count >= 4) && lengths > 0
}

fn is_prose(character: char) -> bool {
    is_word_letter(character)
        || character.is_whitespace()
        || [
            '-', '–', '—', '\'', '’', ',', '.', ';', ':', '!', '?', '(', ')', '&', '/',
        ]
        .contains(&character)
}

/// Does a letter stand right before a bracket, as in `abs(x)`?
fn is_applied(plain: &str) -> bool {
    plain
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_alphabetic() && pair[1] == b'(')
}

/// Does a run of three letters look like a name: `Bob`, `Ann`?
pub(super) fn is_name(run: &str) -> bool {
    let mut bytes = run.bytes();
    bytes.next().is_some_and(|byte| byte.is_ascii_uppercase())
        && bytes.all(|byte| byte.is_ascii_lowercase())
        && run.to_ascii_lowercase().contains(['a', 'e', 'i', 'o', 'u'])
}

/// Is a text that is no formula at least words, with a number among them at most?
pub(super) fn is_text(text: &str) -> bool {
    if text.contains('\\') && !only_text_commands(text) {
        return false;
    }
    let plain = plain_text(text);
    if plain.contains(|c: char| !(is_prose(c) || c.is_ascii_digit())) || is_applied(&plain) {
        return false;
    }
    let mut count = 0;
    let mut worded = false;
    let mut stated = false;
    for word in plain.split(|c: char| !c.is_alphanumeric() && c != '\'') {
        if word.is_empty() {
            continue;
        }
        count += 1;
        let lower = word.to_lowercase();
        if matches!(
            letters::read(word, false, None),
            Run::One(Kind::Function(_) | Kind::Structure(_) | Kind::Modulo | Kind::Constant(_))
        ) && count <= 4
        {
            return false;
        }
        worded |= word.chars().count() >= 3
            && word.chars().all(|c| c.is_alphabetic() || c == '\'')
            && (lower.contains(['a', 'e', 'i', 'o', 'u', 'y']) || !lower.is_ascii());
        stated |= words::OPERATION.contains(&lower)
            || words::STATING.contains(&lower)
            || units::is_unit(&lower) && lower.len() > 2;
    }
    let digits = plain.contains(|c: char| c.is_numeric());
    // "20 N upward" states a value that is not understood; "2nd place" does not.
    let counts = plain.starts_with(is_digit)
        && plain
            .trim_start_matches(is_digit)
            .starts_with([' ', '.', ',']);
    if counts {
        return false;
    }
    worded && !(stated && count <= 4) && (!digits || (count <= 4 && !plain.contains('(')))
}

/// Are all commands of a text such as set words?
fn only_text_commands(text: &str) -> bool {
    text.split('\\').skip(1).all(|part| {
        let length = part.bytes().take_while(u8::is_ascii_alphabetic).count();
        let name = part.get(..length).unwrap_or("");
        name.starts_with("text")
            || matches!(
                name,
                "" | "mbox" | "quad" | "qquad" | "boxed" | "emph" | "bf" | "rm"
            )
    })
}

/// `H2O`, `NaCl`: the formula of a substance, without what sets its digits lower.
pub(super) fn substance(text: &str, plain: &str) -> Option<String> {
    if text.trim_matches('$').contains('$') {
        return None;
    }
    let upright = text.contains("\\mathrm{") || text.contains("\\text{") || text.contains("\\ce{");
    if plain.len() > 40 || (plain.contains('_') && !upright) {
        return None;
    }
    let name: String = plain
        .trim_start_matches("\\ce")
        .chars()
        .filter(|c| !matches!(c, '_' | ' '))
        .map(|c| match c {
            '₀'..='₉' => char::from_digit(c as u32 - '₀' as u32, 10).unwrap_or(c),
            other => other,
        })
        .collect();
    let mut rest = name.as_str();
    let (mut elements, mut digits, mut long) = (0, 0, 0);
    while !rest.is_empty() {
        let count = rest.bytes().take_while(u8::is_ascii_digit).count();
        if count > 0 {
            if elements == 0 {
                return None;
            }
            digits += 1;
            rest = rest.get(count..)?;
            continue;
        }
        let length = [2, 1].into_iter().find(|length| {
            rest.get(..*length)
                .is_some_and(|symbol| words::ELEMENT.contains_exactly(symbol))
        })?;
        elements += 1;
        long += usize::from(length == 2);
        rest = rest.get(length..)?;
    }
    let several = elements >= 2 && (digits > 0 || long > 0);
    (several || (elements == 1 && digits == 1 && words::MOLECULE.contains(&name))).then_some(name)
}
