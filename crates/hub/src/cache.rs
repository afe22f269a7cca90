//! The cache on disk, in the layout that the hub's Python library has:
//!
//! ```text
//! models--org--name/blobs/TAG                content, by its ETag; TAG.incomplete while it comes
//! models--org--name/refs/main                the commit that a branch or tag stood for when it was last asked
//! models--org--name/snapshots/COMMIT/FILE    a link to ../../blobs/TAG
//! models--org--name/.no_exist/COMMIT/FILE    empty: the commit is known not to have this file
//! models--org--name/.files/COMMIT            of data sets: the names of all files of the commit, as a JSON list
//! .locks/models--org--name/TAG.lock          locked while TAG comes
//! ```

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::download::in_parallel;
use super::hash::{Hash, other_hash};
use super::name::{Commit, ETag, FileName, HubId};
use super::needed::DESCRIPTION;
use super::{Event, HubError, Snapshot, Want, Watch};
use crate::layout::{self, CONFIG_FILE, WEIGHTS_INDEX, is_gguf};

/// A repository's part of the cache.
pub(super) struct Repository {
    folder: PathBuf,
    locks: PathBuf,
    /// The GGUF files that are meant instead of a checkpoint.
    files: Vec<FileName>,
}

impl Repository {
    pub(super) fn new(cache: &Path, id: &HubId) -> Self {
        Self {
            folder: cache.join(id.folder()),
            locks: cache.join(".locks").join(id.folder()),
            files: id.files(),
        }
    }

    /// The content that a tag names.
    pub(super) fn blob(&self, tag: &ETag) -> PathBuf {
        self.folder.join("blobs").join(tag.as_str())
    }

    /// The part of it that has come.
    pub(super) fn incomplete(&self, tag: &ETag) -> PathBuf {
        self.folder
            .join("blobs")
            .join(format!("{}.incomplete", tag.as_str()))
    }

    /// The files of a commit.
    pub(super) fn snapshot(&self, commit: &Commit) -> PathBuf {
        self.folder.join("snapshots").join(commit.as_str())
    }

    /// Whether a file of a commit is there.
    pub(super) fn has(&self, commit: &Commit, file: &str) -> bool {
        self.snapshot(commit).join(file).is_file()
    }

    pub(super) fn into_snapshot(self, commit: &Commit, fetched: u64) -> Snapshot {
        let folder = self.snapshot(commit);
        Snapshot {
            commit: commit.to_string(),
            file: self.files.first().map(|file| folder.join(file.as_str())),
            folder,
            fetched,
        }
    }

    /// The commit that a revision stood for when the hub was last asked; a commit may be shortened to 7 digits or more.
    pub(super) fn commit_of(&self, revision: &str) -> Option<Commit> {
        if let Some(commit) = Commit::parse(revision) {
            return Some(commit);
        }
        if let Some(commit) = noted_commit(&self.folder.join("refs").join(revision)) {
            return Some(commit);
        }
        if revision.len() < 7 || !revision.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut commits = self.commits().into_iter();
        let mut matching = commits
            .by_ref()
            .filter(|commit| commit.as_str().starts_with(revision));
        let commit = matching.next()?;
        matching.next().is_none().then_some(commit)
    }

    /// Notes which commit a branch or tag stands for.
    pub(super) fn set_reference(&self, revision: &str, commit: &Commit) -> Result<(), HubError> {
        let path = self.folder.join("refs").join(revision);
        // A cache that cannot be written serves as long as it is right.
        if noted_commit(&path).as_ref() == Some(commit) {
            return Ok(());
        }
        create_parent(&path)?;
        fs::write(&path, commit.as_str()).map_err(|source| HubError::io(&path, source))
    }

    fn commits(&self) -> Vec<Commit> {
        names(&self.folder.join("snapshots"))
            .unwrap_or_default()
            .iter()
            .filter_map(|name| Commit::parse(name))
            .collect()
    }

