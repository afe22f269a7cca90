//! Recurrent layers: Gated `DeltaNet` (<https://arxiv.org/abs/2412.06464>), and the states of sequences in them.
//!
//! A layer of this kind keeps no keys and values but one state of fixed size, in f32: for each value head a matrix that maps keys
//! to values, and the last inputs of its convolution. Tokens are taken in one by one in their order, so a state depends on the
//! tokens alone, bit for bit, however they were divided among steps.

use candle_core::{Device, Tensor};
use rayon::prelude::*;

use super::cpu::delta::{COLUMNS, Convolution, Delta, GatedNorm};
use super::cpu::instructions::run;
use super::device::describe;
use super::{ModelError, Obstacle, Result, StateStart, StepBatch, cpu};
use crate::checkpoint::ModelConfig;
use crate::checkpoint::config::RecurrentShape;

/// How a state lies in memory: heads in panels, then the inputs of the convolution.
trait Layout {
    fn panels(&self) -> usize;
    fn heads_size(&self) -> usize;
    fn inputs_size(&self) -> usize;
}

impl Layout for RecurrentShape {
    fn panels(&self) -> usize {
        self.value_dim.div_ceil(COLUMNS)
    }

    fn heads_size(&self) -> usize {
        self.value_heads * self.panels() * self.key_dim * COLUMNS
    }

    fn inputs_size(&self) -> usize {
        (self.taps - 1) * self.channels()
    }
}

/// Bytes of one sequence's state in all layers.
pub fn state_bytes(shape: &RecurrentShape) -> usize {
    shape.layers * (shape.heads_size() + shape.inputs_size()) * size_of::<f32>()
}

/// Refuses a model with recurrent layers on a device that does not compute them: candle's operations do so on the CPU alone. `obstacle`
/// is what keeps our CUDA kernels from running it.
/// Errors: [`ModelError::Unsupported`] saying what to do instead.
pub fn check_device(
    config: &ModelConfig,
    device: &Device,
    obstacle: Option<&Obstacle>,
) -> Result<()> {
    let name = config.family.name();
    let why = match obstacle {
        _ if config.recurrent.is_none() || device.is_cpu() => return Ok(()),
        _ if !device.is_cuda() => format!(
            "they are computed on the CPU and on NVIDIA GPUs, not on {}: run it with --device cpu",
            describe(device)
        ),
        None => return Ok(()),
        Some(Obstacle { what, option }) => format!(
            "a GPU computes them by our CUDA kernels alone, which do not run this model so ({what}): {}run it with --device cpu",
            option.map_or(String::new(), |option| format!("leave out {option}, or "))
        ),
    };
    Err(ModelError::Unsupported(format!(
        "{name} has recurrent layers, and {why}"
    )))
}

/// What a recurrent layer computes with beside its projections, in f32.
pub(crate) struct DeltaWeights {
    /// The convolution's weights by input, the oldest first: `[taps, channels]`.
    pub(crate) convolution: Vec<f32>,
    /// The rate of decay by value head, `-exp(A_log)`.
    pub(crate) rate: Vec<f32>,
    /// What is added to its step, by value head.
    pub(crate) step_bias: Vec<f32>,
    /// The norm of what a head reads, `[value_dim]`.
    pub(crate) norm: Vec<f32>,
    pub(crate) eps: f32,
}

/// A layer's projections of a step's tokens, each `[N, …]`.
pub(crate) struct DeltaInputs<'a> {
    /// Queries, keys and values, `channels` wide.
    pub(crate) qkv: &'a Tensor,
    /// The output's gate, as wide as all value heads.
    pub(crate) gate: &'a Tensor,
    /// The step of decay, by value head.
    pub(crate) step: &'a Tensor,
    /// The share of the correction, by value head.
    pub(crate) beta: &'a Tensor,
}

