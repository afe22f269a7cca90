use candle_core::{DType, Device};

use super::*;
use juror_engine::engine::Drafts;
use juror_judge::catalog::shapes;

fn estimate(shape: &str, tokens: Tokens) -> Estimate {
    let config = shapes::find(shape).unwrap();
    let precision = Precision::all(DType::BF16);
    let engine = EngineConfig {
        blocks: 1000,
        least_blocks: 1,
        block_size: 16,
        max_sequences: 64,
        token_budget: 512,
        max_prefill_chunk: 512,
        context_length: 4096,
        prefix_cache: true,
        pinned_prefix: Vec::new(),
        drafts: Drafts::Off,
    };
    let ceiling = Ceiling {
        flops: 1e12,
        bandwidth: 1e11,
    };
    let footprint = MemoryFootprint::new(&config, precision, &Device::Cpu);
    let model = (&config, 1);
    Estimate::new(&tokens, model, precision, 0, &engine, ceiling, &footprint)
}

#[test]
fn more_work_takes_longer_and_larger_models_more_memory() {
    let tokens = Tokens {
        generations: 100,
        prompts: 100_000,
        prompt_length: 1500,
        outputs: 10_000,
    };
    let small = estimate("qwen3-0.6b", tokens);
    let large = estimate("qwen3-8b", tokens);
    // 8 billion weights: 16 GB in bf16, two operations per token each.
    assert!((16e9..17e9).contains(&(large.weights as f64)), "{large:?}");
    let least = 2.0 * 6.9e9 * 1e5 / 1e12;
    assert!(large.prompt_seconds > least, "{large:?}");
    assert!(large.prompt_seconds < 4.0 * least, "{large:?}");
    assert!(small.seconds() < large.seconds() / 4.0, "{small:?}");
    let twice = estimate(
        "qwen3-8b",
        Tokens {
            outputs: 20_000,
            ..tokens
        },
    );
    let ratio = twice.output_seconds / large.output_seconds;
    assert!((2.0..2.2).contains(&ratio), "{ratio}");
    assert!(large.memory().starts_with('1'), "{}", large.memory());
    assert!(!large.memory().contains("each"), "{}", large.memory());
    let of_two = Estimate { parts: 2, ..large }.memory();
    assert!(
        of_two.contains(" GB on each of 2 GPUs (weights "),
        "{of_two}"
    );
}

#[test]
fn times_are_seconds_first() {
    for (seconds, text) in [
        (0.123, "0.12 s"),
        (3.21, "3.2 s"),
        (45.6, "46 s"),
        (600.0, "600 s (10 min)"),
        (36_000.0, "36000 s (10.0 h)"),
    ] {
        assert_eq!(Seconds(seconds).to_string(), text);
    }
}
