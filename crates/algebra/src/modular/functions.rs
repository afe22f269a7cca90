//! Functions modulo a prime.

use std::cmp::Ordering;

use dashu_int::IBig;

use super::arithmetic::evaluate;
use super::basis::{Basis, Linear};
use super::draw::{Draw, mix};
use super::evaluation::Evaluation;
use super::field::{Element, Field, Gaussian};
use super::linear::{exponential, linear, linear_value};
use super::logarithm::logarithm;
use super::powers::{positive_power, rational_power, root_of_unity};
use crate::budget::{Failure, Outcome};
use crate::expr::{Expr, Function, Rational};
use crate::rational::half;
use crate::{ball, fold};

pub(super) fn call(
    at: &mut Evaluation<'_>,
    function: Function,
    arguments: &[Expr],
) -> Outcome<Gaussian> {
    use Function as F;
    match (function, arguments) {
        (F::Root, [radicand, degree]) => {
            let degree = at.fold(degree)?;
            if degree.is_zero() {
                return Err(Failure::Undefined);
            }
            rational_power(at, radicand, &(Rational::ONE / degree))
        }
        (F::Absolute, [argument]) => absolute(at, argument),
        (F::Sin | F::Cos | F::Tan | F::Cot | F::Sec | F::Csc, [argument]) => {
            circular(at, function, argument)
        }
        (F::Logarithm, [argument, base]) => {
            let argument = logarithm(at, argument)?;
            let value = linear_value(at, &argument)?;
            let base = logarithm(at, base)?;
            let base = linear_value(at, &base)?;
            at.field().g_divide(value, base).ok_or(Failure::Undefined)
        }
        (F::RealPart, [argument]) => Ok(evaluate(at, argument)?.real.into()),
        (F::ImaginaryPart, [argument]) => Ok(evaluate(at, argument)?.imaginary.into()),
        (F::Argument, [argument]) => {
            let terms = constant_argument(at, argument)?;
            linear_value(at, &terms)
        }
        _ => {
            if let Some(terms) = inverse_function(at, function, arguments)? {
                return linear_value(at, &terms);
            }
            opaque_call(at, function, arguments)
        }
    }
}

/// A function without laws here: an element drawn from the elements of its arguments.
fn opaque_call(
    at: &mut Evaluation<'_>,
    function: Function,
    arguments: &[Expr],
) -> Outcome<Gaussian> {
    let mut values = Vec::with_capacity(arguments.len());
    for argument in arguments {
        if let Ok(value) = at.fold(argument) {
            values.push(at.number(&value)?.key());
        } else {
            values.push(evaluate(at, argument)?.key());
        }
    }
    match function {
        Function::Gcd | Function::Lcm | Function::Max | Function::Min => {
            values.sort_unstable();
            values.dedup();
        }
        _ => {}
    }
    let key = values.into_iter().fold(function as u64, mix);
    Ok(at.draw_opaque(Draw::Call, key).into())
}

/// The argument of a constant, by its quadrant.
pub(super) fn constant_argument(at: &mut Evaluation<'_>, expr: &Expr) -> Outcome<Linear> {
    if !at.assumptions().constant {
        return Err(Failure::Unknown);
    }
    let part = |function| Expr::Call(function, vec![expr.clone()]);
    let sign = |at: &mut Evaluation<'_>, function| ball::sign(&part(function), at.budget());
    let value = evaluate(at, expr)?;
    if value.real.is_zero() {
        let above = sign(at, Function::ImaginaryPart)? == Ordering::Greater;
        return Ok(Linear::of(if above { half() } else { -half() }, Basis::Pi));
    }
    let mut sum = Linear::default();
    if sign(at, Function::RealPart)? == Ordering::Less {
        let above =
            value.imaginary.is_zero() || sign(at, Function::ImaginaryPart)? == Ordering::Greater;
        let turn = if above { Rational::ONE } else { -Rational::ONE };
        sum.push(turn, Basis::Pi, false);
    }
    let field = at.field();
    let inverse = field.invert(value.real).ok_or(Failure::Undefined)?;
    let slope = field.multiply(value.imaginary, inverse);
    let rest = arctangent(at, slope)?;
    sum.add(&rest, &Rational::ONE);
    Ok(sum)
}

fn absolute(at: &mut Evaluation<'_>, argument: &Expr) -> Outcome<Gaussian> {
    let field = at.field();
    match at.fold(argument) {
        Ok(value) => {
            let absolute = fold::of_rationals(Function::Absolute, &[value], at.budget())?;
            return at.number(&absolute);
        }
        Err(Failure::Unknown) => {}
        Err(failure) => return Err(failure),
    }
    let value = evaluate(at, argument)?;
    at.set_homomorphic(false);
    if at.assumptions().imply_positive(argument) {
        return Ok(value);
    }
    at.choose_sign();
    if let Some(real) = value.real() {
        let sign = at.constant_sign(argument)?;
        let below = sign.map_or_else(|| !field.is_square(real), |sign| sign == Ordering::Less);
        return Ok(if below { field.g_negate(value) } else { value });
    }
    let norm = field.norm(value);
    Ok(positive_power(at, norm, &half())?.into())
}

