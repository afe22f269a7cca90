//! Plain numbers and arithmetic.

use std::cell::{Cell, OnceCell};

use super::number;
use super::source::Source;
use super::{Match, Payload, Target, disjoint};
use crate::chars::{
    byte_at, char_at, char_before, digit_len, goes_on, is_digit, is_space, space_len,
};

/// What must hold where a match ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    Anything,
    /// No equals sign follows.
    NoEquals,
    /// "I hope" follows.
    Hope,
}

impl Condition {
    /// The end of a match whose number ends at `at`, if it holds there.
    pub(super) fn end(self, source: &Source<'_>, at: usize) -> Option<usize> {
        match self {
            Self::Anything => Some(at),
            Self::NoEquals => (byte_at(source.text, source.spaces_end(at)) != b'=').then_some(at),
            Self::Hope => source.hope_end(at),
        }
    }
}

/// White space or an equals sign with something after it that could be a number, or the start of the text.
#[derive(Debug, Clone, Copy)]
struct Start {
    at: u32,
    payload: u32,
}

/// Where plain numbers could begin.
#[derive(Debug)]
pub(super) struct Numbers<'s, 't> {
    source: &'s Source<'t>,
    starts: Vec<Start>,
    /// The equals signs with a start after them.
    equals: OnceCell<Vec<u32>>,
    run: Cell<Run>,
    operator: Cell<NextOperator>,
}

/// Characters of arithmetic in a row, with the last place in it at which arithmetic may end.
#[derive(Debug, Clone, Copy)]
struct Run {
    start: usize,
    end: usize,
    condition: Condition,
    last: Option<Ending>,
}

/// Where arithmetic ends, and where the match does.
#[derive(Debug, Clone, Copy)]
struct Ending {
    /// The operators and what is after them end here.
    body: usize,
    /// After that, or after a closing parenthesis.
    group: usize,
    /// After the character that must follow.
    whole: usize,
}

/// The first operator from some place on.
#[derive(Debug, Clone, Copy)]
struct NextOperator {
    from: usize,
    /// Where it ends, if the run has one.
    end: Option<usize>,
    until: usize,
}

impl<'s, 't> Numbers<'s, 't> {
    pub(super) fn new(source: &'s Source<'t>) -> Self {
        Self {
            source,
            starts: starts(source.text),
            equals: OnceCell::new(),
            run: Cell::new(Run {
                start: 1,
                end: 0,
                condition: Condition::Anything,
                last: None,
            }),
            operator: Cell::new(NextOperator {
                from: 1,
                end: None,
                until: 0,
            }),
        }
    }

    pub(super) fn numbers_anywhere(&self) -> Vec<Match> {
        self.all(|start| self.number(start, Condition::Anything))
    }

    fn all(&self, find: impl Fn(Start) -> Option<Match>) -> Vec<Match> {
        let places = self.starts.iter().map(|start| (start.at as usize, *start));
        disjoint(places, find)
    }

    fn after_colon(&self, at: usize) -> usize {
        at + usize::from(byte_at(self.source.text, at) == b':')
    }

    /// The last equals sign of the next hundred characters that leads to a number.
    fn after_equals(&self, gap: usize) -> Option<Match> {
        let text = self.source.text;
        let equals = self.equals.get_or_init(|| {
            text.bytes()
                .enumerate()
                .filter(|(at, byte)| *byte == b'=' && self.starts_after(at + 1).next().is_some())
                .map(|(at, _)| at as u32)
                .collect()
        });
        let first = equals.partition_point(|at| (*at as usize) < gap);
        let near = equals.get(first..).unwrap_or_default();
        let near = near.iter().take_while(|at| (**at as usize) - gap <= 400);
        let count = near
            .take_while(|at| self.source.reaches(gap, **at as usize, 100, false))
            .count();
        equals
            .get(first..first + count)?
            .iter()
            .rev()
            .find_map(|at| self.after_spaces(*at as usize + 1, Condition::NoEquals))
    }

    /// The first number that begins in the next fifty characters.
    fn first_near(&self, gap: usize) -> Option<Match> {
        let first = self
            .starts
            .partition_point(|start| (start.at as usize) < gap);
        self.starts
            .get(first..)?
            .iter()
            .take_while(|start| self.source.reaches(gap, start.at as usize, 50, false))
            .find_map(|start| self.either(*start, Condition::NoEquals))
    }

    /// A number after white space, the last of which it takes for itself unless an equals sign follows.
    fn after_spaces(&self, at: usize, condition: Condition) -> Option<Match> {
        self.starts_after(at)
            .find_map(|start| self.either(start, condition))
    }

    /// The starts after white space: the equals sign there, and the last of the white space.
    fn starts_after(&self, at: usize) -> impl Iterator<Item = Start> {
        let text = self.source.text;
        let end = self.source.spaces_end(at);
        let equals = (byte_at(text, end) == b'=').then_some(end);
        let space = (end > at).then(|| char_before(text, end)).flatten();
        equals
            .into_iter()
            .chain(space.map(|space| end - space.len_utf8()))
            .filter_map(|at| self.start_at(at))
    }

    /// The start at `at`, which is not the start of the text.
    fn start_at(&self, at: usize) -> Option<Start> {
        self.starts
            .binary_search_by_key(&at, |start| start.at as usize)
            .ok()
            .and_then(|index| self.starts.get(index))
            .copied()
    }

    /// Arithmetic, or else a number.
    fn either(&self, start: Start, condition: Condition) -> Option<Match> {
        self.arithmetic(start, condition)
            .or_else(|| self.number(start, condition))
    }

