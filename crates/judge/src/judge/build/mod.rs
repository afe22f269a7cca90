//! From a model's weights to an engine: the fastest implementation that the device has, then as large a KV cache as there is memory for.

#[cfg(feature = "cuda")]
mod cuda;
mod devices;
pub(crate) mod lengths;
mod options;
pub mod plain;
pub(crate) mod size;

use std::fmt::Write as _;
use std::sync::Arc;

use candle_core::{DType, Device, Tensor};

use super::JudgeText;
pub use devices::{ModelDevices, check_devices, open_devices};
use juror_engine::checkpoint::weights::LoadProgress;
use juror_engine::checkpoint::{ModelConfig, ModelSource, Weights};
use juror_engine::engine::{Drafts, Engine, EngineConfig, EngineError, StepModel};
use juror_engine::model::attention::Attention;
#[cfg(feature = "serve")]
use juror_engine::model::memory::weight_bytes;
use juror_engine::model::memory::{check_memory, free_memory};
use juror_engine::model::precision::WeightType;
use juror_engine::model::profile::Profile;
use juror_engine::model::{
    CurrentOnDrop, Decoder, ModelError, Obstacle, Precision, PrefixFile, Shard, StepBatch,
};
pub use lengths::WorkloadLengths;
pub use options::EngineOptions;
pub use plain::PagedDecoder;
pub use size::{BLOCK_SIZE, engine_config};

/// A model on its device, without a cache yet: so that the cache can take what memory the weights left.
pub trait LoadedModel {
    /// Makes room for steps and adds a cache; where memory does not suffice, of somewhat fewer blocks, but not fewer than the least. With `shared_prefix` rows
    /// that share leading blocks attend to them together, where the device's attention can be told to.
    fn with_cache(
        self: Box<Self>,
        config: &EngineConfig,
        shared_prefix: bool,
    ) -> Result<Box<dyn DeviceModel>, ModelError>;
}

/// A model with its cache, as engines run it and measurements look into it.
pub trait DeviceModel: StepModel {
    /// The time of its steps by phase, where that is measured.
    fn profile(&mut self) -> &mut Profile;

    /// Decoder and cache, where they are those of plain operations.
    fn parts(&mut self) -> Option<(&Decoder, &mut dyn Attention)> {
        None
    }

