//! From samples to prompt tokens: chat templates, tokenizers, and text under judgement in its fields.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;

mod chat_templates;
mod untrusted;
