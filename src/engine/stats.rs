//! What the engine has done so far.

use std::time::Duration;

/// Counters since the engine started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Steps run.
    pub steps: u64,
    /// Tokens put through the model: prompts, generated tokens, and what preemption made necessary again.
    pub computed_tokens: u64,
    /// Tokens generated.
    pub generated_tokens: u64,
    /// Prompt tokens of admitted requests.
    pub prompt_tokens: u64,
    /// Of these, found in the prefix cache.
    pub cached_tokens: u64,
    /// Sequences whose blocks were taken away to be recomputed later.
    pub preemptions: u64,
    /// Sequences in the last step.
    pub running: usize,
    /// The most sequences in any step.
    pub most_running: usize,
    /// Rows over all steps; divided by `steps`, the mean batch.
    pub rows: u64,
    /// Time inside the model, sampling included.
    pub model_time: Duration,
    /// Time spent on everything else in a step.
    pub host_time: Duration,
}
