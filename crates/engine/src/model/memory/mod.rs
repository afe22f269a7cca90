//! Memory: what a device has free, and what a model needs.

pub mod host;

use candle_core::{DType, Device};

use super::attention::CacheLayout;
use super::device::gpu_memory;
use super::precision::{Precision, WeightType};
use super::recurrence::state_bytes;
use super::{ModelError, Result};
use crate::checkpoint::ModelConfig;
use crate::checkpoint::families::HeadNorms;
use crate::checkpoint::weights::CodeKind;

/// The memory that a model needs beside its weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemoryFootprint {
    /// Bytes of keys and values of one token, in all layers that keep them as long as the sequence runs.
    pub kv_bytes_per_token: usize,
    /// The others: how many tokens a query sees there, and bytes of keys and values of one.
    pub windowed: Option<(usize, usize)>,
    /// Steps in flight at once: under asynchronous scheduling, which our CUDA kernels have, one is launched before the last is done.
    pub steps_in_flight: usize,
    /// Bytes of one sequence's recurrent state, in all layers that have one.
    pub state_bytes: usize,
    /// Bytes of activations per token of a step while it runs. An upper estimate: all intermediate results of one layer, as
    /// if none were freed before its end.
    pub activation_bytes_per_token: usize,
    pub logits_bytes_per_row: usize,
    /// The tensors of the cache of layers that see everything, each of as many bytes, where the device takes buffers from a pool whose sizes are powers of two:
    /// candle's on Metal. Results of a step are rounded up there too; weights are not.
    pub rounded_cache_tensors: Option<usize>,
}

impl MemoryFootprint {
    pub fn new(config: &ModelConfig, precision: Precision, device: &Device) -> Self {
        let layout = CacheLayout::from(config);
        let in_window = layout.bytes_in_window(precision.kv);
        let window = layout.windowed().and_then(|layers| layers.window);
        let widest = config.at_widest();
        let queries = widest.heads * widest.head_dim;
        let projected = queries + 2 * widest.kv_heads * widest.head_dim;
        let intermediate = config
            .experts
            .as_ref()
            .map_or(widest.intermediate, |experts| {
                let routed = experts.intermediate * experts.per_token;
                let dense = usize::from(experts.first > 0) * widest.intermediate;
                let beside = widest.beside_experts() + experts.shared.unwrap_or(0);
                dense.max(routed + beside)
            });
        // The norm, the projections before and after the rotation, attention's output and its projection.
        let gated = if config.family.gates_heads {
            2 * queries
        } else {
            0
        };
        // Norms of all heads together and after the rotation, and scales by position, make copies of their own.
        let copies = config.head_norms && config.family.head_norms != HeadNorms::ByHead
            || config.position_scale.is_some();
        let copies = if copies { 2 * projected } else { 0 };
        let attention = 3 * config.hidden + 2 * projected + copies + queries + gated;
        // The same of a recurrent layer: what goes into its states before and after the convolution, what they return, the gate.
        let shape = config.recurrent.as_ref().map(|recurrent| recurrent.shape);
        let recurrent = shape.map_or(0, |shape| {
            // What is convolved, steps and shares are f32.
            3 * config.hidden + 3 * shape.channels() + 3 * shape.values() + 4 * shape.value_heads
        });
        let attention = attention.max(recurrent);
        // The norm, gate and up, their product, the projection back.
        let feed_forward = 3 * config.hidden + 3 * intermediate;
        // A GPU runs a token's experts together and then adds their results; the CPU runs one after the other.
        let results = match config.experts {
            Some(experts) if !device.is_cpu() => experts.per_token * config.hidden,
            _ => 0,
        };
        // Inputs of all layers, which stay; and while they are made, before the layers, what they are made of.
        let inputs = config
            .layer_inputs
            .map_or(0, |inputs| config.layers * inputs.width);
        let numbers = inputs + (attention + feed_forward + results).max(3 * inputs);
        Self {
            kv_bytes_per_token: layout.bytes_per_token(precision.kv) - in_window,
            windowed: window.map(|window| (window, in_window)),
            steps_in_flight: if device.is_cuda() { 2 } else { 1 },
            state_bytes: shape.as_ref().map_or(0, state_bytes),
            activation_bytes_per_token: numbers * precision.compute.size_in_bytes(),
            // Logits are f32.
            logits_bytes_per_row: 4 * config.vocab,
            rounded_cache_tensors: device.is_metal().then(|| {
                let full = layout.kinds().iter().filter(|kind| kind.window.is_none());
                2 * full.map(|kind| kind.shape.layers).sum::<usize>()
            }),
        }
    }

