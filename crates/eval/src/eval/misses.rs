//! How a verdict differs from its label, in the categories by which people look through a judge's mistakes.

use serde::Serialize;

use super::measures::Task;
use super::scored::{Labelled, Scored};
use juror_data::verdict::Status;

/// The probability from which a judge counts as sure.
const SURE: f64 = 0.9;

named! {
    /// How a verdict differs from its label, or from the rules.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Miss {
        /// A right final answer from a flawed derivation, judged right overall.
        MissedLuckyGuess = "missed_lucky_guess",
        /// Right overall, but judged wrong.
        FalseAlarm = "false_alarm",
        /// Wrong overall, but judged right.
        FalsePass = "false_pass",
        /// The final answer is judged otherwise than its label says.
        OutcomeMiss = "outcome_miss",
        /// The derivation is judged otherwise than its label says.
        ProcessMiss = "process_miss",
        /// The judge and the rules differ on the final answer.
        RulesAgainstJudge = "rules_against_judge",
        /// The rules and the judge, who is sure as far as its probability is known, agree on the final answer against the label.
        LabelDoubtful = "label_doubtful",
        /// No verdict could be read.
        NoVerdict = "no_verdict",
    }
}

impl Miss {
    /// Whether a verdict differs in this way.
    pub(crate) fn is_of(self, scored: &Scored, labelled: &Labelled) -> bool {
        let said = (scored.overall, labelled.overall);
        match self {
            Self::MissedLuckyGuess => {
                said == (Some(true), Some(false)) && labelled.outcome == Some(true)
            }
            Self::FalseAlarm => said == (Some(false), Some(true)),
            Self::FalsePass => said == (Some(true), Some(false)),
            Self::OutcomeMiss => differ(scored.outcome, labelled.outcome),
            Self::ProcessMiss => differ(scored.process, labelled.process),
            Self::RulesAgainstJudge => differ(scored.outcome, scored.rules),
            Self::LabelDoubtful => {
                !scored.outcome_by_rules
                    && is_sure(scored, Task::Outcome)
                    && differ(scored.outcome, labelled.outcome)
                    && scored.rules == scored.outcome
            }
            Self::NoVerdict => scored.status != Status::Ok,
        }
    }

    /// Every way in which a verdict differs.
    pub fn all_of(scored: &Scored, labelled: &Labelled) -> Vec<Self> {
        let mut all = Self::ALL.to_vec();
        all.retain(|miss| miss.is_of(scored, labelled));
        all
    }
}

/// Whether a judge is sure of its answer; it counts as sure if its probability is not known.
pub fn is_sure(scored: &Scored, task: Task) -> bool {
    task.probability(scored)
        .is_none_or(|probability| probability.max(1.0 - probability) >= SURE)
}

/// Whether two answers differ, if both are there.
fn differ(one: Option<bool>, other: Option<bool>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}
