//! The answer of a reference.

use super::super::announcements::{Anchor, AnchorKind};
use super::super::items::{Candidate, Form};
use super::super::whole::all_of;
use super::super::{reach, words};
use super::Search;
use crate::answer::Answer;

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
            self.push(
                0,
                "####",
                reading,
                anchor.end..reach::line_end(self.source, anchor.end),
            );
        }
        if self.out.is_empty() && (is_worked(text) || announces(text, anchors)) {
            self.announced(anchors);
        }
        if !self.out.is_empty() {
            return Ok(());
        }
        if let Some(joined) = measured(text) {
            let range = 0..text.len();
            let reading = Candidate::new(joined, Form::Plain, range.clone());
            self.push(40, "whole", reading, range);
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

/// "6 feet" of "6 (feet)", "42 yard" of "42-yard": a value, and what it is measured in or what is counted.
fn measured(text: &str) -> Option<String> {
    let text = text.trim();
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let (value, unit) = match text.strip_suffix(')') {
        Some(inner) => inner.rsplit_once(" (")?,
        None => text.split_once('-').filter(|(value, _)| digits(value))?,
    };
    let joined = format!("{value} {unit}");
    let read = |text: &str| match crate::parse::parse(text) {
        Ok(Answer::Quantity(it)) if !it.percent => Some(it),
        _ => None,
    };
    let (number, whole) = (read(value)?, read(&joined)?);
    let named = match &whole.unit {
        Some(unit) => unit.dimension.is_some() || words::is_counted(&unit.name),
        None => whole.currency.is_some(),
    };
    let bare = number.unit.is_none() && number.currency.is_none();
    (unit.len() > 1 && named && bare && number.value == whole.value).then_some(joined)
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
