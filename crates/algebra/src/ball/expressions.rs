//! Numbers, constants, sums and products as enclosures.

use dashu_int::UBig;

use super::evaluation::Evaluation;
use super::functions::{applied, call};
use super::gamma::euler_gamma;
use super::powers::{exponential, power};
use super::real::Real;
use super::value::{Enclosed, Value};
use crate::budget::Failure;
use crate::expr::{Constant, Expr, LongNumber, Rational};
use crate::{rational, work};

pub(super) fn evaluate<R: Real>(at: &mut Evaluation<'_>, expr: &Expr) -> Enclosed<R> {
    let arithmetic = at.arithmetic();
    at.spend(R::cost(arithmetic.bits))?;
    match expr {
        Expr::Number(value) => {
            at.budget().spend_units(2 * work::copy(value))?;
            Ok(if rational::bits(value) > 1 << 10 {
                Value::Real(R::rational(value, arithmetic.bits))
            } else {
                Value::Exact(value.clone())
            })
        }
        Expr::LongNumber(long) => long_number(at, long),
        Expr::Constant(name) => constant(at, *name),
        Expr::Symbol(name) => at.symbol(name),
        Expr::Add(parts) => {
            let mut sum = Value::Exact(Rational::ZERO);
            for part in parts {
                let value = evaluate(at, part)?;
                sum = arithmetic.add(&sum, &value);
            }
            Ok(sum)
        }
        Expr::Multiply(parts) => product(at, parts),
        Expr::Power(pair) => {
            if matches!(pair.0, Expr::Constant(Constant::E)) {
                let exponent = evaluate(at, &pair.1)?;
                return exponential(at, &exponent);
            }
            let base = evaluate(at, &pair.0)?;
            let exponent = evaluate(at, &pair.1)?;
            power(at, &base, &exponent)
        }
        Expr::Call(function, arguments) => call(at, *function, arguments),
        Expr::Apply(name, arguments) => applied(at, name, arguments),
        Expr::Binder(_) => Err(Failure::Unknown),
    }
}

fn product<R: Real>(at: &mut Evaluation<'_>, parts: &[Expr]) -> Enclosed<R> {
    let arithmetic = at.arithmetic();
    let mut product = Value::Exact(Rational::ONE);
    for part in parts {
        // A division is done as one: its enclosure is narrower, and a zero divisor is seen.
        if let Expr::Power(pair) = part
            && matches!(&pair.1, Expr::Number(exponent) if *exponent == Rational::from(-1))
        {
            let divisor = evaluate(at, &pair.0)?;
            product = arithmetic.divide(&product, &divisor)?;
        } else {
            let value = evaluate(at, part)?;
            product = arithmetic.multiply(&product, &value);
        }
    }
    Ok(product)
}

fn constant<R: Real>(at: &mut Evaluation<'_>, constant: Constant) -> Enclosed<R> {
    let bits = at.bits();
    let rational = |value: i64| R::rational(&Rational::from(value), bits);
    match constant {
        Constant::Pi => Ok(Value::Real(R::pi(bits))),
        Constant::E => exponential(at, &Value::Exact(Rational::ONE)),
        Constant::ImaginaryUnit => at.complex(rational(0), rational(1)),
        Constant::Infinity
        | Constant::NegativeInfinity
        | Constant::ComplexInfinity
        | Constant::Undefined => Err(Failure::Undefined),
        Constant::EulerGamma => euler_gamma(bits).map(Value::Real),
        Constant::Degree => {
            let degree = R::pi(bits).divide(&rational(180))?;
            Ok(Value::Real(degree))
        }
    }
}

/// The leading digits are enough.
fn long_number<R: Real>(at: &mut Evaluation<'_>, long: &LongNumber) -> Enclosed<R> {
    let (bits, digits) = (at.bits(), &long.digits);
    let keep = (bits as usize / 3 + 20).min(digits.len());
    let head = digits.get(..keep).ok_or(Failure::Unknown)?;
    let head = UBig::from_str_radix(head, 10).map_err(|_| Failure::Unknown)?;
    let low = R::rational(&Rational::from(head.clone()), bits);
    let mantissa = if keep < digits.len() {
        low.hull(&R::rational(&Rational::from(head + UBig::ONE), bits))
    } else {
        low
    };
    let dropped = i64::try_from(digits.len() - keep).map_err(|_| Failure::Unknown)?;
    let scale = long.exponent.checked_add(dropped).ok_or(Failure::Unknown)?;
    let ten = Value::Exact(Rational::from(10));
    let scale = power(at, &ten, &Value::Exact(Rational::from(scale)))?;
    let value = at.arithmetic().multiply(&Value::Real(mantissa), &scale);
    Ok(if long.negative {
        value.negated()
    } else {
        value
    })
}