    fn number(&self, start: Start, condition: Condition) -> Option<Match> {
        let text = self.source.text;
        let mut at = start.payload as usize;
        if let Some(currency) = char_at(text, at).filter(|c| is_currency(*c)) {
            at += currency.len_utf8();
        }
        let (number, end) = number::longest(self.source, at, condition)?;
        Some(Match {
            start: start.at,
            end: end as u32,
            payload: Payload::Number(number),
        })
    }

    /// Digits and operators: as much as can be, with at least one operator and something after it, up to a character that may follow.
    fn arithmetic(&self, start: Start, condition: Condition) -> Option<Match> {
        let text = self.source.text;
        let mut at = start.payload as usize;
        for sign in *b"-(-" {
            at += usize::from(byte_at(text, at) == sign);
        }
        let body = at
            + match digit_len(text, at) {
                0 => return None,
                length => length,
            };
        let operator_end = self.operator_end(body)?;
        let ending = self
            .last_ending(body, condition)
            .filter(|ending| ending.body > operator_end)?;
        Some(Match {
            start: start.at,
            end: ending.whole as u32,
            payload: Payload::Arithmetic {
                start: start.payload,
                end: ending.group as u32,
            },
        })
    }

    /// The end of the first operator of the run at `at`.
    fn operator_end(&self, at: usize) -> Option<usize> {
        let known = self.operator.get();
        if known.from <= at && at <= known.until {
            return known.end;
        }
        let text = self.source.text;
        let mut until = at;
        let mut end = None;
        while let Some(c) = char_at(text, until) {
            if is_operator(c) {
                end = Some(until + c.len_utf8());
                break;
            }
            if !is_arithmetic(c) {
                break;
            }
            until += c.len_utf8();
        }
        self.operator.set(NextOperator {
            from: at,
            end,
            until,
        });
        end
    }

    /// The last place of the run at `at` at which arithmetic may end.
    fn last_ending(&self, at: usize, condition: Condition) -> Option<Ending> {
        let known = self.run.get();
        if known.start <= at && at <= known.end && known.condition == condition {
            return known.last;
        }
        let text = self.source.text;
        let mut end = at;
        while let Some(c) = char_at(text, end).filter(|c| is_arithmetic(*c)) {
            end += c.len_utf8();
        }
        let mut body = end;
        let last = loop {
            if let Some(ending) = self.ending(body, condition) {
                break Some(ending);
            }
            match char_before(text, body) {
                Some(c) if body > at => body -= c.len_utf8(),
                _ => break None,
            }
        };
        self.run.set(Run {
            start: at,
            end,
            condition,
            last,
        });
        last
    }

    /// The end of a match whose operators and digits end at `body`.
    fn ending(&self, body: usize, condition: Condition) -> Option<Ending> {
        let text = self.source.text;
        let parenthesis = (byte_at(text, body) == b')').then_some(body + 1);
        for group in parenthesis.into_iter().chain([body]) {
            let emphasis = goes_on(text, group, "**").then_some(group + 2);
            for at in emphasis.into_iter().chain([group]) {
                let length = match byte_at(text, at) {
                    b'.' | b',' | b':' | b')' | b'$' => 1,
                    _ => space_len(text, at),
                };
                // Before a line feed at the end counts as the end, too, but the line feed itself is tried first.
                if (length > 0 || at == text.len())
                    && let Some(whole) = condition.end(self.source, at + length)
                {
                    return Some(Ending { body, group, whole });
                }
            }
        }
        None
    }
}

impl Target for Numbers<'_, '_> {
    fn hoped(&self, at: usize) -> Option<Match> {
        self.after_spaces(self.after_colon(at), Condition::Hope)
    }

    fn stated(&self, at: usize) -> Option<Match> {
        self.either(self.start_at(self.after_colon(at))?, Condition::Anything)
    }

    /// After the last equals sign that stands near and leads to a number, or else the first number that stands near;
    /// none with an equals sign after it.
    fn near(&self, at: usize) -> Option<Match> {
        self.after_equals(at).or_else(|| self.first_near(at))
    }

    fn anywhere(&self) -> Vec<Match> {
        self.all(|start| self.arithmetic(start, Condition::Anything))
    }
}

/// The operators, parentheses among them.
fn is_operator(c: char) -> bool {
    matches!(c, '+' | '-' | '*' | '×' | '/' | '^' | '(' | ')' | '÷')
}

fn is_arithmetic(c: char) -> bool {
    c == '.' || is_operator(c) || is_digit(c) || is_space(c)
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '£' | '¥' | '฿' | '\u{20a1}'..='\u{20bf}')
}

/// Everything that could begin a match, from left to right.
fn starts(text: &str) -> Vec<Start> {
    let mut starts = Vec::new();
    let mut add = |at: usize, mut payload: usize| {
        if goes_on(text, payload, "**") {
            payload += 2;
        }
        let may_begin = match char_at(text, payload) {
            Some('-' | '(' | '.') => true,
            Some(c) => is_digit(c) || is_currency(c),
            None => false,
        };
        if may_begin {
            starts.push(Start {
                at: at as u32,
                payload: payload as u32,
            });
        }
    };
    add(0, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'=' | b'\t'..=b'\r' | b'\x1c'..=b' ' => add(at, at + 1),
            0x80.. => match space_len(text, at) {
                0 => {}
                length => add(at, at + length),
            },
            _ => {}
        }
    }
    starts
}
