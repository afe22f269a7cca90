//! The host's side of the CUDA path: what it asks of the driver, and what comes of it when the driver refuses. It runs on the
//! imitated driver alone (`tests/cuda_driver`), which counts calls and can be told to refuse.

#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "cuda/parallel.rs"]
mod parallel;
#[path = "cuda/random_model.rs"]
mod random_model;
#[path = "paged/reference.rs"]
mod reference;
#[path = "cuda/sleeping.rs"]
mod sleeping;

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

/// Of Phi-3's sequences one outgrows its original context of 80.
#[test]
fn every_family_generates_what_the_cpu_would() {
    let _alone = alone();
    for (name, random) in families(&small()) {
        compare(name, &random, DType::BF16);
    }
    assert_eq!(imitation::bytes(0), 0, "device memory is left behind");
}

/// Wide heads, recurrent layers, and what single families have of their own; in f16, which leaves rounding an eighth of what bf16
/// does, so that a small fault shows.
#[test]
fn families_of_one_gpu_generate_what_the_cpu_would() {
    let _alone = alone();
    let newer = families_with_parts_of_their_own(&small()).into_iter();
    let newer = newer.map(|(name, _, random)| (name, random));
    for (name, random) in newer.chain(families_of_one_gpu(&small())) {
        compare(name, &random, DType::F16);
    }
    assert_eq!(imitation::bytes(0), 0, "device memory is left behind");
}

/// Norms that multiply with `1 + w`, where all `w` are half of bf16's step at 1: rounded to bf16 that would be 1, and everything after it
/// 0.4 % too small. Errors of single numbers cancel out in the slope of all logits over the CPU's.
#[test]
fn norms_keep_what_they_add_to_one() {
    let _alone = alone();
    for (name, random) in families_of_one_gpu(&small()) {
        if name.contains("MoE") {
            continue;
        }
        let random = random.changed(|name, tensor| {
            if name.ends_with("norm.weight") && !name.contains("linear_attn") {
                (tensor.ones_like().unwrap() * 2f64.powi(-8)).unwrap()
            } else {
                tensor
            }
        });
        let mut batch = prompt_step(40);
        batch.tokens = (0..40).map(|at| (at * 31 + at * at * 17) % 131).collect();
        batch.rows[0].state = state(&random, 0, StateStart::Zero, None);
        let mut model = load(&random, &device(0), Precision::all(DType::BF16)).unwrap();
        let cpu = random.on_cpu();
        let (mut together, mut square) = (0.0, 0.0);
        // There is room for the logits of four rows.
        for first in (0..40).step_by(4) {
            batch.logits = (first..first + 4).collect();
            let ours = model.logits(&batch).unwrap();
            let expected = cpu.forward(&batch, random.cache(40, 1).as_mut()).unwrap();
            let product = |a: &Tensor, b: &Tensor| {
                let sum = (a * b).unwrap().sum_all().unwrap();
                sum.to_scalar::<f32>().unwrap()
            };
            together += product(&ours, &expected);
            square += product(&expected, &expected);
        }
        let slope = together / square;
        println!("{name}: logits are {slope:.5} of the CPU's");
        assert!((slope - 1.0).abs() < 1e-3, "{name}: {slope}");
    }
    assert_eq!(imitation::bytes(0), 0, "device memory is left behind");
}

