//! What is recorded while the engine works.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use juror_base::threads::lock;
use juror_engine::engine::{RequestId, StepObserver, StepReport};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub started: Instant,
    /// The time from planning to updating sequences.
    pub duration: Duration,
    pub model: Duration,
    /// The time for planning, packing and updating sequences.
    pub host: Duration,
    pub rows: usize,
    pub prefill_tokens: usize,
    /// Generated tokens put through, and drafts.
    pub decode_tokens: usize,
    pub generated: usize,
    pub used_blocks: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Recorded {
    pub steps: Vec<Step>,
    /// Times between two tokens of one request, in seconds.
    pub gaps: Vec<f64>,
    latest: HashMap<RequestId, Instant>,
}

/// Writes the engine's reports to a record that others may read.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recorder(Arc<Mutex<Recorded>>);

impl Recorder {
    /// What was recorded since the last call.
    pub(crate) fn take(&self) -> Recorded {
        std::mem::take(&mut *lock(&self.0))
    }
}

impl StepObserver for Recorder {
    fn step(&mut self, report: &StepReport) {
        let mut record = lock(&self.0);
        record.steps.push(Step {
            started: report.started,
            duration: report.finished.saturating_duration_since(report.started),
            model: report.model,
            host: report.host,
            rows: report.rows,
            prefill_tokens: report.prefill_tokens,
            decode_tokens: report.decode_tokens,
            generated: report.generated.len(),
            used_blocks: report.used_blocks,
        });
        for &id in report.generated {
            if let Some(before) = record.latest.insert(id, report.finished) {
                let gap = report.finished.saturating_duration_since(before);
                record.gaps.push(gap.as_secs_f64());
            }
        }
    }
}
