//! Unknown tags in a completion: a model may write its thinking between them.

use super::Yields;
use super::tag_scanner::TagName;
use juror_engine::text::reasoning::tag_mask::blank;
use juror_engine::text::reasoning::tag_pairs::{MAX_TAG, closing, in_text, parts};

/// Names of tags that judges put around a whole answer or use to format it, one a line: their content is not thinking.
const ORDINARY_NAMES: &str = include_str!("ordinary_tags.txt");

/// Does a tag mean something in a verdict?
fn is_of_a_verdict(tag: &str) -> bool {
    parts(tag).is_some_and(|(open, name, _)| {
        open == "<"
            && TagName::ALL
                .iter()
                .any(|own| name.eq_ignore_ascii_case(own.name()))
    })
}

/// A completion with its unknown tags replaced by spaces, for a judge that does not think. `labels` in brackets are no tags.
pub(crate) fn without_unknown_tags(completion: &str, labels: &[(&str, f32)]) -> String {
    let mut plain = String::with_capacity(completion.len());
    let mut copied = 0;
    for place in in_text(completion) {
        if is_watched(&completion[place.clone()], labels) {
            plain.push_str(&completion[copied..place.start]);
            blank(&mut plain, place.len());
            copied = place.end;
        }
    }
    plain.push_str(&completion[copied..]);
    plain
}

/// A completion without what stands in pairs of unknown tags.
pub(super) struct WithoutPairs {
    /// With spaces in place of the pairs, byte for byte. What follows a tag that is never closed counts as inside.
    pub(super) text: String,
    pub(super) tag: Option<String>,
    /// The last of them is never closed: it may be thinking, or a note.
    pub(super) is_open: bool,
}

/// For answers that are not in tags. `labels` in brackets are none.
pub(super) fn without_unknown_pairs(completion: &str, labels: &[(&str, f32)]) -> WithoutPairs {
    let mut plain = String::with_capacity(completion.len());
    let (mut copied, mut first) = (0, None);
    let mut open: Option<(usize, Vec<String>)> = None;
    for place in in_text(completion) {
        let tag = &completion[place.clone()];
        if let Some((start, closings)) = &open {
            if closings.iter().any(|close| close == tag) {
                plain.push_str(&completion[copied..*start]);
                blank(&mut plain, place.end - start);
                copied = place.end;
                open = None;
            }
            continue;
        }
        let in_word = completion[..place.start].ends_with(char::is_alphanumeric);
        let closings = closing(tag);
        if !in_word && is_watched(tag, labels) && !closings.is_empty() {
            first.get_or_insert_with(|| tag.to_owned());
            open = Some((place.start, closings));
        }
    }
    let is_open = open.is_some();
    if let Some((start, _)) = open {
        plain.push_str(&completion[copied..start]);
        blank(&mut plain, completion.len() - start);
        copied = completion.len();
    }
    plain.push_str(&completion[copied..]);
    WithoutPairs {
        text: plain,
        tag: first,
        is_open,
    }
}

/// The shortest name that counts as a tag's: shorter ones are formatting, or variables between `<` and `>`.
const SHORTEST: usize = 3;

/// A tag in a completion, as [`UnknownTags`] sees it. In square brackets stand labels, notes and links too: there only other names in capital letters count.
fn is_watched(tag: &str, labels: &[(&str, f32)]) -> bool {
    parts(tag).is_some_and(|(open, name, _)| {
        let is_label = |(label, _): &(&str, f32)| label.eq_ignore_ascii_case(name);
        let is_small = name.len() <= SHORTEST || name.chars().any(char::is_lowercase);
        let is_note = open == "[" && (is_small || labels.iter().any(is_label));
        let name = name.to_lowercase();
        !is_note
            && name.chars().count() >= SHORTEST
            && !ORDINARY_NAMES.lines().any(|ordinary| ordinary == name)
    }) && !is_of_a_verdict(tag)
}

/// Searches a completion for pairs of unknown tags, piece by piece, in bounded memory. Their content may be thinking.
#[derive(Debug, Clone)]
pub(super) struct UnknownTags {
    wanted: Yields,
    /// The beginning of what may be a tag.
    pending: String,
    /// A letter or a digit stands right before: `vector<int>` holds no tag.
    in_word: bool,
    /// Opening tags that are not closed yet, the outermost first.
    open: Vec<String>,
    /// The content since the outermost of them.
    inside: Inside,
    /// Text, or a field, stood before the outermost of them.
    late: bool,
    /// Something was seen outside of all of them.
    begun: bool,
    /// A pair that holds a verdict and other text.
    found: Option<String>,
}

