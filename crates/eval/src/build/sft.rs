//! Responses that the judge accepts, for fine-tuning: all of them, or the best few of each question (rejection sampling).

use serde::Serialize;

use super::{Judged, drawn};
use crate::{EvalError, Result};
use juror_data::Samples as _;

#[derive(Debug, Clone, Copy)]
pub struct WantedResponses {
    /// The most responses to one question.
    pub per_question: Option<usize>,
    /// The smallest share of the readable trials that judge the response right; without it, more than half.
    pub min_c: Option<f64>,
    pub min_reward: Option<f64>,
    /// The seed that decides among equally good responses.
    pub seed: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Accepted {
    /// Their indices, those of one question together; if only some of a question are wanted, from the best on.
    #[serde(skip)]
    pub(crate) places: Vec<[u32; 1]>,
    /// The number of each one's question, in the same order.
    #[serde(skip)]
    pub(crate) questions_of: Vec<u32>,
    /// How many there are, before duplicates and those beyond the limit for a question are left out.
    pub accepted: usize,
    /// Responses with readable verdicts that are not accepted.
    pub refused: usize,
    /// Questions whose responses have readable verdicts.
    pub questions: usize,
    /// Of these, questions without an accepted response.
    pub without_accepted: usize,
}

impl Accepted {
    /// The accepted responses of all questions.
    /// Errors: if no verdict judges the whole and no reward is asked for.
    pub fn new(judged: &Judged, wanted: WantedResponses) -> Result<Self> {
        let says_nothing = judged.tallies.iter().all(|tally| tally.c().is_none());
        if says_nothing && (wanted.min_reward.is_none() || wanted.min_c.is_some()) {
            return Err(EvalError::Unusable(
                "no verdict says whether a response is right: say with --min-reward alone which ones are accepted".into(),
            ));
        }
        let is_accepted = |place: u32| {
            let Some(tally) = judged.tallies.get(place as usize) else {
                return false;
            };
            let whole = match (tally.c(), wanted.min_c) {
                (Some(c), Some(least)) => c >= least,
                (Some(_), None) => tally.overall.majority() == Some(true),
                (None, _) => says_nothing,
            };
            let reward = wanted
                .min_reward
                .is_none_or(|least| judged.score(place).is_some_and(|score| score >= least));
            whole && reward
        };
        let mut accepted = Self::default();
        for mut group in judged.groups().iter() {
            let all = group.len();
            group.retain(|&place| is_accepted(place));
            if wanted.per_question.is_some() {
                let key = |place: u32| {
                    let tally = judged.tallies[place as usize];
                    let id = judged.rows.outline(place as usize).id;
                    (
                        judged.score(place).unwrap_or(f64::NEG_INFINITY),
                        tally.confidence(),
                        drawn(wanted.seed, id),
                    )
                };
                group.sort_by(|&a, &b| {
                    let (a, b) = (key(a), key(b));
                    b.0.total_cmp(&a.0)
                        .then(b.1.total_cmp(&a.1))
                        .then(a.2.cmp(&b.2))
                });
            }
            accepted.accepted += group.len();
            accepted.refused += all - group.len();
            accepted.without_accepted += usize::from(group.is_empty());
            let question = accepted.questions as u32;
            accepted.questions_of.extend(group.iter().map(|_| question));
            accepted
                .places
                .extend(group.into_iter().map(|place| [place]));
            accepted.questions += 1;
        }
        Ok(accepted)
    }
}
