//! Expressions as linear combinations of a basis, so that e^{a+b} = e^a·e^b, ln ab = ln a + ln b and the addition
//! theorems hold modulo a prime.

use dashu_int::IBig;

use super::basis::{Basis, Linear, Term};
use super::draw::Draw;
use super::evaluation::ModularEvaluation;
use super::field::{Element, Gaussian};
use crate::algebra::budget::{Failure, Outcome};
use crate::algebra::expr::{Constant, Expr, Function, Rational};
use crate::algebra::rational;
use crate::algebra::rational::half;
use crate::algebra::work;

/// More terms than this are multiplied out no further.
const TERMS: usize = 48;
/// Rational factors of angles have denominators that divide this, or belong to π.
const FRACTIONS: u64 = 720_720;

impl ModularEvaluation<'_, '_> {
    /// An expression as a sum of terms.
    pub(super) fn linear(&mut self, expr: &Expr) -> Outcome<Linear> {
        self.budget.spend(1)?;
        match expr {
            Expr::Number(value) => {
                self.budget.spend_units(work::copy(value))?;
                Ok(Linear::rational(value.clone()))
            }
            Expr::Constant(Constant::Pi) => {
                self.faithful.set(false);
                Ok(Linear::of(Basis::Pi))
            }
            Expr::Constant(Constant::Degree) => {
                self.faithful.set(false);
                let mut sum = Linear::default();
                let degree = Rational::from_parts(IBig::ONE, 180u8.into());
                sum.push(degree, Basis::Pi, false);
                Ok(sum)
            }
            Expr::Constant(Constant::ImaginaryUnit) => {
                let mut sum = Linear::default();
                sum.push(Rational::ONE, Basis::One, true);
                Ok(sum)
            }
            Expr::Add(parts) => {
                let mut sum = Linear::default();
                for part in parts {
                    let terms = self.linear(part)?;
                    self.budget
                        .spend((sum.0.len() * terms.0.len()) as u64 / 16)?;
                    sum.add(&terms, &Rational::ONE);
                }
                Ok(sum)
            }
            Expr::Multiply(parts) => {
                let mut product = Linear::rational(Rational::ONE);
                for part in parts {
                    let terms = self.linear(part)?;
                    product = self.linear_product(&product, &terms)?;
                }
                Ok(product)
            }
            Expr::Power(pair) => self.linear_power(expr, &pair.0, &pair.1),
            Expr::Call(Function::Logarithm, arguments) => match &arguments[..] {
                [argument, Expr::Constant(Constant::E)] => self.logarithm(argument),
                [argument, base] => {
                    let argument = self.logarithm(argument)?;
                    let base = self.logarithm(base)?;
                    let base = self.reciprocal(&base)?;
                    self.linear_product(&argument, &base)
                }
                _ => Err(Failure::Unknown),
            },
            Expr::Call(function, arguments) => match self.inverse_function(*function, arguments)? {
                Some(terms) => Ok(terms),
                None => self.opaque_terms(expr),
            },
            _ => self.opaque_terms(expr),
        }
    }

    fn opaque_terms(&mut self, expr: &Expr) -> Outcome<Linear> {
        let value = self.value(expr)?;
        Ok(self.value_terms(value))
    }

    /// A value as terms.
    fn value_terms(&self, value: Gaussian) -> Linear {
        let mut sum = Linear::default();
        for (part, imaginary) in [(value.real, false), (value.imaginary, true)] {
            if !part.is_zero() {
                let (basis, flipped) = self.other(part);
                let factor = if flipped {
                    -Rational::ONE
                } else {
                    Rational::ONE
                };
                sum.push(factor, basis, imaginary);
            }
        }
        sum
    }

    /// A value or its negative, whichever is the smaller number, so that both belong to one basis element.
    fn other(&self, value: Element) -> (Basis, bool) {
        let opposite = self.field.negate(value);
        if opposite < value {
            (Basis::Other(opposite), true)
        } else {
            (Basis::Other(value), false)
        }
    }

    fn linear_power(&mut self, whole: &Expr, base: &Expr, exponent: &Expr) -> Outcome<Linear> {
        let Expr::Number(exponent) = exponent else {
            return self.opaque_terms(whole);
        };
        let Ok(times) = i64::try_from(exponent.numerator()) else {
            return self.opaque_terms(whole);
        };
        if !exponent.is_int()
            || !(-1..=6).contains(&times)
            || times == 0
            || matches!(base, Expr::Constant(Constant::E))
        {
            return self.opaque_terms(whole);
        }
        let base = self.linear(base)?;
        if times == -1 {
            return self.reciprocal(&base);
        }
        let mut power = base.clone();
        for _ in 1..times {
            power = self.linear_product(&power, &base)?;
        }
        Ok(power)
    }

    fn reciprocal(&mut self, sum: &Linear) -> Outcome<Linear> {
        if let [term] = &sum.0[..] {
            let factor = Rational::ONE / term.factor.clone();
            let factor = if term.imaginary { -factor } else { factor };
            let mut result = Linear::default();
            if term.basis == Basis::One {
                result.push(factor, Basis::One, term.imaginary);
                return Ok(result);
            }
            let value = self.basis_value(term.basis);
            let value = self.field.invert(value).ok_or(Failure::Undefined)?;
            let (basis, flipped) = self.other(value);
            result.push(
                if flipped { -factor } else { factor },
                basis,
                term.imaginary,
            );
            return Ok(result);
        }
        let value = self.linear_value(sum)?;
        let value = self.field.g_invert(value).ok_or(Failure::Undefined)?;
        Ok(self.value_terms(value))
    }

