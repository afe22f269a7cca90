//! Why a journal cannot be used, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use super::manifest::{self, Difference};

impl JournalError {
    pub(super) fn unreadable(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |source| Self::Read {
            path: path.to_owned(),
            source,
        }
    }
}

/// A journal that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("could not open the journal {}: {source}. It lies beside the output: choose one in a folder that is there and may be written to", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("{} is not a regular file, so a run could not be resumed from it: choose another output", path.display())]
    NotAFile { path: PathBuf },
    #[error("another run is writing {}: wait for it to end, or choose another output", path.display())]
    Locked { path: PathBuf },
    #[error("could not read the journal {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} does not begin like a journal, so it is left alone: choose another output, or move that file away", path.display())]
    NotAJournal { path: PathBuf },
    #[error("{}:{line}: not a verdict: {reason}. Only the last line can be torn by a crash, so the file was changed; remove that line to have its trial judged again, or start over with --restart", path.display())]
    Broken {
        path: PathBuf,
        line: usize,
        reason: String,
    },
    #[error("{}:1: the manifest was changed: {reason}. What the verdicts below were made with is not known: put the file back as it was, or start over with --restart", path.display())]
    Manifest { path: PathBuf, reason: String },
    #[error("{} was begun by a run that has judged nothing yet: run its command again to go on", path.display())]
    NotBegun { path: PathBuf },
    #[error("{} was begun by a different run:\n{}\nUse the earlier settings to go on with it, choose another output, or pass --restart to throw its verdicts away and begin anew", path.display(), manifest::listing(differences, "in the journal", "now"))]
    Different {
        path: PathBuf,
        differences: Vec<Difference>,
    },
    #[error("could not keep verdicts in a temporary file in {}: {source}; make room there, let TMPDIR name another folder, or name an output with `-o`", path.display())]
    Temporary { path: PathBuf, source: io::Error },
    #[error("could not write to the journal {}: {source}. Every verdict before is safe: make room, then run the same command again to go on", path.display())]
    Write { path: PathBuf, source: io::Error },
}
