//! Language models in batches: from a folder of weights and token ids to completions.
//!
//! Items in the prelude of `juror` warn of missing documentation.

#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "what this crate offers to the others may change in any version"
)]

pub mod checkpoint;
pub mod engine;
pub mod grammar;
pub mod model;
pub mod text;
