//! Errors of the driver and its libraries as `ModelError`.

use std::fmt::Display;

use candle_core::cuda_backend::cudarc;
use cudarc::cublaslt::result::CublasError;
use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

use crate::model::ModelError;

/// Turns a driver's error into ours. `what` says what was being done; it is formatted only on an error, since most calls
/// succeed.
pub(super) fn driver(what: impl Display) -> impl FnOnce(DriverError) -> ModelError {
    move |error| {
        let message = format!("CUDA, {what}: {error}");
        if error.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            ModelError::OutOfMemory(message)
        } else {
            ModelError::Device(message)
        }
    }
}

/// The same for an error of cuBLAS.
pub(super) fn cublas(what: impl Display) -> impl FnOnce(CublasError) -> ModelError {
    use cudarc::cublaslt::sys::cublasStatus_t as Status;
    move |error| {
        let message = format!("cuBLAS, {what}: {error}");
        if error.0 == Status::CUBLAS_STATUS_ALLOC_FAILED {
            ModelError::OutOfMemory(message)
        } else {
            ModelError::Device(message)
        }
    }
}
