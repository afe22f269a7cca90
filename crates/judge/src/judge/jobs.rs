//! The trials that are to be run, and their order.

use std::cmp::Reverse;
use std::collections::HashMap;

use rayon::prelude::*;

use juror_data::Samples;

/// One generation to be run: 8 bytes, so that all of a run's can be put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    position: u32,
    /// The trial's number.
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

/// Cuts the first jobs off `rest`: at most `count`, and no more memory than [`MEMORY_AHEAD`] beside the first sample's, so
/// that it does not grow with the length of the samples.
pub(super) fn cut<'j, S: Samples + ?Sized>(
    rest: &mut &'j [Job],
    samples: &S,
    count: usize,
) -> &'j [Job] {
    cut_by(rest, Job::position, samples, count)
}

/// As `cut`, of positions.
pub fn cut_positions<'j, S: Samples + ?Sized>(
    rest: &mut &'j [usize],
    samples: &S,
    count: usize,
) -> &'j [usize] {
    cut_by(rest, |position| position, samples, count)
}

fn cut_by<'j, T: Copy, S: Samples + ?Sized>(
    rest: &mut &'j [T],
    position: impl Fn(T) -> usize,
    samples: &S,
    count: usize,
) -> &'j [T] {
    let mut bytes = 0;
    let mut last = None;
    let fits = rest
        .iter()
        .take(count)
        .take_while(|&&one| {
            let position = position(one);
            if last != Some(position) {
                bytes += samples.outline(position).memory;
                last = Some(position);
            }
            bytes <= MEMORY_AHEAD
        })
        .count();
    let (now, later) = rest.split_at(fits.max(1).min(rest.len()));
    *rest = later;
    now
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
        let mut rest = jobs.as_slice();
        let first = cut(&mut rest, samples.as_slice(), 4);
        assert_eq!(positions(first), (vec![0, 1], vec![0, 0, 0, 1]));
        assert_eq!(rest.len(), 11);

        let long: Vec<Sample> = samples
            .iter()
            .map(|sample| Sample {
                student_answer: "x".repeat(MEMORY_AHEAD / 2 + 1),
                ..sample.clone()
            })
            .collect();
        let mut rest = jobs.as_slice();
        let mut cuts = Vec::new();
        while !rest.is_empty() {
            cuts.push(cut(&mut rest, long.as_slice(), 100).len());
        }
        assert_eq!(cuts, [3; 5]);

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
        let first = cut(&mut jobs.as_slice(), wide.as_slice(), 100).len();
        assert!((20..60).contains(&first), "{first}");
    }
}
