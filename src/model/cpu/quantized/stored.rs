//! Rows as GGML stores them.

use super::{BLOCK, Group, Q4Group, Q5Group, Q6Group, Q8Group};
use crate::checkpoint::gguf::StorageType;
use crate::model::cpu::half::{Bf16, F16, Format};

/// Bytes of a scale, or a minimum.
const HALF: usize = 2;
/// Twice the numbers of MXFP4 (<https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf>).
const TWICE_E2M1: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// The numbers of some rows' blocks; there must be as many as there is room for.
pub fn dequantize(kind: StorageType, bytes: &[u8], out: &mut [f32]) {
    match kind {
        StorageType::Q8_0 => groups::<Q8Group>(bytes, out),
        StorageType::Q4_K => groups::<Q4Group>(bytes, out),
        StorageType::Q5_K => groups::<Q5Group>(bytes, out),
        StorageType::Q6_K => groups::<Q6Group>(bytes, out),
        StorageType::Q4_0 | StorageType::Q5_0 => groups::<Q8Group>(&to_q8(kind, bytes), out),
        StorageType::Q4_1 | StorageType::Q5_1 => {
            let blocks = bytes.chunks_exact(kind.block().1);
            for (block, out) in blocks.zip(out.chunks_exact_mut(BLOCK)) {
                let (scale, min) = (half(block), half(&block[HALF..]));
                for (out, number) in out.iter_mut().zip(small(kind, &block[2 * HALF..])) {
                    *out = f32::from(number) * scale + min;
                }
            }
        }
        StorageType::MXFP4 => {
            let blocks = bytes.chunks_exact(kind.block().1);
            for (block, out) in blocks.zip(out.chunks_exact_mut(BLOCK)) {
                // Half of a power of two that is no smaller than 2⁻¹²⁷, so the product is exact.
                let scale = power(block[0]);
                for (out, number) in out.iter_mut().zip(small(kind, &block[1..])) {
                    *out = f32::from(TWICE_E2M1[usize::from(number)]) * 0.5 * scale;
                }
            }
        }
        StorageType::F32 => {
            for (out, bytes) in out.iter_mut().zip(bytes.as_chunks::<4>().0) {
                *out = f32::from_le_bytes(*bytes);
            }
        }
        StorageType::F16 => sixteen::<F16>(bytes, out),
        StorageType::BF16 => sixteen::<Bf16>(bytes, out),
    }
}

/// Blocks of MXFP4 as Safetensors has them: with neighbours in a byte, where GGML has numbers 16 apart.
pub fn to_pairs(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for block in bytes.chunks_exact(1 + BLOCK / 2) {
        let numbers = small(StorageType::MXFP4, &block[1..]);
        out.push(block[0]);
        let pairs = numbers.as_chunks().0;
        out.extend(pairs.iter().map(|[first, second]| first | second << 4));
    }
    out
}

/// Blocks of `Q4_0` or `Q5_0` as blocks of `Q8_0`, which have the same scale and the same values.
pub fn to_q8(kind: StorageType, bytes: &[u8]) -> Vec<u8> {
    let size = kind.block().1;
    let zero: i8 = if kind == StorageType::Q5_0 { 16 } else { 8 };
    let mut out = Vec::with_capacity(bytes.len() / size * (HALF + BLOCK));
    for block in bytes.chunks_exact(size) {
        out.extend_from_slice(&block[..HALF]);
        let numbers = small(kind, &block[HALF..]);
        out.extend(numbers.map(|number| (number.cast_signed() - zero).cast_unsigned()));
    }
    out
}

/// 2 to the power of `exponent` − 127; 255 is no number.
fn power(exponent: u8) -> f32 {
    match exponent {
        0 => f32::from_bits(1 << 22),
        255 => f32::NAN,
        _ => f32::from_bits(u32::from(exponent) << 23),
    }
}

fn half(bytes: &[u8]) -> f32 {
    F16::to_f32(u16::from_le_bytes([bytes[0], bytes[1]]))
}

/// The 32 numbers of 4 or 5 bits of a block, without its scale: fifth bits in four bytes, where there are, then nibbles,
/// the low ones first.
fn small(kind: StorageType, bytes: &[u8]) -> [u8; BLOCK] {
    let five = matches!(kind, StorageType::Q5_0 | StorageType::Q5_1);
    let (fifth, nibbles) = bytes.split_at(if five { 4 } else { 0 });
    std::array::from_fn(|i| {
        let nibble = nibbles[i % 16] >> (4 * (i / 16)) & 15;
        let bit = fifth.get(i / 8).map_or(0, |bits| bits >> (i % 8) & 1);
        nibble | bit << 4
    })
}

fn groups<G: Group>(bytes: &[u8], out: &mut [f32]) {
    let mut group = G::ZERO;
    let mut numbers = [0.0; 8 * BLOCK];
    let numbers = &mut numbers[..G::BLOCKS * BLOCK];
    for (bytes, out) in bytes
        .chunks(G::STORED)
        .zip(out.chunks_mut(G::BLOCKS * BLOCK))
    {
        group.set(0, bytes);
        group.get(0, numbers);
        out.copy_from_slice(&numbers[..out.len()]);
    }
}

fn sixteen<F: Format<Bits = u16>>(bytes: &[u8], out: &mut [f32]) {
    for (out, bytes) in out.iter_mut().zip(bytes.as_chunks::<2>().0) {
        *out = F::to_f32(u16::from_le_bytes(*bytes));
    }
}
