//! The CUDA device against the CPU: golden logits, attention, the engine however it is set up, verdicts.
//!
//! Compiled with the feature `cuda` alone, and every test needs a GPU; `scripts/test_gpu.sh` runs them. What can be equal
//! to the bit on the CPU is here equal within a stated tolerance: cuBLAS adds in an order that depends on the number of
//! rows. Lines that begin with `measured` are for the report.

#![cfg(feature = "cuda")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod paged;

#[path = "cuda/attention.rs"]
mod cuda_attention;
#[path = "cuda/fast.rs"]
mod fast;
#[path = "cuda/kernels.rs"]
mod kernels;
#[path = "cuda/random_model.rs"]
mod random_model;
#[path = "cuda/sinks.rs"]
mod sinks;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use candle_core::{DType, Device, Tensor};
use cuda_attention::CudaAttention;
use juror::checkpoint::{ModelConfig, ModelSource, Weights};
use juror::dataset::{LoadOptions, load};
use juror::engine::{Engine, EngineConfig, RandomKey, Request, Sampling, Stats, StepModel};
use juror::judge::build::PagedDecoder;
use juror::judge::{
    DeviceEngine, EngineOptions, JudgeError, JudgeText, RulesMode, RunOptions, Sink,
    WorkloadLengths, build_engine, jobs, run,
};
use juror::model::attention::{self, Attention, AttentionKind, AttentionShape};
use juror::model::{Decoder, DeviceChoice, Precision};
use juror::protocol::{self, PromptTemplate};
use juror::reward::RewardPolicy;
use juror::rules::OutcomeRules;
use juror::verdict::{Status, Verdict};
use paged::{Blocks, step};

const BLOCK: usize = 4;
const CHECKPOINTS: [&str; 2] = ["qwen3-tied", "qwen3-untied"];
/// Of the other families, those without experts: rounding may choose others.
const FAMILIES: [&str; 6] = ["qwen2", "llama", "mistral", "phi3-longrope", "glm", "glm4"];

/// What a precision may cost.
struct Tolerance {
    dtype: DType,
    /// A logit may differ from the golden one by this, and all of them on average by a tenth of it. Logits lie between −5
    /// and 5. In bf16, Hugging Face transformers on a CPU is up to 0.20 (0.02 on average) away from the same goldens.
    logit: f32,
    /// An output of attention, or a log-sum-exp, may differ by this; values are around 1. In bf16 the same sums on a
    /// CPU are up to 0.012 away from those in f64.
    attention: f32,
    /// Greedy tokens may part where the logits of the two differ by less than this.
    tie: f32,
    /// Share of sequences whose greedy tokens must not part at all.
    same: f64,
}

const F32: Tolerance = Tolerance {
    dtype: DType::F32,
    logit: 5e-4,
    attention: 5e-5,
    tie: 1e-3,
    same: 0.95,
};
const BF16: Tolerance = Tolerance {
    dtype: DType::BF16,
    logit: 0.5,
    attention: 0.03,
    tie: 0.4,
    // Two precisions, or two orders of adding in the rougher one, are expected to part; how often is for the report.
    same: 0.0,
};

fn gpu() -> Device {
    DeviceChoice::Cuda(0).open().unwrap()
}

/// The repository, or a copy of its data on a machine that has no cargo (`scripts/build_cuda.sh`).
fn root() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
}

struct Checkpoint {
    folder: PathBuf,
    config: ModelConfig,
    weights: Weights,
}

impl Checkpoint {
    fn open(name: &str) -> Self {
        let folder = root().join("tests/data/checkpoints").join(name);
        let source = ModelSource::resolve(folder.to_str().unwrap()).unwrap();
        Self {
            config: ModelConfig::load(&source).unwrap(),
            weights: Weights::open(&source).unwrap(),
            folder,
        }
    }

    fn decoder(&self, device: &Device, dtype: DType) -> Decoder {
        Decoder::load(&self.config, &self.weights, device, Precision::all(dtype)).unwrap()
    }

    /// Token ids, and the logits of every position.
    fn golden(&self) -> Vec<(Vec<u32>, Vec<Vec<f32>>)> {
        let file = self.folder.join("golden.safetensors");
        let tensors = candle_core::safetensors::load(file, &Device::Cpu).unwrap();
        (0..tensors.len() / 2)
            .map(|i| {
                let tokens = tensors[&format!("tokens.{i}")]
                    .to_dtype(DType::U32)
                    .unwrap();
                let logits = tensors[&format!("logits.{i}")].to_vec2().unwrap();
                (tokens.to_vec1().unwrap(), logits)
            })
            .collect()
    }
}

