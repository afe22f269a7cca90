//! Loading a model: the fastest way of computing it that the device has, then as large a cache as there is memory for.

use candle_core::{DType, Device};

use super::core::EngineConfig;
use super::host;
use super::paged::PagedDecoder;
use super::sizing::{
    ActivationShape, EngineSettings, Lengths, ModelFootprint, Processor, choose_sizes,
};
use crate::checkpoint::{ModelConfig, Weights};
use crate::model::attention::{AttentionKind, AttentionShape, build, kv_bytes_per_token};
use crate::model::device::gpu_memory;
use crate::model::precision::{KvType, WeightType};
use crate::model::{Decoder, ModelError, Precision};

/// What a model with its cache is to have room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelSizes {
    /// KV blocks.
    pub blocks: usize,
    /// KV blocks that it cannot do without.
    pub least_blocks: usize,
    /// Token positions a block.
    pub block_size: usize,
    /// Most tokens a step.
    pub tokens: usize,
    /// Most sequences at once, which is most tokens of a step whose logits are wanted.
    pub rows: usize,
    /// Have rows that share leading blocks attend to them together, where the device's attention can be told to.
    pub shared_prefix: bool,
}

impl ModelSizes {
    /// What an engine needs.
    pub fn new(engine: &EngineConfig, shared_prefix: bool) -> Self {
        Self {
            blocks: engine.blocks,
            least_blocks: engine.least_blocks,
            block_size: engine.block_size,
            tokens: engine.token_budget.max(engine.max_sequences),
            rows: engine.max_sequences,
            shared_prefix,
        }
    }
}

/// A model without a cache yet.
pub struct LoadedModel(Model);

enum Model {
    Plain(Box<Plain>),
    #[cfg(feature = "cuda")]
    Cuda(Box<crate::model::cuda::CudaModel>),
}

struct Plain {
    decoder: Decoder,
    precision: Precision,
}

impl LoadedModel {
    /// Reads the weights to the device, for our own kernels where the device has them and they run this model, else for
    /// candle's operations. With `plain_operations` for those in any case, to compare with.
    ///
    /// # Errors
    /// When the weights do not fit the configuration, the device does not compute in this precision, or memory does not
    /// suffice.
    pub fn load(
        config: &ModelConfig,
        weights: &Weights,
        device: &Device,
        precision: Precision,
        plain_operations: bool,
    ) -> Result<Self, ModelError> {
        let config = &*weights.settle(config)?;
        let obstacle = obstacle(config, precision, plain_operations);
        let packed = packed_numbers(config, weights, device, precision, plain_operations);
        check_memory(config, device, precision, packed)?;
        if device.is_cuda() {
            match obstacle {
                None => {
                    #[cfg(feature = "cuda")]
                    {
                        use crate::model::cuda::CudaModel;
                        let model = CudaModel::load(config, weights, device, precision)?;
                        return Ok(Self(Model::Cuda(Box::new(model))));
                    }
                }
                Some(obstacle) => refuse_fp8(precision, &obstacle)?,
            }
        }
        Ok(Self(Model::Plain(Box::new(Plain {
            decoder: Decoder::load(config, weights, device, precision)?,
            precision,
        }))))
    }

