//! Masks a model's thinking: every byte of it becomes a space, so that offsets in the answer stay the same.

use std::sync::Arc;

use super::style::ThinkingTags;

/// What a piece of a completion adds to the visible text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VisibleText {
    /// Whether all text before this was thinking: a closing tag came without an opening one.
    pub restart: bool,
    /// The text after that, with thinking masked.
    pub text: String,
}

/// Masks what stands between the tags of one of some pairs, piece by piece. The tags are masked too.
#[derive(Debug, Clone)]
pub(super) struct TagMask {
    pairs: Arc<[ThinkingTags]>,
    /// The index of the pair that is open.
    inside: Option<usize>,
    /// The end of the text, held back while it may be the beginning of a tag.
    pending: String,
}

impl TagMask {
    /// A mask for a completion that begins inside the thinking of one of the pairs, or not.
    pub(super) fn new(pairs: Arc<[ThinkingTags]>, inside: Option<usize>) -> Self {
        Self {
            pairs,
            inside,
            pending: String::new(),
        }
    }

    /// Starts over, outside of thinking: everything before was thinking.
    pub(super) fn restart(&mut self) {
        self.inside = None;
        self.pending.clear();
    }

    pub(super) fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// The next tag that has an effect: its place, its length, and the pair that it opens, if it opens one.
    fn next_tag(&self, text: &str) -> Option<(usize, usize, Option<usize>)> {
        let mut tags: Vec<(&str, Option<usize>)> = Vec::new();
        if let Some(pair) = self.inside {
            tags.push((&self.pairs[pair].close, None));
        } else {
            for (pair, both) in self.pairs.iter().enumerate() {
                tags.push((&both.open, Some(pair)));
                tags.push((&both.close, None));
            }
        }
        text.char_indices().find_map(|(at, _)| {
            let rest = &text[at..];
            let found = tags.iter().filter(|(tag, _)| rest.starts_with(tag));
            let (tag, opens) = found.max_by_key(|(tag, _)| tag.len())?;
            Some((at, tag.len(), *opens))
        })
    }

    /// Takes the next piece of text and returns what became visible.
    pub(super) fn push(&mut self, piece: &str) -> VisibleText {
        let mut visible = VisibleText::default();
        let mut text = std::mem::take(&mut self.pending);
        text.push_str(piece);
        let mut rest = text.as_str();
        while let Some((at, length, opens)) = self.next_tag(rest) {
            let end = at + length;
            match (self.inside, opens) {
                (Some(_), _) => blank(&mut visible.text, end),
                (None, Some(_)) => {
                    visible.text.push_str(&rest[..at]);
                    blank(&mut visible.text, length);
                }
                (None, None) => {
                    visible = VisibleText {
                        restart: true,
                        text: String::new(),
                    };
                }
            }
            rest = &rest[end..];
            self.inside = opens;
        }
        let kept = self
            .pairs
            .iter()
            .flat_map(|tags| [&tags.open, &tags.close])
            .map(|tag| begun(rest, tag))
            .max()
            .unwrap_or(0);
        let (certain, pending) = rest.split_at(rest.len() - kept);
        self.emit(certain, &mut visible.text);
        pending.clone_into(&mut self.pending);
        visible
    }

    /// Ends the completion: the beginning of a tag that was held back is text.
    pub(super) fn finish(&mut self) -> String {
        let mut text = String::new();
        let pending = std::mem::take(&mut self.pending);
        self.emit(&pending, &mut text);
        text
    }

    fn emit(&self, text: &str, out: &mut String) {
        if self.inside.is_some() {
            blank(out, text.len());
        } else {
            out.push_str(text);
        }
    }
}

pub fn blank(out: &mut String, bytes: usize) {
    out.extend(std::iter::repeat_n(' ', bytes));
}

/// How many bytes at the end of a text are the beginning of a tag.
fn begun(text: &str, tag: &str) -> usize {
    (1..tag.len())
        .rev()
        .filter(|&length| tag.is_char_boundary(length))
        .find(|&length| text.ends_with(&tag[..length]))
        .unwrap_or(0)
}

