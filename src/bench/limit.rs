//! What kept a run from being faster.

use super::Report;
use super::breakdown::Breakdown;

/// Seconds below which a run says little: one step more or less, or another program's turn, changes its figures.
const TOO_SHORT: f64 = 1.0;

/// From this share of a ceiling on, that ceiling is what limits.
const NEAR: f64 = 0.4;

/// What limited the run of this report, in the words of its figures.
pub(crate) fn limit(report: &Report) -> String {
    let (flops, bytes) = (
        report.model_flops_utilisation,
        report.memory_bandwidth_utilisation,
    );
    let breakdown = report.breakdown.as_ref();
    let attention = breakdown.map_or(0.0, Breakdown::attention_share);
    if report.duration < TOO_SHORT || report.completed < report.max_sequences {
        format!(
            "too few samples to tell: {} generations in {:.2} s, with room for {} at once; give more --samples",
            report.completed, report.duration, report.max_sequences
        )
    } else if report.host_share > 0.3 {
        let share = 100.0 * report.host_share;
        format!("the host: {share:.0} % of the time is spent outside the model")
    } else if attention > 0.5 {
        format!(
            "attention: {:.0} % of the time; shorter prompts and completions are faster",
            100.0 * attention
        )
    } else if flops.max(bytes) < NEAR {
        format!(
            "neither arithmetic ({:.0} % of what was measured) nor memory ({:.0} %): steps are too small to reach either",
            100.0 * flops,
            100.0 * bytes
        )
    } else if bytes > flops {
        format!(
            "memory: it is read at {:.0} % of the speed measured; more sequences at once or smaller weights are faster",
            100.0 * bytes
        )
    } else {
        format!(
            "arithmetic: {:.0} % of the operations measured; a smaller model or a shared prefix is faster",
            100.0 * flops
        )
    }
}
