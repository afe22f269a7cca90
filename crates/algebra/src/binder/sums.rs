//! Sums and products: written out where they are short, in closed form where the summand is a polynomial or geometric.

use std::cmp::Ordering;

use super::build::{from_coefficients, int, inverse, natural, negated, power, product, sum};
use crate::budget::{Budget, Failure, Outcome};
use crate::expr::{Constant, Expr, Function, Rational};
use crate::{ball, fold, identity, polynomial, rational, walk};

/// At most so many parts are written out.
const NODES: u64 = 20_000;
/// Higher powers are not summed.
const DEGREE: usize = 30;

/// Σ or Π from `lower` to `upper`.
pub(super) fn repeated(
    body: &Expr,
    variable: &str,
    lower: &Expr,
    upper: &Expr,
    multiply: bool,
    budget: &mut Budget,
) -> Outcome<Expr> {
    if let (Ok(from), Ok(to)) = (fold::fold(lower, budget), fold::fold(upper, budget)) {
        if !from.is_int() || !to.is_int() {
            return Err(Failure::Unknown);
        }
        let count = to.clone() - &from + Rational::ONE;
        if count <= Rational::ZERO {
            return Ok(int(i64::from(multiply)));
        }
        let count = u64::try_from(count.numerator()).unwrap_or(u64::MAX);
        let nodes = walk::size(body).saturating_mul(count);
        if nodes <= NODES {
            budget.spend(nodes)?;
            let mut parts = Vec::with_capacity(count as usize);
            let mut at = from;
            for _ in 0..count {
                budget.check()?;
                parts.push(walk::substitute(body, variable, &Expr::Number(at.clone())));
                at += Rational::ONE;
            }
            return Ok(if multiply { product(parts) } else { sum(parts) });
        }
    }
    if multiply {
        if walk::mentions(body, variable) {
            return Err(Failure::Unknown);
        }
        let count = sum(vec![upper.clone(), int(1), negated(lower.clone())]);
        return Ok(Expr::power(body.clone(), count));
    }
    let mut terms = Vec::new();
    for term in addends(body) {
        terms.push(closed(&term, variable, lower, upper, budget)?);
    }
    Ok(sum(terms))
}

fn addends(body: &Expr) -> Vec<Expr> {
    match body {
        Expr::Add(parts) => parts.clone(),
        other => vec![other.clone()],
    }
}

fn is_infinity(expr: &Expr) -> bool {
    matches!(expr, Expr::Constant(Constant::Infinity))
}

fn closed(
    term: &Expr,
    variable: &str,
    lower: &Expr,
    upper: &Expr,
    budget: &mut Budget,
) -> Outcome<Expr> {
    budget.spend(50)?;
    let parts = match term {
        Expr::Multiply(parts) => parts.clone(),
        other => vec![other.clone()],
    };
    let (inside, outside): (Vec<_>, Vec<_>) = parts
        .into_iter()
        .partition(|part| walk::mentions(part, variable));
    let value = inner_sum(&inside, variable, lower, upper, budget)?;
    Ok(product(vec![product(outside), value]))
}

