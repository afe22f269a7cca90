//! Expressions as linear combinations of a basis, so that e^{a+b} = e^a·e^b, ln ab = ln a + ln b and the addition theorems hold modulo a prime.

use dashu_int::IBig;

use super::arithmetic::evaluate;
use super::basis::{Basis, Linear, Term};
use super::draw::Draw;
use super::evaluation::Evaluation;
use super::field::{Element, Field, Gaussian};
use super::functions::inverse_function;
use super::logarithm::logarithm;
use super::powers::{positive_power, root_of_unity};
use crate::budget::{Failure, Outcome};
use crate::expr::{Constant, Expr, Function, Rational};
use crate::rational::{self, half};
use crate::work;

/// More terms than this are multiplied out no further.
const TERMS: usize = 48;
/// Rational factors of angles have denominators that divide this, or belong to π.
const FRACTIONS: u64 = 720_720;

/// An expression as a sum of terms.
pub(super) fn linear(at: &mut Evaluation<'_>, expr: &Expr) -> Outcome<Linear> {
    at.spend(1)?;
    match expr {
        Expr::Number(value) => {
            at.budget().spend_units(work::copy(value))?;
            Ok(Linear::rational(value.clone()))
        }
        Expr::Constant(Constant::Pi) => {
            at.set_homomorphic(false);
            Ok(Linear::of(Rational::ONE, Basis::Pi))
        }
        Expr::Constant(Constant::Degree) => {
            at.set_homomorphic(false);
            let degree = Rational::from_parts(IBig::ONE, 180u8.into());
            Ok(Linear::of(degree, Basis::Pi))
        }
        Expr::Constant(Constant::ImaginaryUnit) => {
            let mut sum = Linear::default();
            sum.push(Rational::ONE, Basis::One, true);
            Ok(sum)
        }
        Expr::Add(parts) => {
            let mut sum = Linear::default();
            for part in parts {
                let terms = linear(at, part)?;
                at.spend((sum.0.len() * terms.0.len()) as u64 / 16)?;
                sum.add(&terms, &Rational::ONE);
            }
            Ok(sum)
        }
        Expr::Multiply(parts) => {
            let mut product = Linear::rational(Rational::ONE);
            for part in parts {
                let terms = linear(at, part)?;
                product = linear_product(at, &product, &terms)?;
            }
            Ok(product)
        }
        Expr::Power(pair) => linear_power(at, expr, &pair.0, &pair.1),
        Expr::Call(Function::Logarithm, arguments) => match &arguments[..] {
            [argument, Expr::Constant(Constant::E)] => logarithm(at, argument),
            [argument, base] => {
                let argument = logarithm(at, argument)?;
                let base = logarithm(at, base)?;
                let base = reciprocal(at, &base)?;
                linear_product(at, &argument, &base)
            }
            _ => Err(Failure::Unknown),
        },
        Expr::Call(function, arguments) => match inverse_function(at, *function, arguments)? {
            Some(terms) => Ok(terms),
            None => opaque_terms(at, expr),
        },
        _ => opaque_terms(at, expr),
    }
}

fn opaque_terms(at: &mut Evaluation<'_>, expr: &Expr) -> Outcome<Linear> {
    let value = evaluate(at, expr)?;
    Ok(value_terms(value, at.field()))
}

fn value_terms(value: Gaussian, field: Field) -> Linear {
    let mut sum = Linear::default();
    for (part, imaginary) in [(value.real, false), (value.imaginary, true)] {
        sum.push_value(Rational::ONE, Basis::Other, part, imaginary, field);
    }
    sum
}

fn linear_power(
    at: &mut Evaluation<'_>,
    whole: &Expr,
    base: &Expr,
    exponent: &Expr,
) -> Outcome<Linear> {
    let Expr::Number(exponent) = exponent else {
        return opaque_terms(at, whole);
    };
    let Ok(times) = i64::try_from(exponent.numerator()) else {
        return opaque_terms(at, whole);
    };
    if !exponent.is_int()
        || !(-1..=6).contains(&times)
        || times == 0
        || matches!(base, Expr::Constant(Constant::E))
    {
        return opaque_terms(at, whole);
    }
    let base = linear(at, base)?;
    if times == -1 {
        return reciprocal(at, &base);
    }
    let mut power = base.clone();
    for _ in 1..times {
        power = linear_product(at, &power, &base)?;
    }
    Ok(power)
}

fn reciprocal(at: &mut Evaluation<'_>, sum: &Linear) -> Outcome<Linear> {
    let field = at.field();
    if let [term] = &sum.0[..] {
        let factor = Rational::ONE / term.factor.clone();
        let factor = if term.imaginary { -factor } else { factor };
        let mut result = Linear::default();
        if term.basis == Basis::One {
            result.push(factor, Basis::One, term.imaginary);
            return Ok(result);
        }
        let value = basis_value(at, term.basis);
        let value = field.invert(value).ok_or(Failure::Undefined)?;
        result.push_value(factor, Basis::Other, value, term.imaginary, field);
        return Ok(result);
    }
    let value = linear_value(at, sum)?;
    let value = field.g_invert(value).ok_or(Failure::Undefined)?;
    Ok(value_terms(value, field))
}

