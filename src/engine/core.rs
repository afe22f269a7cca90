//! `schedule → run → postprocess`.

use std::time::Instant;

use candle_core::Tensor;

use super::EngineError;
use super::block_pool::BlockPool;
use super::sampler::{RowRequest, choose};
use super::scheduler::{Limits, Scheduler};
use super::sequence::{Completion, FinishReason, Request};
use super::stats::{Stats, StepObserver, StepReport};
use crate::model::ModelError;
use crate::model::batch::StepBatch;

/// What the engine needs of a model and its KV cache.
pub trait StepModel: Send {
    /// Puts the packed tokens through the model, storing their keys and values in the batch's slots; returns
    /// `[batch.logits.len(), vocab]`.
    ///
    /// # Errors
    /// Whatever stops the computation: the engine stops with it.
    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError>;
}

/// Sizes of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineConfig {
    /// KV blocks.
    pub blocks: usize,
    /// Token positions a block.
    pub block_size: usize,
    /// Most sequences at once.
    pub max_sequences: usize,
    /// Most tokens a step.
    pub token_budget: usize,
    /// Most tokens of one prompt a step.
    pub max_prefill_chunk: usize,
    /// Most tokens of a sequence.
    pub context_length: usize,
    /// Find and keep common prefixes.
    pub prefix_cache: bool,
    /// The beginning of all prompts, kept in the cache for good.
    pub pinned_prefix: Vec<u32>,
}

/// Runs requests through a model, many at a time.
pub struct Engine<M> {
    model: M,
    scheduler: Scheduler,
    /// Requests that could not be run, to be handed out with the next step.
    rejected: Vec<Completion>,
    stats: Stats,
    observer: Option<Box<dyn StepObserver>>,
}

impl<M: StepModel> Engine<M> {
    /// An engine without work.
    ///
    /// # Errors
    /// A size of zero.
    pub fn new(model: M, config: &EngineConfig) -> Result<Self, EngineError> {
        for (name, value) in [
            ("KV blocks", config.blocks),
            ("block size", config.block_size),
            ("sequences", config.max_sequences),
            ("token budget", config.token_budget),
            ("prefill chunk", config.max_prefill_chunk),
        ] {
            if value == 0 {
                return Err(EngineError::Config(format!(
                    "the number of {name} must be at least 1"
                )));
            }
        }
        let pool = BlockPool::new(config.blocks, config.block_size, config.prefix_cache);
        let limits = Limits {
            token_budget: config.token_budget.max(config.max_sequences),
            max_sequences: config.max_sequences,
            max_prefill_chunk: config.max_prefill_chunk,
            context_length: config.context_length,
        };
        let pinned = if config.prefix_cache {
            config.pinned_prefix.as_slice()
        } else {
            &[]
        };
        let scheduler = Scheduler::new(limits, pool, pinned);
        Ok(Self {
            model,
            scheduler,
            rejected: Vec::new(),
            stats: Stats {
                blocks: config.blocks,
                ..Stats::default()
            },
            observer: None,
        })
    }

    /// Has `observer` see every step from now on.
    pub fn observe(&mut self, observer: Box<dyn StepObserver>) {
        self.observer = Some(observer);
    }

    /// Queues a request. One that can never fit is completed at once as rejected.
    pub fn add(&mut self, request: Request) {
        self.rejected.extend(self.scheduler.add(request));
    }

    /// True until everything added has come back.
    pub fn has_work(&self) -> bool {
        self.scheduler.waiting() + self.scheduler.running() + self.rejected.len() > 0
    }

    /// Sequences that wait to be admitted.
    pub fn waiting(&self) -> usize {
        self.scheduler.waiting()
    }

    /// What was done so far.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Runs one step and returns what it finished.
    ///
    /// # Errors
    /// The model's or the sampler's failure; the engine is not to be used after it.
    pub fn step(&mut self) -> Result<Vec<Completion>, EngineError> {
        let started = Instant::now();
        let mut completions = std::mem::take(&mut self.rejected);
        let Some(batch) = self.scheduler.schedule() else {
            if completions.is_empty() && self.has_work() {
                return Err(EngineError::Config(
                    "no sequence can be scheduled; please report this".into(),
                ));
            }
            return Ok(completions);
        };
        let (prefill_tokens, decode_tokens) = self.scheduler.prefill_and_decode_tokens();
        let (blocks, used_blocks) = self.scheduler.blocks();
        let planned = Instant::now();

        let logits = self.model.forward(&batch)?;
        let chosen = if batch.logits.is_empty() {
            Vec::new()
        } else {
            let rows: Vec<RowRequest> = self
                .scheduler
                .choosing()
                .map(|sequence| RowRequest {
                    sampling: sequence.request.sampling,
                    key: sequence.request.random_key,
                    position: sequence.generated(),
                    choices: sequence.request.choices.as_deref(),
                })
                .collect();
            choose(&logits, &rows)?
        };
        let computed = Instant::now();

        let block_size = self.scheduler.block_size();
        let mut generated = Vec::new();
        let mut prompt_tokens = 0;
        let mut cached_tokens = 0;
        completions.extend(self.scheduler.advance(|sequence, row| {
            let Some(chosen) = chosen[row] else {
                return Some(FinishReason::Rejected(
                    "the model's logits are not numbers (NaN)".into(),
                ));
            };
            if let Some(odds) = chosen.odds {
                sequence.odds.push((sequence.generated(), odds));
            }
            if sequence.generated() == 0 {
                prompt_tokens += sequence.request.prompt.len();
                cached_tokens += sequence.cached_tokens.unwrap_or(0);
                sequence.timing.first_token = Some(computed);
            }
            generated.push(sequence.request.id);
            sequence.push(chosen.token, block_size);
            if sequence.request.eos.contains(&chosen.token) {
                Some(FinishReason::EndOfSequence)
            } else if sequence
                .request
                .stop
                .as_mut()
                .is_some_and(|stop| stop.push(chosen.token))
            {
                Some(FinishReason::Stop)
            } else if sequence.generated() >= sequence.request.max_new_tokens {
                Some(FinishReason::Length)
            } else {
                None
            }
        }));

        let stats = &mut self.stats;
        stats.steps += 1;
        stats.computed_tokens += batch.tokens.len() as u64;
        stats.prefill_tokens += prefill_tokens as u64;
        stats.decode_tokens += decode_tokens as u64;
        stats.generated_tokens += generated.len() as u64;
        stats.prompt_tokens += prompt_tokens as u64;
        stats.cached_tokens += cached_tokens as u64;
        stats.preemptions = self.scheduler.preemptions;
        stats.running = batch.rows.len();
        stats.most_running = stats.most_running.max(batch.rows.len());
        stats.rows += batch.rows.len() as u64;
        stats.blocks = blocks;
        stats.used_blocks = used_blocks;
        stats.most_used_blocks = stats.most_used_blocks.max(used_blocks);
        let finished = Instant::now();
        let model = computed - planned;
        let host = (planned - started) + (finished - computed);
        stats.model_time += model;
        stats.host_time += host;
        if let Some(observer) = &mut self.observer {
            observer.step(&StepReport {
                started,
                finished,
                model,
                host,
                rows: batch.rows.len(),
                prefill_tokens,
                decode_tokens,
                used_blocks,
                blocks,
                waiting: self.scheduler.waiting(),
                generated: &generated,
            });
        }
        Ok(completions)
    }
}