    /// Bytes that buffers of so many together may take, each rounded up where the device does that.
    pub fn rounded(&self, bytes: usize) -> usize {
        match self.rounded_cache_tensors {
            None => bytes,
            Some(_) => bytes.saturating_mul(2),
        }
    }

    /// How many tokens a cache of so many bytes holds.
    pub fn tokens_of_cache(&self, bytes: usize) -> usize {
        let per_token = self.kv_bytes_per_token.max(1);
        let Some(tensors) = self.rounded_cache_tensors else {
            return bytes / per_token;
        };
        let of_one = bytes / tensors.max(1);
        let largest = of_one.checked_ilog2().map_or(0, |log| 1 << log);
        largest * tensors / per_token
    }
}

/// Bits per weight in MXFP4, including its share of the exponent.
pub const MXFP4_BITS: f64 = 4.25;

/// Bytes that a model's weights take up once loaded, or those of one of `parts` whose sizes these are; `mxfp4` of them are in
/// MXFP4 whatever the others are stored in.
pub fn weight_bytes(
    config: &ModelConfig,
    parts: usize,
    precision: Precision,
    mxfp4: usize,
) -> usize {
    let table = config.vocab * config.hidden;
    let tables = if config.tie_embeddings { 1 } else { 2 } * table + config.input_table();
    if let WeightType::Stored { .. } = precision.weights {
        // The average is over the whole model, the tables too, which every part has, in 16 bits; the rest is divided.
        let whole = tables + (config.parameters() - tables) * parts;
        let all = whole as f64 * precision.weights.bits() / 8.0;
        let elsewhere = (all - 2.0 * tables as f64) * (1.0 - 1.0 / parts as f64);
        let room = match precision.compute {
            DType::F32 => 0,
            compute => widening_room(config) * compute.size_in_bytes(),
        };
        return (all - elsewhere) as usize + room;
    }
    let head = table as f64 * precision.weights.for_head().bits();
    // It is kept as stored, normally in 16 bits.
    let own_table = (tables - table) as f64 * 16.0;
    let others = (config.parameters() - tables).saturating_sub(mxfp4);
    let bits = layer_bits(config, precision.weights);
    let layers = others as f64 * bits + mxfp4 as f64 * MXFP4_BITS;
    ((layers + head + own_table) / 8.0) as usize
}

/// Numbers of the largest matrix of a layer that is no mixture's: a GPU that keeps weights in few bits has room for it in 16.
pub fn widening_room(config: &ModelConfig) -> usize {
    let widest = config.at_widest();
    let heads = (widest.heads + 2 * widest.kv_heads) * widest.head_dim;
    let gated = match config.experts {
        Some(experts) => {
            let dense = usize::from(experts.first > 0) * widest.intermediate;
            let beside = experts.shared.unwrap_or(0).max(widest.beside_experts());
            2 * dense.max(beside)
        }
        None => 2 * widest.intermediate,
    };
    let shape = config.recurrent.as_ref().map(|recurrent| recurrent.shape);
    let recurrent = shape.map_or(0, |shape| shape.channels() + shape.values());
    heads.max(gated).max(recurrent) * config.hidden
}

