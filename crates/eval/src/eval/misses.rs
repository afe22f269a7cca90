//! How a verdict misses its label: what a person who looks through a judge's mistakes asks for.

use serde::Serialize;

use super::measures::Task;
use super::scored::{Labelled, Scored};
use juror_data::verdict::Status;

/// The probability from which a judge is called sure of what it says.
const SURE: f64 = 0.9;

/// How a verdict misses its label, or differs from the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Miss {
    /// A right final answer from a flawed derivation, found right overall.
    MissedLuckyGuess,
    /// Right overall, and found wrong.
    FalseAlarm,
    /// Wrong overall, and found right.
    FalsePass,
    /// The final answer is not what the judge says of it.
    OutcomeMiss,
    /// The derivation is not what the judge says of it.
    ProcessMiss,
    /// The judge and the rules differ on the final answer.
    RulesAgainstJudge,
    /// The judge, sure where its probability is known, and the rules agree on the final answer, against the label.
    LabelDoubtful,
    /// No verdict could be read.
    NoVerdict,
}

impl Miss {
    /// Every kind.
    pub(crate) const ALL: [Self; 8] = [
        Self::MissedLuckyGuess,
        Self::FalseAlarm,
        Self::FalsePass,
        Self::OutcomeMiss,
        Self::ProcessMiss,
        Self::RulesAgainstJudge,
        Self::LabelDoubtful,
        Self::NoVerdict,
    ];

    /// Its name in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::MissedLuckyGuess => "missed_lucky_guess",
            Self::FalseAlarm => "false_alarm",
            Self::FalsePass => "false_pass",
            Self::OutcomeMiss => "outcome_miss",
            Self::ProcessMiss => "process_miss",
            Self::RulesAgainstJudge => "rules_against_judge",
            Self::LabelDoubtful => "label_doubtful",
            Self::NoVerdict => "no_verdict",
        }
    }

    /// Does a verdict miss its label in this way?
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

    /// Every way in which a verdict misses its label.
    pub fn all_of(scored: &Scored, labelled: &Labelled) -> Vec<Self> {
        let mut all = Self::ALL.to_vec();
        all.retain(|miss| miss.is_of(scored, labelled));
        all
    }
}

/// Is a judge sure of what it says? Where its probability is not known it is.
pub fn is_sure(scored: &Scored, task: Task) -> bool {
    task.probability(scored)
        .is_none_or(|probability| probability.max(1.0 - probability) >= SURE)
}

/// Do two answers differ, where both are there?
fn differ(one: Option<bool>, other: Option<bool>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}
