//! Weights of GGUF files: tensors in blocks, and rows in another order.

use std::sync::atomic::Ordering;

use candle_core::{DType, Device, Tensor, WithDType};
use half::{bf16, f16};
use rayon::prelude::*;

use super::{Location, Shard, Weights};
use crate::checkpoint::ModelSource;
use crate::checkpoint::gguf::{Gguf, StorageType};
use crate::checkpoint::tensors::MXFP4_BLOCK;
use crate::model::ModelError;
use crate::model::cpu::matmul::PackedMatrix;
use crate::model::cpu::quantized::stored::{dequantize, to_pairs};
use crate::model::precision::WeightType;

/// How the rows of a stored weight follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowOrder {
    /// As the decoder takes them.
    Stored,
    /// In each head the two of a rotary pair are neighbours: row `2i + s` of a head is to be row `s · head_dim / 2 + i`.
    Pairs {
        /// Width of a head.
        head_dim: usize,
    },
}

impl RowOrder {
    /// The bytes of `rows` rows in the decoder's order; `None` if they are no whole heads.
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
    /// Adds the tensors of a GGUF file, whose header was checked when it was opened.
    pub(super) fn add_gguf(
        &mut self,
        source: &ModelSource,
        model: &Gguf,
        names: &[String],
    ) -> Result<(), ModelError> {
        for name in names {
            let (file, _) = source.open(name)?;
            self.files.push(Shard {
                path: source.describe(name),
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
            let location = Location {
                shard: *shard,
                dtype,
                shape: tensor.shape.clone(),
                offset: tensor.offset,
                bytes: tensor.bytes,
                blocks,
                rows: tensor.rows,
            };
            let name = tensor.name.clone();
            if self.tensors.insert(name.clone(), location).is_some() {
                return Err(self.mismatch(format!("{name} is there twice")));
            }
        }
        Ok(())
    }

    /// [`WeightType::Stored`] with the bits that an average weight takes in memory, if there are tensors in blocks.
    pub(super) fn stored_blocks(&self) -> Option<WeightType> {
        let matrices = || {
            self.tensors
                .values()
                .filter(|tensor| tensor.shape.len() > 1)
        };
        // Bytes are the blocks of MXFP4 in Safetensors, of two numbers each, and their scales, which are no numbers.
        let mxfp4 = |tensor: &Location| tensor.dtype == DType::U8;
        matrices().find(|tensor| tensor.blocks.is_some() || mxfp4(tensor))?;
        let (mut bits, mut numbers) = (0.0, 0.0);
        for tensor in matrices() {
            let shape = tensor.shape.iter().product::<usize>() as f64;
            let (count, one) = match (tensor.blocks, tensor.shape.len()) {
                (Some(kind), _) => (shape, PackedMatrix::bits(kind)),
                (None, 4) if mxfp4(tensor) => (2.0 * shape, PackedMatrix::bits(StorageType::MXFP4)),
                (None, _) if mxfp4(tensor) => (0.0, 0.0),
                (None, _) => (shape, WeightType::exact(tensor.dtype).bits()),
            };
            bits += count * one;
            numbers += count;
        }
        Some(WeightType::Stored {
            centibits: (100.0 * bits / numbers).round() as u16,
        })
    }

    /// How many numbers are stored in MXFP4.
    pub fn mxfp4_numbers(&self) -> usize {
        let numbers = self.tensors.values().map(|tensor| {
            let count = tensor.shape.iter().product::<usize>();
            match tensor.blocks {
                Some(StorageType::MXFP4) => count,
                // Blocks in Safetensors: two in a byte.
                None if tensor.dtype == DType::U8 && tensor.shape.len() == 4 => 2 * count,
                _ => 0,
            }
        });
        numbers.sum()
    }

    /// The blocks of a weight in MXFP4, `[outputs, inputs / 32, 16]` bytes of two neighbours each, and their exponents, as
    /// Safetensors has them; `None` if a file stores it otherwise.
    ///
    /// # Errors
    /// When there is no such tensor, or its file cannot be read.
    pub fn mxfp4(&self, name: &str) -> Result<Option<[Vec<u8>; 2]>, ModelError> {
        let location = self.location(name)?;
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

    /// Reads a tensor that is not stored as the decoder takes it, as `dtype`.
    pub(super) fn convert(
        &self,
        name: &str,
        location: &Location,
        device: &Device,
        dtype: DType,
    ) -> Result<Tensor, ModelError> {
        let bytes = self.bytes(name, location)?;
        let shape = &location.shape;
        let read = match location.blocks {
            Some(kind) => tensor(kind, &bytes, shape, dtype)?,
            None => Tensor::from_raw_buffer(&bytes, location.dtype, shape, &Device::Cpu)?
                .to_dtype(dtype)?,
        };
        Ok(read.to_device(device)?)
    }

    /// A tensor's bytes, its rows in order.
    fn bytes(&self, name: &str, location: &Location) -> Result<Vec<u8>, ModelError> {
        let mut bytes = vec![0; location.bytes];
        self.fill(name, location, 0, &mut bytes)?;
        let rows = location.shape.first().copied().unwrap_or(1);
        location.rows.undo(bytes, rows).ok_or_else(|| {
            self.mismatch(format!("{name} has {rows} rows, which are no whole heads"))
        })
    }

    /// The weights of layers side by side, for the CPU, in the blocks that they are stored in; `None` if none of them is in
    /// blocks. Where `heads` gives the order of a head's rows ([`head_order`](crate::model::rope)) and how many heads, from
    /// the first on, have it, theirs are put into it.
    ///
    /// # Errors
    /// When a tensor is missing or no matrix, they have not the same inputs, or a file cannot be read.
    pub fn packed(
        &self,
        names: &[String],
        heads: Option<(&[usize], usize)>,
    ) -> Result<Option<PackedMatrix>, ModelError> {
        let locations = names
            .iter()
            .map(|name| Ok((name, self.location(name)?)))
            .collect::<Result<Vec<_>, ModelError>>()?;
        if locations.iter().all(|(_, place)| place.blocks.is_none()) {
            return Ok(None);
        }
        // Rows that are still to be put in order.
        let mut turned = heads.map_or(0, |(order, count)| order.len() * count);
        let mut parts: Vec<PackedMatrix> = Vec::new();
        // Of one type, to be packed together.
        let mut run: Option<(StorageType, [usize; 2], Vec<u8>)> = None;
        for (name, location) in locations {
            let [outputs, inputs] = location.shape[..] else {
                return Err(self.mismatch(format!("{name} is no matrix: {:?}", location.shape)));
            };
            let mut bytes = self.bytes(name, location)?;
            if let Some((order, _)) = heads {
                let rows = turned.min(outputs);
                bytes = put_in_order(&bytes, outputs, rows, order);
                turned -= rows;
            }
            match (&mut run, location.blocks) {
                (Some((kind, shape, all)), Some(blocks))
                    if *kind == blocks && shape[1] == inputs =>
                {
                    shape[0] += outputs;
                    all.extend_from_slice(&bytes);
                    continue;
                }
                _ => {}
            }
            parts.extend(finish(run.take())?);
            if let Some(blocks) = location.blocks {
                run = Some((blocks, [outputs, inputs], bytes));
            } else {
                let shape = &location.shape;
                let tensor = Tensor::from_raw_buffer(&bytes, location.dtype, shape, &Device::Cpu)?;
                let exact = WeightType::exact(location.dtype);
                parts.push(PackedMatrix::pack(&tensor, exact)?);
            }
        }
        parts.extend(finish(run)?);
        Ok(Some(PackedMatrix::join(parts)?))
    }
}

impl Location {
    /// Whether it is not stored as the decoder takes it.
    pub(super) fn is_converted(&self) -> bool {
        self.blocks.is_some() || self.rows != RowOrder::Stored
    }
}

/// The bytes of `all` rows, of which the first `rows` are whole heads: in each of them row `i` is to be what row `order[i]`
/// was.
fn put_in_order(bytes: &[u8], all: usize, rows: usize, order: &[usize]) -> Vec<u8> {
    let row = bytes.len() / all.max(1);
    let mut ordered = Vec::with_capacity(bytes.len());
    for head in bytes[..rows * row].chunks_exact((row * order.len()).max(1)) {
        for index in order {
            ordered.extend_from_slice(&head[index * row..][..row]);
        }
    }
    // Values, whose rows stay.
    ordered.extend_from_slice(&bytes[ordered.len()..]);
    ordered
}

fn finish(
    run: Option<(StorageType, [usize; 2], Vec<u8>)>,
) -> candle_core::Result<Option<PackedMatrix>> {
    run.map(|(kind, [outputs, inputs], bytes)| {
        PackedMatrix::from_blocks(kind, outputs, inputs, &bytes)
    })
    .transpose()
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
    use super::{RowOrder, put_in_order};

    #[test]
    fn rows_of_the_first_heads_are_put_in_order() {
        let bytes: Vec<u8> = (0..14).collect();
        let order = [1, 2, 0];
        assert_eq!(
            put_in_order(&bytes, 7, 6, &order),
            [2, 3, 4, 5, 0, 1, 8, 9, 10, 11, 6, 7, 12, 13]
        );
    }

    /// What the converter does to a head of width 6: `reshape(2, 3)`, transposed.
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
