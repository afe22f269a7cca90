//! A run in numbers.

use std::time::Duration;

use super::DeviceStats;
use crate::engine::Stats;
use crate::verdict::{Status, Verdict};

/// Counts over the verdicts of a run, resumed ones included.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Verdicts by status: ok, unparsed, too long, failed.
    pub by_status: [usize; 4],
    /// Verdicts with a reward, and the sum of the rewards.
    pub rewards: (usize, f64),
    /// Verdicts whose process is known, and those where it is true.
    pub process: (usize, usize),
    /// The same of the outcome.
    pub outcome: (usize, usize),
    /// The same of overall.
    pub overall: (usize, usize),
    /// Right final answers from flawed derivations.
    pub lucky_guesses: usize,
    /// Verdicts that contradict themselves.
    pub inconsistent: usize,
    /// Samples the rules decided before the model was asked.
    pub skipped: usize,
    /// Outcomes that the rules gave because the judge's could not be read.
    pub outcomes_by_rules: usize,
    /// Trials where judge and rules both gave an outcome, and those where they agree.
    pub agreement: (usize, usize),
    /// Tokens of all prompts, found in the cache, and generated.
    pub tokens: [usize; 3],
    /// Verdicts that an earlier run had finished.
    pub resumed: usize,
    /// Time from the first request to the last verdict of this run.
    pub elapsed: Duration,
    /// The share of the weights that is loaded, while they are.
    pub loaded: f64,
    /// The engine's sizes in words, once it is built; of several, each with its device.
    pub sizes: Option<String>,
    /// What the engines did in this run, all together.
    pub engine: Stats,
    /// What each device did in this run.
    pub devices: Vec<DeviceStats>,
}

impl Summary {
    /// Adds a verdict.
    pub fn add(&mut self, verdict: &Verdict) {
        let status = match verdict.status {
            Status::Ok => 0,
            Status::Unparsed => 1,
            Status::TooLong => 2,
            Status::Failed => 3,
        };
        self.by_status[status] += 1;
        if let Some(reward) = verdict.reward {
            self.rewards.0 += 1;
            self.rewards.1 += reward;
        }
        for (counts, value) in [
            (&mut self.process, verdict.process),
            (&mut self.outcome, verdict.outcome),
            (&mut self.overall, verdict.overall),
        ] {
            if let Some(value) = value {
                counts.0 += 1;
                counts.1 += usize::from(value);
            }
        }
        self.lucky_guesses +=
            usize::from(verdict.outcome == Some(true) && verdict.process == Some(false));
        self.inconsistent += usize::from(verdict.inconsistent);
        self.skipped += usize::from(verdict.skipped);
        self.outcomes_by_rules +=
            usize::from(verdict.status != Status::Ok && verdict.outcome_source.is_some());
        if let (Some(crate::verdict::OutcomeSource::Judge), Some(outcome), Some(rule)) = (
            verdict.outcome_source,
            verdict.outcome,
            verdict.rule_outcome,
        ) {
            self.agreement.0 += 1;
            self.agreement.1 += usize::from(outcome == rule);
        }
        let usage = &verdict.usage;
        for (sum, tokens) in self.tokens.iter_mut().zip([
            usage.prompt_tokens,
            usage.cached_tokens,
            usage.completion_tokens,
        ]) {
            *sum += tokens;
        }
    }

    /// All verdicts.
    pub fn verdicts(&self) -> usize {
        self.by_status.iter().sum()
    }

    /// True if every verdict is `ok`.
    pub fn all_ok(&self) -> bool {
        self.by_status[0] == self.verdicts()
    }

    /// Verdicts a second in this run; `None` when nothing was left to judge.
    pub fn verdicts_per_second(&self) -> Option<f64> {
        let judged = self.verdicts() - self.resumed;
        (judged > 0 && !self.elapsed.is_zero()).then(|| judged as f64 / self.elapsed.as_secs_f64())
    }
}
