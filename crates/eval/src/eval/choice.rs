//! Which of several judges to use: what each costs, and what it loses against the best.

use std::cmp::Ordering;

use schemars::JsonSchema;
use serde::Serialize;

use super::Evaluation;
use super::compare::Comparison;
use super::measures::{Share, Task};
use super::scored::{Samples, Verdicts};

/// What the cost of a verdict is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CostUnit {
    /// Billions of parameters that work on a token, times the tokens generated.
    ParametersTimesTokens,
    /// The tokens generated: the parameters of some judge are not known.
    Tokens,
}

/// One judge among several.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Choice {
    /// The verdicts' file.
    pub verdicts: String,
    /// What a verdict costs.
    pub cost: f64,
    /// How often it is right.
    pub accuracy: Share,
    /// What it adds to the best judge's accuracy and F1, on the same samples; null for the best.
    pub against_best: Option<Comparison>,
    /// A judge that costs no more and is right no less often, and better in one of both: then this one is not worth choosing.
    pub dominated_by: Option<String>,
}

/// Several judges, the cheapest first.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Choices {
    /// What they are judged by.
    pub task: Task,
    /// What the cost is counted in.
    pub unit: CostUnit,
    /// The judges.
    pub judges: Vec<Choice>,
}

impl Choices {
    /// The choices among at least two judges; `None` if they have no task in common, or generated nothing.
    pub fn new(judges: &[(&Evaluation, &Verdicts)], samples: &Samples) -> Option<Self> {
        let has = |task: &Task| {
            judges
                .iter()
                .all(|(evaluation, _)| evaluation.all.tasks.contains_key(task))
        };
        let task = [Task::Overall, Task::Outcome].into_iter().find(has)?;
        let known = judges
            .iter()
            .all(|(evaluation, _)| evaluation.cost.is_some());
        let unit = if known {
            CostUnit::ParametersTimesTokens
        } else {
            CostUnit::Tokens
        };
        let cost = |evaluation: &Evaluation| match unit {
            CostUnit::ParametersTimesTokens => evaluation.cost,
            CostUnit::Tokens => evaluation.all.tokens.map(|tokens| tokens.mean),
        };
        let mut all = judges
            .iter()
            .map(|&(evaluation, verdicts)| {
                let accuracy = evaluation.all.tasks.get(&task)?.accuracy;
                Some((evaluation, verdicts, accuracy, cost(evaluation)?))
            })
            .collect::<Option<Vec<_>>>()?;
        if all.len() < 2 || all.iter().all(|(_, _, _, cost)| *cost == 0.0) {
            return None;
        }
        all.sort_by(|a, b| a.3.total_cmp(&b.3).then(b.2.share.total_cmp(&a.2.share)));
        // Of equally good judges the cheapest is the best.
        let best = all
            .iter()
            .rev()
            .max_by(|a, b| a.2.share.total_cmp(&b.2.share))?;
        let choices = all.iter().map(|one| {
            let is_best = std::ptr::eq(one, best);
            let against_best = if is_best {
                None
            } else {
                Comparison::new(task, &best.1.scored, &one.1.scored, samples)
                    .map(|(comparison, _)| comparison)
            };
            let dominates = |other: &&(_, _, Share, f64)| {
                let (cheaper, better) = (
                    other.3.total_cmp(&one.3),
                    other.2.share.total_cmp(&one.2.share),
                );
                cheaper != Ordering::Greater
                    && better != Ordering::Less
                    && (cheaper, better) != (Ordering::Equal, Ordering::Equal)
            };
            Choice {
                verdicts: one.0.verdicts.clone(),
                cost: one.3,
                accuracy: one.2,
                against_best,
                dominated_by: all
                    .iter()
                    .find(dominates)
                    .map(|other: &(&Evaluation, &Verdicts, Share, f64)| other.0.verdicts.clone()),
            }
        });
        Some(Self {
            task,
            unit,
            judges: choices.collect(),
        })
    }
}
