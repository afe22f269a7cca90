//! Errors between a hub id and the files on disk.

use std::path::PathBuf;
use std::time::Duration;

use super::bytes;
use super::name::RepositoryKind;

/// An error of the hub or of its cache: what happened, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// Something that is meant as a hub id and cannot be one.
    #[error("`{name}` is not a hub id: {message}; write org/name or org/name@revision")]
    Id {
        /// What was asked for.
        name: String,
        /// What is wrong with it.
        message: String,
    },
    /// The hub has no such repository, or does not show it to this user.
    #[error(
        "{endpoint} has no {} `{id}`, or hides it, and there is no {} of that name: check the spelling; if it is \
         private or gated, accept its licence at {page} and set HF_TOKEN to a token of yours that may read it",
        kind.noun(), kind.local()
    )]
    Repository {
        /// What was asked for.
        kind: RepositoryKind,
        /// `org/name`
        id: String,
        /// The hub.
        endpoint: String,
        /// Its page on the hub.
        page: String,
    },
    /// The repository has no such branch, tag or commit.
    #[error(
        "{id} has no branch, tag or commit `{revision}`: see {page}/tree/main for those it has"
    )]
    Revision {
        /// `org/name`
        id: String,
        /// What was asked for.
        revision: String,
        /// Its page on the hub.
        page: String,
    },
    /// A file that the hub lists and does not have.
    #[error(
        "{id} has no file {file} at `{revision}`: the repository is incomplete, or was changed just now; try again"
    )]
    File {
        /// `org/name`
        id: String,
        /// The revision asked for.
        revision: String,
        /// The file.
        file: String,
    },
    /// What the repository holds is no checkpoint that can be run.
    #[error("{id}@{revision} {message}")]
    NoCheckpoint {
        /// `org/name`
        id: String,
        /// The revision asked for.
        revision: String,
        /// What is missing, and what to do.
        message: String,
    },
    /// An index of shards that cannot be read, or names what is no shard.
    #[error("{}: {message}", path.display())]
    Index {
        /// The index.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// The data set has no such configuration or split, or no files that are read.
    #[error("data set {name}: {message}")]
    DataSet {
        /// As it was asked for.
        name: String,
        /// What is missing, and what there is.
        message: String,
    },
    /// The repository is given only to those who accept its licence.
    #[error("{id} is gated: accept its licence at {page}, then {}{}", token_advice(*.with_token), remark(.said))]
    Gated {
        /// `org/name`
        id: String,
        /// Its page on the hub.
        page: String,
        /// Whether a token was sent.
        with_token: bool,
        /// What the hub said.
        said: String,
    },
    /// The token is not the hub's, expired, or cannot be sent at all.
    #[error(
        "the hub's token is refused: {message}; make one at {endpoint}/settings/tokens and set HF_TOKEN, or unset it"
    )]
    Token {
        /// The hub.
        endpoint: String,
        /// Why.
        message: String,
    },
    /// No answer from the hub, after several attempts.
    #[error(
        "could not reach {host}: {message}; check the network (HTTPS_PROXY and HF_ENDPOINT are respected) and try again"
    )]
    Unreachable {
        /// The server.
        host: String,
        /// What failed.
        message: String,
    },
    /// Nothing may be fetched, and the cache does not have it.
    #[error("HF_HUB_OFFLINE is set, and the cache {} has no {what}: unset it, or run {command} where there is a network", cache.display())]
    Offline {
        /// What fetches it.
        command: String,
        /// What is not there.
        what: String,
        /// The cache's folder.
        cache: PathBuf,
    },
    /// An answer that means failure.
    #[error("{}; {}", self.what_happened(), when(*.wait))]
    Status {
        /// What was asked for, without its query.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What the server said.
        message: String,
        /// How long it asks to wait, where that is longer than anybody waits for it here.
        wait: Option<Duration>,
    },
    /// An answer that no hub gives.
    #[error("{url}: {message}; is HF_ENDPOINT a Hugging Face hub?")]
    Protocol {
        /// What was asked for, without its query.
        url: String,
        /// What is wrong with the answer.
        message: String,
    },
    /// A file's content is not what the hub says it is.
    #[error(
        "{file}: the {kind} of what came is {found}, the hub says {expected}; it was deleted. Try again; if it comes back, \
         something between here and the hub changes files"
    )]
    Hash {
        /// The file.
        file: String,
        /// Which hash: SHA-256, or git's.
        kind: &'static str,
        /// By the hub.
        expected: String,
        /// Of what came.
        found: String,
    },
    /// A file in the cache is not what its name says, and cannot be fetched again.
    #[error(
        "{} is damaged: the content's {kind} is {found}, not {expected} as its name says; and it cannot be fetched again: {why}",
        path.display()
    )]
    Damaged {
        /// The file in the cache.
        path: PathBuf,
        /// Which hash: SHA-256, or git's.
        kind: &'static str,
        /// By its name.
        expected: String,
        /// Of what is there.
        found: String,
        /// Why it is not fetched again, and what to do.
        why: String,
    },
    /// There is no room for the files.
    #[error(
        "no room in {}: {}. Free some, or set HF_HUB_CACHE to a folder on a larger disk; what came is kept, and the download \
         goes on from there", folder.display(), room(*.needed, *.free)
    )]
    DiskFull {
        /// The cache's folder.
        folder: PathBuf,
        /// Bytes still to come, if known.
        needed: Option<u64>,
        /// Bytes free, if known.
        free: Option<u64>,
    },
    /// The cache cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's word.
        #[source]
        source: std::io::Error,
    },
    /// No folder for the cache.
    #[error("there is no home folder to keep downloads in: set HF_HOME")]
    NoHome,
}

impl HubError {
    /// Whether the hub could not be asked, so that the cache may stand in for it.
    pub fn is_unreachable(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Status { status, .. } => *status >= 500 || *status == 429,
            _ => false,
        }
    }

    /// Whether what was asked for is at fault, not the way there.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Id { .. }
                | Self::Repository { .. }
                | Self::Revision { .. }
                | Self::NoCheckpoint { .. }
                | Self::Index { .. }
                | Self::DataSet { .. }
                | Self::Gated { .. }
                | Self::Token { .. }
                | Self::Offline { .. }
                | Self::Damaged { .. }
        )
    }

    /// What happened, without what to do.
    pub(super) fn what_happened(&self) -> String {
        match self {
            Self::Status {
                url,
                status,
                message,
                ..
            } => format!("{url}: the server answered {status}{}", remark(message)),
            other => other.to_string(),
        }
    }

    /// The error of a server that asks for more patience than there is.
    pub(super) fn asked_to_wait(mut self, time: Duration) -> Self {
        if let Self::Status { wait, .. } = &mut self {
            *wait = Some(time);
        }
        self
    }

    /// An error of the file system; a full disk is an error of its own.
    pub(super) fn io(path: &std::path::Path, source: std::io::Error) -> Self {
        use std::io::ErrorKind;
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::DiskFull {
                folder: path.parent().unwrap_or(path).into(),
                needed: None,
                free: None,
            },
            _ => Self::Io {
                path: path.into(),
                source,
            },
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
    match wait {
        None => "try again later".into(),
        Some(wait) => format!(
            "it asks to wait {}: try again then",
            super::retry::duration_in_words(wait)
        ),
    }
}

fn room(needed: Option<u64>, free: Option<u64>) -> String {
    match (needed, free) {
        (Some(needed), Some(free)) => {
            format!("{} are to come, {} are free", bytes(needed), bytes(free))
        }
        _ => "the disk is full".into(),
    }
}
