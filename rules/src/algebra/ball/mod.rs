//! Enclosures: prove difference, and show agreement to hundreds of digits.

mod big;
mod double;
mod evaluate;
mod functions;
mod gamma;
mod radius;
mod real;
mod series;
mod value;

pub(super) use big::Big;
pub(super) use double::Double;
pub(super) use evaluate::Evaluation;
pub(crate) use evaluate::PointValue;
pub(super) use real::Real;
pub(super) use value::{Arithmetic, Value};
