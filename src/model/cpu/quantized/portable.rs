//! Products with quantised weights in plain loops, for processors without instructions this crate knows, and as the
//! reference of the others: the same integers, and the same chain of sums.

use pulp::{Arch, Simd, WithSimd};

use super::mx4::{NUMBERS, ZERO, half_scale};
use super::{
    Mx4Group, Nibbles, PANEL, Product, Q4Group, Q5Group, Q6Group, Q8Group, RowBlock, Vector,
};
use crate::model::cpu::half::{F16, Format};

/// The product with weights of a byte.
pub(super) fn q8(product: &mut Product<'_, '_, Q8Group>) {
    Arch::new().dispatch(Q8(product));
}

/// The product with weights of half a byte.
pub(super) fn q4(product: &mut Product<'_, '_, Q4Group>) {
    Arch::new().dispatch(Q45(product));
}

/// The product with weights of five bits.
pub(super) fn q5(product: &mut Product<'_, '_, Q5Group>) {
    Arch::new().dispatch(Q45(product));
}

/// The product with weights of six bits.
pub(super) fn q6(product: &mut Product<'_, '_, Q6Group>) {
    Arch::new().dispatch(Q6(product));
}

/// The product with weights in MXFP4.
pub(super) fn mx4(product: &mut Product<'_, '_, Mx4Group>) {
    Arch::new().dispatch(Mx4(product));
}

struct Q8<'p, 'a, 'o>(&'p mut Product<'a, 'o, Q8Group>);

impl WithSimd for Q8<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for panel in 0..self.0.panels() {
            for row in 0..self.0.rows() {
                let [weights] = self.0.weights(panel);
                let [x] = self.0.activations::<1, 2>(row);
                let mut out = [0.0f32; PANEL];
                for (group, x) in weights.iter().zip(x) {
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
                self.0.store(row, panel, &out);
            }
        }
    }
}

struct Q45<'p, 'a, 'o, G>(&'p mut Product<'a, 'o, G>);

impl<G: Nibbles> WithSimd for Q45<'_, '_, '_, G> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for panel in 0..self.0.panels() {
            for row in 0..self.0.rows() {
                let [weights] = self.0.weights(panel);
                let [x] = self.0.activations::<1, 8>(row);
                let mut out = [0.0f32; PANEL];
                for (group, x) in weights.iter().zip(x) {
                    nibbles(group, x, &mut out);
                }
                self.0.store(row, panel, &out);
            }
        }
    }
}

#[inline(always)]
fn nibbles<G: Nibbles>(whole: &G, x: &[RowBlock; 8], out: &mut [f32; PANEL]) {
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

struct Q6<'p, 'a, 'o>(&'p mut Product<'a, 'o, Q6Group>);

impl WithSimd for Q6<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for panel in 0..self.0.panels() {
            for row in 0..self.0.rows() {
                let [weights] = self.0.weights(panel);
                let [x] = self.0.activations::<1, 8>(row);
                let mut out = [0.0f32; PANEL];
                for (group, x) in weights.iter().zip(x) {
                    q6_group(group, x, &mut out);
                }
                self.0.store(row, panel, &out);
            }
        }
    }
}

#[inline(always)]
fn q6_group(group: &Q6Group, x: &[RowBlock; 8], out: &mut [f32; PANEL]) {
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

struct Mx4<'p, 'a, 'o>(&'p mut Product<'a, 'o, Mx4Group>);

impl WithSimd for Mx4<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for panel in 0..self.0.panels() {
            for row in 0..self.0.rows() {
                let [weights] = self.0.weights(panel);
                let [x] = self.0.activations::<1, 4>(row);
                let mut out = [0.0f32; PANEL];
                for (group, x) in weights.iter().zip(x) {
                    for (part, x) in x.iter().enumerate() {
                        let mut sums = [x.offset_of(ZERO); PANEL];
                        for (i, x) in x.values.iter().enumerate() {
                            let both = group.weights[part][i % 4].0;
                            let w =
                                both.map(|both| NUMBERS[usize::from(both >> (4 * (i / 4)) & 15)]);
                            dot(&Vector(w), x, &mut sums);
                        }
                        for lane in 0..PANEL {
                            let scale = half_scale(group.scales[part][lane]) * x.scale;
                            out[lane] = scale.mul_add(sums[lane] as f32, out[lane]);
                        }
                    }
                }
                self.0.store(row, panel, &out);
            }
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
