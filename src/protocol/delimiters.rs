//! What of a prompt delimits its fields, and which fields nothing delimits.
//!
//! A field is protected where the judge can tell its end from anything its text can say:
//!
//! - It is the only field between an opening tag and the closing tag of that name (`<name>…</name>`, `[name]…[/name]`).
//! - Or it stands behind a delimiter, with no other field in between, and right before another one: a tag, a heading,
//!   a line that begins with a run of one character (`---`, `=== name ===`), a fence, or a run right beside the field
//!   (`<<<…>>>`). A fence or a run beside the field ends with the same characters; behind any other the end of the
//!   prompt is the end of the last field.
//!
//! Those delimiters are [`Reserved`]. Plain words and single signs (`Answer: …`, `"…"`) delimit nothing: a text under
//! judgement may hold them, and they cannot be taken from it.

use std::fmt;
use std::ops::Range;

use super::reserved::{Reserved, Run, Tag, folded, heading_text, is_underline, lines};
use super::tags::are_attributes;
use super::template::FieldName;
use super::untrusted::is_space;

/// Opening and closing brackets, those that begin with another first.
const BRACKETS: [(&str, &str); 14] = [
    ("<|", "|>"),
    ("<<", ">>"),
    ("<", ">"),
    ("[[", "]]"),
    ("[", "]"),
    ("{", "}"),
    ("((", "))"),
    ("(", ")"),
    ("【", "】"),
    ("《", "》"),
    ("〈", "〉"),
    ("「", "」"),
    ("『", "』"),
    ("〔", "〕"),
];

/// Longer brackets, in bytes, hold prose.
const LONGEST_TAG: usize = 256;

/// Runs of these anywhere close what runs of them open; of the others only where a line begins.
const FENCES: [char; 4] = ['`', '~', '"', '\''];

/// Runs of these, beside [`FENCES`], delimit.
const RULES: &str = "=-*_+<>^%@$|&:;#!•·─━═—–‖※～";

/// A run that delimits is at least this long.
const SHORTEST_RUN: usize = 3;

/// What of a prompt delimits its fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delimiters {
    /// What no field may hold.
    pub reserved: Reserved,
    /// Fields that nothing delimits.
    pub unprotected: Vec<Unprotected>,
}

/// A field whose end a text under judgement can imitate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unprotected {
    /// Which one.
    pub field: FieldName,
    /// What stands before it on its line, or the line before.
    before: String,
    /// What stands behind it on its line, or the line behind.
    after: String,
}

impl fmt::Display for Unprotected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.field;
        let beside = match (self.before.as_str(), self.after.as_str()) {
            ("", "") => "nothing stands around it".to_owned(),
            (before, "") => format!("{before:?} stands before it and nothing behind it"),
            ("", after) => format!("nothing stands before it and {after:?} behind it"),
            (before, after) => format!("{before:?} stands before it and {after:?} behind it"),
        };
        write!(
            out,
            "the prompt's {{{{ {name} }}}} is not protected: {beside}, so its text can pretend to be the rest of the \
             prompt; put it between tags of its own, <{name}> and </{name}>, under a heading with the next heading right \
             behind it, or in a fence"
        )
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Tag { tag: Tag, closing: bool },
    Heading(String),
    Run { character: char, run: Run },
}

/// A delimiter in the prompt's text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Marker {
    place: Range<usize>,
    kind: Kind,
    /// A run beside a field or a fence: it ends with the same characters.
    paired: bool,
}

