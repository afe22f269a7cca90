//! Where a model's files come from: compiled in, a folder, or the hub by way of its cache.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::adapter::Adapter;
use super::gguf::Gguf;
use super::{tokenizer_config, unsuitable};
use crate::checkpoint::{CheckpointError, Result};
use juror_hub::layout::{self, CONFIG_FILE, WEIGHTS_FILE, WEIGHTS_INDEX, is_gguf};

/// Files that, with the weights, decide what a model answers.
const IDENTITY_FILES: &str = "config.json generation_config.json tokenizer.json tokenizer_config.json chat_template.jinja judge.json";

/// The longest text file of a model, in bytes; vocabularies of 260 thousand tokens take 35 MB.
const MAX_TEXT: u64 = 128 << 20;

/// A model compiled into the binary.
#[derive(Debug)]
pub struct EmbeddedModel {
    /// The name that `--model` takes.
    pub name: &'static str,
    /// Names and texts of its other files.
    pub texts: &'static [(&'static str, &'static str)],
    pub weights: PackedFile,
}

/// A file of bf16 numbers, 12 bits of each: the exponents of nearly all begin with the bits 0111.
#[derive(Debug)]
pub struct PackedFile {
    /// Of each 64 numbers the lower bytes, then what the upper ones have beside these bits, of numbers `i` and `32 + i` in one byte.
    pub blocks: &'static [u8],
    /// The upper bytes with other bits, in order: four bytes each, the byte and its place in the file.
    pub others: &'static [u8],
}

#[derive(Debug, Clone)]
pub enum ModelSource {
    Embedded(&'static EmbeddedModel),
    /// A folder in the layout of the Hugging Face hub.
    Folder(PathBuf),
    /// A GGUF file, which holds everything.
    Gguf(Arc<Gguf>),
    /// A model whose weights an adapter changes.
    Adapted(Arc<Adapted>),
}

#[derive(Debug)]
pub struct Adapted {
    pub(super) base: ModelSource,
    pub(super) adapter: Adapter,
}

impl Adapted {
    /// Where a text file is taken from. Training tools save tokenizer and chat template with the adapter as it was trained
    /// with them; `judge.json` is of the one judge that it lies beside.
    fn holder(&self, file: &str) -> &ModelSource {
        let own = self.adapter.source();
        let mut with_tokenizer =
            "tokenizer.json tokenizer_config.json chat_template.jinja".split(' ');
        if file == "judge.json" || with_tokenizer.any(|it| it == file) && own.has("tokenizer.json")
        {
            own
        } else {
            &self.base
        }
    }
}

impl ModelSource {
    /// The model at a path: a folder, or a GGUF file.
    /// Errors: as [`Self::in_folder`]; [`CheckpointError::Unsupported`] for another file, or the error of reading a GGUF file's header.
    pub fn at(path: &Path) -> Result<Self> {
        if path.is_dir() {
            Self::in_folder(path)
        } else if is_gguf(path) {
            Ok(Self::Gguf(Arc::new(Gguf::open(path)?)))
        } else {
            Err(unsuitable::file(path))
        }
    }

    /// The model of a folder: a checkpoint in Safetensors if there is one, else the one GGUF file in it.
    /// Errors: [`CheckpointError::MissingFile`] for a folder without a configuration, [`CheckpointError::Pickled`] for one with only
    /// pickled weights, [`CheckpointError::Unsupported`] for adapters and embedding models, or the error of reading a GGUF file's header.
    pub fn in_folder(folder: &Path) -> Result<Self> {
        let source = Self::Folder(folder.into());
        let safetensors = source.has(WEIGHTS_FILE) || source.has(WEIGHTS_INDEX);
        // Folders of GGUF files may hold the original's configuration too.
        if !safetensors && let Some(file) = Gguf::find(folder)? {
            return Ok(Self::Gguf(Arc::new(Gguf::open(&file)?)));
        }
        unsuitable::refuse_adapter(folder, safetensors)?;
        if !source.has(CONFIG_FILE) {
            return Err(CheckpointError::missing(folder, CONFIG_FILE));
        }
        // Checked only where there are no other weights.
        if !safetensors && let Some(file) = layout::pickled_in(folder) {
            let folder = folder.into();
            return Err(CheckpointError::Pickled { folder, file });
        }
        if source.has(layout::SENTENCE_TRANSFORMERS) {
            return Err(CheckpointError::Unsupported(format!(
                "{}: {}: {}",
                folder.display(),
                layout::EMBEDDING,
                layout::TAKE_A_CHAT_MODEL
            )));
        }
        Ok(source)
    }

    /// This model with an adapter's weights added.
    /// Errors: [`CheckpointError::Unsupported`] for a model in a GGUF file.
    pub fn with_adapter(self, adapter: Adapter) -> Result<Self> {
        if matches!(self, Self::Gguf(_)) {
            return Err(CheckpointError::Unsupported(format!(
                "{self}: an adapter is not merged into a GGUF file, whose weights are mostly quantised: give the model that it \
                 was made from, or merge with llama.cpp's llama-export-lora"
            )));
        }
        let base = self;
        Ok(Self::Adapted(Arc::new(Adapted { base, adapter })))
    }

