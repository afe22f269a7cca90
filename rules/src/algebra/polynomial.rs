//! Polynomials in one variable with rational coefficients.

use dashu_base::Sign;

use super::budget::{Budget, Failure, Outcome};
use super::fold;
use super::walk;
use crate::algebra::work;
use crate::algebra::{Expr, Function, Rational};

/// Higher degrees are not expanded.
const DEGREE: usize = 512;

/// The coefficients, from the constant up, of a polynomial in `variable` with rational coefficients; `None` otherwise.
///
/// The highest one is not 0; the zero polynomial has none.
pub(crate) fn polynomial(
    expr: &Expr,
    variable: &str,
    budget: &mut Budget,
) -> Option<Vec<Rational>> {
    expand(expr, variable, budget).ok()
}

pub(super) fn expand(expr: &Expr, variable: &str, budget: &mut Budget) -> Outcome<Vec<Rational>> {
    budget.spend(1)?;
    match expr {
        Expr::Symbol(name) if **name == *variable => Ok(vec![Rational::ZERO, Rational::ONE]),
        Expr::Add(parts) => {
            let mut sum = Vec::new();
            for part in parts {
                let value = expand(part, variable, budget)?;
                budget.spend(value.len() as u64)?;
                add(&mut sum, &value);
            }
            Ok(sum)
        }
        Expr::Multiply(parts) => {
            let mut product = vec![Rational::ONE];
            let mut divisor = vec![Rational::ONE];
            for part in parts {
                if let Expr::Power(pair) = part
                    && let Expr::Number(exponent) = &pair.1
                    && exponent.sign() == Sign::Negative
                    && exponent.is_int()
                    && mentions(&pair.0, variable)
                {
                    let base = expand(&pair.0, variable, budget)?;
                    let power = raise(&base, &-exponent.clone(), budget)?;
                    divisor = multiply(&divisor, &power, budget)?;
                } else {
                    let value = expand(part, variable, budget)?;
                    product = multiply(&product, &value, budget)?;
                }
            }
            if divisor.len() == 1 && divisor[0].is_one() {
                return Ok(product);
            }
            let (quotient, rest) = divide(&product, &divisor, budget)?;
            if rest.is_empty() {
                Ok(quotient)
            } else {
                Err(Failure::Unknown)
            }
        }
        Expr::Power(pair) if mentions(&pair.0, variable) => {
            let exponent = fold::fold(&pair.1, budget)?;
            let base = expand(&pair.0, variable, budget)?;
            raise(&base, &exponent, budget)
        }
        Expr::Call(Function::Binomial, parts)
            if parts.len() == 2
                && !mentions(&parts[1], variable)
                && mentions(&parts[0], variable) =>
        {
            let below = fold::fold(&parts[1], budget)?;
            let below = natural(&below)
                .filter(|below| *below <= 64)
                .ok_or(Failure::Unknown)?;
            let top = expand(&parts[0], variable, budget)?;
            let mut product = vec![Rational::ONE];
            for step in 0..below {
                let mut factor = top.clone();
                add(&mut factor, &[-Rational::from(step)]);
                let scale = Rational::from(step + 1);
                for coefficient in &mut factor {
                    *coefficient = fold::divide(coefficient, &scale, budget)?;
                }
                product = multiply(&product, &factor, budget)?;
            }
            Ok(product)
        }
        _ if mentions(expr, variable) => Err(Failure::Unknown),
        _ => {
            let value = super::rational_value(expr, budget)?;
            Ok(if value.is_zero() {
                Vec::new()
            } else {
                vec![value]
            })
        }
    }
}

fn mentions(expr: &Expr, variable: &str) -> bool {
    walk::any(expr, &mut |part| {
        matches!(part, Expr::Symbol(name) if **name == *variable)
            || matches!(part, Expr::Binder(binder) if *binder.variable == *variable)
    })
}

fn natural(value: &Rational) -> Option<usize> {
    value
        .is_int()
        .then(|| usize::try_from(value.numerator()).ok())?
}

/// Removes leading zeros.
fn trim(value: &mut Vec<Rational>) {
    while value.last().is_some_and(Rational::is_zero) {
        value.pop();
    }
}

/// sum += value.
pub(super) fn add(sum: &mut Vec<Rational>, value: &[Rational]) {
    if sum.len() < value.len() {
        sum.resize(value.len(), Rational::ZERO);
    }
    for (total, coefficient) in sum.iter_mut().zip(value) {
        work::charge(work::addition(total, coefficient));
        *total += coefficient;
    }
    trim(sum);
}

