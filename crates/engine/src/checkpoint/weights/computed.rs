//! Tensors whose numbers are computed from several stored ones: a weight in few bits and its scales, or a weight and what an adapter adds to it.

use candle_core::{DType, Device, Tensor};
use rayon::prelude::*;

use super::integers::Integers;
use super::{CodeKind, StoredTensor, Weights};
use crate::checkpoint::Result;

/// How a tensor's numbers are computed; in f32, on the CPU.
pub(super) enum Computed {
    /// FP8 with a scale for each block of `[rows, columns]`.
    Scaled {
        values: StoredTensor,
        scales: StoredTensor,
        block: [usize; 2],
    },
    /// 1 more than what is stored.
    OneMore(StoredTensor),
    /// Columns of what is stored, from the first on, as rows.
    Columns { stored: StoredTensor, first: usize },
    /// Whole numbers of a few bits, with scales.
    Integers(Integers),
    /// Made up as codes of this kind; whoever asks for numbers gets other random ones.
    Random(CodeKind),
    /// A weight plus `scale` times the product of two matrices.
    Adapted {
        base: StoredTensor,
        factors: [StoredTensor; 2],
        /// Whether the product is of the transposed matrices, the second one first.
        transposed: bool,
        scale: f64,
    },
}

impl Computed {
    /// The type that the weight was published in, if its numbers are stored one by one.
    pub(super) fn dtype(&self) -> DType {
        match self {
            Self::Scaled { values, .. } => values.stored_dtype(),
            Self::OneMore(stored) | Self::Columns { stored, .. } => stored.stored_dtype(),
            Self::Integers(integers) => integers.words.stored_dtype(),
            Self::Random(_) => DType::BF16,
            Self::Adapted { base, .. } => base.stored_dtype(),
        }
    }
}

impl Weights {
    pub(super) fn compute(
        &self,
        name: &str,
        computed: &Computed,
        shape: &[usize],
    ) -> Result<Tensor> {
        match computed {
            Computed::Scaled {
                values,
                scales,
                block,
            } => {
                let shape = values.shape.clone();
                let scales = self
                    .numbers(name, scales)?
                    .flatten_all()?
                    .to_vec1::<f32>()?;
                let mut numbers = self
                    .numbers(name, values)?
                    .flatten_all()?
                    .to_vec1::<f32>()?;
                let [rows, columns] = *block;
                // Shapes were checked when the header was read.
                let inputs = shape[1].max(1);
                let across = inputs.div_ceil(columns);
                numbers
                    .par_chunks_exact_mut(inputs)
                    .enumerate()
                    .for_each(|(row, numbers)| {
                        let scales = &scales[row / rows * across..][..across];
                        for (block, scale) in numbers.chunks_mut(columns).zip(scales) {
                            for number in block {
                                *number *= scale;
                            }
                        }
                    });
                Ok(Tensor::from_vec(numbers, shape, &Device::Cpu)?)
            }
            Computed::OneMore(stored) => Ok((self.numbers(name, stored)? + 1.0)?),
            Computed::Columns { stored, first } => {
                let columns = self.numbers(name, stored)?.narrow(1, *first, shape[0])?;
                Ok(columns.t()?.contiguous()?)
            }
            Computed::Integers(integers) => self.integers(name, integers),
            Computed::Random(_) => Err(self.mismatch(format!("{name} is made up of codes"))),
            Computed::Adapted {
                base,
                factors: [first, second],
                transposed,
                scale,
            } => {
                let (first, second) = (self.numbers(name, first)?, self.numbers(name, second)?);
                let product = if *transposed {
                    second.t()?.matmul(&first.t()?)?
                } else {
                    first.matmul(&second)?
                };
                Ok((self.numbers(name, base)? + (product * *scale)?)?)
            }
        }
    }

    /// A tensor's numbers in f32, on the CPU.
    pub(super) fn numbers(&self, name: &str, location: &StoredTensor) -> Result<Tensor> {
        let device = &Device::Cpu;
        if location.is_converted() {
            return self.convert(name, location, device, DType::F32);
        }
        let stored = self.read(name, location, 0, &location.shape, device)?;
        Ok(stored.to_dtype(DType::F32)?)
    }
}
