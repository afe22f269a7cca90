//! What a verdict is worth.
//!
//! PRIME (arXiv 2602.11570) rewards a rollout only when derivation and final answer are both right:
//! R = 1(outcome) · 1(process). Rewarding the outcome alone is the paper's ablation.

use std::fmt;
use std::str::FromStr;

use crate::judge::calibration::Calibration;
use crate::protocol::{Protocol, Yields};
use juror_data::verdict::{Confidence, OutcomeSource, Status, Verdict};

/// How a verdict becomes a reward, from 0 to 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub enum RewardPolicy {
    /// R = 1(outcome) · 1(process).
    #[default]
    ProcessOutcome,
    /// R = 1(outcome), whatever the derivation: the ablation.
    Outcome,
    /// As [`Self::ProcessOutcome`], less [`IMPERFECT`] where the work is not perfect.
    PerfectBonus,
    /// R = P(process) · P(outcome), as far as the protocol judges them: the judge's own probabilities of True. Of a protocol that
    /// gives a score, the mean score under these probabilities.
    Soft,
    /// R = the score of a protocol that gives one.
    Score,
    /// R = the share of the reference's labelled parts that the rules find right, and as [`Self::Outcome`] where it has none. Where they
    /// cannot tell of each, only a right outcome has a reward.
    Parts,
    /// R = the weights of what holds, as a share of all weights.
    Weighted(Weights),
}

/// What [`RewardPolicy::PerfectBonus`] takes off for small flaws.
pub(crate) const IMPERFECT: f64 = 0.1;

/// What each field is worth under [`RewardPolicy::Weighted`]: 0 or more, not all 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Weights {
    /// The process.
    pub process: f64,
    /// The outcome.
    pub outcome: f64,
    /// The perfect field.
    pub perfect: f64,
}

impl Weights {
    /// Each field's name and weight.
    fn named(&self) -> [(&'static str, f64); 3] {
        [
            ("process", self.process),
            ("outcome", self.outcome),
            ("perfect", self.perfect),
        ]
    }

    /// Reads `process=0.3,outcome=0.7`.
    fn parse(text: &str) -> Option<Self> {
        let mut weights = Self::default();
        for part in text.split(',') {
            let (name, weight) = part.split_once('=')?;
            let weight: f64 = weight.trim().parse().ok()?;
            let field = match name.trim() {
                "process" => &mut weights.process,
                "outcome" => &mut weights.outcome,
                "perfect" => &mut weights.perfect,
                _ => return None,
            };
            if *field > 0.0 || !weight.is_finite() || weight < 0.0 {
                return None;
            }
            *field = weight;
        }
        let all: f64 = weights.named().iter().map(|(_, weight)| weight).sum();
        (all > 0.0).then_some(weights)
    }
}

/// The policies by their names.
const NAMED: [(&str, RewardPolicy); 6] = [
    ("process-outcome", RewardPolicy::ProcessOutcome),
    ("outcome", RewardPolicy::Outcome),
    ("perfect-bonus", RewardPolicy::PerfectBonus),
    ("soft", RewardPolicy::Soft),
    ("score", RewardPolicy::Score),
    ("parts", RewardPolicy::Parts),
];

impl RewardPolicy {
    /// The policy where the user names none: the score of a protocol that gives one, and of one that does not judge the process,
    /// the outcome.
    pub fn default_for(yields: Yields) -> Self {
        if yields.score {
            Self::Score
        } else if yields.process {
            Self::ProcessOutcome
        } else {
            Self::Outcome
        }
    }

