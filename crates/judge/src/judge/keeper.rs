//! Where the verdicts of a run go, one by one: journal, summary, standard output.

use std::io::Write;
use std::time::{Duration, Instant};

use super::together::groups::Groups;
use super::{DeviceStats, JudgeError, Sink, Summary};
use juror_data::journal::{Finished, Journal, LinePlace, Noted};
use juror_data::verdict::{Status, Verdict};
use juror_data::{Rows, Samples, id_hash};
use juror_engine::engine::Stats;

/// How often the journal is synced to disk, so that a power cut loses no more.
const SYNC_EVERY: Duration = Duration::from_secs(10);

/// How often verdicts are written to standard output.
const WRITE_EVERY: Duration = Duration::from_millis(100);

/// Writes each verdict to the journal before it counts, and keeps only the place of its line in memory.
pub(super) struct Keeper<'a> {
    pub(super) journal: Journal,
    pub(super) judged: Judged<'a>,
    pub(super) observer: &'a mut dyn FnMut(&Summary),
    pub(super) started: Instant,
    pub(super) synced: Instant,
    /// Standard output, where it takes the verdicts.
    pub(super) stream: Option<Stream>,
}

/// The trials that are judged, and what they say.
pub(super) struct Judged<'a> {
    pub(super) samples: &'a Rows,
    pub(super) finished: Finished,
    pub(super) summary: Summary,
    pub(super) groups: Groups,
    /// One that an earlier run has answered.
    pub(super) known: Option<(usize, u32)>,
}

impl Judged<'_> {
    /// Notes a line of an earlier run's journal, or says why it is not of this run.
    pub(super) fn note(&mut self, verdict: &Verdict, line: LinePlace) -> Result<(), String> {
        let Verdict { index, trial, .. } = *verdict;
        let position = self.samples.position(index);
        if let Some(position) = position
            && self.samples.outline(position).id != id_hash(&verdict.id)
        {
            return Err(format!(
                "it is of the sample {:?}, and sample {index} of the input is another",
                verdict.id
            ));
        }
        let noted = position.map_or(Noted::Unknown, |place| {
            self.finished.insert(place, trial, line, verdict.open)
        });
        match noted {
            Noted::New => {
                self.count(verdict, position);
                let is_answered = verdict.status == Status::Ok && !verdict.skipped;
                let known = position.filter(|_| is_answered).map(|at| (at, trial));
                self.known = self.known.or(known);
                Ok(())
            }
            // The later line of an open one counts, and it is counted once.
            Noted::Before | Noted::Open => Ok(()),
            Noted::Unknown => Err(format!("this run has no trial {trial} of a sample {index}")),
        }
    }

    pub(super) fn count(&mut self, verdict: &Verdict, position: Option<usize>) {
        self.summary.add(verdict);
        if let Some(position) = position {
            let question = self.samples.outline(position).question;
            self.groups.add(question, position, verdict.reward);
        }
    }
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
        let ready = self.judged.finished.ready(stream.lines);
        let ready = ready.inspect(|_| stream.lines += 1);
        let copied = self.journal.copy(ready, &mut stdout);
        let copied = copied.and_then(|()| stdout.flush());
        copied.map_err(JudgeError::Stdout)
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
        let position = self.judged.samples.position(verdict.index);
        if let Some(position) = position {
            // Of this run it is the last word, open or not.
            let finished = &mut self.judged.finished;
            finished.insert(position, verdict.trial, line, false);
        }
        self.judged.count(&verdict, position);
        let due = |stream: &Stream| stream.written.elapsed() > WRITE_EVERY;
        if self.stream.as_ref().is_some_and(due) {
            self.write_ready()?;
        }
        Ok(())
    }

    fn progress(&mut self, stats: &Stats) {
        self.judged.summary.engine = *stats;
        self.judged.summary.elapsed = self.started.elapsed();
        (self.observer)(&self.judged.summary);
    }

    fn devices(&mut self, devices: &[DeviceStats]) {
        devices.clone_into(&mut self.judged.summary.devices);
    }
}
