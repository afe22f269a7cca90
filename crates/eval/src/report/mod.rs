//! Verdicts as pages that people read: the texts under judgement, what was said of them, and figures.
//!
//! | module | what it is for |
//! |---|---|
//! | [`text`] | untrusted text as HTML, its formulas as MathML (`math`) |
//! | [`record`], [`run`] | one sample with everything said of it; what run the verdicts are of |
//! | [`evaluation`] | how good a judge is: the report of `juror eval` |
//! | [`plot`], [`bars`] | plots as SVG, and for a terminal |
//! | [`numbers`] | figures as text |
//! | [`page`] | templates with auto-escape; the stylesheet; which styles and scripts a page may run |
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
