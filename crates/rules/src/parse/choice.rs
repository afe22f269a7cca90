//! Letters of multiple choice, with the brackets or the full stop that mark them.

use crate::lexicon::{letters, words};

/// The letters of a choice: `A`, `(A)`, `A.`, `(B) 5`, `A and C`, `option D`.
pub(super) fn choice(plain: &str) -> Option<Vec<char>> {
    if plain.len() > 400 {
        return None;
    }
    let mut rest = plain.trim();
    for word in ["option", "Option", "choice", "Choice", "answer", "Answer"] {
        if let Some(after) = rest.strip_prefix(word) {
            let after = after.trim_start_matches(['s', ':', ' ']);
            if after.len() < rest.len() - word.len() {
                rest = after;
            }
        }
    }
    // `ACD`: several choices in the order of the alphabet.
    if rest.len() >= 3
        && rest.len() <= 5
        && rest.bytes().all(|byte| (b'A'..=b'E').contains(&byte))
        && rest.as_bytes().windows(2).all(|pair| pair[0] < pair[1])
    {
        return Some(rest.chars().collect());
    }
    let (letter, marked, after) = choice_letter(rest)?;
    let mut letters = vec![letter];
    let mut tail = after;
    // Further letters, with commas or "and" between.
    loop {
        let trimmed = tail.trim_start();
        let next = trimmed
            .strip_prefix(',')
            .map(str::trim_start)
            .map(|rest| rest.strip_prefix("and ").unwrap_or(rest))
            .or_else(|| trimmed.strip_prefix("and "))
            .or_else(|| trimmed.strip_prefix('&'));
        let Some(next) = next else { break };
        let (letter, _, after) = choice_letter(next.trim_start())?;
        letters.push(letter);
        tail = after;
    }
    let tail = tail.trim();
    let closed = tail.is_empty() || (letters.len() == 1 && marked);
    let clean = (letters.iter().enumerate()).all(|(i, c)| !letters[..i].contains(c));
    if !closed || !clean {
        return None;
    }
    letters.sort_unstable();
    Some(letters)
}

/// A letter of a choice: the letter, whether brackets or a full stop mark it, and what follows.
fn choice_letter(text: &str) -> Option<(char, bool, &str)> {
    let (open, inner) = match text.strip_prefix(['(', '[']) {
        Some(inner) => (true, inner.trim_start()),
        None => (false, text),
    };
    let letter = (inner.chars().next()).filter(|it| ('A'..='J').contains(it))?;
    let following = inner.get(1..)?;
    if open {
        let after = following.trim_start().strip_prefix([')', ']'])?;
        let after = after.strip_prefix([':', '.']).unwrap_or(after);
        // `(A)^2`, `(A)+1`, `(B)(C)`, `(A) \cup B` are formulas; `(B) \pm 2` is none.
        let rest = after.trim_start();
        let said = rest.strip_prefix('\\').unwrap_or("");
        let (command, joined) = said.split_at(letters(said, usize::MAX));
        let opens = |it: char| it.is_ascii_uppercase() || it == '(';
        let formula = words::JOINS_ANYTHING.contains_exactly(command)
            || words::JOINS_LETTERS.contains_exactly(command)
                && joined.trim_start().starts_with(opens)
            || rest.starts_with(|it: char| "^+*/=_(!<>|'∩∪∧∨×".contains(it));
        return (!formula).then_some((letter, true, after));
    }
    if let Some(after) = following.strip_prefix(')') {
        return Some((letter, true, after));
    }
    if let Some(after) = following.strip_prefix(['.', ':']) {
        let value = after.starts_with(' ') || after.is_empty();
        return value.then_some((letter, true, after));
    }
    let ends = following.is_empty() || following.starts_with([' ', ',']);
    ends.then_some((letter, false, following))
}
