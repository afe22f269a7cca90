//! Numbers, variables, sums and products modulo a prime.

use super::draw::{Draw, mix, mix_text, seed};
use super::evaluation::Evaluation;
use super::field::{Element, Gaussian};
use super::functions::call;
use super::powers::power;
use crate::budget::{Failure, Outcome};
use crate::expr::{Constant, Expr, LongNumber};
use crate::walk;

/// The image of an expression.
pub(super) fn evaluate(at: &mut Evaluation<'_>, expr: &Expr) -> Outcome<Gaussian> {
    at.spend(1)?;
    match expr {
        Expr::Number(value) => at.number(value),
        Expr::LongNumber(long) => long_number(at, long),
        Expr::Constant(name) => constant(at, *name),
        Expr::Symbol(name) => Ok(symbol(at, name)),
        Expr::Add(parts) => {
            let mut sum = Gaussian::from(Element::ZERO);
            for part in parts {
                let value = evaluate(at, part)?;
                sum = at.field().g_add(sum, value);
            }
            Ok(sum)
        }
        Expr::Multiply(parts) => {
            let mut product = Gaussian::from(at.field().one());
            for part in parts {
                let value = evaluate(at, part)?;
                product = at.field().g_multiply(product, value);
            }
            Ok(product)
        }
        Expr::Power(pair) => power(at, &pair.0, &pair.1),
        Expr::Call(function, arguments) => call(at, *function, arguments),
        Expr::Apply(name, arguments) => {
            let mut key = mix_text(arguments.len() as u64, name);
            for argument in arguments {
                key = mix(key, evaluate(at, argument)?.key());
            }
            Ok(at.draw_opaque(Draw::Apply, key).into())
        }
        Expr::Binder(binder) => {
            // Bound variables have been named alike: equal parts, equal values.
            let mut key = mix_text(binder.kind as u64, &binder.variable);
            for part in [
                binder.lower.as_ref(),
                binder.upper.as_ref(),
                Some(&binder.body),
            ] {
                let value = match part {
                    None => 1,
                    Some(part) if walk::has_infinity(part) => seed(part),
                    Some(part) => evaluate(at, part)?.key(),
                };
                key = mix(key, value);
            }
            Ok(at.draw_opaque(Draw::Binder, key).into())
        }
    }
}

fn long_number(at: &mut Evaluation<'_>, long: &LongNumber) -> Outcome<Gaussian> {
    let (field, exponent) = (at.field(), long.exponent);
    at.spend(long.digits.len() as u64 / 200)?;
    let mut value = Element::ZERO;
    for chunk in long.digits.as_bytes().chunks(18) {
        let mut word = 0u64;
        for digit in chunk {
            word = word * 10 + u64::from(digit.wrapping_sub(b'0') % 10);
        }
        let shift = field.element(10u64.pow(chunk.len() as u32));
        value = field.add(field.multiply(value, shift), field.element(word));
    }
    let mut scale = field.power(field.element(10), exponent.unsigned_abs());
    if exponent < 0 {
        scale = field.invert(scale).ok_or(Failure::Unknown)?;
    }
    value = field.multiply(value, scale);
    Ok(if long.negative {
        field.negate(value)
    } else {
        value
    }
    .into())
}

fn symbol(at: &mut Evaluation<'_>, name: &str) -> Gaussian {
    let key = mix_text(name.len() as u64, name);
    if at.assumptions().complex {
        return Gaussian {
            real: at.draw(Draw::Symbol, key),
            imaginary: at.draw(Draw::Imaginary, key),
        };
    }
    if at.assumptions().positive.contains(&name) {
        at.draw_square(Draw::Symbol, key).into()
    } else {
        at.draw(Draw::Symbol, key).into()
    }
}

fn constant(at: &mut Evaluation<'_>, constant: Constant) -> Outcome<Gaussian> {
    let field = at.field();
    match constant {
        Constant::ImaginaryUnit => Ok(Gaussian {
            real: Element::ZERO,
            imaginary: field.one(),
        }),
        Constant::Pi => Ok(at.pi().into()),
        Constant::Degree => {
            let degree = field.multiply(
                at.pi(),
                field.invert(field.element(180)).ok_or(Failure::Unknown)?,
            );
            Ok(degree.into())
        }
        Constant::E => {
            at.set_homomorphic(false);
            Ok(at.draw_square(Draw::Exponential, 0).into())
        }
        Constant::EulerGamma => Ok(at.draw_opaque(Draw::Constant, 1).into()),
        Constant::Infinity
        | Constant::NegativeInfinity
        | Constant::ComplexInfinity
        | Constant::Undefined => Err(Failure::Unknown),
    }
}
