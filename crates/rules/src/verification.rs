//! What the verifier says.

pub(crate) use juror_math_verify::{Reading, Status, shortened};
use serde::Serialize;

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
