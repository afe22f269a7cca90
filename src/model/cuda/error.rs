//! What the driver and its libraries refuse, as errors of the model room.

use candle_core::cuda_backend::cudarc;
use cudarc::cublaslt::result::CublasError;
use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

use crate::model::ModelError;

/// Turns a driver's error into ours, with what was being done.
pub(super) fn driver(what: &str) -> impl Fn(DriverError) -> ModelError + use<> {
    let what = what.to_owned();
    move |error| {
        let message = format!("CUDA, {what}: {error}");
        if error.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            ModelError::OutOfMemory(message)
        } else {
            ModelError::Device(message)
        }
    }
}

/// Turns an error of cuBLAS into ours, with what was being done.
pub(super) fn cublas(what: &str) -> impl Fn(CublasError) -> ModelError + use<> {
    use cudarc::cublaslt::sys::cublasStatus_t as Status;
    let what = what.to_owned();
    move |error| {
        let message = format!("cuBLAS, {what}: {error}");
        if error.0 == Status::CUBLAS_STATUS_ALLOC_FAILED {
            ModelError::OutOfMemory(message)
        } else {
            ModelError::Device(message)
        }
    }
}