/// Routers of which all experts' rows are the same but for 2⁻¹¹: rounded, in weights or logits, all experts are alike and the first are
/// taken.
#[test]
fn routers_tell_experts_apart_as_the_cpu_does() {
    let _alone = alone();
    let newer = families_with_parts_of_their_own(&small()).into_iter();
    let newer = newer.map(|(name, _, random)| (name, random));
    let all = newer.chain(families_of_one_gpu(&small()));
    let mut compared = 0;
    for (name, random) in all.chain(families(&small())) {
        if !name.contains("MoE") {
            continue;
        }
        let alike = random.changed(|name, tensor| {
            let parts = [".gate.weight", ".router.weight", ".router.proj.weight"];
            if parts.iter().any(|part| name.ends_with(part)) {
                let numbers = tensor.to_dtype(DType::F32).unwrap();
                let factors: Vec<f32> = (0..numbers.dim(0).unwrap())
                    .map(|expert| 1.0 + expert as f32 * 2f32.powi(-11))
                    .collect();
                let factors = Tensor::new(factors, &Device::Cpu).unwrap();
                let factors = factors.unsqueeze(1).unwrap();
                factors
                    .broadcast_mul(&numbers.narrow(0, 0, 1).unwrap())
                    .unwrap()
            } else if name.contains("correction") || name.ends_with(".router.bias") {
                tensor.zeros_like().unwrap()
            } else {
                tensor
            }
        });
        compared += 1;
        // With rounded routers log-probabilities differ by 0.014 to 3.6 in f16.
        for (dtype, most) in [(DType::F16, 0.012), (DType::BF16, 0.1)] {
            // What these layers pass on differs so much in bf16 that a logit near zero, and with it the order, changes its sign.
            if dtype == DType::BF16 && alike.config.recurrent.is_some() {
                continue;
            }
            let model = load(&alike, &device(0), Precision::all(dtype)).unwrap();
            let generated = generate(model, &alike).unwrap();
            let [logit, odds, logprob] = distance(&alike, &generated);
            println!(
                "{name}, {dtype:?}: logits {logit:.3}, odds {odds:.3}, log-probabilities {logprob:.3}"
            );
            assert!(
                logit < most && odds < 0.01 && logprob < most,
                "{name}, {dtype:?}: logits {logit}, odds {odds}, log-probabilities {logprob}"
            );
        }
    }
    assert!(compared >= 7, "{compared}");
    assert_eq!(imitation::bytes(0), 0, "device memory is left behind");
}

fn qwen3() -> Random {
    Random::new("Qwen3ForCausalLM", &small())
}

/// What a row does with its state, of a model that has recurrent layers.
fn state(random: &Random, slot: u32, start: StateStart, save: Option<u32>) -> Option<RowState> {
    let recurrent = random.config.recurrent.as_ref();
    recurrent.map(|_| RowState { slot, start, save })
}

/// A sequence's part in a step: its number, its first token, their count, the slot, how that begins, where it is saved.
type Part = (usize, usize, usize, u32, StateStart, Option<u32>);

