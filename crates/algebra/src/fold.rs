//! Constant expressions with a rational value, folded exactly; sizes are estimated before anything is expanded.

use std::cmp::Ordering;

use dashu_base::{Abs, BitTest, Gcd, Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};

use super::budget::{Budget, Failure, Outcome};
use super::expr::{Constant, Expr, Function, LongNumber, Rational};
use super::rational::{BITS, add, bits, floor, multiply, power};
use super::{factorial, work};

/// The value of `expr`; [`Failure::Unknown`] where this folding does not find a rational one.
pub(super) fn fold(expr: &Expr, budget: &mut Budget) -> Outcome<Rational> {
    budget.spend(1)?;
    match expr {
        Expr::Number(value) => {
            budget.spend_units(work::copy(value))?;
            Ok(value.clone())
        }
        Expr::LongNumber(long) => long_number(long, budget),
        Expr::Constant(_) | Expr::Symbol(_) | Expr::Apply(..) | Expr::Binder(_) => {
            Err(Failure::Unknown)
        }
        Expr::Add(parts) => {
            let mut sum = Rational::ZERO;
            for part in parts {
                let value = fold(part, budget)?;
                sum = add(&sum, &value, budget)?;
            }
            Ok(sum)
        }
        Expr::Multiply(parts) => {
            let mut product = Rational::ONE;
            for part in parts {
                let value = fold(part, budget)?;
                product = multiply(&product, &value, budget)?;
            }
            Ok(product)
        }
        Expr::Power(pair) => {
            if matches!(pair.0, Expr::Constant(Constant::E)) {
                return exponential(&pair.1, budget);
            }
            let base = fold(&pair.0, budget)?;
            let exponent = fold(&pair.1, budget)?;
            power(&base, &exponent, budget)
        }
        Expr::Call(function, arguments) => call(*function, arguments, budget),
    }
}

/// [`fold`] with at most so many steps: where they do not suffice, another way has to be found.
pub(super) fn fold_within(expr: &Expr, steps: u64, budget: &mut Budget) -> Outcome<Rational> {
    budget.within(steps, |part| match fold(expr, part) {
        Err(Failure::TooComplex) if part.steps == 0 => Err(Failure::Unknown),
        result => result,
    })
}

/// e^0, e^{ln q}.
fn exponential(exponent: &Expr, budget: &mut Budget) -> Outcome<Rational> {
    if let Expr::Call(Function::Logarithm, parts) = exponent
        && let [argument, Expr::Constant(Constant::E)] = &parts[..]
    {
        let value = fold(argument, budget)?;
        return positive(value);
    }
    let zero = fold(exponent, budget)?.is_zero();
    zero.then_some(Rational::ONE).ok_or(Failure::Unknown)
}

fn positive(value: Rational) -> Outcome<Rational> {
    match value.cmp(&Rational::ZERO) {
        Ordering::Greater => Ok(value),
        Ordering::Equal => Err(Failure::Undefined),
        Ordering::Less => Err(Failure::Unknown),
    }
}

/// A long decimal is expanded only where something has to be computed with it that has no other way.
fn long_number(long: &LongNumber, budget: &mut Budget) -> Outcome<Rational> {
    let power = long.exponent.unsigned_abs() as usize;
    let size = long.digits.len().saturating_add(power);
    if size.saturating_mul(4) > BITS {
        return Err(Failure::TooComplex);
    }
    budget.spend((size * size / 4096) as u64 + 10)?;
    let magnitude = UBig::from_str_radix(&long.digits, 10).map_err(|_| Failure::Unknown)?;
    let scale = UBig::from(10u8).pow(power);
    let value = if long.exponent < 0 {
        Rational::from_parts(magnitude.into(), scale)
    } else {
        Rational::from(magnitude * scale)
    };
    Ok(if long.negative { -value } else { value })
}

fn call(function: Function, arguments: &[Expr], budget: &mut Budget) -> Outcome<Rational> {
    match (function, arguments) {
        (Function::Logarithm, [argument, base]) => {
            if matches!(base, Expr::Constant(Constant::E)) {
                return natural_logarithm(argument, budget);
            }
            logarithm(&fold(argument, budget)?, &fold(base, budget)?, budget)
        }
        (Function::Root, [radicand, degree]) => {
            let degree = fold(degree, budget)?;
            if degree.is_zero() {
                return Err(Failure::Undefined);
            }
            let radicand = fold(radicand, budget)?;
            power(&radicand, &(Rational::ONE / degree), budget)
        }
        _ => {
            let mut values = Vec::with_capacity(arguments.len());
            for argument in arguments {
                values.push(fold(argument, budget)?);
            }
            of_rationals(function, &values, budget)
        }
    }
}

