//! NVIDIA GPUs: our own kernels (`kernels/`), and the decoder's path through them.
//!
//! | file | what it is for |
//! |---|---|
//! | [`plan`] | which thread block attends to which keys: pure host code, compiled and tested everywhere |
//! | [`mxfp4`], [`fragments`] | experts in MXFP4, and weights in FP8 and four bits, in the order of the kernels, the same |
//! | `kv_scales` | what keys and values are divided by in a cache in FP8, the same |
//! | `device` | settings of a device when it is opened; how much memory is free |
//! | `array`, `pinned`, `kernel` | device memory; locked host memory; kernels found, loaded, launched |
//! | `operations`, `experts` | one function around each kernel, which checks what it gives to it |
//! | `gemm`, `linear` | matrix products by cuBLASLt, in bf16, f16 and FP8 |
//! | `grouped`, `tiles` | products of experts, and with weights that stay as the checkpoint stores them; in tiles of how many rows |
//! | `paged`, `caches` | a KV cache, and attention over it; one for each kind of layer |
//! | `delta` | recurrent layers, and the states of sequences in them |
//! | `expert_weights` | the experts' weights as numbers, in FP8, in MXFP4 or as stored |
//! | `layers`, `buffers`, `decoder` | the decoder's weights, its activations and its step |
//! | `nccl`, `parallel` | sums over several GPUs; a model in parts on them |
//! | `upload`, `sampling` | a step's numbers on their way to the device, and the chosen tokens on their way back |
//!
//! The fast path is for bf16 and f16, and for heads of 32, 64, 128, 256 and 512; everything else goes through candle's operations
//! ([`crate::model::Decoder`]), with which it is compared.
//!
//! This is the one room with `unsafe` code. All kernels are launched by one function and all matrix products by another;
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
