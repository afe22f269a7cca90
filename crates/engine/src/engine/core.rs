//! The engine's loop, `schedule → launch → collect`.

use std::time::{Duration, Instant};

use super::EngineError;
use super::drafts::Drafts;
use super::out_of_memory::OutOfMemory;
use super::scheduler::{Plan, Scheduler, StepSize};
use super::sequence::{Completion, FinishReason, LaunchedRow, Request, RequestId};
use super::state_pool::slots_for;
use super::stats::{Stats, StepObserver, StepReport};
use super::step_model::{Forward, StepModel, Ticket};
use crate::model::ModelError;
use crate::model::batch::StepBatch;
use crate::model::memory::MemoryFootprint;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineConfig {
    pub blocks: usize,
    /// The smallest number of blocks that a shortage of memory may shrink the cache to. Requests that need more are refused then.
    pub least_blocks: usize,
    pub block_size: usize,
    pub max_sequences: usize,
    pub token_budget: usize,
    /// The most tokens of one prompt in a step.
    pub max_prefill_chunk: usize,
    /// The most tokens of a sequence.
    pub context_length: usize,
    /// Whether common prefixes are found and kept.
    pub prefix_cache: bool,
    /// The beginning of all prompts, kept in the cache for good.
    pub pinned_prefix: Vec<u32>,
    /// Tokens drafted from the prompt. There are none under [asynchronous scheduling](super::Properties::async_scheduling), nor
    /// for a model with [recurrent states](super::Properties::states), which cannot take a token back.
    pub drafts: Drafts,
}

impl EngineConfig {
    /// Slots of recurrent states for this engine, if its model has recurrent layers: one for each sequence, and some for
    /// snapshots.
    pub fn states(&self) -> usize {
        Self::states_of(self.max_sequences)
    }

    /// The same, for an engine that runs so many sequences at once.
    pub fn states_of(sequences: usize) -> usize {
        slots_for(sequences)
    }

    pub fn cache_bytes(&self, model: &MemoryFootprint) -> usize {
        let windowed = model.windowed.map_or(0, |(window, bytes)| {
            let blocks = self.windowed_blocks(window, model.steps_in_flight);
            blocks.saturating_mul(bytes)
        });
        let others = self.blocks.saturating_mul(model.kv_bytes_per_token);
        others
            .saturating_add(windowed)
            .saturating_mul(self.block_size)
    }

    /// Blocks of layers with a `window` for this engine, where they have a cache of their own, with so many `steps` in flight at once.
    pub fn windowed_blocks(&self, window: usize, steps: usize) -> usize {
        self.windowed_blocks_beside(window, steps, self.pinned_prefix.len())
    }

    /// The same where so many tokens are pinned: enough for all sequences, the longest steps, and the last window of the pinned prefix.
    /// No more than there are for the other layers, but for the pinned ones, nor for a sequence than its context needs. (No family has
    /// windows in some layers and positions that are encoded in two ways.)
    pub fn windowed_blocks_beside(&self, window: usize, steps: usize, pinned: usize) -> usize {
        let seen = window.div_ceil(self.block_size) + 2;
        let pinned = seen.min(pinned.div_ceil(self.block_size));
        let in_flight = steps.saturating_mul(self.token_budget.max(self.max_sequences));
        let of_one = (seen + 1).min(self.context_length.div_ceil(self.block_size));
        let running = self.max_sequences.saturating_mul(of_one);
        let all = running.saturating_add(in_flight.div_ceil(self.block_size));
        all.min(self.blocks).saturating_add(pinned)
    }
}

/// Runs requests through a model, many at a time.
///
/// Under [asynchronous scheduling](super::Properties::async_scheduling), a step is launched before the tokens of the one
/// before it are known: the host plans and updates sequences while the device computes, so the device never waits. A
/// sequence that turns out to have ended has one row too many in the step in flight, which is dropped; apart from that
/// nothing differs.
pub struct Engine {
    /// Dropped first, so declared first.
    before_drop: Option<Box<dyn Send>>,
    model: Box<dyn StepModel>,
    scheduler: Scheduler,
    in_flight: Option<Launched>,
    /// Completions to be handed out with the next step.
    ready: Vec<Completion>,
    /// The error that stopped the engine, returned once all completions were handed out.
    failure: Option<EngineError>,
    config: EngineConfig,
    stats: Stats,
    memory: OutOfMemory,
    observer: Option<Box<dyn StepObserver>>,
}

/// What is still to come of a step.
enum Stage {
    /// It is to be told what to choose from.
    Computing(Forward),
    Choosing(Ticket),
}

