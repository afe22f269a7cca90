//! The decoder's element-wise operations, on any device.
//!
//! On the CPU in f32 each is one fused pass ([`super::cpu::elementwise`]); elsewhere it is made of candle
//! operations. The two are compared with each other in this file's tests.

use candle_core::{Result, Tensor};
use candle_nn::{ops, rotary_emb};

use super::cpu;
use super::cpu::elementwise::{self, HeadSplit};

/// RMS norm over the last dimension of `[N, width]`.
///
/// # Errors
/// When shapes or devices do not fit.
pub fn rms_norm(x: &Tensor, weight: &Tensor, eps: f32) -> Result<Tensor> {
    if !cpu::applies(x) {
        return plain::rms_norm(x, weight, eps);
    }
    let out = cpu::with_f32(x, |x| {
        cpu::with_f32(weight, |weight| Ok(elementwise::rms_norm(x, weight, eps)))
    })?;
    Tensor::from_vec(out, x.shape(), x.device())
}

/// `x + y` and its RMS norm, all `[N, width]`.
///
/// # Errors
/// When shapes or devices do not fit.
pub fn add_rms_norm(x: &Tensor, y: &Tensor, weight: &Tensor, eps: f32) -> Result<(Tensor, Tensor)> {
    if !cpu::applies(x) {
        return plain::add_rms_norm(x, y, weight, eps);
    }
    let (sum, out) = cpu::with_f32(x, |x| {
        cpu::with_f32(y, |y| {
            cpu::with_f32(weight, |weight| {
                Ok(elementwise::add_rms_norm(x, y, weight, eps))
            })
        })
    })?;
    Ok((
        Tensor::from_vec(sum, x.shape(), x.device())?,
        Tensor::from_vec(out, x.shape(), x.device())?,
    ))
}

/// `silu(gate) · up`, from `[N, 2 · width]` (gate, then up) to `[N, width]`.
///
/// # Errors
/// When shapes or devices do not fit.
pub fn silu_mul(gate_up: &Tensor) -> Result<Tensor> {
    if !cpu::applies(gate_up) {
        return plain::silu_mul(gate_up);
    }
    let (rows, width) = gate_up.dims2()?;
    let out = cpu::with_f32(gate_up, |gate_up| {
        Ok(elementwise::silu_mul(gate_up, width / 2))
    })?;
    Tensor::from_vec(out, (rows, width / 2), gate_up.device())
}

/// What [`split_heads`] needs to know of a layer and a step.
pub struct Heads<'a> {
    /// Query heads.
    pub heads: usize,
    /// Key heads, and value heads.
    pub kv_heads: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// Norm weights of queries and keys, `[head_dim]`, where the model has them.
    pub norms: Option<(&'a Tensor, &'a Tensor)>,
    /// The norms' epsilon.
    pub eps: f32,
    /// Cosines of the step's positions, `[N, head_dim / 2]`.
    pub cos: &'a Tensor,
    /// Sines of the step's positions, `[N, head_dim / 2]`.
    pub sin: &'a Tensor,
}

/// A fused projection `[N, (heads + 2 · kv_heads) · head_dim]` into queries `[N, heads, head_dim]`, keys and values
/// `[N, kv_heads, head_dim]`; queries and keys are normed by head, where the model does that, and rotated.
///
/// # Errors
/// When shapes or devices do not fit.
pub fn split_heads(qkv: &Tensor, heads: &Heads) -> Result<(Tensor, Tensor, Tensor)> {
    if !cpu::applies(qkv) {
        return plain::split_heads(qkv, heads);
    }
    let with = |norms: Option<(&[f32], &[f32])>| {
        cpu::with_f32(qkv, |qkv| {
            cpu::with_f32(heads.cos, |cos| {
                cpu::with_f32(heads.sin, |sin| {
                    let &Heads {
                        heads,
                        kv_heads,
                        head_dim,
                        eps,
                        ..
                    } = heads;
                    Ok(elementwise::split_heads(
                        qkv,
                        &HeadSplit {
                            heads,
                            kv_heads,
                            head_dim,
                            norms,
                            eps,
                            cos,
                            sin,
                        },
                    ))
                })
            })
        })
    };
    let (q, k, v) = match heads.norms {
        Some((q_norm, k_norm)) => cpu::with_f32(q_norm, |q_norm| {
            cpu::with_f32(k_norm, |k_norm| with(Some((q_norm, k_norm))))
        })?,
        None => with(None)?,
    };
    let (n, device) = (qkv.dim(0)?, qkv.device());
    Ok((
        Tensor::from_vec(q, (n, heads.heads, heads.head_dim), device)?,
        Tensor::from_vec(k, (n, heads.kv_heads, heads.head_dim), device)?,
        Tensor::from_vec(v, (n, heads.kv_heads, heads.head_dim), device)?,
    ))
}

/// The same operations made of candle's, for any device.
mod plain {
    use super::{Heads, Result, Tensor, ops, rotary_emb};

    pub(super) fn rms_norm(x: &Tensor, weight: &Tensor, eps: f32) -> Result<Tensor> {
        ops::rms_norm(&x.contiguous()?, weight, eps)
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
            qkv.narrow(1, from * head_dim, count * head_dim)?
                .reshape((n, count, head_dim))?
                .contiguous()
        };
        // One token to a row of the batch: each has its own position.
        let (cos, sin) = (heads.cos.unsqueeze(1)?, heads.sin.unsqueeze(1)?);
        let rotate = |x: Tensor, norm: Option<&Tensor>| {
            let x = match norm {
                Some(weight) => ops::rms_norm(&x, weight, eps)?,
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
    use candle_core::{Device, Tensor};

    use super::{Heads, plain};

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
        }
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
