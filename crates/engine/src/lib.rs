//! Language models in batches: from a folder of weights and token ids to completions.
//!
//! | room | what it is for |
//! |---|---|
//! | [`checkpoint`] | a model's files as validated weights and settings: GGUF, Safetensors, `config.json` |
//! | [`text`] | tokenizer, chat template, and a model's thinking separated from its answer |
//! | [`model`] | from weights and tokens to logits: decoder, attention, CPU and CUDA kernels |
//! | [`grammar`] | answers of a given form: JSON schemas and grammars as the tokens that may come next |
//! | [`engine`] | continuous batching over a paged KV cache: scheduler, prefix cache, sampler |
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
