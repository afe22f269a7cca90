//! What a verdict is worth.
//!
//! PRIME (arXiv 2602.11570) rewards a rollout only when derivation and final answer are both right:
//! R = 1(outcome) · 1(process). Rewarding the outcome alone is the paper's ablation.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::protocol::{Protocol, Yields};
use crate::verdict::{OutcomeSource, Status, Verdict};

/// How a verdict becomes a reward.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RewardPolicy {
    /// R = 1(outcome) · 1(process).
    #[default]
    ProcessOutcome,
    /// R = 1(outcome), whatever the derivation: the ablation.
    Outcome,
    /// R = P(process) · P(outcome), as far as the protocol judges them: the judge's own probabilities of True.
    Soft,
}

impl RewardPolicy {
    /// Every policy, the default first.
    pub const ALL: [Self; 3] = [Self::ProcessOutcome, Self::Outcome, Self::Soft];

    /// The policy where the user names none: of a protocol that does not judge the process, the outcome.
    pub fn default_for(yields: Yields) -> Self {
        if yields.process {
            Self::ProcessOutcome
        } else {
            Self::Outcome
        }
    }

    /// Why the policy makes no sense of a protocol's verdicts, if it does not. `rules`: they may give an outcome.
    pub fn refused_by(self, protocol: &dyn Protocol, rules: bool) -> Option<&'static str> {
        let yields = protocol.yields();
        if self == Self::ProcessOutcome && !yields.process {
            return Some(
                "it does not judge the process; use --reward outcome, or leave --reward out",
            );
        }
        if self == Self::Soft && !protocol.has_odds() {
            return Some("no probabilities are recorded of what it says");
        }
        (!yields.outcome && !rules)
            .then_some("it does not judge the outcome, and --rules off leaves that to nobody")
    }

    /// The name on the command line and in a run's manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ProcessOutcome => "process-outcome",
            Self::Outcome => "outcome",
            Self::Soft => "soft",
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
#[error("unknown reward policy `{0}`; use process-outcome, outcome or soft")]
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

/// The reward of a verdict under a protocol that judges `yields`, from 0 to 1; `None` unless the status is [`Status::Ok`] and
/// what is known decides it.
///
/// One false factor decides a product: under [`RewardPolicy::ProcessOutcome`] a verdict whose outcome is known to be
/// false is worth 0 even where the process was never judged. Under [`RewardPolicy::Soft`] an outcome that the rules gave
/// counts as certain.
pub fn reward(policy: RewardPolicy, yields: Yields, verdict: &Verdict) -> Option<f64> {
    if verdict.status != Status::Ok {
        return None;
    }
    let Verdict {
        process, outcome, ..
    } = *verdict;
    let one = |value: bool| f64::from(u8::from(value));
    match policy {
        RewardPolicy::Outcome => outcome.map(one),
        RewardPolicy::ProcessOutcome => match (process, outcome) {
            (Some(false), _) | (_, Some(false)) => Some(0.0),
            (Some(true), Some(true)) => Some(1.0),
            _ => None,
        },
        RewardPolicy::Soft => {
            let confidence = verdict.confidence;
            let by_rules = verdict.outcome_source == Some(OutcomeSource::Rules);
            let of_outcome = match (by_rules, outcome) {
                (true, outcome) => outcome.map(one),
                (false, _) => confidence.outcome.map(f64::from),
            };
            if of_outcome == Some(0.0) {
                return of_outcome;
            }
            let of_process = if yields.process {
                f64::from(confidence.process?)
            } else {
                1.0
            };
            Some(of_process * of_outcome?)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn verdict(process: Option<bool>, outcome: Option<bool>) -> Verdict {
        let line = json!({
            "id": "a", "index": 0, "trial": 0, "status": "ok", "process": process, "outcome": outcome, "perfect": null,
            "overall": null, "reward": null, "reason": null, "outcome_source": "judge", "rule_outcome": null,
            "confidence": {"process": 0.5, "outcome": 0.25, "perfect": null},
            "usage": {"prompt_tokens": 0, "cached_tokens": 0, "completion_tokens": 0},
        });
        serde_json::from_value(line).unwrap()
    }

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
            let mut verdict = verdict(process, outcome);
            let what = format!("{process:?} {outcome:?}");
            assert_eq!(
                reward(ProcessOutcome, Yields::ALL, &verdict),
                both,
                "{what}"
            );
            assert_eq!(
                reward(Outcome, Yields::ALL, &verdict),
                outcome_only,
                "{what}"
            );
            for status in [Status::Unparsed, Status::TooLong, Status::Failed] {
                verdict.status = status;
                for policy in RewardPolicy::ALL {
                    assert_eq!(reward(policy, Yields::ALL, &verdict), None);
                }
            }
        }
    }

    #[test]
    fn a_soft_reward_is_the_product_of_what_the_protocol_judges() {
        let soft = |yields, verdict: &Verdict| reward(RewardPolicy::Soft, yields, verdict);
        let mut verdict = verdict(Some(true), Some(false));
        assert_eq!(soft(Yields::ALL, &verdict), Some(0.125));
        let outcome = Yields {
            process: false,
            ..Yields::ALL
        };
        assert_eq!(soft(outcome, &verdict), Some(0.25));
        // The rules are certain.
        verdict.outcome_source = Some(OutcomeSource::Rules);
        assert_eq!(soft(Yields::ALL, &verdict), Some(0.0));
        verdict.outcome = Some(true);
        assert_eq!(soft(Yields::ALL, &verdict), Some(0.5));
        // Nothing is made up where no probability was recorded.
        verdict.confidence.process = None;
        assert_eq!(soft(Yields::ALL, &verdict), None);
    }

    #[test]
    fn names_lead_back_to_their_policies() {
        for policy in RewardPolicy::ALL {
            assert_eq!(policy.to_string().parse(), Ok(policy));
            let json = serde_json::to_string(&policy).unwrap();
            assert_eq!(json, format!("\"{policy}\""));
        }
        let error = "lucky".parse::<RewardPolicy>().unwrap_err();
        assert!(
            error
                .to_string()
                .contains("process-outcome, outcome or soft")
        );
    }
}
