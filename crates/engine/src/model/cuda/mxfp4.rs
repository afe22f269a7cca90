//! Experts in MXFP4 as the grouped product takes them (`kernels/weight_formats.cuh`): the same 4.25 bits a weight that a
//! checkpoint stores, in the order of a warp's lanes.
//!
//! Eight outputs by 32 inputs are 128 bytes, four words for each output. Word `t` has the four pairs of inputs that begin with
//! `2t`, `2t + 8`, `2t + 16` and `2t + 24`: the firsts of the pairs in the lower half, the seconds in the upper one; in a half
//! the pairs' signs from bit 15 down, then their three lower bits each from bit 11 down.

use std::ops::RangeInclusive;

use candle_core::DType;
use rayon::prelude::*;

use crate::checkpoint::tensors::MXFP4_BLOCK;

/// How many inputs have their exponents side by side: those of a tile.
const STEP: usize = 64;

/// An exponent for blocks of zeros, whose value is the same with any.
const ANY: u8 = 127;

/// A weight as a checkpoint stores it.
pub struct Stored<'a> {
    /// `[outputs, inputs / 32, 16]` bytes, each with two neighbours, the first one in the low bits.
    pub blocks: &'a [u8],
    /// `[outputs, inputs / 32]` exponents with 127 added.
    pub exponents: &'a [u8],
    /// Outputs, a multiple of 8, and inputs, a multiple of 32.
    pub shape: (usize, usize),
}

/// Bytes of packed weights and of packed exponents.
pub fn packed_bytes((outputs, inputs): (usize, usize)) -> [usize; 2] {
    [outputs * inputs / 2, outputs * inputs.div_ceil(STEP) * 2]
}

/// The exponents with which every value, and its scale, can be held by the activations' type. In bf16 that includes all that
/// trained models have.
pub fn exponents(dtype: DType) -> RangeInclusive<u8> {
    match dtype {
        DType::F16 => 104..=128,
        _ => 0..=128,
    }
}

impl Stored<'_> {
    /// Whether `blocks` and `exponents` have the size that the shape requires.
    fn is_whole(&self) -> bool {
        let (outputs, inputs) = self.shape;
        outputs.is_multiple_of(8)
            && inputs.is_multiple_of(MXFP4_BLOCK)
            && self.blocks.len() == outputs * inputs / 2
            && self.exponents.len() == outputs * inputs / MXFP4_BLOCK
    }

    /// Packs the weight; row `i` of the result is row `order(i)` of the stored weight. Returns false if `blocks` and
    /// `exponents` do not have the sizes of [`packed_bytes`] or an exponent is not among the `allowed` (blocks of zeros may
    /// have any but 255).
    #[must_use]
    pub fn pack(
        &self,
        order: impl Fn(usize) -> usize + Sync,
        allowed: &RangeInclusive<u8>,
        blocks: &mut [u8],
        exponents: &mut [u8],
    ) -> bool {
        let (outputs, inputs) = self.shape;
        let sizes = [blocks.len(), exponents.len()];
        if !self.is_whole() || outputs * inputs == 0 || sizes != packed_bytes(self.shape) {
            return false;
        }
        let across = inputs / MXFP4_BLOCK;
        let steps = inputs.div_ceil(STEP);
        blocks
            .par_chunks_exact_mut(across * 128)
            .zip(exponents.par_chunks_exact_mut(steps * 16))
            .enumerate()
            .all(|(octet, (blocks, exponents))| {
                exponents.fill(ANY);
                (0..8).all(|output| {
                    let row = order(octet * 8 + output);
                    (0..across).all(|block| {
                        let from = row * across + block;
                        let bytes = &self.blocks[from * 16..][..16];
                        let to = &mut blocks[(block * 8 + output) * 16..][..16];
                        for (t, word) in to.chunks_exact_mut(4).enumerate() {
                            word.copy_from_slice(&word_of(bytes, t).to_le_bytes());
                        }
                        let exponent = self.exponents[from];
                        let zeros = bytes.iter().all(|byte| byte & 0x77 == 0);
                        if !allowed.contains(&exponent) {
                            return zeros && exponent != u8::MAX;
                        }
                        exponents[block / 2 * 16 + output * 2 + block % 2] = exponent;
                        true
                    })
                })
            })
    }
}

/// Word `t` of a block.
fn word_of(bytes: &[u8], t: usize) -> u32 {
    (0..4).fold(0, |word, pair| {
        let byte = u32::from(bytes[t + 4 * pair]);
        let half = |value: u32| (value >> 3 & 1) << (15 - pair) | (value & 7) << (9 - 3 * pair);
        word | half(byte & 15) | half(byte >> 4) << 16
    })
}

#[cfg(test)]
mod tests {
    use super::{DType, Stored, exponents, packed_bytes};

    /// One output of eight has one nonzero value.
    #[test]
    fn values_are_where_the_kernel_looks_for_them() {
        let shape = (8, 96);
        let (mut blocks, stored_exponents) = (vec![0; 8 * 48], vec![120; 8 * 3]);
        // Output 5, input 64 + 19, −3: code 13.
        blocks[5 * 48 + 2 * 16 + 19 / 2] = 13 << 4;
        let stored = Stored {
            blocks: &blocks,
            exponents: &stored_exponents,
            shape,
        };
        let [size, exponent_size] = packed_bytes(shape);
        let (mut packed, mut packed_exponents) = (vec![1; size], vec![1; exponent_size]);
        let allowed = exponents(DType::BF16);
        // The outputs in reverse order.
        assert!(stored.pack(|i| 7 - i, &allowed, &mut packed, &mut packed_exponents));
        // The second of pair 2 (inputs 18 and 19) of word 1: sign at 13, three bits from 5 down, in the upper half.
        let word = (1u32 << 13 | 5 << 3) << 16;
        let at = (2 * 8 + 2) * 16 + 4;
        assert_eq!(packed[at..at + 4], word.to_le_bytes());
        assert_eq!(packed.iter().filter(|byte| **byte != 0).count(), 2);
        // A step of 64 inputs has two exponents for each output; beyond the end it is any.
        assert_eq!(packed_exponents[..16], [120; 16]);
        assert_eq!(packed_exponents[16..], [120, 127].repeat(8));
    }

    #[test]
    fn exponents_that_a_type_has_no_numbers_for_are_not_packed() {
        let shape = (8, 32);
        let pack = |exponent: u8, byte: u8, dtype| {
            let (blocks, mut all) = (vec![byte; 128], vec![127; 8]);
            all[3] = exponent;
            let stored = Stored {
                blocks: &blocks,
                exponents: &all,
                shape,
            };
            let [size, exponent_size] = packed_bytes(shape);
            let (mut packed, mut exponents_out) = (vec![0; size], vec![0; exponent_size]);
            let allowed = exponents(dtype);
            stored
                .pack(|i| i, &allowed, &mut packed, &mut exponents_out)
                .then_some(exponents_out[6])
        };
        assert_eq!(pack(0, 0x12, DType::BF16), Some(0));
        assert_eq!(pack(128, 0x12, DType::BF16), Some(128));
        assert_eq!(pack(129, 0x12, DType::BF16), None);
        assert_eq!(pack(104, 0x12, DType::F16), Some(104));
        assert_eq!(pack(103, 0x12, DType::F16), None);
        // Zeros of either sign are zeros with any exponent, but with 255 they are NaN.
        assert_eq!(pack(0, 0x80, DType::F16), Some(127));
        assert_eq!(pack(255, 0x00, DType::F16), None);
    }
}
