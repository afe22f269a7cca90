//! Fetches files: several at a time, each from where an earlier attempt stopped, each checked by its hash.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use super::cache::Repository;
use super::client::{Client, Content, HubResponse};
use super::hash::{Hash, Sha256, other_hash};
use super::name::{Commit, ETag, FileName, HubId};
use super::retry::{AttemptError, Attempts};
use super::{Event, HubError, Watch};

/// Files that are fetched at once.
pub(super) const WORKERS: usize = 8;
/// Bytes that are read at once.
const BUFFER: usize = 1 << 17;
/// An attempt that came further than any before it, by this much, was no failure, however it ended.
const PROGRESS: u64 = 1 << 16;
/// Bytes that a connection brings at least for each time that it may stay silent: one that brings less is as good as silent.
const TRICKLE: u64 = 1 << 14;
/// The longest file whose length the hub does not tell.
const MAX_UNTOLD: u64 = 256 << 20;

/// Fetches files of one commit into the cache.
pub(super) struct Downloads<'a> {
    pub(super) client: &'a Client<'a>,
    pub(super) repository: &'a Repository,
    pub(super) id: &'a HubId,
    pub(super) commit: &'a Commit,
    pub(super) watch: &'a Watch<'a>,
}

/// A file that is not in the snapshot.
struct Task<'a> {
    file: &'a FileName,
    content: Content,
    /// Whether its blob is there, as it should be.
    whole: bool,
    /// Bytes that an earlier attempt left.
    present: u64,
}

