//! Answers kept in files, for later runs (`--cache DIR`).
//!
//! A cache is a folder of segments. Each process appends to a segment of its own and reads those of all others as they were when it began, so that nothing is
//! locked and any number of processes may use one folder, also on a network file system. A segment is a file of lines, an answer each (`segment`); a line that
//! a crash cut short, or whose checksum is not that of its content, is an answer that is not there.
//!
//! An answer is found by a hash of all that it depends on: the model's files and precision, the protocol, the chat settings, the
//! sampling, the seed and trial where chance decides, the limits, and the prompt's tokens.

mod segment;

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use candle_core::Device;

use crate::judge::EngineOptions;
use crate::judge::text::source::JudgeModel;
use crate::runtime::{AnswerKey, ModelAnswer};
use juror_base::threads::lock;
use juror_engine::checkpoint::CheckpointError;
use segment::{Place, Writer};

/// Bytes that a cache may hold unless the user says otherwise.
pub const CACHE_SIZE: u64 = 2_000_000_000;

/// Segments that were changed within this time may be another process's own.
const IN_USE: Duration = Duration::from_mins(10);

/// Segments that are open for reading at a time.
const OPEN: usize = 32;

/// Bytes of a segment that `prune` writes.
const PRUNED_SEGMENT: u64 = 256 << 20;

/// Why a cache cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Its folder, or a file in it, cannot be read or written.
    #[error("the cache {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is no cache: it holds {found}; name a folder of its own", folder.display())]
    NotACache { folder: PathBuf, found: String },
}

/// A model and how it computes, as far as its answers depend on it: the hash of its files, the precision, and the kinds of devices.
pub fn identity<'d>(
    model: &JudgeModel,
    options: &EngineOptions,
    devices: impl Iterator<Item = &'d Device>,
) -> Result<String, CheckpointError> {
    let mut kinds: Vec<&str> = devices.map(kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let precision = options.precision.describe().unwrap_or_default();
    Ok(format!("{} {precision} {}", model.hash()?, kinds.join(" ")))
}

fn kind(device: &Device) -> &'static str {
    match device {
        Device::Cpu => "cpu",
        Device::Cuda(_) => "cuda",
        Device::Metal(_) => "metal",
    }
}

/// A folder of answers, for the runs of one model.
#[derive(Debug)]
pub struct AnswerCache {
    folder: PathBuf,
    model: String,
    /// Bytes that it may hold.
    size: u64,
    segments: Vec<Segment>,
    places: HashMap<AnswerKey, (u32, Place)>,
    /// The segments that were read last, by number, the latest first.
    open: Mutex<Vec<(usize, File)>>,
    own: Mutex<Own>,
}

#[derive(Debug)]
struct Segment {
    path: PathBuf,
    hits: AtomicUsize,
}

#[derive(Debug, Default)]
struct Own {
    writer: Option<Writer>,
    places: HashMap<AnswerKey, Place>,
    failed: Option<String>,
}

impl Own {
    fn get(&mut self, key: &AnswerKey) -> Option<ModelAnswer> {
        let place = self.places.get(key)?;
        segment::read(self.writer.as_mut()?.file(), *place, key).ok()?
    }
}

impl PartialEq for AnswerCache {
    fn eq(&self, other: &Self) -> bool {
        (&self.folder, &self.model) == (&other.folder, &other.model)
    }
}

