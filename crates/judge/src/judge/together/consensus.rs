//! What several trials of one sample say together.

use serde::Serialize;

use crate::judge::summary::Share;
use juror_data::verdict::{Status, Verdict};

/// How the trials of one sample voted on one field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Votes {
    #[serde(rename = "true")]
    pub yes: u32,
    #[serde(rename = "false")]
    pub no: u32,
}

impl Votes {
    pub fn add(&mut self, value: Option<bool>) {
        self.yes += u32::from(value == Some(true));
        self.no += u32::from(value == Some(false));
    }

    pub fn is_tied(self) -> bool {
        self.yes == self.no && self.yes > 0
    }

    /// What most trials say; `None` for a tie.
    pub fn majority(self) -> Option<bool> {
        (self.yes != self.no).then_some(self.yes > self.no)
    }

    /// The share of those who vote that say true; of votes on the whole this is C(q, r) of PRIME.
    pub fn share(self) -> Option<f64> {
        let all = self.yes + self.no;
        (all > 0).then(|| f64::from(self.yes) / f64::from(all))
    }

    /// Do some say true and some false? `None` where nobody votes.
    pub fn is_split(self) -> Option<bool> {
        (self.yes + self.no > 0).then_some(self.yes > 0 && self.no > 0)
    }
}

/// The trials of one sample together: a line of `--consensus`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Consensus {
    pub(crate) id: String,
    /// The sample's place in the input, from 0.
    pub(crate) index: usize,
    /// The id of the row, where that has a list of responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) group: Option<String>,
    pub(crate) trials: usize,
    /// How many of them are `ok`: the others do not vote.
    pub(crate) ok: usize,
    pub(crate) process: Option<bool>,
    pub(crate) outcome: Option<bool>,
    /// The majority on the whole: a vote of its own, not what follows from the two.
    pub(crate) overall: Option<bool>,
    /// The share of the trials with a known whole that hold it for right: C(q, r) of PRIME. A sample is hard to judge where it is neither 0 nor 1.
    pub(crate) c: Option<f64>,
    pub(crate) reward: Option<f64>,
    /// Their standard deviation: how far the trials are apart.
    pub(crate) spread: Option<f64>,
    pub(crate) process_votes: Votes,
    pub(crate) outcome_votes: Votes,
    pub(crate) overall_votes: Votes,
}

/// Takes verdicts in the order of the output, trials of one sample one after another.
#[derive(Debug, Default)]
pub struct ConsensusBuilder {
    now: Option<Consensus>,
    /// How many rewards, their sum, and that of their squares.
    rewards: (usize, f64, f64),
}

impl ConsensusBuilder {
    /// Adds a verdict; returns the sample before, if the verdict is of another.
    pub fn add(&mut self, verdict: &Verdict) -> Option<Consensus> {
        let is_other = self.now.as_ref();
        let is_other = is_other.is_some_and(|now| now.index != verdict.index);
        let before = if is_other { self.finish() } else { None };
        let now = self.now.get_or_insert_with(|| Consensus {
            id: verdict.id.clone(),
            index: verdict.index,
            group: verdict.group.clone(),
            ..Consensus::default()
        });
        now.trials += 1;
        if verdict.status == Status::Ok {
            now.ok += 1;
            now.process_votes.add(verdict.process);
            now.outcome_votes.add(verdict.outcome);
            now.overall_votes.add(verdict.overall);
        }
        // As the votes: those of other trials count for nothing.
        let reward = verdict.reward.filter(|_| verdict.status == Status::Ok);
        if let Some(reward) = reward {
            self.rewards.0 += 1;
            self.rewards.1 += reward;
            self.rewards.2 += reward * reward;
        }
        before
    }

    pub fn finish(&mut self) -> Option<Consensus> {
        let (count, sum, squares) = std::mem::take(&mut self.rewards);
        let mut now = self.now.take()?;
        now.process = now.process_votes.majority();
        now.outcome = now.outcome_votes.majority();
        now.overall = now.overall_votes.majority();
        now.c = now.overall_votes.share();
        now.reward = (count > 0).then(|| sum / count as f64);
        let spread = |mean: f64| (squares / count as f64 - mean * mean).max(0.0).sqrt();
        now.spread = now.reward.map(spread);
        Some(now)
    }
}

/// The consensus of all samples of a run, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConsensusSummary {
    /// Samples whose majority holds the whole for right, of those with a majority.
    pub overall: Share,
    /// Samples whose trials all say the same on the whole, of all samples.
    pub unanimous: Share,
    /// Samples on which some trials that vote say true and some false, of those with a vote.
    pub hard: Share,
}

impl ConsensusSummary {
    pub fn add(&mut self, sample: &Consensus) {
        self.overall.add(sample.overall);
        let Votes { yes, no } = sample.overall_votes;
        self.unanimous
            .add(Some(yes.max(no) as usize == sample.trials));
        self.hard.add(sample.overall_votes.is_split());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rewards_of_unreadable_trials_count_for_nothing() {
        let of = |status: &str, reward: f64| -> Verdict {
            let line = json!({"id": "a", "index": 0, "trial": 0, "status": status, "reward": reward,
                "confidence": {}, "usage": {"prompt_tokens": 0, "cached_tokens": 0, "completion_tokens": 0}});
            serde_json::from_value(line).unwrap()
        };
        let mut builder = ConsensusBuilder::default();
        builder.add(&of("ok", 1.0));
        builder.add(&of("unparsed", 0.0));
        let found = builder.finish().unwrap();
        assert_eq!((found.trials, found.ok, found.reward), (2, 1, Some(1.0)));
    }
}
