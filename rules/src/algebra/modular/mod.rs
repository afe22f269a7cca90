//! Evaluation modulo primes: proves equality, and of rational functions and roots of rationals also difference.

mod combinatorial;
mod field;
mod functions;
mod lane;
mod linear;
mod logarithm;
mod primes;

use std::hash::{Hash, Hasher};

use super::budget::{Budget, Failure, Outcome};
use super::walk;
use crate::algebra::Expr;
use crate::algebra::work;
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
    work::charge(2 * (walk::size(a) + walk::size(b)));
    let seed = seed(a).wrapping_add(seed(b));
    let mut count = Count::default();
    let rounds = if traits.constant {
        PRIMES.len()
    } else {
        2 * PRIMES.len()
    };
    for round in 0..rounds {
        let at = (seed as usize).wrapping_add(round) % PRIMES.len();
        let mut lane = Lane::new(&PRIMES[at], seed.wrapping_add(round as u64), traits, budget);
        let values = lane.value(a).and_then(|left| Ok((left, lane.value(b)?)));
        count.signed |= lane.signed.get();
        match values {
            Ok((left, right)) if left == right => count.zeros += 1,
            Ok(_) if lane.faithful.get() => return Ok(Verdict::Different),
            // Signs that are drawn are wrong in some lanes. Those of a constant are looked at in the end.
            Ok(_) if traits.constant && count.signed => count.others += 1,
            Ok(_) => return Ok(Verdict::Open),
            Err(Failure::Undefined) => count.undefined += 1,
            Err(Failure::Unknown) => count.misses += 1,
            Err(Failure::TooComplex) => {
                if budget.steps == 0 {
                    return Err(Failure::TooComplex);
                }
                return Ok(Verdict::Open);
            }
        }
        if let Some(verdict) = count.verdict() {
            return Ok(verdict);
        }
    }
    Ok(Verdict::Open)
}

/// What the lanes have told.
#[derive(Debug, Default)]
struct Count {
    zeros: usize,
    others: usize,
    misses: usize,
    undefined: usize,
    signed: bool,
}

impl Count {
    fn verdict(&self) -> Option<Verdict> {
        if !self.signed && self.zeros >= LANES {
            return Some(Verdict::Equal);
        }
        if self.zeros >= SIGNED_LANES {
            return Some(Verdict::EqualUpToSigns);
        }
        if self.undefined >= LANES && self.zeros == 0 {
            return Some(if self.signed {
                Verdict::Open
            } else {
                Verdict::Undefined
            });
        }
        let hopeless = self.zeros == 0 && self.misses + self.others >= MISSES;
        hopeless.then_some(Verdict::Open)
    }
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
