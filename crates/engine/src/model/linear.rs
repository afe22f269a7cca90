//! Linear layers, and the token embedding that may share its weight with the output head.

use candle_core::{DType, Result, Tensor};

use super::cpu::elementwise::silu_mul_into;
use super::cpu::matmul::PackedMatrix;
use super::precision::WeightType;
use super::{cpu, ops};

/// `x · weightᵀ + bias`.
///
/// On the CPU the weight is packed at load, in one of the [`WeightType`]s, and a row's result does not depend on the other
/// rows ([`PackedMatrix`]); elsewhere, and for f32 weights where a [`LIBRARY`] is part of the program, it is the device's
/// matrix product.
pub struct Linear {
    weight: Weight,
    bias: Option<Tensor>,
}

/// Whether a library for dense algebra (MKL, Accelerate) is linked, for the CPU's products with f32 weights. Its sums may
/// depend on the number of rows.
pub(crate) const LIBRARY: bool = cfg!(any(feature = "mkl", feature = "accelerate"));

enum Weight {
    Packed(PackedMatrix),
    /// `[outputs, inputs]`
    Dense(Tensor),
}

impl Linear {
    /// A layer from its weight `[outputs, inputs]`, in any floating-point type, and bias `[outputs]`. On the CPU the weight
    /// is stored as `weight_type`; elsewhere it stays as it is.
    /// Errors: when the weight is not a matrix, or the device has no products with weights of that type.
    pub fn new(weight: Tensor, bias: Option<Tensor>, weight_type: WeightType) -> Result<Self> {
        weight.dims2()?;
        let weight = match weight.device().is_cpu() {
            true if LIBRARY && weight_type == WeightType::F32 => {
                Weight::Dense(weight.to_dtype(DType::F32)?)
            }
            true => Weight::Packed(PackedMatrix::pack(&weight, weight_type)?),
            false => Weight::Dense(weight),
        };
        Ok(Self { weight, bias })
    }

    /// A layer whose weight keeps its type: small ones whose rounding would show in all behind them, which are routers and what decays a state.
    pub(crate) fn exact(weight: Tensor, bias: Option<Tensor>) -> Result<Self> {
        let weight_type = WeightType::exact(weight.dtype());
        Self::new(weight, bias, weight_type)
    }

    pub(crate) fn packed(weight: PackedMatrix, bias: Option<Tensor>) -> Self {
        Self {
            weight: Weight::Packed(weight),
            bias,
        }
    }

