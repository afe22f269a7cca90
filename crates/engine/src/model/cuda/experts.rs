//! A mixture of experts: tokens are sorted by expert and go through one grouped product in each direction.

use candle_core::{CudaDevice, DType};

use super::array::{Array, Slice};
use super::buffers::StepLimits;
use super::expert_weights::{ExpertWeights, WeightFormat};
use super::gemm::Gemm;
use super::kernel::{Arg, Function, Grid, Kernels, count};
use super::layers::Mixture;
use super::mxfp4;
use super::operations::{Operations, Target, suffix};
use crate::checkpoint::ModelConfig;
use crate::checkpoint::config::{Activation, Experts};
use crate::model::ModelError;

const ROUTE: &str = "moe_route";
const SORT: &str = "moe_sort";
const MULTIPLY: &str = "moe_gemm";
const COMBINE: &str = "moe_combine";

/// The kernels of a mixture, and their intermediate arrays.
pub(super) struct ExpertKernels {
    dtype: DType,
    activation: Activation,
    route: Function,
    sort: Function,
    products: [Product; 3],
    combine: Function,
    /// `[P, experts]`, where `P` is [`Gemm::padded`] of the largest step's tokens.
    logits: Array,
    /// u32 `[P, k]`
    chosen: Array,
    /// f32 `[P, k]`
    weights: Array,
    /// u32 `[experts + 1]`
    offsets: Array,
    /// u32 `[P · k]`: row to pair, and pair to row.
    permutation: Array,
    inverse: Array,
    /// `[P · k, hidden]`
    out: Array,
}

/// A call's arrays.
pub(super) struct Routed<'a> {
    pub(super) rows: usize,
    pub(super) hidden: usize,
    /// `[rows, hidden]`
    pub(super) x: Slice<'a>,
    /// `[rows · k, 2 · width]`
    pub(super) gate_up: Slice<'a>,
    /// `[rows · k, width]`
    pub(super) gated: Slice<'a>,
    /// `[rows, hidden]`
    pub(super) out: Slice<'a>,
}

/// A grouped product.
struct Grouped<'a> {
    /// `[pairs, outputs]`
    out: Slice<'a>,
    /// `[pairs, inputs]`; with `gather`, the tokens' rows `[pairs / k, inputs]`, which the permutation refers to.
    x: Slice<'a>,
    weights: &'a ExpertWeights,
    gather: bool,
    pairs: usize,
}

/// Why the router's kernel cannot run with these experts; `None` if it can.
pub(super) fn obstacle(experts: &Experts) -> Option<String> {
    let Experts {
        count, per_token, ..
    } = *experts;
    (count > 512 || per_token > 32).then(|| format!("{per_token} of {count} experts"))
}

impl ExpertKernels {
    pub(super) fn load(
        device: &CudaDevice,
        kernels: &mut Kernels,
        config: &ModelConfig,
        limits: &StepLimits,
        dtype: DType,
    ) -> Result<Self, ModelError> {
        let Some(experts) = config.experts else {
            return Err(ModelError::Batch("a model without experts".into()));
        };
        if let Some(obstacle) = obstacle(&experts) {
            return Err(ModelError::Unsupported(format!(
                "no CUDA kernels for {obstacle}"
            )));
        }
        let t = suffix(dtype)?;
        let p = Gemm::padded(limits.tokens);
        let pairs = p * experts.per_token;
        let what = "the experts' activations";
        let words = |count| Array::zeros(device, count, DType::U32, what);
        Ok(Self {
            dtype,
            activation: config.activation,
            route: kernels.function("moe", &format!("moe_route_{t}"))?,
            sort: kernels.function("moe", "moe_sort")?,
            products: [
                Product::load(kernels, WeightFormat::Plain, t)?,
                Product::load(kernels, WeightFormat::E4m3, t)?,
                Product::load(kernels, WeightFormat::Mxfp4, t)?,
            ],
            combine: kernels.function("moe", &format!("moe_combine_{t}"))?,
            logits: Array::zeros(device, p * experts.count, dtype, what)?,
            chosen: words(pairs)?,
            weights: Array::zeros(device, pairs, DType::F32, what)?,
            offsets: words(experts.count + 1)?,
            permutation: words(pairs)?,
            inverse: words(pairs)?,
            out: Array::zeros(device, pairs * config.hidden, dtype, what)?,
        })
    }