pub(super) fn multiply(
    a: &[Rational],
    b: &[Rational],
    budget: &mut Budget,
) -> Outcome<Vec<Rational>> {
    if a.is_empty() || b.is_empty() {
        return Ok(Vec::new());
    }
    let length = a.len() + b.len() - 1;
    if length > DEGREE + 1 {
        return Err(Failure::TooComplex);
    }
    let size = |list: &[Rational]| list.iter().map(fold::bits).max().unwrap_or(0) as u64 / 64 + 1;
    budget.spend((a.len() * b.len()) as u64 * 2 * (size(a) * size(b)).div_ceil(4))?;
    let mut product = vec![Rational::ZERO; length];
    for (i, left) in a.iter().enumerate() {
        if left.is_zero() {
            continue;
        }
        for (j, right) in b.iter().enumerate() {
            let term = fold::multiply(left, right, budget)?;
            product[i + j] = fold::add(&product[i + j], &term, budget)?;
        }
    }
    trim(&mut product);
    Ok(product)
}

fn raise(base: &[Rational], exponent: &Rational, budget: &mut Budget) -> Outcome<Vec<Rational>> {
    let times = natural(exponent).ok_or(Failure::Unknown)?;
    if base.is_empty() {
        return if times == 0 {
            Err(Failure::Undefined)
        } else {
            Ok(Vec::new())
        };
    }
    if (base.len() - 1).saturating_mul(times) > DEGREE {
        return Err(Failure::TooComplex);
    }
    if base.len() == 1 {
        return Ok(vec![fold::power(&base[0], exponent, budget)?]);
    }
    let mut power = vec![Rational::ONE];
    let mut square = base.to_vec();
    let mut rest = times;
    while rest > 0 {
        if rest & 1 == 1 {
            power = multiply(&power, &square, budget)?;
        }
        rest >>= 1;
        if rest > 0 {
            square = multiply(&square, &square, budget)?;
        }
    }
    Ok(power)
}

/// Quotient and remainder.
pub(super) fn divide(
    a: &[Rational],
    b: &[Rational],
    budget: &mut Budget,
) -> Outcome<(Vec<Rational>, Vec<Rational>)> {
    let Some(lead) = b.last() else {
        return Err(Failure::Undefined);
    };
    let mut rest = a.to_vec();
    if rest.len() < b.len() {
        return Ok((Vec::new(), rest));
    }
    let mut quotient = vec![Rational::ZERO; rest.len() - b.len() + 1];
    while rest.len() >= b.len() {
        let shift = rest.len() - b.len();
        let Some(top) = rest.last() else { break };
        let factor = fold::divide(top, lead, budget)?;
        let words = fold::bits(&factor) as u64 / 64 + 1;
        budget.spend(b.len() as u64 * 2 * words * words)?;
        for (place, coefficient) in b.iter().enumerate() {
            let term = -fold::multiply(coefficient, &factor, budget)?;
            rest[shift + place] = fold::add(&rest[shift + place], &term, budget)?;
        }
        quotient[shift] = factor;
        // The highest one is now 0.
        rest.pop();
        trim(&mut rest);
    }
    trim(&mut quotient);
    Ok((quotient, rest))
}

/// The greatest common divisor of two polynomials, leading coefficient 1; `None` where it takes too long.
pub(crate) fn common_divisor(
    a: &[Rational],
    b: &[Rational],
    budget: &mut Budget,
) -> Option<Vec<Rational>> {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    while !b.is_empty() {
        let (_, rest) = divide(&a, &b, budget).ok()?;
        a = b;
        b = monic(rest, budget)?;
    }
    monic(a, budget)
}

fn monic(mut value: Vec<Rational>, budget: &mut Budget) -> Option<Vec<Rational>> {
    if let Some(lead) = value.last().cloned() {
        for coefficient in &mut value {
            *coefficient = fold::divide(coefficient, &lead, budget).ok()?;
        }
    }
    Some(value)
}

/// How many different real roots a polynomial other than 0 has, by Sturm's theorem; `None` where it takes too long.
pub(crate) fn real_roots(coefficients: &[Rational], budget: &mut Budget) -> Option<usize> {
    let derivative = coefficients.iter().enumerate().skip(1);
    let derivative = derivative.map(|(at, coefficient)| coefficient * Rational::from(at));
    let mut chain = vec![coefficients.to_vec(), derivative.collect()];
    while let [.., before, last] = chain.as_slice() {
        if last.len() <= 1 {
            break;
        }
        let (_, rest) = divide(before, last, budget).ok()?;
        if rest.is_empty() {
            break;
        }
        chain.push(rest.into_iter().map(|coefficient| -coefficient).collect());
    }
    // Changes of sign along the chain at −∞ and at +∞.
    let changes = |at_minus_infinity: bool| {
        let signs: Vec<bool> = (chain.iter())
            .filter_map(|part| {
                let odd = part.len().is_multiple_of(2);
                Some((*part.last()? > Rational::ZERO) != (at_minus_infinity && odd))
            })
            .collect();
        signs.windows(2).filter(|pair| pair[0] != pair[1]).count()
    };
    Some(changes(true) - changes(false))
}
