//! Products with weights in our own formats (`kernels/moe_gemm.cu`): of every expert with its rows, or of one weight with all rows.

use candle_core::DType;

use super::array::{Array, Slice};
use super::fragments;
use super::kernel::{Arg, Function, Grid, Kernels, array, array_or_null, count};
use super::mxfp4;
use super::operations::suffix;
use super::tiles::{OUTPUTS, rows_of_tile};
use crate::checkpoint::weights::CodeKind;
use crate::model::{ModelError, Result};

const MULTIPLY: &str = "moe_gemm";

/// How weights lie in memory (`kernels/weight_formats.cuh`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WeightFormat {
    /// In the type of the activations, `[experts, outputs, inputs]`.
    Plain,
    /// In e4m3, in fragments; f32 `[experts, outputs]` scales.
    E4m3,
    /// In MXFP4, in fragments; exponents.
    Mxfp4,
    /// As the checkpoint stores them, in fragments; factors.
    Codes(CodeKind),
}

/// The weight of a product, or those of one product of every expert.
pub(super) struct GroupedWeights {
    pub(super) format: WeightFormat,
    pub(super) values: Array,
    pub(super) scales: Option<Array>,
    /// `[experts, outputs]`
    pub(super) bias: Option<Array>,
    pub(super) experts: usize,
    pub(super) outputs: usize,
    pub(super) inputs: usize,
}

/// Where the rows of experts lie.
#[derive(Clone, Copy)]
pub(super) struct Order<'a> {
    /// u32 `[experts + 1]`
    pub(super) offsets: Slice<'a>,
    pub(super) per_token: usize,
}

pub(super) struct Product<'a> {
    /// `[rows, outputs]`
    pub(super) out: Slice<'a>,
    /// `[rows, inputs]`; with a permutation, the tokens' rows `[rows / per_token, inputs]`, which it refers to.
    pub(super) x: Slice<'a>,
    pub(super) weights: &'a GroupedWeights,
    pub(super) rows: usize,
    /// The order of the rows, and a permutation u32 `[rows]`; without experts all rows go through the one weight.
    pub(super) experts: Option<(Order<'a>, Option<Slice<'a>>)>,
}

pub(super) struct GroupedProducts {
    dtype: DType,
    multiprocessors: usize,
    kernels: [FormatKernels; 5],
    widen: [(CodeKind, Function); 2],
}

impl GroupedProducts {
    pub(super) fn load(kernels: &mut Kernels, dtype: DType) -> Result<Self> {
        let t = suffix(dtype)?;
        let multiprocessors = kernels.multiprocessors()?;
        let mut load = |format| FormatKernels::load(kernels, format, t);
        Ok(Self {
            dtype,
            multiprocessors,
            kernels: [
                load(WeightFormat::Plain)?,
                load(WeightFormat::E4m3)?,
                load(WeightFormat::Mxfp4)?,
                load(WeightFormat::Codes(CodeKind::E4m3))?,
                load(WeightFormat::Codes(CodeKind::Int4))?,
            ],
            widen: {
                let mut load = |name| kernels.function("moe_gemm", &format!("widen_{name}_{t}"));
                [
                    (CodeKind::E4m3, load("scaled_e4m3")?),
                    (CodeKind::Int4, load("int4")?),
                ]
            },
        })
    }

    /// Writes a weight in codes to `out` as numbers, `[outputs, inputs]`.
    pub(super) fn widen(&self, out: Slice, weights: &GroupedWeights) -> Result<()> {
        const WIDEN: &str = "widen";
        let kernel = self
            .widen
            .iter()
            .find(|(kind, _)| weights.format == WeightFormat::Codes(*kind));
        let Some((_, function)) = kernel.filter(|_| weights.experts == 1) else {
            return Err(ModelError::Batch(format!(
                "{WIDEN}: weights in {:?}",
                weights.format
            )));
        };
        let (outputs, inputs) = (weights.outputs, weights.inputs);
        let (multiple, _) = weights.format.sizes();
        let [codes, factors] = weights.arguments(self.dtype)?;
        function.launch(
            Grid::row((outputs * inputs / multiple).div_ceil(256), 256),
            &[
                Arg::Array(out.check(WIDEN, "out", self.dtype, outputs * inputs)?),
                codes,
                factors,
                count(outputs),
                count(inputs),
            ],
        )
    }

