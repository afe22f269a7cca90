//! The form `tags`: a whole completion to a verdict.
//!
//! The rules of reading are in [`verdict_reader`](super::verdict_reader).

use std::ops::Range;

use super::block::{Block, Slot, Values};
use super::declaration::{KeyError, TagField};
use super::form::AnswerForm;
use super::scaffold::{Filled, Scaffold, ScaffoldWants};
use super::tag_scanner::TagName;
use super::verdict_reader::VerdictReader;
use super::{
    ParsedVerdict, StopMatcher, Unreadable, ValueSpans, VerdictFields, VerdictStop, Yields, listed,
};
use juror_data::verdict::ParseRule;

/// The form `tags`, of these fields.
#[derive(Debug, Clone)]
pub(super) struct TagForm(Yields);

impl TagForm {
    pub(super) fn declared(fields: &[TagField]) -> Result<Self, KeyError> {
        let wanted = |field| fields.contains(&field);
        if !wanted(TagField::Process) && !wanted(TagField::Outcome) {
            let why = "must name process or outcome, or both".to_owned();
            return Err(("answer.fields".to_owned(), why));
        }
        Ok(Self(Yields {
            process: wanted(TagField::Process),
            outcome: wanted(TagField::Outcome),
            perfect: wanted(TagField::Perfect),
            ..Yields::default()
        }))
    }
}

impl AnswerForm for TagForm {
    fn yields(&self) -> Yields {
        self.0
    }

    fn read(&self, answer: &str) -> Result<ParsedVerdict, Unreadable> {
        parse_wanted(self.0, answer, false)
    }

    fn scaffold(&self, wants: &ScaffoldWants) -> Option<Scaffold> {
        Some(Scaffold::of_tags(self.0, wants.reason))
    }

    fn read_filled(&self, filled: Filled) -> Result<ParsedVerdict, Unreadable> {
        Ok(filled.in_tags())
    }

    /// It is read together with its thinking.
    fn parse(
        &self,
        completion: &str,
        starts_in_thinking: bool,
        _: &[String],
    ) -> Result<ParsedVerdict, Unreadable> {
        parse_wanted(self.0, completion, starts_in_thinking)
    }

    /// It ends with the last of its fields.
    fn stop(
        &self,
        _: &[String],
        starts_in_thinking: bool,
        wants_reason: bool,
    ) -> Option<Box<dyn StopMatcher>> {
        let stop = VerdictStop::new(self.0, starts_in_thinking, wants_reason);
        Some(Box::new(stop))
    }
}

/// Reads the last complete verdict block outside the thinking, of the fields that a protocol asks for.
///
/// `starts_in_thinking`: the prompt ended inside a thinking block that the chat template had opened, so the completion
/// begins inside it. A reason is optional: a generation may have been stopped before it.
/// Errors: when there is no block with all of them; nothing is guessed.
pub(crate) fn parse_wanted(
    wanted: Yields,
    completion: &str,
    starts_in_thinking: bool,
) -> Result<ParsedVerdict, Unreadable> {
    let mut reader = VerdictReader::new(wanted, starts_in_thinking);
    reader.push(completion);
    let block = reader.finish().ok_or(Unreadable::ThinkingNotFinished)?;
    if let Some(tag) = block.wrapped {
        return Err(Unreadable::InUnknownTags { tag });
    }
    if block.ambiguous {
        return Err(Unreadable::ReasonHoldsVerdict);
    }
    let Some(Values {
        process,
        outcome,
        perfect,
    }) = block.values()
    else {
        return Err(blame(&block));
    };
    let reason = block.reason.as_ref();
    let reason = reason.map(|reason| completion[reason.text.clone()].trim());
    let reason = reason.filter(|it| !it.is_empty()).map(str::to_owned);
    let fields = VerdictFields {
        process,
        outcome,
        perfect,
        reason,
        ..VerdictFields::default()
    };
    let rule = if !block.is_closed() {
        ParseRule::Unclosed
    } else if block.exact {
        ParseRule::Exact
    } else {
        ParseRule::Lenient
    };
    Ok(ParsedVerdict {
        inconsistent: fields.is_inconsistent(),
        rule,
        spans: ValueSpans {
            process: process.map_or(0..0, |_| span(&block.process)),
            outcome: outcome.map_or(0..0, |_| span(block.outcome_slot())),
            perfect: perfect.map_or(0..0, |_| span(&block.perfect)),
            score: 0..0,
        },
        fields,
    })
}

fn span(slot: &Slot) -> Range<usize> {
    slot.statement
        .as_ref()
        .map_or(0..0, |statement| statement.span.clone())
}

/// Why a block cannot be read.
fn blame(block: &Block) -> Unreadable {
    let untouched = |slot: &Slot| slot.statement.is_none() && slot.mention.is_none();
    if block.fields().all(|(_, slot)| untouched(slot)) {
        let names: Vec<&str> = block.fields().map(|(name, _)| name.name()).collect();
        return Unreadable::NoVerdict {
            fields: listed(&names),
        };
    }
    for (name, slot) in block.fields() {
        let field = name.name();
        match (&slot.statement, &slot.contradiction, &slot.mention) {
            (Some(first), Some(second), _) => {
                return Unreadable::Contradiction {
                    field,
                    first: first.found.clone(),
                    second: second.clone(),
                };
            }
            (Some(statement), None, _) if statement.value.is_none() => {
                let found = statement.found.clone();
                return Unreadable::NotAValue { field, found };
            }
            (Some(_), None, _) => {}
            (None, _, Some(found)) => {
                let found = found.clone();
                return Unreadable::NotAValue { field, found };
            }
            (None, _, None) => return Unreadable::Missing { field },
        }
    }
    Unreadable::AmbiguousAlias {
        alias: block.alias_name.map_or("verdict", TagName::name),
    }
}

#[cfg(test)]
pub(crate) mod tests;
