//! The CPU's attention: tiles of keys as matrix products, shared prefixes read once for all rows.
//!
//! Keys are reduced in fixed tiles by absolute position (64 keys, or one block where blocks are larger). Each tile gives a
//! query its maximum, its sum of exponentials and its weighted values, every sum in an order fixed by the tile alone; tiles are
//! merged in ascending order. Masked keys weigh exactly zero. So a query's result is bitwise the same whether its tile was
//! computed for one query or for hundreds, in whatever blocks the tile lies.
//!
//! That freedom is used by the [`plan`]: queries are sorted by block table, and all neighbours that see the same blocks at
//! the same tile (a shared prompt prefix, or one prefill chunk) go through it in one matrix product.

mod kernel;
mod plan;

use candle_core::{Device, Tensor};
use rayon::prelude::*;

use self::kernel::{Cache, Head, Unit};
use self::plan::Plan;
use super::{Attention, AttentionOutput, AttentionShape, ModelError, zeros};
use crate::model::StepBatch;
use crate::model::cpu::panels::PANEL;
use crate::model::cpu::with_f32;

/// Keys per tile, rounded to whole blocks.
const TILE: usize = 64;

/// See [`AttentionKind::Tiled`](super::AttentionKind::Tiled).
pub(super) struct Tiled {
    layout: Layout,
    blocks: usize,
    /// For each layer keys and values.
    layers: Vec<(Vec<f32>, Vec<f32>)>,
    plan: Plan,
    slots: Vec<u32>,
}

/// How a block's keys and values lie in memory, as panels for [`Multiply`](crate::model::cpu::panels::Multiply).
///
/// Keys: `[blocks, kv_heads, lanes / 16, head_dim, 16]`; values: `[blocks, kv_heads, ceil(head_dim / 16), lanes, 16]`.
#[derive(Debug, Clone, Copy)]
struct Layout {
    shape: AttentionShape,
    block_size: usize,
    /// Keys of a block rounded up to whole panels; those beyond `block_size` are always masked.
    lanes: usize,
    /// Blocks of a tile.
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

    /// Keys per tile.
    fn tile(&self) -> usize {
        self.tile_blocks * self.block_size
    }

    /// Numbers that one head's keys take in a block.
    fn key_block(&self) -> usize {
        self.lanes * self.shape.head_dim
    }

    /// Numbers that one head's values take in a block.
    fn value_block(&self) -> usize {
        self.lanes * self.shape.head_dim.next_multiple_of(PANEL)
    }
}

impl Tiled {
    pub(super) fn new(
        shape: AttentionShape,
        blocks: usize,
        block_size: usize,
    ) -> Result<Self, ModelError> {
        let layout = Layout::new(shape, block_size);
        let heads = blocks * shape.kv_heads;
        let layers = (0..shape.layers)
            .map(|_| {
                Ok((
                    zeros(heads * layout.key_block())?,
                    zeros(heads * layout.value_block())?,
                ))
            })
            .collect::<Result<_, ModelError>>()?;
        Ok(Self {
            layout,
            blocks,
            layers,
            plan: Plan::default(),
            slots: Vec::new(),
        })
    }

    /// Writes the step's keys and values, `[N, kv_heads, head_dim]`, to their slots.
    fn write(&mut self, layer: usize, k: &[f32], v: &[f32]) {
        let Layout {
            shape: AttentionShape {
                kv_heads, head_dim, ..
            },
            block_size,
            lanes,
            ..
        } = self.layout;
        let (key_block, value_block) = (self.layout.key_block(), self.layout.value_block());
        let (keys, values) = &mut self.layers[layer];
        let width = kv_heads * head_dim;
        for ((&slot, k), v) in self
            .slots
            .iter()
            .zip(k.chunks_exact(width))
            .zip(v.chunks_exact(width))
        {
            let (block, offset) = (slot as usize / block_size, slot as usize % block_size);
            for (head, (k, v)) in k
                .chunks_exact(head_dim)
                .zip(v.chunks_exact(head_dim))
                .enumerate()
            {
                let at = block * kv_heads + head;
                let panel = &mut keys[at * key_block..][offset / PANEL * head_dim * PANEL..]
                    [..head_dim * PANEL];
                for (to, from) in panel.iter_mut().skip(offset % PANEL).step_by(PANEL).zip(k) {
                    *to = *from;
                }
                let panels = &mut values[at * value_block..][..value_block];
                for (panel, from) in panels.chunks_exact_mut(lanes * PANEL).zip(v.chunks(PANEL)) {
                    panel[offset * PANEL..][..from.len()].copy_from_slice(from);
                }
            }
        }
    }
}

impl Attention for Tiled {
    fn block_size(&self) -> usize {
        self.layout.block_size
    }

    fn blocks(&self) -> usize {
        self.blocks
    }

    fn prepare(&mut self, batch: &StepBatch) -> Result<(), ModelError> {
        batch.validate(self.layout.block_size, self.blocks)?;
        self.plan = Plan::new(batch, &self.layout, rayon::current_num_threads());
        self.slots.clone_from(&batch.slots);
        Ok(())
    }

    fn forward(
        &mut self,
        layer: usize,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
    ) -> Result<AttentionOutput, ModelError> {
        let n = self.slots.len();
        let AttentionShape {
            heads,
            kv_heads,
            head_dim,
            ..
        } = self.layout.shape;
        self.layout.shape.check_step(n, layer, q, k, v)?;
        with_f32(k, |k| {
            with_f32(v, |v| {
                self.write(layer, k, v);
                Ok(())
            })
        })?;
        let group = self.layout.shape.group();
        let mut output = vec![0.0; n * heads * head_dim];
        let mut lse = vec![0.0; n * heads];
        // A task for each unit of queries and each key head, which owns its parts of the results.
        let mut tasks: Vec<Unit> = Vec::with_capacity(self.plan.units.len() * kv_heads);
        for unit in &self.plan.units {
            for kv_head in 0..kv_heads {
                tasks.push(Unit {
                    plan: unit,
                    kv_head,
                    results: Vec::with_capacity(unit.queries.len()),
                });
            }
        }
        let parts = output
            .chunks_exact_mut(group * head_dim)
            .zip(lse.chunks_exact_mut(group));
        for (index, (output, lse)) in parts.enumerate() {
            let (token, kv_head) = (index / kv_heads, index % kv_heads);
            let place = self.plan.places[token];
            tasks[place.unit * kv_heads + kv_head].results.push(Head {
                query: place.query,
                output,
                lse,
            });
        }
        let (keys, values) = &self.layers[layer];
        let cache = Cache {
            layout: &self.layout,
            keys,
            values,
        };
        with_f32(q, |q| {
            if self.plan.serial {
                for task in tasks {
                    task.run(q, cache);
                }
            } else {
                let tasks = tasks.into_par_iter().with_max_len(1);
                tasks.for_each(|task| task.run(q, cache));
            }
            Ok(())
        })?;
        Ok(AttentionOutput {
            output: Tensor::from_vec(output, (n, heads, head_dim), &Device::Cpu)?,
            lse: Tensor::from_vec(lse, (n, heads), &Device::Cpu)?,
        })
    }
}
