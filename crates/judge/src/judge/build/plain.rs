//! A model computed by the plain operations, on any device; its tokens are chosen on the host.

use candle_core::Tensor;

use super::{DeviceModel, LoadedModel, largest_that_fits, of_blocks};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::engine::{EngineConfig, LogitsModel, Properties};
use juror_engine::model::attention::{
    Attention, AttentionKind, CacheLayout, LayerKind, build, with_states,
};
use juror_engine::model::memory::host;
use juror_engine::model::profile::Profile;
use juror_engine::model::recurrence::RecurrentStates;
use juror_engine::model::{Decoder, ModelError, Precision, StepBatch};

struct PlainModel {
    decoder: Decoder,
    precision: Precision,
}

pub(super) fn load(
    config: &ModelConfig,
    weights: &Weights,
    device: &candle_core::Device,
    precision: Precision,
) -> Result<Box<dyn LoadedModel>, ModelError> {
    Ok(Box::new(PlainModel {
        decoder: Decoder::load(config, weights, device, precision)?,
        precision,
    }))
}

impl LoadedModel for PlainModel {
    fn with_cache(
        self: Box<Self>,
        config: &EngineConfig,
        _shared_prefix: bool,
    ) -> Result<Box<dyn DeviceModel>, ModelError> {
        let Self { decoder, precision } = *self;
        let recurrent = decoder.config().recurrent.as_ref();
        let (recurrent, states) = (recurrent.map(|recurrent| recurrent.shape), config.states());
        let device = decoder.device().clone();
        let kind = AttentionKind::for_device(&device);
        let (kv, block_size) = (precision.kv, config.block_size);
        let layout = CacheLayout::from(decoder.config());
        let in_window = layout.bytes_in_window(kv);
        let all = layout.bytes_per_token(kv) - in_window;
        let window = layout.windowed().and_then(|layers| layers.window);
        let sizes = config.clone();
        let cache = move |blocks: usize| {
            let sizes = of_blocks(&sizes, blocks);
            let windowed = window.map_or(0, |window| sizes.windowed_blocks(window, 1));
            let windows = in_window.saturating_mul(windowed.saturating_mul(block_size));
            let bytes = all.saturating_mul(blocks.saturating_mul(block_size));
            let bytes = bytes.saturating_add(windows);
            // On the CPU a lack of memory would end the process.
            let free = host::free_memory();
            if device.is_cpu() && bytes > free {
                return Err(ModelError::OutOfMemory(format!(
                    "a cache of {blocks} blocks takes {bytes} bytes, and {free} bytes are free: a smaller --kv-dtype or --max-new-tokens takes less"
                )));
            }
            let blocks_of = |layers: &LayerKind| layers.window.map_or(blocks, |_| windowed);
            let attention = layout.build(|layers| {
                build(
                    kind,
                    &layers.shape,
                    blocks_of(layers),
                    block_size,
                    &device,
                    kv,
                )
            })?;
            Ok(match recurrent {
                Some(shape) => with_states(attention, RecurrentStates::new(shape, states)),
                None => attention,
            })
        };
        let (blocks, least) = (config.blocks, config.least_blocks);
        let model = PagedDecoder::with_cache(decoder, blocks, least, Box::new(cache))?;
        Ok(Box::new(model))
    }
}

pub type BuildCache = dyn Fn(usize) -> Result<Box<dyn Attention>, ModelError> + Send;

pub struct PagedDecoder {
    decoder: Decoder,
    /// None after a smaller cache could not be built.
    attention: Option<Box<dyn Attention>>,
    build: Box<BuildCache>,
    /// Slots of recurrent states, if the model has recurrent layers.
    states: Option<usize>,
    profile: Profile,
}

impl PagedDecoder {
    /// Joins a decoder with a cache of `blocks` blocks; where memory does not suffice, of somewhat fewer, but not fewer than
    /// `least`. The cache is built anew where memory runs out later.
    /// Errors: [`ModelError::OutOfMemory`] where `least` blocks do not fit; any other failure of `build`.
    pub fn with_cache(
        decoder: Decoder,
        blocks: usize,
        least: usize,
        build: Box<BuildCache>,
    ) -> Result<Self, ModelError> {
        let mut attention = largest_that_fits(blocks, least, &build)?;
        let states = attention.states().map(|states| states.slots());
        Ok(Self {
            decoder,
            attention: Some(attention),
            build,
            states,
            profile: Profile::off(),
        })
    }
}

impl DeviceModel for PagedDecoder {
    fn profile(&mut self) -> &mut Profile {
        &mut self.profile
    }

    fn parts(&mut self) -> Option<(&Decoder, &mut dyn Attention)> {
        Some((&self.decoder, self.attention.as_mut()?.as_mut()))
    }

    fn logits(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        self.forward(batch)
    }
}

impl LogitsModel for PagedDecoder {
    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        let Some(attention) = &mut self.attention else {
            return Err(ModelError::Batch("there is no cache".into()));
        };
        self.decoder
            .forward_profiled(batch, attention.as_mut(), &mut self.profile)
    }

    fn properties(&self) -> Properties {
        Properties {
            async_scheduling: false,
            blocks: self.attention.as_ref().map(|cache| cache.blocks()),
            lazy_cache: self.decoder.device().is_cpu(),
            short_context: self.decoder.config().rope.short_context(),
            states: self.states,
            windowed: self.attention.as_ref().and_then(|cache| cache.windowed()),
        }
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        // The old one first: two do not fit.
        self.attention = None;
        self.attention = Some((self.build)(blocks)?);
        Ok(Some(blocks))
    }
}
