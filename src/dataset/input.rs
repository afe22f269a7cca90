//! The files behind the inputs, and their bytes without compression.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;

use super::error::DatasetError;
use super::line::{LineLimit, read_line, skip_line};

/// The endings of names that are read in a folder; each also with one of [`COMPRESSED`].
const ENDINGS: [&str; 3] = [".jsonl", ".ndjson", ".json"];
const COMPRESSED: [&str; 2] = [".gz", ".zst"];
/// The lines that an earlier run set aside.
const REJECTED: &str = ".rejected.jsonl";

/// Bytes read at a time: enough to keep a fast disk busy.
const BUFFER: usize = 1 << 18;

/// One file of rows, or standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file, compressed or not.
    File(PathBuf),
}

impl Source {
    /// The name that messages use.
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "stdin".to_owned(),
            Self::File(path) => path.display().to_string(),
        }
    }

    /// Opens it, and tells by its first bytes how it is compressed. No line is taken into memory further than `limit`.
    ///
    /// # Errors
    /// When it cannot be read, or is of a kind that is not read.
    pub fn open(&self, limit: LineLimit) -> Result<Lines, DatasetError> {
        match self {
            Self::Stdin => Lines::new(self.name(), io::stdin().lock(), limit),
            Self::File(path) => {
                let unreadable = |source| DatasetError::Read {
                    file: self.name(),
                    source,
                };
                let file = File::open(path).map_err(unreadable)?;
                let regular = file.metadata().map_err(unreadable)?.is_file();
                let mut lines = Lines::new(self.name(), file, limit)?;
                lines.seekable = regular && lines.compression.is_none();
                Ok(lines)
            }
        }
    }
}

/// The files behind `inputs`, in the order given, a folder's sorted by path; `output` is skipped in folders.
///
/// # Errors
/// When an input is missing, is named twice, or is the output.
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
    /// The output's real path.
    output: Option<PathBuf>,
    /// The output's device and inode number, the same under all of its names.
    output_file: Option<(u64, u64)>,
    /// Files and folders met, by their real path, with the name they were met under.
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
        // A pipe under /dev/fd has no real path; what cannot be read at all is found out when it is opened.
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

    /// All files of rows in `folder` and the folders in it. A folder that is reached twice (by a symbolic link) is
    /// an error like a file that is, so the walk ends.
    fn folder(&mut self, folder: &Path) -> Result<(), DatasetError> {
        let real = fs::canonicalize(folder).map_err(|source| unreadable(folder, source))?;
        self.once(real, &folder.display().to_string())?;
        let mut paths = fs::read_dir(folder)
            .and_then(|entries| {
                entries
                    .map(|entry| entry.map(|entry| entry.path()))
                    .collect::<io::Result<Vec<_>>>()
            })
            .map_err(|source| unreadable(folder, source))?;
        paths.sort();
        for path in paths {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .to_lowercase();
            if name.starts_with('.') {
                continue;
            }
            if is_rows(&name) {
                if metadata(&path)?.is_file() {
                    self.file(&path, false)?;
                    continue;
                }
            } else if name.ends_with(".parquet") {
                // Leaving it out would judge a part of the data set and call it the whole.
                return Err(parquet(path.display().to_string()));
            }
            // A dangling link in a folder is ignored.
            if fs::metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
                self.folder(&path)?;
            }
        }
        Ok(())
    }
}

/// Device and number of a regular file: the same under all of its names. None where the system has no such thing.
fn file_number(path: &Path) -> Option<(u64, u64)> {
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

fn is_rows(name: &str) -> bool {
    let bare = COMPRESSED
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(name);
    ENDINGS.iter().any(|ending| bare.ends_with(ending)) && !bare.ends_with(REJECTED)
}

fn metadata(path: &Path) -> Result<fs::Metadata, DatasetError> {
    fs::metadata(path).map_err(|source| unreadable(path, source))
}

fn unreadable(path: &Path, source: io::Error) -> DatasetError {
    DatasetError::Read {
        file: path.display().to_string(),
        source,
    }
}

fn parquet(file: String) -> DatasetError {
    DatasetError::Format {
        file,
        found: "a Parquet file",
        advice: "convert it to JSON lines first",
    }
}

/// Does the file's name end so?
fn ending(file: &str, ending: &str) -> bool {
    Path::new(file)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}

/// The result of [`Lines::next`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// A line.
    Line,
    /// A line longer than the limit.
    TooLong,
    /// The end of the source.
    End,
}

/// The byte order mark that some editors write before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes that are kept of a line that is too long: enough to find it by.
const SHOWN_OF_TOO_LONG: usize = 1 << 10;

/// The lines of one source, decompressed.
pub struct Lines {
    file: String,
    compression: Option<&'static str>,
    reader: Box<dyn BufRead>,
    limit: LineLimit,
    line: usize,
    /// Bytes read so far, decompressed.
    read: u64,
    /// Where the line last read begins, past a byte order mark.
    offset: u64,
    /// Can a line be read again by its offset?
    seekable: bool,
}

