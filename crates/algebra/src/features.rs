//! What has to be known of two expressions before they are evaluated.

use dashu_base::Sign;

use super::budget::Budget;
use super::expr::{Constant, Expr, Function};
use super::modular::Assumptions;
use super::rational::{has_even_denominator, is_odd};
use super::{fold, walk, work};

/// Steps for folding an exponent or a degree.
const FOLDING: u64 = 64;

/// Facts about a pair of expressions.
#[derive(Debug, Default)]
pub(super) struct Features<'e> {
    pub(super) assumptions: Assumptions<'e>,
    /// Does i occur, or a function of complex numbers?
    pub(super) imaginary: bool,
    /// Does ∞ occur?
    pub(super) infinite: bool,
    /// Is there a Σ, ∫, …?
    pub(super) binder: bool,
    /// Were variables taken to be positive that need not be?
    pub(super) assumed: bool,
    /// Are there functions other than roots and rational powers of rational numbers?
    pub(super) transcendental: bool,
    pub(super) nodes: u64,
}

impl<'e> Features<'e> {
    pub(super) fn at(a: &'e Expr, b: &'e Expr, budget: &mut Budget) -> Self {
        let mut features = Self {
            assumptions: Assumptions {
                constant: true,
                ..Assumptions::default()
            },
            ..Self::default()
        };
        features.visit(a, budget);
        features.visit(b, budget);
        features.assumed |= features.imaginary && !features.assumptions.positive.is_empty();
        features
    }

    fn visit(&mut self, expr: &'e Expr, budget: &mut Budget) {
        self.nodes += 1;
        work::charge(3);
        match expr {
            Expr::Symbol(_) => self.assumptions.constant = false,
            Expr::Constant(constant) => match constant {
                Constant::ImaginaryUnit => self.imaginary = true,
                Constant::Infinity => self.infinite = true,
                _ => self.transcendental = true,
            },
            Expr::Power(pair) => self.power(&pair.0, &pair.1, budget),
            Expr::Call(function, arguments) => self.call(*function, arguments, budget),
            Expr::Binder(_) => self.binder = true,
            _ => {}
        }
        walk::any_part(expr, |part| {
            self.visit(part, budget);
            false
        });
    }

    fn power(&mut self, base: &'e Expr, exponent: &'e Expr, budget: &mut Budget) {
        if let Ok(exponent) = fold::fold_within(exponent, FOLDING, budget) {
            if has_even_denominator(&exponent) {
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
                Ok(degree) if degree.sign() == Sign::Positive && is_odd(degree.numerator()) => {}
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
            (F::RealPart | F::ImaginaryPart | F::Argument, _) => {
                self.transcendental = true;
                self.imaginary = true;
                self.assumptions.complex = true;
            }
            (F::Absolute | F::Root, _) => {}
            _ => self.transcendental = true,
        }
    }

    fn positive(&mut self, expr: &'e Expr) {
        if let Expr::Symbol(name) = expr
            && !self.assumptions.positive.contains(&&**name)
        {
            self.assumptions.positive.push(name);
        }
    }

    /// Variables of an argument that has to be an integer.
    fn integral(&mut self, expr: &'e Expr) {
        match expr {
            Expr::Symbol(name) if !self.assumptions.integral.contains(&&**name) => {
                self.assumptions.integral.push(name);
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
