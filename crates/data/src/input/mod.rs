//! The files that inputs stand for, and their rows: JSON lines, a JSON array, CSV or Parquet, detected by content.

mod archive;
mod bytes;
mod csv;
mod document;
mod foreign;
mod json_array;
mod json_lines;
#[warn(missing_docs)]
mod line;
mod parquet;

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use self::archive::Archive;
use self::bytes::{Bytes, ending, without_mark};
use self::csv::Csv;
use self::json_array::{ArrayState, JsonArray};
use self::json_lines::JsonLines;
pub(super) use self::line::read_line;
pub use self::line::{LineLimit, read_text};
use self::parquet::Parquet;
use super::error::DatasetError;
use super::journal::journal_path;
use super::preset;
use juror_base::threads::lock;

/// The endings of names that are read in a folder; each also with one of [`COMPRESSED`].
const ENDINGS: [&str; 7] = [
    ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".eval",
];
/// The error for a first line that may be a table's header.
pub(super) const MAY_BE_TABLE: &str =
    "if this is a table, name its columns with `--columns`, or end the file's name in .csv";
const COMPRESSED: [&str; 2] = [".gz", ".zst"];
/// The extension of files with lines that an earlier run set aside.
pub(super) const REJECTED: &str = ".rejected.jsonl";

/// Files that stand for others, and the names of those.
static STAND_INS: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// Has messages and lines that are set aside name `other` for the file `path`, whose lines are those of it.
pub fn stands_for(path: PathBuf, other: String) {
    lock(&STAND_INS).insert(path, other);
}

/// One file of rows, or standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Stdin,
    /// A file, compressed or not.
    File(PathBuf),
}

impl Source {
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "stdin".to_owned(),
            Self::File(path) => match lock(&STAND_INS).get(path) {
                Some(other) => other.clone(),
                None => path.display().to_string(),
            },
        }
    }

    /// Opens it, and tells by its first bytes how it is compressed and what rows it holds. No row is taken into memory beyond `limit`; what must be copied to
    /// be read is copied to a temporary file beside `output`. `named` are keys that the user named: a first line with one of them is a table's header.
    pub fn open(
        &self,
        limit: LineLimit,
        output: Option<&Path>,
        named: &[String],
    ) -> Result<Box<dyn RowReader>, DatasetError> {
        match self {
            Self::Stdin => {
                let bytes = Bytes::new(self.name(), io::stdin().lock(), limit, false)?;
                rows(bytes, None, output, named)
            }
            Self::File(path) => {
                let mut file = File::open(path).map_err(unreadable(path))?;
                let regular = file.metadata().map_err(unreadable(path))?.is_file();
                if regular && let Some(log) = Archive::open(self.name(), &mut file, limit)? {
                    return Ok(Box::new(log));
                }
                let bytes = Bytes::new(self.name(), file, limit, regular)?;
                rows(bytes, Some(path), output, named)
            }
        }
    }
}

/// A reader for the format that `bytes` appear to have.
fn rows(
    mut bytes: Bytes,
    path: Option<&Path>,
    output: Option<&Path>,
    named: &[String],
) -> Result<Box<dyn RowReader>, DatasetError> {
    let file = bytes.file.clone();
    let head = bytes.beginning()?;
    foreign::check(&file, &head)?;
    if head.starts_with(parquet::MAGIC) {
        return Ok(Box::new(Parquet::new(bytes, path, output)?));
    }
    let text = without_mark(&head);
    if text.starts_with(b"[") {
        return Ok(Box::new(JsonArray::new(bytes)));
    }
    let header = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    // The keys of an object of several lines are on later ones.
    let long = match header.trim_ascii_end() {
        b"{" => bytes.ahead(|_| false)?,
        _ => head.clone(),
    };
    let whole = without_mark(&long);
    let keys = whole.starts_with(b"{").then(|| document::top_keys(whole));
    let list = keys.and_then(|keys| preset::list_in(&keys));
    let is_numbered = document::is_numbered(whole);
    // A lone brace before another object is a damaged line of JSON lines.
    let after = text.get(header.len()..).unwrap_or_default();
    let is_bare = header.trim_ascii_end() == b"{" && !after.trim_ascii_start().starts_with(b"{");
    if list.is_some() || is_numbered || is_bare {
        let mut array = JsonArray::new(bytes);
        match list {
            Some(list) => array.list = list,
            None if is_numbered => array.end = b'}',
            None => array.state = ArrayState::Bare,
        }
        return Ok(Box::new(array));
    }
    if header.first().is_none_or(|&byte| byte == b'{') {
        return Ok(Box::new(JsonLines::new(bytes)));
    }
    let delimiter = csv::delimiter(&file, header);
    let mut bare = COMPRESSED.iter();
    let bare = bare.find_map(|ending| file.strip_suffix(ending));
    let bare = bare.unwrap_or(&file);
    let named_so = ending(bare, "csv") || ending(bare, "tsv");
    let names = csv::names(header, delimiter);
    let is_known = |name: &String| preset::is_known_key(name) || named.contains(name);
    if named_so || (names.len() > 1 && names.iter().any(is_known)) {
        return Ok(Box::new(Csv::new(bytes, delimiter)?));
    }
    Ok(Box::new(JsonLines::new(bytes)))
}

