//! Linear layers, and the token embedding that may share its weight with the output head.

use candle_core::{DType, Result, Tensor};

use super::cpu::elementwise::silu_mul_into;
use super::cpu::matmul::PackedMatrix;
use super::precision::WeightType;
use super::{cpu, ops};

/// `x · weightᵀ + bias`.
///
/// On the CPU in f32 the weight is packed at load and a row's result does not depend on the other rows
/// ([`PackedMatrix`]); elsewhere it is the device's matrix product.
pub struct Linear {
    weight: Weight,
    bias: Option<Tensor>,
}

enum Weight {
    Packed(PackedMatrix),
    /// `[outputs, inputs]`
    Dense(Tensor),
}

impl Linear {
    /// A layer from its weight `[outputs, inputs]`, in any floating-point type, and bias `[outputs]`. On the CPU the weight
    /// is stored as `weight_type`; elsewhere it stays as it is.
    ///
    /// # Errors
    /// When the weight is not a matrix.
    pub fn new(weight: Tensor, bias: Option<Tensor>, weight_type: WeightType) -> Result<Self> {
        let (outputs, inputs) = weight.dims2()?;
        let _ = weight_type;
        let weight = if weight.device().is_cpu() {
            let weight = weight.to_dtype(DType::F32)?;
            Weight::Packed(cpu::with_f32(&weight, |data| {
                Ok(PackedMatrix::pack(data, outputs, inputs))
            })?)
        } else {
            Weight::Dense(weight)
        };
        Ok(Self { weight, bias })
    }

    /// From `[N, inputs]` to `[N, outputs]`.
    ///
    /// # Errors
    /// When `x` has another width, dtype or device.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let out = match &self.weight {
            Weight::Packed(matrix) => {
                let (rows, inputs) = x.dims2()?;
                if inputs != matrix.inputs() {
                    candle_core::bail!("a layer of {} inputs was given {inputs}", matrix.inputs());
                }
                let out = cpu::with_f32(x, |x| Ok(matrix.forward(x, rows)))?;
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
    /// On the CPU long steps go through it in blocks of rows, whose wide inner activations stay in the cache and need no
    /// fresh memory.
    ///
    /// # Errors
    /// When shapes, dtype or device do not fit.
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
                cpu::with_f32(x, |x| {
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
    ///
    /// # Errors
    /// When the device fails.
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
