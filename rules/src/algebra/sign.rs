//! Signs of constants.

use std::cmp::Ordering;

use super::ball::{Arithmetic, Big, Double, Evaluation, Real, Value};
use super::budget::{Budget, Failure, Outcome};
use super::expr::Expr;

/// The sign of a real constant, where an enclosure shows it.
pub(super) fn of_constant(expr: &Expr, budget: &mut Budget) -> Outcome<Ordering> {
    match at::<Double>(expr, 53, budget) {
        Err(Failure::Unknown) => at::<Big>(expr, 128, budget),
        decided => decided,
    }
}

fn at<R: Real>(expr: &Expr, bits: u32, budget: &mut Budget) -> Outcome<Ordering> {
    let arithmetic = Arithmetic { bits };
    let value: Value<R> = Evaluation {
        point: &[],
        arithmetic,
        real_only: false,
        principal: false,
        budget,
    }
    .value(expr)?;
    value.sign()
}
