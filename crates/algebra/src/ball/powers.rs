//! Powers, exponentials and logarithms of enclosures.

use std::cmp::Ordering;

use dashu_base::{Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};

use super::evaluation::Evaluation;
use super::real::Real;
use super::value::{Enclosed, Value};
use crate::budget::{Failure, Outcome};
use crate::expr::Rational;
use crate::rational::{self, half, has_even_denominator, is_odd};

/// e^z.
pub(super) fn exponential<R: Real>(at: &mut Evaluation<'_>, exponent: &Value<R>) -> Enclosed<R> {
    at.spend(R::function_cost(at.bits()))?;
    match exponent {
        Value::Exact(zero) if zero.is_zero() => Ok(Value::Exact(Rational::ONE)),
        Value::Complex(real, imaginary) => {
            let size = real.exp()?;
            let (sin, cos) = imaginary.sin_cos()?;
            at.complex(size.multiply(&cos), size.multiply(&sin))
        }
        _ => {
            let (real, _) = at.arithmetic().parts(exponent);
            Ok(Value::Real(real.exp()?))
        }
    }
}

/// ln z, principal.
pub(super) fn logarithm<R: Real>(at: &mut Evaluation<'_>, argument: &Value<R>) -> Enclosed<R> {
    at.spend(R::function_cost(at.bits()))?;
    if let Value::Complex(real, imaginary) = argument {
        let norm = real.multiply(real).add(&imaginary.multiply(imaginary));
        let half = R::rational(&half(), at.bits());
        let size = norm.ln()?.multiply(&half);
        let angle = angle(at, real, imaginary)?;
        return at.complex(size, angle);
    }
    if let Value::Exact(value) = argument
        && value.is_one()
    {
        return Ok(Value::Exact(Rational::ZERO));
    }
    let sign = argument.sign()?;
    let (real, _) = at.arithmetic().parts(argument);
    match sign {
        Ordering::Equal => Err(Failure::Undefined),
        Ordering::Greater => real.ln().map(Value::Real),
        Ordering::Less => {
            if at.is_real() {
                return Err(Failure::Undefined);
            }
            let size = real.negate().ln()?;
            at.complex(size, R::pi(at.bits()))
        }
    }
}

/// The argument of a complex number, in (−π, π].
pub(super) fn angle<R: Real>(at: &mut Evaluation<'_>, real: &R, imaginary: &R) -> Outcome<R> {
    let bits = at.bits();
    at.spend(R::function_cost(bits))?;
    let half = R::rational(&half(), bits);
    let pi = R::pi(bits);
    if real.sign() == Some(Ordering::Greater) {
        let slope = imaginary.divide(real)?;
        return slope.arctan();
    }
    let slope = match imaginary.sign() {
        Some(_) => real.divide(imaginary)?,
        None => return Err(Failure::Unknown),
    };
    let angle = slope.arctan()?.negate();
    let quarter = pi.multiply(&half);
    Ok(if imaginary.sign() == Some(Ordering::Greater) {
        quarter.add(&angle)
    } else {
        quarter.negate().add(&angle)
    })
}

pub(super) fn power<R: Real>(
    at: &mut Evaluation<'_>,
    base: &Value<R>,
    exponent: &Value<R>,
) -> Enclosed<R> {
    let Value::Exact(rational) = exponent else {
        return general_power(at, base, exponent);
    };
    if rational.is_int() {
        return integer_power(at, base, rational.numerator());
    }
    if let Value::Exact(base) = base
        && !(at.is_principal() && base.sign() == Sign::Negative)
        && let Ok(exact) = rational::power(base, rational, at.budget())
    {
        return Ok(Value::Exact(exact));
    }
    if matches!(base, Value::Complex(..)) {
        return general_power(at, base, exponent);
    }
    match base.sign()? {
        Ordering::Equal => {
            if rational.sign() == Sign::Positive {
                Ok(Value::Exact(Rational::ZERO))
            } else {
                Err(Failure::Undefined)
            }
        }
        Ordering::Greater => positive_power(at, base, rational),
        Ordering::Less => {
            let opposite = base.negated();
            let odd_root = !at.is_principal() && !has_even_denominator(rational);
            if !odd_root && at.is_real() {
                return Err(Failure::Undefined);
            }
            let size = positive_power(at, &opposite, rational)?;
            if odd_root {
                let odd = is_odd(rational.numerator());
                return Ok(if odd { size.negated() } else { size });
            }
            let (size, _) = at.arithmetic().parts(&size);
            let (sin, cos) = turned(at, rational)?;
            at.complex(size.multiply(&cos), size.multiply(&sin))
        }
    }
}

