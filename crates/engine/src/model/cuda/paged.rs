//! The KV cache on the device, and attention over it. `kernels/attention.md` describes the kernels, [`super::plan`] their
//! work.

use std::sync::Arc;

use candle_core::{CudaDevice, DType};

use super::array::{Array, Slice};
use super::kernel::{Arg, Function, Grid, Kernels, array_or_null};
use super::kv_scales::KvScales;
use super::operations::suffix;
use super::plan::{
    AttentionPlan, PlanSettings, THREADS, decode_shared_bytes, prefill_rows, prefill_shared_bytes,
};
use crate::model::attention::AttentionShape;
use crate::model::{ModelError, Obstacle, Result};

/// Widths of heads that there are kernels for.
const HEAD_DIMS: [usize; 5] = [32, 64, 128, 256, 512];

/// The same with a cache in e4m3.
const FP8_HEAD_DIMS: [usize; 3] = [64, 128, 256];

/// The most bytes of scratch for partial outputs that are merged. A step that would need more is split less.
const SCRATCH_BYTES: usize = 256 << 20;

/// The parts for each token of the largest step, if that is less: a row with a shared prefix and no splits has up to four.
const PARTS_PER_TOKEN: usize = 4;
const LEAST_PARTS: usize = 4096;

/// The cache of all layers, and the kernels that attend to it.
pub struct PagedCache {
    shape: AttentionShape,
    /// What scores are multiplied with.
    scale: f32,
    blocks: usize,
    block_size: usize,
    /// The type of queries and outputs.
    dtype: DType,
    /// The type of stored keys and values.
    kv: DType,
    /// For each layer keys and values, `[blocks, block_size, kv_heads, head_dim]`.
    layers: Vec<(Array, Array)>,
    /// For each layer of a cache in e4m3: the scales of keys and of values, f32 `[kv_heads]`. Otherwise empty.
    scales: Vec<(Array, Array)>,
    settings: PlanSettings,
    prefill: Function,
    prefill_shared: usize,
    decode: Function,
    merge: Function,
    /// What is merged, f32 `[max_slots, heads, head_dim]` and `[max_slots, heads]`; caches whose layers run one after the other share it.
    partial_out: Arc<Array>,
    partial_lse: Arc<Array>,
}

#[derive(Debug, Clone, Copy)]
pub struct CacheSettings {
    /// Layers, heads, their width, and the bound of scores.
    pub shape: AttentionShape,
    /// What scores are multiplied with, before they are bounded.
    pub scale: f32,
    pub blocks: usize,
    /// Tokens per block: a power of two from 16.
    pub block_size: usize,
    /// The type of queries and outputs: bf16 or f16.
    pub dtype: DType,
    /// The type of stored keys and values: the same, or e4m3.
    pub kv: DType,
    /// Whether rows that share leading blocks attend to them together.
    pub shared_prefix: bool,
    pub tokens: usize,
}

impl CacheSettings {
    /// What keeps the kernels from running with these settings; `None` if nothing does.
    pub fn obstacle(&self) -> Option<Obstacle> {
        let shape = &self.shape;
        let (option, what) = if !HEAD_DIMS.contains(&shape.head_dim) {
            (None, format!("heads of {}", shape.head_dim))
        } else if self.kv == DType::F8E4M3 && !FP8_HEAD_DIMS.contains(&shape.head_dim) {
            let what = format!("heads of {} in a cache in FP8", shape.head_dim);
            (Some("--kv-dtype fp8"), what)
        } else if !shape.heads.is_multiple_of(shape.kv_heads.max(1)) {
            (None, format!("{} heads on {}", shape.heads, shape.kv_heads))
        } else if !matches!(self.dtype, DType::BF16 | DType::F16) {
            (Some("--dtype"), format!("activations of {:?}", self.dtype))
        } else if self.kv != self.dtype && self.kv != DType::F8E4M3 {
            let (kv, dtype) = (self.kv, self.dtype);
            let what = format!("keys and values of {kv:?} under activations of {dtype:?}");
            (Some("--kv-dtype"), what)
        } else if self.block_size < 16 || !self.block_size.is_power_of_two() {
            (None, format!("blocks of {}", self.block_size))
        } else {
            return None;
        };
        Some(Obstacle { what, option })
    }
}