#[derive(Debug, Clone)]
struct Inside {
    text: bool,
    /// Fields of a verdict: process, outcome, perfect. Those that are not asked for count as seen.
    fields: [bool; 3],
}

impl Inside {
    fn new(wanted: Yields) -> Self {
        Self {
            text: false,
            fields: [!wanted.process, !wanted.outcome, !wanted.perfect],
        }
    }

    fn holds_verdict_and_more(&self) -> bool {
        self.text && self.fields == [true; 3]
    }
}

/// More tags than these are not open at once.
const MAX_OPEN: usize = 32;

impl UnknownTags {
    /// Nothing seen yet of a completion that is to hold the fields `wanted`.
    pub(super) fn new(wanted: Yields) -> Self {
        Self {
            wanted,
            pending: String::new(),
            in_word: false,
            open: Vec::new(),
            inside: Inside::new(wanted),
            late: false,
            begun: false,
            found: None,
        }
    }

    /// Is an unknown tag open, or was there a pair around a verdict and other text?
    pub(super) fn are_open(&self) -> bool {
        !self.open.is_empty() || self.found.is_some()
    }

    /// Takes text between known tags. `counts`: it stands outside of every field.
    pub(super) fn text(&mut self, text: &str, counts: bool) {
        for character in text.chars() {
            let opens = matches!(character, '<' | '[' | '◁');
            if self.pending.is_empty() || opens {
                self.flush(counts);
                if opens {
                    self.pending.push(character);
                } else {
                    self.plain(character.is_whitespace(), counts);
                    self.in_word = character.is_alphanumeric();
                }
                continue;
            }
            self.pending.push(character);
            if matches!(character, '>' | ']' | '▷') {
                let tag = std::mem::take(&mut self.pending);
                self.tag(&tag, counts);
                self.in_word = false;
            } else if character.is_whitespace() || self.pending.len() > MAX_TAG {
                self.flush(counts);
                self.in_word = character.is_alphanumeric();
            }
        }
    }

    /// A known tag ends what was begun.
    pub(super) fn interrupt(&mut self, counts: bool) {
        self.flush(counts);
        self.in_word = false;
    }

    pub(super) fn field(&mut self, name: TagName) {
        let at = match name {
            TagName::Process => 0,
            TagName::Perfect => 2,
            _ => 1,
        };
        if self.open.is_empty() {
            self.begun = true;
        } else {
            self.inside.fields[at] = true;
        }
    }

    /// The pair of tags that keeps the completion from being read.
    pub(super) fn finish(&self) -> Option<&str> {
        if let Some(found) = &self.found {
            return Some(found);
        }
        // A tag that begins a completion and is never closed may open thinking that did not end.
        let outermost = self.open.first()?;
        (!self.late && self.inside.holds_verdict_and_more()).then_some(outermost)
    }

    fn flush(&mut self, counts: bool) {
        self.in_word = self.pending.ends_with(char::is_alphanumeric)
            || self.pending.is_empty() && self.in_word;
        if !self.pending.is_empty() {
            self.pending.clear();
            self.plain(false, counts);
        }
    }

    fn plain(&mut self, blank: bool, counts: bool) {
        if blank || !counts {
            return;
        }
        if self.open.is_empty() {
            self.begun = true;
        } else {
            self.inside.text = true;
        }
    }

    fn tag(&mut self, tag: &str, counts: bool) {
        if let Some(at) = self
            .open
            .iter()
            .rposition(|open| closing(open).iter().any(|close| close == tag))
        {
            self.open.truncate(at);
            if at == 0 {
                if self.inside.holds_verdict_and_more() && self.found.is_none() {
                    self.found = Some(tag.to_owned());
                }
                self.begun = true;
            }
        } else if !self.in_word && is_watched(tag, &[]) && !closing(tag).is_empty() {
            if self.open.is_empty() {
                self.inside = Inside::new(self.wanted);
                self.late = self.begun;
            }
            if self.open.len() < MAX_OPEN {
                self.open.push(tag.to_owned());
            }
        } else {
            self.plain(false, counts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_megabyte_of_tags_is_linear() {
        let mut tags = UnknownTags::new(Yields::ALL);
        tags.text(&"<abc>".repeat(200_000), true);
        assert_eq!(tags.open.len(), MAX_OPEN);
    }
}