    pub(super) fn linear_product(&mut self, a: &Linear, b: &Linear) -> Outcome<Linear> {
        if a.0.len() * b.0.len() > TERMS {
            let (a, b) = (self.linear_value(a)?, self.linear_value(b)?);
            return Ok(self.value_terms(self.field.g_multiply(a, b)));
        }
        self.budget.spend((a.0.len() * b.0.len()) as u64 * 2)?;
        let mut product = Linear::default();
        for left in &a.0 {
            for right in &b.0 {
                let mut factor = rational::multiply(&left.factor, &right.factor, self.budget)?;
                if rational::bits(&factor) > 1 << 14 {
                    return Err(Failure::Unknown);
                }
                if left.imaginary && right.imaginary {
                    factor = -factor;
                }
                let basis = match (left.basis, right.basis) {
                    (Basis::One, basis) | (basis, Basis::One) => basis,
                    (left, right) => {
                        let value = self
                            .field
                            .multiply(self.basis_value(left), self.basis_value(right));
                        let (basis, flipped) = self.other(value);
                        if flipped {
                            factor = -factor;
                        }
                        basis
                    }
                };
                product.push(factor, basis, left.imaginary != right.imaginary);
            }
        }
        Ok(product)
    }

    fn basis_value(&self, basis: Basis) -> Element {
        match basis {
            Basis::One => self.field.one(),
            Basis::Pi => self.pi(),
            Basis::Logarithm(value) => self.opaque(Draw::Logarithm, value.key()),
            Basis::Arcsine(value) => self.opaque(Draw::Arcsine, value.key()),
            Basis::Arctangent(value) => self.opaque(Draw::Arctangent, value.key()),
            Basis::Other(value) => value,
        }
    }

    /// The value of a sum of terms.
    pub(super) fn linear_value(&mut self, sum: &Linear) -> Outcome<Gaussian> {
        let field = self.field;
        let mut value = Gaussian::from(Element::ZERO);
        for term in &sum.0 {
            let factor = self.number(&term.factor)?.real;
            let product = field.multiply(factor, self.basis_value(term.basis));
            if term.imaginary {
                value.imaginary = field.add(value.imaginary, product);
            } else {
                value.real = field.add(value.real, product);
            }
        }
        Ok(value)
    }

    /// e to a sum of terms.
    pub(super) fn exponential(&mut self, sum: &Linear) -> Outcome<Gaussian> {
        let field = self.field;
        let mut product = Gaussian::from(field.one());
        for term in &sum.0 {
            self.budget.spend(8)?;
            let power = if term.imaginary {
                self.turn(term)?
            } else {
                self.real_exponential(term)?.into()
            };
            product = field.g_multiply(product, power);
        }
        Ok(product)
    }

    fn real_exponential(&mut self, term: &Term) -> Outcome<Element> {
        let base = match term.basis {
            Basis::Logarithm(value) => value,
            Basis::One => self.draw_square(Draw::Exponential, 0),
            basis => {
                let key = self.basis_value(basis).key();
                self.draw_square(Draw::Exponential, key)
            }
        };
        self.faithful.set(false);
        self.positive_power(base, &term.factor)
    }

    /// e^{i·factor·basis}.
    fn turn(&mut self, term: &Term) -> Outcome<Gaussian> {
        let field = self.field;
        match term.basis {
            Basis::Pi => return self.root_of_unity(&term.factor),
            Basis::Arcsine(value) => {
                self.faithful.set(false);
                self.signed.set(true);
                let square = field.multiply(value, value);
                let rest = field.subtract(field.one(), square);
                let unit = Gaussian {
                    real: self.positive_power(rest, &half())?,
                    imaginary: value,
                };
                return self.whole_turns(unit, &term.factor);
            }
            Basis::Arctangent(value) => {
                self.faithful.set(false);
                self.signed.set(true);
                let square = field.multiply(value, value);
                let rest = field.add(field.one(), square);
                let scale = self.positive_power(rest, &-half())?;
                let unit = Gaussian {
                    real: scale,
                    imaginary: field.multiply(value, scale),
                };
                return self.whole_turns(unit, &term.factor);
            }
            _ => {}
        }
        self.faithful.set(false);
        let key = match term.basis {
            Basis::One => 0,
            basis => self.basis_value(basis).key(),
        };
        // A random point of the unit circle, by its rational parametrisation.
        let slope = self.draw(Draw::Angle, key);
        let square = field.multiply(slope, slope);
        let scale = field
            .invert(field.add(field.one(), square))
            .ok_or(Failure::Unknown)?;
        let unit = Gaussian {
            real: field.multiply(field.subtract(field.one(), square), scale),
            imaginary: field.multiply(field.add(slope, slope), scale),
        };
        self.whole_turns(unit, &(&term.factor * Rational::from(FRACTIONS)))
    }

    fn whole_turns(&mut self, unit: Gaussian, times: &Rational) -> Outcome<Gaussian> {
        if !times.is_int() {
            return Err(Failure::Unknown);
        }
        let times = i128::try_from(times.numerator()).map_err(|_| Failure::Unknown)?;
        self.budget.spend(20)?;
        let power = self.field.g_power(unit, times.unsigned_abs());
        Ok(if times < 0 {
            self.field.conjugate(power)
        } else {
            power
        })
    }
}
