//! Weights of whole numbers of four or eight bits, several to a word of 32, as GPTQ, AWQ and compressed-tensors store them:
//! a number is `scale · (q − zero)`, with a scale and a zero for each output and each group of inputs.

use candle_core::Tensor;
use rayon::prelude::*;

use super::{CodeKind, Codes, StoredTensor, Weights};
use crate::checkpoint::Result;
use crate::checkpoint::config::{IntegerForm, Zeros};

/// How many outputs are unpacked at a time: those of a word in AWQ's layout, and of a line of the cache in GPTQ's.
const ROWS: usize = 16;

/// Which nibble of a word holds which of eight outputs in AWQ's layout.
const AWQ_ORDER: [u32; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

/// How whole numbers lie in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// GPTQ: words `[inputs / n, outputs]` of neighbouring inputs; scales `[groups, outputs]`; zeros `[groups, outputs / n]`, less one in its first format.
    Gptq {
        /// What is added to a stored zero.
        offset: u32,
    },
    /// AWQ's `gemm`: words `[inputs, outputs / n]` of eight outputs in an order of their own; scales and zeros likewise.
    Awq,
    /// compressed-tensors: words `[outputs, inputs / n]`; scales `[outputs, groups]`; zeros `[outputs / n, groups]`, or half of the range.
    Rows,
}

pub(super) struct Integers {
    pub(super) form: IntegerForm,
    pub(super) shape: [usize; 2],
    pub(super) words: StoredTensor,
    pub(super) scales: StoredTensor,
    pub(super) zeros: Option<StoredTensor>,
    /// Which group each input belongs to; `None` if groups are neighbours.
    pub(super) groups: Option<StoredTensor>,
}

impl Layout {
    /// The ends of the names of numbers, scales, zero points, and groups of inputs.
    pub(super) fn names(self) -> [&'static str; 4] {
        match self {
            Self::Gptq { .. } | Self::Awq => ["qweight", "scales", "qzeros", "g_idx"],
            Self::Rows => [
                "weight_packed",
                "weight_scale",
                "weight_zero_point",
                "weight_g_idx",
            ],
        }
    }
}

impl IntegerForm {
    /// Outputs and inputs of a weight whose words have this shape.
    pub(super) fn size(&self, words: &[usize]) -> Option<[usize; 2]> {
        let each = 32 / self.bits;
        let [rows, columns] = *words else { return None };
        let size = match self.layout {
            Layout::Gptq { .. } => [columns, rows * each],
            Layout::Awq => [columns * each, rows],
            Layout::Rows => [rows, columns * each],
        };
        (rows > 0 && columns > 0).then_some(size)
    }

    /// How many groups there are of so many inputs.
    fn groups(&self, inputs: usize) -> usize {
        self.group.map_or(1, |group| inputs.div_ceil(group))
    }

    /// The group of an input where neighbours are together.
    fn neighbours(&self, input: usize) -> u32 {
        self.group.map_or(0, |group| input / group) as u32
    }

    /// The shapes of scales and zero points.
    pub(super) fn shapes(&self, [outputs, inputs]: [usize; 2]) -> [[usize; 2]; 2] {
        let (each, groups) = (32 / self.bits, self.groups(inputs));
        let packed = outputs.div_ceil(each);
        match self.layout {
            Layout::Gptq { .. } | Layout::Awq => [[groups, outputs], [groups, packed]],
            Layout::Rows => [[outputs, groups], [packed, groups]],
        }
    }
}

/// A weight of whole numbers, read.
struct Unpacked {
    form: IntegerForm,
    outputs: usize,
    inputs: usize,
    words: Vec<u32>,
    zeros: Option<Vec<u32>>,
    scales: Vec<f32>,
    groups: usize,
    group_of: Vec<u32>,
}

impl Unpacked {
    /// How many numbers a word has.
    fn each(&self) -> usize {
        32 / self.form.bits
    }

    fn part(&self, word: u32, place: usize) -> u32 {
        (word >> (self.form.bits * place)) & self.mask()
    }

    fn mask(&self) -> u32 {
        (1 << self.form.bits) - 1
    }

    /// The whole number of an output and an input.
    fn value(&self, output: usize, input: usize) -> u32 {
        let each = self.each();
        match self.form.layout {
            Layout::Gptq { .. } => self.part(
                self.words[input / each * self.outputs + output],
                input % each,
            ),
            Layout::Awq => self.part(
                self.words[input * (self.outputs / each) + output / each],
                awq_place(output),
            ),
            Layout::Rows => self.part(
                self.words[output * (self.inputs / each) + input / each],
                input % each,
            ),
        }
    }

    fn zero(&self, output: usize, group: usize) -> u32 {
        let each = self.each();
        match (self.form.layout, &self.zeros) {
            (Layout::Gptq { offset }, Some(zeros)) => {
                let word = zeros[group * self.outputs.div_ceil(each) + output / each];
                (self.part(word, output % each) + offset) & self.mask()
            }
            (Layout::Awq, Some(zeros)) => self.part(
                zeros[group * (self.outputs / each) + output / each],
                awq_place(output),
            ),
            (Layout::Rows, Some(zeros)) => {
                self.part(zeros[output / each * self.groups + group], output % each)
            }
            (_, None) => 1 << (self.form.bits - 1),
        }
    }

    fn scale(&self, output: usize, group: usize) -> f32 {
        match self.form.layout {
            Layout::Rows => self.scales[output * self.groups + group],
            _ => self.scales[group * self.outputs + output],
        }
    }
}

