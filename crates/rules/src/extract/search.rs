//! Weighs what announces an answer against each other.

use std::borrow::Cow;
use std::ops::Range;

use super::anchors::{self, Anchor, AnchorKind};
use super::boxes;
use super::choice;
use super::clause;
use super::items::{Candidate, Form, Source};
use super::no_answer;
use super::qualifiers;
use super::scan::scan;
use super::sentences;
use super::stated;
use super::whole::{all_of, as_it_is, last_cell, opening, sentence, whole_in};
use super::words;
use super::{Found, Role};
use crate::config::{Config, ExtractionTarget};

/// How many candidates are named at most.
const MAX_FOUND: usize = 8;
/// How long what is announced may be, in bytes, unless it is announced last.
const MAX_REACH: usize = 4_000;
/// How many sentences are looked at, from the last on, where nothing is announced.
const MAX_SENTENCES: i32 = 4;

/// What announced an answer behind "A:", which may be a choice and its text too.
pub(super) const ANSWER_LETTER: &str = "answer letter";

/// A candidate and where it stands.
struct Ranked<'t> {
    /// Smaller is more trusted.
    tier: i32,
    end: usize,
    found: Found<'t>,
}

struct Search<'t, 'm, 'c> {
    source: Source<'t, 'm>,
    config: &'c Config,
    role: Role,
    out: Vec<Ranked<'t>>,
}

/// All candidates, most trusted first.
pub(super) fn search<'t>(
    text: &'t str,
    role: Role,
    config: &Config,
) -> Result<Vec<Found<'t>>, &'static str> {
    if text.trim().is_empty() {
        return Err("the text is empty");
    }
    let regions = scan(text);
    let anchors = anchors::find(text);
    let boxed = config.boxed_match_priority >= 0;
    let mut search = Search {
        source: Source {
            text,
            regions: &regions,
            open_boxes: !boxed,
        },
        config,
        role,
        out: Vec::new(),
    };
    match role {
        Role::Gold => search.gold(&anchors),
        Role::Prediction => search.prediction(&anchors),
    }?;
    let mut out = search.out;
    // Later beats earlier within a tier.
    out.sort_by(|a, b| a.tier.cmp(&b.tier).then(b.end.cmp(&a.end)));
    let mut found: Vec<Found<'t>> = Vec::new();
    for candidate in out {
        if found.len() < MAX_FOUND && !found.iter().any(|it| it.text == candidate.found.text) {
            found.push(candidate.found);
        }
    }
    if role == Role::Prediction
        && found
            .first()
            .is_some_and(|it| no_answer::is_placeholder(&it.text))
    {
        return Err("the answer is left open");
    }
    Ok(found)
}

impl<'t> Search<'t, '_, '_> {
    /// Keeps a candidate. `statement`: all that was announced.
    fn push(
        &mut self,
        tier: i32,
        method: &'static str,
        reading: Candidate<'t>,
        statement: Range<usize>,
    ) {
        let all = self.source.text;
        let (from, to) = (reading.range.start, reading.range.end);
        let before = &all[statement.start.min(from)..from];
        let after = &all[to..statement.end.max(to)];
        let qualified = match reading.kind {
            Form::Words => qualifiers::change_words(before, after),
            Form::Choice => qualifiers::change_choice(before, after),
            _ => qualifiers::change(before, after) || qualifiers::is_argument(before),
        };
        self.keep(
            tier,
            method,
            reading,
            Cow::Borrowed(&all[statement]),
            qualified,
        );
    }

    fn keep(
        &mut self,
        tier: i32,
        method: &'static str,
        reading: Candidate<'t>,
        statement: Cow<'t, str>,
        qualified: bool,
    ) {
        if !self.allows(&reading) {
            return;
        }
        let mut text = reading.text;
        let mut method = method;
        if reading.kind == Form::Choice {
            method = "choice";
        } else if let Some(choice) = choice::whole(&text) {
            text = Cow::Owned(choice.letters);
            method = "choice";
        }
        if text.is_empty() {
            return;
        }
        self.out.push(Ranked {
            tier,
            end: reading.range.end,
            found: Found {
                text,
                method,
                statement,
                qualified,
            },
        });
    }

