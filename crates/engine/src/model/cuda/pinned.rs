//! Locked host memory, which the device reads and writes directly while the host continues.

use std::ptr::NonNull;
use std::sync::Arc;

use candle_core::cuda_backend::cudarc;
use candle_core::{CudaDevice, DType};
use cudarc::driver::{CudaEvent, CudaStream, DriverError, result, sys};

use super::array::Slice;
use super::error::driver;
use crate::model::{ModelError, Result};

/// Words in locked host memory.
///
/// Not cudarc's `PinnedHostSlice`: that waits for an event which is recorded only while event tracking is on, and
/// [`super::device::prepare`] switches it off. The event here is recorded after every copy, and reading, writing and freeing
/// wait for it.
pub(super) struct Pinned {
    words: NonNull<u32>,
    count: usize,
    /// Recorded after the copy that was queued last.
    copied: CudaEvent,
    stream: Arc<CudaStream>,
}

// SAFETY: the memory belongs to this value alone and is freed with it; the driver takes it from any thread.
#[allow(unsafe_code)]
unsafe impl Send for Pinned {}

impl Pinned {
    /// `words` words, zero.
    pub(super) fn zeros(device: &CudaDevice, words: usize) -> Result<Self> {
        let stream = device.cuda_stream();
        let count = words.max(1);
        let allocate = || -> Result<Self, DriverError> {
            // Binds the context too. A thread that waits for it sleeps.
            let flags = sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC;
            let copied = stream.context().new_event(Some(flags))?;
            // Not write-combined: the host reads it too.
            //
            // SAFETY: the context is current.
            #[allow(unsafe_code)]
            let memory = unsafe { result::malloc_host(count * size_of::<u32>(), 0) }?;
            let words = NonNull::new(memory.cast::<u32>())
                .ok_or(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY))?;
            // SAFETY: `count` words begin at `words`, aligned to a page, and nothing else uses them yet.
            #[allow(unsafe_code)]
            unsafe {
                words.write_bytes(0, count);
            }
            Ok(Self {
                words,
                count,
                copied,
                stream: Arc::clone(&stream),
            })
        };
        allocate().map_err(driver(format_args!("{words} words of locked host memory")))
    }

    /// The words, once the copy that was queued last is done.
    pub(super) fn read(&self) -> Result<&[u32]> {
        self.wait()?;
        // SAFETY: `count` words that were set at the start, and no copy to them is under way: the event after the last one
        // was waited for, and the next one takes `&mut self`.
        #[allow(unsafe_code)]
        let words = unsafe { std::slice::from_raw_parts(self.words.as_ptr(), self.count) };
        Ok(words)
    }

    /// The words to be written, once the copy that was queued last is done.
    pub(super) fn write(&mut self) -> Result<&mut [u32]> {
        self.wait()?;
        // SAFETY: as above, and the words are borrowed as this value is.
        #[allow(unsafe_code)]
        let words = unsafe { std::slice::from_raw_parts_mut(self.words.as_ptr(), self.count) };
        Ok(words)
    }

    /// Queues a copy of the first `words` words to the device.
    /// Errors: [`ModelError::Batch`] when either side is shorter; the driver's refusal.
    pub(super) fn upload(&mut self, words: usize, to: Slice) -> Result<()> {
        let to = to.check("upload", "the target", DType::U32, words)?;
        let stream = self.stream.cu_stream();
        let source = &self.write_part(words)?[..words];
        // SAFETY: source and target have so many words. The source stays as it is until the copy is done: the event after it
        // is waited for before the words are written or freed.
        #[allow(unsafe_code)]
        let copied = unsafe { result::memcpy_htod_async(to.pointer(), source, stream) };
        self.record(copied).map_err(driver("copying to the device"))
    }

    /// Queues copies of the device's memory to here, one after the other; [`Self::read`] waits for them. Numbers of 32 bits
    /// are copied as their bits.
    /// Errors: [`ModelError::Batch`] when there is no room for all, or for numbers of another size; the driver's refusal.
    pub(super) fn download(&mut self, from: &[Slice]) -> Result<()> {
        let other = |part: &&Slice| part.dtype().size_in_bytes() != size_of::<u32>();
        if let Some(part) = from.iter().find(other) {
            return Err(ModelError::Batch(format!(
                "download: the source is of {:?}, and words are wanted",
                part.dtype()
            )));
        }
        let words = from.iter().map(|part| part.elements()).sum();
        let stream = self.stream.cu_stream();
        let mut room = &mut self.write_part(words)?[..words];
        let mut copied = Ok(());
        for part in from {
            let (target, rest) = room.split_at_mut(part.elements());
            room = rest;
            // SAFETY: as for `upload`; and nothing reads the target before the event after the copies.
            #[allow(unsafe_code)]
            let queued = unsafe { result::memcpy_dtoh_async(target, part.pointer(), stream) };
            copied = copied.and(queued);
        }
        self.record(copied)
            .map_err(driver("copying from the device"))
    }

    /// [`Self::write`], if there are so many words. Waiting also makes the context current to this thread, which the copy
    /// needs.
    fn write_part(&mut self, words: usize) -> Result<&mut [u32]> {
        if words > self.count {
            return Err(ModelError::Batch(format!(
                "{words} words through a buffer of {}",
                self.count
            )));
        }
        self.write()
    }

    /// Records the event after copies, some of which may have been refused. If that fails, waits for them, since nothing
    /// else would.
    fn record(&self, copied: Result<(), DriverError>) -> Result<(), DriverError> {
        let recorded = self.copied.record(&self.stream);
        if recorded.is_err() {
            self.stream.synchronize()?;
        }
        copied.and(recorded)
    }

    fn wait(&self) -> Result<()> {
        self.copied
            .synchronize()
            .map_err(driver("waiting for the device"))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // Not `CudaEvent::synchronize`, which returns an earlier error of the context's instead of waiting. When this fails
        // the device is lost, and copies nothing any more.
        //
        // SAFETY: the event is alive.
        #[allow(unsafe_code)]
        let _ = unsafe { result::event::synchronize(self.copied.cu_event()) };
        // SAFETY: allocated by `malloc_host`, freed here alone, and no copy from or to it is under way.
        #[allow(unsafe_code)]
        let _ = unsafe { result::free_host(self.words.as_ptr().cast()) };
    }
}
