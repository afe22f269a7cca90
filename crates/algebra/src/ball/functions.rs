//! Functions of enclosures.

use std::cmp::Ordering;

use dashu_int::IBig;

use super::evaluation::Evaluation;
use super::expressions::evaluate;
use super::gamma;
use super::powers::{angle, exponential, logarithm, power};
use super::real::Real;
use super::value::{Enclosed, Value};
use crate::budget::{Failure, Outcome};
use crate::expr::{Constant, Expr, Function, Rational};
use crate::fold;
use crate::rational::{self, half};

pub(super) fn call<R: Real>(
    at: &mut Evaluation<'_>,
    function: Function,
    arguments: &[Expr],
) -> Enclosed<R> {
    use Function as F;
    let mut values: Vec<Value<R>> = Vec::with_capacity(arguments.len());
    if let (F::Logarithm, [argument, base]) = (function, arguments) {
        return logarithm_to(at, argument, base);
    }
    for argument in arguments {
        values.push(evaluate(at, argument)?);
    }
    if let Some(exact) = exactly(at, function, &values)? {
        return Ok(exact);
    }
    let bits = at.bits();
    match (function, &values[..]) {
        (F::Root, [radicand, degree]) => {
            let Value::Exact(degree) = degree else {
                return Err(Failure::Unknown);
            };
            if degree.is_zero() {
                return Err(Failure::Undefined);
            }
            let exponent = Value::Exact(Rational::ONE / degree.clone());
            power(at, radicand, &exponent)
        }
        (F::Absolute, [value]) => Ok(match value {
            Value::Complex(real, imaginary) => {
                let norm = real.multiply(real).add(&imaginary.multiply(imaginary));
                Value::Real(norm.sqrt()?)
            }
            other => Value::Real(at.arithmetic().parts(other).0.absolute()),
        }),
        (F::Sin | F::Cos | F::Tan | F::Cot | F::Sec | F::Csc, [value]) => {
            circular(at, function, value)
        }
        (F::Sinh | F::Cosh | F::Tanh | F::Coth, [value]) => hyperbolic(at, function, value),
        (F::Arcsin | F::Arccos | F::Arctan | F::Arccot | F::Arcsec | F::Arccsc, [value]) => {
            inverse_circular(at, function, value)
        }
        (F::Arsinh | F::Arcosh | F::Artanh, [value]) => inverse_hyperbolic(at, function, value),
        (F::Floor, [value]) => floor(value),
        (F::Ceiling, [value]) => {
            let opposite = value.negated();
            let floor = floor(&opposite)?;
            Ok(floor.negated())
        }
        (F::Sign, [value]) => Ok(Value::Exact(Rational::from(value.sign()? as i64))),
        (F::Max | F::Min, [first, rest @ ..]) => {
            let mut best = first.clone();
            for value in rest {
                best = extreme(at, &best, value, function == F::Max)?;
            }
            Ok(best)
        }
        (F::Modulo, [value, modulus]) => {
            let quotient = at.arithmetic().divide(value, modulus)?;
            let floor = floor(&quotient)?;
            let product = at.arithmetic().multiply(&floor, modulus);
            Ok(at.arithmetic().subtract(value, &product))
        }
        (F::RealPart, [Value::Complex(real, _)])
        | (F::ImaginaryPart, [Value::Complex(_, real)]) => Ok(Value::Real(real.clone())),
        (F::RealPart, [value @ Value::Real(_)]) => Ok(value.clone()),
        (F::ImaginaryPart, [Value::Real(_)]) => Ok(Value::Exact(Rational::ZERO)),
        (F::Argument, [Value::Complex(real, imaginary)]) => {
            angle(at, real, imaginary).map(Value::Real)
        }
        (F::Argument, [value]) => match value.sign()? {
            Ordering::Greater => Ok(Value::Exact(Rational::ZERO)),
            Ordering::Less => Ok(Value::Real(R::pi(bits))),
            Ordering::Equal => Err(Failure::Undefined),
        },
        (F::Factorial | F::Gamma | F::Binomial | F::Permutations, _) => {
            combinatorial(at, function, &values)
        }
        _ => Err(Failure::Unknown),
    }
}

/// The exact value at exact arguments, where it is rational.
fn exactly<R: Real>(
    at: &mut Evaluation<'_>,
    function: Function,
    values: &[Value<R>],
) -> Outcome<Option<Value<R>>> {
    use Function as F;
    if let [Value::Exact(zero)] = values
        && zero.is_zero()
        && matches!(
            function,
            F::Cot | F::Csc | F::Coth | F::Arcsec | F::Arccsc | F::Argument
        )
    {
        return Err(Failure::Undefined);
    }
    let mut exact = Vec::with_capacity(values.len());
    for value in values {
        let Value::Exact(value) = value else {
            return Ok(None);
        };
        exact.push(value.clone());
    }
    match fold::of_rationals(function, &exact, at.budget()) {
        Ok(value) => Ok(Some(if rational::bits(&value) > 1 << 10 {
            Value::Real(R::rational(&value, at.bits()))
        } else {
            Value::Exact(value)
        })),
        Err(Failure::Undefined) => Err(Failure::Undefined),
        Err(_) if at.budget().steps == 0 => Err(Failure::TooComplex),
        Err(_) => Ok(None),
    }
}

