//! What a constrained generation is to hold.

use crate::protocol::{ChoiceField, Filled, ScaffoldWants};
use crate::reward::RewardPolicy;

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
