//! Evaluation modulo primes: proves equality, and of rational functions and roots of rationals also difference.
//!
//! | file | what it does |
//! |---|---|
//! | `primes`, `field` | the primes; arithmetic in `F_p` and `F_p[i]` |
//! | `draw` | pseudo-random elements for variables and functions |
//! | `basis` | linear combinations of π, logarithms, angles with rational coefficients |
//! | `evaluation` | the state of one evaluation |
//! | `arithmetic`, `powers`, `functions` | numbers, variables, sums, products; powers; functions |
//! | `linear`, `logarithm` | exponents and angles; logarithms |

mod arithmetic;
mod basis;
mod draw;
mod evaluation;
mod field;
mod functions;
mod linear;
mod logarithm;
mod powers;
mod primes;

use super::budget::{Budget, Failure, Outcome};
use super::expr::Expr;
use super::{walk, work};
use arithmetic::evaluate;
use draw::seed;
use evaluation::Evaluation;
use primes::PRIMES;

pub(super) use evaluation::Assumptions;

/// What evaluation modulo primes tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Congruence {
    /// The difference is 0 modulo every prime, and no sign was drawn.
    Equal,
    /// The difference is 0 modulo every prime, but signs were drawn; the true ones have to be checked.
    EqualUpToSigns,
    /// The difference is not 0 under a ring homomorphism of the true values.
    Different,
    /// A denominator is 0, whatever the variables.
    Undefined,
    Open,
}

/// Evaluations that have to agree: each is wrong with a probability of about 2^−60.
const AGREEING: usize = 2;
/// How many evaluations must agree where signs are drawn.
const SIGNED_AGREEING: usize = 6;
/// After so many evaluations without a value nothing is decided.
const MISSES: usize = 16;

/// Compares two expressions.
pub(super) fn compare(
    a: &Expr,
    b: &Expr,
    assumptions: &Assumptions<'_>,
    budget: &mut Budget,
) -> Outcome<Congruence> {
    work::charge(2 * (walk::size(a) + walk::size(b)));
    let seed = seed(a).wrapping_add(seed(b));
    let mut count = Count::default();
    let rounds = if assumptions.constant {
        PRIMES.len()
    } else {
        2 * PRIMES.len()
    };
    for round in 0..rounds {
        let at = (seed as usize).wrapping_add(round) % PRIMES.len();
        let mut evaluation = Evaluation::new(
            &PRIMES[at],
            seed.wrapping_add(round as u64),
            assumptions,
            budget,
        );
        let values =
            evaluate(&mut evaluation, a).and_then(|left| Ok((left, evaluate(&mut evaluation, b)?)));
        count.signed |= evaluation.is_signed();
        match values {
            Ok((left, right)) if left == right => count.zeros += 1,
            Ok(_) if evaluation.is_homomorphic() => return Ok(Congruence::Different),
            // Signs that are drawn are wrong modulo some primes. Those of a constant are checked in the end.
            Ok(_) if assumptions.constant && count.signed => count.others += 1,
            Ok(_) => return Ok(Congruence::Open),
            Err(Failure::Undefined) => count.undefined += 1,
            Err(Failure::Unknown) => count.misses += 1,
            Err(Failure::TooComplex) => {
                if budget.steps == 0 {
                    return Err(Failure::TooComplex);
                }
                return Ok(Congruence::Open);
            }
        }
        if let Some(verdict) = count.verdict() {
            return Ok(verdict);
        }
    }
    Ok(Congruence::Open)
}

/// How many evaluations had which result.
#[derive(Debug, Default)]
struct Count {
    zeros: usize,
    others: usize,
    misses: usize,
    undefined: usize,
    signed: bool,
}

impl Count {
    fn verdict(&self) -> Option<Congruence> {
        if !self.signed && self.zeros >= AGREEING {
            return Some(Congruence::Equal);
        }
        if self.zeros >= SIGNED_AGREEING {
            return Some(Congruence::EqualUpToSigns);
        }
        if self.undefined >= AGREEING && self.zeros == 0 {
            return Some(if self.signed {
                Congruence::Open
            } else {
                Congruence::Undefined
            });
        }
        let hopeless = self.zeros == 0 && self.misses + self.others >= MISSES;
        hopeless.then_some(Congruence::Open)
    }
}
