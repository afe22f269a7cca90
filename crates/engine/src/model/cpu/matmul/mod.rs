//! Linear layers on the CPU: weights packed once, products that do not depend on the batch.

use std::array::from_fn;

use candle_core::{CpuStorage, Result, Storage, Tensor};
use rayon::prelude::*;

use super::buffer::Buffer;
use super::half::{Bf16, F16, F32, Format};
use super::instructions::run;
use super::panels::{Multiply, PANEL};
use super::quantized::rows;
use super::quantized::{
    BLOCK, BlockMatrix, Blocks, Group, Mx4Group, Q4Group, Q5Group, Q6Group, Q8Group, Q40Group,
    Q41Group, Q50Group, Q51Group,
};
use crate::checkpoint::gguf::{StorageType, blocks};
use crate::model::precision::WeightType;

/// Products that take less time than this many multiply-adds in f32 run on the calling thread: waking another thread costs
/// about as much.
pub(crate) const SERIAL: usize = 1 << 20;
/// The most rows of a task: their inputs stay in the second-level cache while the weights are read once.
const ROWS: usize = 96;
/// The rows of a task are a multiple of this, so that few register tiles have too few rows.
const TILE_ROWS: usize = 8;
/// The fewest tasks per thread, unless they are tiny: one that starts late or is interrupted must not delay the others.
const TASKS: usize = 8;

/// A weight `[outputs, inputs]` in panels of 16 outputs.
pub struct PackedMatrix {
    /// Weights of one type each, whose outputs are concatenated.
    parts: Vec<Part>,
    outputs: usize,
    inputs: usize,
}

struct Part {
    panels: Panels,
    outputs: usize,
}

/// The panels' numbers; zero past the last output.
enum Panels {
    /// `[ceil(outputs / 16), inputs, 16]`
    F32(Buffer<f32>),
    /// The same in IEEE half precision.
    F16(Buffer<u16>),
    /// The same, with the upper half of each number.
    Bf16(Buffer<u16>),
    /// In blocks that share a scale.
    Blocks(Box<dyn Blocks>),
}

/// Some columns of some rows of a product.
struct Task<'a, 'o> {
    part: &'a Part,
    row: usize,
    /// The first column, counted from the part's.
    from: usize,
    out: Vec<&'o mut [f32]>,
}

/// What packs rows of so many inputs that are stored in so many bytes each.
type Pack = fn(usize, usize, &[u8]) -> Result<Panels>;
/// Bits per weight of a type's groups, and what packs them; `None` of a type without blocks.
fn group(kind: StorageType) -> Option<(f64, Pack)> {
    fn of<G: Group + 'static>() -> (f64, Pack) {
        let bits = (8 * size_of::<G>()) as f64 / (PANEL * G::BLOCKS * BLOCK) as f64;
        (bits, Panels::blocks::<G>)
    }
    Some(match kind {
        StorageType::F32 | StorageType::F16 | StorageType::BF16 => return None,
        StorageType::Q4_1 => of::<Q41Group>(),
        StorageType::Q5_1 => of::<Q51Group>(),
        StorageType::Q8_0 => of::<Q8Group>(),
        StorageType::Q4_0 => of::<Q40Group>(),
        StorageType::Q5_0 => of::<Q50Group>(),
        StorageType::MXFP4 => of::<Mx4Group>(),
        StorageType::Q4_K => of::<Q4Group>(),
        StorageType::Q5_K => of::<Q5Group>(),
        StorageType::Q6_K => of::<Q6Group>(),
    })
}

