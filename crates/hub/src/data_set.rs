//! Data sets of the hub: `org/name@revision:config:split`, and the files of that split in the cache.

use std::collections::BTreeSet;
use std::fmt;
use std::io::Read;
use std::path::PathBuf;

use super::cache::Repository;
use super::client::Client;
use super::data_files::{README, splits};
use super::download::{Downloads, damage};
use super::name::{Commit, DEFAULT_REVISION, FileName, HubId};
use super::settings::PUBLIC_ENDPOINT;
use super::splits::{Split, missing_parts, pick};
use super::{Event, Hub, HubError, Watch};

/// The branch on which the hub keeps what it converted to Parquet.
const CONVERTED: &str = "refs/convert/parquet";
/// Files of a repository beyond which the hub lists only a part of them.
const LISTED: usize = 50_000;
/// Bytes of a README, at most.
const MAX_README: u64 = 4 << 20;

/// A data set on the hub, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSetName {
    id: HubId,
    config: Option<String>,
    split: Option<String>,
}

impl DataSetName {
    /// Reads `org/name`, with `@revision`, `:config` and `:split` or without; also behind `datasets/` or `hf://datasets/`, and the
    /// address of a page. `None` if the text is no such name.
    ///
    /// # Errors
    /// [`HubError::Id`] or [`HubError::DataSet`] for what begins as one and cannot be one.
    pub fn parse(text: &str) -> Result<Option<Self>, HubError> {
        let page = format!("{PUBLIC_ENDPOINT}/datasets/");
        let name = if let Some(path) = text.strip_prefix(&page) {
            match of_page(path) {
                Some(name) => name,
                None => return Err(unreadable(text)),
            }
        } else {
            let bare = text.strip_prefix("hf://").unwrap_or(text);
            bare.strip_prefix("datasets/").unwrap_or(bare).to_owned()
        };
        let mut parts = name.split(':').map(str::trim);
        let repository = parts.next().unwrap_or_default();
        let (repository, revision) = match repository.split_once('@') {
            Some((repository, revision)) => (repository, Some(revision)),
            None => (repository, None),
        };
        let Some(id) = HubId::data_set(repository, revision)? else {
            return if Self::is_explicit(text) {
                Err(unreadable(text))
            } else {
                Ok(None)
            };
        };
        let mut part = || {
            parts
                .next()
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
        };
        let (config, split) = (part(), part());
        if parts.next().is_some() {
            return Err(unreadable(text));
        }
        Ok(Some(Self { id, config, split }))
    }

    /// Does a text say itself that it means the hub?
    pub fn is_explicit(text: &str) -> bool {
        text.starts_with("hf://") || text.starts_with(PUBLIC_ENDPOINT)
    }

    /// It with the commit and the split that were found.
    fn found(&self, commit: &Commit, split: &Split) -> String {
        format!(
            "{}@{commit}:{}:{}",
            self.id.repository(),
            split.config,
            split.name
        )
    }

    fn error(&self, message: String) -> HubError {
        HubError::DataSet {
            name: self.to_string(),
            message,
        }
    }
}

impl fmt::Display for DataSetName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.id)?;
        match (&self.config, &self.split) {
            (None, None) => Ok(()),
            (Some(config), None) => write!(f, ":{config}"),
            (config, Some(split)) => {
                write!(f, ":{}:{split}", config.as_deref().unwrap_or_default())
            }
        }
    }
}

/// The name in the path of a page: `org/name`, `org/name/viewer/config/split`, `org/name/tree/revision`.
fn of_page(path: &str) -> Option<String> {
    let path = path.split(['?', '#']).next()?.trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [organisation, name] | [organisation, name, "viewer"] => {
            Some(format!("{organisation}/{name}"))
        }
        [organisation, name, "tree", revision] => Some(format!("{organisation}/{name}@{revision}")),
        [organisation, name, "viewer", config] => Some(format!("{organisation}/{name}:{config}")),
        [organisation, name, "viewer", config, split] => {
            Some(format!("{organisation}/{name}:{config}:{split}"))
        }
        _ => None,
    }
}

