//! Finds possible delimiters of a field in a prompt: tags, headings, lines that begin with a run, runs beside a field.

use std::ops::Range;

use crate::protocol::reserved::{DelimiterRun, Tag, folded, heading_text, is_underline, lines};
use crate::protocol::tag_scanner::are_attributes;
use crate::protocol::template::FieldName;
use crate::protocol::untrusted::is_space;

/// Opening and closing brackets, those that begin with another first.
const BRACKETS: &str = include_str!("brackets.tsv");

/// Most bytes between brackets of a tag; longer brackets hold prose.
const LONGEST_TAG: usize = 256;

/// A run of these closes a block anywhere; a run of another character only at a line's beginning.
const FENCES: [char; 4] = ['`', '~', '"', '\''];

/// Runs of these delimit too.
const RULES: &str = "=-*_+<>^%@$|&:;#!•·─━═—–‖※～";

/// A run that delimits is at least this long.
const SHORTEST_RUN: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MarkerKind {
    Tag { tag: Tag, closing: bool },
    Heading(String),
    Run { character: char, run: DelimiterRun },
}

/// A delimiter in the prompt's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker {
    pub(super) place: Range<usize>,
    pub(super) kind: MarkerKind,
    /// A run beside a field or a fence: it ends with the same characters.
    pub(super) paired: bool,
}

/// Every delimiter of a text, in its order.
pub(super) fn markers(text: &str, fields: &[(FieldName, Range<usize>)]) -> Vec<Marker> {
    let mut markers = Vec::new();
    of_lines(text, &mut markers);
    of_brackets(text, fields, &mut markers);
    for (_, place) in fields {
        beside_field(text, place, &mut markers);
    }
    markers.sort_by_key(|marker| (marker.place.start, marker.place.end));
    markers
}

/// Headings, and lines that begin with a run.
fn of_lines(text: &str, markers: &mut Vec<Marker>) {
    let all: Vec<(usize, &str)> = lines(text).collect();
    let mut underlined = None;
    for (number, &(start, line)) in all.iter().enumerate() {
        let own = line.split(is_mark).next().unwrap_or_default();
        let trimmed = own.trim_start_matches(is_space);
        let at = start + own.len() - trimmed.len();
        let Some(first) = trimmed.chars().next() else {
            continue;
        };
        let rest = trimmed.trim_start_matches(first);
        let length = (trimmed.len() - rest.len()) / first.len_utf8();
        let heading = heading_text(own);
        let has_words = heading.contains(char::is_alphanumeric);
        let mut heading_to = |end| {
            markers.push(Marker {
                place: at..end,
                kind: MarkerKind::Heading(heading.clone()),
                paired: false,
            });
        };
        let below = all.get(number + 1).filter(|(_, below)| is_underline(below));
        if first == '#' && has_words {
            heading_to(start + own.len());
        } else if let Some(bold) = bold_text(trimmed) {
            markers.push(Marker {
                place: at..start + own.len(),
                kind: MarkerKind::Heading(heading_text(bold)),
                paired: false,
            });
        } else if let Some((below, underline)) = below
            && own.len() == line.len()
            && has_words
            && length < SHORTEST_RUN
        {
            heading_to(below + underline.len());
            underlined = Some(number + 1);
        } else if length >= SHORTEST_RUN && delimits(first) && underlined != Some(number) {
            let run = DelimiterRun {
                length,
                anywhere: FENCES.contains(&first),
            };
            markers.push(Marker {
                place: at..start + own.len(),
                kind: MarkerKind::Run {
                    character: first,
                    run,
                },
                paired: run.anywhere,
            });
        }
    }
}

fn is_mark(character: char) -> bool {
    matches!(character, '\u{FDD0}'..='\u{FDEF}')
}

fn delimits(character: char) -> bool {
    FENCES.contains(&character) || RULES.contains(character)
}

/// The bold text that a line consists of, or that its field follows: `**text**`, `__text:__`.
fn bold_text(line: &str) -> Option<&str> {
    let mut signs = ["**", "__"].into_iter();
    let sign = signs.find(|sign| line.starts_with(sign))?;
    let rest = line[2..].trim_end_matches(|end| is_space(end) || matches!(end, ':' | '：'));
    let inner = rest.strip_suffix(sign)?;
    let is_one = !inner.contains(sign) && !inner.starts_with(&sign[..1]);
    (is_one && inner.contains(char::is_alphanumeric)).then_some(inner)
}

