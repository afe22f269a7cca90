//! Integrals, derivatives and limits of polynomials with rational coefficients.

use super::build::{from_coefficients, int, negated, product, sum};
use crate::budget::{Budget, Failure, Outcome};
use crate::expr::{Expr, Rational};
use crate::{polynomial, walk};

/// The integral from `lower` to `upper`.
pub(super) fn definite(
    body: &Expr,
    variable: &str,
    lower: &Expr,
    upper: &Expr,
    budget: &mut Budget,
) -> Outcome<Expr> {
    if walk::has_infinity(lower) || walk::has_infinity(upper) {
        return Err(Failure::Unknown);
    }
    let primitive = antiderivative(body, variable, budget)?;
    let at = |end: &Expr| walk::substitute(&primitive, variable, end);
    Ok(sum(vec![at(upper), negated(at(lower))]))
}

/// A function with the derivative `body`.
pub(super) fn antiderivative(body: &Expr, variable: &str, budget: &mut Budget) -> Outcome<Expr> {
    budget.spend(20)?;
    if !walk::mentions(body, variable) {
        return Ok(product(vec![body.clone(), Expr::symbol(variable)]));
    }
    let coefficients = polynomial::expand(body, variable, budget)?;
    let mut primitive = vec![Rational::ZERO];
    primitive.extend(
        coefficients
            .iter()
            .enumerate()
            .map(|(degree, value)| value / Rational::from(degree + 1)),
    );
    Ok(from_coefficients(&primitive, variable))
}

pub(super) fn derivative(body: &Expr, variable: &str, budget: &mut Budget) -> Outcome<Expr> {
    budget.spend(5)?;
    if !walk::mentions(body, variable) {
        return Ok(int(0));
    }
    let coefficients = polynomial::expand(body, variable, budget)?;
    let derivative = polynomial::derivative(&coefficients);
    Ok(from_coefficients(&derivative, variable))
}

pub(super) fn limit(
    body: &Expr,
    variable: &str,
    target: &Expr,
    budget: &mut Budget,
) -> Outcome<Expr> {
    if !walk::mentions(body, variable) {
        return Ok(body.clone());
    }
    if walk::has_infinity(target) {
        return Err(Failure::Unknown);
    }
    polynomial::expand(body, variable, budget)?;
    Ok(walk::substitute(body, variable, target))
}
