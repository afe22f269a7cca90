//! Prime factors of rational numbers, as far as trial division finds them.

use dashu_base::{BitTest, DivRem, UnsignedAbs};
use dashu_int::UBig;

use super::budget::{Budget, Outcome};
use super::rational::signed;
use crate::expr::Rational;

/// Primes below this are found.
const BOUND: u64 = 1_000;

pub(super) struct Factors {
    /// Factors and exponents; those of the denominator negative.
    pub(super) list: Vec<(Rational, i64)>,
    /// Are all of the factors primes for sure?
    pub(super) complete: bool,
}

/// The factors of |value|, which is not 0.
pub(super) fn factors(value: &Rational, budget: &mut Budget) -> Outcome<Factors> {
    let mut result = Factors {
        list: Vec::new(),
        complete: true,
    };
    split(value.numerator().unsigned_abs(), 1, &mut result, budget)?;
    if !value.denominator().is_one() {
        split(value.denominator().clone(), -1, &mut result, budget)?;
    }
    Ok(result)
}

fn split(
    mut value: UBig,
    direction: i64,
    result: &mut Factors,
    budget: &mut Budget,
) -> Outcome<()> {
    let words = value.bit_len() as u64 / 64 + 1;
    // Powers of two, the one kind of large number that is common, cost nothing.
    let twos = value.trailing_zeros().unwrap_or(0);
    if twos > 0 {
        value >>= twos;
        result.list.push((2u8.into(), direction * signed(twos)));
    }
    budget.spend(if words == 1 { 4 } else { 150 + words * 25 })?;
    let mut candidate = 3;
    while candidate < BOUND {
        if let Ok(small) = u64::try_from(&value) {
            small_factors(small, candidate, direction, result);
            return Ok(());
        }
        let mut times = 0;
        loop {
            let (quotient, rest) = (&value).div_rem(candidate);
            if rest != 0 {
                break;
            }
            budget.spend(1 + words / 8)?;
            value = quotient;
            times += 1;
        }
        if times > 0 {
            result.list.push((candidate.into(), direction * times));
        }
        candidate += 2;
    }
    if let Ok(small) = u64::try_from(&value) {
        small_factors(small, candidate, direction, result);
    } else {
        result.complete = false;
        result.list.push((value.into(), direction));
    }
    Ok(())
}

fn small_factors(mut value: u64, from: u64, direction: i64, result: &mut Factors) {
    let mut candidate = from;
    while candidate < BOUND && candidate * candidate <= value {
        let mut times = 0;
        while value.is_multiple_of(candidate) {
            value /= candidate;
            times += 1;
        }
        if times > 0 {
            result.list.push((candidate.into(), direction * times));
        }
        candidate += 2;
    }
    if value > 1 {
        let mut times = 1;
        if value >= BOUND * BOUND {
            let root = value.isqrt();
            if root * root == value {
                value = root;
                times = 2;
            }
            result.complete &= value < BOUND * BOUND;
        }
        result.list.push((value.into(), direction * times));
    }
}
