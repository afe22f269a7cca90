//! Names that come from the command line or from a server, checked before any of them becomes part of a path or a URL.
//!
//! Each kind is a type that only its check can make, so what has the type cannot leave the cache.

use std::fmt;
use std::path::Path;

use crate::error::{Fault, HubError};
use crate::hash::Hash;
use crate::layout::is_gguf;

/// The branch that is used if no revision is given.
pub(crate) const DEFAULT_REVISION: &str = "main";

/// What a repository holds. The names of each kind are separate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RepositoryKind {
    Model,
    DataSet,
}

impl RepositoryKind {
    /// Its folder in the hub's API, and the beginning of its folder in the cache.
    pub(crate) fn plural(self) -> &'static str {
        self.names()[0]
    }

    pub(crate) fn noun(self) -> &'static str {
        self.names()[1]
    }

    /// What else the name could have meant on this machine, for messages.
    pub(crate) fn local(self) -> &'static str {
        self.names()[2]
    }

    fn names(self) -> [&'static str; 3] {
        match self {
            Self::Model => ["models", "model", "folder"],
            Self::DataSet => ["datasets", "data set", "file or folder"],
        }
    }
}

/// A repository on the hub: `org/name`, or `org/name/FILE.gguf` for one of a model's GGUF files; with `@` and a branch, tag
/// or commit if not the default branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubId {
    kind: RepositoryKind,
    repository: String,
    /// The GGUF file; the first one of a model in several files.
    file: Option<FileName>,
    revision: String,
}

impl HubId {
    /// Parses `org/name` or `org/name/FILE.gguf`, each optionally with `@revision`. `None` if the text does not have this
    /// form at all: it may then be something else, such as a path.
    ///
    /// # Errors
    /// [`HubError`] for a hub id with an invalid revision.
    pub fn parse(text: &str) -> Result<Option<Self>, HubError> {
        let (path, revision) = match text.split_once('@') {
            Some((path, revision)) => (path, Some(revision)),
            None => (text, None),
        };
        let mut parts = path.splitn(3, '/');
        let (Some(organisation), Some(name)) = (parts.next(), parts.next()) else {
            return Ok(None);
        };
        let file = match parts.next() {
            None => None,
            Some(file) => match FileName::parse(file) {
                Some(file) if is_gguf(Path::new(file.as_str())) => Some(file),
                _ => return Ok(None),
            },
        };
        let repository = format!("{organisation}/{name}");
        if !is_repository_part(organisation) || !is_repository_part(name) || repository.len() > 96 {
            return Ok(None);
        }
        Ok(Some(Self {
            file,
            ..Self::new(&repository, revision)?
        }))
    }

    /// The model `repository` at a revision, or at the default branch.
    ///
    /// # Errors
    /// [`HubError`] for an invalid revision.
    pub fn new(repository: &str, revision: Option<&str>) -> Result<Self, HubError> {
        let revision = revision.unwrap_or(DEFAULT_REVISION);
        if let Some(message) = fault_of_revision(revision) {
            return Err(HubError::from(Fault::Id {
                name: format!("{repository}@{revision}"),
                message: message.into(),
            }));
        }
        Ok(Self {
            kind: RepositoryKind::Model,
            repository: repository.into(),
            file: None,
            revision: revision.into(),
        })
    }

    /// The data set `org/name`, optionally with `@revision`. `None` if the text is not such a name.
    pub(crate) fn data_set(text: &str) -> Result<Option<Self>, HubError> {
        let id = Self::parse(text)?.filter(|id| id.file.is_none());
        Ok(id.map(|id| Self {
            kind: RepositoryKind::DataSet,
            ..id
        }))
    }

    /// The same repository at another revision.
    pub(crate) fn at(&self, revision: &str) -> Self {
        Self {
            revision: revision.into(),
            ..self.clone()
        }
    }

    pub(crate) fn kind(&self) -> RepositoryKind {
        self.kind
    }

    /// `org/name`
    pub(crate) fn repository(&self) -> &str {
        &self.repository
    }

