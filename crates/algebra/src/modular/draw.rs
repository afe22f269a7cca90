//! Pseudo-random numbers, the same on every machine: seeds from expressions, elements for variables and functions.

use std::hash::{Hash, Hasher};

use crate::expr::Expr;

/// What a drawn value stands for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Draw {
    Symbol = 1,
    Constant,
    Power,
    Call,
    Apply,
    Binder,
    Turn,
}

/// Mixes two words well.
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let mut word = (a ^ b.rotate_left(32)).wrapping_add(0x9E37_79B9_7F4A_7C15);
    word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (word ^ (word >> 31)).wrapping_add(b.wrapping_mul(0xD6E8_FEB8_6659_FD93))
}

pub(super) fn mix_text(seed: u64, text: &str) -> u64 {
    text.as_bytes().chunks(8).fold(seed, |seed, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix(seed, u64::from_le_bytes(word))
    })
}

/// A number drawn from an expression, the same on every machine.
pub(super) fn seed(expr: &Expr) -> u64 {
    let mut hasher = Fowler(0xCBF2_9CE4_8422_2325);
    expr.hash(&mut hasher);
    mix(hasher.0, 0x1234_5678)
}

/// Fowler–Noll–Vo by words.
struct Fowler(u64);

impl Hasher for Fowler {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0000_0100_0000_01B3);
        self.0 ^= self.0 >> 29;
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }
}
