//! Codes in the order of the kernels (`kernels/weight_formats.cuh`): eight outputs by 16 inputs (FP8) or 32 (four bits) are 128
//! bytes, four words for each output.

use rayon::prelude::*;

use crate::checkpoint::weights::{CodeKind, Codes};

/// How many inputs a tile has: what its factors lie side by side for.
const TILE: usize = 64;

/// Codes and factors as the kernels read them.
pub struct Fragments {
    /// `[outputs / 8, inputs / 16 or 32, 8, 16]` bytes.
    pub codes: Vec<u8>,
    /// `[outputs / 8, up(inputs, 64), factors of a tile, 8]`
    pub factors: Vec<f32>,
}

/// Bytes of codes and number of factors for a weight of `[outputs, inputs]`.
pub fn sizes(kind: CodeKind, [outputs, inputs]: [usize; 2]) -> [usize; 2] {
    let codes = match kind {
        CodeKind::E4m3 => outputs * inputs,
        CodeKind::Int4 => outputs * inputs / 2,
    };
    let of_tile = TILE / kind.inputs_of_factor();
    [codes, outputs * inputs.div_ceil(TILE) * of_tile]
}

impl Fragments {
    /// Puts codes in order; `None` for sizes that the kernels do not take.
    pub fn from_codes(codes: &Codes) -> Option<Self> {
        let [outputs, inputs] = codes.shape;
        let across = match codes.kind {
            CodeKind::E4m3 => 16,
            CodeKind::Int4 => 32,
        };
        if outputs * inputs == 0 || !outputs.is_multiple_of(8) || !inputs.is_multiple_of(across) {
            return None;
        }
        let [bytes, factors] = sizes(codes.kind, codes.shape);
        let mut all = Self {
            codes: vec![0; bytes],
            factors: vec![0.0; factors],
        };
        let octets = outputs / 8;
        let stored = codes.factors.len() / outputs;
        all.codes
            .par_chunks_exact_mut(bytes / octets)
            .zip(all.factors.par_chunks_exact_mut(factors / octets))
            .enumerate()
            .for_each(|(octet, (to, factors))| {
                for output in 0..8 {
                    let row = octet * 8 + output;
                    let codes_of_row = &codes.codes[row * inputs..][..inputs];
                    for (group, some) in codes_of_row.chunks_exact(across).enumerate() {
                        let to = &mut to[(group * 8 + output) * 16..][..16];
                        match codes.kind {
                            CodeKind::E4m3 => e4m3_words(some, to),
                            CodeKind::Int4 => int4_words(some, to),
                        }
                    }
                    let factors_of_row = &codes.factors[row * stored..][..stored];
                    for (factor, to) in factors_of_row.iter().zip(factors.chunks_exact_mut(8)) {
                        to[output] = *factor;
                    }
                }
            });
        Some(all)
    }
}

/// The bytes of word `t` are inputs 2t, 2t+1, 2t+8 and 2t+9 of 16.
fn e4m3_words(codes: &[u8], to: &mut [u8]) {
    for (t, word) in to.chunks_exact_mut(4).enumerate() {
        let [low, high] = [2 * t, 2 * t + 8];
        word.copy_from_slice(&[codes[low], codes[low + 1], codes[high], codes[high + 1]]);
    }
}

/// Pairs 0 to 3 of word `t` begin at inputs 2t, 2t+8, 2t+16 and 2t+24 of 32; the firsts lie from bit 0 up, the seconds from 16.
fn int4_words(codes: &[u8], to: &mut [u8]) {
    for (t, word) in to.chunks_exact_mut(4).enumerate() {
        let bits = (0..4).fold(0, |bits, pair| {
            let at = 2 * t + 8 * pair;
            let [first, second] = [u32::from(codes[at] & 15), u32::from(codes[at + 1] & 15)];
            bits | first << (4 * pair) | second << (16 + 4 * pair)
        });
        word.copy_from_slice(&u32::to_le_bytes(bits));
    }
}
