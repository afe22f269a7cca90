//! The image of an expression modulo one prime, at one point.
//!
//! Every variable gets an element drawn from its name. So does every part that is not rational in its own parts, drawn from their
//! elements: equal arguments, equal values. An expression that is 0 as a function is then 0 wherever it has a value; one
//! that is 0 in two independent evaluations is 0 as a function of its variables and such parts, with an error below 2^−100.

use dashu_int::IBig;

use super::draw::{Draw, mix, mix_text, seed};
use super::field::{Element, Field, signed_remainder};
use crate::budget::{Budget, Failure, Outcome};
use crate::expr::{Constant, Expr, Function, LongNumber, Rational};
use crate::{fold, rational, walk, work};

/// Steps for folding a part that may be rational.
const FOLDING: u64 = 400;

pub(super) struct Evaluation<'t> {
    field: Field,
    seed: u64,
    budget: &'t mut Budget,
    /// Is the map from true values to elements a ring homomorphism so far? Then different elements prove different values.
    homomorphic: bool,
    /// Are circular functions those of the exponentials of their angles, and not drawn?
    by_angles: bool,
    /// Is there a circular function of a variable?
    pub(super) angles: bool,
    /// How long the exponents around are together.
    bits: usize,
}

impl<'t> Evaluation<'t> {
    pub(super) fn new(prime: u64, seed: u64, by_angles: bool, budget: &'t mut Budget) -> Self {
        Self {
            field: Field::new(prime),
            seed,
            budget,
            homomorphic: true,
            by_angles,
            angles: false,
            bits: 0,
        }
    }

    pub(super) fn is_homomorphic(&self) -> bool {
        self.homomorphic
    }

    /// The image of an expression.
    pub(super) fn of(&mut self, expr: &Expr) -> Outcome<Element> {
        self.budget.spend(1)?;
        match expr {
            Expr::Number(value) => self.number(value),
            Expr::LongNumber(long) => self.long_number(long),
            Expr::Constant(constant) => self.constant(*constant),
            Expr::Symbol(name) => Ok(self.draw(Draw::Symbol, mix_text(name.len() as u64, name))),
            Expr::Add(parts) => {
                let mut sum = Element::ZERO;
                for part in parts {
                    sum = self.field.add(sum, self.of(part)?);
                }
                Ok(sum)
            }
            Expr::Multiply(parts) => {
                let mut product = self.field.one();
                for part in parts {
                    product = self.field.multiply(product, self.of(part)?);
                }
                Ok(product)
            }
            Expr::Power(pair) => self.power(&pair.0, &pair.1),
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Apply(name, arguments) => {
                let mut key = mix_text(arguments.len() as u64, name);
                for argument in arguments {
                    key = mix(key, self.of(argument)?.key());
                }
                Ok(self.opaque(Draw::Apply, key))
            }
            Expr::Binder(binder) => {
                // Bound variables have been named alike: equal parts, equal values.
                let mut key = mix_text(binder.kind as u64, &binder.variable);
                let limits = [binder.lower.as_ref(), binder.upper.as_ref()];
                for part in limits.into_iter().chain([Some(&binder.body)]) {
                    let value = match part {
                        None => 1,
                        Some(part) if walk::has_infinity(part) => seed(part),
                        Some(part) => self.of(part)?.key(),
                    };
                    key = mix(key, value);
                }
                Ok(self.opaque(Draw::Binder, key))
            }
        }
    }

    fn number(&mut self, value: &Rational) -> Outcome<Element> {
        // A remainder by a word, and a power for the inverse.
        let inverse = if value.is_int() { 0 } else { 40 };
        work::charge(inverse + 2 * work::longest(value));
        self.field.rational(value).ok_or(Failure::Unknown)
    }

    fn long_number(&mut self, long: &LongNumber) -> Outcome<Element> {
        let field = self.field;
        self.budget.spend(long.digits.len() as u64 / 200)?;
        let mut value = Element::ZERO;
        for chunk in long.digits.as_bytes().chunks(18) {
            let word = chunk.iter().fold(0u64, |word, digit| {
                word * 10 + u64::from(digit.wrapping_sub(b'0') % 10)
            });
            let shift = field.element(10u64.pow(chunk.len() as u32));
            value = field.add(field.multiply(value, shift), field.element(word));
        }
        let mut scale = field.power(field.element(10), long.exponent.unsigned_abs());
        if long.exponent < 0 {
            scale = field.invert(scale).ok_or(Failure::Unknown)?;
        }
        value = field.multiply(value, scale);
        let minus = field.negate(value);
        Ok(if long.negative { minus } else { value })
    }

