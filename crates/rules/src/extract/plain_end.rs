//! A whole number at the end of a text: "#### 18", "A: 18", "The answer is 18.", "It costs \\boxed{18} dollars." Most rows of training and evaluation end
//! so, and where nothing else in the text can count, the search that weighs everything finds nothing else.

use std::borrow::Cow;

use super::announcements::{self, AnchorKind};
use super::items::Source;
use super::scan::{Boxed, Kinds, Regions, next_of, passing};
use super::search::{ANSWER_LETTER, BOXED};
use super::{Found, Role, boxes, clean, qualifiers, reach, words};
use crate::config::{Config, ExtractionTarget};

/// How long such a text is at most, and such a number, in bytes.
const LONGEST: usize = 16_000;
const MOST_DIGITS: usize = 15;

/// What [`super::extract`] finds in such a text; `None` where it has to be searched.
pub(super) fn found<'t>(text: &'t str, role: Role, config: &Config) -> Option<Found<'t>> {
    use ExtractionTarget::{Expr, Latex};
    let usual = config.decimal.is_none() && matches!(*config.extract, [Latex, Expr]);
    if !usual || text.len() > LONGEST {
        return None;
    }
    let last = last_number(text);
    if role == Role::Gold {
        let (_, number) = last.filter(|it| it.0.is_empty())?;
        return Some(plain(number, "whole", number));
    }
    let asks_boxes = (0..=50).contains(&config.boxed_match_priority);
    if asks_boxes && let Some(found) = boxed(text) {
        return Some(found);
    }
    if config.boxed_only {
        return None;
    }
    let Some((before, number)) = last else {
        return stated(text);
    };
    if let Some(head) = before.strip_suffix("\n#### ") {
        return says_nothing_else(head).then(|| plain(number, "####", number));
    }
    let Some(head) = before.strip_suffix("\nA: ") else {
        return stated(text);
    };
    let line = head[head.rfind('\n').map_or(0, |at| at + 1)..].to_ascii_lowercase();
    // "The final answer is", in whatever case, may go on below.
    let goes_on = line.contains("inal") || line.contains("ebnis");
    let found = || plain(number, ANSWER_LETTER, &text[before.len() - 1..]);
    (!goes_on && says_nothing_else(head)).then(found)
}

fn plain<'t, T: Into<Cow<'t, str>>>(text: T, method: &'static str, statement: T) -> Found<'t> {
    let (text, statement) = (text.into(), statement.into());
    Found {
        text,
        method,
        statement,
        ..Found::default()
    }
}

/// The whole number that a text ends in, and what stands before it.
fn last_number(text: &str) -> Option<(&str, &str)> {
    let before = text.trim_end_matches(words::is_digit);
    let head = (before.strip_suffix('-')).filter(|it| it.is_empty() || it.ends_with(' '));
    let length = text.len() - before.len();
    let at = head.unwrap_or(before).len();
    (1..=MOST_DIGITS)
        .contains(&length)
        .then(|| text.split_at(at))
}

/// The number that a text ends in after "the answer is", where no words before it deny or doubt it and nothing else is announced that counts more.
fn stated(text: &str) -> Option<Found<'_>> {
    let bare = text.trim_end();
    let (before, number) = last_number(bare.strip_suffix('.').unwrap_or(bare))?;
    let head = before
        .strip_suffix(' ')
        .filter(|it| it.ends_with(['s', ':']))?;
    let line = &head[head.rfind('\n').map_or(0, |at| at + 1)..];
    if line.trim_start_matches([' ', '>']).starts_with("A:") || !says_nothing_else(head) {
        return None;
    }
    let anchors = announcements::find(text);
    let (last, others) = anchors.split_last()?;
    let method = match last.how {
        AnchorKind::Final => "final answer",
        AnchorKind::Answer => "answer",
        _ => return None,
    };
    let near = words::ending(&text[..last.start], NEAR);
    let said = &text[last.start..last.end];
    let denied = qualifiers::deny_or_suppose(said)
        || words::has(said, &words::DENIES_ANNOUNCEMENT)
        || qualifiers::doubt(near);
    // A final one would count more.
    let alike = others.iter().all(|it| it.how == last.how);
    let sure = last.end == head.len() && alike && !last.comma && !denied;
    let end = before.len() + number.len();
    sure.then(|| plain(number, method, &text[head.len()..end]))
}

