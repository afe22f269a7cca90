//! What a constrained generation is to hold, and what came of it.

use serde::{Deserialize, Serialize};

use crate::protocol::{ChoiceField, Filled, ScaffoldWants};
use crate::reward::RewardPolicy;

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

/// How a constrained generation ended.
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

/// What a reward depends on, to know it early.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decides {
    pub(crate) policy: RewardPolicy,
    pub(crate) require_process: bool,
}

impl Decides {
    /// Whether what was chosen decides the reward.
    pub(super) fn is_decided(self, filled: &Filled) -> bool {
        let value = |field| filled.value(field);
        let (process, outcome) = (value(ChoiceField::Process), value(ChoiceField::Outcome));
        let reward = match self.policy {
            RewardPolicy::Soft => return process.is_some() && outcome.is_some(),
            policy => policy.of_values(process, outcome, value(ChoiceField::Perfect)),
        };
        match reward {
            Some(reward) if self.require_process && reward > 0.0 => process.is_some(),
            Some(_) => true,
            None => self.require_process && process == Some(false),
        }
    }
}

/// How a run constrains its verdicts.
#[derive(Debug, Clone, Default)]
pub(crate) struct GuideOptions {
    /// What of the answer is wanted.
    pub(crate) wants: ScaffoldWants,
    /// Ends the generation as soon as the reward is known.
    pub(crate) decides: Option<Decides>,
    /// The most tokens of thinking.
    pub(crate) thinking_budget: Option<usize>,
    /// The most tokens in all.
    pub(crate) most: usize,
}
