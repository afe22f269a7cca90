//! How large an engine is for a model, a machine and a workload, where the user did not say.
//!
//! Sizes decide how long a run takes, never its verdicts: any one sequence fits, whatever is chosen here.

use candle_core::Device;

use super::{EngineOptions, WorkloadLengths};
use juror_engine::checkpoint::ModelConfig;
use juror_engine::engine::{Drafts, EngineConfig};
use juror_engine::model::Precision;
use juror_engine::model::memory::{MemoryFootprint, free_memory, host};

/// Token positions a KV block.
pub const BLOCK_SIZE: usize = 16;

/// The processor that computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Processor {
    /// The CPU; its threads have so many bytes of cache together.
    Cpu { cache_bytes: usize },
    /// A GPU with memory of its own, or a share of the machine's.
    Gpu,
}

/// Most sequences at once. Decoding reads all weights each step, whatever the number of rows: on a GPU more rows are
/// almost free up to where it computes as long as it reads, near 200 for bf16 on current ones.
const GPU_SEQUENCES: usize = 256;
const CPU_SEQUENCES: usize = 64;

/// Least sequences at once where the user does not say: fewer would be slower than some preemptions.
const FEW_SEQUENCES: usize = 8;

/// Most tokens a step: matrix products reach full speed below it, and longer steps delay the other sequences.
const GPU_BUDGET: usize = 8192;
const CPU_BUDGET: usize = 512;

/// Least tokens a step: below, reading the weights once more costs more than is saved.
const LEAST_GPU_BUDGET: usize = 1024;
const LEAST_CPU_BUDGET: usize = 256;

/// A step's intermediate results may be this many times the CPU's cache: no operation touches all of them.
const CACHE_TIMES: usize = 2;

/// Of a GPU's free memory: for workspaces, kernels, and what others may take. In hundredths.
const GPU_RESERVE: usize = 4;

/// The same in bytes, at least, if there is that much.
const GPU_RESERVE_BYTES: usize = 512 << 20;

/// Of a machine's free memory, what keys and values may take. In hundredths: the rest is other programs', and the
/// system's to cache files in.
const CPU_KV_SHARE: usize = 50;

/// Of the free memory, the most that recurrent states may take where the user does not say how many sequences run at once. In
/// hundredths.
const STATE_SHARE: usize = 25;

/// Of a GPU's free memory, the most that a step's intermediate results may take. In hundredths.
const ACTIVATION_SHARE: usize = 10;

/// How large an engine is to be on a device whose memory holds the weights already: what was asked for, else what the
/// device's free memory and the lengths of prompts and completions suggest. Prompts begin with `template`.
pub fn engine_config(
    config: &ModelConfig,
    precision: Precision,
    device: &Device,
    lengths: &WorkloadLengths,
    options: &EngineOptions,
    template: Vec<u32>,
) -> EngineConfig {
    let processor = if device.is_cpu() {
        Processor::Cpu {
            cache_bytes: host::cache_bytes(rayon::current_num_threads()),
        }
    } else {
        Processor::Gpu
    };
    let model = MemoryFootprint::new(config, precision, device);
    EngineConfig {
        prefix_cache: !options.no_prefix_cache,
        pinned_prefix: template,
        ..choose(
            processor,
            share(free_memory(device), options),
            &model,
            lengths,
            options,
        )
    }
}

/// What one judge may have of `free` bytes.
fn share(free: usize, options: &EngineOptions) -> usize {
    free.saturating_sub(options.left_to_others) / (options.others + 1)
}