fn circular(at: &mut Evaluation<'_>, function: Function, argument: &Expr) -> Outcome<Gaussian> {
    let field = at.field();
    // π itself has no image, but e^{iπq} has: what is drawn for π on the way does not count.
    let homomorphic = at.is_homomorphic();
    let angle = linear(at, argument)?;
    if angle
        .0
        .iter()
        .all(|term| term.basis == Basis::Pi && !term.imaginary)
    {
        at.set_homomorphic(homomorphic);
    }
    let turned = angle.turned();
    let (cos, sin) = if angle.has_imaginary() {
        let plus = exponential(at, &turned)?;
        let minus = exponential(at, &turned.negated())?;
        let half: Gaussian = field.rational(&half()).ok_or(Failure::Unknown)?.into();
        let cos = field.g_multiply(field.g_add(plus, minus), half);
        let difference = field.g_multiply(field.g_add(plus, field.g_negate(minus)), half);
        let sin = Gaussian {
            real: difference.imaginary,
            imaginary: field.negate(difference.real),
        };
        (cos, sin)
    } else {
        let unit = exponential(at, &turned)?;
        (Gaussian::from(unit.real), Gaussian::from(unit.imaginary))
    };
    let one = Gaussian::from(field.one());
    let (above, below) = match function {
        Function::Sin => return Ok(sin),
        Function::Cos => return Ok(cos),
        Function::Tan => (sin, cos),
        Function::Cot => (cos, sin),
        Function::Sec => (one, cos),
        _ => (one, sin),
    };
    field.g_divide(above, below).ok_or(Failure::Undefined)
}

/// Inverse functions as terms; `None` for all others.
pub(super) fn inverse_function(
    at: &mut Evaluation<'_>,
    function: Function,
    arguments: &[Expr],
) -> Outcome<Option<Linear>> {
    use Function as F;
    let [argument] = arguments else {
        return Ok(None);
    };
    match function {
        F::Arcsin | F::Arccos | F::Arcsec | F::Arccsc => {
            let mut value = real_value(at, argument)?;
            if matches!(function, F::Arcsec | F::Arccsc) {
                value = at.field().invert(value).ok_or(Failure::Undefined)?;
            }
            let arcsine = arcsine(at, value)?;
            Ok(Some(if matches!(function, F::Arcsin | F::Arccsc) {
                arcsine
            } else {
                complement(&arcsine)
            }))
        }
        F::Arctan | F::Arccot => {
            let value = real_value(at, argument)?;
            let arctangent = arctangent(at, value)?;
            Ok(Some(if function == F::Arctan {
                arctangent
            } else {
                complement(&arctangent)
            }))
        }
        _ => Ok(None),
    }
}

/// π/2 − angle.
fn complement(angle: &Linear) -> Linear {
    let mut sum = Linear::of(half(), Basis::Pi);
    sum.add(angle, &-Rational::ONE);
    sum
}

fn real_value(at: &mut Evaluation<'_>, argument: &Expr) -> Outcome<Element> {
    evaluate(at, argument)?.real().ok_or(Failure::Unknown)
}

/// The rational multiple of π in [−1/2, 1/2] whose sine is `value`, or a basis element of its own.
fn arcsine(at: &mut Evaluation<'_>, value: Element) -> Outcome<Linear> {
    inverse(at, value, Basis::Arcsine, |_, unit| (value, unit.imaginary))
}

/// The rational multiple of π in (−1/2, 1/2) whose tangent is `value`, or a basis element of its own.
fn arctangent(at: &mut Evaluation<'_>, value: Element) -> Outcome<Linear> {
    inverse(at, value, Basis::Arctangent, |field, unit| {
        (field.multiply(value, unit.real), unit.imaginary)
    })
}

/// The angle among [`ANGLES`] and their opposites at whose point of the unit circle `sides` are equal.
fn inverse(
    at: &mut Evaluation<'_>,
    value: Element,
    basis: fn(Element) -> Basis,
    sides: impl Fn(Field, Gaussian) -> (Element, Element),
) -> Outcome<Linear> {
    at.set_homomorphic(false);
    let field = at.field();
    for (numerator, denominator) in ANGLES {
        let turns = Rational::from_parts(IBig::from(*numerator), (*denominator).into());
        let (left, right) = sides(field, root_of_unity(at, &turns)?);
        if left == right {
            return Ok(Linear::of(turns, Basis::Pi));
        }
        if left == field.negate(right) {
            return Ok(Linear::of(-turns, Basis::Pi));
        }
    }
    let mut angle = Linear::default();
    angle.push_value(Rational::ONE, basis, value, false, field);
    Ok(angle)
}

/// Angles in (0, 1/2]·π whose sines and tangents are written with roots, and 0.
#[rustfmt::skip]
const ANGLES: &[(i64, u64)] = &[
    (0, 1), (1, 6), (1, 4), (1, 3), (1, 2), (1, 12), (5, 12), (1, 10), (1, 5), (3, 10), (2, 5), (1, 8), (3, 8),
];
