//! What came of a constrained generation.

use serde::{Deserialize, Serialize};

use crate::protocol::Filled;

/// What a guide has learnt, read once the generation is over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Guided {
    pub(crate) filled: Filled,
    /// For each choice the index of the completion's token in which its words differ.
    pub(crate) tokens: Vec<usize>,
    pub(crate) ending: Ending,
    /// Tokens of known text that were put in.
    pub(crate) appended: usize,
    /// Why it could not go on.
    #[serde(default)]
    pub(crate) error: Option<String>,
    /// Tokens that were left out because the reward was known.
    pub(crate) left_out: usize,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ending {
    /// It was cut, by its limit or in its thinking.
    #[default]
    Cut,
    /// The thinking left no room for the verdict.
    NoRoom,
    /// The judge's own text can be read, as a free one.
    ByItself,
    /// All that is wanted was chosen.
    Chosen,
    /// The tokens from this one on are a whole text of the protocol's grammar.
    Grammar(usize),
}
