//! Which trials are finished, and where their lines are.

use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LinePlace {
    /// The offset in bytes from the beginning of the file.
    pub(crate) offset: u64,
    /// The length in bytes, newline included; 0 if there is no such line.
    pub(crate) length: u32,
}

/// The finished trials of a run: 16 bytes for each trial of the run instead of its verdict.
#[derive(Debug, Clone, Default)]
pub struct Finished {
    trials: usize,
    /// The line of trial `t` of the sample at position `p` is at `p * trials + t`.
    lines: Vec<LinePlace>,
    count: usize,
    /// Places of the lines that are open: they are no finished trials.
    open: BTreeSet<usize>,
}

impl Finished {
    /// No finished trials of `samples` times `trials`.
    pub fn new(samples: usize, trials: u32) -> Self {
        let trials = trials as usize;
        Self {
            trials,
            lines: vec![LinePlace::default(); samples.saturating_mul(trials)],
            ..Self::default()
        }
    }

    fn place(&self, position: usize, trial: u32) -> Option<usize> {
        let trial = trial as usize;
        let place = position.checked_mul(self.trials)?.checked_add(trial)?;
        (trial < self.trials && place < self.lines.len()).then_some(place)
    }

    /// Records the line of a trial of the sample at `position`: of several the first that is not open counts, or else the last.
    pub fn insert(&mut self, position: usize, trial: u32, line: LinePlace, is_open: bool) -> Noted {
        let Some(place) = self.place(position, trial) else {
            return Noted::Unknown;
        };
        let was_open = self.open.remove(&place);
        let kept = &mut self.lines[place];
        if kept.length > 0 && !was_open {
            return Noted::Before;
        }
        *kept = line;
        if is_open {
            self.open.insert(place);
            return Noted::Open;
        }
        self.count += 1;
        Noted::New
    }

    /// Takes open trials for finished; gives their lines.
    pub fn close(&mut self) -> Vec<LinePlace> {
        let places = std::mem::take(&mut self.open);
        self.count += places.len();
        places.into_iter().map(|place| self.lines[place]).collect()
    }

    pub fn contains(&self, position: usize, trial: u32) -> bool {
        self.place(position, trial)
            .is_some_and(|place| self.lines[place].length > 0 && !self.open.contains(&place))
    }

    pub fn count(&self) -> usize {
        self.count
    }

    pub fn is_complete(&self) -> bool {
        self.count == self.lines.len()
    }

    /// The lines of the output from the `from`th on, up to the first trial that is not finished.
    pub fn ready(&self, from: usize) -> impl Iterator<Item = LinePlace> {
        let lines = self.lines.get(from..).unwrap_or_default();
        lines.iter().copied().take_while(|line| line.length > 0)
    }

    /// The lines of the finished trials, by position and trial: the order of the output.
    pub fn lines(&self) -> impl Iterator<Item = LinePlace> {
        self.lines.iter().copied().filter(|line| line.length > 0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noted {
    /// The trial was not finished before.
    New,
    /// It was finished before: its first line counts.
    Before,
    /// It could not be judged for a fault that can pass: it is not finished.
    Open,
    /// This run has no such trial.
    Unknown,
}
