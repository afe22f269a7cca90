//! The CUDA kernels without a GPU: compiled for the CPU and run thread by thread on an emulation (`cuda_emulation/`).

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../cuda_emulation/mod.rs"]
mod cuda_emulation;

mod attention;
mod numbers;