/// sin and cos of π·turns, with the zeros exact.
fn turned<R: Real>(at: &mut Evaluation<'_>, turns: &Rational) -> Outcome<(R, R)> {
    let bits = at.bits();
    let number = |value: i64| R::rational(&Rational::from(value), bits);
    if *turns.denominator() == UBig::from(2u8) {
        let quarter = rational::floor(turns);
        let sign = if is_odd(&quarter) { -1 } else { 1 };
        return Ok((number(sign), number(0)));
    }
    let angle = R::pi(bits).multiply(&R::rational(turns, bits));
    angle.sin_cos()
}

fn positive_power<R: Real>(
    at: &mut Evaluation<'_>,
    base: &Value<R>,
    exponent: &Rational,
) -> Enclosed<R> {
    let bits = at.bits();
    let (base, _) = at.arithmetic().parts(base);
    if *exponent.denominator() == UBig::from(2u8) {
        let root = base.sqrt()?;
        return integer_power(at, &Value::Real(root), exponent.numerator());
    }
    at.spend(2 * R::function_cost(bits))?;
    let logarithm = base.ln()?;
    let product = logarithm.multiply(&R::rational(exponent, bits));
    product.exp().map(Value::Real)
}

fn integer_power<R: Real>(
    at: &mut Evaluation<'_>,
    base: &Value<R>,
    exponent: &IBig,
) -> Enclosed<R> {
    let negative = exponent.sign() == Sign::Negative;
    if let Value::Exact(base) = base {
        if base.is_zero() && (negative || exponent.is_zero()) {
            return Err(Failure::Undefined);
        }
        let times = u32::try_from(exponent.unsigned_abs()).unwrap_or(u32::MAX);
        if rational::bits(base).saturating_mul(times as usize) <= 256
            || base.is_zero()
            || rational::bits(base) == 1
        {
            return rational::power(base, &Rational::from(exponent.clone()), at.budget())
                .map(Value::Exact);
        }
    } else if exponent.is_zero() {
        // x^0 = 1 but for x = 0.
        return if base.is_nonzero() {
            Ok(Value::Exact(Rational::ONE))
        } else {
            Err(Failure::Unknown)
        };
    }
    let magnitude = exponent.unsigned_abs();
    let power = match u32::try_from(&magnitude) {
        Ok(times) if times <= 4096 => repeated(at, base, times)?,
        _ => large_power(at, base, &magnitude)?,
    };
    if negative {
        at.arithmetic().divide(&Value::Exact(Rational::ONE), &power)
    } else {
        Ok(power)
    }
}

fn repeated<R: Real>(at: &mut Evaluation<'_>, base: &Value<R>, mut times: u32) -> Enclosed<R> {
    let arithmetic = at.arithmetic();
    let (real, imaginary) = arithmetic.parts(base);
    let mut square = if matches!(base, Value::Complex(..)) {
        Value::Complex(real, imaginary)
    } else {
        Value::Real(real)
    };
    let mut result = Value::Exact(Rational::ONE);
    while times > 0 {
        at.spend(R::cost(arithmetic.bits) * 2)?;
        if times & 1 == 1 {
            result = arithmetic.multiply(&result, &square);
        }
        times >>= 1;
        if times > 0 {
            square = arithmetic.multiply(&square, &square);
        }
    }
    Ok(result)
}

/// A large power, by the logarithm of the base.
fn large_power<R: Real>(at: &mut Evaluation<'_>, base: &Value<R>, times: &UBig) -> Enclosed<R> {
    let exponent = Value::Exact(Rational::from(times.clone()));
    if matches!(base, Value::Complex(..)) {
        return general_power(at, base, &exponent);
    }
    let sign = base.sign()?;
    let (base, _) = at.arithmetic().parts(base);
    let size = base.absolute();
    at.spend(2 * R::function_cost(at.bits()))?;
    let logarithm = size.ln()?;
    let (times_real, _) = at.arithmetic().parts(&exponent);
    let power = logarithm.multiply(&times_real).exp()?;
    let odd = times.as_words().first().is_some_and(|word| word & 1 == 1);
    Ok(Value::Real(if sign == Ordering::Less && odd {
        power.negate()
    } else {
        power
    }))
}

/// e^{exponent·ln base}.
fn general_power<R: Real>(
    at: &mut Evaluation<'_>,
    base: &Value<R>,
    exponent: &Value<R>,
) -> Enclosed<R> {
    if let Value::Exact(zero) = base
        && zero.is_zero()
    {
        return match exponent.sign()? {
            Ordering::Greater => Ok(Value::Exact(Rational::ZERO)),
            _ => Err(Failure::Undefined),
        };
    }
    let logarithm = logarithm(at, base)?;
    let product = at.arithmetic().multiply(&logarithm, exponent);
    exponential(at, &product)
}
