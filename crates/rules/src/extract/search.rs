//! Weighs what announces an answer against each other.

mod gold;
mod unannounced;

use std::borrow::Cow;
use std::ops::Range;

use super::announcements::{self, Anchor, AnchorKind};
use super::beside::{self, How};
use super::items::{Candidate, Form, Source};
use super::reach::{self, MAX_REACH};
use super::scan::scan;
use super::whole::whole_in;
use super::{Found, Role};
use super::{
    announced, aside, boxes, choice, decimal, labelled, no_answer, qualifiers, sentences, words,
};
use crate::config::{Config, ExtractionTarget};
use crate::lexicon::words::restricts;

/// How many candidates are named at most, and how many announcements after a box.
const MAX_FOUND: usize = 8;
const MOST_LATER: usize = 4;

/// How much of a statement may stand beside its answer, in bytes: more is not accounted for, so it may change the answer.
const MAX_STATEMENT: usize = 8_000;

/// Why there is no answer where nothing says why.
pub(crate) const NOTHING_FOUND: &str = "no answer was found";

/// Why there is no answer in a text that ends within a sentence.
pub(crate) const BREAKS_OFF: &str = "the text breaks off";

/// What announced an answer after "A:", which may be a choice and its text too.
pub(super) const ANSWER_LETTER: &str = "answer letter";
/// What announced an answer in a box.
pub(super) const BOXED: &str = "boxed";

/// A candidate and where it stands.
struct Ranked<'t> {
    /// Smaller is more trusted.
    tier: i32,
    end: usize,
    boxed: bool,
    found: Found<'t>,
}

struct Search<'t, 'm, 'c> {
    source: Source<'t, 'm>,
    config: &'c Config,
    role: Role,
    out: Vec<Ranked<'t>>,
    /// Where the last announcement ends, if it says what the answer is not and names none: "The answer is not 12 m/s."
    denied: usize,
    /// See [`no_answer::refusal`].
    declined: Option<(usize, bool)>,
    /// Where the last box ends.
    boxed_until: usize,
    /// What is announced after it, and the words between them.
    later: Vec<(Found<'t>, &'t str)>,
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
    let text = match role {
        Role::Prediction => &text[..aside::next_question(text).unwrap_or(text.len())],
        Role::Gold => text,
    };
    let regions = scan(text);
    let anchors = announcements::find(text);
    let boxed = config.boxed_match_priority >= 0 || config.boxed_only;
    let mut search = Search {
        source: Source {
            text,
            regions: &regions,
            open_boxes: !boxed,
        },
        config,
        role,
        out: Vec::new(),
        denied: 0,
        declined: None,
        boxed_until: usize::MAX,
        later: Vec::new(),
    };
    match role {
        Role::Gold => search.gold(&anchors),
        Role::Prediction => search.prediction(&anchors),
    }?;
    let mut out = search.out;
    // Later beats earlier within a tier.
    out.sort_by(|a, b| a.tier.cmp(&b.tier).then(b.end.cmp(&a.end)));
    if role == Role::Prediction {
        take_back(text, &mut out);
        // "#### 24", then "The correct answer is 36."
        if let Some((first, others)) = out.split_first_mut()
            && first.tier == 0
            && !first.boxed
            && others.iter().any(|it| {
                it.end > first.end
                    && qualifiers::corrects(&text[first.end..it.end], true)
                    && !beside::is_same(&first.found.text, &it.found.text)
            })
        {
            first.found.qualified = true;
            first.found.statement = Cow::Borrowed(&text[first.end..]);
        }
        // A box decides, but what differs from it may be what is announced after it, unless boxes are asked for first.
        if let Some(first) = out.first_mut().filter(|it| it.boxed && it.tier >= 0) {
            let (end, found) = (first.end, &mut first.found);
            let mut later = search.later.iter();
            if later.any(|(it, between)| corrects(found, it, between)) {
                found.qualified = true;
                found.statement = Cow::Borrowed(&text[end..]);
            }
            let stated = search.later.into_iter().map(|it| it.0);
            found.later = (stated.filter(|it| !it.qualified))
                .map(|it| it.text)
                .collect();
        }
    }
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

/// Is what is announced after a box another answer than it, with words between them that correct it, or another letter of the same choice?
fn corrects(boxed: &Found<'_>, later: &Found<'_>, between: &str) -> bool {
    let letters = [boxed, later].map(|it| it.method == "choice");
    let corrected = letters == [true; 2] || qualifiers::corrects(between, letters[0] == letters[1]);
    // "No, the answer is not 5."
    corrected && beside::is_same(&boxed.text, &later.text) == later.qualified
}

