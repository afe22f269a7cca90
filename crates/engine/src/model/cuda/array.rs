//! Arrays in device memory. Locked memory of the host is in [`super::pinned`].

use std::marker::PhantomData;
use std::ops::Range;

use candle_core::cuda_backend::{CudaStorageSlice, cudarc};
use candle_core::{CudaDevice, DType, Storage, Tensor};
use cudarc::driver::{CudaSlice, DevicePtr, result, sys};

use super::device::bind;
use super::error::driver;
use crate::model::{ModelError, Result};

/// Numbers of one type side by side in device memory, of our own or of a tensor.
///
/// Everything is queued on the device's one stream, where events are not tracked ([`super::device::prepare`]): work on an
/// array is done in the order in which it was queued, and its memory is freed after all work queued before.
pub struct Array {
    pointer: sys::CUdeviceptr,
    elements: usize,
    dtype: DType,
    _owner: Owner,
}

enum Owner {
    Memory { _memory: CudaSlice<u8> },
    Tensor { _tensor: Tensor },
}

impl Array {
    pub fn zeros(device: &CudaDevice, elements: usize, dtype: DType, what: &str) -> Result<Self> {
        let stream = device.cuda_stream();
        let bytes = elements.saturating_mul(dtype.size_in_bytes());
        // The driver does not allocate zero bytes.
        let memory = stream
            .alloc_zeros::<u8>(bytes.max(1))
            .map_err(driver(format_args!("{} MiB for {what}", bytes >> 20)))?;
        let pointer = memory.device_ptr(&stream).0;
        Ok(Self {
            pointer,
            elements,
            dtype,
            _owner: Owner::Memory { _memory: memory },
        })
    }

    /// A tensor's numbers, without a copy.
    /// Errors: [`ModelError::Batch`] for a tensor that is not on a CUDA device or not contiguous.
    pub fn from_tensor(tensor: &Tensor) -> Result<Self> {
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

    pub fn all(&self) -> Slice<'_> {
        Slice {
            pointer: self.pointer,
            elements: self.elements,
            dtype: self.dtype,
            array: PhantomData,
        }
    }

    pub fn part(&self, range: Range<usize>) -> Result<Slice<'_>> {
        self.all().part(range)
    }

    pub(crate) fn elements(&self) -> usize {
        self.elements
    }
}

#[derive(Clone, Copy)]
pub struct Slice<'a> {
    pointer: sys::CUdeviceptr,
    elements: usize,
    dtype: DType,
    array: PhantomData<&'a Array>,
}

impl<'a> Slice<'a> {
    pub(super) fn pointer(self) -> sys::CUdeviceptr {
        self.pointer
    }

    /// A reference to the address, for a kernel's argument list.
    pub(super) fn pointer_ref(&self) -> &sys::CUdeviceptr {
        &self.pointer
    }

    pub(crate) fn part(self, range: Range<usize>) -> Result<Self> {
        if range.start > range.end || range.end > self.elements {
            return Err(ModelError::Batch(format!(
                "elements {range:?} of an array of {}",
                self.elements
            )));
        }
        Ok(Self {
            pointer: self.pointer + (range.start * self.dtype.size_in_bytes()) as u64,
            elements: range.len(),
            ..self
        })
    }

    pub(crate) fn elements(self) -> usize {
        self.elements
    }

    pub(crate) fn dtype(self) -> DType {
        self.dtype
    }

    /// Copies f32 numbers to the host; waits for the device.
    /// Errors: [`ModelError::Batch`] for another type; what went wrong on the device.
    pub(crate) fn to_host(self, device: &CudaDevice) -> Result<Vec<f32>> {
        let source = self.check("download", "the source", DType::F32, 0)?;
        let stream = device.cuda_stream();
        bind(&stream)?;
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

    /// Checks that an argument called `name` of `kernel` has the type and at least so many elements, and begins at a
    /// multiple of 16 bytes.
    pub(crate) fn check(
        self,
        kernel: &str,
        name: &str,
        dtype: DType,
        elements: usize,
    ) -> Result<Slice<'a>> {
        self.check_aligned(kernel, name, dtype, elements, 16)
    }

    /// As [`Self::check`], for a beginning at a multiple of `alignment` bytes.
    pub(crate) fn check_aligned(
        self,
        kernel: &str,
        name: &str,
        dtype: DType,
        elements: usize,
        alignment: u64,
    ) -> Result<Slice<'a>> {
        let aligned = self.pointer.is_multiple_of(alignment);
        if self.dtype == dtype && self.elements >= elements && aligned {
            return Ok(self);
        }
        Err(ModelError::Batch(format!(
            "{kernel}: {name} has {} elements of {:?} from {:#x} on, and {elements} of {dtype:?} from a multiple of {alignment} \
             on are needed",
            self.elements, self.dtype, self.pointer,
        )))
    }
}
