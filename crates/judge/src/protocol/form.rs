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
use super::labels::{LabelForm, UNCLEAR};
use super::scaffold::{Filled, Scaffold, ScaffoldWants};
use super::steps::StepForm;
use super::stop::AnswerStop;
use super::tag_form::TagForm;
use super::unknown_tags::without_unknown_pairs;
use super::{ParsedVerdict, StopMatcher, Unreadable, View, Yields, visible};
use juror_data::verdict::ParseRule;

/// How the answers of a protocol are read, and what a constrained one is.
pub trait AnswerForm: Debug + Send + Sync {
    fn yields(&self) -> Yields;

    /// Whether the probabilities of what it says are recorded.
    fn has_odds(&self) -> bool {
        true
    }

    /// Reads an answer without its thinking.
    fn read(&self, answer: &str) -> Result<ParsedVerdict, Unreadable>;

    /// Reads a completion, of which nothing counts after one of the texts `stop`.
    fn parse(
        &self,
        completion: &str,
        starts_in_thinking: bool,
        stop: &[String],
    ) -> Result<ParsedVerdict, Unreadable> {
        let answer = visible::answer(completion, starts_in_thinking)
            .ok_or(Unreadable::ThinkingNotFinished)?;
        let ends = stop.iter().filter_map(|stop| answer.find(stop.as_str()));
        let answer = &answer[..ends.min().unwrap_or(answer.len())];
        let outside = without_unknown_pairs(answer, &self.choices().unwrap_or_default());
        let Some(tag) = outside.tag else {
            return self.read(answer);
        };
        let read = self.read(&outside.text);
        let unclear = ParseRule::Named(UNCLEAR.to_owned());
        let in_tags = match &read {
            // What is in a tag that is never closed may take back what stands before it.
            Ok(read) if outside.is_open => {
                self.read(answer).map(|whole| whole.fields).as_ref() != Ok(&read.fields)
            }
            Ok(read) => read.rule == unclear,
            Err(_) => self.read(answer).is_ok_and(|whole| whole.rule != unclear),
        };
        if in_tags {
            return Err(Unreadable::InUnknownTags { tag });
        }
        read
    }

    /// What ends a generation, with one of these texts or by itself.
    fn stop(
        &self,
        texts: &[String],
        starts_in_thinking: bool,
        _wants_reason: bool,
    ) -> Option<Box<dyn StopMatcher>> {
        let stop = || AnswerStop::new(texts, starts_in_thinking);
        (!texts.is_empty()).then(|| Box::new(stop()) as Box<dyn StopMatcher>)
    }

    /// What a constrained answer is; none where this form leaves it free.
    fn scaffold(&self, _wants: &ScaffoldWants) -> Option<Scaffold> {
        None
    }

    /// Reads what was chosen in a [`Self::scaffold`].
    fn read_filled(&self, _filled: Filled) -> Result<ParsedVerdict, Unreadable> {
        Err(NOTHING_CHOSEN)
    }

    /// The words of its labels and the number that each stands for: 1 for right and 0 for wrong, or a score. The expected number is the
    /// confidence. `None`: True and False.
    fn choices(&self) -> Option<Vec<(&str, f32)>> {
        None
    }

    fn needs_rubric(&self) -> bool {
        false
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
