//! Functions modulo a prime.

use std::cmp::Ordering;

use dashu_int::IBig;

use super::basis::{Basis, Linear};
use super::draw::{Draw, mix};
use super::evaluation::{FOLDING, ModularEvaluation};
use super::field::{Element, Gaussian};
use crate::algebra::budget::{Failure, Outcome};
use crate::algebra::expr::{Expr, Function, Rational};
use crate::algebra::rational::half;
use crate::algebra::{fold, sign};

impl ModularEvaluation<'_, '_> {
    pub(super) fn call(&mut self, function: Function, arguments: &[Expr]) -> Outcome<Gaussian> {
        use Function as F;
        match (function, arguments) {
            (F::Root, [radicand, degree]) => {
                let degree = fold::fold_within(degree, FOLDING, self.budget)?;
                if degree.is_zero() {
                    return Err(Failure::Undefined);
                }
                self.rational_power(radicand, &(Rational::ONE / degree))
            }
            (F::Absolute, [argument]) => self.absolute(argument),
            (F::Sin | F::Cos | F::Tan | F::Cot | F::Sec | F::Csc, [argument]) => {
                self.circular(function, argument)
            }
            (F::Logarithm, [argument, base]) => {
                let argument = self.logarithm(argument)?;
                let value = self.linear_value(&argument)?;
                let base = self.logarithm(base)?;
                let base = self.linear_value(&base)?;
                self.quotient(value, base)
            }
            (F::RealPart, [argument]) => Ok(self.value(argument)?.real.into()),
            (F::ImaginaryPart, [argument]) => Ok(self.value(argument)?.imaginary.into()),
            (F::Argument, [argument]) => {
                let terms = self.constant_argument(argument)?;
                self.linear_value(&terms)
            }
            _ => {
                if let Some(terms) = self.inverse_function(function, arguments)? {
                    return self.linear_value(&terms);
                }
                self.opaque_call(function, arguments)
            }
        }
    }

    pub(super) fn quotient(&self, a: Gaussian, b: Gaussian) -> Outcome<Gaussian> {
        let inverse = self.field.g_invert(b).ok_or(Failure::Undefined)?;
        Ok(self.field.g_multiply(a, inverse))
    }

