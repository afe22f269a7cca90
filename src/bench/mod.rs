//! How fast a judge is: a workload through the real engine, measured.
//!
//! ```text
//! Workload ─▶ jobs ─▶ measure(model, sizes) ─▶ Run ─▶ Report ─▶ table, JSON; steps and spans ─▶ Chrome trace
//! ```
//!
//! | file | what it is for |
//! |---|---|
//! | [`workload`] | the requests |
//! | [`mod@measure`] | one run |
//! | [`recorder`], [`statistics`] | what is noted on the way, and its percentiles |
//! | [`ceiling`] | what the device can do at best, measured |
//! | `cost` | what a run must cost at least |
//! | [`estimate`] | what a run will take, before it starts |
//! | [`limit`] | what kept a run from being faster |
//! | [`breakdown`], [`report`] | where the time went; all figures |
//! | [`session`] | from a model's files to figures |
//! | [`trace`] | a run for Chrome's trace viewer |
//! | [`shared`] | one loaded model for several runs |

pub mod breakdown;
pub mod ceiling;
mod cost;
pub mod estimate;
pub mod limit;
pub mod measure;
pub mod recorder;
pub mod report;
pub mod session;
pub mod shared;
pub mod statistics;
pub mod trace;
pub mod workload;

pub use ceiling::Ceiling;
pub use estimate::{Estimate, Seconds, Tokens};
pub use limit::Limit;
pub use measure::{Run, Settings, measure};
pub use report::{Context, Report};
pub use shared::SharedModel;
pub use workload::{Job, LengthDistribution, Workload};
