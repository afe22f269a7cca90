//! A judge's engine: as large as the machine allows, unless the user said otherwise.

use std::fmt::Write as _;

use candle_core::Device;

use super::model::{EngineSizes, JudgeText};
use crate::engine::host;
use crate::engine::sizing::{
    ActivationShape, GivenSizes, Lengths, ModelFootprint, Processor, choose_sizes,
};
use crate::engine::{Engine, EngineConfig};
use crate::model::ModelConfig;
use crate::model::attention::{AttentionShape, kv_bytes_per_token};
use crate::model::device::gpu_memory;
use crate::model::precision::Precision;

/// Token positions a KV block.
const BLOCK_SIZE: usize = 16;

/// Tokens of a prompt beside template and texts, at most; and of a typical one beside the template, where the texts are
/// not known.
const OWN_PROMPT_TOKENS: usize = 512;

/// Bytes of text that a token stands for, cautiously: English and formulas have more.
const BYTES_PER_TOKEN: usize = 3;

/// The engine's sizes for a device whose memory holds the weights already.
pub(super) fn engine_config(
    text: &JudgeText,
    precision: Precision,
    device: &Device,
    sizes: &EngineSizes,
    max_new_tokens: usize,
) -> EngineConfig {
    let pinned_prefix = text.prompts.shared_prefix().to_vec();
    let lengths = Lengths {
        shared: pinned_prefix.len(),
        typical: match sizes.typical_text {
            0 => OWN_PROMPT_TOKENS,
            bytes => bytes / BYTES_PER_TOKEN,
        },
        // No token is shorter than a byte.
        longest: OWN_PROMPT_TOKENS.saturating_add(sizes.longest_text),
        max_new: max_new_tokens,
    };
    let given = GivenSizes {
        max_sequences: sizes.max_sequences,
        token_budget: sizes.token_budget,
        prefill_chunk: sizes.prefill_chunk,
        blocks: sizes.kv_blocks,
    };
    let processor = if device.is_cpu() {
        Processor::Cpu {
            cache_bytes: host::cache_bytes(rayon::current_num_threads()),
        }
    } else {
        Processor::Gpu
    };
    let model = footprint(&text.config, precision);
    let config = choose_sizes(
        processor,
        free_memory(device),
        &model,
        &lengths,
        BLOCK_SIZE,
        &given,
    );
    EngineConfig {
        prefix_cache: !sizes.no_prefix_cache,
        pinned_prefix,
        ..config
    }
}

/// What a model takes beside its weights.
pub fn footprint(config: &ModelConfig, precision: Precision) -> ModelFootprint {
    let intermediate = config
        .experts
        .as_ref()
        .map_or(config.intermediate, |experts| {
            experts.intermediate * experts.per_token
        });
    let shape = ActivationShape {
        hidden: config.hidden,
        queries: config.heads * config.head_dim,
        keys: config.kv_heads * config.head_dim,
        intermediate,
    };
    let cache = AttentionShape::from(config);
    ModelFootprint {
        kv_bytes_per_token: kv_bytes_per_token(&cache, precision.kv.dtype()),
        activation_bytes_per_token: shape.bytes_per_token(precision.compute.size_in_bytes()),
        // Logits are f32.
        logits_bytes_per_row: 4 * config.vocab,
        context_length: config.max_positions,
    }
}

/// Bytes of memory that a device has free.
fn free_memory(device: &Device) -> usize {
    if let Ok(Some((free, _))) = gpu_memory(device) {
        return free;
    }
    let free = host::free_memory();
    if device.is_cpu() {
        free
    } else {
        // A GPU that shares the machine's memory may not have all of it.
        free / 2
    }
}

/// An engine's sizes in words.
pub(super) fn describe<M>(engine: &Engine<M>) -> String {
    let (config, blocks) = (engine.config(), engine.stats().blocks);
    let mut text = format!(
        "{} sequences at once, {} tokens a step, {blocks} KV blocks of {} tokens",
        config.max_sequences, config.token_budget, config.block_size
    );
    if blocks < config.blocks {
        let _ = write!(text, " (no memory for {})", config.blocks);
    }
    text
}
