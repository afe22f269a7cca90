//! Groups: the responses to one question. Where all of a group have the same reward, a policy learns nothing from it.
//!
//! Questions are told by their text alone.

use std::collections::HashMap;

/// Rewards by group, in a few bytes a group.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// By the question's hash.
    rewards: HashMap<u64, Rewards>,
}

#[derive(Debug)]
struct Rewards {
    /// The first sample with a reward.
    sample: usize,
    /// There is another.
    several: bool,
    least: f64,
    most: f64,
}

impl Groups {
    /// Adds the reward of a trial of a sample, if it has one.
    pub(super) fn add(&mut self, question: u64, sample: usize, reward: Option<f64>) {
        let Some(reward) = reward else { return };
        let of_group = self.rewards.entry(question).or_insert(Rewards {
            sample,
            several: false,
            least: reward,
            most: reward,
        });
        of_group.several |= of_group.sample != sample;
        of_group.least = of_group.least.min(reward);
        of_group.most = of_group.most.max(reward);
    }

    /// The groups of at least two samples with rewards; `None` if there is none.
    pub(super) fn summary(&self) -> Option<GroupSummary> {
        let mut summary = GroupSummary::default();
        for group in self.rewards.values().filter(|group| group.several) {
            summary.groups += 1;
            summary.all_0 += usize::from(group.most <= 0.0);
            summary.all_1 += usize::from(group.least >= 1.0);
        }
        (summary.groups > 0).then_some(summary)
    }
}

/// Groups of a run in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct GroupSummary {
    /// Questions with several rewards.
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
