//! Labels and what stands behind them: the parts of "(a) 3, (b) 5", the options of "B) Nitrogen and D) Helium", and lists of either.

use super::markup::trim_markup;
use super::settled::says_right;
use super::words::{self, first_word, is_digit, words_of};

const ROMAN: [&str; 8] = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii"];
/// How long a text with labelled parts may be, and how far the next label is looked for, in bytes.
const MAX_TEXT: usize = 2_000;
/// How many labels of a list are read.
const MOST: usize = 12;
/// What a label may stand in, and a word before it.
const COMMANDS: [&str; 2] = ["\\text{", "\\textbf{"];
const PART: &str = "Part ";
/// What a line of a list may begin with before its label.
const MARKS: &[char] = &[' ', '\n', '\t', '*', '`', '_', '-', '•', '+', '>', '$', ':'];

/// What stands between the numbers of a calculation; the last begins a command.
pub(super) const SIGNS: [char; 11] = ['+', '-', '–', '−', '*', '×', '·', '÷', '/', '%', '\\'];

/// "(a)", "B.", "iii)", "**2.**": a letter or a number, and what makes it a label.
#[derive(Clone, Copy)]
struct Label<'t> {
    name: &'t str,
    /// Its bracket, the sign after it, and whether it is a number, a capital or a small letter.
    dress: (Option<char>, char, u8),
    start: usize,
    end: usize,
}

/// The label whose letter or number begins at `at`.
fn label(text: &str, at: usize) -> Option<Label<'_>> {
    let length = text.bytes().skip(at).take(5);
    let length = length.take_while(u8::is_ascii_alphanumeric).count();
    let (name, after) = text[at..].split_at(length);
    let is_roman = || ROMAN.iter().any(|it| it.eq_ignore_ascii_case(name));
    let row = match name.as_bytes() {
        [b'0'..=b'9'] | [b'0'..=b'9', b'0'..=b'9'] => 0,
        [it, rest @ ..] if rest.is_empty() || is_roman() => 1 + u8::from(it.is_ascii_lowercase()),
        _ => return None,
    };
    let before = text[..at].chars().next_back();
    let bracket = before.filter(|it| matches!(it, '(' | '['));
    let start = at - usize::from(bracket.is_some());
    let bare = bracket.is_none() && row == 1;
    let sign = after.chars().next()?;
    let spaceless = words::is_spaceless;
    let set_off = [" –", " —", " ("].iter().any(|it| after.starts_with(it))
        || after
            .strip_prefix(" - ")
            .is_some_and(|it| words::first_word(it).len() > 1)
        || sign == '(' && words::first_word(&after[1..]).len() > 1;
    let (sign, length) = match (bracket, sign) {
        (Some('('), ')') | (Some('['), ']') | (None, ')' | '.' | ':') => (sign, 1),
        // "B, nitrogen, and D, helium"
        (_, ',') if bare => (sign, 1),
        // "**B** nitrogen", "B – nitrogen", "B (nitrogen)", "B（氮）"
        (_, '*' | '}') if bare => (sign, 0),
        (_, ' ' | '(') if bare && set_off => (' ', 0),
        _ => return None,
    };
    let free = |it: char| it.is_whitespace() || spaceless(it) || "*_`{,:;~$\"|".contains(it);
    // "1.5" is a number.
    let over = |it: char| " *_`}\\\n$:".contains(it) || spaceless(it);
    let apart = text[..start].chars().next_back().is_none_or(free)
        && (length == 0 || bracket.is_some() || after[1..].chars().next().is_none_or(over));
    let start = text[..start].strip_suffix(PART).map_or(start, str::len);
    let (dress, end) = ((bracket, sign, row), at + name.len() + length);
    apart.then_some(Label {
        name,
        dress,
        start,
        end,
    })
}

/// The labels behind `like` that are dressed as it is.
fn labels<'t>(text: &'t str, like: Label<'t>) -> impl Iterator<Item = Label<'t>> {
    let word = move |at: usize| text.as_bytes()[at].is_ascii_alphanumeric();
    let all = (like.end..text.len()).filter(move |&at| word(at) && !word(at - 1));
    all.filter_map(|at| label(text, at))
        .filter(move |it| it.dress == like.dress)
}

