//! The loops of a Gated `DeltaNet` layer: a causal convolution over each channel, the delta rule on a head's state, and the gated norm of what it reads.
//!
//! A head's state is `[key_dim, value_dim]`. Its columns do not depend on each other, so it is kept in panels of [`COLUMNS`]
//! columns, each small enough for the first-level cache while a sequence's tokens pass over it one after the other. Every number
//! is one chain of operations in the order of tokens and rows, whatever else is computed with it.

use pulp::Simd;
use rayon::prelude::*;

use super::elementwise::{inverse_rms, rows_per_task, silu, sum_of_squares};
use super::instructions::{Kernel, Vectors, vectorized};

/// Columns of a head's state that are kept together; the last panel is filled up with zeros.
pub(crate) const COLUMNS: usize = 32;

/// Added to the sum of squares of queries and keys before they are divided by its root.
const EPSILON: f32 = 1e-6;

/// The tokens of a step, and the inputs before the first of each row.
pub(crate) struct Convolution<'a> {
    /// `[tokens, channels]`
    pub(crate) x: &'a [f32],
    /// `[taps, channels]`
    pub(crate) weight: &'a [f32],
    pub(crate) channels: usize,
    pub(crate) taps: usize,
    /// For each token its row, and its place in it.
    pub(crate) places: &'a [(usize, usize)],
    /// For each row the `taps - 1` inputs before it, `[taps - 1, channels]`.
    pub(crate) before: &'a [&'a [f32]],
    /// The first channels are heads of this width that are brought to unit length: queries, also divided by the root of the width, and as many keys.
    pub(crate) key_dim: usize,
    pub(crate) key_heads: usize,
}

impl Convolution<'_> {
    /// The convolved channels, activated, queries and keys normed: `[tokens, channels]`.
    pub(crate) fn run(&self) -> Vec<f32> {
        let mut out = vec![0.0; self.x.len()];
        let tokens = rows_per_task(self.places.len(), self.channels * self.taps);
        out.par_chunks_mut(tokens * self.channels)
            .enumerate()
            .for_each(|(task, out)| {
                convolve(self, task * tokens, out);
            });
        out
    }

    /// The input `back` tokens before a token.
    #[inline(always)]
    fn input(&self, token: usize, back: usize) -> &[f32] {
        let (row, place) = self.places[token];
        if back <= place {
            &self.x[(token - back) * self.channels..][..self.channels]
        } else {
            let at = self.taps - 1 + place - back;
            &self.before[row][at * self.channels..][..self.channels]
        }
    }
}

vectorized! {
    fn convolve<'a>(all: &'a Convolution<'a>, first: usize, out: &'a mut [f32]) {
        let Convolution {
            weight,
            channels,
            taps,
            key_dim,
            key_heads,
            ..
        } = *all;
        for (at, out) in out.chunks_exact_mut(channels).enumerate() {
            for (tap, weight) in weight.chunks_exact(channels).enumerate() {
                let x = all.input(first + at, taps - 1 - tap);
                for ((out, x), weight) in out.iter_mut().zip(x).zip(weight) {
                    *out = x.mul_add(*weight, *out);
                }
            }
            for out in out.iter_mut() {
                *out = silu(*out);
            }
            let heads = out[..2 * key_heads * key_dim].chunks_exact_mut(key_dim);
            for (head, x) in heads.enumerate() {
                let mut scale = 1.0 / (sum_of_squares(x) + EPSILON).sqrt();
                if head < key_heads {
                    scale /= (key_dim as f32).sqrt();
                }
                for x in x {
                    *x *= scale;
                }
            }
        }
    }
}

/// One panel of one head's state, and a row's tokens.
pub(crate) struct Delta<'a> {
    /// `[key_dim, COLUMNS]`
    pub(crate) state: &'a mut [f32],
    /// The row's convolved channels, `[tokens, channels]`.
    pub(crate) x: &'a [f32],
    pub(crate) channels: usize,
    pub(crate) key_dim: usize,
    /// Where the head's query, its key, and the panel's values begin in the channels.
    pub(crate) query: usize,
    pub(crate) key: usize,
    pub(crate) value: usize,
    /// The panel's columns, without those that fill it up.
    pub(crate) columns: usize,
    /// By what the state decays at each token, and how much of the correction is written, for each head.
    pub(crate) gates: &'a [(f32, f32)],
    pub(crate) heads: usize,
    pub(crate) head: usize,
    /// What is read after each token, `[tokens, COLUMNS]`.
    pub(crate) out: &'a mut [f32],
}

impl Kernel for Delta<'_> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vectors>(self, vectors: V) {
        match V::Simd::F32_LANES {
            16 => self.tokens::<V, 2>(vectors),
            8 => self.tokens::<V, 4>(vectors),
            4 => self.tokens::<V, 8>(vectors),
            _ => self.tokens::<V, COLUMNS>(vectors),
        }
    }
}

