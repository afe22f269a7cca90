//! The engine's promises, tried with a model that sees through it.
//!
//! The model here stores the token of every slot it is told to write, and computes its logits from nothing but the
//! tokens it reads back through the block table. A block that is wrong, stale, shared too early, overwritten while in
//! use, or lost in a preemption changes what it reads, and with it what it generates.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use candle_core::Tensor;
use juror_engine::engine::{
    Choices, Completion, Drafts, Engine, EngineConfig, EngineError, EngineReport, EngineThread,
    FinishReason, LogitsModel, Properties, Request, RequestId, Sampling, StepObserver, StepReport,
};
use juror_engine::model::ModelError;
use juror_engine::model::batch::StepBatch;
use proptest::prelude::*;

#[path = "../paged/reference.rs"]
mod reference;

mod attacks;
mod constrained;
mod devices;
mod drafts;
mod invariance;
mod lag;
mod loaded;
mod logprobs;
mod long;
mod out_of_memory;
mod reader;
mod recurrence;
mod several;
mod windows;

use reader::{
    After, EOS, Scripted, VOCAB, config, expected, expected_guided, logits_after, prompts, reader,
    request, run, template, tokens_of,
};

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn a_completion_depends_on_its_request_alone(
        count in 1..40usize, shared in 0..40usize, spare in 0..60usize, block_size in 1..9usize,
        max_sequences in 1..40usize, token_budget in 1..80usize, max_prefill_chunk in 1..60usize,
        prefix_cache: bool, pin: bool, arrive_late: bool, lazy_cache: bool, drafts in 0..6usize,
    ) {
        let longest = shared + 6 + 18 + 20;
        let config = EngineConfig {
            // From barely enough for one sequence (and the pinned template) up.
            blocks: longest.div_ceil(block_size) + shared.div_ceil(block_size) + spare,
            least_blocks: 1, block_size, max_sequences, token_budget, max_prefill_chunk, context_length: 200, prefix_cache,
            pinned_prefix: if pin { template(shared) } else { Vec::new() },
            drafts: Drafts::Most(drafts),
        };
        let mut model = reader(block_size);
        model.lazy_cache = lazy_cache;
        let mut engine = Engine::new(Box::new(model), &config).unwrap();
        let prompts = prompts(count, shared);
        let mut completions = Vec::new();
        for (id, prompt) in prompts.iter().enumerate() {
            engine.add(request(id as u64, prompt.clone(), 20, Sampling::GREEDY));
            if arrive_late && id % 5 == 0 {
                completions.extend(engine.step().unwrap());
            }
        }
        completions.extend(run(&mut engine));
        completions.sort_by_key(|completion| completion.id);
        prop_assert_eq!(completions.len(), count);
        for (completion, prompt) in completions.iter().zip(&prompts) {
            prop_assert_eq!(&completion.prompt, prompt);
            prop_assert_eq!(&completion.tokens, &expected(prompt, 20));
        }
    }
}

#[test]
fn a_small_pool_preempts_and_changes_nothing() {
    let mut engine = Engine::new(Box::new(reader(4)), &config(30)).unwrap();
    let prompts = prompts(64, 12);
    for (id, prompt) in prompts.iter().enumerate() {
        engine.add(request(id as u64, prompt.clone(), 40, Sampling::GREEDY));
    }
    for (completion, prompt) in run(&mut engine).iter().zip(&prompts) {
        assert_eq!(completion.tokens, expected(prompt, 40));
    }
    assert!(
        engine.stats().preemptions > 0,
        "the pool was meant to be too small: {:?}",
        engine.stats()
    );
}

#[test]
fn a_lazy_cache_takes_memory_as_the_work_does_and_finds_what_is_shared() {
    // 48 questions of 40 responses each, four at once, in a cache that would hold hundreds.
    let config = EngineConfig {
        max_sequences: 4,
        ..config(4000)
    };
    let ran = |lazy_cache: bool| {
        let mut model = reader(4);
        model.lazy_cache = lazy_cache;
        let mut engine = Engine::new(Box::new(model), &config).unwrap();
        for id in 0..1920_u64 {
            let (question, response) = ((id / 40) as u32, (id % 40) as u32);
            let mut prompt = template(20);
            prompt.extend((0..20).map(|at| (at * 7 + question) % 48));
            prompt.extend([response, question % 48, 5, 6, 7]);
            engine.add(request(id, prompt, 20, Sampling::GREEDY));
        }
        (run(&mut engine), engine.stats())
    };
    let ((greedy, before), (lazy, after)) = (ran(false), ran(true));
    let tokens = |completions: &[Completion]| -> Vec<Vec<u32>> {
        let tokens = completions.iter();
        tokens.map(|completion| completion.tokens.clone()).collect()
    };
    assert_eq!(tokens(&lazy), tokens(&greedy));
    assert_eq!(after.cached_tokens, before.cached_tokens);
    assert_eq!(after.preemptions, 0);
    assert_eq!(before.touched_blocks, 4000);
    // A sixteenth of the cache is kept beside what is in use.
    let most = after.most_used_blocks + 4000 / 16 + 1;
    assert!(after.touched_blocks <= most, "{after:?}");
}