/// ln 1, ln e^q.
fn natural_logarithm(argument: &Expr, budget: &mut Budget) -> Outcome<Rational> {
    match argument {
        Expr::Constant(Constant::E) => Ok(Rational::ONE),
        Expr::Power(pair) if matches!(pair.0, Expr::Constant(Constant::E)) => fold(&pair.1, budget),
        _ => {
            let value = fold(argument, budget)?;
            if value.is_one() {
                Ok(Rational::ZERO)
            } else if value.is_zero() {
                Err(Failure::Undefined)
            } else {
                Err(Failure::Unknown)
            }
        }
    }
}

/// The logarithm of an integral power of the base, both natural numbers.
pub(super) fn logarithm(
    argument: &Rational,
    base: &Rational,
    budget: &mut Budget,
) -> Outcome<Rational> {
    if argument.is_zero() || base.is_zero() || base.is_one() {
        return Err(Failure::Undefined);
    }
    let long = bits(argument) > 4096;
    if long || !argument.is_int() || !base.is_int() || *base < Rational::ONE {
        return Err(Failure::Unknown);
    }
    let (mut power, mut exponent) = (Rational::ONE, 0);
    while power < *argument {
        power = multiply(&power, base, budget)?;
        exponent += 1;
    }
    if power == *argument {
        Ok(Rational::from(exponent))
    } else {
        Err(Failure::Unknown)
    }
}

/// Functions whose value at rational numbers is rational.
pub(super) fn of_rationals(
    function: Function,
    values: &[Rational],
    budget: &mut Budget,
) -> Outcome<Rational> {
    use Function as F;
    let integer = |it: &Rational| it.is_int().then(|| it.numerator().clone());
    let integers = || {
        let all: Option<Vec<IBig>> = values.iter().map(integer).collect();
        all.ok_or(Failure::Unknown)
    };
    if [F::Floor, F::Ceiling, F::Modulo, F::Gcd, F::Lcm].contains(&function) {
        // Each is a division or a greatest common divisor of what came before and the next.
        let mut before = 1;
        for value in values {
            let words = work::longest(value) + 1;
            before += words;
            budget.spend_units(20 + before * words)?;
        }
    }
    match (function, values) {
        (F::Absolute, [value]) => Ok(value.clone().abs()),
        (F::Floor, [value]) => Ok(floor(value).into()),
        (F::Ceiling, [value]) => Ok((-floor(&-value.clone())).into()),
        (F::Sign, [value]) => Ok(Rational::from(value.cmp(&Rational::ZERO) as i64)),
        (
            F::Sin | F::Tan | F::Sinh | F::Tanh | F::Arcsin | F::Arctan | F::Arsinh | F::Artanh,
            [zero],
        ) if zero.is_zero() => Ok(Rational::ZERO),
        (F::Cos | F::Sec | F::Cosh, [zero]) if zero.is_zero() => Ok(Rational::ONE),
        (F::RealPart, [value]) => Ok(value.clone()),
        (F::ImaginaryPart, [_]) => Ok(Rational::ZERO),
        (F::Argument, [value]) if value.sign() == Sign::Positive && !value.is_zero() => {
            Ok(Rational::ZERO)
        }
        (F::Max, [_, ..]) => values.iter().max().cloned().ok_or(Failure::Unknown),
        (F::Min, [_, ..]) => values.iter().min().cloned().ok_or(Failure::Unknown),
        (F::Modulo, [value, modulus]) => {
            if modulus.is_zero() {
                return Err(Failure::Undefined);
            }
            let quotient = floor(&(value.clone() / modulus));
            Ok(value.clone() - modulus.clone() * Rational::from(quotient))
        }
        (F::Gcd, [_, ..]) => {
            let values = integers()?.into_iter().map(IBig::unsigned_abs);
            let divisor = values.filter(|it| !it.is_zero()).reduce(Gcd::gcd);
            Ok(divisor.unwrap_or_default().into())
        }
        (F::Lcm, [_, ..]) => {
            let mut result = UBig::ONE;
            for value in integers()? {
                let value = value.unsigned_abs();
                if value.is_zero() {
                    return Ok(Rational::ZERO);
                }
                let divisor = (&result).gcd(&value);
                result *= value / divisor;
                if result.bit_len() > BITS {
                    return Err(Failure::TooComplex);
                }
            }
            Ok(result.into())
        }
        (F::Factorial | F::DoubleFactorial | F::Gamma | F::Binomial | F::Permutations, _) => {
            factorial::exact(function, &integers()?, budget)
        }
        _ => Err(Failure::Unknown),
    }
}
