//! Models and data sets from the Hugging Face hub, kept in the cache that its Python library keeps: what one fetched, the other has.
//!
//! Of models only configuration, tokenizer, chat template, and Safetensors or GGUF weights are fetched. Pickled weights never are: reading a
//! pickle runs code. Why this is not the crate `hf-hub`: `docs/decisions/hub.md`.

mod cache;
mod client;
mod data_set;
mod download;
mod error;
mod error_response;
mod hash;
pub mod http;
pub mod layout;
mod name;
mod needed;
mod retry;
mod settings;
mod splits;
mod url;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

use std::path::{Path, PathBuf};

pub use cache::CachedModel;
pub use data_set::{DataSet, DataSetName};
pub use error::HubError;
pub use name::HubId;

use crate::cache::Repository;
use crate::client::{Client, Listing};
use crate::download::Downloads;
use crate::error::Fault;
use crate::name::{Commit, FileName};
use crate::settings::Settings;

/// How much of a model is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// All that a judge needs.
    Everything,
    /// All but the weights: enough to tell what the model is. For a GGUF file it is the whole file.
    Description,
}

/// An event while files are fetched. Bytes are those of the files, not of the network traffic.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// Files will be fetched.
    Expect {
        /// Their size in bytes.
        bytes: u64,
        /// Bytes of them that are already there from an earlier attempt.
        present: u64,
    },
    /// The number of bytes that arrived.
    Received(u64),
    /// The number of bytes thrown away, which have to be fetched again.
    Discarded(u64),
    /// Something the user should know.
    Note(&'a str),
}

/// Receives the events of a download; called from several threads.
pub type Watch<'a> = dyn Fn(Event<'_>) + Sync + 'a;

/// A model in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The commit that its revision stands for.
    pub commit: String,
    /// The folder of its files.
    pub folder: PathBuf,
    /// The GGUF file, if one was asked for; the first one of a model in several files.
    pub file: Option<PathBuf>,
    /// Bytes fetched for it by this call.
    pub fetched: u64,
}

/// The hub and its cache.
#[derive(Debug)]
pub struct Hub {
    settings: Settings,
}

impl Hub {
    /// The hub that the environment names.
    ///
    /// # Errors
    /// If nothing says in which folder to keep models, and for a token file that exists but cannot be read.
    pub fn from_environment() -> Result<Self, HubError> {
        let settings = Settings::read(&|name| std::env::var_os(name))?;
        Ok(Self { settings })
    }

    /// Makes sure that a model is in the cache, and returns where. Files in the cache are not fetched again, except those
    /// that describe the model if their content does not match their name. If the hub cannot be reached, the cache's record
    /// of what the revision stands for is used, and `watch` gets a note.
    ///
    /// # Errors
    /// [`HubError`].
    pub fn fetch(&self, id: &HubId, want: Want, watch: &Watch) -> Result<Snapshot, HubError> {
        match self.take(id, want, false, watch) {
            Err(error) if error.is_unreachable() => {
                let Some(snapshot) = self.cached(id, want, false, &error.to_string())? else {
                    return Err(error.into());
                };
                watch(Event::Note(&format!(
                    "{error}. Taking {} as the cache has it, at commit {}",
                    id.repository(),
                    snapshot.commit
                )));
                Ok(snapshot)
            }
            result => Ok(result?),
        }
    }

    /// The model in the cache, if the cache has what is wanted of it. The hub is not asked.
    ///
    /// # Errors
    /// [`HubError`] for a file in the cache that is damaged.
    pub fn in_cache(&self, id: &HubId, want: Want) -> Result<Option<Snapshot>, HubError> {
        let why = format!("run `juror models pull {id}`");
        Ok(self.cached(id, want, false, &why)?)
    }

    /// As [`Self::fetch`], but all files in the cache are checked, weights too, and a hub that cannot be reached is an error
    /// unless the revision is a complete commit that the cache has all of.
    ///
    /// # Errors
    /// The same.
    pub fn pull(&self, id: &HubId, want: Want, watch: &Watch) -> Result<Snapshot, HubError> {
        Ok(self.take(id, want, true, watch)?)
    }