#[derive(Debug, Clone, Default)]
struct LayerState {
    /// `[value_heads, panels, key_dim, COLUMNS]`; empty before its first use.
    heads: Vec<f32>,
    /// The last inputs of the convolution, `[taps - 1, channels]`.
    inputs: Vec<f32>,
}

impl LayerState {
    fn clear(&mut self, shape: &RecurrentShape) {
        for (numbers, size) in [
            (&mut self.heads, shape.heads_size()),
            (&mut self.inputs, shape.inputs_size()),
        ] {
            numbers.clear();
            numbers.resize(size, 0.0);
        }
    }

    fn copy(&mut self, from: &Self) {
        self.heads.clone_from(&from.heads);
        self.inputs.clone_from(&from.inputs);
    }
}

#[derive(Debug, Clone, Copy)]
struct Row {
    first: usize,
    tokens: usize,
    slot: usize,
    start: StateStart,
    save: Option<usize>,
}

/// The recurrent states of all layers, on the CPU. A slot takes up memory from its first use on.
pub struct RecurrentStates {
    shape: RecurrentShape,
    slots: usize,
    /// By layer and slot.
    states: Vec<Vec<LayerState>>,
    rows: Vec<Row>,
    tokens: usize,
}

impl RecurrentStates {
    pub fn new(shape: RecurrentShape, slots: usize) -> Self {
        Self {
            shape,
            slots,
            states: vec![vec![LayerState::default(); slots]; shape.layers],
            rows: Vec::new(),
            tokens: 0,
        }
    }

    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Checks a step and takes in what its rows do with their states. Called once per step, before the layers.
    /// Errors: [`ModelError::Batch`] when the step does not fit the slots.
    pub fn prepare(&mut self, batch: &StepBatch) -> Result<()> {
        batch.validate_states(self.slots)?;
        self.tokens = batch.tokens.len();
        self.rows.clear();
        for row in &batch.rows {
            if let Some(state) = row.state {
                self.rows.push(Row {
                    first: row.query_start,
                    tokens: row.query_len,
                    slot: state.slot as usize,
                    start: state.start,
                    save: state.save.map(|slot| slot as usize),
                });
            }
        }
        Ok(())
    }

    /// Takes a step's tokens into the states of recurrent layer `layer`, counted among these alone, and returns what they read:
    /// `[N, values]`.
    pub(crate) fn forward(
        &mut self,
        layer: usize,
        weights: &DeltaWeights,
        inputs: &DeltaInputs,
    ) -> Result<Tensor> {
        let (shape, n) = (self.shape, self.tokens);
        let widths = [
            (inputs.qkv, shape.channels()),
            (inputs.gate, shape.values()),
            (inputs.step, shape.value_heads),
            (inputs.beta, shape.value_heads),
        ];
        let fits = widths.iter().all(|(x, width)| x.dims() == [n, *width]);
        if !fits || layer >= shape.layers {
            return Err(ModelError::Batch(format!(
                "recurrent layer {layer} with {:?} does not fit a prepared step of {n} tokens and {shape:?}",
                widths.map(|(x, _)| x.dims().to_vec())
            )));
        }
        let all = [inputs.qkv, inputs.gate, inputs.step, inputs.beta];
        let out = cpu::with_f32(all, |[qkv, gate, step, beta]| {
            Ok(self.layer(layer, weights, qkv, gate, &gates(weights, step, beta)))
        })?;
        Ok(Tensor::from_vec(out, (n, shape.values()), &Device::Cpu)?)
    }

