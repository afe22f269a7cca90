//! Which verdicts are wanted, and in which order.

use rayon::prelude::*;

use super::index::{Index, sureness};
use crate::eval::{Miss, Scored};
use juror_data::verdict::Status;

named! {
    /// The value of a field of a verdict.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Truth {
        True = "true",
        False = "false",
        /// The field has no value.
        Unknown = "none",
    }
}

impl Truth {
    fn is(self, value: Option<bool>) -> bool {
        match self {
            Self::True => value == Some(true),
            Self::False => value == Some(false),
            Self::Unknown => value.is_none(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Any,
    /// The verdict misses its label, or the rules.
    Miss(Miss),
    Trials,
}

impl Kind {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let misses = Miss::ALL.into_iter().map(Self::Miss);
        [Self::Any].into_iter().chain(misses).chain([Self::Trials])
    }

    /// Its name in the addresses of pages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Miss(miss) => miss.name(),
            Self::Trials => "trials_disagree",
        }
    }

    fn is_of(self, scored: &Scored, index: &Index) -> bool {
        match self {
            Self::Any => {
                let labelled = index.labelled(scored);
                Miss::ALL.iter().any(|miss| miss.is_of(scored, &labelled))
                    || index.trials_disagree(scored.sample)
            }
            Self::Miss(miss) => miss.is_of(scored, &index.labelled(scored)),
            Self::Trials => index.trials_disagree(scored.sample),
        }
    }
}

named! {
    /// The order in which verdicts are shown.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub(crate) enum Sort {
        /// The order of the file.
        #[default]
        File = "file",
        /// The reverse order of the file.
        Newest = "newest",
        /// By the judge's sureness, lowest first.
        LeastSure = "least_sure",
        /// By the judge's sureness, highest first.
        Surest = "surest",
        Longest = "longest",
        Shortest = "shortest",
        /// By the tokens that the judge generated, most first.
        MostTokens = "most_tokens",
        /// By the tokens that the judge generated, fewest first.
        FewestTokens = "fewest_tokens",
    }
}

/// Which verdicts are wanted; fields that are not set let all through.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Filter {
    pub(crate) status: Option<Status>,
    pub(crate) process: Option<Truth>,
    pub(crate) outcome: Option<Truth>,
    pub(crate) overall: Option<Truth>,
    pub(crate) rules: Option<Truth>,
    pub(crate) subject: Option<String>,
    pub(crate) kind: Option<Kind>,
    pub(crate) trial: Option<u32>,
    pub(crate) from: Option<f32>,
    pub(crate) to: Option<f32>,
}

impl Filter {
    /// The indices of the wanted verdicts, sorted.
    pub(crate) fn select(&self, index: &Index, sort: Sort) -> Vec<u32> {
        // A subject that no sample has lets nothing through.
        let find = |name: &String| index.samples.subjects.find(name);
        let subject = self.subject.as_ref().map(find);
        let is_wanted = |at: &u32| {
            let at = *at as usize;
            let scored = &index.scored[at];
            let truths = [
                (self.process, scored.process),
                (self.outcome, scored.outcome),
                (self.overall, scored.overall),
                (self.rules, scored.rules),
            ];
            let in_range = || {
                let reward = index.reward(at);
                let is_from = |from| reward.is_some_and(|reward| reward >= from);
                let is_to = |to| reward.is_some_and(|reward| reward <= to);
                self.from.is_none_or(is_from) && self.to.is_none_or(is_to)
            };
            let of_subject = || {
                subject.is_none_or(|number| {
                    number.is_some() && index.labelled(scored).subject == number
                })
            };
            self.status.is_none_or(|status| status == scored.status)
                && self.trial.is_none_or(|trial| trial == scored.trial)
                && truths
                    .iter()
                    .all(|(wanted, value)| wanted.is_none_or(|wanted| wanted.is(*value)))
                && in_range()
                && of_subject()
                && self.kind.is_none_or(|kind| kind.is_of(scored, index))
        };
        let count = index.count() as u32;
        let mut wanted: Vec<u32> = (0..count).into_par_iter().filter(is_wanted).collect();
        let scored = |at: u32| &index.scored[at as usize];
        // Probabilities are not negative, so their bits sort like them. A verdict without one comes last.
        let sure = |at: u32| sureness(scored(at)).map(f64::to_bits);
        let length = |at: u32| u64::from(index.labelled(scored(at)).response_length);
        let tokens = |at: u32| u64::from(scored(at).generated);
        match sort {
            Sort::File => wanted,
            Sort::Newest => {
                wanted.reverse();
                wanted
            }
            Sort::LeastSure => by(&wanted, |at| sure(at).unwrap_or(u64::MAX)),
            Sort::Surest => by(&wanted, |at| !sure(at).unwrap_or(0)),
            Sort::Longest => by(&wanted, |at| !length(at)),
            Sort::Shortest => by(&wanted, length),
            Sort::MostTokens => by(&wanted, |at| !tokens(at)),
            Sort::FewestTokens => by(&wanted, tokens),
        }
    }
}

/// The indices sorted by their keys; those with equal keys stay in the file's order.
fn by(places: &[u32], key: impl Fn(u32) -> u64 + Sync) -> Vec<u32> {
    let mut keyed: Vec<(u64, u32)> = places.par_iter().map(|at| (key(*at), *at)).collect();
    keyed.par_sort_unstable();
    keyed.into_iter().map(|(_, at)| at).collect()
}
