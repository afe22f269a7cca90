//! Where answers stand in a text, by priority.
//!
//! A [`Pattern`] lists its matches from left to right, none overlapping another, each the one that a regular expression
//! with its alternatives in that order would find. No pattern backtracks over the text: what could begin a match is
//! listed once, and where it ends does not depend on who asks.

mod choices;
mod formulas;
mod number;
mod numbers;
mod source;

use std::cell::OnceCell;

use crate::config::{Config, ExtractionTarget};

use choices::Choices;
use formulas::Formulas;
pub(super) use number::Number;
use numbers::Numbers;
pub(super) use source::Source;

/// A match, by byte position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Match {
    pub(super) start: u32,
    pub(super) end: u32,
    pub(super) what: What,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// A row of formulas; see [`Finder::row`].
    Row { first: u32, hoped: bool },
    /// The same, each with a box.
    BoxedRow { first: u32 },
    /// From a box to the last brace: all of the match.
    RawBox,
    /// Arithmetic.
    Arithmetic { start: u32, end: u32 },
    /// A number.
    Number(Number),
    /// One of the wanted strings.
    Choice { start: u32, end: u32 },
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
    /// Plain numbers.
    NumberAnywhere,
    Boxed,
    RawBox,
}

/// One pattern of one target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The index of the target in [`Config::extract`].
    pub(super) target: usize,
    /// Lower ones are tried first.
    pub(super) priority: i32,
    announcement: Announcement,
}

/// The patterns of all targets, by priority; those of equal priority in the order in which they were asked for.
pub(super) fn patterns(config: &Config) -> Vec<Pattern> {
    let mut patterns = Vec::new();
    for (target, kind) in config.extract.iter().enumerate() {
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
        if config.try_extract_without_anchor {
            match kind {
                ExtractionTarget::Latex => {}
                ExtractionTarget::Expr => {
                    add(300, Announcement::Anywhere);
                    add(300, Announcement::NumberAnywhere);
                }
                ExtractionTarget::String { .. } => {
                    add(250, Announcement::Start);
                    add(300, Announcement::Anywhere);
                }
            }
        }
        if *kind == ExtractionTarget::Latex {
            if config.try_extract_without_anchor {
                add(300, Announcement::Anywhere);
            }
            if config.boxed_match_priority >= 0 {
                add(config.boxed_match_priority, Announcement::Boxed);
                add(config.boxed_match_priority, Announcement::RawBox);
            }
        }
    }
    patterns.sort_by_key(|pattern: &Pattern| pattern.priority);
    patterns
}

/// Finds matches in one text.
pub(super) struct Finder<'s, 't> {
    source: &'s Source<'t>,
    config: &'s Config,
    formulas: OnceCell<Formulas<'s, 't>>,
    numbers: OnceCell<Numbers<'s, 't>>,
    /// Of each target, as long as it looks for strings.
    choices: Vec<OnceCell<Choices<'s, 't>>>,
}

impl<'s, 't> Finder<'s, 't> {
    pub(super) fn new(source: &'s Source<'t>, config: &'s Config) -> Self {
        Self {
            source,
            config,
            formulas: OnceCell::new(),
            numbers: OnceCell::new(),
            choices: config.extract.iter().map(|_| OnceCell::new()).collect(),
        }
    }

    /// The matches of a pattern, from left to right.
    pub(super) fn matches(&self, pattern: Pattern) -> Vec<Match> {
        use Announcement as A;
        let announcement = pattern.announcement;
        let announced = matches!(
            announcement,
            A::Hoped | A::Stated | A::AnswerColon | A::Answer
        );
        if announced && self.source.anchors().is_empty() {
            return Vec::new();
        }
        match self.config.extract.get(pattern.target) {
            Some(ExtractionTarget::Latex) => {
                let formulas = self.formulas();
                match announcement {
                    A::Hoped => formulas.hoped(),
                    A::Stated => formulas.stated(),
                    A::AnswerColon => formulas.answered(true),
                    A::Answer => formulas.answered(false),
                    A::Boxed => formulas.boxed_rows(),
                    A::RawBox => formulas.raw_box(),
                    _ => formulas.anywhere(),
                }
            }
            Some(ExtractionTarget::Expr) => {
                let numbers = self.numbers.get_or_init(|| Numbers::new(self.source));
                match announcement {
                    A::Hoped => numbers.hoped(),
                    A::Stated => numbers.stated(),
                    A::AnswerColon => numbers.answered(true),
                    A::Answer => numbers.answered(false),
                    A::NumberAnywhere => numbers.numbers_anywhere(),
                    _ => numbers.arithmetic_anywhere(),
                }
            }
            Some(ExtractionTarget::String { strings, .. }) => {
                let Some(choices) = self.choices.get(pattern.target) else {
                    return Vec::new();
                };
                let choices = choices.get_or_init(|| Choices::new(self.source, strings));
                match announcement {
                    A::Hoped => choices.hoped(),
                    A::Stated => choices.stated(),
                    A::AnswerColon => choices.answered(true),
                    A::Answer => choices.answered(false),
                    A::Start => choices.at_start(),
                    _ => choices.anywhere(),
                }
            }
            None => Vec::new(),
        }
    }

    /// The contents of a row of formulas, and whether a percent sign or a word for it follows each.
    pub(super) fn row(&self, what: What) -> Vec<(&'t str, bool)> {
        self.formulas().contents(what)
    }

    fn formulas(&self) -> &Formulas<'s, 't> {
        self.formulas.get_or_init(|| Formulas::new(self.source))
    }
}

#[cfg(test)]
mod tests;
