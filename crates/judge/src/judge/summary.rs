//! A run in numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::DeviceStats;
use super::read::completion::NOT_SURE;
use super::text::domain::RefusalRates;
use super::together::consensus::ConsensusSummary;
use super::together::groups::GroupSummary;
use juror_data::verdict::{OutcomeSource, Status, Usage, Verdict};
use juror_engine::engine::Stats;

/// How many of some verdicts have a property.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    pub count: usize,
    pub known: usize,
}

impl Share {
    pub fn add(&mut self, value: Option<bool>) {
        if let Some(value) = value {
            self.count += usize::from(value);
            self.known += 1;
        }
    }

    /// The 95 % interval of the share that this one estimates; `None` of nothing.
    pub fn interval(self) -> Option<(f64, f64)> {
        let (count, known) = (self.count as f64, self.known as f64);
        (self.known > 0).then(|| wilson_of_share(count / known, known).into())
    }
}

/// The 95 % interval of a share `p` in `n` rows (Wilson's score interval); `n` is above 0 and not necessarily whole: an effective number
/// where rows are not independent.
pub fn wilson_of_share(p: f64, n: f64) -> [f64; 2] {
    /// The quantile of the normal distribution that leaves 2.5 % on either side.
    const Z: f64 = 1.959_963_984_540_054;
    let centre = p + Z * Z / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    // At the ends rounding may exceed the range.
    let low = ((centre - half) / scale).max(0.0);
    let high = ((centre + half) / scale).min(1.0);
    [
        if p <= 0.0 { 0.0 } else { low },
        if p >= 1.0 { 1.0 } else { high },
    ]
}

/// How often a judge names the first wrong step that the data names (`ProcessBench`, arXiv 2412.06559).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FirstErrors {
    /// Responses with a wrong step, and the share of them whose first wrong step the judge names.
    pub erroneous: Share,
    /// Responses without a wrong step, and the share of them that the judge calls free of error.
    pub correct: Share,
    /// Answers that could be read, whatever the data says.
    read: usize,
}

impl FirstErrors {
    /// Adds a verdict whose row was kept with the `label` of the first wrong step, -1 for none. What cannot be read is wrong.
    fn add(&mut self, verdict: &Verdict) {
        let is_read = verdict.status == Status::Ok && !verdict.step_rewards.is_empty();
        self.read += usize::from(is_read);
        let Some(label) = verdict.input.get("label").and_then(Value::as_i64) else {
            return;
        };
        let share = if label < 0 {
            &mut self.correct
        } else {
            &mut self.erroneous
        };
        let labelled = usize::try_from(label).ok();
        share.add(Some(is_read && verdict.first_error == labelled));
    }

    /// The harmonic mean of both shares; `None` where one of them is of nothing, or no answer names a step.
    pub fn f1(&self) -> Option<f64> {
        if self.read == 0 {
            return None;
        }
        let share =
            |share: Share| (share.known > 0).then(|| share.count as f64 / share.known as f64);
        let (erroneous, correct) = (share(self.erroneous)?, share(self.correct)?);
        // The inverse of 0 is infinite, and their mean 0.
        Some(2.0 / (erroneous.recip() + correct.recip()))
    }
}

/// Criteria whose mean scores a summary keeps, by their names.
const NAMED_CRITERIA: usize = 40;

/// Samples whose ids a summary keeps, to show a few.
const SHOWN_IDS: usize = 5;

/// Outcomes that the rules must decide before a summary says that the judge is at odds with them.
const LEAST_COMPARED: usize = 10;

/// Outcomes that a judge must find alike before a summary says that it says one thing to everything.
const LEAST_SAID: usize = 20;

/// The least share of them on which judge and rules must agree.
const LEAST_AGREEMENT: f64 = 0.8;

