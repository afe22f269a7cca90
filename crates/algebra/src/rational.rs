//! Arithmetic on exact rational numbers, charged by their length; sizes are estimated before anything is computed.

use dashu_base::{BitTest, DivEuclid, Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};

use super::budget::{Budget, Failure, Outcome};
use super::expr::Rational;
use super::work;

/// No rational with more bits in numerator or denominator is built.
pub(super) const BITS: usize = 1 << 17;

/// The bits of the larger part.
pub(super) fn bits(value: &Rational) -> usize {
    magnitude_bits(value.numerator()).max(value.denominator().bit_len())
}

/// The bits of |value|.
pub(super) fn magnitude_bits(value: &IBig) -> usize {
    let words = value.as_sign_words().1;
    words
        .last()
        .map_or(0, |top| words.len() * 64 - top.leading_zeros() as usize)
}

/// a + b, where it stays small enough.
pub(super) fn add(a: &Rational, b: &Rational, budget: &mut Budget) -> Outcome<Rational> {
    if !a.is_int() || !b.is_int() {
        small(a, b)?;
    }
    budget.spend_units(work::addition(a, b))?;
    Ok(a + b)
}

/// a·b, where it stays small enough.
pub(super) fn multiply(a: &Rational, b: &Rational, budget: &mut Budget) -> Outcome<Rational> {
    small(a, b)?;
    budget.spend_units(work::operation(a, b))?;
    Ok(a * b)
}

/// a/b of a b that is not 0, where it stays small enough.
pub(super) fn divide(a: &Rational, b: &Rational, budget: &mut Budget) -> Outcome<Rational> {
    if b.is_zero() {
        return Err(Failure::Undefined);
    }
    small(a, b)?;
    budget.spend_units(16 + 2 * work::operation(a, b))?;
    Ok(a / b)
}

/// Is what an operation makes of the two small enough?
fn small(a: &Rational, b: &Rational) -> Outcome<()> {
    if bits(a) + bits(b) > BITS {
        return Err(Failure::TooComplex);
    }
    Ok(())
}

/// base^exponent where that is rational.
pub(super) fn power(
    base: &Rational,
    exponent: &Rational,
    budget: &mut Budget,
) -> Outcome<Rational> {
    if exponent.is_int() {
        return integer_power(base, exponent.numerator(), budget);
    }
    if base.is_zero() {
        return if exponent.sign() == Sign::Positive {
            Ok(Rational::ZERO)
        } else {
            Err(Failure::Undefined)
        };
    }
    if base.is_one() {
        return Ok(Rational::ONE);
    }
    let degree = usize::try_from(exponent.denominator()).map_err(|_| Failure::Unknown)?;
    let root = exact_root(base, degree, budget)?;
    integer_power(&root, exponent.numerator(), budget)
}

fn integer_power(base: &Rational, exponent: &IBig, budget: &mut Budget) -> Outcome<Rational> {
    let negative = exponent.sign() == Sign::Negative;
    if exponent.is_zero() {
        return if base.is_zero() {
            Err(Failure::Undefined)
        } else {
            Ok(Rational::ONE)
        };
    }
    if base.is_zero() {
        return if negative {
            Err(Failure::Undefined)
        } else {
            Ok(Rational::ZERO)
        };
    }
    if base.is_int() && magnitude_bits(base.numerator()) == 1 {
        let minus = base.sign() == Sign::Negative && is_odd(exponent);
        return Ok(if minus { -Rational::ONE } else { Rational::ONE });
    }
    let times = isize::try_from(exponent).map_err(|_| Failure::TooComplex)?;
    // A base of b bits is at least 2^(b − 1), so the result has more bits than this.
    let size = bits(base).saturating_mul(times.unsigned_abs());
    if size > BITS {
        return Err(Failure::TooComplex);
    }
    let words = size as u64 / 64;
    budget.spend(1 + words * words / 64)?;
    Ok(base.pow(times))
}

/// The real root of degree `degree` where it is rational.
pub(super) fn exact_root(
    value: &Rational,
    degree: usize,
    budget: &mut Budget,
) -> Outcome<Rational> {
    let negative = value.sign() == Sign::Negative;
    if degree == 0 || (negative && degree.is_multiple_of(2)) {
        return Err(Failure::Unknown);
    }
    let numerator = integer_root(&value.numerator().unsigned_abs(), degree, budget)?;
    let denominator = integer_root(value.denominator(), degree, budget)?;
    let root = Rational::from_parts(numerator.into(), denominator);
    Ok(if negative { -root } else { root })
}

fn integer_root(value: &UBig, degree: usize, budget: &mut Budget) -> Outcome<UBig> {
    if value.is_zero() || value.is_one() || degree == 1 {
        return Ok(value.clone());
    }
    let length = value.bit_len();
    if degree >= length {
        return Err(Failure::Unknown);
    }
    let words = length as u64 / 64 + 1;
    budget.spend(2 + words * words / 8)?;
    let root = value.nth_root(degree);
    if root.pow(degree) == *value {
        Ok(root)
    } else {
        Err(Failure::Unknown)
    }
}

/// The largest integer that is not above `value`.
pub(super) fn floor(value: &Rational) -> IBig {
    if value.is_int() {
        return value.numerator().clone();
    }
    value
        .numerator()
        .div_euclid(IBig::from(value.denominator().clone()))
}

pub(super) fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// The lowest bits of an integer in two's complement.
pub(super) fn low_bits(value: &IBig) -> u64 {
    let (sign, words) = value.as_sign_words();
    let word = words.first().copied().unwrap_or(0);
    if sign == Sign::Negative {
        word.wrapping_neg()
    } else {
        word
    }
}

pub(super) fn is_odd(value: &IBig) -> bool {
    low_bits(value) & 1 == 1
}

pub(super) fn has_even_denominator(value: &Rational) -> bool {
    value.denominator() % 2_u8 == 0
}

/// 1/2.
pub(super) fn half() -> Rational {
    Rational::from_parts(IBig::ONE, 2u8.into())
}
