//! Thinking in the tags that every reader knows (`<think>`, `<thinking>`, `<analysis>`), masked.

use super::tag_scanner::{Scanned, TagScanner};
use super::verdict_reader::Thinking;
use juror_engine::text::reasoning::tag_mask::blank;

/// A completion with its thinking replaced by spaces, byte for byte; none if the thinking does not end.
///
/// As in answers of tags: a closing tag without an opening one makes everything before it thinking, and a thought ends at
/// the closing tag of its own name. `starts_in_thinking`: the prompt ends inside a thinking block.
pub(super) fn answer(completion: &str, starts_in_thinking: bool) -> Option<String> {
    let mut thinking = starts_in_thinking.then_some(Thinking::Given);
    let mut thoughts = Vec::new();
    let mut from = 0;
    let mut scanner = TagScanner::default();
    let mut take = |scanned: Scanned<'_>| {
        let Scanned::Tag(tag) = scanned else { return };
        if !tag.name.is_thinking() {
            return;
        }
        let before = thinking;
        thinking = Thinking::after(before, tag);
        match (before, thinking) {
            (None, Some(_)) => from = tag.start,
            (None, None) => thoughts = std::iter::once(0..tag.end).collect(),
            (Some(_), None) => thoughts.push(from..tag.end),
            (Some(_), Some(_)) => {}
        }
    };
    scanner.push(completion, &mut take);
    scanner.finish(None, &mut take);
    if thinking.is_some() {
        return None;
    }
    let mut visible = String::with_capacity(completion.len());
    let mut copied = 0;
    for thought in thoughts {
        visible.push_str(&completion[copied..thought.start]);
        blank(&mut visible, thought.len());
        copied = thought.end;
    }
    visible.push_str(&completion[copied..]);
    Some(visible)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_is_masked_and_keeps_its_place() {
        for (completion, starts_inside, expected) in [
            ("A", false, Some("A")),
            ("<think>B</think>A", false, Some("A")),
            ("B</think>A", false, Some("A")),
            ("B</think>A", true, Some("A")),
            ("B</think>C</think>A", false, Some("A")),
            ("<analysis>B</think>C</analysis>A", false, Some("A")),
            (
                "x<thinking>B</thinking>A",
                false,
                Some("x                      A"),
            ),
            ("<think>B", false, None),
            ("A", true, None),
            ("A<think>", false, None),
        ] {
            let answer = answer(completion, starts_inside);
            if let Some(text) = &answer {
                assert_eq!(text.len(), completion.len());
            }
            let trimmed = answer.as_deref().map(str::trim);
            assert_eq!(trimmed, expected, "{completion}");
        }
    }
}
