//! The time and memory of a workload, estimated from its tokens, the model's sizes and what the device was measured to do.

use std::fmt;

use candle_core::DType;

use super::Ceiling;
use juror_engine::checkpoint::ModelConfig;
use juror_engine::engine::EngineConfig;
use juror_engine::model::Precision;
use juror_engine::model::attention::{CacheLayout, kv_bytes_per_token};
use juror_engine::model::memory::{MemoryFootprint, weight_bytes};
use juror_engine::model::precision::WeightType;

/// The share of the ceilings that whole runs reach: about half, according to `docs/benchmarks`.
const SHARE: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub generations: usize,
    /// Prompt tokens to compute, counting what all prompts share once.
    pub prompts: usize,
    /// Tokens of a typical prompt, the shared ones included.
    pub prompt_length: usize,
    /// Tokens to generate, of all generations together.
    pub outputs: usize,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Estimate {
    pub prompt_seconds: f64,
    pub output_seconds: f64,
    /// The devices that hold the model together: all sizes are those of one.
    pub parts: usize,
    pub weights: usize,
    pub cache: usize,
    pub step: usize,
}

impl Estimate {
    /// The estimate for a model stored in `precision`, with `packed` of its weights in MXFP4, in an engine of these sizes.
    pub(crate) fn new(
        tokens: &Tokens,
        (config, parts): (&ModelConfig, usize),
        precision: Precision,
        packed: usize,
        engine: &EngineConfig,
        ceiling: Ceiling,
        footprint: &MemoryFootprint,
    ) -> Self {
        let weights = weight_bytes(config, parts, precision, packed);
        let of_layers = 2.0 * config.active_layer_parameters() as f64;
        let layout = CacheLayout::from(config);
        let shapes: Vec<_> = layout.layers(config).map(|(_, shape)| shape).collect();
        let widths = shapes.iter().map(|shape| 4 * shape.heads * shape.head_dim);
        let of_key = widths.clone().sum::<usize>() as f64;
        // Prompts go through the layers alone that make keys of their own; all layers read keys.
        let of_own_key = widths.take(config.first_sharing()).sum::<usize>() as f64;
        let of_own = of_layers - 2.0 * config.sharing_layer_parameters() as f64;
        let of_head = 2.0 * (config.vocab * config.hidden) as f64;
        let length = tokens.prompt_length as f64;
        let prompt_operations = tokens.prompts as f64 * (of_own + of_own_key * length / 2.0);
        let keys = length + tokens.outputs as f64 / tokens.generations.max(1) as f64 / 2.0;
        let rows = engine.max_sequences.min(tokens.generations).max(1) as f64;
        let steps = tokens.outputs as f64 / rows;
        let of_one = |shape| kv_bytes_per_token(shape, precision.kv);
        let key_bytes = shapes.iter().map(of_one).sum::<usize>() as f64;
        // Weights in few bits are multiplied on a GPU no faster than in 16.
        let read = match (precision.weights, precision.compute) {
            (WeightType::Stored { .. }, DType::BF16 | DType::F16) => {
                let wide = Precision {
                    weights: precision.compute.into(),
                    ..precision
                };
                weight_bytes(config, parts, wide, packed)
            }
            _ => weights,
        };
        // Of the table of what layers get of a token rows alone are read.
        let read = read.saturating_sub(2 * config.input_table());
        // A recurrent state is read and written.
        let state = 2.0 * footprint.state_bytes as f64;
        let step_bytes = read as f64 + rows * (keys * key_bytes + state);
        let step_operations = rows * (of_layers + of_key * keys + of_head);
        let seconds = |operations: f64, bytes: f64| {
            (operations / ceiling.flops).max(bytes / ceiling.bandwidth) / SHARE
        };
        let prompt_steps = (tokens.prompts as f64 / engine.token_budget as f64).ceil();
        Self {
            prompt_seconds: seconds(prompt_operations, prompt_steps * read as f64),
            output_seconds: steps * seconds(step_operations, step_bytes),
            parts,
            weights,
            cache: engine.cache_bytes(footprint) + engine.states() * footprint.state_bytes,
            step: engine.token_budget * footprint.activation_bytes_per_token
                + engine.max_sequences * footprint.logits_bytes_per_row,
        }
    }

    pub(crate) fn memory(&self) -> String {
        let all = self.weights + self.cache + self.step;
        let each = match self.parts {
            1 => String::new(),
            parts => format!(" on each of {parts} GPUs"),
        };
        format!(
            "{}{each} (weights {}, keys and values {}, a step {})",
            gigabytes(all),
            gigabytes(self.weights),
            gigabytes(self.cache),
            gigabytes(self.step)
        )
    }
}

pub(crate) fn gigabytes(bytes: usize) -> String {
    format!("{:.2} GB", bytes as f64 / 1e9)
}

/// A time in seconds, with larger units beside it where those are more readable.
pub(crate) struct Seconds(pub f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0;
        match seconds {
            ..1.0 => write!(f, "{seconds:.2} s"),
            ..10.0 => write!(f, "{seconds:.1} s"),
            ..120.0 => write!(f, "{seconds:.0} s"),
            ..7200.0 => write!(f, "{seconds:.0} s ({:.0} min)", seconds / 60.0),
            _ => write!(f, "{seconds:.0} s ({:.1} h)", seconds / 3600.0),
        }
    }
}

#[cfg(test)]
mod tests;