/// Tags. In other brackets than `<…>` only those that have a counterpart with `/`, or stand alone on their line, or beside a field: other brackets are prose.
fn of_brackets(text: &str, fields: &[(FieldName, Range<usize>)], markers: &mut Vec<Marker>) {
    let mut tags: Vec<(Range<usize>, Tag, bool)> = Vec::new();
    let mut end = 0;
    for (at, _) in text.char_indices() {
        if at < end {
            continue;
        }
        let mut brackets = crate::rows(BRACKETS);
        if let Some((length, tag, closing)) =
            brackets.find_map(|(open, close)| bracketed(&text[at..], open, close))
        {
            end = at + length;
            tags.push((at..end, tag, closing));
        }
    }
    for (place, tag, closing) in &tags {
        let has_counterpart = tags
            .iter()
            .any(|(_, other, other_closing)| other == tag && other_closing != closing);
        if tag.open == "<"
            || has_counterpart
            || stands_alone(text, place)
            || fields
                .iter()
                .any(|(_, field)| stands_beside(text, place, field))
        {
            markers.push(Marker {
                place: place.clone(),
                kind: MarkerKind::Tag {
                    tag: tag.clone(),
                    closing: *closing,
                },
                paired: false,
            });
        }
    }
}

/// A tag at the beginning of `text`, with its length.
fn bracketed(text: &str, open: &'static str, close: &str) -> Option<(usize, Tag, bool)> {
    let inside = text.strip_prefix(open)?;
    let limit = inside.floor_char_boundary(LONGEST_TAG);
    let inside = &inside[..inside[..limit].find(close)?];
    let length = open.len() + inside.len() + close.len();
    let name = inside.trim_start_matches(is_space);
    let (closing, name) = match name.strip_prefix('/') {
        Some(name) => (true, name.trim_start_matches(is_space)),
        None => (false, name),
    };
    let name = if open == "<" {
        let is_name = |character: char| {
            character.is_alphanumeric() || matches!(character, '_' | '-' | ':' | '.')
        };
        let end = name.find(|character| !is_name(character));
        let end = end.unwrap_or(name.len());
        let (name, attributes) = name.split_at(end);
        let attributes = attributes.strip_suffix('/').unwrap_or(attributes);
        if !attributes.chars().all(is_space) && (closing || !are_attributes(attributes)) {
            return None;
        }
        name
    } else {
        let is_name = |character: char| {
            character.is_alphanumeric() || matches!(character, '_' | '-' | ':' | '.' | ' ' | '\'')
        };
        if !name.chars().all(is_name) {
            return None;
        }
        name
    };
    let is_named = name.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let name = folded(name);
    is_named.then_some((length, Tag { open, name }, closing))
}

/// Alone on its line, but for colons and the signs of a heading.
fn stands_alone(text: &str, place: &Range<usize>) -> bool {
    let before = text[..place.start].rsplit('\n').next().unwrap_or_default();
    let after = text[place.end..].split('\n').next().unwrap_or_default();
    let is_sign =
        |character: char| is_space(character) || matches!(character, '#' | '*' | '_' | ':' | '：');
    before.chars().chain(after.chars()).all(is_sign)
}

pub(super) fn stands_beside(text: &str, place: &Range<usize>, field: &Range<usize>) -> bool {
    let between = if place.end <= field.start {
        &text[place.end..field.start]
    } else {
        &text[field.end..place.start]
    };
    between
        .chars()
        .all(|character| is_space(character) || matches!(character, ':' | '：'))
}

/// Runs right beside a field, on its line.
fn beside_field(text: &str, field: &Range<usize>, markers: &mut Vec<Marker>) {
    let is_blank = |character: char| matches!(character, ' ' | '\t');
    let mut note = |place: Range<usize>, character: char| {
        let length = place.len() / character.len_utf8();
        if length >= SHORTEST_RUN && delimits(character) {
            let run = DelimiterRun {
                length,
                anywhere: true,
            };
            markers.push(Marker {
                place,
                kind: MarkerKind::Run { character, run },
                paired: true,
            });
        }
    };
    let before = text[..field.start].trim_end_matches(is_blank);
    if let Some(last) = before.chars().next_back() {
        note(before.trim_end_matches(last).len()..before.len(), last);
    }
    let after = text[field.end..].trim_start_matches(is_blank);
    if let Some(first) = after.chars().next() {
        let start = text.len() - after.len();
        let rest = after.trim_start_matches(first);
        note(start..text.len() - rest.len(), first);
    }
}
