//! The best of several responses to a question, by the judge's reward.

use serde::Serialize;

use super::Judged;

/// The reward of the best of n responses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct OfN {
    /// The number of responses to choose from.
    pub n: usize,
    /// The number of questions with at least so many responses.
    pub questions: usize,
    /// The expected reward of the best of n responses, drawn without replacement; the mean over these questions.
    pub reward: f64,
}

/// The best response to each question.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Best {
    /// The indices of these samples.
    #[serde(skip)]
    pub(crate) places: Vec<[u32; 1]>,
    /// For each, in the same order, the number of responses it was chosen from.
    #[serde(skip)]
    pub(crate) of: Vec<u32>,
    /// Questions whose responses have readable verdicts.
    pub questions: usize,
    /// Questions whose best response has too low a reward.
    pub below: usize,
    /// The curve for n = 1, 2, 4, … up to the most responses that a question has.
    pub curve: Vec<OfN>,
}

impl Best {
    /// The best response to each question, if its reward is at least `min_reward`.
    pub fn new(judged: &Judged, min_reward: Option<f64>) -> Self {
        let mut best = Self::default();
        // For each n the number of questions and the sum of their expected rewards.
        let mut sums: Vec<(usize, f64)> = Vec::new();
        for group in judged.groups().iter() {
            let tally = |place: u32| judged.tallies.get(place as usize);
            let score = |place: u32| judged.score(place).filter(|score| score.is_finite());
            let scored = |&place: &u32| Some((score(place)?, place));
            let mut scored: Vec<(f64, u32)> = group.iter().filter_map(scored).collect();
            let Some(&first) = scored.first() else {
                continue;
            };
            best.questions += 1;
            let confidence = |place: u32| tally(place).map_or(0.0, super::Tally::confidence);
            // Of responses that nothing distinguishes, the first.
            let (reward, place) = scored.iter().skip(1).fold(first, |best, other| {
                let by_score = other.0.total_cmp(&best.0);
                let better =
                    by_score.then_with(|| confidence(other.1).total_cmp(&confidence(best.1)));
                if better.is_gt() { *other } else { best }
            });
            scored.sort_by(|a, b| a.0.total_cmp(&b.0));
            let scores: Vec<f64> = scored.iter().map(|(score, _)| *score).collect();
            let mut n = 1;
            for at in 0.. {
                if n > scores.len() {
                    break;
                }
                if sums.len() == at {
                    sums.push((0, 0.0));
                }
                sums[at].0 += 1;
                sums[at].1 += expected_best(&scores, n);
                n *= 2;
            }
            if min_reward.is_some_and(|least| reward < least) {
                best.below += 1;
                continue;
            }
            best.places.push([place]);
            best.of.push(scores.len() as u32);
        }
        let of_n = |(at, (questions, sum)): (usize, (usize, f64))| OfN {
            n: 1 << at,
            questions,
            reward: sum / questions as f64,
        };
        best.curve = sums.into_iter().enumerate().map(of_n).collect();
        best
    }
}

/// The expected maximum of n of these scores, which are in ascending order, drawn without replacement.
fn expected_best(ascending: &[f64], n: usize) -> f64 {
    // Of N scores the k-th is the greatest with probability C(k - 1, n - 1) / C(N, n).
    let all = ascending.len();
    let mut probability = n as f64 / all as f64;
    let mut sum = 0.0;
    for k in (n..=all).rev() {
        sum += probability * ascending[k - 1];
        if k > 1 {
            probability *= (k - n) as f64 / (k - 1) as f64;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with all choices of n.
        #[test]
        fn the_expected_best_is_the_mean_over_all_choices(mut scores in proptest::collection::vec(0.0..1.0_f64, 1..9), n in 1_usize..9) {
            let n = n.min(scores.len());
            scores.sort_by(f64::total_cmp);
            let (mut sum, mut count) = (0.0, 0);
            for choice in 0_u32..1 << scores.len() {
                if choice.count_ones() as usize == n {
                    let greatest = (0..scores.len()).rev().find(|at| choice >> at & 1 == 1).unwrap();
                    sum += scores[greatest];
                    count += 1;
                }
            }
            let expected = sum / f64::from(count);
            prop_assert!((expected_best(&scores, n) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn many_scores_are_no_matter() {
        let scores: Vec<f64> = (1..=100_000).map(f64::from).collect();
        for n in [1, 2, 1024, 65_536, 100_000] {
            // For 1, 2, … N it is n (N + 1) / (n + 1).
            let expected = n as f64 * 100_001.0 / (n as f64 + 1.0);
            assert!(
                (expected_best(&scores, n) / expected - 1.0).abs() < 1e-9,
                "{n}"
            );
        }
    }
}
