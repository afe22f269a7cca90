//! Formulas in delimiters, one by one and in rows.

use std::cell::OnceCell;

use super::source::Source;
use super::{Match, Payload, Target, disjoint};
use crate::chars::{
    byte_at, byte_before, char_before, digits_end, goes_on, is_digit, is_space, space_len,
};

/// How many formulas may follow the first of a row.
const MOST_NEXT: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Formula {
    start: u32,
    /// The content, without the delimiters.
    content: (u32, u32),
    /// 0 while it is open.
    end: u32,
}

/// Everything of a text that stands in delimiters, by start. Payload begins at a place is the same for every pattern.
#[derive(Debug)]
pub(super) struct Formulas<'s, 't> {
    source: &'s Source<'t>,
    all: Vec<Formula>,
    /// The starts of `\boxed{`.
    boxes: Vec<u32>,
    /// The formulas that hold a box, by index.
    boxed: OnceCell<Vec<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    /// Of any formulas.
    Plain,
    /// Of formulas with boxes.
    Boxed,
    /// Of any formulas, with "I hope" after it.
    Hoped,
}

impl<'s, 't> Formulas<'s, 't> {
    pub(super) fn new(source: &'s Source<'t>) -> Self {
        let mut scan = Scan::default();
        scan.run(source.text);
        scan.all.retain(|formula| formula.end > 0);
        Self {
            source,
            all: scan.all,
            boxes: scan.boxes,
            boxed: OnceCell::new(),
        }
    }

    pub(super) fn boxed_rows(&self) -> Vec<Match> {
        let first = self.boxed().iter().map(|first| *first as usize);
        disjoint(first.map(|first| (self.start(first), first)), |first| {
            self.found(first, Row::Boxed)
        })
    }

    /// From the first box to the last brace of the text.
    pub(super) fn raw_box(&self) -> Vec<Match> {
        let found = self.boxes.first().and_then(|start| {
            let close = self.source.text.rfind('}')?;
            (close > *start as usize + 7).then(|| Match {
                start: *start,
                end: close as u32 + 1,
                payload: Payload::RawBox,
            })
        });
        found.into_iter().collect()
    }

    /// The contents of the formulas of a row, and whether a word for percent follows each.
    pub(super) fn contents(&self, payload: Payload) -> Vec<(&'t str, bool)> {
        let (first, row) = match payload {
            Payload::Row { first, hoped: true } => (first, Row::Hoped),
            Payload::Row { first, .. } => (first, Row::Plain),
            Payload::BoxedRow { first } => (first, Row::Boxed),
            _ => return Vec::new(),
        };
        let mut contents = Vec::new();
        self.row(first as usize, row, |(start, end), percent| {
            let content = self.source.text.get(start as usize..end as usize);
            contents.push((content.unwrap_or_default(), percent));
        });
        contents
    }

    fn start(&self, index: usize) -> usize {
        self.all[index].start as usize
    }

    /// The match of the row that begins with `first`.
    fn found(&self, first: usize, row: Row) -> Option<Match> {
        let end = self.row(first, row, |_, _| {})?;
        Some(Match {
            start: self.all[first].start,
            end: end as u32,
            payload: match row {
                Row::Boxed => Payload::BoxedRow {
                    first: first as u32,
                },
                _ => Payload::Row {
                    first: first as u32,
                    hoped: row == Row::Hoped,
                },
            },
        })
    }

    /// The formula after `is`, a colon and white space.
    fn after_is(&self, mut at: usize) -> Option<usize> {
        at += usize::from(byte_at(self.source.text, at) == b':');
        self.after_spaces(at)
    }

    /// The formula after white space, which may take the last of the white space for itself.
    fn after_spaces(&self, at: usize) -> Option<usize> {
        if self.all.is_empty() {
            return None;
        }
        let end = self.source.spaces_end(at);
        self.at(end).or_else(|| {
            let space = (end > at).then(|| char_before(self.source.text, end))??;
            self.at(end - space.len_utf8())
        })
    }

    /// The formula that begins at `at`.
    fn at(&self, at: usize) -> Option<usize> {
        self.all
            .binary_search_by_key(&at, |formula| formula.start as usize)
            .ok()
    }

