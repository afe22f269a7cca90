//! What rows are read for.

use std::sync::Arc;

use crate::rubric::Rubric;

/// What a row is read for, beside its question, its response and its id: as the judge's protocol has it.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is asked for alone")]
pub struct Needs {
    /// A row without a question is a bad one.
    pub question: bool,
    /// A row without a response is a bad one.
    pub response: bool,
    /// A row without a reference answer is a bad one.
    pub reference: bool,
    /// The response's steps are read, if the row has them; they may stand in the place of the response.
    pub steps: bool,
    /// The messages that a question is of are kept, and tell questions apart.
    pub messages: bool,
    /// A second response, which the first is compared with; a row without is a bad one.
    pub other: bool,
    /// The criteria.
    pub rubric: RubricNeed,
}

/// Where a sample's rubric comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum RubricNeed {
    /// There is none.
    None,
    /// Each row has its own.
    OfRow,
    /// This one is for all.
    Of(Arc<Rubric>),
}

impl Needs {
    /// Nothing: rows are read for what else is in them.
    pub fn nothing() -> Self {
        Self {
            question: false,
            response: false,
            reference: false,
            ..Self::default()
        }
    }
}

impl Default for Needs {
    fn default() -> Self {
        Self {
            question: true,
            response: true,
            reference: true,
            steps: false,
            messages: false,
            other: false,
            rubric: RubricNeed::None,
        }
    }
}