#[test]
fn a_shared_template_is_computed_once_even_when_all_arrive_together() {
    let prompts = prompts(64, 40);
    let own: usize = prompts.iter().map(|prompt| prompt.len() - 40).sum();
    for (prefix_cache, templates) in [(true, 1), (false, 64)] {
        let config = EngineConfig {
            prefix_cache,
            ..config(2000)
        };
        let mut engine = Engine::new(Box::new(reader(4)), &config).unwrap();
        for (id, prompt) in prompts.iter().enumerate() {
            engine.add(request(id as u64, prompt.clone(), 1, Sampling::GREEDY));
        }
        run(&mut engine);
        let stats = engine.stats();
        let computed = stats.computed_tokens as usize;
        let most = templates * 40 + own;
        assert!(
            computed <= most,
            "{computed} tokens computed, {most} at most"
        );
        assert!(prefix_cache || computed == most);
        assert_eq!(
            stats.prompt_tokens,
            prompts.iter().map(Vec::len).sum::<usize>() as u64
        );
        assert_eq!(
            stats.cached_tokens as usize + computed,
            stats.prompt_tokens as usize
        );
    }
}

#[test]
fn a_pinned_prefix_survives_what_evicts_everything_else() {
    let pinned = template(24);
    let base = config(30);
    let cached_after_flood = |pinned_prefix: Vec<u32>| {
        let mut engine = Engine::new(
            Box::new(reader(4)),
            &EngineConfig {
                pinned_prefix,
                ..base.clone()
            },
        )
        .unwrap();
        let mut prompt = pinned.clone();
        prompt.extend([1, 2, 3]);
        engine.add(request(0, prompt.clone(), 1, Sampling::GREEDY));
        run(&mut engine);
        for id in 0..20 {
            let other = (0..60).map(|at| (at * 11 + id as u32) % 48).collect();
            engine.add(request(id, other, 1, Sampling::GREEDY));
        }
        run(&mut engine);
        engine.add(request(99, prompt, 1, Sampling::GREEDY));
        run(&mut engine)[0].cached_tokens
    };
    assert_eq!(cached_after_flood(pinned.clone()), 24);
    assert_eq!(
        cached_after_flood(Vec::new()),
        0,
        "the flood was meant to evict an unpinned prefix"
    );
}

#[test]
fn sampled_tokens_are_keyed_by_the_request_not_by_the_batch() {
    let hot = Sampling {
        temperature: 1.0,
        top_k: 8,
        top_p: 0.95,
        min_p: 0.01,
    };
    let generate = |ids: &[u64], blocks: usize| {
        let mut engine = Engine::new(Box::new(reader(4)), &config(blocks)).unwrap();
        for &id in ids {
            engine.add(request(id, prompts(64, 12)[id as usize].clone(), 30, hot));
        }
        run(&mut engine)
            .into_iter()
            .map(|completion| (completion.id, completion.tokens))
            .collect::<HashMap<_, _>>()
    };
    let all: Vec<u64> = (0..64).collect();
    let roomy = generate(&all, 2000);
    let cramped = generate(&all, 25);
    assert_eq!(roomy, cramped);
    for id in [0, 17, 63] {
        assert_eq!(generate(&[id], 2000)[&id], roomy[&id]);
    }
    assert_ne!(
        roomy[&0],
        expected(&prompts(1, 12)[0], 30),
        "sampling was meant to differ from greedy"
    );
}

