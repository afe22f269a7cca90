//! Putting attention over two disjoint sets of keys together.

use candle_core::{DType, Tensor};

use super::{AttentionOutput, ModelError};

/// Attention over the union of two disjoint sets of keys, from the attention over each: outputs are weighted by
/// `e^(lse - lse_union)`, and `lse_union = log(e^lse_a + e^lse_b)`.
///
/// A query that saw no key in one part has a log-sum-exp of −∞ there, and its output there (any finite one) counts nothing.
///
/// # Errors
/// When shapes differ.
pub fn merge(a: &AttentionOutput, b: &AttentionOutput) -> Result<AttentionOutput, ModelError> {
    let dtype = a.output.dtype();
    let high = a.lse.maximum(&b.lse)?;
    let (weight_a, weight_b) = (a.lse.sub(&high)?.exp()?, b.lse.sub(&high)?.exp()?);
    let sum = (&weight_a + &weight_b)?;
    let lse = (high + sum.log()?)?;
    let part = |output: &Tensor, weight: &Tensor| {
        output
            .to_dtype(DType::F32)?
            .broadcast_mul(&weight.div(&sum)?.unsqueeze(2)?)
    };
    let output = (part(&a.output, &weight_a)? + part(&b.output, &weight_b)?)?.to_dtype(dtype)?;
    Ok(AttentionOutput { output, lse })
}