    /// A function of which nothing is known but its arguments.
    fn opaque_call(&mut self, function: Function, arguments: &[Expr]) -> Outcome<Gaussian> {
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            if let Ok(value) = fold::fold_within(argument, FOLDING, self.budget) {
                values.push(self.number(&value)?.key());
            } else {
                values.push(self.value(argument)?.key());
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
        Ok(self.opaque(Draw::Call, key).into())
    }

    /// The argument of a constant, by its quadrant.
    pub(super) fn constant_argument(&mut self, expr: &Expr) -> Outcome<Linear> {
        if !self.assumptions.constant {
            return Err(Failure::Unknown);
        }
        let part = |function| Expr::Call(function, vec![expr.clone()]);
        let sign =
            |evaluation: &mut Self, function| sign::of_constant(&part(function), evaluation.budget);
        let value = self.value(expr)?;
        let mut sum = Linear::default();
        if value.real.is_zero() {
            let above = sign(self, Function::ImaginaryPart)? == Ordering::Greater;
            sum.push(if above { half() } else { -half() }, Basis::Pi, false);
            return Ok(sum);
        }
        if sign(self, Function::RealPart)? == Ordering::Less {
            let above = value.imaginary.is_zero()
                || sign(self, Function::ImaginaryPart)? == Ordering::Greater;
            let turn = if above { Rational::ONE } else { -Rational::ONE };
            sum.push(turn, Basis::Pi, false);
        }
        let inverse = self.field.invert(value.real).ok_or(Failure::Undefined)?;
        let slope = self.field.multiply(value.imaginary, inverse);
        let rest = self.arctangent(slope)?;
        sum.add(&rest, &Rational::ONE);
        Ok(sum)
    }

    fn absolute(&mut self, argument: &Expr) -> Outcome<Gaussian> {
        let field = self.field;
        match fold::fold_within(argument, FOLDING, self.budget) {
            Ok(value) => {
                let absolute = fold::of_rationals(Function::Absolute, &[value], self.budget)?;
                return self.number(&absolute);
            }
            Err(Failure::Unknown) => {}
            Err(failure) => return Err(failure),
        }
        let value = self.value(argument)?;
        self.faithful.set(false);
        if self.surely_positive(argument) {
            return Ok(value);
        }
        self.signed.set(true);
        if let Some(real) = value.real() {
            let sign = self.constant_sign(argument)?;
            let below = sign.map_or_else(|| !field.is_square(real), |sign| sign == Ordering::Less);
            return Ok(if below { field.g_negate(value) } else { value });
        }
        let norm = field.norm(value);
        Ok(self.positive_power(norm, &half())?.into())
    }

    fn circular(&mut self, function: Function, argument: &Expr) -> Outcome<Gaussian> {
        let field = self.field;
        // π itself has no image, but e^{iπq} has: what is drawn for π on the way does not count.
        let faithful = self.faithful.get();
        let angle = self.linear(argument)?;
        if angle
            .0
            .iter()
            .all(|term| term.basis == Basis::Pi && !term.imaginary)
        {
            self.faithful.set(faithful);
        }
        let turned = angle.turned();
        let (cos, sin) = if angle.0.iter().any(|term| term.imaginary) {
            let plus = self.exponential(&turned)?;
            let minus = self.exponential(&turned.negated())?;
            let half: Gaussian = field.rational(&half()).ok_or(Failure::Unknown)?.into();
            let cos = field.g_multiply(field.g_add(plus, minus), half);
            let difference = field.g_multiply(field.g_add(plus, field.g_negate(minus)), half);
            let sin = Gaussian {
                real: difference.imaginary,
                imaginary: field.negate(difference.real),
            };
            (cos, sin)
        } else {
            let unit = self.exponential(&turned)?;
            (Gaussian::from(unit.real), Gaussian::from(unit.imaginary))
        };
        let one = Gaussian::from(field.one());
        match function {
            Function::Sin => Ok(sin),
            Function::Cos => Ok(cos),
            Function::Tan => self.quotient(sin, cos),
            Function::Cot => self.quotient(cos, sin),
            Function::Sec => self.quotient(one, cos),
            _ => self.quotient(one, sin),
        }
    }

    /// Inverse functions as terms; `None` for all others.
    pub(super) fn inverse_function(
        &mut self,
        function: Function,
        arguments: &[Expr],
    ) -> Outcome<Option<Linear>> {
        use Function as F;
        let [argument] = arguments else {
            return Ok(None);
        };
        match function {
            F::Arcsin | F::Arccos | F::Arcsec | F::Arccsc => {
                let mut value = self.real_value(argument)?;
                if matches!(function, F::Arcsec | F::Arccsc) {
                    value = self.field.invert(value).ok_or(Failure::Undefined)?;
                }
                let arcsine = self.arcsine(value)?;
                Ok(Some(if matches!(function, F::Arcsin | F::Arccsc) {
                    arcsine
                } else {
                    let mut sum = Linear::default();
                    sum.push(half(), Basis::Pi, false);
                    sum.add(&arcsine, &-Rational::ONE);
                    sum
                }))
            }
            F::Arctan => {
                let value = self.real_value(argument)?;
                self.arctangent(value).map(Some)
            }
            F::Arccot => {
                let value = self.real_value(argument)?;
                let mut sum = Linear::default();
                sum.push(half(), Basis::Pi, false);
                let arctangent = self.arctangent(value)?;
                sum.add(&arctangent, &-Rational::ONE);
                Ok(Some(sum))
            }
            _ => Ok(None),
        }
    }

    fn real_value(&mut self, argument: &Expr) -> Outcome<Element> {
        self.value(argument)?.real().ok_or(Failure::Unknown)
    }

    /// The rational multiple of π in [−1/2, 1/2] whose sine is `value`, or a basis element of its own.
    fn arcsine(&mut self, value: Element) -> Outcome<Linear> {
        self.faithful.set(false);
        let mut sum = Linear::default();
        for (numerator, denominator) in ANGLES {
            let turns = Rational::from_parts(IBig::from(*numerator), (*denominator).into());
            let sine = self.root_of_unity(&turns)?.imaginary;
            if sine == value {
                sum.push(turns, Basis::Pi, false);
                return Ok(sum);
            }
            if self.field.negate(sine) == value {
                sum.push(-turns, Basis::Pi, false);
                return Ok(sum);
            }
        }
        let opposite = self.field.negate(value);
        if opposite < value {
            sum.push(-Rational::ONE, Basis::Arcsine(opposite), false);
        } else {
            sum.push(Rational::ONE, Basis::Arcsine(value), false);
        }
        Ok(sum)
    }

    fn arctangent(&mut self, value: Element) -> Outcome<Linear> {
        self.faithful.set(false);
        let mut sum = Linear::default();
        for (numerator, denominator) in ANGLES {
            if (*numerator, *denominator) == (1, 2) {
                continue;
            }
            let turns = Rational::from_parts(IBig::from(*numerator), (*denominator).into());
            let unit = self.root_of_unity(&turns)?;
            let product = self.field.multiply(value, unit.real);
            if product == unit.imaginary {
                sum.push(turns, Basis::Pi, false);
                return Ok(sum);
            }
            if self.field.negate(product) == unit.imaginary {
                sum.push(-turns, Basis::Pi, false);
                return Ok(sum);
            }
        }
        let opposite = self.field.negate(value);
        if opposite < value {
            sum.push(-Rational::ONE, Basis::Arctangent(opposite), false);
        } else {
            sum.push(Rational::ONE, Basis::Arctangent(value), false);
        }
        Ok(sum)
    }
}

/// Angles in (0, 1/2]·π whose sines and tangents are written with roots, and 0.
const ANGLES: &[(i64, u64)] = &[
    (0, 1),
    (1, 6),
    (1, 4),
    (1, 3),
    (1, 2),
    (1, 12),
    (5, 12),
    (1, 10),
    (1, 5),
    (3, 10),
    (2, 5),
    (1, 8),
    (3, 8),
];
