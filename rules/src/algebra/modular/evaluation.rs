//! One evaluation: modulo one prime, at one point.
//!
//! Every variable gets a value drawn from its name. So does every function that has no algebraic meaning here, drawn
//! from the values of its arguments: equal arguments, equal values. Functions with laws keep them: see
//! [`super::linear`] for exponentials, logarithms and angles. An expression that is 0 as a function is then 0 wherever
//! it has a value; one that is 0 in a few independent evaluations is 0 as a function, with an error below 2^−100.

use std::cell::Cell;
use std::cmp::Ordering;

use dashu_base::Sign;
use dashu_int::IBig;

use super::basis::Linear;
use super::draw::{Draw, mix, mix_text, seed};
use super::field::{Element, Field, Gaussian, remainder, signed_remainder};
use super::primes::{ORDER, Prime};
use crate::algebra::budget::{Budget, Failure, Outcome};
use crate::algebra::expr::{Constant, Expr, Function, Rational};
use crate::algebra::rational::{has_even_denominator, is_odd};
use crate::algebra::work;
use crate::algebra::{fold, integers, sign, walk};

/// What the evaluation of a pair of expressions has to know of them.
#[derive(Debug, Default)]
pub(crate) struct Assumptions<'e> {
    /// Variables that stand under an even root or in a logarithm: where both sides are real, these are positive.
    pub(crate) positive: Vec<&'e str>,
    /// Variables that can only be integers: arguments of factorials.
    pub(crate) integral: Vec<&'e str>,
    /// No variables at all?
    pub(crate) constant: bool,
    /// Are variables complex numbers (conjugates and the like are taken of them)?
    pub(crate) complex: bool,
}

/// Steps for folding a part that may be rational.
pub(super) const FOLDING: u64 = 400;

/// One evaluation.
pub(super) struct ModularEvaluation<'e, 't> {
    pub(super) field: Field,
    pub(super) prime: &'static Prime,
    seed: u64,
    pub(super) assumptions: &'t Assumptions<'e>,
    pub(super) budget: &'t mut Budget,
    /// Was everything so far a ring homomorphism of the true values, so that a value other than 0 proves one?
    pub(super) faithful: Cell<bool>,
    /// Was a sign chosen that the true value does not determine?
    pub(super) signed: Cell<bool>,
}

impl<'e, 't> ModularEvaluation<'e, 't> {
    pub(super) fn new(
        prime: &'static Prime,
        seed: u64,
        assumptions: &'t Assumptions<'e>,
        budget: &'t mut Budget,
    ) -> Self {
        Self {
            field: Field::new(prime),
            prime,
            seed,
            assumptions,
            budget,
            faithful: Cell::new(true),
            signed: Cell::new(false),
        }
    }

    /// A value drawn for something; never 0.
    pub(super) fn draw(&self, what: Draw, key: u64) -> Element {
        let word = mix(mix(self.seed, what as u64), key);
        self.field.element((word >> 2) | 1)
    }

    /// The same, a square: it stands for something positive.
    pub(super) fn draw_square(&self, what: Draw, key: u64) -> Element {
        let value = self.draw(what, key);
        self.field.multiply(value, value)
    }

    /// A value drawn that stands for something other than a polynomial does.
    pub(super) fn opaque(&self, what: Draw, key: u64) -> Element {
        self.faithful.set(false);
        self.draw(what, key)
    }

