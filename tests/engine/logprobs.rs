//! Log-probabilities are those of the token beside them, by the whole vocabulary, however they were computed.

use candle_core::DType;
use juror_engine::engine::{Completion, Drafts, Engine, EngineConfig, Request, Sampling};
use juror_engine::model::attention::AttentionShape;
use juror_engine::model::{BatchRow, Decoder, StepBatch};
use juror_judge::judge::build::PagedDecoder;
use proptest::prelude::*;

use crate::lag::{Lagging, mixed_requests, run_requests, tiny, tiny_config, tiny_requests};
use crate::reader::{
    EOS, Scripted, config, expected_guided, logits_after, prompts, reader, request, run,
};
use crate::reference::reference;

/// Log-softmax, as plainly as it can be written.
fn log_softmax(logits: &[f32]) -> Vec<f64> {
    let total: f64 = logits.iter().map(|&logit| f64::from(logit).exp()).sum();
    logits
        .iter()
        .map(|&logit| f64::from(logit) - total.ln())
        .collect()
}

/// Asserts that a completion's log-probabilities of `count` tokens are those of the logits after each token's context;
/// `chosen` says which tokens have any.
fn check(
    completion: &Completion,
    count: usize,
    within: f64,
    chosen: impl Fn(usize) -> bool,
    logits_after: impl Fn(usize) -> Vec<f32>,
) {
    assert_eq!(completion.logprobs.len(), completion.tokens.len());
    for (at, logprobs) in completion.logprobs.iter().enumerate() {
        assert_eq!(logprobs.is_some(), chosen(at), "token {at}");
        let Some(logprobs) = logprobs else { continue };
        let expected = log_softmax(&logits_after(at));
        let mut best: Vec<f64> = expected.clone();
        best.sort_by(|a, b| b.total_cmp(a));
        let near = |ours: f32, expected: f64| (f64::from(ours) - expected).abs() < within;
        let token = completion.tokens[at];
        assert!(
            near(logprobs.logprob, expected[token as usize]),
            "token {at}: {logprobs:?}"
        );
        assert_eq!(logprobs.top.len(), count);
        for (place, &(token, logprob)) in logprobs.top.iter().enumerate() {
            // Neighbours that are nearly equally likely may have changed places.
            assert!(
                near(logprob, expected[token as usize]),
                "token {at}: {logprobs:?}"
            );
            assert!(near(logprob, best[place]), "token {at}: {logprobs:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]
    #[test]
    fn they_are_those_of_their_tokens_under_a_guide_that_masks_and_appends(
        count in 1..24usize, shared in 0..40usize, spare in 0..60usize, block_size in 1..9usize,
        max_sequences in 1..24usize, token_budget in 1..80usize, max_prefill_chunk in 1..60usize, prefix_cache: bool, drafts in 0..6usize,
        seed: u64, lag: Option<bool>,
    ) {
        let config = EngineConfig {
            // From barely enough for one sequence up.
            blocks: (shared + 44).div_ceil(block_size) + spare,
            least_blocks: 1, block_size, max_sequences, token_budget, max_prefill_chunk, context_length: 200,
            prefix_cache, pinned_prefix: Vec::new(), drafts: Drafts::Most(drafts),
        };
        let mut engine = match lag {
            None => Engine::new(Box::new(reader(block_size)), &config).unwrap(),
            Some(late) => Engine::new(Box::new(Lagging::new(reader(block_size), late)), &config).unwrap(),
        };
        let guide = |id: usize| Scripted::new(seed.wrapping_add(id as u64));
        let asks = |id: usize| (id % 3 < 2).then_some(id % 7);
        let prompts = prompts(count, shared);
        for (id, prompt) in prompts.iter().enumerate() {
            engine.add(Request {
                guide: Some(Box::new(guide(id))),
                logprobs: asks(id),
                ..request(id as u64, prompt.clone(), 20, Sampling::GREEDY)
            });
        }
        for (id, completion) in run(&mut engine).iter().enumerate() {
            let Some(count) = asks(id) else {
                prop_assert_eq!(&completion.logprobs, &[]);
                continue;
            };
            let expected = expected_guided(&prompts[id], 20, guide(id));
            let context = |at: usize| [&prompts[id], &completion.tokens[..at]].concat();
            check(completion, count, 1e-5, |at| expected[at].1, |at| logits_after(&context(at), false));
        }
    }
}

/// Sampled tokens too, and the end-of-sequence token that ends a completion.
#[test]
fn they_are_before_the_temperature_and_the_truncations() {
    for blocks in [30, 2000] {
        let mut engine =
            Engine::new(Box::new(Lagging::new(reader(4), true)), &config(blocks)).unwrap();
        let requests = mixed_requests(64, 12, 40);
        let asked: Vec<_> = requests
            .iter()
            .map(|request| (request.logprobs, request.guide.is_none()))
            .collect();
        let completions = run_requests(&mut engine, requests, 7);
        assert_eq!(engine.stats().preemptions > 0, blocks == 30);
        let mut ends = 0;
        for (completion, asked) in completions.iter().zip(asked) {
            if let (Some(count), true) = asked {
                ends += usize::from(completion.tokens.last() == Some(&EOS));
                let context = |at: usize| [&completion.prompt, &completion.tokens[..at]].concat();
                check(
                    completion,
                    count,
                    1e-5,
                    |_| true,
                    |at| logits_after(&context(at), false),
                );
            }
        }
        assert!(
            ends > 3,
            "{ends} completions were meant to end by themselves"
        );
    }
}

/// The logits behind each of the last `count` tokens of `tokens`, by the decoder alone.
fn logits_by_decoder(decoder: &Decoder, tokens: &[u32], count: usize) -> Vec<Vec<f32>> {
    let n = tokens.len();
    let blocks = n.div_ceil(16);
    let shape = AttentionShape::from(decoder.config());
    let mut cache = reference(shape, blocks, 16, DType::F32);
    let batch = StepBatch {
        tokens: tokens.to_vec(),
        positions: (0..n as u32).collect(),
        slots: (0..n as u32).collect(),
        logits: ((n - count) as u32..n as u32).collect(),
        rows: vec![BatchRow {
            query_start: 0,
            query_len: n,
            context_len: n,
            blocks: (0..blocks as u32).collect(),
            long: false,
            state: None,
        }],
        ..StepBatch::default()
    };
    let logits = decoder.forward(&batch, cache.as_mut()).unwrap();
    logits.to_vec2().unwrap()
}

#[test]
fn those_of_the_built_in_judge_are_its_decoders() {
    let (alone, ..) = tiny(0);
    for (lag, blocks) in [(false, 100), (true, 20)] {
        let (decoder, vocab, build) = tiny(blocks);
        let model = PagedDecoder::with_cache(decoder, blocks, blocks, build).unwrap();
        let config = EngineConfig {
            max_prefill_chunk: 9,
            ..tiny_config(blocks)
        };
        let mut engine = if lag {
            Engine::new(Box::new(Lagging::new(model, true)), &config).unwrap()
        } else {
            Engine::new(Box::new(model), &config).unwrap()
        };
        let asked: Vec<_> = tiny_requests(vocab)
            .iter()
            .map(|request| request.logprobs)
            .collect();
        let completions = run_requests(&mut engine, tiny_requests(vocab), 5);
        assert_eq!(engine.stats().preemptions > 0, lag);
        for (completion, asked) in completions.iter().zip(asked) {
            let Some(count) = asked else {
                assert_eq!(completion.logprobs, []);
                continue;
            };
            let tokens = completion.tokens.len();
            let all = [&completion.prompt, &completion.tokens[..tokens - 1]].concat();
            let logits = logits_by_decoder(&alone, &all, tokens);
            check(completion, count, 1e-3, |_| true, |at| logits[at].clone());
        }
    }
}

#[test]
fn asking_for_them_changes_no_token() {
    let run = |asks: bool| {
        let (decoder, vocab, build) = tiny(40);
        let model = PagedDecoder::with_cache(decoder, 40, 40, build).unwrap();
        let mut engine = Engine::new(Box::new(model), &tiny_config(40)).unwrap();
        let mut requests = tiny_requests(vocab);
        for request in &mut requests {
            request.logprobs = asks.then_some(20);
        }
        let completions = run_requests(&mut engine, requests, 5);
        assert!(
            completions
                .iter()
                .all(|completion| completion.logprobs.is_empty() != asks)
        );
        completions
            .into_iter()
            .map(|completion| completion.tokens)
            .collect::<Vec<_>>()
    };
    assert_eq!(run(true), run(false));
}
