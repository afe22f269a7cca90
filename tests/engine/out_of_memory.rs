//! A lack of memory costs time, never a verdict.

use candle_core::Tensor;
use juror_engine::engine::{
    Chosen, Engine, EngineConfig, Forward, LogitsModel, Properties, RowRequest, StepModel, Ticket,
};
use juror_engine::model::ModelError;
use juror_engine::model::batch::StepBatch;
use juror_judge::judge::build::PagedDecoder;
use proptest::prelude::*;

use crate::lag::{
    Lagging, essence, mixed_requests, run_requests, tiny, tiny_config, tiny_requests,
};
use crate::reader::{Reader, config, reader};

/// A reader on a device with little memory: its cache takes some, a step takes some by its tokens and rows.
struct Scarce {
    model: Reader,
    memory: usize,
    /// Blocks of the cache.
    blocks: usize,
    /// These steps, by their number, fail however much memory there is; never two in a row.
    unlucky: Vec<usize>,
    steps: usize,
    failures: u64,
    rebuilt: usize,
}

const BLOCK_BYTES: usize = 10;
const TOKEN_BYTES: usize = 7;
const ROW_BYTES: usize = 5;

impl Scarce {
    fn new(memory: usize, blocks: usize, rebuilds: bool, unlucky: &[usize]) -> Self {
        let mut model = reader(4);
        model.rebuilds = rebuilds;
        Self {
            model,
            memory,
            blocks,
            unlucky: unlucky.to_vec(),
            steps: 0,
            failures: 0,
            rebuilt: 0,
        }
    }
}

impl LogitsModel for Scarce {
    fn properties(&self) -> Properties {
        LogitsModel::properties(&self.model)
    }

    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        self.steps += 1;
        let need = self.blocks * BLOCK_BYTES
            + batch.tokens.len() * TOKEN_BYTES
            + batch.rows.len() * ROW_BYTES;
        if need > self.memory || self.unlucky.contains(&self.steps) {
            self.failures += 1;
            return Err(ModelError::OutOfMemory(format!(
                "{need} of {}",
                self.memory
            )));
        }
        self.model.forward(batch)
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        let built = LogitsModel::shrink(&mut self.model, blocks)?;
        if let Some(built) = built {
            self.rebuilt += 1;
            self.blocks = built;
            if built * BLOCK_BYTES > self.memory {
                return Err(ModelError::OutOfMemory("the cache".into()));
            }
        }
        Ok(built)
    }
}

fn undisturbed(count: usize) -> Vec<juror_engine::engine::Completion> {
    let mut engine = Engine::new(Box::new(reader(4)), &config(400)).unwrap();
    run_requests(&mut engine, mixed_requests(count, 12, 30), usize::MAX)
}

/// The longest of [`mixed_requests`] with 12 shared tokens and 30 new ones needs fewer.
const LEAST: usize = 20;

fn limits(blocks: usize) -> EngineConfig {
    EngineConfig {
        least_blocks: LEAST,
        ..config(blocks)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]
    #[test]
    fn results_are_those_of_an_undisturbed_run(
        count in 1..40usize, blocks in LEAST..300, spare in 0..2000usize, rebuilds: bool, lag: bool, late: bool,
        unlucky in prop::collection::vec((1..15usize).prop_map(|step| 4 * step), 0..6), arrivals in 1..12usize,
    ) {
        // What a cache that cannot be rebuilt takes, or the smallest that can, and a step of 16 tokens and rows.
        let cache = if rebuilds { LEAST } else { blocks };
        let memory = cache * BLOCK_BYTES + 16 * (TOKEN_BYTES + ROW_BYTES) + spare;
        let model = Scarce::new(memory, blocks, rebuilds, &unlucky);
        let requests = mixed_requests(count, 12, 30);
        let (completions, stats) = if lag {
            let mut engine = Engine::new(Box::new(Lagging::new(model, late)), &limits(blocks)).unwrap();
            (run_requests(&mut engine, requests, arrivals), engine.stats())
        } else {
            let mut engine = Engine::new(Box::new(model), &limits(blocks)).unwrap();
            (run_requests(&mut engine, requests, arrivals), engine.stats())
        };
        prop_assert_eq!(essence(&completions), essence(&undisturbed(count)));
        prop_assert!(stats.blocks >= LEAST && stats.blocks <= blocks);
    }
}

#[test]
fn the_cache_shrinks_first_and_the_run_goes_on() {
    // Room for the cache, and for steps of half its size: a full one needs 128 tokens.
    let blocks = 400;
    let memory = blocks * BLOCK_BYTES + 60 * (TOKEN_BYTES + ROW_BYTES);
    for rebuilds in [true, false] {
        let model = Scarce::new(memory, blocks, rebuilds, &[]);
        let mut engine = Engine::new(Box::new(model), &limits(blocks)).unwrap();
        let completions = run_requests(&mut engine, mixed_requests(64, 12, 30), usize::MAX);
        assert_eq!(essence(&completions), essence(&undisturbed(64)));
        let stats = engine.stats();
        assert!(stats.out_of_memory > 0, "{stats:?}");
        if rebuilds {
            // A sixteenth each time, and no more than was missing.
            assert_eq!((stats.out_of_memory, stats.blocks), (2, 352), "{stats:?}");
            assert!(stats.most_running > 40, "{stats:?}");
        } else {
            assert_eq!(stats.blocks, 400, "smaller steps were enough: {stats:?}");
        }
    }
}