    /// The end of the row that begins with `first`; `each` sees the contents.
    fn row(&self, first: usize, row: Row, mut each: impl FnMut((u32, u32), bool)) -> Option<usize> {
        let text = self.source.text;
        let mut formula = self.all.get(first)?;
        let mut next = 0;
        loop {
            let bare = formula.end as usize;
            let spaces = self.source.spaces_end(bare);
            // A shorter word for percent leaves letters after it, which "I hope" does not allow.
            let word = percent_end(text, spaces, row == Row::Hoped);
            each(formula.content, word.is_some());
            let mut end = word.unwrap_or(spaces);
            if row == Row::Boxed {
                end = self.source.spaces_end(end);
            }
            match self.connected(end, row).filter(|_| next < MOST_NEXT) {
                Some(index) => formula = self.all.get(index)?,
                None if row == Row::Hoped => return self.source.hope_end(end),
                None => return Some(end),
            }
            next += 1;
        }
    }

    /// The formula that a comma, "and" or "or" joins to what ends at `at`.
    fn connected(&self, at: usize, row: Row) -> Option<usize> {
        let text = self.source.text;
        let at = self.source.spaces_end(at);
        let index = [",and", "and", ",or", "or", ","]
            .into_iter()
            .filter(|word| goes_on(text, at, word))
            .find_map(|word| self.after_spaces(at + word.len()))?;
        (row != Row::Boxed || self.boxed().binary_search(&(index as u32)).is_ok()).then_some(index)
    }

    fn boxed(&self) -> &[u32] {
        self.boxed.get_or_init(|| {
            if self.boxes.is_empty() {
                return Vec::new();
            }
            let braces: Vec<u32> = (self.source.text.bytes().enumerate())
                .filter(|(_, byte)| *byte == b'}')
                .map(|(at, _)| at as u32)
                .collect();
            (0u32..)
                .zip(&self.all)
                .filter(|(_, formula)| self.has_box(formula, &braces))
                .map(|(index, _)| index)
                .collect()
        })
    }

    /// Does a box with something in it open and close in the formula?
    fn has_box(&self, formula: &Formula, braces: &[u32]) -> bool {
        let (start, end) = formula.content;
        // A bare fraction is no delimiter.
        if start == formula.start {
            return false;
        }
        let opening = self.boxes.partition_point(|at| *at < start);
        let closing = braces.partition_point(|at| *at < end);
        let last = closing.checked_sub(1).and_then(|at| braces.get(at));
        match (self.boxes.get(opening), last) {
            (Some(opening), Some(last)) => *last > opening + 7,
            _ => false,
        }
    }
}

impl Target for Formulas<'_, '_> {
    fn hoped(&self, at: usize) -> Option<Match> {
        self.found(self.after_is(at)?, Row::Hoped)
    }

    fn stated(&self, at: usize) -> Option<Match> {
        self.found(self.after_is(at)?, Row::Plain)
    }

    /// A row after at most fifty characters.
    fn near(&self, at: usize) -> Option<Match> {
        let next = self
            .all
            .partition_point(|formula| (formula.start as usize) < at);
        let start = self.all.get(next)?.start as usize;
        let reached = self.source.reaches(at, start, 50, true);
        if reached {
            self.found(next, Row::Plain)
        } else {
            None
        }
    }

    fn anywhere(&self) -> Vec<Match> {
        let first = 0..self.all.len();
        disjoint(first.map(|first| (self.start(first), first)), |first| {
            self.found(first, Row::Plain)
        })
    }

    fn crosses_lines(&self) -> bool {
        true
    }
}

/// The end of a percent sign or of a word for it.
fn percent_end(text: &str, at: usize, longest: bool) -> Option<usize> {
    match byte_at(text, at) {
        b'%' => return Some(at + 1),
        b'\\' => return (byte_at(text, at + 1) == b'%').then_some(at + 2),
        b'P' | b'p' => {}
        _ => return None,
    }
    if longest && goes_on(text, at + 1, "ercentage") {
        return Some(at + 10);
    }
    ["ercent", "ct"]
        .into_iter()
        .find(|rest| goes_on(text, at + 1, rest))
        .map(|rest| at + 1 + rest.len())
}

/// One pass over the text that finds all formulas. An open one waits for the first delimiter that could close it; nothing after that can.
#[derive(Debug, Default)]
struct Scan {
    all: Vec<Formula>,
    boxes: Vec<u32>,
    /// `$$`, by index.
    dollars: Vec<u32>,
    /// `$`.
    dollar: Option<u32>,
    /// `\[`.
    brackets: Vec<u32>,
    /// `\(`.
    parentheses: Vec<u32>,
}

