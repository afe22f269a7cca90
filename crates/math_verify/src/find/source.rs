//! A text with what every pattern asks of it, found once.

use std::cell::OnceCell;

use crate::chars::{
    byte_at, char_at, char_before, characters_on, goes_on, space_len, spaces_end, spaces_start,
};

/// Runs of white space that are longer are looked up, not walked.
const LONG_RUN: usize = 64;

/// The word "answer" in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor {
    /// Where the word begins.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Where "final" begins if that word and a space stand before it.
    pub(super) final_start: Option<usize>,
}

/// White space with "is" after it.
#[derive(Debug, Clone, Copy)]
struct Statement {
    spaces: usize,
    start: usize,
}

/// A text with what is known of it.
#[derive(Debug)]
pub(crate) struct Source<'t> {
    pub(super) text: &'t str,
    long_runs: OnceCell<Vec<(usize, usize)>>,
    anchors: OnceCell<Vec<Anchor>>,
    is: OnceCell<Vec<Statement>>,
}

impl<'t> Source<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            long_runs: OnceCell::new(),
            anchors: OnceCell::new(),
            is: OnceCell::new(),
        }
    }

    /// The end of the white space that begins at `at`, in time that does not depend on its length.
    pub(super) fn spaces_end(&self, at: usize) -> usize {
        let mut end = at;
        while end - at < LONG_RUN {
            match space_len(self.text, end) {
                0 => return end,
                length => end += length,
            }
        }
        let runs = self.long_runs.get_or_init(|| long_runs(self.text));
        let next = runs.partition_point(|(start, _)| *start <= at);
        match next.checked_sub(1).and_then(|run| runs.get(run)) {
            Some((_, run_end)) if *run_end >= end => *run_end,
            _ => spaces_end(self.text, end),
        }
    }

    /// Every "answer".
    pub(super) fn anchors(&self) -> &[Anchor] {
        self.anchors.get_or_init(|| anchors(self.text))
    }

    /// Every "answer": where it begins, and where it ends.
    pub(super) fn answers(&self) -> impl Iterator<Item = (usize, usize)> {
        self.anchors()
            .iter()
            .map(|anchor| (anchor.start, anchor.end))
    }

    /// Every "final answer is": where it begins, and where it ends.
    pub(super) fn final_answers(&self) -> impl Iterator<Item = (usize, usize)> {
        self.anchors().iter().filter_map(|anchor| {
            let start = anchor.final_start?;
            let end = is_any_case(self.text, anchor.end)?;
            Some((start, end))
        })
    }

    /// Every "is" that some "final answer" announces from at most a hundred characters away, with the start of the
    /// latter and the end of the former. `across_lines`: may a line end between them?
    pub(super) fn statements(
        &self,
        anchor: Anchor,
        across_lines: bool,
    ) -> impl Iterator<Item = usize> {
        let is = self.is.get_or_init(|| statements(self.text));
        let first = is.partition_point(|is| is.start <= anchor.end);
        is.get(first..)
            .unwrap_or_default()
            .iter()
            .take_while(move |is| {
                self.reaches(anchor.end, is.spaces.max(anchor.end), 100, across_lines)
            })
            .map(|is| is.start + 2)
    }

    /// Are there at most `most` characters from `from` to `to`, and no line feed unless `across_lines`?
    pub(super) fn reaches(&self, from: usize, to: usize, most: usize, across_lines: bool) -> bool {
        let Some(between) = self.text.as_bytes().get(from..to) else {
            return false;
        };
        between.len() <= 4 * most
            && (across_lines || !between.contains(&b'\n'))
            && (between.len() <= most || characters_on(self.text, from, most) >= to)
    }

    /// The end of "I hope" if it follows, after at most a full stop and one space.
    pub(super) fn hope_end(&self, mut at: usize) -> Option<usize> {
        if byte_at(self.text, at) == b'.' {
            at += 1;
        }
        at += space_len(self.text, at);
        goes_on(self.text, at, "I hope").then_some(at + 6)
    }
}

fn long_runs(text: &str) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let end = spaces_end(text, at);
        if end - at >= LONG_RUN {
            runs.push((at, end));
        }
        at = end + 1;
    }
    runs
}

/// Case-insensitive, with the other letters that Python folds to these.
fn is_letter(c: char, lower: char) -> bool {
    c.to_ascii_lowercase() == lower
        || match lower {
            's' => c == 'ſ',
            'i' => c == 'ı' || c == 'İ',
            _ => false,
        }
}

/// The start of `word` if it ends at `end`.
fn word_before(text: &str, mut end: usize, word: &str) -> Option<usize> {
    for lower in word.chars().rev() {
        let c = char_before(text, end).filter(|c| is_letter(*c, lower))?;
        end -= c.len_utf8();
    }
    Some(end)
}

/// The end of " is" in any case.
fn is_any_case(text: &str, mut at: usize) -> Option<usize> {
    for lower in " is".chars() {
        at += char_at(text, at)
            .filter(|c| is_letter(*c, lower))?
            .len_utf8();
    }
    Some(at)
}

fn anchors(text: &str) -> Vec<Anchor> {
    let bytes = text.as_bytes();
    let mut anchors = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        if !matches!(byte, b'w' | b'W') {
            continue;
        }
        let ends = |end: &[u8]| end.eq_ignore_ascii_case(b"er");
        if !bytes.get(at + 1..at + 3).is_some_and(ends) {
            continue;
        }
        if let Some(start) = word_before(text, at, "ans") {
            anchors.push(Anchor {
                start,
                end: at + 3,
                final_start: word_before(text, start, "final "),
            });
        }
    }
    anchors
}

fn statements(text: &str) -> Vec<Statement> {
    text.match_indices("is")
        .filter_map(|(start, _)| {
            let spaces = spaces_start(text, start);
            (spaces < start).then_some(Statement { spaces, start })
        })
        .collect()
}

#[cfg(test)]
mod tests;
