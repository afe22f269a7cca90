//! How large a layer's keys and values can get, and what a cache in e4m3 divides them by: host code, tested everywhere.
//!
//! e4m3 ends at 448. Keys that are normed by head stay far below; others do not: Qwen2.5's have biases of several hundred. What
//! comes into the projection is `g ∘ n` with the norm's weight `g` and `|n| ≤ √hidden`, so by Cauchy and Schwarz no output exceeds
//! `|W ∘ g| · √hidden + |b|` whatever the text is. A scale from that bound loses nothing: e4m3 is a floating-point type, and
//! the bound may be 2¹⁵ times what is usual before precision goes.
//!
//! What no scale mends is a bias beside which the rest of a key disappears: e4m3 keeps four bits of a number. Such layers are refused.

use candle_core::{D, DType, Result, Tensor};

/// The largest magnitude that is stored: below e4m3's 448, as activations in bf16 and weights in FP8 are rounded.
const LARGEST: f32 = 256.0;

/// A bias may be this many times as large as the deviation of what is added to it: e4m3's numbers lie a sixteenth to an eighth apart.
const BIAS: f32 = 16.0;

/// What a layer's keys and values are made of.
pub struct KvProjection<'a> {
    /// Queries, keys and values in one, `[(heads + 2 kv_heads) head_dim, hidden]`.
    pub weight: &'a Tensor,
    /// `[(heads + 2 kv_heads) head_dim]`
    pub bias: Option<&'a Tensor>,
    /// The weight of the norm before it, `[hidden]`.
    pub norm: &'a Tensor,
    /// The weight of the norm of each head's key, `[head_dim]`.
    pub key_norm: Option<&'a Tensor>,
    /// Heads of keys, and as many of values.
    pub kv_heads: usize,
    /// Their width.
    pub head_dim: usize,
}

/// One scale for each head; what is stored is the number divided by it. Powers of two.
#[derive(Debug, Clone, PartialEq)]
pub struct KvScales {
    /// Of keys.
    pub keys: Vec<f32>,
    /// Of values.
    pub values: Vec<f32>,
}

impl KvScales {
    /// Scales that change nothing.
    pub fn ones(kv_heads: usize) -> Self {
        Self {
            keys: vec![1.0; kv_heads],
            values: vec![1.0; kv_heads],
        }
    }
}

impl KvProjection<'_> {
    /// The scales under which no key or value exceeds e4m3; or why keys in e4m3 would say nothing.
    ///
    /// # Errors
    /// A failure of the device on which the tensors are.
    pub fn scales(&self) -> Result<std::result::Result<KvScales, String>> {
        let rows = self.kv_heads * self.head_dim;
        let from = self.weight.dim(0)? - 2 * rows;
        let weight = self.weight.narrow(0, from, 2 * rows)?;
        let norm = self.norm.to_dtype(DType::F32)?;
        let scaled = weight.to_dtype(DType::F32)?.broadcast_mul(&norm)?;
        // The deviation of each output where the numbers of `n` are independent and of deviation 1.
        let deviations: Vec<f32> = scaled.sqr()?.sum(D::Minus1)?.sqrt()?.to_vec1()?;
        let biases = match self.bias {
            Some(bias) => bias.narrow(0, from, 2 * rows)?.to_dtype(DType::F32)?,
            None => Tensor::zeros(2 * rows, DType::F32, weight.device())?,
        };
        let biases: Vec<f32> = biases.abs()?.to_vec1()?;
        let reach = (self.norm.dim(0)? as f32).sqrt();
        let mut bounds: Vec<f32> = deviations
            .iter()
            .zip(&biases)
            .map(|(deviation, bias)| deviation * reach + bias)
            .collect();
        if let Some(norm) = self.key_norm {
            let norm: Vec<f32> = norm.to_dtype(DType::F32)?.abs()?.to_vec1()?;
            let most = norm.into_iter().fold(0.0, f32::max) * (self.head_dim as f32).sqrt();
            bounds[..rows].fill(most);
        } else {
            let keys = biases.iter().zip(&deviations).take(rows).enumerate();
            for (row, (bias, deviation)) in keys {
                if *bias > BIAS * deviation {
                    return Ok(Err(format!(
                        "key head {} has a bias of {bias:.0}, beside which what a token adds ({deviation:.1}) is lost in FP8",
                        row / self.head_dim
                    )));
                }
            }
            // Rotation can bring two numbers of a key together.
            bounds[..rows]
                .iter_mut()
                .for_each(|bound| *bound *= std::f32::consts::SQRT_2);
        }
        let mut scales = bounds.chunks_exact(self.head_dim).map(scale_of);
        Ok(Ok(KvScales {
            keys: scales.by_ref().take(self.kv_heads).collect(),
            values: scales.collect(),
        }))
    }
}

