//! What a text says that announces no answer: the choice it settles on, its first line, its last sentences.

use std::borrow::Cow;

use super::super::Found;
use super::super::beside::{self, How};
use super::super::items::{Candidate, Form, Source};
use super::super::markup::trim_markup;
use super::super::whole::{contradicts, last_cell, opening, sentence};
use super::super::{
    aside, choice, decimal, labelled, listed, qualifiers, sentences, settled, words,
};
use super::Search;

/// How many sentences are looked at, from the last on, where nothing is announced.
const MAX_SENTENCES: i32 = 4;
/// How many sentences are looked at for a choice that one of them settles on.
const MAX_SETTLING: usize = 8;

impl Search<'_, '_, '_> {
    /// The choice that one of the last sentences settles on.
    pub(super) fn settled(&mut self) {
        let Source { text, regions, .. } = self.source;
        let mut end = text.len();
        for _ in 0..MAX_SETTLING {
            let Some(range) = sentences::last_before(text, regions, end) else {
                return;
            };
            end = range.start;
            let sentence = &text[range.clone()];
            let Some((choice, at)) =
                settled::settled(sentence).or_else(|| settled::emphasized(text, sentence))
            else {
                continue;
            };
            let from = range.start + at.start;
            // Only the clause of the letter is about it.
            let clause = text[range.start..from].rfind([',', ':', ';']);
            let clause = clause.map_or(range.start, |it| range.start + it + 1);
            let reading = Candidate::new(choice.letters, Form::Choice, from..range.start + at.end);
            self.push(45, "choice", reading, clause..range.end);
            return;
        }
    }

    /// What a text begins with, or all of it before its explanation.
    pub(super) fn opening(&mut self) {
        let end = self.source.text.len();
        if let Some((candidate, qualified)) = opening(self.source) {
            self.push(46, "opening", candidate, 0..end);
            if let Some(kept) = self.out.last_mut() {
                kept.found.qualified |= qualified;
            }
        }
    }

    pub(super) fn last_sentences(&mut self) {
        let mut end = self.source.text.len();
        let mut passed = false;
        for depth in 0..MAX_SENTENCES {
            let Some(range) = sentences::last_before(self.source.text, self.source.regions, end)
            else {
                return;
            };
            end = range.start;
            let said = &self.source.text[range.clone()];
            let bare = said.trim_matches([' ', '$', '\n', '.', '\\', '(', ')']);
            if aside::is_bracketed(said) || words::ENDS_PROOF.contains(bare) {
                continue;
            }
            let method = method_of(&self.source.text[range.clone()]);
            let text = self.source.text;
            let parts = aside::before_bracket(&text[range.clone()])
                .or_else(|| aside::before_rounded(&text[range.clone()]));
            let range = range.start..parts.map_or(range.end, |at| range.start + at);
            if let Some(mut reading) = sentence(self.source, range.clone()) {
                // What a later sentence says may be the answer, in words that are not known.
                let mut doubtful = passed
                    // "Three trucks will be needed for 80 stones."
                    || range.start < reading.range.start
                        && words::is_number_word(words::first_word(text[range.clone()].trim_start()));
                // "4", and below it "There are 3 apples."
                let first = text.lines().next().map_or("", trim_markup);
                let number = first.len() < text.len() && first.parse::<f64>().is_ok();
                let other = number && !beside::is_same(first, &reading.text);
                let comma = || {
                    words::words_of(&text[range.clone()])
                        .any(|it| words::COMMA_LANGUAGE.contains(it))
                };
                if reading.kind == Form::Plain
                    && let Some((pointed, unsure)) =
                        decimal::said(&reading.text, self.config.decimal)
                    && comma()
                {
                    reading.text = Cow::Owned(pointed);
                    doubtful |= unsure;
                }
                // Number words of such languages are not known.
                let rest = &text[reading.range.end..range.end.max(reading.range.end)];
                doubtful |= comma() && words::words_of(rest).nth(1).is_some();
                let (mut from, to) = (reading.range.start, reading.range.end);
                let mut told = "";
                // "72 inches ÷ 12 = 6 feet": the operators of a chain are no operators of its result.
                let (head, result) = text[from..to].rsplit_once("= ").unwrap_or_default();
                let scaled = words::words_of(result).any(|it| words::MAGNITUDE.contains(it));
                let joined = head.contains(", ") || reading.text.contains('=') || scaled;
                if !(head.is_empty() || joined || text[to..range.end].contains(char::is_numeric)) {
                    told = &text[range.start.min(from)..from];
                    from += head.len() + 2;
                }
                let mut before = &text[range.start.min(from)..from];
                let after = &text[to..range.end.max(to)];
                let mut said_until = range.end;
                let above = listed::above(text, from);
                // "The result is minus 5."
                if let Some(said) = before
                    .strip_suffix("minus ")
                    .or_else(|| before.strip_suffix("negative "))
                    && (words::BINDER.contains(words::last_word(said))
                        || said.ends_with("left with ")
                        || said.ends_with("up with "))
                    && let Some(negative) = reading.clone().negative(reading.range.clone())
                {
                    (before, reading) = (said, negative);
                }
                let qualified = match reading.kind {
                    // "Yes", and on the next line "That is not the case."
                    Form::Words if contradicts(&reading.text, &text[range.end..]) => {
                        said_until = text.len();
                        true
                    }
                    Form::Words => false,
                    Form::Choice => {
                        let line = text[..from].rfind('\n').unwrap_or(0);
                        let above = text[..line].trim_end().rfind('\n').map_or(0, |it| it + 1);
                        line > 0 && labelled::list(text, above).is_some_and(|it| it.end > line)
                            || beside::changes(before, after, How::of_letter(&text[from..to]))
                    }
                    _ => {
                        let value = &*reading.text;
                        let year = value.len() == 4 && value.bytes().all(|it| it.is_ascii_digit());
                        beside::changes(before, after, How::Stated)
                            || beside::changes(told, after, How::Stated)
                            // A fragment states its value, and tells no story.
                            || trim_markup(before).is_empty()
                                && !after.starts_with(" of ")
                                && !text.trim_end().ends_with(['.', '!'])
                                && beside::changes(before, after, How::Announced)
                            || (year || value.contains(':')) && beside::changes(before, "", How::Timed)
                            || qualifiers::change_spaceless_near(before, after)
                            || qualifiers::supposes(&text[range.clone()])
                            || qualifiers::supposes(&text[range.start..to])
                            || qualifiers::is_one_of_several(before, after)
                            || qualifiers::is_argument(before)
                            || qualifiers::is_replaced(&reading.text, after)
                            || qualifiers::restricts_parameter(&reading.text, after)
                            || aside::is_item(text, from)
                            || above.is_some()
                            || aside::rounds(&reading.text, after) == Some(false)
                            || other
                    }
                };
                let option = (reading.kind == Form::Choice)
                    .then(|| choice::text(before, after).map(str::to_owned))
                    .flatten();
                let statement = match above {
                    Some(above) => above..said_until,
                    None => last_cell(text, range.start..said_until),
                };
                let said = Found {
                    doubtful,
                    statement: Cow::Borrowed(&text[statement]),
                    qualified,
                    option,
                    ..Found::default()
                };
                self.keep(50 + depth, method, reading, said);
                if !self.out.is_empty() {
                    return;
                }
            }
            passed |= said.contains(char::is_alphabetic);
        }
    }
}

fn method_of(sentence: &str) -> &'static str {
    let word = words::first_word(sentence.trim_start_matches(|it: char| !it.is_alphanumeric()));
    let mut concluding = "therefore thus hence so consequently finally".split(' ');
    if concluding.any(|it| it.eq_ignore_ascii_case(word)) {
        "therefore"
    } else if sentence.contains(['$', '\\']) {
        "formula"
    } else {
        "number"
    }
}