fn unreadable(text: &str) -> HubError {
    HubError::DataSet {
        name: text.to_owned(),
        message: "write it as org/name:config:split, with @revision behind the name if it is not the default branch".into(),
    }
}

/// The files of a split of a data set, in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSet {
    /// `org/name@commit:config:split`
    pub origin: String,
    /// In the order in which they are read.
    pub files: Vec<PathBuf>,
    /// Are they what the hub converted to Parquet?
    pub converted: bool,
}

/// A commit of a data set: what it holds.
struct Contents {
    commit: Commit,
    splits: Vec<Split>,
    /// Are these all files of the commit?
    complete: bool,
}

impl Hub {
    /// Sees to it that the files of a split are in the cache, whole and as their hashes say, and says where. Where the hub cannot be
    /// reached, what the cache has is taken, and `watch` gets a note.
    ///
    /// # Errors
    /// [`HubError`].
    pub fn data_set(&self, name: &DataSetName, watch: &Watch) -> Result<DataSet, HubError> {
        if self.settings.offline {
            let why =
                "HF_HUB_OFFLINE is set: unset it, or run the same command where there is a network";
            return self
                .cached_data_set(name, why)?
                .map_err(|what| self.data_set_offline(what));
        }
        match self.take_data_set(name, watch) {
            Err(error) if error.is_unreachable() => {
                let Ok(data_set) = self.cached_data_set(name, &error.to_string())? else {
                    return Err(error);
                };
                watch(Event::Note(&format!(
                    "{error}. Taking the cache's files: {}",
                    data_set.origin
                )));
                Ok(data_set)
            }
            result => result,
        }
    }

    fn data_set_offline(&self, what: String) -> HubError {
        HubError::Offline {
            command: "the same command".into(),
            what,
            cache: self.settings.cache.clone(),
        }
    }

    /// Takes a split from the cache, and from the hub what the cache does not have.
    fn take_data_set(&self, name: &DataSetName, watch: &Watch) -> Result<DataSet, HubError> {
        // A whole commit never changes.
        if Commit::parse(name.id.revision()).is_some()
            && let Ok(Ok(data_set)) = self.cached_data_set(name, "")
        {
            return Ok(data_set);
        }
        let client = Client::new(&self.settings, watch)?;
        let (mut id, mut converted) = (name.id.clone(), false);
        let mut contents = self.contents(name, &client, &id, watch)?;
        if contents.splits.is_empty() || !contents.complete {
            let other = converted_id(&id);
            let and = if other.is_some() {
                format!(", and the hub has converted none ({CONVERTED})")
            } else {
                String::new()
            };
            let what = if contents.complete {
                "has no files of rows that are read (Parquet, JSON lines, JSON, CSV, TSV)"
            } else {
                "has more files than the hub lists"
            };
            let nothing = name.error(format!("{} {what}{and}", id.revision()));
            let Some(other) = other else {
                return Err(nothing);
            };
            id = other;
            converted = true;
            contents = match self.contents(name, &client, &id, watch) {
                Err(HubError::Revision { .. }) => return Err(nothing),
                result => result?,
            };
            if contents.splits.is_empty() {
                return Err(nothing);
            }
        }
        let split = pick_of(name, &contents)?;
        let files = file_names(name, split)?;
        let repository = Repository::new(&self.settings.cache, &id);
        let damaged = repository.damaged(&contents.commit, &files)?;
        for damaged in &damaged {
            watch(Event::Note(&damage(damaged.file.as_str())));
        }
        let damaged: Vec<FileName> = damaged.into_iter().map(|damaged| damaged.file).collect();
        let downloads = Downloads {
            client: &client,
            repository: &repository,
            id: &id,
            commit: &contents.commit,
            watch,
        };
        downloads.fetch(&files, &damaged)?;
        Ok(data_set(
            name,
            &repository,
            &contents.commit,
            split,
            converted,
        ))
    }

