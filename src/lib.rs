//! `juror` runs open verifier models as judges on your own machine.
//!
//! Rollouts go in (question, reference answer, student answer); process-aware verdicts and rewards come out:
//!
//! ```text
//! rows ─dataset─▶ Sample ─protocol─▶ prompt tokens ─engine─▶ completion ─protocol─▶ Verdict ─rules─▶ Verdict ─reward─▶ journal ─▶ verdicts.jsonl
//! ```
//!
//! A program that judges needs [`prelude`] alone: [`prelude::Judge`] is a model that stays loaded and is called again and
//! again. Behind it are crates that can be used by themselves; what is not in the prelude may change in any version.
//!
//! | crate | what it is for |
//! |---|---|
//! | `juror-data` | rows of files into samples, the journal that makes a run resumable, verdicts into files |
//! | `juror-engine` | from a folder of weights and token ids to completions: checkpoints, tokenizers, models, batching |
//! | `juror-rules` | the rule-based verifier: needs no model |
//! | `juror-hub` | the hub's files, downloaded once and checked |
//! | `juror-judge` | samples into verdicts and rewards: protocols, the pipeline, batch files, the server |
//! | `juror-eval` | what verdicts are worth: agreement with labels, reports, labels by people, GSM8K |
//! | `juror-base` | threads, panics, and untrusted text on a terminal |
//!
//! The command `juror` is this package's binary.

pub mod prelude;
