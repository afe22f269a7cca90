//! One person's way through the queue: label, skip, undo.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use super::{LabelFile, LabelLine, Queue, Reasons, Said};
use crate::Result;
use crate::eval::Scored;
use juror_data::{Sample, Samples as _, id_hash};

#[derive(Debug, Clone, Copy)]
enum Step {
    Labelled(usize),
    Skipped(usize),
}

/// A judge's verdict on a sample, as it is shown.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The file of its verdicts.
    pub judge: String,
    /// Its parts that are scored.
    pub scored: Scored,
    pub verdict: Map<String, Value>,
}

/// One person's way through the queue.
pub struct Session {
    queue: Queue,
    file: LabelFile,
    annotator: String,
    /// Positions without a label so far.
    left: VecDeque<usize>,
    skipped: usize,
    steps: Vec<Step>,
}

impl Session {
    /// Starts after the labels in the file.
    pub fn new(queue: Queue, file: LabelFile, annotator: &str) -> Self {
        let place = |position: &usize| (queue.rows.outline(*position).id, *position);
        let places: HashMap<u64, usize> = queue.positions.iter().map(place).collect();
        let mut done = std::collections::HashSet::new();
        let mut steps = Vec::new();
        for label in file.labels() {
            let position = places.get(&id_hash(&label.id)).copied();
            done.extend(position);
            // Labels of other samples or other annotators cannot be undone here, nor can anything before them.
            match position.filter(|_| label.annotator == annotator) {
                Some(position) => steps.push(Step::Labelled(position)),
                None => steps.clear(),
            }
        }
        let left = queue.positions.iter().copied();
        Self {
            left: left.filter(|position| !done.contains(position)).collect(),
            queue,
            file,
            annotator: annotator.to_owned(),
            skipped: 0,
            steps,
        }
    }

    /// The current sample; `None` if all are labelled or skipped.
    /// Errors: when the rows cannot be read again, or have changed.
    pub fn current(&self) -> Result<Option<Sample>> {
        if self.skipped >= self.left.len() {
            return Ok(None);
        }
        let Some(position) = self.left.front() else {
            return Ok(None);
        };
        Ok(self.queue.rows.fetch(&[*position])?.pop())
    }

    /// How many samples are labelled, and how many are in the queue.
    pub fn progress(&self) -> (usize, usize) {
        let all = self.queue.positions.len();
        (all - self.left.len(), all)
    }

    /// How many labels and skips can be undone.
    #[cfg(feature = "serve")]
    pub(crate) fn steps(&self) -> usize {
        self.steps.len()
    }

    pub fn skipped(&self) -> usize {
        self.skipped
    }

    pub fn label(&mut self, sample: &Sample, said: Said, note: Option<String>) -> Result<()> {
        let note = note
            .map(|note| note.trim().to_owned())
            .filter(|note| !note.is_empty());
        self.file
            .add(LabelLine::new(&sample.id, &self.annotator, said, note))?;
        if let Some(position) = self.left.pop_front() {
            self.steps.push(Step::Labelled(position));
        }
        Ok(())
    }

    /// Skips the current sample until the same command is run again.
    pub fn skip(&mut self) {
        if let Some(position) = self.left.pop_front() {
            self.left.push_back(position);
            self.skipped += 1;
            self.steps.push(Step::Skipped(position));
        }
    }

    /// Undoes the last step; `false` if there is none.
    pub fn undo(&mut self) -> Result<bool> {
        match self.steps.last() {
            None => return Ok(false),
            Some(Step::Labelled(position)) => {
                self.file.undo()?;
                self.left.push_front(*position);
            }
            Some(Step::Skipped(position)) => {
                self.left.pop_back();
                self.left.push_front(*position);
                self.skipped -= 1;
            }
        }
        self.steps.pop();
        Ok(true)
    }

    pub fn reasons(&self, sample: &Sample) -> Reasons {
        let position = self.queue.rows.position(sample.index);
        let found = position.and_then(|position| self.queue.reasons.get(&position));
        found.copied().unwrap_or_default()
    }

    pub fn verdicts(&self, id: &str) -> Result<Vec<Shown>> {
        let mut shown = Vec::new();
        for judge in &self.queue.judges {
            let (generation, ats) = {
                let index = judge.index();
                let sample = index.samples.place(id);
                let of_it = (0..index.count() as u32).filter(|at| {
                    sample.is_some() && Some(index.scored[*at as usize].sample) == sample
                });
                (index.generation, of_it.collect::<Vec<u32>>())
            };
            let records = judge.records(&ats, generation)?;
            shown.extend(records.into_iter().flatten().map(|record| Shown {
                judge: judge.path.display().to_string(),
                scored: record.scored,
                verdict: record.verdict,
            }));
        }
        Ok(shown)
    }
}