#[test]
fn what_can_never_run_is_refused_with_the_numbers() {
    let mut engine = Engine::new(Box::new(reader(4)), &config(10)).unwrap();
    engine.add(request(0, vec![1; 190], 20, Sampling::GREEDY));
    engine.add(request(1, vec![1; 30], 20, Sampling::GREEDY));
    engine.add(request(2, vec![], 20, Sampling::GREEDY));
    engine.add(request(3, vec![1; 10], 20, Sampling::GREEDY));
    let completions = run(&mut engine);
    let reason = |index: usize| match &completions[index].finish {
        FinishReason::Rejected(reason) => reason.clone(),
        FinishReason::TooLong(reason) => format!("too long: {reason}"),
        other => format!("{other:?}"),
    };
    assert_eq!(
        reason(0),
        "too long: 190 prompt tokens and up to 20 new ones exceed the context of 200"
    );
    assert_eq!(
        reason(1),
        "too long: the sequence needs up to 13 KV blocks and there are 10: give a larger --kv-blocks, or a smaller --max-new-tokens"
    );
    assert_eq!(reason(2), "the prompt is empty");
    assert_eq!(completions[3].tokens, expected(&[1; 10], 20));
}

/// A prompt after which so many tokens are generated.
fn prompt_of(length: usize) -> Vec<u32> {
    (0..VOCAB as u32)
        .map(|first| vec![first, 5, 6])
        .find(|prompt| expected(prompt, length).len() == length)
        .unwrap()
}

#[test]
fn requests_in_the_background_stand_back_while_others_run() {
    let prompt = prompt_of(90);
    // Those in the background that run, those that wait for a place, and the others.
    for (running, waiting, others) in [(4, 0, 1), (4, 8, 1), (40, 0, 3), (3, 0, 20), (50, 30, 10)] {
        let config = EngineConfig {
            token_budget: 256,
            ..config(2000)
        };
        let mut engine = Engine::new(Box::new(reader(4)), &config).unwrap();
        let background = |id| Request {
            background: true,
            ..request(id, prompt.clone(), 90, Sampling::GREEDY)
        };
        let mut completions = Vec::new();
        let mut step = |engine: &mut Engine| {
            let before = engine.stats().computed_tokens;
            completions.extend(engine.step().unwrap());
            engine.stats().computed_tokens - before
        };
        (0..running).for_each(|id| engine.add(background(id)));
        // Alone they have part in each step.
        assert_eq!(step(&mut engine), 3 * running);
        assert_eq!([0; 9].map(|_| step(&mut engine)), [running; 9]);
        (100..100 + waiting).for_each(|id| engine.add(background(id)));
        (200..200 + others).for_each(|id| {
            engine.add(request(id, prompt.clone(), 40, Sampling::GREEDY));
        });
        let case = format!("{running} and {waiting} beside {others}");
        // The others, which came last, are admitted first, and have part in each of their 40 steps; those in the background have
        // theirs, all at once, when an eighth of what the others computed since makes up for the last.
        let (mut last, mut since) = (running, 0);
        for theirs in std::iter::once(3 * others).chain([others; 39]) {
            let background = step(&mut engine) - theirs;
            if since >= 8 * last {
                assert!(background >= running, "{case}: {background}");
                (last, since) = (background, 0);
            } else {
                assert_eq!(background, 0, "{case}");
                since += theirs;
            }
        }
        let mut ids: Vec<_> = completions.iter().map(|done| done.id).collect();
        ids.sort_unstable();
        assert_eq!(ids, (200..200 + others).collect::<Vec<_>>(), "{case}");
        completions.extend(run(&mut engine));
        assert_eq!(completions.len() as u64, running + waiting + others);
        for completion in completions {
            let length = if completion.id < 200 { 90 } else { 40 };
            assert_eq!(completion.tokens, expected(&prompt, length), "{case}");
        }
    }
}

