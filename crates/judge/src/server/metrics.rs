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

use crate::judge::together::cascade::CascadeReport;
use juror_data::verdict::{Usage, Verdict};
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
            FinishReason::Rejected(_) | FinishReason::TooLong(_) => "error",
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
        for (name, value) in [
            ("vllm:num_requests_waiting", waiting as f64),
            ("vllm:num_requests_running", running as f64),
            ("vllm:kv_cache_usage_perc", used),
        ] {
            registry.register(name, help(name), gauge(value));
        }
        let accepted = stats.accepted_tokens;
        let counts = [
            ("vllm:prompt_tokens", stats.prompt_tokens),
            ("vllm:generation_tokens", stats.generated_tokens),
            ("vllm:prefix_cache_queries", stats.prompt_tokens),
            ("vllm:prefix_cache_hits", stats.cached_tokens),
            ("vllm:num_preemptions", stats.preemptions),
            ("vllm:spec_decode_num_draft_tokens", stats.drafted_tokens),
            ("vllm:spec_decode_num_accepted_tokens", accepted),
            ("juror:engine_steps", stats.steps),
        ];
        let of_cascade = cascade.into_iter().flat_map(of_cascade);
        for (name, value) in counts.into_iter().chain(of_cascade) {
            registry.register(name, help(name), counter(value));
        }
        for (name, histogram) in [
            ("vllm:request_queue_time_seconds", &self.queued),
            ("vllm:time_to_first_token_seconds", &self.first_token),
            ("vllm:e2e_request_latency_seconds", &self.whole),
        ] {
            registry.register(name, help(name), histogram.clone());
        }
        let name = "vllm:request_success";
        registry.register(name, help(name), self.finished.clone());
        let verdicts = self.verdicts.clone();
        registry.register("juror:verdicts", help("juror:verdicts"), verdicts);
        let mut text = String::new();
        // Writing into a text cannot fail.
        let _ = encode(&mut text, &registry);
        text
    }
}

/// `OpenMetrics` in the text format that was before it: a counter's own name there is that of its samples, and no line marks the end.
pub(super) fn in_older_text(text: &str) -> String {
    let mut older = text.replace("# EOF\n", "");
    let kinds = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    for name in kinds.filter_map(|kind| kind.strip_suffix(" counter")) {
        for mark in ["# HELP", "# TYPE"] {
            older = older.replace(&format!("{mark} {name} "), &format!("{mark} {name}_total "));
        }
    }
    older
}

/// What a metric is, in words: a row of `metrics.tsv`.
fn help(name: &str) -> &'static str {
    let mut rows = crate::rows(include_str!("metrics.tsv"));
    rows.find(|row| row.0 == name).unwrap_or_default().1
}

fn of_cascade(report: &CascadeReport) -> [(&'static str, u64); 6] {
    let [unsure, audited] = report.asked;
    let tokens = |it: Usage| it.prompt_tokens + it.completion_tokens;
    let [first, second] = report.usage.map(tokens);
    [
        ("juror:cascade_unsure", unsure),
        ("juror:cascade_changed", report.changed.count),
        ("juror:cascade_audited", audited),
        ("juror:cascade_audited_changed", report.checked.count),
        ("juror:cascade_first_tokens", first),
        ("juror:cascade_second_tokens", second),
    ]
    .map(|(name, count)| (name, count as u64))
}

#[cfg(test)]
mod tests {
    use super::{ByReason, ByStatus, CascadeReport, Metrics, Stats, in_older_text};

    #[test]
    fn every_metric_says_what_it_is() {
        let report = CascadeReport::default();
        let metrics = Metrics::new("model");
        // Without a value a family is left out.
        let (finished_reason, status, reused) = ("stop", "ok", false);
        let by_reason = ByReason { finished_reason };
        metrics.finished.get_or_create(&by_reason).inc();
        let by_status = ByStatus { status, reused };
        metrics.verdicts.get_or_create(&by_status).inc();
        let text = metrics.text(1, 2, &Stats::default(), Some(&report));
        let helps: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("# HELP "))
            .collect();
        assert_eq!(helps.len(), include_str!("metrics.tsv").lines().count());
        for help in helps {
            // The format ends each with a full stop.
            assert!(help.split(' ').count() > 4, "{help}");
        }
        assert!(text.contains("# HELP vllm:generation_tokens Tokens generated."));
        assert!(text.ends_with("# EOF\n"));
        // Every family of the older text is called as its samples are.
        let older = in_older_text(&text);
        assert!(!older.contains("# EOF") && older.lines().count() + 1 == text.lines().count());
        for of in ["HELP", "TYPE"] {
            let named = format!("# {of} vllm:generation_tokens_total ");
            assert!(older.contains(&named), "{older}");
        }
        assert!(older.contains("\n# TYPE vllm:num_requests_waiting gauge\n"));
        assert!(older.contains("\nvllm:generation_tokens_total{model_name=\"model\"} 0\n"));
    }
}
