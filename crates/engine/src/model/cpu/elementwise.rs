//! Fused element-wise passes over rows: norms, rotary embedding, `SwiGLU`.
//!
//! Each row is computed alone and in one fixed order. Loops are written for the compiler to vectorise.

use rayon::prelude::*;

use super::exp::exp;
use super::instructions::vectorized;
use crate::model::ops::Heads;

/// Rows are divided among threads only in parts of at least this many numbers.
const PART: usize = 1 << 16;
/// Independent partial sums of a reduction: one for each lane of the widest vectors.
const LANES: usize = 16;

/// The number of rows in a task, so large that small steps stay on the calling thread.
pub(crate) fn rows_per_task(rows: usize, width: usize) -> usize {
    let per_thread = rows.div_ceil(2 * rayon::current_num_threads());
    per_thread.max(PART.div_ceil(width.max(1))).max(1)
}

/// Sum of squares in a fixed order: 16 interleaved chains, then a tree.
#[inline(always)]
pub(crate) fn sum_of_squares(x: &[f32]) -> f32 {
    let mut sums = [0.0f32; LANES];
    let chunks = x.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (sum, x) in sums.iter_mut().zip(chunk) {
            *sum = x.mul_add(*x, *sum);
        }
    }
    for (sum, x) in sums.iter_mut().zip(rest) {
        *sum = x.mul_add(*x, *sum);
    }
    tree_sum(sums)
}

/// The sum of 16 numbers, halves added to halves.
#[inline(always)]
pub(crate) fn tree_sum(mut sums: [f32; LANES]) -> f32 {
    let mut width = LANES / 2;
    while width > 0 {
        for i in 0..width {
            sums[i] += sums[i + width];
        }
        width /= 2;
    }
    sums[0]
}

/// `1 / √(mean of squares + eps)`
#[inline(always)]
pub(crate) fn inverse_rms(x: &[f32], eps: f32) -> f32 {
    1.0 / (sum_of_squares(x) / x.len() as f32 + eps).sqrt()
}

#[inline(always)]
fn norm_row(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let scale = inverse_rms(x, eps);
    for ((out, x), w) in out.iter_mut().zip(x).zip(weight) {
        *out = x * scale * w;
    }
}

/// RMS norm of each row of `x`, `[rows, weight.len()]` (<https://arxiv.org/abs/1910.07467>).
pub(crate) fn rms_norm(x: &[f32], weight: &[f32], eps: f32) -> Vec<f32> {
    let width = weight.len().max(1);
    let part = rows_per_task(x.len() / width, width) * width;
    let mut out = vec![0.0; x.len()];
    out.par_chunks_mut(part)
        .zip(x.par_chunks(part))
        .for_each(|(out, x)| norm_rows(x, weight, eps, out));
    out
}

vectorized! {
    fn norm_rows<'a>(x: &'a [f32], weight: &'a [f32], eps: f32, out: &'a mut [f32]) {
        let width = weight.len();
        for (out, x) in out.chunks_exact_mut(width).zip(x.chunks_exact(width)) {
            norm_row(x, weight, eps, out);
        }
    }
}

/// `x + y`, and its RMS norm: both `[rows, weight.len()]`.
pub(crate) fn add_rms_norm(x: &[f32], y: &[f32], weight: &[f32], eps: f32) -> (Vec<f32>, Vec<f32>) {
    let width = weight.len().max(1);
    let part = rows_per_task(x.len() / width, width) * width;
    let (mut sum, mut out) = (vec![0.0; x.len()], vec![0.0; x.len()]);
    sum.par_chunks_mut(part)
        .zip(out.par_chunks_mut(part))
        .zip(x.par_chunks(part).zip(y.par_chunks(part)))
        .for_each(|((sum, out), (x, y))| add_and_norm_rows(x, y, weight, eps, sum, out));
    (sum, out)
}

vectorized! {
    fn add_and_norm_rows<'a>(
        x: &'a [f32], y: &'a [f32], weight: &'a [f32], eps: f32, sum: &'a mut [f32], out: &'a mut [f32],
    ) {
        let width = weight.len();
        let inputs = x.chunks_exact(width).zip(y.chunks_exact(width));
        let outputs = sum.chunks_exact_mut(width).zip(out.chunks_exact_mut(width));
        for ((sum, out), (x, y)) in outputs.zip(inputs) {
            for ((sum, x), y) in sum.iter_mut().zip(x).zip(y) {
                *sum = x + y;
            }
            norm_row(sum, weight, eps, out);
        }
    }
}

