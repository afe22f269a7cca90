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

use crate::download::in_parallel;
use crate::error::Fault;
use crate::hash::{Hash, wrong_hash};
use crate::layout::{self, CONFIG_FILE, WEIGHTS_INDEX, is_gguf};
use crate::name::{Commit, ETag, FileName, HubId};
use crate::needed::DESCRIPTION;
use crate::{Event, Snapshot, Want, Watch};

/// A repository's part of the cache.
pub(crate) struct Repository {
    folder: PathBuf,
    locks: PathBuf,
    /// The GGUF files to use instead of a checkpoint.
    files: Vec<FileName>,
}

impl Repository {
    pub(crate) fn new(cache: &Path, id: &HubId) -> Self {
        Self {
            folder: cache.join(id.folder()),
            locks: cache.join(".locks").join(id.folder()),
            files: id.files(),
        }
    }

    pub(crate) fn blob(&self, tag: &ETag) -> PathBuf {
        self.folder.join("blobs").join(tag.as_str())
    }

    pub(crate) fn incomplete(&self, tag: &ETag) -> PathBuf {
        let name = format!("{}.incomplete", tag.as_str());
        self.folder.join("blobs").join(name)
    }

    pub(crate) fn snapshot(&self, commit: &Commit) -> PathBuf {
        self.folder.join("snapshots").join(commit.as_str())
    }

    pub(crate) fn has(&self, commit: &Commit, file: &str) -> bool {
        self.snapshot(commit).join(file).is_file()
    }

    pub(crate) fn into_snapshot(self, commit: &Commit, fetched: u64) -> Snapshot {
        let folder = self.snapshot(commit);
        Snapshot {
            commit: commit.to_string(),
            file: self.files.first().map(|file| folder.join(file.as_str())),
            folder,
            fetched,
        }
    }

    /// The commit that a revision stood for when the hub was last asked; a commit may be shortened to at least 7 digits.
    pub(crate) fn commit_of(&self, revision: &str) -> Option<Commit> {
        if let Some(commit) = Commit::parse(revision) {
            return Some(commit);
        }
        if let Some(commit) = noted_commit(&self.folder.join("refs").join(revision)) {
            return Some(commit);
        }
        if revision.len() < 7 || !revision.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let mut commits = self.commits();
        commits.retain(|commit| commit.as_str().starts_with(revision));
        commits.pop().filter(|_| commits.is_empty())
    }

    pub(crate) fn set_reference(&self, revision: &str, commit: &Commit) -> Result<(), Fault> {
        let path = self.folder.join("refs").join(revision);
        // A read-only cache is fine as long as the record is right.
        if revision == commit.as_str() || noted_commit(&path).as_ref() == Some(commit) {
            return Ok(());
        }
        create_parent(&path)?;
        fs::write(&path, commit.as_str()).map_err(|source| Fault::io(&path, source))
    }

    fn commits(&self) -> Vec<Commit> {
        names(&self.folder.join("snapshots"))
            .unwrap_or_default()
            .iter()
            .filter_map(|name| Commit::parse(name))
            .collect()
    }

    fn references(&self, commit: &Commit) -> Vec<String> {
        let root = self.folder.join("refs");
        let mut found = files_below(&root);
        found.retain(|name| noted_commit(&root.join(name)).as_ref() == Some(commit));
        found.into_iter().collect()
    }

    fn absence(&self, commit: &Commit, file: &str) -> PathBuf {
        let folder = self.folder.join(".no_exist");
        folder.join(commit.as_str()).join(file)
    }

    /// Records that a commit does not have a file, so that the hub is not asked again.
    pub(crate) fn mark_absent(&self, commit: &Commit, file: &FileName) {
        let path = self.absence(commit, file.as_str());
        if !path.exists() && create_parent(&path).is_ok() {
            // If this fails, the hub is merely asked again.
            let _ = File::create(&path);
        }
    }

