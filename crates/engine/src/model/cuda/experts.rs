//! A mixture of experts: tokens are sorted by expert and go through one grouped product in each direction.

use candle_core::{CudaDevice, DType};

use super::array::{Array, Slice};
use super::buffers::StepLimits;
use super::gemm::Gemm;
use super::grouped::{GroupedProducts, Order, Product};
use super::kernel::{Arg, Function, Grid, Kernels, array, array_or_null, count};
use super::layers::Mixture;
use super::operations::{Operations, Target, suffix};
use crate::checkpoint::ModelConfig;
use crate::checkpoint::config::{Activation, Experts, Scores};
use crate::model::Result;

const ROUTE: &str = "moe_route";
const SORT: &str = "moe_sort";
const COMBINE: &str = "moe_combine";

/// The kernels of a mixture, and their intermediate arrays.
pub(super) struct ExpertKernels {
    dtype: DType,
    activation: Activation,
    route: Function,
    sort: Function,
    products: GroupedProducts,
    combine: Function,
    /// f32 `[P, parts · experts]`, where `P` is [`Gemm::padded`] of the largest step's tokens.
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
        (config, experts): (&ModelConfig, Experts),
        (limits, routed): (&StepLimits, usize),
        dtype: DType,
    ) -> Result<Self> {
        let t = suffix(dtype)?;
        let p = Gemm::padded(limits.tokens);
        let pairs = p * experts.per_token;
        let what = "the experts' activations";
        let words = |count| Array::zeros(device, count, DType::U32, what);
        Ok(Self {
            dtype,
            activation: config.activation,
            route: kernels.function("moe", ROUTE)?,
            sort: kernels.function("moe", SORT)?,
            products: GroupedProducts::load(kernels, dtype)?,
            combine: kernels.function("moe", &format!("moe_combine_{t}"))?,
            logits: Array::zeros(device, p * routed, DType::F32, what)?,
            chosen: words(pairs)?,
            weights: Array::zeros(device, pairs, DType::F32, what)?,
            offsets: words(experts.count + 1)?,
            permutation: words(pairs)?,
            inverse: words(pairs)?,
            out: Array::zeros(device, pairs * config.hidden, dtype, what)?,
        })
    }

    /// The array for the router's product, `[rows, parts · experts]`.
    pub(super) fn logits(&self) -> Slice<'_> {
        self.logits.all()
    }

    /// Computes the sum of the experts' results from the router's logits.
    pub(super) fn forward(
        &self,
        operations: &Operations,
        mixture: &Mixture,
        call: &Routed,
    ) -> Result<()> {
        let experts = &mixture.config;
        let (n, k, width, hidden) = (
            call.rows,
            experts.per_token,
            experts.intermediate,
            call.hidden,
        );
        let pairs = n * k;
        self.choose(n, mixture)?;
        let order = Order {
            offsets: self.offsets.all(),
            per_token: k,
        };
        self.products.multiply(&Product {
            out: call.gate_up,
            x: call.x,
            weights: &mixture.gate_up,
            rows: pairs,
            experts: Some((order, Some(self.permutation.all()))),
        })?;
        operations.activate(
            Target::Plain(call.gated),
            call.gate_up,
            (pairs, width),
            self.activation,
        )?;
        self.products.multiply(&Product {
            out: self.out.all(),
            x: call.gated,
            weights: &mixture.down,
            rows: pairs,
            experts: Some((order, None)),
        })?;
        self.combine.launch(
            Grid::plane(n, hidden.div_ceil(2048), 256),
            &[
                Arg::Array(call.out.check(COMBINE, "out", self.dtype, n * hidden)?),
                array(self.out.all(), COMBINE, "y", self.dtype, pairs * hidden)?,
                array(self.weights.all(), COMBINE, "weights", DType::F32, pairs)?,
                array(self.inverse.all(), COMBINE, "inverse", DType::U32, pairs)?,
                count(n),
                count(hidden),
                count(k),
            ],
        )
    }

    /// Chooses the experts of each token, and sorts the pairs of token and expert by expert.
    fn choose(&self, n: usize, mixture: &Mixture) -> Result<()> {
        let sizes = &mixture.config;
        let (experts, k) = (sizes.count, sizes.per_token);
        let (pairs, routed) = (n * k, mixture.router.outputs);
        let by_expert = |numbers, name| array_or_null(numbers, ROUTE, name, DType::F32, experts);
        let bias = mixture.router_bias.as_ref().map(Array::all);
        let correction = mixture.correction.as_ref().map(Array::all);
        let scales = mixture.scales.as_ref().map(Array::all);
        self.route.launch(
            Grid::row(n.div_ceil(8), 256),
            &[
                array(self.chosen.all(), ROUTE, "experts", DType::U32, pairs)?,
                array(self.weights.all(), ROUTE, "weights", DType::F32, pairs)?,
                array(self.logits.all(), ROUTE, "logits", DType::F32, n * routed)?,
                by_expert(bias, "bias")?,
                by_expert(correction, "correction")?,
                by_expert(scales, "scales")?,
                count(n),
                count(routed / experts),
                count(experts),
                count(k),
                Arg::U32(u32::from(sizes.normalise)),
                Arg::U32(u32::from(sizes.scores == Scores::Sigmoid)),
                Arg::F32(sizes.scale as f32),
            ],
        )?;
        let permutation = self.permutation.all();
        self.sort.launch(
            Grid::row(if pairs == 0 { 0 } else { experts }, 512),
            &[
                array(self.offsets.all(), SORT, "offsets", DType::U32, experts + 1)?,
                array(permutation, SORT, "permutation", DType::U32, pairs)?,
                array(self.inverse.all(), SORT, "inverse", DType::U32, pairs)?,
                Arg::Array(self.chosen.all().check(SORT, "chosen", DType::U32, pairs)?),
                count(pairs),
                count(experts),
            ],
        )
    }
}
