//! Verdicts whose texts contain a text: searched as they are read, a few megabytes at a time.

use rayon::prelude::*;
use regex::{Regex, RegexBuilder, bytes};
use serde_json::{Map, Value};

use super::follow::Browser;
use super::record::{Files, Needed, Record, Texts, texts, verdict};
use crate::Result;
use juror_data::Sample;

/// Bytes of lines and rows that are searched at a time, unless one verdict has more.
const BYTES: usize = 8 << 20;

/// Verdicts that are searched at a time.
const VERDICTS: usize = 2048;

/// The longest text that can be searched for, in bytes.
const MOST_TEXT: usize = 1000;

named! {
    /// Where the text is searched for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub(crate) enum Within {
        /// In any of the other places.
        #[default]
        Anywhere = "anywhere",
        Id = "id",
        Question = "question",
        Reference = "reference",
        Response = "response",
        Reason = "reason",
    }
}

impl Within {
    fn is_of_sample(self) -> bool {
        !matches!(self, Self::Id | Self::Reason)
    }
}

/// A text to search for, ignoring case.
pub(crate) struct Search {
    text: Regex,
    within: Within,
    /// Matches the text as it stands in a JSON string, or an escape that may spell part of it; `None` if every text must be parsed.
    raw: Option<bytes::Regex>,
}

type Held = (Map<String, Value>, Texts);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hits {
    All,
    /// It was stopped: from this place of the order on nothing was searched.
    Stopped(usize),
    /// The file was read from its beginning again meanwhile.
    Outdated,
}

impl Search {
    /// A search for a text; `None` for an empty one.
    pub(crate) fn new(text: &str, within: Within) -> Result<Option<Self>, String> {
        if text.is_empty() {
            return Ok(None);
        }
        if text.len() > MOST_TEXT {
            return Err(format!(
                "a text of more than {MOST_TEXT} bytes is not looked for"
            ));
        }
        let too_long = |_| "this text cannot be looked for: make it shorter".to_owned();
        let pattern = RegexBuilder::new(&regex::escape(text))
            .case_insensitive(true)
            .build()
            .map_err(too_long)?;
        let quoted = Value::from(text).to_string();
        let inner = &quoted[1..quoted.len() - 1];
        // Only `\u` and `\/` spell a character in another way.
        let raw =
            bytes::Regex::new(&format!(r"(?i:{})|\\u", regex::escape(inner))).map_err(too_long)?;
        Ok(Some(Self {
            text: pattern,
            within,
            raw: Some(raw).filter(|_| !text.contains('/')),
        }))
    }

    /// Whether the text may be in a string of this JSON.
    fn may_be_in(&self, json: &[u8]) -> bool {
        self.raw.as_ref().is_none_or(|raw| raw.is_match(json))
    }

    fn is_in(&self, texts: &Texts) -> bool {
        let fields = [
            (Within::Id, &texts.id),
            (Within::Reason, &texts.reason),
            (Within::Question, &texts.question),
            (Within::Reference, &texts.reference),
            (Within::Response, &texts.response),
        ];
        fields.iter().any(|(field, text)| {
            (self.within == Within::Anywhere || self.within == *field) && self.text.is_match(text)
        })
    }

    /// Searches the verdicts of `order` from the place `from` on, and passes each that contains the text to `found` until
    /// that says to stop; `go_on` is asked between parts.
    pub(crate) fn run(
        &self,
        browser: &Browser,
        order: &[u32],
        generation: u64,
        from: usize,
        go_on: &dyn Fn() -> bool,
        found: &mut dyn FnMut(Record) -> bool,
    ) -> Result<Hits> {
        let mut at = from;
        while at < order.len() {
            if !go_on() {
                return Ok(Hits::Stopped(at));
            }
            let (files, needed) = {
                let index = browser.index();
                if index.generation != generation {
                    return Ok(Hits::Outdated);
                }
                let files = Files::from_index(&index);
                let mut bytes = 0;
                let part = order[at..].iter().take(VERDICTS);
                let part = part.filter_map(|at| index.needed(*at));
                let part = part.take_while(|one| {
                    // The first verdict always fits.
                    let fits = bytes == 0 || bytes + files.bytes(one) <= BYTES;
                    bytes += files.bytes(one);
                    fits
                });
                let needed: Vec<Needed> = part.collect();
                (files, needed)
            };
            if needed.is_empty() {
                return Ok(Hits::All);
            }
            let held = self.look_through(browser, &files, &needed)?;
            for (slot, held) in held.into_iter().enumerate() {
                let Some((verdict, texts)) = held else {
                    continue;
                };
                let record = browser.index().record(needed[slot].at, verdict, texts);
                if record.is_some_and(|record| !found(record)) {
                    return Ok(Hits::Stopped(at + slot + 1));
                }
            }
            at += needed.len();
        }
        Ok(Hits::All)
    }

    /// For each verdict that contains the text, its line and its texts.
    fn look_through(
        &self,
        browser: &Browser,
        files: &Files,
        needed: &[Needed],
    ) -> Result<Vec<Option<Held>>> {
        let lines = files.lines(needed)?;
        let in_row = |row: &[u8]| self.within.is_of_sample() && self.may_be_in(row);
        let in_samples = if self.within.is_of_sample() {
            files.samples(needed, &in_row)?
        } else {
            vec![None; needed.len()]
        };
        // If only the verdict contains the text, its sample is read for the record.
        let held = |((needed, line), sample): ((&Needed, &Vec<u8>), Option<Sample>)| {
            let has_row = files.rows_with(needed).is_some();
            let verdicts = [Within::Anywhere, Within::Id, Within::Reason];
            let in_line = (verdicts.contains(&self.within) || !has_row) && self.may_be_in(line);
            if sample.is_none() && !in_line {
                return Ok(None);
            }
            let verdict = verdict(line);
            let known = sample.is_some();
            let mut all = texts(&verdict, sample, &browser.columns);
            if !self.is_in(&all) {
                return Ok(None);
            }
            if has_row && !known {
                let mut samples = files.samples(std::slice::from_ref(needed), &|_| true)?;
                all = texts(&verdict, samples.pop().flatten(), &browser.columns);
            }
            Ok(Some((verdict, all)))
        };
        let read: Vec<_> = needed.iter().zip(&lines).zip(in_samples).collect();
        read.into_par_iter().map(held).collect()
    }
}
