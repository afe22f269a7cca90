//! Weighs what announces an answer against each other.

use std::borrow::Cow;

use super::anchors::{self, Anchor, How};
use super::boxes;
use super::choice;
use super::clause;
use super::items::{self, Kind, Page, Reading};
use super::placeholder;
use super::refusal;
use super::scan::scan;
use super::sentences;
use super::settled;
use super::stated;
use super::whole::{all_of, sentence, whole_in};
use super::words;
use super::{Found, Role};
use crate::config::{Config, ExtractionTarget};

/// How many candidates are named at most.
const MAX_FOUND: usize = 8;
/// How long what is announced may be, in bytes, unless it is announced last.
const MAX_REACH: usize = 4_000;
/// How many sentences are looked at, from the last on, where nothing is announced.
const MAX_SENTENCES: i32 = 4;

/// A candidate and where it stands.
struct Candidate<'t> {
    /// Smaller is more trusted.
    tier: i32,
    end: usize,
    found: Found<'t>,
}

struct Search<'t, 'm, 'c> {
    page: Page<'t, 'm>,
    config: &'c Config,
    role: Role,
    out: Vec<Candidate<'t>>,
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
    let marks = scan(text);
    let anchors = anchors::find(text);
    let boxed = config.boxed_match_priority >= 0;
    let mut search = Search {
        page: Page {
            text,
            marks: &marks,
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
            .is_some_and(|it| placeholder::is_open(&it.text))
    {
        return Err("the answer is left open");
    }
    Ok(found)
}

impl<'t> Search<'t, '_, '_> {
    fn push(&mut self, tier: i32, method: &'static str, reading: Reading<'t>) {
        if !self.allows(&reading) {
            return;
        }
        let mut text = reading.text;
        let mut method = method;
        if reading.kind == Kind::Choice {
            method = "choice";
        } else if let Some(choice) = choice::whole(&text) {
            text = Cow::Owned(choice.letters);
            method = "choice";
        }
        if text.is_empty() {
            return;
        }
        self.out.push(Candidate {
            tier,
            end: reading.range.end,
            found: Found { text, method },
        });
    }

    /// Is this kind of answer looked for?
    fn allows(&self, reading: &Reading<'_>) -> bool {
        if self.role == Role::Gold {
            return true;
        }
        let latex = self.config.extract.contains(&ExtractionTarget::Latex);
        let expr = self.config.extract.contains(&ExtractionTarget::Expr);
        match reading.kind {
            Kind::Formula => latex,
            Kind::Plain => expr || (latex && reading.text.contains('\\')),
            Kind::Choice | Kind::Words => expr || latex,
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
        let text = self.page.text;
        let cut_box = self.page.marks.boxes.last().is_some_and(|it| !it.closed);
        if cut_box && !self.page.open_boxes {
            return Err("the text breaks off within a box");
        }
        if let Some((strings, lowercase)) = self.strings() {
            let found = super::strings::find(self.page, anchors, strings, lowercase, self.config);
            self.out
                .extend(found.into_iter().map(|(tier, reading)| Candidate {
                    tier,
                    end: reading.range.end,
                    found: Found {
                        text: reading.text,
                        method: "string",
                    },
                }));
        }
        self.boxes();
        self.announced(anchors);
        if !self.out.is_empty() {
            self.corrected();
            return Ok(());
        }
        if !self.page.marks.boxes.is_empty() && !self.page.open_boxes {
            return Err("the box holds no answer");
        }
        if refusal::is_refusal(text) {
            return Err("the response declines to answer");
        }
        if self.page.marks.unclosed.is_some() {
            return Err("the text breaks off within a formula");
        }
        if !self.config.try_extract_without_anchor {
            return Err("nothing announces an answer");
        }
        if let Some(reading) =
            settled::concluded(self.page).or_else(|| whole_in(self.page, 0..text.len()))
        {
            self.push(40, "whole", reading);
            if !self.out.is_empty() {
                return Ok(());
            }
        }
        if let Some(at) = behind_answer_letter(text)
            && let Some(reading) = clause::read(self.page, at, usize::MAX, false)
        {
            self.push(45, "answer", reading);
            return Ok(());
        }
        if refusal::is_cut_off(text) {
            return Err("the text breaks off");
        }
        if let Some(reading) = settled::chosen(self.page).or_else(|| settled::verdict(self.page)) {
            self.push(46, "opening", reading);
            if !self.out.is_empty() {
                return Ok(());
            }
        }
        self.last_sentences(0);
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
        if self.page.open_boxes {
            return;
        }
        let latex = self.config.extract.contains(&ExtractionTarget::Latex);
        if self.role == Role::Prediction && !latex {
            return;
        }
        let mut limit = self.page.text.len();
        for depth in 0..2 {
            let Some(found) = boxes::last(self.page.text, self.page.marks, limit) else {
                return;
            };
            limit = found.start;
            let tier = self.box_tier() + depth;
            self.push(
                tier,
                "boxed",
                Reading {
                    text: found.text,
                    kind: Kind::Formula,
                    range: found.start..found.end,
                },
            );
        }
    }

    /// What words and tags announce: the last of each kind that states something.
    fn announced(&mut self, anchors: &[Anchor]) {
        let mut best: [bool; 3] = [false; 3];
        for (tried, anchor) in anchors.iter().rev().enumerate() {
            // Only the last one may be as long as it likes.
            let reach = if tried == 0 { usize::MAX } else { MAX_REACH };
            let (slot, tier, method) = match anchor.how {
                How::Hashes => (0, 0, "####"),
                How::Tag => (0, 0, "answer tag"),
                How::Final => (0, 0, "final answer"),
                How::Answer => (1, 10, "answer"),
                How::Option => (2, 10, "option"),
            };
            if best[slot] {
                continue;
            }
            let reading = match anchor.how {
                How::Hashes => self.after_hashes(anchor.end, reach),
                How::Tag => self.in_tag(anchor.end, reach),
                How::Option => clause::read(self.page, anchor.end, reach, true)
                    .filter(|it| it.kind == Kind::Choice),
                How::Final | How::Answer => clause::read(self.page, anchor.end, reach, false),
            };
            let Some(reading) = reading else {
                continue;
            };
            // Words may only comment on the answer: what states one in symbols is trusted more.
            let words = reading.kind == Kind::Words;
            let tier = if words { tier + 20 } else { tier };
            best[slot] = !words;
            self.push(tier, method, reading);
        }
    }

    /// The rest of a `####` line, if it is an answer and no heading.
    fn after_hashes(&self, at: usize, reach: usize) -> Option<Reading<'t>> {
        let text = self.page.text;
        let line = text[at..].find('\n').map_or(text.len(), |end| at + end);
        let range = at..line;
        if range.len() > reach {
            return None;
        }
        if self.page.marks.has_box(&range) && !self.page.open_boxes {
            return None;
        }
        let reading = whole_in(self.page, range.clone())
            .filter(|it| it.kind != Kind::Words || line == text.trim_end().len());
        if reading.is_some() {
            return reading;
        }
        let last = line == text.trim_end().len();
        if !last {
            return None;
        }
        let all = items::items(self.page, range);
        let first = all.first().filter(|item| item.value.start == at)?;
        let _ = first;
        stated::render(
            self.page,
            &all[..stated::joined_forward(self.page, &all, 0)],
        )
    }

    /// What stands between `<answer>` and its end.
    fn in_tag(&self, at: usize, reach: usize) -> Option<Reading<'t>> {
        let text = self.page.text;
        let rest = &text[at..];
        let end = rest
            .find("</")
            .or_else(|| rest.find("[/"))
            .map_or(text.len(), |end| at + end);
        let range = at..end;
        if range.len() > reach || (self.page.marks.has_box(&range) && !self.page.open_boxes) {
            return None;
        }
        whole_in(self.page, range.clone())
            .or_else(|| {
                clause::read(self.page, at, MAX_REACH, false).filter(|it| it.range.end <= end)
            })
            .or_else(|| stated::sentence(self.page, range))
    }

    /// A later "Wait, actually …" without an announcement of its own.
    fn corrected(&mut self) {
        let Some(best) = self
            .out
            .iter()
            .min_by(|a, b| a.tier.cmp(&b.tier).then(b.end.cmp(&a.end)))
        else {
            return;
        };
        let (tier, end) = (best.tier, best.end);
        let Some(cue) = super::correction::after(self.page.text, end) else {
            return;
        };
        // What was announced behind the correction wins over what was announced before.
        let mut moved = false;
        for candidate in &mut self.out {
            if candidate.end > cue {
                candidate.tier = tier - 10;
                moved = true;
            }
        }
        if !moved && !super::correction::confirms(&self.page.text[cue..]) {
            let before = self.out.len();
            self.last_sentences(cue);
            for candidate in &mut self.out[before..] {
                candidate.tier = tier - 10;
            }
        }
    }

    /// What the last sentences behind `from` state.
    fn last_sentences(&mut self, from: usize) {
        let mut end = self.page.text.len();
        for depth in 0..MAX_SENTENCES {
            let Some(range) = sentences::last_before(self.page.text, self.page.marks, end) else {
                return;
            };
            if range.end <= from {
                return;
            }
            end = range.start;
            let range = range.start.max(from)..range.end;
            let method = method_of(&self.page.text[range.clone()]);
            let named = (depth == 0)
                .then(|| settled::emphasised(self.page, &range))
                .flatten();
            if let Some(reading) = named.or_else(|| sentence(self.page, range)) {
                self.push(50 + depth, method, reading);
                if !self.out.is_empty() {
                    return;
                }
            }
        }
    }

    fn gold(&mut self, anchors: &[Anchor]) -> Result<(), &'static str> {
        let text = self.page.text;
        if let Some(boxed) = self.page.marks.boxes.last()
            && !self.page.open_boxes
        {
            if boxed.closed {
                self.boxes();
            } else {
                let reading = Reading {
                    text: boxes::unclosed(text, boxed),
                    kind: Kind::Formula,
                    range: boxed.start..boxed.end,
                };
                self.push(0, "boxed", reading);
            }
        }
        if let Some(anchor) = anchors.iter().rev().find(|it| it.how == How::Hashes)
            && let Some(reading) = self
                .after_hashes(anchor.end, usize::MAX)
                .or_else(|| all_of(self.page, anchor.end))
        {
            self.push(0, "####", reading);
        }
        if self.out.is_empty() && (is_worked(text) || announces(text, anchors)) {
            self.announced(anchors);
        }
        if !self.out.is_empty() {
            return Ok(());
        }
        if let Some(reading) = whole_in(self.page, 0..text.len()) {
            self.push(40, "whole", reading);
        }
        if self.out.is_empty() && is_worked(text) {
            self.last_sentences(0);
        }
        if self.out.is_empty()
            && let Some(reading) = all_of(self.page, 0)
        {
            self.push(60, "whole", reading);
        }
        if self.out.is_empty() {
            return Err("the text holds no answer");
        }
        Ok(())
    }
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

/// Behind the "A:" of a last line, where it stands for "answer" and not for a choice.
fn behind_answer_letter(text: &str) -> Option<usize> {
    let line = text.trim_end().rfind('\n')? + 1;
    let rest = text[line..].strip_prefix("A: ")?;
    let listed = text.contains("\nB:") || text.contains("\nB)") || text.contains("\nB.");
    (!listed).then_some(text.len() - rest.len())
}
