//! Puts together the weights of checkpoints that store linear layers in few bits: FP8, GPTQ, AWQ, compressed-tensors.

use std::collections::BTreeSet;

use candle_core::DType;

use super::computed::Computed;
use super::integers::Integers;
use super::{Layout, RowOrder, StoredTensor, Weights};
use crate::checkpoint::config::Quantization;
use crate::checkpoint::tensors::expected_tensors;
use crate::checkpoint::{CheckpointError, ModelConfig};

/// Endings of tensors that say how to round activations, keys and values, which is not done here, or repeat a shape.
const WITHOUT_EFFECT: [&str; 5] = [
    ".input_scale",
    ".output_scale",
    ".k_scale",
    ".v_scale",
    ".weight_shape",
];

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
    ///
    /// # Errors
    /// [`CheckpointError::Mismatch`] naming a layer whose parts do not fit each other.
    pub(super) fn combine(
        &mut self,
        quantization: Quantization,
        config: &ModelConfig,
    ) -> Result<(), CheckpointError> {
        let expected = expected_tensors(config).into_iter().map(|(name, _)| name);
        let expected: BTreeSet<String> = expected.collect();
        self.tensors
            .retain(|name, _| !WITHOUT_EFFECT.iter().any(|ending| name.ends_with(ending)));
        let ending = match quantization {
            Quantization::Fp8(_) => ".weight",
            Quantization::Integers {
                layout: Layout::Rows,
                ..
            } => ".weight_packed",
            Quantization::Integers { .. } => ".qweight",
        };
        let layers = self.tensors.iter().filter_map(|(name, tensor)| {
            let fp8 = tensor.dtype == DType::F8E4M3;
            let layer = name.strip_suffix(ending)?;
            (ending != ".weight" || fp8).then(|| layer.to_owned())
        });
        for layer in layers.collect::<Vec<_>>() {
            let tensor = match quantization {
                Quantization::Fp8(block) => self.scaled(&layer, block),
                Quantization::Integers { layout, bits } => {
                    self.packed(&layer, ending, layout, bits)
                }
            };
            let tensor = tensor.ok_or_else(|| {
                self.mismatch(format!("{layer}: the parts of its quantised weight are missing or do not fit each other"))
            })?;
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

    /// A weight in FP8 with its scales.
    fn scaled(&mut self, layer: &str, block: Option<[usize; 2]>) -> Option<StoredTensor> {
        let mut take = |ending: &str| self.tensors.remove(&format!("{layer}.{ending}"));
        let values = take("weight")?;
        let scales = take("weight_scale_inv").or_else(|| take("weight_scale"))?;
        let [outputs, inputs] = values.shape[..] else {
            return None;
        };
        let of_block =
            |[rows, columns]: [usize; 2]| vec![outputs.div_ceil(rows), inputs.div_ceil(columns)];
        let block = match scales.shape[..] {
            [] | [1] | [1, 1] => [outputs.max(1), inputs.max(1)],
            [rows] | [rows, 1] if rows == outputs => [1, inputs.max(1)],
            _ => block.filter(|block| scales.shape == of_block(*block))?,
        };
        let (shape, bytes) = (values.shape.clone(), values.bytes + scales.bytes);
        Some(StoredTensor::computed(
            shape,
            bytes,
            Computed::Scaled {
                values,
                scales,
                block,
            },
        ))
    }

    /// A weight of whole numbers.
    fn packed(
        &mut self,
        layer: &str,
        ending: &str,
        layout: Layout,
        bits: usize,
    ) -> Option<StoredTensor> {
        let mut take = |ending: &str| self.tensors.remove(&format!("{layer}.{ending}"));
        let names = match layout {
            Layout::Rows => ["weight_scale", "weight_zero_point", "weight_g_idx"],
            Layout::Gptq { .. } | Layout::Awq => ["scales", "qzeros", "g_idx"],
        };
        let words = take(&ending[1..])?;
        let [scales, zeros, groups] = names.map(&mut take);
        // Some tools write an order without elements where there is none.
        let groups = groups.filter(|groups| groups.shape != [0]);
        let integers = Integers {
            layout,
            bits,
            words,
            scales: scales?,
            zeros,
            groups,
        };
        let shape = integers.shape()?;
        let parts = [
            Some(&integers.words),
            Some(&integers.scales),
            integers.zeros.as_ref(),
            integers.groups.as_ref(),
        ];
        let bytes = parts.into_iter().flatten().map(|part| part.bytes).sum();
        Some(StoredTensor::computed(
            shape.to_vec(),
            bytes,
            Computed::Integers(integers),
        ))
    }
}
