//! A judge's engine: as large as the machine allows, unless the user said otherwise.

use std::fmt::Write as _;

use candle_core::Device;

use super::model::{EngineSizes, JudgeText};
use crate::engine::sizing::Lengths;
use crate::engine::{Engine, EngineConfig, sizes_for};
use crate::model::precision::Precision;

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
    let config = sizes_for(&text.config, precision, device, &lengths, &sizes.settings);
    EngineConfig {
        pinned_prefix,
        ..config
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
