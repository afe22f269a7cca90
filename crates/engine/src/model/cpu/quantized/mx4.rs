//! `MXFP4` (<https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf>): a block of 32 weights is
//! a power of two and 32 numbers of four bits, E2M1. Twice such a number is an integer from −12 to 12, so that products are
//! sums of integers here too.

use super::{BLOCK, Group, Nibbles, PANEL, Vector, multiply, nibble_of, set_nibbles};

/// Blocks in a group; with this many their scales fill a cache line.
const BLOCKS: usize = 4;

/// Bytes of a block: the exponent, and 16 pairs with the first number in the low nibble.
const STORED: usize = 1 + BLOCK / 2;

/// Twice the values of the four bits, with [`ZERO`] added to make them unsigned.
pub(super) const NUMBERS: [u8; 16] = [12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0];

/// The offset that was added.
pub(super) const ZERO: i32 = 12;

/// Four blocks of 16 outputs (4.25 bits a weight).
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(crate) struct Mx4Group {
    /// Exponents of the blocks' scales, with 127 added.
    pub(crate) scales: [[u8; PANEL]; BLOCKS],
    /// Weights of the blocks: vector `i` holds inputs `4i` to `4i + 3` in its low nibbles, and those 16 further on in its
    /// high ones.
    pub(crate) weights: [[Vector; BLOCK / 8]; BLOCKS],
}

/// Half a block's scale, which is the factor of its integers. The least exponent counts as zero.
#[inline(always)]
pub(super) fn half_scale(exponent: u8) -> f32 {
    f32::from_bits(u32::from(exponent) << 23) * 0.5
}

impl Group for Mx4Group {
    const BLOCKS: usize = BLOCKS;
    const STORED: usize = BLOCKS * STORED;
    fn set(&mut self, lane: usize, bytes: &[u8]) {
        for (block, bytes) in bytes.chunks_exact(STORED).enumerate() {
            self.scales[block][lane] = bytes[0];
            let nibble = |i: usize| bytes[1 + i / 2] >> (4 * (i % 2)) & 15;
            set_nibbles(&mut self.weights[block], lane, nibble);
        }
    }

    fn get(&self, lane: usize, out: &mut [f32]) {
        for (block, out) in out.chunks_exact_mut(BLOCK).enumerate() {
            let scale = half_scale(self.scales[block][lane]);
            for (i, out) in out.iter_mut().enumerate() {
                let number = NUMBERS[usize::from(nibble_of(&self.weights[block], lane, i))];
                *out = (i32::from(number) - ZERO) as f32 * scale;
            }
        }
    }

    multiply!(mx4, mx4_group);
}

impl Nibbles for Mx4Group {
    /// Its numbers are at most 24.
    const BITS: usize = 5;
    const ADDED: i32 = ZERO;
    const CODES: bool = true;

    #[inline(always)]
    fn nibbles(&self, block: usize) -> &[Vector; BLOCK / 8] {
        &self.weights[block]
    }

    #[inline(always)]
    fn powers(&self, block: usize) -> Option<&[u8; PANEL]> {
        Some(&self.scales[block])
    }
}