impl Downloads<'_> {
    /// Fetches files that the cache does not have, and those that are known to be damaged; returns how many bytes came.
    pub(super) fn fetch(&self, files: &[FileName], damaged: &[FileName]) -> Result<u64, HubError> {
        let missing: Vec<&FileName> = files
            .iter()
            .filter(|file| {
                !self.repository.has(self.commit, file.as_str()) || damaged.contains(file)
            })
            .collect();
        let tasks = in_parallel(&missing, |file, _| {
            let content = self.client.content(self.id, self.commit, file)?;
            let whole = self.has_blob(&content)?;
            if !whole && !damaged.contains(file) && self.repository.blob(&content.tag).is_file() {
                (self.watch)(Event::Note(&damage(file.as_str())));
            }
            Ok(Task {
                file,
                whole,
                present: self.present(&content),
                content,
            })
        })?;
        self.check_room(&tasks)?;
        for task in tasks.iter().filter(|task| !task.whole) {
            (self.watch)(Event::Expect {
                bytes: task.content.size.unwrap_or_default(),
                present: task.present,
            });
        }
        let fetched = in_parallel(&tasks, |task, stop| self.fetch_one(task, stop))?;
        Ok(fetched.into_iter().sum())
    }

    /// Whether a content is there whole. Before it becomes part of a snapshot, all of it is checked: another program, or a
    /// machine that went down, may have left another content under its name.
    fn has_blob(&self, content: &Content) -> Result<bool, HubError> {
        let blob = self.repository.blob(&content.tag);
        let Ok(data) = fs::metadata(&blob) else {
            return Ok(false);
        };
        let length = content.size.is_none_or(|size| data.len() == size);
        if !data.is_file() || !length {
            return Ok(false);
        }
        let other =
            other_hash(&blob, &content.tag).map_err(|source| HubError::io(&blob, source))?;
        Ok(other.is_none())
    }

    /// Bytes of a content that an earlier attempt left.
    fn present(&self, content: &Content) -> u64 {
        let length =
            fs::metadata(self.repository.incomplete(&content.tag)).map_or(0, |file| file.len());
        content.size.map_or(0, |size| length.min(size))
    }

    /// Refuses what the disk has no room for before anything is fetched.
    fn check_room(&self, tasks: &[Task]) -> Result<(), HubError> {
        let mut needed: u64 = 0;
        for task in tasks.iter().filter(|task| !task.whole) {
            needed = needed.saturating_add(task.content.size.unwrap_or_default() - task.present);
        }
        let folder = self.repository.snapshot(self.commit);
        match free_space(&folder) {
            Some(free) if free < needed => Err(HubError::DiskFull {
                folder,
                needed: Some(needed),
                free: Some(free),
            }),
            _ => Ok(()),
        }
    }

    /// Fetches one file and makes it part of the snapshot; returns how many bytes came.
    fn fetch_one(&self, task: &Task, stop: &AtomicBool) -> Result<u64, HubError> {
        let tag = &task.content.tag;
        // Dropped, and with it released, at the end.
        let _lock = self.repository.lock(tag, self.watch)?;
        // Another program may have fetched it meanwhile.
        let fetched = if task.whole || self.has_blob(&task.content)? {
            0
        } else {
            self.fetch_blob(task, stop)?
        };
        self.repository.link(self.commit, task.file, tag)?;
        Ok(fetched)
    }

    /// Fetches a content to where its tag says. What is refused leaves nothing behind; what broke off is kept.
    fn fetch_blob(&self, task: &Task, stop: &AtomicBool) -> Result<u64, HubError> {
        let Content { tag, size } = &task.content;
        let hashed = tag.hash() == Some(Hash::Sha256);
        let mut partial = Partial::open(
            self.repository.incomplete(tag),
            hashed,
            size.unwrap_or_default(),
        )?;
        let mut resumed = partial.length > 0;
        let mut fetched = 0;
        loop {
            match self.complete(task, &mut partial, stop) {
                Ok(more) => fetched += more,
                Err(error) => {
                    // What is not there any more will not be asked for again.
                    if partial.length == 0 || matches!(error, HubError::File { .. }) {
                        // That it stays is not worth another error.
                        let _ = partial.remove();
                    }
                    return Err(error);
                }
            }
            match partial.check(task.file, tag) {
                Ok(()) => break,
                // What was there before may be of another program that writes in another order.
                Err(HubError::Hash { .. }) if resumed => self.restart(&mut partial)?,
                Err(error) => {
                    partial.remove()?;
                    return Err(error);
                }
            }
            resumed = false;
        }
        if tag.hash().is_none() {
            (self.watch)(Event::Note(&format!(
                "{}: the hub tells no hash of it (its ETag is {}), so its content could not be checked",
                task.file,
                tag.as_str()
            )));
        }
        partial.finish(&self.repository.blob(tag))?;
        Ok(fetched)
    }

    /// Attempts until all of a file has come, or no more is to be hoped for.
    fn complete(
        &self,
        task: &Task,
        partial: &mut Partial,
        stop: &AtomicBool,
    ) -> Result<u64, HubError> {
        let mut furthest = partial.length;
        let mut attempts = Attempts::new(self.watch);
        let mut fetched = 0;
        while let Err(failure) = self.attempt(task, partial, &mut fetched, stop) {
            // Compared with the furthest: a server that breaks off at the same place forever gets nowhere.
            if partial.length >= furthest.saturating_add(PROGRESS) {
                attempts.start_again();
            }
            furthest = furthest.max(partial.length);
            attempts.wait(failure)?;
        }
        Ok(fetched)
    }

    fn attempt(
        &self,
        task: &Task,
        partial: &mut Partial,
        fetched: &mut u64,
        stop: &AtomicBool,
    ) -> Result<(), AttemptError> {
        let size = task.content.size;
        if size.is_some_and(|size| partial.length > size) {
            self.restart(partial).map_err(AttemptError::permanent)?;
        }
        if size == Some(partial.length) {
            return Ok(());
        }
        let answer = self
            .client
            .open(self.id, self.commit, task.file, partial.length)?;
        let fits = match answer.status() {
            206 => answer.range_start() == Some(partial.length),
            200 => partial.length == 0,
            _ => false,
        };
        if !fits {
            // The server cannot or will not go on from there.
            self.restart(partial).map_err(AttemptError::permanent)?;
            if answer.status() != 200 {
                return Err(AttemptError::transient(HubError::Protocol {
                    url: answer.url().into(),
                    message: format!(
                        "the server answered {} to a request for a part of {}",
                        answer.status(),
                        task.file
                    ),
                }));
            }
        }
        self.receive(task, partial, answer, fetched, stop)
    }

    fn receive(
        &self,
        task: &Task,
        partial: &mut Partial,
        answer: HubResponse,
        fetched: &mut u64,
        stop: &AtomicBool,
    ) -> Result<(), AttemptError> {
        let (url, host) = (answer.url().to_owned(), answer.host().to_owned());
        let size = task.content.size;
        let most = size.unwrap_or(MAX_UNTOLD);
        let mut reader = answer.into_reader();
        let mut buffer = vec![0; BUFFER];
        let (mut since, mut came) = (Instant::now(), 0);
        let broken = |length: u64, why: &str| {
            let of = size.map_or_else(String::new, |size| format!(" of {size}"));
            AttemptError::transient(HubError::Unreachable {
                host: host.clone(),
                message: format!("{} broke off after {length}{of} bytes{why}", task.file),
            })
        };
        loop {
            if stop.load(Ordering::Relaxed) {
                return Err(AttemptError::permanent(stopped(&partial.path)));
            }
            let count = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(broken(partial.length, &format!(" ({error})"))),
            };
            if partial.length + count as u64 > most {
                // Whatever came is of no content that is wanted.
                self.restart(partial).map_err(AttemptError::permanent)?;
                return Err(AttemptError::permanent(HubError::Protocol {
                    url,
                    message: format!(
                        "{} is longer than the {most} bytes it should have",
                        task.file
                    ),
                }));
            }
            partial
                .write(&buffer[..count])
                .map_err(AttemptError::permanent)?;
            *fetched += count as u64;
            (self.watch)(Event::Received(count as u64));
            came += count as u64;
            if since.elapsed() >= self.client.patience {
                if came < TRICKLE && size != Some(partial.length) {
                    let why = format!(": {came} bytes in {} s", since.elapsed().as_secs());
                    return Err(broken(partial.length, &why));
                }
                (since, came) = (Instant::now(), 0);
            }
        }
        if size.is_some_and(|size| partial.length < size) {
            return Err(broken(partial.length, ""));
        }
        Ok(())
    }

    fn restart(&self, partial: &mut Partial) -> Result<(), HubError> {
        if partial.length > 0 {
            (self.watch)(Event::Discarded(partial.length));
        }
        partial.restart()
    }
}

