//! From checkpoints to logits: every family, format and attention, compared with references.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::float_cmp
)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/gguf_writer.rs"]
mod gguf_writer;
#[path = "../paged/mod.rs"]
mod paged;
#[path = "../paged/reference.rs"]
mod reference;

mod adapters;
mod attention;
mod bad_input;
mod checkpoints;
mod family_tensors;
mod gguf;
mod golden_logits;
mod llama_cpp;
mod quantised;
mod random_weights;
mod real;
mod recurrent;
