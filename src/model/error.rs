//! Everything that can go wrong with a model, in words its user can act on.

use std::path::PathBuf;

/// An error of the model room: what happened, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// `--model` named something that no model can be called.
    #[error(
        "no model `{name}`: give `tiny` (built in), a folder that holds config.json, tokenizer.json and *.safetensors, an id \
         on the Hugging Face hub (org/name), or an alias that `juror models list --known` shows"
    )]
    UnknownModel {
        /// What was asked for.
        name: String,
    },
    /// `--synthetic` named neither a known shape nor a configuration file.
    #[error("no shape `{name}`: give the path of a config.json, or one of {known}")]
    UnknownShape {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A model folder lacks a file.
    #[error("{}: no {file} in this model folder", folder.display())]
    MissingFile {
        /// The model's folder.
        folder: PathBuf,
        /// The missing file's name.
        file: String,
    },
    /// A model folder has pickled weights and no others.
    #[error("{}: only pickled weights ({file}). {}", folder.display(), crate::checkpoint::hub::needed::how_to_convert(&folder.display().to_string()))]
    Pickled {
        /// The model's folder.
        folder: PathBuf,
        /// One of the pickled files.
        file: String,
    },
    /// The hub, or its cache, refused.
    #[error(transparent)]
    Hub(#[from] crate::checkpoint::hub::HubError),
    /// A file could not be read.
    #[error("{path}: {source}")]
    Io {
        /// The file, or what stands for it.
        path: String,
        /// The operating system's word.
        #[source]
        source: std::io::Error,
    },
    /// `config.json` is not what this decoder can run.
    #[error("{path}: {message}")]
    Config {
        /// The configuration file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// A weight file, or a shard index, is damaged or refused.
    #[error("{path}: {message}")]
    Weights {
        /// The weight file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// The checkpoint's tensors are not the ones the configuration describes.
    #[error("{model}: the weights do not fit config.json: {message}")]
    Mismatch {
        /// The model.
        model: String,
        /// Names and both shapes.
        message: String,
    },
    /// The tokenizer is damaged, or refuses a text.
    #[error("{0}")]
    Tokenizer(String),
    /// The chat template is missing, damaged, or refuses the conversation.
    #[error("chat template: {0}")]
    ChatTemplate(String),
    /// The device asked for cannot be used.
    #[error("{0}")]
    Device(String),
    /// This combination of device, precision or block size is not available.
    #[error("{0}")]
    Unsupported(String),
    /// A step that the decoder or the cache cannot hold; a fault of the caller.
    #[error("step refused: {0}")]
    Batch(String),
    /// The device has no memory left for this; a smaller step or cache may fit.
    #[error("out of memory: {0}")]
    OutOfMemory(String),
    /// A tensor operation failed.
    #[error("tensor operation failed: {0}")]
    Tensor(candle_core::Error),
}

/// How NVIDIA's driver and cuBLAS call a lack of memory; candle passes it on as text.
const OUT_OF_MEMORY: [&str; 2] = ["CUDA_ERROR_OUT_OF_MEMORY", "CUBLAS_STATUS_ALLOC_FAILED"];

impl From<candle_core::Error> for ModelError {
    fn from(error: candle_core::Error) -> Self {
        let text = error.to_string();
        if OUT_OF_MEMORY.iter().any(|sign| text.contains(sign)) {
            // A backtrace may follow the first line.
            return Self::OutOfMemory(text.lines().next().unwrap_or_default().to_owned());
        }
        Self::Tensor(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_memory_is_told_from_other_failures() {
        let driver = "DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")";
        let lack = candle_core::Error::Msg(driver.into()).bt();
        assert!(matches!(ModelError::from(lack), ModelError::OutOfMemory(text) if text == driver));
        let other = candle_core::Error::Msg("DriverError(CUDA_ERROR_ILLEGAL_ADDRESS)".into());
        assert!(matches!(ModelError::from(other), ModelError::Tensor(_)));
    }
}