    pub(super) fn value(&mut self, expr: &Expr) -> Outcome<Gaussian> {
        self.budget.spend(1)?;
        match expr {
            Expr::Number(value) => self.number(value),
            Expr::LongNumber {
                negative,
                digits,
                exponent,
            } => self.long_number(*negative, digits, *exponent),
            Expr::Constant(constant) => self.constant(*constant),
            Expr::Symbol(name) => Ok(self.symbol(name)),
            Expr::Add(parts) => {
                let mut sum = Gaussian::from(Element::ZERO);
                for part in parts {
                    let value = self.value(part)?;
                    sum = self.field.g_add(sum, value);
                }
                Ok(sum)
            }
            Expr::Multiply(parts) => {
                let mut product = Gaussian::from(self.field.one());
                for part in parts {
                    let value = self.value(part)?;
                    product = self.field.g_multiply(product, value);
                }
                Ok(product)
            }
            Expr::Power(pair) => self.power(&pair.0, &pair.1),
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Apply(name, arguments) => {
                let mut key = mix_text(arguments.len() as u64, name);
                for argument in arguments {
                    key = mix(key, self.value(argument)?.key());
                }
                Ok(self.opaque(Draw::Apply, key).into())
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
                        Some(part) => self.value(part)?.key(),
                    };
                    key = mix(key, value);
                }
                Ok(self.opaque(Draw::Binder, key).into())
            }
        }
    }

    pub(super) fn number(&self, value: &Rational) -> Outcome<Gaussian> {
        // A remainder by a word, and a power for the inverse.
        let inverse = if value.is_int() { 0 } else { 40 };
        work::charge(inverse + 2 * work::longest(value));
        self.field
            .rational(value)
            .map(Into::into)
            .ok_or(Failure::Unknown)
    }

    fn long_number(&mut self, negative: bool, digits: &str, exponent: i64) -> Outcome<Gaussian> {
        let field = self.field;
        self.budget.spend(digits.len() as u64 / 200)?;
        let mut value = Element::ZERO;
        for chunk in digits.as_bytes().chunks(18) {
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
        Ok(if negative { field.negate(value) } else { value }.into())
    }

    fn symbol(&self, name: &str) -> Gaussian {
        let key = mix_text(name.len() as u64, name);
        if self.assumptions.complex {
            return Gaussian {
                real: self.draw(Draw::Symbol, key),
                imaginary: self.draw(Draw::Imaginary, key),
            };
        }
        if self.assumptions.positive.contains(&name) {
            self.draw_square(Draw::Symbol, key).into()
        } else {
            self.draw(Draw::Symbol, key).into()
        }
    }

    fn constant(&mut self, constant: Constant) -> Outcome<Gaussian> {
        let field = self.field;
        match constant {
            Constant::ImaginaryUnit => Ok(Gaussian {
                real: Element::ZERO,
                imaginary: field.one(),
            }),
            Constant::Pi => Ok(self.pi().into()),
            Constant::Degree => {
                let degree = field.multiply(
                    self.pi(),
                    field.invert(field.element(180)).ok_or(Failure::Unknown)?,
                );
                Ok(degree.into())
            }
            Constant::E => {
                self.faithful.set(false);
                Ok(self.draw_square(Draw::Exponential, 0).into())
            }
            Constant::EulerGamma => Ok(self.opaque(Draw::Constant, 1).into()),
            Constant::Infinity
            | Constant::NegativeInfinity
            | Constant::ComplexInfinity
            | Constant::Undefined => Err(Failure::Unknown),
        }
    }

    /// π stands for something positive.
    pub(super) fn pi(&self) -> Element {
        self.faithful.set(false);
        self.draw_square(Draw::Constant, 0)
    }

    fn power(&mut self, base: &Expr, exponent: &Expr) -> Outcome<Gaussian> {
        if let Expr::Number(number) = exponent
            && number.is_int()
            && !matches!(base, Expr::Constant(Constant::E))
        {
            let base = self.value(base)?;
            return self.integer_power(base, number.numerator());
        }
        if matches!(base, Expr::Constant(Constant::E)) {
            let exponent = self.linear(exponent)?;
            return self.exponential(&exponent);
        }
        if let Expr::Call(Function::Logarithm, parts) = exponent
            && parts.get(1) == Some(base)
        {
            // a^{log_a b} = b.
            let terms = self.logarithm(&parts[0])?;
            return self.exponential(&terms);
        }
        match fold::fold_within(exponent, FOLDING, self.budget) {
            Ok(exponent) => self.rational_power(base, &exponent),
            Err(Failure::Unknown | Failure::TooComplex) if self.budget.steps > 0 => {
                let logarithm = self.logarithm(base)?;
                let exponent = self.linear(exponent)?;
                let product = self.linear_product(&logarithm, &exponent)?;
                self.exponential(&product)
            }
            Err(failure) => Err(failure),
        }
    }

    pub(super) fn integer_power(&mut self, base: Gaussian, exponent: &IBig) -> Outcome<Gaussian> {
        let field = self.field;
        let negative = exponent.sign() == Sign::Negative;
        if base.is_zero() {
            return if negative || exponent.is_zero() {
                Err(Failure::Undefined)
            } else {
                Ok(base)
            };
        }
        if let Some(real) = base.real() {
            if *exponent == IBig::NEG_ONE {
                self.budget.spend(2)?;
                return field.invert(real).map(Into::into).ok_or(Failure::Undefined);
            }
            let reduced = signed_remainder(exponent, field.modulus - 1);
            return Ok(field.power(real, reduced).into());
        }
        let magnitude = u128::try_from(if negative {
            -exponent
        } else {
            exponent.clone()
        })
        .map_err(|_| Failure::Unknown)?;
        let base = if negative {
            field.g_invert(base).ok_or(Failure::Undefined)?
        } else {
            base
        };
        Ok(field.g_power(base, magnitude))
    }

    /// A power with a rational exponent.
    pub(super) fn rational_power(&mut self, base: &Expr, exponent: &Rational) -> Outcome<Gaussian> {
        if matches!(base, Expr::Constant(Constant::E)) {
            return self.exponential(&Linear::rational(exponent.clone()));
        }
        if exponent.is_int() {
            let base = self.value(base)?;
            return self.integer_power(base, exponent.numerator());
        }
        match fold::fold_within(base, FOLDING, self.budget) {
            Ok(base) => return self.radical(&base, exponent),
            Err(Failure::Unknown) => {}
            Err(failure) => return Err(failure),
        }
        self.faithful.set(false);
        let value = self.value(base)?;
        let value = value.real().ok_or(Failure::Unknown)?;
        if value.is_zero() {
            return if exponent.sign() == Sign::Positive {
                Ok(value.into())
            } else {
                Err(Failure::Undefined)
            };
        }
        if has_even_denominator(exponent) {
            if !self.surely_positive(base) {
                self.signed.set(true);
                if self.constant_sign(base)? == Some(Ordering::Less) {
                    let opposite = self.field.negate(value);
                    let size = self.positive_power(opposite, exponent)?;
                    let turn = self.root_of_unity(exponent)?;
                    return Ok(self.field.g_multiply(size.into(), turn));
                }
            }
            self.positive_power(value, exponent).map(Into::into)
        } else {
            let order = self.field.modulus - 1;
            let numerator = signed_remainder(exponent.numerator(), order);
            let denominator = remainder(exponent.denominator(), order);
            let inverse = inverse_modulo(denominator, order).ok_or(Failure::Unknown)?;
            let reduced = (u128::from(numerator) * u128::from(inverse) % u128::from(order)) as u64;
            Ok(self.field.power(value, reduced).into())
        }
    }

    /// base^exponent of a base that stands for something positive; [`Failure::Unknown`] where it does not.
    pub(super) fn positive_power(
        &mut self,
        base: Element,
        exponent: &Rational,
    ) -> Outcome<Element> {
        if base.is_zero() {
            return Err(Failure::Unknown);
        }
        if !self.field.is_square(base) {
            return Err(Failure::Unknown);
        }
        self.budget.spend(6)?;
        let order = self.field.half();
        let numerator = signed_remainder(exponent.numerator(), order);
        let reduced = if exponent.is_int() {
            numerator
        } else {
            let denominator = remainder(exponent.denominator(), order);
            let inverse = inverse_modulo(denominator, order).ok_or(Failure::Unknown)?;
            (u128::from(numerator) * u128::from(inverse) % u128::from(order)) as u64
        };
        Ok(self.field.power(base, reduced))
    }

    /// A rational power of a rational number, exactly: real roots of positive numbers, real odd roots of negative
    /// ones, principal even ones.
    pub(super) fn radical(&mut self, base: &Rational, exponent: &Rational) -> Outcome<Gaussian> {
        if base.is_zero() {
            return if exponent.sign() == Sign::Positive {
                Ok(Element::ZERO.into())
            } else {
                Err(Failure::Undefined)
            };
        }
        let field = self.field;
        let mut result = field.one();
        for (prime, times) in self.prime_factors(base)? {
            let image = field.rational(&prime).ok_or(Failure::Unknown)?;
            let power = self.positive_power(image, &(exponent * Rational::from(times)))?;
            result = field.multiply(result, power);
        }
        if base.sign() == Sign::Positive {
            return Ok(result.into());
        }
        if !has_even_denominator(exponent) {
            return Ok(if is_odd(exponent.numerator()) {
                field.negate(result)
            } else {
                result
            }
            .into());
        }
        let turn = self.root_of_unity(exponent)?;
        Ok(field.g_multiply(result.into(), turn))
    }

    /// e^{iπ·turns}.
    pub(super) fn root_of_unity(&mut self, turns: &Rational) -> Outcome<Gaussian> {
        let steps = turns * Rational::from(ORDER / 2);
        if !steps.is_int() {
            return Err(Failure::Unknown);
        }
        let steps = signed_remainder(steps.numerator(), ORDER);
        let field = self.field;
        let unity = Gaussian {
            real: field.element(self.prime.unity.0),
            imaginary: field.element(self.prime.unity.1),
        };
        self.budget.spend(15)?;
        Ok(field.g_power(unity, u128::from(steps)))
    }

    /// The prime factors of |value|. What is left after the small ones may be composite; then a root of it need not
    /// agree with roots of its parts, and nothing is proved different.
    pub(super) fn prime_factors(&mut self, value: &Rational) -> Outcome<Vec<(Rational, i64)>> {
        let factors = integers::factors(value, self.budget)?;
        if !factors.complete {
            self.faithful.set(false);
        }
        Ok(factors.list)
    }

    /// The sign of a real constant; `None` where there are variables.
    pub(super) fn constant_sign(&mut self, expr: &Expr) -> Outcome<Option<Ordering>> {
        if self.assumptions.constant {
            sign::of_constant(expr, self.budget).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Is it positive by its form, for every value of its variables in the common domain?
    pub(super) fn surely_positive(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Number(value) => value.sign() == Sign::Positive && !value.is_zero(),
            Expr::Constant(constant) => {
                matches!(constant, Constant::Pi | Constant::E | Constant::Degree)
            }
            Expr::Symbol(name) => {
                !self.assumptions.complex && self.assumptions.positive.contains(&&**name)
            }
            Expr::Multiply(parts) => parts.iter().all(|part| self.surely_positive(part)),
            Expr::Power(pair) => self.surely_positive(&pair.0),
            Expr::Call(Function::Root, parts) => {
                parts.first().is_some_and(|part| self.surely_positive(part))
            }
            _ => false,
        }
    }
}

/// 1/value modulo modulus.
pub(super) fn inverse_modulo(value: u64, modulus: u64) -> Option<u64> {
    let (mut r0, mut r1) = (i128::from(modulus), i128::from(value % modulus));
    let (mut t0, mut t1) = (0i128, 1i128);
    while r1 != 0 {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (t0, t1) = (t1, t0 - quotient * t1);
    }
    (r0 == 1).then(|| t0.rem_euclid(i128::from(modulus)) as u64)
}
