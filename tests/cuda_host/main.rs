//! The host's side of the CUDA path: what it asks of the driver, and what comes of it when the driver refuses. It runs on the
//! imitated driver alone (`tests/cuda_driver`), which counts calls and can be told to refuse.

#![allow(clippy::unwrap_used, clippy::panic)]

mod driver;
mod families;
#[path = "../cuda/parallel.rs"]
mod parallel;
#[path = "../cuda/random_model.rs"]
mod random_model;
#[path = "../paged/reference.rs"]
mod reference;
#[path = "../cuda/sleeping.rs"]
mod sleeping;
mod states;
mod steps;
mod weights;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::{CString, c_char};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use candle_core::{DType, Device, Tensor};
use juror_engine::engine::{
    Choices, Drafts, Engine, EngineConfig, Guide, Next, RandomKey, Request, Sampling, Then,
    TokenLogprobs, TokenSet,
};
use juror_engine::model::attention::AttentionShape;
use juror_engine::model::cuda::array::Array;
use juror_engine::model::cuda::gemm::{Gemm, Rows, Weight};
use juror_engine::model::cuda::linear::Products;
use juror_engine::model::cuda::operations::{Operations, Target};
use juror_engine::model::precision::{Quantization, WeightType};
use juror_engine::model::{
    BatchRow, DeviceChoice, ModelError, Precision, PrecisionChoice, RowState, StateStart, StepBatch,
};
use juror_judge::judge::build::{DeviceModel, load_model};
use random_model::{
    BLOCK, Random, families, families_of_one_gpu, families_with_parts_of_their_own, few_bits,
};
use serde_json::{Value, json};

/// Tokens that each sequence generates.
const NEW_TOKENS: usize = 6;

#[allow(unsafe_code)]
mod imitation {
    use super::{CString, c_char};

    #[link(name = "cuda")]
    unsafe extern "C" {
        fn cuda_imitation_set(settings: *const c_char);
        fn cuda_imitation_count(name: *const c_char) -> u64;
        fn cuda_imitation_bytes(device: i32) -> u64;
    }

    /// Changes settings of the driver, and counts allocations from here on.
    pub(crate) fn set(settings: &str) {
        let settings = CString::new(settings).unwrap();
        // SAFETY: the function reads a text that ends in a zero byte.
        unsafe { cuda_imitation_set(settings.as_ptr()) }
    }

    /// How often something was asked of the driver.
    pub(crate) fn count(name: &str) -> u64 {
        let name = CString::new(name).unwrap();
        // SAFETY: as above.
        unsafe { cuda_imitation_count(name.as_ptr()) }
    }

    /// Bytes of a device's memory in use.
    pub(crate) fn bytes(device: i32) -> u64 {
        // SAFETY: a plain number.
        unsafe { cuda_imitation_bytes(device) }
    }
}

/// The driver counts for the whole process, so one test runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::new(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts this thread's allocations of memory on the host.
struct Counting;

thread_local! {
    static HOST_ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is the system allocator's.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = HOST_ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn device(ordinal: usize) -> Device {
    DeviceChoice::Cuda(ordinal).open().unwrap()
}

/// Sizes at which the emulation is fast.
fn small() -> Value {
    json!({
        "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 2, "head_dim": 32, "vocab_size": 131,
    })
}

fn config(context_length: usize) -> EngineConfig {
    EngineConfig {
        blocks: 40,
        least_blocks: 12,
        block_size: BLOCK,
        max_sequences: 4,
        token_budget: 64,
        max_prefill_chunk: 48,
        context_length,
        prefix_cache: true,
        pinned_prefix: Vec::new(),
        drafts: Drafts::Off,
    }
}

fn load(
    random: &Random,
    device: &Device,
    precision: Precision,
) -> Result<Box<dyn DeviceModel>, ModelError> {
    let devices = std::slice::from_ref(device);
    let model = load_model(&random.config, &random.weights, devices, precision, false)?;
    model.with_cache(&config(random.config.max_positions), true)
}