    /// Branches and tags that stand for a commit.
    fn references(&self, commit: &Commit) -> Vec<String> {
        let root = self.folder.join("refs");
        let mut found = Vec::new();
        // `refs/pr/1` lies two folders down; nothing lies deeper than a name has parts.
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for name in names(&folder).unwrap_or_default() {
                let path = folder.join(name);
                if path.is_dir()
                    && folders.len() < 1000
                    && path.components().count() < root.components().count() + 8
                {
                    folders.push(path);
                } else if noted_commit(&path).as_ref() == Some(commit)
                    && let Ok(name) = path.strip_prefix(&root)
                {
                    found.push(name.to_string_lossy().into_owned());
                }
            }
        }
        found.sort();
        found
    }

    fn absence(&self, commit: &Commit, file: &str) -> PathBuf {
        self.folder
            .join(".no_exist")
            .join(commit.as_str())
            .join(file)
    }

    /// Notes that a commit does not have a file, so that the hub is not asked again.
    pub(super) fn mark_absent(&self, commit: &Commit, file: &FileName) {
        let path = self.absence(commit, file.as_str());
        if !path.exists() && create_parent(&path).is_ok() {
            // Without the note the hub is asked again, no more.
            let _ = File::create(&path);
        }
    }

    /// Notes the names of all files of a commit: without a network they tell whether all of a split is there.
    pub(super) fn keep_listing(&self, commit: &Commit, files: &BTreeSet<String>) {
        if self.listing(commit).as_ref() == Some(files) {
            return;
        }
        // Under another name first: a note that was cut would be in the way of a whole one. Without it the hub is asked again, no more.
        let folder = self.folder.join(".files");
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(&folder)?;
            let temporary = folder.join(format!("{}.{}", commit.as_str(), std::process::id()));
            fs::write(&temporary, serde_json::to_vec(files)?)?;
            fs::rename(&temporary, folder.join(commit.as_str()))
        };
        let _ = write();
    }

    /// The names of all files of a commit, where they were noted.
    pub(super) fn listing(&self, commit: &Commit) -> Option<BTreeSet<String>> {
        let path = self.folder.join(".files").join(commit.as_str());
        serde_json::from_slice(&note(&path, MAX_LISTING)?).ok()
    }

    /// The names of the files of a commit that are in the cache.
    pub(super) fn files_of(&self, commit: &Commit) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut folders = vec![String::new()];
        while let Some(folder) = folders.pop() {
            let place = self.snapshot(commit).join(&folder);
            for name in names(&place).unwrap_or_default() {
                let path = format!("{folder}{name}");
                let is_folder = fs::symlink_metadata(place.join(&name)).is_ok_and(|at| at.is_dir());
                if is_folder && FileName::parse_path(&path).is_some() {
                    folders.push(path + "/");
                } else if self.has(commit, &path) {
                    found.insert(path);
                }
            }
        }
        found
    }

    /// What a snapshot lacks that no model can do without.
    pub(super) fn missing(&self, commit: &Commit, want: Want) -> Vec<String> {
        if self.files.is_empty() {
            return missing(&self.snapshot(commit), want);
        }
        let files = self.files.iter().map(FileName::to_string);
        files.filter(|file| !self.has(commit, file)).collect()
    }

    /// Whether the cache has all of a commit's files that are wanted and knows that there are no others.
    pub(super) fn knows_all(&self, commit: &Commit, want: Want) -> bool {
        self.missing(commit, want).is_empty()
            && (!self.files.is_empty()
                || DESCRIPTION
                    .iter()
                    .all(|file| self.has(commit, file) || self.absence(commit, file).exists()))
    }

    /// The tag of a commit's file, by which its content can be checked; `None` where it is a copy and not a link.
    fn tag_of(&self, commit: &Commit, file: &FileName) -> Option<ETag> {
        let blob = fs::read_link(self.snapshot(commit).join(file.as_str())).ok()?;
        ETag::parse(blob.file_name()?.to_str()?)
    }

    /// Those of a commit's files in the cache whose content is not what their tag says, cut or changed since they came.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(super) fn damaged(
        &self,
        commit: &Commit,
        files: &[FileName],
    ) -> Result<Vec<Damaged>, HubError> {
        let checked = in_parallel(files, |file, _| {
            let Some(tag) = self
                .tag_of(commit, file)
                .filter(|_| self.has(commit, file.as_str()))
            else {
                return Ok(None);
            };
            let path = self.snapshot(commit).join(file.as_str());
            let other = other_hash(&path, &tag).map_err(|source| HubError::io(&path, source))?;
            Ok(other.map(|found| Damaged {
                file: file.clone(),
                path,
                tag,
                found,
            }))
        })?;
        Ok(checked.into_iter().flatten().collect())
    }

    /// The files of a commit that [`Self::damaged`] is to look at: those that describe the model, and where everything is to
    /// be checked, which takes as long as reading it, the weights.
    pub(super) fn to_check(&self, commit: &Commit, everything: bool) -> Vec<FileName> {
        if !self.files.is_empty() {
            return if everything {
                self.files.clone()
            } else {
                Vec::new()
            };
        }
        let mut files: Vec<FileName> = DESCRIPTION
            .into_iter()
            .chain([WEIGHTS_INDEX])
            .filter_map(FileName::parse)
            .collect();
        if everything {
            let folder = self.snapshot(commit);
            // An index that cannot be read is reported when the weights are opened.
            let weights = layout::weight_files(&folder).unwrap_or_default();
            files.extend(weights.iter().filter_map(|name| FileName::parse(name)));
        }
        files
    }

    /// Makes the content that a tag names a file of a commit.
    pub(super) fn link(
        &self,
        commit: &Commit,
        file: &FileName,
        tag: &ETag,
    ) -> Result<(), HubError> {
        let path = self.snapshot(commit).join(file.as_str());
        create_parent(&path)?;
        let other = self.tag_of(commit, file).is_some_and(|other| other != *tag);
        if path.is_file() && !other {
            return Ok(());
        }
        // A link whose blob was deleted, or was another.
        if path.symlink_metadata().is_ok() {
            fs::remove_file(&path).map_err(|source| HubError::io(&path, source))?;
        }
        let linked = link(tag, file.depth(), &self.blob(tag), &path);
        match linked {
            Err(source) if source.kind() != ErrorKind::AlreadyExists => {
                Err(HubError::io(&path, source))
            }
            _ => Ok(()),
        }
    }

    /// Keeps other programs, and other threads of this one, from fetching the same content until the result is dropped.
    pub(super) fn lock(&self, tag: &ETag, watch: &Watch) -> Result<File, HubError> {
        let path = self.locks.join(format!("{}.lock", tag.as_str()));
        create_parent(&path)?;
        // A pipe would be waited for.
        if path.metadata().is_ok_and(|about| !about.is_file()) {
            let source = std::io::Error::other("it is no regular file: remove it");
            return Err(HubError::io(&path, source));
        }
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(|source| HubError::io(&path, source))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                watch(Event::Note("waiting for another download of the same file"));
                // Without locks in the file system, two downloads at once may both fetch.
                let _ = file.lock();
            }
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        Ok(file)
    }
}

