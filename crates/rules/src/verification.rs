//! What the verifier says.

use serde::{Deserialize, Serialize};

/// How a verdict came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// By an argument that holds exactly.
    Decided,
    /// By evaluation to many digits: no algorithm decides the case.
    Numeric,
    /// The gold answer could not be read.
    UnparsedGold,
    /// The prediction's answer could not be read.
    UnparsedPred,
    /// The prediction holds no answer, or refuses to give one.
    NoAnswer,
    /// The budget of steps ran out, or the case is beyond what can be decided here.
    TooComplex,
}

/// The verdict on one pair, with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verification {
    /// Are the answers equal? `None`: cannot be told, which is never "different".
    pub equal: Option<bool>,
    /// How that came about.
    pub status: Status,
    /// The argument that settled it: `rational`, `identity`, `enclosure`, `text`, …
    pub method: &'static str,
    /// The gold answer as it was found; under [`Profile::Compat`](super::Profile::Compat) its value and, if kept, its text. Cut after 2,000 bytes.
    pub gold: Vec<String>,
    /// The prediction's answer, likewise.
    pub pred: Vec<String>,
    /// One sentence for a person.
    pub reason: String,
}

impl Verification {
    /// May a comma or a point of these answers be a decimal one or not, so that [`Config::decimal`](super::Config::decimal) counts?
    pub fn depends_on_decimals(&self) -> bool {
        let mut answers = self.gold.iter().chain(&self.pred);
        self.method != "text" && answers.any(|it| crate::extract::of_commas(it).is_some())
    }
}

/// What was read as an answer: [`Verifier::read`](super::Verifier::read).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Reading {
    /// A value, as text.
    Value(String),
    /// A text that is compared as it stands: a wanted string, or what was found first, parsed or not.
    Text(String),
}

impl Reading {
    /// Either's text.
    pub fn into_text(self) -> String {
        match self {
            Self::Value(text) | Self::Text(text) => text,
        }
    }
}

/// An answer for [`Verification::gold`] and [`Verification::pred`]: the beginning of one too long to be looked at.
pub(super) fn shortened(mut answer: String) -> String {
    const LONGEST: usize = 2000;
    if answer.len() > LONGEST {
        answer.truncate(answer.floor_char_boundary(LONGEST));
        answer.push('…');
    }
    answer
}
