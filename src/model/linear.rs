//! Linear layers, and the token embedding that may share its weight with the output head.

use candle_core::{Result, Tensor};

use super::cpu;
use super::cpu::matmul::PackedMatrix;

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
    /// A layer from its weight `[outputs, inputs]` and bias `[outputs]`.
    ///
    /// # Errors
    /// When the weight is not a matrix.
    pub fn new(weight: Tensor, bias: Option<Tensor>) -> Result<Self> {
        let (outputs, inputs) = weight.dims2()?;
        let weight = if cpu::applies(&weight) {
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
