//! Labels by people (`juror label`): which samples are asked for, the file that the labels go to, and how far two people agree.
//!
//! | module | what it is for |
//! |---|---|
//! | `said` | what a person says of a response, and the key for it |
//! | `file` | the file of labels: a line each, on disk before it counts |
//! | `queue` | which samples are asked for, and in which order |
//! | `session` | one person's way through the queue: label, skip, undo |
//! | `pair` | the labels of two people: agreement, and one set of both |
//! | `page` | the queue in a browser (feature `serve`) |

mod file;
#[cfg(feature = "serve")]
pub mod page;
mod pair;
mod queue;
mod said;
mod session;

use std::io;
use std::path::PathBuf;

pub use file::{LabelFile, LabelLine, read_labels};
#[cfg(feature = "serve")]
pub(crate) use page::TEMPLATES;
pub use pair::{Difference, LabelPair};
pub use queue::{Queue, QueueChoice, Reasons};
pub use said::Said;
pub use session::{Session, Shown};

use crate::browse::BrowseError;
use juror_data::DatasetError;

/// Why labels cannot be taken.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum LabelError {
    /// The file of labels cannot be opened or read.
    #[error("could not read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A label cannot be written.
    #[error(
        "could not write {}: {source}; the labels before are kept: make room and run the same command again", path.display()
    )]
    Write { path: PathBuf, source: io::Error },
    /// Another process writes the file.
    #[error("{} is written by another `juror label`: end that first, or choose another output", path.display())]
    Locked { path: PathBuf },
    /// A label with its note and id is longer than a line may be.
    #[error("the label would take {bytes} bytes, and {most} is the most: write a shorter note")]
    TooLong { bytes: usize, most: usize },
    /// A file made from two people's labels has one that they no longer agree on.
    #[error(
        "{} was made of other labels: both no longer say what it says of {id:?}; choose another output", path.display()
    )]
    Stale { path: PathBuf, id: String },
    /// A line is not a label.
    #[error("{}:{line}: no label of `juror label`: {why}; choose another output", path.display())]
    NoLabel {
        path: PathBuf,
        line: usize,
        why: String,
    },
    /// The file has labels of another annotator.
    #[error(
        "{}:{line} is a label of {annotator:?}: give each annotator a file of their own (`-o`)", path.display()
    )]
    Annotator {
        path: PathBuf,
        line: usize,
        annotator: String,
    },
    /// A sample is labelled twice in one file.
    #[error("{}:{line}: {id:?} has a label already", path.display())]
    Twice {
        path: PathBuf,
        line: usize,
        id: String,
    },
    /// Rows cannot be read.
    #[error(transparent)]
    Input(#[from] DatasetError),
    /// Verdicts cannot be read.
    #[error(transparent)]
    Verdicts(#[from] BrowseError),
    /// All verdicts are on other samples.
    #[error(
        "none of the verdicts in {} is on a row: rows and verdicts meet by id, so give the rows that were judged, with the same \
         `--columns` ({ids})", path.display()
    )]
    OtherSamples { path: PathBuf, ids: String },
}

impl LabelError {
    /// Whether the user's input is at fault.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Input(error) => error.is_usage(),
            Self::Verdicts(error) => error.is_usage(),
            Self::Write { .. } => false,
            _ => true,
        }
    }
}