impl PackedMatrix {
    /// Packs a weight `[outputs, inputs]` of any floating-point type, panel by panel on all threads.
    ///
    /// `Q4_K` has super-blocks of 256 inputs: a weight whose inputs are not a multiple of that is stored as `Q8_0`, whose
    /// last block is padded with zeros.
    /// Errors: when the weight is not a matrix on the CPU, or the type is one that the CPU does not compute with.
    pub fn pack(weight: &Tensor, weight_type: WeightType) -> Result<Self> {
        let (outputs, inputs) = weight.dims2()?;
        let weight = weight.contiguous()?;
        let (storage, layout) = weight.storage_and_layout();
        let start = layout.start_offset();
        let read = |first: usize, out: &mut [f32]| {
            let from = start + first * inputs;
            let range = from..from + out.len();
            match &*storage {
                Storage::Cpu(CpuStorage::F32(data)) => out.copy_from_slice(&data[range]),
                Storage::Cpu(CpuStorage::F16(data)) => {
                    out.iter_mut()
                        .zip(&data[range])
                        .for_each(|(out, x)| *out = x.to_f32());
                }
                Storage::Cpu(CpuStorage::BF16(data)) => {
                    out.iter_mut()
                        .zip(&data[range])
                        .for_each(|(out, x)| *out = x.to_f32());
                }
                _ => {}
            }
        };
        let readable = matches!(
            &*storage,
            Storage::Cpu(CpuStorage::F32(_) | CpuStorage::F16(_) | CpuStorage::BF16(_))
        );
        if !readable {
            candle_core::bail!(
                "a weight to be packed is {:?} on {:?}",
                weight.dtype(),
                weight.device()
            );
        }
        let weight_type = match weight_type {
            WeightType::Stored { .. } => WeightType::exact(weight.dtype()),
            other => other,
        };
        let panels = match weight_type {
            WeightType::F32 => Panels::F32(interleave::<F32>(outputs, inputs, read)?),
            WeightType::F16 => Panels::F16(interleave::<F16>(outputs, inputs, read)?),
            WeightType::BF16 => Panels::Bf16(interleave::<Bf16>(outputs, inputs, read)?),
            WeightType::Q4K if inputs % (Q4Group::BLOCKS * BLOCK) == 0 => {
                let matrix = BlockMatrix::<Q4Group>::pack(outputs, inputs, read)?;
                Panels::Blocks(Box::new(matrix))
            }
            WeightType::Q8_0 | WeightType::Q4K => {
                let matrix = BlockMatrix::<Q8Group>::pack(outputs, inputs, read)?;
                Panels::Blocks(Box::new(matrix))
            }
            WeightType::F8E4M3 | WeightType::Stored { .. } => {
                candle_core::bail!("the CPU has no products with {weight_type} weights")
            }
        };
        Ok(Self::from_panels(panels, outputs, inputs))
    }

    /// Packs a weight `[outputs, inputs]` that is stored in GGML's blocks, row after row.
    ///
    /// Blocks keep every bit.
    /// Errors: when there are more or fewer bytes than such a weight has, or the type has no blocks.
    pub fn from_blocks(
        kind: StorageType,
        outputs: usize,
        inputs: usize,
        bytes: &[u8],
    ) -> Result<Self> {
        let (numbers, size) = kind.block();
        let row = inputs / numbers * size;
        if row == 0 || !inputs.is_multiple_of(numbers) || bytes.len() != outputs * row {
            candle_core::bail!(
                "{} bytes of {kind:?} are no {outputs} × {inputs} weight",
                bytes.len()
            );
        }
        let Some((_, pack)) = group(kind) else {
            candle_core::bail!("{kind:?} is in no blocks");
        };
        let panels = match kind {
            StorageType::MXFP4 => pack(inputs, row, &blocks::to_pairs(bytes))?,
            _ => pack(inputs, row, bytes)?,
        };
        Ok(Self::from_panels(panels, outputs, inputs))
    }

    /// Packs a weight that is stored in MXFP4, without loss: its blocks `[outputs, inputs / 32, 16]` and the exponents of
    /// their scales `[outputs, inputs / 32]`. The outputs may be reordered: output `i` is row `order(i)` of the stored
    /// weight.
    pub(crate) fn from_mxfp4(
        (outputs, inputs): (usize, usize),
        blocks: &[u8],
        scales: &[u8],
        order: impl Fn(usize) -> usize,
    ) -> Result<Self> {
        let count = inputs / BLOCK;
        let size = BLOCK / 2;
        if count == 0
            || !inputs.is_multiple_of(BLOCK)
            || scales.len() != outputs * count
            || blocks.len() != scales.len() * size
        {
            candle_core::bail!(
                "{} bytes and {} scales are no {outputs} × {inputs} weight in MXFP4",
                blocks.len(),
                scales.len()
            );
        }
        let mut bytes = Vec::with_capacity(blocks.len() + scales.len());
        for output in (0..outputs).map(order) {
            let blocks = blocks[output * count * size..].chunks_exact(size);
            for (block, scale) in blocks.zip(&scales[output * count..][..count]) {
                bytes.push(*scale);
                bytes.extend_from_slice(block);
            }
        }
        let panels = Panels::blocks::<Mx4Group>(inputs, count * (1 + size), &bytes)?;
        Ok(Self::from_panels(panels, outputs, inputs))
    }

