//! The CUDA device against the CPU: golden logits, attention, the engine however it is set up, verdicts.
//!
//! Compiled with the feature `cuda` alone, and every test needs a GPU; `scripts/test_gpu.sh` runs them. What can be equal
//! to the bit on the CPU is here equal within a stated tolerance: cuBLAS adds in an order that depends on the number of
//! rows. Lines that begin with `measured` are for the report.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "../paged/mod.rs"]
mod paged;
#[path = "../paged/reference.rs"]
mod reference;

mod attention;
mod compare_attention;
mod engines;
mod fast;
mod golden;
mod kernels;
mod random_model;
mod sinks;
mod verdicts;

use std::path::PathBuf;

use candle_core::{DType, Device, Tensor};
use juror_engine::checkpoint::{ModelConfig, Weights};
use juror_engine::model::{Decoder, DeviceChoice, Precision};

/// Checkpoints in `tests/data` that every comparison takes.
const CHECKPOINTS: [&str; 2] = ["qwen3-tied", "qwen3-untied"];
/// Token positions of a KV block, where a test does not choose.
const BLOCK: usize = 4;

/// What a precision may cost.
struct Tolerance {
    dtype: DType,
    /// A logit may differ from the golden one by this, and all of them on average by a tenth of it. Logits lie between −5
    /// and 5. In bf16, Hugging Face transformers on a CPU is up to 0.20 (0.02 on average) away from the same goldens.
    logit: f32,
    /// An output of attention, or a log-sum-exp, may differ by this; values are around 1. In bf16 the same sums on a
    /// CPU are up to 0.012 away from those in f64.
    attention: f32,
    /// Greedy tokens may part where the logits of the two differ by less than this.
    tie: f32,
    /// Share of sequences whose greedy tokens must not part at all.
    same: f64,
}

const F32: Tolerance = Tolerance {
    dtype: DType::F32,
    logit: 5e-4,
    attention: 5e-5,
    tie: 1e-3,
    same: 0.95,
};
const BF16: Tolerance = Tolerance {
    dtype: DType::BF16,
    logit: 0.5,
    attention: 0.03,
    tie: 0.4,
    // Two precisions, or two orders of adding in the rougher one, are expected to part; how often is for the report.
    same: 0.0,
};

fn gpu() -> Device {
    DeviceChoice::Cuda(0).open().unwrap()
}

/// The repository, or a copy of its data on a machine that has no cargo (`scripts/build_cuda.sh`).
fn root() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from)
}

struct Checkpoint {
    folder: PathBuf,
    config: ModelConfig,
    weights: Weights,
}

impl Checkpoint {
    fn open(name: &str) -> Self {
        let folder = root().join("tests/data/checkpoints").join(name);
        let source = juror_judge::catalog::resolve(folder.to_str().unwrap()).unwrap();
        Self {
            config: ModelConfig::load(&source).unwrap(),
            weights: Weights::open(&source).unwrap(),
            folder,
        }
    }

    fn decoder(&self, device: &Device, dtype: DType) -> Decoder {
        Decoder::load(&self.config, &self.weights, device, Precision::all(dtype)).unwrap()
    }
}

/// Largest and mean absolute difference.
#[derive(Default)]
struct Difference {
    worst: f32,
    sum: f64,
    count: usize,
}

impl Difference {
    fn add(&mut self, ours: &[f32], expected: &[f32]) {
        assert_eq!(ours.len(), expected.len());
        for (a, b) in ours.iter().zip(expected) {
            let difference = (a - b).abs();
            // A comparison with NaN is false: say so instead of taking it for small.
            assert!(!difference.is_nan(), "{a} instead of {b}");
            self.worst = self.worst.max(difference);
            self.sum += f64::from(difference);
            self.count += 1;
        }
    }

    fn mean(&self) -> f64 {
        self.sum / self.count.max(1) as f64
    }
}

/// Numbers that look random, around 0 with deviation 1, rounded to `dtype`.
fn random(seed: u64, shape: (usize, usize, usize), dtype: DType) -> Tensor {
    let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut uniform = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 40) as f32 / (1u64 << 24) as f32
    };
    let count = shape.0 * shape.1 * shape.2;
    let values: Vec<f32> = (0..count)
        .map(|_| ((0..4).map(|_| uniform()).sum::<f32>() - 2.0) * 3f32.sqrt())
        .collect();
    Tensor::from_vec(values, shape, &Device::Cpu)
        .unwrap()
        .to_dtype(dtype)
        .unwrap()
}

/// All numbers of a tensor, wherever it is.
fn floats(x: &Tensor) -> Vec<f32> {
    // To the host first, which converts every type.
    let x = x
        .to_device(&Device::Cpu)
        .unwrap()
        .to_dtype(DType::F32)
        .unwrap();
    x.flatten_all().unwrap().to_vec1().unwrap()
}
