//! Powers and roots modulo a prime.

use std::cmp::Ordering;

use dashu_base::Sign;
use dashu_int::IBig;

use super::arithmetic::evaluate;
use super::basis::Linear;
use super::evaluation::Evaluation;
use super::field::{Element, Gaussian, remainder, signed_remainder};
use super::linear::{exponential, linear, linear_product};
use super::logarithm::logarithm;
use super::primes::ORDER;
use crate::budget::{Failure, Outcome};
use crate::expr::{Constant, Expr, Function, Rational};
use crate::rational::{has_even_denominator, is_odd};

pub(super) fn power(at: &mut Evaluation<'_>, base: &Expr, exponent: &Expr) -> Outcome<Gaussian> {
    if let Expr::Number(number) = exponent
        && number.is_int()
        && !matches!(base, Expr::Constant(Constant::E))
    {
        let base = evaluate(at, base)?;
        return integer_power(at, base, number.numerator());
    }
    if matches!(base, Expr::Constant(Constant::E)) {
        let exponent = linear(at, exponent)?;
        return exponential(at, &exponent);
    }
    if let Expr::Call(Function::Logarithm, parts) = exponent
        && parts.get(1) == Some(base)
    {
        // a^{log_a b} = b.
        let terms = logarithm(at, &parts[0])?;
        return exponential(at, &terms);
    }
    match at.fold(exponent) {
        Ok(exponent) => rational_power(at, base, &exponent),
        Err(Failure::Unknown | Failure::TooComplex) if at.budget().steps > 0 => {
            let logarithm = logarithm(at, base)?;
            let exponent = linear(at, exponent)?;
            let product = linear_product(at, &logarithm, &exponent)?;
            exponential(at, &product)
        }
        Err(failure) => Err(failure),
    }
}

pub(super) fn integer_power(
    at: &mut Evaluation<'_>,
    base: Gaussian,
    exponent: &IBig,
) -> Outcome<Gaussian> {
    let field = at.field();
    let negative = exponent.sign() == Sign::Negative;
    if base.is_zero() {
        return if negative || exponent.is_zero() {
            Err(Failure::Undefined)
        } else {
            Ok(base)
        };
    }
    if let Some(real) = base.real() {
        if *exponent == IBig::NEG_ONE {
            at.spend(2)?;
            return field.invert(real).map(Into::into).ok_or(Failure::Undefined);
        }
        let reduced = signed_remainder(exponent, field.modulus - 1);
        return Ok(field.power(real, reduced).into());
    }
    let magnitude = u128::try_from(if negative {
        -exponent
    } else {
        exponent.clone()
    })
    .map_err(|_| Failure::Unknown)?;
    let base = if negative {
        field.g_invert(base).ok_or(Failure::Undefined)?
    } else {
        base
    };
    Ok(field.g_power(base, magnitude))
}

pub(super) fn rational_power(
    at: &mut Evaluation<'_>,
    base: &Expr,
    exponent: &Rational,
) -> Outcome<Gaussian> {
    if matches!(base, Expr::Constant(Constant::E)) {
        return exponential(at, &Linear::rational(exponent.clone()));
    }
    if exponent.is_int() {
        let base = evaluate(at, base)?;
        return integer_power(at, base, exponent.numerator());
    }
    match at.fold(base) {
        Ok(base) => return radical(at, &base, exponent),
        Err(Failure::Unknown) => {}
        Err(failure) => return Err(failure),
    }
    at.set_homomorphic(false);
    let value = evaluate(at, base)?;
    let value = value.real().ok_or(Failure::Unknown)?;
    if value.is_zero() {
        return if exponent.sign() == Sign::Positive {
            Ok(value.into())
        } else {
            Err(Failure::Undefined)
        };
    }
    if has_even_denominator(exponent) {
        if !at.assumptions().imply_positive(base) {
            at.choose_sign();
            if at.constant_sign(base)? == Some(Ordering::Less) {
                let opposite = at.field().negate(value);
                let size = positive_power(at, opposite, exponent)?;
                let turn = root_of_unity(at, exponent)?;
                return Ok(at.field().g_multiply(size.into(), turn));
            }
        }
        positive_power(at, value, exponent).map(Into::into)
    } else {
        let order = at.field().modulus - 1;
        let reduced = reduced(exponent, order).ok_or(Failure::Unknown)?;
        Ok(at.field().power(value, reduced).into())
    }
}

/// base^exponent of a base that stands for something positive; [`Failure::Unknown`] where it does not.
pub(super) fn positive_power(
    at: &mut Evaluation<'_>,
    base: Element,
    exponent: &Rational,
) -> Outcome<Element> {
    if base.is_zero() {
        return Err(Failure::Unknown);
    }
    if !at.field().is_square(base) {
        return Err(Failure::Unknown);
    }
    at.spend(6)?;
    let order = at.field().half();
    let reduced = reduced(exponent, order).ok_or(Failure::Unknown)?;
    Ok(at.field().power(base, reduced))
}

/// A rational power of a rational number, exactly: real roots of positive numbers, real odd roots of negative ones, principal even ones.
fn radical(at: &mut Evaluation<'_>, base: &Rational, exponent: &Rational) -> Outcome<Gaussian> {
    if base.is_zero() {
        return if exponent.sign() == Sign::Positive {
            Ok(Element::ZERO.into())
        } else {
            Err(Failure::Undefined)
        };
    }
    let field = at.field();
    let mut result = field.one();
    for (prime, times) in at.prime_factors(base)? {
        let image = field.rational(&prime).ok_or(Failure::Unknown)?;
        let power = positive_power(at, image, &(exponent * Rational::from(times)))?;
        result = field.multiply(result, power);
    }
    if base.sign() == Sign::Positive {
        return Ok(result.into());
    }
    if !has_even_denominator(exponent) {
        return Ok(if is_odd(exponent.numerator()) {
            field.negate(result)
        } else {
            result
        }
        .into());
    }
    let turn = root_of_unity(at, exponent)?;
    Ok(field.g_multiply(result.into(), turn))
}

/// e^{iπ·turns}.
pub(super) fn root_of_unity(at: &mut Evaluation<'_>, turns: &Rational) -> Outcome<Gaussian> {
    let steps = turns * Rational::from(ORDER / 2);
    if !steps.is_int() {
        return Err(Failure::Unknown);
    }
    let steps = signed_remainder(steps.numerator(), ORDER);
    let field = at.field();
    at.spend(15)?;
    Ok(field.g_power(at.unity(), u128::from(steps)))
}

/// An exponent as an integer modulo the order of the group; `None` where its denominator has no inverse.
fn reduced(exponent: &Rational, order: u64) -> Option<u64> {
    let numerator = signed_remainder(exponent.numerator(), order);
    if exponent.is_int() {
        return Some(numerator);
    }
    let inverse = inverse_modulo(remainder(exponent.denominator(), order), order)?;
    Some((u128::from(numerator) * u128::from(inverse) % u128::from(order)) as u64)
}

/// 1/value modulo modulus.
fn inverse_modulo(value: u64, modulus: u64) -> Option<u64> {
    let (mut r0, mut r1) = (i128::from(modulus), i128::from(value % modulus));
    let (mut t0, mut t1) = (0i128, 1i128);
    while r1 != 0 {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (t0, t1) = (t1, t0 - quotient * t1);
    }
    (r0 == 1).then(|| t0.rem_euclid(i128::from(modulus)) as u64)
}
