//! The verdicts that a report shows: those with a disagreement.

use std::collections::{BTreeMap, HashSet};

use super::JudgeResults;
use crate::eval::{Labelled, Miss, Samples, Scored, Task, is_sure};
use juror_data::id_hash;

/// Why a verdict is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DisagreementKind {
    /// It differs from its label, or from the rules.
    Miss(Miss),
    /// Another judge says something else.
    JudgeAgainstJudge,
}

impl DisagreementKind {
    /// Every kind, in the order of a report.
    pub(super) const ALL: [Self; Miss::ALL.len() + 1] = [
        Self::Miss(Miss::MissedLuckyGuess),
        Self::Miss(Miss::FalsePass),
        Self::Miss(Miss::FalseAlarm),
        Self::Miss(Miss::OutcomeMiss),
        Self::Miss(Miss::ProcessMiss),
        Self::Miss(Miss::NoVerdict),
        Self::Miss(Miss::RulesAgainstJudge),
        Self::JudgeAgainstJudge,
        Self::Miss(Miss::LabelDoubtful),
    ];

    /// Its name in the page's markup.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Miss(miss) => miss.name(),
            Self::JudgeAgainstJudge => "judge_against_judge",
        }
    }

    pub(super) fn title(self) -> String {
        self.name().replace('_', " ")
    }

    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Miss(Miss::MissedLuckyGuess) => {
                "right final answer, flawed derivation, judged right overall"
            }
            Self::Miss(Miss::FalsePass) => "judged right overall, labelled wrong",
            Self::Miss(Miss::FalseAlarm) => "judged wrong overall, labelled right",
            Self::Miss(Miss::OutcomeMiss) => "wrong about the final answer",
            Self::Miss(Miss::NoVerdict) => "no verdict could be read, or the judge gave none",
            Self::Miss(Miss::RulesAgainstJudge) => {
                "the rules say something else of the final answer"
            }
            Self::Miss(Miss::LabelDoubtful) => {
                "judge and rules, or all judges, agree surely against the label of the final answer"
            }
            Self::Miss(Miss::ProcessMiss) => "wrong about the derivation",
            Self::JudgeAgainstJudge => "a compared judge says something else",
        }
    }
}

/// A verdict of the first judge with which a label, the rules or another judge disagree.
#[derive(Debug, Clone)]
pub(super) struct Disagreement {
    /// Its index among the first judge's verdicts.
    pub(super) verdict: usize,
    /// The kinds of disagreement, in the order of [`DisagreementKind::ALL`].
    pub(super) kinds: Vec<DisagreementKind>,
}

/// All disagreements, in the order of the verdicts.
#[derive(Debug, Default)]
pub(super) struct Disagreements {
    pub(super) all: Vec<Disagreement>,
    pub(super) counts: BTreeMap<DisagreementKind, usize>,
}

impl Disagreements {
    pub(super) fn new(judges: &[JudgeResults<'_>], samples: &Samples) -> Self {
        let mut found = Self::default();
        let Some((first, others)) = judges.split_first() else {
            return found;
        };
        for (verdict, scored) in first.verdicts.scored.iter().enumerate() {
            let Some(labelled) = samples.labelled.get(scored.sample as usize) else {
                continue;
            };
            let same: Vec<&Scored> = others
                .iter()
                .filter_map(|other| other.verdict(scored.sample, scored.trial))
                .collect();
            // All judges, at least two, agree on a final answer and are sure.
            let all_say = |wrong: bool| {
                let says = |one: &Scored| one.outcome == Some(wrong) && is_sure(one, Task::Outcome);
                !same.is_empty() && says(scored) && same.iter().all(|one| says(one))
            };
            let is_of = |kind: &DisagreementKind| match kind {
                DisagreementKind::Miss(Miss::LabelDoubtful) => {
                    Miss::LabelDoubtful.is_of(scored, labelled)
                        || labelled.outcome.is_some_and(|label| all_say(!label))
                }
                DisagreementKind::Miss(miss) => miss.is_of(scored, labelled),
                DisagreementKind::JudgeAgainstJudge => same.iter().any(|other| {
                    differ(scored, other) || flips(scored, other, labelled).next().is_some()
                }),
            };
            let kinds: Vec<DisagreementKind> =
                DisagreementKind::ALL.into_iter().filter(is_of).collect();
            for kind in &kinds {
                *found.counts.entry(*kind).or_default() += 1;
            }
            if !kinds.is_empty() {
                found.all.push(Disagreement { verdict, kinds });
            }
        }
        found
    }

    /// The indices of at most `most` of them. Kinds take turns, and those of a kind are in the order of hashes of their ids:
    /// if there are more, every kind has its share, and the same files give the same choice.
    pub(super) fn chosen(
        &self,
        first: &JudgeResults<'_>,
        samples: &Samples,
        most: usize,
    ) -> Vec<usize> {
        let hash = |at: &usize| {
            let scored = &first.verdicts.scored[self.all[*at].verdict];
            (id_hash(samples.id(scored.sample)), scored.trial)
        };
        let mut of_kinds: Vec<std::vec::IntoIter<usize>> = DisagreementKind::ALL
            .into_iter()
            .map(|kind| {
                let has = |at: &usize| self.all[*at].kinds.contains(&kind);
                let mut of_kind: Vec<usize> = (0..self.all.len()).filter(has).collect();
                of_kind.sort_by_cached_key(hash);
                of_kind.into_iter()
            })
            .collect();
        let mut taken = HashSet::new();
        let mut chosen = Vec::new();
        loop {
            let before = chosen.len();
            for of_kind in &mut of_kinds {
                if chosen.len() < most
                    && let Some(at) = of_kind.find(|at| !taken.contains(at))
                {
                    taken.insert(at);
                    chosen.push(at);
                }
            }
            if chosen.len() == before {
                return chosen;
            }
        }
    }
}

/// Whether two judges say different things, if both say something.
fn differ(one: &Scored, other: &Scored) -> bool {
    Task::ALL.into_iter().any(|task| {
        let said = task.prediction(one).zip(task.prediction(other));
        said.is_some_and(|(one, other)| one != other)
    })
}

/// The tasks on which exactly one of two judges is right, and whether that is the second.
pub(super) fn flips(
    first: &Scored,
    second: &Scored,
    labelled: &Labelled,
) -> impl Iterator<Item = (Task, bool)> {
    let flip = move |task: Task| {
        let label = task.label(labelled)?;
        let right = [first, second].map(|one| task.prediction(one) == Some(label));
        (right[0] != right[1]).then_some((task, right[1]))
    };
    Task::ALL.into_iter().filter_map(flip)
}