impl PagedCache {
    /// Allocates the cache and loads the kernels. `scales` are those of the layers of a cache in e4m3; of what is missing they are one.
    /// Errors: [`ModelError::Unsupported`] for what [`CacheSettings::obstacle`] names; [`ModelError::OutOfMemory`].
    pub fn new(
        device: &CudaDevice,
        kernels: &mut Kernels,
        settings: &CacheSettings,
        scales: &[KvScales],
    ) -> Result<Self> {
        if let Some(obstacle) = settings.obstacle() {
            return Err(ModelError::Unsupported(format!(
                "no CUDA attention for {}",
                obstacle.what
            )));
        }
        let CacheSettings {
            shape,
            scale,
            blocks,
            block_size,
            dtype,
            kv,
            shared_prefix,
            tokens,
        } = *settings;
        let AttentionShape {
            heads,
            kv_heads,
            head_dim,
            ..
        } = shape;
        let fp8 = kv == DType::F8E4M3;
        let t = suffix(dtype)?;
        let stored = if fp8 { "_e4m3" } else { "" };
        let kv_bytes = kv.size_in_bytes();
        // By the whole warpgroup, where the device has such products.
        let by_warpgroup = format!("attention_prefill_warpgroup_{t}{stored}_d{head_dim}");
        let warpgroup = kernels.has("attention", &by_warpgroup)?;
        let prefill = if warpgroup {
            by_warpgroup
        } else {
            format!("attention_prefill_{t}{stored}_d{head_dim}")
        };
        let prefill_shared = prefill_shared_bytes(head_dim, kv_bytes, warpgroup);
        let part_bytes = heads * (head_dim + 1) * size_of::<f32>();
        let useful = tokens.saturating_mul(PARTS_PER_TOKEN).max(LEAST_PARTS);
        let max_slots = (SCRATCH_BYTES / part_bytes).min(useful);
        let scratch = |size| {
            let array = Array::zeros(device, size, DType::F32, "attention's scratch")?;
            Ok::<_, ModelError>(Arc::new(array))
        };
        let mut cache = Self {
            layers: Vec::new(),
            kv,
            scales: if fp8 {
                upload_scales(device, scales, (shape.layers, kv_heads))?
            } else {
                Vec::new()
            },
            settings: PlanSettings {
                heads,
                kv_heads,
                block_size,
                multiprocessors: kernels.multiprocessors()?,
                prefill_rows: prefill_rows(head_dim),
                shared_prefix,
                split_keys: None,
                max_slots,
            },
            prefill: kernels
                .function("attention", &prefill)?
                .allow_shared(prefill_shared)?,
            prefill_shared,
            decode: kernels
                .function(
                    "attention",
                    &format!("attention_decode_{t}{stored}_d{head_dim}"),
                )?
                .allow_shared(decode_shared_bytes(head_dim, kv_bytes))?,
            merge: kernels.function("attention", &format!("attention_merge_{t}_d{head_dim}"))?,
            partial_out: scratch(max_slots * heads * head_dim)?,
            partial_lse: scratch(max_slots * heads)?,
            shape,
            scale,
            blocks: 0,
            block_size,
            dtype,
        };
        cache.resize(device, blocks)?;
        Ok(cache)
    }

