//! A whole completion to a verdict, and a verdict to its canonical text.
//!
//! The rules of reading are in [`verdict_reader`](super::verdict_reader).

use std::ops::Range;

use super::tags::TagName;
use super::untrusted::neutralise;
use super::verdict_reader::{Block, Slot, VerdictReader};
use crate::verdict::ParseRule;

/// The content of a judge's verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictFields {
    /// Is the derivation free of errors?
    pub process: bool,
    /// Is the final answer right?
    pub outcome: bool,
    /// Is the work free of even small flaws?
    pub perfect: bool,
    /// The deciding flaw; `None` where none was written or asked for.
    pub reason: Option<String>,
}

impl VerdictFields {
    /// `perfect` without `process` and `outcome`: the judge contradicts itself. To be marked, never mended.
    pub fn is_inconsistent(&self) -> bool {
        self.perfect && !(self.process && self.outcome)
    }
}

/// Where the words of the three values stand in the completion, in bytes; for looking up the probabilities with which
/// they were chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueSpans {
    /// The word of `process`.
    pub process: Range<usize>,
    /// The word of `outcome`.
    pub outcome: Range<usize>,
    /// The word of `perfect`.
    pub perfect: Range<usize>,
}

/// A verdict that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedVerdict {
    /// Its content.
    pub fields: VerdictFields,
    /// How it was read.
    pub rule: ParseRule,
    /// `perfect` without `process` and `outcome`.
    pub inconsistent: bool,
    /// Where the values stand.
    pub spans: ValueSpans,
}

/// Why a completion holds no readable verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The judge was still thinking when its completion ended.
    #[error("thinking not finished")]
    ThinkingNotFinished,
    /// None of the three fields was written.
    #[error("no verdict: none of the fields process, outcome and perfect was written")]
    NoVerdict,
    /// A field is missing.
    #[error("no complete verdict: {field} is missing")]
    Missing {
        /// The field.
        field: &'static str,
    },
    /// A field holds neither True nor False.
    #[error("{field} holds `{found}`, which is neither True nor False")]
    NotAValue {
        /// The field.
        field: &'static str,
        /// The field's text, shortened.
        found: String,
    },
    /// A field is given twice in one block, and the two do not agree.
    #[error("{field} contradicts itself: `{first}` and `{second}` in one verdict")]
    Contradiction {
        /// The field.
        field: &'static str,
        /// Its first text, shortened.
        first: String,
        /// Its second text, shortened.
        second: String,
    },
    /// An alias stands for the outcome, but it could as well mean process and outcome together.
    #[error(
        "outcome is missing, and `<{alias}>` cannot be read as it: with a process of False it may mean the outcome or the whole"
    )]
    AmbiguousAlias {
        /// The alias.
        alias: &'static str,
    },
    /// A pair of unknown tags holds a verdict and other text: it may be thinking, and the verdict a draft.
    #[error(
        "a verdict stands with other text inside `{tag}` tags, which may be the judge's thinking: name them with \
         --thinking-tags if they are, or say --thinking-style none if it does not think"
    )]
    InUnknownTags {
        /// The tag.
        tag: String,
    },
    /// A reason does not end before another verdict that differs.
    #[error("the reason does not end before a verdict that differs from the one before it")]
    ReasonHoldsVerdict,
}

/// Reads the last complete verdict block outside the thinking.
///
/// `starts_in_thinking`: the prompt ended inside a thinking block that the chat template had opened, so the completion
/// begins inside it. A reason is optional: a generation may have been stopped before it.
///
/// ```
/// # use juror::protocol::parser::parse;
/// let parsed = parse("<think>2 + 2 = 4</think>\n<process> True </process>\n<outcome> **false**. </outcome><perfect>False", false)?;
/// assert!(parsed.fields.process && !parsed.fields.outcome && !parsed.fields.perfect);
/// # Ok::<(), juror::protocol::Unreadable>(())
/// ```
///
/// # Errors
/// When there is no such block; nothing is guessed.
pub fn parse(completion: &str, starts_in_thinking: bool) -> Result<ParsedVerdict, Unreadable> {
    let mut reader = VerdictReader::new(starts_in_thinking);
    reader.push(completion);
    let block = reader.finish().ok_or(Unreadable::ThinkingNotFinished)?;
    if let Some(tag) = block.wrapped {
        return Err(Unreadable::InUnknownTags { tag });
    }
    if block.ambiguous {
        return Err(Unreadable::ReasonHoldsVerdict);
    }
    let Some((process, outcome, perfect)) = block.values() else {
        return Err(blame(&block));
    };
    let reason = block
        .reason
        .as_ref()
        .map(|reason| completion[reason.text.clone()].trim())
        .filter(|reason| !reason.is_empty())
        .map(str::to_owned);
    let fields = VerdictFields {
        process,
        outcome,
        perfect,
        reason,
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
            process: span(&block.process),
            outcome: span(block.outcome_slot()),
            perfect: span(&block.perfect),
        },
        fields,
    })
}

/// A verdict in the form that the prompt asks for; [`parse`] reads it back as [`ParseRule::Exact`].
///
/// A reason is trimmed, left out if nothing is left, and cannot hold a tag that means something: such a tag's `<` is
/// written `‹` (see [`neutralise`]). Every other reason comes back as it was.
pub fn write(fields: &VerdictFields) -> String {
    let word = |value: bool| if value { "True" } else { "False" };
    let mut text = format!(
        "<process> {} </process>\n<outcome> {} </outcome>\n<perfect> {} </perfect>",
        word(fields.process),
        word(fields.outcome),
        word(fields.perfect)
    );
    let reason = fields.reason.as_deref().unwrap_or_default().trim();
    if !reason.is_empty() {
        text.push_str("\n<reason> ");
        text.push_str(&neutralise(reason));
        text.push_str(" </reason>");
    }
    text
}

fn span(slot: &Slot) -> Range<usize> {
    slot.statement
        .as_ref()
        .map_or(0..0, |statement| statement.span.clone())
}

/// Why a block cannot be read.
fn blame(block: &Block) -> Unreadable {
    let outcome_name = match (&block.outcome.statement, block.alias_name) {
        (None, Some(alias)) => alias,
        _ => TagName::Outcome,
    };
    let fields = [
        (TagName::Process, &block.process),
        (outcome_name, block.outcome_slot()),
        (TagName::Perfect, &block.perfect),
    ];
    let untouched = |slot: &Slot| slot.statement.is_none() && slot.mention.is_none();
    if fields.iter().all(|(_, slot)| untouched(slot)) {
        return Unreadable::NoVerdict;
    }
    for (name, slot) in fields {
        let field = name.as_str();
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
        alias: outcome_name.as_str(),
    }
}

#[cfg(test)]
pub(super) mod tests;