    pub(super) fn multiply(&self, call: &Product) -> Result<()> {
        let Product { rows, weights, .. } = *call;
        let (experts, outputs, inputs) = (weights.experts, weights.outputs, weights.inputs);
        let (order, permutation) = call.experts.unzip();
        let (permutation, per_token) = (
            permutation.flatten(),
            order.map_or(1, |order| order.per_token),
        );
        let read = match permutation {
            Some(_) => rows / per_token,
            None => rows,
        };
        let [values, scales] = weights.arguments(self.dtype)?;
        let Some(kernels) = self.kernels.iter().find(|k| k.format == weights.format) else {
            return Err(ModelError::Batch(format!(
                "no kernels for {:?}",
                weights.format
            )));
        };
        let at_most = match (order, weights.format) {
            (None, WeightFormat::Codes(_)) => rows_of_tile(rows, outputs, self.multiprocessors),
            // Tiles of 128 rows need that many rows for most experts, or they mostly multiply padding.
            _ if rows < 64 * experts => 32,
            _ => 128,
        };
        let tile = kernels.tiles.iter().rfind(|tile| tile.rows <= at_most);
        let Some(tile) = tile else {
            return Err(ModelError::Batch(format!("no tile of {at_most} rows")));
        };
        // Each expert's last tile may be partly filled.
        let further = if order.is_some() { experts } else { 0 };
        let blocks = match rows {
            0 => 0,
            rows => rows.div_ceil(tile.rows) + further,
        };
        let bias = weights.bias.as_ref().map(Array::all);
        let bias = array_or_null(bias, MULTIPLY, "bias", self.dtype, experts * outputs)?;
        tile.function.launch(
            Grid::plane(outputs.div_ceil(OUTPUTS), blocks, tile.threads).with_shared(tile.shared),
            &[
                array(call.out, MULTIPLY, "out", self.dtype, rows * outputs)?,
                Arg::Array(call.x.check(MULTIPLY, "x", self.dtype, read * inputs)?),
                values,
                scales,
                bias,
                words("offsets", order.map(|order| order.offsets), experts + 1)?,
                words("permutation", permutation, rows)?,
                count(per_token),
                count(experts),
                count(outputs),
                count(inputs),
                count(rows),
            ],
        )
    }
}

impl WeightFormat {
    /// The divisor of the number of inputs; tiles' rows, and the dynamic shared memory with each.
    fn sizes(self) -> (usize, &'static [(usize, usize)]) {
        match self {
            Self::Plain => (8, &[(32, 81_920), (128, 98_304)]),
            Self::E4m3 => (16, &[(32, 49_152), (128, 73_728)]),
            Self::Mxfp4 => (32, &[(32, 33_792), (128, 62_208)]),
            Self::Codes(CodeKind::E4m3) => (16, &[(32, 51_200), (64, 50_688), (128, 75_264)]),
            Self::Codes(CodeKind::Int4) => (32, &[(32, 36_864), (64, 39_936), (128, 64_512)]),
        }
    }

    fn kernel(self) -> &'static str {
        match self {
            Self::Plain => "moe_gemm",
            Self::E4m3 => "moe_gemm_e4m3",
            Self::Mxfp4 => "moe_gemm_mxfp4",
            Self::Codes(CodeKind::E4m3) => "moe_gemm_scaled_e4m3",
            Self::Codes(CodeKind::Int4) => "moe_gemm_int4",
        }
    }
}

impl GroupedWeights {
    fn arguments(&self, dtype: DType) -> Result<[Arg<'_>; 2]> {
        let (outputs, inputs) = (self.outputs, self.inputs);
        let (multiple, _) = self.format.sizes();
        if !outputs.is_multiple_of(8) || !inputs.is_multiple_of(multiple) {
            return Err(ModelError::Unsupported(format!(
                "{MULTIPLY}: weights of {outputs} × {inputs}"
            )));
        }
        let (values, scales) = match self.format {
            WeightFormat::Plain => ((dtype, outputs * inputs), None),
            WeightFormat::E4m3 => (
                (DType::F8E4M3, outputs * inputs),
                Some((DType::F32, outputs)),
            ),
            WeightFormat::Mxfp4 => {
                let [values, exponents] = mxfp4::packed_bytes((outputs, inputs));
                ((DType::U8, values), Some((DType::U8, exponents)))
            }
            WeightFormat::Codes(kind) => {
                let [codes, factors] = fragments::sizes(kind, [outputs, inputs]);
                ((DType::U8, codes), Some((DType::F32, factors)))
            }
        };
        let (dtype, each) = values;
        let all = self.values.all();
        let values = array(all, MULTIPLY, "weights", dtype, self.experts * each)?;
        let scales = match (scales, &self.scales) {
            (None, _) => Arg::Null,
            (Some((dtype, each)), Some(scales)) => {
                let all = scales.all();
                array(all, MULTIPLY, "scales", dtype, self.experts * each)?
            }
            (Some(_), None) => {
                return Err(ModelError::Batch(format!("{MULTIPLY}: no scales")));
            }
        };
        Ok([values, scales])
    }
}

/// An array of words, if there is one.
fn words<'a>(name: &str, slice: Option<Slice<'a>>, elements: usize) -> Result<Arg<'a>> {
    array_or_null(slice, MULTIPLY, name, DType::U32, elements)
}

struct FormatKernels {
    format: WeightFormat,
    /// From the smallest to the largest.
    tiles: Vec<Tile>,
}

struct Tile {
    function: Function,
    rows: usize,
    threads: usize,
    shared: usize,
}

impl FormatKernels {
    fn load(kernels: &mut Kernels, format: WeightFormat, t: &str) -> Result<Self> {
        let name = format.kernel();
        let (_, tiles) = format.sizes();
        let tiles = tiles.iter().map(|&(rows, shared)| {
            let function = kernels.function("moe_gemm", &format!("{name}_tile{rows}_{t}"))?;
            Ok::<_, ModelError>(Tile {
                function: function.allow_shared(shared)?,
                rows,
                threads: if rows == 128 { 256 } else { 128 },
                shared,
            })
        });
        let tiles = tiles.collect::<Result<_, _>>()?;
        Ok(Self { format, tiles })
    }
}
