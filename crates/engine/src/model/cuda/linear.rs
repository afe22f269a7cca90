//! Linear layers with weights in the type of the activations or quantised to e4m3.

use std::ops::RangeInclusive;

use candle_core::{CudaDevice, DType, Device, Tensor};

use super::array::{Array, Slice};
use super::device::capability;
use super::fragments::Fragments;
use super::gemm::{Gemm, Rows, Weight};
use super::grouped::{GroupedProducts, GroupedWeights, Product, WeightFormat};
use super::kernel::Kernels;
use super::operations::{Operations, Quantised, Target};
use crate::checkpoint::weights::{CodeKind, Codes};
use crate::model::{ModelError, Result};

/// The lowest compute capability with tensor cores for e4m3.
const FP8_CAPABILITY: (i32, i32) = (8, 9);

pub struct Products {
    gemm: Gemm,
    /// If cuBLAS takes no scales by row for some weight: the buffer for products of e4m3 in f32, before scaling.
    unscaled: Option<Array>,
    /// For weights that stay as the checkpoint stores them.
    grouped: Option<GroupedProducts>,
}

pub(super) enum Linear {
    Whole(Weight),
    /// It stays in the few bits that the checkpoint stores. Our own kernel multiplies few rows with it; for many it is widened.
    Stored {
        codes: GroupedWeights,
        /// Its numbers, in memory that all layers share.
        wide: Box<Weight>,
    },
}

/// From how many rows on widening a weight and a product of cuBLASLt take less time than our kernel: its 281 TFLOP/s (whole numbers
/// of four bits, H100) against 650 and the weight in 16 bits written and read. The step model expects it earlier (docs/decisions/cuda.md).
const WIDEN_FROM: usize = 448;

impl Linear {
    /// As stored, and widened in `room` (`[elements]`, in the type of activations); `None` for sizes that the kernels do not take.
    pub(super) fn stored(
        codes: &Codes,
        bias: Option<&Tensor>,
        room: &Tensor,
    ) -> Result<Option<Self>> {
        let device = room.device();
        let Some(fragments) = Fragments::from_codes(codes) else {
            return Ok(None);
        };
        let [outputs, inputs] = codes.shape;
        let (bytes, count) = (fragments.codes.len(), fragments.factors.len());
        let wide = room
            .narrow(0, 0, outputs * inputs)?
            .reshape((outputs, inputs))?;
        let wide = Weight::plain(&wide, bias)?;
        let codes = GroupedWeights {
            format: WeightFormat::Codes(codes.kind),
            values: Array::from_tensor(&Tensor::from_vec(fragments.codes, bytes, device)?)?,
            scales: Some(Array::from_tensor(&Tensor::from_vec(
                fragments.factors,
                count,
                device,
            )?)?),
            bias: bias.map(Array::from_tensor).transpose()?,
            experts: 1,
            outputs,
            inputs,
        };
        Ok(Some(Self::Stored {
            codes,
            wide: Box::new(wide),
        }))
    }

    /// What cuBLASLt multiplies with, and from how many rows on.
    pub(super) fn whole_mut(&mut self) -> (&mut Weight, usize) {
        match self {
            Self::Whole(weight) => (weight, 1),
            Self::Stored { wide, .. } => (wide, WIDEN_FROM),
        }
    }

    /// Whether it needs activations in e4m3.
    pub(super) fn is_fp8(&self) -> bool {
        matches!(self, Self::Whole(weight) if weight.is_fp8())
    }

    pub(super) fn inputs(&self) -> usize {
        match self {
            Self::Whole(weight) => weight.inputs,
            Self::Stored { codes, .. } => codes.inputs,
        }
    }
}

impl Products {
    pub fn new(device: &CudaDevice) -> Result<Self> {
        Ok(Self {
            gemm: Gemm::new(device)?,
            unscaled: None,
            grouped: None,
        })
    }

    /// Loads the kernels for weights that stay as the checkpoint stores them.
    pub(super) fn with_stored(mut self, kernels: &mut Kernels, dtype: DType) -> Result<Self> {
        self.grouped = Some(GroupedProducts::load(kernels, dtype)?);
        Ok(self)
    }

    /// As [`Self::multiply`], with a layer's weight.
    pub(super) fn apply(
        &mut self,
        operations: &Operations,
        x: Target,
        linear: &Linear,
        out: Slice,
        count: usize,
    ) -> Result<()> {
        let (codes, wide) = match linear {
            Linear::Whole(weight) => return self.multiply(operations, x, weight, out, count),
            Linear::Stored { codes, wide } => (codes, wide),
        };
        let (Target::Plain(rows), Some(grouped)) = (x, &self.grouped) else {
            return Err(ModelError::Batch("no kernels for weights as stored".into()));
        };
        if count >= WIDEN_FROM {
            grouped.widen(wide.values.all(), codes)?;
            return self.multiply(operations, x, wide, out, count);
        }
        grouped.multiply(&Product {
            out,
            x: rows,
            weights: codes,
            rows: count,
            experts: None,
        })
    }

