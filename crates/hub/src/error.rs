//! Errors of the hub and its cache.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::bytes;
use crate::name::RepositoryKind;
use crate::retry::duration_in_words;

/// An error of the hub or of its cache: its text says what happened, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct HubError(#[from] Fault);

impl HubError {
    /// Whether the user's request is at fault, not the network.
    pub fn is_usage(&self) -> bool {
        matches!(
            self.0,
            Fault::Id { .. }
                | Fault::Repository { .. }
                | Fault::Revision { .. }
                | Fault::NoCheckpoint { .. }
                | Fault::Index { .. }
                | Fault::DataSet { .. }
                | Fault::Unconverted { .. }
                | Fault::Gated { .. }
                | Fault::Token { .. }
                | Fault::Offline { .. }
                | Fault::Damaged { .. }
        )
    }

    /// Whether the model was found but its index of shards cannot be read.
    pub fn is_index(&self) -> bool {
        matches!(self.0, Fault::Index { .. })
    }
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("`{name}` is not a hub id: {message}; write org/name or org/name@revision")]
    Id { name: String, message: String },
    #[error(
        "{endpoint} has no {} `{id}`, or hides it, and there is no {} of that name: check the spelling; if it is \
         private or gated, accept its licence at {page} and set HF_TOKEN to a token of yours that may read it",
        kind.noun(), kind.local()
    )]
    Repository {
        kind: RepositoryKind,
        id: String,
        endpoint: String,
        page: String,
    },
    #[error(
        "{id} has no branch, tag or commit `{revision}`: see {page}/tree/main for those it has"
    )]
    Revision {
        id: String,
        revision: String,
        page: String,
    },
    #[error(
        "{id} has no file {file} at `{revision}`: the repository is incomplete, or was changed just now; try again"
    )]
    File {
        id: String,
        revision: String,
        file: String,
    },
    /// The repository holds no checkpoint that can be run.
    #[error("{id}@{revision} {message}")]
    NoCheckpoint {
        id: String,
        revision: String,
        message: String,
    },
    /// An index of shards that cannot be read, or names something other than shards.
    #[error("{}: {message}", path.display())]
    Index { path: PathBuf, message: String },
    #[error("data set {name}: {message}")]
    DataSet { name: String, message: String },
    #[error("data set {name}: {what}; {advice}")]
    Unconverted {
        name: String,
        what: String,
        advice: String,
    },
    #[error("{id} is gated: accept its licence at {page}, then {}{}", token_advice(*.with_token), remark(.said))]
    Gated {
        id: String,
        page: String,
        with_token: bool,
        said: String,
    },
    #[error(
        "the hub's token is refused: {message}; make one at {endpoint}/settings/tokens and set HF_TOKEN, or unset it"
    )]
    Token { endpoint: String, message: String },
    #[error(
        "could not reach {host}: {message}; check the network (HTTPS_PROXY and HF_ENDPOINT are respected) and try again"
    )]
    Unreachable { host: String, message: String },
    #[error("HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set, and the cache {} has no {what}: unset it, or run {command} where there is a network", cache.display())]
    Offline {
        command: String,
        what: String,
        cache: PathBuf,
    },
    /// An answer with an error status.
    #[error("{}; {}", self.what_happened(), when(*.wait))]
    Status {
        url: String,
        status: u16,
        message: String,
        /// How long the server asks to wait, if that is longer than the limit.
        wait: Option<Duration>,
    },
    #[error("{url}: {message}; is HF_ENDPOINT a Hugging Face hub?")]
    Protocol { url: String, message: String },
    #[error(
        "{file}: the {kind} of what came is {found}, the hub says {expected}; it was deleted. Try again; if it comes back, \
         something between here and the hub changes files"
    )]
    Hash {
        file: String,
        kind: &'static str,
        expected: String,
        found: String,
    },
    #[error(
        "{} is damaged: the content's {kind} is {found}, not {expected} as its name says; and it cannot be fetched again: {why}",
        path.display()
    )]
    Damaged {
        path: PathBuf,
        kind: &'static str,
        expected: String,
        found: String,
        why: String,
    },
    /// The disk has no room for the files; with the bytes that are needed and free, if known.
    #[error(
        "no room in {}: {}. Free some, or set HF_HUB_CACHE to a folder on a larger disk; what came is kept, and the download \
         goes on from there", folder.display(), how_full(*.room)
    )]
    DiskFull {
        folder: PathBuf,
        room: Option<(u64, u64)>,
    },
    #[error("{}: {source}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("there is no home folder to keep downloads in: set HF_HOME")]
    NoHome,
}

impl Fault {
    /// Whether the hub could not be asked, so that the cache may be used instead.
    pub(crate) fn is_unreachable(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Status { status, .. } => *status >= 500 || *status == 429,
            _ => false,
        }
    }

    pub(crate) fn is_unconverted(&self) -> bool {
        matches!(self, Self::Unconverted { .. })
    }

    /// Adds what the cache lacks of a data set that the hub has not converted.
    pub(crate) fn with_lack(mut self, lack: Option<String>) -> Self {
        if let (Self::Unconverted { advice, .. }, Some(lack)) = (&mut self, lack) {
            *advice = format!("{advice} (the cache has no {lack})");
        }
        self
    }

    /// What happened, without the advice.
    pub(crate) fn what_happened(&self) -> String {
        match self {
            Self::Status {
                url,
                status,
                message,
                ..
            } => format!("{url}: the server answered {status}{}", remark(message)),
            Self::Unconverted { name, what, .. } => format!("data set {name}: {what}"),
            Self::Unreachable { host, message } => format!("could not reach {host}: {message}"),
            Self::Protocol { url, message } => format!("{url}: {message}"),
            other => other.to_string(),
        }
    }

    /// The error for a server that asks to wait longer than the limit.
    pub(crate) fn asked_to_wait(mut self, time: Duration) -> Self {
        if let Self::Status { wait, .. } = &mut self {
            *wait = Some(time);
        }
        self
    }

    /// An error of the file system; a full disk is an error of its own.
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        use std::io::ErrorKind;
        let path = path.to_owned();
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::DiskFull {
                folder: path.parent().unwrap_or(&path).into(),
                room: None,
            },
            _ => Self::Io { path, source },
        }
    }
}

fn token_advice(with_token: bool) -> &'static str {
    if with_token {
        "use a token of that account: the one that was sent (HF_TOKEN, or the token file) may not read it"
    } else {
        "set HF_TOKEN to a token of that account (or run `hf auth login`)"
    }
}

fn remark(said: &str) -> String {
    if said.is_empty() {
        String::new()
    } else {
        format!(" ({said})")
    }
}

fn when(wait: Option<Duration>) -> String {
    match wait.map(duration_in_words) {
        None => "try again later".into(),
        Some(wait) => format!("it asks to wait {wait}: try again then"),
    }
}

fn how_full(room: Option<(u64, u64)>) -> String {
    match room.map(|(needed, free)| (bytes(needed), bytes(free))) {
        Some((needed, free)) => format!("{needed} are to come, {free} are free"),
        None => "the disk is full".into(),
    }
}