    /// The array for the router's product, `[rows, experts]`.
    pub(super) fn logits(&self) -> Slice<'_> {
        self.logits.all()
    }

    /// Computes the sum of the experts' results from the router's logits.
    pub(super) fn forward(
        &self,
        operations: &Operations,
        mixture: &Mixture,
        call: &Routed,
    ) -> Result<(), ModelError> {
        let experts = &mixture.config;
        let (n, k, width, hidden) = (
            call.rows,
            experts.per_token,
            experts.intermediate,
            call.hidden,
        );
        let pairs = n * k;
        self.choose(n, experts.count, k, experts.normalise)?;
        self.multiply(
            mixture,
            &Grouped {
                out: call.gate_up,
                x: call.x,
                weights: &mixture.gate_up,
                gather: true,
                pairs,
            },
        )?;
        operations.activate(
            Target::Plain(call.gated),
            call.gate_up,
            (pairs, width),
            self.activation,
        )?;
        self.multiply(
            mixture,
            &Grouped {
                out: self.out.all(),
                x: call.gated,
                weights: &mixture.down,
                gather: false,
                pairs,
            },
        )?;
        self.combine.launch(
            Grid {
                blocks: (n, hidden.div_ceil(2048), 1),
                threads: (256, 1),
                shared: 0,
            },
            &[
                Arg::Array(call.out.check(COMBINE, "out", self.dtype, n * hidden)?),
                Arg::Array(
                    self.out
                        .all()
                        .check(COMBINE, "y", self.dtype, pairs * hidden)?,
                ),
                Arg::Array(
                    self.weights
                        .all()
                        .check(COMBINE, "weights", DType::F32, pairs)?,
                ),
                Arg::Array(
                    self.inverse
                        .all()
                        .check(COMBINE, "inverse", DType::U32, pairs)?,
                ),
                count(n),
                count(hidden),
                count(k),
            ],
        )
    }

    /// Chooses the experts of each token, and sorts the pairs of token and expert by expert.
    pub(super) fn choose(
        &self,
        n: usize,
        experts: usize,
        k: usize,
        normalise: bool,
    ) -> Result<(), ModelError> {
        let pairs = n * k;
        self.route.launch(
            Grid::row(n.div_ceil(8), 256),
            &[
                Arg::Array(
                    self.chosen
                        .all()
                        .check(ROUTE, "experts", DType::U32, pairs)?,
                ),
                Arg::Array(
                    self.weights
                        .all()
                        .check(ROUTE, "weights", DType::F32, pairs)?,
                ),
                Arg::Array(
                    self.logits
                        .all()
                        .check(ROUTE, "logits", self.dtype, n * experts)?,
                ),
                count(n),
                count(experts),
                count(k),
                Arg::U32(u32::from(normalise)),
            ],
        )?;
        self.sort.launch(
            Grid::row(if pairs == 0 { 0 } else { experts }, 512),
            &[
                Arg::Array(
                    self.offsets
                        .all()
                        .check(SORT, "offsets", DType::U32, experts + 1)?,
                ),
                Arg::Array(
                    self.permutation
                        .all()
                        .check(SORT, "permutation", DType::U32, pairs)?,
                ),
                Arg::Array(
                    self.inverse
                        .all()
                        .check(SORT, "inverse", DType::U32, pairs)?,
                ),
                Arg::Array(self.chosen.all().check(SORT, "chosen", DType::U32, pairs)?),
                count(pairs),
                count(experts),
            ],
        )
    }

    fn multiply(&self, mixture: &Mixture, call: &Grouped) -> Result<(), ModelError> {
        let (experts, k) = (mixture.config.count, mixture.config.per_token);
        let Grouped { pairs, weights, .. } = *call;
        let (outputs, inputs) = (weights.outputs, weights.inputs);
        let (multiple, _) = weights.format.sizes();
        if !outputs.is_multiple_of(8) || !inputs.is_multiple_of(multiple) {
            return Err(ModelError::Unsupported(format!(
                "{MULTIPLY}: experts of {outputs} × {inputs}"
            )));
        }
        let rows = if call.gather { pairs / k } else { pairs };
        let [values, scales] = weights.arguments(experts, self.dtype)?;
        let Some(product) = self
            .products
            .iter()
            .find(|product| product.format == weights.format)
        else {
            return Err(ModelError::Batch(format!(
                "no kernels for {:?}",
                weights.format
            )));
        };
        // Tiles of 128 rows need that many rows for most experts, or they mostly multiply padding.
        let tile = if pairs >= 64 * experts {
            &product.large
        } else {
            &product.small
        };
        let blocks = if pairs == 0 {
            0
        } else {
            pairs.div_ceil(tile.rows) + experts
        };
        tile.function.launch(
            Grid {
                blocks: (outputs.div_ceil(128), blocks, 1),
                threads: (tile.threads, 1),
                shared: tile.shared,
            },
            &[
                Arg::Array(
                    call.out
                        .check(MULTIPLY, "out", self.dtype, pairs * outputs)?,
                ),
                Arg::Array(call.x.check(MULTIPLY, "x", self.dtype, rows * inputs)?),
                values,
                scales,
                match &weights.bias {
                    Some(bias) => Arg::Array(bias.all().check(
                        MULTIPLY,
                        "bias",
                        self.dtype,
                        experts * outputs,
                    )?),
                    None => Arg::Null,
                },
                Arg::Array(self.offsets.all()),
                if call.gather {
                    Arg::Array(self.permutation.all().check(
                        MULTIPLY,
                        "permutation",
                        DType::U32,
                        pairs,
                    )?)
                } else {
                    Arg::Null
                },
                count(k),
                count(experts),
                count(outputs),
                count(inputs),
            ],
        )
    }
}

