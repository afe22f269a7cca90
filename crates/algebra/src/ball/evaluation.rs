//! The state of one evaluation to an enclosure: the point, the precision, the branches.

use super::real::Real;
use super::value::{Arithmetic, Enclosed, Value};
use crate::budget::{Budget, Failure, Outcome};
use crate::expr::Rational;

/// The value of a variable: a rational number, or a complex one with rational parts.
#[derive(Debug, Clone)]
pub struct PointValue {
    /// Its real part.
    pub real: Rational,
    /// Its imaginary part, 0 of a real number.
    pub imaginary: Rational,
}

/// Which of several values a root has, and whether a value may be complex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Branches {
    /// An odd root of a negative number is the real one: ∛−8 is −2.
    RealRoots,
    /// Odd roots as in [`Self::RealRoots`], and a value that is not real is none.
    RealValues,
    /// The principal ones: ∛−8 is 1 + i√3. Variables with values that are no integers are taken for decimals.
    Principal,
}

pub(super) struct Evaluation<'b> {
    point: &'b [(&'b str, PointValue)],
    arithmetic: Arithmetic,
    branches: Branches,
    budget: &'b mut Budget,
}

impl<'b> Evaluation<'b> {
    pub(super) fn new(
        point: &'b [(&'b str, PointValue)],
        bits: u32,
        branches: Branches,
        budget: &'b mut Budget,
    ) -> Self {
        Self {
            point,
            arithmetic: Arithmetic { bits },
            branches,
            budget,
        }
    }

    pub(super) fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }

    pub(super) fn bits(&self) -> u32 {
        self.arithmetic.bits
    }

    pub(super) fn budget(&mut self) -> &mut Budget {
        self.budget
    }

    pub(super) fn spend(&mut self, steps: u64) -> Outcome<()> {
        self.budget.spend(steps)
    }

    pub(super) fn is_real(&self) -> bool {
        self.branches == Branches::RealValues
    }

    pub(super) fn is_principal(&self) -> bool {
        self.branches == Branches::Principal
    }

    /// A complex value, where one may be.
    pub(super) fn complex<R: Real>(&self, real: R, imaginary: R) -> Enclosed<R> {
        if self.is_real() {
            Err(Failure::Undefined)
        } else {
            Ok(Value::Complex(real, imaginary))
        }
    }

    pub(super) fn symbol<R: Real>(&self, name: &str) -> Enclosed<R> {
        let mut values = self.point.iter();
        let (_, value) = values
            .find(|(variable, _)| *variable == name)
            .ok_or(Failure::Unknown)?;
        let real = || R::rational(&value.real, self.bits());
        Ok(if !value.imaginary.is_zero() {
            Value::Complex(real(), R::rational(&value.imaginary, self.bits()))
        } else if self.is_principal() && !value.real.is_int() {
            Value::Real(real())
        } else {
            Value::Exact(value.real.clone())
        })
    }
}
