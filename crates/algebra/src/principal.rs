//! Values as `SymPy` works them out: on principal branches, and with decimals in double precision.

use super::ball::{self, Branches, Double, PointValue, Real, Value};
use super::budget::Budget;
use super::expr::{Expr, Function, Rational};
use super::{decide, fold, rational};

/// A complex number in double precision.
#[derive(Debug, Clone, Copy)]
pub struct Near {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
    /// What it is off by at most.
    pub error: f64,
}

/// The value of `expr` where its variables have these values; `None` where it has none or none is found.
pub fn principal(expr: &Expr, point: &[(&str, PointValue)], budget: &mut Budget) -> Option<Near> {
    let expr = decide::plain(expr, budget)?;
    let value = ball::evaluate::<Double>(&expr, point, 53, Branches::Principal, budget);
    let near = match value.ok()? {
        Value::Exact(value) => {
            let re = value.to_f64().value();
            let small = value.is_int() && re.abs() < 9.0e15;
            let error = if small { 0.0 } else { re.abs() * f64::EPSILON };
            Near { re, im: 0.0, error }
        }
        Value::Real(real) => Near {
            re: real.middle(),
            im: 0.0,
            error: real.radius(),
        },
        Value::Complex(real, imaginary) => Near {
            re: real.middle(),
            im: imaginary.middle(),
            error: real.radius() + imaginary.radius(),
        },
    };
    (near.re.is_finite() && near.im.is_finite() && near.error.is_finite()).then_some(near)
}

/// A number in double precision, where it fits.
fn double(value: &Rational) -> Option<Rational> {
    let near = value.to_f64().value();
    if near.is_finite() && (near == 0.0) == value.is_zero() {
        Rational::try_from(near).ok()
    } else {
        None
    }
}

/// The exact value of a rational expression, and whether a decimal takes part in it; `None` for everything else and
/// for what is too large to write down. Where decimals take part every step is rounded as `SymPy` rounds it.
pub fn with_decimals(expr: &Expr, budget: &mut Budget) -> Option<(Rational, bool)> {
    match expr {
        Expr::Number(value) => Some((value.clone(), false)),
        Expr::Call(Function::Decimal, parts) => match parts.as_slice() {
            [Expr::Number(value)] => Some((value.clone(), true)),
            _ => None,
        },
        _ => rounded(expr, budget),
    }
}

/// Are two such values the same?
pub fn same_value(a: &(Rational, bool), b: &(Rational, bool)) -> bool {
    a.0 == b.0
        || (a.1 || b.1)
            && double(&a.0)
                .zip(double(&b.0))
                .is_some_and(|(left, right)| left == right)
}

/// [`with_decimals`], with a decimal in double precision too.
fn rounded(expr: &Expr, budget: &mut Budget) -> Option<(Rational, bool)> {
    use Function as F;
    budget.spend(1).ok()?;
    let mut decimal = false;
    let mut part = |part: &Expr, budget: &mut Budget| {
        let (value, of_part) = rounded(part, budget)?;
        decimal |= of_part;
        Some(value)
    };
    let value = match expr {
        Expr::Number(_) | Expr::Call(F::Decimal, _) => {
            let (value, of_point) = with_decimals(expr, budget)?;
            decimal = of_point;
            value
        }
        Expr::Add(parts) => {
            let mut total = Rational::ZERO;
            for item in parts {
                total = rational::add(&total, &part(item, budget)?, budget).ok()?;
            }
            total
        }
        Expr::Multiply(parts) => {
            let mut total = Rational::ONE;
            let mut decimal = false;
            for item in parts {
                let (value, of_part) = rounded(item, budget)?;
                total = rational::multiply(&total, &value, budget).ok()?;
                decimal |= of_part;
                if decimal {
                    total = double(&total).unwrap_or(total);
                }
            }
            return Some((total, decimal));
        }
        Expr::Power(pair) => {
            let base = part(&pair.0, budget)?;
            let exponent = part(&pair.1, budget)?;
            if exponent.is_zero() {
                Rational::ONE
            } else if exponent.is_int() || !decimal && base >= Rational::ZERO {
                rational::power(&base, &exponent, budget).ok()?
            } else {
                return None;
            }
        }
        Expr::Call(F::Held, parts) => match parts.as_slice() {
            [inner] => part(inner, budget)?,
            _ => return None,
        },
        Expr::Call(
            function @ (F::Factorial
            | F::Absolute
            | F::Floor
            | F::Ceiling
            | F::Modulo
            | F::Max
            | F::Min),
            parts,
        ) => {
            let mut values = Vec::with_capacity(parts.len());
            for item in parts {
                values.push(part(item, budget)?);
            }
            decimal &= !matches!(function, F::Factorial | F::Floor | F::Ceiling);
            fold::of_rationals(*function, &values, budget).ok()?
        }
        _ => return None,
    };
    let near = if decimal { double(&value) } else { None };
    Some((near.unwrap_or(value), decimal))
}
