//! What has to be known of two expressions before they are evaluated.

use dashu_base::Sign;

use super::expr::{Constant, Expr, Function};
use super::{walk, work};

/// Facts about a pair of expressions.
#[derive(Debug, Default)]
pub(super) struct Features<'e> {
    /// Are there no variables?
    pub(super) constant: bool,
    /// Variables that can only be integers: arguments of factorials.
    pub(super) integral: Vec<&'e str>,
    /// Are variables complex numbers (conjugates and the like are taken of them)?
    pub(super) complex: bool,
    /// Does i occur, or a function of complex numbers?
    pub(super) imaginary: bool,
    /// Does ∞ occur?
    pub(super) infinite: bool,
    /// Is there a Σ, ∫, …?
    pub(super) binder: bool,
    /// Are there functions other than roots and rational powers of rational numbers?
    pub(super) transcendental: bool,
    pub(super) nodes: u64,
}

impl<'e> Features<'e> {
    pub(super) fn at(a: &'e Expr, b: &'e Expr) -> Self {
        let mut features = Self {
            constant: true,
            ..Self::default()
        };
        features.visit(a);
        features.visit(b);
        features
    }

    fn visit(&mut self, expr: &'e Expr) {
        self.nodes += 1;
        work::charge(3);
        match expr {
            Expr::Symbol(_) => self.constant = false,
            Expr::Constant(constant) => match constant {
                Constant::ImaginaryUnit => self.imaginary = true,
                Constant::Infinity => self.infinite = true,
                _ => self.transcendental = true,
            },
            // (−1)^n is meant for integers.
            Expr::Power(pair) => {
                if matches!(&pair.0, Expr::Number(base) if base.sign() == Sign::Negative) {
                    self.integral(&pair.1);
                }
            }
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Binder(_) => self.binder = true,
            _ => {}
        }
        walk::any_part(expr, |part| {
            self.visit(part);
            false
        });
    }

    fn call(&mut self, function: Function, arguments: &'e [Expr]) {
        use Function as F;
        match function {
            F::Absolute | F::Root => return,
            F::Factorial | F::DoubleFactorial | F::Binomial | F::Permutations | F::Gcd | F::Lcm => {
                for argument in arguments {
                    self.integral(argument);
                }
            }
            F::RealPart | F::ImaginaryPart | F::Argument => {
                self.imaginary = true;
                self.complex = true;
            }
            _ => {}
        }
        self.transcendental = true;
    }

    /// Variables of an argument that has to be an integer.
    fn integral(&mut self, expr: &'e Expr) {
        match expr {
            Expr::Symbol(name) if !self.integral.contains(&&**name) => {
                self.integral.push(name);
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