/// What is taken back is no answer, nor does one that stands before it become the answer; one after it does.
fn take_back<'t>(text: &'t str, ranked: &mut [Ranked<'t>]) {
    let retracted = |candidate: &Ranked<'_>| {
        let following = &text[candidate.end..];
        // What follows the text of an option, or what was taken for one.
        let option = candidate.found.option.as_deref();
        let named = option
            .filter(|_| !following.starts_with(". ") && !text[..candidate.end].ends_with('.'))
            .and_then(|it| Some(following.find(it)? + it.len()));
        qualifiers::is_changed_later(&candidate.found.text, following)
            || named
                .is_some_and(|at| qualifiers::retracted(&candidate.found.text, &following[at..]))
    };
    let Some(end) = ranked.first().filter(|it| retracted(it)).map(|it| it.end) else {
        return;
    };
    if let Some(later) = ranked.iter().position(|it| it.end > end && !retracted(it)) {
        ranked.swap(0, later);
    } else {
        let first = &mut ranked[0].found;
        first.qualified = true;
        first.statement = Cow::Borrowed(&text[end..]);
    }
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
        let qualified = before.len() + after.len() > MAX_STATEMENT
            || match reading.kind {
                Form::Words => {
                    let truth = words::TRUTH_IN_ENGLISH.contains(&reading.text);
                    truth && restricts(after) || beside::changes(before, after, How::Worded)
                }
                Form::Choice => {
                    // "B和D"
                    let joined = words::JOINS_ITEMS.begin(after.trim_start());
                    let joined = joined.filter(|it| it.0.starts_with(words::is_spaceless));
                    joined.is_some_and(|it| it.1.trim_start().starts_with(char::is_uppercase))
                        || beside::changes(before, after, How::of_letter(&all[from..to]))
                }
                _ => {
                    beside::changes(before, after, How::Announced)
                        || beside::says_another(&reading.text, after)
                        || qualifiers::is_argument(before)
                        || qualifiers::is_replaced(&reading.text, after)
                        || qualifiers::restricts_parameter(&reading.text, after)
                        || aside::rounds(&reading.text, after) == Some(false)
                }
            }
            || qualifiers::is_place(&reading.text)
            || qualifiers::change_spaceless(before, after);
        let option = (reading.kind == Form::Choice)
            .then(|| choice::text(before, after).map(str::to_owned))
            .flatten();
        let said = Found {
            statement: Cow::Borrowed(&all[statement]),
            qualified,
            option,
            ..Found::default()
        };
        self.keep(tier, method, reading, said);
    }

    /// Keeps a candidate. `said`: all that was announced, and what its words do to the answer in it.
    fn keep(&mut self, tier: i32, method: &'static str, reading: Candidate<'t>, said: Found<'t>) {
        // What stands before a denial is no answer either.
        if reading.range.end <= self.denied || !self.allows(&reading) {
            return;
        }
        // "42. I give up."
        let between = |at| self.source.text.get(at..reading.range.start).unwrap_or("");
        if let Some((at, regrets)) = self.declined
            && no_answer::refuses(between(at), regrets)
        {
            return;
        }
        let mut text = reading.text;
        let (boxed, mut end) = (method == BOXED, reading.range.end);
        let (mut method, mut option, mut list) = (method, said.option, None);
        if reading.kind == Form::Choice {
            if method != ANSWER_LETTER {
                list = labelled::several(self.source.text, &text, end);
                end = list.as_ref().map_or(end, |it| it.end);
            }
            method = "choice";
        } else if let Some(text) = choice::numbered(&said.statement) {
            option = Some(text.to_owned());
        } else if labelled::parts(&text).is_none()
            && let Some((choice, after)) = choice::whole(&text)
        {
            option = choice::text("", after).map(str::to_owned);
            let (bare, source) = (after.is_empty() && !boxed, (self.source.text, end));
            let inner = (&*text, words::offset(&text, after));
            let (all, at) = if bare { source } else { inner };
            list = labelled::several(all, &choice.letters, at);
            text = Cow::Owned(choice.letters);
            method = "choice";
        }
        // `\textbf{B. x} and \textbf{D. y}`
        if text.starts_with("\\text") && labelled::parts(&text).is_none() {
            let places = [(&*text, 0), (self.source.text, reading.range.start)];
            list = places
                .into_iter()
                .find_map(|(text, at)| labelled::list(text, at));
            method = list.as_ref().map_or(method, |_| "choice");
        }
        if text.is_empty() {
            return;
        }
        // "x = 2 or x = -1 (rejected)"
        let rest = self.source.text[reading.range.end..].trim_start_matches([' ', '$', '*']);
        let inner = text.trim_end_matches('}').strip_suffix(')');
        let inner = inner.and_then(|it| Some(it.rsplit_once('(')?.1));
        let aside = rest.strip_prefix('(').and_then(|it| it.split(')').next());
        let several = [", ", " or ", " and "].iter().any(|it| text.contains(it));
        let several = several && !text.starts_with(['(', '[', '<']);
        let rejected = (inner.or(aside)).is_some_and(|it| qualifiers::reject(it, several));
        let mut qualified = said.qualified || rejected && text.contains(words::is_digit);
        if let Some(list) = list {
            (text, option) = (Cow::Owned(list.letters), None);
            qualified |= list.open;
        }
        self.out.push(Ranked {
            tier,
            end,
            boxed,
            found: Found {
                text,
                method,
                qualified,
                option,
                declines: self.declined.is_some(),
                ..said
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
        let boxes = &self.source.regions.boxes;
        let cut_box = boxes.last().is_some_and(|it| !it.closed);
        if cut_box && !self.source.open_boxes {
            return Err("the text breaks off within a box");
        }
        if let Some((strings, lowercase)) = self.strings() {
            let found = super::strings::find(self.source, anchors, strings, lowercase, self.config);
            self.out
                .extend(found.into_iter().map(|(tier, reading)| Ranked {
                    tier,
                    end: reading.range.end,
                    boxed: false,
                    found: Found {
                        statement: reading.text.clone(),
                        text: reading.text,
                        method: "string",
                        ..Found::default()
                    },
                }));
        }
        self.boxes();
        if self.config.boxed_only {
            let found = (!self.out.is_empty()).then_some(());
            return found.ok_or("no box holds an answer");
        }
        self.announced(anchors);
        self.after_letter();
        if !self.out.is_empty() {
            return Ok(());
        }
        if !self.source.regions.boxes.is_empty() && !self.source.open_boxes {
            return Err("the box holds no answer");
        }
        self.declined = no_answer::refusal(text);
        let found = self.unannounced();
        let declines = "the response declines to answer";
        found.map_err(|it| self.declined.map_or(it, |_| declines))
    }

    /// What a text says that announces nothing.
    fn unannounced(&mut self) -> Result<(), &'static str> {
        let text = self.source.text;
        if self.source.regions.unclosed.is_some() {
            return Err("the text breaks off within a formula");
        }
        if !self.config.try_extract_without_anchor {
            return Err("nothing announces an answer");
        }
        if let Some(reading) = self.whole() {
            // What a last sentence settles on is not changed by those before it.
            let settles =
                reading.kind == Form::Choice && text[..reading.range.start].contains(". ");
            let last = sentences::last_before(text, self.source.regions, text.len());
            let last = last.filter(|it| settles && it.contains(&reading.range.start));
            let start = last.map_or(0, |it| it.start);
            self.push(40, "whole", reading, start..text.len());
            if !self.out.is_empty() {
                return Ok(());
            }
        }
        if no_answer::is_cut_off(text) {
            return Err(BREAKS_OFF);
        }
        let end = aside::before_explanation(text);
        self.source.text = &text[..end];
        if end < text.trim_end().len()
            && let Some(reading) = whole_in(self.source, 0..end)
        {
            self.push(40, "whole", reading, 0..end);
        }
        for step in [Self::settled, Self::opening, Self::last_sentences] {
            if self.out.is_empty() {
                step(self);
            }
        }
        let found = (!self.out.is_empty()).then_some(());
        found.ok_or(NOTHING_FOUND)
    }

    /// The whole text as one answer, or as labelled parts.
    fn whole(&self) -> Option<Candidate<'t>> {
        let text = self.source.text;
        let labelled = reach::labelled_parts(self.source, 0);
        labelled
            .filter(|it| it.range.end == text.trim_end().len() && !labelled::are_steps(&it.text))
            .or_else(|| whole_in(self.source, 0..text.len()))
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
        if self.role == Role::Prediction && !latex && !self.config.boxed_only {
            return;
        }
        let mut limit = self.source.text.len();
        for depth in 0..2 {
            let Some(found) = boxes::last(self.source.text, self.source.regions, limit) else {
                return;
            };
            limit = found.start;
            if depth == 0 {
                self.boxed_until = found.end;
            }
            let tier = self.box_tier() + depth;
            let text = self.source.text;
            let end = reach::sentence_end(self.source, found.end);
            let after = text[found.end..end].trim_start_matches(['$', '*', '\\', ')', ']']);
            let after = after.split("</").next().unwrap_or("");
            // "\boxed{12} is incorrect", "\boxed{12} or more"
            let before = boxes::before(text, found.start);
            // "\boxed{12}$x$" and "$\boxed{12}$ $x$" go on in a formula.
            let rest = text[found.end..].trim_start_matches([' ', '$', '*']);
            let mut gap = found.end..=text.len() - rest.len();
            let raw = match gap.find_map(|at| self.source.regions.formula_from(at)) {
                Some((_, formula)) => &text[formula.content.clone()],
                None => &text[found.end..],
            };
            let word = words::first_word(raw);
            let raises = |it: char| it.is_ascii_digit() || "⁰¹²³⁴⁵⁶⁷⁸⁹½⅓⅔¼¾".contains(it);
            // "\boxed{12}x", "\boxed{12} \pi"
            let factor = matches!(word.len(), 1 | 2) && word.is_ascii() && !words::is_unit(word);
            let extended = factor
                || (raw.strip_prefix(['_', '.', ',']).unwrap_or(raw)).starts_with(raises)
                || raw.starts_with("_{")
                || words::EXTENDS_VALUE
                    .begin(raw.trim_start_matches(' '))
                    // "\pmod" is no "\pm".
                    .is_some_and(|(_, rest)| !rest.starts_with('o'));
            let denied = extended
                || boxes::changed(before, after)
                || boxes::is_operand(self.source, found.start..found.end)
                || qualifiers::restricts_parameter(&found.text, after);
            let reading = Candidate::new(found.text, Form::Formula, found.start..found.end);
            let statement = if denied {
                Cow::Borrowed(&text[found.start..end])
            } else if let Some(labelled) = found.labelled {
                Cow::Owned(labelled)
            } else {
                reading.text.clone()
            };
            let said = Found {
                statement,
                qualified: denied,
                ..Found::default()
            };
            self.keep(tier, BOXED, reading, said);
        }
    }

    /// What words and tags announce: the last of each kind that states something.
    fn announced(&mut self, anchors: &[Anchor]) {
        let mut best: [bool; 3] = [false; 3];
        for (tried, anchor) in anchors.iter().rev().enumerate() {
            let said_until = anchor.end;
            let contrast = announced::before_but(&self.source.text[said_until..]);
            let end = said_until + contrast;
            let anchor = &Anchor { end, ..*anchor };
            // Only the last one may be as long as it likes.
            let reach = if tried == 0 { usize::MAX } else { MAX_REACH };
            let (slot, tier, method) = match anchor.how {
                AnchorKind::Hashes => (0, 0, "####"),
                AnchorKind::Tag => (0, 0, "answer tag"),
                AnchorKind::Final => (0, 0, "final answer"),
                AnchorKind::Answer => (1, 10, "answer"),
                AnchorKind::Option | AnchorKind::Result => (2, 10, "option"),
            };
            let after_box = anchor.start >= self.boxed_until;
            if best[slot] && !(after_box && self.later.len() < MOST_LATER) {
                continue;
            }
            let parts = match anchor.how {
                AnchorKind::Final | AnchorKind::Answer | AnchorKind::Tag => {
                    reach::labelled_parts(self.source, anchor.end)
                }
                // What nothing follows is no heading.
                AnchorKind::Hashes if tried == 0 => reach::labelled_parts(self.source, anchor.end)
                    .filter(|it| self.source.text[it.range.end..].trim().is_empty()),
                _ => None,
            };
            let is_labelled = parts.is_some();
            let reading = match anchor.how {
                _ if is_labelled => parts,
                AnchorKind::Hashes => reach::after_hashes(self.source, anchor.end, reach),
                AnchorKind::Tag => reach::in_tag(self.source, anchor.end, reach),
                AnchorKind::Option | AnchorKind::Result => {
                    let named = anchor.how == AnchorKind::Option;
                    announced::read(self.source, anchor.end, reach, named)
                        .filter(|it| it.kind == Form::Choice)
                }
                AnchorKind::Final | AnchorKind::Answer => {
                    announced::read(self.source, anchor.end, reach, false)
                }
            };
            let Some(reading) = reading else {
                let mut end = reach::sentence_end(self.source, said_until);
                // "The answer is not B. 12 cm."
                if words::last_word(&self.source.text[..end]).len() == 1 {
                    let text = self.source.text;
                    end = reach::sentence_end(self.source, text.ceil_char_boundary(end + 1));
                }
                let said = &self.source.text[anchor.start..end];
                let said = &said[..said.floor_char_boundary(MAX_STATEMENT)];
                if tried == 0 && qualifiers::deny(said) {
                    self.denied = end;
                }
                continue;
            };
            // Words may only comment on the answer: what states one in symbols is trusted more.
            let words = reading.kind == Form::Words && !is_labelled;
            let tier = if words { tier + 20 } else { tier };
            let known = best[slot];
            best[slot] |= !words;
            let end = match anchor.how {
                AnchorKind::Hashes => reach::line_end(self.source, anchor.end),
                AnchorKind::Tag => reach::tag_end(self.source, anchor.end),
                _ => reach::sentence_end(self.source, reading.range.end),
            };
            // "The answer cannot be 12."
            let announcement = &self.source.text[anchor.start..said_until];
            let denied = qualifiers::deny_or_suppose(announcement)
                || contrast == 0
                    && (reading.range.start > said_until + MAX_STATEMENT
                        || words::has(
                            &self.source.text[anchor.start..reading.range.start.max(said_until)],
                            &words::DENIES_ANNOUNCEMENT,
                        ));
            let text = self.source.text;
            // The emphasis of "**Answer:** 3" closes after the announcement.
            let marks = text[anchor.end..].trim_start_matches(['*', '_']);
            let closed = Some(marks).filter(|it| it.starts_with([' ', '\n']));
            let closed = closed.map_or(anchor.end, |it| text.len() - it.len());
            let start = if denied { anchor.start } else { closed };
            let near = words::ending(&text[..anchor.start], 80);
            let doubted = qualifiers::doubt(near);
            let start = if doubted {
                anchor.start - near.len()
            } else {
                start
            };
            // Of a list the first is not the answer.
            let list = !is_labelled
                && reading.kind != Form::Choice
                && anchor.how != AnchorKind::Hashes
                && labelled::list(text, anchor.end).is_some_and(|it| it.open);
            let denied = denied || doubted || list;
            let (before, mut reading) = (self.out.len(), reading);
            let mut doubtful = false;
            if anchor.comma
                && reading.kind == Form::Plain
                && let Some((pointed, unsure)) = decimal::said(&reading.text, self.config.decimal)
            {
                reading.text = Cow::Owned(pointed);
                doubtful = unsure;
            }
            let scales = [&words::FOREIGN_SCALE, &words::SCALE_OR_UNIT];
            let scaled = || scales.into_iter().any(|it| words::has(&reading.text, it));
            let denied = denied || anchor.comma && scaled();
            self.push(tier, method, reading, start..end);
            if let Some(last) = self.out.get_mut(before) {
                last.found.qualified |= denied;
                last.found.doubtful = doubtful;
                if after_box {
                    let between = &text[self.boxed_until..said_until];
                    self.later.push((last.found.clone(), between));
                }
            }
            if known {
                self.out.truncate(before);
            }
        }
    }

    /// What "A:" announces at the beginning of the last line. It may be the letter of a choice all the same: that stands after it among the candidates.
    fn after_letter(&mut self) {
        let text = self.source.text;
        let Some(at) = letter_end(text) else {
            return;
        };
        let Some(reading) = announced::read(self.source, at, usize::MAX, false) else {
            return;
        };
        let words = reading.kind == Form::Words;
        if words && !text.trim().contains('\n') {
            // "A: Paris" and nothing before it.
            return;
        }
        let choice = Candidate::new("A", Form::Choice, reading.range.clone());
        let statement = at..reach::sentence_end(self.source, reading.range.end);
        // "A: 2 + 3 = 5. The answer is 5."
        let later = self.out.iter().any(|it| it.end > at);
        let tier = if words || later { 20 } else { 0 };
        self.push(tier, ANSWER_LETTER, reading, statement.clone());
        self.push(45, ANSWER_LETTER, choice, statement);
    }
}

/// After the "A:" that begins the last line, unless the text lists choices.
fn letter_end(text: &str) -> Option<usize> {
    const OTHERS: [&str; 6] = ["B:", "B)", "B.", "**B", "(B)", "- B"];
    let line = text.trim_end().rfind('\n').map_or(0, |at| at + 1);
    let rest = text[line..]
        .trim_start_matches([' ', '*', '_', '>'])
        .strip_prefix("A:")?;
    let is_other = |line: &str| OTHERS.iter().any(|other| line.starts_with(other));
    let listed = text.split('\n').any(is_other);
    (!listed).then_some(text.len() - rest.len())
}