    /// The logits of a step, `[batch.logits.len(), vocab]`, for comparisons.
    fn logits(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError>;
}

/// Loads the weights, noting in `progress` how much was read, and builds an engine for them, on devices that hold the model together.
/// Errors: when the weights are damaged or do not fit the configuration, or a size cannot work.
pub fn build_engine(
    source: &ModelSource,
    text: &JudgeText,
    devices: &[Device],
    options: &EngineOptions,
    lengths: &WorkloadLengths,
    progress: Arc<LoadProgress>,
) -> Result<Engine, EngineError> {
    let template = text.prompts.shared_prefix();
    let config = text.config.as_ref().ok_or(EngineError::Stopped)?;
    engine_of(
        source, config, template, devices, options, lengths, progress,
    )
}

/// As [`build_engine`], of a model with this configuration whose prompts begin with `template`.
pub(crate) fn engine_of(
    source: &ModelSource,
    model_config: &ModelConfig,
    template: &[u32],
    devices: &[Device],
    options: &EngineOptions,
    lengths: &WorkloadLengths,
    progress: Arc<LoadProgress>,
) -> Result<Engine, EngineError> {
    let weights = Weights::open_with(source, progress).map_err(ModelError::from)?;
    let Some(device) = devices.first() else {
        return Err(EngineError::Stopped);
    };
    let precision = options.precision.resolve(device, &weights)?;
    let plain = options.plain_operations;
    let part = Shard::new(0, devices.len()).config(model_config)?;
    check_drafts(&part, device, precision, options)?;
    let model = load_model(model_config, &weights, devices, precision, plain)?;
    // All devices of a model have caches of one size.
    let fullest = devices.iter().min_by_key(|one| free_memory(one));
    let fullest = fullest.unwrap_or(device);
    let template = template.to_vec();
    let mut config = engine_config(&part, precision, fullest, lengths, options, template);
    let mut model = model.with_cache(&config, !options.no_shared_prefix)?;
    let keeps = options.keep_prefix && config.prefix_cache;
    let parts = model.parts().filter(|_| keeps);
    let (prefix, step) = (&config.pinned_prefix, config.token_budget);
    let begins = parts.is_some_and(|it| PrefixFile::fill(source, precision, it, prefix, step));
    let built = model.properties().blocks;
    if let Some(blocks) = built.filter(|&built| built < config.blocks) {
        // Fewer than planned, and the free memory is what they left: the plan stays, for these blocks.
        let most = config.max_sequences;
        config.max_sequences = size::sequences_of(blocks, most, lengths, options);
        config.blocks = blocks;
    }
    let mut engine = Engine::new(model, &config)?;
    if begins {
        engine.adopt_prefix();
    }
    engine.before_drop(Box::new(CurrentOnDrop::new(device)));
    Ok(engine)
}

/// Refuses a number of drafts where our CUDA kernels choose the tokens, before anything is read.
pub fn check_drafts(
    config: &ModelConfig,
    device: &Device,
    precision: Precision,
    options: &EngineOptions,
) -> Result<(), ModelError> {
    if config.recurrent.is_some() && matches!(options.drafts, Drafts::Most(_)) {
        return Err(ModelError::Unsupported(format!(
            "--drafts N: {} has recurrent layers, whose states cannot take a token back; leave it out",
            config.family.name()
        )));
    }
    let by_kernels =
        device.is_cuda() && obstacle(config, precision, options.plain_operations).is_none();
    if by_kernels && matches!(options.drafts, Drafts::Most(_)) {
        return Err(ModelError::Unsupported(
            "--drafts N works where tokens are chosen on the host: on a CPU, not beside our CUDA kernels; leave it out".into(),
        ));
    }
    Ok(())
}

/// Reads the weights to the devices that hold the model together, for our own kernels where the device has them and they run
/// this model, else for candle's operations. With `plain_operations` for those in any case, to compare with.
/// Errors: when the weights do not fit the configuration, the device does not compute in this precision, memory does not suffice, or
/// several devices cannot hold the model so.
pub fn load_model(
    config: &ModelConfig,
    weights: &Weights,
    devices: &[Device],
    precision: Precision,
    plain_operations: bool,
) -> Result<Box<dyn LoadedModel>, ModelError> {
    let Some(first) = devices.first() else {
        return Err(ModelError::Device("a model on no device".into()));
    };
    let beyond = obstacle(config, precision, plain_operations);
    juror_engine::model::recurrence::check_device(config, first, beyond.as_ref())?;
    let config = &*weights.settle(config)?;
    let part = &Shard::new(0, devices.len()).config(config)?;
    let obstacle = obstacle(part, precision, plain_operations);
    let (parts, twice) = (devices.len(), Shard::new(0, 2 * devices.len()));
    let could_be_more = obstacle.is_none() && twice.config(config).is_ok();
    for device in devices {
        let packed = packed_numbers(part, weights, device, precision, plain_operations) / parts;
        check_memory(part, device, precision, packed, parts, could_be_more)?;
    }
    let [device] = devices else {
        if let Some(Obstacle { what, option }) = obstacle {
            return Err(ModelError::Unsupported(format!(
                "--tensor-parallel {parts} needs our CUDA kernels, which do not run this model so ({what}): leave out {}",
                option.unwrap_or("--tensor-parallel")
            )));
        }
        return load_by_kernels(config, weights, devices, precision);
    };
    if device.is_cuda() {
        match obstacle {
            None => return load_by_kernels(config, weights, devices, precision),
            Some(obstacle) => refuse_few_bits(precision, &obstacle)?,
        }
    }
    plain::load(config, weights, device, precision)
}

#[cfg(feature = "cuda")]
fn load_by_kernels(
    config: &ModelConfig,
    weights: &Weights,
    devices: &[Device],
    precision: Precision,
) -> Result<Box<dyn LoadedModel>, ModelError> {
    use juror_engine::model::cuda::ParallelModel;
    let model = ParallelModel::load(config, weights, devices, precision)?;
    Ok(Box::new(model))
}

#[cfg(not(feature = "cuda"))]
fn load_by_kernels(
    _: &ModelConfig,
    _: &Weights,
    _: &[Device],
    _: Precision,
) -> Result<Box<dyn LoadedModel>, ModelError> {
    Err(ModelError::Unsupported(
        "this program has no CUDA kernels".into(),
    ))
}

/// The sizes of an engine with another number of blocks: a smaller cache has windows for fewer sequences too.
fn of_blocks(sizes: &EngineConfig, blocks: usize) -> EngineConfig {
    let part = sizes.max_sequences.saturating_mul(blocks);
    EngineConfig {
        blocks,
        max_sequences: part.div_ceil(sizes.blocks.max(1)).max(1),
        ..sizes.clone()
    }
}

/// Builds a cache of `blocks` blocks; where memory does not suffice, of a thirty-second fewer, and so on, but not fewer than
/// `least`. Free memory is known only roughly, so what is missing is mostly little.
/// Errors: [`ModelError::OutOfMemory`] where `least` blocks do not fit; any other failure of `build`.
fn largest_that_fits<T>(
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
fn obstacle(config: &ModelConfig, precision: Precision, plain: bool) -> Option<Obstacle> {
    if plain {
        let what = "plain operations were asked for".into();
        let option = Some("--plain-operations");
        return Some(Obstacle { what, option });
    }
    #[cfg(feature = "cuda")]
    return juror_engine::model::cuda::obstacle(config, precision);
    #[cfg(not(feature = "cuda"))]
    {
        let _ = (config, precision);
        let what = "they are not part of this program".into();
        Some(Obstacle { what, option: None })
    }
}

/// Weights and keys of few bits have no plain operations to fall back to.
fn refuse_few_bits(precision: Precision, obstacle: &Obstacle) -> Result<(), ModelError> {
    let wide = [DType::F32, DType::F16, DType::BF16].map(WeightType::exact);
    if wide.contains(&precision.weights) && precision.kv != DType::F8E4M3 {
        return Ok(());
    }
    let Obstacle { what, option } = obstacle;
    Err(ModelError::Unsupported(format!(
        "--quantize and --kv-dtype fp8 need our CUDA kernels, which do not run this model so ({what}): leave out {}",
        option.unwrap_or("both")
    )))
}

/// How many of a model's weights stay in MXFP4 when the others are converted: our CUDA kernels read MXFP4, candle's operations
/// need plain numbers, and on the CPU the weights' type says it already. None under f16, which cannot represent all its values.
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

/// Bytes of a device's memory that a model's weights, or a part of them, will take.
#[cfg(feature = "serve")]
pub(crate) fn weights_on(
    source: &ModelSource,
    config: &ModelConfig,
    device: &Device,
    options: &EngineOptions,
) -> Result<usize, ModelError> {
    let weights = Weights::open(source)?;
    let precision = options.precision.resolve(device, &weights)?;
    let plain = options.plain_operations;
    let config = &options.part(config)?;
    let packed = packed_numbers(config, &weights, device, precision, plain);
    let parts = options.devices_of_a_model();
    Ok(weight_bytes(config, parts, precision, packed / parts))
}

pub(crate) fn describe(engine: &Engine) -> String {
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
