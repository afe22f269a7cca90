//! Verdict files by place: looked through without being taken into memory, while they grow (`juror view`, `juror label`).
//!
//! ```text
//! verdicts.jsonl, or its journal ─Follower─▶ Index ─Filter─▶ order ─Search─▶ Record
//! rows, labels ──────────────────────────────▶┘
//! ```
//!
//! | module | what it is for |
//! |---|---|
//! | `source` | which file holds the verdicts, and its bytes by place |
//! | `follow` | reads what a growing file has more than before |
//! | `index` | what is kept of each verdict: 56 bytes, and 110 of its sample |
//! | `filter` | which verdicts are wanted, and in which order |
//! | `search` | those whose texts hold what is looked for |
//! | `record` | a verdict with its sample, read from their files |
//! | `summary` | counts and figures of all verdicts |

mod filter;
mod follow;
mod index;
mod record;
mod search;
mod source;
mod summary;

use std::io;
use std::path::PathBuf;

pub(crate) use filter::{Filter, Kind, Sort, Truth};
pub use follow::{Browser, Progress};
pub(crate) use index::sureness;
pub(crate) use record::Record;
pub(crate) use search::{Hits, Search, Within};
pub(crate) use summary::{Figures, Summary};

use crate::eval::EvalError;
use juror_data::DatasetError;

/// Why verdicts cannot be browsed.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum BrowseError {
    /// There is no file.
    #[error(
        "there is neither {} nor {}: give the output of `juror judge`, of a run that goes on too", path.display(), journal.display()
    )]
    Missing { path: PathBuf, journal: PathBuf },
    /// A file cannot be read.
    #[error("could not read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// The first line is not a verdict.
    #[error("{}:{line}: {why}", path.display())]
    NoVerdicts {
        path: PathBuf,
        line: u32,
        why: String,
    },
    /// More verdicts than can be counted.
    #[error("{} has more than 4 billion verdicts: split it", path.display())]
    TooMany { path: PathBuf },
    /// Rows cannot be read.
    #[error(transparent)]
    Input(#[from] DatasetError),
    /// Labels cannot be read.
    #[error(transparent)]
    Labels(#[from] EvalError),
}

impl BrowseError {
    /// Whether the user's input is at fault.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Input(error) => error.is_usage(),
            Self::Labels(error) => error.is_usage(),
            _ => true,
        }
    }
}