#[test]
fn a_run_that_cannot_go_on_says_so_after_handing_out_what_is_finished() {
    for lag in [false, true] {
        // From the tenth step on there is no memory for anything.
        let hopeless: Vec<usize> = (10..200).collect();
        let model = Scarce::new(usize::MAX, 100, true, &hopeless);
        let requests = mixed_requests(30, 12, 30);
        let (finished, error) = if lag {
            until_failure(Lagging::new(model, true), requests)
        } else {
            until_failure(model, requests)
        };
        assert!(finished > 0);
        for part in [
            "one sequence in steps of",
            "20 KV blocks",
            "--kv-blocks",
            "run the same command again",
        ] {
            assert!(error.contains(part), "{error}");
        }
    }
}

fn until_failure<M: StepModel + 'static>(
    model: M,
    requests: Vec<juror_engine::engine::Request>,
) -> (usize, String) {
    let mut engine = Engine::new(Box::new(model), &limits(100)).unwrap();
    for request in requests {
        engine.add(request);
    }
    let mut finished = 0;
    loop {
        match engine.step() {
            Ok(completions) => finished += completions.len(),
            Err(error) => return (finished, error.to_string()),
        }
    }
}

/// Has no room for every fifth launch, or choice, where [`Scarce`] under [`Lagging`] fails in a step that was launched.
struct Refuses {
    model: Lagging<Reader>,
    choices: bool,
    asked: usize,
}

impl Refuses {
    fn new(choices: bool, late: bool) -> Self {
        Self {
            model: Lagging::new(reader(4), late),
            choices,
            asked: 0,
        }
    }

    fn fail(&mut self, choices: bool) -> Result<(), ModelError> {
        self.asked += usize::from(choices == self.choices);
        if choices == self.choices && self.asked.is_multiple_of(5) {
            return Err(ModelError::OutOfMemory("no room".into()));
        }
        Ok(())
    }
}

impl StepModel for Refuses {
    fn properties(&self) -> Properties {
        self.model.properties()
    }

    fn launch(&mut self, batch: &StepBatch) -> Result<Forward, ModelError> {
        self.fail(false)?;
        self.model.launch(batch)
    }

    fn choose(&mut self, forward: Forward, rows: &[RowRequest]) -> Result<Ticket, ModelError> {
        self.fail(true)?;
        self.model.choose(forward, rows)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Vec<Option<Chosen>>, ModelError> {
        self.model.collect(ticket)
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        self.model.shrink(blocks)
    }
}

#[test]
fn a_step_that_cannot_be_launched_does_not_disturb_the_one_under_way() {
    let model = Refuses::new(false, true);
    let mut engine = Engine::new(Box::new(model), &limits(200)).unwrap();
    let completions = run_requests(&mut engine, mixed_requests(40, 12, 30), usize::MAX);
    assert_eq!(essence(&completions), essence(&undisturbed(40)));
    assert!(engine.stats().out_of_memory > 3);
}

/// Steps that were launched and could not be told what to choose from, at once or late, are given up.
#[test]
fn a_step_that_cannot_choose_is_computed_again() {
    for late in [false, true] {
        let model = Refuses::new(true, late);
        let mut engine = Engine::new(Box::new(model), &limits(200)).unwrap();
        let completions = run_requests(&mut engine, mixed_requests(40, 12, 30), usize::MAX);
        assert_eq!(essence(&completions), essence(&undisturbed(40)));
        assert!(engine.stats().out_of_memory > 3);
    }
}

/// Fails at two of its steps.
struct Unlucky(PagedDecoder, usize);

impl StepModel for Unlucky {
    fn properties(&self) -> Properties {
        StepModel::properties(&self.0)
    }

    fn launch(&mut self, batch: &StepBatch) -> Result<Forward, ModelError> {
        self.1 += 1;
        if [6, 12].contains(&self.1) {
            return Err(ModelError::OutOfMemory("another program's".into()));
        }
        self.0.launch(batch)
    }

    fn choose(&mut self, forward: Forward, rows: &[RowRequest]) -> Result<Ticket, ModelError> {
        self.0.choose(forward, rows)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Vec<Option<Chosen>>, ModelError> {
        self.0.collect(ticket)
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        StepModel::shrink(&mut self.0, blocks)
    }
}

#[test]
fn the_real_cache_is_as_large_as_fits_and_is_built_anew() {
    let (decoder, vocab, build) = tiny(70);
    let model = PagedDecoder::with_cache(decoder, 200, 8, build).unwrap();
    let mut engine = Engine::new(Box::new(model), &tiny_config(200)).unwrap();
    let blocks = engine.stats().blocks;
    assert_eq!(blocks, 69, "70 fit, and tries are a thirty-second apart");
    let expected = run_requests(&mut engine, tiny_requests(vocab), usize::MAX);

    let (decoder, _, build) = tiny(70);
    let model = PagedDecoder::with_cache(decoder, blocks, 8, build).unwrap();
    let mut engine = Engine::new(Box::new(Unlucky(model, 0)), &tiny_config(blocks)).unwrap();
    let completions = run_requests(&mut engine, tiny_requests(vocab), usize::MAX);
    assert_eq!(essence(&completions), essence(&expected));
    let stats = engine.stats();
    assert_eq!((stats.out_of_memory, stats.blocks), (2, 61), "{stats:?}");

    let (decoder, _, build) = tiny(7);
    let refusal = PagedDecoder::with_cache(decoder, 200, 8, build).map(|_| ());
    assert!(
        matches!(refusal, Err(ModelError::OutOfMemory(_))),
        "{refusal:?}"
    );
}
