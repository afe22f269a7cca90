//! Keys and values of the beginning that all prompts to the embedded judge share, kept in a file from one start to the next.
//!
//! On a CPU they take longer to compute than all else that comes before its first answer. They are the same bits whenever they are
//! computed ([`super::cpu`]), so a file changes no result. Its name is a hash of all that they depend on, the program included; its
//! first bytes are one of its content under that name, and a file that is not whole counts as none. What cannot be read is computed,
//! and what cannot be written is not kept. Other models would have to be read whole for such a name, and their beginnings take
//! gigabytes, and longer than a start that cannot be interrupted may.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::attention::Attention;
use super::cpu::instructions::Instructions;
use super::{Decoder, Precision, StepBatch};
use crate::checkpoint::ModelSource;

/// Bytes of all files together; where there are more, those that were not used for longest go.
const MOST: u64 = 1 << 26;

/// A file of keys and values, which need not exist.
pub struct PrefixFile {
    path: PathBuf,
    key: blake3::Hash,
}

impl PrefixFile {
    /// Puts keys and values of `tokens` into the first blocks of a cache, read or else computed in steps of at most `step` tokens.
    /// Returns whether they are there: not those of another model than the embedded one, nor in a cache that is no plain memory, nor
    /// those of a last block that is not full, nor where a step fails, as that of a template longer than the context does.
    pub fn fill(
        source: &ModelSource,
        precision: Precision,
        (decoder, attention): (&Decoder, &mut dyn Attention),
        tokens: &[u32],
        step: usize,
    ) -> bool {
        // Libraries for products round by the machine.
        let ours = !cfg!(any(feature = "mkl", feature = "accelerate"));
        if !ours || !matches!(source, ModelSource::Embedded(_)) {
            return false;
        }
        let size = attention.block_size();
        let blocks = tokens.len() / size;
        let mut parts = attention.first_blocks(blocks);
        let file = folder()
            .zip(source.hash().ok())
            .and_then(|(folder, model)| {
                Self::new(&folder, &format!("{model} {precision:?}"), tokens)
            });
        let Some(file) = file.filter(|_| !parts.iter().all(|part| part.is_empty())) else {
            return false;
        };
        if file.read(&mut parts).is_ok_and(|is_sound| is_sound) {
            return true;
        }
        for start in (0..blocks * size).step_by(step.max(1)) {
            let end = (start + step.max(1)).min(blocks * size);
            let batch = StepBatch::in_first_blocks(&tokens[..end], end - start, size);
            if decoder.forward(&batch, attention).is_err() {
                return false;
            }
        }
        let _ = file.write(&attention.first_blocks(blocks));
        true
    }

    /// The file for these tokens, with `model` for all else that the numbers depend on, but for this program and what the system's
    /// functions give for angles. `None` where the program cannot be told from others.
    fn new(folder: &Path, model: &str, tokens: &[u32]) -> Option<Self> {
        let program = std::env::current_exe().ok()?;
        let about = program.metadata().ok()?;
        let built = (about.len(), about.modified().ok()?);
        let (version, set) = (env!("CARGO_PKG_VERSION"), Instructions::chosen());
        let angles = (1..100).map(|it| 0.37 * it as f32);
        let functions: Vec<_> = angles
            .map(|it| [it.cos(), it.sin(), it.exp(), it.powf(-0.73)].map(f32::to_bits))
            .collect();
        let program = program.display();
        let what =
            format!("{version} {program} {built:?} {set:?} {functions:?} {model} {tokens:?}");
        let key = blake3::hash(what.as_bytes());
        let path = folder.join(format!("{key}.kv"));
        Some(Self { path, key })
    }

    /// Fills all `parts`. Returns whether the file has exactly that many sound bytes: else the parts hold anything.
    fn read(&self, parts: &mut [&mut [u8]]) -> io::Result<bool> {
        // A pipe would be waited for.
        if !fs::metadata(&self.path)?.is_file() {
            return Ok(false);
        }
        let mut file = File::open(&self.path)?;
        let mut hash = [0; 32];
        file.read_exact(&mut hash)?;
        let mut hasher = blake3::Hasher::new_keyed(self.key.as_bytes());
        for part in parts {
            file.read_exact(part)?;
            hasher.update(part);
        }
        // The oldest are removed first: this one is used.
        let _ = file.set_modified(SystemTime::now());
        Ok(hasher.finalize() == hash && file.read(&mut [0])? == 0)
    }

