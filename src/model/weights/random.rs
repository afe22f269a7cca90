//! Made-up weights.

use candle_core::{DType, Device, Result, Tensor};
use half::bf16;
use rayon::prelude::*;

/// Standard deviation of weights, as transformers initialises them.
const DEVIATION: f32 = 0.02;

/// A tensor in bf16: ones for norms, zeros for biases, uniform with the usual deviation for everything else.
pub(super) fn tensor(seed: u64, name: &str, shape: &[usize], device: &Device) -> Result<Tensor> {
    if name.ends_with("norm.weight") {
        return Tensor::ones(shape, DType::BF16, device);
    }
    if name.rsplit('.').next() == Some("bias") {
        return Tensor::zeros(shape, DType::BF16, device);
    }
    // A uniform distribution over ±a deviates by a / √3.
    let reach = DEVIATION * 3.0f32.sqrt();
    if !device.is_cpu() {
        return Tensor::rand(-reach, reach, shape, device)?.to_dtype(DType::BF16);
    }
    let mut key = [0; 8];
    key.copy_from_slice(&blake3::hash(name.as_bytes()).as_bytes()[..8]);
    let key = u64::from_le_bytes(key) ^ seed;
    let values: Vec<bf16> = (0..shape.iter().product::<usize>() as u64)
        .into_par_iter()
        .map(|index| {
            let fraction = (mix(key.wrapping_add(index)) >> 40) as f32 / (1u64 << 24) as f32;
            bf16::from_f32(reach * (2.0 * fraction - 1.0))
        })
        .collect();
    Tensor::from_vec(values, shape, device)
}

/// `SplitMix64`'s output function (Steele, Lea and Flood, 2014): distinct numbers give unrelated ones.
fn mix(index: u64) -> u64 {
    let z = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