/// The label that a text begins with at `from`, behind markup.
fn leading(text: &str, from: usize) -> Option<Label<'_>> {
    let mut rest = text[from..].trim_start_matches(MARKS);
    while let Some(inner) = COMMANDS.iter().find_map(|it| rest.strip_prefix(it)) {
        rest = inner;
    }
    let rest = rest.strip_prefix(PART).unwrap_or(rest);
    let rest = super::choice::strip_name(rest).unwrap_or(rest);
    let rest = rest.strip_prefix(['(', '[']).unwrap_or(rest);
    label(text, text.len() - rest.len())
}

/// The parts of a text that begins with the first label of a row and has two at least: each with its label.
pub(crate) fn parts(text: &str) -> Option<Vec<(&str, &str)>> {
    if text.len() > MAX_TEXT || !text.contains([')', ':', '.']) {
        return None;
    }
    let first = leading(text, 0)?;
    let place = |name: &str| match name.as_bytes() {
        _ if first.name == ROMAN[0] => ROMAN.iter().position(|it| *it == name),
        [digit @ b'1'..=b'9'] => Some(usize::from(digit - b'1')),
        [letter] => Some(usize::from(letter.to_ascii_lowercase().wrapping_sub(b'a'))),
        _ => None,
    };
    let known = match first.dress {
        (Some('('), ..) | (None, ')' | '.', _) => true,
        (_, sign, _) => sign == ':' && text[first.start..].starts_with(PART),
    };
    if !known || place(first.name) != Some(0) {
        return None;
    }
    let mut out = Vec::new();
    let mut last = Some(first);
    while let Some(label) = last {
        let index = out.len() + 1;
        last = labels(text, label).find(|it| index < ROMAN.len() && place(it.name) == Some(index));
        let value = cleaned(&text[label.end..last.map_or(text.len(), |it| it.start)]);
        // "(A), as (B) is wrong" names an option.
        let reason = words::SUBORDINATING.contains(words::last_word(value));
        if value.is_empty() || reason || value == "as" {
            return None;
        }
        out.push((label.name, value));
    }
    (out.len() > 1).then_some(out)
}

/// Are numbered parts steps, one of which computes: "39 + 4 = 43"? "x = 3" and "2x + 1 = 3" say what something is.
pub(super) fn are_steps(text: &str) -> bool {
    let worded = |it: &str| it.chars().all(char::is_alphabetic);
    let is_term = |terms: &str, it: &str| {
        let counted = terms[..words::offset(terms, it)]
            .trim_end()
            .ends_with(is_digit);
        let named = it.len() > 1 || words::FIRST_PERSON.contains(it);
        it.parse::<f64>().is_ok() || worded(it) && (named || counted && words::is_unit(it))
    };
    let computes = |terms: &str| {
        let mut numbers = terms.split(SIGNS).filter(|it| it.contains(is_digit));
        numbers.nth(1).is_some() && words_of(terms).all(|it| is_term(terms, it))
    };
    let is_step = |(label, value): &(&str, &str)| {
        label.starts_with(is_digit) && value.rsplit(['=', ':']).skip(1).any(computes)
    };
    parts(text).is_some_and(|it| it.iter().any(is_step))
}

/// How a label is joined to the one before: on its line, by a word or a sign, as one of two that are meant; on the next line, or behind an empty one.
#[derive(Clone, Copy, PartialEq)]
#[rustfmt::skip]
enum Joint { Word, Sign, Or, Below, Apart }

