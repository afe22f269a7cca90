//! A judge's engine: as large as the machine allows, unless the user said otherwise.

use std::fmt::Write as _;

use candle_core::Device;
use rayon::prelude::*;

use super::guarded;
use super::jobs::{self, Job};
use super::model::{EngineSizes, JudgeText};
use crate::dataset::{DatasetError, Samples};
use crate::engine::sizing::Lengths;
use crate::engine::{Engine, EngineConfig, sizes_for};
use crate::model::precision::Precision;

/// Tokens of a prompt beside template and texts, at most; and of a typical one beside the template, where the texts are
/// not known.
const OWN_PROMPT_TOKENS: usize = 512;

/// Bytes of text that a token stands for, cautiously: English and formulas have more.
const BYTES_PER_TOKEN: usize = 3;

/// Most samples that are tokenised to find out whether they can run; of more, evenly chosen ones stand for the others.
const LOOKED_AT: usize = 512;

/// Samples that are tokenised at a time.
const AT_ONCE: usize = 64;

/// Bytes of the texts of the samples that will run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TextSizes {
    /// Of the longest one.
    pub(super) longest: usize,
    /// Of one on average.
    pub(super) typical: usize,
}

impl TextSizes {
    /// Those of the samples of `jobs` that fit the context: what does not is never asked, and must not take room from
    /// the others.
    ///
    /// # Errors
    /// When a sample cannot be read.
    pub(super) fn of<S: Samples + ?Sized>(
        samples: &S,
        jobs: &[Job],
        text: &JudgeText,
        max_new_tokens: usize,
    ) -> Result<Self, DatasetError> {
        let mut positions: Vec<usize> = jobs.iter().map(|job| job.position()).collect();
        positions.dedup();
        let bytes = |position: usize| samples.outline(position).bytes;
        // No token is shorter than a byte.
        let room = text
            .config
            .max_positions
            .saturating_sub(max_new_tokens)
            .saturating_sub(text.prompts.shared_prefix().len() + OWN_PROMPT_TOKENS);
        let (unsure, fitting): (Vec<usize>, Vec<usize>) =
            positions.into_iter().partition(|&at| bytes(at) > room);
        let every = unsure.len().div_ceil(LOOKED_AT).max(1);
        let looked_at: Vec<usize> = unsure.into_iter().step_by(every).collect();
        let (mut longest, mut total, mut count) = (0, 0, 0);
        let mut add = |bytes: usize, times: usize| {
            longest = longest.max(bytes);
            total += bytes * times;
            count += times;
        };
        for position in fitting {
            add(bytes(position), 1);
        }
        let mut rest = looked_at.as_slice();
        while !rest.is_empty() {
            let now = jobs::cut_positions(&mut rest, samples, AT_ONCE);
            let fits: Vec<bool> = samples
                .fetch(now)?
                .par_iter()
                .map(|sample| {
                    guarded(|| text.prompt(sample, max_new_tokens))
                        .is_ok_and(|prompt| matches!(prompt, Ok(Ok(_))))
                })
                .collect();
            for (&position, fits) in now.iter().zip(fits) {
                if fits {
                    add(bytes(position), every);
                }
            }
        }
        if every > 1 {
            // One of those that were not looked at may be the longest.
            longest = longest.max(text.config.max_positions);
        }
        Ok(Self {
            longest,
            typical: total / count.max(1),
        })
    }
}

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
        // No token is shorter than a byte, and what keeps a text from closing its field makes it a little longer.
        longest: OWN_PROMPT_TOKENS
            .saturating_add(sizes.longest_text)
            .saturating_add(sizes.longest_text / 2),
        max_new: max_new_tokens,
    };
    let config = sizes_for(&text.config, precision, device, &lengths, &sizes.settings);
    EngineConfig {
        pinned_prefix,
        ..config
    }
}

/// An engine's sizes in words.
pub(super) fn describe(engine: &Engine) -> String {
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