    /// Keeps the bytes, and removes files that were not used for longest where all would be more than [`MOST`].
    fn write(&self, parts: &[&mut [u8]]) -> io::Result<()> {
        let own = parts.iter().map(|part| part.len() as u64).sum::<u64>();
        if own > MOST {
            return Ok(());
        }
        let folder = self.path.parent().unwrap_or(Path::new(""));
        fs::create_dir_all(folder)?;
        let mut files: Vec<(SystemTime, u64, PathBuf)> = fs::read_dir(folder)?
            .filter_map(|file| {
                let file = file.ok()?;
                let about = file.metadata().ok()?;
                Some((about.modified().ok()?, about.len(), file.path()))
            })
            .collect();
        files.sort_unstable();
        let mut all = files.iter().map(|file| file.1).sum::<u64>() + own;
        for (_, length, path) in files {
            if all > MOST && fs::remove_file(path).is_ok() {
                all -= length;
            }
        }
        if all > MOST {
            return Ok(());
        }
        let mut hasher = blake3::Hasher::new_keyed(self.key.as_bytes());
        for part in parts {
            hasher.update(part);
        }
        // Its own until it is whole: several programs may start at once.
        let new = self.path.with_extension(std::process::id().to_string());
        let _ = fs::remove_file(&new);
        let mut options = File::options();
        options.write(true).create_new(true);
        // Nobody else's: prompts are in it.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&new)?;
        let mut written = file.write_all(hasher.finalize().as_bytes());
        for part in parts {
            written = written.and_then(|()| file.write_all(part));
        }
        let kept = written.and_then(|()| fs::rename(&new, &self.path));
        kept.or_else(|_| fs::remove_file(&new))
    }
}

/// Where the user's files of all programs lie that can be made again, and ours among them.
fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let caches = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute());
    let caches = caches.or_else(|| Some(std::env::home_dir()?.join(".cache")));
    Some(caches?.join("juror/prefixes"))
}

#[cfg(test)]
mod tests {
    use super::{MOST, PrefixFile};

    #[test]
    fn what_is_read_is_what_was_written_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let own = |model: &str, tokens: &[u32]| {
            PrefixFile::new(&folder.path().join("a/b"), model, tokens).unwrap()
        };
        let file = own("one", &[1, 2]);
        let read = |file: &PrefixFile, lengths: [usize; 2]| {
            let mut parts = lengths.map(|length| vec![0; length]);
            let mut slices: Vec<&mut [u8]> = parts.iter_mut().map(Vec::as_mut_slice).collect();
            let is_sound = file.read(&mut slices).is_ok_and(|is_sound| is_sound);
            is_sound.then_some(parts)
        };
        assert_eq!(read(&file, [3, 2]), None);
        file.write(&[&mut [1, 2, 3], &mut [4, 5]]).unwrap();
        assert_eq!(read(&file, [3, 2]), Some([vec![1, 2, 3], vec![4, 5]]));
        for lengths in [[3, 1], [3, 3], [0, 0]] {
            assert_eq!(read(&file, lengths), None, "{lengths:?}");
        }
        for other in [own("two", &[1, 2]), own("one", &[1, 3]), own("one", &[1])] {
            assert_eq!(read(&other, [3, 2]), None);
            // Another's content under its name.
            std::fs::copy(&file.path, &other.path).unwrap();
            assert_eq!(read(&other, [3, 2]), None);
        }
        let whole = std::fs::read(&file.path).unwrap();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(&file.path, &changed).unwrap();
            assert_eq!(read(&file, [3, 2]), None, "byte {at}");
            std::fs::write(&file.path, &whole[..at]).unwrap();
            assert_eq!(read(&file, [3, 2]), None, "{at} bytes");
        }
        file.write(&[&mut [1, 2, 3], &mut [4, 5]]).unwrap();
        assert_eq!(std::fs::read(&file.path).unwrap(), whole);
        #[cfg(unix)]
        {
            std::fs::remove_file(&file.path).unwrap();
            let pipe = std::process::Command::new("mkfifo")
                .arg(&file.path)
                .status();
            assert!(pipe.unwrap().success());
            assert_eq!(read(&file, [3, 2]), None);
            file.write(&[&mut [1, 2, 3], &mut [4, 5]]).unwrap();
            assert_eq!(std::fs::read(&file.path).unwrap(), whole);
            let about = file.path.metadata().unwrap();
            let mode = std::os::unix::fs::MetadataExt::mode(&about);
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn the_folder_stays_within_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        // Holes: they take no place on the disk.
        for name in ["a", "b"] {
            let file = std::fs::File::create(folder.path().join(name)).unwrap();
            file.set_len(MOST * 3 / 5).unwrap();
            let age = std::time::Duration::from_secs(if name == "a" { 1000 } else { 9 });
            file.set_modified(std::time::SystemTime::now() - age)
                .unwrap();
        }
        let file = PrefixFile::new(folder.path(), "one", &[1]).unwrap();
        file.write(&[&mut [1]]).unwrap();
        assert!(!folder.path().join("a").exists());
        assert!(folder.path().join("b").exists() && file.path.exists());
    }
}
