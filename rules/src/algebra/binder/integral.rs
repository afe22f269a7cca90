//! Integrals of what school integrates: polynomials, powers, exponentials, sines of linear arguments, and their sums.

use std::cmp::Ordering;

use super::build::{call, int, inverse, ln, natural, negated, power, product, sum, tidy};
use super::derivative::{derivative, mentions};
use super::limit;
use crate::algebra::budget::{Budget, Failure, Outcome};
use crate::algebra::{Constant, Expr, Function, Rational};
use crate::algebra::{polynomial, sign, walk};

/// The integral from `lower` to `upper`.
pub(super) fn definite(
    body: &Expr,
    variable: &str,
    lower: &Expr,
    upper: &Expr,
    budget: &mut Budget,
) -> Outcome<Expr> {
    let primitive = tidy(&antiderivative(body, variable, budget)?);
    if !continuous(body, variable, lower, upper, budget) {
        return Err(Failure::Unknown);
    }
    let mut at = |end: &Expr| -> Outcome<Expr> {
        if infinite(end) {
            limit::limit(&primitive, variable, end, budget)
        } else {
            Ok(walk::substitute(&primitive, variable, end))
        }
    };
    let (above, below) = (at(upper)?, at(lower)?);
    Ok(sum(vec![above, negated(below)]))
}

fn infinite(expr: &Expr) -> bool {
    walk::any(expr, &mut |part| {
        matches!(part, Expr::Constant(Constant::Infinity))
    })
}

/// Has the integrand no pole between the ends, as far as can be seen? Poles of linear divisors are looked for.
fn continuous(
    body: &Expr,
    variable: &str,
    lower: &Expr,
    upper: &Expr,
    budget: &mut Budget,
) -> bool {
    let mut fine = true;
    walk::any(body, &mut |part| {
        let divisor = match part {
            Expr::Power(pair)
                if mentions(&pair.0, variable)
                    && !matches!(&pair.1, Expr::Number(n) if *n >= Rational::ZERO) =>
            {
                &pair.0
            }
            Expr::Call(Function::Logarithm, parts) if mentions(part, variable) => &parts[0],
            Expr::Call(Function::Tan | Function::Cot | Function::Sec | Function::Csc, parts)
                if mentions(part, variable) =>
            {
                fine = fine && parts.is_empty();
                return false;
            }
            _ => return false,
        };
        fine = fine && same_sign(divisor, variable, lower, upper, budget);
        false
    });
    fine
}

/// Is a polynomial of degree up to 2 without a zero between the ends, them included?
fn same_sign(
    divisor: &Expr,
    variable: &str,
    lower: &Expr,
    upper: &Expr,
    budget: &mut Budget,
) -> bool {
    if let Ok(coefficients) = polynomial::expand(divisor, variable, budget)
        && let [c, b, a] = &coefficients[..]
        && b * b < Rational::from(4) * a * c
    {
        return true;
    }
    if !matches!(polynomial::expand(divisor, variable, budget), Ok(list) if list.len() <= 2) {
        return false;
    }
    let mut at = |end: &Expr| {
        if infinite(end) {
            // The sign far out is that of the slope, times that of the end.
            let slope = derivative(divisor, variable, budget).ok()?;
            let slope = sign::of_constant(&slope, budget).ok()?;
            return Some(if matches!(end, Expr::Constant(_)) {
                slope
            } else {
                slope.reverse()
            });
        }
        let value = walk::substitute(divisor, variable, end);
        if !walk::is_constant(&value) {
            return None;
        }
        sign::of_constant(&value, budget).ok()
    };
    matches!((at(lower), at(upper)), (Some(a), Some(b)) if a == b && a != Ordering::Equal)
}