/// The part of a file that has come.
struct Partial {
    path: PathBuf,
    file: File,
    length: u64,
    /// The SHA-256 of that part, where it will be asked for.
    hash: Option<Sha256>,
}

impl Partial {
    /// Opens what an earlier attempt left, or begins. More than `most` bytes are none of this content.
    fn open(path: PathBuf, hashed: bool, most: u64) -> Result<Self, HubError> {
        let io = |source| HubError::io(&path, source);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|source| HubError::io(folder, source))?;
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let mut hash = hashed.then(Sha256::new);
        if length > most {
            file.set_len(0).map_err(io)?;
        } else if let Some(hash) = &mut hash {
            let mut rest = (&mut file).take(length);
            let mut buffer = vec![0; BUFFER];
            loop {
                match rest.read(&mut buffer).map_err(io)? {
                    0 => break,
                    count => hash.update(&buffer[..count]),
                }
            }
        }
        let length = if length > most { 0 } else { length };
        file.seek(SeekFrom::Start(length)).map_err(io)?;
        Ok(Self {
            path,
            file,
            length,
            hash,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), HubError> {
        self.file
            .write_all(bytes)
            .map_err(|source| HubError::io(&self.path, source))?;
        self.length += bytes.len() as u64;
        if let Some(hash) = &mut self.hash {
            hash.update(bytes);
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<(), HubError> {
        let io = |source| HubError::io(&self.path, source);
        self.file.set_len(0).map_err(io)?;
        self.file.seek(SeekFrom::Start(0)).map_err(io)?;
        self.length = 0;
        self.hash = self.hash.as_ref().map(|_| Sha256::new());
        Ok(())
    }

    /// Compares the content with the hash that its tag is.
    fn check(&mut self, file: &FileName, tag: &ETag) -> Result<(), HubError> {
        let Some(kind) = tag.hash() else {
            return Ok(());
        };
        let other =
            match &self.hash {
                Some(hash) => Some(hash.hexadecimal())
                    .filter(|found| !found.eq_ignore_ascii_case(tag.as_str())),
                // git's hash begins with the length, which is known only now.
                None => other_hash(&self.path, tag)
                    .map_err(|source| HubError::io(&self.path, source))?,
            };
        match other {
            None => Ok(()),
            Some(found) => Err(HubError::Hash {
                file: file.to_string(),
                kind: kind.name(),
                expected: tag.as_str().into(),
                found,
            }),
        }
    }

    fn remove(self) -> Result<(), HubError> {
        fs::remove_file(&self.path).map_err(|source| HubError::io(&self.path, source))
    }

    /// Makes it the blob, once it is on the disk for good.
    fn finish(self, blob: &Path) -> Result<(), HubError> {
        self.file
            .sync_all()
            .map_err(|source| HubError::io(&self.path, source))?;
        fs::rename(&self.path, blob).map_err(|source| HubError::io(blob, source))
    }
}

/// What is said of a file in the cache that is damaged.
pub(super) fn damage(file: &str) -> String {
    format!(
        "{file} in the cache is not what its name there says, cut or changed: it is fetched again"
    )
}

/// The error of a download that was stopped because another failed; it is never the one that is reported.
fn stopped(path: &Path) -> HubError {
    HubError::io(path, std::io::Error::from(std::io::ErrorKind::Interrupted))
}

/// Does something with each of the items, [`WORKERS`] at a time. After an error nothing new is begun, what is under way is
/// asked to stop, and the first error is returned.
pub(super) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T, &AtomicBool) -> Result<R, HubError> + Sync,
) -> Result<Vec<R>, HubError> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let results = Mutex::new(Ok(Vec::with_capacity(items.len())));
    thread::scope(|scope| {
        for worker in 0..WORKERS.min(items.len()) {
            let work = || {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    let result = work(item, &stop);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    match (result, results.as_mut()) {
                        (Ok(value), Ok(values)) => values.push(value),
                        (Err(error), Ok(_)) => {
                            stop.store(true, Ordering::Relaxed);
                            *results = Err(error);
                        }
                        (_, Err(_)) => {}
                    }
                }
            };
            let started = thread::Builder::new()
                .name("download".into())
                .spawn_scoped(scope, work);
            match (started, worker) {
                (Ok(_), _) => {}
                // Not even one: then this thread does it all.
                (Err(_), 0) => {
                    work();
                    break;
                }
                // The others do what is left.
                (Err(_), _) => break,
            }
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes free where a folder is or would be; `None` where the system does not say.
#[cfg(unix)]
fn free_space(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|folder| folder.is_dir())?;
    let disk = rustix::fs::statvfs(there).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Bytes free where a folder is or would be; `None` where the system does not say.
#[cfg(not(unix))]
fn free_space(_: &Path) -> Option<u64> {
    None
}