/// Largest and mean absolute difference.
#[derive(Default)]
struct Difference {
    worst: f32,
    sum: f64,
    count: usize,
}

impl Difference {
    fn add(&mut self, ours: &[f32], expected: &[f32]) {
        assert_eq!(ours.len(), expected.len());
        for (a, b) in ours.iter().zip(expected) {
            let difference = (a - b).abs();
            // A comparison with NaN is false: say so instead of taking it for small.
            assert!(!difference.is_nan(), "{a} instead of {b}");
            self.worst = self.worst.max(difference);
            self.sum += f64::from(difference);
            self.count += 1;
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
}

fn compare_with_goldens(precision: &Tolerance) {
    let device = gpu();
    for name in CHECKPOINTS.into_iter().chain(FAMILIES) {
        let checkpoint = Checkpoint::open(name);
        let decoder = checkpoint.decoder(&device, precision.dtype);
        let golden = checkpoint.golden();
        let short = checkpoint.config.rope.short_context();
        let shape = AttentionShape::from(&checkpoint.config);
        for (chunk, label) in [
            (usize::MAX, "whole prompts"),
            (7, "chunks of 7"),
            (1, "chunks of 1"),
        ] {
            let mut cache = attention::build(
                AttentionKind::Plain,
                &shape,
                64,
                BLOCK,
                &device,
                precision.dtype,
            )
            .unwrap();
            let mut blocks = Blocks::new(64, BLOCK);
            let mut sequences: Vec<_> = golden
                .iter()
                .map(|(tokens, _)| paged::Sequence {
                    long: short.is_some_and(|short| tokens.len() > short),
                    ..blocks.sequence(tokens)
                })
                .collect();
            let mut difference = Difference::default();
            loop {
                let mut expected = Vec::new();
                let mut parts = Vec::new();
                for (sequence, (_, logits)) in sequences.iter_mut().zip(&golden) {
                    let count = chunk.min(sequence.tokens.len() - sequence.cached);
                    if count > 0 {
                        expected.extend(&logits[sequence.cached..sequence.cached + count]);
                        parts.push((sequence, count));
                    }
                }
                if parts.is_empty() {
                    break;
                }
                let batch = step(&mut parts, BLOCK);
                let logits = decoder.forward(&batch, &mut *cache).unwrap();
                let logits = logits.to_vec2::<f32>().unwrap();
                assert_eq!(logits.len(), expected.len());
                for (ours, golden) in logits.iter().zip(expected) {
                    difference.add(ours, golden);
                }
            }
            let (worst, mean) = (difference.worst, difference.mean());
            println!(
                "measured | golden logits, {name}, {:?}, {label} | worst {worst:.1e}, mean {mean:.1e} | {:.0e}, mean {:.0e}",
                precision.dtype,
                precision.logit,
                precision.logit / 10.0
            );
            assert!(
                worst < precision.logit && mean < f64::from(precision.logit / 10.0),
                "{name}, {:?}, {label}: worst {worst:e}, mean {mean:e}",
                precision.dtype
            );
        }
    }
}

#[test]
fn golden_logits_f32() {
    compare_with_goldens(&F32);
}

#[test]
fn golden_logits_bf16() {
    compare_with_goldens(&BF16);
}

/// Numbers that look random, around 0 with deviation 1, rounded to `dtype`.
fn random(seed: u64, shape: (usize, usize, usize), dtype: DType) -> Tensor {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 40) as f32 / (1u64 << 24) as f32
    };
    let count = shape.0 * shape.1 * shape.2;
    let values: Vec<f32> = (0..count)
        .map(|_| ((0..4).map(|_| uniform()).sum::<f32>() - 2.0) * 3f32.sqrt())
        .collect();
    Tensor::from_vec(values, shape, &Device::Cpu)
        .unwrap()
        .to_dtype(dtype)
        .unwrap()
}

/// Heads, key heads, their width, and tokens of a block.
type Shape = (usize, usize, usize, usize);

/// An implementation of attention on the GPU.
#[derive(Clone, Copy)]
enum Kind {
    /// candle's operations.
    Plain,
    /// Our kernels.
    Kernels { shared_prefix: bool },
}

