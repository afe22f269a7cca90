//! How large an engine is for a model, a machine and a workload, where the user did not say.
//!
//! Sizes decide how long a run takes, never what comes of it: whatever is chosen here, any one sequence fits.

use super::core::EngineConfig;

/// What computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processor {
    /// The CPU.
    Cpu {
        /// Bytes of cache that its threads have together.
        cache_bytes: usize,
    },
    /// A GPU with memory of its own, or a share of the machine's.
    Gpu,
}

/// The memory a model takes beside its weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelFootprint {
    /// Keys and values of one token, in all layers.
    pub kv_bytes_per_token: usize,
    /// What one token of a step takes while the step runs; see [`ActivationShape::bytes_per_token`].
    pub activation_bytes_per_token: usize,
    /// The logits of one row.
    pub logits_bytes_per_row: usize,
    /// Most tokens of a sequence.
    pub context_length: usize,
}

/// The widths that a token's intermediate results have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActivationShape {
    /// The residual stream.
    pub hidden: usize,
    /// All query heads together.
    pub queries: usize,
    /// All key heads together.
    pub keys: usize,
    /// The feed-forward layer, or all experts that a token sees together.
    pub intermediate: usize,
}

impl ActivationShape {
    /// An upper estimate: everything of one layer, as if nothing were freed before its end.
    pub fn bytes_per_token(&self, bytes_per_number: usize) -> usize {
        let projected = self.queries + 2 * self.keys;
        // Norm, projections before and after the rotation, attention's output and its projection.
        let attention = 3 * self.hidden + 2 * projected + self.queries;
        // Norm, gate and up, their product, the way back.
        let feed_forward = 3 * self.hidden + 3 * self.intermediate;
        (attention + feed_forward) * bytes_per_number
    }
}

/// The lengths of what will be asked, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// The beginning that all prompts share.
    pub shared: usize,
    /// What a typical prompt has beside it.
    pub typical: usize,
    /// What the longest prompt may have beside it.
    pub longest: usize,
    /// Most tokens to generate.
    pub max_new: usize,
}

/// What was said of an engine; a size that is `None` is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EngineSettings {
    /// Most sequences at once.
    pub max_sequences: Option<usize>,
    /// Most tokens a step.
    pub token_budget: Option<usize>,
    /// Most tokens of one prompt a step.
    pub prefill_chunk: Option<usize>,
    /// KV blocks of 16 tokens.
    pub blocks: Option<usize>,
    /// Compute every prompt from its beginning.
    pub no_prefix_cache: bool,
    /// Compute with candle's operations alone where there are kernels of our own too: the baseline of measurements.
    pub plain_operations: bool,
    /// Have every sequence attend to a shared prefix by itself.
    pub no_shared_prefix: bool,
}

/// Most sequences at once. Decoding reads all weights each step, whatever the number of rows: on a GPU more rows are
/// almost free up to where it computes as long as it reads, near 200 for bf16 on current ones.
const GPU_SEQUENCES: usize = 256;
const CPU_SEQUENCES: usize = 64;

/// Fewer than this are not worth a smaller share of preemptions.
const FEW_SEQUENCES: usize = 8;

/// Most tokens a step: matrix products reach their full speed below, and longer steps let the others wait.
const GPU_BUDGET: usize = 8192;
const CPU_BUDGET: usize = 512;

/// Fewer tokens cost more in weights read again than they save.
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

/// Of a GPU's free memory, the most that a step's intermediate results may take. In hundredths.
const ACTIVATION_SHARE: usize = 10;

