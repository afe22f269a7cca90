//! `Q5_K`: a super-block of [`super::q4`] with a fifth bit for every weight.

use super::{BLOCK, Group, Nibbles, Q4Group, Vector, multiply};
use crate::checkpoint::gguf::blocks::{BLOCKS, fifth_bit};
use crate::model::cpu::panels::PANEL;

/// A super-block of 16 outputs (5.625 bits a weight).
#[derive(Debug, Clone, Copy)]
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
    const ZERO: Self = Self {
        low: Q4Group::ZERO,
        high: [Vector([0; 64]); BLOCKS],
    };

    fn set(&mut self, lane: usize, bytes: &[u8]) {
        let (header, rest) = bytes.split_at(16);
        let (high, nibbles) = rest.split_at(BLOCK);
        self.low.set_parts(lane, header, nibbles);
        for (block, vector) in self.high.iter_mut().enumerate() {
            let own = &mut vector.0[4 * lane..][..4];
            own.fill(0);
            for i in 0..BLOCK {
                own[i % 4] |= fifth_bit(high, block, i) << (i / 4);
            }
        }
    }

    fn get(&self, lane: usize, out: &mut [f32]) {
        self.low.get_with(lane, out, |block, i| {
            (self.high[block].0[4 * lane + i % 4] >> (i / 4) & 1) << 4
        });
    }

    multiply!(q5, nibbles);
}

impl Nibbles for Q5Group {
    #[inline(always)]
    fn nibbles(&self, block: usize) -> &[Vector; BLOCK / 8] {
        self.low.nibbles(block)
    }

    #[inline(always)]
    fn fifth(&self, block: usize) -> Option<&Vector> {
        Some(&self.high[block])
    }

    #[inline(always)]
    fn scale_and_min(&self) -> [&[u16; PANEL]; 2] {
        self.low.scale_and_min()
    }

    #[inline(always)]
    fn factors(&self, block: usize) -> Option<(&[u8; PANEL], &[u8; PANEL])> {
        self.low.factors(block)
    }
}
