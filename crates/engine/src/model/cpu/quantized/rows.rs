//! Activations as signed bytes, which is what products with quantised weights take.

use rayon::prelude::*;

use super::BLOCK;
use crate::model::cpu::instructions::vectorized;

/// Adding 1.5·2²³ rounds to the nearest integer, and leaves it in the low bits.
const ROUND: f32 = 12_582_912.0;
/// Largest magnitudes below this count as zero, so that their inverse is finite.
const TINY: f32 = 1e-30;
/// The fewest numbers of a task: fewer are quantised on the calling thread.
const PART: usize = 1 << 16;

/// 32 activations of a row: `x ≈ scale · value`, with the scale chosen so that the largest magnitude becomes 127.
///
/// A block that holds infinity or NaN has a scale that is not finite, and so is the product.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[repr(C)]
pub(crate) struct RowBlock {
    /// Values in groups of four, as one dot-product instruction takes them.
    pub(crate) values: [[i8; 4]; BLOCK / 4],
    /// What a value of 1 stands for.
    pub(crate) scale: f32,
    /// −128 times the sum of the values: corrects products with weights stored with 128 added.
    pub(crate) offset: i32,
    /// −scale times the sum of the values: the factor of the block's minimum in a product.
    pub(crate) negative_sum: f32,
    /// −32 times the sums of the first and the last 16 values: corrects products with weights stored with 32 added.
    pub(crate) halves: [i32; 2],
}

impl RowBlock {
    /// −zero times the sum of the values: corrects products with weights stored with `zero` added, a multiple of 4.
    #[inline(always)]
    pub(crate) fn offset_of(&self, zero: i32) -> i32 {
        // The offset is a multiple of 128, so the division is exact.
        self.offset / 32 * (zero / 4)
    }
}

/// Quantises rows `[rows, inputs]` to `[rows, blocks]`. Blocks past the inputs are zero.
pub(crate) fn quantize(x: &[f32], inputs: usize, blocks: usize) -> Vec<RowBlock> {
    let inputs = inputs.max(1);
    let rows = x.len() / inputs;
    let mut out = vec![RowBlock::default(); rows * blocks];
    let part = PART.div_ceil(inputs).max(1);
    let task = |x, out| quantize_rows(x, inputs, blocks, out);
    if blocks == 0 || rows == 0 {
    } else if rows <= part {
        task(x, &mut out);
    } else {
        x.par_chunks(part * inputs)
            .zip(out.par_chunks_mut(part * blocks))
            .for_each(|(x, out)| task(x, out));
    }
    out
}

vectorized! {
    fn quantize_rows<'a>(x: &'a [f32], inputs: usize, blocks: usize, out: &'a mut [RowBlock]) {
        for (x, out) in x.chunks_exact(inputs).zip(out.chunks_exact_mut(blocks)) {
            let (whole, rest) = x.as_chunks::<BLOCK>();
            for (x, out) in whole.iter().zip(&mut *out) {
                *out = block(x);
            }
            if !rest.is_empty() {
                let mut last = [0.0; BLOCK];
                last[..rest.len()].copy_from_slice(rest);
                out[whole.len()] = block(&last);
            }
        }
    }
}

#[inline(always)]
fn block(x: &[f32; BLOCK]) -> RowBlock {
    // Compared as integers, magnitudes have the same order, and NaN is above all numbers.
    let mut highest = [0u32; 16];
    for half in x.as_chunks::<16>().0 {
        for (highest, x) in highest.iter_mut().zip(half) {
            *highest = (*highest).max(x.to_bits() & 0x7fff_ffff);
        }
    }
    let mut most = 0u32;
    for highest in &highest {
        most = most.max(*highest);
    }
    let highest = f32::from_bits(most);
    let scale = highest / 127.0;
    let inverse = if highest < TINY { 0.0 } else { 127.0 / highest };
    let mut values = [0i8; BLOCK];
    for (value, x) in values.iter_mut().zip(x) {
        *value = (x * inverse + ROUND).to_bits() as i8;
    }
    let mut sums = [0; 2];
    for (sum, half) in sums.iter_mut().zip(values.as_chunks::<{ BLOCK / 2 }>().0) {
        for value in half {
            *sum += i32::from(*value);
        }
    }
    let sum = sums[0] + sums[1];
    let mut groups = [[0; 4]; BLOCK / 4];
    groups.copy_from_slice(values.as_chunks().0);
    RowBlock {
        values: groups,
        scale,
        offset: -128 * sum,
        negative_sum: -(scale * sum as f32),
        halves: [-32 * sums[0], -32 * sums[1]],
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, RowBlock, quantize};

    #[test]
    fn values_are_within_half_a_step() {
        let x: Vec<f32> = (0..70).map(|i| (i as f32 * 0.7).sin() * 3.0).collect();
        let blocks = quantize(&x, 35, 2);
        assert_eq!(blocks.len(), 4);
        for (row, blocks) in x.chunks(35).zip(blocks.chunks(2)) {
            let values = blocks.iter().flat_map(|b| {
                let scale = b.scale;
                b.values.iter().flatten().map(move |v| (*v, scale))
            });
            for (x, (value, scale)) in row.iter().zip(values) {
                assert!((x - f32::from(value) * scale).abs() <= scale * 0.5001);
            }
            for block in blocks {
                let sum: i32 = block.values.iter().flatten().map(|v| i32::from(*v)).sum();
                assert_eq!(block.offset, -128 * sum);
                assert_eq!(block.halves.iter().sum::<i32>(), -32 * sum);
                assert!(block.values.iter().flatten().any(|v| v.abs() == 127));
            }
        }
    }

    #[test]
    fn what_is_no_number_is_not_hidden() {
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut x = [1.0; BLOCK];
            x[7] = bad;
            assert!(!quantize(&x, BLOCK, 1)[0].scale.is_finite());
        }
        assert_eq!(
            quantize(&[0.0; BLOCK], BLOCK, 1)[0],
            RowBlock {
                negative_sum: -0.0,
                ..RowBlock::default()
            }
        );
    }
}