    /// Prepares products with `weight` of these numbers of rows and with results of `out`, so that no step has to choose an
    /// algorithm. A weight in e4m3 for which cuBLAS takes no scales by row, as outside Hopper, is multiplied in f32 and scaled
    /// afterwards.
    /// Errors: [`ModelError::Unsupported`] for a product that this GPU does not have; [`ModelError::OutOfMemory`].
    pub fn prepare(
        &mut self,
        device: &CudaDevice,
        weight: &mut Weight,
        out: DType,
        rows: RangeInclusive<usize>,
    ) -> Result<()> {
        let fp8 = weight.is_fp8();
        weight.scaled_afterwards = false;
        match self.gemm.prepare(weight, out, (true, fp8), rows.clone()) {
            Err(ModelError::Unsupported(_)) if fp8 => {}
            prepared => return prepared,
        }
        weight.scaled_afterwards = true;
        let size = Gemm::padded(*rows.end()) * weight.outputs;
        let room = self.unscaled.as_ref().map_or(0, Array::elements);
        if room < size {
            self.unscaled = None;
            let what = "FP8 products before their scales";
            self.unscaled = Some(Array::zeros(device, size, DType::F32, what)?);
        }
        self.gemm.prepare(weight, DType::F32, (false, false), rows)
    }

    /// `out = x · weightᵀ + bias` for `count` rows; arrays have room for [`Gemm::padded`] rows.
    pub fn multiply(
        &mut self,
        operations: &Operations,
        x: Target,
        weight: &Weight,
        out: Slice,
        count: usize,
    ) -> Result<()> {
        let (values, scales) = match x {
            Target::Plain(values) => (values, None),
            Target::Fp8(x) => (x.values, Some(x.scales)),
        };
        let unscaled = self.unscaled.as_ref().filter(|_| weight.scaled_afterwards);
        let (Some(unscaled), Some(row)) = (unscaled, scales) else {
            let rows = Rows {
                values,
                scales,
                count,
            };
            return self.gemm.multiply(rows, weight, out);
        };
        let Some(column) = &weight.scales else {
            return Err(ModelError::Batch(
                "rows in FP8 and a weight that is not".into(),
            ));
        };
        let rows = Rows {
            values,
            scales: None,
            count,
        };
        self.gemm
            .multiply_and_add(rows, weight, None, unscaled.all())?;
        operations.scale_rows_columns(
            out,
            unscaled.all(),
            row,
            (column.all(), weight.bias.as_ref().map(Array::all)),
            (count, weight.outputs),
        )
    }
}

/// Whether a GPU multiplies e4m3 at all.
pub fn check_fp8(device: &CudaDevice) -> Result<()> {
    let capability = capability(&device.cuda_stream())?;
    if capability < FP8_CAPABILITY {
        return Err(ModelError::Unsupported(format!(
            "FP8 products need a GPU of compute capability 8.9 or above (RTX 40, L4, H100 and later) and this one has {}.{}: \
             leave out --quantize fp8",
            capability.0, capability.1
        )));
    }
    Ok(())
}

impl Weight {
    /// A weight `[outputs, inputs]` and bias `[outputs]` as they are.
    /// Errors: [`ModelError::Batch`] for tensors that are not contiguous or not on the device.
    pub fn plain(weight: &Tensor, bias: Option<&Tensor>) -> Result<Self> {
        let (outputs, inputs) = weight.dims2()?;
        Ok(Self {
            values: Array::from_tensor(weight)?,
            scales: None,
            scaled_afterwards: false,
            bias: bias.map(Array::from_tensor).transpose()?,
            outputs,
            inputs,
            stride: outputs,
        })
    }

    /// A weight quantised to e4m3 with one scale for each output.
    /// Errors: as [`Self::plain`], and for sizes that are not a multiple of 16.
    pub fn fp8(
        device: &CudaDevice,
        operations: &Operations,
        weight: &Tensor,
        bias: Option<&Tensor>,
    ) -> Result<Self> {
        let (outputs, inputs) = weight.dims2()?;
        if !outputs.is_multiple_of(16) || !inputs.is_multiple_of(16) {
            return Err(ModelError::Unsupported(format!(
                "--quantize fp8 needs layers whose sizes are multiples of 16, not {outputs} × {inputs}"
            )));
        }
        let what = "weights in FP8";
        let values = Array::zeros(device, outputs * inputs, DType::F8E4M3, what)?;
        let scales = Array::zeros(device, outputs, DType::F32, what)?;
        operations.quantize_rows(
            Quantised {
                values: values.all(),
                scales: scales.all(),
            },
            Array::from_tensor(weight)?.all(),
            (outputs, inputs),
        )?;
        Ok(Self {
            values,
            scales: Some(scales),
            scaled_afterwards: false,
            bias: bias.map(Array::from_tensor).transpose()?,
            outputs,
            inputs,
            stride: outputs,
        })
    }

    /// A weight that a checkpoint stores in e4m3 with one scale for each output, as it is; `None` if this one is not.
    pub(super) fn fp8_as_stored(
        codes: &Codes,
        bias: Option<&Tensor>,
        device: &Device,
    ) -> Result<Option<Self>> {
        let [outputs, inputs] = codes.shape;
        let fits =
            codes.kind == CodeKind::E4m3 && outputs.is_multiple_of(16) && inputs.is_multiple_of(16);
        let Some(scales) = codes.by_output().filter(|_| fits) else {
            return Ok(None);
        };
        let values =
            Tensor::from_raw_buffer(&codes.codes, DType::F8E4M3, &[outputs, inputs], device)?;
        Ok(Some(Self {
            values: Array::from_tensor(&values)?,
            scales: Some(Array::from_tensor(&Tensor::from_vec(
                scales, outputs, device,
            )?)?),
            scaled_afterwards: false,
            bias: bias.map(Array::from_tensor).transpose()?,
            outputs,
            inputs,
            stride: outputs,
        }))
    }

    /// Whether the weight is in e4m3 and needs activations in it too.
    pub(crate) fn is_fp8(&self) -> bool {
        self.scales.is_some()
    }
}