/// Prompts that share a beginning of two blocks; one is short, one has most tokens.
fn prompts(vocab: usize) -> Vec<Vec<u32>> {
    let token = |at: usize, salt: usize| ((at * 31 + salt * 17 + at * at * salt) % vocab) as u32;
    [3, 1, 20, 9, 62]
        .into_iter()
        .enumerate()
        .map(|(index, own)| {
            let shared = (0..2 * BLOCK).map(|at| token(at, 1));
            let own = (0..own).map(|at| token(at, 3 + index));
            if index == 1 {
                own.collect()
            } else {
                shared.chain(own).collect()
            }
        })
        .collect()
}

/// What a sequence generated, the odds that each token is of the first half of the vocabulary, and the log-probabilities of
/// those that ask for them.
#[derive(Debug, Clone, PartialEq)]
struct Generated {
    tokens: Vec<u32>,
    odds: Vec<f32>,
    logprobs: Vec<Option<TokenLogprobs>>,
}

impl Generated {
    /// Asserts that tokens are the same, and what is said of each the same but for rounding: a sequence that was preempted is
    /// computed again in other steps.
    fn check_same(&self, other: &Self, what: &str) {
        assert_eq!(self.tokens, other.tokens, "{what}");
        let numbers = |own: &Self| -> Vec<f32> {
            let logprobs = own.logprobs.iter().flatten().map(|known| known.logprob);
            own.odds.iter().copied().chain(logprobs).collect()
        };
        let (ours, theirs) = (numbers(self), numbers(other));
        assert_eq!(ours.len(), theirs.len(), "{what}");
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert!(
                (ours - theirs).abs() < 0.01,
                "{what}: {ours} instead of {theirs}"
            );
        }
    }
}

fn choices(vocab: usize) -> Choices {
    let vocab = vocab as u32;
    let tokens: Vec<u32> = (0..vocab).collect();
    let (yes, no) = tokens.split_at(vocab as usize / 2);
    Choices::yes_or_no(yes, no)
}

/// A greedy request of each prompt.
fn requests(vocab: usize) -> impl Iterator<Item = Request> {
    let prompts = prompts(vocab).into_iter().enumerate();
    prompts.map(|(id, prompt)| Request {
        id: id as u64,
        prompt,
        max_new_tokens: NEW_TOKENS,
        sampling: Sampling::GREEDY,
        random_key: RandomKey {
            seed: 0,
            sample: id as u64,
            trial: 0,
        },
        eos: Arc::from([]),
        guide: None,
        choices: None,
        logprobs: None,
        background: false,
    })
}

fn generate(model: Box<dyn DeviceModel>, random: &Random) -> Result<Vec<Generated>, String> {
    generate_with(model, random, &config(random.config.max_positions))
}

fn generate_with(
    model: Box<dyn DeviceModel>,
    random: &Random,
    config: &EngineConfig,
) -> Result<Vec<Generated>, String> {
    let mut engine = Engine::new(model, config).unwrap();
    let choices = Arc::new(choices(random.config.vocab));
    for request in requests(random.config.vocab) {
        engine.add(Request {
            choices: Some(Arc::clone(&choices)),
            // Rows that ask lie between others that do not.
            logprobs: (request.id % 2 == 0).then_some(3),
            ..request
        });
    }
    let mut completions = Vec::new();
    while engine.has_work() {
        completions.extend(engine.step().map_err(|error| error.to_string())?);
    }
    completions.sort_by_key(|completion| completion.id);
    Ok(completions
        .into_iter()
        .map(|completion| Generated {
            tokens: completion.tokens,
            odds: completion.expected.iter().map(|(_, odds)| *odds).collect(),
            logprobs: completion.logprobs,
        })
        .collect())
}