fn logarithm_to<R: Real>(at: &mut Evaluation<'_>, argument: &Expr, base: &Expr) -> Enclosed<R> {
    let argument = evaluate(at, argument)?;
    let value = logarithm(at, &argument)?;
    if matches!(base, Expr::Constant(Constant::E)) {
        return Ok(value);
    }
    let base = evaluate(at, base)?;
    if let (Value::Exact(argument), Value::Exact(base)) = (&argument, &base)
        && let Ok(exact) = fold::logarithm(argument, base, at.budget())
    {
        return Ok(Value::Exact(exact));
    }
    let base = logarithm(at, &base)?;
    at.arithmetic().divide(&value, &base)
}

/// (sin, cos).
fn sin_cos<R: Real>(at: &mut Evaluation<'_>, value: &Value<R>) -> Outcome<(Value<R>, Value<R>)> {
    at.spend(R::function_cost(at.bits()))?;
    if !matches!(value, Value::Complex(..)) {
        let (real, _) = at.arithmetic().parts(value);
        let (sin, cos) = real.sin_cos()?;
        return Ok((Value::Real(sin), Value::Real(cos)));
    }
    let (real, imaginary) = at.arithmetic().parts(value);
    let plus = exponential(at, &Value::Complex(imaginary.negate(), real.clone()))?;
    let minus = exponential(at, &Value::Complex(imaginary, real.negate()))?;
    let bits = at.bits();
    let half = Value::Exact(half());
    let cos = at
        .arithmetic()
        .multiply(&at.arithmetic().add(&plus, &minus), &half);
    let difference = at.arithmetic().subtract(&plus, &minus);
    let turn = Value::Complex(
        R::rational(&Rational::ZERO, bits),
        R::rational(&Rational::from_parts(IBig::NEG_ONE, 2u8.into()), bits),
    );
    Ok((at.arithmetic().multiply(&difference, &turn), cos))
}

fn circular<R: Real>(at: &mut Evaluation<'_>, function: Function, value: &Value<R>) -> Enclosed<R> {
    let (sin, cos) = sin_cos(at, value)?;
    let one = Value::Exact(Rational::ONE);
    match function {
        Function::Sin => Ok(sin),
        Function::Cos => Ok(cos),
        Function::Tan => at.arithmetic().divide(&sin, &cos),
        Function::Cot => at.arithmetic().divide(&cos, &sin),
        Function::Sec => at.arithmetic().divide(&one, &cos),
        _ => at.arithmetic().divide(&one, &sin),
    }
}

fn hyperbolic<R: Real>(
    at: &mut Evaluation<'_>,
    function: Function,
    value: &Value<R>,
) -> Enclosed<R> {
    let half = Value::Exact(half());
    let plus = exponential(at, value)?;
    let opposite = value.negated();
    let minus = exponential(at, &opposite)?;
    let sinh = at.arithmetic().subtract(&plus, &minus);
    let cosh = at.arithmetic().add(&plus, &minus);
    match function {
        Function::Sinh => Ok(at.arithmetic().multiply(&sinh, &half)),
        Function::Cosh => Ok(at.arithmetic().multiply(&cosh, &half)),
        Function::Tanh => at.arithmetic().divide(&sinh, &cosh),
        _ => at.arithmetic().divide(&cosh, &sinh),
    }
}

fn inverse_circular<R: Real>(
    at: &mut Evaluation<'_>,
    function: Function,
    value: &Value<R>,
) -> Enclosed<R> {
    let bits = at.bits();
    at.spend(R::function_cost(bits))?;
    let one = Value::Exact(Rational::ONE);
    let value = match function {
        Function::Arcsec | Function::Arccsc => at.arithmetic().divide(&one, value)?,
        _ => value.clone(),
    };
    if matches!(value, Value::Complex(..)) {
        return Err(Failure::Unknown);
    }
    let half = R::rational(&half(), bits);
    let quarter = R::pi(bits).multiply(&half);
    let angle = if matches!(function, Function::Arctan | Function::Arccot) {
        let (real, _) = at.arithmetic().parts(&value);
        real.arctan()?
    } else {
        let square = at.arithmetic().multiply(&value, &value);
        let rest = at.arithmetic().subtract(&one, &square);
        match rest.sign()? {
            Ordering::Less => return Err(Failure::Undefined),
            Ordering::Equal => {
                if value.sign()? == Ordering::Less {
                    quarter.negate()
                } else {
                    quarter.clone()
                }
            }
            Ordering::Greater => {
                let (rest, _) = at.arithmetic().parts(&rest);
                let (real, _) = at.arithmetic().parts(&value);
                let slope = real.divide(&rest.sqrt()?);
                slope?.arctan()?
            }
        }
    };
    Ok(Value::Real(match function {
        Function::Arcsin | Function::Arctan | Function::Arccsc => angle,
        _ => quarter.add(&angle.negate()),
    }))
}