    /// Adds a cache; where memory does not suffice, of somewhat fewer blocks, but not fewer than the least.
    ///
    /// # Errors
    /// [`ModelError::OutOfMemory`] where those do not fit.
    pub fn with_cache(self, sizes: &ModelSizes) -> Result<PagedDecoder, ModelError> {
        match self.0 {
            Model::Plain(plain) => {
                let Plain { decoder, precision } = *plain;
                let shape = AttentionShape::from(decoder.config());
                let device = decoder.device().clone();
                let kind = AttentionKind::for_device(&device);
                let (kv, block_size) = (precision.kv.dtype(), sizes.block_size);
                let bytes = kv_bytes_per_token(&shape, kv).saturating_mul(block_size);
                let cache = move |blocks: usize| {
                    // On the CPU a lack of memory would end the process.
                    let free = host::free_memory();
                    if device.is_cpu() && bytes.saturating_mul(blocks) > free {
                        return Err(ModelError::OutOfMemory(format!(
                            "a cache of {blocks} blocks of {bytes} bytes, and {free} bytes are free"
                        )));
                    }
                    build(kind, &shape, blocks, block_size, &device, kv)
                };
                PagedDecoder::with_cache(decoder, sizes.blocks, sizes.least_blocks, Box::new(cache))
            }
            #[cfg(feature = "cuda")]
            Model::Cuda(model) => {
                use crate::model::cuda::{CudaCache, StepLimits};
                let limits = StepLimits {
                    tokens: sizes.tokens,
                    rows: sizes.rows,
                };
                let cache = CudaCache {
                    blocks: 0,
                    block_size: sizes.block_size,
                    shared_prefix: sizes.shared_prefix,
                };
                let mut decoder = model.with_cache(limits, &cache)?;
                largest_that_fits(sizes.blocks, sizes.least_blocks, |blocks| {
                    decoder.resize_cache(blocks)
                })?;
                Ok(PagedDecoder::on_cuda(decoder))
            }
        }
    }
}

/// Builds a cache of `blocks` blocks; where memory does not suffice, of a thirty-second fewer, and so on, but not fewer than
/// `least`. Free memory is known only roughly, so what is missing is mostly little.
///
/// # Errors
/// [`ModelError::OutOfMemory`] where `least` blocks do not fit; any other failure of `build`.
pub(super) fn largest_that_fits<T>(
    mut blocks: usize,
    least: usize,
    mut build: impl FnMut(usize) -> Result<T, ModelError>,
) -> Result<T, ModelError> {
    loop {
        match build(blocks) {
            Err(ModelError::OutOfMemory(_)) if blocks > least => {
                blocks = (blocks - (blocks / 32).max(1)).max(least);
            }
            built => return built,
        }
    }
}

/// Why a model on an NVIDIA GPU is computed by candle's operations, if it is.
#[cfg_attr(
    not(feature = "cuda"),
    allow(clippy::unnecessary_wraps, reason = "with CUDA there may be none")
)]
fn obstacle(config: &ModelConfig, precision: Precision, plain_operations: bool) -> Option<String> {
    if plain_operations {
        return Some("plain operations were asked for".into());
    }
    #[cfg(feature = "cuda")]
    return crate::model::cuda::obstacle(config, precision);
    #[cfg(not(feature = "cuda"))]
    {
        let _ = (config, precision);
        Some("they are not part of this program".into())
    }
}

/// FP8 has no plain operations to fall back to.
fn refuse_fp8(precision: Precision, obstacle: &str) -> Result<(), ModelError> {
    if precision.weights != WeightType::F8E4M3 && precision.kv != KvType::F8E4M3 {
        return Ok(());
    }
    Err(ModelError::Unsupported(format!(
        "FP8 needs our CUDA kernels, which do not run this model ({obstacle}): leave out --quantize fp8 and --kv-dtype fp8"
    )))
}

/// How many of a model's weights stay in MXFP4 whatever the others are stored in: our CUDA kernels take it as it is stored,
/// candle's operations take plain numbers, and on the CPU the weights' type tells it already. Of f16, which lacks numbers for
/// some of it, none is promised.
pub fn packed_numbers(
    config: &ModelConfig,
    weights: &Weights,
    device: &Device,
    precision: Precision,
    plain_operations: bool,
) -> usize {
    let kernels = device.is_cuda() && obstacle(config, precision, plain_operations).is_none();
    if kernels && precision.compute == DType::BF16 {
        weights.mxfp4_numbers()
    } else {
        0
    }
}

/// Bits that a weight takes in MXFP4, its share of the exponent included.
pub const MXFP4_BITS: f64 = 4.25;

