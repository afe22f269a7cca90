//! Greedy tokens of whole engines on the GPU: alone, in a batch, without prefix cache, preempted, in chunks.

use std::sync::Arc;

use candle_core::{DType, Device};
use juror_engine::engine::{
    Completion, Drafts, Engine, EngineConfig, RandomKey, Request, Sampling, Stats, StepModel,
};
use juror_engine::model::Decoder;
use juror_engine::model::attention::{self, AttentionKind, AttentionShape};
use juror_judge::judge::build::PagedDecoder;

use super::paged::{Blocks, Sequence, step};
use super::reference::reference;
use super::{BF16, BLOCK, CHECKPOINTS, Checkpoint, F32, Tolerance, gpu};

const NEW_TOKENS: usize = 40;

/// 64 prompts of 26 to 58 tokens; all share the first 25, every eighth some more.
pub(super) fn prompts(vocab: usize) -> Vec<Vec<u32>> {
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
    let (blocks, block_size) = (config.blocks, config.block_size);
    let build = move |blocks| attention::build(kind, &shape, blocks, block_size, &device, dtype);
    let model = PagedDecoder::with_cache(decoder, blocks, blocks, Box::new(build)).unwrap();
    generate_with(Box::new(model), prompts, config)
}

/// Greedy completions of prompts, in their order.
pub(super) fn generate_with(
    model: Box<dyn StepModel>,
    prompts: Vec<Vec<u32>>,
    config: &EngineConfig,
) -> (Vec<Vec<u32>>, Stats) {
    let (completions, stats) = run(model, requests(prompts), config);
    let tokens = completions.into_iter().map(|completion| completion.tokens);
    (tokens.collect(), stats)
}

/// Greedy requests.
pub(super) fn requests(prompts: Vec<Vec<u32>>) -> Vec<Request> {
    let request = |(id, prompt): (usize, Vec<u32>)| Request {
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
    };
    prompts.into_iter().enumerate().map(request).collect()
}

/// Completions of requests, in the order of their ids.
pub(super) fn run(
    model: Box<dyn StepModel>,
    requests: Vec<Request>,
    config: &EngineConfig,
) -> (Vec<Completion>, Stats) {
    let mut engine = Engine::new(model, config).unwrap();
    for request in requests {
        engine.add(request);
    }
    let mut completions = Vec::new();
    while engine.has_work() {
        completions.extend(engine.step().unwrap());
    }
    completions.sort_by_key(|completion| completion.id);
    (completions, engine.stats())
}

/// The logits after a context, on the CPU in f32. `long` as in [`BatchRow::long`](juror_engine::model::BatchRow::long).
pub(super) fn logits_after(decoder: &Decoder, context: &[u32], long: bool) -> Vec<f32> {
    let shape = AttentionShape::from(decoder.config());
    let count = context.len().div_ceil(BLOCK);
    let mut cache = reference(shape, count, BLOCK, DType::F32);
    let mut sequence = Sequence {
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
pub(super) fn same_but_for_ties(
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
            drafts: Drafts::Off,
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
