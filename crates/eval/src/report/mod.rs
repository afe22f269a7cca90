//! Verdicts as pages that people read: the texts under judgement, what was said of them, and figures.
//!
//! Nothing that comes from a file is ever markup: templates escape what they are given, and [`text::html`] is the one place that makes elements from text.

pub mod bars;
pub mod evaluation;
mod math;
pub mod numbers;
pub(crate) mod page;
pub mod plot;
pub(crate) mod record;
pub(crate) mod run;
pub(crate) mod text;

#[cfg(test)]
mod tests;
