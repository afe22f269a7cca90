//! What kept a run from being faster.

use std::fmt;

use super::Report;
use super::breakdown::Breakdown;

/// Seconds below which a run says little: one step more or less, or another program's turn, changes its figures.
pub(crate) const TOO_SHORT: f64 = 1.0;

/// From this share of a ceiling on, that ceiling is what limits.
const NEAR: f64 = 0.4;

/// What limits a run, in the words of its figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Limit {
    /// The run was too short, or too small for its batch: its seconds, generations, and sequences at once.
    TooFewSamples(f64, usize, usize),
    /// Attention: its share of the time.
    Attention(f64),
    /// Reading memory: the share of the ceiling.
    Memory(f64),
    /// Arithmetic: the share of the ceiling.
    Arithmetic(f64),
    /// Work outside the model: its share of the time.
    Host(f64),
    /// Neither ceiling is near: the shares of operations and memory.
    Neither(f64, f64),
}

impl Limit {
    /// What limited the run of this report.
    pub(crate) fn of(report: &Report) -> Self {
        let (flops, bytes) = (
            report.model_flops_utilisation,
            report.memory_bandwidth_utilisation,
        );
        let attention = report
            .breakdown
            .as_ref()
            .map_or(0.0, Breakdown::attention_share);
        if report.duration < TOO_SHORT || report.completed < report.max_sequences {
            Self::TooFewSamples(report.duration, report.completed, report.max_sequences)
        } else if report.host_share > 0.3 {
            Self::Host(report.host_share)
        } else if attention > 0.5 {
            Self::Attention(attention)
        } else if flops.max(bytes) < NEAR {
            Self::Neither(flops, bytes)
        } else if bytes > flops {
            Self::Memory(bytes)
        } else {
            Self::Arithmetic(flops)
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::TooFewSamples(seconds, generations, sequences) => write!(
                f,
                "too few samples to tell: {generations} generations in {seconds:.2} s, with room for {sequences} at once; give \
                 more --samples"
            ),
            Self::Attention(share) => write!(
                f,
                "attention: {:.0} % of the time; shorter prompts and completions are faster",
                100.0 * share
            ),
            Self::Memory(share) => write!(
                f,
                "memory: it is read at {:.0} % of the speed measured; more sequences at once or smaller weights are faster",
                100.0 * share
            ),
            Self::Arithmetic(share) => write!(
                f,
                "arithmetic: {:.0} % of the operations measured; a smaller model or a shared prefix is faster",
                100.0 * share
            ),
            Self::Host(share) => write!(
                f,
                "the host: {:.0} % of the time is spent outside the model",
                100.0 * share
            ),
            Self::Neither(flops, bytes) => write!(
                f,
                "neither arithmetic ({:.0} % of what was measured) nor memory ({:.0} %): steps are too small to reach either",
                100.0 * flops,
                100.0 * bytes
            ),
        }
    }
}
