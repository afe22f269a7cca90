//! Fetches files: several at a time, each from where an earlier attempt stopped, each checked by its hash.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::cache::{Repository, note_damage};
use crate::client::{Client, Content};
use crate::error::Fault;
use crate::hash::{BUFFER, Hash, Sha256, each_piece, wrong_hash};
use crate::name::{Commit, ETag, FileName, HubId};
use crate::retry::{AttemptError, Attempts};
use crate::url::host;
use crate::{Event, Watch};

/// How many files are fetched at once.
pub(crate) const WORKERS: usize = 8;
/// An attempt that got this many bytes further than any before does not count as a failure, however it ended.
const PROGRESS: u64 = 1 << 16;
/// The fewest bytes that a connection must bring in the time that it may stay silent; one that brings less counts as silent.
const TRICKLE: u64 = 1 << 14;
/// The longest file whose length the hub does not tell, in bytes.
const MAX_UNTOLD: u64 = 256 << 20;

/// Fetches files of one commit into the cache.
pub(crate) struct Downloads<'a> {
    pub(crate) client: &'a Client<'a>,
    pub(crate) repository: &'a Repository,
    pub(crate) id: &'a HubId,
    pub(crate) commit: &'a Commit,
    pub(crate) watch: &'a Watch<'a>,
}

/// A file that is not in the snapshot.
struct Task<'a> {
    file: &'a FileName,
    content: Content,
    /// Whether its blob is there and intact.
    whole: bool,
    /// Bytes that an earlier attempt fetched.
    present: u64,
}

