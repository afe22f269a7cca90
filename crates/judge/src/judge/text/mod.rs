//! A judge's text side: what it sees of a sample.
//!
//! | file | what it is for |
//! |---|---|
//! | [`model`] | a judge: a model's text side under a protocol |
//! | `model_text` | the text side of any model: tokenizer, configuration, recommended sampling |
//! | [`source`] | where a judge's model is: here, or behind a server |
//! | [`prompt`], `field_text` | a sample as the token ids that a judge sees |
//! | `generation` | how tokens are chosen and how many, where the user does not say |
//! | `domain` | what a judge says it can judge (`judge.json`) |
//! | [`own`] | the judge's own solutions, made before it sees a response |

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