/// `silu(gate) · up` for rows of `[gate | up]`: from `[rows, 2 · width]` to `[rows, width]`.
pub(crate) fn silu_mul(gate_up: &[f32], width: usize) -> Vec<f32> {
    let mut out = vec![0.0; gate_up.len() / 2];
    silu_mul_into(gate_up, width, &mut out);
    out
}

/// [`silu_mul`] into `[rows, width]` numbers, whose old content does not matter.
pub(crate) fn silu_mul_into(gate_up: &[f32], width: usize, out: &mut [f32]) {
    gate_into(gate_up, width, out, Silu);
}

/// `gelu(gate) · up` for rows of `[gate | up]`, GELU in the form with a hyperbolic tangent.
pub(crate) fn gelu_mul(gate_up: &[f32], width: usize) -> Vec<f32> {
    let mut out = vec![0.0; gate_up.len() / 2];
    gate_into(gate_up, width, &mut out, Gelu);
    out
}

/// gpt-oss' `gate · sigmoid(alpha · gate) · (up + 1)` for rows of `[gate | up]`, with the gate at most `limit` and `up`
/// within `±limit`: from `[rows, 2 · width]` to `[rows, width]`.
pub(crate) fn clamped_swiglu(gate_up: &[f32], width: usize, alpha: f32, limit: f32) -> Vec<f32> {
    let mut out = vec![0.0; gate_up.len() / 2];
    gate_into(gate_up, width, &mut out, Clamped { alpha, limit });
    out
}

/// `1 / (1 + e^-x)`, with the exponent kept below zero.
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    let e = exp(-x.abs());
    (if x < 0.0 { e } else { 1.0 }) / (1.0 + e)
}

/// `x / (1 + e^-x)`, with the exponent kept below zero.
#[inline(always)]
pub(crate) fn silu(x: f32) -> f32 {
    let e = exp(-x.abs());
    (if x < 0.0 { x * e } else { x }) / (1.0 + e)
}

pub(crate) fn sigmoid_mul(x: &[f32], gate: &[f32]) -> Vec<f32> {
    let mut out = x.to_vec();
    out.par_chunks_mut(PART)
        .zip(gate.par_chunks(PART))
        .for_each(|(out, gate)| multiply_by_sigmoid(out, gate));
    out
}

vectorized! {
    fn multiply_by_sigmoid<'a>(out: &'a mut [f32], gate: &'a [f32]) {
        for (out, gate) in out.iter_mut().zip(gate) {
            *out *= sigmoid(*gate);
        }
    }
}

/// The function of gate and up that a gated layer applies.
trait Gate: Copy + Sync {
    fn join(self, gate: f32, up: f32) -> f32;
}

#[derive(Clone, Copy)]
struct Silu;

impl Gate for Silu {
    #[inline(always)]
    fn join(self, gate: f32, up: f32) -> f32 {
        silu(gate) * up
    }
}

#[derive(Clone, Copy)]
struct Gelu;

impl Gate for Gelu {
    #[inline(always)]
    fn join(self, gate: f32, up: f32) -> f32 {
        // Half of 1 + tanh(x) is the sigmoid of 2x; the constant is twice √(2/π).
        let cubic = (0.044_715 * gate * gate).mul_add(gate, gate);
        gate * sigmoid(1.595_769 * cubic) * up
    }
}

#[derive(Clone, Copy)]
struct Clamped {
    alpha: f32,
    limit: f32,
}

impl Gate for Clamped {
    #[inline(always)]
    fn join(self, gate: f32, up: f32) -> f32 {
        let Self { alpha, limit } = self;
        // Unlike `min`, this keeps NaN.
        let gate = if gate > limit { limit } else { gate };
        gate * sigmoid(alpha * gate) * (up.clamp(-limit, limit) + 1.0)
    }
}

/// Applies `gate` to the two halves of rows `[gate | up]`.
fn gate_into(gate_up: &[f32], width: usize, out: &mut [f32], gate: impl Gate) {
    let width = width.max(1);
    let part = rows_per_task(out.len() / width, width);
    let inputs = gate_up.par_chunks(2 * part * width);
    out.par_chunks_mut(part * width)
        .zip(inputs)
        .for_each(|(out, gate_up)| join_rows(gate_up, width, out, gate));
}