/// The files that `inputs` stand for, in the order given, a folder's sorted by path; `output` is skipped in folders.
pub fn sources(inputs: &[PathBuf], output: Option<&Path>) -> Result<Vec<Source>, DatasetError> {
    if inputs.is_empty() {
        return Err(DatasetError::NoInput);
    }
    let mut finder = Finder {
        output: output.and_then(|path| fs::canonicalize(path).ok()),
        output_file: output.and_then(file_number),
        seen: HashMap::new(),
        sources: Vec::new(),
    };
    for input in inputs {
        if input.as_os_str() == "-" {
            finder.once(PathBuf::from("-"), "-")?;
            finder.sources.push(Source::Stdin);
        } else if metadata(input)?.is_dir() {
            let before = finder.sources.len();
            finder.folder(input)?;
            if finder.sources.len() == before {
                return Err(DatasetError::EmptyFolder {
                    folder: input.display().to_string(),
                });
            }
        } else {
            finder.file(input, true)?;
        }
    }
    Ok(finder.sources)
}

struct Finder {
    output: Option<PathBuf>,
    /// The output's device and inode number, the same under all of its names.
    output_file: Option<(u64, u64)>,
    /// Files and folders visited, by their canonical path, with the name they were found under.
    seen: HashMap<PathBuf, String>,
    sources: Vec<Source>,
}

impl Finder {
    fn once(&mut self, real: PathBuf, name: &str) -> Result<(), DatasetError> {
        match self.seen.insert(real, name.to_owned()) {
            Some(first) => Err(DatasetError::DuplicateInput {
                first,
                second: name.to_owned(),
            }),
            None => Ok(()),
        }
    }

    fn file(&mut self, path: &Path, named: bool) -> Result<(), DatasetError> {
        // A pipe under /dev/fd has no canonical path; unreadable paths fail when they are opened.
        let real = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let same = self.output_file.is_some() && self.output_file == file_number(path);
        if same || self.output.as_ref() == Some(&real) {
            return if named {
                Err(DatasetError::OutputIsInput {
                    file: path.display().to_string(),
                })
            } else {
                Ok(())
            };
        }
        self.once(real, &path.display().to_string())?;
        self.sources.push(Source::File(path.to_owned()));
        Ok(())
    }

    /// Adds all files of rows in `folder` and its subfolders. A folder that is reached twice (by a symbolic link) is an error, as for a file, so the walk
    /// ends.
    fn folder(&mut self, folder: &Path) -> Result<(), DatasetError> {
        let real = fs::canonicalize(folder).map_err(unreadable(folder))?;
        self.once(real, &folder.display().to_string())?;
        let mut paths = fs::read_dir(folder)
            .and_then(|entries| {
                entries
                    .map(|entry| entry.map(|entry| entry.path()))
                    .collect::<io::Result<Vec<_>>>()
            })
            .map_err(unreadable(folder))?;
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = name.to_lowercase();
            if name.starts_with('.') {
                continue;
            }
            // The folder is a data set of `datasets` as it lies on disk: its other files hold no rows.
            if ending(&name, "arrow") && folder.join("state.json").exists() {
                foreign::check(&path.display().to_string(), foreign::STREAM)?;
            }
            if is_rows_file(&name) && metadata(&path)?.is_file() {
                // A file with a journal beside it holds the verdicts of another run.
                if journal_path(&path).exists() {
                    continue;
                }
                self.file(&path, false)?;
                continue;
            }
            // A dangling link in a folder is ignored.
            if fs::metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
                self.folder(&path)?;
            }
        }
        Ok(())
    }
}

/// Device and inode number of a regular file, the same under all of its names. `None` on systems without such numbers.
pub fn file_number(path: &Path) -> Option<(u64, u64)> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let file = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some((file.dev(), file.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

pub fn is_rows_file(name: &str) -> bool {
    let name = name.to_lowercase();
    let mut bare = COMPRESSED.iter();
    let bare = bare
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    ENDINGS.iter().any(|ending| bare.ends_with(ending)) && !bare.ends_with(REJECTED)
}

fn metadata(path: &Path) -> Result<fs::Metadata, DatasetError> {
    fs::metadata(path).map_err(unreadable(path))
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> DatasetError {
    DatasetError::unreadable(path.display().to_string())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    Row,
    /// Something that is not a row, and why.
    Bad(String),
    End,
}

/// The rows of one source, one after another, each as the text of a JSON object (not yet known to be valid).
pub trait RowReader {
    /// Reads the next row into `row`; for something that is not a row its text, or the beginning of that.
    fn next(&mut self, row: &mut Vec<u8>) -> Result<Next, DatasetError>;

    /// The place of the last row for messages: its line, from 1, or its number in a Parquet file.
    fn place(&self) -> usize;

    /// The offset of the last row in the file, if it can be read again from there.
    fn offset(&self) -> Option<u64> {
        None
    }

    /// Whether the rows are those of a table, CSV or Parquet.
    fn is_table(&self) -> bool {
        false
    }
}

/// How many bytes are kept of a row that is too long: enough to find it by.
const SHOWN_OF_TOO_LONG: usize = 1 << 10;

/// Cuts a row that is too long, and says why it is not read.
fn too_long(row: &mut Vec<u8>, limit: LineLimit) -> String {
    row.truncate(SHOWN_OF_TOO_LONG);
    format!(
        "longer than {} bytes: shorten it, or let lines be longer with --max-line-bytes",
        limit.0
    )
}
