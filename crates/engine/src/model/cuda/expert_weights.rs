//! The experts' weights on the device, in one of the formats that the grouped product takes
//! (`kernels/weight_formats.cuh`): as they are computed with, in e4m3, in MXFP4 where the checkpoint stores them so, or in the
//! codes that it stores.

use candle_core::{CudaDevice, DType, Tensor};

use super::array::Array;
use super::fragments::Fragments;
use super::grouped::{GroupedWeights, WeightFormat};
use super::mxfp4::{self, Stored};
use super::operations::{Operations, Quantised};
use crate::checkpoint::config::Experts;
use crate::checkpoint::tensors::ExpertNames;
use crate::model::ModelError;
use crate::model::tensor_reader::{Projection, TensorReader, gates_first};

/// Reads the experts of a layer.
pub(super) struct ExpertLoader<'a> {
    pub(super) checkpoint: &'a TensorReader<'a>,
    pub(super) names: &'a ExpertNames,
    pub(super) sizes: Experts,
    pub(super) cuda: &'a CudaDevice,
    pub(super) operations: &'a Operations,
    /// Whether weights that are not quantised already are to be quantised to e4m3.
    pub(super) fp8: bool,
    /// Whether weights in few bits stay as they are stored.
    pub(super) stored: bool,
}

const WHAT: &str = "the experts' weights";