/// Bits per number in the layers, on average. A matrix whose rows do not fit `Q4_K`'s blocks is stored in eight bits.
pub fn layer_bits(config: &ModelConfig, weights: WeightType) -> f64 {
    if weights != WeightType::Q4K {
        return weights.bits();
    }
    let tables = if config.tie_embeddings { 1 } else { 2 } * config.vocab * config.hidden;
    let numbers = config.parameters() - tables - config.input_table();
    // The last matrices of feed-forward networks, by row length.
    let (first, width, count, shared) = match config.experts {
        None => (config.layers, 0, 0, 0),
        Some(own) => (
            own.first,
            own.intermediate,
            own.count,
            own.shared.unwrap_or(0),
        ),
    };
    let inputs = config.layer_inputs.map_or(0, |inputs| inputs.width);
    let down = [
        (inputs, config.layers),
        (width, (config.layers - first) * count),
        (shared, config.layers - first),
    ]
    .into_iter()
    .chain(config.dense_widths().map(|width| (width, 1)))
    .map(|(width, matrices)| (width, matrices * width * config.hidden));
    // The numbers of matrices by row length: the attention's outputs, the last matrices of feed-forward networks, and all
    // others.
    let attention = (0..config.layers).filter(|&layer| !config.is_recurrent(layer));
    let outputs: Vec<(usize, usize)> = attention
        .map(|layer| {
            let queries = config.heads * config.at(layer).head_dim;
            (queries, queries * config.hidden)
        })
        .collect();
    let shape = config.recurrent.as_ref().map(|recurrent| recurrent.shape);
    let read = shape.map_or((0, 0), |shape| {
        (
            shape.values(),
            shape.layers * shape.values() * config.hidden,
        )
    });
    let narrow = outputs.into_iter().chain([read]).chain(down);
    let others = numbers - narrow.clone().map(|(_, numbers)| numbers).sum::<usize>();
    let in_eight: usize = narrow
        .chain([(config.hidden, others)])
        .filter(|(inputs, _)| !inputs.is_multiple_of(256))
        .map(|(_, numbers)| numbers)
        .sum();
    let (four, eight) = (weights.bits(), WeightType::Q8_0.bits());
    four + (eight - four) * in_eight as f64 / numbers as f64
}

/// Refuses weights that do not fit the memory, before they are read: those of one of `parts`, of which there could be more or not.
/// Errors: [`ModelError::OutOfMemory`] with the bytes that they need and those that are free.
pub fn check_memory(
    config: &ModelConfig,
    device: &Device,
    precision: Precision,
    mxfp4: usize,
    parts: usize,
    could_be_more: bool,
) -> Result<()> {
    let needed = weight_bytes(config, parts, precision, mxfp4);
    let free = free_memory(device);
    if needed <= free {
        return Ok(());
    }
    let gigabytes = |bytes: usize| format!("{:.1} GB", bytes as f64 / 1e9);
    Err(ModelError::OutOfMemory(format!(
        "the weights{} take {} as {}{}, and {} are free; take a smaller model, or a smaller type with --quantize{}{}",
        match parts {
            1 => String::new(),
            _ => format!(" of one of {parts} parts"),
        },
        gigabytes(needed),
        precision.weights.as_str(),
        if mxfp4 > 0 { ", experts in MXFP4" } else { "" },
        gigabytes(free),
        match (
            precision.weights,
            config.quantization.and_then(CodeKind::from_quantization)
        ) {
            (WeightType::Stored { .. }, _) | (_, None) => "",
            (_, Some(_)) if device.is_cuda() =>
                " (stored, for what the checkpoint stores in few bits)",
            (_, Some(_)) => "",
        },
        if device.is_cuda() && could_be_more {
            ", or more GPUs for one model with --tensor-parallel"
        } else {
            ""
        }
    )))
}

pub fn free_memory(device: &Device) -> usize {
    if let Ok(Some((free, _))) = gpu_memory(device) {
        return free;
    }
    let free = host::free_memory();
    if device.is_cpu() {
        free
    } else {
        // A GPU that shares the machine's memory may not use all of it.
        free / 2
    }
}

#[cfg(test)]
mod tests;
