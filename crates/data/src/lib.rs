//! Rows of files into samples, and the journal that makes a run resumable.
//!
//! | module | what it is for |
//! |---|---|
//! | [`load()`] | files, folders or stdin into [`Sample`]s, with every bad line named |
//! | [`each()`] | each sample as it comes |
//! | [`index()`] | the same, for any number of samples: they stay in their files as [`Rows`], read when needed |
//! | [`Source`] | a file's rows: JSON lines, a JSON array, CSV or Parquet, detected by content (`input/`) |
//! | [`Preset`] | the shapes of rows that other programs write (`presets.toml`) |
//! | [`ColumnMap`] | which key of a row, or path into it, holds the question, the reference, the response, the id |
//! | `beside` | what stands beside a question and belongs to it: what it is about, its options (`beside.toml`) |
//! | `messages`, [`prompt_question()`] | chat messages as a question or a response; the question in the prompt that an engine was given |
//! | [`Pair`] | reference answer and response of a row, for the rules (`texts`) |
//! | [`without_nan`] | JSON with the bare `NaN` that other programs write |
//! | [`Keep`] | which keys of a row go into its verdicts |
//! | [`Needs`], [`rubric`] | what rows are read for beside question, response and id; criteria by which a response is judged |
//! | [`Rejected`] | bad lines, set aside |
//! | [`Places`] | samples by their ids, or by those of rows that hold one sample alone |
//! | [`Shard`] | one machine's part of the input |
//! | [`verdict`] | what a judge said about one sample |
//! | [`journal`] | each finished verdict, on disk before it counts |
//! | [`output`] | the finished verdicts, in input order, by atomic rename: JSON lines, CSV or Parquet |
//! | [`Shards`] | the outputs of all shards into one |
//! | `verdict_lines` | finished verdicts, and other rows of files, read again for what they say |
//! | [`named!`] | enums whose variants have names |
//!
//! Nothing here guesses: a row that cannot be read is reported with its file and line, and by default stops the run before anything is judged.
//!
//! Modules of items in the prelude of `juror` warn of missing documentation.

#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "what this crate offers to the others may change in any version"
)]

#[macro_use]
mod named;

mod beside;
mod chat_prompt;
#[warn(missing_docs)]
mod columns;
mod content_part;
#[warn(missing_docs)]
mod error;
mod input;
pub mod journal;
mod json_text;
#[warn(missing_docs)]
mod keep;
#[warn(missing_docs)]
pub mod load;
mod merge;
mod messages;
mod needs;
pub mod output;
mod path;
mod places;
#[warn(missing_docs)]
mod preset;
mod rejected;
mod row;
mod rows;
#[warn(missing_docs)]
pub mod rubric;
#[warn(missing_docs)]
mod sample;
mod samples;
#[warn(missing_docs)]
mod shard;
mod spool;
mod texts;
#[warn(missing_docs)]
pub mod verdict;
mod verdict_lines;

pub use chat_prompt::question as prompt_question;
pub use columns::{ColumnError, ColumnMap, ColumnsUsed, Field, tally};
pub use content_part::{ContentPart, REASONING};
pub use error::{BadLines, DatasetError};
pub use input::{
    LineLimit, Next, RowReader, Source, file_number, is_rows_file, read_text, sources,
};
pub use json_text::without_nan;
pub use keep::Keep;
pub use load::{LoadOptions, Loaded, each, index, index_each, is_repeated, load, sample_of_row};
pub use merge::{MergeError, Shards};
pub use messages::{answer_in_reasoning, conversation};
pub use needs::{Needs, RubricNeed};
pub use places::{OfRows, Places};
pub use preset::{Preset, presets};
pub use rejected::{Rejected, RejectedLine, rejected_path};
pub use rows::{Rows, together};
pub use sample::{Sample, id_hash};
pub use samples::{Outline, Samples};
pub use shard::Shard;
pub use texts::Pair;
pub use verdict_lines::{TrialsSeen, VerdictLine, each_batch, each_row};
