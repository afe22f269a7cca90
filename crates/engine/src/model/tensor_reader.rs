//! A checkpoint's tensors in the one form that the decoders use, however the family stores them: joined projections, rotary
//! pairs half a head apart, MXFP4 as plain numbers.

use candle_core::{DType, Device, Tensor};
use rayon::prelude::*;

use super::Result;
use super::cpu::matmul::PackedMatrix;
use super::precision::WeightType;
use super::recurrence::DeltaWeights;
use super::rope::head_order;
use super::shard::{Division, Shard};
use crate::checkpoint::config::Experts;
use crate::checkpoint::gguf::StorageType;
use crate::checkpoint::gguf::blocks::{E2M1, power};
use crate::checkpoint::tensors::{DeltaNames, GatedNames, MXFP4_BLOCK};
#[cfg(feature = "cuda")]
use crate::checkpoint::weights::Codes;
use crate::checkpoint::{ModelConfig, Weights};

pub(super) struct TensorReader<'a> {
    /// The sizes of the part that is read.
    pub(super) config: &'a ModelConfig,
    pub(super) shard: Shard,
    pub(super) weights: &'a Weights,
    pub(super) device: &'a Device,
    /// The type that vectors are converted to.
    pub(super) compute: DType,
    /// That of norms, in which `1 + w` of families that store `w` is not rounded.
    pub(super) norms: DType,
    /// The type that matrices are converted to; `None` leaves them as they are stored.
    pub(super) matrices: Option<DType>,
}

/// A linear layer's weight `[outputs, inputs]` and bias `[outputs]`.
pub(super) type Projection = (Tensor, Option<Tensor>);

