//! The delimiters of a prompt's fields, and which fields have none.
//!
//! A field is protected where no text in it can imitate its end:
//!
//! - It is the only field between an opening tag and the closing tag of that name (`<name>…</name>`, `[name]…[/name]`).
//! - Or it stands after a delimiter, with no other field in between, and right before another one: a tag, a heading,
//!   a line that begins with a run of one character (`---`, `=== name ===`), a fence, or a run right beside the field
//!   (`<<<…>>>`). A fence or a run beside the field ends with the same characters; after any other the end of the
//!   prompt is the end of the last field.
//!
//! Those delimiters are [`Reserved`]. Plain words and single signs (`Answer: …`, `"…"`) delimit nothing: a text under
//! judgement may hold them, and they cannot be taken from it.

mod markers;

use std::fmt;
use std::ops::Range;

use self::markers::{Marker, MarkerKind, markers, stands_beside};
use super::reserved::{Reserved, Tag};
use super::template::FieldName;
use super::untrusted::is_space;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delimiters {
    /// Delimiters that no field may hold.
    pub(crate) reserved: Reserved,
    pub unprotected: Vec<Unprotected>,
}

/// A field whose end a text under judgement can imitate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unprotected {
    pub(crate) field: FieldName,
    /// The text before it on its line, or the line before.
    before: String,
    /// The text after it on its line, or the line after.
    after: String,
}

impl fmt::Display for Unprotected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.field;
        let beside = match (self.before.as_str(), self.after.as_str()) {
            ("", "") => "nothing stands around it".to_owned(),
            (before, "") => format!("{before:?} stands before it and nothing after it"),
            ("", after) => format!("nothing stands before it and {after:?} after it"),
            (before, after) => format!("{before:?} stands before it and {after:?} after it"),
        };
        write!(
            out,
            "the prompt's {{{{ {name} }}}} is not protected: {beside}, so its text can pretend to be the rest of the \
             prompt; put it between tags of its own, <{name}> and </{name}>, under a heading with the next heading right \
             after it, or in a fence"
        )
    }
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
            if let MarkerKind::Tag { tag, .. } = &marker.kind
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
                    if matches!(marker.kind, MarkerKind::Heading(_)) {
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

    /// The delimiters that a chat template writes around a prompt in plain text: tags and headings.
    pub(crate) fn of_chat(text: &str) -> Reserved {
        let mut reserved = Reserved::default();
        for marker in &markers(text, &[]) {
            if !matches!(marker.kind, MarkerKind::Run { .. }) {
                reserve(&mut reserved, marker, text);
            }
        }
        reserved
    }
}

fn reserve(reserved: &mut Reserved, marker: &Marker, text: &str) {
    match &marker.kind {
        MarkerKind::Tag { tag, .. } => reserve_tag(reserved, tag, &text[marker.place.clone()]),
        MarkerKind::Heading(heading) => {
            reserved.headings.insert(heading.clone());
        }
        MarkerKind::Run { character, run } => reserved.add_run(*character, *run),
    }
}

fn reserve_tag(reserved: &mut Reserved, tag: &Tag, written: &str) {
    let is_stock = tag.open == "<" && super::untrusted::RESERVED_TAGS.contains(&tag.name.as_str());
    if !is_stock {
        let written = written.to_owned();
        reserved.tags.entry(tag.clone()).or_insert(written);
    }
}

/// The content between an opening tag and the next closing tag of that name.
fn elements(markers: &[Marker]) -> Vec<(Range<usize>, &Marker)> {
    let tags = |marker: &Marker| match &marker.kind {
        MarkerKind::Tag { tag, closing } => Some((tag.clone(), *closing)),
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

/// The opening tag of an element that holds this field and, outside of inner elements, no other.
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
    let mut inner = elements.iter().rev();
    let found = inner.find(|(element, _)| holds(element, place) && alone(element));
    found.map(|(_, open)| *open)
}

/// The delimiter before this field and that right after it; none after it at the end of the prompt.
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
        MarkerKind::Tag { closing, .. } => !closing && stands_beside(text, &open.place, place),
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

/// Does the second run close the first: the same character, or `>` after `<`?
fn is_counterpart(open: &MarkerKind, close: &MarkerKind) -> bool {
    match (open, close) {
        (
            MarkerKind::Run {
                character: open, ..
            },
            MarkerKind::Run {
                character: close, ..
            },
        ) => open == close || (*open, *close) == ('<', '>'),
        _ => false,
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
