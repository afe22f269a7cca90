//! What is kept of each verdict: what it says, and where its line is.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::source::Source;
use crate::eval::{Labelled, Miss, Samples, Scored, Task, scored};
use juror_data::verdict::Status;
use juror_data::{Rows, VerdictLine};

/// Where a verdict's line is, and what it is worth.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) length: u32,
    /// Not a number where there is none.
    reward: f32,
}

/// A line that was read as a verdict.
pub(super) struct ReadLine<'l> {
    pub(super) line: VerdictLine<'l>,
    pub(super) label: Option<crate::eval::Label>,
    pub(super) offset: u64,
    pub(super) length: u32,
    /// The line's number, from 1.
    pub(super) number: u32,
}

/// A trial said that a sample is right.
const SAID_TRUE: u8 = 1;
/// A trial said that a sample is wrong.
const SAID_FALSE: u8 = 2;
/// A sample was judged.
const JUDGED: u8 = 4;

/// The verdicts of a file, by their place.
#[derive(Debug)]
pub(crate) struct Index {
    /// The samples, with their labels where they have any: those of the rows first, in their order.
    pub(crate) samples: Samples,
    /// What each verdict says, in the file's order.
    pub(crate) scored: Vec<Scored>,
    pub(super) places: Vec<Place>,
    /// What the trials of each sample said.
    said: Vec<u8>,
    judged: usize,
    pub(super) rows: Option<Arc<Rows>>,
    pub(super) source: Arc<Source>,
    /// Grows each time when the file is read anew.
    pub(crate) generation: u64,
    /// Lines that are no verdicts.
    pub(crate) unreadable: usize,
    /// The first of them: its number, and why it is none.
    pub(crate) first_unreadable: Option<(u32, String)>,
    /// Verdicts by their state.
    pub(crate) by_status: BTreeMap<Status, usize>,
    /// The sum of all rewards, and how many there are.
    pub(crate) rewards: (f64, usize),
}

impl Index {
    pub(super) fn new(samples: Samples, rows: Option<Arc<Rows>>, source: Arc<Source>) -> Self {
        Self {
            said: vec![0; samples.labelled.len()],
            samples,
            scored: Vec::new(),
            judged: 0,
            places: Vec::new(),
            rows,
            source,
            generation: 0,
            unreadable: 0,
            first_unreadable: None,
            by_status: BTreeMap::new(),
            rewards: (0.0, 0),
        }
    }

    /// Forgets the verdicts: the file is read anew.
    pub(super) fn clear(&mut self, source: Arc<Source>) {
        let samples = std::mem::take(&mut self.samples);
        let generation = self.generation + 1;
        *self = Self::new(samples, self.rows.take(), source);
        self.generation = generation;
    }

    /// Adds a verdict.
    pub(super) fn add(&mut self, read: ReadLine) {
        let ReadLine {
            line,
            label,
            offset,
            length,
            number,
        } = read;
        let sample = self.samples.place(&line.id).unwrap_or_else(|| {
            self.said.push(0);
            self.samples.add(&line.id, label.unwrap_or_default(), "")
        });
        let scored = scored(&line, sample, number);
        if let Some(said) = self.said.get_mut(sample as usize) {
            self.judged += usize::from(*said == 0);
            *said |= JUDGED;
            *said |= match scored.overall.or(scored.outcome) {
                Some(true) => SAID_TRUE,
                Some(false) => SAID_FALSE,
                None => 0,
            };
        }
        *self.by_status.entry(scored.status).or_default() += 1;
        if let Some(reward) = line.reward {
            self.rewards.0 += reward;
            self.rewards.1 += 1;
        }
        self.scored.push(scored);
        self.places.push(Place {
            offset,
            length,
            reward: line.reward.map_or(f32::NAN, |reward| reward as f32),
        });
    }

    /// Notes a line that is no verdict.
    pub(super) fn add_unreadable(&mut self, number: u32, why: &str) {
        self.unreadable += 1;
        self.first_unreadable
            .get_or_insert_with(|| (number, why.to_owned()));
    }

    /// How many verdicts there are.
    pub(crate) fn count(&self) -> usize {
        self.scored.len()
    }

    /// What a verdict is worth.
    pub(crate) fn reward(&self, at: usize) -> Option<f32> {
        self.places
            .get(at)
            .map(|place| place.reward)
            .filter(|reward| !reward.is_nan())
    }

    /// The label of a verdict's sample; an empty one where it has none.
    pub(crate) fn labelled(&self, scored: &Scored) -> Labelled {
        self.samples
            .labelled
            .get(scored.sample as usize)
            .copied()
            .unwrap_or(Labelled::NONE)
    }

    /// Do the trials of a sample disagree on whether it is right?
    pub(crate) fn trials_disagree(&self, sample: u32) -> bool {
        let said = self.said.get(sample as usize).copied();
        said == Some(JUDGED | SAID_TRUE | SAID_FALSE)
    }

    /// The ways in which a verdict misses its label or the rules.
    pub(crate) fn misses(&self, scored: &Scored) -> Vec<Miss> {
        Miss::all_of(scored, &self.labelled(scored))
    }

    /// Has any sample a label?
    pub(crate) fn has_labels(&self) -> bool {
        self.samples
            .labelled
            .iter()
            .any(|one| one.outcome.is_some() || one.overall.is_some() || one.process.is_some())
    }

    /// How many samples have a verdict.
    pub(crate) fn judged(&self) -> usize {
        self.judged
    }

    /// Are the samples' texts known from rows?
    pub(crate) fn has_rows(&self) -> bool {
        self.rows.is_some()
    }
}

/// How sure the judge was of what it was least sure of, from 0.5 to 1; `None` where no probability is known.
pub(crate) fn sureness(scored: &Scored) -> Option<f64> {
    let tasks = [Task::Process, Task::Outcome];
    let of = |task: Task| {
        let probability = task.probability(scored)?;
        Some(probability.max(1.0 - probability))
    };
    tasks.into_iter().filter_map(of).reduce(f64::min)
}