vectorized! {
    fn join_rows<'a, G: Gate>(gate_up: &'a [f32], width: usize, out: &'a mut [f32], gate: G) {
        let rows = gate_up.chunks_exact(2 * width);
        for (out, row) in out.chunks_exact_mut(width).zip(rows) {
            let (gates, ups) = row.split_at(width);
            for ((out, x), up) in out.iter_mut().zip(gates).zip(ups) {
                *out = gate.join(*x, *up);
            }
        }
    }
}

/// Splits rows of `[q | k | v]` into queries and keys, normed by head and rotated, and values.
///
/// From `[rows, (heads + 2 · kv_heads) · head_dim]` to `[rows, heads, head_dim]` and twice `[rows, kv_heads, head_dim]`.
pub(crate) fn split_heads(qkv: &[f32], split: &Heads<[f32]>) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
    let (q_width, kv_width) = (
        split.heads * split.head_dim,
        split.kv_heads * split.head_dim,
    );
    let (width, half) = (q_width + 2 * kv_width, split.head_dim / 2);
    let rows = qkv.len() / width;
    let part = rows_per_task(rows, width);
    // A number stands for each row where there are no keys.
    let kv_room = kv_width.max(1);
    let (mut q, mut k, mut v) = (
        vec![0.0; rows * q_width],
        vec![0.0; rows * kv_room],
        vec![0.0; rows * kv_room],
    );
    q.par_chunks_mut(part * q_width)
        .zip(
            k.par_chunks_mut(part * kv_room)
                .zip(v.par_chunks_mut(part * kv_room)),
        )
        .zip(qkv.par_chunks(part * width))
        .zip(
            split
                .cos
                .par_chunks(part * half)
                .zip(split.sin.par_chunks(part * half)),
        )
        .for_each(|(((q, (k, v)), qkv), (cos, sin))| {
            let split = Heads { cos, sin, ..*split };
            split_rows(qkv, split, q, k, v);
        });
    k.truncate(rows * kv_width);
    v.truncate(rows * kv_width);
    (q, k, v)
}

vectorized! {
    fn split_rows<'a>(
        qkv: &'a [f32], split: Heads<'a, [f32]>, q: &'a mut [f32], k: &'a mut [f32], v: &'a mut [f32],
    ) {
        let (q_width, kv_width) = (
            split.heads * split.head_dim,
            split.kv_heads * split.head_dim,
        );
        let (width, half) = (q_width + 2 * kv_width, split.head_dim / 2);
        let out = q
            .chunks_exact_mut(q_width)
            .zip(k.chunks_exact_mut(kv_width.max(1)))
            .zip(v.chunks_exact_mut(kv_width.max(1)));
        let angles = split
            .cos
            .chunks_exact(half)
            .zip(split.sin.chunks_exact(half));
        for ((((q, k), v), row), (cos, sin)) in out.zip(qkv.chunks_exact(width)).zip(angles) {
            let (q_in, kv_in) = row.split_at(q_width);
            let (k_in, v_in) = kv_in.split_at(kv_width);
            let (q_norm, k_norm) = split.norms.unzip();
            heads(q_in, q_norm, &split, cos, sin, q);
            heads(k_in, k_norm, &split, cos, sin, k);
            v[..kv_width].copy_from_slice(v_in);
        }
    }
}

/// Norms and rotates each head of one row. Dimension `i` is paired with `i + head_dim / 2`.
#[inline(always)]
fn heads(
    x: &[f32],
    norm: Option<&[f32]>,
    split: &Heads<[f32]>,
    cos: &[f32],
    sin: &[f32],
    out: &mut [f32],
) {
    let d = split.head_dim;
    for (x, out) in x.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
        match norm {
            Some(weight) => norm_row(x, weight, split.eps, out),
            None => out.copy_from_slice(x),
        }
        let (low, high) = out.split_at_mut(d / 2);
        for (((a, b), c), s) in low.iter_mut().zip(high).zip(cos).zip(sin) {
            let (x, y) = (*a, *b);
            *a = x.mul_add(*c, -(y * s));
            *b = x.mul_add(*s, y * c);
        }
    }
}
