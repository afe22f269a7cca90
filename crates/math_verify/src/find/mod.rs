//! Where answers stand in a text, by priority.
//!
//! A [`Pattern`] lists its matches from left to right, none overlapping another, each the one that a regular expression
//! with its alternatives in that order would find. No pattern backtracks over the text: what could begin a match is
//! listed once, and where it ends does not depend on who asks.

mod arithmetic;
mod choices;
mod formulas;
mod number;
mod source;

use std::cell::OnceCell;

use crate::chars::byte_at;
use crate::options::{ExtractionTarget, Options};

use arithmetic::Numbers;
use choices::Choices;
use formulas::Formulas;
pub(super) use number::Number;

pub(super) use source::Source;

/// A match, by byte position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) payload: Payload,
}

/// What was found there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Payload {
    /// A row of formulas; see [`Finder::row`].
    Row {
        first: u32,
        hoped: bool,
    },
    /// The same, each with a box.
    BoxedRow {
        first: u32,
    },
    /// From a box to the last brace: all of the match.
    RawBox,
    /// Arithmetic.
    Arithmetic {
        start: u32,
        end: u32,
    },
    Number(Number),
    /// One of the wanted strings.
    Choice {
        start: u32,
        end: u32,
    },
}

/// What announces an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Announcement {
    Hoped,
    Stated,
    AnswerColon,
    Answer,
    Start,
    /// Formulas, arithmetic, strings.
    Anywhere,
    NumberAnywhere,
    Boxed,
    RawBox,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The index of the target in [`Options::extract`].
    pub(super) target: usize,
    /// Lower ones are tried first.
    pub(super) priority: i32,
    announcement: Announcement,
}

/// The patterns of all targets, by priority; those of equal priority in the order in which they were asked for.
pub(super) fn patterns(options: &Options) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    for (target, kind) in options.extract.iter().enumerate() {
        let mut add = |priority, announcement| {
            patterns.push(Pattern {
                target,
                priority,
                announcement,
            });
        };
        add(0, Announcement::Hoped);
        add(50, Announcement::Stated);
        add(100, Announcement::AnswerColon);
        add(200, Announcement::Answer);
        if options.try_extract_without_anchor {
            if matches!(kind, ExtractionTarget::String { .. }) {
                add(250, Announcement::Start);
            }
            add(300, Announcement::Anywhere);
            if *kind == ExtractionTarget::Expr {
                add(300, Announcement::NumberAnywhere);
            }
        }
        if *kind == ExtractionTarget::Latex && options.boxed_match_priority >= 0 {
            add(options.boxed_match_priority, Announcement::Boxed);
            add(options.boxed_match_priority, Announcement::RawBox);
        }
    }
    patterns.sort_by_key(|pattern: &Pattern| pattern.priority);
    patterns
}

trait Target {
    /// What stands at `at`, after "final answer is", with "I hope" after it.
    fn hoped(&self, at: usize) -> Option<Match>;
    /// What stands at `at`, after "is".
    fn stated(&self, at: usize) -> Option<Match>;
    /// What stands near `at`, after "answer".
    fn near(&self, at: usize) -> Option<Match>;
    /// Everything, from left to right.
    fn anywhere(&self) -> Vec<Match>;
    /// May a line end between "final answer" and "is"?
    fn crosses_lines(&self) -> bool {
        false
    }
}

/// What `find` finds at places in ascending order, none overlapping another. A match begins where its place does.
fn disjoint<T>(
    places: impl Iterator<Item = (usize, T)>,
    find: impl Fn(T) -> Option<Match>,
) -> Vec<Match> {
    let mut matches = Vec::new();
    let mut from = 0;
    for (start, place) in places {
        if start >= from
            && let Some(found) = find(place)
        {
            // An empty match would be found again.
            from = (found.end as usize).max(start + 1);
            matches.push(Match {
                start: start as u32,
                ..found
            });
        }
    }
    matches
}

/// Finds matches in one text.
pub(super) struct Finder<'s, 't> {
    source: &'s Source<'t>,
    options: &'s Options,
    formulas: OnceCell<Formulas<'s, 't>>,
    numbers: OnceCell<Numbers<'s, 't>>,
    /// Of each target, as long as it looks for strings.
    choices: Vec<OnceCell<Choices<'s, 't>>>,
}

impl<'s, 't> Finder<'s, 't> {
    pub(super) fn new(source: &'s Source<'t>, options: &'s Options) -> Self {
        Self {
            source,
            options,
            formulas: OnceCell::new(),
            numbers: OnceCell::new(),
            choices: options.extract.iter().map(|_| OnceCell::new()).collect(),
        }
    }

    /// The matches of a pattern, from left to right.
    pub(super) fn matches(&self, pattern: Pattern) -> Vec<Match> {
        use Announcement as A;
        let source = self.source;
        let target: &dyn Target = match self.options.extract.get(pattern.target) {
            Some(ExtractionTarget::Latex) => match pattern.announcement {
                A::Boxed => return self.formulas().boxed_rows(),
                A::RawBox => return self.formulas().raw_box(),
                _ => self.formulas(),
            },
            Some(ExtractionTarget::Expr) => {
                let numbers = self.numbers.get_or_init(|| Numbers::new(source));
                if pattern.announcement == A::NumberAnywhere {
                    return numbers.numbers_anywhere();
                }
                numbers
            }
            Some(ExtractionTarget::String { strings, .. }) => {
                let Some(choices) = self.choices.get(pattern.target) else {
                    return Vec::new();
                };
                let choices = choices.get_or_init(|| Choices::new(source, strings));
                if pattern.announcement == A::Start {
                    return choices.at_start();
                }
                choices
            }
            None => return Vec::new(),
        };
        let final_anchors = || {
            let anchors = source.anchors().iter();
            anchors.filter_map(|anchor| Some((anchor.final_start?, *anchor)))
        };
        match pattern.announcement {
            A::Hoped => disjoint(source.final_answers(), |end| target.hoped(end)),
            A::Stated => disjoint(final_anchors(), |anchor| {
                let mut statements = source.statements(anchor, target.crosses_lines());
                statements.find_map(|end| target.stated(end))
            }),
            A::AnswerColon => disjoint(source.answers(), |end| {
                let colon = byte_at(source.text, end) == b':';
                if colon { target.near(end + 1) } else { None }
            }),
            A::Answer => disjoint(source.answers(), |end| target.near(end)),
            _ => target.anywhere(),
        }
    }

    /// The contents of a row of formulas, and whether a percent sign or a word for it follows each.
    pub(super) fn row(&self, payload: Payload) -> Vec<(&'t str, bool)> {
        self.formulas().contents(payload)
    }

    fn formulas(&self) -> &Formulas<'s, 't> {
        self.formulas.get_or_init(|| Formulas::new(self.source))
    }
}

#[cfg(test)]
mod tests;
