//! Evaluation modulo primes: proves that expressions are equal, and of rational functions also that they differ.
//!
//! | file | what it does |
//! |---|---|
//! | `field` | the primes; arithmetic in `F_p` |
//! | `draw` | pseudo-random elements for variables and functions |
//! | `evaluation` | the image of an expression |

mod draw;
mod evaluation;
mod field;

use super::budget::{Budget, Failure, Outcome};
use super::expr::Expr;
use super::{walk, work};
use draw::seed;
use evaluation::Evaluation;
use field::PRIMES;

/// What evaluation modulo primes tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Congruence {
    /// The difference is 0 modulo every prime.
    Equal,
    /// The difference is not 0 under a ring homomorphism of the true values.
    Different,
    /// A denominator is 0, whatever the variables.
    Undefined,
    Open,
}

/// Evaluations that have to agree: each is wrong with a probability of about 2^−60.
const AGREEING: usize = 2;

/// Compares two expressions.
pub(super) fn compare(a: &Expr, b: &Expr, budget: &mut Budget) -> Outcome<Congruence> {
    work::charge(2 * (walk::size(a) + walk::size(b)));
    let seed = seed(a).wrapping_add(seed(b));
    let (mut zeros, mut undefined, mut by_angles) = (0, 0, false);
    for round in 0..PRIMES.len() {
        let prime = PRIMES[(seed as usize).wrapping_add(round) % PRIMES.len()];
        let seed = seed.wrapping_add(round as u64);
        let mut at = Evaluation::new(prime, seed, by_angles, budget);
        match at.of(a).and_then(|left| Ok((left, at.of(b)?))) {
            Ok((left, right)) if left == right => zeros += 1,
            Ok(_) if at.is_homomorphic() => return Ok(Congruence::Different),
            // What functions of one angle, or of its multiples, have to do with each other.
            Ok(_) if at.angles && zeros == 0 => by_angles = true,
            Err(Failure::Undefined) => undefined += 1,
            Err(Failure::TooComplex) if budget.steps == 0 => return Err(Failure::TooComplex),
            // What has no image modulo one prime seldom has one modulo another.
            Ok(_) | Err(Failure::Unknown | Failure::TooComplex) => return Ok(Congruence::Open),
        }
        if zeros >= AGREEING {
            return Ok(Congruence::Equal);
        }
        if undefined >= AGREEING && zeros == 0 {
            return Ok(Congruence::Undefined);
        }
    }
    Ok(Congruence::Open)
}
