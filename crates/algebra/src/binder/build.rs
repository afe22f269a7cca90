//! Small constructors that drop what is neutral.

use crate::expr::{Expr, Rational};
use crate::work;

pub(super) fn int(value: i64) -> Expr {
    Expr::integer(value)
}

pub(super) fn natural(value: usize) -> Expr {
    Expr::Number(Rational::from(value))
}

pub(super) fn is_number(expr: &Expr, value: i64) -> bool {
    matches!(expr, Expr::Number(number) if *number == Rational::from(value))
}

pub(super) fn sum(parts: Vec<Expr>) -> Expr {
    let mut parts: Vec<Expr> = parts
        .into_iter()
        .filter(|part| !is_number(part, 0))
        .collect();
    match parts.len() {
        0 => int(0),
        1 => parts.swap_remove(0),
        _ => Expr::Add(parts),
    }
}

pub(super) fn product(parts: Vec<Expr>) -> Expr {
    if parts.iter().any(|part| is_number(part, 0)) {
        return int(0);
    }
    let mut parts: Vec<Expr> = parts
        .into_iter()
        .filter(|part| !is_number(part, 1))
        .collect();
    match parts.len() {
        0 => int(1),
        1 => parts.swap_remove(0),
        _ => Expr::Multiply(parts),
    }
}

pub(super) fn power(base: Expr, exponent: Expr) -> Expr {
    if is_number(&exponent, 1) {
        base
    } else if is_number(&exponent, 0) {
        int(1)
    } else if let (Expr::Power(inner), Expr::Number(outer)) = (&base, &exponent)
        && let Expr::Number(degree) = &inner.1
        && degree.is_int()
        && outer.is_int()
    {
        work::charge(work::operation(degree, outer));
        power(inner.0.clone(), Expr::Number(degree * outer))
    } else {
        Expr::power(base, exponent)
    }
}

pub(super) fn inverse(expr: Expr) -> Expr {
    if is_number(&expr, 1) {
        expr
    } else {
        power(expr, int(-1))
    }
}

pub(super) fn negated(expr: Expr) -> Expr {
    if is_number(&expr, 0) {
        expr
    } else {
        expr.negated()
    }
}

/// Sums in sums, products in products and powers of powers made one.
pub(super) fn tidy(expr: &Expr) -> Expr {
    work::charge(work::NODE);
    match expr {
        Expr::Add(parts) => {
            let mut flat = Vec::with_capacity(parts.len());
            for part in parts {
                match tidy(part) {
                    Expr::Add(inner) => flat.extend(inner),
                    other => flat.push(other),
                }
            }
            sum(flat)
        }
        Expr::Multiply(parts) => tidy_product(parts.iter().map(tidy).collect()),
        Expr::Power(pair) => match (tidy(&pair.0), &pair.1) {
            // (ab)^n is a^n·b^n for integers n.
            (Expr::Multiply(parts), Expr::Number(exponent)) if exponent.is_int() => tidy_product(
                parts
                    .into_iter()
                    .map(|part| power(part, pair.1.clone()))
                    .collect(),
            ),
            (base, exponent) => power(base, tidy(exponent)),
        },
        Expr::Call(function, parts) => Expr::Call(*function, parts.iter().map(tidy).collect()),
        other => other.clone(),
    }
}

fn tidy_product(parts: Vec<Expr>) -> Expr {
    let mut flat = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Expr::Multiply(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    product(flat)
}

/// The polynomial with these coefficients, from the constant up.
pub(super) fn from_coefficients(coefficients: &[Rational], variable: &str) -> Expr {
    let terms = coefficients.iter().enumerate().map(|(degree, value)| {
        product(vec![
            Expr::Number(value.clone()),
            power(Expr::symbol(variable), natural(degree)),
        ])
    });
    sum(terms.collect())
}
