use candle_core::{DType, Device};

use super::*;
use juror_engine::engine::Drafts;
use juror_judge::catalog::shapes;

fn estimate(shape: &str, tokens: Tokens) -> Estimate {
    of_config(&shapes::find(shape).unwrap(), tokens, 1e12)
}

fn of_config(config: &ModelConfig, tokens: Tokens, flops: f64) -> Estimate {
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
        flops,
        bandwidth: 1e11,
    };
    let footprint = MemoryFootprint::new(config, precision, &Device::Cpu);
    let model = (config, 1);
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
    let seconds = |one: &Estimate| one.prompt_seconds + one.output_seconds;
    assert!(seconds(&small) < seconds(&large) / 4.0, "{small:?}");
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

/// gemma-4-E2B: prompts go through 15 of 35 layers, all layers read keys, and the table of their inputs is not read whole.
#[test]
fn layers_that_attend_to_others_are_for_wanted_tokens() {
    let kinds = (1..=35).map(|layer| match layer % 5 {
        0 => "full_attention",
        _ => "sliding_attention",
    });
    let config = serde_json::json!({"architectures": ["Gemma4ForCausalLM"], "hidden_size": 1536, "intermediate_size": 6144,
        "layer_types": kinds.collect::<Vec<_>>(), "num_hidden_layers": 35, "num_key_value_heads": 1, "num_kv_shared_layers": 20,
        "use_double_wide_mlp": true});
    let config = ModelConfig::parse(&config.to_string(), "gemma-4-e2b").unwrap();
    let sharing = config.sharing_layer_parameters();
    let attention = 2 * 8 * (16 * 256 + 4 * 512);
    assert_eq!(sharing, 1536 * (attention + 20 * (3 * 12_288 + 2 * 256)));
    let own = config.active_layer_parameters() - sharing;
    let tokens = Tokens {
        generations: 64,
        prompts: 102_400,
        prompt_length: 1600,
        outputs: 64,
    };
    let near = |seconds: f64, expected: f64| {
        assert!(
            (seconds / expected - 1.0).abs() < 1e-3,
            "{seconds}, {expected}"
        );
    };
    let keys = 4 * 8 * (12 * 256 + 3 * 512) * 800;
    let by_arithmetic = of_config(&config, tokens, 1e9);
    near(
        by_arithmetic.prompt_seconds,
        102_400.0 * (2 * own + keys) as f64 / 1e9 / SHARE,
    );
    let by_memory = of_config(&config, tokens, 1e20);
    let read = 2.0 * (config.parameters() - config.input_table()) as f64;
    near(by_memory.prompt_seconds, 200.0 * read / 1e11 / SHARE);
    let keys = 64.0 * 1600.5 * (4 * (28 * 256 + 7 * 512)) as f64;
    near(by_memory.output_seconds, (read + keys) / 1e11 / SHARE);
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
