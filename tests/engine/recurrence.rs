//! Recurrent states: however steps are planned, a state has taken in exactly its sequence's tokens, in their order.
//!
//! The model here has a state beside its cache that every token changes, differently at each place. After each row it compares
//! the state, and the copy that was saved of it, with what the tokens give that the row's blocks hold, taken in one by one from
//! the first. A state that took in a token twice or not at all, a stale or foreign snapshot, one that was overwritten before it
//! was read, or a failed step's state that was gone on from cannot pass.

use candle_core::Tensor;
use juror_engine::engine::{
    Completion, Drafts, Engine, EngineConfig, Guide, LogitsModel, Next, Properties, Request,
    Sampling, Stats, StepModel, Then, TokenSet,
};
use juror_engine::model::batch::StepBatch;
use juror_engine::model::{ModelError, StateStart};
use proptest::prelude::*;
use std::sync::Arc;

use crate::lag::{Lagging, essence, mixed_requests, run_requests};
use crate::reader::{EOS, Reader, config, prompts, reader, request, run, template};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    tokens: usize,
    sum: u64,
}

impl State {
    fn zero(long: bool) -> Self {
        Self {
            tokens: 0,
            sum: u64::from(long),
        }
    }

    fn take_in(&mut self, token: u32) {
        self.sum = (self.sum ^ u64::from(token))
            .wrapping_mul(0x0100_0000_01b3)
            .rotate_left(23);
        self.tokens += 1;
    }
}

struct Recurrent {
    model: Reader,
    states: Vec<Option<State>>,
    /// These steps, by their number, fail when half of their rows are done.
    unlucky: Vec<usize>,
    steps: usize,
}

fn recurrent(block_size: usize, states: usize) -> Recurrent {
    Recurrent {
        model: reader(block_size),
        states: vec![None; states],
        unlucky: Vec::new(),
        steps: 0,
    }
}

impl LogitsModel for Recurrent {
    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        self.steps += 1;
        let fails = self.unlucky.contains(&self.steps);
        batch.validate_states(self.states.len())?;
        let logits = self.model.forward(batch)?;
        let rows = batch.rows.len();
        for (index, row) in batch.rows.iter().enumerate() {
            if fails && index >= rows / 2 {
                break;
            }
            let use_of = row.state.unwrap();
            let mut state = match use_of.start {
                StateStart::Zero => State::zero(row.long),
                StateStart::Copy(source) => self.states[source as usize].unwrap(),
                StateStart::Continue => self.states[use_of.slot as usize].unwrap(),
            };
            assert_eq!(state.tokens, row.context_len - row.query_len, "{use_of:?}");
            for token in &batch.tokens[row.query_start..][..row.query_len] {
                state.take_in(*token);
            }
            let mut expected = State::zero(row.long);
            for token in self.model.context(row, row.context_len) {
                expected.take_in(token);
            }
            assert_eq!(state, expected, "{use_of:?}");
            for slot in std::iter::once(use_of.slot).chain(use_of.save) {
                self.states[slot as usize] = Some(state);
            }
        }
        if fails {
            return Err(ModelError::OutOfMemory(format!("step {}", self.steps)));
        }
        Ok(logits)
    }

    fn properties(&self) -> Properties {
        Properties {
            states: Some(self.states.len()),
            ..LogitsModel::properties(&self.model)
        }
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        LogitsModel::shrink(&mut self.model, blocks)
    }
}

pub(crate) fn completions_of(
    model: impl StepModel + 'static,
    config: &EngineConfig,
    requests: Vec<Request>,
    arrivals: usize,
) -> (Vec<Completion>, Stats) {
    let mut engine = Engine::new(Box::new(model), config).unwrap();
    let completions = run_requests(&mut engine, requests, arrivals);
    (completions, engine.stats())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn any_schedule_gives_the_same_states(
        count in 1..40usize, shared in 0..40usize, spare in 0..60usize, block_size in 1..9usize,
        (max_sequences, states) in (1..40usize, 1..50usize), token_budget in 1..80usize, max_prefill_chunk in 1..60usize,
        prefix_cache: bool, pin: bool, lag in prop::option::of(any::<bool>()), arrivals in 1..12usize,
        rebuilds: bool, short in prop::option::of(1..90usize),
        unlucky in prop::collection::vec((1..15usize).prop_map(|step| 4 * step), 0..6),
    ) {
        let longest = shared + 6 + 18 + 20;
        let config = EngineConfig {
            // From barely enough for one sequence (and the template, pinned in both encodings) up.
            blocks: longest.div_ceil(block_size) + 2 * shared.div_ceil(block_size) + spare,
            least_blocks: longest.div_ceil(block_size) + 2 * shared.div_ceil(block_size),
            block_size, max_sequences, token_budget, max_prefill_chunk, context_length: 200, prefix_cache,
            pinned_prefix: if pin { template(shared) } else { Vec::new() },
            drafts: Drafts::Most(3),
        };
        // Each prompt three times: trials of one sample.
        let requests = || (0..3).flat_map(|_| mixed_requests(count, shared, 20)).enumerate().map(|(id, request)| Request {
            id: id as u64,
            ..request
        }).collect::<Vec<_>>();
        let mut plain = reader(block_size);
        plain.short_context = short;
        let (expected, _) = completions_of(plain, &EngineConfig { drafts: Drafts::Off, ..config.clone() }, requests(), usize::MAX);
        let mut model = recurrent(block_size, states);
        model.model.rebuilds = rebuilds;
        model.model.short_context = short;
        model.unlucky = unlucky;
        let (completions, stats) = match lag {
            None => completions_of(model, &config, requests(), arrivals),
            Some(late) => completions_of(Lagging::new(model, late), &config, requests(), arrivals),
        };
        prop_assert_eq!(essence(&completions), essence(&expected));
        prop_assert_eq!(stats.accepted_tokens, 0);
    }
}

