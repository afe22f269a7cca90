//! What the engine has done so far, and what it did in each step.

use std::iter::Sum;
use std::ops::AddAssign;
use std::time::{Duration, Instant};

use super::sequence::RequestId;

/// Declares a struct of counters with a function that sums several.
macro_rules! counters {
    ($(#[$about:meta])* pub struct $name:ident { $($(#[$says:meta])* pub $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        pub struct $name { $($(#[$says])* pub $field: $type,)* }

        impl AddAssign<&$name> for $name {
            fn add_assign(&mut self, other: &$name) {
                $(self.$field += other.$field;)*
            }
        }
    };
}

counters! {
    /// Counters since the engine started.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct Stats {
        pub steps: u64,
        /// Tokens put through the model: prompts, generated tokens, and tokens recomputed after preemption.
        pub computed_tokens: u64,
        /// Of these, tokens of prompts and of sequences recomputed after a preemption.
        pub prefill_tokens: u64,
        /// Of these, generated tokens put through to get the next one, and the drafts after them.
        pub decode_tokens: u64,
        /// Of these, drafts.
        pub drafted_tokens: u64,
        /// Of these, accepted: the token chosen in their place was the same.
        pub accepted_tokens: u64,
        pub generated_tokens: u64,
        /// Prompt tokens of admitted requests.
        pub prompt_tokens: u64,
        /// Of these, found in the prefix cache.
        pub cached_tokens: u64,
        /// Preemptions: sequences whose blocks were released, to be recomputed later.
        pub preemptions: u64,
        /// Sequences in the last step.
        pub running: usize,
        pub most_running: usize,
        /// Rows over all steps; divided by `steps`, the mean batch.
        pub rows: u64,
        pub blocks: usize,
        /// KV blocks in use after the last step. Blocks that only keep content for later are free.
        pub used_blocks: usize,
        /// The most KV blocks in use in any step.
        pub most_used_blocks: usize,
        /// KV blocks that were ever used. Where a block takes up memory only from its first use on, only these do.
        pub touched_blocks: usize,
        /// Tokens that were chosen and dropped because their sequence had already ended, which was not known yet.
        pub discarded_tokens: u64,
        /// Steps that ran out of memory and made the engine shrink.
        pub out_of_memory: u64,
        /// Time inside the model, sampling included: launching steps, and waiting for them.
        pub model_time: Duration,
        /// Of this, time for generated tokens: all of a step of nothing else, and their share of the tokens of any other.
        pub decode_time: Duration,
        /// Of the time inside the model, time spent waiting for steps in flight.
        pub wait_time: Duration,
        /// Time spent on everything else in a step.
        pub host_time: Duration,
    }
}

impl Stats {
    pub(super) fn add_step(&mut self, step: &StepReport) {
        self.steps += 1;
        self.computed_tokens += (step.prefill_tokens + step.decode_tokens) as u64;
        self.prefill_tokens += step.prefill_tokens as u64;
        self.decode_tokens += step.decode_tokens as u64;
        self.drafted_tokens += step.drafted_tokens as u64;
        self.generated_tokens += step.generated.len() as u64;
        self.running = step.rows;
        self.most_running = self.most_running.max(step.rows);
        self.rows += step.rows as u64;
        self.blocks = step.blocks;
        self.most_used_blocks = self.most_used_blocks.max(step.used_blocks);
        self.model_time += step.model;
        let tokens = (step.prefill_tokens + step.decode_tokens).max(1) as f64;
        self.decode_time += step.model.mul_f64(step.decode_tokens as f64 / tokens);
        self.wait_time += step.waited;
        self.host_time += step.host;
    }

    /// As many tokens of prompts take as long as one generated token, as far as both were measured.
    pub fn decode_weight(&self) -> Option<f64> {
        let prefill_time = self.model_time.saturating_sub(self.decode_time);
        let of_prefill = prefill_time.as_secs_f64() / self.prefill_tokens as f64;
        let of_decode = self.decode_time.as_secs_f64() / self.generated_tokens as f64;
        Some(of_decode / of_prefill).filter(|weight| weight.is_finite() && *weight > 0.0)
    }
}

impl<'s> Sum<&'s Stats> for Stats {
    fn sum<I: Iterator<Item = &'s Stats>>(all: I) -> Self {
        all.fold(Self::default(), |mut sum, stats| {
            sum += stats;
            sum
        })
    }
}

/// One step, as an observer sees it. Under asynchronous scheduling, consecutive steps overlap in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepReport<'a> {
    pub started: Instant,
    /// When the step's tokens were added to their sequences.
    pub finished: Instant,
    /// Time inside the model, sampling included: launching the step, and waiting for it.
    pub model: Duration,
    /// Of this, time spent waiting for steps in flight.
    pub waited: Duration,
    /// Time spent on everything else: planning, packing, updating sequences.
    pub host: Duration,
    pub rows: usize,
    /// Tokens of prompts, and of sequences recomputed after a preemption.
    pub prefill_tokens: usize,
    /// Generated tokens put through to get the next one, and the drafts after them.
    pub decode_tokens: usize,
    /// Of these, drafts.
    pub drafted_tokens: usize,
    /// KV blocks in use during the step.
    pub used_blocks: usize,
    pub blocks: usize,
    pub waiting: usize,
    /// The requests that got tokens, in the order of the batch: each once for every token. Time between two steps that name a
    /// request is the latency of the later token.
    pub generated: &'a [RequestId],
}

/// Sees every step; called on the engine's thread, between steps.
pub trait StepObserver: Send {
    /// Takes the report of the step just taken in.
    fn step(&mut self, report: &StepReport);
}

/// When things happened to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// The engine took the request.
    pub queued: Instant,
    /// It was first admitted to the batch; `None` if it never was.
    pub admitted: Option<Instant>,
    /// Its first token was known; `None` if there is none.
    pub first_token: Option<Instant>,
    /// Its last token was known, or it was refused.
    pub finished: Instant,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_token_weighs_what_its_steps_took() {
        let now = Instant::now();
        let mut stats = Stats::default();
        let mut step = |milliseconds, prefill_tokens, decode_tokens, generated: &[RequestId]| {
            stats.add_step(&StepReport {
                started: now,
                finished: now,
                model: Duration::from_millis(milliseconds),
                waited: Duration::ZERO,
                host: Duration::ZERO,
                rows: 4,
                prefill_tokens,
                decode_tokens,
                drafted_tokens: 0,
                used_blocks: 0,
                blocks: 1,
                waiting: 0,
                generated,
            });
            stats.decode_weight()
        };
        // Of prompts alone nothing is known of generated tokens.
        assert_eq!(step(400, 400, 0, &[]), None);
        // Beside prompts a token is one like theirs: 1 ms each, two of them generated.
        assert_eq!(step(102, 100, 2, &[1, 2]), Some(1.0));
        // By themselves they take 20 ms each.
        let weight = step(80, 0, 4, &[1, 2, 3, 4]).unwrap();
        assert!((weight - 82.0 / 6.0).abs() < 1e-9, "{weight}");
    }
}
