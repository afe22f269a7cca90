//! Which of several judges to use: what each costs, and what it loses against the best.

use std::cmp::Ordering;
use std::collections::HashSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::Evaluation;
use super::compare::Comparison;
use super::measures::{Measures, Scores, Share, Task};
use super::scored::{Samples, Scored, Verdicts};
use super::statistics::RESAMPLES;

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
    /// What a verdict costs, on the samples that all judges have verdicts on.
    pub cost: f64,
    /// How often it is right on them.
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
    /// The choices among at least two judges, on the samples that all of them judged; `None` if there are none, if they have no task in
    /// common whose labels are of both kinds, or generated nothing.
    pub fn new(judges: &[(&Evaluation, &Verdicts)], samples: &Samples) -> Option<Self> {
        let shared = shared_samples(judges);
        let measured = judges.iter().map(|(evaluation, verdicts)| {
            let of_shared = |one: &&Scored| shared.contains(&one.sample);
            let scored: Vec<Scored> = (verdicts.scored.iter().filter(of_shared).copied()).collect();
            let measures = Measures::new(&scored, samples, RESAMPLES, |_| true);
            (*evaluation, scored, measures)
        });
        let measured: Vec<(&Evaluation, Vec<Scored>, Measures)> = measured.collect();
        let tells = |of: &Scores| of.one_label().is_none();
        let has =
            |task: &Task| (measured.iter()).all(|(.., of)| of.tasks.get(task).is_some_and(tells));
        let task = Task::ALL.into_iter().find(has)?;
        let known = judges.iter().all(|(of, _)| of.activated.is_some());
        let (sized, bare) = (CostUnit::ParametersTimesTokens, CostUnit::Tokens);
        let unit = if known { sized } else { bare };
        let mut all = measured
            .iter()
            .map(|(evaluation, scored, of)| {
                let accuracy = of.tasks.get(&task)?.accuracy;
                let factor = evaluation.activated.filter(|_| known).unwrap_or(1.0);
                Some((*evaluation, scored, accuracy, factor * of.tokens?.mean))
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
                Comparison::new(task, best.1, one.1, samples).map(|(comparison, _)| comparison)
            };
            let dominates = |other: &&(&Evaluation, &Vec<Scored>, Share, f64)| {
                let cheaper = other.3.total_cmp(&one.3);
                let better = other.2.share.total_cmp(&one.2.share);
                cheaper != Ordering::Greater
                    && better != Ordering::Less
                    && (cheaper, better) != (Ordering::Equal, Ordering::Equal)
            };
            Choice {
                verdicts: one.0.verdicts.clone(),
                cost: one.3,
                accuracy: one.2,
                against_best,
                dominated_by: (all.iter().find(dominates)).map(|other| other.0.verdicts.clone()),
            }
        });
        Some(Self {
            task,
            unit,
            judges: choices.collect(),
        })
    }

    /// Whether one of them is worth choosing, in words; `name` is what a judge is called by the path of its verdicts.
    pub fn worth(&self, choice: &Choice, name: impl Fn(&str) -> String) -> String {
        let best = self.judges.iter().find(|one| one.against_best.is_none());
        let cheaper = best.is_some_and(|best| choice.cost < best.cost);
        match &choice.dominated_by {
            Some(better) => format!("no: {} costs no more and is right as often", name(better)),
            None if choice.against_best.is_none() => "the best".to_owned(),
            None if cheaper => "cheaper".to_owned(),
            None => "costs as much and is right as often as the best".to_owned(),
        }
    }
}

pub fn shared_samples(judges: &[(&Evaluation, &Verdicts)]) -> HashSet<u32> {
    let of = |(_, verdicts): &(&Evaluation, &Verdicts)| -> HashSet<u32> {
        verdicts.scored.iter().map(|one| one.sample).collect()
    };
    (judges.iter().map(of).reduce(|some, more| &some & &more)).unwrap_or_default()
}