/// Chooses an engine's sizes for `free` bytes of memory, the weights being in memory already. The pinned prefix is left
/// to the caller, and the prefix cache is on.
pub fn choose_sizes(
    processor: Processor,
    free: usize,
    model: &ModelFootprint,
    lengths: &Lengths,
    block_size: usize,
    given: &EngineSettings,
) -> EngineConfig {
    // What does not fit the context never reaches the engine, whatever limit was asked for.
    let max_new = lengths.max_new.min(model.context_length);
    let template = lengths.shared.div_ceil(block_size);
    let longest = lengths
        .shared
        .saturating_add(lengths.longest)
        .saturating_add(max_new)
        .min(model.context_length);
    // The template's blocks may be pinned for another one's sake.
    let least_blocks = template + longest.div_ceil(block_size);

    let token_budget = given
        .token_budget
        .unwrap_or_else(|| token_budget(processor, free, model));
    let most_sequences = given.max_sequences.unwrap_or(match processor {
        Processor::Cpu { .. } => CPU_SEQUENCES,
        Processor::Gpu => GPU_SEQUENCES,
    });
    let kv_bytes = match processor {
        Processor::Cpu { .. } => free / 100 * CPU_KV_SHARE,
        Processor::Gpu => {
            let reserve = (free / 100 * GPU_RESERVE).max(GPU_RESERVE_BYTES);
            let step = token_budget.saturating_mul(model.activation_bytes_per_token);
            // A row's logits also lie beside their sorted or softmaxed copy.
            let logits = 2 * most_sequences.saturating_mul(model.logits_bytes_per_row);
            free.saturating_sub(reserve.saturating_add(step).saturating_add(logits))
        }
    };
    let block_bytes = (model.kv_bytes_per_token * block_size).max(1);
    let blocks = given.blocks.unwrap_or_else(|| {
        let own = match processor {
            // What those that run at once will fill: blocks are used in turn, and memory used again is still in cache.
            Processor::Cpu { .. } => lengths.typical + max_new / 2,
            // Twice what they can fill: the rest keeps what they share.
            Processor::Gpu => 2 * (lengths.typical + max_new),
        };
        let useful = most_sequences.saturating_mul(own.div_ceil(block_size)) + template;
        useful.min(kv_bytes / block_bytes)
    });
    let blocks = blocks.max(least_blocks);

    let max_sequences = given.max_sequences.unwrap_or_else(|| {
        // Most completions end well before their limit, and those that run are halfway on average.
        let own = (lengths.typical + max_new / 4).div_ceil(block_size).max(1);
        (blocks.saturating_sub(template) / own).clamp(FEW_SEQUENCES, most_sequences)
    });
    EngineConfig {
        blocks,
        least_blocks,
        block_size,
        max_sequences,
        token_budget,
        max_prefill_chunk: given.prefill_chunk.unwrap_or(token_budget),
        context_length: model.context_length,
        prefix_cache: true,
        pinned_prefix: Vec::new(),
    }
}