impl AnswerCache {
    /// Opens the cache in a folder, which is made if there is none, for a model: `model` tells it and how it computes. When the cache is
    /// dropped, the segments that were not used for longest are removed until no more than `size` bytes are left.
    /// Errors: when the folder cannot be read or made, or holds other files.
    pub fn open(folder: &Path, model: String, size: u64) -> Result<Self, CacheError> {
        fs::create_dir_all(folder).map_err(at(folder))?;
        let mut cache = Self {
            folder: folder.to_owned(),
            model,
            size,
            segments: Vec::new(),
            places: HashMap::new(),
            open: Mutex::default(),
            own: Mutex::default(),
        };
        for path in segments(folder)? {
            let number = cache.segments.len() as u32;
            let places = &mut cache.places;
            // One that another process removes meanwhile is as if it had not been there.
            if segment::scan(&path, |key, place| {
                places.insert(key, (number, place));
            })
            .is_ok()
            {
                cache.segments.push(Segment {
                    path,
                    hits: AtomicUsize::new(0),
                });
            }
        }
        Ok(cache)
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// The answer to a prompt, if it is there. What cannot be read is not there.
    pub(super) fn get(&self, key: &AnswerKey) -> Option<ModelAnswer> {
        self.of_others(key).or_else(|| lock(&self.own).get(key))
    }

    /// The answer that was there when the cache was opened.
    fn of_others(&self, key: &AnswerKey) -> Option<ModelAnswer> {
        let &(number, place) = self.places.get(key)?;
        let number = number as usize;
        let segment = self.segments.get(number)?;
        let mut open = lock(&self.open);
        let file = match open.iter().position(|(of, _)| *of == number) {
            Some(at) => open.remove(at).1,
            None => File::open(&segment.path).ok()?,
        };
        open.truncate(OPEN - 1);
        open.insert(0, (number, file));
        let answer = segment::read(&mut open.first_mut()?.1, place, key).ok()??;
        segment.hits.fetch_add(1, Ordering::Relaxed);
        Some(answer)
    }

    /// Keeps an answer. A cache that cannot be written costs no run: it then keeps nothing more, and says why at the end.
    pub(super) fn put(&self, key: &AnswerKey, answer: &ModelAnswer) {
        let mut own = lock(&self.own);
        if own.failed.is_some() {
            return;
        }
        // One that was not written to for a while may have been removed: its answers are elsewhere, or were too many.
        if own.writer.as_ref().is_some_and(|own| !own.path().exists()) {
            own.writer = None;
            own.places.clear();
        }
        let result = match &mut own.writer {
            Some(writer) => writer.append(key, answer),
            none => Writer::create(&self.folder)
                .and_then(|writer| none.insert(writer).append(key, answer)),
        };
        match result {
            Ok(place) => {
                own.places.extend(place.map(|place| (*key, place)));
            }
            Err(error) => own.failed = Some(error.to_string()),
        }
    }

    /// Waits until what was kept is on the disk.
    pub(crate) fn sync(&self) -> Result<(), String> {
        let mut own = lock(&self.own);
        if let Some(writer) = &mut own.writer
            && let Err(error) = writer.sync()
        {
            own.failed = Some(error.to_string());
        }
        own.failed.clone().map_or(Ok(()), Err)
    }
}

impl Drop for AnswerCache {
    fn drop(&mut self) {
        let used = self.segments.iter();
        let used = used.filter(|segment| segment.hits.load(Ordering::Relaxed) > 0);
        let used: HashSet<&Path> = used.map(|segment| segment.path.as_path()).collect();
        let own = lock(&self.own);
        let keep = own.writer.as_ref().map(Writer::path);
        // Nobody is left to be told; the next run tries again.
        let _ = evict(&self.folder, self.size, keep, &used);
        let now = SystemTime::now();
        for path in used {
            let file = File::options().append(true).open(path);
            // Fails if the file has gone, or on a read-only file system: neither matters.
            let _ = file.and_then(|file| file.set_modified(now));
        }
    }
}

/// Removes the segments that were not used for longest until no more than `size` bytes are left; those that were `used` now go last,
/// and not `keep`, nor one that was changed in the last ten minutes, which another process may be writing.
fn evict(
    folder: &Path,
    size: u64,
    keep: Option<&Path>,
    used: &HashSet<&Path>,
) -> Result<(), CacheError> {
    let mut found: Vec<(bool, SystemTime, PathBuf, u64)> = segments(folder)?
        .into_iter()
        .filter_map(|path| {
            let about = fs::metadata(&path).ok()?;
            let is_used = used.contains(path.as_path());
            Some((is_used, about.modified().ok()?, path, about.len()))
        })
        .collect();
    found.sort();
    let mut left: u64 = found.iter().map(|(.., bytes)| bytes).sum();
    for (_, changed, path, bytes) in found {
        if left <= size {
            break;
        }
        let may_go = Some(path.as_path()) != keep && !is_in_use(changed);
        if may_go && fs::remove_file(&path).is_ok() {
            left -= bytes;
        }
    }
    Ok(())
}

/// May a process be writing a segment changed at this time? Yes, also if the disk's clock is ahead.
fn is_in_use(changed: SystemTime) -> bool {
    let age = SystemTime::now().duration_since(changed);
    age.map_or(true, |age| age < IN_USE)
}

fn segments(folder: &Path) -> Result<Vec<PathBuf>, CacheError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(segment::ENDING) {
            // Regular files alone: a pipe blocks, a device never ends. One may have gone meanwhile.
            match fs::metadata(&path) {
                Ok(about) if about.is_file() => found.push(path),
                Ok(_) => {
                    return Err(CacheError::NotACache {
                        folder: folder.to_owned(),
                        found: format!("{name}, which is no regular file"),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(at(&path)(error)),
            }
        } else if !name.starts_with('.') {
            return Err(CacheError::NotACache {
                folder: folder.to_owned(),
                found: name.into_owned(),
            });
        }
    }
    found.sort();
    Ok(found)
}

/// `None` for a segment that another process has removed meanwhile.
fn unless_gone<T>(result: io::Result<T>, path: &Path) -> Result<Option<T>, CacheError> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some).map_err(at(path)),
    }
}

