//! The CPU's attention: tiles of keys as matrix products, shared prefixes read once for all rows.
//!
//! Keys are reduced in fixed tiles by absolute position (64 keys, or one block where blocks are larger). Each tile gives a query its maximum, its sum of
//! exponentials and its weighted values, every sum in an order fixed by the tile alone; tiles are merged in ascending order. Masked keys weigh exactly zero. So
//! a query's result is bitwise the same whether its tile was computed for one query or for hundreds, in whatever blocks the tile lies.
//!
//! That freedom is used by the [`plan`]: queries are sorted by block table, and all neighbours that see the same blocks at
//! the same tile (a shared prompt prefix, or one prefill chunk) go through it in one matrix product.

mod kernel;
mod plan;
mod product;
mod write;

use candle_core::{DType, Device, Tensor};
use rayon::prelude::*;

use self::kernel::{Cache, Head, Unit};
use self::plan::Plan;
use self::write::Write;
use super::{Attention, AttentionOutput, AttentionShape, ModelError};
use crate::model::StepBatch;
use crate::model::cpu::buffer::Buffer;
use crate::model::cpu::half::{Bf16, F16, F32, Format};
use crate::model::cpu::panels::PANEL;
use crate::model::cpu::with_f32;

/// Keys per tile, before rounding to whole blocks.
const TILE: usize = 64;

pub(super) fn build(
    shape: AttentionShape,
    blocks: usize,
    block_size: usize,
    dtype: DType,
) -> Result<Box<dyn Attention>, ModelError> {
    Ok(match dtype {
        DType::F16 => Box::new(Tiled::<F16>::new(shape, blocks, block_size)?),
        DType::BF16 => Box::new(Tiled::<Bf16>::new(shape, blocks, block_size)?),
        _ => Box::new(Tiled::<F32>::new(shape, blocks, block_size)?),
    })
}

struct Tiled<F: Format> {
    layout: Layout,
    blocks: usize,
    /// The layers in order, each with its keys, `[kv_heads, blocks, lanes / 16, head_dim, 16]`, and then its values,
    /// `[kv_heads, blocks, ceil(head_dim / 16), lanes, 16]`. Key heads lie apart, so that each can be written by a thread of
    /// its own.
    ///
    /// It is one buffer for all, which takes up memory page by page as it is used.
    cache: Buffer<F::Bits>,
    batch: StepBatch,
    /// Plans of the current step, for the windows used so far.
    plans: Vec<(Option<usize>, Plan)>,
}

/// How a block's keys and values lie in memory: as panels for [`Product`](product::Product).
#[derive(Debug, Clone, Copy)]
struct Layout {
    shape: AttentionShape,
    block_size: usize,
    /// Keys of a block, rounded up to whole panels; those past `block_size` are always masked.
    lanes: usize,
    tile_blocks: usize,
}

impl Layout {
    fn new(shape: AttentionShape, block_size: usize) -> Self {
        Self {
            shape,
            block_size,
            lanes: block_size.next_multiple_of(PANEL),
            tile_blocks: (TILE / block_size).max(1),
        }
    }

    fn tile(&self) -> usize {
        self.tile_blocks * self.block_size
    }

    /// How many numbers one head's keys are in a block.
    fn key_block(&self) -> usize {
        self.lanes * self.shape.head_dim
    }

    /// The width of a value, rounded up to whole panels.
    fn value_width(&self) -> usize {
        self.shape.head_dim.next_multiple_of(PANEL)
    }

    /// How many numbers one head's values are in a block.
    fn value_block(&self) -> usize {
        self.lanes * self.value_width()
    }

    /// How many numbers a layer of so many blocks is.
    fn layer(&self, blocks: usize) -> usize {
        self.shape.kv_heads * blocks * (self.key_block() + self.value_block())
    }
}

impl<F: Format> Tiled<F> {
    fn new(shape: AttentionShape, blocks: usize, block_size: usize) -> Result<Self, ModelError> {
        let layout = Layout::new(shape, block_size);
        let numbers = shape.layers.saturating_mul(layout.layer(blocks));
        let refused =
            |why| ModelError::OutOfMemory(format!("a KV cache of {blocks} blocks: {why}"));
        Ok(Self {
            layout,
            blocks,
            cache: Buffer::zeroed(numbers).map_err(refused)?,
            batch: StepBatch::default(),
            plans: Vec::new(),
        })
    }
}

impl<F: Format> Attention for Tiled<F> {
    fn block_size(&self) -> usize {
        self.layout.block_size
    }

    fn blocks(&self) -> usize {
        self.blocks
    }

    fn prepare(&mut self, batch: &StepBatch) -> Result<(), ModelError> {
        batch.validate(self.layout.block_size, self.blocks)?;
        self.plans.clear();
        self.batch.clone_from(batch);
        Ok(())
    }

