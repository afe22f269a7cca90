//! `Q4_0` and `Q5_0`: a block of 32 weights is a scale in half precision, and 32 numbers of four or five bits:
//! `weight = scale·(number − 8)`, or `− 16` with five bits.

use super::{BLOCK, Group, Nibbles, Vector, multiply, nibble_of, set_nibbles, with_fifths};
use crate::checkpoint::gguf::StorageType;
use crate::checkpoint::gguf::blocks::small;
use crate::model::cpu::half::{F16, Format};
use crate::model::cpu::panels::PANEL;

/// Blocks in a group: with two their scales fill a cache line.
const BLOCKS: usize = 2;
const HEADER: usize = 2;

/// Two blocks of 16 outputs of `Q4_0` (4.5 bits a weight).
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Q40Group {
    /// The scales of the blocks, in half precision.
    pub(crate) scales: [[u16; PANEL]; BLOCKS],
    /// The numbers: vector `i` holds inputs `4i` to `4i + 3` in its low nibbles, and those 16 further on in its high ones.
    pub(crate) weights: [[Vector; BLOCK / 8]; BLOCKS],
}

impl Q40Group {
    /// Sets a block of one output from its scale, and the low four bits of its numbers.
    fn set_parts(&mut self, block: usize, lane: usize, header: &[u8], numbers: &[u8; BLOCK]) {
        self.scales[block][lane] = u16::from_le_bytes([header[0], header[1]]);
        set_nibbles(&mut self.weights[block], lane, |i| numbers[i]);
    }

    /// Reads the weights of one output; `more` of a block and an input is added to its nibble, and `zero` stands for 0.
    fn get_with(&self, lane: usize, out: &mut [f32], zero: i32, more: impl Fn(usize, usize) -> u8) {
        for (block, out) in out.chunks_exact_mut(BLOCK).enumerate() {
            let scale = F16::to_f32(self.scales[block][lane]);
            for (i, out) in out.iter_mut().enumerate() {
                let number = nibble_of(&self.weights[block], lane, i) + more(block, i);
                *out = (i32::from(number) - zero) as f32 * scale;
            }
        }
    }
}

impl Group for Q40Group {
    const BLOCKS: usize = BLOCKS;
    const STORED: usize = BLOCKS * (HEADER + BLOCK / 2);
    fn set(&mut self, lane: usize, bytes: &[u8]) {
        for (block, bytes) in bytes.chunks_exact(Self::STORED / BLOCKS).enumerate() {
            let (header, numbers) = bytes.split_at(HEADER);
            self.set_parts(block, lane, header, &small(StorageType::Q4_0, numbers));
        }
    }

    fn get(&self, lane: usize, out: &mut [f32]) {
        self.get_with(lane, out, <Self as Nibbles>::ADDED, |_, _| 0);
    }

    multiply!(q40, nibbles);
}

impl Nibbles for Q40Group {
    const ADDED: i32 = 8;

    #[inline(always)]
    fn nibbles(&self, block: usize) -> &[Vector; BLOCK / 8] {
        &self.weights[block]
    }

    #[inline(always)]
    fn scale(&self, block: usize) -> &[u16; PANEL] {
        &self.scales[block]
    }
}

/// Two blocks of 16 outputs of `Q5_0` (5.5 bits a weight).
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Q50Group {
    /// The lower four bits, and the scales.
    pub(crate) low: Q40Group,
    /// The fifth bits of the blocks: bit `i` of byte `4 · output + j` belongs to input `4i + j`.
    pub(crate) high: [Vector; BLOCKS],
}

impl Group for Q50Group {
    const BLOCKS: usize = BLOCKS;
    const STORED: usize = BLOCKS * (HEADER + 4 + BLOCK / 2);
    fn set(&mut self, lane: usize, bytes: &[u8]) {
        for (block, bytes) in bytes.chunks_exact(Self::STORED / BLOCKS).enumerate() {
            let (header, numbers) = bytes.split_at(HEADER);
            let numbers = small(StorageType::Q5_0, numbers);
            self.low.set_parts(block, lane, header, &numbers);
            self.high[block].set_fifths(lane, |i| numbers[i] >> 4);
        }
    }

    fn get(&self, lane: usize, out: &mut [f32]) {
        let more = |block: usize, i| self.high[block].fifth(lane, i);
        self.low.get_with(lane, out, <Self as Nibbles>::ADDED, more);
    }

    multiply!(q50, nibbles);
}

with_fifths!(Q50Group, Q40Group, 16);
