//! Batch files in OpenAI's format (<https://platform.openai.com/docs/guides/batch>): one request a line in, one answer a line
//! out. vLLM, SGLang and others take and write the same.
//!
//! ```text
//! rows ─export─▶ BATCH.jsonl ─any engine, or run─▶ OUTPUTS.jsonl ─import─▶ verdicts.jsonl
//! ```
//!
//! | file | what it is for |
//! |---|---|
//! | [`custom_id`] | the name of a request: joins an answer with its sample, trial and protocol |
//! | [`export`] | what a judge would be asked, as requests (`juror batch export`) |
//! | [`shapes`] | a line of answers, in the shapes that engines write |
//! | [`import`] | answers by their samples and trials; `judge/answers` makes verdicts of them (`juror batch import`) |
//! | [`run`] | requests answered with a model here (`juror batch run`) |
//! | [`lines`] | a line of a batch file as a request, and the line that answers it |

pub(crate) mod custom_id;
pub mod export;
pub mod import;
pub mod lines;
pub mod run;
pub(crate) mod shapes;
