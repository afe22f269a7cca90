//! How fast a judge is: a workload through the real engine, measured.
//!
//! ```text
//! Workload ─▶ jobs ─▶ measure(model, sizes) ─▶ Measured ─▶ Report ─▶ table, JSON
//! ```
//!
//! | file | what it is for |
//! |---|---|
//! | [`workload`] | the requests |
//! | [`mod@measure`] | one run |
//! | [`recorder`], [`statistics`] | what is recorded on the way, and its percentiles |
//! | [`ceiling`] | what the device can do at best, measured |
//! | `cost` | what a run must cost at least |
//! | [`estimate`] | what a run of `juror judge` will take (`--dry-run`) |
//! | [`limit`] | what kept a run from being faster |
//! | [`breakdown`], [`report`] | where the time went; all figures |
//! | [`session`] | from a model's files to figures |
//! | [`shared`] | one loaded model for several runs |

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
