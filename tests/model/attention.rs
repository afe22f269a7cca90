//! Attention: the implementations against the reference, the exactness of merging, and the bitwise independence of a
//! token's result from what else is computed with it.

// Comparisons are of bits where they are exact, which is the point.
use std::sync::LazyLock;

use crate::paged::{Blocks, Sequence, step};
use crate::reference::reference;
use candle_core::{DType, Device, Tensor};
use juror_engine::model::StepBatch;
use juror_engine::model::attention::{
    self, Attention, AttentionKind, AttentionOutput, AttentionShape, CacheLayout, LayerKind,
};
use juror_engine::model::linear::Linear;
use juror_engine::model::precision::WeightType;

/// What a KV cache on the CPU can be stored in.
const DTYPES: [DType; 3] = [DType::F32, DType::F16, DType::BF16];

/// Values are around 1; f32 sums over a thousand keys differ from f64 sums by less than this.
const TOLERANCE: f32 = 1e-5;

/// Of layer after layer.
const WINDOWS: [Option<usize>; 3] = [None, Some(23), Some(100)];

/// Implementations of attention; none is the reference.
const KINDS: [Option<AttentionKind>; 3] =
    [None, Some(AttentionKind::Tiled), Some(AttentionKind::Plain)];

fn with_dtypes<T: Clone, const N: usize>(cases: [T; N]) -> impl Iterator<Item = (T, DType)> {
    cases
        .into_iter()
        .flat_map(|case| DTYPES.map(|dtype| (case.clone(), dtype)))
}

/// Numbers that look random, around 0 with deviation 1; `count` of them, which follow from the other arguments alone.
fn noise(kind: u64, layer: usize, token: u32, position: usize, count: usize) -> &'static [f32] {
    // Parts of one table: a number made for each use would take most of these tests' time.
    static NUMBERS: LazyLock<Vec<f32>> = LazyLock::new(|| {
        let number = |at| {
            let x = scramble(at);
            let uniform = |bits: u64| (bits & 0xffff) as f32 / 65536.0;
            let sum = uniform(x) + uniform(x >> 16) + uniform(x >> 32) + uniform(x >> 48);
            (sum - 2.0) * 3f32.sqrt()
        };
        (0..1 << 20).map(number).collect()
    });
    let start =
        scramble(kind ^ (layer as u64) << 8 ^ u64::from(token) << 16 ^ (position as u64) << 32)
            as usize
            % (NUMBERS.len() - count);
    &NUMBERS[start..start + count]
}

