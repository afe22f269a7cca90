//! Hashes of files: those the hub names, and checking contents against them.
//!
//! Large files are named by their SHA-256. Small ones are named as git names them, by the SHA-1 of `blob LENGTH`, a zero byte
//! and the content; a mirror may name them by the SHA-1 of the content alone, which says as much.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256};

use crate::name::ETag;

/// How many bytes are read at once.
pub(crate) const BUFFER: usize = 1 << 17;

/// A kind of hash that names content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hash {
    Sha256,
    /// git's hash, or that of the content alone.
    Sha1,
}

impl Hash {
    /// Its name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "SHA-256",
            Self::Sha1 => "git hash (SHA-1)",
        }
    }
}

/// SHA-256 of content that arrives in pieces.
pub(crate) struct Sha256(Context);

impl Sha256 {
    pub(crate) fn new() -> Self {
        Self(Context::new(&SHA256))
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The hash of the content so far.
    pub(crate) fn hexadecimal(&self) -> String {
        hexadecimal(self.0.clone())
    }
}

/// Compares a file's content with the hash in its tag. Returns the content's hash if it differs; `None` if it matches, or if
/// the tag is not a hash.
pub(crate) fn wrong_hash(path: &Path, tag: &ETag) -> io::Result<Option<String>> {
    let Some(kind) = tag.hash() else {
        return Ok(None);
    };
    let mut file = File::open(path)?;
    let hashes = match kind {
        Hash::Sha256 => {
            let mut hash = Context::new(&SHA256);
            each_piece(&mut file, |bytes| hash.update(bytes))?;
            vec![hash]
        }
        Hash::Sha1 => {
            let mut plain = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
            let mut git = plain.clone();
            git.update(format!("blob {}\0", file.metadata()?.len()).as_bytes());
            each_piece(&mut file, |bytes| {
                git.update(bytes);
                plain.update(bytes);
            })?;
            vec![git, plain]
        }
    };
    let found: Vec<String> = hashes.into_iter().map(hexadecimal).collect();
    let is_right = |hash: &String| hash.eq_ignore_ascii_case(tag.as_str());
    let right = found.iter().any(is_right);
    Ok(found.into_iter().next().filter(|_| !right))
}

/// Reads to the end, piece by piece.
pub(crate) fn each_piece(mut file: impl Read, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => each(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn hexadecimal(hash: Context) -> String {
    let mut text = String::with_capacity(64);
    for byte in hash.finish().as_ref() {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_have_the_hashes_that_git_and_sha256sum_give() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hello");
        std::fs::write(&file, "hello\n").unwrap();
        let other = |tag: &str| wrong_hash(&file, &ETag::parse(tag).unwrap()).unwrap();
        let git = "ce013625030ba8dba906f756967f9e9ca394464a";
        let plain = "f572d396fae9206628714fb2ce00f72e94f2258f";
        let sha256 = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";
        for right in [git, plain, sha256, &git.to_uppercase(), "abc-1", "deadbeef"] {
            assert_eq!(other(right), None, "{right}");
        }
        assert_eq!(other(&"0".repeat(40)), Some(git.into()));
        assert_eq!(other(&"0".repeat(64)), Some(sha256.into()));
    }
}