    /// Shares scratch memory with the one that has the most.
    pub(super) fn share_scratch<'a>(caches: impl Iterator<Item = &'a mut Self>) {
        let mut caches: Vec<&mut Self> = caches.collect();
        let parts: [fn(&mut Self) -> &mut Arc<Array>; 2] = [
            |cache| &mut cache.partial_out,
            |cache| &mut cache.partial_lse,
        ];
        for of in parts {
            let arrays = caches.iter_mut().map(|cache| Arc::clone(of(cache)));
            let Some(largest) = arrays.max_by_key(|array| array.elements()) else {
                return;
            };
            for cache in &mut caches {
                *of(cache) = Arc::clone(&largest);
            }
        }
    }

    /// Drops all keys and values, and allocates `blocks` blocks instead. After an error the cache has none.
    pub(crate) fn resize(&mut self, device: &CudaDevice, blocks: usize) -> Result<()> {
        self.blocks = 0;
        self.layers.clear();
        let size = blocks * self.block_size * self.shape.kv_heads * self.shape.head_dim;
        let zeros = |what| Array::zeros(device, size, self.kv, what);
        self.layers = (0..self.shape.layers)
            .map(|_| Ok((zeros("keys")?, zeros("values")?)))
            .collect::<Result<_>>()?;
        self.blocks = blocks;
        Ok(())
    }

    pub fn blocks(&self) -> usize {
        self.blocks
    }

    pub fn block_size(&self) -> usize {
        self.block_size
    }

    /// The settings for a step's [`AttentionPlan`].
    pub fn plan_settings(&self) -> &PlanSettings {
        &self.settings
    }

    /// A layer's keys and values, and the scales of an e4m3 cache.
    #[allow(clippy::type_complexity)]
    pub fn layer(
        &self,
        layer: usize,
    ) -> Result<(Slice<'_>, Slice<'_>, Option<(Slice<'_>, Slice<'_>)>)> {
        let Some((keys, values)) = self.layers.get(layer) else {
            return Err(ModelError::Batch(format!(
                "layer {layer} of {}",
                self.layers.len()
            )));
        };
        let scales = self.scales.get(layer);
        let scales = scales.map(|(keys, values)| (keys.all(), values.all()));
        Ok((keys.all(), values.all(), scales))
    }

    /// Attends with the step's queries to a layer, after the step's keys and values were written. `words` are those of
    /// `plan`, on the device.
    /// Errors: [`ModelError`] naming the kernel and what does not fit; [`ModelError::Batch`] for a window that was not planned.
    pub fn attend(&self, layer: &AttendedLayer, plan: &AttentionPlan, words: Slice) -> Result<()> {
        const NAME: &str = "attention";
        let AttentionShape {
            heads,
            kv_heads,
            head_dim,
            ..
        } = self.shape;
        let (n, length) = (plan.tokens, plan.words.len());
        let Some(plan) = plan.for_window(layer.window) else {
            return Err(ModelError::Batch(format!(
                "{NAME}: no plan for a window of {:?}",
                layer.window
            )));
        };
        let (keys, values, scales) = self.layer(layer.index)?;
        if plan.slots > self.settings.max_slots {
            return Err(ModelError::Batch(format!(
                "{NAME}: a plan of {} parts, and the scratch holds {}",
                plan.slots, self.settings.max_slots
            )));
        }
        let q = layer.q.check(NAME, "q", self.dtype, n * heads * head_dim)?;
        let out = layer
            .out
            .check(NAME, "out", self.dtype, n * heads * head_dim)?;
        let lse = layer.lse.check(NAME, "lse", DType::F32, n * heads)?;
        let words = words.check(NAME, "plan", DType::U32, length)?;
        let (key_scales, value_scales) = match scales {
            Some((keys, values)) => (Arg::Array(keys), Arg::Array(values)),
            None => (Arg::Null, Arg::Null),
        };
        let sinks = array_or_null(layer.sinks, NAME, "sinks", DType::F32, heads)?;
        let kv_bytes = keys.dtype().size_in_bytes();
        let parts = [
            (&self.prefill, plan.prefill, self.prefill_shared),
            (
                &self.decode,
                plan.decode,
                decode_shared_bytes(head_dim, kv_bytes),
            ),
        ];
        for (function, items, shared) in parts {
            function.launch(
                Grid::row(items.count * kv_heads, THREADS).with_shared(shared),
                &[
                    Arg::Array(q),
                    Arg::U32((heads * head_dim) as u32),
                    Arg::Array(keys),
                    Arg::Array(values),
                    key_scales,
                    value_scales,
                    sinks,
                    Arg::Array(words),
                    Arg::U32(items.offset as u32),
                    Arg::U32(items.count as u32),
                    Arg::Array(out),
                    Arg::Array(lse),
                    Arg::Array(self.partial_out.all()),
                    Arg::Array(self.partial_lse.all()),
                    Arg::U32(heads as u32),
                    Arg::U32(kv_heads as u32),
                    Arg::U32(self.block_size.trailing_zeros()),
                    Arg::F32(self.scale),
                    Arg::F32(self.shape.softcap.unwrap_or(0.0)),
                ],
            )?;
        }
        self.merge.launch(
            Grid::row(plan.merges.count * heads.div_ceil(4), THREADS),
            &[
                Arg::Array(words),
                Arg::U32(plan.merges.offset as u32),
                Arg::U32(plan.merges.count as u32),
                Arg::Array(self.partial_out.all()),
                Arg::Array(self.partial_lse.all()),
                sinks,
                Arg::Array(out),
                Arg::Array(lse),
                Arg::U32(heads as u32),
            ],
        )
    }
}

/// A layer's part in a step: what attends, to how many keys, and where the result goes.
#[derive(Clone, Copy)]
pub struct AttendedLayer<'a> {
    pub index: usize,
    /// How many keys a query sees, its own included; `None` for all.
    pub window: Option<usize>,
    /// Scores of attention sinks, which belong to no value, one for each head, f32 `[heads]`.
    pub sinks: Option<Slice<'a>>,
    /// Queries, `[n, heads, head_dim]`.
    pub q: Slice<'a>,
    /// Results, `[n, heads, head_dim]`.
    pub out: Slice<'a>,
    /// Natural logarithm of the sum of exponentials of each query's scores, without the sinks, f32 `[n, heads]`.
    pub lse: Slice<'a>,
}

fn upload_scales(
    device: &CudaDevice,
    scales: &[KvScales],
    (layers, kv_heads): (usize, usize),
) -> Result<Vec<(Array, Array)>> {
    let there = candle_core::Device::Cuda(device.clone());
    let upload = |scales: &[f32]| Array::from_tensor(&candle_core::Tensor::new(scales, &there)?);
    let ones = KvScales::ones(kv_heads);
    (0..layers)
        .map(|layer| {
            let scales = scales.get(layer).unwrap_or(&ones);
            Ok((upload(&scales.keys)?, upload(&scales.values)?))
        })
        .collect()
}
