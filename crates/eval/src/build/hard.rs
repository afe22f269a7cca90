//! Samples that are hard to judge: some trials hold the whole for right, and some for wrong (0 < C < 1).
//!
//! C(q, r) is the mean of the readable overall verdicts of a sample's trials (arXiv 2602.11570); the benchmark of that paper keeps exactly these samples.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Judged;

/// Samples with the same C.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OfC {
    /// The share of the readable trials that judge the whole right.
    pub c: f64,
    /// The number of samples with it.
    pub samples: usize,
    /// Whether they are hard to judge.
    pub hard: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hard {
    #[serde(skip)]
    pub(crate) places: Vec<[u32; 1]>,
    /// The number of hard samples.
    pub hard: usize,
    /// The number of samples by C, from 0 to 1.
    pub by_c: Vec<OfC>,
    /// Samples with readable trials, none of which judges the whole.
    pub without_c: usize,
    /// Samples with a single readable trial, which cannot disagree with itself.
    pub one_trial: usize,
}

impl Hard {
    /// The hard samples among those with verdicts.
    pub fn new(judged: &Judged) -> Self {
        // The bits of numbers that are not negative are in the numbers' order, and equal fractions have the same.
        let mut counts: BTreeMap<u64, OfC> = BTreeMap::new();
        let (mut places, mut without_c, mut one_trial) = (Vec::new(), 0, 0);
        for (at, tally) in judged.tallies.iter().enumerate() {
            let votes = tally.overall;
            let (Some(c), Some(hard)) = (votes.share(), votes.is_split()) else {
                without_c += usize::from(tally.ok > 0);
                continue;
            };
            one_trial += usize::from(votes.yes + votes.no == 1);
            let of_c = counts.entry(c.to_bits()).or_insert(OfC {
                c,
                samples: 0,
                hard,
            });
            of_c.samples += 1;
            if hard {
                places.push([at as u32]);
            }
        }
        Self {
            hard: places.len(),
            places,
            by_c: counts.into_values().collect(),
            without_c,
            one_trial,
        }
    }
}
