//! Errors of checkpoints.

use std::path::{Path, PathBuf};

pub(crate) type Result<T, E = CheckpointError> = std::result::Result<T, E>;

/// An error of a checkpoint: what happened, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    #[error(
        "no model `{name}`: give `tiny` (built in), a folder that holds config.json, tokenizer.json and *.safetensors, an id \
         on the Hugging Face hub (org/name), or an alias that `juror models list --known` shows"
    )]
    UnknownModel { name: String },
    #[error("no shape `{name}`: give the path of a config.json, or one of {known}")]
    UnknownShape { name: String, known: String },
    #[error("{}: no {file} in this model folder", folder.display())]
    MissingFile { folder: PathBuf, file: String },
    #[error("{}: only pickled weights ({file}). {}", folder.display(), juror_hub::layout::how_to_convert(&folder.display().to_string()))]
    Pickled { folder: PathBuf, file: String },
    #[error(transparent)]
    Hub(#[from] juror_hub::HubError),
    #[error("{source}. If {} is meant as a path: {} holds nothing of that name", path.display(), folder.display())]
    NeitherHubNorPath {
        path: PathBuf,
        folder: PathBuf,
        source: Box<juror_hub::HubError>,
    },
    #[error("{path}: {source}")]
    Io {
        path: String,
        #[source]
        source: std::io::Error,
    },
    /// `config.json` is not what this decoder can run.
    #[error("{path}: {message}")]
    Config { path: String, message: String },
    /// A weight file, or a shard index, is damaged or refused.
    #[error("{path}: {message}")]
    Weights { path: String, message: String },
    #[error("{model}: the weights do not fit config.json: {message}")]
    Mismatch { model: String, message: String },
    /// A readable checkpoint that cannot be loaded: expert sizes that are no multiple of MXFP4's block, or several GGUF models in one folder.
    #[error("{0}")]
    Unsupported(String),
    /// Bytes could not be made a tensor, on the host or on a device.
    #[error("tensor operation failed: {0}")]
    Tensor(#[from] candle_core::Error),
}

impl CheckpointError {
    /// A file that could not be read.
    pub fn reading(path: impl Into<String>) -> impl Fn(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io {
            path: path.clone(),
            source,
        }
    }

    /// A file that a model's folder lacks.
    pub(crate) fn missing(folder: impl Into<PathBuf>, file: &str) -> Self {
        Self::MissingFile {
            folder: folder.into(),
            file: file.into(),
        }
    }

    /// A hub's error that also says that `path` does not exist here, if its folder does.
    #[must_use]
    pub fn of_path(self, path: &Path) -> Self {
        match (self, path.parent()) {
            (Self::Hub(source), Some(folder))
                if folder.is_dir() && !folder.as_os_str().is_empty() && !source.is_index() =>
            {
                Self::NeitherHubNorPath {
                    path: path.into(),
                    folder: folder.into(),
                    source: source.into(),
                }
            }
            (error, _) => error,
        }
    }

    /// Whether the user's request is at fault: a model that was named wrongly, is missing, or cannot be read. Not the
    /// network, readable weights that do not fit their configuration, or a failed tensor operation.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Hub(error) => error.is_usage(),
            Self::NeitherHubNorPath { source, .. } => source.is_usage(),
            Self::Mismatch { .. } | Self::Tensor(_) => false,
            _ => true,
        }
    }
}
