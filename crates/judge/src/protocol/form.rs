//! The form of a protocol's answers (`[answer] form` of its file): what they say, how they are read, what a constrained one is.
//!
//! | form | in | an answer |
//! |---|---|---|
//! | `tags` | `tag_form` | XML tags with True or False, anywhere outside the thinking |
//! | `labels` | `labels` | a label that ordered rules find |
//! | `json` | `json` | an object with a label, and perhaps the found answer |
//! | `step` | `steps` | the index of the first wrong step |
//! | `rubric` | `grades` | a grade for each criterion of the sample's rubric |

use std::fmt::Debug;
use std::sync::Arc;

use super::declaration::{AnswerFile, KeyError};
use super::grades::RubricForm;
use super::json::JsonForm;
use super::labels::LabelForm;
use super::scaffold::{Filled, Scaffold, ScaffoldWants};
use super::steps::StepForm;
use super::tag_form::TagForm;
use super::{ParsedVerdict, Unreadable, View, Yields};

pub(super) trait AnswerForm: Debug + Send + Sync {
    fn yields(&self) -> Yields;

    /// Whether probabilities of what it says can be recorded.
    fn has_odds(&self) -> bool;

    /// Reads an answer without its thinking.
    fn read(&self, answer: &str) -> Result<ParsedVerdict, Unreadable>;

    /// What a constrained answer is; none where this form leaves it free.
    fn scaffold(&self, wants: &ScaffoldWants) -> Option<Scaffold>;

    fn read_filled(&self, filled: Filled) -> Result<ParsedVerdict, Unreadable>;

    /// The words of the verdict with their numbers, where they are others than true and false.
    fn choices(&self) -> Option<Vec<(&str, f32)>> {
        None
    }

    fn needs_rubric(&self) -> bool {
        false
    }

    /// The fields of the form `tags`: its answers are read together with their thinking, and end with the last of these.
    fn tags(&self) -> Option<Yields> {
        None
    }
}

/// Why a scaffold of one choice says nothing.
pub(super) const NOTHING_CHOSEN: Unreadable = Unreadable::Missing { field: "verdict" };

/// The form that a file declares, of a judge that is shown `view`.
pub(super) fn declared(answer: AnswerFile, view: View) -> Result<Arc<dyn AnswerForm>, KeyError> {
    Ok(match answer {
        AnswerFile::Tags { fields } => Arc::new(TagForm::declared(&fields)?),
        AnswerFile::Labels(file) => Arc::new(LabelForm::declared(file)?),
        AnswerFile::Json(file) => Arc::new(JsonForm::declared(file)?),
        AnswerFile::Step {} if view != View::Steps => {
            let why = "the form `step` needs `view = \"steps\"`, which numbers them";
            return Err(("view".to_owned(), why.to_owned()));
        }
        AnswerFile::Step {} => Arc::new(StepForm),
        AnswerFile::Rubric {} => Arc::new(RubricForm),
    })
}
