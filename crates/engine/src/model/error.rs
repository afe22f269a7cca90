//! Errors of the model: device, memory, steps.

use std::io::ErrorKind;

use crate::checkpoint::CheckpointError;

/// What a step of a model gives.
pub(crate) type Result<T, E = ModelError> = std::result::Result<T, E>;

/// An error of a model: what happened, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The checkpoint is missing, damaged, or not what the decoder can run.
    #[error(transparent)]
    Checkpoint(CheckpointError),
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
    #[error("tensor operation failed: {0}")]
    Tensor(candle_core::Error),
}

/// What keeps our CUDA kernels from running a model.
#[derive(Debug)]
pub struct Obstacle {
    pub what: String,
    /// The option that asked for it, if it is not the model itself.
    pub option: Option<&'static str>,
}

impl ModelError {
    /// Whether the user's request is at fault: a checkpoint as [`CheckpointError::is_usage`] says, or a precision that the
    /// device does not compute in. A device that cannot be opened, or has no memory left, is a failure.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Checkpoint(error) => error.is_usage(),
            Self::Unsupported(_) => true,
            _ => false,
        }
    }
}

/// The names that NVIDIA's driver and cuBLAS have for a lack of memory; candle passes them on as text.
const OUT_OF_MEMORY: [&str; 2] = ["CUDA_ERROR_OUT_OF_MEMORY", "CUBLAS_STATUS_ALLOC_FAILED"];

impl From<candle_core::Error> for ModelError {
    fn from(error: candle_core::Error) -> Self {
        let text = error.to_string();
        let refused =
            matches!(&error, candle_core::Error::Io(it) if it.kind() == ErrorKind::OutOfMemory);
        if refused || OUT_OF_MEMORY.iter().any(|sign| text.contains(sign)) {
            // A backtrace may follow the first line.
            return Self::OutOfMemory(text.lines().next().unwrap_or_default().to_owned());
        }
        Self::Tensor(error)
    }
}

impl From<CheckpointError> for ModelError {
    fn from(error: CheckpointError) -> Self {
        match error {
            // The device may have run out of memory.
            CheckpointError::Tensor(error) => error.into(),
            other => Self::Checkpoint(other),
        }
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