impl TensorReader<'_> {
    pub(super) fn norm(&self, name: &str) -> Result<Tensor> {
        Ok(self.weights.get(name, self.device, self.norms)?)
    }

    /// A vector: a bias, a head's sinks.
    pub(super) fn vector(&self, name: &str) -> Result<Tensor> {
        Ok(self.weights.get(name, self.device, self.compute)?)
    }

    /// A tensor's numbers, on the host.
    pub(super) fn numbers(&self, name: &str) -> Result<Vec<f32>> {
        let numbers = self.weights.get(name, &Device::Cpu, DType::F32)?;
        Ok(numbers.flatten_all()?.to_vec1()?)
    }

    /// What a recurrent layer computes with beside its projections.
    pub(super) fn delta(&self, names: &DeltaNames) -> Result<DeltaWeights> {
        let read = |name: &str| self.weights.get(name, &Device::Cpu, DType::F32);
        let recurrent = self.config.recurrent.as_ref();
        let converted = recurrent.is_some_and(|recurrent| recurrent.shape.converted);
        let convolution = read(&names.convolution)?.squeeze(1)?.t()?;
        let mut rate = self.numbers(&names.rate)?;
        if !converted {
            for rate in &mut rate {
                *rate = -rate.exp();
            }
        }
        Ok(DeltaWeights {
            convolution: convolution.contiguous()?.flatten_all()?.to_vec1()?,
            rate,
            step_bias: self.numbers(&names.step_bias)?,
            norm: self.numbers(&names.norm)?,
            eps: self.config.rms_norm_eps as f32,
        })
    }

    /// A matrix by its full name.
    pub(super) fn matrix(&self, name: &str) -> Result<Tensor> {
        Ok(match self.matrices {
            Some(dtype) => self.weights.get(name, self.device, dtype)?,
            None => self.weights.get_as_stored(name, self.device)?,
        })
    }

    /// One linear layer that joins the outputs of several.
    pub(super) fn linear(&self, names: &[String], bias: bool) -> Result<Projection> {
        let weights = names
            .iter()
            .map(|name| self.matrix(&format!("{name}.weight")))
            .collect::<Result<Vec<_>, _>>()?;
        let bias = bias.then(|| self.bias(names)).transpose()?;
        Ok((side_by_side(weights)?, bias))
    }

    /// As [`Self::linear`], of a layer that is divided among GPUs.
    pub(super) fn part(
        &self,
        names: &[String],
        bias: bool,
        division: Division,
    ) -> Result<Projection> {
        if self.shard.is_whole() {
            return self.linear(names, bias);
        }
        let weight = match division {
            Division::Outputs(parts) => self.outputs(names, "weight", parts)?,
            Division::Inputs(count) => {
                let part = |name: &String| self.slice(&format!("{name}.weight"), 1, count);
                side_by_side(names.iter().map(part).collect::<Result<_, _>>()?)?
            }
        };
        let bias = bias
            .then(|| self.part_of_bias(names, division))
            .transpose()?;
        Ok((weight, bias))
    }

    /// The biases of a layer that is divided among GPUs. Where results are summed one GPU adds them, and the others zeros.
    pub(super) fn part_of_bias(&self, names: &[String], division: Division) -> Result<Tensor> {
        match division {
            _ if self.shard.is_whole() => self.bias(names),
            Division::Outputs(parts) => self.outputs(names, "bias", parts),
            Division::Inputs(_) => self.once(self.bias(names)?),
        }
    }

    /// Zeros in place of a bias that another GPU adds.
    fn once(&self, bias: Tensor) -> Result<Tensor> {
        Ok(if self.shard.adds_biases() {
            bias
        } else {
            bias.zeros_like()?
        })
    }

    /// Of the joined outputs of layers those of this GPU, which has `parts` of them: `.weight` or `.bias`.
    fn outputs(&self, names: &[String], kind: &str, parts: &[usize]) -> Result<Tensor> {
        let ranges = self.shard.outputs(parts);
        let (mut before, mut found) = (0, Vec::new());
        for name in names {
            let name = format!("{name}.{kind}");
            let size = self.weights.stored(&name)?.shape.first().copied();
            let after = before + size.unwrap_or(0);
            for range in &ranges {
                let (start, end) = (range.start.max(before), range.end.min(after));
                if start < end {
                    let range = start - before..end - before;
                    found.push(self.read_slice(&name, 0, range)?);
                }
            }
            before = after;
        }
        side_by_side(found)
    }

    /// This GPU's `size` along one dimension of a tensor.
    fn slice(&self, name: &str, dimension: usize, size: usize) -> Result<Tensor> {
        self.read_slice(name, dimension, self.shard.range(size))
    }

    fn read_slice(
        &self,
        name: &str,
        dimension: usize,
        range: std::ops::Range<usize>,
    ) -> Result<Tensor> {
        let dtype = self.matrices.unwrap_or(self.compute);
        let part = (dimension, range);
        Ok(self.weights.get_slice(name, self.device, dtype, part)?)
    }

    #[cfg(feature = "cuda")]
    pub(super) fn sinks(&self, name: &str) -> Result<Tensor> {
        if self.shard.is_whole() {
            return self.vector(name);
        }
        self.slice(name, 0, self.config.heads)
    }

    /// The joined weights of several layers as they are stored, if all are in few bits of one kind ([`Codes`]).
    #[cfg(feature = "cuda")]
    pub(super) fn codes(&self, names: &[String], division: Division) -> Result<Option<Codes>> {
        let mut parts = Vec::new();
        for name in names {
            match self.weights.codes(&format!("{name}.weight"))? {
                Some(codes) => parts.push(codes),
                None => return Ok(None),
            }
        }
        let Some(codes) = Codes::side_by_side(parts) else {
            return Ok(None);
        };
        match division {
            _ if self.shard.is_whole() => Ok(Some(codes)),
            Division::Outputs(parts) => {
                let rows: Vec<usize> = self.shard.outputs(parts).into_iter().flatten().collect();
                Ok(Some(codes.in_order(&rows)))
            }
            Division::Inputs(count) => {
                let own = codes.some_inputs(&self.shard.range(count));
                own.map(Some).ok_or_else(|| {
                    super::ModelError::Unsupported(format!(
                        "--tensor-parallel {}: {} is kept with one scale for {} inputs, of which its {count} on each GPU are no multiple",
                        self.shard.count(),
                        names.join(", "),
                        codes.kind.inputs_of_factor(),
                    ))
                })
            }
        }
    }

    /// Whether all are in FP8 with one scale for each output, or for all.
    #[cfg(feature = "cuda")]
    pub(super) fn scales_are_of_outputs(&self, names: &[String]) -> Result<bool> {
        for name in names {
            let weight = self.weights.stored(&format!("{name}.weight"))?;
            if !weight.has_scales_of_outputs() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Refuses layers in few bits that were to stay so and cannot: widened they take several times the memory that was planned. One
    /// that is joined with others in 16 bits, such as an adapter's, may be widened with them.
    #[cfg(feature = "cuda")]
    pub(super) fn may_be_widened(&self, names: &[String]) -> Result<()> {
        for name in names {
            let weight = self.weights.stored(&format!("{name}.weight"))?;
            if weight.bits_of_codes().is_none() {
                return Ok(());
            }
        }
        Err(super::ModelError::Unsupported(format!(
            "--quantize stored: {} cannot be kept as stored (inputs of a group must be neighbours, 32 at a time, or 64 in FP8; sizes \
             multiples of 32; scales of 16 bits at most): leave it out",
            names.join(", ")
        )))
    }

    /// As [`Self::qkv`], as stored.
    #[cfg(feature = "cuda")]
    pub(super) fn qkv_codes(&self, names: &[String]) -> Result<Option<Codes>> {
        let Some(codes) = self.codes(names, Division::Outputs(&self.qkv_parts()))? else {
            return Ok(None);
        };
        Ok(Some(match self.qkv_rows() {
            Some(rows) => codes.in_order(&rows),
            None => codes,
        }))
    }

    /// The biases of several layers, joined.
    pub(super) fn bias(&self, names: &[String]) -> Result<Tensor> {
        let biases = names
            .iter()
            .map(|name| self.vector(&format!("{name}.bias")))
            .collect::<Result<Vec<_>, _>>()?;
        side_by_side(biases)
    }

    /// The joined weights of several layers, for the CPU, in the blocks in which they are stored; `None` if none of them is
    /// in blocks. `rows` are those of the joined weights that are wanted, in their order; those of one weight stand together.
    /// Errors: when a tensor is missing or not a matrix, they do not have the same inputs, or a file cannot be read.
    pub(super) fn packed(
        &self,
        names: &[String],
        rows: Option<&[usize]>,
    ) -> Result<Option<PackedMatrix>> {
        let tensors = names
            .iter()
            .map(|name| Ok((name, self.weights.stored(name)?)))
            .collect::<Result<Vec<_>>>()?;
        if tensors.iter().all(|(_, tensor)| tensor.blocks.is_none()) {
            return Ok(None);
        }
        let mut before = 0;
        let mut parts: Vec<PackedMatrix> = Vec::new();
        // Consecutive tensors of one type, to be packed together.
        let mut run: Option<(StorageType, [usize; 2], Vec<u8>)> = None;
        for (name, tensor) in tensors {
            let [mut outputs, inputs] = tensor.shape[..] else {
                return Err(self
                    .weights
                    .mismatch(format!("{name} is no matrix: {:?}", tensor.shape))
                    .into());
            };
            let mut bytes = self.weights.bytes(name, tensor)?;
            if let Some(rows) = rows {
                let own = before..before + outputs;
                before = own.end;
                let rows = rows.iter().filter(|row| own.contains(*row));
                let rows: Vec<usize> = rows.map(|row| row - own.start).collect();
                bytes = pick_rows(&bytes, outputs, &rows);
                outputs = rows.len();
            }
            match (&mut run, tensor.blocks) {
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
            if let Some(blocks) = tensor.blocks {
                run = Some((blocks, [outputs, inputs], bytes));
            } else {
                let shape = [outputs, inputs];
                let dense = Tensor::from_raw_buffer(&bytes, tensor.dtype, &shape, &Device::Cpu)?;
                let exact = WeightType::exact(tensor.dtype);
                parts.push(PackedMatrix::pack(&dense, exact)?);
            }
        }
        parts.extend(finish(run)?);
        Ok(Some(PackedMatrix::join(parts)?))
    }

    /// As [`Self::linear`], for the CPU, in the blocks in which a GGUF file stores it; `None` if it is not stored in blocks.
    pub(super) fn packed_linear(
        &self,
        names: &[String],
        bias: bool,
    ) -> Result<Option<(PackedMatrix, Option<Tensor>)>> {
        let weights: Vec<String> = names.iter().map(|name| format!("{name}.weight")).collect();
        let Some(weight) = self.packed(&weights, None)? else {
            return Ok(None);
        };
        let bias = bias.then(|| self.bias(names)).transpose()?;
        Ok(Some((weight, bias)))
    }

    /// As [`Self::qkv`], in the same blocks.
    pub(super) fn packed_qkv(
        &self,
        names: &[String],
    ) -> Result<Option<(PackedMatrix, Option<Tensor>)>> {
        let weights: Vec<String> = names.iter().map(|name| format!("{name}.weight")).collect();
        let rows = self.qkv_rows();
        let Some(weight) = self.packed(&weights, rows.as_deref())? else {
            return Ok(None);
        };
        Ok(Some((weight, self.qkv_bias(names)?)))
    }

    /// The joined projection of queries, keys and values.
    pub(super) fn qkv(&self, names: &[String]) -> Result<Projection> {
        let division = Division::Outputs(&self.qkv_parts());
        let (weight, _) = self.part(names, false, division)?;
        let weight = match self.qkv_order()? {
            Some(rows) => weight.index_select(&rows, 0)?,
            None => weight,
        };
        Ok((weight, self.qkv_bias(names)?))
    }

    /// The biases of queries, keys and values, if they have any.
    pub(super) fn qkv_bias(&self, names: &[String]) -> Result<Option<Tensor>> {
        if !self.config.biases.qkv {
            return Ok(None);
        }
        let bias = self.part_of_bias(names, Division::Outputs(&self.qkv_parts()))?;
        Ok(Some(match self.qkv_order()? {
            Some(rows) => bias.index_select(&rows, 0)?,
            None => bias,
        }))
    }

    /// How many outputs are of queries, keys and values, the latter where they are not keys.
    fn qkv_parts(&self) -> Vec<usize> {
        let config = self.config;
        let values = usize::from(!config.keys_are_values);
        let heads = std::iter::once(config.heads);
        let heads = heads.chain(std::iter::repeat_n(config.kv_heads, 1 + values));
        heads.map(|heads| heads * config.head_dim).collect()
    }

    /// The order of the rows of queries, keys and values; `None` if they are in order already.
    fn qkv_order(&self) -> Result<Option<Tensor>> {
        let Some(rows) = self.qkv_rows() else {
            return Ok(None);
        };
        let rows = rows.into_iter().map(|row| row as u32);
        Ok(Some(Tensor::from_iter(rows, self.device)?))
    }

    fn qkv_rows(&self) -> Option<Vec<usize>> {
        let (heads, head_dim) = (self.config.heads, self.config.head_dim);
        let gated = self.config.family.gates_heads;
        let order = match self.head_order() {
            None if gated => (0..head_dim).collect(),
            order => order?,
        };
        let turned = heads + self.config.kv_heads;
        let all = if self.config.keys_are_values {
            turned
        } else {
            turned + self.config.kv_heads
        };
        // Behind the rows of each query head stand those of its gate.
        let gates = |head: usize| if gated { head.min(heads) } else { 0 };
        // The rows of values stay in place.
        let rows = (0..all).flat_map(|head| {
            (0..head_dim).map({
                let (order, first) = (&order, (head + gates(head)) * head_dim);
                move |i| first + if head < turned { order[i] } else { i }
            })
        });
        Some(rows.collect())
    }

    fn gate_rows(&self) -> Vec<usize> {
        let head_dim = self.config.head_dim;
        let heads = 0..self.config.heads;
        let rows = heads.flat_map(|head| (2 * head + 1) * head_dim..2 * (head + 1) * head_dim);
        rows.collect()
    }

    pub(super) fn head_gate(&self, names: &[String]) -> Result<Projection> {
        let rows = self.gate_rows().into_iter().map(|row| row as u32);
        let rows = Tensor::from_iter(rows, self.device)?;
        let (weight, bias) = self.linear(&names[..1], self.config.biases.qkv)?;
        let bias = bias.map(|bias| bias.index_select(&rows, 0)).transpose()?;
        Ok((weight.index_select(&rows, 0)?, bias))
    }

    /// As [`Self::head_gate`], as stored and without bias.
    #[cfg(feature = "cuda")]
    pub(super) fn head_gate_codes(&self, names: &[String]) -> Result<Option<Codes>> {
        let codes = self.codes(&names[..1], Division::Outputs(&[]))?;
        Ok(codes.map(|codes| codes.in_order(&self.gate_rows())))
    }

    /// As [`Self::head_gate`], for the CPU, in the blocks in which a GGUF file stores it.
    pub(super) fn packed_head_gate(&self, names: &[String]) -> Result<Option<PackedMatrix>> {
        let weight = format!("{}.weight", names[0]);
        self.packed(&[weight], Some(&self.gate_rows()))
    }

    /// The norm of queries, or of keys, by head or of all heads together.
    pub(super) fn head_norm(&self, name: &str) -> Result<Tensor> {
        let norm = self.norm(name)?;
        let Some(order) = self.head_order() else {
            return Ok(norm);
        };
        let heads = norm.dim(0)? / order.len();
        let mut rows: Vec<u32> = Vec::new();
        for head in 0..heads {
            rows.extend(order.iter().map(|i| (head * order.len() + i) as u32));
        }
        Ok(norm.index_select(&Tensor::from_iter(rows, self.device)?, 0)?)
    }

    fn head_order(&self) -> Option<Vec<usize>> {
        head_order(&self.config.rope, self.config.head_dim)
    }

    /// A gated layer: gate and up joined, and down.
    pub(super) fn gated(&self, names: &GatedNames) -> Result<(Projection, Projection)> {
        let bias = self.config.biases.feed_forward;
        let down = std::slice::from_ref(&names.down);
        let experts = self.config.experts;
        let width = experts.map_or(self.config.intermediate, |experts| experts.intermediate);
        Ok((
            self.part(&names.gate_up, bias, Division::Outputs(&[width; 2]))?,
            self.part(down, bias, Division::Inputs(width))?,
        ))
    }

    /// An expert, if all are stored in one tensor, gate and up alternating.
    pub(super) fn expert(
        &self,
        gate_up: &str,
        down: &str,
        experts: &Experts,
        index: usize,
    ) -> Result<(Projection, Projection)> {
        let (hidden, width) = (self.config.hidden, experts.intermediate);
        let (all, own) = (width * self.shard.count(), self.shard.range(width));
        let one = |name: &str, inputs: usize, outputs: usize| -> Result<Tensor> {
            let weight = if experts.mxfp4 {
                self.mxfp4(name, index, outputs, inputs)?
            } else {
                let weight = self.weights.get_part(name, index, self.device)?;
                weight.reshape((inputs, outputs))?.t()?.contiguous()?
            };
            Ok(match self.matrices {
                Some(dtype) => weight.to_dtype(dtype)?,
                None => weight,
            })
        };
        let rows = Tensor::from_iter((0..2 * width).map(gates_first(width)), self.device)?;
        // As gates and ups alternate, a GPU's are neighbours.
        let weight = one(gate_up, hidden, 2 * all)?.narrow(0, 2 * own.start, 2 * width)?;
        let weight = weight.index_select(&rows, 0)?;
        let narrow = one(down, all, hidden)?.narrow(1, own.start, width)?;
        let narrow = narrow.contiguous()?;
        let [bias, narrow_bias] = self.expert_biases(gate_up, down, width, index)?;
        Ok(((weight, Some(bias)), (narrow, Some(narrow_bias))))
    }

    /// As [`Self::expert`], in MXFP4 as stored, for the CPU.
    pub(super) fn packed_expert(
        &self,
        gate_up: &str,
        down: &str,
        experts: &Experts,
        index: usize,
    ) -> Result<[(PackedMatrix, Tensor); 2]> {
        let (hidden, width) = (self.config.hidden, experts.intermediate);
        let [blocks, scales] = self.mxfp4_bytes(gate_up, index)?;
        let sorted = gates_first(width);
        let order = |row| sorted(row) as usize;
        let [wide_bias, narrow_bias] = self.expert_biases(gate_up, down, width, index)?;
        let wide = PackedMatrix::from_mxfp4((2 * width, hidden), &blocks, &scales, order)?;
        let [blocks, scales] = self.mxfp4_bytes(down, index)?;
        let narrow = PackedMatrix::from_mxfp4((hidden, width), &blocks, &scales, |row| row)?;
        Ok([(wide, wide_bias), (narrow, narrow_bias)])
    }

    /// The biases of an expert, if all are stored in one tensor: those of gate and up, gates first, and those of down.
    pub(super) fn expert_biases(
        &self,
        gate_up: &str,
        down: &str,
        width: usize,
        index: usize,
    ) -> Result<[Tensor; 2]> {
        let read = |name: &str| -> Result<Tensor> {
            let name = format!("{name}_bias");
            let bias = self.weights.get_part(&name, index, self.device)?;
            Ok(bias.flatten_all()?.to_dtype(self.compute)?)
        };
        let rows = Tensor::from_iter((0..2 * width).map(gates_first(width)), self.device)?;
        let own = self.shard.range(width);
        let wide = read(gate_up)?.narrow(0, 2 * own.start, 2 * width)?;
        Ok([wide.index_select(&rows, 0)?, self.once(read(down)?)?])
    }

    /// An expert's blocks and scales in MXFP4.
    pub(super) fn mxfp4_bytes(&self, name: &str, index: usize) -> Result<[Vec<u8>; 2]> {
        let read = |what: &str| -> Result<Vec<u8>> {
            let part = self
                .weights
                .get_part(&format!("{name}_{what}"), index, &Device::Cpu)?;
            Ok(part.flatten_all()?.to_vec1()?)
        };
        Ok([read("blocks")?, read("scales")?])
    }

    /// An expert's matrix `[outputs, inputs]` in bf16, which holds every number of MXFP4 exactly
    /// (<https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf>).
    fn mxfp4(&self, name: &str, index: usize, outputs: usize, inputs: usize) -> Result<Tensor> {
        let [blocks, scales] = self.mxfp4_bytes(name, index)?;
        let mut numbers = vec![half::bf16::ZERO; outputs * inputs];
        numbers
            .par_chunks_exact_mut(MXFP4_BLOCK)
            .zip(blocks.par_chunks_exact(MXFP4_BLOCK / 2))
            .zip(scales)
            .for_each(|((numbers, bytes), exponent)| {
                let scale = power(exponent);
                for (pair, byte) in numbers.chunks_exact_mut(2).zip(bytes) {
                    pair[0] = half::bf16::from_f32(scale * E2M1[usize::from(byte & 15)]);
                    pair[1] = half::bf16::from_f32(scale * E2M1[usize::from(byte >> 4)]);
                }
            });
        Ok(Tensor::from_vec(numbers, (outputs, inputs), self.device)?)
    }
}

/// For alternating gates and ups: the stored row of each output, with all gates first, then all ups.
pub(super) fn gates_first(width: usize) -> impl Fn(usize) -> u32 {
    move |row| {
        let (place, up) = if row < width {
            (row, 0)
        } else {
            (row - width, 1)
        };
        (2 * place + up) as u32
    }
}

/// Concatenates tensors; in f32 if their types differ.
fn side_by_side(mut parts: Vec<Tensor>) -> Result<Tensor> {
    let same = parts
        .windows(2)
        .all(|pair| pair[0].dtype() == pair[1].dtype());
    if !same {
        for part in &mut parts {
            *part = part.to_dtype(DType::F32)?;
        }
    }
    match parts.as_slice() {
        [one] => Ok(one.clone()),
        several => Ok(Tensor::cat(several, 0)?),
    }
}

/// Of the bytes of `all` rows those of `rows`, in their order.
fn pick_rows(bytes: &[u8], all: usize, rows: &[usize]) -> Vec<u8> {
    let row = bytes.len() / all.max(1);
    let picked = rows.iter().flat_map(|index| &bytes[index * row..][..row]);
    picked.copied().collect()
}

fn finish(
    run: Option<(StorageType, [usize; 2], Vec<u8>)>,
) -> candle_core::Result<Option<PackedMatrix>> {
    run.map(|(kind, [outputs, inputs], bytes)| {
        PackedMatrix::from_blocks(kind, outputs, inputs, &bytes)
    })
    .transpose()
}

#[cfg(test)]
mod tests {
    use super::pick_rows;

    #[test]
    fn rows_are_picked_in_their_order() {
        let bytes: Vec<u8> = (0..14).collect();
        assert_eq!(
            pick_rows(&bytes, 7, &[1, 2, 0, 6]),
            [2, 3, 4, 5, 0, 1, 12, 13]
        );
    }
}