/// The longest list of names that is read: a description of a repository has as many bytes at most.
const MAX_LISTING: u64 = 64 << 20;

/// What a regular file holds, if it is no longer than that: a pipe would be waited for, and a device has no end.
fn note(path: &Path, most: u64) -> Option<Vec<u8>> {
    let about = fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > most {
        return None;
    }
    fs::read(path).ok()
}

/// The commit that a branch or tag was noted to stand for.
fn noted_commit(path: &Path) -> Option<Commit> {
    let text = String::from_utf8(note(path, 1 << 10)?).ok()?;
    Commit::parse(text.trim())
}

/// A file in the cache whose content is not what its name says.
pub(super) struct Damaged {
    pub(super) file: FileName,
    path: PathBuf,
    tag: ETag,
    found: String,
}

impl Damaged {
    /// The error where it cannot be fetched again, and why that is.
    pub(super) fn error(self, why: String) -> HubError {
        HubError::Damaged {
            path: self.path,
            kind: self.tag.hash().map_or("name", Hash::name),
            expected: self.tag.as_str().into(),
            found: self.found,
            why,
        }
    }
}

/// A link as the hub's other programs make it, from so many folders deep in a snapshot; where there are none, the file itself
/// under a second name, or a copy.
fn link(tag: &ETag, depth: usize, blob: &Path, path: &Path) -> std::io::Result<()> {
    #[cfg(any(unix, windows))]
    {
        let mut relative: PathBuf = std::iter::repeat_n("..", 2 + depth).collect();
        relative.extend(["blobs", tag.as_str()]);
        #[cfg(unix)]
        let linked = std::os::unix::fs::symlink(relative, path);
        #[cfg(windows)]
        let linked = std::os::windows::fs::symlink_file(relative, path);
        match linked {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {}
            result => return result,
        }
    }
    fs::hard_link(blob, path).or_else(|_| fs::copy(blob, path).map(|_| ()))
}

