//! Weights of whole numbers of four or eight bits, several to a word of 32, as GPTQ, AWQ and compressed-tensors store them:
//! a number is `scale · (q − zero)`, with a scale and a zero for each output and each group of inputs.

use candle_core::{DType, Tensor};
use rayon::prelude::*;

use super::{StoredTensor, Weights};
use crate::checkpoint::CheckpointError;

/// How many outputs are unpacked at a time: those of a word in AWQ's layout, and of a line of the cache in GPTQ's.
const ROWS: usize = 16;

/// Which nibble of a word holds which of eight outputs in AWQ's layout.
const AWQ_ORDER: [u32; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

/// How whole numbers lie in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// GPTQ: words `[inputs / n, outputs]` of neighbouring inputs; scales `[groups, outputs]`; zeros `[groups, outputs / n]`,
    /// less one in its first format.
    Gptq {
        /// What is added to a stored zero.
        offset: u32,
    },
    /// AWQ's `gemm`: words `[inputs, outputs / n]` of eight outputs in an order of their own; scales and zeros likewise.
    Awq,
    /// compressed-tensors: words `[outputs, inputs / n]`; scales `[outputs, groups]`; zeros `[outputs / n, groups]`, or half of
    /// the range.
    Rows,
}

/// A weight of whole numbers.
pub(super) struct Integers {
    pub(super) layout: Layout,
    /// Four or eight.
    pub(super) bits: usize,
    pub(super) words: StoredTensor,
    pub(super) scales: StoredTensor,
    pub(super) zeros: Option<StoredTensor>,
    /// The group of each input, where it is not that of its place.
    pub(super) groups: Option<StoredTensor>,
}

impl Integers {
    /// The weight's shape, `[outputs, inputs]`; `None` if the parts do not fit each other.
    pub(super) fn shape(&self) -> Option<[usize; 2]> {
        let each = 32 / self.bits;
        let two = |tensor: &StoredTensor| <[usize; 2]>::try_from(tensor.shape.as_slice()).ok();
        let (words, scales) = (two(&self.words)?, two(&self.scales)?);
        let zeros = match &self.zeros {
            Some(zeros) => Some(two(zeros)?),
            None => None,
        };
        let ([outputs, inputs], [groups, of], packed) = match self.layout {
            Layout::Gptq { .. } => (
                [words[1], words[0] * each],
                scales,
                [scales[0], words[1].div_ceil(each)],
            ),
            Layout::Awq => ([words[1] * each, words[0]], scales, [scales[0], words[1]]),
            Layout::Rows => (
                [words[0], words[1] * each],
                [scales[1], scales[0]],
                [words[0].div_ceil(each), scales[1]],
            ),
        };
        let whole = outputs > 0 && inputs > 0 && groups > 0;
        let fits = of == outputs && zeros.is_none_or(|zeros| zeros == packed);
        let grouped = match &self.groups {
            Some(groups) => groups.shape == [inputs],
            None => whole && inputs.is_multiple_of(groups),
        };
        let types = self.words.dtype == DType::I32
            && self
                .zeros
                .iter()
                .chain(&self.groups)
                .all(|tensor| tensor.dtype == DType::I32);
        (whole && fits && grouped && types).then_some([outputs, inputs])
    }
}

impl Weights {
    /// The numbers of a weight, `[outputs, inputs]`.
    pub(super) fn integers(
        &self,
        name: &str,
        integers: &Integers,
    ) -> Result<Tensor, CheckpointError> {
        let [outputs, inputs] = integers
            .shape()
            .ok_or_else(|| self.mismatch(format!("{name}: its parts do not fit each other")))?;
        let words = |tensor: &StoredTensor| -> Result<Vec<u32>, CheckpointError> {
            let bytes = self.bytes(name, tensor)?;
            let words = bytes.as_chunks::<4>().0.iter();
            Ok(words.map(|word| u32::from_le_bytes(*word)).collect())
        };
        let (bits, each) = (integers.bits, 32 / integers.bits);
        let mask = (1u32 << bits) - 1;
        let values = words(&integers.words)?;
        let zeros = integers.zeros.as_ref().map(words).transpose()?;
        let scales = self
            .numbers(name, &integers.scales)?
            .flatten_all()?
            .to_vec1::<f32>()?;
        let groups = scales.len() / outputs;
        let group_of: Vec<u32> = match &integers.groups {
            Some(tensor) => words(tensor)?,
            None => (0..inputs)
                .map(|input| (input / (inputs / groups)) as u32)
                .collect(),
        };
        if let Some(group) = group_of.iter().find(|group| **group as usize >= groups) {
            return Err(self.mismatch(format!(
                "{name}: an input is of group {group}, and there are {groups}"
            )));
        }
        let part = |word: u32, place: usize| (word >> (bits * place)) & mask;
        let awq = |place: usize| AWQ_ORDER[place % AWQ_ORDER.len()] as usize;
        // By layout: the whole number of an output and an input, the zero and the place of the scale of an output and a group.
        let value = |output: usize, input: usize| match integers.layout {
            Layout::Gptq { .. } => part(values[input / each * outputs + output], input % each),
            Layout::Awq => part(
                values[input * (outputs / each) + output / each],
                awq(output),
            ),
            Layout::Rows => part(
                values[output * (inputs / each) + input / each],
                input % each,
            ),
        };
        let zero = |output: usize, group: usize| match (integers.layout, &zeros) {
            (Layout::Gptq { offset }, Some(zeros)) => {
                (part(
                    zeros[group * outputs.div_ceil(each) + output / each],
                    output % each,
                ) + offset)
                    & mask
            }
            (Layout::Awq, Some(zeros)) => {
                part(zeros[group * (outputs / each) + output / each], awq(output))
            }
            (Layout::Rows, Some(zeros)) => {
                part(zeros[output / each * groups + group], output % each)
            }
            (_, None) => 1 << (bits - 1),
        };
        let scale = |output: usize, group: usize| match integers.layout {
            Layout::Rows => scales[output * groups + group],
            _ => scales[group * outputs + output],
        };
        let mut numbers = vec![0.0f32; outputs * inputs];
        numbers
            .par_chunks_mut(ROWS * inputs)
            .enumerate()
            .for_each(|(chunk, numbers)| {
                let rows = numbers.len() / inputs;
                let first = chunk * ROWS;
                let of_group = |group: usize| {
                    (first..first + rows)
                        .map(move |output| (zero(output, group) as f32, scale(output, group)))
                };
                let by_group: Vec<(f32, f32)> = (0..groups).flat_map(of_group).collect();
                for (input, group) in group_of.iter().enumerate() {
                    let by_row = &by_group[*group as usize * rows..][..rows];
                    for (row, (zero, scale)) in by_row.iter().enumerate() {
                        // The difference is a whole number of at most eight bits, so exact.
                        let whole = value(first + row, input) as f32 - zero;
                        numbers[row * inputs + input] = whole * scale;
                    }
                }
            });
        Ok(Tensor::from_vec(
            numbers,
            (outputs, inputs),
            &candle_core::Device::Cpu,
        )?)
    }
}