fn awq_place(output: usize) -> usize {
    AWQ_ORDER[output % AWQ_ORDER.len()] as usize
}

impl Weights {
    pub(super) fn words(&self, name: &str, tensor: &StoredTensor) -> Result<Vec<u32>> {
        let bytes = self.bytes(name, tensor)?;
        let words = bytes.as_chunks::<4>().0.iter();
        Ok(words.map(|word| u32::from_le_bytes(*word)).collect())
    }

    fn unpacked(&self, name: &str, integers: &Integers) -> Result<Unpacked> {
        let (form, [outputs, inputs]) = (integers.form, integers.shape);
        let words = |tensor: &StoredTensor| self.words(name, tensor);
        let scales = self
            .numbers(name, &integers.scales)?
            .flatten_all()?
            .to_vec1::<f32>()?;
        let read = Unpacked {
            form,
            outputs,
            inputs,
            words: words(&integers.words)?,
            zeros: integers.zeros.as_ref().map(words).transpose()?,
            scales,
            groups: form.groups(inputs),
            group_of: match &integers.groups {
                Some(tensor) => words(tensor)?,
                None => (0..inputs).map(|input| form.neighbours(input)).collect(),
            },
        };
        let middle = 1 << (form.bits - 1);
        let is_middle = |group| (0..outputs).all(|output| read.zero(output, group) == middle);
        if form.zeros == Zeros::StoredMiddle && !(0..read.groups).all(is_middle) {
            let [.., zeros, _] = form.layout.names();
            return Err(self.mismatch(format!(
                "{}.{zeros} has zero points other than {middle}, and quantization_config says that weights are symmetric (sym)",
                name.trim_end_matches(".weight")
            )));
        }
        Ok(read)
    }

    /// Checks a tensor that says which group each input belongs to.
    pub(super) fn check_groups(
        &self,
        name: &str,
        form: &IntegerForm,
        tensor: &StoredTensor,
    ) -> Result<()> {
        let group_of = self.words(name, tensor)?;
        let groups = form.groups(group_of.len());
        if let Some(group) = group_of.iter().find(|group| **group as usize >= groups) {
            return Err(self.mismatch(format!(
                "{name}: an input is of group {group}, and there are {groups}"
            )));
        }
        let in_order = |(input, group): (usize, &u32)| *group == form.neighbours(input);
        if !form.ordered && !group_of.iter().enumerate().all(in_order) {
            return Err(self.mismatch(format!(
                "{name} has groups of other inputs than neighbours, and quantization_config says that there are none such (desc_act)"
            )));
        }
        Ok(())
    }

    /// The numbers of a weight, `[outputs, inputs]`.
    pub(super) fn integers(&self, name: &str, integers: &Integers) -> Result<Tensor> {
        let read = self.unpacked(name, integers)?;
        let (outputs, inputs) = (read.outputs, read.inputs);
        let mut numbers = vec![0.0f32; outputs * inputs];
        numbers
            .par_chunks_mut(ROWS * inputs)
            .enumerate()
            .for_each(|(chunk, numbers)| {
                let rows = numbers.len() / inputs;
                let first = chunk * ROWS;
                let of_group = |group: usize| {
                    let read = &read;
                    (first..first + rows).map(move |output| {
                        (read.zero(output, group) as f32, read.scale(output, group))
                    })
                };
                let by_group: Vec<(f32, f32)> = (0..read.groups).flat_map(of_group).collect();
                for (input, group) in read.group_of.iter().enumerate() {
                    let by_row = &by_group[*group as usize * rows..][..rows];
                    for (row, (zero, scale)) in by_row.iter().enumerate() {
                        // The difference is a whole number of at most eight bits, so exact.
                        let whole = read.value(first + row, input) as f32 - zero;
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

    /// A weight's numbers as they are stored; `None` if [`Codes`] cannot hold them: eight bits, groups of other inputs than 32
    /// neighbours, scales with more than 16 bits.
    pub(super) fn integer_codes(&self, name: &str, integers: &Integers) -> Result<Option<Codes>> {
        if integers.form.bits != 4 {
            return Ok(None);
        }
        let read = self.unpacked(name, integers)?;
        let kind = CodeKind::Int4;
        let per = kind.inputs_of_factor();
        let neighbours = |groups: &[u32]| groups.iter().all(|group| *group == groups[0]);
        if !read.group_of.chunks(per).all(neighbours) {
            return Ok(None);
        }
        let (outputs, inputs) = (read.outputs, read.inputs);
        let mut codes = vec![0u8; outputs * inputs];
        codes
            .par_chunks_mut(ROWS * inputs)
            .enumerate()
            .for_each(|(chunk, codes)| {
                for input in 0..inputs {
                    for row in 0..codes.len() / inputs {
                        codes[row * inputs + input] = read.value(chunk * ROWS + row, input) as u8;
                    }
                }
            });
        let groups: Vec<usize> = read
            .group_of
            .iter()
            .step_by(per)
            .map(|group| *group as usize)
            .collect();
        let factors: Option<Vec<f32>> = (0..outputs)
            .flat_map(|output| groups.iter().map(move |group| (output, *group)))
            .map(|(output, group)| {
                let scale = read.scale(output, group).to_bits();
                // What is stored in 16 bits leaves these eight free.
                (scale.trailing_zeros() >= 8)
                    .then(|| f32::from_bits(scale | read.zero(output, group)))
            })
            .collect();
        Ok(factors.map(|factors| Codes {
            kind,
            shape: [outputs, inputs],
            codes,
            factors,
        }))
    }
}