/// How what stands between two labels of a line joins them.
fn joint(gap: &str) -> Option<Joint> {
    let mut before = gap.trim_end_matches(MARKS);
    while let Some(rest) = COMMANDS.iter().find_map(|it| before.strip_suffix(it)) {
        before = rest.trim_end_matches(MARKS);
    }
    before = before.trim_end_matches(['{', '"']);
    let mut word = words::last_word(before);
    if words::OPTION.contains(word) {
        before = before[..words::offset(before, word)].trim_end();
        word = words::last_word(before);
    }
    let ends = |it: &str| {
        let spaceless = it.starts_with(words::is_spaceless);
        let free = |rest: &str| spaceless || !rest.ends_with(char::is_alphabetic);
        before.strip_suffix(it).is_some_and(free)
    };
    let said = |list: &words::List| list.contains(word) || list.iter().any(ends);
    let sign = before.ends_with([',', ';', '/', '&', '|']);
    let set_off = sign || gap.contains("  ") || gap.contains("\\quad");
    if said(&words::ALTERNATIVE) {
        return Some(Joint::Or);
    }
    let worded = said(&words::JOINS_ITEMS).then_some(Joint::Word);
    worded.or(set_off.then_some(Joint::Sign))
}

/// The next label that is dressed as `last`, and how it is joined to it. `alone`: the first one begins its line. `several`: they were announced.
fn following<'t>(
    text: &'t str,
    last: Label<'t>,
    (alone, several): (bool, bool),
) -> Option<(Label<'t>, Joint)> {
    let near = &text[..text.floor_char_boundary(last.end.saturating_add(MAX_TEXT))];
    let end = near[last.end..]
        .find('\n')
        .map_or(near.len(), |at| last.end + at);
    let within = labels(&near[..end], last).next();
    let set_off = several.then_some(Joint::Sign);
    let joined = within.and_then(|it| Some((it, joint(&near[last.end..it.start]).or(set_off)?)));
    joined.or_else(|| {
        let apart = near[end..].starts_with("\n\n");
        let next = leading(near, end).filter(|it| it.dress == last.dress && (alone || !apart))?;
        Some((next, if apart { Joint::Apart } else { Joint::Below }))
    })
}

/// Several options in a row.
pub(super) struct Several {
    pub letters: String,
    pub end: usize,
    /// Is it open which of them are the answer?
    pub open: bool,
}

/// The options whose first label ends at `end`, behind those that `letters` names; `None` where it is the only one.
pub(super) fn several(text: &str, letters: &str, end: usize) -> Option<Several> {
    let letter = letters.chars().next_back()?;
    let near = text.floor_char_boundary(end.saturating_sub(24));
    let at = near + text[near..end].rfind(|it: char| it.eq_ignore_ascii_case(&letter))?;
    row(text, label(text, at)?, letters)
}

