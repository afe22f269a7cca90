//! `juror` runs open verifier models as judges on your own machine.
//!
//! Rollouts go in (question, reference answer, student answer); process-aware verdicts and rewards come out:
//!
//! ```text
//! rows ─dataset─▶ Sample ─protocol─▶ prompt tokens ─engine─▶ completion ─protocol─▶ Verdict ─rules─▶ Verdict ─reward─▶ journal ─▶ verdicts.jsonl
//! ```
//!
//! A program that judges needs [`prelude`] alone: [`prelude::Judge`] is a model that stays loaded and is called again and
//! again. The rooms below are public for this crate's own tests and benches; what is not in the prelude may change in any
//! version.
//!
//! | room | what it is for |
//! |---|---|
//! | [`cli`] | arguments into options, results into text; one file per subcommand |
//! | [`dataset`] | rows of files into [`dataset::Sample`]s; the journal that makes a run resumable |
//! | [`protocol`] | what a judge is asked, as text: prompt template and fields; how its verdict is read |
//! | [`catalog`] | what `--model` may name: built in, a path, an alias of a known judge, an id on the hub (the crate `juror-hub`) |
//! | [`checkpoint`] | a model's files as validated weights and settings; this and the next four are the crate `juror-engine` |
//! | [`text`] | tokenizer, chat template, and a model's thinking separated from its answer |
//! | [`model`] | from weights and tokens to logits: decoder, attention, CPU and CUDA kernels |
//! | [`grammar`] | answers of a given form: JSON schemas and grammars as the tokens that may come next |
//! | [`engine`] | continuous batching over a paged KV cache: scheduler, prefix cache, sampler |
//! | [`judge`] | the pipeline, the only place that knows the whole way: a sample's prompt as tokens, resuming a run, a completion into a verdict |
//! | [`verdict`], [`reward`] | the result of judging one sample, and what it is worth |
//! | [`rubric`] | weighted criteria that a sample is judged by |
//! | [`rules`] | the rule-based verifier, a crate of its own: needs no model |
//! | [`verify`] | the rules on a stream of pairs (`juror verify`) |
//! | [`openai`] | OpenAI's chat and text completions with a model here: requests into prompts, completions into answers |
//! | [`batch`] | batch files in OpenAI's format: prompts out, answers in, and such files answered with a model here |
//! | `server` | the judge over HTTP (`juror serve`, feature `serve`) |
//! | [`attack`] | responses that deserve no reward, and how often a judge gives them one (`juror attack`) |
//! | [`build`] | training data made with a judge: hard sets, preference pairs, best of n, accepted responses (`juror build`) |
//! | [`eval`] | what verdicts are worth: against labels, and judges against each other (`juror eval`) |
//! | [`report`] | verdicts as pages that people read; untrusted text as HTML |
//! | `browse` | verdict files by place, while they grow: filters, search, counts |
//! | `view` | verdicts as pages for the browser (`juror view`) |
//! | `label` | labels by people: the queue, the file, agreement (`juror label`) |
//! | [`gsm8k`] | GSM8K's evaluation protocol: extraction methods, pass@k, a local model as the solver (`juror gsm8k`) |
//! | [`mod@bench`] | how fast all this is |

#[doc(hidden)]
pub mod attack;
#[doc(hidden)]
pub mod batch;
#[doc(hidden)]
pub mod bench;
#[cfg_attr(
    not(feature = "serve"),
    allow(
        dead_code,
        unused_imports,
        reason = "the queue of labels needs its index; filters, search and counts are for pages"
    )
)]
mod browse;
#[doc(hidden)]
pub mod build;
#[doc(hidden)]
pub mod catalog;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod dataset;
#[doc(hidden)]
pub mod eval;
#[doc(hidden)]
pub mod gsm8k;
#[doc(hidden)]
pub mod judge;
mod label;
#[doc(hidden)]
pub mod openai;
pub mod prelude;
#[doc(hidden)]
pub mod protocol;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod reward;
#[doc(hidden)]
pub mod rubric;
#[cfg(feature = "serve")]
#[doc(hidden)]
pub mod server;
mod terminal;
#[doc(hidden)]
pub mod verdict;
#[doc(hidden)]
pub mod verify;
#[cfg(feature = "serve")]
mod view;

#[doc(hidden)]
pub use juror_engine::{checkpoint, engine, grammar, model, text, threads};
pub use juror_rules as rules;

use juror_engine::panics;