    fn layer(
        &mut self,
        layer: usize,
        weights: &DeltaWeights,
        qkv: &[f32],
        gate: &[f32],
        gates: &[(f32, f32)],
    ) -> Vec<f32> {
        let (shape, rows) = (self.shape, &self.rows);
        let channels = shape.channels();
        let all = &mut self.states[layer];
        let mut states: Vec<LayerState> = Vec::with_capacity(rows.len());
        for row in rows {
            let mut state = std::mem::take(&mut all[row.slot]);
            match row.start {
                StateStart::Zero => state.clear(&shape),
                StateStart::Copy(source) => state.copy(&all[source as usize]),
                StateStart::Continue => {}
            }
            states.push(state);
        }
        let places: Vec<_> = rows
            .iter()
            .enumerate()
            .flat_map(|(index, row)| (0..row.tokens).map(move |place| (index, place)))
            .collect();
        let before: Vec<_> = states.iter().map(|state| state.inputs.as_slice()).collect();
        let x = Convolution {
            x: qkv,
            weight: &weights.convolution,
            channels,
            taps: shape.taps,
            places: &places,
            before: &before,
            key_dim: shape.key_dim,
            key_heads: shape.key_heads,
        }
        .run();
        let (heads, panels) = (shape.value_heads, shape.panels());
        let mut read = vec![0.0; self.tokens * heads * panels * COLUMNS];
        let mut rest = read.as_mut_slice();
        let mut parts = Vec::with_capacity(rows.len());
        for (row, state) in rows.iter().zip(&mut states) {
            let (part, after) = rest.split_at_mut(row.tokens * heads * panels * COLUMNS);
            rest = after;
            parts.push((row, state, part));
        }
        parts.into_par_iter().for_each(|(row, state, read)| {
            let x = &x[row.first * channels..][..row.tokens * channels];
            let gates = &gates[row.first * heads..][..row.tokens * heads];
            state
                .heads
                .par_chunks_mut(shape.key_dim * COLUMNS)
                .zip(read.par_chunks_mut(row.tokens * COLUMNS))
                .enumerate()
                .for_each(|(index, (state, out))| {
                    let (head, panel) = (index / panels, index % panels);
                    let key_head = shape.key_head(head);
                    run(Delta {
                        state,
                        x,
                        channels,
                        key_dim: shape.key_dim,
                        query: key_head * shape.key_dim,
                        key: (shape.key_heads + key_head) * shape.key_dim,
                        value: channels - shape.values() + head * shape.value_dim + panel * COLUMNS,
                        columns: COLUMNS.min(shape.value_dim - panel * COLUMNS),
                        gates,
                        heads,
                        head,
                        out,
                    });
                });
            let tokens = qkv[row.first * channels..][..row.tokens * channels].chunks(channels);
            let kept = (shape.taps - 1).saturating_sub(row.tokens) * channels;
            let gone = state.inputs.len() - kept;
            state.inputs.copy_within(gone.., 0);
            let taken = tokens.rev().take(shape.taps - 1).rev();
            for (to, from) in state.inputs[kept..].chunks_mut(channels).zip(taken) {
                to.copy_from_slice(from);
            }
        });
        let spans: Vec<_> = places
            .iter()
            .map(|&(row, _)| (rows[row].first, rows[row].tokens))
            .collect();
        for (row, state) in rows.iter().zip(states) {
            if let Some(save) = row.save {
                all[save].copy(&state);
            }
            all[row.slot] = state;
        }
        GatedNorm {
            read: &read,
            rows: &spans,
            gate,
            weight: &weights.norm,
            eps: weights.eps,
            heads,
        }
        .run()
    }
}

/// By what each head's state decays at each token, and the share of its correction: `exp(rate · softplus(step + bias))` and
/// `sigmoid(beta)`.
fn gates(weights: &DeltaWeights, step: &[f32], beta: &[f32]) -> Vec<(f32, f32)> {
    let heads = weights.rate.iter().zip(&weights.step_bias).cycle();
    let inputs = step.iter().zip(beta);
    inputs
        .zip(heads)
        .map(|((step, beta), (rate, bias))| {
            let step = step + bias;
            let softplus = if step > 20.0 {
                step
            } else {
                step.exp().ln_1p()
            };
            ((rate * softplus).exp(), 1.0 / (1.0 + (-beta).exp()))
        })
        .collect()
}

#[cfg(test)]
mod tests;