impl ExpertLoader<'_> {
    /// Gate and up, and down.
    pub(super) fn load(&self) -> Result<[GroupedWeights; 2], ModelError> {
        if let Some(packed) = self.mxfp4()? {
            return Ok(packed);
        }
        if self.stored {
            match (self.codes()?, self.names) {
                (Some(codes), _) => return Ok(codes),
                (None, ExpertNames::Apart(names)) => {
                    for names in names {
                        self.checkpoint.may_be_widened(&names.gate_up)?;
                        self.checkpoint
                            .may_be_widened(std::slice::from_ref(&names.down))?;
                    }
                }
                (None, ExpertNames::Together { .. }) => {}
            }
        }
        if self.fp8 { self.e4m3() } else { self.plain() }
    }

    /// `(outputs, inputs)` of an expert's two products.
    fn shapes(&self) -> [(usize, usize); 2] {
        let (hidden, width) = (self.checkpoint.config.hidden, self.sizes.intermediate);
        [(2 * width, hidden), (hidden, width)]
    }

    fn expert(&self, index: usize) -> Result<(Projection, Projection), ModelError> {
        match self.names {
            ExpertNames::Apart(names) => self.checkpoint.gated(&names[index]),
            ExpertNames::Together { gate_up, down } => {
                self.checkpoint.expert(gate_up, down, &self.sizes, index)
            }
        }
    }

    fn plain(&self) -> Result<[GroupedWeights; 2], ModelError> {
        let (mut wide, mut narrow) = (Parts::default(), Parts::default());
        for index in 0..self.sizes.count {
            let ((gate_up, wide_bias), (down, narrow_bias)) = self.expert(index)?;
            wide.weights.push(gate_up);
            wide.biases.extend(wide_bias);
            narrow.weights.push(down);
            narrow.biases.extend(narrow_bias);
        }
        let [wide_shape, narrow_shape] = self.shapes();
        let finish = |parts: Parts, shape| {
            let values = Array::of(&Tensor::cat(&parts.weights, 0)?)?;
            parts.finish(WeightFormat::Plain, values, None, (self.sizes.count, shape))
        };
        Ok([finish(wide, wide_shape)?, finish(narrow, narrow_shape)?])
    }

    /// Quantises one expert after the other, so that only one is in memory in the wider type at a time.
    fn e4m3(&self) -> Result<[GroupedWeights; 2], ModelError> {
        let count = self.sizes.count;
        let room = |(outputs, inputs): (usize, usize)| -> Result<_, ModelError> {
            let values = count * outputs * inputs;
            Ok((
                Array::zeros(self.cuda, values, DType::F8E4M3, WHAT)?,
                Array::zeros(self.cuda, count * outputs, DType::F32, WHAT)?,
            ))
        };
        let [wide_shape, narrow_shape] = self.shapes();
        let (wide, narrow) = (room(wide_shape)?, room(narrow_shape)?);
        let (mut wide_parts, mut narrow_parts) = (Parts::default(), Parts::default());
        for index in 0..count {
            let quantise = |(values, scales): &(Array, Array), weight: &Tensor| {
                let (outputs, inputs) = weight.dims2()?;
                let size = outputs * inputs;
                let out = Quantised {
                    values: values.part(index * size..(index + 1) * size)?,
                    scales: scales.part(index * outputs..(index + 1) * outputs)?,
                };
                let weight = Array::of(weight)?;
                self.operations
                    .quantize_fragments(out, weight.all(), (outputs, inputs))
            };
            let ((gate_up, wide_bias), (down, narrow_bias)) = self.expert(index)?;
            quantise(&wide, &gate_up)?;
            quantise(&narrow, &down)?;
            wide_parts.biases.extend(wide_bias);
            narrow_parts.biases.extend(narrow_bias);
        }
        let e4m3 = WeightFormat::E4m3;
        Ok([
            wide_parts.finish(e4m3, wide.0, Some(wide.1), (count, wide_shape))?,
            narrow_parts.finish(e4m3, narrow.0, Some(narrow.1), (count, narrow_shape))?,
        ])
    }

    /// The experts in the codes that the checkpoint stores, if all are in codes of one kind.
    fn codes(&self) -> Result<Option<[GroupedWeights; 2]>, ModelError> {
        let ExpertNames::Apart(names) = self.names else {
            return Ok(None);
        };
        let mut parts = [Parts::default(), Parts::default()];
        let mut all = [None, None].map(|_: Option<()>| (None, Vec::new(), Vec::new()));
        for (index, names) in names.iter().enumerate() {
            let down = std::slice::from_ref(&names.down);
            for (names, (kind, codes, factors)) in
                [&names.gate_up[..], down].into_iter().zip(&mut all)
            {
                let Some(stored) = self.checkpoint.codes(names)? else {
                    return Ok(None);
                };
                let fits = *kind.get_or_insert(stored.kind) == stored.kind;
                let Some(some) = Fragments::of(&stored).filter(|_| fits) else {
                    return Ok(None);
                };
                codes.extend(some.codes);
                factors.extend(some.factors);
            }
            for (part, bias) in parts.iter_mut().zip(self.biases(index)?) {
                part.biases.extend(bias);
            }
        }
        let device = self.checkpoint.device;
        let finish =
            |parts: Parts, (kind, codes, factors): (Option<_>, Vec<u8>, Vec<f32>), shape| {
                let format = kind.map_or(WeightFormat::Plain, WeightFormat::Codes);
                let (bytes, count) = (codes.len(), factors.len());
                let values = Array::of(&Tensor::from_vec(codes, bytes, device)?)?;
                let factors = Array::of(&Tensor::from_vec(factors, count, device)?)?;
                parts.finish(format, values, Some(factors), (self.sizes.count, shape))
            };
        let ([wide, narrow], [wide_codes, narrow_codes]) = (parts, all);
        let [wide_shape, narrow_shape] = self.shapes();
        Ok(Some([
            finish(wide, wide_codes, wide_shape)?,
            finish(narrow, narrow_codes, narrow_shape)?,
        ]))
    }

    /// The experts in MXFP4, if all are stored so, with exponents that the type of the activations can hold.
    fn mxfp4(&self) -> Result<Option<[GroupedWeights; 2]>, ModelError> {
        let allowed = mxfp4::exponents(self.operations.dtype());
        let count = self.sizes.count;
        let shapes = self.shapes();
        let mut packed = shapes.map(|_| [Vec::new(), Vec::new()]);
        let mut parts = [Parts::default(), Parts::default()];
        for index in 0..count {
            let Some(stored) = self.stored_in_mxfp4(index)? else {
                return Ok(None);
            };
            // In gpt-oss' own files gate and up alternate.
            let sorted = gates_first(self.sizes.intermediate);
            let alternate = matches!(self.names, ExpertNames::Together { .. });
            for (part, ([blocks, exponents], shape)) in stored.iter().zip(shapes).enumerate() {
                let stored = Stored {
                    blocks,
                    exponents,
                    shape,
                };
                let [values, factors] = &mut packed[part];
                let [value_bytes, factor_bytes] = mxfp4::packed_bytes(shape);
                // Resized once: all experts of a layer lie in one array.
                values.resize(count * value_bytes, 0);
                factors.resize(count * factor_bytes, 0);
                let order = |row| {
                    if alternate && part == 0 {
                        sorted(row) as usize
                    } else {
                        row
                    }
                };
                if !stored.pack(
                    order,
                    &allowed,
                    &mut values[index * value_bytes..][..value_bytes],
                    &mut factors[index * factor_bytes..][..factor_bytes],
                ) {
                    return Ok(None);
                }
            }
            for (part, bias) in parts.iter_mut().zip(self.biases(index)?) {
                part.biases.extend(bias);
            }
        }
        let device = self.checkpoint.device;
        let bytes = |bytes: Vec<u8>| -> Result<Array, ModelError> {
            let length = bytes.len();
            Array::of(&Tensor::from_vec(bytes, length, device)?)
        };
        let [wide, narrow] = parts;
        let [[values, exponents], [narrow_values, narrow_exponents]] = packed;
        let finish = |parts: Parts, values, exponents, shape| {
            parts.finish(
                WeightFormat::Mxfp4,
                bytes(values)?,
                Some(bytes(exponents)?),
                (count, shape),
            )
        };
        Ok(Some([
            finish(wide, values, exponents, shapes[0])?,
            finish(narrow, narrow_values, narrow_exponents, shapes[1])?,
        ]))
    }

    /// Blocks and exponents of an expert's two weights, as they are stored.
    fn stored_in_mxfp4(&self, index: usize) -> Result<Option<[[Vec<u8>; 2]; 2]>, ModelError> {
        match self.names {
            ExpertNames::Together { gate_up, down } if self.sizes.mxfp4 => Ok(Some([
                self.checkpoint.mxfp4_bytes(gate_up, index)?,
                self.checkpoint.mxfp4_bytes(down, index)?,
            ])),
            ExpertNames::Together { .. } => Ok(None),
            ExpertNames::Apart(names) => {
                let names = &names[index];
                let side_by_side = |names: &[String]| -> Result<Option<[Vec<u8>; 2]>, ModelError> {
                    let mut all = [Vec::new(), Vec::new()];
                    for name in names {
                        let Some(parts) =
                            self.checkpoint.weights.mxfp4(&format!("{name}.weight"))?
                        else {
                            return Ok(None);
                        };
                        for (all, part) in all.iter_mut().zip(parts) {
                            all.extend(part);
                        }
                    }
                    Ok(Some(all))
                };
                let Some(wide) = side_by_side(&names.gate_up)? else {
                    return Ok(None);
                };
                let narrow = side_by_side(std::slice::from_ref(&names.down))?;
                Ok(narrow.map(|narrow| [wide, narrow]))
            }
        }
    }

    /// The biases of an expert's two products.
    fn biases(&self, index: usize) -> Result<[Option<Tensor>; 2], ModelError> {
        let checkpoint = self.checkpoint;
        match self.names {
            ExpertNames::Together { gate_up, down } => {
                let width = self.sizes.intermediate;
                Ok(checkpoint
                    .expert_biases(gate_up, down, width, index)?
                    .map(Some))
            }
            ExpertNames::Apart(_) if !checkpoint.config.biases.feed_forward => Ok([None, None]),
            ExpertNames::Apart(names) => {
                let down = std::slice::from_ref(&names[index].down);
                Ok([
                    Some(checkpoint.bias(&names[index].gate_up)?),
                    Some(checkpoint.bias(down)?),
                ])
            }
        }
    }
}

/// The parts of one product, gathered from expert to expert.
#[derive(Default)]
struct Parts {
    weights: Vec<Tensor>,
    biases: Vec<Tensor>,
}

impl Parts {
    fn finish(
        self,
        format: WeightFormat,
        values: Array,
        scales: Option<Array>,
        (experts, (outputs, inputs)): (usize, (usize, usize)),
    ) -> Result<GroupedWeights, ModelError> {
        Ok(GroupedWeights {
            format,
            values,
            scales,
            bias: if self.biases.is_empty() {
                None
            } else {
                Some(Array::of(&Tensor::cat(&self.biases, 0)?)?)
            },
            experts,
            outputs,
            inputs,
        })
    }
}