fn at(path: &Path) -> impl Fn(io::Error) -> CacheError {
    let path = path.to_owned();
    move |source| CacheError::Io {
        path: path.clone(),
        source,
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    pub segments: usize,
    pub bytes: u64,
    /// Answers, each once.
    pub answers: usize,
    /// Answers that are there more than once.
    pub repeated: usize,
    /// When the segment that was not used for longest was.
    pub oldest: Option<SystemTime>,
    /// Lines that are no answers, each as `file:line: why`: only [`verify`] looks for them.
    pub broken: Vec<String>,
}

pub fn statistics(folder: &Path) -> Result<CacheStatistics, CacheError> {
    let mut known: HashSet<AnswerKey> = HashSet::new();
    let mut statistics = CacheStatistics::default();
    for path in segments(folder)? {
        let Some(about) = unless_gone(fs::metadata(&path), &path)? else {
            continue;
        };
        statistics.segments += 1;
        statistics.bytes += about.len();
        if let Ok(used) = about.modified() {
            let oldest = statistics.oldest.get_or_insert(used);
            *oldest = used.min(*oldest);
        }
        let scanned = segment::scan(&path, |key, _| {
            statistics.repeated += usize::from(!known.insert(key));
        });
        unless_gone(scanned, &path)?;
    }
    statistics.answers = known.len();
    Ok(statistics)
}

/// As [`statistics`], and reads every answer.
pub fn verify(folder: &Path) -> Result<CacheStatistics, CacheError> {
    let mut statistics = statistics(folder)?;
    for path in segments(folder)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let checked = segment::check(&path, |line, why| {
            statistics.broken.push(format!("{name}:{line}: {why}"));
        });
        unless_gone(checked, &path)?;
    }
    Ok(statistics)
}

/// Writes all answers anew in few files, each answer once and without what is broken, then removes what was not used for longest until no more than `size`
/// bytes are left. Segments that were changed in the last ten minutes may belong to a process that runs, and stay as they are: how many they are is returned.
/// Errors: when the cache cannot be read or written; no answer is lost then.
pub fn prune(folder: &Path, size: u64) -> Result<usize, CacheError> {
    let mut in_use = 0;
    let mut known: HashSet<AnswerKey> = HashSet::new();
    // The segments that are being written anew, and the latest use of one of them.
    let (mut anew, mut latest) = (Vec::new(), SystemTime::UNIX_EPOCH);
    let mut writer: Option<Writer> = None;
    let finish = |writer: &mut Option<Writer>, anew: &mut Vec<PathBuf>, latest: &mut SystemTime| {
        if let Some(mut full) = writer.take() {
            // The new segment must be safely on disk before the old ones are deleted.
            full.finish(*latest).map_err(at(folder))?;
        }
        for path in anew.drain(..) {
            fs::remove_file(&path).map_err(at(&path))?;
        }
        *latest = SystemTime::UNIX_EPOCH;
        Ok(())
    };
    for path in segments(folder)? {
        let used = fs::metadata(&path).and_then(|about| about.modified());
        let used = used.map_err(at(&path))?;
        if is_in_use(used) {
            in_use += 1;
            continue;
        }
        let mut file = File::open(&path).map_err(at(&path))?;
        let mut places = Vec::new();
        segment::scan(&path, |key, place| places.push((key, place))).map_err(at(&path))?;
        for (key, place) in places {
            let answer = segment::read(&mut file, place, &key).map_err(at(&path))?;
            let Some(answer) = answer else {
                continue;
            };
            if !known.insert(key) {
                continue;
            }
            let own = match &mut writer {
                Some(own) => own,
                none => none.insert(Writer::create(folder).map_err(at(folder))?),
            };
            own.append(&key, &answer).map_err(at(folder))?;
        }
        anew.push(path);
        latest = latest.max(used);
        if writer
            .as_ref()
            .is_some_and(|own| own.bytes() > PRUNED_SEGMENT)
        {
            finish(&mut writer, &mut anew, &mut latest)?;
        }
    }
    finish(&mut writer, &mut anew, &mut latest)?;
    evict(folder, size, None, &HashSet::new())?;
    Ok(in_use)
}

#[cfg(test)]
mod tests;
