//! Answers in labels: `A`, `Correct`, `YES`.
//!
//! Ordered rules find the label. The first rule that matches anywhere decides, and the verdict says which it was. A label
//! is matched by its whole word and where the rule anchors it, never as a letter somewhere in the text: in `INCORRECT`
//! there is neither a `C` nor a `CORRECT`.

use std::ops::Range;

use regex::{Captures, Regex};

use super::{ParsedVerdict, Unreadable, ValueSpans, VerdictFields, listed, shorten};
use crate::verdict::ParseRule;

/// Which of a rule's matches counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Take {
    /// The first.
    First,
    /// The last.
    Last,
    /// Any: all must name the same label.
    #[default]
    Agree,
}

/// Where a label may stand.
#[derive(Debug, Clone)]
pub(super) struct Rule {
    /// What the verdict calls it.
    pub(super) name: String,
    /// Each of its groups that takes part in a match holds a label; several must name the same one.
    pub(super) pattern: Regex,
    pub(super) take: Take,
}

/// What a label means.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
    /// Its canonical name.
    pub(super) name: String,
    /// Other words for it, as they may stand in a match.
    pub(super) words: Vec<String>,
    pub(super) process: Option<bool>,
    pub(super) outcome: Option<bool>,
    /// From 0 to 1.
    pub(super) score: Option<f64>,
}

impl Label {
    /// The canonical name and the words.
    pub(super) fn spellings(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.words.iter().map(String::as_str))
    }
}

/// The rule of an answer in which no other rule finds a label.
pub(crate) const UNCLEAR: &str = "unclear";

/// A label's place in the list, and where its word stands.
type Found = (usize, Range<usize>);

/// Finds labels.
#[derive(Debug, Clone)]
pub(super) struct Labels {
    pub(super) rules: Vec<Rule>,
    pub(super) known: Vec<Label>,
    /// The label of an answer in which no rule finds one.
    pub(super) unclear: Option<usize>,
}

impl Labels {
    /// The label with this spelling, letter case left aside.
    fn find(&self, text: &str) -> Option<usize> {
        let text = text.trim();
        self.known.iter().position(|label| {
            label
                .spellings()
                .any(|word| word.eq_ignore_ascii_case(text))
        })
    }

    /// The label that a text is, for other forms of answers.
    pub(super) fn named(&self, text: &str) -> Option<&Label> {
        self.find(text).map(|at| &self.known[at])
    }

    /// The names of all labels.
    pub(super) fn listed(&self) -> String {
        let names: Vec<&str> = self.known.iter().map(|label| label.name.as_str()).collect();
        listed(&names)
    }

    /// Reads an answer without its thinking.
    ///
    /// # Errors
    /// Where no rule matches, or what it finds does not name one label.
    pub(super) fn read(&self, answer: &str) -> Result<ParsedVerdict, Unreadable> {
        if answer.trim().is_empty() {
            return Err(Unreadable::Empty);
        }
        for rule in &self.rules {
            if let Some((label, span)) = self.apply(rule, answer)? {
                let rule = ParseRule::Named(rule.name.clone());
                return Ok(verdict(&self.known[label], rule, span));
            }
        }
        match self.unclear {
            Some(label) => {
                let rule = ParseRule::Named(UNCLEAR.to_owned());
                Ok(verdict(&self.known[label], rule, 0..0))
            }
            None => Err(Unreadable::NoLabel {
                labels: self.listed(),
            }),
        }
    }

    /// The label that a rule finds, and where.
    fn apply(&self, rule: &Rule, answer: &str) -> Result<Option<Found>, Unreadable> {
        let mut matches = rule
            .pattern
            .captures_iter(answer)
            .filter_map(|captures| self.of_match(&captures).transpose());
        match rule.take {
            Take::First => matches.next().transpose(),
            Take::Last => matches.last().transpose(),
            Take::Agree => {
                let mut found: Option<Found> = None;
                for next in matches {
                    let next = next?;
                    self.agree(found.as_ref(), next.0)?;
                    found.get_or_insert(next);
                }
                Ok(found)
            }
        }
    }

    /// The label that the groups of a match name.
    fn of_match(&self, captures: &Captures<'_>) -> Result<Option<Found>, Unreadable> {
        let mut found: Option<Found> = None;
        for group in captures.iter().skip(1).flatten() {
            let label = self
                .find(group.as_str())
                .ok_or_else(|| Unreadable::NotALabel {
                    found: shorten(group.as_str()),
                    labels: self.listed(),
                })?;
            self.agree(found.as_ref(), label)?;
            found.get_or_insert((label, group.range()));
        }
        Ok(found)
    }

    fn agree(&self, before: Option<&Found>, label: usize) -> Result<(), Unreadable> {
        match before {
            Some((other, _)) if *other != label => Err(Unreadable::Labels {
                first: self.known[*other].name.clone(),
                second: self.known[label].name.clone(),
            }),
            _ => Ok(()),
        }
    }
}

/// What a label says, read by a rule, its word at `span`.
pub(super) fn verdict(label: &Label, rule: ParseRule, span: Range<usize>) -> ParsedVerdict {
    ParsedVerdict {
        fields: VerdictFields {
            process: label.process,
            outcome: label.outcome,
            label: Some(label.name.clone()),
            score: label.score,
            ..VerdictFields::default()
        },
        rule,
        inconsistent: false,
        spans: ValueSpans {
            process: label.process.map_or(0..0, |_| span.clone()),
            outcome: label.outcome.map_or(0..0, |_| span.clone()),
            perfect: 0..0,
            score: label.score.map_or(0..0, |_| span),
        },
    }
}
