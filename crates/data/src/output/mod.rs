//! Writes files by atomic rename, never over somebody else's, and the finished verdicts in input order.

mod file;
mod format;
mod mark;
mod table;
mod target;

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

pub use self::file::{OutputFile, Outputs};
pub use self::format::OutputFormat;
pub use self::mark::Mark;

pub(super) use self::table::KINDS;
pub use self::table::{CellKind, Column, JsonLineSink};
use self::target::Target;

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("could not write {}: {source}. Nothing that was there before is changed; make room or choose another output", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("could not write {}: {source}. It is not a file of this name alone, so it was written where it is and may hold a part; make room or choose another output", path.display())]
    WriteInPlace { path: PathBuf, source: io::Error },
    #[error("{} is not a name that juror writes: end it in .jsonl for JSON lines, .csv or .parquet", path.display())]
    Name { path: PathBuf },
    #[error("{} is there, and would be replaced: choose another output, or pass --force", path.display())]
    Exists { path: PathBuf },
    #[error("{} is an input, and would be replaced: name another file", path.display())]
    Input { path: PathBuf },
    #[error("{} is named for two outputs: name another file for one of them", path.display())]
    Twice { path: PathBuf },
    #[error("`-` is no file: name one, or /dev/stdout for standard output")]
    Dash,
    #[error("{} is a folder: name a file in it, as in `-o {}`", path.display(), path.join("verdicts.jsonl").display())]
    Folder { path: PathBuf },
    #[error("{} cannot be written: there is no folder {}; make it first, or choose another output", path.display(), folder.display())]
    NoFolder { path: PathBuf, folder: PathBuf },
    #[error("{} cannot be written: {source}; it is a link or has other names, so it is written in place", path.display())]
    InPlace { path: PathBuf, source: io::Error },
}

impl OutputError {
    /// The error that ended the filling of an output, where it is an `E` as [`io::Error::other`] takes it.
    pub fn own<E: Error + Send + Sync + 'static>(self) -> Result<E, Self> {
        match self {
            Self::Write { path, source } => source
                .downcast()
                .map_err(|source| Self::Write { path, source }),
            Self::WriteInPlace { path, source } => source
                .downcast()
                .map_err(|source| Self::WriteInPlace { path, source }),
            other => Err(other),
        }
    }
}

/// Finds out before anything is judged whether `out` can be a file.
pub fn check_place(out: &Path) -> Result<(), OutputError> {
    let path = out.to_owned();
    let folder = folder_of(out);
    if out.is_dir() {
        Err(OutputError::Folder { path })
    } else if let Target::InPlace = Target::from_path(out) {
        // A file that is written in place must be writable; a dangling link must lead into an existing folder.
        let open = fs::OpenOptions::new().write(true).open(out);
        let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        match open {
            Err(source) if !missing(&source) || !ends_in_a_folder(out) => {
                Err(OutputError::InPlace { path, source })
            }
            _ => Ok(()),
        }
    } else if folder.is_dir() {
        Ok(())
    } else {
        let folder = folder.to_owned();
        Err(OutputError::NoFolder { path, folder })
    }
}

/// Whether a dangling link leads into a folder that exists.
fn ends_in_a_folder(link: &Path) -> bool {
    fs::read_link(link).is_ok_and(|end| folder_of(&folder_of(link).join(end)).is_dir())
}

/// Whether other files can lie beside `out`: not beside a descriptor (`/dev/stdout`) or a device.
pub fn has_place_beside(out: &Path) -> bool {
    match Target::from_path(out) {
        Target::Descriptor(_) | Target::OtherDescriptor => false,
        Target::Stream => !fs::canonicalize(folder_of(out))
            .is_ok_and(|folder| folder.starts_with("/dev") || folder.starts_with("/proc")),
        Target::Replace(_) | Target::InPlace | Target::Folder => true,
    }
}

