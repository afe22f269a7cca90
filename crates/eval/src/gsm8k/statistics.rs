//! pass@k, majority votes, and their uncertainty.

use std::collections::{BTreeMap, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use super::method::Method;
use crate::eval::{Estimate, Interval, Share, wilson_of_share};

/// The most different answers to one question that others are compared with by value; more would take too long.
const MOST_COMPARED: usize = 128;

/// The chance that one of `k` responses, drawn without replacement from `n` of which `right` are right, is right: the unbiased
/// estimator 1 - C(n - c, k) / C(n, k) of Chen et al. (arXiv 2107.03374). `k` is at most `n`.
pub(crate) fn pass_at_k(n: usize, right: usize, k: usize) -> f64 {
    let wrong = n.saturating_sub(right);
    if wrong < k {
        return 1.0;
    }
    let none = (wrong + 1..=n).map(|i| 1.0 - k as f64 / i as f64);
    1.0 - none.product::<f64>()
}

/// The numbers of responses that figures are given for, if each question has `n`: 1, 2, 4, … and `n`.
pub(crate) fn ks(n: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1_usize), |k| k.checked_mul(2));
    let mut ks: Vec<usize> = powers
        .take_while(|k| *k < n)
        .chain([n])
        .filter(|k| *k > 0)
        .collect();
    ks.dedup();
    ks
}

/// Groups a question's responses by their answers, as a method found them.
///
/// Returns the number of each response's group; `None` if the method found no answer. Groups are numbered by their first response. An answer is compared with
/// the first answer of each of 128 groups; beyond these, answers are the same if their texts are.
pub(crate) fn groups(method: Method, answers: &[Option<&str>]) -> Vec<Option<usize>> {
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut first: Vec<&str> = Vec::new();
    let mut groups = Vec::with_capacity(answers.len());
    for answer in answers {
        let group = answer.map(|answer| {
            *known.entry(answer).or_insert_with(|| {
                let mut compared = first.iter().take(MOST_COMPARED);
                let same = compared.position(|other| method.same(other, answer));
                same.unwrap_or_else(|| {
                    first.push(answer);
                    first.len() - 1
                })
            })
        });
        groups.push(group);
    }
    groups
}

/// The index of the first response with the most frequent answer; of equally frequent ones the answer that was given first.
/// `None` if no response has an answer.
pub(crate) fn majority(groups: &[Option<usize>]) -> Option<usize> {
    let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
    for group in groups.iter().flatten() {
        *votes.entry(*group).or_default() += 1;
    }
    let most = votes.values().copied().max()?;
    // Groups are numbered by their first response.
    let (winner, _) = votes.into_iter().find(|(_, count)| *count == most)?;
    groups.iter().position(|group| *group == Some(winner))
}

/// How often responses are right, by one method and one set of labels.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Scores {
    /// The share of right responses, with Wilson's interval: of several responses to a question, as [`interval`] has it.
    pub accuracy: Share,
    /// Responses in which no answer was found.
    pub without_answer: usize,
    /// pass@k by k, the mean over questions, where questions have several responses; its interval is that of [`interval`].
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pass_at: BTreeMap<usize, Estimate>,
    /// maj@k by k: the share of questions on which the first k responses vote for the right answer.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub maj_at: BTreeMap<usize, Share>,
}

/// A question's part of a share: `count` of `size`, which is the number of its responses, or 1 if questions count alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part {
    /// How much counts, from 0 to `size`.
    pub(crate) count: f64,
    pub(crate) size: f64,
}

/// The 95 % interval of a share over questions, all counts over all sizes: Wilson's, for as many independent answers as would scatter like the questions.
///
/// Responses to one question are more alike than responses to different ones, so they count for less than as many questions would. The effective number is
/// p(1 - p) over the variance of the share as a ratio over clusters, m / (m - 1) Σ (countᵢ - p sizeᵢ)² / (Σ sizeᵢ)² for m questions (Cochran 1977, "Sampling
/// Techniques", 6.3 and 11). It is at most the number of responses, and at least (Σ sizeᵢ)² / Σ sizeᵢ²: the number of questions, if all have as many
/// responses, which is its value if all responses to a question are alike.
pub(crate) fn interval(parts: &[Part], responses: f64) -> Interval {
    let questions = parts.len() as f64;
    let all: f64 = parts.iter().map(|part| part.size).sum();
    let share = parts.iter().map(|part| part.count).sum::<f64>() / all;
    let apart = parts
        .iter()
        .map(|part| (part.count - share * part.size).powi(2));
    let variance = questions / (questions - 1.0) * apart.sum::<f64>() / all.powi(2);
    let fewest = all.powi(2) / parts.iter().map(|part| part.size.powi(2)).sum::<f64>();
    let effective = share * (1.0 - share) / variance;
    // NaN if nothing scatters.
    let effective = if effective.is_nan() {
        fewest
    } else {
        effective.min(responses).max(fewest)
    };
    wilson_of_share(share, effective)
}

/// A question's responses, read by one method.
#[derive(Debug, Clone)]
pub(crate) struct Votes {
    /// Whether each response is right.
    pub(crate) right: Vec<bool>,
    /// The group of each one's answer ([`groups`]).
    pub(crate) groups: Vec<Option<usize>>,
}

