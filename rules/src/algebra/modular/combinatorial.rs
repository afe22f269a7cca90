//! Factorials and binomials in a lane: (t + k)! = t!·(t + 1)⋯(t + k), with t! drawn for each t.

use dashu_base::Signed;
use dashu_int::IBig;

use super::super::budget::{Failure, Outcome};
use super::super::fold;
use super::field::{Element, Gaussian};
use super::lane::{Draw, FOLDING, Lane, half};
use super::linear::{Kind, Linear};
use crate::algebra::{Expr, Function, Rational};

/// At most so many factors are multiplied one by one.
const FACTORS: i64 = 1 << 16;

/// Large factorials start from a multiple of [`FACTORS`] and this, so that round numbers and their neighbours start
/// from the same.
const OFFSET: i64 = 12_345;

impl Lane<'_, '_> {
    pub(super) fn combinatorial(
        &mut self,
        function: Function,
        arguments: &[Expr],
    ) -> Outcome<Gaussian> {
        let mut terms = Vec::with_capacity(arguments.len());
        for argument in arguments {
            terms.push(match fold::fold_within(argument, FOLDING, self.budget) {
                Ok(value) => Linear::rational(value),
                Err(Failure::Unknown | Failure::TooComplex) => self.linear(argument)?,
                Err(failure) => return Err(failure),
            });
        }
        let value = match (function, &terms[..]) {
            (Function::Factorial, [n]) => self.factorial(n)?,
            (Function::Gamma, [x]) => self.factorial(&shifted(x, -1))?,
            (Function::DoubleFactorial, [n]) => {
                if let Some(n) = rational(n).filter(Rational::is_int) {
                    let exact = fold::of_rationals(function, &[n], self.budget)?;
                    return self.number(&exact);
                }
                let key = self.linear_value(n)?.key();
                self.opaque(Draw::Factorial, key ^ 2)
            }
            (Function::Permutations, [n, k]) => {
                if let Some(k) = small(k) {
                    return self.falling(n, k);
                }
                let rest = difference(n, k);
                let below = self.factorial(&rest)?;
                let above = self.factorial(n)?;
                self.divide(above, below)?
            }
            (Function::Binomial, [n, k]) => {
                if let Some(k) = small(k) {
                    let falling = self.falling(n, k)?;
                    let below = self.factorial(&Linear::rational(Rational::from(k)))?;
                    return self.quotient(falling, below.into());
                }
                if let (Some(n), Some(k)) = (rational(n), rational(k)) {
                    return self.binomial(&n, &k);
                }
                let rest = difference(n, k);
                let above = self.factorial(n)?;
                let (left, right) = (self.factorial(k)?, self.factorial(&rest)?);
                self.divide(above, self.field.multiply(left, right))?
            }
            _ => return Err(Failure::Unknown),
        };
        Ok(value.into())
    }

    fn divide(&self, a: Element, b: Element) -> Outcome<Element> {
        let inverse = self.field.invert(b).ok_or(Failure::Undefined)?;
        Ok(self.field.multiply(a, inverse))
    }

    fn binomial(&mut self, n: &Rational, k: &Rational) -> Outcome<Gaussian> {
        if !n.is_int() || !k.is_int() {
            return Err(Failure::Unknown);
        }
        let zero = Rational::ZERO;
        if *n < zero || *k < zero || k > n {
            let exact =
                fold::of_rationals(Function::Binomial, &[n.clone(), k.clone()], self.budget)?;
            return self.number(&exact);
        }
        let rest = n.clone() - k;
        let fewer = if rest < *k { rest.clone() } else { k.clone() };
        if let Some(fewer) = small(&Linear::rational(fewer)) {
            let falling = self.falling(&Linear::rational(n.clone()), fewer)?;
            let below = self.factorial(&Linear::rational(Rational::from(fewer)))?;
            return self.quotient(falling, below.into());
        }
        let above = self.factorial(&Linear::rational(n.clone()))?;
        let left = self.factorial(&Linear::rational(k.clone()))?;
        let right = self.factorial(&Linear::rational(rest))?;
        Ok(self.divide(above, self.field.multiply(left, right))?.into())
    }