impl Lines {
    /// Looks at the first bytes rather than the name to tell what `reader` holds.
    fn new(
        file: String,
        mut reader: impl Read + 'static,
        limit: LineLimit,
    ) -> Result<Self, DatasetError> {
        let mut head = Vec::with_capacity(4);
        if let Err(source) = reader.by_ref().take(4).read_to_end(&mut head) {
            return Err(DatasetError::Read { file, source });
        }
        let compression = match head.as_slice() {
            [0x1f, 0x8b, ..] => Some("gzip"),
            // A frame, or the skippable frame that some compressors begin with.
            [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => Some("zstd"),
            b"PAR1" => return Err(parquet(file)),
            [b'B', b'Z', b'h', _] => return Err(unpack(file, "compressed with bzip2")),
            [0xfd, b'7', b'z', b'X'] => return Err(unpack(file, "compressed with xz")),
            [b'P', b'K', 3, 4] => return Err(unpack(file, "a zip archive")),
            // An empty file is neither valid gzip nor valid zstd.
            [] if ending(&file, "gz") => Some("gzip"),
            [] if ending(&file, "zst") => Some("zstd"),
            _ => None,
        };
        let empty = head.is_empty();
        let bytes = io::Cursor::new(head).chain(reader);
        let reader: Box<dyn BufRead> = match compression {
            Some(compression) if empty => {
                let source = io::Error::new(io::ErrorKind::UnexpectedEof, "the file is empty");
                return Err(DatasetError::Compressed {
                    file,
                    compression,
                    line: 0,
                    source,
                });
            }
            Some("gzip") => Box::new(BufReader::with_capacity(
                BUFFER,
                MultiGzDecoder::new(BufReader::with_capacity(BUFFER, bytes)),
            )),
            Some(_) => match zstd(bytes) {
                Ok(decoder) => Box::new(BufReader::with_capacity(BUFFER, decoder)),
                Err(source) => return Err(DatasetError::Read { file, source }),
            },
            None => Box::new(BufReader::with_capacity(BUFFER, bytes)),
        };
        Ok(Self {
            file,
            compression,
            reader,
            limit,
            line: 0,
            read: 0,
            offset: 0,
            seekable: false,
        })
    }

    /// Reads the next line into `line`, without its end; of one that is too long its beginning alone.
    ///
    /// # Errors
    /// When the source cannot be read or decompressed, or a line that is too long has no end far behind the limit.
    pub fn next(&mut self, line: &mut Vec<u8>) -> Result<Next, DatasetError> {
        line.clear();
        let limit = self.limit.bytes();
        // Room for the mark and the line's end, which do not count.
        let most = limit as u64 + (BYTE_ORDER_MARK.len() + 2) as u64;
        let read = match read_line(&mut self.reader, line, most) {
            Ok(0) => return Ok(Next::End),
            Ok(read) => read as u64,
            Err(source) => return Err(self.broken_off(source)),
        };
        self.offset = self.read;
        self.read += read;
        self.line += 1;
        let whole = line.last() == Some(&b'\n') || read < most;
        for end in [b'\n', b'\r'] {
            if whole && line.last() == Some(&end) {
                line.pop();
            }
        }
        if self.line == 1 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
            self.offset += BYTE_ORDER_MARK.len() as u64;
        }
        if whole && line.len() <= limit {
            return Ok(Next::Line);
        }
        if !whole {
            let (skipped, ended) = skip_line(&mut self.reader, self.limit.passed_over())
                .map_err(|source| self.broken_off(source))?;
            self.read += skipped;
            if !ended {
                return Err(DatasetError::Endless {
                    file: self.file.clone(),
                    line: self.line,
                    read: read + skipped,
                });
            }
        }
        line.truncate(SHOWN_OF_TOO_LONG);
        Ok(Next::TooLong)
    }

    /// Why a line that is too long is not read.
    pub fn too_long(&self) -> String {
        format!(
            "longer than {} bytes: shorten it, or let lines be longer with --max-line-bytes",
            self.limit.0
        )
    }

    fn broken_off(&self, source: io::Error) -> DatasetError {
        let file = self.file.clone();
        match self.compression {
            Some(compression) => DatasetError::Compressed {
                file,
                compression,
                line: self.line,
                source,
            },
            None => DatasetError::Read { file, source },
        }
    }

    /// Where the line last read begins: bytes from the beginning of the source, decompressed.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Can a line be read again by its offset? Not in a compressed file, a pipe, or standard input.
    pub fn is_seekable(&self) -> bool {
        self.seekable
    }

    /// The number of the line last read, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The source's name in messages.
    pub fn file(&self) -> &str {
        &self.file
    }
}

fn zstd(bytes: impl Read + 'static) -> io::Result<impl Read> {
    let mut decoder = zstd::stream::read::Decoder::new(bytes)?;
    // What `zstd --ultra --long=31` writes.
    decoder.window_log_max(31)?;
    Ok(decoder)
}

fn unpack(file: String, found: &'static str) -> DatasetError {
    DatasetError::Format {
        file,
        found,
        advice: "unpack it, or pack it with gzip or zstd",
    }
}