impl Scores {
    /// The scores of the questions; `None` without a response.
    pub(crate) fn new(questions: &[Votes]) -> Option<Self> {
        let counts = |votes: &Votes| {
            let right = votes.right.iter().filter(|right| **right).count();
            (votes.right.len(), right)
        };
        let counts: Vec<(usize, usize)> = questions.iter().map(counts).collect();
        let all: usize = counts.iter().map(|(n, _)| n).sum();
        let right = counts.iter().map(|(_, right)| right).sum();
        let mut scores = Self {
            accuracy: Share::new(right, all)?,
            without_answer: questions
                .iter()
                .flat_map(|votes| &votes.groups)
                .filter(|group| group.is_none())
                .count(),
            pass_at: BTreeMap::new(),
            maj_at: BTreeMap::new(),
        };
        let fewest = counts.iter().map(|(n, _)| *n).min()?;
        let several = counts.iter().any(|(n, _)| *n > 1);
        if several {
            let parts = counts.iter().map(|(n, right)| Part {
                count: *right as f64,
                size: *n as f64,
            });
            let parts: Vec<Part> = parts.collect();
            scores.accuracy.interval = interval(&parts, all as f64);
        }
        for k in ks(fewest).into_iter().filter(|_| several) {
            let passes = counts.iter().map(|(n, right)| pass_at_k(*n, *right, k));
            let passes: Vec<Part> = passes.map(|count| Part { count, size: 1.0 }).collect();
            let pass = Estimate {
                value: passes.iter().map(|pass| pass.count).sum::<f64>() / passes.len() as f64,
                interval: Some(interval(&passes, all as f64 / k as f64)),
            };
            if k > 1 {
                // The first `k` responses vote for a right answer.
                let right = questions.iter().filter(|one| {
                    let first = one.groups.get(..k).unwrap_or(&one.groups);
                    majority(first).is_some_and(|place| one.right.get(place) == Some(&true))
                });
                let share = Share::new(right.count(), questions.len())?;
                scores.maj_at.insert(k, share);
            }
            scores.pass_at.insert(k, pass);
        }
        Some(scores)
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::float_cmp,
        reason = "values that are exact, or computed the same way"
    )]

    use super::*;
    use proptest::prelude::*;

    /// The share of the subsets of `k` of `n` responses with a right one among them, by trying all.
    fn by_enumeration(n: usize, right: usize, k: usize) -> f64 {
        let subsets = (0_u32..1 << n).filter(|subset| subset.count_ones() as usize == k);
        let (mut all, mut passed) = (0, 0);
        for subset in subsets {
            all += 1;
            // The first `right` responses are right.
            passed += usize::from(subset & ((1 << right) - 1) != 0);
        }
        passed as f64 / f64::from(all)
    }

    #[test]
    fn pass_at_k_is_the_share_of_subsets_with_a_right_response() {
        for n in 1..=10 {
            for right in 0..=n {
                for k in 1..=n {
                    let (estimated, counted) =
                        (pass_at_k(n, right, k), by_enumeration(n, right, k));
                    assert!(
                        (estimated - counted).abs() < 1e-12,
                        "pass@{k} of {right} in {n}: {estimated}, and {counted}"
                    );
                }
            }
        }
        assert_eq!(pass_at_k(100_000, 0, 100), 0.0);
        assert!((pass_at_k(1000, 1, 500) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn figures_are_told_for_powers_of_two_and_all() {
        assert_eq!(ks(0), [0_usize; 0]);
        assert_eq!(ks(1), [1]);
        assert_eq!(ks(2), [1, 2]);
        assert_eq!(ks(5), [1, 2, 4, 5]);
        assert_eq!(ks(8), [1, 2, 4, 8]);
        assert_eq!(ks(usize::MAX).len(), 65);
    }

    #[test]
    fn no_answer_never_votes_and_the_first_of_equals_wins() {
        let vote = |answers: &[Option<&str>]| majority(&groups(Method::Multi, answers));
        assert_eq!(vote(&[None, None, Some("5")]), Some(2));
        assert_eq!(vote(&[Some("4"), Some("5"), Some("5"), Some("4")]), Some(0));
        assert_eq!(vote(&[Some("5"), Some("4"), Some("4")]), Some(1));
        assert_eq!(vote(&[None]), None);
        assert_eq!(vote(&[]), None);
        // Beyond 128 different answers, texts are compared.
        let many: Vec<String> = (0..20_000).map(|at| at.to_string()).collect();
        let many: Vec<Option<&str>> = many.iter().map(|text| Some(text.as_str())).collect();
        assert_eq!(vote(&[&many[..], &[Some("19999")]].concat()), Some(19_999));
        // 4.0000001 is 4 by this method, and votes with it.
        assert_eq!(vote(&[Some("5"), Some("4"), Some("4.0000001")]), Some(1));
    }

    #[test]
    fn scores_of_two_questions_are_those_counted_by_hand() {
        let votes = |right: [bool; 4], groups: [Option<usize>; 4]| Votes {
            right: right.into(),
            groups: groups.into(),
        };
        let questions = [
            // One right, and three wrong ones that agree in two.
            votes(
                [true, false, false, false],
                [Some(0), Some(1), Some(1), None],
            ),
            votes(
                [false, true, true, true],
                [Some(0), Some(1), Some(1), Some(1)],
            ),
        ];
        let scores = Scores::new(&questions).unwrap();
        assert_eq!((scores.accuracy.count, scores.accuracy.all), (4, 8));
        assert_eq!(scores.without_answer, 1);
        // pass@2: 1 - C(3,2)/C(4,2) = 0.5, and 1 - 0 = 1.
        assert_eq!(scores.pass_at[&2].value, 0.75);
        assert_eq!(scores.pass_at[&4].value, 1.0);
        assert_eq!(scores.maj_at[&2].count, 1, "the first of two equals");
        assert_eq!(scores.maj_at[&4].count, 1);
        assert!(Scores::new(&[]).is_none());
    }

    #[test]
    fn an_interval_is_between_that_of_questions_and_that_of_responses() {
        let wilson = |p: f64, n: f64| wilson_of_share(p, n);
        let mean = |values: &[f64], responses: f64| {
            let parts = values.iter().map(|&count| Part { count, size: 1.0 });
            interval(&parts.collect::<Vec<_>>(), responses)
        };
        let close = |a: Interval, b: Interval| {
            assert!(
                (a[0] - b[0]).abs() < 1e-9 && (a[1] - b[1]).abs() < 1e-9,
                "{a:?}, {b:?}"
            );
        };
        // Responses to a question that are all alike say no more than one.
        let alike = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0];
        close(mean(&alike, 32.0), wilson(0.625, 8.0));
        // If each question is as good as the next, every response counts.
        close(mean(&[0.5; 8], 32.0), wilson(0.5, 32.0));
        // If all are right, nothing tells how alike responses are.
        close(mean(&[1.0; 8], 32.0), wilson(1.0, 8.0));
        close(mean(&[1.0], 4.0), wilson(1.0, 1.0));
        close(mean(&[0.5], 4.0), wilson(0.5, 1.0));
        // Between: 0.5 * 0.5 over (4 * 0.25² / 3 / 4).
        let between = [0.25, 0.75, 0.25, 0.75];
        close(mean(&between, 64.0), wilson(0.5, 12.0));
        // The same in counts of responses.
        let counted = between.map(|count| Part {
            count: 16.0 * count,
            size: 16.0,
        });
        close(interval(&counted, 64.0), wilson(0.5, 12.0));
        // One right response to a question, and 99 wrong ones to another: 0.01 * 0.99 over (2 * 2 * 0.99² / 100²).
        let [one, many] = [(1.0, 1.0), (0.0, 99.0)].map(|(count, size)| Part { count, size });
        close(interval(&[one, many], 100.0), wilson(0.01, 2500.0 / 99.0));
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_share(counts in prop::collection::vec((1_usize..120, 0_usize..120), 1..12)) {
            let questions: Vec<Votes> = counts.iter().map(|&(n, right)| Votes {
                right: (0..n).map(|at| at < right).collect(),
                groups: vec![None; n],
            }).collect();
            let scores = Scores::new(&questions).unwrap();
            let accuracy = scores.accuracy;
            let [low, high] = accuracy.interval;
            prop_assert!(0.0 <= low && low <= accuracy.share && accuracy.share <= high && high <= 1.0, "{accuracy:?}");
            for pass in scores.pass_at.values() {
                let [low, high] = pass.interval.unwrap();
                prop_assert!(low <= pass.value + 1e-12 && pass.value <= high + 1e-12, "{pass:?}");
            }
        }

        #[test]
        fn pass_at_k_grows_with_k_and_with_the_right_ones(n in 1_usize..200, right in 0_usize..200, k in 1_usize..200) {
            let (right, k) = (right.min(n), k.min(n));
            let value = pass_at_k(n, right, k);
            prop_assert!((0.0..=1.0).contains(&value));
            if k < n { prop_assert!(pass_at_k(n, right, k + 1) >= value - 1e-12); }
            if right < n { prop_assert!(pass_at_k(n, right + 1, k) >= value - 1e-12); }
            if k == 1 { prop_assert!((value - right as f64 / n as f64).abs() < 1e-9); }
        }

        #[test]
        fn the_winner_has_as_many_votes_as_any(answers in prop::collection::vec(prop::option::of("[1-4]"), 0..12)) {
            let answers: Vec<Option<&str>> = answers.iter().map(Option::as_deref).collect();
            let groups = groups(Method::Official, &answers);
            let votes = |answer: &str| answers.iter().filter(|other| **other == Some(answer)).count();
            match majority(&groups) {
                None => prop_assert!(answers.iter().all(Option::is_none)),
                Some(place) => {
                    let winner = answers[place].unwrap();
                    prop_assert!(answers.iter().flatten().all(|other| votes(other) <= votes(winner)));
                    let earlier = answers[..place].iter().flatten();
                    prop_assert!(earlier.into_iter().all(|other| votes(other) < votes(winner)));
                }
            }
        }
    }
}