impl Downloads<'_> {
    /// Fetches files that the cache does not have, and those that are known to be damaged; returns the number of bytes
    /// fetched.
    pub(crate) fn fetch(&self, files: &[FileName], damaged: &[FileName]) -> Result<u64, Fault> {
        let missing = |file: &&FileName| {
            !self.repository.has(self.commit, file.as_str()) || damaged.contains(file)
        };
        let missing: Vec<&FileName> = files.iter().filter(missing).collect();
        let tasks = in_parallel(&missing, |file, _| {
            let content = self.client.content(self.id, self.commit, file)?;
            let whole = self.has_blob(&content)?;
            if !whole && !damaged.contains(file) && self.repository.blob(&content.tag).is_file() {
                note_damage(file, self.watch);
            }
            // Bytes that an earlier attempt fetched.
            let left = fs::metadata(self.repository.incomplete(&content.tag));
            let left = left.map_or(0, |file| file.len());
            Ok(Task {
                file,
                whole,
                present: content.size.map_or(0, |size| left.min(size)),
                content,
            })
        })?;
        let to_come = || tasks.iter().filter(|task| !task.whole);
        let size = |task: &Task| task.content.size.unwrap_or_default();
        // If the disk has no room, fail before anything is fetched.
        let needed = to_come().fold(0_u64, |sum, task| {
            sum.saturating_add(size(task) - task.present)
        });
        let folder = self.repository.snapshot(self.commit);
        if let Some(free) = free_space(&folder).filter(|free| *free < needed) {
            let room = Some((needed, free));
            return Err(Fault::DiskFull { folder, room });
        }
        for task in to_come() {
            (self.watch)(Event::Expect {
                bytes: size(task),
                present: task.present,
            });
        }
        let fetched = in_parallel(&tasks, |task, stop| self.fetch_one(task, stop))?;
        Ok(fetched.into_iter().sum())
    }

    /// Whether the whole content is there. It is checked before it becomes part of a snapshot, since another program, or a
    /// crash of the machine, may have left other content under its name.
    fn has_blob(&self, content: &Content) -> Result<bool, Fault> {
        let blob = self.repository.blob(&content.tag);
        let fits = |length| content.size.is_none_or(|size| length == size);
        if !fs::metadata(&blob).is_ok_and(|data| data.is_file() && fits(data.len())) {
            return Ok(false);
        }
        let other = wrong_hash(&blob, &content.tag).map_err(|source| Fault::io(&blob, source))?;
        Ok(other.is_none())
    }

    /// Fetches one file and makes it part of the snapshot; returns the number of bytes fetched.
    fn fetch_one(&self, task: &Task, stop: &AtomicBool) -> Result<u64, Fault> {
        let tag = &task.content.tag;
        // The lock is released at the end of the function.
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

    /// Fetches content to the path of its tag. A refused download leaves no file; an interrupted one is kept.
    fn fetch_blob(&self, task: &Task, stop: &AtomicBool) -> Result<u64, Fault> {
        let Content { tag, size } = &task.content;
        let path = self.repository.incomplete(tag);
        let mut partial = Partial::open(path, tag, size.unwrap_or_default())?;
        let mut resumed = partial.length > 0;
        loop {
            if let Err(error) = self.complete(task, &mut partial, stop) {
                // The file does not exist any more and will not be requested again; failing to remove its part is not worth
                // another error.
                if partial.length == 0 || matches!(error, Fault::File { .. }) {
                    let _ = partial.remove();
                }
                return Err(error);
            }
            match partial.check(task.file, tag) {
                Ok(()) => break,
                // The existing part may be from another program that writes in another order.
                Err(Fault::Hash { .. }) if resumed => self.restart(&mut partial)?,
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
        partial.finish(&self.repository.blob(tag))
    }

    /// Attempts until the whole file was fetched, or there is no hope of it.
    fn complete(&self, task: &Task, partial: &mut Partial, stop: &AtomicBool) -> Result<(), Fault> {
        let mut furthest = partial.length;
        let mut attempts = Attempts::new(self.watch);
        while let Err(failure) = self.attempt(task, partial, stop) {
            // Compared with the furthest attempt, since a server may break off at the same place forever.
            if partial.length >= furthest.saturating_add(PROGRESS) {
                attempts.start_again();
            }
            furthest = furthest.max(partial.length);
            attempts.wait(failure)?;
        }
        Ok(())
    }

    fn attempt(
        &self,
        task: &Task,
        partial: &mut Partial,
        stop: &AtomicBool,
    ) -> Result<(), AttemptError> {
        let (file, size) = (task.file, task.content.size);
        if size.is_some_and(|size| partial.length > size) {
            self.restart(partial)?;
        }
        if size == Some(partial.length) {
            return Ok(());
        }
        let from = partial.length;
        let answer = self.client.open(self.id, self.commit, file, from)?;
        let status = answer.status();
        let fits = match status {
            206 => answer.range_start() == Some(from),
            200 => from == 0,
            _ => false,
        };
        if !fits {
            // The server cannot or will not continue from there.
            self.restart(partial)?;
        }
        if !fits && status != 200 {
            return Err(AttemptError::transient(Fault::Protocol {
                url: answer.url().into(),
                message: format!("the server answered {status} to a request for a part of {file}"),
            }));
        }
        let url = answer.url().to_owned();
        self.receive(task, partial, answer.into_reader(), &url, stop)
    }

    /// Appends what the server at an address sends.
    fn receive(
        &self,
        task: &Task,
        partial: &mut Partial,
        mut reader: impl Read,
        url: &str,
        stop: &AtomicBool,
    ) -> Result<(), AttemptError> {
        let (file, size) = (task.file, task.content.size);
        let most = size.unwrap_or(MAX_UNTOLD);
        let mut buffer = vec![0; BUFFER];
        let (mut since, mut came) = (Instant::now(), 0);
        let broken = |length: u64, why: &str| {
            let of = size.map_or_else(String::new, |size| format!(" of {size}"));
            Err(AttemptError::transient(Fault::Unreachable {
                host: host(url).into(),
                message: format!("{file} broke off after {length}{of} bytes{why}"),
            }))
        };
        loop {
            if stop.load(Ordering::Relaxed) {
                // Another file failed, and its error is the one that is reported.
                return Err(Fault::io(&partial.path, ErrorKind::Interrupted.into()).into());
            }
            let count = match reader.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return broken(partial.length, &format!(" ({error})")),
            };
            if partial.length + count as u64 > most {
                // Whatever was fetched is not the wanted content.
                self.restart(partial)?;
                let message = format!("{file} is longer than the {most} bytes it should have");
                let url = url.into();
                return Err(Fault::Protocol { url, message }.into());
            }
            partial.write(&buffer[..count])?;
            (self.watch)(Event::Received(count as u64));
            came += count as u64;
            if since.elapsed() >= self.client.patience {
                if came < TRICKLE && size != Some(partial.length) {
                    let why = format!(": {came} bytes in {} s", since.elapsed().as_secs());
                    return broken(partial.length, &why);
                }
                (since, came) = (Instant::now(), 0);
            }
        }
        if size.is_some_and(|size| partial.length < size) {
            return broken(partial.length, "");
        }
        Ok(())
    }

    fn restart(&self, partial: &mut Partial) -> Result<(), Fault> {
        if partial.length > 0 {
            (self.watch)(Event::Discarded(partial.length));
        }
        partial.restart()
    }
}

/// The downloaded part of a file.
struct Partial {
    path: PathBuf,
    file: File,
    length: u64,
    /// Bytes fetched by this download, including those thrown away.
    fetched: u64,
    /// The SHA-256 of that part, if it will be needed.
    hash: Option<Sha256>,
}

impl Partial {
    /// Opens what an earlier attempt left, or begins. A part longer than `most` bytes cannot belong to this content and is
    /// discarded.
    fn open(path: PathBuf, tag: &ETag, most: u64) -> Result<Self, Fault> {
        let io = |source| Fault::io(&path, source);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|source| Fault::io(folder, source))?;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(&path).map_err(io)?;
        let mut length = file.metadata().map_err(io)?.len();
        if length > most {
            file.set_len(0).map_err(io)?;
            length = 0;
        }
        let mut hash = (tag.hash() == Some(Hash::Sha256)).then(Sha256::new);
        if let Some(hash) = &mut hash {
            // Limited, because a device has no end.
            let rest = (&mut file).take(length);
            each_piece(rest, |bytes| hash.update(bytes)).map_err(io)?;
        }
        file.seek(SeekFrom::Start(length)).map_err(io)?;
        Ok(Self {
            path,
            file,
            length,
            fetched: 0,
            hash,
        })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let written = self.file.write_all(bytes);
        written.map_err(|source| Fault::io(&self.path, source))?;
        self.length += bytes.len() as u64;
        self.fetched += bytes.len() as u64;
        if let Some(hash) = &mut self.hash {
            hash.update(bytes);
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<(), Fault> {
        let emptied = self.file.set_len(0).and_then(|()| self.file.rewind());
        emptied.map_err(|source| Fault::io(&self.path, source))?;
        self.length = 0;
        self.hash = self.hash.as_ref().map(|_| Sha256::new());
        Ok(())
    }

    /// Compares the content with the hash in its tag.
    fn check(&self, file: &FileName, tag: &ETag) -> Result<(), Fault> {
        let other = match &self.hash {
            Some(hash) => {
                Some(hash.hexadecimal()).filter(|found| !found.eq_ignore_ascii_case(tag.as_str()))
            }
            // git's hash begins with the length, which is known only now.
            None => wrong_hash(&self.path, tag).map_err(|source| Fault::io(&self.path, source))?,
        };
        match other.zip(tag.hash()) {
            None => Ok(()),
            Some((found, kind)) => Err(Fault::Hash {
                file: file.to_string(),
                kind: kind.name(),
                expected: tag.as_str().into(),
                found,
            }),
        }
    }

    fn remove(self) -> Result<(), Fault> {
        fs::remove_file(&self.path).map_err(|source| Fault::io(&self.path, source))
    }

    /// Makes it the blob, once it is safely on disk; returns the number of bytes fetched.
    fn finish(self, blob: &Path) -> Result<u64, Fault> {
        let synced = self.file.sync_all();
        synced.map_err(|source| Fault::io(&self.path, source))?;
        fs::rename(&self.path, blob).map_err(|source| Fault::io(blob, source))?;
        Ok(self.fetched)
    }
}

/// Processes the items, [`WORKERS`] at a time. After an error nothing new is begun, running work is asked to stop, and the
/// first error is returned.
pub(crate) fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T, &AtomicBool) -> Result<R, Fault> + Sync,
) -> Result<Vec<R>, Fault> {
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
            let thread = thread::Builder::new().name("download".into());
            if thread.spawn_scoped(scope, work).is_err() {
                // The other workers process the rest; if there are none, this thread processes all.
                if worker == 0 {
                    work();
                }
                break;
            }
        }
    });
    results.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Free bytes at a folder that may not exist yet; `None` if the system does not say.
#[cfg(unix)]
fn free_space(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|folder| folder.is_dir())?;
    let disk = rustix::fs::statvfs(there).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

#[cfg(not(unix))]
fn free_space(_: &Path) -> Option<u64> {
    None
}
