//! Limits: by substitution, else by l'Hôpital's rule.

use std::cmp::Ordering;

use super::build::{int, inverse, is_number, ln, negated, power, product, sum, tidy};
use super::derivative::{derivative, mentions};
use crate::algebra::budget::{Budget, Failure, Outcome};
use crate::algebra::{Constant, Expr, Function, Rational};
use crate::algebra::{decide, fold, sign, walk};

/// The limit of `body` as `variable` goes to `target`.
pub(super) fn limit(
    body: &Expr,
    variable: &str,
    target: &Expr,
    budget: &mut Budget,
) -> Outcome<Expr> {
    if !mentions(body, variable) {
        return Ok(body.clone());
    }
    if walk::any(body, &mut |part| !well_behaved(part)) {
        return Err(Failure::Unknown);
    }
    if let Some(down) = infinite(target) {
        return far_out(body, variable, down, budget, 0);
    }
    near(body, variable, target, budget, 0)
}

/// Is the limit of the value the value of the limit, where that exists?
fn well_behaved(part: &Expr) -> bool {
    match part {
        Expr::Call(function, _) => !matches!(
            function,
            Function::Floor
                | Function::Ceiling
                | Function::Sign
                | Function::Modulo
                | Function::Factorial
                | Function::DoubleFactorial
                | Function::Gamma
                | Function::Binomial
                | Function::Permutations
                | Function::Gcd
                | Function::Lcm
                | Function::Argument
                | Function::Arccot
        ),
        Expr::Binder(_) | Expr::Apply(..) => false,
        _ => true,
    }
}

/// −∞: true; ∞: false; anything else: none.
fn infinite(expr: &Expr) -> Option<bool> {
    match expr {
        Expr::Constant(Constant::Infinity) => Some(false),
        Expr::Multiply(parts) => match &parts[..] {
            [minus, Expr::Constant(Constant::Infinity)] if is_number(minus, -1) => Some(true),
            _ => None,
        },
        _ => None,
    }
}

/// At a finite point.
fn near(
    body: &Expr,
    variable: &str,
    target: &Expr,
    budget: &mut Budget,
    depth: u32,
) -> Outcome<Expr> {
    budget.spend(20)?;
    if depth > 6 {
        return Err(Failure::Unknown);
    }
    let value = walk::substitute(body, variable, target);
    match decide::is_defined(&value, budget) {
        Some(true) => return Ok(value),
        Some(false) => {}
        None => return Err(Failure::Unknown),
    }
    match body {
        Expr::Add(parts) => {
            // Only where each part has a limit.
            let mut terms = Vec::with_capacity(parts.len());
            for part in parts {
                terms.push(near(part, variable, target, budget, depth + 1)?);
            }
            Ok(sum(terms))
        }
        Expr::Power(pair) if mentions(&pair.1, variable) => {
            let exponent = product(vec![pair.1.clone(), ln(pair.0.clone())]);
            let exponent = near(&exponent, variable, target, budget, depth + 1)?;
            Ok(Expr::power(Expr::Constant(Constant::E), exponent))
        }
        Expr::Multiply(_) => {
            let (above, below) = quotient(body);
            if !vanishes(&above, variable, target, budget)
                || !vanishes(&below, variable, target, budget)
            {
                return Err(Failure::Unknown);
            }
            let above = derivative(&above, variable, budget)?;
            let below = derivative(&below, variable, budget)?;
            let next = product(vec![above, inverse(below)]);
            near(&next, variable, target, budget, depth + 1)
        }
        _ => Err(Failure::Unknown),
    }
}

fn vanishes(expr: &Expr, variable: &str, target: &Expr, budget: &mut Budget) -> bool {
    let value = walk::substitute(expr, variable, target);
    decide::is_zero(&value, budget)
}

/// Numerator and denominator; a logarithm that stands alone is one over its inverse.
fn quotient(expr: &Expr) -> (Expr, Expr) {
    let Expr::Multiply(parts) = expr else {
        return (expr.clone(), int(1));
    };
    let (mut above, mut below) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            Expr::Power(pair) if matches!(&pair.1, Expr::Number(n) if *n < Rational::ZERO) => {
                let Expr::Number(exponent) = &pair.1 else {
                    continue;
                };
                below.push(power(pair.0.clone(), Expr::Number(-exponent.clone())));
            }
            _ => above.push(part.clone()),
        }
    }
    (product(above), product(below))
}

