//! Where a model's files come from: compiled in, a folder, or the hub by way of its cache.

use std::fmt;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::adapter::Adapter;
use super::gguf::Gguf;
use super::{tokenizer_config, unsuitable};
use crate::checkpoint::CheckpointError;
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
    pub config: &'static str,
    pub generation_config: &'static str,
    pub tokenizer: &'static str,
    /// `tokenizer_config.json`, with the chat template
    pub tokenizer_config: &'static str,
    pub judge: &'static str,
    pub weights: &'static [u8],
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
    ///
    /// # Errors
    /// As [`Self::in_folder`]; [`CheckpointError::Unsupported`] for another file, or the error of reading a GGUF file's
    /// header.
    pub fn at(path: &Path) -> Result<Self, CheckpointError> {
        if path.is_dir() {
            Self::in_folder(path)
        } else if is_gguf(path) {
            Ok(Self::Gguf(Arc::new(Gguf::open(path)?)))
        } else {
            Err(unsuitable::file(path))
        }
    }

    /// The model of a folder: a checkpoint in Safetensors if there is one, else the one GGUF file in it.
    ///
    /// # Errors
    /// [`CheckpointError::MissingFile`] for a folder without a configuration, [`CheckpointError::Pickled`] for one with only
    /// pickled weights, [`CheckpointError::Unsupported`] for adapters and embedding models, or the error of reading a GGUF
    /// file's header.
    pub fn in_folder(folder: &Path) -> Result<Self, CheckpointError> {
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
        if !safetensors {
            // Checked only where there are no other weights.
            if let Some(file) = layout::pickled_in(folder) {
                return Err(CheckpointError::Pickled {
                    folder: folder.into(),
                    file,
                });
            }
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
    ///
    /// # Errors
    /// [`CheckpointError::Unsupported`] for a model in a GGUF file.
    pub fn with_adapter(self, adapter: Adapter) -> Result<Self, CheckpointError> {
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

    pub fn adapter_hash(&self) -> Result<Option<String>, CheckpointError> {
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
    pub fn weight_files(&self) -> Result<(usize, u64), CheckpointError> {
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
    ///
    /// # Errors
    /// When the model has no such file, or it cannot be read.
    pub fn read_text(&self, file: &str) -> Result<String, CheckpointError> {
        match self {
            Self::Adapted(model) => model.holder(file).read_text(file),
            Self::Embedded(model) => {
                let text = model.text(file).map(str::to_owned);
                text.ok_or_else(|| CheckpointError::missing(model.name, file))
            }
            Self::Gguf(model) => {
                let text = model.text(file).map(str::to_owned);
                text.ok_or_else(|| CheckpointError::missing(model.path(), file))
            }
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
    ///
    /// # Errors
    /// When a file cannot be read, or the weights are missing.
    pub fn hash(&self) -> Result<String, CheckpointError> {
        match self {
            Self::Adapted(model) => {
                let hashes = [model.base.hash()?, model.adapter.hash()?];
                Ok(blake3::hash(hashes.join(" ").as_bytes())
                    .to_hex()
                    .to_string())
            }
            // Texts made from a GGUF file's metadata are covered by the file.
            Self::Gguf(_) => self.hash_of("", &super::weights::files(self)?),
            _ => self.hash_of(IDENTITY_FILES, &super::weights::files(self)?),
        }
    }

    /// The same over configuration, tokenizer and chat template alone: what prompts and answers depend on where the weights are elsewhere.
    pub fn description_hash(&self) -> Result<String, CheckpointError> {
        self.hash_of(IDENTITY_FILES, &[])
    }

    /// BLAKE3 over the given weight files, and over those text files, with a space between them, that exist.
    pub(super) fn hash_of(
        &self,
        texts: &str,
        weights: &[String],
    ) -> Result<String, CheckpointError> {
        let mut hasher = blake3::Hasher::new();
        // Names and lengths are hashed too, so that no file can pass for part of another.
        for file in texts.split_whitespace().filter(|file| self.has(file)) {
            let text = self.read_text(file)?;
            hasher.update(format!("{file}\n{}\n", text.len()).as_bytes());
            hasher.update(text.as_bytes());
        }
        for file in weights {
            let (reader, length) = self.open(file)?;
            hasher.update(format!("{file}\n{length}\n").as_bytes());
            let hashed = hasher.update_reader(reader);
            hashed.map_err(CheckpointError::reading(self.describe(file)))?;
        }
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// Opens a weight file; also returns its length in bytes.
    pub(crate) fn open(&self, file: &str) -> Result<(WeightFile, u64), CheckpointError> {
        match self {
            Self::Adapted(model) => model.base.open(file),
            Self::Embedded(model) if file == WEIGHTS_FILE => Ok((
                WeightFile::Embedded(Cursor::new(model.weights)),
                model.weights.len() as u64,
            )),
            Self::Embedded(model) => Err(CheckpointError::missing(model.name, file)),
            Self::Folder(_) | Self::Gguf(_) => {
                let (folder, path) = match self {
                    Self::Gguf(model) => (model.path(), model.file(file).map(Path::to_owned)),
                    Self::Folder(folder) => (folder.as_path(), Some(folder.join(file))),
                    Self::Embedded(_) | Self::Adapted(_) => (Path::new(""), None),
                };
                let Some(path) = path.filter(|path| path.is_file()) else {
                    return Err(CheckpointError::missing(folder, file));
                };
                unsuitable::refuse_pointer(&path)?;
                let io = CheckpointError::reading(self.describe(file));
                let opened = File::open(path).map_err(&io)?;
                let length = opened.metadata().map_err(&io)?.len();
                Ok((WeightFile::File(opened), length))
            }
        }
    }
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
    fn text(&self, file: &str) -> Option<&'static str> {
        match file {
            "config.json" => Some(self.config),
            "generation_config.json" => Some(self.generation_config),
            "tokenizer.json" => Some(self.tokenizer),
            "tokenizer_config.json" => Some(self.tokenizer_config),
            "judge.json" => Some(self.judge),
            _ => None,
        }
    }
}

pub(crate) enum WeightFile {
    Embedded(Cursor<&'static [u8]>),
    File(File),
}

impl WeightFile {
    /// Fills `buffer` with the bytes from `offset` on. Several threads may read at once.
    pub(crate) fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        match self {
            Self::Embedded(bytes) => {
                let mut bytes = Cursor::new(*bytes.get_ref());
                bytes.set_position(offset);
                bytes.read_exact(buffer)
            }
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
            Self::Embedded(bytes) => bytes.read(buffer),
            Self::File(file) => file.read(buffer),
        }
    }
}
