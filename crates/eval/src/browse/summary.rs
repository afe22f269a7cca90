//! Counts and figures of all verdicts.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::follow::Browser;
use super::index::Index;
use crate::eval::{Measures, Scored, Scores, Task};
use juror_base::threads::lock;
use juror_data::verdict::Status;

/// Resamples of the bootstrap that gives the intervals: fewer than in a report, since it is repeated while a run goes on.
pub(super) const RESAMPLES: usize = 1000;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Summary {
    pub(crate) verdicts: usize,
    pub(crate) samples: usize,
    pub(crate) by_status: BTreeMap<Status, usize>,
    pub(crate) mean_reward: Option<f64>,
    pub(crate) unreadable: usize,
    pub(crate) first_unreadable: Option<(u32, String)>,
    /// Whether everything in the file was read.
    pub(crate) has_caught_up: bool,
    /// Whether the run's journal is read, since there is no output yet.
    pub(crate) is_journal: bool,
    /// How well verdicts agree with labels, if there are any.
    pub(crate) scores: Vec<(Task, Scores)>,
}

/// Figures against labels, cached. They are computed again once there are 2 % more verdicts, or when their number no longer changes.
#[derive(Default)]
pub(crate) struct Figures {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// The generation and the number of verdicts read that the scores are of.
    of: Option<(u64, usize)>,
    /// The number of verdicts when they were last asked for.
    asked: usize,
    scores: Vec<(Task, Scores)>,
}

impl Kept {
    /// Whether the cached scores are still good enough.
    fn serve(&self, generation: u64, count: usize) -> bool {
        let Some((_, before)) = self.of.filter(|of| of.0 == generation) else {
            return false;
        };
        count == before || (count != self.asked && count - before < before / 50)
    }
}

impl Figures {
    fn scores(&self, index: &Index) -> Vec<(Task, Scores)> {
        if !index.has_labels() {
            return Vec::new();
        }
        let mut kept = lock(&self.kept);
        let serves = kept.serve(index.generation, index.read());
        kept.asked = index.read();
        if serves {
            return kept.scores.clone();
        }
        let is_labelled = |at: &u32| {
            let labelled = index.labelled(&index.scored[*at as usize]);
            Task::ALL.iter().any(|task| task.label(&labelled).is_some())
        };
        let mut order: Vec<u32> = (0..index.count() as u32).filter(is_labelled).collect();
        // The trials of a sample must be adjacent.
        order.sort_by_key(|at| index.scored[*at as usize].sample);
        let known = |at: &u32| {
            let scored = index.scored[*at as usize];
            let sample = index.known_as(scored.sample);
            Scored { sample, ..scored }
        };
        let scored: Vec<_> = order.iter().map(known).collect();
        let measures = Measures::new(&scored, &index.samples, RESAMPLES, |_| true);
        let scores: Vec<(Task, Scores)> = measures.tasks.into_iter().collect();
        kept.of = Some((index.generation, index.read()));
        kept.scores.clone_from(&scores);
        scores
    }
}

impl Summary {
    /// The counts of what was read so far.
    pub(crate) fn new(browser: &Browser, figures: &Figures) -> Self {
        let index = browser.index();
        let (sum, count) = index.rewards;
        Self {
            verdicts: index.count(),
            samples: index.judged,
            by_status: index.by_status.clone(),
            mean_reward: (count > 0).then(|| sum / count as f64),
            unreadable: index.unreadable,
            first_unreadable: index.first_unreadable.clone(),
            has_caught_up: browser.has_caught_up(),
            is_journal: index.source.is_journal,
            scores: figures.scores(&index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_made_again_where_verdicts_grow_much_or_no_more() {
        let kept = |asked| Kept {
            of: Some((0, 1000)),
            asked,
            scores: Vec::new(),
        };
        assert!(kept(1000).serve(0, 1000));
        assert!(kept(1000).serve(0, 1019), "a little more");
        assert!(!kept(1000).serve(0, 1020), "much more");
        assert!(
            !kept(1019).serve(0, 1019),
            "no more since they were asked for last"
        );
        assert!(!kept(1000).serve(1, 1000), "another file");
        assert!(!Kept::default().serve(0, 0));
    }
}