/// What a snapshot's folder lacks that no model can do without.
fn missing(folder: &Path, want: Want) -> Vec<String> {
    let mut needed = vec![CONFIG_FILE.to_owned()];
    if want == Want::Everything {
        match layout::weight_files(folder) {
            Ok(files) => needed.extend(files),
            // Reading it later gives the error; here it counts as missing.
            Err(_) => return vec![format!("a readable {WEIGHTS_INDEX}")],
        }
    }
    needed.retain(|file| !folder.join(file).is_file());
    needed
}

fn create_parent(path: &Path) -> Result<(), HubError> {
    match path.parent() {
        Some(folder) => fs::create_dir_all(folder).map_err(|source| HubError::io(folder, source)),
        None => Ok(()),
    }
}

/// Names in a folder, sorted; those that are not Unicode are none of ours.
fn names(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        names.extend(entry?.file_name().into_string().ok());
    }
    names.sort();
    Ok(names)
}

/// A commit of a model in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedModel {
    /// `org/name`
    pub id: String,
    /// The commit.
    pub commit: String,
    /// Branches and tags that stood for it when the hub was last asked.
    pub revisions: Vec<String>,
    /// Where its files are.
    pub folder: PathBuf,
    /// Bytes of its files, those shared with other commits included.
    pub bytes: u64,
    /// Files that it lacks; none if it can be run.
    pub missing: Vec<String>,
}

/// Every commit in the cache that has a `config.json` or a GGUF file.
pub(super) fn models(cache: &Path) -> Result<Vec<CachedModel>, HubError> {
    let folders = match names(cache) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(|source| HubError::io(cache, source))?,
    };
    let mut models = Vec::new();
    for id in folders.iter().filter_map(|folder| HubId::of_folder(folder)) {
        let repository = Repository::new(cache, &id);
        for commit in repository.commits() {
            let folder = repository.snapshot(&commit);
            let gguf = names(&folder)
                .unwrap_or_default()
                .into_iter()
                .find(|name| is_gguf(Path::new(name)));
            if gguf.is_none() && !repository.has(&commit, CONFIG_FILE) {
                continue;
            }
            let sizes = names(&folder).unwrap_or_default().into_iter().map(|name| {
                let data = fs::metadata(folder.join(name)).ok();
                data.filter(fs::Metadata::is_file)
                    .map_or(0, |data| data.len())
            });
            models.push(CachedModel {
                id: id.repository().into(),
                revisions: repository.references(&commit),
                bytes: sizes.sum(),
                missing: match &gguf {
                    Some(_) => Vec::new(),
                    None => missing(&folder, Want::Everything),
                },
                commit: commit.to_string(),
                folder,
            });
        }
    }
    Ok(models)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_that_was_cut_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let id = HubId::data_set("org/name", None).unwrap().unwrap();
        let repository = Repository::new(folder.path(), &id);
        let commit = Commit::parse(&"a".repeat(40)).unwrap();
        let files = BTreeSet::from(["test.csv".to_owned()]);
        let notes = repository.folder.join(".files");
        fs::create_dir_all(&notes).unwrap();
        fs::write(notes.join(commit.as_str()), "[\"test.c").unwrap();
        assert_eq!(repository.listing(&commit), None);
        repository.keep_listing(&commit, &files);
        assert_eq!(repository.listing(&commit), Some(files));
        assert_eq!(names(&notes).unwrap(), [commit.as_str()]);
    }
}
