//! How large a layer's keys and values can get, and what a cache in e4m3 divides them by: host code, tested everywhere.
//!
//! e4m3 ends at 448. Keys that are normed by head stay far below; others do not: Qwen2.5's have biases of several hundred. What
//! comes into the projection is `g ∘ n` with the norm's weight `g` and `|n| ≤ √hidden`, so by Cauchy and Schwarz no output exceeds
//! `|W ∘ g| · √hidden + |b|` whatever the text is. A scale from that bound loses nothing: e4m3 is a floating-point type, and
//! the bound may be 2¹⁵ times what is usual before precision goes.
//!
//! What no scale mends is a bias beside which the rest of a key or value disappears: e4m3 keeps four bits of a number. Such layers are
//! refused.

use candle_core::{D, DType, Device, Result, Tensor};

/// The largest magnitude that is stored: below e4m3's 448, as activations in bf16 and weights in FP8 are rounded, and as the angles of long
/// contexts (`YaRN`, `LongRoPE`) come with a factor of up to 1.4.
const LARGEST: f32 = 256.0;

/// A head's largest bias may be this many times as large as the largest deviation of what is added to its numbers: those of e4m3 lie a
/// sixteenth to an eighth apart.
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
    pub head_dim: usize,
}

/// One scale for each head; what is stored is the number divided by it. Powers of two.
#[derive(Debug, Clone, PartialEq)]
pub struct KvScales {
    pub keys: Vec<f32>,
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
    /// The scales under which no key or value exceeds e4m3; or why keys or values in e4m3 would say nothing.
    pub fn scales(&self) -> Result<std::result::Result<KvScales, String>> {
        let rows = self.kv_heads * self.head_dim;
        let from = self.weight.dim(0)? - 2 * rows;
        // A model is loaded once, and the host can do this too.
        let here = |tensor: &Tensor| tensor.to_device(&Device::Cpu)?.to_dtype(DType::F32);
        let weight = here(self.weight)?.narrow(0, from, 2 * rows)?;
        let scaled = weight.broadcast_mul(&here(self.norm)?)?;
        // The deviation of each output where the numbers of `n` are independent and of deviation 1.
        let deviations: Vec<f32> = scaled.sqr()?.sum(D::Minus1)?.sqrt()?.to_vec1()?;
        let biases = match self.bias {
            Some(bias) => here(bias)?.narrow(0, from, 2 * rows)?,
            None => Tensor::zeros(2 * rows, DType::F32, &Device::Cpu)?,
        };
        let biases: Vec<f32> = biases.abs()?.to_vec1()?;
        let reach = (self.norm.dim(0)? as f32).sqrt();
        if let Some(why) = self.hidden_by_biases(&deviations, &biases) {
            return Ok(Err(why));
        }
        let mut bounds: Vec<f32> = deviations
            .iter()
            .zip(&biases)
            .map(|(deviation, bias)| deviation * reach + bias)
            .collect();
        if let Some(norm) = self.key_norm {
            let norm: Vec<f32> = here(norm)?.abs()?.to_vec1()?;
            let most = norm.into_iter().fold(0.0, f32::max) * (self.head_dim as f32).sqrt();
            bounds[..rows].fill(most);
        } else {
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

    /// Whether a head has a bias beside which all that its tokens differ in is lost. Keys that are normed by head may have any.
    fn hidden_by_biases(&self, deviations: &[f32], biases: &[f32]) -> Option<String> {
        let largest = |numbers: &[f32]| numbers.iter().copied().fold(0.0, f32::max);
        let heads = deviations
            .chunks_exact(self.head_dim)
            .zip(biases.chunks_exact(self.head_dim))
            .enumerate();
        for (head, (deviations, biases)) in heads {
            let (what, head) = match head.checked_sub(self.kv_heads) {
                None if self.key_norm.is_some() => continue,
                None => ("key", head),
                Some(head) => ("value", head),
            };
            let (bias, deviation) = (largest(biases), largest(deviations));
            if bias > BIAS * deviation {
                return Some(format!(
                    "{what} head {head} has a bias of {bias:.3}, beside which what a token adds ({deviation:.3}) is lost in FP8"
                ));
            }
        }
        None
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
mod tests;
