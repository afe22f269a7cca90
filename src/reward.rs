//! What a verdict is worth.
//!
//! PRIME (arXiv 2602.11570) rewards a rollout only when derivation and final answer are both right:
//! R = 1(outcome) · 1(process). Rewarding the outcome alone is the paper's ablation.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::protocol::Yields;
use crate::verdict::Status;

/// How a verdict becomes a reward.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RewardPolicy {
    /// R = 1(outcome) · 1(process).
    #[default]
    ProcessOutcome,
    /// R = 1(outcome), whatever the derivation: the ablation.
    Outcome,
}

impl RewardPolicy {
    /// Every policy, the default first.
    pub const ALL: [Self; 2] = [Self::ProcessOutcome, Self::Outcome];

    /// The policy where the user names none: of a protocol that does not judge the process, the outcome.
    pub fn default_for(yields: Yields) -> Self {
        if yields.process {
            Self::ProcessOutcome
        } else {
            Self::Outcome
        }
    }

    /// Why the policy makes no sense of a protocol's verdicts, if it does not.
    pub fn refused_by(self, yields: Yields) -> Option<&'static str> {
        (self == Self::ProcessOutcome && !yields.process)
            .then_some("it does not judge the process; use --reward outcome, or leave --reward out")
    }

    /// The name on the command line and in a run's manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProcessOutcome => "process-outcome",
            Self::Outcome => "outcome",
        }
    }
}

impl fmt::Display for RewardPolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

/// A name that is no reward policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown reward policy `{0}`; use process-outcome or outcome")]
pub struct UnknownRewardPolicy(String);

impl FromStr for RewardPolicy {
    type Err = UnknownRewardPolicy;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|policy| policy.as_str() == name)
            .ok_or_else(|| UnknownRewardPolicy(name.to_owned()))
    }
}

/// The reward of a verdict, 0 or 1; `None` unless the status is [`Status::Ok`] and what is known decides it.
///
/// One false factor decides a product: under [`RewardPolicy::ProcessOutcome`] a verdict whose outcome is known to be
/// false is worth 0 even where the process was never judged.
pub fn reward(
    policy: RewardPolicy,
    status: Status,
    process: Option<bool>,
    outcome: Option<bool>,
) -> Option<f64> {
    if status != Status::Ok {
        return None;
    }
    let earned = match policy {
        RewardPolicy::Outcome => outcome?,
        RewardPolicy::ProcessOutcome => match (process, outcome) {
            (Some(false), _) | (_, Some(false)) => false,
            (Some(true), Some(true)) => true,
            _ => return None,
        },
    };
    Some(f64::from(u8::from(earned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reward_of_every_state() {
        use RewardPolicy::{Outcome, ProcessOutcome};
        let (yes, no) = (Some(true), Some(false));
        for (process, outcome, both, outcome_only) in [
            (yes, yes, Some(1.0), Some(1.0)),
            (yes, no, Some(0.0), Some(0.0)),
            (yes, None, None, None),
            (no, yes, Some(0.0), Some(1.0)),
            (no, no, Some(0.0), Some(0.0)),
            (no, None, Some(0.0), None),
            (None, yes, None, Some(1.0)),
            (None, no, Some(0.0), Some(0.0)),
            (None, None, None, None),
        ] {
            let of = |policy, status| reward(policy, status, process, outcome);
            assert_eq!(
                of(ProcessOutcome, Status::Ok),
                both,
                "{process:?} {outcome:?}"
            );
            assert_eq!(
                of(Outcome, Status::Ok),
                outcome_only,
                "{process:?} {outcome:?}"
            );
            for status in [Status::Unparsed, Status::TooLong, Status::Failed] {
                for policy in RewardPolicy::ALL {
                    assert_eq!(of(policy, status), None);
                }
            }
        }
    }

    #[test]
    fn names_lead_back_to_their_policies() {
        for policy in RewardPolicy::ALL {
            assert_eq!(policy.to_string().parse(), Ok(policy));
            let json = serde_json::to_string(&policy).unwrap();
            assert_eq!(json, format!("\"{policy}\""));
        }
        let error = "lucky".parse::<RewardPolicy>().unwrap_err();
        assert!(error.to_string().contains("process-outcome or outcome"));
    }
}