/// At ±∞.
fn far_out(
    body: &Expr,
    variable: &str,
    down: bool,
    budget: &mut Budget,
    depth: u32,
) -> Outcome<Expr> {
    budget.spend(20)?;
    if depth > 6 {
        return Err(Failure::Unknown);
    }
    if !mentions(body, variable) {
        return Ok(body.clone());
    }
    match body {
        Expr::Add(parts)
            if depth == 0 && parts.iter().all(decays_or_constant(variable, down, budget)) =>
        {
            let rest = parts
                .iter()
                .filter(|part| !mentions(part, variable))
                .cloned()
                .collect();
            return Ok(sum(rest));
        }
        _ if decays_or_constant(variable, down, budget)(body) => return Ok(int(0)),
        Expr::Call(Function::Arctan, parts) => {
            // Of a linear argument.
            let slope = derivative(&parts[0], variable, budget)?;
            if mentions(&slope, variable) {
                return Err(Failure::Unknown);
            }
            let sign = sign::of_constant(&slope, budget)?;
            if sign == Ordering::Equal {
                return Err(Failure::Unknown);
            }
            let half = Rational::from_parts(1.into(), 2u8.into());
            let quarter = product(vec![Expr::Number(half), Expr::Constant(Constant::Pi)]);
            let negative = (sign == Ordering::Less) != down;
            return Ok(if negative { negated(quarter) } else { quarter });
        }
        Expr::Multiply(parts) => {
            let (inside, mut outside): (Vec<_>, Vec<_>) = parts
                .iter()
                .cloned()
                .partition(|part| mentions(part, variable));
            if !outside.is_empty() {
                outside.push(far_out(
                    &product(inside),
                    variable,
                    down,
                    budget,
                    depth + 1,
                )?);
                return Ok(product(outside));
            }
        }
        _ => {}
    }
    if let Expr::Power(pair) = body
        && mentions(&pair.1, variable)
    {
        let exponent = product(vec![pair.1.clone(), ln(pair.0.clone())]);
        let exponent = far_out(&exponent, variable, down, budget, depth + 1)?;
        return Ok(Expr::power(Expr::Constant(Constant::E), exponent));
    }
    if let Some(value) = leading(body, variable, budget) {
        return value;
    }
    // x = ±1/t, and t to 0.
    let step = Expr::symbol("\u{1}t");
    let mut far = inverse(step.clone());
    if down {
        far = negated(far);
    }
    let turned = walk::substitute(body, variable, &far);
    near(&tidy(&turned), "\u{1}t", &int(0), budget, depth + 1)
}

/// Of a quotient of polynomials.
fn leading(body: &Expr, variable: &str, budget: &mut Budget) -> Option<Outcome<Expr>> {
    use crate::algebra::polynomial::expand;
    let (above, below) = quotient(body);
    let above = expand(&above, variable, budget).ok()?;
    let below = expand(&below, variable, budget).ok()?;
    let (Some(top), Some(bottom)) = (above.last(), below.last()) else {
        return Some(Err(Failure::Unknown));
    };
    Some(match above.len().cmp(&below.len()) {
        Ordering::Less => Ok(int(0)),
        Ordering::Equal => fold::divide(top, bottom, budget).map(Expr::Number),
        Ordering::Greater => Err(Failure::Unknown),
    })
}

/// Is it free of the variable, or a polynomial times an exponential that decays?
fn decays_or_constant<'a>(
    variable: &'a str,
    down: bool,
    budget: &'a mut Budget,
) -> impl FnMut(&Expr) -> bool + 'a {
    move |expr| {
        if !mentions(expr, variable) {
            return true;
        }
        let single = [expr.clone()];
        let parts = match expr {
            Expr::Multiply(parts) => &parts[..],
            _ => &single[..],
        };
        let mut decays = false;
        for part in parts {
            match part {
                Expr::Power(pair)
                    if matches!(pair.0, Expr::Constant(Constant::E))
                        && mentions(&pair.1, variable) =>
                {
                    let Ok(slope) = derivative(&pair.1, variable, budget) else {
                        return false;
                    };
                    if mentions(&slope, variable) || !walk::is_constant(&slope) {
                        return false;
                    }
                    let Ok(sign) = sign::of_constant(&slope, budget) else {
                        return false;
                    };
                    if (sign == Ordering::Less) == down {
                        return false;
                    }
                    decays = true;
                }
                _ if crate::algebra::polynomial::expand(part, variable, budget).is_ok() => {}
                Expr::Call(Function::Sin | Function::Cos, _) => {}
                _ if !mentions(part, variable) => {}
                _ => return false,
            }
        }
        decays
    }
}
