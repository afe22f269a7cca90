use candle_core::DType;
use proptest::prelude::*;

use super::*;
use crate::catalog::shapes;

const GIB: usize = 1 << 30;

const JUDGE: WorkloadLengths = WorkloadLengths {
    shared: 1300,
    typical: 1500,
    longest: 6000,
    least: 6000,
    max_new: 2500,
    context: 40_960,
    sequences: usize::MAX,
};

fn qwen3_8b() -> MemoryFootprint {
    let config = shapes::find("qwen3-8b").unwrap();
    MemoryFootprint::new(&config, Precision::all(DType::BF16), &Device::Cpu)
}

fn qwen3_0_6b(kv: DType) -> MemoryFootprint {
    let config = shapes::find("qwen3-0.6b").unwrap();
    let precision = Precision {
        kv,
        ..Precision::F32
    };
    MemoryFootprint::new(&config, precision, &Device::Cpu)
}

fn choose(
    processor: Processor,
    free: usize,
    model: &MemoryFootprint,
    lengths: &WorkloadLengths,
) -> EngineConfig {
    super::choose(processor, free, model, lengths, &EngineOptions::default())
}

#[test]
fn a_large_gpu_gives_most_of_its_memory_to_keys_and_values() {
    // An H200 after loading 16 GB of weights.
    let (free, model) = (122 * GIB, qwen3_8b());
    let sizes = choose(Processor::Gpu, free, &model, &JUDGE);
    assert_eq!((sizes.max_sequences, sizes.token_budget), (256, 8192));
    let cache = sizes.blocks * BLOCK_SIZE * model.kv_bytes_per_token;
    assert!(cache > free / 100 * 90, "{} GiB", cache / GIB);
    let rest = free - cache;
    assert!(rest > 8192 * model.activation_bytes_per_token + 256 * model.logits_bytes_per_row);
}

#[test]
fn a_gpu_that_the_weights_almost_fill_takes_smaller_steps_and_fewer_sequences() {
    // 24 GB with 16 of weights.
    let (free, model) = (6 * GIB, qwen3_8b());
    let sizes = choose(Processor::Gpu, free, &model, &JUDGE);
    assert_eq!(sizes.token_budget, 4096);
    assert!((8..32).contains(&sizes.max_sequences), "{sizes:?}");
    let cache = sizes.blocks * BLOCK_SIZE * model.kv_bytes_per_token;
    let step = sizes.token_budget * model.activation_bytes_per_token;
    assert!(cache + step < free, "{sizes:?}");
    assert!(cache > free / 2, "{sizes:?}");
}

#[test]
fn where_buffers_are_rounded_up_all_of_them_fit() {
    // Macs of 16 to 192 GB, of which Metal lets some three quarters be used; 16 GB of weights are in it already.
    let model = MemoryFootprint {
        rounded_cache_tensors: Some(2 * 36),
        ..qwen3_8b()
    };
    for free in (1..=130).map(|gigabytes| gigabytes * GIB) {
        let sizes = choose(Processor::Gpu, free, &model, &JUDGE);
        let one = sizes.blocks * BLOCK_SIZE * model.kv_bytes_per_token / 72;
        let cache = 72 * one.next_power_of_two();
        let step = sizes.token_budget * model.activation_bytes_per_token;
        let logits = 2 * GPU_SEQUENCES * model.logits_bytes_per_row;
        let working = 2 * (step + logits) + (free / 100 * GPU_RESERVE).max(GPU_RESERVE_BYTES);
        if sizes.blocks > sizes.least_blocks {
            assert!(cache + working <= free, "{sizes:?} of {free}");
            // Tensors of twice the size would not fit, or could not be used.
            let all = sizes.max_sequences == GPU_SEQUENCES;
            assert!(2 * cache + working > free || all, "{sizes:?} of {free}");
        }
    }
}

