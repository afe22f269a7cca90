//! What is said of a pair.

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
    /// Both answers were read, but which of two things is meant is not known: 28 against 28 %.
    Ambiguous,
    /// The budget of steps ran out, or the case is beyond what can be decided here.
    TooComplex,
}

/// What was read as an answer.
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

/// The verdict on one pair, with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Math-Verify's verdict. `None`: it would run out of time, and the truth is not known either.
    pub equal: Option<bool>,
    /// How that came about. Where a side could not be read, Math-Verify says `false`, and this says why.
    pub status: Status,
    /// The argument that settled it: `rational`, `identity`, `enclosure`, `string`, …
    pub method: &'static str,
    /// What was read in the gold answer: its value and, if kept, its text.
    pub gold: Vec<Reading>,
    /// The prediction's answer, likewise.
    pub pred: Vec<Reading>,
    /// One sentence for a person.
    pub reason: &'static str,
}

/// A reading's text: the first 2,000 bytes of one too long to be looked at.
pub fn shortened(mut answer: String) -> String {
    const LONGEST: usize = 2000;
    if answer.len() > LONGEST {
        answer.truncate(answer.floor_char_boundary(LONGEST));
        answer.push('…');
    }
    answer
}