impl Delimiters {
    /// Reads a prompt with the fields' marks in it; `examples` are its few-shots, whose tags are not reserved.
    pub(super) fn of_prompt(text: &str, examples: &Range<usize>) -> Self {
        let fields: Vec<(FieldName, Range<usize>)> = FieldName::ALL
            .into_iter()
            .filter_map(|name| {
                let at = text.find(name.mark())?;
                Some((name, at..at + name.mark().len_utf8()))
            })
            .collect();
        let markers = markers(text, &fields);
        let mut reserved = Reserved::default();
        for marker in &markers {
            if let Kind::Tag { tag, .. } = &marker.kind
                && tag.open == "<"
                && !examples.contains(&marker.place.start)
            {
                reserve_tag(&mut reserved, tag, &text[marker.place.clone()]);
            }
        }
        let elements: Vec<(Range<usize>, &Marker)> = elements(&markers);
        let mut unprotected = Vec::new();
        for (name, place) in &fields {
            if let Some(open) = element_of(place, &fields, &elements) {
                reserve(&mut reserved, open, text);
            } else if let Some((open, close)) = section_of(text, place, &fields, &markers) {
                reserve(&mut reserved, open, text);
                if let Some(close) = close {
                    reserve(&mut reserved, close, text);
                }
                for marker in &markers {
                    if matches!(marker.kind, Kind::Heading(_)) {
                        reserve(&mut reserved, marker, text);
                    }
                }
            } else {
                unprotected.push(Unprotected {
                    field: *name,
                    before: last_line(&text[..place.start]),
                    after: first_line(&text[place.end..]),
                });
            }
        }
        Self {
            reserved,
            unprotected,
        }
    }

    /// What a chat template writes around a prompt, as far as that is plain text: tags, and headings.
    pub(crate) fn of_chat(text: &str) -> Reserved {
        let mut reserved = Reserved::default();
        for marker in &markers(text, &[]) {
            if !matches!(marker.kind, Kind::Run { .. }) {
                reserve(&mut reserved, marker, text);
            }
        }
        reserved
    }
}

fn reserve(reserved: &mut Reserved, marker: &Marker, text: &str) {
    match &marker.kind {
        Kind::Tag { tag, .. } => reserve_tag(reserved, tag, &text[marker.place.clone()]),
        Kind::Heading(heading) => {
            reserved.headings.insert(heading.clone());
        }
        Kind::Run { character, run } => reserved.add_run(*character, *run),
    }
}

fn reserve_tag(reserved: &mut Reserved, tag: &Tag, written: &str) {
    let is_stock = tag.open == "<" && super::untrusted::RESERVED_TAGS.contains(&tag.name.as_str());
    if !is_stock {
        let written = written.to_owned();
        reserved.tags.entry(tag.clone()).or_insert(written);
    }
}

/// What stands between an opening tag and the next closing tag of that name.
fn elements(markers: &[Marker]) -> Vec<(Range<usize>, &Marker)> {
    let tags = |marker: &Marker| match &marker.kind {
        Kind::Tag { tag, closing } => Some((tag.clone(), *closing)),
        _ => None,
    };
    let mut elements = Vec::new();
    for (at, open) in markers.iter().enumerate() {
        let Some((tag, false)) = tags(open) else {
            continue;
        };
        let wanted = Some((tag, true));
        if let Some(close) = markers[at + 1..]
            .iter()
            .find(|marker| tags(marker) == wanted)
        {
            elements.push((open.place.end..close.place.start, open));
        }
    }
    elements
}

/// The opening tag of an element that holds this field, and no other but in an element of that one's own.
fn element_of<'m>(
    place: &Range<usize>,
    fields: &[(FieldName, Range<usize>)],
    elements: &[(Range<usize>, &'m Marker)],
) -> Option<&'m Marker> {
    let holds = |element: &Range<usize>, place: &Range<usize>| {
        element.start <= place.start && place.end <= element.end
    };
    let alone = |element: &Range<usize>| {
        fields
            .iter()
            .filter(|(_, other)| other != place && holds(element, other))
            .all(|(_, other)| {
                elements.iter().any(|(inner, _)| {
                    holds(element, inner) && holds(inner, other) && !holds(inner, place)
                })
            })
    };
    elements
        .iter()
        .rev()
        .find(|(element, _)| holds(element, place) && alone(element))
        .map(|(_, open)| *open)
}