    /// Why this policy cannot be used with this protocol; `None` if it can. `rules`: they may give an outcome.
    pub fn refused_by(self, protocol: &dyn Protocol, rules: bool) -> Option<&'static str> {
        let yields = protocol.yields();
        let (mut process, mut outcome, mut perfect) = (false, true, false);
        match self {
            Self::Score if yields.score => return None,
            Self::Score => return Some("it gives no score"),
            Self::Soft if !protocol.has_odds() => {
                return Some("no probabilities are recorded of what it says");
            }
            Self::Soft if yields.score => return None,
            Self::Parts if !rules => return Some("--rules off leaves the parts to nobody"),
            Self::Soft | Self::Outcome | Self::Parts => {}
            Self::ProcessOutcome => process = true,
            Self::PerfectBonus => (process, perfect) = (true, true),
            Self::Weighted(weights) => {
                process = weights.process > 0.0;
                outcome = weights.outcome > 0.0;
                perfect = weights.perfect > 0.0;
            }
        }
        if yields.score {
            Some("it gives a score; use --reward score, or leave --reward out")
        } else if process && !yields.process {
            Some("it does not judge the process; use --reward outcome, or leave --reward out")
        } else if perfect && !yields.perfect {
            Some("it does not say whether the work is perfect")
        } else {
            (outcome && !yields.outcome && !rules)
                .then_some("it does not judge the outcome, and --rules off leaves that to nobody")
        }
    }

    /// The reward of these values; `None` if they do not determine it, or the policy needs others.
    ///
    /// One false factor decides a product: a verdict whose outcome is known to be false is worth 0 under
    /// [`Self::ProcessOutcome`] even where the process was never judged.
    pub fn of_values(
        self,
        process: Option<bool>,
        outcome: Option<bool>,
        perfect: Option<bool>,
    ) -> Option<f64> {
        match self {
            Self::Outcome | Self::Parts => outcome.map(one),
            Self::ProcessOutcome | Self::PerfectBonus => match (process, outcome) {
                (Some(false), _) | (_, Some(false)) => Some(0.0),
                (Some(true), Some(true)) if self == Self::PerfectBonus => {
                    perfect.map(|perfect| if perfect { 1.0 } else { 1.0 - IMPERFECT })
                }
                (Some(true), Some(true)) => Some(1.0),
                _ => None,
            },
            Self::Weighted(weights) => {
                let [process_part, outcome_part, perfect_part] = weights.named();
                let (mut got, mut all) = (0.0, 0.0);
                for ((_, weight), value) in [
                    (process_part, process),
                    (outcome_part, outcome),
                    (perfect_part, perfect),
                ] {
                    if weight > 0.0 {
                        got += weight * one(value?);
                        all += weight;
                    }
                }
                Some(got / all)
            }
            Self::Soft | Self::Score => None,
        }
    }
}

fn one(value: bool) -> f64 {
    f64::from(u8::from(value))
}

/// The name on the command line and in a run's manifest.
impl fmt::Display for RewardPolicy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Weighted(weights) = self {
            let parts = weights.named().into_iter();
            let parts = parts.filter(|(_, weight)| *weight > 0.0);
            let parts: Vec<String> = parts
                .map(|(name, weight)| format!("{name}={weight}"))
                .collect();
            return out.pad(&parts.join(","));
        }
        let name = NAMED.iter().find(|(_, policy)| policy == self);
        out.pad(name.map_or("", |(name, _)| name))
    }
}

/// A name that is no reward policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown reward policy `{0}`; use process-outcome, outcome, perfect-bonus, soft, score, parts, or weights of 0 or more as \
     `process=0.3,outcome=0.7`"
)]
pub struct UnknownRewardPolicy(String);

impl FromStr for RewardPolicy {
    type Err = UnknownRewardPolicy;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let named = NAMED.iter().find(|(own, _)| *own == name);
        named
            .map(|(_, policy)| *policy)
            .or_else(|| Weights::parse(name).map(Self::Weighted))
            .ok_or_else(|| UnknownRewardPolicy(name.to_owned()))
    }
}