/// Which attention is compared with the reference.
struct Candidate<'a> {
    name: &'a str,
    kind: Kind,
    /// The type of queries and outputs.
    dtype: DType,
    /// The type of the cache.
    kv: DType,
    allowed: f32,
    shapes: &'a [Shape],
}

fn compare_attention(candidate: &Candidate) {
    let device = gpu();
    for &(heads, kv_heads, head_dim, block_size) in candidate.shapes {
        let shape = AttentionShape {
            layers: 1,
            heads,
            kv_heads,
            head_dim,
        };
        let count = 5000 / block_size + 60;
        let build = |kind, device: &Device, dtype| {
            attention::build(kind, &shape, count, block_size, device, dtype).unwrap()
        };
        let mut reference = build(AttentionKind::Reference, &Device::Cpu, DType::F32);
        let mut ours: Box<dyn Attention> = match candidate.kind {
            Kind::Plain => build(AttentionKind::Plain, &device, candidate.kv),
            Kind::Kernels { shared_prefix } => {
                let cuda = device.as_cuda_device().unwrap();
                let (kv, prefix) = (candidate.kv, shared_prefix);
                let kernels = CudaAttention::new(shape, count, block_size, cuda, kv, prefix);
                Box::new(kernels.unwrap())
            }
        };
        let mut blocks = Blocks::new(count as u32, block_size);
        let mut sequences: Vec<_> = [700, 65, 130, 1, 333]
            .into_iter()
            .map(|length| blocks.sequence(&vec![0; length]))
            .collect();
        // Three more begin with blocks of the first, which are written in the first step.
        let shared = 256 / block_size;
        for own in [40, 90, 20] {
            let mut sequence = paged::Sequence {
                tokens: vec![0; shared * block_size + own],
                cached: shared * block_size,
                blocks: sequences[0].blocks[..shared].to_vec(),
                long: false,
            };
            blocks.grow(&mut sequence);
            sequences.push(sequence);
        }
        let mut difference = Difference::default();
        // Prefill chunks and decode rows side by side.
        let steps: [&[(usize, usize)]; 5] = [
            &[(0, 512), (1, 64), (3, 1)],
            &[(0, 1), (1, 1), (2, 100), (4, 7), (5, 1), (6, 1), (7, 19)],
            &[(0, 100), (2, 1), (4, 1), (5, 39), (6, 70)],
            &[(0, 1), (2, 1), (4, 1), (6, 1), (7, 1)],
            &[(0, 86), (2, 28), (4, 324)],
        ];
        for (seed, taken) in steps.into_iter().enumerate() {
            let mut parts: Vec<_> = sequences
                .iter_mut()
                .enumerate()
                .filter_map(|(index, sequence)| {
                    let (_, count) = taken.iter().find(|(part, _)| *part == index)?;
                    Some((sequence, *count))
                })
                .collect();
            let batch = step(&mut parts, block_size);
            let n = batch.tokens.len();
            let [q, k, v] = [(heads, 1), (kv_heads, 2), (kv_heads, 3)].map(|(heads, kind)| {
                random(
                    seed as u64 * 3 + kind,
                    (n, heads, head_dim),
                    candidate.dtype,
                )
            });
            let wide = |x: &Tensor| x.to_dtype(DType::F32).unwrap();
            let there = |x: &Tensor| x.to_device(&device).unwrap();
            reference.prepare(&batch).unwrap();
            ours.prepare(&batch).unwrap();
            // Keys and values are written again each time. Windows: shorter than a block, between blocks, and one that cuts
            // the longest rows alone.
            for window in [None, Some(1), Some(7), Some(100), Some(300)] {
                let expected = reference
                    .forward(0, window, &wide(&q), &wide(&k), &wide(&v))
                    .unwrap();
                let ours = ours
                    .forward(0, window, &there(&q), &there(&k), &there(&v))
                    .unwrap();
                for (ours, expected) in [(ours.output, expected.output), (ours.lse, expected.lse)] {
                    difference.add(&floats(&ours), &floats(&expected));
                }
            }
        }
        let (worst, mean) = (difference.worst, difference.mean());
        println!(
            "measured | {}, {heads} heads on {kv_heads} of {head_dim}, {:?} | worst {worst:.1e}, mean {mean:.1e} | {:.0e}",
            candidate.name, candidate.kv, candidate.allowed
        );
        assert!(
            worst < candidate.allowed,
            "{}, {shape:?}, {:?}: worst {worst:e}, mean {mean:e}",
            candidate.name,
            candidate.kv
        );
    }
}