    /// The repository's path after the hub's address: `org/name`, or `datasets/org/name`.
    pub(crate) fn path(&self) -> String {
        match self.kind {
            RepositoryKind::Model => self.repository.clone(),
            RepositoryKind::DataSet => format!("datasets/{}", self.repository),
        }
    }

    /// The GGUF files to use, if one is named: that file, or all parts of a model in several, `NAME-00001-of-00003.gguf` and
    /// so on.
    pub(crate) fn files(&self) -> Vec<FileName> {
        let parts = self.file.as_ref().and_then(|file| {
            let (stem, ending) = file.as_str().rsplit_once('.')?;
            let (first, count) = stem.rsplit_once("-00001-of-")?;
            let parts: usize = count.parse().ok().filter(|_| count.len() == 5)?;
            // No model has more parts; a name must not cause an unbounded number of requests.
            let parts = Some(parts).filter(|parts| (1..=1000).contains(parts))?;
            let name = |part| format!("{first}-{part:05}-of-{parts:05}.{ending}");
            (1..=parts)
                .map(|part| FileName::parse(&name(part)))
                .collect()
        });
        parts.unwrap_or_else(|| self.file.iter().cloned().collect())
    }

    /// A branch, tag or commit.
    pub(crate) fn revision(&self) -> &str {
        &self.revision
    }

    /// The name of the repository's folder in the cache: `models--org--name`.
    pub(crate) fn folder(&self) -> String {
        let kind = self.kind.plural();
        format!("{kind}--{}", self.repository.replace('/', "--"))
    }

    /// The model whose folder in the cache has this name.
    pub(crate) fn of_folder(folder: &str) -> Option<Self> {
        let (organisation, name) = folder.strip_prefix("models--")?.split_once("--")?;
        Self::parse(&format!("{organisation}/{name}")).ok()?
    }
}

impl fmt::Display for HubId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.repository)?;
        if let Some(file) = &self.file {
            write!(f, "/{file}")?;
        }
        if self.revision != DEFAULT_REVISION {
            write!(f, "@{}", self.revision)?;
        }
        Ok(())
    }
}

/// The hub's own rule for the names of users, organisations and repositories.
fn is_repository_part(part: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    part.starts_with(word)
        && part.ends_with(word)
        && part.chars().all(|c| word(c) || c == '-' || c == '.')
        && !part.contains("--")
        && !part.contains("..")
}

/// Why a text cannot be the name of a branch or tag by git's rules; `None` if it can. A slash is allowed, and makes folders.
fn fault_of_revision(revision: &str) -> Option<&'static str> {
    if revision.is_empty() || revision.len() > 200 {
        return Some("a revision has 1 to 200 characters");
    }
    if revision
        .split('/')
        .any(|part| part.is_empty() || part.starts_with('.') || part.ends_with('.'))
        || revision.contains("..")
    {
        return Some("no part of a revision may be empty or begin or end with a dot");
    }
    let refused =
        |c: char| c.is_control() || c.is_whitespace() || "~^:?*[]\\@{}<>|\"'%#".contains(c);
    revision
        .contains(refused)
        .then_some("the revision has a character that no branch, tag or commit has")
}

/// The full hash of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Commit(String);