#[test]
fn generations_end_at_stop_rules_limits_and_eos() {
    let mut engine = Engine::new(Box::new(reader(4)), &config(500)).unwrap();
    let prompt = (0..VOCAB as u32)
        .map(|first| vec![first, 5, 6])
        .find(|prompt| expected(prompt, 60).len() == 60)
        .unwrap();
    engine.add(Request {
        guide: Some(Box::new(After(7))),
        ..request(0, prompt.clone(), 60, Sampling::GREEDY)
    });
    engine.add(request(1, prompt, 60, Sampling::GREEDY));
    let short = (0..VOCAB as u32)
        .map(|first| vec![first, 8])
        .find(|prompt| expected(prompt, 90).len() < 90)
        .unwrap();
    engine.add(request(2, short, 90, Sampling::GREEDY));
    let completions = run(&mut engine);
    assert_eq!(
        (completions[0].tokens.len(), &completions[0].finish),
        (7, &FinishReason::Stop)
    );
    assert_eq!(
        (completions[1].tokens.len(), &completions[1].finish),
        (60, &FinishReason::Length)
    );
    assert_eq!(completions[2].finish, FinishReason::EndOfSequence);
    assert_eq!(completions[2].tokens.last(), Some(&EOS));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn a_guide_steers_wherever_and_whenever_it_is_computed(
        count in 1..24usize, shared in 0..40usize, spare in 0..60usize, block_size in 1..9usize,
        max_sequences in 1..24usize, token_budget in 1..80usize, prefix_cache: bool, seed: u64, lag: Option<bool>,
        drafts in 0..6usize,
    ) {
        let config = EngineConfig {
            blocks: (shared + 44).div_ceil(block_size) + spare,
            least_blocks: 1, block_size, max_sequences, token_budget, max_prefill_chunk: 60, context_length: 200,
            prefix_cache, pinned_prefix: Vec::new(), drafts: Drafts::Most(drafts),
        };
        let guide = |id: usize| Scripted::new(seed.wrapping_add(id as u64));
        let prompts = prompts(count, shared);
        let mut engine = match lag {
            None => Engine::new(Box::new(reader(block_size)), &config).unwrap(),
            Some(late) => Engine::new(Box::new(lag::Lagging::new(reader(block_size), late)), &config).unwrap(),
        };
        for (id, prompt) in prompts.iter().enumerate() {
            engine.add(Request {
                guide: Some(Box::new(guide(id))),
                background: id % 3 == 1,
                ..request(id as u64, prompt.clone(), 20, Sampling::GREEDY)
            });
        }
        for (id, completion) in run(&mut engine).into_iter().enumerate() {
            let expected = expected_guided(&prompts[id], 20, guide(id));
            prop_assert_eq!(&completion.tokens, &tokens_of(&expected), "{}", id);
        }
    }
}

#[test]
fn odds_are_recorded_where_a_choice_was_generated() {
    let prompt = (0..VOCAB as u32)
        .map(|first| vec![first, 1, 4])
        .find(|prompt| matches!(expected(prompt, 30)[..], [_, _, yes, _, _, no, ..] if yes != no))
        .unwrap();
    let tokens = expected(&prompt, 30);
    let choices = Arc::new(Choices::yes_or_no(&[tokens[2]], &[tokens[5]]));
    let mut engine = Engine::new(Box::new(reader(4)), &config(500)).unwrap();
    engine.add(Request {
        choices: Some(Arc::clone(&choices)),
        ..request(0, prompt.clone(), 30, Sampling::GREEDY)
    });
    let completion = run(&mut engine).remove(0);
    let places: Vec<usize> = tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| [tokens[2], tokens[5]].contains(token))
        .map(|(at, _)| at)
        .collect();
    assert_eq!(
        completion
            .expected
            .iter()
            .map(|odds| odds.0)
            .collect::<Vec<_>>(),
        places
    );
    let mut context = prompt;
    context.extend(&tokens[..places[0]]);
    let logits = logits_after(&context, false);
    let (yes, no) = (
        logits[tokens[2] as usize].exp(),
        logits[tokens[5] as usize].exp(),
    );
    assert!((completion.expected[0].1 - yes / (yes + no)).abs() < 1e-5);
}

/// What the thread of an engine tells, as it comes.
fn spawn(model: impl LogitsModel + 'static) -> (EngineThread, Receiver<EngineReport>) {
    let (reports, told) = channel();
    let engine = Engine::new(Box::new(model), &config(100)).unwrap();
    let report = move |report| reports.send(report).unwrap();
    (EngineThread::spawn(engine, report).unwrap(), told)
}

/// Its last word.
fn ended(told: &Receiver<EngineReport>) -> Result<Box<Engine>, EngineError> {
    loop {
        if let EngineReport::Ended(end) = told.recv_timeout(Duration::from_mins(1)).unwrap() {
            return end;
        }
    }
}