/// All numbers of a tensor, wherever it is.
fn floats(x: &Tensor) -> Vec<f32> {
    // To the host first, which converts every type.
    let x = x
        .to_device(&Device::Cpu)
        .unwrap()
        .to_dtype(DType::F32)
        .unwrap();
    x.flatten_all().unwrap().to_vec1().unwrap()
}

fn compare_plain_attention(precision: &Tolerance) {
    compare_attention(&Candidate {
        name: "attention by plain operations",
        kind: Kind::Plain,
        dtype: precision.dtype,
        kv: precision.dtype,
        allowed: precision.attention,
        shapes: &[
            (1, 1, 16, 16),
            (4, 2, 32, 16),
            (8, 2, 64, 32),
            (8, 1, 128, 16),
            (32, 8, 128, 16),
            (6, 3, 24, 5),
            (4, 2, 20, 100),
        ],
    });
}

#[test]
fn plain_attention_equals_the_reference_f32() {
    compare_plain_attention(&F32);
}

#[test]
fn plain_attention_equals_the_reference_bf16() {
    compare_plain_attention(&BF16);
}

fn compare_cuda_attention(dtype: DType, kv: DType, allowed: f32) {
    for (shared_prefix, name) in [
        (true, "attention by our kernels"),
        (false, "attention by our kernels, prefixes not shared"),
    ] {
        compare_attention(&Candidate {
            name,
            kind: Kind::Kernels { shared_prefix },
            dtype,
            kv,
            allowed,
            shapes: &[
                (8, 2, 64, 32),
                (4, 4, 64, 16),
                (8, 1, 128, 16),
                (16, 8, 128, 16),
                (32, 8, 128, 16),
                (12, 4, 128, 64),
            ],
        });
    }
}

#[test]
fn cuda_attention_equals_the_reference_bf16() {
    compare_cuda_attention(DType::BF16, DType::BF16, BF16.attention);
}

#[test]
fn cuda_attention_equals_the_reference_f16() {
    compare_cuda_attention(DType::F16, DType::F16, 0.006);
}

/// e4m3 has 3 bits after the point: keys and values are up to 1/16 off, of which much cancels in the sums.
#[test]
fn cuda_attention_equals_the_reference_fp8() {
    compare_cuda_attention(DType::BF16, DType::F8E4M3, 0.4);
}

const NEW_TOKENS: usize = 40;

/// 64 prompts of 26 to 58 tokens; all share the first 25, every eighth some more.
fn prompts(vocab: usize) -> Vec<Vec<u32>> {
    let token = |at: usize, salt: usize| ((at * 31 + salt * 17 + at * at * salt) % vocab) as u32;
    (0..64)
        .map(|index| {
            let mut prompt: Vec<u32> = (0..25).map(|at| token(at, 1)).collect();
            prompt.extend((0..8).take(index / 8).map(|at| token(at, 2 + index % 8)));
            prompt.extend((0..=index * 7 % 26).map(|at| token(at, 11 + index)));
            prompt
        })
        .collect()
}

fn generate(
    decoder: Decoder,
    kind: AttentionKind,
    dtype: DType,
    config: &EngineConfig,
) -> (Vec<Vec<u32>>, Stats) {
    let shape = AttentionShape::from(decoder.config());
    let device = decoder.device().clone();
    let prompts = prompts(decoder.config().vocab);
    let cache = attention::build(
        kind,
        &shape,
        config.blocks,
        config.block_size,
        &device,
        dtype,
    )
    .unwrap();
    generate_with(Box::new(PagedDecoder::new(decoder, cache)), prompts, config)
}

/// Greedy completions of prompts, in their order.
fn generate_with(
    model: Box<dyn StepModel>,
    prompts: Vec<Vec<u32>>,
    config: &EngineConfig,
) -> (Vec<Vec<u32>>, Stats) {
    let mut engine = Engine::new(model, config).unwrap();
    for (id, prompt) in prompts.into_iter().enumerate() {
        engine.add(Request {
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
            stop: None,
            choices: None,
        });
    }
    let mut completions = Vec::new();
    while engine.has_work() {
        completions.extend(engine.step().unwrap());
    }
    completions.sort_by_key(|completion| completion.id);
    let stats = engine.stats();
    (
        completions
            .into_iter()
            .map(|completion| completion.tokens)
            .collect(),
        stats,
    )
}