/// States of sequences side by side, in parts, saved and gone on from: the logits of the CPU, for whole sequences.
#[test]
fn states_are_those_of_their_sequences() {
    let _alone = alone();
    for (name, random) in families_of_one_gpu(&small()) {
        if random.config.recurrent.is_none() {
            continue;
        }
        let token = |at: usize, salt: usize| ((at * 31 + salt * 17 + at * at * salt) % 131) as u32;
        // Two that begin with the same block, and one of its own.
        let first: Vec<u32> = (0..40).map(|at| token(at, 1)).collect();
        let second = [&first[..BLOCK], &[7, 9, 100, 3, 77]].concat();
        let third: Vec<u32> = (0..21).map(|at| token(at, 5)).collect();
        let sequences = [(first, 0), (second, 8), (third, 16)];
        let copy = StateStart::Copy(5);
        let (zero, go_on) = (StateStart::Zero, StateStart::Continue);
        let steps: [&[Part]; 4] = [
            &[(2, 0, 2, 1, zero, None), (0, 0, BLOCK, 0, zero, Some(5))],
            &[
                (0, BLOCK, 1, 0, go_on, None),
                (1, BLOCK, 3, 3, copy, None),
                (2, 2, 17, 1, go_on, None),
            ],
            &[
                (0, BLOCK + 1, 20, 0, go_on, Some(2)),
                (2, 19, 1, 1, go_on, None),
            ],
            &[
                (1, BLOCK + 3, 2, 3, go_on, None),
                (0, 37, 3, 4, StateStart::Copy(2), None),
                (2, 20, 1, 1, go_on, None),
            ],
        ];
        // In f16, where a small fault shows.
        let mut model = load(&random, &device(0), Precision::all(DType::F16)).unwrap();
        let cpu = random.on_cpu();
        let mut expected = Vec::new();
        for (tokens, _) in &sequences {
            let mut batch = prompt_step(tokens.len());
            batch.tokens.clone_from(tokens);
            batch.logits = (0..tokens.len() as u32).collect();
            batch.rows[0].state = state(&random, 0, zero, None);
            let logits = cpu.forward(&batch, random.cache(40, 1).as_mut()).unwrap();
            expected.push(logits.to_vec2::<f32>().unwrap());
        }
        let mut worst = 0f32;
        for parts in steps {
            let mut batch = StepBatch::default();
            let mut wanted = Vec::new();
            for &(index, from, count, slot, start, save) in parts {
                let (tokens, first_block) = &sequences[index];
                let mut blocks: Vec<u32> = (*first_block..first_block + 4).collect();
                if index == 1 {
                    blocks[0] = 0;
                }
                batch.rows.push(BatchRow {
                    query_start: batch.tokens.len(),
                    query_len: count,
                    context_len: from + count,
                    blocks: blocks.clone(),
                    long: false,
                    state: state(&random, slot, start, save),
                });
                for position in from..from + count {
                    batch.tokens.push(tokens[position]);
                    batch.positions.push(position as u32);
                    let block = blocks[position / BLOCK] as usize;
                    batch.slots.push((block * BLOCK + position % BLOCK) as u32);
                }
                // The last token's, in most steps not all there are.
                batch.logits.push(batch.tokens.len() as u32 - 1);
                wanted.push((index, from + count - 1));
            }
            let logits = model.logits(&batch).unwrap().to_vec2::<f32>().unwrap();
            for (row, (index, at)) in logits.iter().zip(wanted) {
                for (ours, theirs) in row.iter().zip(&expected[index][at]) {
                    worst = worst.max((ours - theirs).abs());
                }
            }
        }
        println!("{name}: logits {worst:.3}");
        assert!(worst < 0.04, "{name}: logits {worst}");
    }
    assert_eq!(imitation::bytes(0), 0, "device memory is left behind");
}

/// One by one, together, in chunks, from a snapshot at the end of a pinned prefix, and after preemption: the same tokens.
#[test]
fn states_and_windows_in_every_schedule() {
    let _alone = alone();
    let newer = families_with_parts_of_their_own(&small()).into_iter();
    let newer = newer.map(|(name, _, random)| (name, random));
    for (name, random) in newer.chain(families_of_one_gpu(&small())) {
        if !["Qwen3.5", "Gemma 4"].contains(&name) {
            continue;
        }
        let plain = config(random.config.max_positions);
        let shared = prompts(random.config.vocab)[0][..2 * BLOCK].to_vec();
        let run = |config: &EngineConfig| {
            let precision = Precision::all(DType::F16);
            let devices = [device(0)];
            let model = load_model(&random.config, &random.weights, &devices, precision, false);
            let model = model.unwrap().with_cache(config, true).unwrap();
            // Blocks behind a window are given back, so there are fewer of them.
            let windowed = model.properties().windowed;
            assert_eq!(windowed.is_some(), name == "Gemma 4");
            assert!(windowed.is_none_or(|cache| cache.window == 40 && cache.blocks < 40));
            generate_with(model, &random, config).unwrap()
        };
        let together = run(&plain);
        for (what, config) in [
            (
                "alone",
                EngineConfig {
                    max_sequences: 1,
                    ..plain.clone()
                },
            ),
            (
                "chunks of 7",
                EngineConfig {
                    max_prefill_chunk: 7,
                    ..plain.clone()
                },
            ),
            (
                "pinned",
                EngineConfig {
                    pinned_prefix: shared,
                    ..plain.clone()
                },
            ),
            (
                "a small cache",
                EngineConfig {
                    blocks: 13,
                    ..plain.clone()
                },
            ),
        ] {
            for (ours, theirs) in run(&config).iter().zip(&together) {
                ours.check_same(theirs, &format!("{name}, {what}"));
            }
        }
    }
}