    /// Bits per weight, once packed, for a weight that is stored in such blocks.
    pub(crate) fn bits(kind: StorageType) -> f64 {
        let plain = 8 * kind.block().1;
        group(kind).map_or(plain as f64, |(bits, _)| bits)
    }

    fn from_panels(panels: Panels, outputs: usize, inputs: usize) -> Self {
        Self {
            parts: vec![Part { panels, outputs }],
            outputs,
            inputs,
        }
    }

    /// Joins weights: the outputs are those of `parts`, one part after the other.
    pub(crate) fn join(parts: Vec<Self>) -> Result<Self> {
        let inputs = parts.first().map_or(0, |part| part.inputs);
        if parts.iter().any(|part| part.inputs != inputs) {
            candle_core::bail!("weights side by side with different inputs");
        }
        Ok(Self {
            outputs: parts.iter().map(|part| part.outputs).sum(),
            parts: parts.into_iter().flat_map(|part| part.parts).collect(),
            inputs,
        })
    }

    pub(crate) fn outputs(&self) -> usize {
        self.outputs
    }

    pub(crate) fn inputs(&self) -> usize {
        self.inputs
    }

    /// How many bytes of memory the weight takes up.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        let parts = self.parts.iter().map(|part| match &part.panels {
            Panels::F32(panels) => size_of_val(&**panels),
            Panels::F16(panels) | Panels::Bf16(panels) => size_of_val(&**panels),
            Panels::Blocks(matrix) => matrix.bytes(),
        });
        parts.sum()
    }

    /// Row `index` of the weight, `[inputs]`: an embedding, when the matrix is also the output head.
    pub(crate) fn row(&self, mut index: usize, out: &mut [f32]) {
        for part in &self.parts {
            if index < part.outputs {
                return match &part.panels {
                    Panels::F32(panels) => self.lane::<F32>(panels, index, out),
                    Panels::F16(panels) => self.lane::<F16>(panels, index, out),
                    Panels::Bf16(panels) => self.lane::<Bf16>(panels, index, out),
                    Panels::Blocks(matrix) => matrix.row(index, out),
                };
            }
            index -= part.outputs;
        }
    }

    fn lane<F: Format>(&self, panels: &[F::Bits], index: usize, out: &mut [f32]) {
        let stride = self.inputs * PANEL;
        let panel = &panels[index / PANEL * stride..][..stride];
        for (out, x) in out
            .iter_mut()
            .zip(panel.iter().skip(index % PANEL).step_by(PANEL))
        {
            *out = F::to_f32(*x);
        }
    }

    /// `x × weightᵀ`: from `[rows, inputs]` to `[rows, outputs]`.
    pub fn forward(&self, x: &[f32], rows: usize) -> Vec<f32> {
        let mut out = vec![0.0; rows * self.outputs];
        self.forward_into(x, &mut out);
        out
    }

    /// `x × weightᵀ`, into `[rows, outputs]` numbers, whose old content does not matter.
    pub fn forward_into(&self, x: &[f32], out: &mut [f32]) {
        if out.is_empty() {
            return;
        }
        let blocks = self.parts.iter().map(|part| match &part.panels {
            Panels::Blocks(matrix) => matrix.blocks(),
            _ => 0,
        });
        let width = blocks.max().unwrap_or(0);
        let blocks = rows::quantize(x, self.inputs, width);
        self.share_out(out, if width > 0 { 2 } else { 1 }, |task| {
            let Task {
                part, row, from, ..
            } = *task;
            let (numbers, out) = (&x[row * self.inputs..], &mut *task.out);
            match &part.panels {
                Panels::F32(panels) => self.chains::<F32>(panels, numbers, from, out),
                Panels::F16(panels) => self.chains::<F16>(panels, numbers, from, out),
                Panels::Bf16(panels) => self.chains::<Bf16>(panels, numbers, from, out),
                Panels::Blocks(matrix) => {
                    matrix.part(&blocks[row * width..], width, from, out);
                }
            }
        });
    }

    /// A part of the product with weights that are stored as single numbers.
    fn chains<F: Format>(
        &self,
        panels: &[F::Bits],
        x: &[f32],
        from: usize,
        out: &mut [&mut [f32]],
    ) {
        let (k, stride) = (self.inputs, self.inputs * PANEL);
        run(Multiply::<F> {
            a: x,
            a_stride: k,
            k,
            panels: &panels[from / PANEL * stride..],
            stride,
            out,
            accumulate: false,
            cached: false,
        });
    }

    /// Divides the outputs `[rows, outputs]` among threads. `speed` is how many multiply-adds take the time of one in f32.
    fn share_out(&self, out: &mut [f32], speed: usize, compute: impl Fn(&mut Task) + Sync) {
        let n = self.outputs;
        let rows = out.len() / n;
        let work = rows * n * self.inputs / speed;
        let threads = rayon::current_num_threads();
        let serial = threads == 1 || work < SERIAL;
        // Tasks of equal size, whole groups of panels wide.
        let row_blocks = rows.div_ceil(ROWS);
        let block_rows = rows.div_ceil(row_blocks).next_multiple_of(TILE_ROWS);
        let column_blocks = if serial { 1 } else { TASKS * threads };
        let column_blocks = column_blocks
            .div_ceil(row_blocks)
            .min(work / (SERIAL / 2))
            .max(1);
        let panels = n
            .div_ceil(PANEL)
            .div_ceil(column_blocks)
            .next_multiple_of(4);
        let columns = panels * PANEL;
        let mut tasks = Vec::with_capacity(row_blocks * (column_blocks + self.parts.len()));
        for (block, out) in out.chunks_mut(block_rows * n).enumerate() {
            let first = tasks.len();
            for part in &self.parts {
                for from in (0..part.outputs).step_by(columns) {
                    tasks.push(Task {
                        part,
                        row: block * block_rows,
                        from,
                        out: Vec::with_capacity(block_rows.min(rows)),
                    });
                }
            }
            for mut row in out.chunks_exact_mut(n) {
                for task in &mut tasks[first..] {
                    let width = columns.min(task.part.outputs - task.from);
                    let (own, others) = std::mem::take(&mut row).split_at_mut(width);
                    task.out.push(own);
                    row = others;
                }
            }
        }
        if serial {
            tasks.iter_mut().for_each(compute);
        } else {
            let tasks = tasks.into_par_iter().with_max_len(1);
            tasks.for_each(|mut task| compute(&mut task));
        }
    }
}