/// The logits after a context, on the CPU in f32. `long` as in [`BatchRow::long`](juror::model::BatchRow::long).
fn logits_after(decoder: &Decoder, context: &[u32], long: bool) -> Vec<f32> {
    let shape = AttentionShape::from(decoder.config());
    let count = context.len().div_ceil(BLOCK);
    let mut cache = attention::build(
        AttentionKind::Reference,
        &shape,
        count,
        BLOCK,
        &Device::Cpu,
        DType::F32,
    )
    .unwrap();
    let mut sequence = paged::Sequence {
        long,
        ..Blocks::new(count as u32, BLOCK).sequence(context)
    };
    let mut batch = step(&mut [(&mut sequence, context.len())], BLOCK);
    batch.logits = vec![context.len() as u32 - 1];
    decoder
        .forward(&batch, &mut *cache)
        .unwrap()
        .to_vec2()
        .unwrap()
        .remove(0)
}

/// Asserts that tokens part at near ties alone, and counts the sequences that do not part.
fn same_but_for_ties(
    judge: &Decoder,
    ours: &[Vec<u32>],
    expected: &[Vec<u32>],
    precision: &Tolerance,
    what: &str,
) {
    let prompts = prompts(judge.config().vocab);
    let mut same = 0;
    let mut widest = 0f32;
    for ((prompt, ours), expected) in prompts.iter().zip(ours).zip(expected) {
        assert_eq!(ours.len(), NEW_TOKENS, "{what}");
        let Some(at) = (0..NEW_TOKENS).find(|&at| ours[at] != expected[at]) else {
            same += 1;
            continue;
        };
        let context = [prompt, &expected[..at]].concat();
        let short = judge.config().rope.short_context();
        let long = short.is_some_and(|short| context.len() > short);
        let logits = logits_after(judge, &context, long);
        let tie = (logits[ours[at] as usize] - logits[expected[at] as usize]).abs();
        assert!(
            tie < precision.tie,
            "{what}: after {at} tokens {} instead of {}, whose logits differ by {tie}",
            ours[at],
            expected[at]
        );
        widest = widest.max(tie);
    }
    println!(
        "measured | {what} | {same} of {} the same, others part where logits differ by at most {widest:.1e} | {:.0e}",
        prompts.len(),
        precision.tie
    );
    assert!(
        same as f64 >= precision.same * prompts.len() as f64,
        "{what}: {same} of {} the same",
        prompts.len()
    );
}

fn compare_engines(precision: &Tolerance) {
    let device = gpu();
    for name in CHECKPOINTS {
        let checkpoint = Checkpoint::open(name);
        let judge = checkpoint.decoder(&Device::Cpu, DType::F32);
        let config = EngineConfig {
            blocks: 64 * 25,
            least_blocks: 1,
            block_size: BLOCK,
            max_sequences: 64,
            token_budget: 512,
            max_prefill_chunk: 512,
            context_length: checkpoint.config.max_positions,
            prefix_cache: true,
            pinned_prefix: Vec::new(),
        };
        let on_gpu = |config: &EngineConfig| {
            let decoder = checkpoint.decoder(&device, precision.dtype);
            generate(decoder, AttentionKind::Plain, precision.dtype, config)
        };
        let compare = |ours: &[Vec<u32>], expected: &[Vec<u32>], what: &str| {
            let what = format!("greedy tokens, {name}, {:?}: {what}", precision.dtype);
            same_but_for_ties(&judge, ours, expected, precision, &what);
        };
        let decoder = checkpoint.decoder(&Device::Cpu, DType::F32);
        let (on_cpu, _) = generate(decoder, AttentionKind::Tiled, DType::F32, &config);
        let (together, stats) = on_gpu(&config);
        assert_eq!(stats.most_running, 64, "the batch was meant to hold all 64");
        assert!(
            stats.cached_tokens > 0,
            "the prompts were meant to share a prefix"
        );
        compare(&together, &on_cpu, "64 at once, and the CPU in f32");

        let alone = EngineConfig {
            max_sequences: 1,
            ..config.clone()
        };
        compare(&on_gpu(&alone).0, &together, "one by one, and 64 at once");

        let uncached = EngineConfig {
            prefix_cache: false,
            ..config.clone()
        };
        let (tokens, stats) = on_gpu(&uncached);
        assert_eq!(stats.cached_tokens, 0);
        compare(&tokens, &together, "without prefix cache, and with");

        // Room for a few sequences.
        let cramped = EngineConfig {
            blocks: 100,
            ..config.clone()
        };
        let (tokens, stats) = on_gpu(&cramped);
        assert!(
            stats.preemptions > 0,
            "the pool was meant to be too small: {stats:?}"
        );
        compare(
            &tokens,
            &together,
            "a small KV cache that preempts, and a large one",
        );

        for chunk in [1, 7] {
            let chunked = EngineConfig {
                max_prefill_chunk: chunk,
                ..config.clone()
            };
            let what = format!("prefill in chunks of {chunk}, and of 512");
            compare(&on_gpu(&chunked).0, &together, &what);
        }
    }
}