impl Scan {
    fn run(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(offset) = bytes.get(at..).and_then(|rest| {
            rest.iter()
                .position(|b| matches!(b, b'$' | b'\\' | b'[' | b'\n'))
        }) {
            at += offset;
            match byte_at(text, at) {
                b'\n' => {
                    self.dollar = None;
                    self.parentheses.clear();
                }
                b'$' => self.dollar_at(text, at),
                b'\\' => self.backslash_at(text, at),
                _ => self.bracket_at(text, at),
            }
            at += 1;
        }
    }

    fn open(&mut self, start: usize, content: usize) -> u32 {
        self.all.push(Formula {
            start: start as u32,
            content: (content as u32, 0),
            end: 0,
        });
        self.all.len() as u32 - 1
    }

    fn close(&mut self, index: u32, at: usize, length: usize) {
        if let Some(formula) = self.all.get_mut(index as usize)
            && (formula.content.0 as usize) < at
        {
            formula.content.1 = at as u32;
            formula.end = (at + length) as u32;
        }
    }

    fn dollar_at(&mut self, text: &str, at: usize) {
        let escaped = byte_before(text, at) == b'\\';
        let double = byte_at(text, at + 1) == b'$';
        if !escaped && let Some(open) = self.dollar.take() {
            self.close(open, at, 1);
        }
        if double {
            let mut waiting = std::mem::take(&mut self.dollars);
            waiting.retain(|open| {
                let content = self.all.get(*open as usize).map_or(0, |f| f.content.0);
                if content as usize > at {
                    return true;
                }
                if !escaped {
                    self.close(*open, at, 2);
                }
                false
            });
            self.dollars = waiting;
        }
        if escaped {
            return;
        }
        if double {
            let open = self.open(at, at + 2);
            self.dollars.push(open);
        } else if !char_before(text, at).is_some_and(is_digit) {
            self.dollar = Some(self.open(at, at + 1));
        }
    }

    fn backslash_at(&mut self, text: &str, at: usize) {
        let escaped = byte_before(text, at) == b'\\';
        match byte_at(text, at + 1) {
            b'[' if !escaped => {
                let open = self.open(at, at + 2);
                self.brackets.push(open);
            }
            b'(' if !escaped => {
                let open = self.open(at, at + 2);
                self.parentheses.push(open);
            }
            closing @ (b']' | b')') => {
                let waiting = if closing == b']' {
                    &mut self.brackets
                } else {
                    &mut self.parentheses
                };
                for open in std::mem::take(waiting) {
                    if !escaped {
                        self.close(open, at, 2);
                    }
                }
            }
            b'b' if goes_on(text, at, "\\boxed{") => self.boxes.push(at as u32),
            b'f' => {
                if let Some(end) = fraction_end(text, at) {
                    let start = at - usize::from(byte_before(text, at) == b'-');
                    let open = self.open(start, start);
                    self.close(open, end, 0);
                }
            }
            _ => {}
        }
    }

    /// ` […] `, on one line.
    fn bracket_at(&mut self, text: &str, at: usize) {
        let Some(space) = char_before(text, at).filter(|c| is_space(*c)) else {
            return;
        };
        let inside = text.as_bytes().get(at + 1..).unwrap_or_default();
        let Some(length) = inside.iter().position(|b| matches!(b, b'\n' | b'[' | b']')) else {
            return;
        };
        let close = at + 1 + length;
        let following = space_len(text, close + 1);
        if inside[length] == b']' && following > 0 {
            let open = self.open(at - space.len_utf8(), at + 1);
            self.close(open, close, 1 + following);
        }
    }
}

/// The end of a fraction of two plain numbers.
fn fraction_end(text: &str, at: usize) -> Option<usize> {
    let mut end = goes_on(text, at, "\\frac").then_some(at + 5)?;
    for _ in 0..2 {
        end = (byte_at(text, end) == b'{').then_some(end + 1)?;
        end += usize::from(byte_at(text, end) == b'-');
        let whole = digits_end(text, end);
        if whole == end {
            return None;
        }
        end = whole;
        if matches!(byte_at(text, end), b'.' | b',') {
            let part = digits_end(text, end + 1);
            if part > end + 1 {
                end = part;
            }
        }
        end = (byte_at(text, end) == b'}').then_some(end + 1)?;
    }
    Some(end)
}