/// What has no states of its own on a GPU is refused by name.
#[test]
fn recurrent_layers_are_refused_where_nothing_computes_them() {
    let _alone = alone();
    let refused = |random: &Random, devices: &[Device], plain| {
        let precision = Precision::all(DType::BF16);
        let loaded = load_model(&random.config, &random.weights, devices, precision, plain);
        loaded.err().unwrap().to_string()
    };
    for (name, random) in families_of_one_gpu(&small()) {
        if random.config.recurrent.is_none() {
            continue;
        }
        let two = refused(&random, &[device(0), device(1)], false);
        assert!(
            two.contains("--tensor-parallel 2") && two.contains("not divided among GPUs"),
            "{name}: {two}"
        );
        let plain = refused(&random, &[device(0)], true);
        assert!(
            plain.contains("by our CUDA kernels alone") && plain.contains("--device cpu"),
            "{name}: {plain}"
        );
    }
    let mut sizes = small();
    for (key, size) in [
        ("full_attention_interval", 2),
        ("linear_conv_kernel_dim", 4),
        ("linear_num_key_heads", 2),
        ("linear_num_value_heads", 4),
        ("linear_key_head_dim", 48),
        ("linear_value_head_dim", 64),
    ] {
        sizes[key] = json!(size);
    }
    let odd = Random::new("Qwen3_5ForCausalLM", &sizes);
    let odd = refused(&odd, &[device(0)], false);
    assert!(odd.contains("linear_key_head_dim of 48"), "{odd}");
}