/// A step that is under way.
struct Launched {
    stage: Stage,
    rows: Vec<LaunchedRow>,
    started: Instant,
    planning: Duration,
    launching: Duration,
    size: StepSize,
    used_blocks: usize,
}

impl Engine {
    pub fn new(model: Box<dyn StepModel>, config: &EngineConfig) -> Result<Self, EngineError> {
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
        let properties = model.properties();
        let blocks = properties
            .blocks
            .map_or(config.blocks, |blocks| blocks.min(config.blocks));
        Ok(Self {
            before_drop: None,
            model,
            scheduler: Scheduler::new(config, blocks, properties),
            in_flight: None,
            ready: Vec::new(),
            failure: None,
            config: config.clone(),
            stats: Stats {
                blocks,
                ..Stats::default()
            },
            memory: OutOfMemory::new(config.least_blocks),
            observer: None,
        })
    }

    /// Keeps `guard` until the engine is dropped, and drops it before the model and its cache, on whichever thread that is.
    pub fn before_drop(&mut self, guard: Box<dyn Send>) {
        self.before_drop = Some(guard);
    }

    /// Takes the first blocks of the model's cache for those of the pinned prefix, whose keys and values are there already. To be called
    /// before the first request.
    pub fn adopt_prefix(&mut self) {
        self.scheduler.adopt_pinned(&self.config.pinned_prefix);
    }

