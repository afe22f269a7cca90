//! The state of one evaluation: modulo one prime, at one point.
//!
//! Every variable gets a value drawn from its name. So does every function that has no algebraic meaning here, drawn
//! from the values of its arguments: equal arguments, equal values. Functions with laws keep them: see
//! [`super::linear`] for exponentials, logarithms and angles. An expression that is 0 as a function is then 0 wherever
//! it has a value; one that is 0 in a few independent evaluations is 0 as a function, with an error below 2^−100.

use std::cmp::Ordering;

use dashu_base::Sign;

use super::draw::{Draw, mix};
use super::field::{Element, Field, Gaussian};
use super::primes::Prime;
use crate::budget::{Budget, Failure, Outcome};
use crate::expr::{Constant, Expr, Function, Rational};
use crate::{ball, fold, integers, work};

/// What is assumed of the variables of a pair of expressions.
#[derive(Debug, Default)]
pub(crate) struct Assumptions<'e> {
    /// Variables under an even root or in a logarithm: where both sides are real, these are positive.
    pub(crate) positive: Vec<&'e str>,
    /// Variables that can only be integers: arguments of factorials.
    pub(crate) integral: Vec<&'e str>,
    pub(crate) constant: bool,
    /// Are variables complex numbers (conjugates and the like are taken of them)?
    pub(crate) complex: bool,
}

impl Assumptions<'_> {
    /// Is an expression positive by its form, for every value of its variables in the common domain?
    pub(super) fn imply_positive(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Number(value) => value.sign() == Sign::Positive && !value.is_zero(),
            Expr::Constant(constant) => {
                matches!(constant, Constant::Pi | Constant::E | Constant::Degree)
            }
            Expr::Symbol(name) => !self.complex && self.positive.contains(&&**name),
            Expr::Multiply(parts) => parts.iter().all(|part| self.imply_positive(part)),
            Expr::Power(pair) => self.imply_positive(&pair.0),
            Expr::Call(Function::Root, parts) => {
                parts.first().is_some_and(|part| self.imply_positive(part))
            }
            _ => false,
        }
    }
}

/// Steps for folding a part that may be rational.
const FOLDING: u64 = 400;

pub(super) struct Evaluation<'t> {
    field: Field,
    prime: &'static Prime,
    seed: u64,
    assumptions: &'t Assumptions<'t>,
    budget: &'t mut Budget,
    /// Is the map from true values to elements a ring homomorphism so far? Then different elements prove different values.
    homomorphic: bool,
    /// Was a sign chosen that the true value does not determine?
    signed: bool,
}

impl<'t> Evaluation<'t> {
    pub(super) fn new(
        prime: &'static Prime,
        seed: u64,
        assumptions: &'t Assumptions<'t>,
        budget: &'t mut Budget,
    ) -> Self {
        Self {
            field: Field::new(prime),
            prime,
            seed,
            assumptions,
            budget,
            homomorphic: true,
            signed: false,
        }
    }

    pub(super) fn field(&self) -> Field {
        self.field
    }

    pub(super) fn assumptions(&self) -> &'t Assumptions<'t> {
        self.assumptions
    }

    pub(super) fn budget(&mut self) -> &mut Budget {
        self.budget
    }

    pub(super) fn is_homomorphic(&self) -> bool {
        self.homomorphic
    }

    pub(super) fn set_homomorphic(&mut self, homomorphic: bool) {
        self.homomorphic = homomorphic;
    }

    pub(super) fn is_signed(&self) -> bool {
        self.signed
    }

    /// A sign is chosen that the true value does not determine.
    pub(super) fn choose_sign(&mut self) {
        self.signed = true;
    }

    pub(super) fn spend(&mut self, steps: u64) -> Outcome<()> {
        self.budget.spend(steps)
    }

    /// The value of a part that is rational, if a short calculation shows it.
    pub(super) fn fold(&mut self, expr: &Expr) -> Outcome<Rational> {
        fold::fold_within(expr, FOLDING, self.budget)
    }

    /// The sign of a real constant; `None` where there are variables.
    pub(super) fn constant_sign(&mut self, expr: &Expr) -> Outcome<Option<Ordering>> {
        if self.assumptions.constant {
            ball::sign(expr, self.budget).map(Some)
        } else {
            Ok(None)
        }
    }

    /// The prime factors of |value|. What is left after the small ones may be composite; then a root of it need not
    /// agree with roots of its parts, and nothing is proved different.
    pub(super) fn prime_factors(&mut self, value: &Rational) -> Outcome<Vec<(Rational, i64)>> {
        let factors = integers::factors(value, self.budget)?;
        self.homomorphic &= factors.complete;
        Ok(factors.list)
    }

    /// A pseudo-random element for something; never 0.
    pub(super) fn draw(&self, what: Draw, key: u64) -> Element {
        let word = mix(mix(self.seed, what as u64), key);
        self.field.element((word >> 2) | 1)
    }

    /// Draws a square: it stands for something positive.
    pub(super) fn draw_square(&self, what: Draw, key: u64) -> Element {
        let value = self.draw(what, key);
        self.field.multiply(value, value)
    }

    /// An element for something that is no polynomial in the variables.
    pub(super) fn draw_opaque(&mut self, what: Draw, key: u64) -> Element {
        self.homomorphic = false;
        self.draw(what, key)
    }

    /// π stands for something positive.
    pub(super) fn pi(&mut self) -> Element {
        self.homomorphic = false;
        self.draw_square(Draw::Constant, 0)
    }

    /// The image of e^{2πi/[`ORDER`](super::primes::ORDER)}.
    pub(super) fn unity(&self) -> Gaussian {
        Gaussian {
            real: self.field.element(self.prime.unity.0),
            imaginary: self.field.element(self.prime.unity.1),
        }
    }

    pub(super) fn number(&self, value: &Rational) -> Outcome<Gaussian> {
        // A remainder by a word, and a power for the inverse.
        let inverse = if value.is_int() { 0 } else { 40 };
        work::charge(inverse + 2 * work::longest(value));
        let image = self.field.rational(value).ok_or(Failure::Unknown)?;
        Ok(image.into())
    }
}