    /// Records the names of all files of a commit, which tell without a network whether a split is complete.
    pub(crate) fn keep_listing(&self, commit: &Commit, files: &BTreeSet<String>) {
        if self.listing(commit).as_ref() == Some(files) {
            return;
        }
        // Under another name first, since a truncated record would be in the way of a whole one. If this fails, the hub is
        // merely asked again.
        let folder = self.folder.join(".files");
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(&folder)?;
            let temporary = folder.join(format!("{}.{}", commit.as_str(), std::process::id()));
            fs::write(&temporary, serde_json::to_vec(files)?)?;
            fs::rename(&temporary, folder.join(commit.as_str()))
        };
        let _ = write();
    }

    /// The names of all files of a commit, if they were recorded.
    pub(crate) fn listing(&self, commit: &Commit) -> Option<BTreeSet<String>> {
        let path = self.folder.join(".files").join(commit.as_str());
        serde_json::from_slice(&note(&path, MAX_LISTING)?).ok()
    }

    pub(crate) fn files_of(&self, commit: &Commit) -> BTreeSet<String> {
        files_below(&self.snapshot(commit))
    }

    /// What a snapshot lacks of the files that every model needs.
    pub(crate) fn missing(&self, commit: &Commit, want: Want) -> Vec<String> {
        if self.files.is_empty() {
            return missing(&self.snapshot(commit), want);
        }
        let files = self.files.iter().map(FileName::to_string);
        files.filter(|file| !self.has(commit, file)).collect()
    }

    /// Whether the cache has all wanted files of a commit, and knows that there are no others.
    pub(crate) fn knows_all(&self, commit: &Commit, want: Want) -> bool {
        let knows = |file| self.has(commit, file) || self.absence(commit, file).exists();
        // Earlier versions did not ask for this file.
        let files = DESCRIPTION.split(' ');
        let mut files = files.filter(|file| *file != "chat_template.json");
        self.missing(commit, want).is_empty() && (!self.files.is_empty() || files.all(knows))
    }

    /// The tag of a commit's file, by which its content can be checked; `None` if it is a copy instead of a link.
    fn tag_of(&self, commit: &Commit, file: &FileName) -> Option<ETag> {
        let blob = fs::read_link(self.snapshot(commit).join(file.as_str())).ok()?;
        ETag::parse(blob.file_name()?.to_str()?)
    }

    /// The files of a commit in the cache whose content does not match their tag: truncated or changed since they were
    /// fetched.
    pub(crate) fn damaged(
        &self,
        commit: &Commit,
        files: &[FileName],
    ) -> Result<Vec<Damaged>, Fault> {
        let checked = in_parallel(files, |file, _| {
            let path = self.snapshot(commit).join(file.as_str());
            let Some(tag) = self.tag_of(commit, file).filter(|_| path.is_file()) else {
                return Ok(None);
            };
            let other = wrong_hash(&path, &tag).map_err(|source| Fault::io(&path, source))?;
            Ok(other.map(|found| Damaged {
                file: file.clone(),
                path,
                tag,
                found,
            }))
        })?;
        Ok(checked.into_iter().flatten().collect())
    }

    /// The names of those that are [`Self::damaged`], after notifying `watch` of each.
    pub(crate) fn noted_damage(
        &self,
        commit: &Commit,
        files: &[FileName],
        watch: &Watch,
    ) -> Result<Vec<FileName>, Fault> {
        let damaged = self.damaged(commit, files)?.into_iter();
        let files: Vec<FileName> = damaged.map(|damaged| damaged.file).collect();
        for file in &files {
            note_damage(file, watch);
        }
        Ok(files)
    }

    /// The files of a commit that [`Self::damaged`] should check: those that describe the model, and with `everything` also
    /// the weights, which takes as long as reading them.
    pub(crate) fn to_check(&self, commit: &Commit, everything: bool) -> Vec<FileName> {
        if !self.files.is_empty() {
            let files = self.files.iter().filter(|_| everything);
            return files.cloned().collect();
        }
        // An index that cannot be read is reported when the weights are opened.
        let weights = layout::weight_files(&self.snapshot(commit)).unwrap_or_default();
        let weights = weights.iter().map(String::as_str).filter(|_| everything);
        let described = DESCRIPTION.split(' ').chain([WEIGHTS_INDEX]);
        described
            .chain(weights)
            .filter_map(FileName::parse)
            .collect()
    }

    /// Makes the content with this tag a file of a commit.
    pub(crate) fn link(&self, commit: &Commit, file: &FileName, tag: &ETag) -> Result<(), Fault> {
        let path = self.snapshot(commit).join(file.as_str());
        create_parent(&path)?;
        let other = self.tag_of(commit, file).is_some_and(|other| other != *tag);
        if path.is_file() && !other {
            return Ok(());
        }
        // A link whose blob was deleted, or is another one.
        if path.symlink_metadata().is_ok() {
            fs::remove_file(&path).map_err(|source| Fault::io(&path, source))?;
        }
        match link(tag, file.depth(), &self.blob(tag), &path) {
            Err(source) if source.kind() == ErrorKind::AlreadyExists => Ok(()),
            result => result.map_err(|source| Fault::io(&path, source)),
        }
    }

    /// Keeps other programs, and other threads of this one, from fetching the same content until the returned file is
    /// dropped.
    pub(crate) fn lock(&self, tag: &ETag, watch: &Watch) -> Result<File, Fault> {
        let path = self.locks.join(format!("{}.lock", tag.as_str()));
        create_parent(&path)?;
        // Opening a pipe would block.
        if path.metadata().is_ok_and(|about| !about.is_file()) {
            let source = std::io::Error::other("it is no regular file: remove it");
            return Err(Fault::io(&path, source));
        }
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let file = options.open(&path);
        let file = file.map_err(|source| Fault::io(&path, source))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                watch(Event::Note("waiting for another download of the same file"));
                // Without file locks, two downloads at once may both fetch.
                let _ = file.lock();
            }
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        Ok(file)
    }
}

