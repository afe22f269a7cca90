//! The answer of a reference.

use super::super::announcements::{Anchor, AnchorKind};
use super::super::reach;
use super::super::whole::all_of;
use super::Search;

impl Search<'_, '_, '_> {
    /// The answer of a reference: a bare one, unless it says otherwise.
    pub(super) fn gold(&mut self, anchors: &[Anchor]) -> Result<(), &'static str> {
        let text = self.source.text;
        if self.source.regions.boxes.last().is_some_and(|it| it.closed) {
            self.boxes();
        }
        if let Some(anchor) = anchors.iter().rev().find(|it| it.how == AnchorKind::Hashes)
            && let Some(reading) = reach::after_hashes(self.source, anchor.end, usize::MAX)
                .or_else(|| all_of(self.source, anchor.end))
        {
            let said = anchor.end..reach::line_end(self.source, anchor.end);
            self.push(0, "####", reading, said);
        }
        if self.out.is_empty() && (is_worked(text) || announces(text, anchors)) {
            self.announced(anchors);
        }
        if !self.out.is_empty() {
            return Ok(());
        }
        if let Some(reading) = self.whole() {
            self.push(40, "whole", reading, 0..text.len());
        }
        if self.out.is_empty() && is_worked(text) {
            self.last_sentences();
        }
        if self.out.is_empty()
            && let Some(reading) = all_of(self.source, 0)
        {
            self.push(60, "whole", reading, 0..text.len());
        }
        if self.out.is_empty() {
            return Err("the text holds no answer");
        }
        Ok(())
    }
}

/// Does an announcement open the text, or its last line?
fn announces(text: &str, anchors: &[Anchor]) -> bool {
    anchors.last().is_some_and(|anchor| {
        let line = text[..anchor.start].rfind('\n').map_or(0, |at| at + 1);
        text[line..anchor.start].split_whitespace().count() <= 6
    })
}

/// Is this a solution with its reasoning, and no bare answer?
fn is_worked(text: &str) -> bool {
    let head = &text[..text.floor_char_boundary(4_000)];
    let word = |it: &&str| it.len() > 1 && it.starts_with(|it: char| it.is_ascii_alphabetic());
    head.split_whitespace().filter(word).nth(12).is_some()
        && (head.contains(". ") || head.contains('\n') || head.contains('='))
}