fn scramble(mut x: u64) -> u64 {
    for _ in 0..3 {
        x = (x ^ (x >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    x
}

/// `[N, heads, head_dim]`: each token's vectors follow from its id and position, as a prefix cache supposes.
fn vectors(kind: u64, layer: usize, batch: &StepBatch, heads: usize, head_dim: usize) -> Tensor {
    let mut values = Vec::new();
    for (&token, &position) in batch.tokens.iter().zip(&batch.positions) {
        let width = heads * head_dim;
        values.extend_from_slice(noise(kind, layer, token, position as usize, width));
    }
    Tensor::from_vec(values, (batch.tokens.len(), heads, head_dim), &Device::Cpu).unwrap()
}

fn run(
    attention: &mut dyn Attention,
    shape: &AttentionShape,
    batch: &StepBatch,
) -> Vec<AttentionOutput> {
    attention.prepare(batch).unwrap();
    (0..shape.layers)
        .map(|layer| {
            let q = vectors(1, layer, batch, shape.heads, shape.head_dim);
            let k = vectors(2, layer, batch, shape.kv_heads, shape.head_dim);
            let v = vectors(3, layer, batch, shape.kv_heads, shape.head_dim);
            let window = WINDOWS[layer % WINDOWS.len()];
            attention.forward(layer, window, &q, &k, &v).unwrap()
        })
        .collect()
}

/// An attention and its cache on the CPU; the reference where no kind is named.
pub(crate) fn build(
    kind: impl Into<Option<AttentionKind>>,
    shape: &AttentionShape,
    blocks: usize,
    block_size: usize,
    dtype: DType,
) -> Box<dyn Attention> {
    match kind.into() {
        Some(kind) => {
            attention::build(kind, shape, blocks, block_size, &Device::Cpu, dtype).unwrap()
        }
        None => reference(*shape, blocks, block_size, dtype),
    }
}

/// The caches of all kinds of a model's layers.
pub(crate) fn build_all(
    kind: Option<AttentionKind>,
    layout: &CacheLayout,
    blocks: usize,
    block_size: usize,
    dtype: DType,
) -> Box<dyn Attention> {
    let build =
        |layers: &LayerKind| Ok::<_, ()>(build(kind, &layers.shape, blocks, block_size, dtype));
    layout.build(build).unwrap()
}

fn worst(a: &Tensor, b: &Tensor) -> f32 {
    assert_eq!(a.dims(), b.dims());
    (a - b)
        .unwrap()
        .abs()
        .unwrap()
        .flatten_all()
        .unwrap()
        .max(0)
        .unwrap()
        .to_scalar()
        .unwrap()
}

/// Outputs of one token over all layers, as bits.
fn bits(outputs: &[AttentionOutput], token: usize) -> Vec<u32> {
    outputs
        .iter()
        .flat_map(|layer| {
            let output = layer
                .output
                .get(token)
                .unwrap()
                .flatten_all()
                .unwrap()
                .to_vec1::<f32>()
                .unwrap();
            let lse = layer.lse.get(token).unwrap().to_vec1::<f32>().unwrap();
            output.into_iter().chain(lse).map(f32::to_bits)
        })
        .collect()
}

fn tokens(seed: u64, count: usize) -> Vec<u32> {
    (0..count)
        .map(|i| (noise(9, seed as usize, 0, i, 1)[0].abs() * 1000.0) as u32)
        .collect()
}

/// Sequences that share the blocks of a prefix, with tails of their own.
fn family(blocks: &mut Blocks, prefix: usize, tails: &[usize]) -> Vec<Sequence> {
    let shared = blocks.sequence(&tokens(0, prefix));
    let whole = prefix / blocks.size;
    tails
        .iter()
        .enumerate()
        .map(|(index, tail)| {
            let mut sequence = Sequence {
                tokens: shared.tokens[..whole * blocks.size].to_vec(),
                cached: 0,
                blocks: shared.blocks[..whole].to_vec(),
                long: false,
                state: None,
            };
            sequence.tokens.extend(tokens(1 + index as u64, *tail));
            blocks.grow(&mut sequence);
            sequence
        })
        .collect()
}

#[test]
fn tiled_and_plain_equal_the_reference() {
    let cases = [
        // heads, kv_heads, head_dim, block_size
        (1, 1, 16, 16),
        (4, 2, 32, 16),
        (8, 2, 64, 32),
        (8, 1, 128, 16),
        (2, 2, 16, 4),
        (6, 3, 24, 5),
        (4, 4, 8, 64),
        (4, 2, 20, 100),
    ];
    for ((heads, kv_heads, head_dim, block_size), dtype) in with_dtypes(cases) {
        let shape = AttentionShape {
            layers: 3,
            heads,
            kv_heads,
            head_dim,
            // A bound that scores reach, in every other case.
            softcap: (heads == 4).then_some(1.5),
        };
        let count = 4000 / block_size + 40;
        // Plain attention in 16 bits rounds more than keys and values.
        let kinds = if dtype == DType::F32 { 3 } else { 2 };
        let mut caches: Vec<_> = KINDS[..kinds]
            .iter()
            .map(|kind| build(*kind, &shape, count, block_size, dtype))
            .collect();
        let mut blocks = Blocks::new(count as u32, block_size);
        let mut sequences = family(&mut blocks, 150, &[3, 40, 77, 100, 130]);
        sequences.push(blocks.sequence(&tokens(50, 1)));
        sequences.push(blocks.sequence(&tokens(51, 65)));
        // Each step mixes prefill chunks and decode rows; the family's first member fills the shared blocks.
        let whole = 150 / block_size * block_size;
        let steps: [&[(usize, usize)]; 6] = [
            &[(0, whole), (5, 1), (6, 64)],
            &[(6, 1), (0, 2), (1, 30), (2, 77)],
            &[(0, 1), (1, 1), (3, 100), (4, 1)],
            &[(4, 100), (1, 1)],
            &[(4, 1), (1, 1)],
            &[(4, 7)],
        ];
        for parts in steps {
            let mut taken: Vec<(&mut Sequence, usize)> = Vec::new();
            for (index, sequence) in sequences.iter_mut().enumerate() {
                if let Some((_, count)) = parts.iter().find(|(part, _)| *part == index) {
                    if index > 0 && index < 5 && sequence.cached == 0 {
                        sequence.cached = whole;
                    }
                    taken.push((sequence, *count));
                }
            }
            let batch = step(&mut taken, block_size);
            let outputs: Vec<_> = caches
                .iter_mut()
                .map(|cache| run(&mut **cache, &shape, &batch))
                .collect();
            for (other, name) in outputs[1..].iter().zip(["tiled", "plain"]) {
                for (a, b) in outputs[0].iter().zip(other) {
                    let (output, lse) = (worst(&a.output, &b.output), worst(&a.lse, &b.lse));
                    assert!(
                        output < TOLERANCE && lse < TOLERANCE,
                        "{name} {dtype:?} {shape:?}: output {output:e}, lse {lse:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn merged_parts_equal_the_whole() {
    let shape = AttentionShape {
        layers: 1,
        heads: 4,
        kv_heads: 2,
        head_dim: 16,
        softcap: None,
    };
    let text = tokens(3, 200);
    let all = {
        let mut blocks = Blocks::new(20, 16);
        let mut sequence = blocks.sequence(&text);
        let mut cache = build(None, &shape, 20, 16, DType::F32);
        run(&mut *cache, &shape, &step(&mut [(&mut sequence, 200)], 16)).remove(0)
    };
    // The last query over keys 0..cut, and over the others alone: the same vectors, put into sequences of their own.
    let q = vectors(1, 0, &whole_batch(&text), 4, 16)
        .narrow(0, 199, 1)
        .unwrap();
    let (k, v) = (
        vectors(2, 0, &whole_batch(&text), 2, 16),
        vectors(3, 0, &whole_batch(&text), 2, 16),
    );
    let part = |from: usize, to: usize| {
        let mut blocks = Blocks::new(20, 16);
        let mut sequence = blocks.sequence(&text[from..to]);
        let mut cache = build(AttentionKind::Tiled, &shape, 20, 16, DType::F32);
        let batch = step(&mut [(&mut sequence, to - from)], 16);
        cache.prepare(&batch).unwrap();
        let q = q
            .broadcast_as((to - from, 4, 16))
            .unwrap()
            .contiguous()
            .unwrap();
        let (k, v) = (
            k.narrow(0, from, to - from).unwrap(),
            v.narrow(0, from, to - from).unwrap(),
        );
        let out = cache.forward(0, None, &q, &k, &v).unwrap();
        let last = to - from - 1;
        AttentionOutput {
            output: out.output.narrow(0, last, 1).unwrap(),
            lse: out.lse.narrow(0, last, 1).unwrap(),
        }
    };
    for cut in [1, 16, 100, 199] {
        let merged = merge(&part(0, cut), &part(cut, 200)).unwrap();
        let (output, lse) = (
            all.output.narrow(0, 199, 1).unwrap(),
            all.lse.narrow(0, 199, 1).unwrap(),
        );
        assert!(
            worst(&merged.output, &output) < 2e-6 && worst(&merged.lse, &lse) < 2e-6,
            "cut at {cut}"
        );
    }
    let nothing = AttentionOutput {
        output: Tensor::zeros((1, 4, 16), DType::F32, &Device::Cpu).unwrap(),
        lse: Tensor::full(f32::NEG_INFINITY, (1, 4), &Device::Cpu).unwrap(),
    };
    let alone = part(0, 200);
    assert_eq!(
        worst(&merge(&alone, &nothing).unwrap().output, &alone.output),
        0.0
    );
}

/// Attention over the union of two disjoint sets of keys, from the attention over each: outputs are weighted by
/// `e^(lse - lse_union)`, and `lse_union = log(e^lse_a + e^lse_b)`.
///
/// A query that saw no key in one part has a log-sum-exp of −∞ there, and its output there (any finite one) counts nothing.
fn merge(a: &AttentionOutput, b: &AttentionOutput) -> candle_core::Result<AttentionOutput> {
    let dtype = a.output.dtype();
    let high = a.lse.maximum(&b.lse)?;
    let (weight_a, weight_b) = (a.lse.sub(&high)?.exp()?, b.lse.sub(&high)?.exp()?);
    let sum = (&weight_a + &weight_b)?;
    let lse = (high + sum.log()?)?;
    let part = |output: &Tensor, weight: &Tensor| {
        output
            .to_dtype(DType::F32)?
            .broadcast_mul(&weight.div(&sum)?.unsqueeze(2)?)
    };
    let output = (part(&a.output, &weight_a)? + part(&b.output, &weight_b)?)?.to_dtype(dtype)?;
    Ok(AttentionOutput { output, lse })
}

fn whole_batch(text: &[u32]) -> StepBatch {
    step(
        &mut [(&mut Blocks::new(20, 16).sequence(text), text.len())],
        16,
    )
}

/// The bits of the last token's result for each of 64 sequences that share a prompt, computed in some way.
fn family_bits(
    shape: &AttentionShape,
    block_size: usize,
    dtype: DType,
    way: impl Fn(&mut dyn Attention, &mut [Sequence]) -> Vec<Vec<u32>>,
) -> Vec<Vec<u32>> {
    let count = 8192 / block_size;
    let mut cache = build(AttentionKind::Tiled, shape, count, block_size, dtype);
    let mut blocks = Blocks::new(count as u32, block_size);
    let tails: Vec<usize> = (0..64).map(|index| 1 + index * 13 % 90).collect();
    let mut sequences = family(&mut blocks, 333, &tails);
    way(&mut *cache, &mut sequences)
}

#[test]
fn tiled_results_do_not_depend_on_company_chunks_or_sharing() {
    let cases = [(4, 2, 32, 16), (8, 1, 64, 32), (3, 3, 24, 5)];
    for ((heads, kv_heads, head_dim, block_size), dtype) in with_dtypes(cases) {
        let shape = AttentionShape {
            layers: 2,
            heads,
            kv_heads,
            head_dim,
            softcap: None,
        };
        let last_bits = |outputs: &[AttentionOutput], batch: &StepBatch| -> Vec<Vec<u32>> {
            batch
                .rows
                .iter()
                .map(|row| bits(outputs, row.query_start + row.query_len - 1))
                .collect()
        };
        // Each alone, its whole text in one step, in its own cache.
        let alone = family_bits(&shape, block_size, dtype, |_, sequences| {
            sequences
                .iter()
                .map(|sequence| {
                    let count = 600 / block_size;
                    let mut own = build(AttentionKind::Tiled, &shape, count, block_size, dtype);
                    let mut copy = Blocks::new(count as u32, block_size).sequence(&sequence.tokens);
                    let whole = copy.tokens.len();
                    let batch = step(&mut [(&mut copy, whole)], block_size);
                    last_bits(&run(&mut *own, &shape, &batch), &batch).remove(0)
                })
                .collect()
        });
        // All together: the prefix is written by the first, then read by all from shared blocks; last tokens as decode rows.
        for chunk in [1, 7, 512] {
            let together = family_bits(&shape, block_size, dtype, |cache, sequences| {
                let prefix = 333 / block_size * block_size;
                while sequences[0].cached < prefix {
                    let count = chunk.min(prefix - sequences[0].cached);
                    let batch = step(&mut [(&mut sequences[0], count)], block_size);
                    run(cache, &shape, &batch);
                }
                for sequence in sequences.iter_mut() {
                    sequence.cached = prefix;
                }
                loop {
                    let mut parts: Vec<(&mut Sequence, usize)> = Vec::new();
                    for sequence in sequences.iter_mut() {
                        let left = sequence.tokens.len() - 1 - sequence.cached;
                        if left > 0 {
                            parts.push((sequence, left.min(chunk)));
                        }
                    }
                    if parts.is_empty() {
                        break;
                    }
                    let batch = step(&mut parts, block_size);
                    run(cache, &shape, &batch);
                }
                let mut parts: Vec<_> =
                    sequences.iter_mut().map(|sequence| (sequence, 1)).collect();
                let batch = step(&mut parts, block_size);
                last_bits(&run(cache, &shape, &batch), &batch)
            });
            for (index, (a, b)) in alone.iter().zip(&together).enumerate() {
                assert!(
                    a == b,
                    "sequence {index} differs in chunks of {chunk}, {dtype:?} {shape:?}"
                );
            }
        }
    }
}

#[test]
fn linear_rows_do_not_depend_on_their_number() {
    let random = |shape: &[usize]| Tensor::randn(0f32, 1.0, shape, &Device::Cpu).unwrap();
    for (inputs, outputs) in [(160, 1400), (480, 161), (1, 17), (4100, 35), (33, 3)] {
        let (weight, x) = (random(&[outputs, inputs]), random(&[513, inputs]));
        let linear = Linear::new(weight.clone(), None, WeightType::F32).unwrap();
        let rows = |from: usize, count: usize| -> Vec<Vec<u32>> {
            let out = linear
                .forward(&x.narrow(0, from, count).unwrap())
                .unwrap()
                .to_vec2::<f32>()
                .unwrap();
            out.into_iter()
                .map(|row| row.into_iter().map(f32::to_bits).collect())
                .collect()
        };
        let all = rows(0, 513);
        for count in [1, 2, 3, 5, 7, 8, 64, 97] {
            for from in [0, 96, 513 - count] {
                assert!(
                    rows(from, count)[..] == all[from..from + count],
                    "{count} rows, {inputs} inputs"
                );
            }
        }
        let expected = x.matmul(&weight.t().unwrap()).unwrap();
        let difference = worst(&linear.forward(&x).unwrap(), &expected);
        assert!(
            difference < 4e-6 * inputs as f32,
            "{inputs} inputs: {difference:e}"
        );
        let table = linear.rows(&[0, outputs as u32 - 1], &Device::Cpu).unwrap();
        let expected = weight
            .index_select(
                &Tensor::new(&[0, outputs as u32 - 1], &Device::Cpu).unwrap(),
                0,
            )
            .unwrap();
        assert_eq!(worst(&table, &expected), 0.0);
    }
}

#[test]
fn feed_forward_rows_do_not_depend_on_their_number() {
    let random = |shape: &[usize]| Tensor::randn(0f32, 0.1, shape, &Device::Cpu).unwrap();
    let gate_up = Linear::new(random(&[2 * 170, 96]), None, WeightType::F32).unwrap();
    let down = Linear::new(random(&[96, 170]), None, WeightType::F32).unwrap();
    let x = random(&[300, 96]);
    let rows = |from: usize, count: usize| -> Vec<Vec<u32>> {
        let x = x.narrow(0, from, count).unwrap();
        let out = Linear::feed_forward(&gate_up, &down, &x)
            .unwrap()
            .to_vec2::<f32>()
            .unwrap();
        out.into_iter()
            .map(|row| row.into_iter().map(f32::to_bits).collect())
            .collect()
    };
    let all = rows(0, 300);
    for count in [1, 5, 128, 129, 256] {
        for from in [0, 300 - count] {
            assert!(
                rows(from, count)[..] == all[from..from + count],
                "{count} rows"
            );
        }
    }
}

#[test]
fn steps_that_do_not_fit_are_refused() {
    let shape = AttentionShape {
        layers: 1,
        heads: 2,
        kv_heads: 1,
        head_dim: 8,
        softcap: None,
    };
    let good = step(
        &mut [(&mut Blocks::new(8, 4).sequence(&[1, 2, 3, 4, 5]), 5)],
        4,
    );
    for kind in KINDS {
        let mut cache = build(kind, &shape, 8, 4, DType::F32);
        cache.prepare(&good).unwrap();
        let spoiled: [fn(&mut StepBatch); 7] = [
            |batch| batch.slots[2] = 40,
            |batch| batch.rows[0].blocks[1] = 8,
            |batch| batch.rows[0].context_len = 9,
            |batch| batch.rows[0].query_len = 4,
            |batch| batch.positions.truncate(3),
            |batch| batch.logits[0] = 5,
            |batch| batch.rows[0].query_len = usize::MAX,
        ];
        for spoil in spoiled {
            let mut batch = good.clone();
            spoil(&mut batch);
            assert!(cache.prepare(&batch).is_err(), "{kind:?} takes {batch:?}");
        }
    }
}

/// Kilobytes of memory that the process has in use.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.unwrap().trim_end_matches("kB").trim();
    number.parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_cache_takes_memory_only_as_it_is_used() {
    // That of a model of 135 M parameters, with 4,000 blocks: 1.5 GB in 16 bits, in 25 MB a layer and side.
    let shape = AttentionShape {
        layers: 30,
        heads: 9,
        kv_heads: 3,
        head_dim: 64,
        softcap: None,
    };
    for dtype in [DType::F16, DType::BF16] {
        let before = resident();
        let cache =
            attention::build(AttentionKind::Tiled, &shape, 4000, 16, &Device::Cpu, dtype).unwrap();
        let taken = resident().saturating_sub(before);
        assert_eq!(cache.blocks(), 4000);
        // Other tests run beside this one.
        assert!(taken < 700_000, "{taken} kB");
    }
}