    /// From `[N, inputs]` to `[N, outputs]`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let out = match &self.weight {
            Weight::Packed(matrix) => {
                let (rows, inputs) = x.dims2()?;
                if inputs != matrix.inputs() {
                    candle_core::bail!("a layer of {} inputs was given {inputs}", matrix.inputs());
                }
                let out = cpu::with_f32([x], |[x]| Ok(matrix.forward(x, rows)))?;
                Tensor::from_vec(out, (rows, matrix.outputs()), x.device())?
            }
            Weight::Dense(weight) => x.matmul(&weight.t()?)?,
        };
        match &self.bias {
            Some(bias) => out.broadcast_add(bias),
            None => Ok(out),
        }
    }

    /// A gated feed-forward layer, `down(silu(gate) · up)`: from `[N, hidden]` to `[N, hidden]`.
    ///
    /// On the CPU long steps are computed in blocks of rows, whose wide inner activations stay in the cache and need no
    /// fresh memory.
    pub fn feed_forward(gate_up: &Self, down: &Self, x: &Tensor) -> Result<Tensor> {
        const ROWS: usize = 128;
        let (rows, hidden) = x.dims2()?;
        match (&gate_up.weight, &down.weight) {
            (Weight::Packed(wide), Weight::Packed(narrow))
                if rows > ROWS
                    && gate_up.bias.is_none()
                    && down.bias.is_none()
                    && hidden == wide.inputs()
                    && wide.outputs() == 2 * narrow.inputs() =>
            {
                let width = narrow.inputs();
                let (mut inner, mut gated) = (vec![0.0; ROWS * 2 * width], vec![0.0; ROWS * width]);
                let mut out = vec![0.0; rows * narrow.outputs()];
                cpu::with_f32([x], |[x]| {
                    let blocks = x
                        .chunks(ROWS * hidden)
                        .zip(out.chunks_mut(ROWS * narrow.outputs()));
                    for (x, out) in blocks {
                        let rows = x.len() / hidden;
                        let (inner, gated) =
                            (&mut inner[..rows * 2 * width], &mut gated[..rows * width]);
                        wide.forward_into(x, inner);
                        silu_mul_into(inner, width, gated);
                        narrow.forward_into(gated, out);
                    }
                    Ok(())
                })?;
                Tensor::from_vec(out, (rows, narrow.outputs()), x.device())
            }
            _ => down.forward(&ops::silu_mul(&gate_up.forward(x)?)?),
        }
    }

    /// Rows of the weight, `[indices.len(), inputs]`: the layer's weight as a table of embeddings. Indices must be below
    /// the number of outputs.
    pub fn rows(&self, indices: &[u32], device: &candle_core::Device) -> Result<Tensor> {
        match &self.weight {
            Weight::Packed(matrix) => {
                let width = matrix.inputs();
                let mut out = vec![0.0; indices.len() * width];
                for (&index, out) in indices.iter().zip(out.chunks_exact_mut(width.max(1))) {
                    matrix.row(index as usize, out);
                }
                Tensor::from_vec(out, (indices.len(), width), device)
            }
            Weight::Dense(weight) => weight.index_select(&Tensor::new(indices, device)?, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};

    use super::Linear;
    use crate::model::ops;
    use crate::model::precision::WeightType;

    fn matrix(rows: usize, columns: usize) -> Tensor {
        let numbers = Tensor::arange(0u32, (rows * columns) as u32, &Device::Cpu).unwrap();
        let numbers = numbers.to_dtype(candle_core::DType::F32).unwrap();
        let numbers = (numbers * 0.37).unwrap().sin().unwrap();
        numbers.reshape((rows, columns)).unwrap()
    }

    #[test]
    fn blocks_of_rows_through_a_gated_layer_change_no_bit() {
        let x = matrix(300, 64);
        for kind in [
            WeightType::F32,
            WeightType::BF16,
            WeightType::Q8_0,
            WeightType::Q4K,
        ] {
            let gate_up = Linear::new(matrix(2 * 256, 64), None, kind).unwrap();
            let down = Linear::new(matrix(64, 256), None, kind).unwrap();
            let blocks = Linear::feed_forward(&gate_up, &down, &x).unwrap();
            let inner = ops::silu_mul(&gate_up.forward(&x).unwrap()).unwrap();
            let whole = down.forward(&inner).unwrap();
            let bits = |x: Tensor| -> Vec<u32> {
                let numbers: Vec<f32> = x.flatten_all().unwrap().to_vec1().unwrap();
                numbers.into_iter().map(f32::to_bits).collect()
            };
            assert_eq!(bits(blocks), bits(whole), "{kind}");
        }
    }

    /// Rows that bf16 would make one stay apart; numbers of 16 bits give what they give in f32.
    #[test]
    fn an_exact_layer_keeps_what_bf16_would_lose() {
        let near = Tensor::new(&[[1f32, 0.5], [1.0 + 2f32.powi(-12), 0.5]], &Device::Cpu).unwrap();
        let x = Tensor::new(&[[2f32, 1.0]], &Device::Cpu).unwrap();
        let of = |weight: &Tensor| -> Vec<Vec<f32>> {
            let layer = Linear::exact(weight.clone(), None).unwrap();
            layer.forward(&x).unwrap().to_vec2().unwrap()
        };
        assert_eq!(of(&near), [[2.5, 2.5 + 2f32.powi(-11)]]);
        let rounded = near.to_dtype(candle_core::DType::BF16).unwrap();
        assert_eq!(of(&rounded), [[2.5, 2.5]]);
    }
}
