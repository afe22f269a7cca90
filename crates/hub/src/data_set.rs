//! Data sets of the hub: `org/name@revision:config:split`, and the files of that split in the cache.

use std::fmt;
use std::path::PathBuf;

use crate::cache::Repository;
use crate::client::Client;
use crate::download::Downloads;
use crate::error::{Fault, HubError};
use crate::name::{Commit, DEFAULT_REVISION, FileName, HubId};
use crate::settings::PUBLIC_ENDPOINT;
use crate::splits::{Layout, PARTIAL, Split, pick, splits};
use crate::{Event, Hub, Watch};

/// The branch on which the hub keeps its conversions to Parquet.
const CONVERTED: &str = "refs/convert/parquet";
/// The number of files in a repository beyond which the hub lists only a part.
const LISTED: usize = 50_000;

/// A data set on the hub, as the user names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSetName {
    id: HubId,
    config: Option<String>,
    split: Option<String>,
}

impl DataSetName {
    /// Parses `org/name`, optionally with `@revision`, `:config` and `:split`; also after `datasets/` or `hf://datasets/`,
    /// or in the address of a page. `None` if the text is not such a name.
    ///
    /// # Errors
    /// [`HubError`] for a text that begins like one but cannot be one.
    pub fn parse(text: &str) -> Result<Option<Self>, HubError> {
        let page = format!("{PUBLIC_ENDPOINT}/datasets/");
        let name = if let Some(path) = text.strip_prefix(&page) {
            of_page(path).ok_or_else(|| unreadable(text))?
        } else {
            let bare = text.strip_prefix("hf://").unwrap_or(text);
            bare.strip_prefix("datasets/").unwrap_or(bare).to_owned()
        };
        let mut parts = name.split(':').map(str::trim);
        let Some(id) = HubId::data_set(parts.next().unwrap_or_default())? else {
            let is_explicit = Self::is_explicit(text);
            return is_explicit.then(|| Err(unreadable(text))).transpose();
        };
        let mut part = || Some(parts.next()?.to_owned()).filter(|part| !part.is_empty());
        let (config, split) = (part(), part());
        if parts.next().is_some() {
            return Err(unreadable(text));
        }
        Ok(Some(Self { id, config, split }))
    }

    /// Whether a text explicitly refers to the hub.
    pub fn is_explicit(text: &str) -> bool {
        text.starts_with("hf://") || text.starts_with(PUBLIC_ENDPOINT)
    }

    /// The repository of the hub's conversion; a revision that the user gave must itself be one of converted files.
    fn converted(&self) -> HubId {
        match self.id.revision() {
            DEFAULT_REVISION => self.id.at(CONVERTED),
            _ => self.id.clone(),
        }
    }

    /// The error that the hub has not converted the data set, with advice on how to get its files.
    fn unconverted(&self) -> Fault {
        let (what, advice) = match self.id.revision() {
            DEFAULT_REVISION | CONVERTED => (
                format!("the hub has converted none of it to Parquet ({CONVERTED})"),
                self.advice(""),
            ),
            told => (
                format!(
                    "the hub converts the default branch alone to Parquet, and `{told}` is no commit of what it converted"
                ),
                format!(
                    "leave `@{told}` out, or {}",
                    self.advice(&format!(" --revision {told}"))
                ),
            ),
        };
        let name = self.to_string();
        Fault::Unconverted { name, what, advice }
    }

    /// Advice on how to get the files without the hub's conversion.
    fn advice(&self, revision: &str) -> String {
        format!(
            "fetch its files with `hf download {} --repo-type dataset{revision}`, and give them by path",
            self.id.repository()
        )
    }