/// The delimiter before this field and that right behind it; none behind it at the end of the prompt.
fn section_of<'m>(
    text: &str,
    place: &Range<usize>,
    fields: &[(FieldName, Range<usize>)],
    markers: &'m [Marker],
) -> Option<(&'m Marker, Option<&'m Marker>)> {
    let open = markers
        .iter()
        .filter(|marker| marker.place.end <= place.start)
        .max_by_key(|marker| marker.place.end)?;
    let between = open.place.end..place.start;
    let is_label = match &open.kind {
        Kind::Tag { closing, .. } => !closing && stands_beside(text, &open.place, place),
        _ => true,
    };
    if !is_label
        || fields
            .iter()
            .any(|(_, other)| between.contains(&other.start))
    {
        return None;
    }
    let is_blank = |text: &str| text.chars().all(is_space);
    let close = markers
        .iter()
        .filter(|marker| marker.place.start >= place.end)
        .min_by_key(|marker| marker.place.start)
        .filter(|close| is_blank(&text[place.end..close.place.start]));
    let closes = match close {
        None => is_blank(&text[place.end..]) && !open.paired,
        Some(close) => !open.paired || is_counterpart(&open.kind, &close.kind),
    };
    closes.then_some((open, close))
}

/// Does a run of this character close one of that: the same, or the bracket's other half?
fn is_counterpart(open: &Kind, close: &Kind) -> bool {
    match (open, close) {
        (
            Kind::Run {
                character: open, ..
            },
            Kind::Run {
                character: close, ..
            },
        ) => open == close || (*open, *close) == ('<', '>'),
        _ => false,
    }
}

/// Every delimiter of a text, in its order.
fn markers(text: &str, fields: &[(FieldName, Range<usize>)]) -> Vec<Marker> {
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
                kind: Kind::Heading(heading.clone()),
                paired: false,
            });
        };
        let below = all.get(number + 1).filter(|(_, below)| is_underline(below));
        if first == '#' && has_words {
            heading_to(start + own.len());
        } else if let Some(bold) = bold_text(trimmed) {
            markers.push(Marker {
                place: at..start + own.len(),
                kind: Kind::Heading(heading_text(bold)),
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
            let run = Run {
                length,
                anywhere: FENCES.contains(&first),
            };
            markers.push(Marker {
                place: at..start + own.len(),
                kind: Kind::Run {
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
    let sign = ["**", "__"]
        .into_iter()
        .find(|sign| line.starts_with(sign))?;
    let rest = line[2..].trim_end_matches(|end| is_space(end) || matches!(end, ':' | '：'));
    let inner = rest.strip_suffix(sign)?;
    let is_one = !inner.contains(sign) && !inner.starts_with(&sign[..1]);
    (is_one && inner.contains(char::is_alphanumeric)).then_some(inner)
}

/// Tags. In other brackets than `<…>` only those that have a counterpart with `/`, or stand alone on their line, or
/// beside a field: other brackets are prose.
fn of_brackets(text: &str, fields: &[(FieldName, Range<usize>)], markers: &mut Vec<Marker>) {
    let mut tags: Vec<(Range<usize>, Tag, bool)> = Vec::new();
    let mut end = 0;
    for (at, _) in text.char_indices() {
        if at < end {
            continue;
        }
        if let Some((length, tag, closing)) = BRACKETS
            .iter()
            .find_map(|&(open, close)| bracketed(&text[at..], open, close))
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
                kind: Kind::Tag {
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
        let end = name
            .find(|character| !is_name(character))
            .unwrap_or(name.len());
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

fn stands_beside(text: &str, place: &Range<usize>, field: &Range<usize>) -> bool {
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
            let run = Run {
                length,
                anywhere: true,
            };
            markers.push(Marker {
                place,
                kind: Kind::Run { character, run },
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

/// The end of what stands before a field, for a message.
fn last_line(text: &str) -> String {
    let line = text.trim_end_matches(is_space);
    let line = line.rsplit(['\n', '\r']).next().unwrap_or_default();
    let skip = line.chars().count().saturating_sub(40);
    shown(line.chars().skip(skip).collect())
}

fn first_line(text: &str) -> String {
    let line = text.trim_start_matches(is_space);
    let line = line.split(['\n', '\r']).next().unwrap_or_default();
    shown(line.chars().take(40).collect())
}

/// A field's mark as its slot.
fn shown(text: String) -> String {
    FieldName::ALL.into_iter().fold(text, |text, name| {
        text.replace(name.mark(), &format!("{{{{{name}}}}}"))
    })
}
