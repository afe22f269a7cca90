//! `juror` runs open verifier models as judges on your own machine.
//!
//! Rollouts go in (question, reference answer, student answer); process-aware verdicts and rewards come out:
//!
//! ```text
//! rows ─data─▶ Sample ─protocol─▶ prompt tokens ─engine─▶ completion ─protocol─▶ Verdict ─rules─▶ Verdict ─reward─▶ journal ─▶ verdicts.jsonl
//! ```
//!
//! A program that judges needs [`prelude`] alone: [`prelude::Judge`] is a model that stays loaded and is called again and
//! again. Under it are crates that can be used by themselves, and are here under their names without `juror-`; what is in neither the
//! prelude nor [`rules`] may change in any version.
//!
//! | crate | what it is for |
//! |---|---|
//! | `juror-data` | rows of files into samples, the journal that makes a run resumable, verdicts into files |
//! | `juror-engine` | from a folder of weights and token ids to completions: checkpoints, tokenizers, models, batching |
//! | `juror-rules` | the rule-based verifier: needs no model |
//! | `juror-math-verify` | the verdicts of Math-Verify 0.9.0 |
//! | `juror-algebra` | expressions and exact numbers, compared with proofs and bounds |
//! | `juror-hub` | the hub's files, downloaded once and checked |
//! | `juror-judge` | samples into verdicts and rewards: protocols, the pipeline, batch files, the server |
//! | `juror-eval` | what verdicts are worth: agreement with labels, reports, labels by people, GSM8K |
//! | `juror-base` | threads, panics, and untrusted text on a terminal |
//!
//! The command `juror` is this package's binary.
//!
//! # A sample through `juror judge`
//!
//! ```text
//! src/cli/judge                    arguments into a `Session`: model, protocol, rules, reward, where the output goes
//! data   index                     files into `Rows`, for the `Session`: every bad row is named before anything is judged
//! judge  Session::execute          checks weights and opens devices, then the journal; what an earlier run has finished is left out
//!        Judge::build, Judge::run  make the engines (none for `--rules only`: `run_rules` is all of its way; behind `--endpoint` a server)
//!        judge/run.rs  feed        reads samples again and makes prompt tokens (`RequestBuilder::prompt`), unless the rules decide (`--rules first`)
//!        RequestBuilder::trial     a verdict at once, by the rules or the cache (`--cache`); else a request, submitted
//!        runtime/owner.rs  Owner   the runtime's thread: equal requests wait for one answer; the engine with the fewest requests gets it
//!                                  (up to 16 requests of one question in a row go to the same one)
//! engine EngineThread ─▶ Engine::step ─▶ Scheduler, model, sampler, step by step, until the answer ends: a `Completion`
//! judge  Owner ─▶ Reply            to all who asked for it
//!        judge/run.rs  keep        `VerdictBuilder`: the protocol reads it, the rules fill in, the reward is set;
//!                                  `Keeper`: into the journal, then into summary and progress
//! data   OutputFile                all verdicts, in input order, by rename
//! ```
//!
//! # A request through `juror serve`
//!
//! ```text
//! judge  server/connection.rs      a connection, and the route of a request (server/mod.rs)
//!        server/judge.rs           its body (server/body.rs), within what memory is left (server/budget.rs), into rows and samples;
//!                                  a bad one refuses the request
//!        server/rows.rs            App::judge: waits for room in memory; with `skip_bad` a bad row has a failed verdict
//!        judge/judges.rs           Judges::judge: one judge, a cascade or a panel
//!        JudgeService::judge       a queue of prompts, fair between clients; workers make prompt tokens (by the rules alone it ends here)
//!        RequestBuilder::trial     as above
//!        runtime/owner.rs  Owner   what is known is answered at once, equal requests wait together; a queue, fair between clients
//! engine EngineThread              one a device: a `Completion`
//! judge  Owner ─▶ Reply            back to a worker: `VerdictBuilder` ─▶ `TakeVerdict::take` of all who wait
//!        server/rows.rs            App::judge_all: verdicts in the order of the rows; or server/judge.rs: as they come
//! ```

pub mod prelude;

#[doc(no_inline)]
pub use juror_data as data;
#[doc(no_inline)]
pub use juror_engine as engine;
#[doc(no_inline)]
pub use juror_eval as eval;
#[doc(no_inline)]
pub use juror_hub as hub;
#[doc(no_inline)]
pub use juror_judge as judge;
#[doc(no_inline)]
pub use juror_rules as rules;
