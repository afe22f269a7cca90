//! Products with quantised weights in plain loops, for processors without instructions this crate knows, and as the
//! reference of the others: the same integers, and the same chain of sums.

use pulp::{Arch, Simd, WithSimd};

use super::mx4::{NUMBERS, ZERO, half_scale};
use super::{
    Group, Mx4Group, Nibbles, PANEL, Product, Q4Group, Q5Group, Q6Group, Q8Group, RowBlock, Vector,
};
use crate::model::cpu::half::{F16, Format};

/// The product with weights of a byte.
pub(super) fn q8(product: &mut Product<'_, '_, Q8Group>) {
    multiply(product, q8_group);
}

/// The product with weights of half a byte.
pub(super) fn q4(product: &mut Product<'_, '_, Q4Group>) {
    multiply(product, nibbles::<Q4Group>);
}

/// The product with weights of five bits.
pub(super) fn q5(product: &mut Product<'_, '_, Q5Group>) {
    multiply(product, nibbles::<Q5Group>);
}

/// The product with weights of six bits.
pub(super) fn q6(product: &mut Product<'_, '_, Q6Group>) {
    multiply(product, q6_group);
}

/// The product with weights in MXFP4.
pub(super) fn mx4(product: &mut Product<'_, '_, Mx4Group>) {
    multiply(product, mx4_group);
}

/// Every row times every panel, group by group: `add` adds a group's products to the sums of its outputs.
fn multiply<G: Group>(
    product: &mut Product<'_, '_, G>,
    add: impl Fn(&G, &[RowBlock], &mut [f32; PANEL]),
) {
    Arch::new().dispatch(Multiply { product, add });
}

struct Multiply<'p, 'a, 'o, G, F> {
    product: &'p mut Product<'a, 'o, G>,
    add: F,
}

impl<G: Group, F: Fn(&G, &[RowBlock], &mut [f32; PANEL])> WithSimd for Multiply<'_, '_, '_, G, F> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { product, add } = self;
        let blocks = product.groups * G::BLOCKS;
        for panel in 0..product.panels() {
            for row in 0..product.rows() {
                let [weights] = product.weights(panel);
                let x = &product.x[row * blocks..][..blocks];
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
fn q8_group(group: &Q8Group, x: &[RowBlock], out: &mut [f32; PANEL]) {
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
fn nibbles<G: Nibbles>(whole: &G, x: &[RowBlock], out: &mut [f32; PANEL]) {
    let group = whole.nibbles();
    let scale = group.scale.map(F16::to_f32);
    let min = group.min.map(F16::to_f32);
    for (part, x) in x.iter().enumerate() {
        let mut sums = [0; PANEL];
        for (i, x) in x.values.iter().enumerate() {
            let mut w = group.weights[part][i % 4]
                .0
                .map(|both| both >> (4 * (i / 4)) & 15);
            if let Some(fifth) = whole.fifth(part) {
                for (w, bits) in w.iter_mut().zip(&fifth.0) {
                    *w |= (bits >> i & 1) << 4;
                }
            }
            dot(&Vector(w), x, &mut sums);
        }
        for lane in 0..PANEL {
            let scale = scale[lane] * f32::from(group.scales[part][lane]);
            let min = min[lane] * f32::from(group.mins[part][lane]);
            out[lane] = (scale * x.scale).mul_add(sums[lane] as f32, out[lane]);
            out[lane] = min.mul_add(x.negative_sum, out[lane]);
        }
    }
}

#[inline(always)]
fn q6_group(group: &Q6Group, x: &[RowBlock], out: &mut [f32; PANEL]) {
    let scale = group.scale.map(F16::to_f32);
    for (part, x) in x.iter().enumerate() {
        for half in 0..2 {
            let mut sums = [x.halves[half]; PANEL];
            for (i, x) in x.values[4 * half..][..4].iter().enumerate() {
                let mut w = group.low[part][i].0.map(|both| both >> (4 * half) & 15);
                for (w, bits) in w.iter_mut().zip(&group.high[part][half].0) {
                    *w |= (bits >> (2 * i) & 3) << 4;
                }
                dot(&Vector(w), x, &mut sums);
            }
            for lane in 0..PANEL {
                let scale = scale[lane] * f32::from(group.scales[2 * part + half][lane]);
                out[lane] = (scale * x.scale).mul_add(sums[lane] as f32, out[lane]);
            }
        }
    }
}

#[inline(always)]
fn mx4_group(group: &Mx4Group, x: &[RowBlock], out: &mut [f32; PANEL]) {
    for (part, x) in x.iter().enumerate() {
        let mut sums = [x.offset_of(ZERO); PANEL];
        for (i, x) in x.values.iter().enumerate() {
            let both = group.weights[part][i % 4].0;
            let w = both.map(|both| NUMBERS[usize::from(both >> (4 * (i / 4)) & 15)]);
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