impl Commit {
    /// Parses 40 hexadecimal digits, or 64 for a repository that hashes by SHA-256.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let hexadecimal = text.bytes().all(digit);
        (matches!(text.len(), 40 | 64) && hexadecimal).then(|| Self(text.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Commit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a file's content: the SHA-256 of a large file, the git hash of a small one. It names the blob in the cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ETag(String);

impl ETag {
    /// Parses an `ETag` header, weak or strong.
    pub(crate) fn parse(header: &str) -> Option<Self> {
        let text = header.trim();
        let text = text.strip_prefix("W/").unwrap_or(text).trim_matches('"');
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (matches!(text.len(), 1..=128) && text.bytes().all(plain)).then(|| Self(text.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The kind of hash that the tag is; `None` for a tag that is not a hash of the content.
    pub(crate) fn hash(&self) -> Option<Hash> {
        let hexadecimal = self.0.bytes().all(|byte| byte.is_ascii_hexdigit());
        match self.0.len() {
            64 if hexadecimal => Some(Hash::Sha256),
            40 if hexadecimal => Some(Hash::Sha1),
            _ => None,
        }
    }
}

/// The name of a file in its repository, with the folders it lies in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FileName(String);

impl FileName {
    /// Parses a name without folders that is valid on every system: no separators, no drive, nothing hidden.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let refused = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
        let plain = matches!(text.len(), 1..=200)
            && !text.starts_with('.')
            && !text.ends_with(['.', ' '])
            && !text.contains(refused);
        plain.then(|| Self(text.into()))
    }

    /// Parses a name, or names of folders and a name with `/` between them, each as in [`Self::parse`].
    pub(crate) fn parse_path(text: &str) -> Option<Self> {
        let parts = || text.split('/');
        let plain = text.len() <= 500 && parts().all(|part| Self::parse(part).is_some());
        plain.then(|| Self(text.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// How many folders it lies in.
    pub(crate) fn depth(&self) -> usize {
        self.0.matches('/').count()
    }

    /// The name as a path in a URL.
    pub(crate) fn in_url(&self) -> String {
        let parts: Vec<String> = self.0.split('/').map(percent_encode).collect();
        parts.join("/")
    }
}

impl fmt::Display for FileName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A text as one segment of a URL's path.
pub(crate) fn percent_encode(text: &str) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use std::path::Component;

    use proptest::prelude::*;

    use super::*;

    /// Whether every part of a path is a plain name.
    fn stays_inside(path: &str) -> bool {
        let mut parts = Path::new(path).components();
        !path.is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
    }

    proptest! {
        #[test]
        fn no_text_becomes_a_way_out_of_the_cache(text in "[a-z0-9./\\\\:@~ \"\\-]{0,12}|.*") {
            let names = [
                ETag::parse(&text).map(|tag| tag.0),
                FileName::parse(&text).map(|file| file.0),
                FileName::parse_path(&text).map(|file| file.0),
                Commit::parse(&text).map(|commit| commit.0),
            ];
            for name in names.iter().flatten() {
                prop_assert!(stays_inside(name), "{name}");
            }
            prop_assert!(FileName::parse(&text).is_none_or(|file| file.depth() == 0));
            for id in [HubId::parse(&text), HubId::parse(&format!("org/name@{text}"))] {
                if let Ok(Some(id)) = id {
                    prop_assert!(stays_inside(&id.folder()) && stays_inside(id.revision()));
                    prop_assert!(!id.folder().contains('/'));
                }
            }
        }
    }

    #[test]
    fn ids_are_told_from_paths() {
        let id = |text: &str| {
            let id = HubId::parse(text).unwrap();
            id.map(|id| format!("{} {}", id.repository, id.revision))
        };
        for (text, expected) in [
            ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B main"),
            ("a/b@v1.0", "a/b v1.0"),
            ("a_1/b.c-d@refs/pr/1", "a_1/b.c-d refs/pr/1"),
        ] {
            assert_eq!(id(text).as_deref(), Some(expected));
        }
        for text in [
            "tiny", "./model", "../model", "/model", "a/b/c", "a/", "/b", "a/..", "a/.b", "a\\b",
            "C:/b", "a/b--c", "a--b/c", "a b/c", "a/b.", "~/b", "é/b", "", "@main",
        ] {
            assert_eq!(id(text), None, "{text}");
        }
        assert_eq!(id(&format!("a/{}", "b".repeat(95))), None);
    }

    #[test]
    fn one_gguf_file_of_a_repository_can_be_meant() {
        let files = |text: &str| {
            let id = HubId::parse(text).unwrap().unwrap();
            assert_eq!(id.to_string(), text);
            let names: Vec<String> = id.files().iter().map(ToString::to_string).collect();
            names.join(" ")
        };
        assert_eq!(files("org/name"), "");
        assert_eq!(files("org/name/m-Q4_K_M.gguf@v1"), "m-Q4_K_M.gguf");
        let parts = "m-00001-of-00002.gguf m-00002-of-00002.gguf";
        assert_eq!(files("org/name/m-00001-of-00002.gguf"), parts);
        for part in ["00002-of-00002", "00001-of-2", "00001-of-99999"] {
            let one = format!("m-{part}.gguf");
            assert_eq!(files(&format!("org/name/{one}")), one);
        }
        for path in ["m.bin", "a/m.gguf", ".gguf", "..gguf/x"] {
            assert_eq!(HubId::parse(&format!("org/name/{path}")).unwrap(), None);
        }
    }

    #[test]
    fn no_revision_leaves_its_folder() {
        let long = "x".repeat(201);
        let spaced = ["", "a b", "a\nb", &long];
        let others = ".. a/../../b /etc a//b a/ .git a/.b C:x a\\b a@b a?b a#b".split(' ');
        for revision in others.chain(spaced) {
            let error = HubId::parse(&format!("a/b@{revision}")).unwrap_err();
            let told = error.to_string().contains("is not a hub id");
            assert!(told, "{revision}: {error}");
        }
    }

    #[test]
    fn folders_and_ids_are_one_to_one() {
        let id = HubId::parse("org/na-me_1.5").unwrap().unwrap();
        assert_eq!(id.folder(), "models--org--na-me_1.5");
        assert_eq!(HubId::of_folder(&id.folder()), Some(id));
        let data = HubId::data_set("org/name@v1").unwrap().unwrap();
        assert_eq!(data.folder(), "datasets--org--name");
        assert_eq!(HubId::data_set("org/name/x.gguf").unwrap(), None);
        for folder in [
            "datasets--a--b",
            "models--a",
            "models--..--b",
            "models--a--..",
            "a--b",
        ] {
            assert_eq!(HubId::of_folder(folder), None, "{folder}");
        }
    }

    #[test]
    fn what_a_server_sends_becomes_no_path_outside_the_cache() {
        let of = |text: &str, count: usize| text.repeat(count);
        for text in ["", "main", "../x", &of("g", 40), &of("A", 40), &of("a", 39)] {
            assert_eq!(Commit::parse(text), None, "{text}");
        }
        assert!(Commit::parse(&of("0a", 20)).is_some());
        for text in [
            "",
            "\"\"",
            "../x",
            "a/b",
            "a\\b",
            "a.incomplete",
            "a:b",
            "..",
            &of("a", 129),
        ] {
            assert_eq!(ETag::parse(text), None, "{text}");
        }
        assert_eq!(ETag::parse("W/\"abc-1\"").unwrap().as_str(), "abc-1");
        for (tag, hash) in [
            (of("a", 40), Some(Hash::Sha1)),
            (of("a", 64), Some(Hash::Sha256)),
            (of("g", 40), None),
            (of("a", 32), None),
        ] {
            assert_eq!(ETag::parse(&tag).unwrap().hash(), hash, "{tag}");
        }
        for text in [
            "", ".", "..", "../x", "a/b", "a\\b", "C:x", ".hidden", "a\0b", "a\nb", "a ",
        ] {
            assert_eq!(FileName::parse(text), None, "{text}");
        }
        assert!(FileName::parse("model-00001-of-00002.safetensors").is_some());
        let nested = FileName::parse_path("main/test 1/0000.parquet").unwrap();
        assert_eq!(nested.depth(), 2);
        assert_eq!(nested.in_url(), "main/test%201/0000.parquet");
        for text in ["", "/a", "a/", "a//b", "a/../b", "a/.b", "./a", "a\\b/c"] {
            assert_eq!(FileName::parse_path(text), None, "{text}");
        }
    }

    #[test]
    fn a_revision_is_one_segment_of_a_url() {
        assert_eq!(percent_encode("refs/pr/1"), "refs%2Fpr%2F1");
        assert_eq!(percent_encode("v1.0-β"), "v1.0-%CE%B2");
    }
}