/// A function with the derivative `body`.
pub(super) fn antiderivative(body: &Expr, variable: &str, budget: &mut Budget) -> Outcome<Expr> {
    budget.spend(20)?;
    let x = || Expr::symbol(variable);
    if !mentions(body, variable) {
        return Ok(product(vec![body.clone(), x()]));
    }
    if let Ok(coefficients) = polynomial::expand(body, variable, budget) {
        let terms = coefficients.iter().enumerate().map(|(degree, value)| {
            product(vec![
                Expr::Number(value / Rational::from(degree + 1)),
                power(x(), natural(degree + 1)),
            ])
        });
        return Ok(sum(terms.collect()));
    }
    match body {
        Expr::Add(parts) => {
            let mut terms = Vec::with_capacity(parts.len());
            for part in parts {
                terms.push(antiderivative(part, variable, budget)?);
            }
            Ok(sum(terms))
        }
        Expr::Multiply(parts) => {
            let (inside, outside): (Vec<_>, Vec<_>) = parts
                .iter()
                .cloned()
                .partition(|part| mentions(part, variable));
            if !outside.is_empty() {
                let inner = antiderivative(&product(inside), variable, budget)?;
                return Ok(product(vec![product(outside), inner]));
            }
            by_parts(&inside, variable, budget)
        }
        _ => elementary(body, variable, budget),
    }
}

/// a of a linear a·x + b.
fn slope(expr: &Expr, variable: &str, budget: &mut Budget) -> Outcome<Expr> {
    let slope = derivative(expr, variable, budget)?;
    let slope = if mentions(&slope, variable) {
        return Err(Failure::Unknown);
    } else {
        slope
    };
    Ok(slope)
}

fn elementary(body: &Expr, variable: &str, budget: &mut Budget) -> Outcome<Expr> {
    use Function as F;
    match body {
        Expr::Symbol(_) => Ok(product(vec![
            Expr::Number(Rational::from_parts(1.into(), 2u8.into())),
            power(body.clone(), int(2)),
        ])),
        Expr::Power(pair) if !mentions(&pair.0, variable) => {
            // c^{ax + b}.
            let slope = slope(&pair.1, variable, budget)?;
            let scale = if matches!(pair.0, Expr::Constant(Constant::E)) {
                slope
            } else {
                product(vec![slope, ln(pair.0.clone())])
            };
            Ok(product(vec![body.clone(), inverse(scale)]))
        }
        Expr::Power(pair) if !mentions(&pair.1, variable) => {
            if let Some(result) = inverse_quadratic(&pair.0, &pair.1, variable, budget) {
                return Ok(result);
            }
            let slope = slope(&pair.0, variable, budget)?;
            let Expr::Number(exponent) = &pair.1 else {
                return Err(Failure::Unknown);
            };
            if *exponent == Rational::from(-1) {
                let logarithm = ln(call(F::Absolute, pair.0.clone()));
                return Ok(product(vec![logarithm, inverse(slope)]));
            }
            let next = exponent + Rational::ONE;
            Ok(product(vec![
                power(pair.0.clone(), Expr::Number(next.clone())),
                Expr::Number(Rational::ONE / next),
                inverse(slope),
            ]))
        }
        Expr::Call(F::Root, parts) if parts.len() == 2 && !mentions(&parts[1], variable) => {
            let Expr::Number(degree) = &parts[1] else {
                return Err(Failure::Unknown);
            };
            if degree.is_zero() {
                return Err(Failure::Undefined);
            }
            let exponent = Expr::Number(Rational::ONE / degree.clone());
            elementary(&Expr::power(parts[0].clone(), exponent), variable, budget)
        }
        Expr::Call(F::Logarithm, parts) if parts.len() == 2 => {
            // ∫ ln u = (u ln u − u)/u′.
            let slope = slope(&parts[0], variable, budget)?;
            let u = parts[0].clone();
            let inside = sum(vec![product(vec![u.clone(), ln(u.clone())]), negated(u)]);
            Ok(product(vec![
                inside,
                inverse(slope),
                inverse(ln(parts[1].clone())),
            ]))
        }
        Expr::Call(function, parts) if parts.len() == 1 => {
            let u = parts[0].clone();
            let slope = slope(&u, variable, budget)?;
            let primitive = match function {
                F::Sin => negated(call(F::Cos, u)),
                F::Cos => call(F::Sin, u),
                F::Tan => negated(ln(call(F::Absolute, call(F::Cos, u)))),
                F::Cot => ln(call(F::Absolute, call(F::Sin, u))),
                F::Sinh => call(F::Cosh, u),
                F::Cosh => call(F::Sinh, u),
                _ => return Err(Failure::Unknown),
            };
            Ok(product(vec![primitive, inverse(slope)]))
        }
        _ => Err(Failure::Unknown),
    }
}

