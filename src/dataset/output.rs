//! The finished verdicts, in input order, by atomic rename.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Creating, writing or renaming failed.
    #[error("could not write {}: {source}. Nothing that was there before is changed; make room or choose another output", path.display())]
    Write {
        /// The file that was to be written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The output is a folder.
    #[error("{} is a folder: name a file in it, as in `-o {}`", path.display(), path.join("verdicts.jsonl").display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// The output's folder is not there.
    #[error("{} cannot be written: there is no folder {}; make it first, or choose another output", path.display(), folder.display())]
    NoFolder {
        /// The output.
        path: PathBuf,
        /// The folder it would lie in.
        folder: PathBuf,
    },
}

/// Finds out before anything is judged whether `out` can be a file.
///
/// # Errors
/// When it is a folder, or would lie in one that is not there.
pub fn check_place(out: &Path) -> Result<(), OutputError> {
    let path = out.to_owned();
    let folder = folder_of(out);
    if out.is_dir() {
        Err(OutputError::Folder { path })
    } else if folder.is_dir() {
        Ok(())
    } else {
        let folder = folder.to_owned();
        Err(OutputError::NoFolder { path, folder })
    }
}

/// Lets `fill` write the whole of `path`, which changes only once all of it is on disk: a reader sees the old file or
/// the whole new one.
///
/// A temporary file in the same folder is written, synced and renamed. An existing file keeps its mode, a symbolic
/// link its name (what it points at is replaced), and a device or pipe is written to directly.
///
/// # Errors
/// When `fill` or any step of writing fails; what was at `path` before is then still there.
pub fn write_atomically(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), OutputError> {
    let existing = fs::metadata(path).ok();
    if existing.as_ref().is_some_and(fs::Metadata::is_dir) {
        return Err(OutputError::Folder {
            path: path.to_owned(),
        });
    }
    let written = match existing {
        // Renaming over /dev/null or a pipe would replace the device itself.
        Some(existing) if !existing.is_file() => write_through(path, fill),
        existing => replace(path, existing.map(|file| file.permissions()), fill),
    };
    written.map_err(|source| OutputError::Write {
        path: path.to_owned(),
        source,
    })
}

fn write_through(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::new(File::options().write(true).open(path)?);
    fill(&mut writer)?;
    writer.flush()
}

fn replace(
    path: &Path,
    permissions: Option<fs::Permissions>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let target = if permissions.is_some() {
        fs::canonicalize(path)?
    } else {
        path.to_owned()
    };
    let folder = folder_of(&target);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let mut builder = tempfile::Builder::new();
    // A hidden name that does not end in .jsonl: a folder that is read meanwhile does not show it.
    let prefix = format!(".{name}.");
    builder.prefix(&prefix).suffix(".tmp");
    // Temporary files are private by default; an output has the mode any other new file would have.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let temporary = builder.tempfile_in(folder)?;
    let mut writer = BufWriter::with_capacity(1 << 16, temporary.as_file());
    fill(&mut writer)?;
    writer.flush()?;
    drop(writer);
    if let Some(permissions) = permissions {
        temporary.as_file().set_permissions(permissions)?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(&target).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// The folder a file lies in; `.` for a bare name.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Makes a new name in `folder` survive a power cut.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        // Some network file systems cannot sync a folder; the file's content is safe all the same.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
            ) =>
        {
            Ok(())
        }
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(out: &Path, content: &str) -> Result<(), OutputError> {
        write_atomically(out, |writer| writer.write_all(content.as_bytes()))
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_failure_leaves_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("verdicts.jsonl");
        fs::write(&out, "before").unwrap();
        let error = write_atomically(&out, |writer| {
            writer.write_all(b"half of it")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        let message = error.unwrap_err().to_string();
        assert!(
            message.starts_with("could not write ") && message.contains("verdicts.jsonl: "),
            "{message}"
        );
        assert_eq!(fs::read_to_string(&out).unwrap(), "before");
        assert_eq!(names(folder.path()), ["verdicts.jsonl"]);
        assert!(
            finish(folder.path(), "")
                .unwrap_err()
                .to_string()
                .contains("is a folder")
        );
        assert!(finish(&folder.path().join("missing/out.jsonl"), "").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn modes_links_and_devices_are_kept() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let mode = |name: &str| {
            fs::metadata(folder.path().join(name))
                .unwrap()
                .permissions()
                .mode()
                & 0o777
        };
        fs::write(folder.path().join("usual"), "").unwrap();
        finish(&folder.path().join("new"), "").unwrap();
        assert_eq!(mode("new"), mode("usual"));

        fs::set_permissions(
            folder.path().join("usual"),
            fs::Permissions::from_mode(0o640),
        )
        .unwrap();
        std::os::unix::fs::symlink("usual", folder.path().join("link")).unwrap();
        finish(&folder.path().join("link"), "r0").unwrap();
        assert!(
            fs::symlink_metadata(folder.path().join("link"))
                .unwrap()
                .is_symlink()
        );
        assert_eq!(mode("usual"), 0o640);
        assert!(
            fs::read_to_string(folder.path().join("usual"))
                .unwrap()
                .contains("r0")
        );

        finish(Path::new("/dev/null"), "r0").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
