//! Products with quantised weights in plain loops, for processors without a supported instruction set, and as the reference
//! for the others: the same integers, and the same order of sums.

use super::mx4::{NUMBERS, ZERO, half_scale};
use super::{Group, Mx4Group, Nibbles, PANEL, Product, Q6Group, Q8Group, RowBlock, Vector};
use crate::model::cpu::half::{F16, Format};
use crate::model::cpu::instructions::{Instructions, Kernel, Vectors};

/// Every row times every panel, group by group: `add` adds a group's products to the sums of its outputs.
pub(super) fn multiply<G: Group>(
    instructions: Instructions,
    product: &mut Product<'_, '_, G>,
    add: impl Fn(&G, &[RowBlock], &mut [f32; PANEL]),
) {
    instructions.run(Multiply { product, add });
}

struct Multiply<'p, 'a, 'o, G, F> {
    product: &'p mut Product<'a, 'o, G>,
    add: F,
}

impl<G: Group, F: Fn(&G, &[RowBlock], &mut [f32; PANEL])> Kernel for Multiply<'_, '_, '_, G, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self, _: V) {
        let Self { product, add } = self;
        let blocks = product.groups * G::BLOCKS;
        for panel in 0..product.panels() {
            for row in 0..product.rows() {
                let [weights] = product.weights(panel);
                let x = &product.x[row * product.stride..][..blocks];
                let mut out = [0.0f32; PANEL];
                for (group, x) in weights.iter().zip(x.chunks_exact(G::BLOCKS)) {
                    add(group, x, &mut out);
                }
                product.store(row, panel, &out);
            }
        }
    }
}

#[inline(always)]
pub(super) fn q8_group(group: &Q8Group, x: &[RowBlock], out: &mut [f32; PANEL]) {
    for (half, x) in x.iter().enumerate() {
        let mut sums = [x.offset; PANEL];
        for (w, x) in group.weights[half].iter().zip(&x.values) {
            dot(w, x, &mut sums);
        }
        for lane in 0..PANEL {
            let scale = F16::to_f32(group.scales[half][lane]) * x.scale;
            out[lane] = scale.mul_add(sums[lane] as f32, out[lane]);
        }
    }
}

#[inline(always)]
pub(super) fn nibbles<G: Nibbles>(group: &G, x: &[RowBlock], out: &mut [f32; PANEL]) {
    for (part, x) in x.iter().enumerate() {
        let mut sums = [x.offset_of(G::ADDED); PANEL];
        for (i, x) in x.values.iter().enumerate() {
            let mut w = group.nibbles(part)[i % 4].0;
            for both in &mut w {
                *both = *both >> (4 * (i / 4)) & 15;
            }
            if let Some(fifth) = group.fifth(part) {
                for (w, bits) in w.iter_mut().zip(&fifth.0) {
                    *w |= (bits >> i & 1) << 4;
                }
            }
            dot(&Vector(w), x, &mut sums);
        }
        for lane in 0..PANEL {
            let mut scale = F16::to_f32(group.scale(part)[lane]);
            if let Some((of_scale, _)) = group.factors(part) {
                scale *= f32::from(of_scale[lane]);
            }
            out[lane] = (scale * x.scale).mul_add(sums[lane] as f32, out[lane]);
            if let Some(min) = group.min() {
                let mut min = F16::to_f32(min[lane]);
                if let Some((_, of_min)) = group.factors(part) {
                    min *= f32::from(of_min[lane]);
                }
                out[lane] = min.mul_add(x.negative_sum, out[lane]);
            }
        }
    }
}

#[inline(always)]
pub(super) fn q6_group(group: &Q6Group, x: &[RowBlock], out: &mut [f32; PANEL]) {
    for (part, x) in x.iter().enumerate() {
        for half in 0..2 {
            let mut sums = [x.halves[half]; PANEL];
            for (i, x) in x.values[4 * half..][..4].iter().enumerate() {
                let mut w = group.low[part][i].0;
                for (w, bits) in w.iter_mut().zip(&group.high[part][half].0) {
                    *w = *w >> (4 * half) & 15 | (bits >> (2 * i) & 3) << 4;
                }
                dot(&Vector(w), x, &mut sums);
            }
            for lane in 0..PANEL {
                let scale = F16::to_f32(group.scale[lane]);
                let scale = scale * f32::from(group.scales[2 * part + half][lane]);
                out[lane] = (scale * x.scale).mul_add(sums[lane] as f32, out[lane]);
            }
        }
    }
}

#[inline(always)]
pub(super) fn mx4_group(group: &Mx4Group, x: &[RowBlock], out: &mut [f32; PANEL]) {
    for (part, x) in x.iter().enumerate() {
        let mut sums = [x.offset_of(ZERO); PANEL];
        for (i, x) in x.values.iter().enumerate() {
            let mut w = group.weights[part][i % 4].0;
            for both in &mut w {
                *both = NUMBERS[usize::from(*both >> (4 * (i / 4)) & 15)];
            }
            dot(&Vector(w), x, &mut sums);
        }
        for lane in 0..PANEL {
            let scale = half_scale(group.scales[part][lane]) * x.scale;
            out[lane] = scale.mul_add(sums[lane] as f32, out[lane]);
        }
    }
}

/// Four inputs of 16 outputs.
#[inline(always)]
fn dot(w: &Vector, x: &[i8; 4], sums: &mut [i32; PANEL]) {
    for (sum, w) in sums.iter_mut().zip(w.0.as_chunks::<4>().0) {
        for (w, x) in w.iter().zip(x) {
            *sum += i32::from(i16::from(*w) * i16::from(*x));
        }
    }
}
