//! Rows and the verdicts on them.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use rayon::prelude::*;
use serde::Serialize;

use crate::eval::{IDS_TOLD, both_sides};
use crate::{EvalError, Result};
use juror_data::verdict::{Confidence, Status};
use juror_data::{
    LoadOptions, OfRows, Places, Rows, Samples as _, TrialsSeen, VerdictLine, each_batch,
    index_each,
};
use juror_judge::judge::consensus::Votes;

/// The counts of one sample's trials.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// The number of trials, readable or not.
    pub(crate) trials: u32,
    /// The number of trials whose status is `ok`; the others do not vote.
    pub(crate) ok: u32,
    /// Votes on whether the derivation is right.
    pub(crate) process: Votes,
    /// Votes on whether the final answer is right.
    pub(crate) outcome: Votes,
    /// Votes on whether both are right.
    pub(crate) overall: Votes,
    rewards: (u32, f64),
    confidences: (u32, f64),
}

impl Tally {
    fn add(&mut self, line: &VerdictLine) {
        self.trials += 1;
        if line.status != Status::Ok {
            return;
        }
        self.ok += 1;
        self.process.add(line.process());
        self.outcome.add(line.outcome());
        self.overall.add(line.overall());
        if let Some(reward) = line.reward {
            self.rewards.0 += 1;
            self.rewards.1 += reward;
        }
        if let Some(confidence) = confidence(line.confidence()) {
            self.confidences.0 += 1;
            self.confidences.1 += confidence;
        }
    }

    /// The share of the readable trials that judge the whole right: C(q, r) of PRIME.
    pub(crate) fn c(&self) -> Option<f64> {
        self.overall.share()
    }

    /// The mean reward of its readable trials.
    pub(crate) fn reward(&self) -> Option<f64> {
        let (count, sum) = self.rewards;
        (count > 0).then(|| sum / f64::from(count))
    }

    /// The mean probability of being right that the judge gave; 0 if none was recorded.
    pub(crate) fn confidence(&self) -> f64 {
        let (count, sum) = self.confidences;
        sum / f64::from(count.max(1))
    }

    /// Whether most trials find the final answer right and the derivation wrong.
    pub(crate) fn is_lucky_guess(&self) -> bool {
        (self.outcome.majority(), self.process.majority()) == (Some(true), Some(false))
    }
}

/// The probability that the response is right, from those of process and outcome as far as they are known; otherwise the mean score.
fn confidence(confidence: Confidence<f64>) -> Option<f64> {
    match (confidence.process, confidence.outcome) {
        (None, None) => confidence.score,
        (process, outcome) => Some(process.unwrap_or(1.0) * outcome.unwrap_or(1.0)),
    }
    .filter(|confidence| confidence.is_finite())
}

/// How far the verdicts cover the rows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    pub(crate) samples: usize,
    /// Samples without a verdict, which are left out.
    pub without_verdict: usize,
    /// Samples none of whose verdicts is `ok`, which are left out.
    pub unreadable: usize,
    /// Samples with a readable verdict but no reward, although other samples have one: they have no score.
    pub without_reward: usize,
    /// Verdicts on samples of the input.
    pub verdicts: usize,
    /// Verdicts on other samples, which are left out.
    pub without_sample: usize,
    pub by_status: BTreeMap<Status, usize>,
}

#[derive(Debug)]
pub struct Judged {
    pub(crate) rows: Rows,
    /// The counts of each row's trials, in the same order.
    pub(crate) tallies: Vec<Tally>,
    /// Whether any sample has a reward.
    by_reward: bool,
    /// How far the verdicts cover the rows.
    pub coverage: Coverage,
    /// The keys the rows were read from, for the user.
    pub columns: String,
}

