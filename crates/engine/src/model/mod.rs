//! The model: from weights to the logits of a step of packed tokens.
//!
//! ```text
//! ModelConfig, Weights ─▶ Decoder ─┐
//!                                  ├─ forward(StepBatch) ─▶ logits [wanted, vocab]
//! AttentionShape, blocks ─▶ Attention ─┘
//! ```
//!
//! On the CPU the logits of a token are **bitwise** the same whatever else is in the step, however its prompt was
//! chunked and whether its prefix was shared (`tests/model/attention.rs`, `tests/model/golden_logits.rs`). Every sum is taken in an
//! order that depends on the model and on absolute positions alone, never on how many rows are computed together.

// A kernel's functions must be inlined into it, or they are compiled without the instruction set.
#![allow(clippy::inline_always)]

pub mod attention;
pub mod batch;
pub mod cpu;
pub mod cuda;
pub(crate) mod decoder;
pub(crate) mod device;
mod embedding;
mod error;
pub(crate) mod feed_forward;
pub mod linear;
pub mod memory;
pub mod ops;
pub mod precision;
mod prefix;
pub mod profile;
pub mod recurrence;
pub(crate) mod rope;
mod shard;
mod tensor_reader;

pub use batch::{BatchRow, RowState, StateStart, StepBatch};
pub use decoder::Decoder;
pub use device::{CurrentOnDrop, DeviceChoice, describe as describe_device};
pub(crate) use error::Result;
pub use error::{ModelError, Obstacle};
pub use precision::{Precision, PrecisionChoice};
pub use prefix::PrefixFile;
pub use shard::Shard;
