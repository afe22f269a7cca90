//! Answers in labels: `A`, `Correct`, `YES`.
//!
//! Ordered rules find the label. The first rule that matches anywhere decides, and the verdict says which it was. A label is matched by its whole word and
//! where the rule anchors it, never as a letter somewhere in the text: in `INCORRECT` there is neither a `C` nor a `CORRECT`.

use std::borrow::Cow;
use std::ops::Range;

use regex::{Captures, Regex};
use serde_json::Number;

use super::declaration::{self, KeyError, LabelsFile};
use super::form::{AnswerForm, NOTHING_CHOSEN};
use super::scaffold::{ChoiceField, Filled, LabelScaffold, Scaffold, ScaffoldWants};
use super::{ParsedVerdict, Unreadable, ValueSpans, VerdictFields, Yields, listed, shorten};
use juror_data::verdict::ParseRule;
use juror_engine::text::reasoning::tag_mask::blank;

/// Which of a rule's matches counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Take {
    First,
    Last,
    /// The last; one before it that names another label takes it back.
    Settled,
    /// Any: all must name the same label.
    #[default]
    Agree,
}

#[derive(Debug, Clone)]
pub(super) struct Rule {
    pub(super) name: String,
    /// Each of its groups that takes part in a match holds a label; several must name the same one.
    pub(super) pattern: Regex,
    pub(super) take: Take,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Label {
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
pub(super) type Found = (usize, Range<usize>);

#[derive(Debug, Clone)]
pub(super) struct Labels {
    pub(super) rules: Vec<Rule>,
    pub(super) known: Vec<Label>,
    /// The label of an answer in which no rule finds one.
    pub(super) unclear: Option<usize>,
}

#[derive(Debug, Clone)]
pub(super) struct LabelForm {
    labels: Labels,
    scaffold: Option<LabelScaffold>,
}

impl LabelForm {
    pub(super) fn declared(file: LabelsFile) -> Result<Self, KeyError> {
        let error = |key: &str, why: String| (key.to_owned(), why);
        if file.rules.is_empty() {
            return Err(error("answer.rules", "has no rule".to_owned()));
        }
        let rules = file.rules.into_iter().map(declaration::compile);
        let rules = rules.collect::<Result<_, _>>()?;
        let mut labels = declaration::meanings(file.labels)?;
        labels.rules = rules;
        if let Some(unclear) = file.unclear {
            let place = labels.known.iter().position(|label| label.name == unclear);
            let why = || format!("`{unclear}` is none of the labels {}", labels.listed());
            labels.unclear = Some(place.ok_or_else(|| error("answer.unclear", why()))?);
        }
        let scaffold = file.scaffold.as_deref().map(LabelScaffold::parse);
        let scaffold = scaffold.transpose();
        Ok(Self {
            labels,
            scaffold: scaffold.map_err(|why| error("answer.scaffold", why))?,
        })
    }
}

impl AnswerForm for LabelForm {
    fn yields(&self) -> Yields {
        self.labels.yields()
    }

    fn has_odds(&self) -> bool {
        self.labels.has_odds()
    }

    fn read(&self, answer: &str) -> Result<ParsedVerdict, Unreadable> {
        self.labels.read(answer)
    }

    fn scaffold(&self, _wants: &ScaffoldWants) -> Option<Scaffold> {
        let names = self.labels.known.iter().map(|label| label.name.clone());
        Some(self.scaffold.as_ref()?.around(names.collect()))
    }

    fn read_filled(&self, filled: Filled) -> Result<ParsedVerdict, Unreadable> {
        let word = filled.word(ChoiceField::Label);
        let label = word.and_then(|word| self.labels.named(word));
        let label = label.ok_or(NOTHING_CHOSEN)?;
        Ok(verdict(label, ParseRule::Constrained, 0..0))
    }

    fn choices(&self) -> Option<Vec<(&str, f32)>> {
        Some(self.labels.choices())
    }
}

impl Labels {
    /// What a verdict with one of them holds.
    pub(super) fn yields(&self) -> Yields {
        Yields {
            process: self.known.iter().any(|label| label.process.is_some()),
            outcome: self.known.iter().any(|label| label.outcome.is_some()),
            perfect: false,
            score: self.known.iter().any(|label| label.score.is_some()),
            first_error: false,
        }
    }

    /// Whether the probability of a label is that of one value: a label of both process and outcome says one thing with its tokens and two with its values.
    pub(super) fn has_odds(&self) -> bool {
        let yields = self.yields();
        yields.process != yields.outcome || yields.score
    }

    /// The spellings of all labels, each with its number.
    pub(super) fn choices(&self) -> Vec<(&str, f32)> {
        let numbers = self.known.iter().flat_map(|label| {
            let value = label.outcome.or(label.process);
            let number = label.score;
            let number = number.unwrap_or(f64::from(u8::from(value == Some(true))));
            label.spellings().map(move |word| (word, number as f32))
        });
        numbers.collect()
    }

    /// The label with this spelling; letter case, full width and what is not seen are left aside.
    fn find(&self, text: &str) -> Option<usize> {
        let text = plain(text);
        let text = text.trim();
        self.known.iter().position(|label| {
            label
                .spellings()
                .any(|word| word.eq_ignore_ascii_case(text))
        })
    }

    /// The label with this spelling, for other forms.
    pub(super) fn named(&self, text: &str) -> Option<&Label> {
        self.find(text).map(|at| &self.known[at])
    }

    /// The label that is this number, however it is written: 4 and 4.0 are one.
    pub(super) fn numbered(&self, number: &Number) -> Option<&Label> {
        let number = number.as_f64()?;
        let is_it = |word: &str| word.parse() == Ok(number);
        self.known.iter().find(|label| label.spellings().any(is_it))
    }

    pub(super) fn listed(&self) -> String {
        let names: Vec<&str> = self.known.iter().map(|label| label.name.as_str()).collect();
        listed(&names)
    }

    /// Reads an answer without its thinking.
    /// Errors: where no rule matches, or what it finds does not name one label.
    pub(super) fn read(&self, answer: &str) -> Result<ParsedVerdict, Unreadable> {
        if answer.trim().is_empty() {
            return Err(Unreadable::Empty);
        }
        let answer = plain(answer);
        for rule in &self.rules {
            if let Some((label, span)) = self.apply(rule, &answer)? {
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

    fn apply(&self, rule: &Rule, answer: &str) -> Result<Option<Found>, Unreadable> {
        let mut matches = rule
            .pattern
            .captures_iter(answer)
            .filter_map(|captures| self.of_match(&captures).transpose());
        match rule.take {
            Take::First => matches.next().transpose(),
            Take::Last => matches.last().transpose(),
            Take::Settled => {
                let mut found: Vec<_> = matches.collect();
                let last = found.pop().transpose()?;
                for (before, _) in found.into_iter().flatten() {
                    let said = last.as_ref().map_or(before, |(label, _)| *label);
                    self.agree(Some(&(before, 0..0)), said)?;
                }
                Ok(last)
            }
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

/// Characters that are not seen: they may stand around a word, and some tokenizers write them.
pub(super) fn is_unseen(character: char) -> bool {
    matches!(character, '\u{200b}' | '\u{feff}' | '\u{2060}')
}

/// A text with spaces for what is not seen around words, and with plain letters and digits for full-width ones, byte for byte: what
/// is left of the bytes of such a word are spaces after it. Within a word what is not seen stays: `in` and `correct` are no label.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    let narrow = |character: char| {
        let narrow = u32::from(character).checked_sub(0xfee0)?;
        let narrow = char::from_u32(narrow)?;
        narrow.is_ascii_alphanumeric().then_some(narrow)
    };
    if !text.contains(|character| is_unseen(character) || narrow(character).is_some()) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let (mut rest, mut owed, mut in_word) = (text, 0, false);
    while let Some(character) = rest.chars().next() {
        if let Some(narrow) = narrow(character) {
            plain.push(narrow);
            owed += character.len_utf8() - 1;
            in_word = true;
            rest = &rest[character.len_utf8()..];
            continue;
        }
        blank(&mut plain, std::mem::take(&mut owed));
        let seen = rest.find(|character| !is_unseen(character));
        let (unseen, after) = rest.split_at(seen.unwrap_or(rest.len()));
        if unseen.is_empty() {
            plain.push(character);
            in_word = character.is_alphanumeric();
            rest = &rest[character.len_utf8()..];
            continue;
        }
        if in_word && after.starts_with(char::is_alphanumeric) {
            plain.push_str(unseen);
        } else {
            blank(&mut plain, unseen.len());
        }
        rest = after;
    }
    blank(&mut plain, owed);
    Cow::Owned(plain)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_a_space_around_words_alone() {
        for (text, expected) in [
            ("A", "A"),
            ("\u{feff}A\u{200b}\u{2060}", "A"),
            ("\u{ff21}", "A"),
            ("\u{ff39}\u{ff25}\u{ff33}.", "YES      ."),
            ("in\u{200b}\u{feff}correct", "in\u{200b}\u{feff}correct"),
            ("\u{ff29}\u{ff2e}\u{200b}correct", "IN    \u{200b}correct"),
            ("\u{ff01}\u{ff08}", "\u{ff01}\u{ff08}"),
        ] {
            let plain = plain(text);
            assert_eq!(plain.len(), text.len(), "{text:?}");
            assert_eq!(plain.trim(), expected, "{text:?}");
        }
    }
}
