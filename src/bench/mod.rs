//! How fast a judge is: a workload through the real engine, measured.
//!
//! ```text
//! Workload ─▶ jobs ─▶ measure(model, sizes) ─▶ Measured ─▶ Report ─▶ table, JSON
//! ```

pub(crate) mod breakdown;
pub(crate) mod ceiling;
mod cost;
pub(crate) mod estimate;
pub(crate) mod limit;
pub(crate) mod measure;
pub(crate) mod recorder;
pub(crate) mod report;
pub(crate) mod session;
pub(crate) mod shared;
pub(crate) mod statistics;
pub(crate) mod workload;

pub(crate) use ceiling::Ceiling;
pub(crate) use estimate::{Estimate, Seconds, Tokens};
pub(crate) use report::{Context, Report};
pub(crate) use workload::{Job, LengthDistribution, Workload};
