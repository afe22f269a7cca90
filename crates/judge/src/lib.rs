//! Samples into verdicts and rewards.
//!
//! ```text
//! Sample ─protocol─▶ prompt tokens ─engine─▶ completion ─protocol─▶ Verdict ─rules─▶ Verdict ─reward─▶ journal ─▶ verdicts.jsonl
//! ```
//!
//! | room, each using those before it alone | what it is for |
//! |---|---|
//! | [`protocol`] | what a judge is asked, as text: prompt template and fields; how its verdict is read |
//! | [`catalog`] | the files that `--model` may name: built in, a path, an alias of a known judge, an id on the hub (the crate `juror-hub`) |
//! | [`reward`] | what a verdict is worth |
//! | [`wire`] | OpenAI's API as JSON: routes, answers, forms; for server, endpoint and batch |
//! | [`runtime`] | the one owner of what is asked of a model: who waits for what, which engine has it, sleep and failure |
//! | [`judge`] | the pipeline: a sample's prompt as tokens, resuming a run, a completion into a verdict |
//! | [`openai`] | OpenAI's chat and text completions with a model here: requests into prompts, completions into answers |
//! | [`endpoint`] | a judge that runs elsewhere, behind a server of OpenAI's API (`--endpoint`) |
//! | [`by_name`] | a judge by the name of its model, here or behind a server |
//! | [`batch`] | batch files in OpenAI's format: prompts out, answers in, and such files answered with a model here |
//! | [`attack`] | responses that deserve no reward, and how often a judge gives them one (`juror attack`) |
//! | `server` | the judge over HTTP (`juror serve`, feature `serve`) |
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
