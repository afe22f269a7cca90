//! `Q6_K`: a super-block of 256 weights is sixteen parts of 16 weights of 6 bits with a signed scale of 8 bits each, and for
//! all of them a scale of scales in half precision: `weight = d·scale·(bits − 32)`.

use super::{BLOCK, Group, Nibbles, Vector, multiply, set_nibbles};
use crate::checkpoint::gguf::blocks::{BLOCKS, six_bits};
use crate::model::cpu::half::{F16, Format};
use crate::model::cpu::panels::PANEL;

/// Weights that share a scale: half a block.
const PART: usize = BLOCK / 2;

/// A super-block of 16 outputs (6.625 bits a weight).
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Q6Group {
    /// The factor of the scales, in half precision.
    pub(crate) scale: [u16; PANEL],
    /// Scales of the halves of blocks.
    pub(crate) scales: [[i8; PANEL]; 2 * BLOCKS],
    /// Fills the cache line.
    pub(crate) unused: [u16; PANEL],
    /// The lower four bits: vector `i` holds inputs `4i` to `4i + 3` of a block in its low nibbles, and those 16 further on
    /// in its high ones.
    pub(crate) low: [[Vector; PART / 4]; BLOCKS],
    /// The upper two bits of the halves of blocks: bits `2i` and `2i + 1` of byte `4 · output + j` belong to input `4i + j`
    /// of the half.
    pub(crate) high: [[Vector; 2]; BLOCKS],
}

impl Group for Q6Group {
    const BLOCKS: usize = BLOCKS;
    const STORED: usize = 128 + 64 + 2 * BLOCKS + 2;
    fn set(&mut self, lane: usize, bytes: &[u8]) {
        let (low, rest) = bytes.split_at(128);
        let (high, rest) = rest.split_at(64);
        let (scales, scale) = rest.split_at(2 * BLOCKS);
        self.scale[lane] = u16::from_le_bytes([scale[0], scale[1]]);
        for (to, from) in self.scales.iter_mut().zip(scales) {
            to[lane] = i8::from_le_bytes([*from]);
        }
        for block in 0..BLOCKS {
            let number = |i: usize| six_bits(low, high, block, i);
            set_nibbles(&mut self.low[block], lane, number);
            for (half, vector) in self.high[block].iter_mut().enumerate() {
                let own = &mut vector.0[4 * lane..][..4];
                own.fill(0);
                for i in 0..PART {
                    own[i % 4] |= (number(half * PART + i) >> 4) << (2 * (i / 4));
                }
            }
        }
    }

    fn get(&self, lane: usize, out: &mut [f32]) {
        let scale = F16::to_f32(self.scale[lane]);
        for (part, out) in out.chunks_exact_mut(PART).enumerate() {
            let scale = scale * f32::from(self.scales[part][lane]);
            let (block, half) = (part / 2, part % 2);
            for (i, out) in out.iter_mut().enumerate() {
                let nibble = self.low[block][i / 4].0[4 * lane + i % 4] >> (4 * half) & 15;
                let bits = self.high[block][half].0[4 * lane + i % 4] >> (2 * (i / 4)) & 3;
                *out = scale * (f32::from(nibble | bits << 4) - 32.0);
            }
        }
    }

    multiply!(q6, q6_group);
}

impl Nibbles for Q6Group {
    const BITS: usize = 6;
    const ADDED: i32 = 32;
    const SCALES: usize = 2;

    #[inline(always)]
    fn nibbles(&self, block: usize) -> &[Vector; BLOCK / 8] {
        &self.low[block]
    }

    #[inline(always)]
    fn pairs(&self, block: usize, half: usize) -> Option<&Vector> {
        Some(&self.high[block][half])
    }

    #[inline(always)]
    fn scale(&self, _: usize) -> &[u16; PANEL] {
        &self.scale
    }

    #[inline(always)]
    fn signed(&self, block: usize, half: usize) -> Option<&[i8; PANEL]> {
        Some(&self.scales[2 * block + half])
    }
}
