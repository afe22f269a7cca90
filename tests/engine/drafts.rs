//! Drafts from the prompt change no token, no log-probability and no end: they only save steps.

use std::sync::{Arc, Mutex};

use candle_core::{DType, Device};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::engine::{
    Drafts, Engine, EngineConfig, FinishReason, Request, Sampling, StepObserver, StepReport,
};
use juror_engine::model::attention::{self, AttentionKind, AttentionShape};
use juror_engine::model::precision::WeightType;
use juror_engine::model::{Decoder, Precision};
use juror_judge::judge::build::PagedDecoder;
use proptest::prelude::*;
use serde_json::json;

use crate::lag::{essence, mixed_requests, run_requests, tiny, tiny_config, tiny_requests};
use crate::reader::{After, EOS, VOCAB, config, expected, reader, request, run, template};

/// What each step held.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<Step>>>);

struct Step {
    prefill: usize,
    decode: usize,
    drafted: usize,
    used_blocks: usize,
    generated: usize,
}

impl StepObserver for Steps {
    fn step(&mut self, report: &StepReport) {
        self.0.lock().unwrap().push(Step {
            prefill: report.prefill_tokens,
            decode: report.decode_tokens,
            drafted: report.drafted_tokens,
            used_blocks: report.used_blocks,
            generated: report.generated.len(),
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn completions_are_those_of_an_engine_without_drafts(
        count in 1..40usize, shared in 0..40usize, spare in 0..60usize, block_size in 1..17usize,
        max_sequences in 1..40usize, token_budget in 1..80usize, max_prefill_chunk in 1..60usize,
        prefix_cache: bool, pin: bool, lazy_cache: bool, arrivals in 1..12usize, drafts in prop::option::of(1..9usize),
    ) {
        let config = EngineConfig {
            // From barely enough for one sequence (and the pinned template) up.
            blocks: (shared + 64).div_ceil(block_size) + shared.div_ceil(block_size) + spare,
            least_blocks: 1, block_size, max_sequences, token_budget, max_prefill_chunk, context_length: 4000, prefix_cache,
            pinned_prefix: if pin { template(shared) } else { Vec::new() },
            drafts: Drafts::Off,
        };
        let requests = || mixed_requests(count, shared, 40);
        let mut plain = Engine::new(Box::new(reader(block_size)), &config).unwrap();
        let expected = run_requests(&mut plain, requests(), usize::MAX);
        let mut model = reader(block_size);
        model.lazy_cache = lazy_cache;
        let drafting = EngineConfig { drafts: drafts.map_or(Drafts::Auto, Drafts::Most), ..config.clone() };
        let mut engine = Engine::new(Box::new(model), &drafting).unwrap();
        let steps = Steps::default();
        engine.observe(Box::new(steps.clone()));
        let completions = run_requests(&mut engine, requests(), arrivals);
        prop_assert_eq!(essence(&completions), essence(&expected));
        let stats = engine.stats();
        prop_assert_eq!(stats.generated_tokens, plain.stats().generated_tokens);
        prop_assert_eq!(stats.prompt_tokens, plain.stats().prompt_tokens);
        prop_assert_eq!(stats.prefill_tokens + stats.decode_tokens, stats.computed_tokens);
        prop_assert!(stats.accepted_tokens <= stats.drafted_tokens);
        for step in steps.0.lock().unwrap().iter() {
            prop_assert!(step.prefill + step.decode <= token_budget.max(max_sequences), "the budget is kept");
            prop_assert!(step.prefill == 0 || step.drafted == 0, "no prompt waits for drafts");
        }
        // Every block but the pinned ones can still be had.
        let pinned = if prefix_cache && pin { shared / block_size } else { 0 };
        let all = (config.blocks - pinned) * block_size;
        engine.add(request(1000, vec![EOS; all - 1], 1, Sampling::GREEDY));
        prop_assert_eq!(run(&mut engine)[0].tokens.len(), 1);
    }
}

#[test]
fn an_accepted_draft_saves_a_step_and_takes_no_block() {
    let mut saved = 0;
    for first in 0..VOCAB as u32 {
        let ran = |drafts: Drafts| {
            let config = EngineConfig {
                drafts,
                prefix_cache: false,
                block_size: 16,
                ..config(40)
            };
            let mut engine = Engine::new(Box::new(reader(16)), &config).unwrap();
            let steps = Steps::default();
            engine.observe(Box::new(steps.clone()));
            engine.add(request(
                0,
                vec![first, 5, 6, 1, first],
                150,
                Sampling::GREEDY,
            ));
            let completion = run(&mut engine).remove(0);
            let mut known = 5_usize;
            for step in steps.0.lock().unwrap().iter() {
                assert_eq!(step.used_blocks, known.div_ceil(16));
                known += step.generated;
            }
            (completion.tokens, engine.stats())
        };
        let (expected, plain) = ran(Drafts::Off);
        let (tokens, drafting) = ran(Drafts::Most(3));
        assert_eq!(tokens, expected);
        assert_eq!((plain.drafted_tokens, plain.accepted_tokens), (0, 0));
        assert_eq!(drafting.steps + drafting.accepted_tokens, plain.steps);
        saved += drafting.accepted_tokens;
    }
    assert!(saved > 500, "{saved} drafts accepted");
}

#[test]
fn a_generation_ends_in_the_middle_of_what_is_accepted() {
    let prompt = (0..VOCAB as u32)
        .map(|first| vec![first, 5, 6])
        .find(|prompt| expected(prompt, 100).len() == 100)
        .unwrap();
    let whole = expected(&prompt, 100);
    let most = EngineConfig {
        drafts: Drafts::Most(3),
        block_size: 16,
        ..config(200)
    };
    let (mut saved, mut ends) = (0, 0);
    for length in 1..=whole.len() {
        let mut engine = Engine::new(Box::new(reader(16)), &most).unwrap();
        let steps = Steps::default();
        engine.observe(Box::new(steps.clone()));
        let end = whole[length - 1];
        let asked = |id, new| request(id, prompt.clone(), new, Sampling::GREEDY);
        let requests = [
            (asked(0, length), FinishReason::Length, length),
            (
                Request {
                    guide: Some(Box::new(After(length))),
                    ..asked(1, 150)
                },
                FinishReason::Stop,
                length,
            ),
            (
                Request {
                    eos: [end].into(),
                    ..asked(2, 150)
                },
                FinishReason::EndOfSequence,
                whole.iter().position(|&token| token == end).unwrap() + 1,
            ),
        ];
        for (request, finish, length) in requests {
            engine.add(request);
            let completion = run(&mut engine).remove(0);
            assert_eq!(completion.finish, finish, "{length}");
            assert_eq!(completion.tokens, whole[..length], "{finish:?}");
            let last = steps.0.lock().unwrap().pop().unwrap();
            ends += usize::from(last.generated > 1 && last.generated <= last.drafted);
        }
        saved += engine.stats().accepted_tokens;
    }
    assert!(saved > 100, "{saved} drafts accepted");
    assert!(ends > 20, "{ends} ends with drafts left behind them");
}

#[test]
fn what_drafts_wrote_is_found_by_later_prompts() {
    let cached = |drafts: Drafts| {
        let config = EngineConfig {
            drafts,
            ..config(2000)
        };
        let mut engine = Engine::new(Box::new(reader(4)), &config).unwrap();
        let first = run_requests(&mut engine, mixed_requests(20, 12, 60), 3);
        let follow = first.iter().map(|one| {
            let prompt = [&one.prompt[..], &one.tokens, &[7]].concat();
            request(one.id, prompt, 20, Sampling::GREEDY)
        });
        let second = run_requests(&mut engine, follow.collect(), usize::MAX);
        let found: Vec<usize> = second.iter().map(|one| one.cached_tokens).collect();
        (essence(&second), found)
    };
    assert_eq!(cached(Drafts::Most(3)), cached(Drafts::Off));
}

#[test]
fn the_built_in_judge_says_the_same_bit_by_bit() {
    let run = |drafts: Drafts, blocks: usize| {
        let (decoder, vocab, build) = tiny(blocks);
        let model = PagedDecoder::with_cache(decoder, blocks, blocks, build).unwrap();
        let config = EngineConfig {
            drafts,
            ..tiny_config(blocks)
        };
        let mut engine = Engine::new(Box::new(model), &config).unwrap();
        let mut requests = tiny_requests(vocab);
        for (id, request) in requests.iter_mut().enumerate() {
            // Half of each prompt said twice.
            let said = request.prompt[id % 7..20].to_vec();
            request.prompt.extend(said);
            request.logprobs = Some(3);
        }
        (run_requests(&mut engine, requests, 5), engine.stats())
    };
    let (expected, _) = run(Drafts::Off, 100);
    for (drafts, blocks) in [
        (Drafts::Most(3), 100),
        (Drafts::Most(7), 22),
        (Drafts::Auto, 100),
    ] {
        let (completions, stats) = run(drafts, blocks);
        assert_eq!(essence(&completions), essence(&expected), "{drafts:?}");
        assert!(stats.drafted_tokens > 0 || drafts == Drafts::Auto);
        assert_eq!(stats.preemptions > 0, blocks == 22, "{stats:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn random_models_say_the_same_bit_by_bit(
        family in 0..3usize, seed: u64, eight_bits: bool, temperature in 0..3usize, count in 1..9usize, drafts in 1..6usize,
        blocks in 12..60usize, token_budget in 8..64usize, prefix_cache: bool,
    ) {
        let family = ["Qwen2ForCausalLM", "Qwen3ForCausalLM", "LlamaForCausalLM"][family];
        // A small vocabulary, so that texts repeat themselves.
        let model = json!({
            "architectures": [family], "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 24,
            "max_position_embeddings": 512, "rms_norm_eps": 1e-6, "rope_theta": 1e4, "tie_word_embeddings": true,
            "hidden_act": "silu",
        });
        let model = ModelConfig::parse(&model.to_string(), "config.json").unwrap();
        let weights = if eight_bits { WeightType::Q8_0 } else { WeightType::exact(DType::F32) };
        let run = |drafts: Drafts, blocks: usize| {
            let precision = Precision { weights, ..Precision::F32 };
            let decoder = Decoder::load(&model, &Weights::random(&model, seed), &Device::Cpu, precision).unwrap();
            let shape = AttentionShape::from(&model);
            let build = move |blocks| attention::build(AttentionKind::Tiled, &shape, blocks, 16, &Device::Cpu, DType::F32);
            let paged = PagedDecoder::with_cache(decoder, blocks, blocks, Box::new(build)).unwrap();
            let config = EngineConfig {
                blocks, least_blocks: 1, block_size: 16, max_sequences: 8, token_budget, max_prefill_chunk: 64,
                context_length: 512, prefix_cache, pinned_prefix: Vec::new(), drafts,
            };
            let mut engine = Engine::new(Box::new(paged), &config).unwrap();
            let requests = (0..count as u64).map(|id| Request {
                logprobs: Some(5),
                prompt: (0..30 + id).map(|at| ((at * 7 + at / 17 * id) % 24) as u32).collect(),
                ..request(id, Vec::new(), 60, Sampling { temperature: temperature as f64 / 2.0, ..Sampling::GREEDY })
            });
            (run_requests(&mut engine, requests.collect(), 2), engine.stats())
        };
        let (expected, _) = run(Drafts::Off, 100);
        let (completions, stats) = run(Drafts::Most(drafts), blocks);
        prop_assert_eq!(essence(&completions), essence(&expected));
        prop_assert!(stats.drafted_tokens > 0 || token_budget < 16);
    }
}