/// The number in a box on the last line of a text, "So it costs $\\boxed{18}$ dollars.", with its unit, where it is the only one and no word beside
/// it changes it or takes it back.
fn boxed(text: &str) -> Option<Found<'_>> {
    let start = text.rfind('\\')?;
    let (head, rest) = text.split_at(start);
    let inner = rest.strip_prefix(BOX)?;
    let unsigned = inner.strip_prefix('-').unwrap_or(inner);
    let rest = unsigned.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
    let (number, rest) = (&inner[..inner.len() - rest.len()], rest.strip_prefix('}')?);
    let outer = head.strip_suffix('$').filter(|_| rest.starts_with('$'));
    let (mark, outer) = (usize::from(outer.is_some()), outer.unwrap_or(head));
    let after = &rest[mark..];
    let line_at = head.rfind('\n').map_or(0, |at| at + 1);
    let line = &head[line_at..];
    let ends = outer.trim_end_matches(' ').chars().next_back();
    let near = text
        .ceil_char_boundary(start.saturating_sub(NEAR))
        .max(line_at);
    let mut parts = unsigned[..unsigned.len() - rest.len() - 1].split('.');
    let alone = parts.all(|it| !it.is_empty())
        && number.matches('.').count() <= 1
        && (1..=MOST_DIGITS).contains(&(unsigned.len() - rest.len() - 1))
        && !after.starts_with(|it: char| !matches!(it, ' ' | '.' | ',' | '!'))
        && !after.trim_end().contains(['\n', '<', '$'])
        // "\boxed{40}.5", "\boxed{40},000"
        && !after.trim_start_matches(['.', ',']).starts_with(words::is_digit)
        && (mark == 0 || !outer.contains('$'))
        // "3\boxed{4}", "x >= \boxed{4}"
        && !outer.ends_with(|it: char| it.is_ascii_digit() || it == '.')
        && !(ends == Some('=') && line.contains(['>', '!']))
        // A sign may belong to it, and a mark of a calculator hide what does.
        && ends.is_none_or(|it| it.is_ascii_alphanumeric() || ":=.,!?\n".contains(it))
        && !line.contains('<')
        && !line.trim_start_matches([' ', '>']).starts_with("A:")
        && says_nothing_else(after)
        && says_nothing_else(head)
        && clean::signs(&text[near..]) == 0;
    if !alone {
        return None;
    }
    let end = text.len() - rest.len();
    let content = start + BOX.len()..end - 1;
    let regions = Regions::default();
    let source = Source {
        text,
        regions: &regions,
        open_boxes: false,
    };
    let boxed = Boxed {
        start,
        content,
        end,
        closed: true,
    };
    let value = boxes::part(text, &boxed);
    let (said, next) = text.split_at(reach::sentence_end(source, end));
    let said = &said[end..];
    // A letter may be a parameter.
    let changed = next.contains(char::is_alphanumeric)
        || value.len() == number.len() + " m".len()
        || words::EXTENDS_VALUE
            .begin(rest.trim_start_matches(' '))
            .is_some()
        || boxes::changed(boxes::before(text, start), said.trim_start_matches('$'))
        || !announcements::are_none(after)
        || qualifiers::is_changed_later(&value, rest);
    let statement = value.clone();
    (!changed).then(|| plain(value, BOXED, statement))
}

/// How far before a box words may change it, in bytes, and how it opens.
const NEAR: usize = 80;
const BOX: &str = "\\boxed{";

/// What hides nothing but at the beginning of a line.
const KINDS: Kinds = passing(b" !\"$%'()*+,-./:;=>?", b"");

/// Is there nothing in a text that may hide its last line, or be another question or a list of choices?
fn says_nothing_else(head: &str) -> bool {
    let bytes = head.as_bytes();
    let begins = |line: usize| match &bytes[line..] {
        [b'*' | b'(' | b'-' | b'>', ..] | [b'B', b':' | b')' | b'.', ..] => false,
        [b'Q' | b'P' | b'U' | b'H', ..] => words::QUESTION.begin(&head[line..]).is_none(),
        _ => true,
    };
    let mut next = 0;
    let mut plain = begins(0);
    while plain && let Some((at, byte)) = next_of(bytes, next, &KINDS) {
        next = at + 1;
        plain = match byte {
            b'\n' => begins(next),
            // <<3*4=12>>
            b'<' => bytes[next..].first() == Some(&b'<') || bytes[..at].last() == Some(&b'<'),
            _ => false,
        };
    }
    plain
}

#[cfg(test)]
mod tests;
