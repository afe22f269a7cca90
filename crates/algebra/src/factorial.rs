//! Factorials and their kin of integers, exactly.

use dashu_base::{BitTest, Signed};
use dashu_int::{IBig, UBig};

use super::budget::{Budget, Failure, Outcome};
use super::rational::{self, is_odd};
use crate::expr::{Function, Rational};
use crate::work;

/// No factorial with more bits than this is multiplied out.
const BITS: u64 = 1 << 16;

/// The value at integers.
pub(super) fn exact(
    function: Function,
    arguments: &[IBig],
    budget: &mut Budget,
) -> Outcome<Rational> {
    let small = |value: &IBig| u64::try_from(value).map_err(|_| Failure::TooComplex);
    match (function, arguments) {
        (Function::Factorial, [n]) if n.is_negative() => Err(Failure::Undefined),
        (Function::Factorial, [n]) => Ok(product(1, small(n)?, 1, budget)?.into()),
        (Function::Gamma, [n]) if n.is_negative() || n.is_zero() => Err(Failure::Undefined),
        (Function::Gamma, [n]) => Ok(product(1, small(n)? - 1, 1, budget)?.into()),
        (Function::DoubleFactorial, [n]) if *n == IBig::NEG_ONE => Ok(Rational::ONE),
        (Function::DoubleFactorial, [n]) if n.is_negative() => Err(Failure::Undefined),
        (Function::DoubleFactorial, [n]) => {
            let n = small(n)?;
            Ok(product(if n % 2 == 0 { 2 } else { 1 }, n, 2, budget)?.into())
        }
        (Function::Permutations, [n, k]) => {
            if n.is_negative() || k.is_negative() {
                return Err(Failure::Undefined);
            }
            if k > n {
                return Ok(Rational::ZERO);
            }
            let (n, k) = (small(n)?, small(k)?);
            Ok(product(n - k + 1, n, 1, budget)?.into())
        }
        (Function::Binomial, [n, k]) => binomial(n, k, budget),
        _ => Err(Failure::Unknown),
    }
}

/// n over k, also of negative n: n(n − 1)⋯(n − k + 1) / k!.
fn binomial(n: &IBig, k: &IBig, budget: &mut Budget) -> Outcome<Rational> {
    if k.is_negative() {
        return Ok(Rational::ZERO);
    }
    if n.is_negative() {
        let value = binomial(&(k - n - IBig::ONE), k, budget)?;
        return Ok(if is_odd(k) { -value } else { value });
    }
    if k > n {
        return Ok(Rational::ZERO);
    }
    let rest = n - k;
    let k = if rest < *k { &rest } else { k };
    let k = u64::try_from(k).map_err(|_| Failure::TooComplex)?;
    let Ok(n) = u64::try_from(n) else {
        // Few factors, each of them long.
        if k.saturating_mul(n.bit_len() as u64) > BITS {
            return Err(Failure::TooComplex);
        }
        budget.spend(1 + k * k * (n.bit_len() as u64 / 64 + 1) / 8)?;
        let mut value = IBig::ONE;
        for step in 0..k {
            value *= n - IBig::from(step);
        }
        let value = Rational::from(value);
        return rational::divide(&value, &product(1, k, 1, budget)?.into(), budget);
    };
    let (above, below) = (product(n - k + 1, n, 1, budget)?, product(1, k, 1, budget)?);
    budget.spend_units(10 + work::words(&above) * work::words(&below) / 4)?;
    Ok((above / below).into())
}

/// from · (from + step) ⋯ to.
fn product(from: u64, to: u64, step: u64, budget: &mut Budget) -> Outcome<UBig> {
    if from > to {
        return Ok(UBig::ONE);
    }
    let factors = (to - from) / step + 1;
    let each = u64::from(64 - to.leading_zeros());
    if factors.saturating_mul(each) > BITS {
        return Err(Failure::TooComplex);
    }
    budget.spend(1 + factors * each / 24)?;
    Ok(halves(from, factors, step))
}

/// The product of `count` factors by halves, so that factors of like size meet.
fn halves(from: u64, count: u64, step: u64) -> UBig {
    if count <= 8 {
        let mut value = UBig::ONE;
        for index in 0..count {
            value *= from + index * step;
        }
        return value;
    }
    let left = count / 2;
    halves(from, left, step) * halves(from + left * step, count - left, step)
}
