//! Evaluation modulo primes: proves equality, and of rational functions and roots of rationals also difference.

mod combinatorial;
mod field;
mod functions;
mod lane;
mod linear;
mod primes;

use std::hash::{Hash, Hasher};

use super::budget::{Budget, Failure, Outcome};
use crate::rules::expr::Expr;
use lane::Lane;
use primes::PRIMES;

pub(super) use lane::Traits;

/// What evaluation modulo primes tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The difference is 0 in every lane, and no sign was drawn.
    Equal,
    /// The difference is 0 in every lane, but for signs that were drawn; the true ones have to be looked at.
    EqualUpToSigns,
    /// Proved.
    Different,
    /// A denominator is 0, whatever the variables.
    Undefined,
    /// Not told.
    Open,
}

/// Lanes that have to agree: each is wrong with a probability of about 2^−60.
const LANES: usize = 2;
/// The same where signs are drawn.
const SIGNED_LANES: usize = 6;
/// So many lanes without a value, and another way has to be found.
const MISSES: usize = 16;

/// Compares two expressions.
pub(super) fn compare(
    a: &Expr,
    b: &Expr,
    traits: &Traits<'_>,
    budget: &mut Budget,
) -> Outcome<Verdict> {
    let seed = seed(a).wrapping_add(seed(b));
    let (mut zeros, mut misses, mut undefined) = (0, 0, 0);
    let mut any_signed = false;
    for round in 0..PRIMES.len() {
        let at = (seed as usize).wrapping_add(round) % PRIMES.len();
        let mut lane = Lane::new(&PRIMES[at], seed.wrapping_add(round as u64), traits, budget);
        let left = lane.value(a);
        let right = left.and_then(|left| Ok((left, lane.value(b)?)));
        any_signed |= lane.signed.get();
        match right {
            Ok((left, right)) if left == right => {
                zeros += 1;
                if !any_signed && zeros >= LANES {
                    return Ok(Verdict::Equal);
                }
                if zeros >= SIGNED_LANES {
                    return Ok(Verdict::EqualUpToSigns);
                }
            }
            Ok(_) => {
                return Ok(if lane.faithful.get() {
                    Verdict::Different
                } else {
                    Verdict::Open
                });
            }
            Err(Failure::Undefined) => {
                undefined += 1;
                if undefined >= LANES && zeros == 0 {
                    return Ok(if any_signed {
                        Verdict::Open
                    } else {
                        Verdict::Undefined
                    });
                }
            }
            Err(Failure::Unknown) => {
                misses += 1;
                if misses >= MISSES {
                    return Ok(Verdict::Open);
                }
            }
            Err(Failure::TooComplex) => {
                if budget.steps == 0 {
                    return Err(Failure::TooComplex);
                }
                return Ok(Verdict::Open);
            }
        }
    }
    Ok(Verdict::Open)
}

/// A number drawn from an expression, the same on every machine.
fn seed(expr: &Expr) -> u64 {
    let mut hasher = Fowler(0xCBF2_9CE4_8422_2325);
    expr.hash(&mut hasher);
    lane::mix(hasher.0, 0x1234_5678)
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