/// The least power of two, from one, that brings all bounds below [`LARGEST`]. What is not finite gets one: no scale helps it.
fn scale_of(bounds: &[f32]) -> f32 {
    let most = bounds.iter().copied().fold(0.0, f32::max);
    if most.is_finite() && most > LARGEST {
        (most / LARGEST).log2().ceil().exp2()
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    const HIDDEN: usize = 64;
    const HEAD: usize = 8;

    fn numbers(count: usize, seed: f64, size: f64) -> Tensor {
        let index = Tensor::arange(0, count as u32, &Device::Cpu).unwrap();
        let index = index.to_dtype(DType::F32).unwrap();
        let angles = ((index * 12.9898).unwrap() + seed).unwrap();
        (angles.sin().unwrap() * size).unwrap()
    }

    fn projection<'a>(
        weight: &'a Tensor,
        bias: Option<&'a Tensor>,
        norm: &'a Tensor,
        key_norm: Option<&'a Tensor>,
    ) -> KvProjection<'a> {
        KvProjection {
            weight,
            bias,
            norm,
            key_norm,
            kv_heads: 2,
            head_dim: HEAD,
        }
    }

    fn scales(
        size: f64,
        bias: f64,
        key_norm: Option<f64>,
    ) -> std::result::Result<KvScales, String> {
        let rows = 6 * HEAD;
        let weight = numbers(rows * HIDDEN, 1.0, size).reshape((rows, HIDDEN));
        let (weight, norm) = (weight.unwrap(), numbers(HIDDEN, 2.0, 1.0));
        let bias = (bias > 0.0).then(|| numbers(rows, 3.0, bias));
        let key_norm = key_norm.map(|size| numbers(HEAD, 4.0, size));
        projection(&weight, bias.as_ref(), &norm, key_norm.as_ref())
            .scales()
            .unwrap()
    }

    #[test]
    fn nothing_exceeds_what_e4m3_holds() {
        let rows = 6 * HEAD;
        for (size, bias) in [(0.1, 0.0), (2.0, 5.0), (30.0, 300.0)] {
            let weight = numbers(rows * HIDDEN, 1.0, size);
            let weight = weight.reshape((rows, HIDDEN)).unwrap();
            let (bias, norm) = (numbers(rows, 3.0, bias), numbers(HIDDEN, 2.0, 1.0));
            let scales = projection(&weight, Some(&bias), &norm, None)
                .scales()
                .unwrap()
                .unwrap();
            for row in 2 * HEAD..rows {
                // The input for which this output is largest.
                let worst = (weight.get(row).unwrap() * &norm).unwrap();
                let length = worst.sqr().unwrap().sum_all().unwrap().sqrt().unwrap();
                let input = worst.broadcast_div(&length).unwrap();
                let input = ((input * (HIDDEN as f64).sqrt()).unwrap() * &norm).unwrap();
                let output = (weight.get(row).unwrap() * input)
                    .unwrap()
                    .sum_all()
                    .unwrap();
                let output = output.to_scalar::<f32>().unwrap()
                    + bias.get(row).unwrap().to_scalar::<f32>().unwrap().abs();
                let head = row / HEAD - 2;
                let (scale, rotated) = match head.checked_sub(2) {
                    None => (scales.keys[head], std::f32::consts::SQRT_2),
                    Some(head) => (scales.values[head], 1.0),
                };
                assert!(
                    output * rotated <= 1.001 * LARGEST * scale,
                    "{output} under {scale}"
                );
            }
        }
    }

    #[test]
    fn what_is_small_or_normed_is_left_as_it_is() {
        assert_eq!(scales(0.1, 0.0, None).unwrap(), KvScales::ones(2));
        // Large projections, but the keys are normed; the values are not.
        let normed = scales(30.0, 300.0, Some(2.0)).unwrap();
        assert_eq!(normed.keys, [1.0, 1.0]);
        assert!(normed.values.iter().all(|scale| *scale > 1.0), "{normed:?}");
        let large = scales(0.1, 0.0, Some(300.0)).unwrap();
        assert!(large.keys.iter().all(|scale| *scale > 1.0), "{large:?}");
    }

    #[test]
    fn a_bias_that_hides_the_keys_is_named() {
        let reason = scales(0.1, 400.0, None).unwrap_err();
        assert!(
            reason.contains("key head 0 has a bias of") && reason.contains("lost in FP8"),
            "{reason}"
        );
        assert!(scales(30.0, 400.0, None).is_ok());
    }
}