/// The shape of gemma-4-31B: fifty layers with windows, and ten without.
#[test]
fn buffers_of_both_kinds_of_layers_fit_where_they_are_rounded_up() {
    let model = MemoryFootprint {
        kv_bytes_per_token: 80 << 10,
        windowed: Some((1024, 800 << 10)),
        rounded_cache_tensors: Some(2 * 10),
        ..qwen3_8b()
    };
    for free in (16..=130).map(|gigabytes| gigabytes * GIB) {
        let sizes = choose(Processor::Gpu, free, &model, &JUDGE);
        let rounded = |blocks: usize, bytes: usize, tensors: usize| {
            tensors * (blocks * BLOCK_SIZE * bytes / tensors).next_power_of_two()
        };
        let full = rounded(sizes.blocks, model.kv_bytes_per_token, 20);
        let windowed = sizes.windowed_blocks(1024, model.steps_in_flight);
        let windowed = rounded(windowed, 800 << 10, 100);
        if sizes.blocks > sizes.least_blocks {
            assert!(
                full + windowed <= free,
                "{full} and {windowed} of {free}: {sizes:?}"
            );
        }
    }
}

#[test]
fn judges_beside_it_keep_their_part() {
    let of_two = EngineOptions {
        left_to_others: 20 * GIB,
        others: 1,
        ..EngineOptions::default()
    };
    assert_eq!(share(60 * GIB, &EngineOptions::default()), 60 * GIB);
    assert_eq!(share(60 * GIB, &of_two), 20 * GIB);
    // What does not fit is found out by whoever is built last.
    assert_eq!(share(10 * GIB, &of_two), 0);
}

#[test]
fn a_laptop_keeps_half_its_memory_for_others() {
    // 16 GB, 10 of them free with the weights loaded; 8 MB of cache.
    let processor = Processor::Cpu {
        cache_bytes: 8 << 20,
    };
    for kv in [DType::F32, DType::BF16] {
        let model = qwen3_0_6b(kv);
        let sizes = choose(processor, 10 * GIB, &model, &JUDGE);
        assert_eq!(sizes.token_budget, 256);
        let cache = sizes.blocks * BLOCK_SIZE * model.kv_bytes_per_token;
        assert!(cache <= 5 * GIB && cache > 4 * GIB, "{sizes:?}");
        assert!((8..=64).contains(&sizes.max_sequences), "{sizes:?}");
    }
    // 32 MB of cache take the longest steps.
    let workstation = Processor::Cpu {
        cache_bytes: 32 << 20,
    };
    let sizes = choose(workstation, 100 * GIB, &qwen3_0_6b(DType::F32), &JUDGE);
    assert_eq!((sizes.max_sequences, sizes.token_budget), (64, 512));
}

#[test]
fn a_tiny_model_takes_no_more_than_it_can_use() {
    let model = MemoryFootprint {
        state_bytes: 0,
        kv_bytes_per_token: 2048,
        windowed: None,
        steps_in_flight: 1,
        activation_bytes_per_token: 8192,
        logits_bytes_per_row: 8192,
        rounded_cache_tensors: None,
    };
    let lengths = WorkloadLengths {
        context: 4096,
        ..JUDGE
    };
    for processor in [
        Processor::Cpu {
            cache_bytes: 4 << 20,
        },
        Processor::Gpu,
    ] {
        let sizes = choose(processor, 64 * GIB, &model, &lengths);
        assert!(sizes.blocks * BLOCK_SIZE * model.kv_bytes_per_token < 5 * GIB);
        let (sequences, budget) = match processor {
            Processor::Cpu { .. } => (64, 512),
            Processor::Gpu => (256, 8192),
        };
        assert_eq!(
            (sizes.max_sequences, sizes.token_budget),
            (sequences, budget)
        );
    }
}

