//! What the device can do at best, measured: matrix products and reading memory.

use std::time::{Duration, Instant};

use candle_core::{DType, Device, Tensor};
use rayon::prelude::*;
use serde::Serialize;

use juror_engine::model::linear::Linear;
use juror_engine::model::precision::WeightType;
use juror_engine::model::{ModelError, Precision};

/// How many rounds each measurement has, of which the best counts.
const ROUNDS: usize = 5;

/// The best measured performance of a device, in the types that the model uses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Ceiling {
    /// Floating-point operations per second of a large matrix product with weights of the model's type, two for each
    /// multiply-add. On the CPU it is this program's own product, so it shows how far the whole model is from its best part.
    pub flops: f64,
    /// Bytes per second read from memory.
    pub bandwidth: f64,
}

impl Ceiling {
    pub(crate) fn measure(device: &Device, precision: Precision) -> Result<Self, ModelError> {
        Ok(Self {
            flops: flops(device, precision)?,
            bandwidth: if device.is_cpu() {
                host_bandwidth()
            } else {
                device_bandwidth(device)?
            },
        })
    }
}

/// The shortest of several rounds, after one to warm up.
fn best(
    device: &Device,
    mut round: impl FnMut() -> Result<(), ModelError>,
) -> Result<Duration, ModelError> {
    let mut least = Duration::MAX;
    for index in 0..=ROUNDS {
        let started = Instant::now();
        round()?;
        device.synchronize()?;
        if index > 0 {
            least = least.min(started.elapsed());
        }
    }
    Ok(least)
}

fn flops(device: &Device, precision: Precision) -> Result<f64, ModelError> {
    let (rows, width) = if device.is_cpu() {
        (512, 2048)
    } else {
        (8192, 8192)
    };
    let x = Tensor::rand(-1.0f32, 1.0, (rows, width), device)?.to_dtype(precision.compute)?;
    let weight = Tensor::rand(-1.0f32, 1.0, (width, width), device)?.to_dtype(precision.compute)?;
    let time = if device.is_cpu() {
        let linear = Linear::new(weight, None, precision.weights)?;
        best(device, || linear.forward(&x).map(drop).map_err(Into::into))?
    } else {
        // FP8 products have twice the rate of the type the ceiling is measured in.
        let weight = weight.t()?;
        best(device, || x.matmul(&weight).map(drop).map_err(Into::into))?
    };
    let is_fp8 = precision.weights == WeightType::F8E4M3;
    let twice = if is_fp8 { 2.0 } else { 1.0 };
    Ok(twice * 2.0 * (rows * width * width) as f64 / time.as_secs_f64())
}

/// Measures reading a buffer larger than any cache, on all threads: a number of each line, which is read as a whole.
fn host_bandwidth() -> f64 {
    const NUMBERS: usize = 1 << 26;
    /// Bytes of a cache line, or half of one.
    const LINE: usize = 64;
    let buffer = vec![1u64; NUMBERS / 2];
    let mut least = Duration::MAX;
    for _ in 0..=ROUNDS {
        let started = Instant::now();
        let sum: u64 = buffer
            .par_chunks(1 << 16)
            .map(|part| {
                let of_lines = part.iter().step_by(LINE / 8);
                of_lines.fold(0u64, |sum, x| sum.wrapping_add(*x))
            })
            .reduce(|| 0, u64::wrapping_add);
        std::hint::black_box(sum);
        least = least.min(started.elapsed());
    }
    (buffer.len() * 8) as f64 / least.as_secs_f64()
}

/// Measures copying a large tensor: each byte is read once and written once.
fn device_bandwidth(device: &Device) -> Result<f64, ModelError> {
    const BYTES: usize = 1 << 30;
    let source = Tensor::zeros(BYTES / 4, DType::F32, device)?;
    let time = best(device, || source.copy().map(drop).map_err(Into::into))?;
    Ok(2.0 * BYTES as f64 / time.as_secs_f64())
}
