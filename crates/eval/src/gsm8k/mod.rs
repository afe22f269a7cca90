//! The evaluation protocol of GSM8K (`juror gsm8k`): responses scored by named extraction methods, against original and audited
//! labels, and a local model as the solver.
//!
//! ```text
//! questions ─Solver─▶ requests ─batch─▶ responses ─┐
//!                                                  ├─▶ Scored ─▶ Scores by method and labels ─▶ Report
//! original and audited labels ─────────────────────┘      └────▶ rules against a judge's verdicts
//! ```

pub mod against;
pub mod exemplars;
pub mod method;
pub mod report;
pub mod responses;
pub mod solver;
pub mod statistics;
pub mod test_set;
