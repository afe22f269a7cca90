//! The CPU's inner loops: a matrix product over packed panels, and fused element-wise passes.
//!
//! They work on plain `f32` slices, are compiled for several instruction sets, of which one is chosen at run time ([`instructions`]), and
//! keep one promise that libraries for dense algebra do not: **each output is one chain of operations whose order does
//! not depend on how many rows are computed in the same call, nor on the number of threads.**
//!
//! Bits are the same on every processor with fused multiply-add (x86-64-v3 and newer, `AArch64`).

pub(crate) mod buffer;
pub(crate) mod delta;
pub(crate) mod elementwise;
pub(crate) mod exp;
pub(crate) mod half;
pub mod instructions;
pub mod matmul;
pub(crate) mod panels;
pub(crate) mod prefetch;
pub(crate) mod quantized;

use candle_core::{CpuStorage, DType, Result, Storage, Tensor};

/// Runs `f` on the contiguous `f32` data of CPU tensors, without copying those that are contiguous already.
pub(crate) fn with_f32<T, const N: usize>(
    tensors: [&Tensor; N],
    f: impl FnOnce([&[f32]; N]) -> Result<T>,
) -> Result<T> {
    let mut contiguous = [const { None }; N];
    for (own, tensor) in contiguous.iter_mut().zip(tensors) {
        *own = Some(tensor.contiguous()?);
    }
    let stored = contiguous.each_ref();
    let stored = stored.map(|tensor| tensor.as_ref().map(Tensor::storage_and_layout));
    let mut all: [&[f32]; N] = [&[]; N];
    for (all, (storage, layout)) in all.iter_mut().zip(stored.iter().flatten()) {
        let Storage::Cpu(CpuStorage::F32(data)) = &**storage else {
            let (dtype, device) = (storage.dtype(), storage.device());
            candle_core::bail!("a CPU loop was given {dtype:?} on {device:?}");
        };
        let start = layout.start_offset();
        match data.get(start..start + layout.shape().elem_count()) {
            Some(data) => *all = data,
            None => candle_core::bail!("a tensor's layout exceeds its storage"),
        }
    }
    f(all)
}

/// Whether the loops of this module apply to a tensor.
pub(crate) fn applies(tensor: &Tensor) -> bool {
    tensor.device().is_cpu() && tensor.dtype() == DType::F32
}
