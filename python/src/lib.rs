//! The rules for Python: `juror_rs._rules`.
//!
//! Nothing here has state, signals or a clock. The interpreter's lock is released while pairs are verified, so any number
//! of threads may call at once.

mod batch;
mod rules;

use pyo3::prelude::*;

/// Bindings of the crate `juror-rules`; `juror_rs.rules` and `juror_rs.math_verify` are what is used.
#[pymodule]
mod _rules {
    #[pymodule_export]
    use super::rules::Rules;

    /// The version of Math-Verify whose verdicts the profile `compat` gives.
    #[pymodule_export]
    const EMULATES: &str = juror_rules::EMULATES;

    /// The version of this package.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
