//! Models and data sets from the Hugging Face hub, kept in the cache that its Python library keeps: what one fetched, the other has.
//!
//! | file | what it is for |
//! |---|---|
//! | `name` | ids, commits, tags and file names, checked before they become paths |
//! | `settings` | `HF_HOME`, `HF_TOKEN`, `HF_ENDPOINT` and their like |
//! | `client` | the hub's requests over HTTP |
//! | `error_response` | what an error status of the hub means |
//! | `retry` | which errors may pass, and when to try again |
//! | `url` | addresses and redirects |
//! | `download` | files in parallel, each resumable |
//! | `hash` | contents checked against the hashes that name them |
//! | `cache` | the folders `blobs`, `refs`, `snapshots` and their locks |
//! | [`layout`] | a model's files: names, the index of shards, what cannot be run |
//! | `needed` | which of a repository's files a judge needs |
//! | `data_set` | data sets: the name, and the files of one split |
//! | `data_files` | which files of a data set belong to which configuration and split |
//! | `splits` | which split of a data set is meant, and whether all of it is there |
//! | `front_matter` | the configurations that a data set's README tells |
//!
//! Of models only configuration, tokenizer, chat template, and Safetensors or GGUF weights are fetched. Pickled weights never are: reading a
//! pickle runs code. Why this is not the crate `hf-hub`: `docs/decisions/hub.md`.

mod cache;
mod client;
mod data_files;
mod data_set;
mod download;
mod error;
mod error_response;
mod front_matter;
mod hash;
pub mod layout;
mod name;
mod needed;
mod retry;
mod settings;
mod splits;
mod url;

use std::path::{Path, PathBuf};

pub use cache::CachedModel;
pub use data_set::DataSetName;
pub use error::HubError;
pub use name::HubId;
pub use settings::Settings;

use self::cache::Repository;
use self::client::{Client, Listing};
use self::download::{Downloads, damage};
use self::name::{Commit, FileName};

/// How much of a model is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// All that a judge needs.
    Everything,
    /// All but the weights: enough to say what the model is. Of a GGUF file it is all, since that is one.
    Description,
}

/// What happens while files are fetched. Bytes are of the files, not of the wire.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// Files of so many bytes will be fetched, of which so many are there from an earlier attempt.
    Expect {
        /// Bytes of the files.
        bytes: u64,
        /// Bytes of them that are there.
        present: u64,
    },
    /// So many more bytes are there.
    Received(u64),
    /// So many bytes are thrown away: they have to be fetched again.
    Discarded(u64),
    /// Something the user should know.
    Note(&'a str),
}

/// Watches over a download; called from several threads.
pub type Watch<'a> = dyn Fn(Event<'_>) + Sync + 'a;

/// A model in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The commit that its revision stands for.
    pub commit: String,
    /// The folder of its files.
    pub folder: PathBuf,
    /// The GGUF file, where one was asked for: the first of a model in several.
    pub file: Option<PathBuf>,
    /// Bytes that were fetched for it now.
    pub fetched: u64,
}

/// The hub and its cache.
#[derive(Debug)]
pub struct Hub {
    settings: Settings,
}

impl Hub {
    /// The hub with settings of its own.
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    /// The hub that the environment names.
    ///
    /// # Errors
    /// See [`Settings::from_environment`].
    pub fn from_environment() -> Result<Self, HubError> {
        Ok(Self::new(Settings::from_environment()?))
    }

    /// Sees to it that a model is in the cache, and says where. What is there is not fetched again, unless it is a file that
    /// describes the model and whose content is not what its name says. Where the hub cannot be reached, the cache's word for
    /// what the revision stands for is taken, and `watch` gets a note.
    ///
    /// # Errors
    /// [`HubError`].
    pub fn fetch(&self, id: &HubId, want: Want, watch: &Watch) -> Result<Snapshot, HubError> {
        match self.take(id, want, false, watch) {
            Err(error) if error.is_unreachable() => {
                let Some(snapshot) = self.cached(id, want, false, &error.to_string())? else {
                    return Err(error);
                };
                watch(Event::Note(&format!(
                    "{error}. Taking {} as the cache has it, at commit {}",
                    id.repository(),
                    snapshot.commit
                )));
                Ok(snapshot)
            }
            result => result,
        }
    }

    /// As [`Self::fetch`], but everything that is there is checked, weights too, and a hub that cannot be reached is an error
    /// unless the revision is a whole commit that the cache has all of.
    ///
    /// # Errors
    /// The same.
    pub fn pull(&self, id: &HubId, want: Want, watch: &Watch) -> Result<Snapshot, HubError> {
        self.take(id, want, true, watch)
    }

