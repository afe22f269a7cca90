//! A run as a Chrome trace (<https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>): open it in
//! `chrome://tracing` or <https://ui.perfetto.dev>.

use std::io::{self, Write};
use std::time::Instant;

use serde_json::json;

use super::recorder::Step;
use juror_engine::model::profile::Span;

/// The beginning of a trace.
pub(crate) const BEGINNING: &str =
    "{\"otherData\":{\"program\":\"juror bench\"},\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";

/// Rows of the picture.
const STEPS: u32 = 1;
const MODEL: u32 = 2;

/// Writes steps and the spans inside them; `origin` is time zero.
pub(crate) fn write(
    out: &mut dyn Write,
    origin: Instant,
    steps: &[Step],
    spans: &[Span],
) -> io::Result<()> {
    let at = |instant: Instant| instant.saturating_duration_since(origin).as_nanos() as f64 / 1e3;
    out.write_all(BEGINNING.as_bytes())?;
    let name = |thread: u32, name: &str| json!({"name": "thread_name", "ph": "M", "pid": 1, "tid": thread, "args": {"name": name}});
    write!(
        out,
        "{},\n{}",
        name(STEPS, "engine steps"),
        name(MODEL, "model")
    )?;
    for (index, step) in steps.iter().enumerate() {
        let event = json!({
            "name": if step.prefill_tokens > 0 { "prefill step" } else { "decode step" },
            "ph": "X", "pid": 1, "tid": STEPS, "ts": at(step.started), "dur": step.duration.as_nanos() as f64 / 1e3,
            "args": {"step": index, "rows": step.rows, "prefill_tokens": step.prefill_tokens,
                     "decode_tokens": step.decode_tokens, "kv_blocks": step.used_blocks,
                     "host_us": step.host.as_nanos() as f64 / 1e3},
        });
        write!(out, ",\n{event}")?;
        let rows = json!({"name": "rows", "ph": "C", "pid": 1, "ts": at(step.started), "args": {"rows": step.rows}});
        write!(out, ",\n{rows}")?;
    }
    for span in spans {
        let event = json!({
            "name": span.phase.as_str(), "ph": "X", "pid": 1, "tid": MODEL, "ts": at(span.start),
            "dur": span.duration.as_nanos() as f64 / 1e3, "args": {"layer": span.layer},
        });
        write!(out, ",\n{event}")?;
    }
    out.write_all(b"\n]}\n")
}
