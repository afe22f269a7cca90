//! Weights of GGUF files: tensors in blocks, and rows in another order.

use std::sync::atomic::Ordering;

use candle_core::{DType, Device, Tensor, WithDType};
use half::{bf16, f16};
use rayon::prelude::*;

use super::{Shard, StoredTensor, Weights};
use crate::checkpoint::gguf::blocks::{dequantize, to_pairs};
use crate::checkpoint::gguf::{Gguf, StorageType};
use crate::checkpoint::tensors::MXFP4_BLOCK;
use crate::checkpoint::{ModelSource, Result};

/// The order of a stored weight's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowOrder {
    Stored,
    /// The two rows of a rotary pair are neighbours in each head: row `2i + s` of a head is the decoder's row `s · head_dim / 2 + i`.
    Pairs {
        head_dim: usize,
    },
}

impl RowOrder {
    /// The bytes of `rows` rows in the decoder's order; `None` if they are not a whole number of heads.
    pub(super) fn undo(self, bytes: Vec<u8>, rows: usize) -> Option<Vec<u8>> {
        let Self::Pairs { head_dim } = self else {
            return Some(bytes);
        };
        if head_dim < 2 || head_dim % 2 == 1 || !rows.is_multiple_of(head_dim) {
            return None;
        }
        let row = bytes.len() / rows.max(1);
        let mut ordered = Vec::with_capacity(bytes.len());
        for head in bytes.chunks_exact(row * head_dim) {
            for s in 0..2 {
                for i in 0..head_dim / 2 {
                    ordered.extend_from_slice(&head[(2 * i + s) * row..][..row]);
                }
            }
        }
        Some(ordered)
    }
}

impl Weights {
    /// Adds the tensors of a GGUF file, whose header was checked on opening.
    pub(super) fn add_gguf(&mut self, source: &ModelSource, model: &Gguf) -> Result<()> {
        for name in model.files() {
            let (file, _) = source.open(&name)?;
            self.files.push(Shard {
                path: source.describe(&name),
                file,
            });
        }
        for (shard, tensor) in model.tensors() {
            self.progress
                .total
                .fetch_add(tensor.bytes as u64, Ordering::Relaxed);
            let (dtype, blocks) = match tensor.kind {
                StorageType::F32 => (DType::F32, None),
                StorageType::F16 => (DType::F16, None),
                StorageType::BF16 => (DType::BF16, None),
                blocks => (DType::F32, Some(blocks)),
            };
            let location = StoredTensor {
                shard: *shard,
                dtype,
                shape: tensor.shape.clone(),
                offset: tensor.offset,
                bytes: tensor.bytes,
                blocks,
                rows: tensor.rows,
                computed: None,
            };
            let name = tensor.name.clone();
            if self.tensors.insert(name.clone(), location).is_some() {
                return Err(self.mismatch(format!("{name} is there twice")));
            }
        }
        Ok(())
    }

    pub fn mxfp4_numbers(&self) -> usize {
        let numbers = self.tensors.values().map(|tensor| {
            let count = tensor.shape.iter().product::<usize>();
            match tensor.blocks {
                Some(StorageType::MXFP4) => count,
                // In Safetensors a byte of the blocks holds two numbers.
                None if tensor.dtype == DType::U8 && tensor.shape.len() == 4 => 2 * count,
                _ => 0,
            }
        });
        numbers.sum()
    }

    /// A weight in MXFP4 as Safetensors has it: the blocks, `[outputs, inputs / 32, 16]` bytes of two neighbours each, and
    /// their exponents. `None` if the file stores it otherwise.
    pub fn mxfp4(&self, name: &str) -> Result<Option<[Vec<u8>; 2]>> {
        let location = self.stored(name)?;
        if location.blocks != Some(StorageType::MXFP4) {
            return Ok(None);
        }
        let (mut blocks, mut exponents) = (Vec::new(), Vec::new());
        for block in to_pairs(&self.bytes(name, location)?).chunks_exact(MXFP4_BLOCK / 2 + 1) {
            exponents.push(block[0]);
            blocks.extend_from_slice(&block[1..]);
        }
        Ok(Some([blocks, exponents]))
    }

