//! How large an engine is for a model, a machine and a workload, where the user did not say.
//!
//! Sizes decide how long a run takes, never its verdicts: any one sequence of known samples fits, whatever is chosen here.

use candle_core::Device;

use super::{EngineOptions, WorkloadLengths};
use juror_engine::checkpoint::ModelConfig;
use juror_engine::engine::{Drafts, EngineConfig};
use juror_engine::model::Precision;
use juror_engine::model::memory::{MemoryFootprint, free_memory, host};

/// Token positions a KV block.
pub const BLOCK_SIZE: usize = 16;

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

/// Of a machine's free memory, what keys and values may take. In hundredths: the rest is other programs', and the system's to cache files in.
const CPU_KV_SHARE: usize = 50;

/// Of the free memory, the most that recurrent states may take where the user does not say how many sequences run at once. In hundredths.
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
    let free = share(free_memory(device), options);
    EngineConfig {
        prefix_cache: !options.no_prefix_cache,
        pinned_prefix: template,
        ..choose(processor, free, &model, lengths, options)
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
    // The template's blocks may be pinned for other sequences.
    let blocks_for = |own: usize| {
        let all = lengths.shared.saturating_add(own).saturating_add(max_new);
        template + all.min(lengths.context).div_ceil(BLOCK_SIZE)
    };
    let least_blocks = blocks_for(lengths.least);

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
    let sized = |blocks: usize, max_sequences: usize| EngineConfig {
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
    };
    let windowed = |sequences: usize| {
        model.rounded(model.windowed.map_or(0, |(window, bytes)| {
            let engine = sized(usize::MAX, sequences);
            let blocks =
                engine.windowed_blocks_beside(window, model.steps_in_flight, lengths.shared);
            blocks.saturating_mul(BLOCK_SIZE * bytes)
        }))
    };
    let most_sequences = match model.windowed {
        // As many as leave their part to the other layers, also where more are asked for.
        Some((window, bytes)) => {
            let tokens = (lengths.typical + max_new / 2).max(1);
            let in_window = (bytes * window.min(tokens)) as f64;
            let others = (model.kv_bytes_per_token * tokens) as f64;
            let most = (all_bytes as f64 * in_window / (in_window + others)) as usize;
            let fits = |sequences: &usize| windowed(*sequences) <= most;
            (1..=most_sequences).rev().find(fits).unwrap_or(1)
        }
        None => most_sequences,
    };
    let kv_bytes = all_bytes.saturating_sub(windowed(most_sequences));
    let in_memory = model.tokens_of_cache(kv_bytes) / BLOCK_SIZE;
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
        useful.min(in_memory)
    });
    let longest_blocks = blocks_for(lengths.longest).min(in_memory);
    let blocks = blocks.max(longest_blocks).max(least_blocks);

    sized(blocks, sequences_of(blocks, most_sequences, lengths, given))
}

/// Sequences at once for so many blocks, of `most` that other memory suffices for: where the user did not say, as many as the blocks do.
pub(super) fn sequences_of(
    blocks: usize,
    most: usize,
    lengths: &WorkloadLengths,
    given: &EngineOptions,
) -> usize {
    if let Some(asked) = given.max_sequences {
        return asked.min(most);
    }
    // Most completions end well before their limit, and those that run are halfway on average.
    let own = lengths.typical + lengths.max_new.min(lengths.context) / 4;
    let own = own.div_ceil(BLOCK_SIZE).max(1);
    let template = lengths.shared.div_ceil(BLOCK_SIZE);
    (blocks.saturating_sub(template) / own).clamp(FEW_SEQUENCES.min(most), most)
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

/// Tokens a step: on a CPU as many as keep the step's intermediate results near its cache, on a GPU as many as leave its memory to keys and values.
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
mod tests;
