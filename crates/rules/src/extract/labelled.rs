//! Labelled parts: "(a) 3, (b) 5", "i) 2 ii) 4", "Part A: 4, Part B: 9".

use super::markup::trim_markup;
use super::words;

/// How labels are written: what stands around the letter or number, and the row of them.
const STYLES: [(&str, &str); 5] = [
    ("(", ")"),
    ("Part (", ")"),
    ("Part ", ":"),
    ("", ")"),
    ("", "."),
];
const ROWS: [&str; 4] = ["abcdefgh", "ABCDEFGH", "123456789", "ivx"];
const ROMAN: [&str; 8] = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii"];
/// How long a text with labelled parts may be, in bytes.
const MAX_TEXT: usize = 2_000;

fn label(row: &str, index: usize) -> Option<&str> {
    if row == "ivx" {
        return ROMAN.get(index).copied();
    }
    row.get(index..=index)
}

/// The parts of a text that begins with the first label of a row and has two at least: each with its label.
pub(crate) fn parts(text: &str) -> Option<Vec<(&str, &str)>> {
    if text.len() > MAX_TEXT || !text.contains([')', ':', '.']) {
        return None;
    }
    let bare = text.trim_start_matches(['*', ' ', '\n', '$', '-']);
    // It begins with a label, perhaps within `\text{…}`.
    let mut start = 0;
    while let Some(command) = ["\\text{", "\\textbf{"]
        .iter()
        .find(|it| bare[start..].starts_with(**it))
    {
        start += command.len();
    }
    if !bare[start..].starts_with(['(', 'P', 'a', 'A', '1', 'i']) {
        return None;
    }
    STYLES
        .iter()
        .flat_map(|style| ROWS.iter().map(move |row| (style, row)))
        .filter(|((open, close), row)| {
            let rest = bare[start..].strip_prefix(open);
            let rest = rest.and_then(|it| it.strip_prefix(label(row, 0)?));
            rest.is_some_and(|it| it.starts_with(close))
        })
        .find_map(|((open, close), row)| of_style(bare, start, (open, close), row))
}

fn of_style<'t>(
    text: &'t str,
    start: usize,
    (open, close): (&str, &str),
    row: &'static str,
) -> Option<Vec<(&'t str, &'t str)>> {
    let mut out = Vec::new();
    let (first, mut at) = find(text, open, label(row, 0)?, close)?;
    if first != start {
        return None;
    }
    for index in 0..ROMAN.len() {
        let next = label(row, index + 1).and_then(|it| find(&text[at..], open, it, close));
        let end = next.map_or(text.len(), |(from, _)| at + from);
        let value = cleaned(&text[at..end]);
        // "(A), as (B) is wrong" names an option.
        let last = words::last_word(value);
        if value.is_empty() || words::SUBORDINATING.contains(last) || value == "as" {
            return None;
        }
        out.push((label(row, index)?, value));
        match next {
            Some((_, following)) => at += following,
            None => break,
        }
    }
    (out.len() > 1).then_some(out)
}

/// Where a label stands at the beginning of a word, and what is after it.
fn find(text: &str, open: &str, label: &str, close: &str) -> Option<(usize, usize)> {
    let mark = format!("{open}{label}{close}");
    text.match_indices(&mark)
        .map(|(at, _)| (at, at + mark.len()))
        .find(|(at, following)| {
            let before = text[..*at].chars().next_back();
            let free = before
                .is_none_or(|it| it.is_whitespace() || matches!(it, '*' | '{' | ',' | ';' | '~'));
            // "1.5" is a number.
            let over = text[*following..].starts_with([' ', '*', '}', '\\', '\n', '$', ':']);
            free && (over || !open.is_empty() && open != "Part ")
        })
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
