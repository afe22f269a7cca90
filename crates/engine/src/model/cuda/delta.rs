//! Recurrent layers on the device: the states of sequences, and the kernels that take a step's tokens into them
//! (`kernels/README.md`).

use candle_core::{CudaDevice, DType};

use super::array::{Array, Slice};
use super::gemm::{Gemm, Weight};
use super::kernel::{Arg, Function, Grid, Kernels, array, count};
use super::linear::Linear;
use super::operations::suffix;
use crate::checkpoint::config::RecurrentShape;
use crate::model::{ModelError, Result, StateStart, StepBatch};

/// Widths of a query or key head that there are kernels for.
const KEY_DIMS: [usize; 3] = [32, 64, 128];
/// The widest value head: a lane holds eight numbers.
const MOST_VALUES: usize = 256;
/// Columns of a head's state in a block.
const MOST_COLUMNS: usize = 128;
const NONE: u32 = u32::MAX;
const ROW_WORDS: usize = 5;

/// Why the kernels do not run recurrent layers of these sizes; `None` if they do.
pub(super) fn obstacle(shape: &RecurrentShape) -> Option<String> {
    let columns = shape.value_dim.min(MOST_COLUMNS);
    let values = shape.value_dim <= MOST_VALUES
        && columns.is_multiple_of(32)
        && shape.value_dim.is_multiple_of(columns);
    let (key, size) = if !KEY_DIMS.contains(&shape.key_dim) {
        ("linear_key_head_dim", shape.key_dim)
    } else if !values {
        ("linear_value_head_dim", shape.value_dim)
    } else if !shape.value_heads.is_multiple_of(4) {
        ("linear_num_value_heads", shape.value_heads)
    } else if shape.taps > 16 {
        ("linear_conv_kernel_dim", shape.taps)
    } else {
        return None;
    };
    Some(format!("{key} of {size}"))
}

pub(super) struct DeltaLayer {
    /// Its number among the recurrent layers.
    pub(super) index: usize,
    /// Queries, keys and values, then the gate of the output, in one product: `[channels + values, hidden]`.
    pub(super) projected: Linear,
    /// The step of decay, then the share of the correction: `[2 · value_heads, hidden]`, whose results stay in f32.
    pub(super) step_beta: Weight,
    /// f32 `[taps, channels]`
    pub(super) convolution: Array,
    /// f32 `[value_heads]`
    pub(super) rate: Array,
    /// f32 `[value_heads]`
    pub(super) step_bias: Array,
    /// f32 `[value_dim]`
    pub(super) norm: Array,
    pub(super) eps: f32,
}

/// The states of all recurrent layers, and what a step computes in them with.
pub(super) struct States {
    shape: RecurrentShape,
    dtype: DType,
    slots: usize,
    /// For each layer: states of the heads, f32 `[slots, value_heads, key_dim, value_dim]`, and the last inputs of the convolution,
    /// f32 `[slots, taps - 1, channels]`.
    layers: Vec<(Array, Array)>,
    /// Convolved channels, and in place of values what the states return: f32 `[P, channels]`.
    mixed: Array,
    /// f32 `[P, 2 · value_heads]`
    step_beta: Array,
    convolve: Function,
    delta: Function,
    inputs: Function,
    norm: Function,
}

/// A step's rows, as the kernels read them.
pub(super) struct StateRows {
    pub(super) rows: Vec<u32>,
    /// For each token its row.
    pub(super) row_of: Vec<u32>,
}

/// A step's rows on the device.
#[derive(Clone, Copy)]
pub(super) struct PlannedRows<'a> {
    pub(super) tokens: usize,
    pub(super) count: usize,
    pub(super) rows: Slice<'a>,
    pub(super) row_of: Slice<'a>,
}

impl StateRows {
    /// What the rows of a checked step do with their states, the longest first.
    pub(super) fn new(batch: &StepBatch) -> Self {
        let mut order: Vec<usize> = (0..batch.rows.len()).collect();
        order.sort_by_key(|&row| std::cmp::Reverse(batch.rows[row].query_len));
        let mut row_of = vec![0; batch.tokens.len()];
        let mut rows = Vec::with_capacity(ROW_WORDS * order.len());
        for (place, &index) in order.iter().enumerate() {
            let row = &batch.rows[index];
            let Some(state) = row.state else {
                continue;
            };
            row_of[row.query_start..][..row.query_len].fill(place as u32);
            rows.extend([
                row.query_start as u32,
                row.query_len as u32,
                match state.start {
                    StateStart::Zero => NONE,
                    StateStart::Copy(source) => source,
                    StateStart::Continue => state.slot,
                },
                state.slot,
                state.save.unwrap_or(NONE),
            ]);
        }
        Self { rows, row_of }
    }
}