fn row(text: &str, first: Label<'_>, letters: &str) -> Option<Several> {
    let line = text[..first.start].rfind('\n').map_or(0, |it| it + 1);
    let alone = leading(text, line).is_some_and(|it| it.end == first.end);
    let (before, mut word) = (&text[..first.start], words::last_word(&text[..first.start]));
    if words::OPTION.contains(word) {
        word = words::last_word(&before[..words::offset(before, word)]);
    }
    let several = words::SEVERAL_ANSWERS.contains(word);
    let said_of = |it: Label<'_>| {
        let rest = &text[it.end..text.floor_char_boundary(it.end.saturating_add(MAX_TEXT))];
        let line = rest.split('\n').next().unwrap_or(rest);
        let clause = line.split(". ").next().unwrap_or(line);
        clause.trim_start_matches([' ', '*', '_', '}', '$', '"'])
    };
    let claims = |it: &str| words::CHOICE_VERB.contains(it) || words::BINDER.contains(it);
    let denies = |it: &str| words::WRONG.contains(it) || words::DENIES.contains(it);
    let mut names: Vec<&str> = letters.split(", ").collect();
    let (own, mut last, mut joints, mut told) = (names.len(), first, Vec::new(), false);
    while names.len() < MOST
        && !said_of(last).is_empty()
        && let Some((next, joint)) = following(text, last, (alone, several))
    {
        let (said, is_first) = (said_of(next), names.len() == own);
        told |= is_first && words_of(&text[first.end..next.start]).any(claims);
        // "are correct" says it of all of them.
        let verb = words_of(said).find(|it| claims(it));
        let claim = verb.is_some_and(|it| !says_right(&said[words::offset(said, it)..]));
        let denied = words_of(said).any(denies);
        // "and (D) is wrong" speaks of another option.
        let passed = match joint {
            _ if claims(first_word(said)) => claim,
            _ if said.is_empty() => next.dress.0.is_none(),
            Joint::Or => false,
            Joint::Below => !told && claim && denied,
            _ if told => claim && words_of(said).any(|it| words::WRONG.contains(it)),
            _ => claim || denied || joint == Joint::Apart && next.name <= last.name,
        };
        if passed {
            break;
        }
        joints.push(joint);
        let comma = text[last.end..next.start].contains([',', ';']);
        if joint == Joint::Word && comma && joints.len() == 1 {
            joints[0] = Joint::Sign;
        }
        names.push(next.name);
        last = next;
    }
    if names.len() == own {
        return None;
    }
    let has = |it: Joint| joints.contains(&it);
    let below = has(Joint::Below) || has(Joint::Apart);
    let told_again = names[1..].contains(&names[0]) || names[1] == "A";
    if below && !alone && told_again {
        return None;
    }
    let ordered = names.windows(2).all(|it| it[0] < it[1]);
    let lettered = |it: &&str| matches!(it.as_bytes(), [b'A'..=b'J' | b'a'..=b'j']);
    let from_first = letters.eq_ignore_ascii_case("A") && names[1].eq_ignore_ascii_case("B");
    let open = has(Joint::Or)
        || !names.iter().all(lettered)
        || below && (!alone || !ordered || from_first)
        // ", and (D) reacts" may be a clause of its own.
        || !below && first.dress.1 == ')' && !has(Joint::Word) && !several
        || first.dress.1 == ',';
    names.dedup();
    let letters = names.join(", ").to_ascii_uppercase();
    Some(Several {
        letters,
        end: last.end,
        open,
    })
}

/// The list that begins at `from`, behind markup.
pub(super) fn list(text: &str, from: usize) -> Option<Several> {
    leading(text, from).and_then(|it| row(text, it, it.name))
}

/// A part's value without what joins it to the next one.
fn cleaned(value: &str) -> &str {
    let mut value = value;
    for _ in 0..8 {
        let before = value.len();
        value = value
            .trim_start_matches([' ', '}', ':', '*', '\n', '~'])
            .trim_end_matches([' ', ',', ';', '\n', '*', '-', '#']);
        for end in "\\text{ \\textbf{ \\quad \\qquad \\, \\; \\"
            .split(' ')
            .chain([" and"])
        {
            value = value.strip_suffix(end).unwrap_or(value);
        }
        for begin in ["\\quad", "\\,", "\\;", "\\ "] {
            value = value.strip_prefix(begin).unwrap_or(value);
        }
        if value.len() == before {
            break;
        }
    }
    let value = trim_markup(value);
    if value == "and" { "" } else { value }
}

/// How far labelled parts reach that a text begins with: to the end of the last one's line.
pub(super) fn span(text: &str) -> Option<usize> {
    leading(text, 0)?;
    let paragraph = |from: usize| text[from..].find("\n\n").map_or(text.len(), |at| from + at);
    let count = |end: usize| parts(&text[..end]).map_or(1, |parts| parts.len());
    let mut end = paragraph(0);
    // A part may be a paragraph of its own.
    for _ in 0..ROMAN.len() {
        let next = text[end..].trim_start_matches(['\n', '*', ' ', '-']);
        let next_end = paragraph(text.len() - next.len());
        if !next.starts_with('(') || next_end > MAX_TEXT || count(next_end) <= count(end) {
            break;
        }
        end = next_end;
    }
    let parts = parts(&text[..end])?;
    let (_, last) = parts.last()?;
    let from = words::offset(text, last);
    let line = text[from..end].find('\n').map_or(end, |at| from + at);
    // A list of steps is no answer.
    let worked = parts
        .iter()
        .any(|(_, value)| value.len() > 120 || value.contains(". "));
    (!worked && line - from <= 120).then_some(line)
}
