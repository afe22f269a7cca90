//! Puts together the weights of checkpoints that store linear layers in few bits: FP8, GPTQ, AWQ, compressed-tensors. Every tensor that a format implies must
//! be there, in its type and shape, and none may contradict the configuration: a weight read without one of them would be other numbers.

use std::collections::BTreeSet;

use candle_core::DType;

use super::computed::Computed;
use super::integers::Integers;
use super::{Layout, RowOrder, StoredTensor, Weights};
use crate::checkpoint::config::{Fp8Scales, IntegerForm, Quantization, Zeros};
use crate::checkpoint::tensors::expected_tensors;
use crate::checkpoint::{ModelConfig, Result};

/// Endings of tensors that say how to round activations, keys and values, which is not done here.
const WITHOUT_EFFECT: &str = ".input_scale .output_scale .activation_scale .k_scale .v_scale";

const NUMBERS: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

const FP8_SCALES: [&str; 2] = ["weight_scale_inv", "weight_scale"];

impl StoredTensor {
    /// A tensor of this shape that is computed from stored ones of `bytes` bytes.
    pub(super) fn computed(shape: Vec<usize>, bytes: usize, computed: Computed) -> Self {
        Self {
            shard: 0,
            dtype: DType::F32,
            shape,
            offset: 0,
            bytes,
            blocks: None,
            rows: RowOrder::Stored,
            computed: Some(Box::new(computed)),
        }
    }
}

impl Weights {
    /// Puts a tensor `NAME.weight` in the place of each linear layer's parts.
    /// Errors: [`CheckpointError::Mismatch`](crate::checkpoint::CheckpointError::Mismatch) naming a layer whose parts do not fit each other.
    pub(super) fn combine(
        &mut self,
        quantization: Quantization,
        config: &ModelConfig,
    ) -> Result<()> {
        let expected = expected_tensors(config).into_iter().map(|(name, _)| name);
        let expected: BTreeSet<String> = expected.collect();
        let has_effect = |name: &str| !WITHOUT_EFFECT.split(' ').any(|end| name.ends_with(end));
        self.tensors.retain(|name, _| has_effect(name));
        let ending = match quantization {
            Quantization::Fp8(_) => ".weight".to_owned(),
            Quantization::Integers(form) => format!(".{}", form.layout.names()[0]),
        };
        let layers = self.tensors.iter().filter_map(|(name, tensor)| {
            let fp8 = tensor.dtype == DType::F8E4M3;
            let layer = name.strip_suffix(&ending)?;
            (ending != ".weight" || fp8).then(|| layer.to_owned())
        });
        for layer in layers.collect::<Vec<_>>() {
            let tensor = match quantization {
                Quantization::Fp8(scales) => self.scaled(&layer, scales)?,
                Quantization::Integers(form) => self.packed(&layer, form)?,
            };
            if self.tensors.contains_key(&format!("{layer}.weight")) {
                return Err(self.mismatch(format!(
                    "{layer} is stored twice: as {layer}.weight, and as {layer}{ending}"
                )));
            }
            self.tensors.insert(format!("{layer}.weight"), tensor);
            // GPTQ's tools write a bias of zeros where a layer has none.
            let bias = format!("{layer}.bias");
            if let Some(stored) = self
                .tensors
                .get(&bias)
                .filter(|_| !expected.contains(&bias))
            {
                let numbers = self
                    .numbers(&bias, stored)?
                    .flatten_all()?
                    .to_vec1::<f32>()?;
                if numbers.iter().all(|number| *number == 0.0) {
                    self.tensors.remove(&bias);
                }
            }
        }
        Ok(())
    }

    /// Takes out a part of a weight, which must be there.
    fn part(&mut self, layer: &str, part: &str, why: &str) -> Result<StoredTensor> {
        let name = format!("{layer}.{part}");
        let taken = self.tensors.remove(&name);
        taken.ok_or_else(|| self.mismatch(format!("missing: {name}{why}")))
    }

    fn fits(
        &self,
        name: &str,
        part: &StoredTensor,
        types: &[DType],
        shapes: &[&[usize]],
    ) -> Result<()> {
        if types.contains(&part.dtype) && shapes.contains(&&part.shape[..]) {
            return Ok(());
        }
        let shapes: Vec<String> = shapes.iter().map(|shape| format!("{shape:?}")).collect();
        Err(self.mismatch(format!(
            "{name} is {:?} {:?}, and quantization_config and the weight beside it call for {:?} {}",
            part.dtype,
            part.shape,
            types[0],
            shapes.join(" or ")
        )))
    }

