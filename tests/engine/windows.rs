//! Layers with windows in a cache of their own: however steps are planned, a query finds there the keys that it sees.
//!
//! The model here reads its context through the blocks of the other layers, and compares with it, for every token of a step, what
//! the blocks of layers with windows hold of the last tokens. A block that was given back too early, found under the wrong name, or
//! written by two sequences cannot pass.

use std::collections::HashMap;

use candle_core::Tensor;
use juror_engine::engine::{Drafts, EngineConfig, LogitsModel, Properties, Request, Sampling};
use juror_engine::model::ModelError;
use juror_engine::model::attention::WindowedCache;
use juror_engine::model::batch::StepBatch;
use proptest::prelude::*;

use crate::lag::{Lagging, essence, mixed_requests};
use crate::reader::{Reader, config, prompts, reader, request, template};
use crate::recurrence::completions_of;

struct Windowed {
    model: Reader,
    cache: WindowedCache,
    /// What each slot of layers with windows holds, at which position, and whether as a part of a long sequence.
    slots: HashMap<u32, (u32, usize, bool)>,
    /// These steps, by their number, fail when half of their rows are done.
    unlucky: Vec<usize>,
    steps: usize,
}

fn windowed(block_size: usize, window: usize, blocks: usize) -> Windowed {
    Windowed {
        model: reader(block_size),
        cache: WindowedCache { window, blocks },
        slots: HashMap::new(),
        unlucky: Vec::new(),
        steps: 0,
    }
}

impl LogitsModel for Windowed {
    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        self.steps += 1;
        let fails = self.unlucky.contains(&self.steps);
        let own = batch.in_windows();
        let size = self.model.block_size();
        own.validate(size, self.cache.blocks)?;
        let logits = self.model.forward(batch)?;
        let rows = batch.rows.len();
        for (index, row) in own.rows.iter().enumerate() {
            if fails && index >= rows / 2 {
                return Err(ModelError::OutOfMemory(format!("step {}", self.steps)));
            }
            let tokens = self.model.context(&batch.rows[index], row.context_len);
            let first = row.context_len - row.query_len;
            let slots = own.slots[row.query_start..].iter();
            let new = tokens.iter().enumerate().take(row.context_len);
            for ((position, token), slot) in new.skip(first).zip(slots) {
                self.slots.insert(*slot, (*token, position, row.long));
            }
            for position in first..row.context_len {
                let seen = (position + 1).saturating_sub(self.cache.window);
                for (key, token) in tokens.iter().enumerate().take(position + 1).skip(seen) {
                    let slot = row.blocks[key / size] * size as u32 + (key % size) as u32;
                    assert_eq!(self.slots[&slot], (*token, key, row.long));
                }
            }
        }
        Ok(logits)
    }

    fn properties(&self) -> Properties {
        Properties {
            windowed: Some(self.cache),
            ..LogitsModel::properties(&self.model)
        }
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        let built = LogitsModel::shrink(&mut self.model, blocks)?;
        if built.is_some() {
            self.slots.clear();
        }
        Ok(built)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]
    #[test]
    fn any_schedule_finds_every_key_in_its_window(
        count in 1..40usize, shared in 0..40usize, spare in (0..60usize, 0..60usize), block_size in 1..9usize, window in 1..60usize,
        max_sequences in 1..40usize, token_budget in 1..80usize, max_prefill_chunk in 1..60usize,
        prefix_cache: bool, pin: bool, lag in prop::option::of(any::<bool>()), arrivals in 1..12usize, rebuilds: bool, (lazy, drafts) in (any::<bool>(), any::<bool>()),
        short in prop::option::of(1..90usize),
        unlucky in prop::collection::vec((1..15usize).prop_map(|step| 4 * step), 0..6),
    ) {
        let longest = shared + 6 + 18 + 20;
        let template_blocks = 2 * shared.div_ceil(block_size);
        let config = EngineConfig {
            // From barely enough for one sequence (and the template, pinned in both encodings) up.
            blocks: longest.div_ceil(block_size) + template_blocks + spare.0,
            least_blocks: longest.div_ceil(block_size) + template_blocks,
            block_size, max_sequences, token_budget, max_prefill_chunk, context_length: 200, prefix_cache,
            pinned_prefix: if pin { template(shared) } else { Vec::new() },
            drafts: if drafts { Drafts::Most(3) } else { Drafts::Off },
        };
        let in_flight = max_prefill_chunk.min(token_budget.max(max_sequences)) * if lag.is_some() { 2 } else { 1 };
        let least = (window + in_flight).div_ceil(block_size) + 1 + 2 * (window.div_ceil(block_size) + 1);
        let requests = || (0..2).flat_map(|_| mixed_requests(count, shared, 20)).enumerate().map(|(id, request)| Request {
            id: id as u64,
            ..request
        }).collect::<Vec<_>>();
        let mut plain = reader(block_size);
        plain.short_context = short;
        let (expected, _) = completions_of(plain, &EngineConfig { drafts: Drafts::Off, ..config.clone() }, requests(), usize::MAX);
        let mut model = windowed(block_size, window, least + spare.1);
        model.model.rebuilds = rebuilds;
        model.model.short_context = short;
        model.model.lazy_cache = lazy;
        model.unlucky = unlucky;
        let (completions, _) = match lag {
            None => completions_of(model, &config, requests(), arrivals),
            Some(late) => completions_of(Lagging::new(model, late), &config, requests(), arrivals),
        };
        prop_assert_eq!(essence(&completions), essence(&expected));
    }
}

/// A template longer than the window is computed once, whatever else runs between; of its blocks only the last window's stay.
#[test]
fn a_pinned_prefix_is_gone_on_from_its_last_window() {
    let limits = EngineConfig {
        pinned_prefix: template(26),
        drafts: Drafts::Off,
        ..config(100)
    };
    let mut engine =
        juror_engine::engine::Engine::new(Box::new(windowed(4, 9, 60)), &limits).unwrap();
    let mut cached = |id: u64, prompt: Vec<u32>| {
        engine.add(request(id, prompt, 2, Sampling::GREEDY));
        crate::reader::run(&mut engine)[0].cached_tokens
    };
    let prompt = |question: u32| {
        let mut prompt = template(26);
        prompt.extend(question..question + 9);
        prompt
    };
    assert_eq!(cached(0, prompt(1)), 0);
    for id in 1..20 {
        assert_eq!(cached(id, prompt(id as u32 + 1)), 24, "{id}");
        let other = (0..60).map(|at| (at * 11 + id as u32) % 48).collect();
        assert_eq!(cached(100 + id, other), 0);
    }
    // Where only the beginning of it is shared, its window is gone.
    let mut part = template(16);
    part.extend(0..9);
    assert_eq!(cached(50, part), 0);
}

/// With room for the windows of few sequences at once the others wait, or are computed again; what comes of them is the same.
#[test]
fn few_blocks_for_windows_cost_time_alone() {
    let run = |blocks: usize| {
        let requests = prompts(40, 24).into_iter().enumerate();
        let requests =
            requests.map(|(id, prompt)| request(id as u64, prompt, 40, Sampling::GREEDY));
        completions_of(
            windowed(4, 20, blocks),
            &config(2000),
            requests.collect(),
            usize::MAX,
        )
    };
    let ((few, tight), (many, plenty)) = (run(30), run(2000));
    assert_eq!(essence(&few), essence(&many));
    assert!(tight.steps > plenty.steps && plenty.preemptions == 0);
}