    /// Is this kind of answer looked for?
    fn allows(&self, reading: &Candidate<'_>) -> bool {
        if self.role == Role::Gold {
            return true;
        }
        let latex = self.config.extract.contains(&ExtractionTarget::Latex);
        let expr = self.config.extract.contains(&ExtractionTarget::Expr);
        match reading.kind {
            Form::Formula => latex,
            Form::Plain => expr || (latex && reading.text.contains('\\')),
            Form::Choice | Form::Words => expr || latex,
        }
    }

    fn strings(&self) -> Option<(&[String], bool)> {
        self.config.extract.iter().find_map(|target| match target {
            ExtractionTarget::String { strings, lowercase } => {
                Some((strings.as_slice(), *lowercase))
            }
            _ => None,
        })
    }

    fn prediction(&mut self, anchors: &[Anchor]) -> Result<(), &'static str> {
        let text = self.source.text;
        let cut_box = self
            .source
            .regions
            .boxes
            .last()
            .is_some_and(|it| !it.closed);
        if cut_box && !self.source.open_boxes {
            return Err("the text breaks off within a box");
        }
        if let Some((strings, lowercase)) = self.strings() {
            let found = super::strings::find(self.source, anchors, strings, lowercase, self.config);
            self.out
                .extend(found.into_iter().map(|(tier, reading)| Ranked {
                    tier,
                    end: reading.range.end,
                    found: Found {
                        statement: reading.text.clone(),
                        text: reading.text,
                        method: "string",
                        qualified: false,
                    },
                }));
        }
        self.boxes();
        self.announced(anchors);
        self.after_letter();
        if !self.out.is_empty() {
            return Ok(());
        }
        if !self.source.regions.boxes.is_empty() && !self.source.open_boxes {
            return Err("the box holds no answer");
        }
        if no_answer::is_refusal(text) {
            return Err("the response declines to answer");
        }
        if self.source.regions.unclosed.is_some() {
            return Err("the text breaks off within a formula");
        }
        if !self.config.try_extract_without_anchor {
            return Err("nothing announces an answer");
        }
        if let Some(reading) = whole_in(self.source, 0..text.len()) {
            self.push(40, "whole", reading, 0..text.len());
            if !self.out.is_empty() {
                return Ok(());
            }
        }
        if no_answer::is_cut_off(text) {
            return Err("the text breaks off");
        }
        if let Some(candidate) = opening(self.source) {
            self.push(46, "opening", candidate, 0..text.len());
            if !self.out.is_empty() {
                return Ok(());
            }
        }
        self.last_sentences();
        if self.out.is_empty()
            && is_formula_like(text)
            && let Some(reading) = all_of(self.source, 0)
        {
            self.push(60, "whole", reading, 0..text.len());
        }
        if self.out.is_empty() {
            return Err("no answer was found");
        }
        Ok(())
    }

    /// Where boxes stand among the announcements.
    fn box_tier(&self) -> i32 {
        match self.config.boxed_match_priority {
            ..=0 => -1,
            1..=50 => 0,
            51..=100 => 5,
            _ => 15,
        }
    }

    fn boxes(&mut self) {
        if self.source.open_boxes {
            return;
        }
        let latex = self.config.extract.contains(&ExtractionTarget::Latex);
        if self.role == Role::Prediction && !latex {
            return;
        }
        let mut limit = self.source.text.len();
        for depth in 0..2 {
            let Some(found) = boxes::last(self.source.text, self.source.regions, limit) else {
                return;
            };
            limit = found.start;
            let tier = self.box_tier() + depth;
            let text = self.source.text;
            let end = self.sentence_end(found.end);
            let after = text[found.end..end].trim_start_matches(['$', '*']);
            let denied = qualifiers::denied_after(after);
            let reading = Candidate {
                text: found.text,
                kind: Form::Formula,
                range: found.start..found.end,
            };
            let statement = if denied {
                Cow::Borrowed(&text[found.start..end])
            } else {
                reading.text.clone()
            };
            self.keep(tier, "boxed", reading, statement, denied);
        }
    }

    /// What words and tags announce: the last of each kind that states something.
    fn announced(&mut self, anchors: &[Anchor]) {
        let mut best: [bool; 3] = [false; 3];
        for (tried, anchor) in anchors.iter().rev().enumerate() {
            // Only the last one may be as long as it likes.
            let reach = if tried == 0 { usize::MAX } else { MAX_REACH };
            let (slot, tier, method) = match anchor.how {
                AnchorKind::Hashes => (0, 0, "####"),
                AnchorKind::Tag => (0, 0, "answer tag"),
                AnchorKind::Final => (0, 0, "final answer"),
                AnchorKind::Answer => (1, 10, "answer"),
                AnchorKind::Option => (2, 10, "option"),
            };
            if best[slot] {
                continue;
            }
            let reading = match anchor.how {
                AnchorKind::Hashes => self.after_hashes(anchor.end, reach),
                AnchorKind::Tag => self.in_tag(anchor.end, reach),
                AnchorKind::Option => clause::read(self.source, anchor.end, reach, true)
                    .filter(|it| it.kind == Form::Choice),
                AnchorKind::Final | AnchorKind::Answer => {
                    clause::read(self.source, anchor.end, reach, false)
                }
            };
            let Some(reading) = reading else {
                continue;
            };
            // Words may only comment on the answer: what states one in symbols is trusted more.
            let words = reading.kind == Form::Words;
            let tier = if words { tier + 20 } else { tier };
            best[slot] = !words;
            let end = match anchor.how {
                AnchorKind::Hashes => self.line_end(anchor.end),
                AnchorKind::Tag => self.tag_end(anchor.end),
                _ => self.sentence_end(reading.range.end),
            };
            // "The answer cannot be 12."
            let text = self.source.text;
            let denied = qualifiers::deny(&text[anchor.start..anchor.end]);
            let start = if denied { anchor.start } else { anchor.end };
            let near = text.ceil_char_boundary(anchor.start.saturating_sub(80));
            let doubted = qualifiers::doubt(&text[near.min(anchor.start)..anchor.start]);
            if doubted {
                let statement = Cow::Borrowed(&text[near.min(anchor.start)..end]);
                self.keep(tier, method, reading, statement, true);
            } else {
                self.push(tier, method, reading, start..end);
            }
        }
    }

    /// What "A:" announces at the beginning of the last line. It may be the letter of a choice all the same: that stands
    /// behind it among the candidates.
    fn after_letter(&mut self) {
        let text = self.source.text;
        let Some(at) = behind_letter(text) else {
            return;
        };
        let Some(reading) = clause::read(self.source, at, usize::MAX, false) else {
            return;
        };
        let words = reading.kind == Form::Words;
        if words && !text.trim().contains('\n') {
            // "A: Paris" and nothing before it.
            return;
        }
        let choice = Candidate {
            text: Cow::Borrowed("A"),
            kind: Form::Choice,
            range: reading.range.clone(),
        };
        let statement = at..self.sentence_end(reading.range.end);
        let tier = if words { 20 } else { 0 };
        self.push(tier, ANSWER_LETTER, reading, statement.clone());
        self.push(45, ANSWER_LETTER, choice, statement);
    }

    /// Where the line that `at` lies in ends.
    fn line_end(&self, at: usize) -> usize {
        let text = self.source.text;
        text[at..].find('\n').map_or(text.len(), |end| at + end)
    }

    /// Where the sentence that `at` lies in ends; behind its exclamation mark, which may be a factorial's.
    fn sentence_end(&self, at: usize) -> usize {
        let Source { text, regions, .. } = self.source;
        let end = sentences::end(text, regions, at, usize::MAX).unwrap_or(text.len());
        end + usize::from(text[end..].starts_with('!'))
    }

    /// Where what a tag holds ends that was opened before `at`.
    fn tag_end(&self, at: usize) -> usize {
        let rest = &self.source.text[at..];
        let end = rest.find("</").or_else(|| rest.find("[/"));
        at + end.unwrap_or(rest.len())
    }

    /// The rest of a `####` line, if it is an answer and no heading.
    fn after_hashes(&self, at: usize, reach: usize) -> Option<Candidate<'t>> {
        let text = self.source.text;
        let line = self.line_end(at);
        let range = at..line;
        if range.len() > reach {
            return None;
        }
        if self.source.regions.has_box(&range) && !self.source.open_boxes {
            return None;
        }
        let is_last = line == text.trim_end().len();
        whole_in(self.source, range.clone())
            .filter(|it| it.kind != Form::Words || is_last)
            // What nothing follows is no heading, whether it can be read or not.
            .or_else(|| is_last.then(|| as_it_is(self.source, range)).flatten())
    }

    /// What stands between `<answer>` and its end.
    fn in_tag(&self, at: usize, reach: usize) -> Option<Candidate<'t>> {
        let end = self.tag_end(at);
        let range = at..end;
        if range.len() > reach || (self.source.regions.has_box(&range) && !self.source.open_boxes) {
            return None;
        }
        whole_in(self.source, range.clone())
            .or_else(|| {
                clause::read(self.source, at, MAX_REACH, false).filter(|it| it.range.end <= end)
            })
            .or_else(|| stated::sentence(self.source, range))
    }

    /// What the last sentences state.
    fn last_sentences(&mut self) {
        let mut end = self.source.text.len();
        for depth in 0..MAX_SENTENCES {
            let Some(range) = sentences::last_before(self.source.text, self.source.regions, end)
            else {
                return;
            };
            end = range.start;
            let method = method_of(&self.source.text[range.clone()]);
            if let Some(reading) = sentence(self.source, range.clone()) {
                let text = self.source.text;
                let (from, to) = (reading.range.start, reading.range.end);
                let before = &text[range.start.min(from)..from];
                let after = &text[to..range.end.max(to)];
                let qualified = reading.kind != Form::Words
                    && (qualifiers::change_near(before, after)
                        || qualifiers::is_one_of_several(before, after)
                        || qualifiers::is_argument(before));
                let statement = Cow::Borrowed(&text[last_cell(text, range)]);
                self.keep(50 + depth, method, reading, statement, qualified);
                if !self.out.is_empty() {
                    return;
                }
            }
        }
    }

    fn gold(&mut self, anchors: &[Anchor]) -> Result<(), &'static str> {
        let text = self.source.text;
        if let Some(boxed) = self.source.regions.boxes.last()
            && !self.source.open_boxes
        {
            if boxed.closed {
                self.boxes();
            } else {
                let reading = Candidate {
                    text: boxes::unclosed(text, boxed),
                    kind: Form::Formula,
                    range: boxed.start..boxed.end,
                };
                let statement = boxed.content.clone();
                self.push(0, "boxed", reading, statement);
            }
        }
        if let Some(anchor) = anchors.iter().rev().find(|it| it.how == AnchorKind::Hashes)
            && let Some(reading) = self
                .after_hashes(anchor.end, usize::MAX)
                .or_else(|| all_of(self.source, anchor.end))
        {
            self.push(0, "####", reading, anchor.end..self.line_end(anchor.end));
        }
        if self.out.is_empty() && (is_worked(text) || announces(text, anchors)) {
            self.announced(anchors);
        }
        if !self.out.is_empty() {
            return Ok(());
        }
        if let Some(reading) = whole_in(self.source, 0..text.len()) {
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

/// Is this one short line that may be a formula, though it is not read as one?
fn is_formula_like(text: &str) -> bool {
    let text = text.trim();
    let word = |part: &str| part.len() > 3 && part.bytes().all(|it| it.is_ascii_alphabetic());
    text.len() <= 60
        && !text.contains('\n')
        && text.contains(['=', '^', '<', '>'])
        && !text.split_whitespace().any(word)
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
    let words = head
        .split_whitespace()
        .filter(|word| {
            word.len() > 1
                && word
                    .trim_end_matches(['.', ',', ':', ';'])
                    .bytes()
                    .all(|byte| byte.is_ascii_alphabetic())
        })
        .take(40)
        .count();
    let digits = head.contains(|it: char| it.is_ascii_digit());
    words > 12
        && (digits || words > 30)
        && (head.contains(". ") || head.contains('\n') || head.contains('='))
}

fn method_of(sentence: &str) -> &'static str {
    let word = words::first_word(sentence.trim_start_matches(|it: char| !it.is_alphanumeric()));
    if words::among(
        word,
        &[
            "therefore",
            "thus",
            "hence",
            "so",
            "consequently",
            "finally",
        ],
    ) {
        "therefore"
    } else if sentence.contains(['$', '\\']) {
        "formula"
    } else {
        "number"
    }
}

/// Behind the "A:" that begins the last line, unless the text lists choices.
fn behind_letter(text: &str) -> Option<usize> {
    let line = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let rest = text[line..]
        .trim_start_matches([' ', '*', '_', '>'])
        .strip_prefix("A:")?;
    let listed = ["B:", "B)", "B.", "**B", "(B)", "- B"]
        .iter()
        .any(|other| text.starts_with(other) || text.contains(&format!("\n{other}")));
    (!listed).then_some(text.len() - rest.len())
}