fn inner_sum(
    inside: &[Expr],
    variable: &str,
    lower: &Expr,
    upper: &Expr,
    budget: &mut Budget,
) -> Outcome<Expr> {
    if is_infinity(upper)
        && let Some(value) = well_known(&product(inside.to_vec()), variable, lower, budget)
    {
        return Ok(value);
    }
    // Exponentials r^{ak + b} on one side, a polynomial on the other.
    let (mut ratio, mut scale, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for part in inside {
        match part {
            Expr::Power(pair)
                if !walk::mentions(&pair.0, variable) && walk::mentions(&pair.1, variable) =>
            {
                let start = walk::substitute(&pair.1, variable, &int(0));
                let next = walk::substitute(&pair.1, variable, &int(1));
                let slope = sum(vec![next, negated(start.clone())]);
                let linear = sum(vec![
                    product(vec![slope.clone(), Expr::symbol(variable)]),
                    start.clone(),
                ]);
                if !identity::agree(&linear, &pair.1, budget) {
                    return Err(Failure::Unknown);
                }
                ratio.push(Expr::power(pair.0.clone(), slope));
                scale.push(Expr::power(pair.0.clone(), start));
            }
            Expr::Power(pair)
                if walk::mentions(&pair.0, variable)
                    && matches!(&pair.0, Expr::Power(_))
                    && !walk::mentions(&pair.1, variable) =>
            {
                // (r^k)^−1.
                let Expr::Power(inner) = &pair.0 else {
                    return Err(Failure::Unknown);
                };
                let exponent = product(vec![inner.1.clone(), pair.1.clone()]);
                let flat = Expr::power(inner.0.clone(), exponent);
                let mut parts: Vec<Expr> = inside
                    .iter()
                    .filter(|other| *other != part)
                    .cloned()
                    .collect();
                if parts.len() + 1 != inside.len() {
                    return Err(Failure::Unknown);
                }
                parts.push(flat);
                return inner_sum(&parts, variable, lower, upper, budget);
            }
            other => rest.push(other.clone()),
        }
    }
    let coefficients = polynomial::expand(&product(rest), variable, budget)?;
    if ratio.is_empty() {
        if is_infinity(upper) {
            return Err(Failure::Unknown);
        }
        let sums = powers(&coefficients, budget)?;
        let at = |end: &Expr| walk::substitute(&from_coefficients(&sums, "\u{1}n"), "\u{1}n", end);
        let before = sum(vec![lower.clone(), int(-1)]);
        return Ok(sum(vec![at(upper), negated(at(&before))]));
    }
    let value = geometric(&coefficients, &product(ratio), lower, upper, budget)?;
    Ok(product(vec![product(scale), value]))
}

/// The polynomial S with S(n) = Σ_{k=1}^{n} p(k): S(n) − S(n − 1) = p(n), from the highest power down.
fn powers(coefficients: &[Rational], budget: &mut Budget) -> Outcome<Vec<Rational>> {
    let length = coefficients.len();
    if length > DEGREE {
        return Err(Failure::TooComplex);
    }
    budget.spend((length * length * 4) as u64)?;
    let mut rest = coefficients.to_vec();
    let mut result = vec![Rational::ZERO; length + 1];
    for degree in (0..length).rev() {
        // n^{d+1} − (n − 1)^{d+1} begins with (d + 1)·n^d.
        let factor = rational::divide(&rest[degree], &Rational::from(degree + 1), budget)?;
        let mut binomial = Rational::ONE;
        for step in 1..=degree + 1 {
            binomial = binomial * Rational::from(degree + 2 - step) / Rational::from(step);
            let signed = if step % 2 == 1 {
                binomial.clone()
            } else {
                -binomial.clone()
            };
            let term = -rational::multiply(&factor, &signed, budget)?;
            let place = &mut rest[degree + 1 - step];
            *place = rational::add(place, &term, budget)?;
        }
        result[degree + 1] = factor;
    }
    Ok(result)
}

/// Σ p(k)·r^k: r^k·q(k) with r·q(k + 1) − q(k) = p(k) telescopes.
fn geometric(
    coefficients: &[Rational],
    ratio: &Expr,
    lower: &Expr,
    upper: &Expr,
    budget: &mut Budget,
) -> Outcome<Expr> {
    let length = coefficients.len();
    if length > 5 {
        return Err(Failure::TooComplex);
    }
    if is_infinity(upper) && walk::is_constant(ratio) {
        let size = Expr::call(Function::Absolute, ratio.clone());
        let room = sum(vec![int(1), negated(size)]);
        if ball::sign(&room, budget)? != Ordering::Greater {
            return Err(Failure::Undefined);
        }
    }
    let divisor = sum(vec![ratio.clone(), int(-1)]);
    // From the highest power down: (r − 1)·q_d = p_d − r·Σ_{j>d} C(j, d)·q_j.
    let mut solved = vec![int(0); length];
    for degree in (0..length).rev() {
        let mut terms = vec![Expr::Number(coefficients[degree].clone())];
        let mut binomial = Rational::ONE;
        for (above, known) in solved.iter().enumerate().skip(degree + 1) {
            binomial = binomial * Rational::from(above) / Rational::from(above - degree);
            terms.push(product(vec![
                int(-1),
                Expr::Number(binomial.clone()),
                ratio.clone(),
                known.clone(),
            ]));
        }
        solved[degree] = product(vec![sum(terms), inverse(divisor.clone())]);
    }
    let at = |end: &Expr| {
        let terms = solved.iter().enumerate().map(|(degree, value)| {
            product(vec![value.clone(), power(end.clone(), natural(degree))])
        });
        let polynomial = if length == 1 {
            solved[0].clone()
        } else {
            sum(terms.collect())
        };
        product(vec![Expr::power(ratio.clone(), end.clone()), polynomial])
    };
    if is_infinity(upper) {
        return Ok(negated(at(lower)));
    }
    let after = sum(vec![upper.clone(), int(1)]);
    Ok(sum(vec![at(&after), negated(at(lower))]))
}

/// Σ 1/k^{2m}, Σ c^k/k!.
fn well_known(body: &Expr, variable: &str, lower: &Expr, budget: &mut Budget) -> Option<Expr> {
    let from = fold::fold(lower, budget).ok()?;
    let from = from
        .is_int()
        .then(|| i64::try_from(from.numerator()).ok())??;
    let rational =
        |above: i64, below: u64| Expr::Number(Rational::from_parts(above.into(), below.into()));
    if let Expr::Power(pair) = body
        && walk::is_symbol(&pair.0, variable)
        && let Expr::Number(exponent) = &pair.1
        && (1..=20).contains(&from)
    {
        let below = match i64::try_from(exponent.numerator()).ok()? {
            -2 if exponent.is_int() => 6,
            -4 if exponent.is_int() => 90,
            -6 if exponent.is_int() => 945,
            _ => return None,
        };
        let power_of_pi = power(
            Expr::Constant(Constant::Pi),
            Expr::Number(-exponent.clone()),
        );
        let mut terms = vec![product(vec![rational(1, below), power_of_pi])];
        for k in 1..from {
            terms.push(negated(walk::substitute(body, variable, &int(k))));
        }
        return Some(sum(terms));
    }
    let parts = match body {
        Expr::Multiply(parts) => parts.clone(),
        other => vec![other.clone()],
    };
    let is_factorial = |part: &Expr| {
        matches!(part, Expr::Power(pair)
            if matches!(&pair.1, Expr::Number(n) if *n == Rational::from(-1))
            && matches!(&pair.0, Expr::Call(Function::Factorial, inner)
                if matches!(inner.first(), Some(Expr::Symbol(name)) if **name == *variable)))
    };
    if !parts.iter().any(is_factorial) || !(0..=20).contains(&from) {
        return None;
    }
    let mut bases = Vec::new();
    for part in parts.iter().filter(|part| !is_factorial(part)) {
        match part {
            Expr::Power(pair)
                if !walk::mentions(&pair.0, variable)
                    && matches!(&pair.1, Expr::Symbol(name) if **name == *variable) =>
            {
                bases.push(pair.0.clone());
            }
            _ => return None,
        }
    }
    let mut terms = vec![Expr::power(
        Expr::Constant(Constant::E),
        product(bases.clone()),
    )];
    for k in 0..from {
        let value = product(vec![
            power(product(bases.clone()), int(k)),
            inverse(Expr::call(Function::Factorial, int(k))),
        ]);
        terms.push(negated(value));
    }
    Some(sum(terms))
}