/// gemma-4-31B: with keys and values of all tokens in all layers, the same memory had room for a third of the sequences.
#[test]
fn layers_with_windows_take_their_windows_alone() {
    let config = r#"{"architectures": ["Gemma4ForCausalLM"], "attention_k_eq_v": true, "hidden_size": 5376,
        "hidden_size_per_layer_input": 0, "intermediate_size": 21504, "num_attention_heads": 32,
        "num_global_key_value_heads": 4, "num_hidden_layers": 60, "num_key_value_heads": 16, "sliding_window": 1024}"#;
    let config = ModelConfig::parse(config, "gemma-4-31b").unwrap();
    let model = MemoryFootprint::new(&config, Precision::all(DType::BF16), &Device::Cpu);
    assert_eq!(
        (model.kv_bytes_per_token, model.windowed),
        (80 << 10, Some((1024, 800 << 10)))
    );
    let whole = MemoryFootprint {
        kv_bytes_per_token: 880 << 10,
        windowed: None,
        ..model
    };
    let processor = Processor::Cpu {
        cache_bytes: 32 << 20,
    };
    for free in [40, 100].map(|gigabytes| gigabytes * GIB) {
        let sizes = choose(processor, free, &model, &JUDGE);
        assert!(sizes.cache_bytes(&model) <= free / 2 + GIB, "{sizes:?}");
        let before = choose(processor, free, &whole, &JUDGE);
        let one = |model: &MemoryFootprint| {
            let window = model.windowed.map_or(0, |(window, bytes)| window * bytes);
            2750 * model.kv_bytes_per_token + window
        };
        let (now, then) = (
            sizes.cache_bytes(&model) / one(&model),
            before.cache_bytes(&whole) / one(&whole),
        );
        assert!(now as f64 >= 1.8 * then as f64, "{now}, {then}");
    }
    // More sequences than there is room for are a ceiling: the other layers keep their part.
    let all = EngineOptions {
        max_sequences: Some(64),
        ..EngineOptions::default()
    };
    let fits = choose(processor, 100 * GIB, &model, &JUDGE);
    let asked = super::choose(processor, 100 * GIB, &model, &JUDGE, &all);
    assert!(fits.max_sequences < 64);
    assert_eq!(
        (asked.max_sequences, asked.blocks),
        (fits.max_sequences, fits.blocks)
    );
}

#[test]
fn few_sequences_take_what_they_can_fill() {
    let processor = Processor::Cpu {
        cache_bytes: 8 << 20,
    };
    let model = qwen3_0_6b(DType::BF16);
    let sizes = |processor, sequences| {
        let lengths = WorkloadLengths {
            typical: 60,
            longest: 500,
            least: 500,
            max_new: 2048,
            sequences,
            ..JUDGE
        };
        choose(processor, 64 * GIB, &model, &lengths)
    };
    let template = 1300_usize.div_ceil(BLOCK_SIZE);
    let one = 2108_usize.div_ceil(BLOCK_SIZE);
    for (sequences, blocks) in [
        (4, 4 * one),
        (24, 24 * one),
        (10_000, 64 * 1084_usize.div_ceil(BLOCK_SIZE)),
    ] {
        let sizes = sizes(processor, sequences);
        assert_eq!(
            (sizes.max_sequences, sizes.blocks),
            (sequences.min(64), blocks + template)
        );
    }
    assert_eq!(sizes(Processor::Gpu, 24).blocks, 48 * one + template);
}

#[test]
fn what_was_given_is_taken() {
    let given = EngineOptions {
        max_sequences: Some(3),
        token_budget: Some(100),
        prefill_chunk: Some(7),
        blocks: Some(5000),
        ..EngineOptions::default()
    };
    let sizes = super::choose(Processor::Gpu, 9 * GIB, &qwen3_8b(), &JUDGE, &given);
    assert_eq!(
        (
            sizes.max_sequences,
            sizes.token_budget,
            sizes.max_prefill_chunk,
            sizes.blocks
        ),
        (3, 100, 7, 5000)
    );
}