/// Chooses the sizes for `free` bytes of memory, the weights being in memory already.
fn choose(
    processor: Processor,
    free: usize,
    model: &MemoryFootprint,
    lengths: &WorkloadLengths,
    given: &EngineOptions,
) -> EngineConfig {
    // A sequence longer than the context never reaches the engine.
    let max_new = lengths.max_new.min(lengths.context);
    let template = lengths.shared.div_ceil(BLOCK_SIZE);
    let longest = lengths
        .shared
        .saturating_add(lengths.longest)
        .saturating_add(max_new)
        .min(lengths.context);
    // The template's blocks may be pinned for other sequences.
    let least_blocks = template + longest.div_ceil(BLOCK_SIZE);

    let token_budget = given
        .token_budget
        .unwrap_or_else(|| token_budget(processor, free, model));
    let most_sequences = given.max_sequences.unwrap_or_else(|| {
        let most = match processor {
            Processor::Cpu { .. } => CPU_SEQUENCES,
            Processor::Gpu => GPU_SEQUENCES,
        };
        most.min(lengths.sequences).max(1)
    });
    let most_sequences = with_states(most_sequences, free / 100 * STATE_SHARE, model, given);
    let states = EngineConfig::states_of(most_sequences).saturating_mul(model.state_bytes);
    let all_bytes = match processor {
        Processor::Cpu { .. } => (free / 100 * CPU_KV_SHARE).saturating_sub(states),
        Processor::Gpu => {
            let reserve = (free / 100 * GPU_RESERVE).max(GPU_RESERVE_BYTES);
            let step = token_budget.saturating_mul(model.activation_bytes_per_token);
            // A row's logits also lie beside their sorted or softmaxed copy.
            let logits = 2 * most_sequences.saturating_mul(model.logits_bytes_per_row);
            let working = model.rounded(step.saturating_add(logits));
            free.saturating_sub(reserve.saturating_add(working).saturating_add(states))
        }
    };
    let windowed = |sequences: usize| match model.windowed {
        None => 0,
        Some((window, bytes)) => {
            let one = (window + 2 * BLOCK_SIZE).min(longest);
            let shared = 2 * lengths.shared.min(window);
            let tokens = sequences
                .saturating_mul(one)
                .saturating_add(token_budget + shared);
            tokens.saturating_mul(bytes)
        }
    };
    let most_sequences = match (given.max_sequences, model.windowed) {
        // As many as leave their part to the other layers.
        (None, Some((window, bytes))) => {
            let tokens = (lengths.typical + max_new / 2).max(1);
            let in_window = (bytes * window.min(tokens)) as f64;
            let others = (model.kv_bytes_per_token * tokens) as f64;
            let most = (all_bytes as f64 * in_window / (in_window + others)) as usize;
            let fits = |sequences: &usize| windowed(*sequences) <= most;
            (1..=most_sequences).rev().find(fits).unwrap_or(1)
        }
        _ => most_sequences,
    };
    let kv_bytes = all_bytes.saturating_sub(windowed(most_sequences));
    let blocks = given.blocks.unwrap_or_else(|| {
        let at_once = most_sequences.min(lengths.sequences);
        let whole = at_once.saturating_mul((lengths.typical + max_new).div_ceil(BLOCK_SIZE));
        let own = match processor {
            // The blocks that running sequences fill: a small pool is reused while it is still in the CPU's cache. Of many
            // sequences some have just begun while others end, of few all may be long at once.
            Processor::Cpu { .. } => {
                let half = (lengths.typical + max_new / 2).div_ceil(BLOCK_SIZE);
                whole.min(CPU_SEQUENCES.max(most_sequences).saturating_mul(half))
            }
            // Twice the blocks that they can fill: the rest keeps shared prefixes.
            Processor::Gpu => 2 * whole,
        };
        let useful = own.saturating_add(template);
        useful.min(model.tokens_of_cache(kv_bytes) / BLOCK_SIZE)
    });
    let blocks = blocks.max(least_blocks);

    let max_sequences = given.max_sequences.unwrap_or_else(|| {
        // Most completions end well before their limit, and those that run are halfway on average.
        let own = (lengths.typical + max_new / 4).div_ceil(BLOCK_SIZE).max(1);
        let few = FEW_SEQUENCES.min(most_sequences);
        (blocks.saturating_sub(template) / own).clamp(few, most_sequences)
    });
    EngineConfig {
        blocks,
        least_blocks,
        block_size: BLOCK_SIZE,
        max_sequences,
        token_budget,
        max_prefill_chunk: given.prefill_chunk.unwrap_or(token_budget),
        context_length: lengths.context,
        prefix_cache: true,
        pinned_prefix: Vec::new(),
        // On a GPU logits depend on the rows of a step, and how far is drafted on its time: results are to depend on no clock.
        drafts: match (processor, given.drafts) {
            (Processor::Gpu, Drafts::Auto) => Drafts::Off,
            (_, given) => given,
        },
    }
}

/// The most sequences at once, of `most`, whose recurrent states fit into so many bytes; as many as were asked for in any case.
fn with_states(most: usize, bytes: usize, model: &MemoryFootprint, given: &EngineOptions) -> usize {
    if given.max_sequences.is_some() || model.state_bytes == 0 {
        return most;
    }
    let fits = |sequences: &usize| {
        EngineConfig::states_of(*sequences).saturating_mul(model.state_bytes) <= bytes
    };
    (1..=most).rev().find(fits).unwrap_or(1)
}

/// Tokens a step: on a CPU as many as keep the step's intermediate results near its cache, on a GPU as many as leave its
/// memory to keys and values.
fn token_budget(processor: Processor, free: usize, model: &MemoryFootprint) -> usize {
    let per_token = model.activation_bytes_per_token.max(1);
    match processor {
        Processor::Cpu { cache_bytes } => {
            let fits = cache_bytes.saturating_mul(CACHE_TIMES) / per_token;
            // Whole tiles of the matrix products.
            (fits / 64 * 64).clamp(LEAST_CPU_BUDGET, CPU_BUDGET)
        }
        Processor::Gpu => {
            let fits = free / 100 * ACTIVATION_SHARE / model.rounded(per_token);
            let halvings = (0..).map(|times| GPU_BUDGET >> times);
            halvings
                .take_while(|&budget| budget >= LEAST_GPU_BUDGET)
                .find(|&budget| budget <= fits)
                .unwrap_or(LEAST_GPU_BUDGET)
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::DType;
    use proptest::prelude::*;

    use super::*;
    use crate::catalog::shapes;

    const GIB: usize = 1 << 30;

    const JUDGE: WorkloadLengths = WorkloadLengths {
        shared: 1300,
        typical: 1500,
        longest: 6000,
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
        for free in [40, 100, 200].map(|gigabytes| gigabytes * GIB) {
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

    proptest! {
        #[test]
        fn any_one_sequence_fits_whatever_the_memory(
            free in 0..200 * GIB, gpu: bool, cache_bytes in 0..(256usize << 20), shared in 0..5000usize,
            typical in 0..8000usize, longest in 0..100_000usize, max_new in 1..100_000usize,
            blocks in prop::option::of(1..100_000usize), max_sequences in prop::option::of(1..1000usize),
            sequences in 1..1000usize,
        ) {
            let processor = if gpu { Processor::Gpu } else { Processor::Cpu { cache_bytes } };
            let lengths = WorkloadLengths { shared, typical, longest, max_new, context: 40_960, sequences };
            let given = EngineOptions { max_sequences, blocks, ..EngineOptions::default() };
            let model = qwen3_8b();
            let sizes = super::choose(processor, free, &model, &lengths, &given);
            let longest = (shared + longest + max_new).min(40_960);
            prop_assert!(sizes.least_blocks * BLOCK_SIZE >= longest);
            prop_assert!(sizes.blocks >= sizes.least_blocks);
            prop_assert!(sizes.max_sequences >= 1 && sizes.token_budget >= 1);
        }
    }
}
