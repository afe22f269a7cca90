//! The evaluation protocol of GSM8K (`juror gsm8k`): responses scored by named extraction methods, against original and audited
//! labels, and a local model as the solver.
//!
//! ```text
//! questions ─Solver─▶ requests ─batch─▶ responses ─┐
//!                                                  ├─▶ Scored ─▶ Scores by method and labels ─▶ Report
//! original and audited labels ─────────────────────┘      └────▶ rules against a judge's verdicts
//! ```
//!
//! | file | what it is for |
//! |---|---|
//! | [`method`] | the extraction methods: what each finds in a response |
//! | [`test_set`] | questions with their answers, original or audited (GSM8K-Platinum) |
//! | [`responses`] | responses by their questions, read by every method |
//! | [`statistics`] | accuracy, pass@k, maj@k |
//! | [`report`] | everything that a report has to state |
//! | [`against`] | a judge and the methods, against each other and against labels |
//! | [`exemplars`] | worked examples for few-shot prompts (`exemplars.jsonl`) |
//! | [`solver`] | prompts of the standard configurations, as requests; answers as rows |

pub mod against;
pub mod exemplars;
pub mod method;
pub mod report;
pub mod responses;
pub mod solver;
pub mod statistics;
pub mod test_set;
