//! Two judges: a larger one is asked where a smaller one is unsure.

use std::collections::HashMap;

use crate::judge::is_drawn;
use crate::judge::summary::Share;
use crate::protocol::Yields;
use crate::reward::RewardPolicy;
use juror_data::verdict::{Status, Usage, Verdict};

/// When the second judge is asked, and what that has changed so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Cascade {
    pub names: [String; 2],
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
    pub report: CascadeReport,
}

/// The samples that the second judge is asked about, by [`Verdict::index`]; of those of which the first judge is unsure in one trial and sure in
/// another, the former.
pub type Escalation = HashMap<usize, Escalated>;

/// Why the second judge is asked about a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escalated {
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
    pub checked: Share,
    /// What each judge has spent.
    pub usage: [Usage; 2],
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
    pub fn asks(&self, verdict: &Verdict) -> Option<Escalated> {
        if verdict.skipped {
            None
        } else if self.is_unsure(verdict) {
            Some(Escalated::Unsure)
        } else {
            is_drawn(self.audit, self.seed, &verdict.id).then_some(Escalated::Audited)
        }
    }

    /// Which samples the second judge is asked about, after the first one's verdicts: those of which it is asked about one trial or more.
    pub fn escalate<E>(
        &self,
        verdicts: impl IntoIterator<Item = Result<Verdict, E>>,
    ) -> Result<Escalation, E> {
        let mut asked = Escalation::new();
        for verdict in verdicts {
            let verdict = verdict?;
            match self.asks(&verdict) {
                Some(Escalated::Unsure) => drop(asked.insert(verdict.index, Escalated::Unsure)),
                Some(why) => drop(asked.entry(verdict.index).or_insert(why)),
                None => {}
            }
        }
        Ok(asked)
    }

    /// The verdict of both judges on a trial: the second one's, with why it was asked, if it was.
    pub fn decide(&mut self, first: Verdict, second: Option<(Escalated, Verdict)>) -> Verdict {
        let report = &mut self.report;
        report.usage[0] += first.usage;
        let Some((why, second)) = second else {
            return Verdict {
                judge: Some(self.names[0].clone()),
                ..first
            };
        };
        report.usage[1] += second.usage;
        let both = first.overall.zip(second.overall);
        let differs = both.map(|(one, other)| one != other);
        let (at, share) = match why {
            Escalated::Unsure => (0, &mut report.changed),
            Escalated::Audited => (1, &mut report.checked),
        };
        report.asked[at] += 1;
        share.add(differs);
        let mut usage = second.usage;
        usage += first.usage;
        Verdict {
            usage,
            index: first.index,
            group: first.group,
            input: first.input,
            judge: Some(self.names[1].clone()),
            ..second
        }
    }
}
