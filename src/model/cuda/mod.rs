//! The CUDA path: own kernels (`kernels/`), and the host code that plans their work.
//!
//! What needs no CUDA to compile is compiled and tested without it.

pub mod plan;