    /// n(n − 1)⋯(n − k + 1).
    fn falling(&mut self, n: &Linear, k: i64) -> Outcome<Gaussian> {
        let field = self.field;
        self.budget.spend(1 + k as u64 / 16)?;
        let mut factor = self.linear_value(n)?;
        let mut product = Gaussian::from(field.one());
        let minus = Gaussian::from(field.negate(field.one()));
        for _ in 0..k {
            product = field.g_multiply(product, factor);
            factor = field.g_add(factor, minus);
        }
        Ok(product)
    }

    /// t!.
    fn factorial(&mut self, argument: &Linear) -> Outcome<Element> {
        let field = self.field;
        let offset = argument
            .0
            .iter()
            .find(|term| term.kind == Kind::One && !term.imaginary)
            .map_or(Rational::ZERO, |term| term.factor.clone());
        let shift = fold::floor(&offset);
        if let Some(value) = rational(argument) {
            if value.is_int() {
                return self.integer_factorial(value.numerator());
            }
            if value.denominator() == &2u8.into() {
                // (−1/2)! = Γ(1/2) = √π.
                let pi = self.pi();
                let root = self.positive_power(pi, &half())?;
                let start = field.rational(&-half()).ok_or(Failure::Unknown)?;
                let steps = i64::try_from(&shift).map_err(|_| Failure::Unknown)? + 1;
                return self.shifted_factorial(root, start, steps);
            }
        }
        let Some(steps) = i64::try_from(&shift)
            .ok()
            .filter(|steps| steps.abs() <= 1000)
        else {
            let key = self.linear_value(argument)?.key();
            return Ok(self.opaque(Draw::Factorial, key));
        };
        let base = self.linear_value(&shifted(argument, -steps))?;
        let start = base.real().ok_or(Failure::Unknown)?;
        let drawn = self.opaque(Draw::Factorial, start.key());
        self.shifted_factorial(drawn, start, steps)
    }

    /// (start + steps)! where start! is `value`.
    fn shifted_factorial(
        &mut self,
        value: Element,
        start: Element,
        steps: i64,
    ) -> Outcome<Element> {
        let field = self.field;
        if steps.abs() > FACTORS {
            return Err(Failure::TooComplex);
        }
        self.budget.spend(1 + steps.unsigned_abs() / 16)?;
        let one = field.one();
        let mut factor = start;
        let mut product = one;
        for _ in 0..steps.abs() {
            if steps > 0 {
                factor = field.add(factor, one);
                product = field.multiply(product, factor);
            } else {
                product = field.multiply(product, factor);
                factor = field.subtract(factor, one);
            }
        }
        if steps >= 0 {
            Ok(field.multiply(value, product))
        } else {
            self.divide(value, product)
        }
    }

    /// n!, from a multiple of [`FACTORS`] on if n is large.
    fn integer_factorial(&mut self, n: &IBig) -> Outcome<Element> {
        if n.is_negative() {
            return Err(Failure::Undefined);
        }
        let whole = IBig::from(FACTORS);
        let rest = if *n < whole {
            n.clone()
        } else {
            (n - IBig::from(OFFSET)) % whole
        };
        let start = n - &rest;
        let rest = i64::try_from(&rest).map_err(|_| Failure::Unknown)?;
        let begin = if start.is_zero() {
            self.field.one()
        } else {
            let key = self.field.integer(&start).key();
            self.opaque(Draw::Factorial, key)
        };
        let start = self.field.integer(&start);
        self.shifted_factorial(begin, start, rest)
    }
}

/// The value of a sum without terms but numbers.
fn rational(sum: &Linear) -> Option<Rational> {
    match &sum.0[..] {
        [] => Some(Rational::ZERO),
        [term] if term.kind == Kind::One && !term.imaginary => Some(term.factor.clone()),
        _ => None,
    }
}

/// A small natural number.
fn small(sum: &Linear) -> Option<i64> {
    let value = rational(sum)?;
    let value = value
        .is_int()
        .then(|| i64::try_from(value.numerator()).ok())??;
    (0..=4096).contains(&value).then_some(value)
}

fn shifted(sum: &Linear, by: i64) -> Linear {
    let mut result = sum.clone();
    result.push(Rational::from(by), Kind::One, false);
    result
}

fn difference(a: &Linear, b: &Linear) -> Linear {
    let mut result = a.clone();
    result.add(b, &-Rational::ONE);
    result
}
