//! Element-wise operations of the decoder, on any device.
//!
//! On the CPU in f32 each is one fused pass (`cpu::elementwise`); elsewhere it is made of candle
//! operations. The two are compared with each other in this file's tests.

use candle_core::{Result, Tensor};
use candle_nn::{ops, rotary_emb};

use super::attention::AttentionOutput;
use super::cpu;
use super::cpu::elementwise::{self, sigmoid};

/// RMS norm over the last dimension of `[N, width]`.
pub fn rms_norm(x: &Tensor, weight: &Tensor, eps: f32) -> Result<Tensor> {
    if !cpu::applies(x) {
        return plain::rms_norm(x, weight, eps);
    }
    let out = cpu::with_f32([x, weight], |[x, weight]| {
        Ok(elementwise::rms_norm(x, weight, eps))
    })?;
    Tensor::from_vec(out, x.shape(), x.device())
}

/// `x + y` and its RMS norm, all `[N, width]`.
pub fn add_rms_norm(x: &Tensor, y: &Tensor, weight: &Tensor, eps: f32) -> Result<(Tensor, Tensor)> {
    if !cpu::applies(x) {
        return plain::add_rms_norm(x, y, weight, eps);
    }
    let (sum, out) = cpu::with_f32([x, y, weight], |[x, y, weight]| {
        Ok(elementwise::add_rms_norm(x, y, weight, eps))
    })?;
    Ok((
        Tensor::from_vec(sum, x.shape(), x.device())?,
        Tensor::from_vec(out, x.shape(), x.device())?,
    ))
}

/// `silu(gate) · up`, from `[N, 2 · width]` (gate, then up) to `[N, width]`.
pub fn silu_mul(gate_up: &Tensor) -> Result<Tensor> {
    joined(gate_up, plain::silu_mul, elementwise::silu_mul)
}

/// A function of gate and up: `plain`, or in one pass.
fn joined(
    gate_up: &Tensor,
    plain: impl Fn(&Tensor) -> Result<Tensor>,
    fused: impl Fn(&[f32], usize) -> Vec<f32>,
) -> Result<Tensor> {
    if !cpu::applies(gate_up) {
        return plain(gate_up);
    }
    let (rows, width) = gate_up.dims2()?;
    let out = cpu::with_f32([gate_up], |[gate_up]| Ok(fused(gate_up, width / 2)))?;
    Tensor::from_vec(out, (rows, width / 2), gate_up.device())
}

/// `gelu(gate) · up`, GELU in the form with a hyperbolic tangent (<https://arxiv.org/abs/1606.08415>); from `[N, 2 · width]` (gate,
/// then up) to `[N, width]`.
pub fn gelu_mul(gate_up: &Tensor) -> Result<Tensor> {
    joined(gate_up, plain::gelu_mul, elementwise::gelu_mul)
}

/// `bound · tanh(x / bound)` of each number.
pub fn softcap(x: &Tensor, bound: f64) -> Result<Tensor> {
    (x / bound)?.tanh()? * bound
}

/// gpt-oss' `gate · sigmoid(alpha · gate) · (up + 1)`, with the gate at most `limit` and `up` within `±limit`; from
/// `[N, 2 · width]` (gate, then up) to `[N, width]`.
pub fn clamped_swiglu(gate_up: &Tensor, alpha: f64, limit: f64) -> Result<Tensor> {
    let plain = |gate_up: &Tensor| plain::clamped_swiglu(gate_up, alpha, limit);
    let (alpha, limit) = (alpha as f32, limit as f32);
    joined(gate_up, plain, |gate_up, width| {
        elementwise::clamped_swiglu(gate_up, width, alpha, limit)
    })
}

/// Attention with sinks: `sinks`, `[heads]` in f32, is a further score for each head that belongs to no value. The output
/// `[N, heads, head_dim]` is reduced to its share of the exponentials.
pub fn share_with_sinks(attended: &AttentionOutput, sinks: &Tensor) -> Result<Tensor> {
    let AttentionOutput { output, lse } = attended;
    if !cpu::applies(output) {
        return plain::share_with_sinks(attended, sinks);
    }
    let head_dim = output.dim(2)?;
    let out = cpu::with_f32([output, lse, sinks], |[output, lse, sinks]| {
        let mut out = output.to_vec();
        let shares = lse.iter().zip(sinks.iter().cycle());
        for (head, (lse, sink)) in out.chunks_exact_mut(head_dim).zip(shares) {
            let share = sigmoid(lse - sink);
            for x in head {
                *x *= share;
            }
        }
        Ok(out)
    })?;
    Tensor::from_vec(out, output.shape(), output.device())
}

