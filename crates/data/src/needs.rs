//! What rows are read for.

use std::sync::Arc;

use crate::rubric::Rubric;

/// What a row is read for beside question, response and id, depending on the judge's protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct Needs {
    /// Whether a row without a question is a bad one.
    pub question: bool,
    /// Whether a row without a response is a bad one.
    pub response: bool,
    /// Whether a row without a reference answer is a bad one.
    pub reference: bool,
    /// Whether the response's steps are read, if the row has them; they may stand in place of the response.
    pub steps: bool,
    /// Whether the messages of a question are kept, and distinguish questions.
    pub messages: bool,
    /// Whether a second response is read, for comparison with the first; a row without one is a bad one.
    pub other: bool,
    pub rubric: RubricNeed,
}

/// Where a sample's rubric comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum RubricNeed {
    None,
    /// Each row has its own rubric.
    OfRow,
    /// One rubric for all rows.
    Of(Arc<Rubric>),
}

impl Needs {
    /// No needs: rows are read for what else is in them.
    pub fn nothing() -> Self {
        Self {
            question: false,
            response: false,
            reference: false,
            ..Self::default()
        }
    }

    /// These and those of another; `None` where the rubrics are not the same.
    pub(crate) fn joined(&self, other: &Self) -> Option<Self> {
        let rubric = match (&self.rubric, &other.rubric) {
            (RubricNeed::None, one) | (one, RubricNeed::None) => one.clone(),
            (one, same) if one == same => one.clone(),
            _ => return None,
        };
        Some(Self {
            question: self.question || other.question,
            response: self.response || other.response,
            reference: self.reference || other.reference,
            steps: self.steps || other.steps,
            messages: self.messages || other.messages,
            other: self.other || other.other,
            rubric,
        })
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