    /// Reads a tensor that is stored in blocks or in another row order, or computed, as `dtype`.
    pub(super) fn convert(
        &self,
        name: &str,
        location: &StoredTensor,
        device: &Device,
        dtype: DType,
    ) -> Result<Tensor> {
        if let Some(computed) = &location.computed {
            let numbers = self.compute(name, computed, &location.shape)?;
            return Ok(numbers.to_dtype(dtype)?.to_device(device)?);
        }
        let bytes = self.bytes(name, location)?;
        let shape = &location.shape;
        let read = match location.blocks {
            Some(kind) => tensor(kind, &bytes, shape, dtype)?,
            None => Tensor::from_raw_buffer(&bytes, location.dtype, shape, &Device::Cpu)?
                .to_dtype(dtype)?,
        };
        Ok(read.to_device(device)?)
    }

    /// A tensor's bytes, with the rows in the decoder's order.
    pub(crate) fn bytes(&self, name: &str, location: &StoredTensor) -> Result<Vec<u8>> {
        let mut bytes = vec![0; location.bytes];
        self.fill(name, location, 0, &mut bytes)?;
        let rows = location.shape.first().copied().unwrap_or(1);
        location.rows.undo(bytes, rows).ok_or_else(|| {
            self.mismatch(format!("{name} has {rows} rows, which are no whole heads"))
        })
    }
}

impl StoredTensor {
    /// Whether it is stored in blocks or in another row order, or computed, and so must be converted.
    pub(super) fn is_converted(&self) -> bool {
        self.blocks.is_some() || self.rows != RowOrder::Stored || self.computed.is_some()
    }

    /// The type of its numbers in the file.
    pub(crate) fn stored_dtype(&self) -> DType {
        let computed = self.computed.as_ref();
        computed.map_or(self.dtype, |computed| computed.dtype())
    }
}

/// Numbers of a tensor in blocks, on the CPU.
pub(super) fn tensor(
    kind: StorageType,
    bytes: &[u8],
    shape: &[usize],
    dtype: DType,
) -> candle_core::Result<Tensor> {
    match dtype {
        DType::F16 => numbers::<f16>(kind, bytes, shape, f16::from_f32),
        DType::BF16 => numbers::<bf16>(kind, bytes, shape, bf16::from_f32),
        _ => numbers::<f32>(kind, bytes, shape, |x| x)?.to_dtype(dtype),
    }
}

fn numbers<T: WithDType>(
    kind: StorageType,
    bytes: &[u8],
    shape: &[usize],
    round: impl Fn(f32) -> T + Sync,
) -> candle_core::Result<Tensor> {
    let width = shape.last().copied().unwrap_or(1);
    let (block, size) = kind.block();
    let stored = width / block * size;
    if width == 0 || stored == 0 || bytes.len() / stored * width != shape.iter().product::<usize>()
    {
        candle_core::bail!("{} bytes of {kind:?} are no {shape:?}", bytes.len());
    }
    let mut out = vec![T::zero(); bytes.len() / stored * width];
    out.par_chunks_exact_mut(width)
        .zip(bytes.par_chunks_exact(stored))
        .for_each_init(
            || vec![0.0; width],
            |row, (out, bytes)| {
                dequantize(kind, bytes, row);
                for (out, x) in out.iter_mut().zip(row) {
                    *out = round(*x);
                }
            },
        );
    Tensor::from_vec(out, shape, &Device::Cpu)
}

#[cfg(test)]
mod tests {
    use super::RowOrder;

    /// Undoes what the converter does to a head of width 6: `reshape(2, 3)`, transposed.
    #[test]
    fn rows_of_rotary_pairs_are_put_apart_again() {
        let original: Vec<u8> = (0..24).collect();
        let mut converted = Vec::new();
        for head in original.chunks(12) {
            for i in 0..3 {
                for s in 0..2 {
                    converted.extend_from_slice(&head[(s * 3 + i) * 2..][..2]);
                }
            }
        }
        let pairs = RowOrder::Pairs { head_dim: 6 };
        assert_eq!(pairs.undo(converted, 12), Some(original));
        assert_eq!(pairs.undo(vec![0; 14], 7), None);
        assert_eq!(RowOrder::Stored.undo(vec![1, 2, 3], 3), Some(vec![1, 2, 3]));
    }
}
