//! What a verdict is worth.
//!
//! PRIME (arXiv 2602.11570) rewards a rollout only when derivation and final answer are both right:
//! R = 1(outcome) · 1(process). Rewarding the outcome alone is the paper's ablation.

pub mod calibration;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::protocol::{Protocol, Yields};
use calibration::Calibration;
use juror_data::verdict::{Confidence, OutcomeSource, Status, Verdict};

/// How a verdict becomes a reward, from 0 to 1.
#[warn(missing_docs)]
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

named! {
    /// How the rule-based verifier is used.
    #[warn(missing_docs)]
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum RulesMode {
        /// It gives the outcome where the judge's verdict is unreadable.
        #[default]
        Fallback = "fallback",
        /// It goes first: where it says wrong, the model is not asked. Otherwise as [`Self::Fallback`].
        First = "first",
        /// It alone decides the outcome; no model is needed, and the process stays unknown.
        Only = "only",
        /// It is not used.
        Off = "off",
    }
}

/// What each field is worth under [`RewardPolicy::Weighted`]: 0 or more, not all 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Weights {
    pub process: f64,
    pub outcome: f64,
    /// The perfect field.
    pub perfect: f64,
}

impl Weights {
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

const NAMED: [(&str, RewardPolicy); 6] = [
    ("process-outcome", RewardPolicy::ProcessOutcome),
    ("outcome", RewardPolicy::Outcome),
    ("perfect-bonus", RewardPolicy::PerfectBonus),
    ("soft", RewardPolicy::Soft),
    ("score", RewardPolicy::Score),
    ("parts", RewardPolicy::Parts),
];

#[warn(missing_docs)]
impl RewardPolicy {
    /// The policy where the user names none: the score of a protocol that gives one, and of one that does not judge the process, the outcome.
    pub fn default_for(yields: Yields) -> Self {
        if yields.score {
            Self::Score
        } else if yields.process {
            Self::ProcessOutcome
        } else {
            Self::Outcome
        }
    }

    /// Why this policy cannot be used where the rules decide; `None` if it can. They say nothing of the process.
    pub fn refused_with(self, rules: RulesMode) -> Option<&'static str> {
        let is_refused = match (self, rules) {
            (Self::Weighted(of), RulesMode::First | RulesMode::Only) => {
                of.process + of.perfect > 0.0
            }
            (Self::Soft | Self::Score, RulesMode::Only) => true,
            _ => false,
        };
        is_refused.then_some("what the rules decide is judged no further, and this reward needs more; use --reward process-outcome or outcome")
    }

    /// Why this policy cannot be used with this protocol; `None` if it can.
    pub fn refused_by(self, protocol: &Protocol, mode: RulesMode) -> Option<&'static str> {
        let rules = mode != RulesMode::Off;
        let yields = protocol.yields();
        let (mut process, mut outcome, mut perfect) = (false, true, false);
        match self {
            Self::Score if yields.score => return None,
            Self::Score => return Some("it gives no score"),
            Self::Soft if !protocol.form.has_odds() => {
                return Some("no probabilities are recorded of what it says");
            }
            Self::Soft if yields.score => return None,
            Self::Weighted(_) if self.refused_with(mode).is_some() => {
                return self.refused_with(mode);
            }
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
            let parts = parts.map(|(name, weight)| format!("{name}={weight}"));
            let parts: Vec<String> = parts.collect();
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

/// The reward of a verdict under a protocol that judges `yields`, from 0 to 1; `None` unless the status is [`Status::Ok`] and what is known decides it. With
/// `require_process` it is 0 where the process is wrong, and `None` where that is not known of a verdict that would be worth something.
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
        RewardPolicy::Soft if yields.score => verdict.confidence.as_written().score,
        RewardPolicy::Soft => {
            let confidence =
                calibration.map_or(verdict.confidence, |own| own.apply(&verdict.confidence));
            soft(yields, verdict, confidence.as_written())
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

fn soft(yields: Yields, verdict: &Verdict, confidence: Confidence<f64>) -> Option<f64> {
    let by_rules = verdict.outcome_source == Some(OutcomeSource::Rules);
    let of_outcome = match (by_rules, verdict.outcome) {
        (true, outcome) => outcome.map(one),
        (false, _) => confidence.outcome,
    };
    if of_outcome == Some(0.0) {
        return of_outcome;
    }
    let of_process = if yields.process {
        confidence.process?
    } else {
        1.0
    };
    Some(of_process * of_outcome?)
}

#[cfg(test)]
mod tests;
