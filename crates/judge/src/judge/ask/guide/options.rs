//! What a constrained generation is to hold.

use crate::protocol::{ChoiceField, Filled, ScaffoldWants};
use crate::reward::RewardPolicy;

/// What a reward depends on, to know it early.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Decides {
    pub(crate) policy: RewardPolicy,
    pub(crate) require_process: bool,
    /// The judge's own limits may take back what it refuses, by the outcome that it gives.
    pub(crate) needs_outcome: bool,
}

impl Decides {
    pub(super) fn is_decided(self, filled: &Filled) -> bool {
        let value = |field| filled.value(field);
        let (process, outcome) = (value(ChoiceField::Process), value(ChoiceField::Outcome));
        let reward = match self.policy {
            RewardPolicy::Soft => return process.is_some() && outcome.is_some(),
            policy => policy.of_values(process, outcome, value(ChoiceField::Perfect)),
        };
        match reward {
            _ if self.needs_outcome && outcome.is_none() => false,
            Some(reward) if self.require_process && reward > 0.0 => process.is_some(),
            Some(_) => true,
            None => self.require_process && process == Some(false),
        }
    }
}

/// How a run constrains its verdicts.
#[derive(Debug, Clone, Default)]
pub(crate) struct GuideOptions {
    pub(crate) wants: ScaffoldWants,
    /// Ends the generation as soon as the reward is known.
    pub(crate) decides: Option<Decides>,
    pub(crate) thinking_budget: Option<usize>,
    pub(crate) most: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_decides_alone_where_nothing_may_take_it_back() {
        for (needs_outcome, process, outcome, is_decided) in [
            (false, Some("False"), None, true),
            (true, Some("False"), None, false),
            (true, Some("False"), Some("True"), true),
            (true, Some("False"), Some("False"), true),
            (true, Some("True"), None, false),
            (false, Some("True"), None, false),
        ] {
            let decides = Decides {
                policy: RewardPolicy::ProcessOutcome,
                require_process: false,
                needs_outcome,
            };
            let fields = [
                (ChoiceField::Process, process),
                (ChoiceField::Outcome, outcome),
            ];
            let choices = fields
                .into_iter()
                .filter_map(|(field, word)| Some((field, word?.to_owned())));
            let filled = Filled {
                choices: choices.collect(),
                ..Filled::default()
            };
            assert_eq!(
                decides.is_decided(&filled),
                is_decided,
                "{needs_outcome} {filled:?}"
            );
        }
    }
}