#[test]
fn greedy_tokens_however_the_engine_is_set_up_f32() {
    compare_engines(&F32);
}

#[test]
fn greedy_tokens_however_the_engine_is_set_up_bf16() {
    compare_engines(&BF16);
}

#[derive(Default)]
struct Keep(Vec<Verdict>);

impl Sink for Keep {
    fn keep(&mut self, verdict: Verdict) -> Result<(), JudgeError> {
        self.0.push(verdict);
        Ok(())
    }

    fn progress(&mut self, _stats: &Stats) {}
}

/// The examples under the built-in judge, as `juror judge --device …` runs it.
fn judge_examples(device: &Device) -> Vec<Verdict> {
    let loaded = load(
        &[root().join("examples/rollouts.jsonl")],
        &LoadOptions::default(),
    )
    .unwrap();
    let source = ModelSource::resolve("tiny").unwrap();
    let protocol = protocol::find("prime").unwrap();
    let template = PromptTemplate::parse(protocol.template_text()).unwrap();
    let text = JudgeText::load(&source, protocol, &template).unwrap();
    let max_new_tokens = text
        .generation
        .max_new_tokens
        .unwrap_or(protocol.max_new_tokens());
    let engine = build_engine(
        &source,
        &text,
        device,
        &EngineOptions::default(),
        &WorkloadLengths::unknown(&text, max_new_tokens),
        Arc::default(),
    )
    .unwrap();
    let options = RunOptions {
        sampling: Sampling::GREEDY,
        max_new_tokens,
        trials: 1,
        seed: 0,
        wants_reason: false,
        raw: false,
        rules: RulesMode::Off,
        outcome_rules: OutcomeRules::default(),
        reward: RewardPolicy::ProcessOutcome,
    };
    let mut kept = Keep::default();
    let go_on = AtomicBool::new(false);
    run(
        loaded.samples.as_slice(),
        &jobs::in_input_order(loaded.samples.as_slice(), 1, |_, _| false),
        &options,
        &text,
        vec![DeviceEngine {
            device: "the device".into(),
            engine,
        }],
        &go_on,
        &mut kept,
    )
    .unwrap();
    kept.0.sort_by_key(|verdict| verdict.index);
    kept.0
}

#[test]
fn examples_get_the_verdicts_of_the_cpu() {
    let essence = |verdicts: Vec<Verdict>| -> Vec<(String, Status, [Option<bool>; 4])> {
        let fields = |v: &Verdict| [v.process, v.outcome, v.perfect, v.overall];
        verdicts
            .into_iter()
            .map(|verdict| {
                let fields = fields(&verdict);
                (verdict.id, verdict.status, fields)
            })
            .collect()
    };
    let (on_cpu, on_gpu) = (
        essence(judge_examples(&Device::Cpu)),
        essence(judge_examples(&gpu())),
    );
    let readable = on_cpu.iter().filter(|verdict| verdict.1 == Status::Ok);
    assert!(
        readable.count() > on_cpu.len() / 2,
        "verdicts that cannot be read say little when compared: {on_cpu:?}"
    );
    let other: Vec<_> = on_cpu.iter().zip(&on_gpu).filter(|(a, b)| a != b).collect();
    println!(
        "measured | verdicts of the examples, bf16 on the GPU and f32 on the CPU | {} of {} the same | all",
        on_cpu.len() - other.len(),
        on_cpu.len()
    );
    assert!(other.is_empty(), "CPU and GPU differ: {other:?}");
}
