//! Settings of a CUDA device, made before the model is loaded.

use candle_core::CudaDevice;
use candle_core::cuda_backend::cudarc;
use cudarc::driver::result::{device, mem_pool};
use cudarc::driver::{CudaStream, sys};

use super::error::driver;
use crate::model::Result;

/// Prepares a device that was just opened on a stream of its own: freed memory stays with the process, and uses of memory
/// are not tracked.
pub(crate) fn prepare(cuda: &CudaDevice) -> Result<()> {
    keep_freed_memory(cuda)?;
    // SAFETY: tracking orders streams among each other. There is one stream for all memory of this device: candle's
    // (`Device::new_cuda_with_stream`), which our kernels, cuBLAS and all copies use too; no other is ever made.
    #[allow(unsafe_code)]
    unsafe {
        cuda.disable_event_tracking();
    }
    Ok(())
}

/// Without this the driver gives memory back to the system whenever the device is idle, and fetches it again for the next
/// step.
fn keep_freed_memory(cuda: &CudaDevice) -> Result<()> {
    let Some(pool) = pool(cuda)? else {
        return Ok(());
    };
    let mut threshold = u64::MAX;
    // SAFETY: the pool is the device's own and lives as long as it; this attribute is a 64-bit number.
    #[allow(unsafe_code)]
    unsafe {
        mem_pool::set_attribute(
            pool,
            sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
            (&raw mut threshold).cast(),
        )
    }
    .map_err(driver("setting up the memory pool"))
}

/// Bytes that can still be allocated on the device, and all its bytes. Waits for the device, and first returns to the system
/// what the process has freed.
pub(crate) fn memory(cuda: &CudaDevice) -> Result<(usize, usize)> {
    let stream = cuda.cuda_stream();
    stream
        .synchronize()
        .map_err(driver("waiting for the device"))?;
    if let Some(pool) = pool(cuda)? {
        // SAFETY: the pool is the device's own and lives as long as it.
        #[allow(unsafe_code)]
        unsafe { mem_pool::trim_to(pool, 0) }.map_err(driver("emptying the memory pool"))?;
    }
    stream
        .context()
        .mem_get_info()
        .map_err(driver("asking for free memory"))
}

/// Makes the stream's device this thread's.
pub(super) fn bind(stream: &CudaStream) -> Result<()> {
    let context = stream.context();
    context.bind_to_thread().map_err(driver("using the device"))
}

pub(super) fn capability(stream: &CudaStream) -> Result<(i32, i32)> {
    let capability = stream.context().compute_capability();
    capability.map_err(driver("asking for the compute capability"))
}

/// The pool that allocations come from; `None` if the device has no pools.
fn pool(cuda: &CudaDevice) -> Result<Option<sys::CUmemoryPool>> {
    let stream = cuda.cuda_stream();
    bind(&stream)?;
    let context = stream.context();
    if !context.has_async_alloc() {
        return Ok(None);
    }
    // SAFETY: the context's device came from the driver.
    #[allow(unsafe_code)]
    unsafe { device::get_mem_pool(context.cu_device()) }
        .map(Some)
        .map_err(driver("asking for the memory pool"))
}
