//! The kind of file that an output's path leads to, which decides how it is written.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::folder_of;

/// The kind of file that a path leads to.
#[derive(Debug)]
pub(super) enum Target {
    /// Nothing yet, or a regular file that has only this name, with its mode: it may be renamed over.
    Replace(Option<fs::Permissions>),
    /// A regular file that also has other names, or the target of a symbolic link, whether it exists or not.
    InPlace,
    /// A device, a pipe or a socket.
    Stream,
    /// A descriptor of this process, by its number.
    Descriptor(u32),
    /// A descriptor of another process.
    OtherDescriptor,
    Folder,
}

impl Target {
    /// The kind of file at `path`. One that cannot be examined counts as missing: creating it gives the error.
    pub(super) fn from_path(path: &Path) -> Self {
        if let Some(descriptor) = descriptor_of(path) {
            return descriptor;
        }
        let Ok(found) = fs::symlink_metadata(path) else {
            return Self::Replace(None);
        };
        let end = if found.is_symlink() {
            match fs::metadata(path) {
                Ok(end) => end,
                Err(_) => return Self::InPlace,
            }
        } else {
            found.clone()
        };
        if end.is_dir() {
            Self::Folder
        } else if !end.is_file() {
            Self::Stream
        } else if found.is_symlink() || has_other_names(&end) {
            Self::InPlace
        } else {
            Self::Replace(Some(end.permissions()))
        }
    }
}

#[cfg(unix)]
fn has_other_names(file: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(file) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &fs::Metadata) -> bool {
    false
}

/// The most symbolic links that are followed, as on Linux.
const LINKS: usize = 40;

/// The descriptor that `path` stands for, through any number of links: `/dev/stdout`, `/dev/fd/3`, `/proc/self/fd/1`. Such a name looks like a link to a
/// file, but is not one: the open file has a position, and may have been written to before.
fn descriptor_of(path: &Path) -> Option<Target> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let folder = fs::canonicalize(folder_of(&path)).ok()?;
        let name = path.file_name()?;
        if let Some(own) = holds_descriptors(&folder) {
            let number = name.to_str()?.parse().ok()?;
            return Some(if own {
                Target::Descriptor(number)
            } else {
                Target::OtherDescriptor
            });
        }
        let here = folder.join(name);
        // An absolute path replaces the folder.
        path = folder.join(fs::read_link(here).ok()?);
    }
    None
}

/// Whether the names in `folder` are the descriptors of this process; `None` if they are no descriptors.
fn holds_descriptors(folder: &Path) -> Option<bool> {
    if folder == Path::new("/dev/fd") {
        return Some(true);
    }
    let rest: PathBuf = folder.strip_prefix("/proc").ok()?.into();
    let parts = rest.iter().map(|part| part.to_str());
    let parts: Vec<&str> = parts.collect::<Option<_>>()?;
    match parts.as_slice() {
        [process, "fd"] | [process, "task", _, "fd"] => {
            Some(process.parse() == Ok(std::process::id()))
        }
        _ => None,
    }
}

/// This process's descriptor of that number, sharing its position in the file. If the system does not provide that, the file at `path`, opened for appending.
pub(super) fn descriptor(number: u32, path: &Path) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
        let number = i32::try_from(number).map_err(io::Error::other)?;
        let shared = pidfd_open(getpid(), PidfdFlags::empty())
            .and_then(|own| pidfd_getfd(own, number, PidfdGetfdFlags::empty()));
        match shared {
            Ok(descriptor) => return Ok(File::from(descriptor)),
            Err(error) if error == rustix::io::Errno::BADF => return Err(error.into()),
            // An old kernel, or a container that does not allow it.
            Err(_) => {}
        }
    }
    let _ = number;
    File::options().append(true).open(path)
}
