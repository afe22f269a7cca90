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

use std::fmt::Write as _;
use std::io;

use crate::judge::{JudgeError, LoadError};
use juror_base::threads::ThreadError;
use juror_data::journal::JournalError;
use juror_data::output::OutputError;
use juror_data::{BadLines, DatasetError};
use juror_engine::model::ModelError;

/// Why a batch could not be written, read or run.
#[derive(Debug, thiserror::Error)]
pub enum BatchError {
    #[error(transparent)]
    Input(#[from] DatasetError),
    #[error(transparent)]
    Output(#[from] OutputError),
    #[error("could not write to standard output: {0}")]
    Stdout(#[source] io::Error),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Load(Box<LoadError>),
    #[error(transparent)]
    Judge(#[from] JudgeError),
    #[error(transparent)]
    Thread(#[from] ThreadError),
    #[error("no requests in {file}: a batch file holds one JSON object a line")]
    NoRequests { file: String },
    /// Lines of answers that cannot be used.
    #[error("{}", bad_outputs(.0))]
    BadOutputs(BadLines),
    #[error(
        "{files}: no line answers a request of this input: give the rows, and --columns, --preset and --protocol, as for \
         `juror batch export`"
    )]
    NoAnswers { files: String },
}

impl From<LoadError> for BatchError {
    fn from(error: LoadError) -> Self {
        Self::Load(Box::new(error))
    }
}

impl BatchError {
    /// True where the user's input or usage is at fault, not the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Input(error) => error.is_usage(),
            Self::Model(error) => error.is_usage(),
            Self::Load(error) => error.is_usage(),
            Self::Output(OutputError::Folder { .. } | OutputError::NoFolder { .. })
            | Self::Journal(JournalError::Different { .. } | JournalError::NotAJournal { .. })
            | Self::BadOutputs(_)
            | Self::NoAnswers { .. }
            | Self::NoRequests { .. } => true,
            _ => false,
        }
    }
}

fn bad_outputs(bad: &BadLines) -> String {
    let mut text = format!(
        "{} of {} lines of answers cannot be used, so no verdict was written:\n",
        bad.total, bad.lines_read
    );
    for line in bad.listed() {
        let _ = writeln!(text, "  {line}");
    }
    text.push_str("Mend them, or pass --skip-bad to leave them out; a request that is then without an answer is `failed`");
    text
}
