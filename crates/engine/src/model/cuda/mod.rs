//! NVIDIA GPUs: our own kernels (`kernels/`), and the decoder's path through them.
//!
//! The fast path is for bf16 and f16, and for heads of 32, 64, 128, 256 and 512; everything else goes through candle's operations
//! ([`crate::model::Decoder`]), with which it is compared.
//!
//! This is the one module with `unsafe` code. All kernels are launched by one function and all matrix products by another;
//! around them are functions that check types, lengths and alignment.

pub mod fragments;
#[cfg(any(test, feature = "cuda"))]
pub mod kv_scales;
pub mod mxfp4;
pub mod plan;
#[cfg(any(test, feature = "cuda"))]
mod tiles;

#[cfg(feature = "cuda")]
pub mod array;
#[cfg(feature = "cuda")]
mod buffers;
#[cfg(feature = "cuda")]
mod caches;
#[cfg(feature = "cuda")]
pub(crate) mod decoder;
#[cfg(feature = "cuda")]
mod delta;
#[cfg(feature = "cuda")]
pub(crate) mod device;
#[cfg(feature = "cuda")]
mod error;
#[cfg(feature = "cuda")]
mod expert_weights;
#[cfg(feature = "cuda")]
mod experts;
#[cfg(feature = "cuda")]
pub mod gemm;
#[cfg(feature = "cuda")]
mod grouped;
#[cfg(feature = "cuda")]
pub mod kernel;
#[cfg(feature = "cuda")]
mod layers;
#[cfg(feature = "cuda")]
pub mod linear;
#[cfg(feature = "cuda")]
mod nccl;
#[cfg(feature = "cuda")]
pub mod operations;
#[cfg(feature = "cuda")]
pub mod paged;
#[cfg(feature = "cuda")]
pub mod parallel;
#[cfg(feature = "cuda")]
mod pinned;
#[cfg(feature = "cuda")]
pub mod sampling;
#[cfg(feature = "cuda")]
pub mod upload;

#[cfg(feature = "cuda")]
pub use buffers::StepLimits;
#[cfg(feature = "cuda")]
pub use decoder::obstacle;
#[cfg(feature = "cuda")]
pub use parallel::{ParallelDecoder, ParallelModel};
#[cfg(feature = "cuda")]
pub use sampling::{SampleRequest, Sampled};