impl States {
    /// Room for `slots` states, and for steps of `tokens` tokens.
    pub(super) fn new(
        device: &CudaDevice,
        kernels: &mut Kernels,
        shape: RecurrentShape,
        dtype: DType,
        (slots, tokens): (usize, usize),
    ) -> Result<Self> {
        let t = suffix(dtype)?;
        let p = Gemm::padded(tokens);
        let zeros = |elements, what| Array::zeros(device, elements, DType::F32, what);
        let heads = slots * shape.values() * shape.key_dim;
        let inputs = slots * (shape.taps - 1).max(1) * shape.channels();
        let mut function = |name: &str| kernels.function("delta", name);
        Ok(Self {
            layers: (0..shape.layers)
                .map(|_| {
                    let what = "recurrent states";
                    Ok((zeros(heads, what)?, zeros(inputs, what)?))
                })
                .collect::<Result<_>>()?,
            mixed: zeros(p * shape.channels(), "activations")?,
            step_beta: zeros(p * 2 * shape.value_heads, "activations")?,
            convolve: function(&format!("delta_convolve_{t}"))?,
            delta: function(&format!("delta_k{}", shape.key_dim))?,
            inputs: function(&format!("delta_inputs_{t}"))?,
            norm: function(&format!("delta_norm_{t}"))?,
            shape,
            dtype,
            slots,
        })
    }

    pub(super) fn slots(&self) -> usize {
        self.slots
    }

    /// Where the product with [`DeltaLayer::step_beta`] goes.
    pub(super) fn step_beta(&self) -> Slice<'_> {
        self.step_beta.all()
    }

    /// Takes a step's tokens into the states of a layer, from `projected` `[n, channels + values]`, and returns what they read, normed
    /// and gated: `out` `[n, values]`.
    pub(super) fn forward<'s>(
        &'s self,
        layer: &'s DeltaLayer,
        step: PlannedRows,
        projected: Slice,
        out: Slice,
    ) -> Result<()> {
        const NAME: &str = "delta";
        let (shape, n) = (&self.shape, step.tokens);
        let (channels, values) = (shape.channels(), shape.values());
        let stride = channels + values;
        let Some((heads, inputs)) = self.layers.get(layer.index) else {
            return Err(ModelError::Batch(format!(
                "recurrent layer {} of {}",
                layer.index,
                self.layers.len()
            )));
        };
        let x = projected.check(NAME, "projected", self.dtype, n * stride)?;
        let f32s = |of: &'s Array, name, count| array(of.all(), NAME, name, DType::F32, count);
        let mixed = f32s(&self.mixed, "mixed", n * channels)?;
        let rows = step.count * ROW_WORDS;
        let rows = array(step.rows, NAME, "rows", DType::U32, rows)?;
        let (key_heads, value_heads) = (count(shape.key_heads), count(shape.value_heads));
        let (key_dim, value_dim) = (count(shape.key_dim), count(shape.value_dim));
        let weight = f32s(&layer.convolution, "convolution", shape.taps * channels)?;
        let heads_of_all = n * (2 * shape.key_heads + shape.value_heads);
        self.convolve.launch(
            Grid::row(heads_of_all.div_ceil(8), 256),
            &[
                mixed,
                Arg::Array(x),
                count(stride),
                Arg::Array(inputs.all()),
                weight,
                rows,
                array(step.row_of, NAME, "row_of", DType::U32, n)?,
                count(n),
                key_heads,
                value_heads,
                key_dim,
                value_dim,
                count(shape.taps),
            ],
        )?;
        let columns = shape.value_dim.min(MOST_COLUMNS);
        let of_heads = shape.value_heads;
        self.delta.launch(
            Grid::plane(values / columns, step.count, 2 * columns),
            &[
                mixed,
                Arg::Array(heads.all()),
                f32s(&self.step_beta, "step and beta", n * 2 * of_heads)?,
                f32s(&layer.rate, "rate", of_heads)?,
                f32s(&layer.step_bias, "bias", of_heads)?,
                rows,
                key_heads,
                value_heads,
                value_dim,
                Arg::U32(u32::from(shape.converted)),
            ],
        )?;
        self.inputs.launch(
            Grid::plane(step.count, channels.div_ceil(256), 256),
            &[
                Arg::Array(inputs.all()),
                Arg::Array(x),
                count(stride),
                rows,
                count(channels),
                count(shape.taps),
            ],
        )?;
        // The gates stand behind the channels in each row.
        let gate = projected.part(channels..n * stride)?;
        self.norm.launch(
            Grid::row((n * shape.value_heads).div_ceil(8), 256),
            &[
                Arg::Array(out.check(NAME, "out", self.dtype, n * values)?),
                mixed,
                count(channels),
                count(channels - values),
                Arg::Array(gate),
                count(stride),
                f32s(&layer.norm, "norm", shape.value_dim)?,
                count(n),
                value_heads,
                value_dim,
                Arg::F32(layer.eps),
            ],
        )
    }
}