/// Whatever else was asked for needs the kernels, and is not at fault.
#[test]
fn the_option_that_the_kernels_do_not_take_is_named() {
    let _alone = alone();
    let refused = |random: &Random, count, precision| {
        let devices: Vec<Device> = (0..count).map(device).collect();
        let loaded = load_model(&random.config, &random.weights, &devices, precision, false);
        loaded.err().unwrap().to_string()
    };
    let fp8 = Precision {
        kv: DType::F8E4M3,
        ..Precision::all(DType::BF16)
    };
    let both = Precision {
        weights: WeightType::F8E4M3,
        ..fp8
    };
    let named = |name: &str| {
        let newer = families_with_parts_of_their_own(&small()).into_iter();
        let newer = newer.map(|(name, _, random)| (name, random));
        let mut all = newer.chain(families_of_one_gpu(&small()));
        all.find(|(found, _)| *found == name).unwrap().1
    };
    let gemma = refused(&named("Gemma 4"), 1, both);
    assert!(
        gemma.contains("in FP8)") && gemma.ends_with("leave out --kv-dtype fp8"),
        "{gemma}"
    );
    // Heads of 32.
    let two = refused(&qwen3(), 2, fp8);
    assert!(
        two.starts_with("--tensor-parallel 2 needs") && two.ends_with("leave out --kv-dtype fp8"),
        "{two}"
    );
    let recurrent = refused(&named("Qwen3.5"), 1, Precision::F32);
    assert!(
        recurrent.ends_with("leave out --dtype, or run it with --device cpu"),
        "{recurrent}"
    );
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

/// Steps of all lengths, with weights in bf16 and in FP8, where the library takes scales by row and where it does not.
#[test]
fn no_step_chooses_an_algorithm() {
    let _alone = alone();
    let fp8 = Precision {
        weights: WeightType::F8E4M3,
        ..Precision::all(DType::BF16)
    };
    let all = families(&small()).into_iter();
    for (name, random) in all.chain(families_of_one_gpu(&small())) {
        for (precision, scales) in [(Precision::all(DType::BF16), 1), (fp8, 1), (fp8, 0)] {
            imitation::set(&format!("compute=0 scales={scales}"));
            let loaded = load_model(
                &random.config,
                &random.weights,
                &[device(0)],
                precision,
                false,
            );
            let sizes = EngineConfig {
                token_budget: 640,
                ..config(random.config.max_positions)
            };
            let mut model = loaded.unwrap().with_cache(&sizes, true).unwrap();
            let before = imitation::count("choice of an algorithm");
            for count in [1, 16, 17, 511, 512, 513, 577, 640] {
                let mut batch = prompt_step(count);
                batch.rows[0].state = state(&random, 0, StateStart::Zero, None);
                model.logits(&batch).unwrap();
            }
            let chosen = imitation::count("choice of an algorithm") - before;
            assert_eq!(chosen, 0, "{name}, {precision:?}, scales by row: {scales}");
            imitation::set("compute=1 scales=1");
        }
    }
}

/// FP8 is coarse, so this says only that scales are applied, once and to the right rows, in both ways; of weights that are
/// quantised here, and of those that a checkpoint stores so.
#[test]
fn fp8_weights_with_scales_in_the_product_and_after_it() {
    let _alone = alone();
    let [_, (_, by_outputs), _] = few_bits();
    let stored = |family: &str, mut sizes: Value| {
        sizes["quantization_config"] = by_outputs["quantization_config"].clone();
        Random::new(family, &sizes)
    };
    let mut mixture = small();
    for (key, count) in [
        ("num_experts", 4),
        ("num_experts_per_tok", 2),
        ("moe_intermediate_size", 64),
    ] {
        mixture[key] = json!(count);
    }
    let fp8 = Precision {
        weights: WeightType::F8E4M3,
        ..Precision::all(DType::BF16)
    };
    for (name, random) in [
        ("quantised", qwen3()),
        ("as stored", stored("Qwen3ForCausalLM", small())),
        ("experts as stored", stored("Qwen3MoeForCausalLM", mixture)),
    ] {
        for scales in [1, 0] {
            imitation::set(&format!("scales={scales}"));
            let generated = generate(load(&random, &device(0), fp8).unwrap(), &random).unwrap();
            imitation::set("scales=1");
            let [logit, odds, _] = distance(&random, &generated);
            println!("{name}, scales by row: {scales}: logits {logit:.3}, odds {odds:.3}");
            assert!(
                logit < 0.6 && odds < 0.1,
                "{name}, scales by row: {scales}: logits {logit}, odds {odds}"
            );
        }
    }
}

/// What single families have of their own, under weights and products in FP8, and where it cannot be: keys and values in FP8.
#[test]
fn families_with_parts_of_their_own_in_fp8() {
    let _alone = alone();
    for (name, _, random) in families_with_parts_of_their_own(&small()) {
        let fp8 = Precision {
            weights: WeightType::F8E4M3,
            ..Precision::all(DType::BF16)
        };
        let generated = generate(load(&random, &device(0), fp8).unwrap(), &random).unwrap();
        let [logit, odds, _] = distance(&random, &generated);
        println!("{name}, weights in FP8: logits {logit:.3}, odds {odds:.3}");
        let (most, far) = if name.contains("MoE") {
            (1.5, 0.2)
        } else {
            (0.6, 0.1)
        };
        assert!(
            logit < most && odds < far,
            "{name}: logits {logit}, odds {odds}"
        );
        let cache = Precision {
            kv: DType::F8E4M3,
            ..Precision::all(DType::BF16)
        };
        let unbounded = ["EXAONE", "OLMo", "MiniMax", "Gemma 4"];
        let unbounded = unbounded.iter().any(|family| name.contains(family));
        match load_model(&random.config, &random.weights, &[device(0)], cache, false) {
            Ok(_) => assert!(!unbounded, "{name}"),
            Err(error) => {
                // Heads of 32 are too narrow for it in any case.
                let why = if unbounded {
                    "keys and values of"
                } else {
                    "heads of 32 in a cache in FP8"
                };
                assert!(error.to_string().contains(why), "{name}: {error}");
            }
        }
    }
}

/// Allows only tokens whose remainder follows that of the last one, so that a mask of another place or row would be seen.
struct Remainders;

impl Remainders {
    fn after(token: u32) -> Next {
        let allowed: TokenSet = (0..131)
            .filter(|next| next % 5 == (token + 1) % 5)
            .collect();
        Next {
            append: Vec::new(),
            then: Then::OneOf {
                tokens: Arc::new(allowed.into()),
                choices: None,
            },
        }
    }
}

impl Guide for Remainders {
    fn begin(&mut self) -> Next {
        Self::after(0)
    }

    fn push(&mut self, token: u32) -> Next {
        Self::after(token)
    }
}

/// Masks that depend on the token before, told while the step computes; other rows are free.
#[test]
fn masks_are_those_of_their_place() {
    let _alone = alone();
    let random = qwen3();
    let model = load(&random, &device(0), Precision::all(DType::BF16)).unwrap();
    let mut engine = Engine::new(model, &config(random.config.max_positions)).unwrap();
    for request in requests(random.config.vocab) {
        engine.add(Request {
            guide: (request.id % 2 == 0).then(|| Box::new(Remainders) as Box<dyn Guide>),
            ..request
        });
    }
    let mut masked = 0;
    while engine.has_work() {
        for completion in engine.step().unwrap() {
            assert_eq!(completion.tokens.len(), NEW_TOKENS);
            if completion.id % 2 == 0 {
                let remainders: Vec<u32> =
                    completion.tokens.iter().map(|token| token % 5).collect();
                assert_eq!(remainders, [1, 2, 3, 4, 0, 1]);
                masked += 1;
            }
        }
    }
    assert_eq!(masked, 3);
    assert_eq!(engine.stats().discarded_tokens, 0);
}

/// Weights that stay in FP8 or four bits are the same numbers as on the CPU, in less memory.
#[test]
fn weights_as_the_checkpoint_stores_them() {
    let _alone = alone();
    let mut cases = Vec::new();
    for family in ["Qwen3ForCausalLM", "Glm4ForCausalLM", "Qwen3MoeForCausalLM"] {
        cases.extend(few_bits().map(|(stored, quantization)| (family, stored, quantization)));
    }
    for (family, stored, quantization) in cases {
        let name = format!("{family}, {stored}");
        let mut sizes = small();
        sizes["quantization_config"] = quantization["quantization_config"].clone();
        sizes["num_hidden_layers"] = json!(4);
        if family.contains("Moe") {
            sizes["num_experts"] = json!(4);
            sizes["num_experts_per_tok"] = json!(2);
            sizes["moe_intermediate_size"] = json!(64);
        }
        let random = Random::new(family, &sizes);
        let loaded = |quantize| {
            let choice = PrecisionChoice {
                quantize,
                ..PrecisionChoice::default()
            };
            let precision = choice.resolve(&device(0), &random.weights).unwrap();
            let before = imitation::bytes(0);
            let (config, weights) = (&random.config, &random.weights);
            let model = load_model(config, weights, &[device(0)], precision, false).unwrap();
            (model, imitation::bytes(0) - before, precision)
        };
        let (_, wide, _) = loaded(None);
        let (model, narrow, precision) = loaded(Some(Quantization::Stored));
        assert!(narrow < wide, "{name}: {narrow} bytes instead of {wide}");
        let sizes = EngineConfig {
            token_budget: 640,
            ..config(random.config.max_positions)
        };
        // So many rows that weights are widened; tiles of 64 rows on eight multiprocessors; then few.
        let mut model = model.with_cache(&sizes, true).unwrap();
        let worst = [456, 180].map(|rows| {
            let batch = prompt_step(rows);
            let ours = model.logits(&batch).unwrap();
            let shape = AttentionShape::from(&random.config);
            let mut cache = reference::reference(shape, 40, BLOCK, DType::F32);
            let theirs = random.on_cpu().forward(&batch, cache.as_mut()).unwrap();
            let apart = (ours - theirs).unwrap().abs().unwrap();
            let worst = apart.flatten_all().unwrap().max(0).unwrap();
            worst.to_scalar::<f32>().unwrap()
        });
        let worst = worst[0].max(worst[1]);
        let generated = generate(load(&random, &device(0), precision).unwrap(), &random).unwrap();
        let [logit, odds, _] = distance(&random, &generated);
        println!(
            "{name}: {narrow} bytes instead of {wide}; logits {worst:.3} and {logit:.3}, odds {odds:.3}"
        );
        assert!(
            worst < 0.15 && logit < 0.15 && odds < 0.05,
            "{name}: logits {worst} and {logit}, odds {odds}"
        );
    }
    for weights in ["int4", "scaled_e4m3"] {
        let kernel = format!("moe_gemm_{weights}_tile64_bf16");
        assert!(imitation::count(&kernel) > 0, "{kernel}");
    }
}

/// What docs/decisions/cuda.md and the kernels' comments say of a step's launches.
#[test]
fn a_layer_is_eleven_launches_with_a_shared_prefix() {
    let _alone = alone();
    let step = |layers: usize| {
        let mut sizes = small();
        sizes["num_hidden_layers"] = json!(layers);
        let random = Random::new("Qwen3ForCausalLM", &sizes);
        let mut model = load(&random, &device(0), Precision::all(DType::BF16)).unwrap();
        // A prompt's chunk, and three sequences that share eight blocks, each with a token.
        let mut batch = StepBatch::default();
        for row in 0..4u32 {
            let (first, length) = if row == 0 { (0, 40) } else { (128 + row, 1) };
            let blocks: Vec<u32> = if row == 0 {
                vec![20, 21, 22]
            } else {
                (0..8).chain([9 + row]).collect()
            };
            batch.rows.push(BatchRow {
                query_start: batch.tokens.len(),
                query_len: length,
                context_len: first as usize + length,
                blocks: blocks.clone(),
                long: false,
                state: None,
            });
            for position in first..first + length as u32 {
                batch.tokens.push(1);
                batch.positions.push(position);
                let block = blocks[position as usize / BLOCK] as usize;
                batch
                    .slots
                    .push((block * BLOCK + position as usize % BLOCK) as u32);
            }
            batch.logits.push(batch.tokens.len() as u32 - 1);
        }
        let before = imitation::count("launch");
        model.logits(&batch).unwrap();
        imitation::count("launch") - before
    };
    let (two, three) = (step(2), step(3));
    assert_eq!(three - two, 11);
}

#[test]
fn products_bind_the_context_themselves() {
    let _alone = alone();
    let device = device(0);
    let cuda = device.as_cuda_device().unwrap().clone();
    let ones = |rows| Tensor::ones((rows, 64), DType::BF16, &device).unwrap();
    let (weight, x, out) = (ones(64), ones(16), ones(16));
    let mut gemm = Gemm::new(&cuda).unwrap();
    // This thread has not called the driver yet.
    let handed = std::thread::spawn(move || {
        let weight = Weight::plain(&weight, None).unwrap();
        let (x, target) = (
            Array::from_tensor(&x).unwrap(),
            Array::from_tensor(&out).unwrap(),
        );
        let rows = Rows {
            values: x.all(),
            scales: None,
            count: 3,
        };
        gemm.multiply(rows, &weight, target.all()).unwrap();
        out
    });
    let out = handed.join().unwrap().to_dtype(DType::F32).unwrap();
    let out = out.to_device(&Device::Cpu).unwrap();
    assert_eq!(
        format!("{:?}", out.to_vec2::<f32>().unwrap()[2][63]),
        "64.0"
    );
}

#[test]
fn products_refuse_operands_that_begin_anywhere() {
    let _alone = alone();
    let device = device(0);
    let cuda = device.as_cuda_device().unwrap();
    let weight = Tensor::ones((64, 64), DType::BF16, &device).unwrap();
    let x = Array::zeros(cuda, 17 * 64, DType::BF16, "x").unwrap();
    let out = Array::zeros(cuda, 16 * 64, DType::BF16, "out").unwrap();
    let weight = Weight::plain(&weight, None).unwrap();
    let rows = Rows {
        values: x.part(8..8 + 16 * 64).unwrap(),
        scales: None,
        count: 16,
    };
    let refusal = Gemm::new(cuda)
        .unwrap()
        .multiply(rows, &weight, out.all())
        .unwrap_err();
    assert!(
        refusal.to_string().contains("a multiple of 256"),
        "{refusal}"
    );
}

/// Text for an error is made when there is one. What a launch allocates is its list of arguments, in our form and cudarc's.
#[test]
fn a_launch_makes_no_text() {
    let _alone = alone();
    let device = device(0);
    let cuda = device.as_cuda_device().unwrap();
    let operations = Operations::on(cuda, DType::BF16).unwrap();
    let mut products = Products::new(cuda).unwrap();
    let array = |elements| Array::zeros(cuda, elements, DType::BF16, "numbers").unwrap();
    let (x, out) = (array(16 * 64), array(16 * 64));
    let norm = Array::zeros(cuda, 64, DType::F32, "numbers").unwrap();
    let weight = Tensor::ones((64, 64), DType::BF16, &device).unwrap();
    let mut weight = Weight::plain(&weight, None).unwrap();
    let prepared = products.prepare(cuda, &mut weight, DType::BF16, 1..=16);
    prepared.unwrap();
    imitation::set("compute=0");
    let allocations = |run: &mut dyn FnMut()| {
        run();
        let before = HOST_ALLOCATIONS.with(Cell::get);
        (0..100).for_each(|_| run());
        (HOST_ALLOCATIONS.with(Cell::get) - before) / 100
    };
    let launch = allocations(&mut || {
        let target = Target::Plain(out.all());
        operations
            .rms_norm(target, x.all(), Some(norm.all()), (16, 64), 1e-6)
            .unwrap();
    });
    let product = allocations(&mut || {
        products
            .multiply(&operations, Target::Plain(x.all()), &weight, out.all(), 16)
            .unwrap();
    });
    imitation::set("compute=1");
    println!("{launch} allocations a launch");
    assert!(launch <= 4, "{launch} allocations a launch");
    assert_eq!(product, 0, "allocations a product");
}

/// Each allocation in turn is refused: the model is not loaded and says why, or it goes on with less and gives the same
/// tokens. Nothing stays behind.
#[test]
fn out_of_memory_at_every_allocation() {
    let _alone = alone();
    let mut sizes = small();
    sizes["num_hidden_layers"] = json!(1);
    let random = Random::new("Qwen3ForCausalLM", &sizes);
    let run = || -> Result<Vec<Generated>, String> {
        let device = DeviceChoice::Cuda(0)
            .open()
            .map_err(|error| error.to_string())?;
        let model = load(&random, &device, Precision::all(DType::BF16))
            .map_err(|error| error.to_string())?;
        generate(model, &random)
    };
    let expected = run().unwrap();
    let (mut refused, mut survived) = (0, 0);
    for number in 1.. {
        imitation::set(&format!("fail={number}"));
        let came = run();
        let asked = imitation::count("allocation");
        imitation::set("fail=0");
        assert_eq!(
            imitation::bytes(0),
            0,
            "allocation {number} refused: memory is left behind"
        );
        if asked < number {
            break;
        }
        match came {
            Ok(tokens) => {
                assert_eq!(tokens.len(), expected.len());
                for (ours, expected) in tokens.iter().zip(&expected) {
                    ours.check_same(expected, &format!("allocation {number} refused"));
                }
                survived += 1;
            }
            Err(message) => {
                assert!(
                    message.contains("out of memory"),
                    "allocation {number} refused: {message}"
                );
                refused += 1;
            }
        }
    }
    println!("{refused} runs ended with a message, {survived} went on");
    assert!(refused > 20 && survived >= 2, "{refused}, {survived}");
}

#[test]
fn several_devices_work_side_by_side() {
    let _alone = alone();
    let random = qwen3();
    let run = |ordinal| {
        generate(
            load(&random, &device(ordinal), Precision::all(DType::F16)).unwrap(),
            &random,
        )
    };
    let expected = run(0).unwrap();
    std::thread::scope(|scope| {
        let both = [0, 1].map(|ordinal| scope.spawn(move || run(ordinal).unwrap()));
        for (ordinal, handle) in both.into_iter().enumerate() {
            assert_eq!(handle.join().unwrap(), expected, "device {ordinal}");
        }
    });
    assert_eq!([imitation::bytes(0), imitation::bytes(1)], [0, 0]);
}