/// Lets `fill` write the whole of `path`.
///
/// A new file, and a regular file that has only this name, changes only once all of it is on disk: a reader sees the old file or the whole new one. A
/// temporary file in the same folder is written, synced and renamed; the mode is kept.
///
/// Nothing else is ever renamed over. The target of a symbolic link, and a file that has other names, are written in place once `fill` has written everything
/// to a temporary file. A device or pipe is written to as `fill` goes on; so is a descriptor of this process, such as `/dev/stdout`, after what was written
/// to it before.
fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    let whole = |source| OutputError::Write {
        path: path.to_owned(),
        source,
    };
    let in_place = |source| OutputError::WriteInPlace {
        path: path.to_owned(),
        source,
    };
    let open = |append| File::options().write(true).append(append).open(path);
    match Target::from_path(path) {
        Target::Folder => Err(OutputError::Folder {
            path: path.to_owned(),
        }),
        Target::Replace(permissions) => replace(path, permissions, fill).map_err(whole),
        Target::InPlace => {
            let mut filled = super::spool::temporary(Some(path)).map_err(whole)?;
            fill_stream(&filled, fill).map_err(whole)?;
            overwrite(path, &mut filled).map_err(in_place)
        }
        // Opening a descriptor again does not continue at its position, but appending never overwrites what was written before.
        other @ (Target::Stream | Target::OtherDescriptor) => {
            open(matches!(other, Target::OtherDescriptor))
                .and_then(|file| fill_stream(&file, fill))
                .map_err(in_place)
        }
        Target::Descriptor(1) => fill_stream(std::io::stdout().lock(), fill).map_err(in_place),
        Target::Descriptor(2) => fill_stream(std::io::stderr().lock(), fill).map_err(in_place),
        Target::Descriptor(number) => target::descriptor(number, path)
            .and_then(|file| fill_stream(&file, fill))
            .map_err(in_place),
    }
}

fn fill_stream(
    stream: impl Write,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(1 << 16, stream);
    fill(&mut writer)?;
    writer.flush()
}

/// Overwrites the content of the file at `path`, which stays the same file.
fn overwrite(path: &Path, content: &mut File) -> io::Result<()> {
    content.rewind()?;
    let mut file = File::create(path)?;
    io::copy(content, &mut file)?;
    file.sync_all()
}

fn replace(
    path: &Path,
    permissions: Option<fs::Permissions>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    remove_left_over(path);
    let temporary = temporary_beside(path)?;
    fill_stream(temporary.as_file(), fill)?;
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    temporary.as_file().sync_all()?;
    match temporary.persist(path) {
        Ok(_) => {}
        // A file that is itself a mount point, as in a container, cannot be renamed over.
        Err(error) if error.error.kind() == io::ErrorKind::ResourceBusy => {
            overwrite(path, &mut error.file.reopen()?)?;
        }
        Err(error) => return Err(error.error),
    }
    sync_folder(folder_of(path))
}

/// The extension of temporary files, which reading a folder meanwhile ignores.
const TEMPORARY: &str = ".tmp";

/// The number of random characters in a temporary file's name.
const RANDOM: usize = 6;

/// The beginning of a temporary file's name. No other program uses it, so such files may be removed.
fn temporary_prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(".{name}.juror-")
}

/// A temporary file in the folder of `path`, locked while it is written.
fn temporary_beside(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    /// The most attempts, in case another run takes a new file for a left-over one.
    const TRIES: usize = 16;
    let prefix = temporary_prefix(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).rand_bytes(RANDOM).suffix(TEMPORARY);
    // Temporary files are private by default; an output has the mode any other new file would have.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    for _ in 1..TRIES {
        let temporary = builder.tempfile_in(folder_of(path))?;
        // Without locks, left-over files are never removed, so none is mistaken for one. If another run holds the lock, it is about to remove the file.
        let locked = temporary.as_file().try_lock();
        let is_taken = matches!(locked, Err(fs::TryLockError::WouldBlock));
        if !is_taken && temporary.path().exists() {
            return Ok(temporary);
        }
    }
    builder.tempfile_in(folder_of(path))
}

/// Removes the temporary files that killed runs left when they wrote `path`. Failures are ignored: the next run tries again.
pub fn remove_left_over(path: &Path) {
    let prefix = temporary_prefix(path);
    let Ok(entries) = fs::read_dir(folder_of(path)) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        let random = name.strip_prefix(&prefix);
        let random = random.and_then(|name| name.strip_suffix(TEMPORARY));
        let ours = random.is_some_and(|random| {
            random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        if !ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        // A run that is still writing it holds the lock.
        if File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The file with this after its name.
pub(super) fn with_ending(file: &Path, ending: &str) -> PathBuf {
    let mut path = file.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

/// The folder a file lies in; `.` for a bare name.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes a new name in `folder` survive a power cut.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    // Some network file systems cannot sync a folder; the file's content is safe nevertheless.
    let synced = File::open(folder)?.sync_all();
    synced.or_else(|error| match error.kind() {
        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported => Ok(()),
        _ => Err(error),
    })
}

#[cfg(test)]
mod tests;