impl Panels {
    /// Panels of rows in blocks as they are stored, of `row` bytes each.
    fn blocks<G: Group + 'static>(inputs: usize, row: usize, bytes: &[u8]) -> Result<Self> {
        let matrix = BlockMatrix::<G>::pack_blocks(inputs, row, bytes)?;
        Ok(Self::Blocks(Box::new(matrix)))
    }
}

/// Packs the rows that `read` gives, from a first one on, into panels `[ceil(outputs / 16), inputs, 16]`.
fn interleave<F: Format>(
    outputs: usize,
    inputs: usize,
    read: impl Fn(usize, &mut [f32]) + Sync,
) -> Result<Buffer<F::Bits>> {
    let stride = inputs * PANEL;
    let mut panels = Buffer::whole(outputs.div_ceil(PANEL) * stride)?;
    if stride > 0 {
        panels
            .par_chunks_exact_mut(stride)
            .enumerate()
            .for_each_init(
                || (vec![0.0; stride], vec![F::Bits::default(); stride]),
                |(numbers, bits), (p, panel)| {
                    let count = PANEL.min(outputs - p * PANEL) * inputs;
                    let numbers = &mut numbers[..count];
                    read(p * PANEL, numbers);
                    for (bits, x) in bits.iter_mut().zip(numbers) {
                        *bits = F::round(*x);
                    }
                    bits[count..].fill(F::Bits::default());
                    let rows: [_; PANEL] = from_fn(|lane| &bits[lane * inputs..][..inputs]);
                    for (i, column) in panel.as_chunks_mut().0.iter_mut().enumerate() {
                        *column = from_fn::<_, PANEL, _>(|lane| rows[lane][i]);
                    }
                },
            );
    }
    Ok(panels)
}

#[cfg(test)]
mod tests;
