use candle_core::{Device, Tensor};
use proptest::prelude::*;

use super::{DeltaInputs, DeltaWeights, RecurrentStates};
use crate::checkpoint::config::RecurrentShape;
use crate::model::{BatchRow, RowState, StateStart, StepBatch};

const SHAPES: [RecurrentShape; 3] = [
    shape(2, 4, 16, 40, 4, false),
    shape(2, 6, 24, 32, 4, true),
    shape(1, 1, 128, 128, 2, false),
];

const fn shape(
    key_heads: usize,
    value_heads: usize,
    key_dim: usize,
    value_dim: usize,
    taps: usize,
    converted: bool,
) -> RecurrentShape {
    RecurrentShape {
        layers: 2,
        key_heads,
        value_heads,
        key_dim,
        value_dim,
        taps,
        converted,
    }
}

/// Numbers between -1 and 1 that a seed gives.
fn numbers(seed: u64, count: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2) | 1;
    let mut next = || {
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(0x1405_7b7e_f767_814f);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn weights(shape: &RecurrentShape, layer: u64) -> DeltaWeights {
    let scaled = |seed, count, scale: f32| -> Vec<f32> {
        let numbers = numbers(seed + 100 * layer, count);
        numbers.into_iter().map(|x| x * scale).collect()
    };
    DeltaWeights {
        convolution: scaled(1, shape.taps * shape.channels(), 1.0),
        rate: scaled(2, shape.value_heads, 1.0)
            .into_iter()
            .map(|x| -x.exp())
            .collect(),
        step_bias: scaled(3, shape.value_heads, 1.0),
        norm: scaled(4, shape.value_dim, 1.0),
        eps: 1e-6,
    }
}

/// A sequence's inputs in both layers: qkv, gate, step and beta, token after token.
struct Text([[Vec<f32>; 4]; 2]);

fn widths(shape: &RecurrentShape) -> [usize; 4] {
    [
        shape.channels(),
        shape.values(),
        shape.value_heads,
        shape.value_heads,
    ]
}

fn text(shape: &RecurrentShape, seed: u64, tokens: usize) -> Text {
    let of = |layer: u64| {
        let mut part = 0;
        widths(shape).map(|width| {
            part += 1;
            let numbers = numbers(seed * 97 + layer * 13 + part, tokens * width);
            numbers.into_iter().map(|x| 3.0 * x).collect()
        })
    };
    Text([of(0), of(1)])
}

/// The layer's definition, in f64, token by token: what transformers' `torch_recurrent_gated_delta_rule` computes, and the
/// convolution and the gated norm around it.
fn reference(
    shape: &RecurrentShape,
    weights: &DeltaWeights,
    inputs: &[Vec<f32>; 4],
    tokens: usize,
) -> Vec<f64> {
    let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
    let (channels, values) = (shape.channels(), shape.values());
    let (kd, vd) = (shape.key_dim, shape.value_dim);
    let [qkv, gate, step, beta] = inputs;
    let mut states = vec![vec![vec![0.0; vd]; kd]; shape.value_heads];
    let mut out = Vec::new();
    for t in 0..tokens {
        let convolved: Vec<f64> = (0..channels)
            .map(|c| {
                let taps = (0..shape.taps).filter(|tap| t + tap + 1 >= shape.taps);
                let sum: f64 = taps
                    .map(|tap| {
                        let weight = f64::from(weights.convolution[tap * channels + c]);
                        weight * f64::from(qkv[(t + tap + 1 - shape.taps) * channels + c])
                    })
                    .sum();
                sum * sigmoid(sum)
            })
            .collect();
        let unit = |from: usize| -> Vec<f64> {
            let head = &convolved[from..from + kd];
            let square: f64 = head.iter().map(|x| x * x).sum();
            head.iter().map(|x| x / (square + 1e-6).sqrt()).collect()
        };
        for (j, state) in states.iter_mut().enumerate() {
            let key_head = if shape.converted {
                j % shape.key_heads
            } else {
                j / (shape.value_heads / shape.key_heads)
            };
            let query: Vec<f64> = unit(key_head * kd)
                .iter()
                .map(|x| x / (kd as f64).sqrt())
                .collect();
            let key = unit((shape.key_heads + key_head) * kd);
            let value = &convolved[channels - values + j * vd..][..vd];
            let at = t * shape.value_heads + j;
            let softplus = (f64::from(step[at] + weights.step_bias[j])).exp().ln_1p();
            let decay = (f64::from(weights.rate[j]) * softplus).exp();
            let share = sigmoid(f64::from(beta[at]));
            for row in state.iter_mut() {
                for x in row {
                    *x *= decay;
                }
            }
            let read = |state: &[Vec<f64>], by: &[f64], column: usize| -> f64 {
                state.iter().zip(by).map(|(row, by)| row[column] * by).sum()
            };
            for column in 0..vd {
                let correction = (value[column] - read(state, &key, column)) * share;
                for (row, key) in state.iter_mut().zip(&key) {
                    row[column] += key * correction;
                }
            }
            let head: Vec<f64> = (0..vd).map(|column| read(state, &query, column)).collect();
            let mean = head.iter().map(|x| x * x).sum::<f64>() / vd as f64;
            for (column, x) in head.iter().enumerate() {
                let gate = f64::from(gate[t * values + j * vd + column]);
                let normed = x / (mean + f64::from(weights.eps)).sqrt();
                out.push(normed * f64::from(weights.norm[column]) * gate * sigmoid(gate));
            }
        }
    }
    out
}

/// A part of a text in a step: its number, its first token, how many, and what becomes of its state.
struct Part {
    text: usize,
    first: usize,
    tokens: usize,
    state: RowState,
}

/// Runs a step of both layers; returns the outputs of each part.
fn step(
    states: &mut RecurrentStates,
    shape: &RecurrentShape,
    texts: &[Text],
    parts: &[Part],
) -> [Vec<Vec<f32>>; 2] {
    let mut batch = StepBatch::default();
    for part in parts {
        batch.rows.push(BatchRow {
            query_start: batch.tokens.len(),
            query_len: part.tokens,
            context_len: part.first + part.tokens,
            state: Some(part.state),
            ..BatchRow::default()
        });
        batch.tokens.extend(vec![0; part.tokens]);
    }
    states.prepare(&batch).unwrap();
    [0, 1].map(|layer| {
        let widths = widths(shape);
        let [qkv, gate, step, beta] = [0, 1, 2, 3].map(|input| {
            let width = widths[input];
            let numbers: Vec<f32> = parts
                .iter()
                .flat_map(|part| {
                    let all = &texts[part.text].0[layer][input];
                    all[part.first * width..][..part.tokens * width].to_vec()
                })
                .collect();
            Tensor::from_vec(numbers, (batch.tokens.len(), width), &Device::Cpu).unwrap()
        });
        let inputs = DeltaInputs {
            qkv: &qkv,
            gate: &gate,
            step: &step,
            beta: &beta,
        };
        let out = states
            .forward(layer, &weights(shape, layer as u64), &inputs)
            .unwrap()
            .flatten_all()
            .unwrap()
            .to_vec1::<f32>()
            .unwrap();
        batch
            .rows
            .iter()
            .map(|row| {
                let width = shape.values();
                out[row.query_start * width..][..row.query_len * width].to_vec()
            })
            .collect()
    })
}

fn alone(shape: &RecurrentShape, texts: &[Text], text: usize, tokens: usize) -> [Vec<f32>; 2] {
    let mut states = RecurrentStates::new(*shape, 1);
    let state = RowState {
        slot: 0,
        start: StateStart::Zero,
        save: None,
    };
    let part = Part {
        text,
        first: 0,
        tokens,
        state,
    };
    step(&mut states, shape, texts, &[part]).map(|mut parts| parts.remove(0))
}

#[test]
fn a_layer_computes_what_its_definition_says() {
    for shape in SHAPES {
        let texts = [text(&shape, 5, 23)];
        for (layer, out) in alone(&shape, &texts, 0, 23).iter().enumerate() {
            let weights = weights(&shape, layer as u64);
            let expected = reference(&shape, &weights, &texts[0].0[layer], 23);
            assert_eq!(out.len(), expected.len());
            for (at, (x, expected)) in out.iter().zip(&expected).enumerate() {
                let difference = (f64::from(*x) - expected).abs();
                assert!(
                    difference < 2e-5 * (1.0 + expected.abs()),
                    "{shape:?} layer {layer}, number {at}: {x} instead of {expected}"
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]
    #[test]
    fn chunks_neighbours_and_snapshots_change_no_bit(
        shape in 0..SHAPES.len(), chunks in prop::collection::vec((1..9usize, 1..9usize), 1..7), branch in 0..7usize,
    ) {
        let shape = SHAPES[shape];
        let lengths = [0, 1].map(|text| chunks.iter().map(|chunk| [chunk.0, chunk.1][text]).sum::<usize>());
        // The third goes on as the first does after its `branch`-th chunk.
        let texts = [text(&shape, 1, lengths[0]), text(&shape, 2, lengths[1])];
        let expected = [0, 1].map(|text| alone(&shape, &texts, text, lengths[text]));
        let mut states = RecurrentStates::new(shape, 5);
        let (mut done, mut branched) = ([0, 0], None);
        let (mut all, mut other) = ([vec![], vec![], vec![], vec![]], [vec![], vec![]]);
        for (at, chunk) in chunks.iter().enumerate() {
            let start = if at == 0 { StateStart::Zero } else { StateStart::Continue };
            let save = (at == branch).then_some(4);
            let parts: Vec<_> = [0, 1].into_iter().rev().map(|text| Part {
                text, first: done[text], tokens: [chunk.0, chunk.1][text],
                state: RowState { slot: [3, 1][text], start, save: save.filter(|_| text == 0) },
            }).collect();
            for (layer, outs) in step(&mut states, &shape, &texts, &parts).into_iter().enumerate() {
                for (text, out) in [1, 0].into_iter().zip(outs) {
                    all[2 * layer + text].extend(out);
                }
            }
            done = [done[0] + chunk.0, done[1] + chunk.1];
            if at == branch {
                branched = Some(done[0]);
            }
        }
        for layer in 0..2 {
            for text in 0..2 {
                prop_assert_eq!(&all[2 * layer + text], &expected[text][layer]);
            }
        }
        if let Some(first) = branched.filter(|first| *first < lengths[0]) {
            // Token by token, from the snapshot.
            for token in first..lengths[0] {
                let start = if token == first { StateStart::Copy(4) } else { StateStart::Continue };
                let state = RowState { slot: 0, start, save: None };
                let part = Part { text: 0, first: token, tokens: 1, state };
                for (layer, mut outs) in step(&mut states, &shape, &texts, &[part]).into_iter().enumerate() {
                    other[layer].extend(outs.remove(0));
                }
            }
            for layer in 0..2 {
                let from = first * shape.values();
                prop_assert_eq!(&other[layer][..], &expected[0][layer][from..]);
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let shape = SHAPES[0];
    let row = |slot, start, save, context_len| BatchRow {
        query_len: 1,
        context_len,
        state: Some(RowState { slot, start, save }),
        ..BatchRow::default()
    };
    let cases = [
        (vec![row(3, StateStart::Zero, None, 1)], "does not fit"),
        (vec![row(0, StateStart::Zero, None, 2)], "does not fit"),
        (vec![row(0, StateStart::Continue, None, 1)], "does not fit"),
        (
            vec![row(0, StateStart::Continue, Some(0), 2)],
            "does not fit",
        ),
        (
            vec![
                row(0, StateStart::Zero, None, 1),
                row(0, StateStart::Zero, None, 1),
            ],
            "row 1",
        ),
        (
            vec![
                row(0, StateStart::Zero, Some(1), 1),
                row(2, StateStart::Copy(1), None, 2),
            ],
            "read and written",
        ),
        (
            vec![BatchRow {
                query_len: 1,
                context_len: 1,
                ..BatchRow::default()
            }],
            "no state",
        ),
    ];
    for (rows, message) in cases {
        let batch = StepBatch {
            rows,
            ..StepBatch::default()
        };
        let error = RecurrentStates::new(shape, 3).prepare(&batch).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}
