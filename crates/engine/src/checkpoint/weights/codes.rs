//! Weights of few bits as a checkpoint stores them, for kernels that multiply with them: FP8 of all kinds, whole numbers of four bits.

#[cfg(any(test, feature = "cuda"))]
use std::ops::Range;

use candle_core::DType;
use rayon::prelude::*;

use super::computed::Computed;
use super::{StoredTensor, Weights, random};
use crate::checkpoint::Result;
use crate::checkpoint::config::Quantization;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeKind {
    E4m3,
    /// A whole number from 0 to 15, from which the four lowest bits of its factor are subtracted; the rest has at most 16.
    Int4,
}

impl CodeKind {
    /// The codes of layers that are stored so; `None` if there are none for them.
    pub(crate) fn from_quantization(quantization: Quantization) -> Option<Self> {
        match quantization {
            Quantization::Fp8(_) => Some(Self::E4m3),
            Quantization::Integers(form) => (form.bits == 4).then_some(Self::Int4),
        }
    }

    /// How many neighbouring inputs have one factor.
    pub fn inputs_of_factor(self) -> usize {
        match self {
            Self::E4m3 => 64,
            Self::Int4 => 32,
        }
    }

    /// Bits of a weight in a GPU's memory, its share of a factor included.
    pub fn bits(self) -> f64 {
        let code = match self {
            Self::E4m3 => 8.0,
            Self::Int4 => 4.0,
        };
        code + 32.0 / self.inputs_of_factor() as f64
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Codes {
    pub kind: CodeKind,
    pub shape: [usize; 2],
    /// `[outputs, inputs]`, a byte each.
    pub codes: Vec<u8>,
    /// What codes are multiplied by: `[outputs, up(inputs, inputs of a factor)]`.
    pub factors: Vec<f32>,
}

impl Codes {
    /// Joins the outputs of several; `None` if their kinds or inputs differ.
    pub fn side_by_side(parts: Vec<Self>) -> Option<Self> {
        let mut parts = parts.into_iter();
        let mut all = parts.next()?;
        for part in parts {
            if (part.kind, part.shape[1]) != (all.kind, all.shape[1]) {
                return None;
            }
            all.shape[0] += part.shape[0];
            all.codes.extend(part.codes);
            all.factors.extend(part.factors);
        }
        Some(all)
    }

    /// The outputs in another order.
    ///
    /// # Panics
    /// When `order` names an output that there is not.
    #[must_use]
    pub fn in_order(&self, order: &[usize]) -> Self {
        let [outputs, inputs] = self.shape;
        let across = self.factors.len() / outputs.max(1);
        let rows = |row: &usize| self.codes[row * inputs..][..inputs].iter().copied();
        let factors = |row: &usize| self.factors[row * across..][..across].iter().copied();
        Self {
            kind: self.kind,
            shape: [order.len(), inputs],
            codes: order.iter().flat_map(rows).collect(),
            factors: order.iter().flat_map(factors).collect(),
        }
    }

    /// Some of the inputs; `None` where factors are of more than these.
    #[cfg(any(test, feature = "cuda"))]
    pub(crate) fn some_inputs(&self, range: &Range<usize>) -> Option<Self> {
        let [outputs, inputs] = self.shape;
        let per = self.kind.inputs_of_factor();
        let across = inputs.div_ceil(per);
        let whole = range.start.is_multiple_of(per)
            && (range.end.is_multiple_of(per) || range.end == inputs);
        // One factor for all inputs is as good for some.
        let factors = if whole {
            range.start / per..range.end.div_ceil(per)
        } else {
            self.by_output()?;
            0..range.len().div_ceil(per)
        };
        let rows = 0..outputs;
        Some(Self {
            kind: self.kind,
            shape: [outputs, range.len()],
            codes: rows
                .clone()
                .flat_map(|row| &self.codes[row * inputs..][range.clone()])
                .copied()
                .collect(),
            factors: rows
                .flat_map(|row| &self.factors[row * across..][factors.clone()])
                .copied()
                .collect(),
        })
    }

    /// The factor of each output, if it is the same for all inputs.
    pub fn by_output(&self) -> Option<Vec<f32>> {
        let across = (self.factors.len() / self.shape[0].max(1)).max(1);
        let one = |factors: &[f32]| {
            let same = factors.iter().all(|f| f.to_bits() == factors[0].to_bits());
            same.then_some(factors[0])
        };
        self.factors.chunks(across).map(one).collect()
    }
}

/// Whether a matrix is a layer's, and no router: what can stay in few bits. Embeddings, head and routers are always widened.
pub(super) fn is_of_layer(name: &str, shape: &[usize]) -> bool {
    let router = name.ends_with(".gate.weight") || name.contains("router");
    shape.len() == 2 && name.contains("layers.") && !router
}

impl StoredTensor {
    /// Whether it is in FP8 with one scale for each output, or for all.
    #[cfg(feature = "cuda")]
    pub(crate) fn has_scales_of_outputs(&self) -> bool {
        let computed = self.computed.as_deref();
        matches!(computed, Some(Computed::Scaled { values, block, .. }) if block[1] >= values.shape[1])
    }

    /// Bits that a matrix takes in a GPU's memory if it is kept as it is stored; `None` for one that [`Codes`] cannot hold. Whether
    /// the groups of whole numbers are of neighbours is known only once they are read.
    pub(crate) fn bits_of_codes(&self) -> Option<f64> {
        match self.computed.as_deref()? {
            Computed::Scaled { values, .. } if values.dtype == DType::F8E4M3 => {
                Some(CodeKind::E4m3.bits())
            }
            Computed::Integers(integers) if integers.form.bits == 4 => Some(CodeKind::Int4.bits()),
            Computed::Random(kind) => Some(kind.bits()),
            _ => None,
        }
    }
}

impl Weights {
    /// Bits of a number of the matrices, on average, if what NVIDIA GPUs can keep in few bits stays so and all else is widened to
    /// 16; `None` if there is nothing to keep.
    pub(crate) fn bits_if_kept(&self) -> Option<f64> {
        let matrices = self
            .tensors
            .iter()
            .filter(|(_, tensor)| tensor.shape.len() > 1);
        let (mut bits, mut numbers, mut any) = (0.0, 0.0, false);
        for (name, tensor) in matrices {
            let kept = tensor.bits_of_codes();
            let kept = kept.filter(|_| is_of_layer(name, &tensor.shape));
            any |= kept.is_some();
            let count = tensor.shape.iter().product::<usize>() as f64;
            bits += count * kept.unwrap_or(16.0);
            numbers += count;
        }
        any.then_some(bits / numbers)
    }

    /// A matrix as it is stored, if in few bits in a way that [`Codes`] can hold.
    pub fn codes(&self, name: &str) -> Result<Option<Codes>> {
        let tensor = self.stored(name)?;
        match tensor.computed.as_deref() {
            Some(Computed::Random(kind)) => {
                let seed = self.random.unwrap_or_default();
                Ok(random::codes(seed, name, *kind, &tensor.shape))
            }
            Some(Computed::Scaled {
                values,
                scales,
                block,
            }) => self.scaled_codes(name, values, scales, *block),
            Some(Computed::Integers(integers)) => self.integer_codes(name, integers),
            Some(Computed::Adapted { .. } | Computed::Columns { .. } | Computed::OneMore(_))
            | None => Ok(None),
        }
    }

    /// FP8 with a scale for each block of `[rows, columns]`.
    fn scaled_codes(
        &self,
        name: &str,
        values: &StoredTensor,
        scales: &StoredTensor,
        [rows, columns]: [usize; 2],
    ) -> Result<Option<Codes>> {
        let kind = CodeKind::E4m3;
        let per = kind.inputs_of_factor();
        let [outputs, inputs] = values.shape[..] else {
            return Ok(None);
        };
        let whole = columns >= inputs || columns.is_multiple_of(per);
        if values.dtype != DType::F8E4M3 || !whole {
            return Ok(None);
        }
        let scales = self
            .numbers(name, scales)?
            .flatten_all()?
            .to_vec1::<f32>()?;
        let across = inputs.div_ceil(columns);
        let factors = (0..outputs)
            .into_par_iter()
            .flat_map_iter(|output| {
                let of_row = &scales[output / rows * across..][..across];
                (0..inputs)
                    .step_by(per)
                    .map(move |input| of_row[input / columns])
            })
            .collect();
        Ok(Some(Codes {
            kind,
            shape: [outputs, inputs],
            codes: self.bytes(name, values)?,
            factors,
        }))
    }
}