/// How far generated tokens are from what the CPU computes in f32: by how much a token's logit is below the highest, and by
/// how much odds and log-probabilities differ, at most.
fn distance(random: &Random, generated: &[Generated]) -> [f32; 3] {
    let cpu = random.on_cpu();
    let short = random.config.rope.short_context();
    let half = random.config.vocab / 2;
    let (mut logit, mut odds, mut logprob) = (0f32, 0f32, 0f32);
    for (id, (prompt, generated)) in prompts(random.config.vocab)
        .into_iter()
        .zip(generated)
        .enumerate()
    {
        let asks = id % 2 == 0;
        let known = if asks { NEW_TOKENS } else { 0 };
        assert_eq!(generated.logprobs.len(), known);
        assert_eq!(
            (generated.tokens.len(), generated.odds.len()),
            (NEW_TOKENS, NEW_TOKENS)
        );
        let first = prompt.len() - 1;
        let tokens = [prompt, generated.tokens[..NEW_TOKENS - 1].to_vec()].concat();
        let n = tokens.len();
        let batch = StepBatch {
            rows: vec![BatchRow {
                query_start: 0,
                query_len: n,
                context_len: n,
                blocks: (0..n.div_ceil(BLOCK) as u32).collect(),
                long: short.is_some_and(|short| n + 1 > short),
                state: state(random, 0, StateStart::Zero, None),
            }],
            positions: (0..n as u32).collect(),
            slots: (0..n as u32).collect(),
            logits: (first as u32..n as u32).collect(),
            tokens,
            ..StepBatch::default()
        };
        let mut cache = random.cache(40, 1);
        let rows = cpu.forward(&batch, cache.as_mut()).unwrap();
        for (at, row) in rows.to_vec2::<f32>().unwrap().iter().enumerate() {
            let highest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            logit = logit.max(highest - row[generated.tokens[at] as usize]);
            let mass = |logits: &[f32]| logits.iter().map(|x| (x - highest).exp()).sum::<f32>();
            let (yes, all) = (mass(&row[..half]), mass(row));
            odds = odds.max((yes / all - generated.odds[at]).abs());
            if asks {
                let ours = generated.logprobs[at].as_ref().unwrap();
                assert_eq!(ours.top.len(), 3);
                let own = (generated.tokens[at], ours.logprob);
                for &(token, ours) in ours.top.iter().chain([&own]) {
                    let expected = TokenLogprobs::from_logits(row, token, 0).logprob;
                    logprob = logprob.max((ours - expected).abs());
                }
            }
        }
    }
    [logit, odds, logprob]
}

/// Asserts that a device generates what the CPU would.
fn compare(name: &str, random: &Random, dtype: DType) {
    let model = load(random, &device(0), Precision::all(dtype)).unwrap();
    assert!(
        model.properties().async_scheduling,
        "{name} is computed by plain operations"
    );
    let generated = generate(model, random).unwrap();
    let [logit, odds, logprob] = distance(random, &generated);
    println!(
        "{name}, {dtype:?}: logits {logit:.3}, odds {odds:.3}, log-probabilities {logprob:.3}"
    );
    // Rounding to bf16 moves logits, which spread over 10, by up to 0.1. Experts may be others then.
    let (most, far) = match (name.contains("MoE"), dtype) {
        (_, DType::F16) => (0.03, 0.002),
        (true, _) => (1.0, 0.1),
        _ => (0.15, 0.01),
    };
    assert!(
        logit < most && odds < far && logprob < most,
        "{name}, {dtype:?}: logits {logit}, odds {odds}, log-probabilities {logprob}"
    );
}

fn qwen3() -> Random {
    Random::new("Qwen3ForCausalLM", &small())
}

/// What a row does with its state, of a model that has recurrent layers.
fn state(random: &Random, slot: u32, start: StateStart, save: Option<u32>) -> Option<RowState> {
    let recurrent = random.config.recurrent.as_ref();
    recurrent.map(|_| RowState { slot, start, save })
}

/// One sequence's first `count` tokens, and the logits after them.
fn prompt_step(count: usize) -> StepBatch {
    StepBatch {
        tokens: vec![1; count],
        positions: (0..count as u32).collect(),
        slots: (0..count as u32).collect(),
        logits: vec![count as u32 - 1],
        rows: vec![BatchRow {
            query_start: 0,
            query_len: count,
            context_len: count,
            blocks: (0..count.div_ceil(BLOCK) as u32).collect(),
            long: false,
            state: None,
        }],
        ..StepBatch::default()
    }
}
