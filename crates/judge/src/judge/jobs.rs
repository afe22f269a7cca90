//! The trials that are to be run, and their order.

use std::cmp::Reverse;
use std::collections::HashMap;

use rayon::prelude::*;

use juror_data::Samples;

/// One generation to be run: 8 bytes, so that all of a run's can be put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    position: u32,
    pub(crate) trial: u32,
}

impl Job {
    /// The sample's position among the samples of the run.
    pub(crate) fn position(self) -> usize {
        self.position as usize
    }
}

/// The trials that are not `finished`, in the order that suits an engine: samples of one question together (they share
/// more than the template), the longest first (so that no long one is left to run alone at the end).
pub fn by_question<S: Samples + ?Sized>(
    samples: &S,
    trials: u32,
    finished: impl Fn(usize, u32) -> bool,
) -> Vec<Job> {
    let mut longest: HashMap<u64, u32> = HashMap::new();
    let mut positions: Vec<(Reverse<u32>, u64, Reverse<u32>, u32)> = (0..samples.count())
        .map(|position| {
            let outline = samples.outline(position);
            let bytes = u32::try_from(outline.bytes).unwrap_or(u32::MAX);
            let of_question = longest.entry(outline.question).or_default();
            *of_question = bytes.max(*of_question);
            (
                Reverse(0),
                outline.question,
                Reverse(bytes),
                position as u32,
            )
        })
        .collect();
    for (of_question, question, ..) in &mut positions {
        *of_question = Reverse(longest[question]);
    }
    positions.par_sort_unstable();
    jobs(
        positions.into_iter().map(|(.., position)| position),
        trials,
        finished,
    )
}

/// The trials that are not `finished`, in the order of the input.
pub fn in_input_order<S: Samples + ?Sized>(
    samples: &S,
    trials: u32,
    finished: impl Fn(usize, u32) -> bool,
) -> Vec<Job> {
    jobs(0..samples.count() as u32, trials, finished)
}

fn jobs(
    positions: impl Iterator<Item = u32>,
    trials: u32,
    finished: impl Fn(usize, u32) -> bool,
) -> Vec<Job> {
    positions
        .flat_map(|position| (0..trials).map(move |trial| Job { position, trial }))
        .filter(|job| !finished(job.position(), job.trial))
        .collect()
}

/// Jobs or positions in batches: each of at most `count`, and of no more memory than [`MEMORY_AHEAD`] beside the first
/// sample's, so that it does not grow with the length of the samples.
pub fn batches<'j, T: Copy, S: Samples + ?Sized>(
    mut rest: &'j [T],
    position: impl Fn(T) -> usize,
    samples: &S,
    count: usize,
) -> impl Iterator<Item = &'j [T]> {
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let mut last = None;
        let fits = |&&one: &&T| {
            let position = position(one);
            if last != Some(position) {
                bytes += samples.outline(position).memory;
                last = Some(position);
            }
            bytes <= MEMORY_AHEAD
        };
        let fits = rest.iter().take(count).take_while(fits).count();
        let (now, later) = rest.split_at(fits.max(1).min(rest.len()));
        rest = later;
        (!now.is_empty()).then_some(now)
    })
}

/// Bytes of samples worked on at a time.
const MEMORY_AHEAD: usize = 4 << 20;

/// The samples of some jobs, each once, and for every job which of them is its own.
pub(super) fn positions(jobs: &[Job]) -> (Vec<usize>, Vec<usize>) {
    let mut positions: Vec<usize> = Vec::with_capacity(jobs.len());
    let own = jobs
        .iter()
        .map(|job| {
            if positions.last() != Some(&job.position()) {
                positions.push(job.position());
            }
            positions.len() - 1
        })
        .collect();
    (positions, own)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use juror_data::Sample;

    fn samples() -> Vec<Sample> {
        [("a", 5), ("b", 9), ("a", 20), ("c", 1), ("b", 3)]
            .iter()
            .enumerate()
            .map(|(index, (question, length))| Sample {
                index,
                ..Sample::new(*question, "", "x".repeat(*length)).with_id(index.to_string())
            })
            .collect()
    }

    #[test]
    fn questions_stay_together_and_the_longest_come_first() {
        let samples = samples();
        let order = |trials, finished: &dyn Fn(usize, u32) -> bool| -> Vec<(usize, u32)> {
            by_question(samples.as_slice(), trials, finished)
                .iter()
                .map(|job| (job.position(), job.trial))
                .collect()
        };
        assert_eq!(
            order(1, &|_, _| false),
            [(2, 0), (0, 0), (1, 0), (4, 0), (3, 0)]
        );
        assert_eq!(
            order(2, &|position, trial| position > 1 || trial == 0),
            [(0, 1), (1, 1)]
        );
    }

    #[test]
    fn jobs_are_cut_by_count_and_by_text() {
        let samples = samples();
        let jobs = in_input_order(samples.as_slice(), 3, |_, _| false);
        let cuts = |samples: &[Sample], count| -> Vec<usize> {
            let cut = batches(&jobs, Job::position, samples, count);
            cut.map(<[Job]>::len).collect()
        };
        assert_eq!(cuts(&samples, 4), [4, 4, 4, 3]);
        assert_eq!(positions(&jobs[..4]), (vec![0, 1], vec![0, 0, 0, 1]));

        let long: Vec<Sample> = samples
            .iter()
            .map(|sample| Sample {
                student_answer: "x".repeat(MEMORY_AHEAD / 2 + 1),
                ..sample.clone()
            })
            .collect();
        assert_eq!(cuts(&long, 100), [3; 5]);

        // A thousand kept values of one letter take more memory than their text.
        let entries = (0..1000).map(|at| (at.to_string(), json!("x")));
        let kept: Map<String, Value> = entries.collect();
        let wide: Vec<Sample> = (0..100)
            .map(|index| Sample {
                kept: kept.clone(),
                ..Sample::new("q", "", "r").with_id(index.to_string())
            })
            .collect();
        let jobs = in_input_order(wide.as_slice(), 1, |_, _| false);
        let mut cut = batches(&jobs, Job::position, wide.as_slice(), 100);
        let first = cut.next().unwrap().len();
        assert!((20..60).contains(&first), "{first}");
    }
}