impl WeightFormat {
    /// The divisor of the number of inputs, and the dynamic shared memory with tiles of 32 rows and of 128.
    fn sizes(self) -> (usize, [usize; 2]) {
        match self {
            Self::Plain => (8, [81_920, 98_304]),
            Self::E4m3 => (16, [49_152, 73_728]),
            Self::Mxfp4 => (32, [33_792, 62_208]),
        }
    }
}

impl ExpertWeights {
    /// The arguments for weights and scales of so many experts.
    fn arguments(&self, experts: usize, dtype: DType) -> Result<[Arg<'_>; 2], ModelError> {
        let (outputs, inputs) = (self.outputs, self.inputs);
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
        };
        let all = self.values.all();
        let values = Arg::Array(all.check(MULTIPLY, "weights", values.0, experts * values.1)?);
        let scales = match (scales, &self.scales) {
            (None, _) => Arg::Null,
            (Some((dtype, each)), Some(array)) => {
                let scales = array.all();
                Arg::Array(scales.check(MULTIPLY, "scales", dtype, experts * each)?)
            }
            (Some(_), None) => {
                return Err(ModelError::Batch(format!("{MULTIPLY}: no scales")));
            }
        };
        Ok([values, scales])
    }
}

/// The grouped product of one weight format.
struct Product {
    format: WeightFormat,
    small: Tile,
    large: Tile,
}

/// A kernel, and its tiles' sizes.
struct Tile {
    function: Function,
    rows: usize,
    threads: usize,
    shared: usize,
}

impl Product {
    fn load(kernels: &mut Kernels, format: WeightFormat, t: &str) -> Result<Self, ModelError> {
        let name = match format {
            WeightFormat::Plain => "moe_gemm",
            WeightFormat::E4m3 => "moe_gemm_e4m3",
            WeightFormat::Mxfp4 => "moe_gemm_mxfp4",
        };
        let (_, [small, large]) = format.sizes();
        let mut tile = |rows: usize, threads, shared| {
            let function = kernels.function("moe_gemm", &format!("{name}_tile{rows}_{t}"))?;
            Ok::<_, ModelError>(Tile {
                function: function.allow_shared(shared)?,
                rows,
                threads,
                shared,
            })
        };
        Ok(Self {
            format,
            small: tile(32, 128, small)?,
            large: tile(128, 256, large)?,
        })
    }
}