    fn constant(&mut self, constant: Constant) -> Outcome<Element> {
        match constant {
            Constant::ImaginaryUnit => Ok(self.field.imaginary_unit()),
            Constant::Degree => {
                let half_turn = self.constant(Constant::Pi)?;
                let parts = self.field.element(180);
                let part = self.field.invert(parts).ok_or(Failure::Unknown)?;
                Ok(self.field.multiply(half_turn, part))
            }
            Constant::Pi | Constant::E | Constant::EulerGamma => {
                Ok(self.opaque(Draw::Constant, constant as u64))
            }
            Constant::Infinity
            | Constant::NegativeInfinity
            | Constant::ComplexInfinity
            | Constant::Undefined => Err(Failure::Unknown),
        }
    }

    fn power(&mut self, base: &Expr, exponent: &Expr) -> Outcome<Element> {
        let above = self.bits;
        if let Ok(exponent) = fold::fold_within(exponent, FOLDING, self.budget)
            && exponent.is_int()
        {
            self.bits += rational::magnitude_bits(exponent.numerator());
        }
        // A longer one, of a power of a power the product, is the same as others modulo p − 1.
        let image = (self.bits <= 60).then(|| self.of(base));
        self.bits = above;
        self.raised(image.ok_or(Failure::Unknown)??, exponent)
    }

    /// base^exponent; of a sum the product of powers, of a multiple by an integer that power of a power.
    fn raised(&mut self, base: Element, exponent: &Expr) -> Outcome<Element> {
        self.budget.spend(1)?;
        match exponent {
            Expr::Number(number) if number.is_int() => self.integer_power(base, number.numerator()),
            Expr::Add(parts) if !base.is_zero() => {
                let mut product = self.field.one();
                for part in parts {
                    product = self.field.multiply(product, self.raised(base, part)?);
                }
                Ok(product)
            }
            Expr::Multiply(parts) if !base.is_zero() => match parts.as_slice() {
                [Expr::Number(times), rest] if times.is_int() => {
                    let power = self.raised(base, rest)?;
                    self.integer_power(power, times.numerator())
                }
                _ => self.other_power(base, exponent),
            },
            _ => self.other_power(base, exponent),
        }
    }

    fn other_power(&mut self, base: Element, exponent: &Expr) -> Outcome<Element> {
        let exponent = match fold::fold_within(exponent, FOLDING, self.budget) {
            Ok(exponent) if exponent.is_int() => {
                return self.integer_power(base, exponent.numerator());
            }
            Ok(exponent) => self.number(&exponent)?,
            Err(Failure::Unknown) => self.of(exponent)?,
            Err(failure) => return Err(failure),
        };
        Ok(self.opaque(Draw::Power, mix(base.key(), exponent.key())))
    }

    fn integer_power(&mut self, base: Element, exponent: &IBig) -> Outcome<Element> {
        if base.is_zero() {
            let positive = *exponent > IBig::ZERO;
            return positive.then_some(base).ok_or(Failure::Undefined);
        }
        if *exponent == IBig::NEG_ONE {
            self.budget.spend(2)?;
            return self.field.invert(base).ok_or(Failure::Undefined);
        }
        let short = rational::magnitude_bits(exponent) <= 60;
        let reduced = short.then(|| signed_remainder(exponent, self.field.modulus - 1));
        Ok(self.field.power(base, reduced.ok_or(Failure::Unknown)?))
    }

    /// A function: its value where that is rational, else an element drawn from the elements of its arguments.
    fn call(&mut self, function: Function, arguments: &[Expr]) -> Outcome<Element> {
        use Function as F;
        if let (F::Root, [radicand, degree]) = (function, arguments) {
            // The same element as the power.
            let degree = fold::fold_within(degree, FOLDING, self.budget)?;
            if degree.is_zero() {
                return Err(Failure::Undefined);
            }
            let exponent = Expr::Number(Rational::ONE / degree);
            return self.power(radicand, &exponent);
        }
        let circular = (F::Sin..=F::Csc).contains(&function);
        let mut values = Vec::with_capacity(arguments.len());
        for argument in arguments {
            if circular && self.by_angles {
                let turn = self.turn(argument, Rational::ONE)?;
                return self.circular(function, turn);
            }
            self.angles |= circular && walk::has_letter(argument);
            let value = self.of(argument)?;
            if circular && let Some(turn) = self.quarter_turns(value)? {
                return self.circular(function, turn);
            }
            values.push(match function {
                F::Absolute => value.key().min(self.field.negate(value).key()),
                _ => value.key(),
            });
        }
        if matches!(function, F::Gcd | F::Lcm | F::Max | F::Min) {
            values.sort_unstable();
            values.dedup();
        }
        let key = values.into_iter().fold(function as u64, mix);
        Ok(self.opaque(Draw::Call, key))
    }

