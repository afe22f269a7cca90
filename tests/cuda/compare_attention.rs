//! Attention on the GPU, by plain operations and by our kernels, against the reference on the CPU.

use candle_core::{DType, Tensor};
use juror_engine::model::attention::{self, Attention, AttentionKind, AttentionShape};

use super::attention::CudaAttention;
use super::paged::{Blocks, Sequence, step};
use super::reference::reference;
use super::{BF16, Difference, F32, Tolerance, floats, gpu, random};

/// Heads, key heads, their width, and tokens of a block.
type Shape = (usize, usize, usize, usize);

/// An implementation of attention on the GPU.
#[derive(Clone, Copy)]
enum Kind {
    /// candle's operations.
    Plain,
    /// Our kernels.
    Kernels { shared_prefix: bool },
}

/// Which attention is compared with the reference.
struct Candidate<'a> {
    name: &'a str,
    kind: Kind,
    /// The type of queries and outputs.
    dtype: DType,
    /// The type of the cache.
    kv: DType,
    allowed: f32,
    shapes: &'a [Shape],
}

fn compare_attention(candidate: &Candidate) {
    let device = gpu();
    for &(heads, kv_heads, head_dim, block_size) in candidate.shapes {
        let shape = AttentionShape {
            layers: 1,
            heads,
            kv_heads,
            head_dim,
            softcap: None,
        };
        let count = 5000 / block_size + 60;
        let mut reference = reference(shape, count, block_size, DType::F32);
        let mut ours: Box<dyn Attention> = match candidate.kind {
            Kind::Plain => {
                let (kind, kv) = (AttentionKind::Plain, candidate.kv);
                attention::build(kind, &shape, count, block_size, &device, kv).unwrap()
            }
            Kind::Kernels { shared_prefix } => {
                let cuda = device.as_cuda_device().unwrap();
                let (kv, prefix) = (candidate.kv, shared_prefix);
                let kernels = CudaAttention::new(shape, count, block_size, cuda, kv, prefix);
                Box::new(kernels.unwrap())
            }
        };
        let mut blocks = Blocks::new(count as u32, block_size);
        let mut sequences: Vec<_> = [700, 65, 130, 1, 333]
            .into_iter()
            .map(|length| blocks.sequence(&vec![0; length]))
            .collect();
        // Three more begin with blocks of the first, which are written in the first step.
        let shared = 256 / block_size;
        for own in [40, 90, 20] {
            let mut sequence = Sequence {
                tokens: vec![0; shared * block_size + own],
                cached: shared * block_size,
                blocks: sequences[0].blocks[..shared].to_vec(),
                long: false,
                state: None,
            };
            blocks.grow(&mut sequence);
            sequences.push(sequence);
        }
        let mut difference = Difference::default();
        // Prefill chunks and decode rows side by side.
        let steps: [&[(usize, usize)]; 5] = [
            &[(0, 512), (1, 64), (3, 1)],
            &[(0, 1), (1, 1), (2, 100), (4, 7), (5, 1), (6, 1), (7, 19)],
            &[(0, 100), (2, 1), (4, 1), (5, 39), (6, 70)],
            &[(0, 1), (2, 1), (4, 1), (6, 1), (7, 1)],
            &[(0, 86), (2, 28), (4, 324)],
        ];
        for (seed, taken) in steps.into_iter().enumerate() {
            let mut parts: Vec<_> = sequences
                .iter_mut()
                .enumerate()
                .filter_map(|(index, sequence)| {
                    let (_, count) = taken.iter().find(|(part, _)| *part == index)?;
                    Some((sequence, *count))
                })
                .collect();
            let batch = step(&mut parts, block_size);
            let n = batch.tokens.len();
            let [q, k, v] = [(heads, 1), (kv_heads, 2), (kv_heads, 3)].map(|(heads, kind)| {
                random(
                    seed as u64 * 3 + kind,
                    (n, heads, head_dim),
                    candidate.dtype,
                )
            });
            let wide = |x: &Tensor| x.to_dtype(DType::F32).unwrap();
            let there = |x: &Tensor| x.to_device(&device).unwrap();
            reference.prepare(&batch).unwrap();
            ours.prepare(&batch).unwrap();
            // Keys and values are written again each time. Windows: shorter than a block, between blocks, and one that cuts
            // the longest rows alone.
            for window in [None, Some(1), Some(7), Some(100), Some(300)] {
                let expected = reference
                    .forward(0, window, &wide(&q), &wide(&k), &wide(&v))
                    .unwrap();
                let ours = ours
                    .forward(0, window, &there(&q), &there(&k), &there(&v))
                    .unwrap();
                for (ours, expected) in [(ours.output, expected.output), (ours.lse, expected.lse)] {
                    difference.add(&floats(&ours), &floats(&expected));
                }
            }
        }
        let (worst, mean) = (difference.worst, difference.mean());
        println!(
            "measured | {}, {heads} heads on {kv_heads} of {head_dim}, {:?} | worst {worst:.1e}, mean {mean:.1e} | {:.0e}",
            candidate.name, candidate.kv, candidate.allowed
        );
        assert!(
            worst < candidate.allowed,
            "{}, {shape:?}, {:?}: worst {worst:e}, mean {mean:e}",
            candidate.name,
            candidate.kv
        );
    }
}

fn compare_plain_attention(precision: &Tolerance) {
    compare_attention(&Candidate {
        name: "attention by plain operations",
        kind: Kind::Plain,
        dtype: precision.dtype,
        kv: precision.dtype,
        allowed: precision.attention,
        shapes: &[
            (1, 1, 16, 16),
            (4, 2, 32, 16),
            (8, 2, 64, 32),
            (8, 1, 128, 16),
            (32, 8, 128, 16),
            (6, 3, 24, 5),
            (4, 2, 20, 100),
        ],
    });
}

#[test]
fn plain_attention_equals_the_reference_f32() {
    compare_plain_attention(&F32);
}

#[test]
fn plain_attention_equals_the_reference_bf16() {
    compare_plain_attention(&BF16);
}

fn compare_cuda_attention(dtype: DType, kv: DType, allowed: f32) {
    for (shared_prefix, name) in [
        (true, "attention by our kernels"),
        (false, "attention by our kernels, prefixes not shared"),
    ] {
        compare_attention(&Candidate {
            name,
            kind: Kind::Kernels { shared_prefix },
            dtype,
            kv,
            allowed,
            shapes: &[
                (8, 2, 64, 32),
                (4, 4, 64, 16),
                (8, 1, 128, 16),
                (16, 8, 128, 16),
                (32, 8, 128, 16),
                (12, 4, 128, 64),
            ],
        });
    }
}

#[test]
fn cuda_attention_equals_the_reference_bf16() {
    compare_cuda_attention(DType::BF16, DType::BF16, BF16.attention);
}

#[test]
fn cuda_attention_equals_the_reference_f16() {
    compare_cuda_attention(DType::F16, DType::F16, 0.006);
}

/// e4m3 has 3 bits after the point: keys and values are up to 1/16 off, of which much cancels in the sums.
#[test]
fn cuda_attention_equals_the_reference_fp8() {
    compare_cuda_attention(DType::BF16, DType::F8E4M3, 0.4);
}