    /// The adapter that changes its weights.
    pub fn adapter(&self) -> Option<&Adapter> {
        match self {
            Self::Adapted(model) => Some(&model.adapter),
            _ => None,
        }
    }

    pub fn adapter_hash(&self) -> Result<Option<String>> {
        self.adapter().map(Adapter::hash).transpose()
    }

    /// The model and commit on the hub that it was taken from, `org/name@commit`; `None` for models from elsewhere. Of a model
    /// with an adapter, that of its base.
    pub fn origin(&self) -> Option<String> {
        match self {
            Self::Adapted(model) => model.base.origin(),
            Self::Embedded(_) => None,
            Self::Folder(folder) => juror_hub::origin(folder),
            Self::Gguf(model) => juror_hub::origin(model.path().parent()?),
        }
    }

    pub fn has(&self, file: &str) -> bool {
        match self {
            Self::Embedded(model) => model.text(file).is_some() || file == WEIGHTS_FILE,
            Self::Folder(folder) => folder.join(file).is_file(),
            Self::Gguf(model) => model.text(file).is_some(),
            Self::Adapted(model) => model.holder(file).has(file),
        }
    }

    /// Whether the model has weights; a model from the hub may have been fetched without them.
    pub fn has_weights(&self) -> bool {
        self.weight_files().is_ok()
    }

    /// How many files the weights are in, and how many bytes these have.
    pub fn weight_files(&self) -> Result<(usize, u64)> {
        let files = super::weights::files(self)?;
        let mut bytes = 0;
        for file in &files {
            bytes += self.open(file)?.1;
        }
        Ok((files.len(), bytes))
    }

    pub fn describe(&self, file: &str) -> String {
        match self {
            Self::Embedded(model) => format!("{}/{file} (built in)", model.name),
            Self::Folder(folder) => folder.join(file).display().to_string(),
            Self::Gguf(model) => match model.file(file) {
                Some(path) => path.display().to_string(),
                None => format!("{} (its metadata)", model.path().display()),
            },
            Self::Adapted(model) => model.holder(file).describe(file),
        }
    }

    /// Reads a text file of the model.
    pub fn read_text(&self, file: &str) -> Result<String> {
        let held = |text: Option<&str>, by: &Path| match text {
            Some(text) => Ok(text.to_owned()),
            None => Err(CheckpointError::missing(by, file)),
        };
        match self {
            Self::Adapted(model) => model.holder(file).read_text(file),
            Self::Embedded(model) => held(model.text(file), Path::new(model.name)),
            Self::Gguf(model) => held(model.text(file), model.path()),
            Self::Folder(folder) => {
                let path = folder.join(file);
                if !path.is_file() {
                    return Err(unsuitable::missing(folder, file));
                }
                unsuitable::refuse_pointer(&path)?;
                let io = CheckpointError::reading(path.display().to_string());
                let length = path.metadata().map_err(&io)?.len();
                if length > MAX_TEXT {
                    return Err(io(std::io::Error::other(format!(
                        "it has {length} bytes, more than {MAX_TEXT}: it is not what its name says"
                    ))));
                }
                let text = std::fs::read_to_string(&path).map_err(io)?;
                match file {
                    "tokenizer_config.json" => tokenizer_config::completed(folder, text),
                    _ => Ok(text),
                }
            }
        }
    }

    /// BLAKE3 over the configuration, the tokenizer, the chat template and the weights, and those of an adapter: the model's
    /// identity, as a run's manifest records it. The same files give the same hash wherever they lie.
    pub fn hash(&self) -> Result<String> {
        match self {
            Self::Adapted(model) => {
                let hashes = [model.base.hash()?, model.adapter.hash()?];
                let hash = blake3::hash(hashes.join(" ").as_bytes());
                Ok(hash.to_hex().to_string())
            }
            // Texts made from a GGUF file's metadata are covered by the file.
            Self::Gguf(_) => self.hash_of("", &super::weights::files(self)?),
            _ => self.hash_of(IDENTITY_FILES, &super::weights::files(self)?),
        }
    }

    /// The same over configuration, tokenizer and chat template alone: what prompts and answers depend on where the weights are elsewhere.
    pub fn description_hash(&self) -> Result<String> {
        self.hash_of(IDENTITY_FILES, &[])
    }

