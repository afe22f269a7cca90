//! Batch files in OpenAI's format (<https://platform.openai.com/docs/guides/batch>): one request a line in, one answer a line
//! out. vLLM, SGLang and others take and write the same.
//!
//! ```text
//! rows ─export─▶ BATCH.jsonl ─any engine, or run─▶ OUTPUTS.jsonl ─import─▶ verdicts.jsonl
//! ```

pub(crate) mod custom_id;
pub mod export;
pub mod import;
pub mod lines;
pub mod run;
pub(crate) mod shapes;
