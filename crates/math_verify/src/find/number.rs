//! One plain number.

use super::arithmetic::Condition;
use super::source::Source;
use crate::chars::{byte_at, char_before, digit_len, digits_end, goes_on};

/// The parts of a number, by byte position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number {
    /// Sign, digits, separators of thousands. May be empty.
    pub(crate) integer: (u32, u32),
    /// The point (or comma) and what is after it. May be empty.
    pub(crate) decimal: (u32, u32),
    /// Does a percent sign or a word for it follow?
    pub(crate) percent: bool,
}

/// The number that begins at `at` and where it ends: the first way of reading it for which `condition` holds.
pub(super) fn longest(
    source: &Source<'_>,
    at: usize,
    condition: Condition,
) -> Option<(Number, usize)> {
    let reader = Reader { source, condition };
    reader
        .thousands(at)
        .or_else(|| reader.decimal(at))
        .or_else(|| reader.fraction(at))
        .or_else(|| reader.integer(at))
}

struct Reader<'a, 't> {
    source: &'a Source<'t>,
    condition: Condition,
}

impl Reader<'_, '_> {
    /// `1,234,567.8` and `1 234`.
    fn thousands(&self, start: usize) -> Option<(Number, usize)> {
        let text = self.source.text;
        let first = start + usize::from(byte_at(text, start) == b'-');
        if !matches!(byte_at(text, first), b'1'..=b'9') {
            return None;
        }
        let mut head = first + 1;
        for _ in 0..2 {
            head += digit_len(text, head);
        }
        // Fewer digits before the first separator would leave a digit where it has to stand.
        let mut end = head;
        while let Some(group) = group_of_three(text, end) {
            end = group;
        }
        while end > head {
            let whole = end;
            let found = self
                .after_point(whole, b".")
                .find_map(|decimal| self.ends((start, whole), (whole, decimal)))
                .or_else(|| self.ends((start, whole), (whole, whole)));
            if found.is_some() {
                return found;
            }
            end = before_group(text, end);
        }
        None
    }

    /// `12.5` and `12,5`.
    fn decimal(&self, start: usize) -> Option<(Number, usize)> {
        let whole = self.whole(start)?;
        self.after_point(whole, b".,")
            .find_map(|decimal| self.ends((start, whole), (whole, decimal)))
    }

    /// `.5`.
    fn fraction(&self, start: usize) -> Option<(Number, usize)> {
        self.after_point(start, b".")
            .find_map(|decimal| self.ends((start, start), (start, decimal)))
    }

    /// `12`.
    fn integer(&self, start: usize) -> Option<(Number, usize)> {
        let text = self.source.text;
        let first = start + usize::from(byte_at(text, start) == b'-');
        shorter(text, first, self.whole(start)?)
            .find_map(|whole| self.ends((start, whole), (whole, whole)))
    }

    /// The end of an optional sign and digits.
    fn whole(&self, start: usize) -> Option<usize> {
        let text = self.source.text;
        let first = start + usize::from(byte_at(text, start) == b'-');
        let end = digits_end(text, first);
        (end > first).then_some(end)
    }

    /// The ends that a point and digits may have, the longest first.
    fn after_point(&self, at: usize, points: &[u8]) -> impl Iterator<Item = usize> {
        let text = self.source.text;
        let end = if points.contains(&byte_at(text, at)) {
            digits_end(text, at + 1)
        } else {
            at + 1
        };
        shorter(text, at + 1, end)
    }

    /// The number of these parts, with or without a percent sign.
    fn ends(&self, integer: (usize, usize), decimal: (usize, usize)) -> Option<(Number, usize)> {
        let number = |percent| Number {
            integer: (integer.0 as u32, integer.1 as u32),
            decimal: (decimal.0 as u32, decimal.1 as u32),
            percent,
        };
        let bare = decimal.1;
        if let Some(end) = self.percent(bare) {
            return Some((number(true), end));
        }
        let end = self.condition.end(self.source, bare)?;
        Some((number(false), end))
    }

    /// The end of a match with a percent sign or a word for it.
    fn percent(&self, bare: usize) -> Option<usize> {
        let text = self.source.text;
        let at = self.source.spaces_end(bare);
        let words: &[&str] = match byte_at(text, at) {
            b'%' => &["%"],
            b'p' => &["percent", "percentage", "pct"],
            b'P' => &["Percent", "Percentage", "Pct"],
            _ => return None,
        };
        words
            .iter()
            .filter(|word| goes_on(text, at, word))
            .find_map(|word| self.condition.end(self.source, at + word.len()))
    }
}

/// The ends that leave at least one character after `start`, from `end` down.
fn shorter(text: &str, start: usize, end: usize) -> impl Iterator<Item = usize> {
    std::iter::successors((end > start).then_some(end), move |end| {
        let shorter = end - char_before(text, *end)?.len_utf8();
        (shorter > start).then_some(shorter)
    })
}

/// The end of a separator of thousands and three digits.
fn group_of_three(text: &str, at: usize) -> Option<usize> {
    let mut end = matches!(byte_at(text, at), b' ' | b',').then_some(at + 1)?;
    for _ in 0..3 {
        end += match digit_len(text, end) {
            0 => return None,
            length => length,
        };
    }
    Some(end)
}

/// Where the group that ends at `end` begins.
fn before_group(text: &str, mut end: usize) -> usize {
    for _ in 0..4 {
        end -= char_before(text, end).map_or(0, char::len_utf8);
    }
    end
}
