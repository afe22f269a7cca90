//! Writing a step's keys and values to their slots.

use super::Layout;
use crate::model::attention::AttentionShape;
use crate::model::cpu::half::Format;
use crate::model::cpu::instructions::{Kernel, Vectors, run};
use crate::model::cpu::panels::PANEL;

/// Writes the keys and values of one key head, rounded, to the cache.
pub(super) struct Write<'a, F: Format> {
    pub(super) layout: &'a Layout,
    /// The slot of each token, `[N]`.
    pub(super) slots: &'a [u32],
    pub(super) kv_head: usize,
    /// `[N, kv_heads, head_dim]`
    pub(super) k: &'a [f32],
    /// `[N, kv_heads, head_dim]`
    pub(super) v: &'a [f32],
    /// The head's keys, `[blocks, lanes / 16, head_dim, 16]`.
    pub(super) keys: &'a mut [F::Bits],
    /// The head's values, `[blocks, ceil(head_dim / 16), lanes, 16]`.
    pub(super) values: &'a mut [F::Bits],
}

impl<F: Format> Write<'_, F> {
    pub(super) fn run(self) {
        run(self);
    }
}

impl<F: Format> Kernel for Write<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self, _: V) {
        let Layout {
            shape: AttentionShape {
                kv_heads, head_dim, ..
            },
            block_size,
            lanes,
            ..
        } = *self.layout;
        let (key_block, value_block) = (self.layout.key_block(), self.layout.value_block());
        let mut rounded = vec![F::Bits::default(); head_dim];
        for (token, &slot) in self.slots.iter().enumerate() {
            let (block, offset) = (slot as usize / block_size, slot as usize % block_size);
            let from = (token * kv_heads + self.kv_head) * head_dim;
            round::<F>(&self.k[from..][..head_dim], &mut rounded);
            let panel = block * key_block + offset / PANEL * head_dim * PANEL;
            let rows = self.keys[panel..][..head_dim * PANEL].chunks_exact_mut(PANEL);
            for (row, number) in rows.zip(&rounded) {
                row[offset % PANEL] = *number;
            }
            let values = &mut self.values[block * value_block..][..value_block];
            if offset == 0 {
                // A block's last owner may have left infinities, and zero times infinity is NaN.
                values.fill(F::Bits::default());
            }
            round::<F>(&self.v[from..][..head_dim], &mut rounded);
            let panels = values.chunks_exact_mut(lanes * PANEL);
            for (panel, numbers) in panels.zip(rounded.chunks(PANEL)) {
                panel[offset * PANEL..][..numbers.len()].copy_from_slice(numbers);
            }
        }
    }
}

#[inline(always)]
fn round<F: Format>(from: &[f32], to: &mut [F::Bits]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = F::round(*from);
    }
}
