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
use crate::checkpoint::tensors::{ExpertNames, GatedNames};
use crate::checkpoint::weights::{CodeKind, Codes};
use crate::model::Result;
use crate::model::precision::WeightType;
use crate::model::shard::Division;
use crate::model::tensor_reader::{Projection, TensorReader, gates_first};

pub(super) struct ExpertLoader<'a> {
    pub(super) checkpoint: &'a TensorReader<'a>,
    pub(super) names: &'a ExpertNames,
    pub(super) sizes: Experts,
    pub(super) cuda: &'a CudaDevice,
    pub(super) operations: &'a Operations,
    /// What weights that are not in MXFP4 are kept in.
    pub(super) layers: WeightType,
}

const WHAT: &str = "the experts' weights";

impl ExpertLoader<'_> {
    /// Gate and up, and down.
    pub(super) fn load(&self) -> Result<[GroupedWeights; 2]> {
        if let Some(packed) = self.mxfp4()? {
            return Ok(packed);
        }
        let as_stored = matches!(self.layers, WeightType::Stored { .. });
        let in_e4m3 = self.layers == WeightType::F8E4M3;
        if let (ExpertNames::Apart(names), true) = (self.names, as_stored || in_e4m3) {
            // Quantising what was quantised would round twice.
            if let Some(codes) = self.codes(names)? {
                return Ok(codes);
            }
            for names in names.iter().filter(|_| as_stored) {
                self.checkpoint.may_be_widened(&names.gate_up)?;
                let down = std::slice::from_ref(&names.down);
                self.checkpoint.may_be_widened(down)?;
            }
        }
        if in_e4m3 { self.e4m3() } else { self.plain() }
    }

    /// `(outputs, inputs)` of an expert's two products.
    fn shapes(&self) -> [(usize, usize); 2] {
        let (hidden, width) = (self.checkpoint.config.hidden, self.sizes.intermediate);
        [(2 * width, hidden), (hidden, width)]
    }

    fn expert(&self, index: usize) -> Result<(Projection, Projection)> {
        match self.names {
            ExpertNames::Apart(names) => self.checkpoint.gated(&names[index]),
            ExpertNames::Together { gate_up, down } => {
                self.checkpoint.expert(gate_up, down, &self.sizes, index)
            }
        }
    }

    fn plain(&self) -> Result<[GroupedWeights; 2]> {
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
            let values = Array::from_tensor(&Tensor::cat(&parts.weights, 0)?)?;
            parts.finish(WeightFormat::Plain, values, None, (self.sizes.count, shape))
        };
        Ok([finish(wide, wide_shape)?, finish(narrow, narrow_shape)?])
    }

    /// Quantises one expert after the other, so that only one is in memory in the wider type at a time.
    fn e4m3(&self) -> Result<[GroupedWeights; 2]> {
        let count = self.sizes.count;
        let room = |(outputs, inputs): (usize, usize)| -> Result<_> {
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
                let weight = Array::from_tensor(weight)?;
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

    /// The experts in the codes that the checkpoint stores, if all are in codes of one kind; where they are to be in e4m3, if they are
    /// and have scales of outputs.
    fn codes(&self, names: &[GatedNames]) -> Result<Option<[GroupedWeights; 2]>> {
        let in_e4m3 = self.layers == WeightType::F8E4M3;
        let mut parts = [CodedParts::default(), CodedParts::default()];
        for (index, names) in names.iter().enumerate() {
            let down = std::slice::from_ref(&names.down);
            let width = self.sizes.intermediate;
            let divisions = [Division::Outputs(&[width; 2]), Division::Inputs(width)];
            let of_products = [&names.gate_up[..], down].into_iter().zip(divisions);
            for ((names, division), part) in of_products.zip(&mut parts) {
                if in_e4m3 && !self.checkpoint.scales_are_of_outputs(names)? {
                    return Ok(None);
                }
                let Some(stored) = self.checkpoint.codes(names, division)? else {
                    return Ok(None);
                };
                if !part.add(&stored, in_e4m3) {
                    return Ok(None);
                }
            }
            for (part, bias) in parts.iter_mut().zip(self.biases(index)?) {
                part.others.biases.extend(bias);
            }
        }
        let [wide, narrow] = parts;
        let [wide_shape, narrow_shape] = self.shapes();
        let wide = wide.finish(in_e4m3, self, wide_shape)?;
        let narrow = narrow.finish(in_e4m3, self, narrow_shape)?;
        Ok(wide.zip(narrow).map(|(wide, narrow)| [wide, narrow]))
    }

    /// The experts in MXFP4, if all are stored so, with exponents that the type of the activations can hold.
    fn mxfp4(&self) -> Result<Option<[GroupedWeights; 2]>> {
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
        let bytes = |bytes: Vec<u8>| -> Result<Array> {
            let length = bytes.len();
            Array::from_tensor(&Tensor::from_vec(bytes, length, device)?)
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

    /// Blocks and exponents of this GPU's part of an expert's two weights.
    fn stored_in_mxfp4(&self, index: usize) -> Result<Option<[[Vec<u8>; 2]; 2]>> {
        let shard = self.checkpoint.shard;
        let Some([wide, narrow]) = self.whole_in_mxfp4(index)? else {
            return Ok(None);
        };
        if shard.is_whole() {
            return Ok(Some([wide, narrow]));
        }
        shard.check_mxfp4(self.checkpoint.config)?;
        // Gate and up alternate, or lie one after the other.
        let parts = match self.names {
            ExpertNames::Together { .. } => 1,
            ExpertNames::Apart(_) => 2,
        };
        let hidden = self.checkpoint.config.hidden;
        Ok(Some([
            wide.map(|bytes| shard.part_of_each(&bytes, parts)),
            narrow.map(|bytes| shard.part_of_each(&bytes, hidden)),
        ]))
    }

    /// Blocks and exponents of an expert's two weights, as they are stored.
    fn whole_in_mxfp4(&self, index: usize) -> Result<Option<[[Vec<u8>; 2]; 2]>> {
        match self.names {
            ExpertNames::Together { gate_up, down } if self.sizes.mxfp4 => Ok(Some([
                self.checkpoint.mxfp4_bytes(gate_up, index)?,
                self.checkpoint.mxfp4_bytes(down, index)?,
            ])),
            ExpertNames::Together { .. } => Ok(None),
            ExpertNames::Apart(names) => {
                let names = &names[index];
                let side_by_side = |names: &[String]| -> Result<Option<[Vec<u8>; 2]>> {
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

    fn biases(&self, index: usize) -> Result<[Option<Tensor>; 2]> {
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
                let width = self.sizes.intermediate;
                let outputs = Division::Outputs(&[width; 2]);
                Ok([
                    Some(checkpoint.part_of_bias(&names[index].gate_up, outputs)?),
                    Some(checkpoint.part_of_bias(down, Division::Inputs(width))?),
                ])
            }
        }
    }
}

/// The codes of one product, gathered from expert to expert.
#[derive(Default)]
struct CodedParts {
    kind: Option<CodeKind>,
    codes: Vec<u8>,
    factors: Vec<f32>,
    others: Parts,
}

impl CodedParts {
    /// Adds an expert's; false if it does not fit. `in_e4m3` has a factor for each output.
    fn add(&mut self, stored: &Codes, in_e4m3: bool) -> bool {
        let fits = *self.kind.get_or_insert(stored.kind) == stored.kind;
        let Some(fragments) = Fragments::from_codes(stored).filter(|_| fits) else {
            return false;
        };
        let factors = if in_e4m3 {
            stored.by_output()
        } else {
            Some(fragments.factors)
        };
        self.codes.extend(fragments.codes);
        self.factors.extend(factors.iter().flatten());
        factors.is_some()
    }

    fn finish(
        self,
        in_e4m3: bool,
        loader: &ExpertLoader,
        shape: (usize, usize),
    ) -> Result<Option<GroupedWeights>> {
        let Some(kind) = self.kind else {
            return Ok(None);
        };
        let device = loader.checkpoint.device;
        let (format, dtype) = if in_e4m3 {
            (WeightFormat::E4m3, DType::F8E4M3)
        } else {
            (WeightFormat::Codes(kind), DType::U8)
        };
        let count = self.factors.len();
        let values = Tensor::from_raw_buffer(&self.codes, dtype, &[self.codes.len()], device)?;
        let factors = Array::from_tensor(&Tensor::from_vec(self.factors, count, device)?)?;
        let size = (loader.sizes.count, shape);
        let finished =
            self.others
                .finish(format, Array::from_tensor(&values)?, Some(factors), size)?;
        Ok(Some(finished))
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
    ) -> Result<GroupedWeights> {
        Ok(GroupedWeights {
            format,
            values,
            scales,
            bias: if self.biases.is_empty() {
                None
            } else {
                Some(Array::from_tensor(&Tensor::cat(&self.biases, 0)?)?)
            },
            experts,
            outputs,
            inputs,
        })
    }
}
