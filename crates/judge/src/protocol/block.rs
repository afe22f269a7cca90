//! The fields of a verdict that belong together, as [`verdict_reader`](super::verdict_reader) collects them.

use std::ops::Range;

use super::Yields;
use super::tag_scanner::TagName;

impl Yields {
    /// The tags of the fields, in the order in which they are to be written.
    pub(super) fn names(self) -> impl Iterator<Item = TagName> {
        [
            (self.process, TagName::Process),
            (self.outcome, TagName::Outcome),
            (self.perfect, TagName::Perfect),
        ]
        .into_iter()
        .filter_map(|(wanted, name)| wanted.then_some(name))
    }
}

/// The values of a block; none of a field that is not asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Values {
    pub(super) process: Option<bool>,
    pub(super) outcome: Option<bool>,
    pub(super) perfect: Option<bool>,
}

/// The value read from a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Statement {
    /// `None`: neither True nor False.
    pub(super) value: Option<bool>,
    /// Where the word stands in the completion.
    pub(super) span: Range<usize>,
    /// The field's text, shortened.
    pub(super) found: String,
    pub(super) closed: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) statement: Option<Statement>,
    /// A second statement that does not agree with the first, shortened.
    pub(super) contradiction: Option<String>,
    /// The last text after an opening tag that was no statement, shortened.
    pub(super) mention: Option<String>,
}

impl Slot {
    /// The value, where there is exactly one.
    pub(super) fn value(&self) -> Option<bool> {
        match (&self.statement, &self.contradiction) {
            (Some(statement), None) => statement.value,
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReasonSpan {
    pub(super) text: Range<usize>,
    pub(super) closed: bool,
}

/// The fields that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    wanted: Yields,
    pub(super) process: Slot,
    pub(super) outcome: Slot,
    pub(super) perfect: Slot,
    /// `<result>`, `<overall>` or `<verdict>`.
    pub(super) alias: Slot,
    pub(super) alias_name: Option<TagName>,
    pub(super) reason: Option<ReasonSpan>,
    /// The reason holds a different verdict and does not end before it.
    pub(super) ambiguous: bool,
    /// The rank of the field written last.
    rank: u8,
    /// Written exactly as asked for so far.
    pub(super) exact: bool,
    /// An unknown tag whose pair holds a verdict and other text; set at the completion's end.
    pub(super) wrapped: Option<String>,
}

impl Block {
    pub(super) fn new(wanted: Yields) -> Self {
        Self {
            wanted,
            process: Slot::default(),
            outcome: Slot::default(),
            perfect: Slot::default(),
            alias: Slot::default(),
            alias_name: None,
            reason: None,
            ambiguous: false,
            rank: 0,
            exact: true,
            wrapped: None,
        }
    }

    /// The values, where all that are asked for are readable.
    pub(super) fn values(&self) -> Option<Values> {
        if self.fields().any(|(_, slot)| slot.value().is_none()) {
            return None;
        }
        let of = |wanted: bool, slot: &Slot| slot.value().filter(|_| wanted);
        let values = Values {
            process: of(self.wanted.process, &self.process),
            outcome: of(self.wanted.outcome, self.outcome_slot()),
            perfect: of(self.wanted.perfect, &self.perfect),
        };
        let by_alias = values.outcome.is_some() && self.outcome.statement.is_none();
        // Also where the process is not asked for and was written all the same.
        let no_process = self.process.statement.is_none();
        (!by_alias || no_process || self.process.value() == Some(true)).then_some(values)
    }

    pub(super) fn outcome_slot(&self) -> &Slot {
        match (&self.outcome.statement, &self.alias.statement) {
            (None, Some(_)) => &self.alias,
            _ => &self.outcome,
        }
    }

    /// The fields that are asked for, each with the name that it was or should have been written under.
    pub(super) fn fields(&self) -> impl Iterator<Item = (TagName, &Slot)> {
        self.wanted.names().map(|name| match name {
            TagName::Process => (name, &self.process),
            TagName::Perfect => (name, &self.perfect),
            _ => match (&self.outcome.statement, self.alias_name) {
                (None, Some(alias)) => (alias, &self.alias),
                _ => (name, &self.outcome),
            },
        })
    }

    /// Do all closing tags stand where they should?
    pub(super) fn is_closed(&self) -> bool {
        let mut statements = self
            .fields()
            .filter_map(|(_, slot)| slot.statement.as_ref());
        statements.all(|statement| statement.closed)
            && self.reason.as_ref().is_none_or(|reason| reason.closed)
    }

    /// Every field was written, readable or not.
    pub(super) fn is_filled(&self) -> bool {
        self.fields().all(|(_, slot)| slot.statement.is_some())
    }

    pub(super) fn is_blank(&self) -> bool {
        *self == Self::new(self.wanted)
    }

    pub(super) fn slot(&mut self, name: TagName) -> &mut Slot {
        match name {
            TagName::Process => &mut self.process,
            TagName::Outcome => &mut self.outcome,
            TagName::Perfect => &mut self.perfect,
            _ => &mut self.alias,
        }
    }

    /// Notes the order of the fields: process, outcome, perfect, reason.
    pub(super) fn written(&mut self, name: TagName) {
        let mut place = self.wanted.names().chain([TagName::Reason]);
        let place = place.position(|wanted| wanted == name);
        let rank = place.map_or(0, |place| place as u8 + 1);
        self.exact &= rank == self.rank + 1;
        self.rank = rank;
    }
}
