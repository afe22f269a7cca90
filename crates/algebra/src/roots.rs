//! Real roots of polynomials, as far as they can be written down.

use std::cmp::Ordering;

use dashu_int::{IBig, UBig};

use super::expr::{Expr, Function, Rational};
use super::polynomial::evaluate;

/// The highest degree that is looked at.
const MOST_DEGREE: usize = 24;

/// Beginning and end of a polynomial with larger coefficients are not searched for factors.
const MOST_FACTORED: u64 = 1_000_000;

/// How many fractions are tried as roots.
const MOST_TRIED: usize = 600;

/// The real roots of a polynomial, coefficients from the constant up, in no order; some may repeat. `None` where they
/// cannot be written with roots of rational numbers.
pub fn roots(coefficients: &[Rational]) -> Option<Vec<Expr>> {
    let degree = coefficients.iter().rposition(|c| !c.is_zero());
    let Some(degree) = degree else {
        return Some(Vec::new());
    };
    if degree > MOST_DEGREE {
        return None;
    }
    let mut rest = coefficients.get(..=degree)?.to_vec();
    let mut found = Vec::new();
    // x^k (…): zero, and the rest.
    let low = rest.iter().position(|c| !c.is_zero())?;
    if low > 0 {
        rest.drain(..low);
        found.push(Expr::integer(0));
    }
    if rest.len() > 3 {
        divide_out(&mut rest, &mut found);
    }
    found.extend(remaining(&rest)?);
    Some(found)
}

/// Roots of a polynomial without rational ones, if its degree is above two.
fn remaining(rest: &[Rational]) -> Option<Vec<Expr>> {
    match rest {
        [] | [_] => Some(Vec::new()),
        [start, slope] => Some(vec![Expr::Number(-(start / slope))]),
        [c, b, a] => Some(quadratic(a, b, c)),
        _ => {
            // x³ = 2.
            let inner = rest.get(1..rest.len() - 1)?;
            let degree = rest.len() - 1;
            if degree % 2 == 1 && inner.iter().all(Rational::is_zero) {
                let value = -(rest.first()? / rest.last()?);
                let degree = Expr::Number(Rational::from(degree));
                return Some(vec![Expr::Call(
                    Function::Root,
                    vec![Expr::Number(value), degree],
                )]);
            }
            None
        }
    }
}

fn quadratic(a: &Rational, b: &Rational, c: &Rational) -> Vec<Expr> {
    let discriminant = b * b - Rational::from(4) * a * c;
    let middle = -b / (Rational::from(2) * a);
    match discriminant.cmp(&Rational::ZERO) {
        Ordering::Less => Vec::new(),
        Ordering::Equal => vec![Expr::Number(middle)],
        Ordering::Greater => {
            let inside = discriminant / (Rational::from(4) * a * a);
            [-1, 1]
                .into_iter()
                .map(|side| {
                    let root = Expr::sqrt(Expr::Number(inside.clone()));
                    Expr::Add(vec![
                        Expr::Number(middle.clone()),
                        Expr::Multiply(vec![Expr::integer(side), root]),
                    ])
                })
                .collect()
        }
    }
}

/// Finds rational roots by the factors of the outer coefficients, and divides by them.
fn divide_out(rest: &mut Vec<Rational>, found: &mut Vec<Expr>) {
    let Some((first, last)) = outer(rest) else {
        return;
    };
    let mut tried = 0;
    for below in divisors(last) {
        for above in divisors(first) {
            for sign in [1, -1] {
                tried += 1;
                if tried > MOST_TRIED || rest.len() <= 3 {
                    return;
                }
                let candidate = Rational::from_parts(IBig::from(above) * sign, UBig::from(below));
                let mut known = false;
                while rest.len() > 1 && evaluate(rest, &candidate).is_zero() {
                    deflate(rest, &candidate);
                    if !known {
                        found.push(Expr::Number(candidate.clone()));
                        known = true;
                    }
                }
            }
        }
    }
}

/// The first and last coefficient once all are integers without a common factor, if they are small.
fn outer(coefficients: &[Rational]) -> Option<(u64, u64)> {
    use dashu_base::{Abs, Gcd};
    let mut scale = UBig::ONE;
    for coefficient in coefficients {
        let below = coefficient.denominator();
        scale = &scale / (&scale).gcd(below) * below;
    }
    let scale = Rational::from(scale);
    let scaled: Vec<IBig> = coefficients
        .iter()
        .map(|coefficient| (coefficient * &scale).numerator().clone())
        .collect();
    let mut common = UBig::ZERO;
    for value in &scaled {
        if !value.is_zero() {
            let size = UBig::try_from(value.clone().abs()).ok()?;
            common = if common.is_zero() {
                size
            } else {
                common.gcd(&size)
            };
        }
    }
    let common = IBig::from(common);
    let size = |value: &IBig| {
        let size = u64::try_from((value / &common).abs()).ok()?;
        (size > 0 && size <= MOST_FACTORED).then_some(size)
    };
    Some((size(scaled.first()?)?, size(scaled.last()?)?))
}

fn divisors(number: u64) -> Vec<u64> {
    let mut divisors = Vec::new();
    let mut divisor = 1;
    while divisor * divisor <= number {
        if number.is_multiple_of(divisor) {
            divisors.push(divisor);
            if divisor * divisor != number {
                divisors.push(number / divisor);
            }
        }
        divisor += 1;
    }
    divisors
}

/// Divides by x − root.
fn deflate(coefficients: &mut Vec<Rational>, root: &Rational) {
    let mut carry = Rational::ZERO;
    for coefficient in coefficients.iter_mut().rev() {
        let value = &*coefficient + &carry * root;
        *coefficient = std::mem::replace(&mut carry, value);
    }
    // The remainder was zero; what is left has one degree less.
    coefficients.pop();
}
