//! Counters and histograms for Prometheus: under vLLM's names where it has them, so that dashboards work, else under `juror:`. Each
//! has the label `model_name`, by which vLLM's dashboards choose.

use std::borrow::Cow;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::judge::cascade::CascadeReport;
use juror_data::verdict::Verdict;
use juror_engine::engine::{Completion, FinishReason, Stats};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByStatus {
    status: &'static str,
    reused: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByReason {
    finished_reason: &'static str,
}

/// What was answered since the server began.
pub(super) struct Metrics {
    model: String,
    judged: Counter,
    verdicts: Family<ByStatus, Counter>,
    finished: Family<ByReason, Counter>,
    queued: Histogram,
    first_token: Histogram,
    whole: Histogram,
}

impl Metrics {
    /// Of a model with this name.
    pub(super) fn new(model: &str) -> Self {
        let seconds = || Histogram::new(exponential_buckets(0.005, 2.0, 18));
        Self {
            model: model.to_owned(),
            judged: Counter::default(),
            verdicts: Family::default(),
            finished: Family::default(),
            queued: seconds(),
            first_token: seconds(),
            whole: seconds(),
        }
    }

    /// Verdicts since the server began.
    pub(super) fn verdicts(&self) -> u64 {
        self.judged.get()
    }

    pub(super) fn judged(&self, verdict: &Verdict) {
        self.judged.inc();
        let labels = ByStatus {
            status: verdict.status.name(),
            reused: verdict.reused,
        };
        self.verdicts.get_or_create(&labels).inc();
    }

    /// Counts a completion whose request has waited so long for an engine.
    pub(super) fn completed(&self, completion: &Completion, waited: Duration) {
        let finished_reason = match completion.finish {
            FinishReason::EndOfSequence | FinishReason::Stop => "stop",
            FinishReason::Length => "length",
            FinishReason::Rejected(_) => "error",
        };
        let labels = ByReason { finished_reason };
        self.finished.get_or_create(&labels).inc();
        let timing = completion.timing;
        let admitted = timing.admitted.unwrap_or(timing.finished);
        self.queued.observe(waited.as_secs_f64());
        let since = |end: std::time::Instant| waited + end.saturating_duration_since(admitted);
        if let Some(first) = timing.first_token {
            self.first_token.observe(since(first).as_secs_f64());
        }
        self.whole.observe(since(timing.finished).as_secs_f64());
    }

    /// All of it as text, with what waits, what runs and what the engines did.
    pub(super) fn text(
        &self,
        waiting: usize,
        running: usize,
        stats: &Stats,
        cascade: Option<&CascadeReport>,
    ) -> String {
        let model = (Cow::Borrowed("model_name"), Cow::Owned(self.model.clone()));
        let mut registry = Registry::with_labels(std::iter::once(model));
        let gauge = |value: f64| {
            let gauge = Gauge::<f64, std::sync::atomic::AtomicU64>::default();
            gauge.set(value);
            gauge
        };
        let counter = |value: u64| {
            let counter = Counter::<u64>::default();
            counter.inc_by(value);
            counter
        };
        let used = stats.used_blocks as f64 / stats.blocks.max(1) as f64;
        for (name, help, value) in [
            (
                "vllm:num_requests_waiting",
                "Requests that wait for an engine",
                waiting as f64,
            ),
            (
                "vllm:num_requests_running",
                "Requests that engines have",
                running as f64,
            ),
            (
                "vllm:kv_cache_usage_perc",
                "Share of the KV blocks in use, 1 for all",
                used,
            ),
        ] {
            registry.register(name, help, gauge(value));
        }
        for (name, help, value) in [
            (
                "vllm:prompt_tokens",
                "Prompt tokens of admitted requests",
                stats.prompt_tokens,
            ),
            (
                "vllm:generation_tokens",
                "Tokens generated",
                stats.generated_tokens,
            ),
            (
                "vllm:prefix_cache_queries",
                "Prompt tokens looked for in the prefix cache",
                stats.prompt_tokens,
            ),
            (
                "vllm:prefix_cache_hits",
                "Prompt tokens found in the prefix cache",
                stats.cached_tokens,
            ),
            (
                "vllm:num_preemptions",
                "Sequences whose blocks were taken away",
                stats.preemptions,
            ),
            (
                "vllm:spec_decode_num_draft_tokens",
                "Tokens drafted from prompts",
                stats.drafted_tokens,
            ),
            (
                "vllm:spec_decode_num_accepted_tokens",
                "Drafts that were accepted",
                stats.accepted_tokens,
            ),
            ("juror:engine_steps", "Steps of the engines", stats.steps),
        ] {
            registry.register(name, help, counter(value));
        }
        for (name, help, value) in cascade.map(of_cascade).into_iter().flatten() {
            registry.register(name, help, counter(value as u64));
        }
        let seconds = [
            (
                "vllm:request_queue_time_seconds",
                "From a request to its admission",
                &self.queued,
            ),
            (
                "vllm:time_to_first_token_seconds",
                "From a request to its first token",
                &self.first_token,
            ),
            (
                "vllm:e2e_request_latency_seconds",
                "From a request to its last token",
                &self.whole,
            ),
        ];
        for (name, help, histogram) in seconds {
            registry.register(name, help, histogram.clone());
        }
        registry.register(
            "vllm:request_success",
            "Completions by how they ended",
            self.finished.clone(),
        );
        registry.register(
            "juror:verdicts",
            "Verdicts by status; reused: of an answer that was known",
            self.verdicts.clone(),
        );
        let mut text = String::new();
        // Writing into a text cannot fail.
        let _ = encode(&mut text, &registry);
        text
    }
}

/// What a cascade has asked and changed, each with its name and what it is.
fn of_cascade(report: &CascadeReport) -> [(&'static str, &'static str, usize); 6] {
    let [unsure, audited] = report.asked;
    let [first, second] = report
        .usage
        .map(|usage| usage.prompt_tokens + usage.completion_tokens);
    [
        (
            "juror:cascade_unsure",
            "Samples on which the second judge was asked because the first was unsure",
            unsure,
        ),
        (
            "juror:cascade_changed",
            "Of those, where the overall verdict of the second was another",
            report.changed.count,
        ),
        (
            "juror:cascade_audited",
            "Samples on which the second judge was asked though the first was sure",
            audited,
        ),
        (
            "juror:cascade_audited_changed",
            "Of those, where the overall verdict of the second was another",
            report.checked.count,
        ),
        (
            "juror:cascade_first_tokens",
            "Tokens of prompts and completions of the first judge",
            first,
        ),
        (
            "juror:cascade_second_tokens",
            "Tokens of prompts and completions of the second judge",
            second,
        ),
    ]
}