/// Bytes that a model's weights take once they are loaded, so many of them in MXFP4 whatever the others are stored in.
fn weight_bytes(config: &ModelConfig, precision: Precision, mxfp4: usize) -> usize {
    let table = config.vocab * config.hidden;
    let tables = if config.tie_embeddings { 1 } else { 2 } * table;
    let head = table as f64 * precision.weights.for_head().bits();
    // Kept as it is stored, which is 16 bits as a rule.
    let own_table = (tables - table) as f64 * 16.0;
    let inner = config
        .experts
        .map_or(config.intermediate, |experts| experts.intermediate);
    // Whose blocks do not fit is stored in eight bits.
    let whole = [config.hidden, inner, config.heads * config.head_dim]
        .iter()
        .all(|inputs| inputs.is_multiple_of(256));
    let bits = match precision.weights {
        WeightType::Q4K if !whole => WeightType::Q8_0.bits(),
        other => other.bits(),
    };
    let others = (config.parameters() - tables).saturating_sub(mxfp4);
    let layers = others as f64 * bits + mxfp4 as f64 * MXFP4_BITS;
    ((layers + head + own_table) / 8.0) as usize
}

/// Refuses weights for which there is no memory, before they are read.
fn check_memory(
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

/// Token positions a KV block.
pub const BLOCK_SIZE: usize = 16;

/// The sizes of an engine on a device whose memory holds the weights already: what was given, else what the device's free
/// memory and the lengths of what will be asked suggest. The pinned prefix is left to the caller.
pub fn sizes_for(
    config: &ModelConfig,
    precision: Precision,
    device: &Device,
    lengths: &Lengths,
    given: &EngineSettings,
) -> EngineConfig {
    let processor = if device.is_cpu() {
        Processor::Cpu {
            cache_bytes: host::cache_bytes(rayon::current_num_threads()),
        }
    } else {
        Processor::Gpu
    };
    let model = footprint(config, precision, device);
    let sizes = choose_sizes(
        processor,
        free_memory(device),
        &model,
        lengths,
        BLOCK_SIZE,
        given,
    );
    EngineConfig {
        prefix_cache: !given.no_prefix_cache,
        ..sizes
    }
}

/// What a model takes beside its weights.
fn footprint(config: &ModelConfig, precision: Precision, device: &Device) -> ModelFootprint {
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
    // A GPU takes a token's experts together, and adds their results afterwards; the CPU takes one after the other.
    let results = match config.experts {
        Some(experts) if !device.is_cpu() => experts.per_token * config.hidden,
        _ => 0,
    };
    let size = precision.compute.size_in_bytes();
    let cache = AttentionShape::from(config);
    ModelFootprint {
        kv_bytes_per_token: kv_bytes_per_token(&cache, precision.kv.dtype()),
        activation_bytes_per_token: shape.bytes_per_token(size) + results * size,
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

#[cfg(test)]
mod tests {
    use candle_core::DType;

    use super::{ModelConfig, Precision, WeightType, weight_bytes};

    #[test]
    fn weights_take_what_their_types_do() {
        let config = r#"{"architectures": ["GptOssForCausalLM"], "vocab_size": 201088, "hidden_size": 2880,
            "intermediate_size": 2880, "num_hidden_layers": 24, "num_attention_heads": 64, "num_key_value_heads": 8,
            "head_dim": 64, "num_local_experts": 32, "num_experts_per_tok": 4, "max_position_embeddings": 131072,
            "rms_norm_eps": 1e-5, "rope_theta": 150000, "rope_scaling": {"rope_type": "yarn", "factor": 32.0,
            "beta_fast": 32.0, "beta_slow": 1.0, "original_max_position_embeddings": 4096, "truncate": false},
            "sliding_window": 128, "tie_word_embeddings": false}"#;
        let config = ModelConfig::parse(config, "gpt-oss-20b").unwrap();
        let bf16 = Precision::all(DType::BF16);
        let gigabytes = |bytes: usize| bytes as f64 / 1e9;
        let plain = gigabytes(weight_bytes(&config, bf16, 0));
        assert!((41.5..42.1).contains(&plain), "{plain}");
        // Its makers' checkpoint has 13.76 GB.
        let experts = 24 * 32 * 3 * 2880 * 2880;
        let packed = gigabytes(weight_bytes(&config, bf16, experts));
        assert!((13.7..13.8).contains(&packed), "{packed}");
        // Then FP8 is for attention alone.
        let fp8 = Precision {
            weights: WeightType::F8E4M3,
            ..bf16
        };
        let fp8 = gigabytes(weight_bytes(&config, fp8, experts));
        assert!((12.9..13.3).contains(&fp8), "{fp8}");
    }
}
