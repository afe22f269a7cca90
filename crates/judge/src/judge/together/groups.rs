//! Groups: the responses to one question. Where all of a group have the same reward, a policy learns nothing from it.
//!
//! Questions are told by their text alone.

use std::collections::HashMap;

/// What is added to a standard deviation, so that rewards that are all the same have an advantage of 0.
const SMALL: f64 = 1e-4;

/// Rewards by group, in a few bytes a group.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// By the question's hash.
    rewards: HashMap<u64, Rewards>,
}

#[derive(Debug)]
struct Rewards {
    /// The first sample with a reward.
    sample: usize,
    several: bool,
    least: f64,
    most: f64,
    count: usize,
    /// In units of [`UNIT`]: sums of whole numbers are the same in whatever order verdicts come.
    sum: i128,
    squares: i128,
}

/// What rewards are counted in.
const UNIT: f64 = 1.0 / (1_u64 << 52) as f64;

impl Groups {
    /// Adds the reward of a trial of a sample, if it has one.
    pub(crate) fn add(&mut self, question: u64, sample: usize, reward: Option<f64>) {
        let Some(reward) = reward else { return };
        let of_group = self.rewards.entry(question).or_insert(Rewards {
            sample,
            several: false,
            least: reward,
            most: reward,
            count: 0,
            sum: 0,
            squares: 0,
        });
        of_group.several |= of_group.sample != sample;
        of_group.least = of_group.least.min(reward);
        of_group.most = of_group.most.max(reward);
        of_group.count += 1;
        of_group.sum += (reward / UNIT).round() as i128;
        of_group.squares += (reward * reward / UNIT).round() as i128;
    }

    /// The advantage of a reward among those of its question: its distance from their mean, divided by their standard deviation
    /// (that of a sample) and [`SMALL`], as GRPO (arXiv 2402.03300) has it. 0 where there is no other reward.
    pub(crate) fn advantage(&self, question: u64, reward: f64) -> f64 {
        let Some(group) = self.rewards.get(&question).filter(|group| group.count > 1) else {
            return 0.0;
        };
        let count = group.count as f64;
        let mean = group.sum as f64 * UNIT / count;
        let variance = (group.squares as f64 * UNIT - count * mean * mean) / (count - 1.0);
        (reward - mean) / (variance.max(0.0).sqrt() + SMALL)
    }

    /// The groups of at least two samples with rewards; `None` if there is none.
    pub(crate) fn summary(&self) -> Option<GroupSummary> {
        let mut summary = GroupSummary::default();
        for group in self.rewards.values().filter(|group| group.several) {
            summary.groups += 1;
            summary.all_0 += usize::from(group.most <= 0.0);
            summary.all_1 += usize::from(group.least >= 1.0);
        }
        (summary.groups > 0).then_some(summary)
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupSummary {
    pub groups: usize,
    /// Of these, the ones whose rewards are all 0.
    pub all_0: usize,
    /// Of these, the ones whose rewards are all 1.
    pub all_1: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advantages_are_distances_from_the_mean() {
        let mut groups = Groups::default();
        for (question, reward) in [
            (1, 1.0),
            (1, 0.0),
            (1, 0.0),
            (1, 1.0),
            (2, 1.0),
            (2, 1.0),
            (3, 1.0),
        ] {
            groups.add(question, 0, Some(reward));
        }
        // The standard deviation of 1, 0, 0, 1 is the root of a third.
        let expected = 0.5 / ((1.0_f64 / 3.0).sqrt() + SMALL);
        assert!((groups.advantage(1, 1.0) - expected).abs() < 1e-12);
        assert!((groups.advantage(1, 0.0) + expected).abs() < 1e-12);
        assert_eq!(groups.advantage(2, 1.0).to_bits(), 0.0_f64.to_bits());
        assert_eq!(groups.advantage(3, 1.0).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn groups_of_one_and_rewards_that_are_not_known_do_not_count() {
        let mut groups = Groups::default();
        assert_eq!(groups.summary(), None);
        for (question, sample, reward) in [
            (1, 0, Some(0.0)),
            (1, 1, Some(0.0)),
            (2, 2, Some(1.0)),
            (2, 3, Some(1.0)),
            (2, 4, None),
            (3, 5, Some(1.0)),
            (3, 6, Some(0.0)),
            (4, 7, Some(1.0)),
            (4, 8, None),
            // Two trials of one sample.
            (5, 9, Some(1.0)),
            (5, 9, Some(1.0)),
        ] {
            groups.add(question, sample, reward);
        }
        let expected = GroupSummary {
            groups: 3,
            all_0: 1,
            all_1: 1,
        };
        assert_eq!(groups.summary(), Some(expected));
    }
}
