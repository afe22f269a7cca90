//! Arrays in device memory.

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use candle_core::cuda_backend::{CudaStorageSlice, cudarc};
use candle_core::{CudaDevice, DType, Storage, Tensor};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, HostSlice, PinnedHostSlice, result, sys};

use super::error::driver;
use crate::model::ModelError;

/// Numbers of one type side by side in device memory: our own, or a tensor's.
///
/// Everything is queued on the device's one stream, where events are not tracked ([`super::device::prepare`]): work on an
/// array is done in the order in which it was queued, and its memory is freed behind the work that was queued before.
pub struct Array {
    pointer: sys::CUdeviceptr,
    elements: usize,
    dtype: DType,
    /// Keeps the memory.
    _owner: Owner,
}

enum Owner {
    Memory { _memory: CudaSlice<u8> },
    Tensor { _tensor: Tensor },
}

impl Array {
    /// Zeros.
    ///
    /// # Errors
    /// [`ModelError::OutOfMemory`]; `what` names the array in the message.
    pub fn zeros(
        device: &CudaDevice,
        elements: usize,
        dtype: DType,
        what: &str,
    ) -> Result<Self, ModelError> {
        let stream = device.cuda_stream();
        let bytes = elements.saturating_mul(dtype.size_in_bytes());
        // The driver gives no memory of no bytes.
        let memory = stream
            .alloc_zeros::<u8>(bytes.max(1))
            .map_err(driver(&format!("{} MiB for {what}", bytes >> 20)))?;
        let pointer = memory.device_ptr(&stream).0;
        Ok(Self {
            pointer,
            elements,
            dtype,
            _owner: Owner::Memory { _memory: memory },
        })
    }

    /// A tensor's numbers, without a copy.
    ///
    /// # Errors
    /// [`ModelError::Batch`] for a tensor that is not on a CUDA device or not contiguous.
    pub fn of(tensor: &Tensor) -> Result<Self, ModelError> {
        let (storage, layout) = tensor.storage_and_layout();
        let Storage::Cuda(storage) = &*storage else {
            return Err(ModelError::Batch(format!(
                "a tensor on {:?} where one on a CUDA device was expected",
                tensor.device().location()
            )));
        };
        let Some((start, end)) = layout.contiguous_offsets() else {
            return Err(ModelError::Batch(format!(
                "a tensor {:?} with strides {:?} where a contiguous one was expected",
                tensor.dims(),
                layout.stride()
            )));
        };
        let stream = storage.device.cuda_stream();
        let base = match &storage.slice {
            CudaStorageSlice::U8(slice) => slice.device_ptr(&stream).0,
            CudaStorageSlice::U32(slice) => slice.device_ptr(&stream).0,
            CudaStorageSlice::BF16(slice) => slice.device_ptr(&stream).0,
            CudaStorageSlice::F16(slice) => slice.device_ptr(&stream).0,
            CudaStorageSlice::F32(slice) => slice.device_ptr(&stream).0,
            CudaStorageSlice::F8E4M3(slice) => slice.device_ptr(&stream).0,
            _ => {
                return Err(ModelError::Batch(format!(
                    "no kernel takes a tensor of {:?}",
                    tensor.dtype()
                )));
            }
        };
        let dtype = tensor.dtype();
        Ok(Self {
            pointer: base + (start * dtype.size_in_bytes()) as u64,
            elements: end - start,
            dtype,
            _owner: Owner::Tensor {
                _tensor: tensor.clone(),
            },
        })
    }

    /// All of it.
    pub fn all(&self) -> Slice<'_> {
        Slice {
            pointer: self.pointer,
            elements: self.elements,
            dtype: self.dtype,
            array: PhantomData,
        }
    }

    /// A part.
    ///
    /// # Errors
    /// [`ModelError::Batch`] for a part beyond the end.
    pub fn part(&self, range: Range<usize>) -> Result<Slice<'_>, ModelError> {
        if range.start > range.end || range.end > self.elements {
            return Err(ModelError::Batch(format!(
                "elements {range:?} of an array of {}",
                self.elements
            )));
        }
        Ok(Slice {
            pointer: self.pointer + (range.start * self.dtype.size_in_bytes()) as u64,
            elements: range.len(),
            dtype: self.dtype,
            array: PhantomData,
        })
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.elements
    }
}

/// A part of an [`Array`].
#[derive(Clone, Copy)]
pub struct Slice<'a> {
    pointer: sys::CUdeviceptr,
    elements: usize,
    dtype: DType,
    array: PhantomData<&'a Array>,
}

impl<'a> Slice<'a> {
    /// Where it begins on the device.
    pub(super) fn pointer(self) -> sys::CUdeviceptr {
        self.pointer
    }

    /// The pointer where it lies, for a kernel's argument list.
    pub(super) fn pointer_ref(&self) -> &sys::CUdeviceptr {
        &self.pointer
    }

    /// The number of elements.
    pub fn elements(self) -> usize {
        self.elements
    }

    /// The type of the elements.
    pub fn dtype(self) -> DType {
        self.dtype
    }

