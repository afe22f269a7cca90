//! Logarithms modulo a prime: ln ab = ln a + ln b, ln aᵇ = b·ln a, down to primes and to values drawn.

use std::cmp::Ordering;

use dashu_base::Sign;

use super::arithmetic::evaluate;
use super::basis::{Basis, Linear};
use super::evaluation::Evaluation;
use super::functions::constant_argument;
use super::linear::{linear, linear_product};
use crate::budget::{Failure, Outcome};
use crate::expr::{Constant, Expr, Function, Rational};
use crate::rational::{half, has_even_denominator, is_odd};

/// ln of an expression.
pub(super) fn logarithm(at: &mut Evaluation<'_>, expr: &Expr) -> Outcome<Linear> {
    let mut sum = Linear::default();
    let mut negative = false;
    collect_logarithm(at, expr, &Rational::ONE, &mut sum, &mut negative)?;
    if negative {
        if !at.assumptions().constant && !matches!(expr, Expr::Number(_)) {
            return Err(Failure::Unknown);
        }
        at.set_homomorphic(false);
        sum.push(Rational::ONE, Basis::Pi, true);
    }
    Ok(sum)
}

/// Adds scale·ln|expr|, and tells its sign.
fn collect_logarithm(
    at: &mut Evaluation<'_>,
    expr: &Expr,
    scale: &Rational,
    sum: &mut Linear,
    negative: &mut bool,
) -> Outcome<()> {
    at.spend(1)?;
    match expr {
        Expr::Number(value) => {
            if value.is_zero() {
                return Err(Failure::Undefined);
            }
            *negative ^= value.sign() == Sign::Negative;
            for (prime, times) in at.prime_factors(value)? {
                let image = at.field().rational(&prime).ok_or(Failure::Unknown)?;
                sum.push(
                    scale * Rational::from(times),
                    Basis::Logarithm(image),
                    false,
                );
            }
            Ok(())
        }
        Expr::Constant(Constant::E) => {
            sum.push(scale.clone(), Basis::One, false);
            Ok(())
        }
        Expr::Multiply(parts) => {
            for part in parts {
                collect_logarithm(at, part, scale, sum, negative)?;
            }
            Ok(())
        }
        Expr::Power(pair) => {
            if matches!(pair.0, Expr::Constant(Constant::E)) {
                let exponent = linear(at, &pair.1)?;
                if exponent.has_imaginary() {
                    return Err(Failure::Unknown);
                }
                sum.add(&exponent, scale);
                return Ok(());
            }
            match at.fold(&pair.1) {
                Ok(exponent) => power_logarithm(at, &pair.0, &exponent, scale, sum, negative),
                Err(Failure::Unknown) => {
                    let base = logarithm(at, &pair.0)?;
                    let exponent = linear(at, &pair.1)?;
                    let product = linear_product(at, &base, &exponent)?;
                    if product.has_imaginary() {
                        return Err(Failure::Unknown);
                    }
                    sum.add(&product, scale);
                    Ok(())
                }
                Err(failure) => Err(failure),
            }
        }
        Expr::Call(Function::Root, parts) if parts.len() == 2 => {
            let degree = at.fold(&parts[1])?;
            if degree.is_zero() {
                return Err(Failure::Undefined);
            }
            let exponent = Rational::ONE / degree;
            power_logarithm(at, &parts[0], &exponent, scale, sum, negative)
        }
        Expr::Call(Function::Absolute, parts) if parts.len() == 1 && !at.assumptions().complex => {
            let mut ignored = false;
            collect_logarithm(at, &parts[0], scale, sum, &mut ignored)
        }
        _ => opaque_logarithm(at, expr, scale, sum, negative),
    }
}

fn power_logarithm(
    at: &mut Evaluation<'_>,
    base: &Expr,
    exponent: &Rational,
    scale: &Rational,
    sum: &mut Linear,
    negative: &mut bool,
) -> Outcome<()> {
    let mut below = false;
    collect_logarithm(at, base, &(scale * exponent), sum, &mut below)?;
    if !below {
        return Ok(());
    }
    if has_even_denominator(exponent) {
        return Err(Failure::Unknown);
    }
    *negative ^= is_odd(exponent.numerator());
    Ok(())
}

fn opaque_logarithm(
    at: &mut Evaluation<'_>,
    expr: &Expr,
    scale: &Rational,
    sum: &mut Linear,
    negative: &mut bool,
) -> Outcome<()> {
    let value = evaluate(at, expr)?;
    let Some(value) = value.real() else {
        // ln z = ln|z| + i·arg z.
        at.choose_sign();
        let argument = constant_argument(at, expr)?;
        let norm = at.field().norm(value);
        if !at.field().is_square(norm) {
            return Err(Failure::Unknown);
        }
        if norm != at.field().one() {
            sum.push(scale * half(), Basis::Logarithm(norm), false);
        }
        sum.add(&argument.turned(), scale);
        return Ok(());
    };
    if value.is_zero() {
        return Err(Failure::Undefined);
    }
    at.set_homomorphic(false);
    if at.assumptions().imply_positive(expr) {
        if !at.field().is_square(value) {
            return Err(Failure::Unknown);
        }
        sum.push(scale.clone(), Basis::Logarithm(value), false);
        return Ok(());
    }
    at.choose_sign();
    let below = !at.field().is_square(value);
    if let Some(sign) = at.constant_sign(expr)? {
        // The image has to agree with the true sign.
        if below != (sign == Ordering::Less) {
            return Err(Failure::Unknown);
        }
    }
    *negative ^= below;
    let size = if below {
        at.field().negate(value)
    } else {
        value
    };
    sum.push(scale.clone(), Basis::Logarithm(size), false);
    Ok(())
}