    /// Every model in the cache that has a `config.json` or a GGUF file, by name.
    ///
    /// # Errors
    /// For a cache that exists but cannot be read.
    pub fn models(&self) -> Result<Vec<CachedModel>, HubError> {
        Ok(cache::models(&self.settings.cache)?)
    }

    /// Takes a model from the cache, fetching what the cache does not have. Files in the cache are checked: those that
    /// describe the model, or everything.
    fn take(
        &self,
        id: &HubId,
        want: Want,
        everything: bool,
        watch: &Watch,
    ) -> Result<Snapshot, Fault> {
        let repository = Repository::new(&self.settings.cache, id);
        if self.settings.offline {
            let command = format!("juror models pull {id}");
            let advice = format!(
                "HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set: unset it, or run `{command}` where there is a network"
            );
            if let Some(snapshot) = self.cached(id, want, everything, &advice)? {
                return Ok(snapshot);
            }
            return Err(Fault::Offline {
                what: match repository.commit_of(id.revision()) {
                    None => id.to_string(),
                    Some(commit) => {
                        format!("{} of {id}", repository.missing(&commit, want).join(", "))
                    }
                },
                command: format!("`{command}`"),
                cache: self.settings.cache.clone(),
            });
        }
        if let Some(commit) = Commit::parse(id.revision())
            && repository.knows_all(&commit, want)
        {
            let files = repository.to_check(&commit, everything);
            if repository.damaged(&commit, &files)?.is_empty() {
                return Ok(repository.into_snapshot(&commit, 0));
            }
        }
        let client = Client::new(&self.settings, watch)?;
        let listing = client.listing(id)?;
        let files = repository.to_check(&listing.commit, everything);
        let damaged = repository.noted_damage(&listing.commit, &files, watch)?;
        let downloads = Downloads {
            client: &client,
            repository: &repository,
            id,
            commit: &listing.commit,
            watch,
        };
        let fetched = download(&downloads, &listing, want, &damaged)?;
        repository.set_reference(id.revision(), &listing.commit)?;
        Ok(repository.into_snapshot(&listing.commit, fetched))
    }

    /// The model in the cache, if the cache has what is wanted; `why` says why nothing can be fetched.
    ///
    /// # Errors
    /// [`Fault::Damaged`] if a checked file does not match its name.
    fn cached(
        &self,
        id: &HubId,
        want: Want,
        everything: bool,
        why: &str,
    ) -> Result<Option<Snapshot>, Fault> {
        let repository = Repository::new(&self.settings.cache, id);
        let commit = repository.commit_of(id.revision());
        let Some(commit) = commit.filter(|commit| repository.missing(commit, want).is_empty())
        else {
            return Ok(None);
        };
        let damaged = repository.damaged(&commit, &repository.to_check(&commit, everything))?;
        match damaged.into_iter().next() {
            Some(damaged) => Err(damaged.error(why.into())),
            None => Ok(Some(repository.into_snapshot(&commit, 0))),
        }
    }
}

/// Fetches what the cache does not have; returns the number of bytes fetched.
fn download(
    downloads: &Downloads,
    listing: &Listing,
    want: Want,
    damaged: &[FileName],
) -> Result<u64, Fault> {
    let (id, repository) = (downloads.id, downloads.repository);
    needed::check(id, &listing.files)?;
    let named = id.files();
    if !named.is_empty() {
        return downloads.fetch(&named, damaged);
    }
    if listing.files.contains(layout::ADAPTER_CONFIG) {
        (downloads.watch)(Event::Note(&format!(
            "{} holds an adapter beside the whole model ({}): it is not applied",
            id.repository(),
            layout::ADAPTER_CONFIG
        )));
    }
    let (there, absent): (Vec<FileName>, Vec<FileName>) = needed::description(&listing.files)
        .into_iter()
        .partition(|file| listing.files.contains(file.as_str()));
    let mut fetched = downloads.fetch(&there, damaged)?;
    if want == Want::Everything {
        let folder = repository.snapshot(&listing.commit);
        fetched += downloads.fetch(&needed::weights(&folder, &listing.files)?, damaged)?;
    }
    // Only now, when the snapshot is otherwise complete.
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

/// A number of bytes in readable units: `16.4 GB`.
pub fn bytes(count: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 999.95 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{count} B"),
        _ => format!("{value:.1} {}", units[unit]),
    }
}

#[cfg(test)]
mod tests;