/// The most blocks, on a GPU of 80 GB: where memory is given for fewer, the engine is what it is for those from the start. The free memory
/// is then what the caches left, and says nothing of sequences.
#[test]
fn fewer_blocks_than_planned_change_the_sequences_alone() {
    let gemma = r#"{"architectures": ["Gemma3ForCausalLM"], "hidden_size": 3840, "intermediate_size": 15360,
        "num_attention_heads": 16, "num_hidden_layers": 48, "num_key_value_heads": 8, "sliding_window": 1024, "head_dim": 256}"#;
    let gpt_oss = r#"{"architectures": ["GptOssForCausalLM"], "vocab_size": 201088, "hidden_size": 2880,
        "intermediate_size": 2880, "num_hidden_layers": 24, "num_attention_heads": 64, "num_key_value_heads": 8,
        "head_dim": 64, "num_local_experts": 32, "num_experts_per_tok": 4, "max_position_embeddings": 131072,
        "rms_norm_eps": 1e-5, "rope_theta": 150000, "rope_scaling": {"rope_type": "yarn", "factor": 32.0,
        "beta_fast": 32.0, "beta_slow": 1.0, "original_max_position_embeddings": 4096, "truncate": false},
        "sliding_window": 128, "tie_word_embeddings": false}"#;
    for (name, config, layers) in [("gemma-3-12b", gemma, 40), ("gpt-oss-20b", gpt_oss, 12)] {
        let config = ModelConfig::parse(config, name).unwrap();
        let model = MemoryFootprint::new(&config, Precision::all(DType::BF16), &Device::Cpu);
        let one = 2 * 2 * config.kv_heads * config.head_dim;
        assert_eq!(model.windowed.unwrap().1, layers * one, "{name}");
        for max_sequences in [None, Some(100)] {
            let given = |blocks| EngineOptions {
                blocks: Some(blocks),
                max_sequences,
                ..EngineOptions::default()
            };
            let sizes =
                |blocks| super::choose(Processor::Gpu, 54 * GIB, &model, &JUDGE, &given(blocks));
            let planned = sizes(1_000_000);
            assert!(planned.max_sequences >= 60, "{name}: {planned:?}");
            for built in [900_000, 40_000, 10_000, 1000] {
                let most = planned.max_sequences;
                let sequences = sequences_of(built, most, &JUDGE, &given(1_000_000));
                assert_eq!(sequences, sizes(built).max_sequences, "{name}: {built}");
            }
        }
    }
}

/// Of samples that nobody knows the longest may never come: what memory there is is for it, and it is refused where that is too little.
#[test]
fn a_context_that_memory_does_not_hold_is_no_obstacle() {
    let model = qwen3_8b();
    let processor = Processor::Cpu {
        cache_bytes: 32 << 20,
    };
    let lengths = WorkloadLengths {
        typical: 512,
        longest: 131_072,
        least: 512,
        max_new: 1024,
        context: 131_072,
        ..JUDGE
    };
    let at_least = 1300_usize.div_ceil(BLOCK_SIZE) + 2836_usize.div_ceil(BLOCK_SIZE);
    let whole = 1300_usize.div_ceil(BLOCK_SIZE) + 131_072 / BLOCK_SIZE;
    for (free, holds) in [(1, false), (20, false), (200, true)] {
        let sizes = choose(processor, free * GIB, &model, &lengths);
        assert_eq!(sizes.least_blocks, at_least);
        assert!(
            sizes.blocks >= at_least && (sizes.blocks >= whole) == holds,
            "{sizes:?}"
        );
        let cache = sizes.blocks * BLOCK_SIZE * model.kv_bytes_per_token;
        assert!(
            cache <= free * GIB / 2 || sizes.blocks == at_least,
            "{sizes:?}"
        );
    }
}

proptest! {
    #[test]
    fn any_one_sequence_fits_whatever_the_memory(
        free in 0..200 * GIB, gpu: bool, cache_bytes in 0..(256usize << 20), shared in 0..5000usize,
        typical in 0..8000usize, longest in 0..100_000usize, max_new in 1..100_000usize,
        blocks in prop::option::of(1..100_000usize), max_sequences in prop::option::of(1..1000usize),
        sequences in 1..1000usize,
    ) {
        let processor = if gpu { Processor::Gpu } else { Processor::Cpu { cache_bytes } };
        let lengths = WorkloadLengths { shared, typical, longest, least: longest, max_new, context: 40_960, sequences };
        let given = EngineOptions { max_sequences, blocks, ..EngineOptions::default() };
        let model = qwen3_8b();
        let sizes = super::choose(processor, free, &model, &lengths, &given);
        let longest = (shared + longest + max_new).min(40_960);
        prop_assert!(sizes.least_blocks * BLOCK_SIZE >= longest);
        prop_assert!(sizes.blocks >= sizes.least_blocks);
        prop_assert!(sizes.max_sequences >= 1 && sizes.token_budget >= 1);
    }
}
