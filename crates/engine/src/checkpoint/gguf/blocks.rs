//! Blocks of numbers as GGML stores them (<https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h>).

use half::f16;

use super::StorageType;

pub(crate) const BLOCK: usize = 32;
/// Blocks in a super-block of `Q4_K`, `Q5_K` or `Q6_K`.
pub(crate) const BLOCKS: usize = 8;
/// Bytes of a scale or a minimum, in half precision.
const HALF: usize = 2;
/// MXFP4's numbers (<https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf>).
pub(crate) const E2M1: [f32; 16] = [
    0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0,
];

/// Dequantises the blocks of some rows into `out`, which must have the matching length.
pub(crate) fn dequantize(kind: StorageType, bytes: &[u8], out: &mut [f32]) {
    match kind {
        StorageType::Q8_0 => q8(bytes, out),
        StorageType::Q4_K => each(kind, bytes, out, |bytes, out| {
            let (header, nibbles) = bytes.split_at(16);
            super_block(header, out, |block, i| nibble(nibbles, block, i));
        }),
        StorageType::Q5_K => each(kind, bytes, out, |bytes, out| {
            let (header, rest) = bytes.split_at(16);
            let (fifths, nibbles) = rest.split_at(BLOCK);
            super_block(header, out, |block, i| {
                nibble(nibbles, block, i) | fifth_bit(fifths, block, i) << 4
            });
        }),
        StorageType::Q6_K => each(kind, bytes, out, |bytes, out| {
            let (low, rest) = bytes.split_at(128);
            let (high, rest) = rest.split_at(64);
            let (scales, scale) = rest.split_at(2 * BLOCKS);
            for (part, out) in out.chunks_exact_mut(BLOCK / 2).enumerate() {
                let scale = half(scale) * f32::from(i8::from_le_bytes([scales[part]]));
                for (i, out) in out.iter_mut().enumerate() {
                    let number = six_bits(low, high, part / 2, part % 2 * (BLOCK / 2) + i);
                    *out = scale * (f32::from(number) - 32.0);
                }
            }
        }),
        StorageType::Q4_0 | StorageType::Q5_0 => each(kind, bytes, out, |bytes, out| {
            let zero: i8 = if kind == StorageType::Q5_0 { 16 } else { 8 };
            for (out, number) in out.iter_mut().zip(small(kind, &bytes[HALF..])) {
                *out = f32::from(number.cast_signed() - zero) * half(bytes);
            }
        }),
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
                // No smaller than 2⁻¹²⁷, so the product is exact; and no zero has a sign, as in packed weights.
                let scale = power(block[0]);
                for (out, number) in out.iter_mut().zip(small(kind, &block[1..])) {
                    *out = E2M1[usize::from(number)] * scale + 0.0;
                }
            }
        }
        StorageType::F32 | StorageType::F16 | StorageType::BF16 => {} // They are in no blocks.
    }
}

/// MXFP4 blocks in the order of Safetensors, with neighbours in one byte; GGML has numbers 16 apart.
pub(crate) fn to_pairs(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    for block in bytes.chunks_exact(1 + BLOCK / 2) {
        let numbers = small(StorageType::MXFP4, &block[1..]);
        out.push(block[0]);
        let pairs = numbers.as_chunks().0;
        out.extend(pairs.iter().map(|[first, second]| first | second << 4));
    }
    out
}

/// 2 to the power of `exponent` − 127; 255 is NaN.
pub(crate) fn power(exponent: u8) -> f32 {
    match exponent {
        0 => f32::from_bits(1 << 22),
        255 => f32::NAN,
        _ => f32::from_bits(u32::from(exponent) << 23),
    }
}

fn half(bytes: &[u8]) -> f32 {
    f16::from_le_bytes([bytes[0], bytes[1]]).to_f32()
}

/// The 32 numbers of 4 or 5 bits of a block, without its scale. If there are fifth bits they come first, in four bytes; then nibbles, the low ones first.
pub(crate) fn small(kind: StorageType, bytes: &[u8]) -> [u8; BLOCK] {
    let five = matches!(kind, StorageType::Q5_0 | StorageType::Q5_1);
    let (fifth, nibbles) = bytes.split_at(if five { 4 } else { 0 });
    std::array::from_fn(|i| {
        let nibble = nibbles[i % 16] >> (4 * (i / 16)) & 15;
        let bit = fifth.get(i / 8).map_or(0, |bits| bits >> (i % 8) & 1);
        nibble | bit << 4
    })
}

/// Calls `read` for each block with the room for its numbers.
fn each(kind: StorageType, bytes: &[u8], out: &mut [f32], read: impl Fn(&[u8], &mut [f32])) {
    let (numbers, size) = kind.block();
    for (bytes, out) in bytes.chunks_exact(size).zip(out.chunks_exact_mut(numbers)) {
        read(bytes, out);
    }
}

fn q8(bytes: &[u8], out: &mut [f32]) {
    each(StorageType::Q8_0, bytes, out, |bytes, out| {
        let scale = half(bytes);
        for (out, number) in out.iter_mut().zip(&bytes[HALF..]) {
            *out = f32::from(number.cast_signed()) * scale;
        }
    });
}

/// A super-block of `Q4_K` or `Q5_K`: `d·scale·number − dmin·min`.
fn super_block(header: &[u8], out: &mut [f32], number: impl Fn(usize, usize) -> u8) {
    for (block, out) in out.chunks_exact_mut(BLOCK).enumerate() {
        let (scale, min) = scale_and_min(&header[2 * HALF..], block);
        let scale = half(header) * f32::from(scale);
        let min = half(&header[HALF..]) * f32::from(min);
        for (i, out) in out.iter_mut().enumerate() {
            *out = scale * f32::from(number(block, i)) - min;
        }
    }
}

/// The 6-bit scale and minimum of a block of `Q4_K` or `Q5_K`, from the 12 bytes for eight blocks. The first four blocks have the low 6 bits of a byte for
/// each; of the last four, the low 4 bits share a byte and the high 2 bits are the top bits of the first blocks' bytes.
pub(crate) fn scale_and_min(bytes: &[u8], block: usize) -> (u8, u8) {
    if block < 4 {
        return (bytes[block] & 63, bytes[block + 4] & 63);
    }
    let low = bytes[block + 4];
    (
        low & 15 | bytes[block - 4] >> 6 << 4,
        low >> 4 | bytes[block] >> 6 << 4,
    )
}

/// The nibble of a block's number `i` in `Q4_K` and `Q5_K`: 32 bytes hold one block in the low nibbles and the next in the high ones.
pub(crate) fn nibble(bytes: &[u8], block: usize, i: usize) -> u8 {
    bytes[block / 2 * BLOCK + i] >> (4 * (block % 2)) & 15
}

/// The fifth bit of a block's number `i` in `Q5_K`: a byte for each number holds one bit for every block.
pub(crate) fn fifth_bit(bytes: &[u8], block: usize, i: usize) -> u8 {
    bytes[i] >> block & 1
}

/// A block's number `i` in `Q6_K`: four blocks share 64 bytes of nibbles, the first two blocks in the low ones, and 32 bytes with two bits for each.
pub(crate) fn six_bits(low: &[u8], high: &[u8], block: usize, i: usize) -> u8 {
    let (four, in_four) = (block / 4, block % 4);
    let nibble = low[64 * four + BLOCK * (in_four % 2) + i] >> (4 * (in_four / 2)) & 15;
    let bits = high[BLOCK * four + i] >> (2 * in_four) & 3;
    nibble | bits << 4
}