/// The longest list of names that is read, in bytes: as long as the longest description of a repository.
const MAX_LISTING: u64 = 64 << 20;

pub(crate) fn note_damage(file: &FileName, watch: &Watch) {
    watch(Event::Note(&format!(
        "{file} in the cache is not what its name there says, cut or changed: it is fetched again"
    )));
}

/// The content of a regular file, if it is not longer than `most` bytes: opening a pipe would block, and a device has no
/// end.
fn note(path: &Path, most: u64) -> Option<Vec<u8>> {
    let about = fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > most {
        return None;
    }
    fs::read(path).ok()
}

/// The commit that a branch or tag was recorded to stand for.
fn noted_commit(path: &Path) -> Option<Commit> {
    let text = String::from_utf8(note(path, 1 << 10)?).ok()?;
    Commit::parse(text.trim())
}

/// A file in the cache whose content does not match its name.
pub(crate) struct Damaged {
    pub(crate) file: FileName,
    path: PathBuf,
    tag: ETag,
    found: String,
}

impl Damaged {
    /// The error for a file that cannot be fetched again, and the reason for that.
    pub(crate) fn error(self, why: String) -> Fault {
        Fault::Damaged {
            path: self.path,
            kind: self.tag.hash().map_or("name", Hash::name),
            expected: self.tag.as_str().into(),
            found: self.found,
            why,
        }
    }
}

/// Makes a link as the hub's other programs do, `depth` folders deep in a snapshot; where links are not possible, a hard
/// link or a copy.
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

/// What a snapshot's folder lacks of the files that every model needs.
fn missing(folder: &Path, want: Want) -> Vec<String> {
    let mut needed = vec![CONFIG_FILE.to_owned()];
    if want == Want::Everything {
        match layout::weight_files(folder) {
            Ok(files) => needed.extend(files),
            // Reading it later reports the error; here it counts as missing.
            Err(_) => return vec![format!("a readable {WEIGHTS_INDEX}")],
        }
    }
    needed.retain(|file| !folder.join(file).is_file());
    needed
}

fn create_parent(path: &Path) -> Result<(), Fault> {
    match path.parent() {
        Some(folder) => fs::create_dir_all(folder).map_err(|source| Fault::io(folder, source)),
        None => Ok(()),
    }
}

/// The paths of the files below a folder, links to files included, without hidden files and without what is nested too deep.
fn files_below(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        for name in names(&root.join(&folder)).unwrap_or_default() {
            let path = format!("{folder}{name}");
            let place = root.join(&path);
            if fs::symlink_metadata(&place).is_ok_and(|about| about.is_dir()) {
                if FileName::parse_path(&path).is_some() {
                    folders.push(path + "/");
                }
            } else if place.is_file() {
                found.insert(path);
            }
        }
    }
    found
}

/// The names in a folder, sorted; names that are not Unicode are ignored.
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
    /// The folder of its files.
    pub folder: PathBuf,
    /// The size of its files in bytes, including files shared with other commits.
    pub bytes: u64,
    /// The missing files; empty if it can be run.
    pub missing: Vec<String>,
}

/// Every commit in the cache that has a `config.json` or a GGUF file.
pub(crate) fn models(cache: &Path) -> Result<Vec<CachedModel>, Fault> {
    let folders = match names(cache) {
        Err(source) if source.kind() == ErrorKind::NotFound => Vec::new(),
        result => result.map_err(|source| Fault::io(cache, source))?,
    };
    let mut models = Vec::new();
    for id in folders.iter().filter_map(|folder| HubId::of_folder(folder)) {
        let repository = Repository::new(cache, &id);
        for commit in repository.commits() {
            let folder = repository.snapshot(&commit);
            let files = names(&folder).unwrap_or_default();
            let gguf = files.iter().any(|name| is_gguf(Path::new(name)));
            if !gguf && !repository.has(&commit, CONFIG_FILE) {
                continue;
            }
            let sizes = files.iter().filter_map(|name| {
                let data = fs::metadata(folder.join(name)).ok()?;
                data.is_file().then_some(data.len())
            });
            models.push(CachedModel {
                id: id.repository().into(),
                revisions: repository.references(&commit),
                bytes: sizes.sum(),
                missing: if gguf {
                    Vec::new()
                } else {
                    missing(&folder, Want::Everything)
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
        let id = HubId::data_set("org/name").unwrap().unwrap();
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
