//! A verdict depends on its sample alone: the same tokens, one by one, however the engine is set up.
//!
//! The embedded judge on the CPU, its logits compared bit for bit through what they decide: every generated token, and
//! the odds recorded at every True and False.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use juror_data::verdict::{Confidence, Verdict};
use juror_data::{LoadOptions, Sample, load};
use juror_engine::engine::{Sampling, Stats};
use juror_judge::judge::{
    DeviceEngine, EngineOptions, JudgeError, JudgeText, RulesMode, RunOptions, Sink,
    WorkloadLengths, build_engine, jobs, run,
};
use juror_judge::protocol::{self, PromptTemplate};

/// Enough to be well inside the thinking, few enough for the slowest setting.
const NEW_TOKENS: usize = 64;

struct Keep {
    verdicts: Vec<Verdict>,
    stats: Stats,
}

impl Sink for Keep {
    fn keep(&mut self, verdict: Verdict) -> Result<(), JudgeError> {
        self.verdicts.push(verdict);
        Ok(())
    }

    fn progress(&mut self, stats: &Stats) {
        self.stats = *stats;
    }
}

/// What a verdict must not change in, whatever the engine's sizes.
#[derive(Debug, Clone, PartialEq)]
struct Essence {
    id: String,
    trial: u32,
    prompt: Vec<u32>,
    completion: Vec<u32>,
    confidence: Confidence,
}

fn rollouts() -> Vec<Sample> {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/rollouts.jsonl");
    let loaded = load(&[examples], &LoadOptions::default()).unwrap();
    // 64 samples: the examples, then the same answers under other questions, so that lengths and prefixes vary.
    let mut samples = loaded.samples.clone();
    for shift in [1, 2] {
        for (index, sample) in loaded.samples.iter().enumerate() {
            let question = loaded.samples[(index + shift) % loaded.samples.len()]
                .question
                .clone();
            let mut other = sample.clone();
            other.id = format!("{}+{shift}", sample.id);
            other.question = question;
            samples.push(other);
        }
    }
    samples.truncate(64);
    for (index, sample) in samples.iter_mut().enumerate() {
        sample.index = index;
    }
    samples
}

fn judge(
    samples: &[Sample],
    sizes: EngineOptions,
    sampling: Sampling,
    trials: u32,
) -> (Vec<Essence>, Stats) {
    let source = juror_judge::catalog::resolve("tiny").unwrap();
    let protocol = protocol::find("prime").unwrap();
    let template = PromptTemplate::parse(protocol.template.as_deref().unwrap()).unwrap();
    let text = Arc::new(JudgeText::load(&source, &protocol, &template).unwrap());
    let device = candle_core::Device::Cpu;
    let engine = build_engine(
        &source,
        &text,
        &[device],
        &sizes,
        &WorkloadLengths::unknown(&text, NEW_TOKENS),
        Arc::default(),
    )
    .unwrap();
    let options = RunOptions {
        sampling,
        max_new_tokens: NEW_TOKENS,
        trials,
        seed: 5,
        raw: true,
        rules: RulesMode::Off,
        ..RunOptions::default()
    };
    let mut kept = Keep {
        verdicts: Vec::new(),
        stats: Stats::default(),
    };
    run(
        samples,
        &jobs::by_question(samples, trials, |_, _| false),
        &options,
        &text,
        &mut vec![DeviceEngine {
            device: "cpu".into(),
            engine,
        }],
        &AtomicBool::new(false),
        &mut kept,
    )
    .unwrap();
    kept.verdicts
        .sort_by_key(|verdict| (verdict.index, verdict.trial));
    let essences = kept
        .verdicts
        .into_iter()
        .map(|verdict| {
            let raw = verdict.raw.unwrap();
            Essence {
                id: verdict.id,
                trial: verdict.trial,
                prompt: raw.prompt_tokens.unwrap(),
                completion: raw.completion_tokens.unwrap(),
                confidence: verdict.confidence,
            }
        })
        .collect();
    (essences, kept.stats)
}

fn sizes() -> EngineOptions {
    EngineOptions {
        max_sequences: Some(64),
        token_budget: Some(512),
        ..EngineOptions::default()
    }
}

#[test]
fn greedy_tokens_are_the_same_however_the_engine_is_set_up() {
    let samples = rollouts();
    let (together, stats) = judge(&samples, sizes(), Sampling::GREEDY, 1);
    assert_eq!(together.len(), 64);
    assert_eq!(stats.most_running, 64, "the batch was meant to hold all 64");
    assert!(
        together
            .iter()
            .all(|essence| !essence.completion.is_empty())
    );

    let alone = EngineOptions {
        max_sequences: Some(1),
        ..sizes()
    };
    assert_eq!(
        judge(&samples[..24], alone, Sampling::GREEDY, 1).0,
        together[..24],
        "one at a time"
    );

    let uncached = EngineOptions {
        no_prefix_cache: true,
        ..sizes()
    };
    // The whole template for each: slow, so fewer samples.
    let (verdicts, stats) = judge(&samples[..16], uncached, Sampling::GREEDY, 1);
    assert_eq!(verdicts, together[..16], "without prefix cache");
    assert_eq!(stats.cached_tokens, 0);

    // Room for the template and two or three sequences of their own.
    let longest = together
        .iter()
        .map(|essence| essence.prompt.len() + NEW_TOKENS)
        .max()
        .unwrap();
    let cramped = EngineOptions {
        blocks: Some(longest.div_ceil(16) + 60),
        ..sizes()
    };
    let (verdicts, stats) = judge(&samples[..32], cramped, Sampling::GREEDY, 1);
    assert_eq!(verdicts, together[..32], "preempted");
    assert!(
        stats.preemptions > 0,
        "the pool was meant to be too small: {stats:?}"
    );

    let chunked = EngineOptions {
        prefill_chunk: Some(7),
        ..sizes()
    };
    assert_eq!(
        judge(&samples[..32], chunked, Sampling::GREEDY, 1).0,
        together[..32],
        "chunks of 7, not of the whole step"
    );
    // A token a step and sequence: slow, so fewer samples.
    let crumbs = EngineOptions {
        prefill_chunk: Some(1),
        ..sizes()
    };
    assert_eq!(
        judge(&samples[..8], crumbs, Sampling::GREEDY, 1).0,
        together[..8],
        "chunks of 1"
    );
}

#[test]
fn sampled_tokens_follow_seed_sample_and_trial_alone() {
    let samples = rollouts();
    let hot = Sampling {
        // A judge as sure as this one says the same at 1.
        temperature: 2.0,
        top_k: 0,
        top_p: 0.98,
        min_p: 0.0,
    };
    let (together, _) = judge(&samples[..16], sizes(), hot, 3);
    assert_eq!(together.len(), 48);
    let alone = EngineOptions {
        max_sequences: Some(1),
        ..sizes()
    };
    assert_eq!(judge(&samples[..4], alone, hot, 3).0, together[..12]);
    // Another place in the input, another neighbourhood: the same draws.
    let mut moved: Vec<Sample> = samples[8..16].iter().rev().cloned().collect();
    for (index, sample) in moved.iter_mut().enumerate() {
        sample.index = index;
    }
    for essence in judge(&moved, sizes(), hot, 3).0 {
        assert!(
            together.contains(&essence),
            "{} trial {} changed with its place",
            essence.id,
            essence.trial
        );
    }
    let trials: HashSet<&Vec<u32>> = together.iter().map(|essence| &essence.completion).collect();
    assert!(
        trials.len() > 16,
        "trials of one sample were meant to differ"
    );
}
