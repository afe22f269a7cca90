//! Rows of files into samples, and the journal that makes a run resumable.
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
mod field_texts;
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
    LineLimit, Next, RowReader, Source, file_number, is_rows_file, read_text, sources, stands_for,
};
pub use json_text::{is_marked_none, without_nan};
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
