//! The host's side of the CUDA path on the imitated driver, which `tests/cuda_driver` runs this on.

#![cfg(feature = "cuda")]
