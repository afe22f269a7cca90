//! Is a − b zero, for expressions?

use std::cmp::Ordering;

use crate::rules::expr::{Expr, Rational};

/// Steps that a comparison may still take: the same on every machine, unlike a clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Steps left.
    pub steps: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { steps: 200_000 }
    }
}

/// What is known of a = b.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identity {
    /// Equal wherever both are defined, proved (up to a probability below 2^−100).
    Equal,
    /// Different, proved.
    Different,
    /// Equal to hundreds of digits; nothing decides the case.
    NumericallyEqual,
    /// One side has no value (0/0, 1/0) or is not understood.
    Undefined,
    /// The budget ran out.
    TooComplex,
}

/// Are `a` and `b` equal as functions of their variables?
pub fn identical(a: &Expr, b: &Expr, budget: &mut Budget) -> (Identity, &'static str) {
    let _ = budget;
    if a == b {
        (Identity::Equal, "structure")
    } else {
        (Identity::TooComplex, "none")
    }
}

/// The order of two real constants; `None` where they are not real constants or it cannot be told.
pub fn order(a: &Expr, b: &Expr, budget: &mut Budget) -> Option<Ordering> {
    let _ = (a, b, budget);
    None
}

/// The exact value of a constant expression that is rational; `None` for the rest.
pub fn rational(expr: &Expr, budget: &mut Budget) -> Option<Rational> {
    let _ = (expr, budget);
    None
}

/// A real constant near enough for sorting and printing; `None` where it is not real, not constant, or not finite.
pub fn approximate(expr: &Expr, budget: &mut Budget) -> Option<f64> {
    let _ = (expr, budget);
    None
}

/// The variables of an expression, sorted, without bound ones.
pub fn variables(expr: &Expr) -> Vec<Box<str>> {
    let _ = expr;
    Vec::new()
}

/// The coefficients, from the constant up, of a polynomial in `variable` with rational coefficients; `None` otherwise.
pub fn polynomial(expr: &Expr, variable: &str, budget: &mut Budget) -> Option<Vec<Rational>> {
    let _ = (expr, variable, budget);
    None
}
