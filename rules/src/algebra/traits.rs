//! What has to be known of two expressions before they are evaluated.

use dashu_base::Sign;

use super::budget::Budget;
use super::fold;
use super::modular::Traits;
use super::walk;
use crate::algebra::work;
use crate::algebra::{Constant, Expr, Function, Rational};

/// Steps for folding an exponent or a degree.
const FOLDING: u64 = 64;

/// A look at both sides.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Look<'e> {
    pub(super) traits: Traits<'e>,
    /// Does i occur, or a function of complex numbers?
    pub(super) imaginary: bool,
    /// Does ∞ occur?
    pub(super) infinite: bool,
    /// Is there a Σ, ∫, …?
    pub(super) binder: bool,
    /// A function without a meaning?
    pub(super) applied: bool,
    /// Were variables taken to be positive that need not be?
    pub(super) assumed: bool,
    /// Are there functions other than roots and rational powers of rational numbers?
    pub(super) transcendental: bool,
    pub(super) nodes: u64,
}

impl<'e> Look<'e> {
    pub(super) fn at(a: &'e Expr, b: &'e Expr, budget: &mut Budget) -> Self {
        let mut look = Self {
            traits: Traits {
                constant: true,
                ..Traits::default()
            },
            ..Self::default()
        };
        look.visit(a, budget);
        look.visit(b, budget);
        look.assumed |= look.imaginary && !look.traits.positive.is_empty();
        look
    }

    fn visit(&mut self, expr: &'e Expr, budget: &mut Budget) {
        self.nodes += 1;
        work::charge(3);
        match expr {
            Expr::Symbol(_) => self.traits.constant = false,
            Expr::Constant(constant) => match constant {
                Constant::ImaginaryUnit => self.imaginary = true,
                Constant::Infinity => self.infinite = true,
                Constant::GoldenRatio => {}
                _ => self.transcendental = true,
            },
            Expr::Apply(..) => self.applied = true,
            Expr::Power(pair) => {
                self.power(&pair.0, &pair.1, budget);
                self.visit(&pair.0, budget);
                self.visit(&pair.1, budget);
            }
            Expr::Call(function, arguments) => self.call(*function, arguments, budget),
            Expr::Binder(binder) => {
                self.binder = true;
                for part in [&binder.lower, &binder.upper].into_iter().flatten() {
                    self.visit(part, budget);
                }
                self.visit(&binder.body, budget);
            }
            _ => {}
        }
        for part in walk::children(expr) {
            self.visit(part, budget);
        }
    }

    fn power(&mut self, base: &'e Expr, exponent: &'e Expr, budget: &mut Budget) {
        if let Ok(exponent) = fold::fold_within(exponent, FOLDING, budget) {
            if even_root(&exponent) {
                self.positive(base);
            }
            return;
        }
        // Of x^n, x may be negative where n is an integer.
        self.assumed |= matches!(base, Expr::Symbol(_));
        self.positive(base);
        // (−1)^n is meant for integers.
        if matches!(base, Expr::Number(base) if base.sign() == Sign::Negative) {
            self.integral(exponent);
        }
    }

    fn call(&mut self, function: Function, arguments: &'e [Expr], budget: &mut Budget) {
        use Function as F;
        match (function, arguments) {
            (F::Root, [radicand, degree]) => match fold::fold_within(degree, FOLDING, budget) {
                Ok(degree) if !even_degree(&degree) => {}
                Ok(_) => self.positive(radicand),
                Err(_) => {
                    self.assumed = true;
                    self.positive(radicand);
                }
            },
            (F::Logarithm, [argument, base]) => {
                self.transcendental = true;
                self.positive(argument);
                self.positive(base);
            }
            (
                F::Factorial | F::DoubleFactorial | F::Binomial | F::Permutations | F::Gcd | F::Lcm,
                _,
            ) => {
                self.transcendental = true;
                for argument in arguments {
                    self.integral(argument);
                }
            }
            (F::RealPart | F::ImaginaryPart | F::Conjugate | F::Argument, _) => {
                self.transcendental = true;
                self.imaginary = true;
                self.traits.complex = true;
            }
            (F::Absolute | F::Root, _) => {}
            _ => self.transcendental = true,
        }
    }

    fn positive(&mut self, expr: &'e Expr) {
        if let Expr::Symbol(name) = expr
            && !self.traits.positive.contains(&&**name)
        {
            self.traits.positive.push(name);
        }
    }

    /// Variables of an argument that has to be an integer.
    fn integral(&mut self, expr: &'e Expr) {
        match expr {
            Expr::Symbol(name) if !self.traits.integral.contains(&&**name) => {
                self.traits.integral.push(name);
            }
            Expr::Add(parts) | Expr::Multiply(parts) => {
                for part in parts {
                    self.integral(part);
                }
            }
            _ => {}
        }
    }
}

/// Is it a power that only numbers that are not negative have?
fn even_root(exponent: &Rational) -> bool {
    exponent
        .denominator()
        .as_words()
        .first()
        .is_some_and(|word| word & 1 == 0)
}

fn even_degree(degree: &Rational) -> bool {
    degree.sign() == Sign::Negative
        || degree
            .numerator()
            .as_sign_words()
            .1
            .first()
            .is_some_and(|word| word & 1 == 0)
}
