//! `juror` runs open verifier models as judges on your own machine.
//!
//! Rollouts go in (question, reference answer, student answer); process-aware verdicts and rewards come out:
//!
//! ```text
//! rows ─dataset─▶ Sample ─protocol─▶ prompt tokens ─engine─▶ completion ─protocol─▶ Verdict ─rules─▶ Verdict ─reward─▶ journal ─▶ verdicts.jsonl
//! ```
//!
//! | room | what it is for |
//! |---|---|
//! | [`dataset`] | rows of files into [`dataset::Sample`]s; the journal that makes a run resumable |
//! | [`protocol`] | what a judge is asked and how its answer is read |
//! | [`verdict`], [`reward`] | the result of judging one sample, and what it is worth |
//! | [`rules`] | the rule-based verifier: needs no model |
//! | [`verify`] | the rules on a stream of pairs |
//! | [`model`] | config, weights, decoder, attention, tokenizer, chat template |
//! | [`engine`] | continuous batching over a paged KV cache |
//! | [`mod@bench`] | how fast all this is |
//! | [`judge`] | the only place that knows the whole way |
//! | [`cli`] | arguments into options, results into text |

pub mod bench;
pub mod cli;
pub mod dataset;
pub mod engine;
pub mod judge;
pub mod model;
pub(crate) mod panics;
pub mod protocol;
pub mod reward;
mod terminal;
pub mod threads;
pub mod verdict;
pub mod verify;

pub use juror_rules as rules;