    /// BLAKE3 over the given weight files, and over those text files, with a space between them, that exist.
    pub(super) fn hash_of(&self, texts: &str, weights: &[String]) -> Result<String> {
        let mut hasher = blake3::Hasher::new();
        // Names and lengths are hashed too, so that no file can pass for part of another.
        for file in texts.split_whitespace().filter(|file| self.has(file)) {
            let text = self.read_text(file)?;
            hasher.update(format!("{file}\n{}\n", text.len()).as_bytes());
            hasher.update(text.as_bytes());
        }
        for file in weights {
            let (reader, length) = self.open(file)?;
            // People rename GGUF files, whose parts are in order; the others' names are their formats'.
            let name = Some(file.as_str()).filter(|_| !matches!(self, Self::Gguf(_)));
            hasher.update(format!("{}\n{length}\n", name.unwrap_or_default()).as_bytes());
            let hashed = hasher.update_reader(reader);
            hashed.map_err(CheckpointError::reading(self.describe(file)))?;
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// Opens a weight file; also returns its length in bytes.
    pub(crate) fn open(&self, file: &str) -> Result<(WeightFile, u64)> {
        match self {
            Self::Adapted(model) => model.base.open(file),
            Self::Embedded(model) if file == WEIGHTS_FILE => Ok((
                WeightFile::Embedded(&model.weights, 0),
                model.weights.length(),
            )),
            Self::Embedded(model) => Err(CheckpointError::missing(model.name, file)),
            Self::Folder(folder) => open_in(folder, Some(folder.join(file)), file),
            Self::Gguf(model) => open_in(model.path(), model.file(file).map(Path::to_owned), file),
        }
    }
}

/// Opens the weight file `file` of what is at `whole`; also returns its length in bytes.
fn open_in(whole: &Path, path: Option<PathBuf>, file: &str) -> Result<(WeightFile, u64)> {
    let Some(path) = path.filter(|path| path.is_file()) else {
        return Err(CheckpointError::missing(whole, file));
    };
    unsuitable::refuse_pointer(&path)?;
    let io = CheckpointError::reading(path.display().to_string());
    let opened = File::open(path).map_err(&io)?;
    let length = opened.metadata().map_err(&io)?.len();
    Ok((WeightFile::File(opened), length))
}

impl fmt::Display for ModelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded(model) => f.write_str(model.name),
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Gguf(model) => write!(f, "{}", model.path().display()),
            Self::Adapted(model) => write!(f, "{} with the adapter {}", model.base, model.adapter),
        }
    }
}

impl EmbeddedModel {
    pub fn text(&self, file: &str) -> Option<&'static str> {
        let mut texts = self.texts.iter();
        texts.find_map(|(name, text)| (*name == file).then_some(*text))
    }
}

impl PackedFile {
    pub fn length(&self) -> u64 {
        self.blocks.len() as u64 / 3 * 4
    }

    /// Fills `buffer` with the bytes from `offset` on.
    /// Errors: [`std::io::ErrorKind::UnexpectedEof`] beyond the end.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        let (start, mut filled) = (offset as usize, 0);
        while filled < buffer.len() {
            let at = start + filled;
            let block = self.blocks.as_chunks::<96>().0.get(at / 128);
            let bytes = unpacked(block.ok_or(std::io::ErrorKind::UnexpectedEof)?);
            let part = &bytes[at % 128..];
            let count = part.len().min(buffer.len() - filled);
            buffer[filled..filled + count].copy_from_slice(&part[..count]);
            filled += count;
        }
        let others = self.others.as_chunks::<4>().0;
        let place = |other: &[u8; 4]| (u32::from_le_bytes(*other) >> 8) as usize;
        let first = others.partition_point(|other| place(other) < start);
        for other in &others[first..] {
            match buffer.get_mut(place(other) - start) {
                Some(byte) => *byte = other[0],
                None => break,
            }
        }
        Ok(())
    }
}

fn unpacked(block: &[u8; 96]) -> [u8; 128] {
    let (lower, packed) = block.split_at(64);
    let mut upper = [0; 64];
    for (i, two) in packed.iter().enumerate() {
        (upper[i], upper[i + 32]) = (two & 15, two >> 4);
    }
    let mut bytes = [0; 128];
    let pairs = bytes.as_chunks_mut().0.iter_mut();
    for (pair, (lower, upper)) in pairs.zip(lower.iter().zip(upper)) {
        *pair = [*lower, (upper & 8) << 4 | 0x38 | upper & 7];
    }
    bytes
}

pub(crate) enum WeightFile {
    /// With how far it is read.
    Embedded(&'static PackedFile, u64),
    File(File),
}

impl WeightFile {
    /// Fills `buffer` with the bytes from `offset` on. Several threads may read at once.
    pub(crate) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        match self {
            Self::Embedded(file, _) => file.read_at(offset, buffer),
            #[cfg(unix)]
            Self::File(file) => std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset),
            #[cfg(windows)]
            Self::File(file) => {
                let (mut offset, mut rest) = (offset, buffer);
                while !rest.is_empty() {
                    match std::os::windows::fs::FileExt::seek_read(file, rest, offset)? {
                        0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
                        read => {
                            offset += read as u64;
                            rest = &mut rest[read..];
                        }
                    }
                }
                Ok(())
            }
        }
    }
}

impl Read for WeightFile {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Embedded(file, read) => {
                let count = (buffer.len() as u64).min(file.length() - *read);
                file.read_at(*read, &mut buffer[..count as usize])?;
                *read += count;
                Ok(count as usize)
            }
            Self::File(file) => file.read(buffer),
        }
    }
}