    fn pick<'s>(&self, splits: &'s [Split]) -> Result<&'s Split, Fault> {
        let picked = pick(splits, self.config.as_deref(), self.split.as_deref());
        picked.map_err(|why| self.error(why))
    }

    fn files(&self, split: &Split) -> Result<Vec<FileName>, Fault> {
        let parse = |file: &String| {
            FileName::parse_path(file).ok_or_else(|| {
                self.error(format!(
                    "its file {file:?} has a name that cannot be one on every disk"
                ))
            })
        };
        split.files.iter().map(parse).collect()
    }

    fn found(&self, place: &Repository, commit: &Commit, split: &Split, by: Layout) -> DataSet {
        let Split { config, name, .. } = split;
        let folder = place.snapshot(commit);
        DataSet {
            origin: format!("{}@{commit}:{config}:{name}", self.id.repository()),
            files: split.files.iter().map(|file| folder.join(file)).collect(),
            converted: by == Layout::Converted,
        }
    }

    fn error(&self, message: String) -> Fault {
        Fault::DataSet {
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

/// The name in the path of a page's address: `org/name`, `org/name/viewer/config/split`, `org/name/tree/revision`.
fn of_page(path: &str) -> Option<String> {
    let path = path.split(['?', '#']).next()?.trim_end_matches('/');
    let parts: Vec<&str> = path.split('/').collect();
    let [organisation, name, rest @ ..] = parts.as_slice() else {
        return None;
    };
    let rest = match rest {
        [] | ["viewer"] => String::new(),
        ["tree", revision] => format!("@{revision}"),
        ["viewer", config] => format!(":{config}"),
        ["viewer", config, split] => format!(":{config}:{split}"),
        _ => return None,
    };
    Some(format!("{organisation}/{name}{rest}"))
}

fn unreadable(text: &str) -> HubError {
    HubError::from(Fault::DataSet {
        name: text.to_owned(),
        message: "write it as org/name:config:split, with @revision after the name if it is not the default branch".into(),
    })
}

/// The files of a split of a data set, in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataSet {
    /// `org/name@commit:config:split`
    pub origin: String,
    /// The files in reading order.
    pub files: Vec<PathBuf>,
    /// Whether they are the hub's conversion to Parquet.
    pub converted: bool,
}

impl Hub {
    /// Makes sure that the files of a split are in the cache, whole and with the right hashes, and returns their paths. They
    /// are the hub's conversion to Parquet. If there is none, or the hub cannot be reached, the files in the cache are used,
    /// and `watch` gets a note; it also gets one for a split that is cut short.
    ///
    /// # Errors
    /// [`HubError`].
    pub fn data_set(&self, name: &DataSetName, watch: &Watch) -> Result<DataSet, HubError> {
        let found = if self.settings.offline {
            let why = "HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set: unset it, or run the same command where there is a network";
            self.cached_data_set(name, why)?
        } else {
            match self.take_data_set(name, watch) {
                Err(error) if error.is_unreachable() || error.is_unconverted() => {
                    let found = match self.cached_data_set(name, &error.to_string()) {
                        // If the cache has other parts of the data set, the error says what is missing.
                        Err(Fault::Offline { what, .. }) => {
                            let also = Some(what).filter(|what| *what != name.to_string());
                            return Err(error.with_lack(also).into());
                        }
                        Err(other) if error.is_unreachable() && other.is_unconverted() => {
                            return Err(error.into());
                        }
                        result => result?,
                    };
                    let (why, origin) = (error.what_happened(), &found.origin);
                    watch(Event::Note(&format!(
                        "{why}. Taking the cache's files: {origin}"
                    )));
                    found
                }
                result => result?,
            }
        };
        let split = found.origin.rsplit(':').next();
        if split.is_some_and(|split| split.starts_with(PARTIAL)) {
            watch(Event::Note(&format!(
                "{} is cut short: of a large split the hub converts the beginning alone. For all of it {}",
                found.origin,
                name.advice("")
            )));
        }
        Ok(found)
    }

    /// Takes a split from the cache, fetching what the cache does not have.
    fn take_data_set(&self, name: &DataSetName, watch: &Watch) -> Result<DataSet, Fault> {
        // A complete commit never changes.
        if Commit::parse(name.id.revision()).is_some()
            && let Ok(data_set) = self.cached_data_set(name, "")
        {
            return Ok(data_set);
        }
        let client = Client::new(&self.settings, watch)?;
        let id = name.converted();
        let listing = match client.listing(&id) {
            Err(Fault::Revision { .. }) if id.revision() == CONVERTED => {
                return Err(name.unconverted());
            }
            result => result?,
        };
        if listing.files.len() >= LISTED {
            let advice = name.advice("");
            return Err(name.error(format!("it has more files than the hub lists: {advice}")));
        }
        let splits = splits(&listing.files, Layout::Converted);
        if splits.is_empty() {
            return Err(name.unconverted());
        }
        let repository = Repository::new(&self.settings.cache, &id);
        repository.keep_listing(&listing.commit, &listing.files);
        repository.set_reference(id.revision(), &listing.commit)?;
        let split = name.pick(&splits)?;
        if let Some(file) = &split.lacks {
            return Err(name.error(format!(
                "the hub's conversion has no {file}: it may be under way, try again later"
            )));
        }
        let files = name.files(split)?;
        let damaged = repository.noted_damage(&listing.commit, &files, watch)?;
        let downloads = Downloads {
            client: &client,
            repository: &repository,
            id: &id,
            commit: &listing.commit,
            watch,
        };
        downloads.fetch(&files, &damaged)?;
        Ok(name.found(&repository, &listing.commit, split, Layout::Converted))
    }

    /// The split in the cache. `why` says why nothing can be fetched.
    ///
    /// # Errors
    /// [`Fault::Offline`] if the cache does not have all of it; [`Fault::Damaged`] if a file does not match its name;
    /// [`Fault::DataSet`] if a known commit has no such split; [`Fault::Unconverted`] if nothing tells which files belong to
    /// which split.
    fn cached_data_set(&self, name: &DataSetName, why: &str) -> Result<DataSet, Fault> {
        let (mut lacks, mut unread) = (None, None);
        for (id, layout) in [
            (name.converted(), Layout::Converted),
            (name.id.clone(), Layout::Pushed),
        ] {
            let repository = Repository::new(&self.settings.cache, &id);
            let Some(commit) = repository.commit_of(id.revision()) else {
                continue;
            };
            // For files that another program fetched, only the numbers in their names tell whether all are there.
            let noted = Some(&commit).filter(|_| layout == Layout::Converted);
            let noted = noted.and_then(|commit| repository.listing(commit));
            let is_noted = noted.is_some();
            let files = noted.unwrap_or_else(|| repository.files_of(&commit));
            let splits = splits(&files, layout);
            if splits.is_empty() {
                unread =
                    unread.or_else(|| (!files.is_empty()).then(|| repository.snapshot(&commit)));
                continue;
            }
            let split = match name.pick(&splits) {
                Err(Fault::DataSet { message, .. }) if !is_noted => {
                    lacks = Some(format!("{name} ({message})"));
                    continue;
                }
                result => result?,
            };
            let files = name.files(split)?;
            let mut names = split.files.iter();
            let absent = names.find(|file| !repository.has(&commit, file));
            if let Some(file) = absent.or(split.lacks.as_ref()) {
                lacks = Some(format!("{file} of {name}"));
                continue;
            }
            return match repository.damaged(&commit, &files)?.into_iter().next() {
                Some(damaged) => Err(damaged.error(why.into())),
                None => Ok(name.found(&repository, &commit, split, layout)),
            };
        }
        Err(match (lacks, unread) {
            (None, Some(folder)) => Fault::Unconverted {
                name: name.to_string(),
                what: "no names of its files in the cache tell which splits they are".into(),
                advice: format!("give them by path, from {}", folder.display()),
            },
            (lacks, _) => Fault::Offline {
                command: "the same command".into(),
                what: lacks.unwrap_or_else(|| name.to_string()),
                cache: self.settings.cache.clone(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::*;

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
