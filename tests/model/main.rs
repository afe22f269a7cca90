//! From checkpoints to logits: every family, format and attention, compared with references.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../paged/mod.rs"]
mod paged;

mod attention;
mod checkpoints;
mod families;
mod gguf;
mod golden_logits;