/// A whole completion with its thinking masked, byte for byte; `None` if the thinking does not end.
pub(super) fn mask(
    completion: &str,
    pairs: Arc<[ThinkingTags]>,
    starts_inside: Option<usize>,
) -> Option<String> {
    let mut mask = TagMask::new(pairs, starts_inside);
    let visible = mask.push(completion);
    let rest = mask.finish();
    if mask.is_inside() {
        return None;
    }
    let mut masked = String::with_capacity(completion.len());
    // After a restart, text before it is masked as a whole.
    blank(
        &mut masked,
        completion.len() - visible.text.len() - rest.len(),
    );
    masked.push_str(&visible.text);
    masked.push_str(&rest);
    Some(masked)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tags() -> ThinkingTags {
        "[THINK],[/THINK]".parse().unwrap()
    }

    fn pairs() -> Arc<[ThinkingTags]> {
        [
            tags(),
            "[THINK_LONG],[/THINK]".parse().unwrap(),
            "<a>,</a>".parse().unwrap(),
        ]
        .into()
    }

    fn mask(text: &str, tags: &ThinkingTags, inside: bool) -> Option<String> {
        super::mask(text, [tags.clone()].into(), inside.then_some(0))
    }

    #[test]
    fn thinking_becomes_spaces_and_the_answer_keeps_its_place() {
        assert_eq!(
            mask("a[THINK]é![/THINK]b", &tags(), false).unwrap(),
            format!("a{}b", " ".repeat(18))
        );
        assert_eq!(
            mask("é[/THINK]b[THIN", &tags(), true).unwrap(),
            format!("{}b[THIN", " ".repeat(10))
        );
        assert_eq!(mask("a[THINK]b", &tags(), false), None);
        assert_eq!(mask("b", &tags(), true), None);
        // An opening tag within the thinking opens nothing; a closing one without it makes all before it thinking.
        assert_eq!(
            mask("[THINK]a[THINK]b[/THINK]c[/THINK]d", &tags(), false)
                .unwrap()
                .trim_start(),
            "d"
        );
    }

    #[test]
    fn a_pair_is_closed_by_its_own_tag() {
        let masked = |text: &str, inside| super::mask(text, pairs(), inside);
        assert_eq!(
            masked("<a>x[/THINK]y</a>z", None).unwrap().trim_start(),
            "z"
        );
        assert_eq!(
            masked("x[/THINK]y</a>z", Some(2)).unwrap().trim_start(),
            "z"
        );
        assert_eq!(masked("[THINK]x</a>y", None), None);
        assert_eq!(
            masked("[THINK_LONG]x[/THINK]y", None).unwrap().trim_start(),
            "y"
        );
    }

    proptest! {
        #[test]
        fn cutting_makes_no_difference(
            pieces in prop::collection::vec(prop::sample::select(vec!["[THINK]", "[/THINK]", "[THINK_LONG]", "<a>", "</a>", "<", "a>", "[TH", "INK]", "[/", "é", "x", "[", "]"]), 0..12),
            starts_inside in prop::option::of(0..3usize),
        ) {
            let text = pieces.concat();
            let whole = super::mask(&text, pairs(), starts_inside);
            let mut tag_mask = TagMask::new(pairs(), starts_inside);
            let mut visible = String::new();
            for piece in &pieces {
                let now = tag_mask.push(piece);
                if now.restart {
                    visible.clear();
                }
                visible.push_str(&now.text);
            }
            visible.push_str(&tag_mask.finish());
            match whole {
                None => prop_assert!(tag_mask.is_inside()),
                Some(whole) => {
                    prop_assert!(!tag_mask.is_inside());
                    prop_assert_eq!(whole.len(), text.len());
                    prop_assert_eq!(whole.trim_start(), visible.trim_start());
                }
            }
        }
    }
}