#[test]
fn the_thread_gives_back_everything_and_can_be_cancelled() {
    let (engine, told) = spawn(reader(4));
    let prompts = prompts(100, 12);
    for (id, prompt) in prompts.iter().enumerate() {
        engine.send(request(id as u64, prompt.clone(), 10, Sampling::GREEDY));
    }
    // It answers what it has though no more will come.
    drop(engine);
    let mut answered = 0;
    let engine = loop {
        match told.recv_timeout(Duration::from_mins(1)).unwrap() {
            EngineReport::Step(stats, completions) => {
                answered += completions.len();
                assert!(stats.steps > 0);
                for completion in completions {
                    let prompt = &prompts[completion.id as usize];
                    assert_eq!(completion.tokens, expected(prompt, 10));
                }
            }
            EngineReport::Ended(end) => break end.unwrap(),
        }
    };
    assert_eq!(answered, 100);
    assert!(!engine.has_work());

    let (engine, told) = spawn(reader(4));
    engine.send(request(0, vec![1], 1000, Sampling::GREEDY));
    engine.cancel();
    assert!(!ended(&told).unwrap().has_work());
}

struct Broken;

impl LogitsModel for Broken {
    fn properties(&self) -> Properties {
        Properties {
            async_scheduling: false,
            blocks: None,
            lazy_cache: false,
            short_context: None,
            states: None,
            windowed: None,
        }
    }

    fn shrink(&mut self, _blocks: usize) -> Result<Option<usize>, ModelError> {
        Ok(None)
    }

    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        if batch.tokens[0] == 7 {
            Err(ModelError::Batch("no more memory".into()))
        } else {
            panic!("lost the device")
        }
    }
}

#[test]
fn a_failing_or_panicking_model_is_an_error_not_a_hang() {
    for (token, message) in [
        (7, "no more memory"),
        (8, "juror itself in the engine (lost the device"),
    ] {
        let (engine, told) = spawn(Broken);
        engine.send(request(0, vec![token], 10, Sampling::GREEDY));
        let error = ended(&told).err().unwrap().to_string();
        assert!(error.contains(message), "{error}");
    }
}

/// What an observer saw.
#[derive(Default)]
struct Seen {
    rows: usize,
    tokens: [usize; 2],
    most_used_blocks: usize,
    /// When each request's tokens were added to its sequence.
    tokens_of: HashMap<RequestId, Vec<Instant>>,
}

struct Watch(Arc<Mutex<Seen>>);

impl StepObserver for Watch {
    fn step(&mut self, report: &StepReport) {
        let mut seen = self.0.lock().unwrap();
        assert!(report.model + report.host <= report.finished - report.started);
        seen.rows += report.rows;
        seen.tokens[0] += report.prefill_tokens;
        seen.tokens[1] += report.decode_tokens;
        seen.most_used_blocks = seen.most_used_blocks.max(report.used_blocks);
        for &id in report.generated {
            seen.tokens_of.entry(id).or_default().push(report.finished);
        }
    }
}

#[test]
fn an_observer_sees_every_token_and_completions_know_their_times() {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut engine = Engine::new(Box::new(reader(4)), &config(40)).unwrap();
    engine.observe(Box::new(Watch(Arc::clone(&seen))));
    let before = Instant::now();
    let prompts = prompts(20, 12);
    for (id, prompt) in prompts.iter().enumerate() {
        engine.add(request(id as u64, prompt.clone(), 20, Sampling::GREEDY));
    }
    let completions = run(&mut engine);
    let (stats, seen) = (engine.stats(), seen.lock().unwrap());
    assert!(stats.preemptions > 0, "{stats:?}");
    assert_eq!(seen.rows as u64, stats.rows);
    assert_eq!(seen.most_used_blocks, stats.most_used_blocks);
    assert_eq!(stats.used_blocks, 0, "nothing is asked any more");
    assert!(stats.most_used_blocks <= stats.blocks);
    assert_eq!(
        seen.tokens,
        [stats.prefill_tokens, stats.decode_tokens].map(|tokens| tokens as usize)
    );
    assert_eq!(
        stats.prefill_tokens + stats.decode_tokens,
        stats.computed_tokens
    );
    for completion in &completions {
        let times = &seen.tokens_of[&completion.id];
        assert_eq!(times.len(), completion.tokens.len());
        let timing = completion.timing;
        let first = timing.first_token.unwrap();
        assert!(before <= timing.queued && timing.queued <= timing.admitted.unwrap());
        assert!(timing.admitted.unwrap() <= first && first <= times[0]);
        assert!(first <= timing.finished && timing.finished <= *times.last().unwrap());
    }
}
