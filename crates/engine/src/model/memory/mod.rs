//! Memory: what a device has free, and what a model takes of it.

pub mod host;

use candle_core::Device;

use super::ModelError;
use super::attention::{AttentionShape, kv_bytes_per_token};
use super::device::gpu_memory;
use super::precision::{Precision, WeightType};
use crate::checkpoint::ModelConfig;

/// The memory that a model takes beside its weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryFootprint {
    /// Keys and values of one token, in all layers.
    pub kv_bytes_per_token: usize,
    /// What one token of a step takes while the step runs: an upper estimate, all intermediate results of one layer, as if
    /// none were freed before its end.
    pub activation_bytes_per_token: usize,
    /// The logits of one row.
    pub logits_bytes_per_row: usize,
}

impl MemoryFootprint {
    /// That of a model as it is computed on a device.
    pub fn new(config: &ModelConfig, precision: Precision, device: &Device) -> Self {
        let queries = config.heads * config.head_dim;
        let projected = queries + 2 * config.kv_heads * config.head_dim;
        let intermediate = config
            .experts
            .as_ref()
            .map_or(config.intermediate, |experts| {
                experts.intermediate * experts.per_token
            });
        // Norm, projections before and after the rotation, attention's output and its projection.
        let attention = 3 * config.hidden + 2 * projected + queries;
        // Norm, gate and up, their product, the way back.
        let feed_forward = 3 * config.hidden + 3 * intermediate;
        // A GPU takes a token's experts together, and adds their results afterwards; the CPU takes one after the other.
        let results = match config.experts {
            Some(experts) if !device.is_cpu() => experts.per_token * config.hidden,
            _ => 0,
        };
        let numbers = attention + feed_forward + results;
        Self {
            kv_bytes_per_token: kv_bytes_per_token(
                &AttentionShape::from(config),
                precision.kv.dtype(),
            ),
            activation_bytes_per_token: numbers * precision.compute.size_in_bytes(),
            // Logits are f32.
            logits_bytes_per_row: 4 * config.vocab,
        }
    }
}

/// Bits that a weight takes in MXFP4, its share of the exponent included.
pub const MXFP4_BITS: f64 = 4.25;

/// Bytes that a model's weights take once they are loaded, so many of them in MXFP4 whatever the others are stored in.
pub fn weight_bytes(config: &ModelConfig, precision: Precision, mxfp4: usize) -> usize {
    let table = config.vocab * config.hidden;
    let tables = if config.tie_embeddings { 1 } else { 2 } * table;
    let head = table as f64 * precision.weights.for_head().bits();
    // Kept as it is stored, which is 16 bits as a rule.
    let own_table = (tables - table) as f64 * 16.0;
    let others = (config.parameters() - tables).saturating_sub(mxfp4);
    let bits = layer_bits(config, precision.weights);
    let layers = others as f64 * bits + mxfp4 as f64 * MXFP4_BITS;
    ((layers + head + own_table) / 8.0) as usize
}

/// Bits that a number of the layers takes on average. A matrix whose rows `Q4_K`'s blocks do not fit is stored in eight bits.
pub fn layer_bits(config: &ModelConfig, weights: WeightType) -> f64 {
    if weights != WeightType::Q4K {
        return weights.bits();
    }
    let tables = if config.tie_embeddings { 1 } else { 2 } * config.vocab * config.hidden;
    let numbers = config.parameters() - tables;
    let (inner, count) = config.experts.map_or((config.intermediate, 1), |experts| {
        (experts.intermediate, experts.count)
    });
    let queries = config.heads * config.head_dim;
    // By the numbers of a row: the attention's output, the last matrix of a feed-forward network, and all others.
    let output = (queries, config.layers * queries * config.hidden);
    let down = (inner, config.layers * count * inner * config.hidden);
    let others = (config.hidden, numbers - output.1 - down.1);
    let in_eight: usize = [output, down, others]
        .iter()
        .filter(|(inputs, _)| !inputs.is_multiple_of(256))
        .map(|(_, numbers)| numbers)
        .sum();
    let (four, eight) = (weights.bits(), WeightType::Q8_0.bits());
    four + (eight - four) * in_eight as f64 / numbers as f64
}

/// Refuses weights for which there is no memory, before they are read.
///
/// # Errors
/// [`ModelError::OutOfMemory`] with the bytes that they take and those that are free.
pub fn check_memory(
    config: &ModelConfig,
    device: &Device,
    precision: Precision,
    mxfp4: usize,
) -> Result<(), ModelError> {
    let (needed, free) = (weight_bytes(config, precision, mxfp4), free_memory(device));
    if needed <= free {
        return Ok(());
    }
    let gigabytes = |bytes: usize| format!("{:.1} GB", bytes as f64 / 1e9);
    Err(ModelError::OutOfMemory(format!(
        "the weights take {} as {}{}, and {} are free; take a smaller model, or a smaller type with --quantize",
        gigabytes(needed),
        precision.weights.as_str(),
        if mxfp4 > 0 { ", experts in MXFP4" } else { "" },
        gigabytes(free)
    )))
}

/// Bytes of memory that a device has free.
pub fn free_memory(device: &Device) -> usize {
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

#[cfg(test)]
mod tests;
