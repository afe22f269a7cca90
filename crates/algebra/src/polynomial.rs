//! Polynomials in one variable with rational coefficients.

use dashu_base::Sign;

use super::budget::{Budget, Failure, Outcome};
use super::expr::{Expr, Function, Rational};
use super::walk::mentions;
use super::{fold, rational, work};

/// Higher degrees are not expanded.
const DEGREE: usize = 512;

/// The coefficients, from the constant up, of a polynomial in `variable` with rational coefficients. The highest one is
/// not 0; the zero polynomial has none.
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
                    *coefficient = rational::divide(coefficient, &scale, budget)?;
                }
                product = multiply(&product, &factor, budget)?;
            }
            Ok(product)
        }
        _ if mentions(expr, variable) => Err(Failure::Unknown),
        _ => {
            let value = fold::fold(expr, budget)?;
            Ok(if value.is_zero() {
                Vec::new()
            } else {
                vec![value]
            })
        }
    }
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
    let size =
        |list: &[Rational]| list.iter().map(rational::bits).max().unwrap_or(0) as u64 / 64 + 1;
    budget.spend((a.len() * b.len()) as u64 * 2 * (size(a) * size(b)).div_ceil(4))?;
    let mut product = vec![Rational::ZERO; length];
    for (i, left) in a.iter().enumerate() {
        if left.is_zero() {
            continue;
        }
        for (j, right) in b.iter().enumerate() {
            let term = rational::multiply(left, right, budget)?;
            product[i + j] = rational::add(&product[i + j], &term, budget)?;
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
        return Ok(vec![rational::power(&base[0], exponent, budget)?]);
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
        let factor = rational::divide(top, lead, budget)?;
        let words = rational::bits(&factor) as u64 / 64 + 1;
        budget.spend(b.len() as u64 * 2 * words * words)?;
        for (place, coefficient) in b.iter().enumerate() {
            let term = -rational::multiply(coefficient, &factor, budget)?;
            rest[shift + place] = rational::add(&rest[shift + place], &term, budget)?;
        }
        quotient[shift] = factor;
        // The highest one is now 0.
        rest.pop();
        trim(&mut rest);
    }
    trim(&mut quotient);
    Ok((quotient, rest))
}

/// The value of a polynomial, coefficients from the constant up.
pub fn evaluate(coefficients: &[Rational], at: &Rational) -> Rational {
    let mut value = Rational::ZERO;
    for coefficient in coefficients.iter().rev() {
        value = value * at + coefficient;
    }
    value
}

/// A polynomial with each of its roots once, leading coefficient 1. `None` where it is too large to tell.
pub fn square_free(coefficients: &[Rational], budget: &mut Budget) -> Option<Vec<Rational>> {
    const MOST_DEGREE: usize = 24;
    let mut p = coefficients.to_vec();
    trim(&mut p);
    if p.len() > MOST_DEGREE + 1 {
        return None;
    }
    if p.len() < 3 {
        return monic(p, budget);
    }
    let common = common_divisor(&p, &derivative(&p), budget)?;
    let (quotient, _) = divide(&p, &common, budget).ok()?;
    monic(quotient, budget)
}

pub(super) fn derivative(coefficients: &[Rational]) -> Vec<Rational> {
    let terms = coefficients.iter().enumerate().skip(1);
    terms
        .map(|(degree, value)| value * Rational::from(degree))
        .collect()
}

/// The greatest common divisor of two polynomials, leading coefficient 1; `None` where it takes too long.
pub fn common_divisor(
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
            *coefficient = rational::divide(coefficient, &lead, budget).ok()?;
        }
    }
    Some(value)
}

/// How many different real roots a polynomial other than 0 has, by Sturm's theorem; `None` where it takes too long.
pub fn real_roots(coefficients: &[Rational], budget: &mut Budget) -> Option<usize> {
    let mut chain = vec![coefficients.to_vec(), derivative(coefficients)];
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