    /// Takes a model from the cache, and from the hub what the cache does not have. Of what is there, the files that
    /// describe the model are checked, or everything.
    fn take(
        &self,
        id: &HubId,
        want: Want,
        everything: bool,
        watch: &Watch,
    ) -> Result<Snapshot, HubError> {
        let repository = Repository::new(&self.settings.cache, id);
        let damaged =
            |commit: &Commit| repository.damaged(commit, &repository.to_check(commit, everything));
        if let Some(commit) = Commit::parse(id.revision())
            && repository.knows_all(&commit, want)
            && !self.settings.offline
            && damaged(&commit)?.is_empty()
        {
            return Ok(repository.into_snapshot(&commit, 0));
        }
        if self.settings.offline {
            let advice = format!(
                "HF_HUB_OFFLINE is set: unset it, or run `juror models pull {id}` where there is a network"
            );
            return match self.cached(id, want, everything, &advice)? {
                Some(snapshot) => Ok(snapshot),
                None => Err(self.offline(id, want)),
            };
        }
        let client = Client::new(&self.settings, watch)?;
        let listing = client.listing(id)?;
        let damaged = damaged(&listing.commit)?;
        for damaged in &damaged {
            watch(Event::Note(&damage(damaged.file.as_str())));
        }
        let damaged: Vec<FileName> = damaged.into_iter().map(|damaged| damaged.file).collect();
        let fetched = download(&client, &repository, id, &listing, want, &damaged, watch)?;
        if listing.commit.as_str() != id.revision() {
            repository.set_reference(id.revision(), &listing.commit)?;
        }
        Ok(repository.into_snapshot(&listing.commit, fetched))
    }

    /// The model as the cache has it, if it has what is wanted; `why` says why nothing can be fetched.
    ///
    /// # Errors
    /// [`HubError::Damaged`] where a file that is looked at is not what its name says.
    fn cached(
        &self,
        id: &HubId,
        want: Want,
        everything: bool,
        why: &str,
    ) -> Result<Option<Snapshot>, HubError> {
        let repository = Repository::new(&self.settings.cache, id);
        let Some(commit) = repository.commit_of(id.revision()) else {
            return Ok(None);
        };
        if !repository.missing(&commit, want).is_empty() {
            return Ok(None);
        }
        let damaged = repository.damaged(&commit, &repository.to_check(&commit, everything))?;
        match damaged.into_iter().next() {
            Some(damaged) => Err(damaged.error(why.into())),
            None => Ok(Some(repository.into_snapshot(&commit, 0))),
        }
    }

    /// What to say where nothing may be fetched and [`Self::cached`] has nothing.
    fn offline(&self, id: &HubId, want: Want) -> HubError {
        let repository = Repository::new(&self.settings.cache, id);
        let what = match repository.commit_of(id.revision()) {
            None => id.to_string(),
            Some(commit) => format!("{} of {id}", repository.missing(&commit, want).join(", ")),
        };
        HubError::Offline {
            command: format!("`juror models pull {id}`"),
            what,
            cache: self.settings.cache.clone(),
        }
    }

    /// Every model in the cache that has a `config.json` or a GGUF file, by name.
    ///
    /// # Errors
    /// [`HubError::Io`] for a cache that is there and cannot be read.
    pub fn models(&self) -> Result<Vec<CachedModel>, HubError> {
        cache::models(&self.settings.cache)
    }
}

/// Fetches what the cache does not have; returns how many bytes came.
fn download(
    client: &Client,
    repository: &Repository,
    id: &HubId,
    listing: &Listing,
    want: Want,
    damaged: &[FileName],
    watch: &Watch,
) -> Result<u64, HubError> {
    needed::check(id, &listing.files)?;
    let downloads = Downloads {
        client,
        repository,
        id,
        commit: &listing.commit,
        watch,
    };
    if id.files().is_empty() && listing.files.contains(layout::ADAPTER_CONFIG) {
        watch(Event::Note(&format!(
            "{} holds an adapter beside the whole model ({}): it is not applied",
            id.repository(),
            layout::ADAPTER_CONFIG
        )));
    }
    if !id.files().is_empty() {
        return downloads.fetch(&id.files(), damaged);
    }
    let (there, absent): (Vec<FileName>, Vec<FileName>) = needed::description(&listing.files)
        .into_iter()
        .partition(|file| listing.files.contains(file.as_str()));
    let mut fetched = downloads.fetch(&there, damaged)?;
    if want == Want::Everything {
        let folder = repository.snapshot(&listing.commit);
        fetched += downloads.fetch(&needed::weights(&folder, &listing.files)?, damaged)?;
    }
    // Only now, as with everything that calls a snapshot whole.
    for file in absent {
        repository.mark_absent(&listing.commit, &file);
    }
    Ok(fetched)
}

/// The model and commit of a folder in a cache of the hub: `org/name@commit`.
pub fn origin(folder: &Path) -> Option<String> {
    let commit = Commit::parse(folder.file_name()?.to_str()?)?;
    let snapshots = folder.parent()?;
    let repository = snapshots.parent()?.file_name()?.to_str()?;
    let id = HubId::of_folder(repository)?;
    (snapshots.file_name()? == "snapshots").then(|| format!("{}@{commit}", id.repository()))
}

/// A number of bytes for people: `16.4 GB`.
pub fn bytes(count: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{count} B")
    } else {
        format!("{value:.1} {}", units[unit])
    }
}

#[cfg(test)]
mod tests;