/// RMS norms of the first parts of `[N, width]`, each as wide as its weight; what is behind them stays.
pub fn norm_parts(x: &Tensor, weights: [&Tensor; 2], eps: f32) -> Result<Tensor> {
    let mut from = 0;
    let mut parts = Vec::with_capacity(3);
    for weight in weights {
        let width = weight.dim(0)?;
        let part = x.narrow(1, from, width)?.contiguous()?;
        parts.push(rms_norm(&part, weight, eps)?);
        from += width;
    }
    parts.push(x.narrow(1, from, x.dim(1)? - from)?);
    Tensor::cat(&parts, 1)
}

/// `x · sigmoid(gate)`, both `[N, width]`.
pub fn sigmoid_mul(x: &Tensor, gate: &Tensor) -> Result<Tensor> {
    if !cpu::applies(x) {
        return x * ops::sigmoid(gate)?;
    }
    if x.dims() != gate.dims() {
        candle_core::bail!("a gate of {:?} for {:?}", gate.dims(), x.dims());
    }
    let out = cpu::with_f32([x, gate], |[x, gate]| Ok(elementwise::sigmoid_mul(x, gate)))?;
    Tensor::from_vec(out, x.shape(), x.device())
}

/// What [`split_heads`] must know of a layer and a step.
pub struct Heads<'a, T: ?Sized = Tensor> {
    pub heads: usize,
    /// Key heads, which are also the value heads.
    pub kv_heads: usize,
    pub head_dim: usize,
    /// Norm weights of queries and keys, `[head_dim]`, if the model has them.
    pub norms: Option<(&'a T, &'a T)>,
    pub eps: f32,
    /// Cosines of the step's positions, `[N, head_dim / 2]`.
    pub cos: &'a T,
    /// Sines of the step's positions, `[N, head_dim / 2]`.
    pub sin: &'a T,
}

impl Heads<'_> {
    /// The same with numbers in place of tensors.
    fn with<'a>(
        &self,
        norms: Option<(&'a [f32], &'a [f32])>,
        cos: &'a [f32],
        sin: &'a [f32],
    ) -> Heads<'a, [f32]> {
        Heads {
            heads: self.heads,
            kv_heads: self.kv_heads,
            head_dim: self.head_dim,
            norms,
            eps: self.eps,
            cos,
            sin,
        }
    }
}

/// Splits a fused projection `[N, (heads + 2 · kv_heads) · head_dim]` into queries `[N, heads, head_dim]`, keys and values
/// `[N, kv_heads, head_dim]`; queries and keys are normed by head, if the model does that, and rotated.
pub fn split_heads(qkv: &Tensor, heads: &Heads) -> Result<(Tensor, Tensor, Tensor)> {
    if !cpu::applies(qkv) {
        return plain::split_heads(qkv, heads);
    }
    let (q, k, v) = match heads.norms {
        Some((q, k)) => cpu::with_f32(
            [qkv, heads.cos, heads.sin, q, k],
            |[qkv, cos, sin, q, k]| {
                let heads = heads.with(Some((q, k)), cos, sin);
                Ok(elementwise::split_heads(qkv, &heads))
            },
        )?,
        None => cpu::with_f32([qkv, heads.cos, heads.sin], |[qkv, cos, sin]| {
            Ok(elementwise::split_heads(qkv, &heads.with(None, cos, sin)))
        })?,
    };
    let (n, device) = (qkv.dim(0)?, qkv.device());
    Ok((
        Tensor::from_vec(q, (n, heads.heads, heads.head_dim), device)?,
        Tensor::from_vec(k, (n, heads.kv_heads, heads.head_dim), device)?,
        Tensor::from_vec(v, (n, heads.kv_heads, heads.head_dim), device)?,
    ))
}

/// The same operations built from candle's, for any device.
mod plain {
    use candle_core::DType;

    use super::{AttentionOutput, Heads, Result, Tensor, ops, rotary_emb};

    pub(super) fn rms_norm(x: &Tensor, weight: &Tensor, eps: f32) -> Result<Tensor> {
        let x = x.contiguous()?;
        if x.dtype() == weight.dtype() {
            return ops::rms_norm(&x, weight, eps);
        }
        // Some weights are kept in f32.
        ops::rms_norm(&x.to_dtype(weight.dtype())?, weight, eps)?.to_dtype(x.dtype())
    }

