//! `Q5_K`: a super-block of [`super::q4`] with a fifth bit for every weight.

use super::{BLOCK, Group, Nibbles, Q4Group, Vector, multiply, with_fifths};
use crate::checkpoint::gguf::blocks::{BLOCKS, fifth_bit};
use crate::model::cpu::panels::PANEL;

/// A super-block of 16 outputs (5.625 bits a weight).
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Q5Group {
    /// The lower four bits, scales and minima.
    pub(crate) low: Q4Group,
    /// The fifth bits of the blocks: bit `i` of byte `4 · output + j` belongs to input `4i + j`.
    pub(crate) high: [Vector; BLOCKS],
}

impl Group for Q5Group {
    const BLOCKS: usize = BLOCKS;
    const STORED: usize = 16 + BLOCK + BLOCKS * BLOCK / 2;
    fn set(&mut self, lane: usize, bytes: &[u8]) {
        let (header, rest) = bytes.split_at(16);
        let (high, nibbles) = rest.split_at(BLOCK);
        self.low.set_parts(lane, header, nibbles);
        for (block, vector) in self.high.iter_mut().enumerate() {
            vector.set_fifths(lane, |i| fifth_bit(high, block, i));
        }
    }

    fn get(&self, lane: usize, out: &mut [f32]) {
        self.low
            .get_with(lane, out, |block, i| self.high[block].fifth(lane, i));
    }

    multiply!(q5, nibbles);
}

with_fifths!(Q5Group, Q4Group, 0);
