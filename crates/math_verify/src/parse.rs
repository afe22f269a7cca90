//! What Math-Verify reads in a text: a value, if something parses, and the text of what it tried first.

use std::collections::HashSet;

use super::find::{self, Finder, Match, Number, Payload, Source};
use super::normalize::{self, Boxes};
use super::value::{self, Value};
use crate::options::{ExtractionMode, ExtractionTarget, FallbackMode, Normalization, Options};
use crate::verdict::{Reading, shortened};

/// What may be spent on matches that do not parse: one for each, and one for every byte of them. Math-Verify's clock
/// runs out long before, and then it has nothing.
const BUDGET: usize = 4_000_000;
/// Digits of the longest integer that Python reads.
const LONGEST_INTEGER: usize = 4300;
/// What a match costs besides its bytes.
const PER_MATCH: usize = 400;

/// A value or a string that was looked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Extracted {
    Value(Value),
    Text(String),
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Parsed {
    /// The value of the first match that has one.
    pub(super) value: Option<Extracted>,
    /// The text of the first match that was tried, where it is not empty.
    pub(super) fallback: Option<String>,
}

impl Parsed {
    /// Both, as Math-Verify lists them.
    pub(super) fn readings(&self) -> Vec<Reading> {
        let value = self.value.as_ref().map(|value| match value {
            Extracted::Value(value) => Reading::Value(shortened(value.to_string())),
            Extracted::Text(text) => Reading::Text(shortened(text.clone())),
        });
        let fallback = self.fallback.clone().map(shortened).map(Reading::Text);
        value.into_iter().chain(fallback).collect()
    }

    pub(super) fn strings(&self) -> impl Iterator<Item = &str> {
        let value = match &self.value {
            Some(Extracted::Text(text)) => Some(text.as_str()),
            _ => None,
        };
        value.into_iter().chain(self.fallback.as_deref())
    }
}

/// An error that Math-Verify does not catch where it arises: all is lost.
struct Uncaught;

/// Reads `text`.
pub(super) fn parse(text: &str, options: &Options) -> Parsed {
    if u32::try_from(text.len()).is_err() {
        return Parsed::default();
    }
    let source = Source::new(text);
    let search = Search {
        text,
        options,
        finder: &Finder::new(&source, options),
        parsed: Parsed::default(),
        spent: 0,
        unreadable: HashSet::new(),
    };
    search.run().unwrap_or_default()
}

struct Search<'a, 's, 't> {
    text: &'t str,
    options: &'a Options,
    finder: &'a Finder<'s, 't>,
    parsed: Parsed,
    spent: usize,
    /// The first formulas of rows that did not parse. Another pattern that finds one again cannot do better.
    unreadable: HashSet<u32>,
}