    /// What a revision holds, asked of the hub.
    fn contents(
        &self,
        name: &DataSetName,
        client: &Client,
        id: &HubId,
        watch: &Watch,
    ) -> Result<Contents, HubError> {
        let listing = client.listing(id)?;
        let repository = Repository::new(&self.settings.cache, id);
        let complete = is_complete(&listing.files);
        if complete {
            repository.keep_listing(&listing.commit, &listing.files);
        }
        if listing.commit.as_str() != id.revision() {
            repository.set_reference(id.revision(), &listing.commit)?;
        }
        let readme: Vec<FileName> = listing
            .files
            .contains(README)
            .then(|| FileName::parse(README))
            .flatten()
            .into_iter()
            .collect();
        let damaged = repository.damaged(&listing.commit, &readme)?;
        let damaged: Vec<FileName> = damaged.into_iter().map(|damaged| damaged.file).collect();
        let downloads = Downloads {
            client,
            repository: &repository,
            id,
            commit: &listing.commit,
            watch,
        };
        downloads.fetch(&readme, &damaged)?;
        let splits = read_splits(name, &repository, &listing.commit, &listing.files)?;
        Ok(Contents {
            complete,
            commit: listing.commit,
            splits,
        })
    }

    /// The split as the cache has it; else what of it the cache does not have. `why` says why nothing can be fetched.
    ///
    /// # Errors
    /// [`HubError::Damaged`] where a file is not what its name says; [`HubError::DataSet`] where a commit that is known has no such split.
    fn cached_data_set(
        &self,
        name: &DataSetName,
        why: &str,
    ) -> Result<Result<DataSet, String>, HubError> {
        let ids = [Some(name.id.clone()), converted_id(&name.id)];
        let mut lacks = name.to_string();
        for (id, converted) in ids.into_iter().zip([false, true]) {
            let Some(id) = id else { continue };
            let repository = Repository::new(&self.settings.cache, &id);
            let Some(commit) = repository.commit_of(id.revision()) else {
                continue;
            };
            let noted = repository.listing(&commit).filter(is_complete);
            let complete = noted.is_some();
            let files = noted.unwrap_or_else(|| repository.files_of(&commit));
            let contents = Contents {
                splits: read_splits(name, &repository, &commit, &files)?,
                commit,
                complete,
            };
            if contents.splits.is_empty() {
                continue;
            }
            let split = match pick_of(name, &contents) {
                Ok(split) => split,
                Err(error) if complete => return Err(error),
                Err(_) => continue,
            };
            let names = file_names(name, split)?;
            let absent = names
                .iter()
                .find(|file| !repository.has(&contents.commit, file.as_str()));
            // Of what another program fetched nothing says whether it is all.
            let absent = absent
                .map(ToString::to_string)
                .or_else(|| missing_parts(&split.files));
            if let Some(file) = absent {
                lacks = format!("{file} of {name}");
                continue;
            }
            if let Some(damaged) = repository
                .damaged(&contents.commit, &names)?
                .into_iter()
                .next()
            {
                return Err(damaged.error(why.into()));
            }
            return Ok(Ok(data_set(
                name,
                &repository,
                &contents.commit,
                split,
                converted,
            )));
        }
        Ok(Err(lacks))
    }
}

/// Does a listing hold all files of its commit?
fn is_complete(files: &BTreeSet<String>) -> bool {
    files.len() < LISTED
}

/// The splits of a commit whose README, if it has one, is in the cache.
fn read_splits(
    name: &DataSetName,
    repository: &Repository,
    commit: &Commit,
    files: &BTreeSet<String>,
) -> Result<Vec<Split>, HubError> {
    let mut text = Vec::new();
    let file = std::fs::File::open(repository.snapshot(commit).join(README));
    let read = file.and_then(|file| file.take(MAX_README + 1).read_to_end(&mut text));
    if text.len() as u64 > MAX_README {
        return Err(name.error(format!(
            "its {README} is longer than {} MiB, and is not read",
            MAX_README >> 20
        )));
    }
    let text = read.ok().map(|_| String::from_utf8_lossy(&text));
    splits(files, text.as_deref(), name.config.as_deref()).map_err(|why| name.error(why))
}

