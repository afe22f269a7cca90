//! Several answers that are set off from each other, which are one list: `**A**, **C**`, `` `x` and `y` ``, lines and bullets.

use super::items::{Candidate, Form, Source};
use super::markup::{trim_markup, without_markup};
use super::{choice, words};

/// How many there are at most, and how long one is, in bytes.
const MOST: usize = 16;
const LONGEST: usize = 60;

/// What emphasises an answer.
const MARKS: [&str; 3] = ["**", "`", "__"];

/// The list that begins at `from`, each item in emphasis or on a line of its own; `None` where there is one answer.
pub(super) fn leading<'t>(source: Source<'t, '_>, from: usize) -> Option<Candidate<'t>> {
    let text = &source.text[from..];
    let (items, length) = emphasised(text).or_else(|| lines(text))?;
    let letters = |it: &&str| it.len() == 1 && it.starts_with(|it: char| it.is_ascii_uppercase());
    let kind = if items.iter().all(letters) {
        Form::Choice
    } else {
        Form::Plain
    };
    let parts: Vec<_> = items.iter().map(|it| without_markup(it)).collect();
    Some(Candidate::new(parts.join(", "), kind, from..from + length))
}

/// Two or more in the same emphasis with nothing but joining words and signs between them.
fn emphasised(text: &str) -> Option<(Vec<&str>, usize)> {
    let mark = MARKS.into_iter().find(|mark| text.starts_with(mark))?;
    let mut items = Vec::new();
    let mut rest = text;
    while items.len() < MOST {
        let Some((item, after)) = rest.strip_prefix(mark).and_then(|it| it.split_once(mark)) else {
            break;
        };
        if item.is_empty() || item.len() > LONGEST || item.contains('\n') {
            return None;
        }
        items.push(item.trim());
        let next = joined(after);
        let gap = after[..after.len() - next.len()].trim_matches(' ');
        if gap.is_empty() || !next.starts_with(mark) {
            return (items.len() > 1).then_some((items, text.len() - after.len()));
        }
        rest = next;
    }
    None
}

/// After the signs and words that join two items of a list.
fn joined(text: &str) -> &str {
    let signs = [' ', ',', ';', '/', '&', '\n', '-', '•', '、'];
    let next = text.trim_start_matches(signs);
    let word = words::first_word(next);
    if words::JOINS_ITEMS.contains(word) {
        next[word.len()..].trim_start_matches(signs)
    } else {
        next
    }
}

/// Where the line above the number at `at` begins, if both lines are numbers of one name, and two of them.
pub(super) fn above(text: &str, at: usize) -> Option<usize> {
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let end = text[at..].find('\n').map_or(text.len(), |it| at + it);
    let above = text[..start].trim_end();
    let above = above.rfind('\n').map_or(0, |it| it + 1);
    let (items, _) = lines(&text[above..end])?;
    let name = number_name(items[0])?;
    (Some(name) == number_name(items[1]) && items[0] != items[1]).then_some(above)
}

/// The name of a number, "x" of "x = 4", empty where it has none; `None` where it is no plain number.
fn number_name(item: &str) -> Option<&str> {
    let (name, value) = item.split_once('=').unwrap_or(("", item));
    let number = |it: char| it.is_ascii_digit() || matches!(it, '-' | '.');
    value.trim().chars().all(number).then_some(name.trim())
}

/// Two or more lines that are all of the rest, each a value, a letter, or a value with its name.
fn lines(text: &str) -> Option<(Vec<&str>, usize)> {
    let all = text.trim_end();
    if !all.contains('\n') || all.len() > MOST * LONGEST {
        return None;
    }
    let mut items = Vec::new();
    let mut names = Vec::new();
    for line in all.lines().filter(|it| !it.trim().is_empty()) {
        let bullet = line.trim().trim_start_matches(['-', '*', '•', '+']);
        // "-5" is no bullet.
        let glued = bullet.len() < line.trim().len() && !bullet.starts_with(' ');
        let item = trim_markup(if glued { line } else { bullet });
        let (name, value) = match item.split_once('=') {
            Some((name, value)) => (name.trim(), value.trim()),
            None => ("", item),
        };
        let named = name.chars().count() <= 2 && name.chars().all(char::is_alphanumeric);
        let lettered = choice::whole(item).is_some_and(|(it, rest)| it.end <= 3 && rest.is_empty());
        let number = value.trim_start_matches(['-', '−', '$', '\\', '(']);
        let valued = number.starts_with(|it: char| it.is_ascii_digit())
            && !value.contains(['=', ' '])
            && !value.contains(char::is_alphabetic);
        let bulleted = bullet.len() < line.trim().len() && !glued && name.is_empty();
        let worded =
            item.split(' ').count() <= 3 && item.chars().all(|it| it.is_alphabetic() || it == ' ');
        let worded = bulleted && worded;
        if items.len() == MOST
            || !named && !worded
            || !(valued || worded || lettered && name.is_empty())
        {
            return None;
        }
        names.push(name);
        items.push(item);
    }
    let same = names.iter().all(|it| it.is_empty() == names[0].is_empty());
    (items.len() > 1 && same).then_some((items, all.len()))
}
