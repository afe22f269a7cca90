//! Random weights, for measuring speed without a download.

use candle_core::{DType, Device, Result, Tensor};
use half::bf16;
use rayon::prelude::*;

use super::{CodeKind, Codes};

/// The standard deviation of weights, as transformers initialises them.
const DEVIATION: f32 = 0.02;
/// MXFP4 exponents, with 127 added, under which its 16 numbers have about that deviation.
const EXPONENTS: std::ops::RangeInclusive<u8> = 119..=121;

/// A random tensor in bf16: ones for norms, zeros for biases, uniform numbers with the usual deviation for everything else.
/// Tensors of bytes are MXFP4's blocks and exponents, with about that deviation too.
pub(super) fn tensor(
    seed: u64,
    name: &str,
    dtype: DType,
    shape: &[usize],
    device: &Device,
) -> Result<Tensor> {
    if dtype == DType::U8 {
        let bytes: Vec<u8> = numbers(seed, name, shape)
            .map(|number| {
                if name.ends_with("_scales") {
                    EXPONENTS.start() + (number % EXPONENTS.len() as u64) as u8
                } else {
                    number as u8
                }
            })
            .collect();
        return Tensor::from_vec(bytes, shape, device);
    }
    if name.ends_with("norm.weight") {
        return Tensor::ones(shape, DType::BF16, device);
    }
    if name.rsplit('.').next() == Some("bias") {
        return Tensor::zeros(shape, DType::BF16, device);
    }
    // A uniform distribution over ±a has the deviation a / √3.
    let reach = DEVIATION * 3.0f32.sqrt();
    if !device.is_cpu() {
        return Tensor::rand(-reach, reach, shape, device)?.to_dtype(DType::BF16);
    }
    let values: Vec<bf16> = numbers(seed, name, shape)
        .map(|number| {
            let fraction = (number >> 40) as f32 / (1u64 << 24) as f32;
            bf16::from_f32(reach * (2.0 * fraction - 1.0))
        })
        .collect();
    Tensor::from_vec(values, shape, device)
}

/// Random codes of a matrix, with about that deviation.
pub(super) fn codes(seed: u64, name: &str, kind: CodeKind, shape: &[usize]) -> Option<Codes> {
    let [outputs, inputs] = *shape else {
        return None;
    };
    let across = inputs.div_ceil(kind.inputs_of_factor());
    // Of e4m3's numbers those from 1 to 2 of both signs; of whole numbers all, less eight.
    let (code, factor): (fn(u64) -> u8, f32) = match kind {
        CodeKind::E4m3 => (|number| 0x38 | (number & 0x87) as u8, DEVIATION / 1.5),
        CodeKind::Int4 => (|number| (number & 15) as u8, DEVIATION / 4.6),
    };
    let factor = match kind {
        CodeKind::E4m3 => factor,
        CodeKind::Int4 => f32::from_bits((factor.to_bits() & !255) | 8),
    };
    Some(Codes {
        kind,
        shape: [outputs, inputs],
        codes: numbers(seed, name, shape).map(code).collect(),
        factors: vec![factor; outputs * across],
    })
}

/// A random number for each element of a tensor.
fn numbers(
    seed: u64,
    name: &str,
    shape: &[usize],
) -> impl IndexedParallelIterator<Item = u64> + use<> {
    let mut key = [0; 8];
    key.copy_from_slice(&blake3::hash(name.as_bytes()).as_bytes()[..8]);
    let key = u64::from_le_bytes(key) ^ seed;
    (0..shape.iter().product::<usize>())
        .into_par_iter()
        .map(move |index| mix(key.wrapping_add(index as u64)))
}

/// `SplitMix64`'s output function (Steele, Lea and Flood, 2014): different indices give unrelated numbers.
fn mix(index: u64) -> u64 {
    let z = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
