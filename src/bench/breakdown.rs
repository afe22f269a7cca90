//! Where the time of a run went.

use std::time::Duration;

use serde::Serialize;

use super::recorder::Step;
use juror_engine::model::profile::{Phase, Span};

/// Seconds by kind of work. They add up to the time of all steps.
#[allow(
    clippy::struct_field_names,
    reason = "the keys of the report, each with its unit"
)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(crate) struct Breakdown {
    /// Products with the layers' weights, for prompt tokens. Mixed steps are divided by numbers of tokens.
    pub prefill_gemm_s: f64,
    /// Products with the layers' weights, for generated tokens.
    pub decode_gemm_s: f64,
    /// Attention in steps with prompt tokens.
    pub prefill_attention_s: f64,
    /// Attention in steps of generated tokens alone.
    pub decode_attention_s: f64,
    /// Norms, splitting and rotating heads.
    pub elementwise_s: f64,
    /// Token embeddings and rotary angles.
    pub embedding_s: f64,
    pub head_s: f64,
    /// Choosing tokens, and the rest of the model's time.
    pub sampling_s: f64,
    pub host_s: f64,
}

impl Breakdown {
    /// The breakdown of a run's steps and the spans inside them, both in order of time; `None` without spans.
    pub(crate) fn new(steps: &[Step], spans: &[Span]) -> Option<Self> {
        if spans.is_empty() {
            return None;
        }
        let mut sum = Self::default();
        let mut spans = spans.iter().peekable();
        for step in steps {
            let end = step.started + step.duration;
            let tokens = (step.prefill_tokens + step.decode_tokens).max(1) as f64;
            let prefill = step.prefill_tokens as f64 / tokens;
            let mut inside = Duration::ZERO;
            while let Some(span) = spans.next_if(|span| span.start < end) {
                let seconds = span.duration.as_secs_f64();
                inside += span.duration;
                match span.phase {
                    Phase::Gemm => {
                        sum.prefill_gemm_s += seconds * prefill;
                        sum.decode_gemm_s += seconds * (1.0 - prefill);
                    }
                    Phase::Attention if step.prefill_tokens > 0 => {
                        sum.prefill_attention_s += seconds;
                    }
                    Phase::Attention => sum.decode_attention_s += seconds,
                    Phase::Elementwise => sum.elementwise_s += seconds,
                    Phase::Embedding => sum.embedding_s += seconds,
                    Phase::Head => sum.head_s += seconds,
                    Phase::Sampling => sum.sampling_s += seconds,
                }
            }
            sum.sampling_s += step.model.saturating_sub(inside).as_secs_f64();
            sum.host_s += step.host.as_secs_f64();
        }
        Some(sum)
    }

    pub(super) fn attention_share(&self) -> f64 {
        let total: f64 = self.parts().iter().map(|(_, seconds)| seconds).sum();
        (self.prefill_attention_s + self.decode_attention_s) / total.max(1e-9)
    }

    fn parts(&self) -> [(&'static str, f64); 9] {
        [
            ("prefill GEMM", self.prefill_gemm_s),
            ("decode GEMM", self.decode_gemm_s),
            ("prefill attention", self.prefill_attention_s),
            ("decode attention", self.decode_attention_s),
            ("elementwise", self.elementwise_s),
            ("embedding", self.embedding_s),
            ("output head", self.head_s),
            ("sampling", self.sampling_s),
            ("host", self.host_s),
        ]
    }

    /// Rows of a table; empty if nothing was profiled.
    pub(super) fn rows(&self) -> Vec<(&'static str, String)> {
        let total: f64 = self.parts().iter().map(|(_, seconds)| seconds).sum();
        if total == 0.0 {
            return Vec::new();
        }
        let row = |(name, seconds): (&'static str, f64)| {
            (
                name,
                format!("{seconds:8.3} s  {:5.1} %", 100.0 * seconds / total),
            )
        };
        self.parts().into_iter().map(row).collect()
    }
}

#[cfg(test)]
mod tests;