/// A template of 24 tokens, then a question, in blocks of four.
fn template_and(question: std::ops::Range<u32>) -> Vec<u32> {
    let mut prompt = template(24);
    prompt.extend(question);
    prompt
}

#[test]
fn the_pinned_prefix_is_computed_once_and_survives_every_other_snapshot() {
    let config = EngineConfig {
        pinned_prefix: template(26),
        ..config(100)
    };
    let mut engine = Engine::new(Box::new(recurrent(4, 5)), &config).unwrap();
    let mut cached = |id: u64, prompt: Vec<u32>| {
        engine.add(request(id, prompt, 2, Sampling::GREEDY));
        run(&mut engine)[0].cached_tokens
    };
    let prompt = |question: u32| template_and(question..question + 9);
    assert_eq!(cached(0, prompt(1)), 0);
    for id in 1..20 {
        assert_eq!(cached(id, prompt(id as u32 + 1)), 24, "{id}");
        let other = (0..60).map(|at| (at * 11 + id as u32) % 48).collect();
        assert_eq!(cached(100 + id, other), 0);
    }
    // The same prompt again goes on from the end of its last whole block before the last token.
    assert_eq!(cached(40, prompt(30)), 24);
    assert_eq!(cached(41, prompt(30)), 32);
}

#[test]
fn trials_that_arrive_together_compute_their_prompt_once() {
    let mut engine = Engine::new(Box::new(recurrent(4, 70)), &config(2000)).unwrap();
    for id in 0..32 {
        engine.add(request(id, template_and(1..10), 1, Sampling::GREEDY));
    }
    run(&mut engine);
    // 33 tokens, of which 32 are whole blocks: all but the first compute the last one alone.
    assert_eq!(engine.stats().computed_tokens, 33 + 31);
}

#[test]
fn where_prompts_part_the_second_leaves_a_snapshot_for_the_third() {
    let mut engine = Engine::new(Box::new(recurrent(4, 8)), &config(2000)).unwrap();
    let mut cached = |id: u32| {
        engine.add(request(
            id.into(),
            template_and(id..id + 12),
            1,
            Sampling::GREEDY,
        ));
        run(&mut engine)[0].cached_tokens
    };
    assert_eq!([cached(1), cached(2), cached(3), cached(4)], [0, 0, 24, 24]);
}

#[test]
fn preempted_sequences_go_on_from_a_snapshot() {
    let limits = |blocks| EngineConfig {
        pinned_prefix: template(24),
        ..config(blocks)
    };
    let computed = |blocks| {
        let mut engine = Engine::new(Box::new(recurrent(4, 80)), &limits(blocks)).unwrap();
        for (id, prompt) in prompts(40, 24).into_iter().enumerate() {
            engine.add(request(id as u64, prompt, 40, Sampling::GREEDY));
        }
        let completions = run(&mut engine);
        (completions, engine.stats())
    };
    let ((few, stats), (many, plenty)) = (computed(40), computed(2000));
    assert_eq!(essence(&few), essence(&many));
    assert!(stats.preemptions > 0 && plenty.preemptions == 0);
    // The pinned prefix at least is not computed again.
    let again = stats.computed_tokens - plenty.computed_tokens;
    let generated: usize = few.iter().map(|completion| completion.tokens.len()).sum();
    assert!(
        again < stats.preemptions * 30 + generated as u64,
        "{again} tokens again after {} preemptions",
        stats.preemptions
    );
}

/// Asks for one of two tokens where a text would end, without any text before.
struct Instead;

impl Guide for Instead {
    fn push(&mut self, token: u32) -> Next {
        if token < 2 { Next::END } else { Next::FREE }
    }

    fn end(&mut self) -> Option<Next> {
        Some(Next {
            append: Vec::new(),
            then: Then::OneOf {
                tokens: Arc::new([0, 1].into_iter().collect::<TokenSet>().into()),
                choices: None,
            },
        })
    }
}

#[test]
fn a_token_taken_back_has_the_state_computed_anew() {
    let requests = || -> Vec<Request> {
        let of = |(id, prompt): (usize, Vec<u32>)| Request {
            guide: Some(Box::new(Instead)),
            ..request(id as u64, prompt, 60, Sampling::GREEDY)
        };
        prompts(40, 24).into_iter().enumerate().map(of).collect()
    };
    let (expected, _) = completions_of(reader(4), &config(2000), requests(), usize::MAX);
    assert!(
        expected.iter().all(|one| !one.tokens.contains(&EOS)),
        "every end is replaced"
    );
    for lag in [false, true] {
        let model = recurrent(4, 80);
        let (completions, stats) = if lag {
            let lagging = Lagging::new(model, true);
            completions_of(lagging, &config(2000), requests(), usize::MAX)
        } else {
            completions_of(model, &config(2000), requests(), usize::MAX)
        };
        assert_eq!(essence(&completions), essence(&expected));
        assert_eq!(stats.preemptions, 0, "nothing was preempted for it");
    }
}