/// Counts over the verdicts of a run, resumed ones included.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// Verdicts that were not given for a fault that can pass: the same command asks again.
    pub open: usize,
    /// What one of those that failed says.
    pub first_failure: Option<String>,
    pub(crate) by_status: BTreeMap<Status, usize>,
    /// Of those out of domain, how many the judge is not sure of; of the others it says so.
    pub not_sure: usize,
    /// Verdicts with a reward, and the sum of the rewards.
    pub rewards: (usize, f64),
    pub process: Share,
    /// Verdicts that are `ok` and whose outcome is right.
    pub outcome: Share,
    pub overall: Share,
    /// Right final answers whose derivation the judge refuses: lucky guesses, and its own errors.
    pub lucky_guesses: usize,
    /// Right final answers whose derivation it judges.
    pub right_outcomes: usize,
    /// How often the judge refuses such a derivation, if its makers say so.
    pub(super) refuses: Option<RefusalRates>,
    pub scored: usize,
    /// Of each criterion with a name: how often it was graded, and the sum of the scores.
    pub criteria: BTreeMap<String, (usize, f64)>,
    /// How often the first wrong step is the one that the data names.
    pub first_errors: FirstErrors,
    pub inconsistent: usize,
    /// Samples the rules decided before the model was asked.
    pub skipped: usize,
    /// Verdicts whose answers were known: the model was not asked.
    pub reused: usize,
    /// Outcomes that the judge finds right, of those audited, which the rules find wrong.
    pub audited: Share,
    /// Outcomes that the rules gave because the judge's could not be read.
    pub outcomes_by_rules: usize,
    /// Verdicts where judge and rules agree, of those where both gave an outcome.
    pub agreement: Share,
    /// Outcomes that the judge itself finds right.
    pub said: Share,
    /// The ids of the first samples on which they disagree.
    pub disagreeing: Vec<String>,
    /// What the trials of each sample say together, once a run of several trials is complete.
    pub consensus: Option<ConsensusSummary>,
    /// Questions with several rewards, once the run has ended.
    pub groups: Option<GroupSummary>,
    /// Tokens of all verdicts, as their lines say: those of an answer that was known count for each verdict that is read from it.
    /// So they are the same in a run that goes on, in a complete one that is run again, and of merged shards.
    pub tokens: Usage,
    /// Of these, the tokens of answers that were known in this run, which were not spent.
    pub reused_tokens: Usage,
    /// What a million tokens of prompts and of answers cost, if that is known.
    pub price: Option<(f64, f64)>,
    /// Requests of this run that a server was asked again without their form, which it had refused.
    pub without_form: usize,
    /// Why answers were not kept in the cache, if they were not.
    pub cache_failure: Option<String>,
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
    pub fn add(&mut self, verdict: &Verdict) {
        *self.by_status.entry(verdict.status).or_default() += 1;
        self.open += usize::from(verdict.open);
        if let Some(reward) = verdict.reward {
            self.rewards.0 += 1;
            self.rewards.1 += reward;
        }
        self.not_sure += usize::from(
            verdict.status == Status::OutOfDomain && verdict.error.as_deref() == Some(NOT_SURE),
        );
        self.process.add(verdict.process);
        // What the rules say in place of a judge that said nothing is counted apart.
        if verdict.status == Status::Ok {
            self.outcome.add(verdict.outcome);
        }
        self.overall.add(verdict.overall);
        if verdict.outcome == Some(true) && verdict.process.is_some() {
            self.right_outcomes += 1;
            self.lucky_guesses += usize::from(verdict.process == Some(false));
        }
        self.inconsistent += usize::from(verdict.inconsistent);
        self.scored += usize::from(verdict.score.is_some());
        for criterion in &verdict.criteria {
            let name = &criterion.name;
            // A number is no name: it may stand for another criterion in each row.
            let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
            let has_room = self.criteria.len() < NAMED_CRITERIA;
            if !is_number && (has_room || self.criteria.contains_key(name)) {
                let (count, sum) = self.criteria.entry(name.clone()).or_default();
                *count += 1;
                *sum += criterion.score;
            }
        }
        self.first_errors.add(verdict);
        if self.first_failure.is_none() && verdict.status == Status::Failed {
            self.first_failure.clone_from(&verdict.error);
        }
        self.skipped += usize::from(verdict.skipped);
        self.outcomes_by_rules +=
            usize::from(verdict.status != Status::Ok && verdict.outcome_source.is_some());
        // What was taken back counts too: its probability tells what it was.
        let by_judge = match verdict.status {
            Status::OutOfDomain | Status::Unsure => verdict.confidence.outcome.map(|p| p > 0.5),
            _ if verdict.outcome_source == Some(OutcomeSource::Judge) => verdict.outcome,
            _ => None,
        };
        if verdict.audited {
            self.audited.add(by_judge);
        }
        self.said.add(by_judge);
        if let Some(outcome) = by_judge {
            let agrees = verdict.rule_outcome.map(|by_rules| by_rules == outcome);
            self.agreement.add(agrees);
            let ids = &mut self.disagreeing;
            if agrees == Some(false) && ids.len() < SHOWN_IDS && !ids.contains(&verdict.id) {
                ids.push(verdict.id.clone());
            }
        }
        self.tokens += verdict.usage;
        if verdict.reused {
            self.reused += 1;
            self.reused_tokens += verdict.usage;
        }
    }

    /// How many of [`Self::lucky_guesses`] are likely to be that, by the rates that the judge's makers measured; `None` without them.
    pub fn likely_lucky(&self) -> Option<f64> {
        let refuses = self.refuses?;
        Some(refuses.lucky_guesses(self.lucky_guesses, self.right_outcomes))
    }

    /// Have wrong results a reward, and right ones none, since nothing is known of a process?
    pub fn rewards_only_wrong(&self) -> bool {
        let unknown = self.process.known == 0 && self.scored == 0;
        unknown && self.rewards.1 <= 0.0 && self.rewards.0 < self.count(Status::Ok)
    }

    /// `None` where it would be that of wrong results alone.
    pub fn mean_reward(&self) -> Option<f64> {
        let (rewarded, sum) = self.rewards;
        (rewarded > 0 && !self.rewards_only_wrong()).then(|| sum / rewarded as f64)
    }

    /// The summary as JSON, for programs: counts, no text to be shown. `schema` changes when a key changes its meaning.
    pub fn to_json(&self) -> Value {
        let share = |share: Share| json!({"true": share.count, "known": share.known});
        json!({
            "schema": 3,
            "juror": env!("CARGO_PKG_VERSION"),
            "verdicts": self.verdicts(),
            "by_status": self.by_status,
            "open": self.open,
            "not_sure_of_domain": self.not_sure,
            "process": share(self.process),
            "outcome": share(self.outcome),
            "overall": share(self.overall),
            "reward": {"known": self.rewards.0, "mean": self.mean_reward()},
            "lucky_guesses": self.lucky_guesses,
            "right_outcomes": self.right_outcomes,
            "likely_lucky": self.likely_lucky(),
            "criteria": self.criteria.iter().map(|(name, (count, sum))| {
                (name.clone(), json!({"known": count, "mean": sum / *count as f64}))
            }).collect::<serde_json::Map<_, _>>(),
            "first_error": self.first_errors.f1().map(|f1| json!({
                "erroneous": share(self.first_errors.erroneous),
                "correct": share(self.first_errors.correct),
                "f1": f1,
            })),
            "inconsistent": self.inconsistent,
            "skipped": self.skipped,
            "reused": self.reused,
            "audited": share(self.audited),
            "audited_interval": self.audited.interval(),
            "outcomes_by_rules": self.outcomes_by_rules,
            "rules_agree": share(self.agreement),
            "rules_disagree_ids": self.disagreeing,
            "at_odds_with_rules": self.is_at_odds_with_rules(),
            "consensus": self.consensus.map(|consensus| json!({
                "overall": share(consensus.overall),
                "unanimous": share(consensus.unanimous),
                "hard": share(consensus.hard),
            })),
            "groups": self.groups.map(|groups| json!({
                "groups": groups.groups,
                "all_0": groups.all_0,
                "all_1": groups.all_1,
            })),
            "usage": self.tokens,
            "cost": self.cost(),
            "asked_without_form": self.without_form,
            "resumed": self.resumed,
            "seconds": self.elapsed.as_secs_f64(),
            "verdicts_per_second": self.verdicts_per_second(),
        })
    }

    /// What the tokens of all verdicts cost, where their price is known; of those that a server had in its cache, and of answers that were known, too.
    pub fn cost(&self) -> Option<f64> {
        let (prompt, answer) = self.price?;
        let (read, written) = (self.tokens.prompt_tokens, self.tokens.completion_tokens);
        Some((read as f64 * prompt + written as f64 * answer) / 1e6)
    }

    pub fn count(&self, status: Status) -> usize {
        self.by_status.get(&status).copied().unwrap_or(0)
    }

    pub fn verdicts(&self) -> usize {
        self.by_status.values().sum()
    }

    /// What the judge says of every outcome, if it says the same of at least twenty.
    pub fn says_one_thing(&self) -> Option<bool> {
        let Share { count, known } = self.said;
        (known >= LEAST_SAID && (count == 0 || count == known)).then_some(count > 0)
    }

    /// Do the rules decide enough outcomes to compare the judge with?
    pub fn is_compared_with_rules(&self) -> bool {
        self.agreement.known >= LEAST_COMPARED
    }

    /// Do judge and rules disagree so often that the verdicts are in doubt: on more than a fifth of at least ten outcomes?
    pub fn is_at_odds_with_rules(&self) -> bool {
        let Share { count, known } = self.agreement;
        self.is_compared_with_rules() && (count as f64) < LEAST_AGREEMENT * known as f64
    }

    /// True if every verdict is `ok`.
    pub fn all_ok(&self) -> bool {
        self.count(Status::Ok) == self.verdicts()
    }

    /// Verdicts a second in this run; `None` when nothing was left to judge.
    pub fn verdicts_per_second(&self) -> Option<f64> {
        let judged = self.verdicts() - self.resumed;
        (judged > 0 && !self.elapsed.is_zero()).then(|| judged as f64 / self.elapsed.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_wilson() {
        // Figures of Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
        for (count, known, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let (below, above) = Share { count, known }.interval().unwrap();
            assert!(
                (below - low).abs() < 5e-5 && (above - high).abs() < 5e-5,
                "{count} of {known}: {below} {above}"
            );
        }
        assert_eq!(Share::default().interval(), None);
    }
}