/// Tokens a step: on a CPU as many as keep the step's intermediate results near its cache, on a GPU as many as leave its
/// memory to keys and values.
fn token_budget(processor: Processor, free: usize, model: &ModelFootprint) -> usize {
    let per_token = model.activation_bytes_per_token.max(1);
    match processor {
        Processor::Cpu { cache_bytes } => {
            let fits = cache_bytes.saturating_mul(CACHE_TIMES) / per_token;
            // Whole tiles of the matrix products.
            (fits / 64 * 64).clamp(LEAST_CPU_BUDGET, CPU_BUDGET)
        }
        Processor::Gpu => {
            let fits = free / 100 * ACTIVATION_SHARE / per_token;
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
    use super::*;
    use proptest::prelude::*;

    const GIB: usize = 1 << 30;
    const BLOCK: usize = 16;

    const JUDGE: Lengths = Lengths {
        shared: 1300,
        typical: 1500,
        longest: 6000,
        max_new: 2500,
    };

    fn qwen3_8b() -> ModelFootprint {
        let shape = ActivationShape {
            hidden: 4096,
            queries: 4096,
            keys: 1024,
            intermediate: 12288,
        };
        ModelFootprint {
            kv_bytes_per_token: 2 * 36 * 1024 * 2,
            activation_bytes_per_token: shape.bytes_per_token(2),
            logits_bytes_per_row: 151_936 * 4,
            context_length: 40_960,
        }
    }

    fn qwen3_0_6b(kv_bytes: usize) -> ModelFootprint {
        let shape = ActivationShape {
            hidden: 1024,
            queries: 2048,
            keys: 1024,
            intermediate: 3072,
        };
        ModelFootprint {
            kv_bytes_per_token: 2 * 28 * 1024 * kv_bytes,
            activation_bytes_per_token: shape.bytes_per_token(4),
            logits_bytes_per_row: 151_936 * 4,
            context_length: 40_960,
        }
    }

    fn choose(
        processor: Processor,
        free: usize,
        model: &ModelFootprint,
        lengths: &Lengths,
    ) -> EngineConfig {
        let given = EngineSettings::default();
        choose_sizes(processor, free, model, lengths, BLOCK, &given)
    }

    #[test]
    fn a_large_gpu_gives_most_of_its_memory_to_keys_and_values() {
        // An H200 after loading 16 GB of weights.
        let (free, model) = (122 * GIB, qwen3_8b());
        let sizes = choose(Processor::Gpu, free, &model, &JUDGE);
        assert_eq!((sizes.max_sequences, sizes.token_budget), (256, 8192));
        let cache = sizes.blocks * BLOCK * model.kv_bytes_per_token;
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
        let cache = sizes.blocks * BLOCK * model.kv_bytes_per_token;
        let step = sizes.token_budget * model.activation_bytes_per_token;
        assert!(cache + step < free, "{sizes:?}");
        assert!(cache > free / 2, "{sizes:?}");
    }

    #[test]
    fn a_laptop_keeps_half_its_memory_for_others() {
        // 16 GB, 10 of them free with the weights loaded; 8 MB of cache.
        let processor = Processor::Cpu {
            cache_bytes: 8 << 20,
        };
        for kv_bytes in [4, 2] {
            let model = qwen3_0_6b(kv_bytes);
            let sizes = choose(processor, 10 * GIB, &model, &JUDGE);
            assert_eq!(sizes.token_budget, 256);
            let cache = sizes.blocks * BLOCK * model.kv_bytes_per_token;
            assert!(cache <= 5 * GIB && cache > 4 * GIB, "{sizes:?}");
            assert!((8..=64).contains(&sizes.max_sequences), "{sizes:?}");
        }
        // 32 MB of cache take the longest steps.
        let workstation = Processor::Cpu {
            cache_bytes: 32 << 20,
        };
        let sizes = choose(workstation, 100 * GIB, &qwen3_0_6b(4), &JUDGE);
        assert_eq!((sizes.max_sequences, sizes.token_budget), (64, 512));
    }

    #[test]
    fn a_tiny_model_takes_no_more_than_it_can_use() {
        let model = ModelFootprint {
            kv_bytes_per_token: 2048,
            activation_bytes_per_token: 8192,
            logits_bytes_per_row: 8192,
            context_length: 4096,
        };
        for processor in [
            Processor::Cpu {
                cache_bytes: 4 << 20,
            },
            Processor::Gpu,
        ] {
            let sizes = choose(processor, 64 * GIB, &model, &JUDGE);
            assert!(sizes.blocks * BLOCK * model.kv_bytes_per_token < 5 * GIB);
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

    #[test]
    fn what_was_given_is_taken() {
        let given = EngineSettings {
            max_sequences: Some(3),
            token_budget: Some(100),
            prefill_chunk: Some(7),
            blocks: Some(5000),
            ..EngineSettings::default()
        };
        let sizes = choose_sizes(Processor::Gpu, 9 * GIB, &qwen3_8b(), &JUDGE, BLOCK, &given);
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
        ) {
            let processor = if gpu { Processor::Gpu } else { Processor::Cpu { cache_bytes } };
            let lengths = Lengths { shared, typical, longest, max_new };
            let given = EngineSettings { max_sequences, blocks, ..EngineSettings::default() };
            let model = qwen3_8b();
            let sizes = choose_sizes(processor, free, &model, &lengths, BLOCK, &given);
            let longest = (shared + longest + max_new).min(model.context_length);
            prop_assert!(sizes.least_blocks * BLOCK >= longest);
            prop_assert!(sizes.blocks >= sizes.least_blocks);
            prop_assert!(sizes.max_sequences >= 1 && sizes.token_budget >= 1);
        }
    }
}
