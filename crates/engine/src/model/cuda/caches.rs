//! The caches of a model's layers: one for each kind, of one shape, and with windows or without ([`CacheLayout`]).

use candle_core::{CudaDevice, DType};

use super::array::Slice;
use super::kernel::Kernels;
use super::kv_scales::KvScales;
use super::paged::{AttendedLayer, CacheSettings, PagedCache};
use super::plan::AttentionPlan;
use super::upload::{Packer, Upload};
use crate::checkpoint::ModelConfig;
use crate::checkpoint::families::{HeadNorms, Part};
use crate::model::attention::{CacheLayout, WindowedCache};
use crate::model::precision::Precision;
use crate::model::{Obstacle, Result, StepBatch};

/// The caches by kind, and what is the same in all of them.
pub(super) struct Caches {
    layout: CacheLayout,
    kinds: Vec<PagedCache>,
}

/// A kind's part in a planned step: where its sections lie in the upload.
pub(super) struct PlannedKind {
    slots: std::ops::Range<usize>,
    words: std::ops::Range<usize>,
    plan: AttentionPlan,
}

/// How a model's caches are made, for each kind of layer.
#[derive(Clone, Copy)]
pub(super) struct CacheForm {
    pub(super) precision: Precision,
    /// Tokens per block: a power of two from 16.
    pub(super) block_size: usize,
    /// Whether rows that share leading blocks attend to them together.
    pub(super) shared_prefix: bool,
    pub(super) tokens: usize,
}

impl CacheForm {
    /// The settings of each kind's cache, without blocks.
    pub(super) fn settings<'a>(
        &'a self,
        config: &'a ModelConfig,
        layout: &'a CacheLayout,
    ) -> impl Iterator<Item = CacheSettings> + 'a {
        layout.kinds().iter().map(|kind| CacheSettings {
            shape: kind.shape,
            scale: config.score_scale as f32,
            blocks: 0,
            block_size: self.block_size,
            dtype: self.precision.compute,
            kv: self.precision.kv,
            shared_prefix: self.shared_prefix,
            tokens: self.tokens,
        })
    }
}

impl Caches {
    /// Caches without blocks. `scales` are those of the layers with attention, of a cache in e4m3.
    pub(super) fn new(
        device: &CudaDevice,
        kernels: &mut Kernels,
        config: &ModelConfig,
        form: &CacheForm,
        scales: &[KvScales],
    ) -> Result<Self> {
        let layout = CacheLayout::from(config);
        let kinds = form.settings(config, &layout).enumerate();
        let kinds = kinds.map(|(kind, settings)| {
            let scales = scales.iter().enumerate();
            let own = scales.filter(|(layer, _)| layout.place(*layer).0 == kind);
            let own: Vec<KvScales> = own.map(|(_, scales)| scales.clone()).collect();
            PagedCache::new(device, kernels, &settings, &own)
        });
        let mut kinds = kinds.collect::<Result<Vec<_>, _>>()?;
        PagedCache::share_scratch(kinds.iter_mut());
        Ok(Self { layout, kinds })
    }

    /// Drops all keys and values, and allocates `blocks` blocks instead, `windowed` in the cache of layers with windows. After an
    /// error there are none.
    pub(super) fn resize(
        &mut self,
        device: &CudaDevice,
        blocks: usize,
        windowed: usize,
    ) -> Result<()> {
        let mut resize = |blocks, windowed| {
            let mut kinds = self.kinds.iter_mut().zip(self.layout.kinds());
            kinds.try_for_each(|(cache, kind)| {
                cache.resize(device, kind.window.map_or(blocks, |_| windowed))
            })
        };
        resize(0, 0)?;
        resize(blocks, windowed).or_else(|error| resize(0, 0).and(Err(error)))
    }

    /// Blocks of layers that see everything.
    pub(super) fn blocks(&self) -> usize {
        let mut kinds = self.kinds.iter().zip(self.layout.kinds());
        let full = kinds.find(|(_, kind)| kind.window.is_none());
        full.map_or(0, |(cache, _)| cache.blocks())
    }

    /// The cache of layers with windows, where they have one of their own.
    pub(super) fn windowed(&self) -> Option<WindowedCache> {
        let mut kinds = self.kinds.iter().zip(self.layout.kinds());
        kinds.find_map(|(cache, kind)| {
            Some(WindowedCache {
                window: kind.window?,
                blocks: cache.blocks(),
            })
        })
    }

    /// Checks a step and plans its attention, kind by kind.
    pub(super) fn plan(
        &self,
        batch: &StepBatch,
        config: &ModelConfig,
        packer: &mut Packer,
    ) -> Result<Vec<PlannedKind>> {
        let windows = self.layout.windows(config);
        let in_windows = batch.in_windows();
        let kinds = self.kinds.iter().zip(self.layout.kinds()).zip(windows);
        kinds
            .map(|((cache, kind), windows)| {
                let batch = match kind.window {
                    Some(_) => &in_windows,
                    None => batch,
                };
                batch.validate(cache.block_size(), cache.blocks())?;
                let plan = AttentionPlan::new(batch, cache.plan_settings(), &windows)?;
                Ok(PlannedKind {
                    slots: packer.push(&batch.slots),
                    words: packer.push(&plan.words),
                    plan,
                })
            })
            .collect()
    }

    /// Where a step's keys and values go in a layer, among those with attention: keys, values, scales of a cache in e4m3, slots.
    #[allow(clippy::type_complexity)]
    pub(super) fn layer<'a>(
        &'a self,
        layer: usize,
        step: &[PlannedKind],
        upload: &'a Upload,
    ) -> Result<(
        Slice<'a>,
        Slice<'a>,
        Option<(Slice<'a>, Slice<'a>)>,
        Slice<'a>,
    )> {
        let (kind, own) = self.layout.place(layer);
        let (keys, values, scales) = self.kinds[kind].layer(own)?;
        let slots = upload.section(step[kind].slots.clone())?;
        Ok((keys, values, scales, slots))
    }

    /// As [`PagedCache::attend`]; the layer's index is among those with attention.
    pub(super) fn attend(
        &self,
        layer: &AttendedLayer,
        step: &[PlannedKind],
        upload: &Upload,
    ) -> Result<()> {
        let (kind, index) = self.layout.place(layer.index);
        let (cache, planned) = (&self.kinds[kind], &step[kind]);
        let words = upload.section(planned.words.clone())?;
        cache.attend(&AttendedLayer { index, ..*layer }, &planned.plan, words)
    }
}

/// What keeps the kernels from running with a cache of this kind; `None` if nothing does.
pub(super) fn obstacle(config: &ModelConfig, precision: Precision) -> Option<Obstacle> {
    // Their scales follow from a norm before the projection, and of each head's key alone (`kv_scales`).
    let family = config.family;
    let together = family.head_norms == HeadNorms::Together;
    let bounded = family.has(Part::AttentionNorm) && !family.norms_values && !together;
    if precision.kv == DType::F8E4M3 && !bounded {
        let what = format!("keys and values of {} in FP8", family.name());
        let option = Some("--kv-dtype fp8");
        return Some(Obstacle { what, option });
    }
    let form = CacheForm {
        precision,
        block_size: 16,
        shared_prefix: true,
        tokens: 1,
    };
    let layout = CacheLayout::from(config);
    let mut settings = form.settings(config, &layout);
    settings.find_map(|settings| settings.obstacle())
}