/// The reward of a verdict under a protocol that judges `yields`, from 0 to 1; `None` unless the status is [`Status::Ok`] and
/// what is known decides it. With `require_process` it is 0 where the process is wrong, and `None` where that is not known of
/// a verdict that would be worth something.
///
/// Under [`RewardPolicy::Soft`] the probabilities are calibrated, and an outcome that the rules gave counts as certain.
pub fn reward(
    policy: RewardPolicy,
    require_process: bool,
    yields: Yields,
    verdict: &Verdict,
    calibration: Option<&Calibration>,
) -> Option<f64> {
    if verdict.status != Status::Ok {
        return None;
    }
    let reward = match policy {
        RewardPolicy::Score => verdict.score,
        RewardPolicy::Soft if yields.score => verdict.confidence.score.map(f64::from),
        RewardPolicy::Soft => {
            let confidence =
                calibration.map_or(verdict.confidence, |own| own.apply(&verdict.confidence));
            soft(yields, verdict, confidence)
        }
        RewardPolicy::Parts if !verdict.parts.is_empty() => {
            let known: Option<Vec<bool>> = verdict.parts.iter().copied().collect();
            known
                .map(|parts| parts.iter().map(|part| one(*part)).sum::<f64>() / parts.len() as f64)
                .or(verdict.outcome.filter(|outcome| *outcome).map(one))
        }
        policy => policy.of_values(verdict.process, verdict.outcome, verdict.perfect),
    };
    if !require_process {
        return reward;
    }
    match (verdict.process, reward) {
        (Some(false), _) => Some(0.0),
        (None, Some(reward)) if reward > 0.0 => None,
        _ => reward,
    }
}

fn soft(yields: Yields, verdict: &Verdict, confidence: Confidence) -> Option<f64> {
    let by_rules = verdict.outcome_source == Some(OutcomeSource::Rules);
    let of_outcome = match (by_rules, verdict.outcome) {
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
                reward(ProcessOutcome, false, Yields::ALL, &verdict, None),
                both,
                "{what}"
            );
            assert_eq!(
                reward(Outcome, false, Yields::ALL, &verdict, None),
                outcome_only,
                "{what}"
            );
            // What requires the process is the product.
            assert_eq!(
                reward(Outcome, true, Yields::ALL, &verdict, None),
                both,
                "{what}"
            );
            for status in [Status::Unparsed, Status::TooLong, Status::Failed] {
                verdict.status = status;
                for (_, policy) in NAMED {
                    assert_eq!(reward(policy, true, Yields::ALL, &verdict, None), None);
                }
            }
        }
    }

    #[test]
    fn a_soft_reward_is_the_product_of_what_the_protocol_judges() {
        let soft =
            |yields, verdict: &Verdict| reward(RewardPolicy::Soft, false, yields, verdict, None);
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
    fn small_flaws_and_weights() {
        let (yes, no) = (Some(true), Some(false));
        let bonus = |values: [Option<bool>; 3]| {
            let [process, outcome, perfect] = values;
            RewardPolicy::PerfectBonus.of_values(process, outcome, perfect)
        };
        assert_eq!(bonus([yes, yes, yes]), Some(1.0));
        assert_eq!(bonus([yes, yes, no]), Some(0.9));
        assert_eq!(bonus([yes, yes, None]), None);
        assert_eq!(bonus([yes, no, None]), Some(0.0));
        let weights: RewardPolicy = "process=1, outcome=3".parse().unwrap();
        assert_eq!(weights.to_string(), "process=1,outcome=3");
        assert_eq!(weights.of_values(no, yes, None), Some(0.75));
        assert_eq!(weights.of_values(yes, yes, None), Some(1.0));
        assert_eq!(weights.of_values(None, yes, None), None);
    }

    #[test]
    fn names_lead_back_to_their_policies() {
        for (name, policy) in NAMED {
            assert_eq!(policy.to_string(), name);
            assert_eq!(name.parse(), Ok(policy));
        }
        for wrong in [
            "lucky",
            "process",
            "process=0",
            "process=-1",
            "style=1",
            "process=1,process=2",
            "",
        ] {
            let error = wrong.parse::<RewardPolicy>().unwrap_err();
            assert!(
                error.to_string().contains("process-outcome, outcome"),
                "{wrong}"
            );
        }
    }
}