impl Judged {
    /// Reads rows, and the verdicts on them.
    /// Errors: when a file cannot be read, a line is not a verdict, a trial is there twice, or no verdict is on a row.
    pub fn read(inputs: &[PathBuf], options: &LoadOptions, verdicts: &[PathBuf]) -> Result<Self> {
        let mut places = Places::default();
        let mut count = 0_u32;
        let loaded = index_each(inputs, options, &mut |sample, _| {
            places.add(&sample.id, sample.group.as_deref(), count);
            count += 1;
        })?;
        let rows = loaded.samples;
        let count = rows.count();
        let mut tallies = vec![Tally::default(); count];
        let mut coverage = Coverage {
            samples: count,
            ..Coverage::default()
        };
        let mut seen = TrialsSeen::new(count);
        let (mut without_sample, mut strangers) = (0, Vec::new());
        let mut add = |at: u32, line: &VerdictLine| {
            if !seen.add(at, line.trial) {
                return Err(format!(
                    "trial {} of {:?} is there twice: give the verdicts of one judge, each once",
                    line.trial, line.id
                ));
            }
            coverage.verdicts += 1;
            *coverage.by_status.entry(line.status).or_default() += 1;
            if let Some(tally) = tallies.get_mut(at as usize) {
                tally.add(line);
            }
            Ok(())
        };
        let mut stranger = |id: &str, count: usize| {
            without_sample += count;
            if strangers.len() < IDS_TOLD {
                strangers.push(id.to_owned());
            }
        };
        // Which sample is the only one of its row is known once all files are read.
        let mut of_rows: OfRows<(u32, &PathBuf, usize, Vec<u8>)> = OfRows::default();
        for path in verdicts {
            let wrong = |line: usize, why: &str| EvalError::row(path.display(), line, why);
            each_batch(path, wrong, |lines| {
                let read = lines.par_iter().map(|(_, line)| VerdictLine::parse(line));
                let read: Vec<Result<VerdictLine, String>> = read.collect();
                for ((number, text), line) in lines.iter().zip(read) {
                    let line = line.map_err(|why| wrong(*number, &why))?;
                    let keep = |at| (at, path, *number, text.clone());
                    if let Some(at) = places.get(&line.id) {
                        add(at, &line).map_err(|why| wrong(*number, &why))?;
                    } else if !of_rows.keep(&line, &places, keep) {
                        stranger(&line.id, 1);
                    }
                }
                Ok(())
            })?;
        }
        let (only, others) = of_rows.settled();
        for (at, path, number, text) in only {
            let added = VerdictLine::parse(&text).and_then(|line| add(at, &line));
            added.map_err(|why| EvalError::row(path.display(), number, &why))?;
        }
        for (id, count) in others {
            stranger(&id, count);
        }
        coverage.without_sample = without_sample;
        if coverage.verdicts == 0 {
            let first: Vec<usize> = (0..count.min(IDS_TOLD)).collect();
            let own = rows.fetch(&first)?;
            let own = own.iter().map(|sample| sample.id.as_str());
            return Err(EvalError::Unusable(format!(
                "none of the {} verdicts is on a row of the input: rows and verdicts meet by id, so give the rows that were judged, \
                 with the same --columns ({})",
                coverage.without_sample,
                both_sides(strangers.iter().map(String::as_str), own)
            )));
        }
        for tally in &tallies {
            coverage.without_verdict += usize::from(tally.trials == 0);
            coverage.unreadable += usize::from(tally.trials > 0 && tally.ok == 0);
        }
        let without = |tally: &&Tally| tally.ok > 0 && tally.reward().is_none();
        let by_reward = tallies.iter().any(|tally| tally.reward().is_some());
        if by_reward {
            coverage.without_reward = tallies.iter().filter(without).count();
        }
        Ok(Self {
            rows,
            tallies,
            by_reward,
            coverage,
            columns: loaded.columns.to_string(),
        })
    }

    /// The score of a response: the mean of its rewards, or C if no sample of the run has a reward. The two are never compared with each other.
    pub(crate) fn score(&self, place: u32) -> Option<f64> {
        let tally = self.tallies.get(place as usize)?;
        if self.by_reward {
            tally.reward()
        } else {
            tally.c()
        }
    }

    /// The responses with readable verdicts, grouped by question. Questions are the same if their texts are; for chat
    /// messages, if all turns before the response are.
    pub(crate) fn groups(&self) -> Groups {
        let mut numbers: HashMap<u64, u32> = HashMap::new();
        let mut places: Vec<(u32, u32)> = Vec::new();
        for (at, _) in self
            .tallies
            .iter()
            .enumerate()
            .filter(|(_, tally)| tally.ok > 0)
        {
            let key = self.rows.outline(at).question;
            let next = numbers.len() as u32;
            places.push((*numbers.entry(key).or_insert(next), at as u32));
        }
        places.sort_unstable();
        Groups { places }
    }
}

/// Groups of samples, in the order of their first samples.
#[derive(Debug)]
pub struct Groups {
    /// Group and sample, in order.
    places: Vec<(u32, u32)>,
}

impl Groups {
    /// The samples of each group, in the order of the input.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Vec<u32>> + '_ {
        let groups = self.places.chunk_by(|a, b| a.0 == b.0);
        groups.map(|group| group.iter().map(|(_, sample)| *sample).collect())
    }
}

#[cfg(test)]
mod tests;
