//! Several answers that are set off from each other, which are one list: `**A**, **C**`, `` `x` and `y` ``, lines and bullets.

use super::beside::is_same;
use super::items::{Candidate, Form, Source};
use super::markup::{trim_markup, without_markup};
use super::stated::JOINED;
use super::{choice, words};
use crate::algebra::has_letter;
use crate::answer::Answer;

/// How many there are at most, and how long one is, in bytes.
const MOST: usize = 16;
const LONGEST: usize = 60;

/// What emphasises an answer.
const MARKS: [&str; 3] = ["**", "`", "__"];

/// The list that begins at `from`, each item in emphasis or on a line of its own; `None` where there is one answer.
pub(super) fn leading<'t>(source: Source<'t, '_>, from: usize) -> Option<Candidate<'t>> {
    let text = &source.text[from..];
    let (items, length) = emphasised(text).or_else(|| lines(text))?;
    let mut said = words::words_of(&text[..length]);
    let either = said.any(|it| words::JOINS_EITHER.contains(it));
    let letter = |it: &&str| it.len() == 1 && it.starts_with(|it: char| it.is_ascii_uppercase());
    let letters = items.iter().all(letter);
    // "**B) x** and **D) y**"
    let options = items.iter().map(|it| Some(choice::whole(it)?.0.letters));
    let options: Option<Vec<_>> = options.collect();
    if either && !letters && options.is_some() {
        return None;
    }
    let chosen = letters || options.is_some();
    let kind = if chosen { Form::Choice } else { Form::Plain };
    let plain = || (items.iter().map(|it| without_markup(it).into_owned())).collect();
    let parts = options.unwrap_or_else(plain);
    let joined = JOINED[usize::from(either && kind != Form::Choice)];
    let range = from..from + length;
    Some(Candidate::new(parts.join(joined), kind, range))
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

/// Where the line above the value at `at` begins, if both lines are values of one name, and two of them.
pub(super) fn above(text: &str, at: usize) -> Option<usize> {
    let start = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let end = text[at..].find('\n').map_or(text.len(), |it| at + it);
    let before = text[..start].trim_end();
    let above = before.rfind('\n').map_or(0, |it| it + 1);
    let (line, before) = (text[start..end].trim_start(), &before[above..]);
    if let (Some(own), Some(other)) = (entry(line), entry(before)) {
        let amount = words::AMOUNT.contains(words::last_word(own.0));
        return (own.0 != other.0 && !amount && !is_same(own.1, other.1)).then_some(above);
    }
    // "= 987" goes on.
    let line = Some(line).filter(|it| !it.starts_with('='))?;
    let (name, value) = stated(line)?;
    // "Solutions: 4"
    let (other, another) = stated(before.rsplit_once(": ").map_or(before, |it| it.1))?;
    let numbered = |it: &str| name.starts_with(it) && other.starts_with(it);
    let letter = name.chars().next().filter(|it| it.is_alphabetic());
    let same = name == other || letter.is_some_and(|it| numbered(&it.to_string()));
    (same && !is_same(value, another)).then_some(above)
}

/// The name and the number of a line such as "Tom: 12", or of a row of a table, "| Tom | 12 |".
fn entry(line: &str) -> Option<(&str, &str)> {
    let line = trim_markup(line.trim());
    let row = line.strip_prefix('|').and_then(|it| it.strip_suffix('|'));
    let (name, value) = match row {
        Some(cells) => (cells.split('|').next()?, cells.rsplit('|').next()?),
        None => line.split_once(": ")?,
    };
    let (name, value) = (name.trim(), trim_markup(value));
    let words =
        name.split(' ').count() <= 3 && name.chars().all(|it| it.is_alphabetic() || it == ' ');
    let number = value.strip_prefix('$').unwrap_or(value);
    let number = number
        .bytes()
        .all(|it| it.is_ascii_digit() || matches!(it, b'.' | b','));
    (words && number && !value.is_empty() && name.len() > 1).then_some((name, value))
}

/// A line's item, without its bullet and its markup, and whether it has a bullet.
fn item(line: &str) -> (&str, bool) {
    let line = line.trim();
    let bullet = line.trim_start_matches(['-', '*', '•', '+']);
    // "-5" is no bullet.
    let glued = bullet.len() < line.len() && !bullet.starts_with(' ');
    let bulleted = bullet.len() < line.len() && !glued;
    let item = trim_markup(if glued { line } else { bullet });
    let word = words::last_word(item);
    let joins = words::JOINS_ITEMS.contains(word);
    let rest = item.strip_suffix(word).filter(|_| joins);
    (trim_markup(rest.unwrap_or(item)), bulleted)
}

/// The name, empty where there is none, and the value of a line that states one: "x₁ = 4/3", "√2", "9 cm".
fn stated(line: &str) -> Option<(&str, &str)> {
    if line.len() > LONGEST {
        return None;
    }
    let (item, _) = item(line);
    let (name, value) = item.split_once('=').unwrap_or(("", item));
    let (name, value) = (name.trim_matches([' ', '$', '*']), value.trim());
    let letter = name.trim_end_matches(|it: char| !it.is_alphabetic());
    let named = letter.chars().count() <= 1 && !name.contains([' ', '+', '-', '/', '^']);
    // Without a name, a number and no words.
    let bare = value.trim_start_matches(['-', '−', '$', '\\', '(', '√']);
    let number =
        bare.starts_with(|it: char| it.is_ascii_digit() || it == 'π') || value.starts_with('\\');
    let plain = !value.contains(' ') && !bare.contains(char::is_alphabetic);
    if !(number && named && !value.contains('=') && (plain || !name.is_empty())) {
        return None;
    }
    // Digits need no reading.
    let digits = |it: char| it.is_ascii_digit() || it == '.';
    let constant = value.chars().all(digits)
        || matches!(crate::parse::parse(value), Ok(Answer::Quantity(it)) if !has_letter(&it.value));
    constant.then_some((name, value))
}

/// Two or more lines that are all of the rest, each a value, a letter, or a value with its name.
fn lines(text: &str) -> Option<(Vec<&str>, usize)> {
    let all = text.trim_end();
    if !all.contains('\n') || all.len() > MOST * LONGEST {
        return None;
    }
    let mut items = Vec::new();
    let mut named = Vec::new();
    for line in all.lines().filter(|it| !it.trim().is_empty()) {
        let (item, bulleted) = item(line);
        let lettered = choice::whole(item).is_some_and(|(it, rest)| it.end <= 3 && rest.is_empty());
        let worded = bulleted
            && item.split(' ').count() <= 3
            && item.chars().all(|it| it.is_alphabetic() || it == ' ');
        let value = stated(line);
        if items.len() == MOST || !(value.is_some() || lettered || worded) {
            return None;
        }
        named.push(value.is_some_and(|(name, _)| !name.is_empty()));
        items.push(item);
    }
    let same = named.iter().all(|it| *it == named[0]);
    (items.len() > 1 && same).then_some((items, all.len()))
}