    /// The configuration it was built with. [`Stats::blocks`] is the number of blocks after any shortage of memory.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    pub fn stats(&self) -> Stats {
        self.stats
    }

    /// Sets the observer that sees every step from now on.
    pub fn observe(&mut self, observer: Box<dyn StepObserver>) {
        self.observer = Some(observer);
    }

    /// Queues a request. One that can never fit is completed at once as rejected.
    pub fn add(&mut self, request: Request) {
        self.ready.extend(self.scheduler.add(request));
    }

    /// Whether requests are unanswered, a step is in flight, or a failure is still to be returned.
    pub fn has_work(&self) -> bool {
        self.scheduler.waiting() + self.scheduler.running() + self.ready.len() > 0
            || self.in_flight.is_some()
            || self.failure.is_some()
    }

    /// Drops every request that was not completed. What was computed of prompts stays in the prefix cache.
    /// Errors: the failure of a step that was in flight; the engine is not to be used after it.
    pub(crate) fn drop_requests(&mut self) -> Result<(), EngineError> {
        if let Some(step) = self.in_flight.take() {
            self.give_up(step)?;
        }
        self.scheduler.drop_all();
        self.ready.clear();
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    /// Runs one step and returns the requests that finished. Under asynchronous scheduling these are the requests that the
    /// previous step finished.
    /// Errors: the model's or the sampler's failure; the engine is not to be used after it.
    pub fn step(&mut self) -> Result<Vec<Completion>, EngineError> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let result = self.advance();
        let completions = std::mem::take(&mut self.ready);
        match result {
            // Finished requests are returned first; the failure is returned by the next call.
            Err(failure) if !completions.is_empty() => self.failure = Some(failure),
            result => result?,
        }
        Ok(completions)
    }

    /// Launches the next step, then collects the one before it, and then says what the next step may choose from if that depends on
    /// the tokens just collected. Without asynchronous scheduling it collects the step just launched.
    fn advance(&mut self) -> Result<(), EngineError> {
        let started = Instant::now();
        // The size of a step that did not fit into memory.
        let mut too_large = None;
        let mut launched = None;
        match self.scheduler.schedule(self.in_flight.is_none()) {
            Plan::Step(batch) => {
                let size = self.scheduler.step_size();
                match self.launch(&batch, size, started) {
                    Ok(step) => launched = Some(step),
                    Err(ModelError::OutOfMemory(reason)) => {
                        self.scheduler.lose_states();
                        too_large = Some((size, reason));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            Plan::Nothing if self.in_flight.is_none() => {
                if self.ready.is_empty() && self.has_work() {
                    return Err(EngineError::Config(
                        "no sequence can be scheduled; please report this".into(),
                    ));
                }
                return Ok(());
            }
            Plan::Nothing | Plan::NeedsPreemption => {}
        }
        let due = if self.model.properties().async_scheduling {
            std::mem::replace(&mut self.in_flight, launched)
        } else {
            launched
        };
        if let Some(step) = due {
            let size = step.size;
            match self.collect(step) {
                Ok(()) => {}
                Err(ModelError::OutOfMemory(reason)) => {
                    too_large = Some((size, reason));
                    if let Some(next) = self.in_flight.take() {
                        // It was computed from tokens of the step that failed.
                        let _ = self.give_up(next);
                    }
                    self.scheduler.preempt_all();
                }
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(step) = self.in_flight.take() {
            let size = step.size;
            match self.choose_late(step) {
                Ok(step) => self.in_flight = Some(step),
                Err(ModelError::OutOfMemory(reason)) => {
                    too_large = Some((size, reason));
                    self.scheduler.preempt_all();
                }
                Err(error) => return Err(error.into()),
            }
        }
        match too_large {
            Some((size, reason)) => {
                self.stats.out_of_memory += 1;
                let (model, steps) = (self.model.as_mut(), self.stats.steps);
                let scheduler = &mut self.scheduler;
                let shrunk = self.memory.shrink(model, scheduler, steps, size, &reason);
                self.stats.blocks = self.scheduler.blocks();
                self.stats.preemptions = self.scheduler.preemptions();
                shrunk
            }
            None => Ok(()),
        }
    }

    fn launch(
        &mut self,
        batch: &StepBatch,
        size: StepSize,
        started: Instant,
    ) -> Result<Launched, ModelError> {
        let used_blocks = self.scheduler.used_blocks();
        let planned = Instant::now();
        let forward = self.model.launch(batch)?;
        let rows = self.scheduler.row_requests();
        let late = rows.is_none();
        let stage = match rows {
            Some(rows) => Stage::Choosing(self.model.choose(forward, &rows)?),
            None => Stage::Computing(forward),
        };
        Ok(Launched {
            stage,
            launching: planned.elapsed(),
            rows: self.scheduler.launched(late),
            started,
            planning: planned - started,
            size,
            used_blocks,
        })
    }

    /// Tells a step what to choose from, if it was not told yet.
    fn choose_late(&mut self, mut step: Launched) -> Result<Launched, ModelError> {
        if let Stage::Computing(forward) = step.stage {
            let started = Instant::now();
            let rows = self.scheduler.late_requests(&step.rows);
            step.stage = Stage::Choosing(self.model.choose(forward, &rows)?);
            step.launching += started.elapsed();
        }
        Ok(step)
    }

    /// Gives up a step whose tokens nobody wants; waits for it if it was told what to choose from.
    fn give_up(&mut self, step: Launched) -> Result<(), ModelError> {
        if let Stage::Choosing(ticket) = step.stage {
            self.model.collect(ticket)?;
        }
        Ok(())
    }

    /// Waits for a step and updates its sequences and the counters.
    fn collect(&mut self, step: Launched) -> Result<(), ModelError> {
        let waiting = Instant::now();
        let Stage::Choosing(ticket) = step.stage else {
            return Err(ModelError::Batch(
                "a step was not told what to choose from".into(),
            ));
        };
        let mut chosen = self.model.collect(ticket)?;
        let known = Instant::now();
        let wanted: usize = step.rows.iter().map(|row| row.choices).sum();
        if chosen.len() != wanted {
            return Err(ModelError::Batch(format!(
                "{} tokens chosen where {wanted} are wanted",
                chosen.len()
            )));
        }

        let stats = &mut self.stats;
        let mut generated: Vec<RequestId> = Vec::with_capacity(chosen.len());
        let finished = self.scheduler.update(&step.rows, |sequence, row| {
            let Some(chosen) = chosen[row].take() else {
                return Some(FinishReason::Rejected(sequence.why_none().into()));
            };
            if !sequence.has_chosen() {
                stats.prompt_tokens += sequence.request().prompt.len() as u64;
                stats.cached_tokens += sequence.cached_tokens() as u64;
            }
            generated.push(sequence.request().id);
            sequence.push(chosen, known)
        });
        self.ready.extend(finished);
        stats.discarded_tokens = self.scheduler.discarded();
        stats.preemptions = self.scheduler.preemptions();
        stats.touched_blocks = self.scheduler.touched_blocks();
        stats.accepted_tokens = self.scheduler.accepted();

        let finished = Instant::now();
        let waited = known - waiting;
        let report = StepReport {
            started: step.started,
            finished,
            model: step.launching + waited,
            waited,
            host: step.planning + (finished - known),
            rows: step.size.rows,
            prefill_tokens: step.size.prefill_tokens,
            decode_tokens: step.size.decode_tokens,
            drafted_tokens: step.size.drafted_tokens,
            used_blocks: step.used_blocks,
            blocks: self.scheduler.blocks(),
            waiting: self.scheduler.waiting(),
            generated: &generated,
        };
        stats.add_step(&report);
        stats.used_blocks = self.scheduler.used_blocks();
        self.scheduler.measured(step.size, report.model);
        if let Some(observer) = &mut self.observer {
            observer.step(&report);
        }
        Ok(())
    }
}
