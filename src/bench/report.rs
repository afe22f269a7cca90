//! The figures of a run, under vLLM's names where it has one.

use std::time::Duration;

use serde::{Serialize, Serializer};

use super::breakdown::Breakdown;
use super::ceiling::Ceiling;
use super::cost;
use super::limit::limit;
use super::measure::{Measured, RequestTimes};
use super::statistics::Spread;
use juror_engine::checkpoint::ModelConfig;
use juror_engine::engine::EngineConfig;
use juror_engine::model::Precision;
use juror_eval::report::numbers::or_dash;

/// The figures of one setting.
///
/// The first group has the names of vLLM's `vllm bench serve` results. All requests arrive at once, so the time to first
/// token includes waiting for a place in the batch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Report {
    /// Seconds from the first request to the last token.
    pub duration: f64,
    pub completed: usize,
    /// Prompt tokens, including those found in the cache.
    pub total_input_tokens: u64,
    pub total_output_tokens: u64,
    pub request_throughput: f64,
    pub output_throughput: f64,
    pub total_token_throughput: f64,
    #[serde(flatten)]
    latencies: Latencies,

    pub verdicts_per_second: f64,
    /// Seconds to compute the shared template, once, before the clock started.
    pub template_seconds: f64,
    /// Prompt tokens put through the model, per second.
    pub computed_prompt_throughput: f64,
    pub cached_tokens: u64,
    pub cached_throughput: f64,
    /// Prompt tokens per second in steps without generated tokens; null if there were none.
    pub prefill_tokens_per_second: Option<f64>,
    /// Generated tokens per second in steps without prompt tokens; null if there were none.
    pub decode_tokens_per_second: Option<f64>,
    pub steps: usize,
    /// Mean number of sequences in a step.
    pub mean_batch_occupancy: f64,
    /// The same as a share of the most sequences allowed.
    pub batch_occupancy_share: f64,
    /// The most blocks in use at once.
    pub peak_kv_blocks: usize,
    /// The same as a share of all blocks.
    pub peak_kv_share: f64,
    pub preemptions: u64,
    /// Milliseconds per step outside the model: planning, packing, updating sequences.
    pub host_ms_per_step: f64,
    /// The same as a share of the step's time.
    pub host_share: f64,
    /// Floating-point operations per second that the tokens need, divided by the ceiling.
    pub model_flops_utilisation: f64,
    /// Bytes per second that every step must read at least (all weights it uses once, each block of keys and values in use
    /// once, under a window the last keys of each sequence), divided by the ceiling.
    pub memory_bandwidth_utilisation: f64,
    pub ceiling: Ceiling,
    /// Where the time went, if it was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Breakdown>,

    pub max_sequences: usize,
    pub token_budget: usize,
    pub prefill_chunk: usize,
    pub kv_blocks: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Latencies {
    first_token: Option<Spread>,
    /// A token's share of the time after the first.
    per_token: Option<Spread>,
    between_tokens: Option<Spread>,
    whole: Option<Spread>,
}

impl Serialize for Latencies {
    /// As keys with vLLM's names, `mean_ttft_ms` and the like; null where no request has such a time.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = [
            ("ttft", self.first_token),
            ("tpot", self.per_token),
            ("itl", self.between_tokens),
            ("e2el", self.whole),
        ];
        serializer.collect_map(all.into_iter().flat_map(|(what, spread)| {
            let of = |get: fn(Spread) -> f64| spread.map(get);
            [
                ("mean", of(|spread| spread.mean)),
                ("std", of(|spread| spread.std)),
                ("median", of(|spread| spread.p50)),
                ("p95", of(|spread| spread.p95)),
                ("p99", of(|spread| spread.p99)),
            ]
            .map(|(name, time)| (format!("{name}_{what}_ms"), time))
        }))
    }
}

/// What the figures are derived from, in addition to the run.
pub(crate) struct Context<'a> {
    pub model: &'a ModelConfig,
    pub precision: &'a Precision,
    /// The number of weights stored in MXFP4, whatever the others are stored in.
    pub packed: usize,
    pub engine: &'a EngineConfig,
    pub ceiling: Ceiling,
}