impl Search<'_, '_, '_> {
    fn run(mut self) -> Result<Parsed, Uncaught> {
        let patterns = find::patterns(self.options);
        for group in patterns.chunk_by(|a, b| a.priority == b.priority) {
            let mut lists: Vec<(usize, Vec<Match>)> = group
                .iter()
                .map(|pattern| (pattern.target, self.finder.matches(*pattern)))
                .collect();
            while let Some((target, found)) = take_last(&mut lists) {
                let (value, text) = self.convert(target, found)?;
                if self.parsed.fallback.is_none() && !text.is_empty() {
                    self.parsed.fallback = Some(text);
                }
                let is_final = self.options.extraction_mode == ExtractionMode::FirstMatch;
                if value.is_some() || is_final {
                    self.parsed.value = value;
                    return Ok(self.done());
                }
            }
        }
        Ok(self.done())
    }

    fn done(self) -> Parsed {
        let mut parsed = self.parsed;
        if self.options.fallback_mode == FallbackMode::NoFallback {
            parsed.fallback = None;
        }
        parsed
    }

    /// The value of a match, if it has one, and its text.
    fn convert(
        &mut self,
        target: usize,
        found: Match,
    ) -> Result<(Option<Extracted>, String), Uncaught> {
        if let Payload::Row { first, .. } | Payload::BoxedRow { first } = found.payload
            && !self.unreadable.insert(first)
        {
            return Ok((None, String::new()));
        }
        self.spent += PER_MATCH + (found.end - found.start) as usize;
        if self.spent > BUDGET && self.spent > PER_MATCH + self.text.len() {
            return Err(Uncaught);
        }
        match found.payload {
            Payload::Row { .. } | Payload::BoxedRow { .. } => {
                let row = self.finder.row(found.payload);
                Ok(formulas(&row, Boxes::All, self.options.normalization))
            }
            Payload::RawBox => {
                let row = [(self.slice((found.start, found.end)), false)];
                Ok(formulas(&row, Boxes::Last, self.options.normalization))
            }
            Payload::Arithmetic { start, end } => {
                let text = self.slice((start, end));
                let value = value::parse_arithmetic(text).map(Extracted::Value);
                Ok((value, text.to_owned()))
            }
            Payload::Number(number) => self.number(number),
            Payload::Choice { start, end } => {
                let text = self.slice((start, end));
                let value = match self.options.extract.get(target) {
                    Some(ExtractionTarget::String { lowercase, .. }) if *lowercase => {
                        text.to_lowercase()
                    }
                    _ => text.to_owned(),
                };
                Ok((Some(Extracted::Text(value)), text.to_owned()))
            }
        }
    }

    fn slice(&self, (start, end): (u32, u32)) -> &str {
        self.text
            .get(start as usize..end as usize)
            .unwrap_or_default()
    }

    /// A plain number without separators and leading zeros.
    fn number(&self, number: Number) -> Result<(Option<Extracted>, String), Uncaught> {
        let mut text: String = self.slice(number.integer).to_owned();
        text.retain(|c| c != ',' && c != ' ');
        let bare = text.trim_start_matches('0');
        let mut text = if bare.is_empty() { "0" } else { bare }.to_owned();
        text.extend(
            self.slice(number.decimal)
                .chars()
                .map(|c| if c == ',' { '.' } else { c }),
        );
        let value = value::number(&text)
            .filter(|_| python_reads(&text))
            .ok_or(Uncaught)?;
        let value = if number.percent {
            value::percent(value)
        } else {
            value
        };
        Ok((Some(Extracted::Value(value)), text))
    }
}

/// Is a number one as Python writes it? Digits of other scripts, zeros after a sign and integers of thousands of digits are none.
fn python_reads(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let is_integer = !digits.contains('.');
    digits.is_ascii()
        && !(is_integer && digits.len() > LONGEST_INTEGER)
        && !(is_integer && digits.starts_with('0') && digits.bytes().any(|byte| byte != b'0'))
}

/// Takes the match that ends last; of several the longest, of several the one asked for first.
fn take_last(lists: &mut [(usize, Vec<Match>)]) -> Option<(usize, Match)> {
    let (_, index) = lists
        .iter()
        .enumerate()
        .filter_map(|(index, (_, list))| {
            let last = list.last()?;
            Some(((last.end, u32::MAX - last.start, usize::MAX - index), index))
        })
        .max()?;
    let (target, list) = lists.get_mut(index)?;
    Some((*target, list.pop()?))
}

/// The value and the text of formulas in a row: of all if all parse, of the first if not.
fn formulas(
    contents: &[(&str, bool)],
    boxes: Boxes,
    parts: Normalization,
) -> (Option<Extracted>, String) {
    let mut texts = Vec::with_capacity(contents.len());
    let mut values = Vec::with_capacity(contents.len());
    for (content, percent) in contents {
        let text = normalize::normalized(content, boxes, parts);
        let value = value::parse_latex(&text);
        values.push(if *percent {
            value.map(value::percent)
        } else {
            value
        });
        texts.push(text);
    }
    if values.len() > 1 && values.iter().all(Option::is_some) {
        let all = value::joined(values.into_iter().flatten().collect());
        return (Some(Extracted::Value(all)), texts.join(" and "));
    }
    let first = values.into_iter().next().flatten().map(Extracted::Value);
    (first, texts.into_iter().next().unwrap_or_default())
}