    /// Copies f32 numbers to the host; waits for the device.
    ///
    /// # Errors
    /// [`ModelError::Batch`] for another type; what went wrong on the device.
    pub fn to_host(self, device: &CudaDevice) -> Result<Vec<f32>, ModelError> {
        let source = self.check("download", "the source", DType::F32, 0)?;
        let stream = device.cuda_stream();
        stream
            .context()
            .bind_to_thread()
            .map_err(driver("using the device"))?;
        let mut values = vec![0f32; source.elements];
        // SAFETY: both sides have `elements` numbers, and the copy is waited for before the vector can move.
        #[allow(unsafe_code)]
        let copied =
            unsafe { result::memcpy_dtoh_async(&mut values, source.pointer, stream.cu_stream()) };
        copied
            .and_then(|()| stream.synchronize())
            .map_err(driver("copying from the device"))?;
        Ok(values)
    }

    /// Checks, for an argument called `name` of `kernel`, that it has the type, at least so many elements, and begins at a
    /// multiple of 16 bytes.
    ///
    /// # Errors
    /// [`ModelError::Batch`] naming the kernel and the argument.
    pub fn check(
        self,
        kernel: &str,
        name: &str,
        dtype: DType,
        elements: usize,
    ) -> Result<Slice<'a>, ModelError> {
        let aligned = self.pointer.is_multiple_of(16);
        if self.dtype == dtype && self.elements >= elements && aligned {
            return Ok(self);
        }
        Err(ModelError::Batch(format!(
            "{kernel}: {name} has {} elements of {:?}{}, and {elements} of {dtype:?} are needed",
            self.elements,
            self.dtype,
            if aligned {
                ""
            } else {
                " that are not aligned to 16 bytes"
            },
        )))
    }
}

/// Words on the host that the device reads and writes directly, while the host goes on.
pub struct Pinned {
    memory: PinnedHostSlice<u32>,
    stream: Arc<CudaStream>,
}

impl Pinned {
    /// `words` words, zero.
    ///
    /// # Errors
    /// [`ModelError::OutOfMemory`] when the system locks no more pages.
    pub fn zeros(device: &CudaDevice, words: usize) -> Result<Self, ModelError> {
        let stream = device.cuda_stream();
        let what = format!("{words} words of locked host memory");
        // Not write-combined: the host reads it too.
        //
        // SAFETY: the memory is set to zero below, before anyone can read it.
        #[allow(unsafe_code)]
        let mut memory = unsafe {
            stream
                .context()
                .alloc_pinned_with_flags::<u32>(words.max(1), 0)
        }
        .map_err(driver(&what))?;
        let start = memory.as_mut_ptr().map_err(driver(&what))?;
        // SAFETY: `start` points to `words.max(1)` words that belong to `memory`, which nothing else uses yet.
        #[allow(unsafe_code)]
        unsafe {
            start.write_bytes(0, words.max(1));
        }
        Ok(Self { memory, stream })
    }

    /// Words.
    pub fn words(&self) -> usize {
        self.memory.len()
    }

    /// The words, once the copy that was queued last is done.
    ///
    /// # Errors
    /// What went wrong on the device before.
    pub fn read(&self) -> Result<&[u32], ModelError> {
        self.memory
            .as_slice()
            .map_err(driver("waiting for the device"))
    }

    /// The words to be written, once the copy that was queued last is done.
    ///
    /// # Errors
    /// What went wrong on the device before.
    pub fn write(&mut self) -> Result<&mut [u32], ModelError> {
        self.memory
            .as_mut_slice()
            .map_err(driver("waiting for the device"))
    }

    /// Queues a copy of the first `words` words to the device.
    ///
    /// # Errors
    /// [`ModelError::Batch`] when either side is shorter; the driver's refusal.
    pub fn upload(&mut self, words: usize, to: Slice) -> Result<(), ModelError> {
        let to = to.check("upload", "the target", DType::U32, words)?;
        self.ready(words)?;
        // SAFETY: the words stay where they are until the copy is done: `memory` records an event behind it (when
        // `_event` is dropped), for which writing and freeing wait. The target has at least `words` words.
        #[allow(unsafe_code)]
        let copied = unsafe {
            let (source, _event) = self.memory.stream_synced_slice(&self.stream);
            result::memcpy_htod_async(to.pointer(), &source[..words], self.stream.cu_stream())
        };
        copied.map_err(driver("copying to the device"))
    }

    /// Queues a copy of the first `words` words of the device's memory to here; [`Self::read`] waits for it.
    ///
    /// # Errors
    /// [`ModelError::Batch`] when either side is shorter; the driver's refusal.
    pub fn download(&mut self, words: usize, from: Slice) -> Result<(), ModelError> {
        let from = from.check("download", "the source", DType::U32, words)?;
        self.ready(words)?;
        // SAFETY: as above; nothing reads the words before the event behind the copy.
        #[allow(unsafe_code)]
        let copied = unsafe {
            let (target, _event) = self.memory.stream_synced_mut_slice(&self.stream);
            result::memcpy_dtoh_async(
                &mut target[..words],
                from.pointer(),
                self.stream.cu_stream(),
            )
        };
        copied.map_err(driver("copying from the device"))
    }

    fn ready(&self, words: usize) -> Result<(), ModelError> {
        if words > self.memory.len() {
            return Err(ModelError::Batch(format!(
                "{words} words through a buffer of {}",
                self.memory.len()
            )));
        }
        self.stream
            .context()
            .bind_to_thread()
            .map_err(driver("using the device"))
    }
}