    fn scaled(&mut self, layer: &str, scales: Fp8Scales) -> Result<StoredTensor> {
        let values = self.part(layer, "weight", "")?;
        let there = |name: &&str| self.tensors.contains_key(&format!("{layer}.{name}"));
        let name = FP8_SCALES.into_iter().find(there).unwrap_or(match scales {
            Fp8Scales::Blocks(_) => FP8_SCALES[0],
            _ => FP8_SCALES[1],
        });
        let stored = self.part(layer, name, ", the scale of a weight in FP8")?;
        let [outputs, inputs] = values.shape[..] else {
            return Err(self.mismatch(format!("{layer}.weight is {:?}, no matrix", values.shape)));
        };
        let whole: [&[usize]; 3] = [&[], &[1], &[1, 1]];
        let by_output: [&[usize]; 2] = [&[outputs, 1], &[outputs]];
        let of_blocks = match scales {
            Fp8Scales::Blocks([rows, columns]) => {
                [outputs.div_ceil(rows), inputs.div_ceil(columns)]
            }
            _ => [0, 0],
        };
        let shapes = match scales {
            Fp8Scales::Blocks(_) => vec![&of_blocks[..]],
            Fp8Scales::Outputs => by_output.to_vec(),
            Fp8Scales::Whole => whole.to_vec(),
            Fp8Scales::OutputsOrWhole => [&whole[..], &by_output].concat(),
        };
        self.fits(&format!("{layer}.{name}"), &stored, &NUMBERS, &shapes)?;
        let block = match scales {
            Fp8Scales::Blocks(block) => block,
            _ if whole.contains(&&stored.shape[..]) => [outputs.max(1), inputs.max(1)],
            _ => [1, inputs.max(1)],
        };
        let (shape, bytes) = (values.shape.clone(), values.bytes + stored.bytes);
        let computed = Computed::Scaled {
            values,
            scales: stored,
            block,
        };
        Ok(StoredTensor::computed(shape, bytes, computed))
    }

    fn packed(&mut self, layer: &str, form: IntegerForm) -> Result<StoredTensor> {
        let names = form.layout.names();
        let [weight, scale, zero, order] = names.map(|part| format!("{layer}.{part}"));
        let words = self.part(layer, names[0], "")?;
        let Some(shape) = form.size(&words.shape) else {
            return Err(self.mismatch(format!("{weight} is {:?}, no matrix", words.shape)));
        };
        self.fits(&weight, &words, &[DType::I32], &[&words.shape])?;
        let [of_scales, of_zeros] = form.shapes(shape);
        let scales = self.part(layer, names[1], ", the scales of its groups")?;
        self.fits(&scale, &scales, &NUMBERS, &[&of_scales])?;
        let zeros = match form.zeros {
            Zeros::Middle => None,
            Zeros::Stored | Zeros::StoredMiddle => {
                let why = ", the zero points of its groups";
                Some(self.part(layer, names[2], why)?)
            }
        };
        if let Some(zeros) = &zeros {
            self.fits(&zero, zeros, &[DType::I32], &[&of_zeros])?;
        }
        let may_be_there = matches!(form.layout, Layout::Gptq { .. });
        let groups = if form.ordered {
            Some(self.part(layer, names[3], ", the group of each input")?)
        } else if may_be_there {
            // Some tools write an order without elements where there is none.
            self.tensors
                .remove(&order)
                .filter(|groups| groups.shape != [0])
        } else {
            None
        };
        if let Some(groups) = &groups {
            self.fits(&order, groups, &[DType::I32], &[&[shape[1]]])?;
            self.check_groups(&order, &form, groups)?;
        }
        if form.layout == Layout::Rows {
            let name = format!("{layer}.weight_shape");
            let stored = self.part(layer, "weight_shape", ", the shape of the weight")?;
            self.fits(&name, &stored, &[DType::I64, DType::I32], &[&[2]])?;
            let words = self.words(&name, &stored)?;
            // The halves of 64 bits come lowest first.
            let numbers: Vec<usize> = words
                .iter()
                .step_by(words.len() / 2)
                .map(|word| *word as usize)
                .collect();
            if numbers != shape {
                return Err(self.mismatch(format!(
                    "{name} says {numbers:?}, and {weight} has room for {shape:?}"
                )));
            }
        }
        let parts = [Some(&words), Some(&scales), zeros.as_ref(), groups.as_ref()];
        let bytes = parts.into_iter().flatten().map(|part| part.bytes).sum();
        let integers = Integers {
            form,
            shape,
            words,
            scales,
            zeros,
            groups,
        };
        Ok(StoredTensor::computed(
            shape.to_vec(),
            bytes,
            Computed::Integers(integers),
        ))
    }
}