    /// e^{iz} of an angle that is a few quarter turns.
    fn quarter_turns(&mut self, angle: Element) -> Outcome<Option<Element>> {
        let field = self.field;
        let half_turn = self.constant(Constant::Pi)?;
        let mut multiple = field.negate(field.multiply(field.element(8), half_turn));
        for turns in 0..=16 {
            if field.add(angle, angle) == multiple {
                return Ok(Some(field.power(field.imaginary_unit(), turns)));
            }
            multiple = field.add(multiple, half_turn);
        }
        Ok(None)
    }

    /// e^{iz} of so many times an angle: of a sum the product, of π a power of i, of another part one of an element drawn for its twelfth.
    fn turn(&mut self, angle: &Expr, mut times: Rational) -> Outcome<Element> {
        const HALF_TURN: &Expr = &Expr::Constant(Constant::Pi);
        self.budget.spend(1)?;
        let mut value = self.field.one();
        let factors = match angle {
            Expr::Add(terms) => {
                for term in terms {
                    let turn = self.turn(term, times.clone())?;
                    value = self.field.multiply(value, turn);
                }
                return Ok(value);
            }
            Expr::Multiply(factors) => factors,
            _ => std::slice::from_ref(angle),
        };
        let mut rest = Vec::new();
        for part in factors {
            let number = match fold::fold_within(part, FOLDING, self.budget) {
                Ok(number) => number,
                Err(_) if *part == Expr::Constant(Constant::Degree) => {
                    rest.push(HALF_TURN);
                    Rational::from_parts(IBig::ONE, 180_u8.into())
                }
                Err(_) => {
                    rest.push(part);
                    continue;
                }
            };
            times = rational::multiply(&times, &number, self.budget)?;
        }
        if let [sum @ (Expr::Add(_) | Expr::Multiply(_))] = rest[..] {
            return self.turn(sum, times);
        }
        for part in rest {
            value = self.field.multiply(value, self.of(part)?);
        }
        let (part, parts) = if value == self.constant(Constant::Pi)? {
            (self.field.imaginary_unit(), 2)
        } else {
            (self.opaque(Draw::Turn, value.key()), 12)
        };
        let power = rational::multiply(&times, &Rational::from(parts), self.budget)?;
        let whole = power.is_int().then(|| power.numerator());
        self.integer_power(part, whole.ok_or(Failure::Unknown)?)
    }

    /// A circular function of an angle z, from e^{iz}.
    fn circular(&self, function: Function, turn: Element) -> Outcome<Element> {
        let field = self.field;
        let half = field.element(field.modulus / 2 + 1);
        let back = field.invert(turn).ok_or(Failure::Undefined)?;
        let cos = field.multiply(half, field.add(turn, back));
        let difference = field.multiply(half, field.add(back, field.negate(turn)));
        let sin = field.multiply(field.imaginary_unit(), difference);
        let (above, below) = match function {
            Function::Sin => return Ok(sin),
            Function::Cos => return Ok(cos),
            Function::Tan => (sin, cos),
            Function::Cot => (cos, sin),
            Function::Sec => (field.one(), cos),
            _ => (field.one(), sin),
        };
        let inverse = field.invert(below).ok_or(Failure::Undefined)?;
        Ok(field.multiply(above, inverse))
    }

    /// A pseudo-random element for something; never 0.
    fn draw(&self, what: Draw, key: u64) -> Element {
        let word = mix(mix(self.seed, what as u64), key);
        self.field.element((word >> 2) | 1)
    }

    /// An element for something that is no polynomial in the variables.
    fn opaque(&mut self, what: Draw, key: u64) -> Element {
        self.homomorphic = false;
        self.draw(what, key)
    }
}
