//! What is kept in memory of each verdict: its content, and the place of its line.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::source::Source;
use crate::eval::{Labelled, Samples, Scored, Task, scored};
use juror_data::verdict::Status;
use juror_data::{Rows, VerdictLine};

#[derive(Debug, Clone, Copy)]
pub(super) struct VerdictPlace {
    pub(super) offset: u64,
    pub(super) length: u32,
    /// NaN if there is none.
    reward: f32,
}

/// Bit: a trial judged the sample right.
const SAID_TRUE: u8 = 1;
/// Bit: a trial judged the sample wrong.
const SAID_FALSE: u8 = 2;
/// Bit: the sample was judged.
const JUDGED: u8 = 4;

#[derive(Debug)]
pub(crate) struct Index {
    /// The samples, with their labels if they have any: first those of the rows, in their order.
    pub(crate) samples: Samples,
    /// The content of each verdict, in the file's order, but for open ones that were judged later.
    pub(crate) scored: Vec<Scored>,
    pub(super) places: Vec<VerdictPlace>,
    /// The bits of each sample's trials.
    said: Vec<u8>,
    /// The places of the verdicts that are open, by sample and trial.
    open: HashMap<(u32, u32), usize>,
    /// Of samples that are known by the ids of their rows alone, what they are known as, if no other of the row has a verdict.
    rows_of: HashMap<u32, u32>,
    /// The first of these of each row.
    firsts: HashMap<u32, u32>,
    /// How many verdicts have taken the place of an open one.
    replaced: usize,
    /// The number of samples with a verdict.
    pub(crate) judged: usize,
    pub(crate) rows: Option<Arc<Rows>>,
    pub(super) source: Arc<Source>,
    /// Increased whenever the file is read from its beginning again.
    pub(crate) generation: u64,
    /// The number of lines that are not verdicts.
    pub(crate) unreadable: usize,
    /// The number of the first such line, and the reason.
    pub(crate) first_unreadable: Option<(u32, String)>,
    /// The number of verdicts in each state.
    pub(crate) by_status: BTreeMap<Status, usize>,
    /// The sum of all rewards, and their number.
    pub(crate) rewards: (f64, usize),
}

impl Index {
    pub(super) fn new(samples: Samples, rows: Option<Arc<Rows>>, source: Arc<Source>) -> Self {
        Self {
            said: vec![0; samples.labelled.len()],
            samples,
            open: HashMap::new(),
            rows_of: HashMap::new(),
            firsts: HashMap::new(),
            replaced: 0,
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

    /// Removes all verdicts: the file is read from its beginning again.
    pub(super) fn clear(&mut self, source: Arc<Source>) {
        let samples = std::mem::take(&mut self.samples);
        *self = Self {
            generation: self.generation + 1,
            rows_of: std::mem::take(&mut self.rows_of),
            firsts: std::mem::take(&mut self.firsts),
            ..Self::new(samples, self.rows.take(), source)
        };
    }

    /// Adds the verdict of a line of this number, counted from 1.
    pub(super) fn add(
        &mut self,
        line: &VerdictLine,
        label: Option<crate::eval::Label>,
        number: u32,
        (offset, length): (u64, u32),
    ) {
        let sample = self.samples.place(&line.id).unwrap_or_else(|| {
            self.said.push(0);
            let row = line.group.as_deref();
            let row = row.and_then(|row| self.samples.places.own(row));
            let sample = self.samples.add(&line.id, label.unwrap_or_default());
            if let Some(row) = row {
                match *self.firsts.entry(row).or_insert(sample) {
                    first if first == sample => self.rows_of.insert(sample, row),
                    first => self.rows_of.remove(&first),
                };
            }
            sample
        });
        let scored = scored(line, sample, number);
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
        let place = VerdictPlace {
            offset,
            length,
            reward: line.reward.map_or(f32::NAN, |reward| reward as f32),
        };
        let trial = (sample, line.trial);
        // In a journal the next line of a trial that a server left open takes that one's place.
        let at = self.open.remove(&trial).unwrap_or(self.scored.len());
        if let Some(before) = self.scored.get_mut(at) {
            let status = std::mem::replace(before, scored).status;
            self.by_status.retain(|of, count| {
                *count -= usize::from(*of == status);
                *count > 0
            });
            self.places[at] = place;
            self.replaced += 1;
        } else {
            self.scored.push(scored);
            self.places.push(place);
        }
        if line.open {
            self.open.insert(trial, at);
        }
    }

    /// Records a line that is not a verdict.
    pub(super) fn add_unreadable(&mut self, number: u32, why: &str) {
        self.unreadable += 1;
        self.first_unreadable
            .get_or_insert_with(|| (number, why.to_owned()));
    }

    pub(crate) fn count(&self) -> usize {
        self.scored.len()
    }

    /// The verdicts that were read, those that others have taken the place of among them.
    pub(crate) fn read(&self) -> usize {
        self.scored.len() + self.replaced
    }

    pub(crate) fn at_line(&self, line: u32) -> Option<usize> {
        self.scored.iter().position(|scored| scored.line == line)
    }

    pub(crate) fn reward(&self, at: usize) -> Option<f32> {
        let reward = self.places.get(at)?.reward;
        (!reward.is_nan()).then_some(reward)
    }

    /// The label of a verdict's sample; an empty one if it has none.
    pub(crate) fn labelled(&self, scored: &Scored) -> Labelled {
        let sample = self.known_as(scored.sample) as usize;
        let labelled = self.samples.labelled.get(sample);
        labelled.copied().unwrap_or_default()
    }

    /// The sample that has the texts and the label of this one: itself, or its row's.
    pub(super) fn known_as(&self, sample: u32) -> u32 {
        self.rows_of.get(&sample).copied().unwrap_or(sample)
    }

    pub(crate) fn trials_disagree(&self, sample: u32) -> bool {
        let said = self.said.get(sample as usize).copied();
        said == Some(JUDGED | SAID_TRUE | SAID_FALSE)
    }

    pub(crate) fn has_labels(&self) -> bool {
        self.samples.labelled.iter().any(Labelled::has_any)
    }
}

/// How sure the judge was of the field it was least sure of, from 0.5 to 1; `None` if no probability is known.
pub(crate) fn sureness(scored: &Scored) -> Option<f64> {
    let tasks = [Task::Process, Task::Outcome];
    let of = |task: Task| {
        let probability = task.probability(scored)?;
        Some(probability.max(1.0 - probability))
    };
    tasks.into_iter().filter_map(of).reduce(f64::min)
}