    pub(super) fn add_rms_norm(
        x: &Tensor,
        y: &Tensor,
        weight: &Tensor,
        eps: f32,
    ) -> Result<(Tensor, Tensor)> {
        let sum = (x + y)?;
        let out = rms_norm(&sum, weight, eps)?;
        Ok((sum, out))
    }

    pub(super) fn silu_mul(gate_up: &Tensor) -> Result<Tensor> {
        let width = gate_up.dim(1)? / 2;
        gate_up.narrow(1, 0, width)?.silu()? * gate_up.narrow(1, width, width)?
    }

    pub(super) fn gelu_mul(gate_up: &Tensor) -> Result<Tensor> {
        let width = gate_up.dim(1)? / 2;
        gate_up.narrow(1, 0, width)?.gelu()? * gate_up.narrow(1, width, width)?
    }

    pub(super) fn clamped_swiglu(gate_up: &Tensor, alpha: f64, limit: f64) -> Result<Tensor> {
        let width = gate_up.dim(1)? / 2;
        let gate = gate_up.narrow(1, 0, width)?.minimum(limit)?;
        let up = gate_up.narrow(1, width, width)?.clamp(-limit, limit)?;
        let share = ops::sigmoid(&(&gate * alpha)?)?;
        (gate * share)? * (up + 1.0)?
    }

    pub(super) fn share_with_sinks(attended: &AttentionOutput, sinks: &Tensor) -> Result<Tensor> {
        let share = ops::sigmoid(&attended.lse.broadcast_sub(sinks)?)?.unsqueeze(2)?;
        let output = attended.output.to_dtype(DType::F32)?;
        output
            .broadcast_mul(&share)?
            .to_dtype(attended.output.dtype())
    }