impl Report {
    pub(crate) fn new(run: &Measured, context: &Context) -> Self {
        let seconds = run.wall.as_secs_f64().max(1e-9);
        let rate = |count: f64| count / seconds;
        let steps = run.record.steps.len().max(1) as f64;
        let tokens = |of: fn(&RequestTimes) -> usize| run.requests.iter().map(of).sum::<usize>();
        let prompt = tokens(|request| request.prompt) as u64;
        let output = tokens(|request| request.output) as u64;
        let cached = tokens(|request| request.cached) as u64;
        let rows: usize = run.record.steps.iter().map(|step| step.rows).sum();
        let peak = run.record.steps.iter().map(|step| step.used_blocks).max();
        let sum = |pick: fn(&super::recorder::Step) -> Duration| -> f64 {
            let steps = run.record.steps.iter();
            steps.map(|step| pick(step).as_secs_f64()).sum()
        };
        let (host, busy) = (sum(|step| step.host), sum(|step| step.duration));
        let occupancy = rows as f64 / steps;
        let bytes = cost::bytes(run, context);
        Self {
            duration: seconds,
            completed: run.requests.len(),
            total_input_tokens: prompt,
            total_output_tokens: output,
            request_throughput: rate(run.requests.len() as f64),
            output_throughput: rate(output as f64),
            total_token_throughput: rate((prompt + output) as f64),
            latencies: latencies(run),
            verdicts_per_second: rate(run.requests.len() as f64),
            template_seconds: run.template.as_secs_f64(),
            computed_prompt_throughput: rate((prompt - cached) as f64),
            cached_tokens: cached,
            cached_throughput: rate(cached as f64),
            prefill_tokens_per_second: pure_rate(run, true),
            decode_tokens_per_second: pure_rate(run, false),
            steps: run.record.steps.len(),
            mean_batch_occupancy: occupancy,
            batch_occupancy_share: occupancy / context.engine.max_sequences as f64,
            peak_kv_blocks: peak.unwrap_or(0),
            peak_kv_share: peak.unwrap_or(0) as f64 / context.engine.blocks as f64,
            preemptions: run.preemptions,
            host_ms_per_step: host / steps * 1e3,
            host_share: host / busy.max(1e-9),
            model_flops_utilisation: rate(cost::operations(run, context.model))
                / context.ceiling.flops,
            memory_bandwidth_utilisation: rate(bytes) / context.ceiling.bandwidth,
            ceiling: context.ceiling,
            breakdown: Breakdown::new(&run.record.steps, &run.spans),
            max_sequences: context.engine.max_sequences,
            token_budget: context.engine.token_budget,
            prefill_chunk: context.engine.max_prefill_chunk,
            kv_blocks: context.engine.blocks,
        }
    }

    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        let text = |of: Spread| {
            let [mean, p50, p95, p99] = [of.mean, of.p50, of.p95, of.p99];
            format!("mean {mean:.1}  p50 {p50:.1}  p95 {p95:.1}  p99 {p99:.1} ms")
        };
        let times = |spread: Option<Spread>| or_dash(spread, text);
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let (flops, bytes) = (self.ceiling.flops / 1e9, self.ceiling.bandwidth / 1e9);
        let (completed, duration, steps) = (self.completed, self.duration, self.steps);
        let generations = format!("{completed} in {duration:.2} s, {steps} steps");
        let [computed, cached] = [self.computed_prompt_throughput, self.cached_throughput];
        let prompts = format!("{computed:.0} computed, {cached:.0} cached");
        let prefill = or_dash(self.prefill_tokens_per_second, |rate| format!("{rate:.0}"));
        let decode = or_dash(self.decode_tokens_per_second, |rate| format!("{rate:.1}"));
        let pure = format!("prefill {prefill}, decode {decode}");
        let (mean, most) = (self.mean_batch_occupancy, self.max_sequences);
        let share = percent(self.batch_occupancy_share);
        let batch = format!("mean {mean:.1} of {most} ({share})");
        let (peak, all, preemptions) = (self.peak_kv_blocks, self.kv_blocks, self.preemptions);
        let share = percent(self.peak_kv_share);
        let blocks = format!("peak {peak} of {all} ({share}), {preemptions} preemptions");
        let (host, share) = (self.host_ms_per_step, percent(self.host_share));
        let host = format!("{host:.3} ms a step ({share})");
        let share = percent(self.model_flops_utilisation);
        let operations = format!("{share} of {flops:.0} GFLOP/s measured");
        let share = percent(self.memory_bandwidth_utilisation);
        let memory = format!("{share} of {bytes:.1} GB/s measured");
        let generated = format!("{:.1}", self.output_throughput);
        let mut rows = vec![
            ("verdicts/s", format!("{:.3}", self.verdicts_per_second)),
            ("generations", generations),
            ("prompt tokens/s", prompts),
            ("generated tokens/s", generated),
            ("pure steps, tokens/s", pure),
            ("time to first token", times(self.latencies.first_token)),
            ("time between tokens", times(self.latencies.between_tokens)),
            ("batch", batch),
            ("KV blocks", blocks),
            ("host", host),
            ("operations", operations),
            ("memory", memory),
        ];
        rows.push(("limited by", limit(self)));
        rows.extend(self.breakdown.iter().flat_map(Breakdown::rows));
        rows
    }
}

/// Tokens per second in steps of prompt tokens only, or of generated tokens only; `None` without such steps.
fn pure_rate(run: &Measured, prefill: bool) -> Option<f64> {
    let (mut tokens, mut time) = (0, Duration::ZERO);
    for step in &run.record.steps {
        let (wanted, other) = if prefill {
            (step.prefill_tokens, step.decode_tokens)
        } else {
            (step.generated, step.prefill_tokens)
        };
        if other == 0 {
            tokens += wanted;
            time += step.duration;
        }
    }
    (tokens > 0 && !time.is_zero()).then(|| tokens as f64 / time.as_secs_f64())
}

fn latencies(run: &Measured) -> Latencies {
    let of = |pick: &dyn Fn(&RequestTimes) -> Option<f64>| {
        Spread::of_seconds(run.requests.iter().filter_map(pick).collect())
    };
    Latencies {
        first_token: of(&|request| Some(request.first_token)),
        per_token: of(&|request| {
            let more = (request.output > 1).then(|| (request.output - 1) as f64)?;
            Some((request.finished - request.first_token) / more)
        }),
        between_tokens: Spread::of_seconds(run.record.gaps.clone()),
        whole: of(&|request| Some(request.finished)),
    }
}
