//! Several verdicts on one sample or question as one.

pub mod cascade;
pub mod compare;
pub mod consensus;
pub(crate) mod groups;
pub mod panel;

use std::borrow::Cow;

use crate::judge::{Judge, JudgeError};
use cascade::{Cascade, Escalated, Escalation};
use juror_data::Sample;
use juror_data::verdict::Verdict;
use panel::Panel;

/// How several judges give one verdict.
#[derive(Debug, Clone)]
pub enum Together {
    Cascade(Cascade),
    Panel(Panel),
}

impl Together {
    pub(crate) fn members(&self) -> usize {
        match self {
            Self::Cascade(cascade) => cascade.names.len(),
            Self::Panel(panel) => panel.members(),
        }
    }

    /// Whether a judge is asked after another one's verdict; else all are at once.
    #[cfg(feature = "serve")]
    pub(crate) fn asks_in_turn(&self) -> bool {
        matches!(self, Self::Cascade(_))
    }

    /// Why a cascade's second judge is asked about a trial, after the first one's verdict.
    #[cfg(feature = "serve")]
    pub(crate) fn asks(&self, first: &Verdict) -> Option<Escalated> {
        match self {
            Self::Cascade(cascade) => cascade.asks(first),
            Self::Panel(_) => None,
        }
    }

    /// The verdict of all on a trial, after those of the judges that were asked, in their order; `None` of none. `why`: the reason for
    /// which a cascade's second judge was.
    pub(crate) fn decide(
        &mut self,
        why: Option<Escalated>,
        mut trial: Vec<Verdict>,
    ) -> Option<Verdict> {
        match self {
            Self::Panel(panel) => panel.vote(trial),
            Self::Cascade(cascade) => {
                let second = trial.drain(1.min(trial.len())..).next();
                Some(cascade.decide(trial.pop()?, why.zip(second)))
            }
        }
    }

    /// Makes one verdict of those on each trial, and hands it to `take`. `of_each` are each judge's verdicts, in the samples' order:
    /// the first one's on all, the others' on those that `asked` holds, or all.
    /// Errors: the first error among the verdicts or of `take`; that of `differs`, where judges have not judged the same trials.
    pub fn merge<E>(
        &mut self,
        asked: Option<&Escalation>,
        mut of_each: Vec<impl Iterator<Item = Result<Verdict, E>>>,
        differs: impl Fn(&Verdict) -> E,
        mut take: impl FnMut(Verdict) -> Result<(), E>,
    ) -> Result<(), E> {
        let Some((firsts, others)) = of_each.split_first_mut() else {
            return Ok(());
        };
        for first in firsts {
            let first = first?;
            let why = asked.and_then(|asked| asked.get(&first.index).copied());
            let mut trial = vec![first];
            if asked.is_none() || why.is_some() {
                for other in &mut *others {
                    let other = other.next().transpose()?;
                    let first = &trial[0];
                    let is_same = |other: &Verdict| {
                        (&other.id, other.trial) == (&first.id, first.trial)
                            && (asked.is_some() || other.index == first.index)
                    };
                    match other.filter(is_same) {
                        Some(other) => trial.push(other),
                        None => return Err(differs(first)),
                    }
                }
            }
            self.decide(why, trial).map_or(Ok(()), &mut take)?;
        }
        match others.iter_mut().find_map(Iterator::next) {
            Some(further) => Err(differs(&further?)),
            None => Ok(()),
        }
    }

    /// Judges samples with the judges, each asked about what the rule says: a verdict for each trial, in the samples' order.
    /// Errors: as [`Judge::judge`]; and where there are not as many judges as the rule has, or they have not as many trials.
    pub fn judge(
        &mut self,
        judges: &mut [&mut Judge],
        samples: &[Sample],
    ) -> Result<Vec<Verdict>, JudgeError> {
        let differ = || {
            let why = "the judges must be those of the cascade or panel, each with as many trials as the others";
            JudgeError::Options(why.to_owned())
        };
        if judges.len() != self.members() {
            return Err(differ());
        }
        let mut of_each = Vec::new();
        let mut asked = None;
        let mut shown = Cow::Borrowed(samples);
        for judge in judges {
            let verdicts = judge.judge(&shown)?;
            if let (Self::Cascade(cascade), None) = (&*self, &asked) {
                let first = verdicts.iter().cloned().map(Ok::<_, JudgeError>);
                let escalation = cascade.escalate(first)?;
                let all = samples.iter().enumerate();
                let those = all.filter(|(index, _)| escalation.contains_key(index));
                shown = those.map(|(_, sample)| sample.clone()).collect();
                asked = Some(escalation);
            }
            of_each.push(verdicts.into_iter().map(Ok));
        }
        let mut together = Vec::new();
        // What is counted is that of all trials, or nothing.
        let mut decided = self.clone();
        decided.merge(
            asked.as_ref(),
            of_each,
            |_| differ(),
            |verdict| {
                together.push(verdict);
                Ok(())
            },
        )?;
        *self = decided;
        Ok(together)
    }
}
