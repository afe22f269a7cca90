//! A judge's text side: what it sees of a sample.

pub(crate) mod domain;
mod field_text;
pub(crate) mod generation;
pub mod model;
pub(crate) mod model_text;
pub mod own;
pub mod prompt;
pub(crate) mod source;

use crate::protocol::ScaffoldWants;
use crate::protocol::view::paragraphs;
use juror_data::Sample;

/// What an answer must fit: the steps of the sample's response, and its rubric.
pub(crate) fn wants_of(sample: &Sample) -> ScaffoldWants {
    ScaffoldWants {
        reason: false,
        steps: match sample.steps.len() {
            0 => paragraphs(&sample.student_answer).count(),
            steps => steps,
        },
        rubric: sample.rubric.clone(),
    }
}
