//! Two judges: a larger one is asked where a smaller one is unsure.

use std::collections::HashSet;

use super::summary::Share;
use super::{Judge, JudgeError, is_drawn};
use crate::protocol::Yields;
use crate::reward::RewardPolicy;
use juror_data::Sample;
use juror_data::verdict::{Status, Verdict};

/// When the second judge is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Cascade {
    /// The probabilities of True at which the first judge is unsure, both included.
    pub unsure: (f64, f64),
    /// What the first judge's protocol gives.
    pub yields: Yields,
    /// What a verdict is worth: a field that is surely false may decide that by itself.
    pub policy: RewardPolicy,
    /// The share, from 0 to 1, of the samples that it is sure of and that the second is asked about all the same.
    pub audit: f64,
    /// The seed of that draw, beside the samples' ids.
    pub seed: u64,
}

/// The samples that the second judge is asked about, by [`Verdict::index`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Escalation {
    /// The first judge is unsure of one of their trials.
    pub unsure: HashSet<usize>,
    /// It is sure of them, and they are checked.
    pub audited: HashSet<usize>,
}

/// Why the second judge is asked about a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The first judge is unsure of it.
    Unsure,
    /// The first is sure of it, and is checked.
    Audited,
}

/// What the second judge changed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CascadeReport {
    /// Trials that the second was asked about because the first was unsure, and because it was checked.
    pub asked: [usize; 2],
    /// Where the first was unsure: whether the overall verdict is another.
    pub changed: Share,
    /// Where it was sure.
    pub checked: Share,
    /// Tokens of prompts and completions of each judge.
    pub tokens: [usize; 2],
}

impl Cascade {
    /// Is the first judge unsure of one of the fields that its protocol asks for, or has it none to be sure of?
    fn is_unsure(&self, verdict: &Verdict) -> bool {
        let (low, high) = self.unsure;
        let between = |asked: bool, probability: Option<f32>| {
            asked && probability.is_none_or(|p| (low..=high).contains(&f64::from(p)))
        };
        let confidence = verdict.confidence;
        // A field that is surely false may decide the reward alone.
        let no = |value: Option<bool>, probability: Option<f32>| {
            let is_sure = probability.is_some_and(|p| f64::from(p) < low);
            value.filter(|value| !value && is_sure)
        };
        let process = no(verdict.process, confidence.process);
        let outcome = no(verdict.outcome, confidence.outcome);
        let is_decided = self.policy.of_values(process, outcome, None).is_some();
        verdict.status != Status::Ok
            || !is_decided
                && (between(self.yields.process, confidence.process)
                    || between(self.yields.outcome, confidence.outcome))
    }

    /// Why the second judge is asked about a trial of a sample, after the first one's verdict on it; `None` where it is not.
    pub fn asks(&self, verdict: &Verdict) -> Option<Asked> {
        if verdict.skipped {
            None
        } else if self.is_unsure(verdict) {
            Some(Asked::Unsure)
        } else {
            is_drawn(self.audit, self.seed, &verdict.id).then_some(Asked::Audited)
        }
    }

    /// Which samples the second judge is asked about, after the first one's verdicts: those of which it is asked about one trial or more.
    ///
    /// # Errors
    /// The first error among the verdicts.
    pub fn escalate<E>(
        &self,
        verdicts: impl IntoIterator<Item = Result<Verdict, E>>,
    ) -> Result<Escalation, E> {
        let mut asked = Escalation::default();
        for verdict in verdicts {
            let verdict = verdict?;
            match self.asks(&verdict) {
                Some(Asked::Unsure) => {
                    asked.audited.remove(&verdict.index);
                    asked.unsure.insert(verdict.index);
                }
                Some(Asked::Audited) if !asked.unsure.contains(&verdict.index) => {
                    asked.audited.insert(verdict.index);
                }
                _ => {}
            }
        }
        Ok(asked)
    }

    /// Judges samples with the first of two judges, and with the second those that the first is unsure of: a verdict for
    /// each trial, with the name of the judge whose it is, in the samples' order.
    ///
    /// # Errors
    /// As [`Judge::judge`].
    pub fn judge(
        &self,
        names: [&str; 2],
        first: &mut Judge,
        second: &mut Judge,
        samples: &[Sample],
    ) -> Result<(Vec<Verdict>, CascadeReport), JudgeError> {
        let verdicts = first.judge(samples)?;
        let asked = self.escalate(verdicts.iter().cloned().map(Ok::<_, JudgeError>))?;
        let escalated: Vec<Sample> = samples
            .iter()
            .enumerate()
            .filter(|(index, _)| asked.why(*index).is_some())
            .map(|(_, sample)| sample.clone())
            .collect();
        let mut others = second.judge(&escalated)?.into_iter();
        let mut report = CascadeReport::default();
        let merged = verdicts.into_iter().map(|verdict| {
            let why = asked.why(verdict.index);
            let other = why.and_then(|why| Some((why, others.next()?)));
            report.add(names, verdict, other)
        });
        Ok((merged.collect(), report))
    }
}

impl Escalation {
    /// Why the second judge is asked about a sample; `None` where it is not.
    pub fn why(&self, index: usize) -> Option<Asked> {
        if self.unsure.contains(&index) {
            return Some(Asked::Unsure);
        }
        self.audited.contains(&index).then_some(Asked::Audited)
    }
}

impl CascadeReport {
    /// The verdict of both judges on a trial: the second one's, with why it was asked, if it was. `names` are the judges'.
    pub fn add(
        &mut self,
        names: [&str; 2],
        first: Verdict,
        second: Option<(Asked, Verdict)>,
    ) -> Verdict {
        let spent =
            |verdict: &Verdict| verdict.usage.prompt_tokens + verdict.usage.completion_tokens;
        self.tokens[0] += spent(&first);
        let Some((why, second)) = second else {
            return Verdict {
                judge: Some(names[0].to_owned()),
                ..first
            };
        };
        self.tokens[1] += spent(&second);
        let both = first.overall.zip(second.overall);
        let differs = both.map(|(one, other)| one != other);
        let (at, share) = match why {
            Asked::Unsure => (0, &mut self.changed),
            Asked::Audited => (1, &mut self.checked),
        };
        self.asked[at] += 1;
        share.add(differs);
        let mut usage = second.usage;
        usage += first.usage;
        Verdict {
            usage,
            index: first.index,
            group: first.group,
            input: first.input,
            judge: Some(names[1].to_owned()),
            ..second
        }
    }
}