fn inverse_hyperbolic<R: Real>(
    at: &mut Evaluation<'_>,
    function: Function,
    value: &Value<R>,
) -> Enclosed<R> {
    let arithmetic = at.arithmetic();
    let one = Value::Exact(Rational::ONE);
    let half = Value::Exact(half());
    if matches!(value, Value::Complex(..)) {
        return Err(Failure::Unknown);
    }
    if function == Function::Artanh {
        let above = arithmetic.add(&one, value);
        let below = arithmetic.subtract(&one, value);
        let inside = arithmetic.divide(&above, &below)?;
        if inside.sign()? != Ordering::Greater {
            return Err(Failure::Undefined);
        }
        let logarithm = logarithm(at, &inside)?;
        return Ok(arithmetic.multiply(&logarithm, &half));
    }
    let square = arithmetic.multiply(value, value);
    let radicand = if function == Function::Arsinh {
        arithmetic.add(&square, &one)
    } else {
        if arithmetic.subtract(value, &one).sign()? == Ordering::Less {
            return Err(Failure::Undefined);
        }
        arithmetic.subtract(&square, &one)
    };
    let root = power(at, &radicand, &half)?;
    let inside = arithmetic.add(value, &root);
    logarithm(at, &inside)
}

fn extreme<R: Real>(
    at: &mut Evaluation<'_>,
    a: &Value<R>,
    b: &Value<R>,
    largest: bool,
) -> Enclosed<R> {
    let difference = at.arithmetic().subtract(a, b);
    match difference.sign() {
        Ok(order) => Ok(if (order == Ordering::Less) == largest {
            b.clone()
        } else {
            a.clone()
        }),
        // They may be equal: then either will do.
        Err(_) => match (at.arithmetic().enclosure(a), at.arithmetic().enclosure(b)) {
            (Some(a), Some(b)) => Ok(Value::Real(a.hull(&b))),
            _ => Err(Failure::Undefined),
        },
    }
}

/// A function without a meaning, evaluated as a smooth function that depends on its name: two expressions that differ
/// for this function differ.
pub(super) fn applied<R: Real>(
    at: &mut Evaluation<'_>,
    name: &str,
    arguments: &[Expr],
) -> Enclosed<R> {
    let word = name.bytes().fold(0xCBF2_9CE4u64, |word, byte| {
        (word ^ u64::from(byte)).wrapping_mul(0x0100_0193) % 0xFFFF_FFFB
    });
    let weight = |index: u64| {
        let number = (word.wrapping_mul(2 * index + 3) ^ (word >> 7)) % 997 + 3;
        Value::Exact(Rational::from_parts(IBig::from(number), 401u16.into()))
    };
    let mut sum: Value<R> = weight(0);
    for (index, argument) in arguments.iter().enumerate() {
        let value = evaluate(at, argument)?;
        let scaled = at.arithmetic().multiply(&value, &weight(index as u64 + 1));
        sum = at.arithmetic().add(&sum, &scaled);
    }
    let (sin, _) = sin_cos(at, &sum)?;
    let offset = at.arithmetic().add(&sin, &weight(77));
    Ok(at
        .arithmetic()
        .add(&offset, &Value::Exact(Rational::from(2))))
}

/// Factorials and binomials of arguments that are no integers, or too large to multiply out: by ln Γ.
fn combinatorial<R: Real>(
    at: &mut Evaluation<'_>,
    function: Function,
    values: &[Value<R>],
) -> Enclosed<R> {
    use Function as F;
    let one = Value::Exact(Rational::ONE);
    let exponent = match (function, values) {
        (F::Gamma, [x]) => ln_gamma(at, x)?,
        (F::Factorial, [n]) => ln_gamma(at, &at.arithmetic().add(n, &one))?,
        (F::Binomial | F::Permutations, [n, k]) => {
            let rest = at.arithmetic().subtract(n, k);
            let above = ln_gamma(at, &at.arithmetic().add(n, &one))?;
            let rest = ln_gamma(at, &at.arithmetic().add(&rest, &one))?;
            let mut difference = above.add(&rest.negate());
            if function == F::Binomial {
                let below = ln_gamma(at, &at.arithmetic().add(k, &one))?;
                difference = difference.add(&below.negate());
            }
            difference
        }
        _ => return Err(Failure::Unknown),
    };
    exponential(at, &Value::Real(exponent))
}

/// ln Γ of a positive number.
fn ln_gamma<R: Real>(at: &mut Evaluation<'_>, argument: &Value<R>) -> Outcome<R> {
    let bits = at.bits();
    if argument.sign()? != Ordering::Greater {
        return Err(Failure::Unknown);
    }
    at.spend(2 * R::function_cost(bits) + 100)?;
    let (argument, _) = at.arithmetic().parts(argument);
    gamma::ln_gamma(&argument, bits)
}

fn floor<R: Real>(value: &Value<R>) -> Enclosed<R> {
    let floor = match value {
        Value::Exact(value) => rational::floor(value),
        Value::Real(real) => real.floor().ok_or(Failure::Unknown)?,
        Value::Complex(..) => return Err(Failure::Undefined),
    };
    Ok(Value::Exact(floor.into()))
}
