//! Samples into verdicts and rewards.
//!
//! ```text
//! Sample ─protocol─▶ prompt tokens ─engine─▶ completion ─protocol─▶ Verdict ─rules─▶ Verdict ─reward─▶ journal ─▶ verdicts.jsonl
//! ```
//!
//! Items in the prelude of `juror` warn of missing documentation.

#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "what this crate offers to the others may change in any version"
)]
#![cfg_attr(
    not(feature = "serve"),
    allow(dead_code, reason = "what the server alone calls")
)]

#[macro_use(named)]
extern crate juror_data;

pub mod attack;
pub mod batch;
#[warn(missing_docs)]
pub mod by_name;
pub mod catalog;
pub mod endpoint;
pub mod judge;
pub mod openai;
pub mod protocol;
pub mod reward;
pub mod runtime;
#[cfg(feature = "serve")]
pub mod server;
pub mod wire;

/// The rows of a table of two columns.
pub(crate) fn rows(table: &str) -> impl Iterator<Item = (&str, &str)> {
    table.lines().filter_map(|row| row.split_once('\t'))
}