    pub(super) fn split_heads(qkv: &Tensor, heads: &Heads) -> Result<(Tensor, Tensor, Tensor)> {
        let &Heads {
            heads: q_heads,
            kv_heads,
            head_dim,
            eps,
            ..
        } = heads;
        let n = qkv.dim(0)?;
        let part = |from: usize, count: usize| {
            if count == 0 {
                // Some devices fail to allocate no bytes.
                let none = qkv.narrow(1, 0, 0)?.unsqueeze(2)?;
                return none.broadcast_as((n, 0, head_dim));
            }
            qkv.narrow(1, from * head_dim, count * head_dim)?
                .reshape((n, count, head_dim))?
                .contiguous()
        };
        // Each token is a row of the batch, because each has its own position.
        let (cos, sin) = (heads.cos.unsqueeze(1)?, heads.sin.unsqueeze(1)?);
        let rotate = |x: Tensor, norm: Option<&Tensor>| {
            if x.elem_count() == 0 {
                return Ok(x);
            }
            let x = match norm {
                Some(weight) => rms_norm(&x, weight, eps)?,
                None => x,
            };
            rotary_emb::rope(&x.unsqueeze(2)?, &cos, &sin)?.squeeze(2)
        };
        let q = rotate(part(0, q_heads)?, heads.norms.map(|norms| norms.0))?;
        let k = rotate(part(q_heads, kv_heads)?, heads.norms.map(|norms| norms.1))?;
        Ok((q, k, part(q_heads + kv_heads, kv_heads)?))
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{DType, Device, Tensor};

    use super::{AttentionOutput, Heads, plain};

    fn close(fused: &Tensor, plain: &Tensor) {
        assert_eq!(fused.dims(), plain.dims());
        let difference = (fused - plain).unwrap().abs().unwrap();
        let scale = (plain.abs().unwrap() + 1.0).unwrap();
        let relative = (difference / scale).unwrap().flatten_all().unwrap();
        let worst = relative.max(0).unwrap().to_scalar::<f32>().unwrap();
        assert!(worst < 2e-6, "fused and plain differ by {worst:e}");
    }

    fn random(shape: &[usize]) -> Tensor {
        Tensor::randn(0.0f32, 1.0, shape, &Device::Cpu).unwrap()
    }

    #[test]
    fn fused_passes_equal_candle_operations() {
        for (rows, width) in [(1, 160), (7, 33), (130, 512)] {
            let (x, y, weight) = (
                random(&[rows, width]),
                random(&[rows, width]),
                random(&[width]),
            );
            close(
                &super::rms_norm(&x, &weight, 1e-6).unwrap(),
                &plain::rms_norm(&x, &weight, 1e-6).unwrap(),
            );
            let fused = super::add_rms_norm(&x, &y, &weight, 1e-6).unwrap();
            let expected = plain::add_rms_norm(&x, &y, &weight, 1e-6).unwrap();
            close(&fused.0, &expected.0);
            close(&fused.1, &expected.1);
            let gate_up = random(&[rows, 2 * width]);
            close(
                &super::silu_mul(&gate_up).unwrap(),
                &plain::silu_mul(&gate_up).unwrap(),
            );
            let by_candle = (&x * candle_nn::ops::sigmoid(&y).unwrap()).unwrap();
            close(&super::sigmoid_mul(&x, &y).unwrap(), &by_candle);
            close(
                &super::gelu_mul(&gate_up).unwrap(),
                &plain::gelu_mul(&gate_up).unwrap(),
            );
            close(
                &super::clamped_swiglu(&gate_up, 1.7, 0.7).unwrap(),
                &plain::clamped_swiglu(&gate_up, 1.7, 0.7).unwrap(),
            );
        }
    }

    /// Half of bf16's step at 1 above it, which bf16 has not.
    #[test]
    fn a_weight_in_f32_is_not_rounded_to_the_type_of_rows() {
        let weight = Tensor::full(1.0 + 2f32.powi(-8), 64, &Device::Cpu).unwrap();
        let x = random(&[9, 64]).to_dtype(DType::BF16).unwrap();
        let wide = x.to_dtype(DType::F32).unwrap();
        let expected = plain::rms_norm(&wide, &weight, 1e-6).unwrap();
        let expected = expected.to_dtype(DType::BF16).unwrap();
        let numbers = |x: &Tensor| x.to_dtype(DType::F32).unwrap().to_vec2::<f32>().unwrap();
        let normed = plain::rms_norm(&x, &weight, 1e-6).unwrap();
        assert_eq!(normed.dtype(), DType::BF16);
        assert_eq!(numbers(&normed), numbers(&expected));
        let ones = weight.ones_like().unwrap();
        let without = plain::rms_norm(&x, &ones, 1e-6).unwrap();
        assert_ne!(numbers(&normed), numbers(&without));
    }

    #[test]
    fn a_sink_takes_its_share_of_the_weight() {
        let attended = AttentionOutput {
            output: random(&[5, 3, 4]),
            lse: (random(&[5, 3]) * 20.0).unwrap(),
        };
        let sinks = Tensor::new(&[-30f32, 0.5, 40.0], &Device::Cpu).unwrap();
        let shared = super::share_with_sinks(&attended, &sinks).unwrap();
        close(
            &shared,
            &plain::share_with_sinks(&attended, &sinks).unwrap(),
        );
        // By definition the share is e^lse / (e^lse + e^sink).
        let lse: Vec<Vec<f32>> = attended.lse.to_vec2().unwrap();
        let share = f64::from(lse[2][1]).exp() / (f64::from(lse[2][1]).exp() + 0.5f64.exp());
        let [before, after] =
            [&attended.output, &shared].map(|x| x.to_vec3::<f32>().unwrap()[2][1][3]);
        assert!((f64::from(after) - f64::from(before) * share).abs() < 1e-6);
    }

    #[test]
    fn fused_heads_equal_candle_operations() {
        for (n, heads, kv_heads, head_dim) in [(1, 4, 2, 32), (5, 6, 1, 20), (70, 8, 8, 64)] {
            let qkv = random(&[n, (heads + 2 * kv_heads) * head_dim]);
            let angles = random(&[n, head_dim / 2]);
            let (cos, sin) = (angles.cos().unwrap(), angles.sin().unwrap());
            let (q_norm, k_norm) = (random(&[head_dim]), random(&[head_dim]));
            for norms in [None, Some((&q_norm, &k_norm))] {
                let heads = Heads {
                    heads,
                    kv_heads,
                    head_dim,
                    norms,
                    eps: 1e-6,
                    cos: &cos,
                    sin: &sin,
                };
                let fused = super::split_heads(&qkv, &heads).unwrap();
                let expected = plain::split_heads(&qkv, &heads).unwrap();
                close(&fused.0, &expected.0);
                close(&fused.1, &expected.1);
                close(&fused.2, &expected.2);
            }
        }
    }
}
