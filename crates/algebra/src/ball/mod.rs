//! Enclosures: prove difference, and show agreement to hundreds of digits.
//!
//! | file | what it does |
//! |---|---|
//! | `real` | what an enclosure of a real number offers |
//! | `double` | enclosures by doubles |
//! | `big`, `radius`, `series` | enclosures of any precision |
//! | `value` | values: exact, real or complex |
//! | `evaluation` | the state of one evaluation |
//! | `expressions`, `powers`, `functions`, `gamma` | the value of an expression |

mod big;
mod double;
mod evaluation;
mod expressions;
mod functions;
mod gamma;
mod powers;
mod radius;
mod real;
mod series;
mod value;

use std::cmp::Ordering;

use super::budget::{Budget, Failure, Outcome};
use super::expr::Expr;
use evaluation::Evaluation;

pub(super) use big::Big;
pub(super) use double::Double;
pub(super) use evaluation::Branches;
pub use evaluation::PointValue;
pub(super) use real::Real;
pub(super) use value::{Arithmetic, Enclosed, Value};

/// The value of an expression at a point, to so many bits.
pub(super) fn evaluate<R: Real>(
    expr: &Expr,
    point: &[(&str, PointValue)],
    bits: u32,
    branches: Branches,
    budget: &mut Budget,
) -> Enclosed<R> {
    expressions::evaluate(&mut Evaluation::new(point, bits, branches, budget), expr)
}

pub(super) fn constant<R: Real>(expr: &Expr, bits: u32, budget: &mut Budget) -> Enclosed<R> {
    evaluate(expr, &[], bits, Branches::RealRoots, budget)
}

/// The sign of a real constant, where an enclosure shows it.
pub(super) fn sign(expr: &Expr, budget: &mut Budget) -> Outcome<Ordering> {
    let near = constant::<Double>(expr, 53, budget).and_then(|value| value.sign());
    match near {
        Err(Failure::Unknown) => constant::<Big>(expr, 128, budget)?.sign(),
        decided => decided,
    }
}