impl Delta<'_> {
    /// The delta rule with decay (<https://arxiv.org/abs/2412.06464>), token by token: the state decays; what it returns for the
    /// key is replaced, by the share `beta`, by the value; what it then returns for the query is the output. A panel has `W`
    /// vectors a row.
    // Index loops over constant bounds unroll; iterators over arrays of vectors do not reliably.
    #[allow(clippy::needless_range_loop)]
    #[inline(always)]
    fn tokens<V: Vectors, const W: usize>(self, vectors: V) {
        let simd = vectors.simd();
        let state = V::Simd::as_mut_simd_f32s(self.state).0;
        let state = state.as_chunks_mut::<W>().0;
        let tokens = self.x.chunks_exact(self.channels);
        let gates = self.gates.chunks_exact(self.heads);
        for ((x, gates), out) in tokens.zip(gates).zip(self.out.chunks_exact_mut(COLUMNS)) {
            let (query, key) = (
                &x[self.query..][..self.key_dim],
                &x[self.key..][..self.key_dim],
            );
            let (decay, beta) = gates[self.head];
            let (decay, beta) = (simd.splat_f32s(decay), simd.splat_f32s(beta));
            let mut read = [simd.splat_f32s(0.0); W];
            for (row, key) in state.iter().zip(key) {
                let key = simd.splat_f32s(*key);
                for w in 0..W {
                    read[w] = simd.mul_add_e_f32s(simd.mul_f32s(row[w], decay), key, read[w]);
                }
            }
            let mut values = [0.0; COLUMNS];
            values[..self.columns].copy_from_slice(&x[self.value..][..self.columns]);
            let values = V::Simd::as_simd_f32s(&values).0;
            let mut written = [simd.splat_f32s(0.0); W];
            for w in 0..W {
                written[w] = simd.mul_f32s(simd.sub_f32s(values[w], read[w]), beta);
            }
            let mut sums = [simd.splat_f32s(0.0); W];
            for ((row, key), query) in state.iter_mut().zip(key).zip(query) {
                let (key, query) = (simd.splat_f32s(*key), simd.splat_f32s(*query));
                for w in 0..W {
                    let decayed = simd.mul_f32s(row[w], decay);
                    row[w] = simd.mul_add_e_f32s(written[w], key, decayed);
                    sums[w] = simd.mul_add_e_f32s(row[w], query, sums[w]);
                }
            }
            let out = V::Simd::as_mut_simd_f32s(out).0;
            out[..W].copy_from_slice(&sums);
        }
    }
}

/// What the heads of a step's rows read, to be normed by head and gated.
pub(crate) struct GatedNorm<'a> {
    /// For each row `[heads, panels, tokens, COLUMNS]`.
    pub(crate) read: &'a [f32],
    /// For each token the first token of its row, and the row's tokens.
    pub(crate) rows: &'a [(usize, usize)],
    /// `[tokens, heads · width]`
    pub(crate) gate: &'a [f32],
    /// `[width]`
    pub(crate) weight: &'a [f32],
    pub(crate) eps: f32,
    pub(crate) heads: usize,
}

impl GatedNorm<'_> {
    /// `norm(read) · silu(gate)`, `[tokens, heads · width]`.
    pub(crate) fn run(&self) -> Vec<f32> {
        let mut out = vec![0.0; self.gate.len()];
        let width = self.heads * self.weight.len();
        let tokens = rows_per_task(self.rows.len(), width);
        out.par_chunks_mut(tokens * width)
            .enumerate()
            .for_each(|(task, out)| {
                norm_and_gate(self, task * tokens, out);
            });
        out
    }
}

vectorized! {
    fn norm_and_gate<'a>(all: &'a GatedNorm<'a>, start: usize, out: &'a mut [f32]) {
        let GatedNorm {
            read,
            rows,
            gate,
            weight,
            eps,
            heads,
        } = *all;
        let (width, panels) = (weight.len(), weight.len().div_ceil(COLUMNS));
        for (at, out) in out.chunks_exact_mut(heads * width).enumerate() {
            let token = start + at;
            let (first, tokens) = rows[token];
            let row = &read[first * heads * panels * COLUMNS..];
            for (head, out) in out.chunks_exact_mut(width).enumerate() {
                for (panel, out) in out.chunks_mut(COLUMNS).enumerate() {
                    let from = ((head * panels + panel) * tokens + token - first) * COLUMNS;
                    out.copy_from_slice(&row[from..][..out.len()]);
                }
                let scale = inverse_rms(out, eps);
                let gate = &gate[(token * heads + head) * width..][..width];
                for ((out, weight), gate) in out.iter_mut().zip(weight).zip(gate) {
                    *out = *out * scale * weight * silu(*gate);
                }
            }
        }
    }
}
