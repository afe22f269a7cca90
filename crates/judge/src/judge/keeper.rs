//! Where the verdicts of a run go, one by one: journal, summary, standard output.

use std::io::Write;
use std::time::{Duration, Instant};

use super::groups::Groups;
use super::{DeviceStats, JudgeError, Sink, Summary};
use juror_data::journal::{Finished, Journal};
use juror_data::verdict::Verdict;
use juror_data::{Rows, Samples};
use juror_engine::engine::Stats;

/// How often the journal is synced to disk, so that a power cut loses no more.
const SYNC_EVERY: Duration = Duration::from_secs(10);

/// How often verdicts are written to standard output.
const WRITE_EVERY: Duration = Duration::from_millis(100);

/// Writes each verdict to the journal before it counts, and keeps only the place of its line in memory.
pub(super) struct Keeper<'a> {
    pub(super) journal: Journal,
    pub(super) samples: &'a Rows,
    pub(super) finished: Finished,
    pub(super) summary: Summary,
    pub(super) groups: Groups,
    pub(super) observer: &'a mut dyn FnMut(&Summary),
    pub(super) started: Instant,
    pub(super) synced: Instant,
    /// Standard output, where it takes the verdicts.
    pub(super) stream: Option<Stream>,
}

/// What standard output has of the verdicts.
pub(super) struct Stream {
    /// How many of the output's lines were written.
    lines: usize,
    /// When the last of them were.
    written: Instant,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            lines: 0,
            written: Instant::now(),
        }
    }
}

impl Keeper<'_> {
    /// Writes to standard output, in order, every verdict whose predecessors are done, if verdicts go there.
    pub(super) fn write_ready(&mut self) -> Result<(), JudgeError> {
        let Some(stream) = &mut self.stream else {
            return Ok(());
        };
        stream.written = Instant::now();
        let mut stdout = std::io::stdout().lock();
        let ready = self.finished.ready(stream.lines);
        let ready = ready.inspect(|_| stream.lines += 1);
        self.journal
            .copy(ready, &mut stdout)
            .and_then(|()| stdout.flush())
            .map_err(JudgeError::Stdout)
    }
}

impl Sink for Keeper<'_> {
    fn keep(&mut self, mut verdict: Verdict) -> Result<(), JudgeError> {
        // Which of equal prompts was answered first differs by run; lines are the same after a resumption, or with a cache.
        let reused = std::mem::take(&mut verdict.reused);
        let line = self.journal.append(&verdict)?;
        verdict.reused = reused;
        if self.synced.elapsed() > SYNC_EVERY {
            self.journal.sync()?;
            self.synced = Instant::now();
        }
        if let Some(position) = self.samples.position(verdict.index) {
            // Of this run it is the last word, open or not.
            self.finished.insert(position, verdict.trial, line, false);
            let question = self.samples.outline(position).question;
            self.groups.add(question, position, verdict.reward);
        }
        self.summary.add(&verdict);
        let due = |stream: &Stream| stream.written.elapsed() > WRITE_EVERY;
        if self.stream.as_ref().is_some_and(due) {
            self.write_ready()?;
        }
        Ok(())
    }

    fn progress(&mut self, stats: &Stats) {
        self.summary.engine = *stats;
        self.summary.elapsed = self.started.elapsed();
        (self.observer)(&self.summary);
    }

    fn devices(&mut self, devices: &[DeviceStats]) {
        devices.clone_into(&mut self.summary.devices);
    }
}
