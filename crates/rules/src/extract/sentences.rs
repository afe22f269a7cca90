//! Where sentences begin and end.

use std::ops::Range;

use super::scan::Regions;
use super::words;

/// How much of a sentence is looked at for the answer that it ends in, in bytes.
const MAX_ENDING: usize = 200;

/// How long a sentence is at most, in bytes: of a longer one the end is looked at.
const MAX_SENTENCE: usize = 20_000;

/// Where the sentence that `from` lies in ends: at its punctuation or its line's end. `None` where that is not before `limit`.
pub(super) fn end(text: &str, regions: &Regions, from: usize, limit: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    // A line may end within `\text{…}`.
    let mut depth = 0_usize;
    let closes = |line: &str| line.contains('}');
    let mut at = from;
    while at < bytes.len() {
        if at > limit {
            return None;
        }
        if matches!(bytes[at], b'$' | b'\\')
            && let Some((_, formula)) = regions.formula_from(at)
        {
            at = formula.end;
            continue;
        }
        match bytes[at] {
            b'\n' if depth > 0 && text[at + 1..].lines().next().is_some_and(closes) => at += 1,
            b'{' => {
                depth += 1;
                at += 1;
            }
            b'}' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b'\n' => {
                // A display on the next line belongs to the sentence.
                let next = at + 1 + blanks(&text[at + 1..]);
                if at > from && regions.formula_from(next).is_some() && next == at + 1 {
                    at = next;
                    continue;
                }
                return Some(at);
            }
            b'.' | b'!' | b'?' if ends_here(text, at) => return Some(at),
            0xe3 if text[at..].starts_with('。') => return Some(at),
            _ => at += 1,
        }
    }
    Some(bytes.len())
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t', '\n']).len()
}

/// Does the punctuation at `at` end a sentence?
fn ends_here(text: &str, at: usize) -> bool {
    let after = &text[at + 1..];
    let bare = after.trim_start_matches(['*', '"', '\'', ')', '_', '`', '”', ']', '$']);
    if !(bare.is_empty() || bare.starts_with(char::is_whitespace)) {
        return false;
    }
    // Before the border of a table's cell.
    if let Some(rest) = bare.trim_start_matches(' ').strip_prefix('|')
        && (rest.is_empty() || rest.starts_with(char::is_whitespace))
    {
        return false;
    }
    if text[at..].starts_with('!') {
        // A space of LaTeX; a factorial within a sentence.
        let name = words::last_word(&text[..at]).len() == 1;
        let factorial = (name || text[..at].ends_with(|it: char| it.is_ascii_digit() || it == ')'))
            && after
                .trim_start()
                .starts_with(|it: char| it.is_lowercase() || it == '(');
        return !factorial && !text[..at].ends_with('\\');
    }
    if !text[at..].starts_with('.') {
        return true;
    }
    let before = words::ending(&text[..at], 24);
    let line_at = before.rfind('\n').map(|line| line + 1);
    let begins_line = line_at.is_some() || before.len() == at;
    let before = &before[line_at.unwrap_or(0)..];
    let word_at = before
        .rfind(|it: char| it.is_whitespace() || matches!(it, '(' | ','))
        .map_or(0, |space| space + 1);
    let word = before.get(word_at..).unwrap_or(before);
    let word = word.trim_start_matches(['*', '_']);
    if words::ABBREVIATION.contains(word) {
        // "etc." ends a sentence too, where a new one begins.
        return word.len() > 2 && bare.trim_start().starts_with(char::is_uppercase);
    }
    // An enumerator at the beginning of a line or of a table's cell.
    if !bare.starts_with(' ') || bare.trim().is_empty() {
        return true;
    }
    let label = before[..word_at].trim_matches([' ', '\t', '*', '#', '-', '>']);
    let near = words::ending(&text[..at], MAX_ENDING);
    let line = near.rsplit('\n').next().unwrap_or("");
    let in_row = label.ends_with('|') || word.parse::<u8>().is_ok() && line.starts_with('|');
    let begins = begins_line && label.is_empty() || in_row;
    !(begins && is_enumerator(word.trim_start_matches(['*', '#'])))
}

/// "1", "12", "B".
fn is_enumerator(word: &str) -> bool {
    match word.as_bytes() {
        [one] => one.is_ascii_digit() || one.is_ascii_uppercase(),
        [one, two] => one.is_ascii_digit() && two.is_ascii_digit(),
        _ => false,
    }
}

/// The last sentence before `end`; `None` where nothing is left.
pub(super) fn last_before(text: &str, regions: &Regions, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let end = text[..end].trim_end().trim_end_matches('。').len();
    if end == 0 {
        return None;
    }
    let far = end.saturating_sub(MAX_SENTENCE);
    let mut at = end - 1;
    // Its own punctuation.
    while at > 0
        && matches!(
            bytes[at],
            b'.' | b'!' | b'?' | b'*' | b'"' | b')' | b'_' | b' '
        )
    {
        at -= 1;
    }
    loop {
        if matches!(bytes[at], b'$' | b')' | b']' | b'}')
            && let Some((_, formula)) = regions.formula_at(at)
            && formula.start <= at
        {
            at = formula.start;
        } else {
            match bytes[at] {
                b'\n' => {
                    // A display on a line of its own belongs to what announces it.
                    let next = at + 1 + blanks(&text[at + 1..end]);
                    let announced = text[..at].trim_end().ends_with([':', ',']);
                    if !(announced && regions.formula_from(next).is_some()) {
                        return Some(at + 1..end);
                    }
                }
                b'.' | b'!' | b'?' if ends_here(text, at) => return Some(at + 1..end),
                b' ' if at < far => return Some(at + 1..end),
                0xe3 if text.get(at..).is_some_and(|it| it.starts_with('。')) => {
                    return Some(at + '。'.len_utf8()..end);
                }
                _ => {}
            }
        }
        if at == 0 {
            return Some(0..end);
        }
        at -= 1;
    }
}
