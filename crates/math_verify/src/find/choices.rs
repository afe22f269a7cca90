//! Literal strings: choice letters, as a rule.

use super::source::Source;
use super::{Match, Payload, Target, disjoint};
use crate::chars::{at_end, byte_at, char_at, char_before, goes_on, is_space, space_len};

/// Where one of the wanted strings stands by itself.
#[derive(Debug)]
pub(super) struct Choices<'s, 't> {
    source: &'s Source<'t>,
    keys: &'s [String],
    /// By start.
    all: Vec<Match>,
}

impl<'s, 't> Choices<'s, 't> {
    pub(super) fn new(source: &'s Source<'t>, keys: &'s [String]) -> Self {
        let mut choices = Self {
            source,
            keys,
            all: Vec::new(),
        };
        choices.all = choices.collect();
        choices
    }

    /// A string that the text begins with.
    pub(super) fn at_start(&self) -> Vec<Match> {
        self.alone(0, 0).into_iter().collect()
    }

    /// Every place at which a string stands after white space or at the start.
    fn collect(&self) -> Vec<Match> {
        let text = self.source.text;
        let first = self.alone(0, 0);
        let after_spaces = text.bytes().enumerate().filter_map(|(at, byte)| {
            if !matches!(byte, b'\t'..=b'\r' | b'\x1c'..=b' ' | 0x80..) {
                return None;
            }
            match space_len(text, at) {
                0 => None,
                length => self.alone(at, at + length),
            }
        });
        first.into_iter().chain(after_spaces).collect()
    }

    /// A string at `at`, perhaps emphasised, with an end after it.
    fn alone(&self, start: usize, at: usize) -> Option<Match> {
        let text = self.source.text;
        let emphasised = goes_on(text, at, "**").then_some(at + 2);
        emphasised.into_iter().chain([at]).find_map(|key| {
            self.keys_at(key)
                .map(|found| key + found.len())
                .find_map(|key_end| Some(found_at(start, self.end_after(key_end)?, key, key_end)))
        })
    }

    /// The end of the character that must follow, if it does.
    fn end_after(&self, at: usize) -> Option<usize> {
        let text = self.source.text;
        let emphasised = goes_on(text, at, "**").then_some(at + 2);
        emphasised
            .into_iter()
            .chain([at])
            .find_map(|at| match char_at(text, at) {
                Some('.' | ',' | ':') => Some(at + 1),
                Some(c) if is_space(c) => Some(at + c.len_utf8()),
                _ => at_end(text, at).then_some(at),
            })
    }

    /// The strings that stand at `at`, in order of preference.
    fn keys_at(&self, at: usize) -> impl Iterator<Item = &'s String> {
        let text = self.source.text;
        self.keys.iter().filter(move |key| goes_on(text, at, key))
    }

    /// The first place after an optional colon and white space at which `find` finds something: the furthest one.
    fn after_colon<T>(&self, at: usize, find: impl Fn(usize) -> Option<T>) -> Option<T> {
        let text = self.source.text;
        let colon = (byte_at(text, at) == b':').then_some(at + 1);
        let begins_with = |class: fn(char) -> bool| {
            self.keys
                .iter()
                .any(|key| key.chars().next().is_none_or(class))
        };
        let without_colon = colon.is_none() || begins_with(|c| c == ':');
        let starts = colon.into_iter().chain(without_colon.then_some(at));
        let spaced = begins_with(is_space);
        for start in starts {
            let mut end = self.source.spaces_end(start);
            loop {
                if let Some(found) = find(end) {
                    return Some(found);
                }
                match char_before(text, end) {
                    Some(space) if spaced && end > start => end -= space.len_utf8(),
                    _ => break,
                }
            }
        }
        None
    }
}

impl Target for Choices<'_, '_> {
    fn hoped(&self, at: usize) -> Option<Match> {
        self.after_colon(at, |at| {
            self.keys_at(at)
                .map(|key| at + key.len())
                .find_map(|end| Some(found_at(at, self.source.hope_end(end)?, at, end)))
        })
    }

    fn stated(&self, at: usize) -> Option<Match> {
        self.after_colon(at, |at| {
            let end = at + self.keys_at(at).next()?.len();
            Some(found_at(at, end, at, end))
        })
    }

    /// A string by itself after at most fifty characters of the line.
    fn near(&self, at: usize) -> Option<Match> {
        let next = self
            .all
            .partition_point(|found| (found.start as usize) < at);
        let found = self.all.get(next)?;
        let reached = self.source.reaches(at, found.start as usize, 50, false);
        reached.then_some(*found)
    }

    fn anywhere(&self) -> Vec<Match> {
        let places = self.all.iter().map(|found| (found.start as usize, *found));
        disjoint(places, Some)
    }
}

fn found_at(start: usize, end: usize, key: usize, key_end: usize) -> Match {
    Match {
        start: start as u32,
        end: end as u32,
        payload: Payload::Choice {
            start: key as u32,
            end: key_end as u32,
        },
    }
}