pub(super) fn linear_product(at: &mut Evaluation<'_>, a: &Linear, b: &Linear) -> Outcome<Linear> {
    let field = at.field();
    if a.0.len() * b.0.len() > TERMS {
        let (a, b) = (linear_value(at, a)?, linear_value(at, b)?);
        return Ok(value_terms(field.g_multiply(a, b), field));
    }
    at.spend((a.0.len() * b.0.len()) as u64 * 2)?;
    let mut product = Linear::default();
    for left in &a.0 {
        for right in &b.0 {
            let mut factor = rational::multiply(&left.factor, &right.factor, at.budget())?;
            if rational::bits(&factor) > 1 << 14 {
                return Err(Failure::Unknown);
            }
            if left.imaginary && right.imaginary {
                factor = -factor;
            }
            let imaginary = left.imaginary != right.imaginary;
            match (left.basis, right.basis) {
                (Basis::One, basis) | (basis, Basis::One) => {
                    product.push(factor, basis, imaginary);
                }
                (left, right) => {
                    let left = basis_value(at, left);
                    let value = field.multiply(left, basis_value(at, right));
                    product.push_value(factor, Basis::Other, value, imaginary, field);
                }
            }
        }
    }
    Ok(product)
}

fn basis_value(at: &mut Evaluation<'_>, basis: Basis) -> Element {
    match basis {
        Basis::One => at.field().one(),
        Basis::Pi => at.pi(),
        Basis::Logarithm(value) => at.draw_opaque(Draw::Logarithm, value.key()),
        Basis::Arcsine(value) => at.draw_opaque(Draw::Arcsine, value.key()),
        Basis::Arctangent(value) => at.draw_opaque(Draw::Arctangent, value.key()),
        Basis::Other(value) => value,
    }
}

pub(super) fn linear_value(at: &mut Evaluation<'_>, sum: &Linear) -> Outcome<Gaussian> {
    let field = at.field();
    let mut value = Gaussian::from(Element::ZERO);
    for term in &sum.0 {
        let factor = at.number(&term.factor)?.real;
        let product = field.multiply(factor, basis_value(at, term.basis));
        if term.imaginary {
            value.imaginary = field.add(value.imaginary, product);
        } else {
            value.real = field.add(value.real, product);
        }
    }
    Ok(value)
}

/// e to a sum of terms.
pub(super) fn exponential(at: &mut Evaluation<'_>, sum: &Linear) -> Outcome<Gaussian> {
    let field = at.field();
    let mut product = Gaussian::from(field.one());
    for term in &sum.0 {
        at.spend(8)?;
        let power = if term.imaginary {
            turn(at, term)?
        } else {
            real_exponential(at, term)?.into()
        };
        product = field.g_multiply(product, power);
    }
    Ok(product)
}

fn real_exponential(at: &mut Evaluation<'_>, term: &Term) -> Outcome<Element> {
    let base = match term.basis {
        Basis::Logarithm(value) => value,
        Basis::One => at.draw_square(Draw::Exponential, 0),
        basis => {
            let key = basis_value(at, basis).key();
            at.draw_square(Draw::Exponential, key)
        }
    };
    at.set_homomorphic(false);
    positive_power(at, base, &term.factor)
}

/// e^{i·factor·basis}.
fn turn(at: &mut Evaluation<'_>, term: &Term) -> Outcome<Gaussian> {
    let field = at.field();
    match term.basis {
        Basis::Pi => return root_of_unity(at, &term.factor),
        Basis::Arcsine(value) => {
            at.set_homomorphic(false);
            at.choose_sign();
            let square = field.multiply(value, value);
            let rest = field.subtract(field.one(), square);
            let unit = Gaussian {
                real: positive_power(at, rest, &half())?,
                imaginary: value,
            };
            return whole_turns(at, unit, &term.factor);
        }
        Basis::Arctangent(value) => {
            at.set_homomorphic(false);
            at.choose_sign();
            let square = field.multiply(value, value);
            let rest = field.add(field.one(), square);
            let scale = positive_power(at, rest, &-half())?;
            let unit = Gaussian {
                real: scale,
                imaginary: field.multiply(value, scale),
            };
            return whole_turns(at, unit, &term.factor);
        }
        _ => {}
    }
    at.set_homomorphic(false);
    let key = match term.basis {
        Basis::One => 0,
        basis => basis_value(at, basis).key(),
    };
    // A random point of the unit circle, by its rational parametrisation.
    let slope = at.draw(Draw::Angle, key);
    let square = field.multiply(slope, slope);
    let scale = field
        .invert(field.add(field.one(), square))
        .ok_or(Failure::Unknown)?;
    let unit = Gaussian {
        real: field.multiply(field.subtract(field.one(), square), scale),
        imaginary: field.multiply(field.add(slope, slope), scale),
    };
    whole_turns(at, unit, &(&term.factor * Rational::from(FRACTIONS)))
}

fn whole_turns(at: &mut Evaluation<'_>, unit: Gaussian, times: &Rational) -> Outcome<Gaussian> {
    if !times.is_int() {
        return Err(Failure::Unknown);
    }
    let times = i128::try_from(times.numerator()).map_err(|_| Failure::Unknown)?;
    at.spend(20)?;
    let power = at.field().g_power(unit, times.unsigned_abs());
    Ok(if times < 0 {
        at.field().conjugate(power)
    } else {
        power
    })
}