/// 1/(ax² + bx + c) without real poles: by the arctangent.
fn inverse_quadratic(
    base: &Expr,
    exponent: &Expr,
    variable: &str,
    budget: &mut Budget,
) -> Option<Expr> {
    if !matches!(exponent, Expr::Number(n) if *n == Rational::from(-1)) {
        return None;
    }
    let Ok(coefficients) = polynomial::expand(base, variable, budget) else {
        return None;
    };
    let [c, b, a] = &coefficients[..] else {
        return None;
    };
    let four = Rational::from(4);
    let discriminant = four * a * c - b * b;
    if discriminant <= Rational::ZERO {
        return None;
    }
    let root = Expr::sqrt(Expr::Number(discriminant));
    let above = sum(vec![
        product(vec![
            Expr::Number(a * Rational::from(2)),
            Expr::symbol(variable),
        ]),
        Expr::Number(b.clone()),
    ]);
    let angle = call(
        Function::Arctan,
        product(vec![above, inverse(root.clone())]),
    );
    Some(product(vec![int(2), angle, inverse(root)]))
}

/// A polynomial times an exponential, a sine or a cosine.
fn by_parts(factors: &[Expr], variable: &str, budget: &mut Budget) -> Outcome<Expr> {
    if let [single] = factors {
        return elementary(single, variable, budget);
    }
    // sin u · cos u and the like are not looked for.
    let (polynomials, others): (Vec<_>, Vec<_>) = factors
        .iter()
        .cloned()
        .partition(|part| polynomial::expand(part, variable, budget).is_ok());
    let [other] = &others[..] else {
        return Err(Failure::Unknown);
    };
    if matches!(other, Expr::Call(Function::Logarithm, _)) {
        // ∫ p ln u = P ln u − ∫ P u′/u.
        let primitive = antiderivative(&product(polynomials), variable, budget)?;
        let rest = product(vec![
            primitive.clone(),
            derivative(other, variable, budget)?,
        ]);
        let rest = polynomial::expand(&rest, variable, budget)?;
        let rest = antiderivative(&from_coefficients(&rest, variable), variable, budget)?;
        return Ok(sum(vec![
            product(vec![primitive, other.clone()]),
            negated(rest),
        ]));
    }
    let mut coefficients = polynomial::expand(&product(polynomials), variable, budget)?;
    let mut primitive = elementary(other, variable, budget)?;
    let mut terms = Vec::new();
    let mut negative = false;
    while !coefficients.is_empty() {
        if terms.len() > 32 {
            return Err(Failure::TooComplex);
        }
        let term = product(vec![
            from_coefficients(&coefficients, variable),
            primitive.clone(),
        ]);
        terms.push(if negative { negated(term) } else { term });
        negative = !negative;
        coefficients = coefficients
            .iter()
            .enumerate()
            .skip(1)
            .map(|(degree, value)| value * Rational::from(degree))
            .collect();
        if !coefficients.is_empty() {
            primitive = antiderivative(&primitive, variable, budget)?;
        }
    }
    Ok(sum(terms))
}

pub(super) fn from_coefficients(coefficients: &[Rational], variable: &str) -> Expr {
    let terms = coefficients.iter().enumerate().map(|(degree, value)| {
        product(vec![
            Expr::Number(value.clone()),
            power(Expr::symbol(variable), natural(degree)),
        ])
    });
    sum(terms.collect())
}
