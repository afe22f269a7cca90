//! Constant expressions with a rational value, folded exactly; sizes are estimated before anything is expanded.

use std::cmp::Ordering;

use dashu_base::{Abs, BitTest, DivEuclid, Gcd, Sign, UnsignedAbs};
use dashu_int::{IBig, UBig};

use super::budget::{Budget, Failure, Outcome};
use crate::algebra::work;
use crate::algebra::{Constant, Expr, Function, Rational};

/// No rational with more bits in numerator or denominator is built.
const BITS: usize = 1 << 17;

/// The value of `expr`; [`Failure::Unknown`] where this folding does not find a rational one.
pub(super) fn fold(expr: &Expr, budget: &mut Budget) -> Outcome<Rational> {
    budget.spend(1)?;
    match expr {
        Expr::Number(value) => {
            budget.spend_units(work::copy(value))?;
            Ok(value.clone())
        }
        Expr::LongNumber {
            negative,
            digits,
            exponent,
        } => long_number(*negative, digits, *exponent, budget),
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
    match fold(exponent, budget) {
        Ok(value) if value.is_zero() => Ok(Rational::ONE),
        Ok(_) => Err(Failure::Unknown),
        Err(failure) => Err(failure),
    }
}

fn positive(value: Rational) -> Outcome<Rational> {
    match value.cmp(&Rational::ZERO) {
        Ordering::Greater => Ok(value),
        Ordering::Equal => Err(Failure::Undefined),
        Ordering::Less => Err(Failure::Unknown),
    }
}

/// The bits of the larger part.
pub(super) fn bits(value: &Rational) -> usize {
    value
        .numerator()
        .unsigned_abs_bits()
        .max(value.denominator().bit_len())
}

/// Bits of a magnitude without a copy of it.
trait MagnitudeBits {
    fn unsigned_abs_bits(&self) -> usize;
}

impl MagnitudeBits for IBig {
    fn unsigned_abs_bits(&self) -> usize {
        self.as_sign_words().1.last().map_or(0, |top| {
            self.as_sign_words().1.len() * 64 - top.leading_zeros() as usize
        })
    }
}

/// a + b, where it stays small enough.
pub(super) fn add(a: &Rational, b: &Rational, budget: &mut Budget) -> Outcome<Rational> {
    if !a.is_int() || !b.is_int() {
        small(a, b)?;
    }
    budget.spend_units(work::addition(a, b))?;
    Ok(a + b)
}

/// a·b, where it stays small enough.
pub(super) fn multiply(a: &Rational, b: &Rational, budget: &mut Budget) -> Outcome<Rational> {
    small(a, b)?;
    budget.spend_units(work::operation(a, b))?;
    Ok(a * b)
}

/// a/b of a b that is not 0, where it stays small enough.
pub(super) fn divide(a: &Rational, b: &Rational, budget: &mut Budget) -> Outcome<Rational> {
    if b.is_zero() {
        return Err(Failure::Undefined);
    }
    small(a, b)?;
    budget.spend_units(16 + 2 * work::operation(a, b))?;
    Ok(a / b)
}

/// Is what an operation makes of the two small enough?
fn small(a: &Rational, b: &Rational) -> Outcome<()> {
    if bits(a) + bits(b) > BITS {
        return Err(Failure::TooComplex);
    }
    Ok(())
}

/// A long decimal is expanded only where something has to be computed with it that has no other way.
fn long_number(
    negative: bool,
    digits: &str,
    exponent: i64,
    budget: &mut Budget,
) -> Outcome<Rational> {
    let size = digits
        .len()
        .saturating_add(exponent.unsigned_abs() as usize);
    if size.saturating_mul(4) > BITS {
        return Err(Failure::TooComplex);
    }
    budget.spend((size * size / 4096) as u64 + 10)?;
    let magnitude = UBig::from_str_radix(digits, 10).map_err(|_| Failure::Unknown)?;
    let scale = UBig::from(10u8).pow(exponent.unsigned_abs() as usize);
    let value = if exponent < 0 {
        Rational::from_parts(magnitude.into(), scale)
    } else {
        Rational::from(magnitude * scale)
    };
    Ok(if negative { -value } else { value })
}

/// base^exponent where that is rational.
pub(super) fn power(
    base: &Rational,
    exponent: &Rational,
    budget: &mut Budget,
) -> Outcome<Rational> {
    if exponent.is_int() {
        return integer_power(base, exponent.numerator(), budget);
    }
    if base.is_zero() {
        return if exponent.sign() == Sign::Positive {
            Ok(Rational::ZERO)
        } else {
            Err(Failure::Undefined)
        };
    }
    if base.is_one() {
        return Ok(Rational::ONE);
    }
    let degree = usize::try_from(exponent.denominator()).map_err(|_| Failure::Unknown)?;
    let root = exact_root(base, degree, budget)?;
    integer_power(&root, exponent.numerator(), budget)
}

fn integer_power(base: &Rational, exponent: &IBig, budget: &mut Budget) -> Outcome<Rational> {
    let negative = exponent.sign() == Sign::Negative;
    if exponent.is_zero() {
        return if base.is_zero() {
            Err(Failure::Undefined)
        } else {
            Ok(Rational::ONE)
        };
    }
    if base.is_zero() {
        return if negative {
            Err(Failure::Undefined)
        } else {
            Ok(Rational::ZERO)
        };
    }
    let odd = exponent
        .as_sign_words()
        .1
        .first()
        .is_some_and(|word| word & 1 == 1);
    if base.is_int() && base.numerator().unsigned_abs_bits() == 1 {
        let minus = base.sign() == Sign::Negative && odd;
        return Ok(if minus { -Rational::ONE } else { Rational::ONE });
    }
    let times = usize::try_from(exponent.unsigned_abs()).map_err(|_| Failure::TooComplex)?;
    // A base of b bits is at least 2^(b − 1), so the result has more bits than this.
    let size = bits(base).saturating_mul(times);
    if size > BITS {
        return Err(Failure::TooComplex);
    }
    let words = size as u64 / 64;
    budget.spend(1 + words * words / 64)?;
    // Powers of coprime numbers are coprime.
    let (numerator, denominator) = (base.numerator().pow(times), base.denominator().pow(times));
    Ok(if negative {
        let sign = numerator.sign();
        let flipped = IBig::from(denominator);
        let flipped = if sign == Sign::Negative {
            -flipped
        } else {
            flipped
        };
        Rational::from_parts(flipped, numerator.unsigned_abs())
    } else {
        Rational::from_parts(numerator, denominator)
    })
}

/// The real root of degree `degree` where it is rational.
pub(super) fn exact_root(
    value: &Rational,
    degree: usize,
    budget: &mut Budget,
) -> Outcome<Rational> {
    let negative = value.sign() == Sign::Negative;
    if degree == 0 || (negative && degree.is_multiple_of(2)) {
        return Err(Failure::Unknown);
    }
    let numerator = integer_root(&value.numerator().unsigned_abs(), degree, budget)?;
    let denominator = integer_root(value.denominator(), degree, budget)?;
    let root = Rational::from_parts(numerator.into(), denominator);
    Ok(if negative { -root } else { root })
}

fn integer_root(value: &UBig, degree: usize, budget: &mut Budget) -> Outcome<UBig> {
    if value.is_zero() || value.is_one() || degree == 1 {
        return Ok(value.clone());
    }
    let length = value.bit_len();
    if degree >= length {
        return Err(Failure::Unknown);
    }
    let words = length as u64 / 64 + 1;
    budget.spend(2 + words * words / 8)?;
    let root = value.nth_root(degree);
    if root.pow(degree) == *value {
        Ok(root)
    } else {
        Err(Failure::Unknown)
    }
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
        (
            Function::Sin
            | Function::Tan
            | Function::Sinh
            | Function::Tanh
            | Function::Arcsin
            | Function::Arctan
            | Function::Arsinh
            | Function::Artanh,
            [argument],
        ) => at_zero(argument, 0, budget),
        (Function::Cos | Function::Sec | Function::Cosh, [argument]) => {
            at_zero(argument, 1, budget)
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

/// Of a function that is rational at zero.
fn at_zero(argument: &Expr, value: i64, budget: &mut Budget) -> Outcome<Rational> {
    if fold(argument, budget)?.is_zero() {
        Ok(Rational::from(value))
    } else {
        Err(Failure::Unknown)
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

/// log of `argument` to `base` where both are powers of one number.
fn logarithm(argument: &Rational, base: &Rational, budget: &mut Budget) -> Outcome<Rational> {
    if argument.is_zero() || base.is_zero() || base.is_one() {
        return Err(Failure::Undefined);
    }
    if argument.sign() == Sign::Negative || base.sign() == Sign::Negative {
        return Err(Failure::Unknown);
    }
    if argument.is_one() {
        return Ok(Rational::ZERO);
    }
    // Euclid's algorithm on the exponents: a = c^m and b = c^n, of which only a and b are known.
    let most = bits(argument).max(bits(base)) as u64;
    let words = most / 64 + 1;
    let above = |value: &Rational| *value > Rational::ONE;
    let upright = |value: &Rational| {
        if above(value) {
            value.clone()
        } else {
            Rational::ONE / value.clone()
        }
    };
    let flips = above(argument) != above(base);
    let (mut larger, mut smaller) = (upright(argument), upright(base));
    // Rows of the continued fraction: larger = c^m, smaller = c^n.
    let mut quotients = Vec::new();
    loop {
        budget.spend(2 + words * words / 16)?;
        let mut quotient = 0u64;
        while larger >= smaller {
            budget.spend_units(2 * work::operation(&larger, &smaller))?;
            budget.spend(1 + words)?;
            larger /= &smaller;
            quotient += 1;
            // The power of a number above 1 is at most as high as it has bits.
            if quotient > most {
                return Err(Failure::Unknown);
            }
        }
        quotients.push(quotient);
        if larger.is_one() {
            break;
        }
        if quotients.len() > 60 {
            return Err(Failure::Unknown);
        }
        std::mem::swap(&mut larger, &mut smaller);
        // Powers of one number stay such; anything else creeps towards 1 with growing parts.
        if bits(&smaller) > bits(argument) + bits(base) {
            return Err(Failure::Unknown);
        }
    }
    let mut value: Option<Rational> = None;
    for quotient in quotients.into_iter().rev() {
        let whole = Rational::from(quotient);
        value = Some(match value {
            None => whole,
            Some(rest) if rest.is_zero() => return Err(Failure::Unknown),
            Some(rest) => whole + Rational::ONE / rest,
        });
    }
    let value = value.ok_or(Failure::Unknown)?;
    Ok(if flips { -value } else { value })
}

/// Functions whose value at rational numbers is rational.
pub(super) fn of_rationals(
    function: Function,
    values: &[Rational],
    budget: &mut Budget,
) -> Outcome<Rational> {
    let integers = || -> Outcome<Vec<IBig>> {
        values
            .iter()
            .map(|value| {
                if value.is_int() {
                    Ok(value.numerator().clone())
                } else {
                    Err(Failure::Unknown)
                }
            })
            .collect()
    };
    if matches!(
        function,
        Function::Floor | Function::Ceiling | Function::Modulo | Function::Gcd | Function::Lcm
    ) {
        // Each is a division or a greatest common divisor of what came before and the next.
        let mut before = 1;
        for value in values {
            let words = work::longest(value) + 1;
            before += words;
            budget.spend_units(20 + before * words)?;
        }
    }
    match (function, values) {
        (Function::Absolute, [value]) => Ok(value.clone().abs()),
        (Function::Floor, [value]) => Ok(floor(value).into()),
        (Function::Ceiling, [value]) => Ok((-floor(&-value.clone())).into()),
        (Function::Sign, [value]) => Ok(Rational::from(match value.cmp(&Rational::ZERO) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        })),
        (Function::RealPart | Function::Conjugate, [value]) => Ok(value.clone()),
        (Function::ImaginaryPart, [_]) => Ok(Rational::ZERO),
        (Function::Argument, [value]) if value.sign() == Sign::Positive && !value.is_zero() => {
            Ok(Rational::ZERO)
        }
        (Function::Max, [_, ..]) => values.iter().max().cloned().ok_or(Failure::Unknown),
        (Function::Min, [_, ..]) => values.iter().min().cloned().ok_or(Failure::Unknown),
        (Function::Modulo, [value, modulus]) => {
            if modulus.is_zero() {
                return Err(Failure::Undefined);
            }
            let quotient = floor(&(value.clone() / modulus));
            Ok(value.clone() - modulus.clone() * Rational::from(quotient))
        }
        (Function::Gcd, [_, ..]) => {
            let mut result = UBig::ZERO;
            for value in integers()? {
                let value = value.unsigned_abs();
                result = match (result.is_zero(), value.is_zero()) {
                    (true, _) => value,
                    (_, true) => result,
                    _ => result.gcd(value),
                };
            }
            Ok(result.into())
        }
        (Function::Lcm, [_, ..]) => {
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
        (
            Function::Factorial
            | Function::DoubleFactorial
            | Function::Gamma
            | Function::Binomial
            | Function::Permutations,
            _,
        ) => super::factorial::exact(function, &integers()?, budget),
        _ => Err(Failure::Unknown),
    }
}

/// The largest integer that is not above `value`.
pub(super) fn floor(value: &Rational) -> IBig {
    if value.is_int() {
        return value.numerator().clone();
    }
    value
        .numerator()
        .div_euclid(IBig::from(value.denominator().clone()))
}

/// A length as a signed number.
pub(super) fn signed(length: usize) -> i64 {
    i64::try_from(length).unwrap_or(i64::MAX)
}

/// The lowest bits of an integer in two's complement.
pub(super) fn low_bits(value: &IBig) -> u64 {
    let (sign, words) = value.as_sign_words();
    let word = words.first().copied().unwrap_or(0);
    if sign == Sign::Negative {
        word.wrapping_neg()
    } else {
        word
    }
}