fn pick_of<'c>(name: &DataSetName, contents: &'c Contents) -> Result<&'c Split, HubError> {
    pick(
        &contents.splits,
        name.config.as_deref(),
        name.split.as_deref(),
    )
    .map_err(|why| name.error(why))
}

/// Where the hub keeps what it converted of the default branch.
fn converted_id(id: &HubId) -> Option<HubId> {
    let default = id.revision() == DEFAULT_REVISION;
    let converted = HubId::data_set(id.repository(), Some(CONVERTED));
    converted.ok().flatten().filter(|_| default)
}

fn file_names(name: &DataSetName, split: &Split) -> Result<Vec<FileName>, HubError> {
    let parse = |file: &String| {
        FileName::parse_path(file).ok_or_else(|| {
            name.error(format!(
                "its file {file:?} has a name that cannot be one on every disk"
            ))
        })
    };
    split.files.iter().map(parse).collect()
}

fn data_set(
    name: &DataSetName,
    repository: &Repository,
    commit: &Commit,
    split: &Split,
    converted: bool,
) -> DataSet {
    let folder = repository.snapshot(commit);
    DataSet {
        origin: name.found(commit, split),
        files: split.files.iter().map(|file| folder.join(file)).collect(),
        converted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_at_the_limit_is_not_all() {
        let files = |count: usize| (0..count).map(|at| at.to_string()).collect();
        assert!(is_complete(&files(LISTED - 1)) && !is_complete(&files(LISTED)));
    }

    #[test]
    fn a_readme_is_read_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let name = DataSetName::parse("org/name").unwrap().unwrap();
        let repository = Repository::new(folder.path(), &name.id);
        let commit = Commit::parse(&"a".repeat(40)).unwrap();
        let place = repository.snapshot(&commit);
        std::fs::create_dir_all(&place).unwrap();
        let files = BTreeSet::from(["test.csv".to_owned()]);
        for (bytes, is_read) in [(MAX_README, true), (MAX_README + 1, false)] {
            std::fs::write(place.join(README), vec![b'#'; bytes as usize]).unwrap();
            let splits = read_splits(&name, &repository, &commit, &files);
            assert_eq!(splits.is_ok(), is_read, "{bytes}");
        }
    }

    #[test]
    fn names_of_data_sets_are_told_from_paths() {
        let shown = |text: &str| {
            DataSetName::parse(text)
                .unwrap()
                .map(|name| name.to_string())
        };
        for (text, expected) in [
            ("openai/gsm8k", "openai/gsm8k"),
            ("openai/gsm8k:main:test", "openai/gsm8k:main:test"),
            ("openai/gsm8k@v1:main", "openai/gsm8k@v1:main"),
            (
                "openai/gsm8k@refs/convert/parquet::test",
                "openai/gsm8k@refs/convert/parquet::test",
            ),
            ("datasets/openai/gsm8k:main:", "openai/gsm8k:main"),
            (
                "hf://datasets/openai/gsm8k@main:main:test",
                "openai/gsm8k:main:test",
            ),
            (
                "https://huggingface.co/datasets/openai/gsm8k/viewer/main/test?row=3",
                "openai/gsm8k:main:test",
            ),
            (
                "https://huggingface.co/datasets/openai/gsm8k/tree/v1/",
                "openai/gsm8k@v1",
            ),
        ] {
            assert_eq!(shown(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["rows", "a/b/c", "./a/b", "-", "C:/rows", "a//b:c"] {
            assert_eq!(shown(text), None, "{text}");
        }
        for text in [
            "a/b:c:d:e",
            "a/b@..:c",
            "https://huggingface.co/datasets/a/b/blob/main/x.csv",
            "hf://datasets/a",
        ] {
            assert!(DataSetName::parse(text).is_err(), "{text}");
        }
    }
}