    fn first_blocks(&mut self, blocks: usize) -> Vec<&mut [u8]> {
        let Self {
            layout,
            blocks: all,
            ..
        } = *self;
        let heads = layout.shape.kv_heads;
        let mut parts = Vec::with_capacity(2 * heads * layout.shape.layers);
        if blocks > all {
            return parts;
        }
        for layer in self.cache.chunks_exact_mut(layout.layer(all)) {
            let (keys, values) = layer.split_at_mut(heads * all * layout.key_block());
            for (cache, block) in [(keys, layout.key_block()), (values, layout.value_block())] {
                let heads = cache.chunks_exact_mut(all * block);
                parts.extend(
                    heads.map(|head| bytemuck::cast_slice_mut(&mut head[..blocks * block])),
                );
            }
        }
        parts
    }

    fn forward(
        &mut self,
        layer: usize,
        window: Option<usize>,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
    ) -> Result<AttentionOutput, ModelError> {
        let n = self.batch.tokens.len();
        let AttentionShape {
            heads, head_dim, ..
        } = self.layout.shape;
        self.layout.shape.check_step(n, layer, q, k, v)?;
        let index = self.plan(window);
        let mut output = vec![0.0; n * heads * head_dim];
        let mut lse = vec![0.0; n * heads];
        with_f32([q, k, v], |[q, k, v]| {
            self.attend(layer, index, (q, k, v), (&mut output, &mut lse));
            Ok(())
        })?;
        Ok(AttentionOutput {
            output: Tensor::from_vec(output, (n, heads, head_dim), &Device::Cpu)?,
            lse: Tensor::from_vec(lse, (n, heads), &Device::Cpu)?,
        })
    }
}

impl<F: Format> Tiled<F> {
    /// The index of the plan for a window, which is made if it is missing.
    fn plan(&mut self, window: Option<usize>) -> usize {
        let known = self.plans.iter().position(|(known, _)| *known == window);
        known.unwrap_or_else(|| {
            let threads = rayon::current_num_threads();
            let plan = Plan::new(&self.batch, &self.layout, threads, window);
            self.plans.push((window, plan));
            self.plans.len() - 1
        })
    }

    /// [`Attention::forward`] on slices, by one of the plans.
    fn attend(
        &mut self,
        layer: usize,
        plan: usize,
        (q, k, v): (&[f32], &[f32], &[f32]),
        (output, lse): (&mut [f32], &mut [f32]),
    ) {
        let Self {
            layout,
            blocks,
            cache,
            batch,
            plans,
        } = self;
        let (_, plan) = &plans[plan];
        let slots = if k.is_empty() { &[][..] } else { &batch.slots };
        let kv_heads = layout.shape.kv_heads;
        let group = layout.shape.group();
        // One task for each unit of queries and each key head, which owns its parts of the results.
        let mut tasks: Vec<Vec<Unit>> = (0..kv_heads)
            .map(|kv_head| {
                let unit = |plan| Unit {
                    plan,
                    kv_head,
                    results: Vec::new(),
                };
                plan.units.iter().map(unit).collect()
            })
            .collect();
        let parts = output
            .chunks_exact_mut(group * layout.shape.head_dim)
            .zip(lse.chunks_exact_mut(group));
        for (index, (output, lse)) in parts.enumerate() {
            let (token, kv_head) = (index / kv_heads, index % kv_heads);
            let place = plan.places[token];
            let results = &mut tasks[kv_head][place.unit].results;
            results.push(Head {
                query: place.query,
                output,
                lse,
            });
        }
        let size = layout.layer(*blocks);
        let cache = &mut cache[layer * size..][..size];
        let (keys, values) = cache.split_at_mut(kv_heads * *blocks * layout.key_block());
        let caches = keys
            .chunks_exact_mut(*blocks * layout.key_block())
            .zip(values.chunks_exact_mut(*blocks * layout.value_block()));
        let heads: Vec<_> = caches.zip(tasks).enumerate().collect();
        let write = |kv_head, keys: &mut [F::Bits], values: &mut [F::Bits]| {
            Write::<F> {
                layout,
                slots,
                kv_head,
                k,
                v,
                keys,
                values,
            }
            .run();
        };
        if plan.serial {
            for (kv_head, ((keys, values), tasks)) in heads {
                write(kv_head, keys, values);
                for task in tasks {
                    let cache = Cache::<F> {
                        layout,
                        keys,
                        values,
                    };
                    task.run(q, &cache);
                }
            }
        } else {
            let heads = heads.into_par_iter().with_max_len(1);
            heads.for_each(|(kv_head, ((keys, values), tasks))| {
                write(kv_head, keys, values);
                let cache = Cache::<F> {
                    layout,
                    keys,
                    values,
                };
                let tasks = tasks.into_par_iter().with_max_len(1);
                tasks.for_each(|task| task.run(q, &cache));
            });
        }
    }
}
