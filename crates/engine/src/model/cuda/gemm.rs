//! Matrix products with weights, by cuBLASLt.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::RangeInclusive;
use std::sync::Arc;

use candle_core::cuda_backend::cudarc;
use candle_core::{CudaDevice, DType};
use cudarc::cublaslt::{result, sys};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr};

use super::array::{Array, Slice};
use super::device::bind;
use super::error::{cublas, driver};
use crate::model::{ModelError, Result};

/// The size of cuBLAS's workspace: NVIDIA's recommendation for Hopper.
const WORKSPACE_BYTES: usize = 32 << 20;

/// The alignment of operands and results that the library assumes when it chooses an algorithm, unless told otherwise.
/// Allocations have it.
const ALIGNMENT: u64 = 256;

pub struct Weight {
    /// `[outputs, inputs]`: bf16, f16, or e4m3 bytes.
    pub(crate) values: Array,
    /// e4m3: the factor of each output's row, f32 `[outputs]`.
    pub(crate) scales: Option<Array>,
    /// Whether the scales are multiplied in by a kernel of ours, because cuBLAS has no such product with them.
    pub(crate) scaled_afterwards: bool,
    /// `[outputs]`, in the type of the product.
    pub(crate) bias: Option<Array>,
    pub(crate) outputs: usize,
    pub(crate) inputs: usize,
    /// The distance in elements from one row of a result to the next, at least `outputs`.
    pub(crate) stride: usize,
}

#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// `[rows, inputs]`, with room for [`Gemm::padded`] rows.
    pub values: Slice<'a>,
    /// e4m3: the factor of each row, f32 `[rows]`, with room for the padded rows.
    pub scales: Option<Slice<'a>>,
    pub count: usize,
}

/// What a product's plan depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    rows: usize,
    inputs: usize,
    outputs: usize,
    operands: DType,
    stride: usize,
    out: DType,
    bias: bool,
    scaled: bool,
}

impl Key {
    fn new(weight: &Weight, out: DType, bias: bool, scaled: bool, rows: usize) -> Self {
        Self {
            rows,
            inputs: weight.inputs,
            outputs: weight.outputs,
            operands: weight.values.all().dtype(),
            stride: weight.stride,
            out,
            bias,
            scaled,
        }
    }
}

/// A product with the algorithm that cuBLAS chose.
struct Plan {
    description: Description,
    weight: Layout,
    rows: Layout,
    out: Layout,
    algorithm: sys::cublasLtMatmulAlgo_t,
}

/// Products with f32 sums on a device's stream. The algorithm for each shape is looked up once.
pub struct Gemm {
    handle: Handle,
    workspace: CudaSlice<u8>,
    stream: Arc<CudaStream>,
    plans: HashMap<Key, Plan>,
}

// SAFETY: the handles are plain pointers to objects of cuBLASLt that no thread owns; the library asks only that one thread at
// a time uses a descriptor, and using one takes `&mut self`.
#[allow(unsafe_code)]
unsafe impl Send for Gemm {}

impl Gemm {
    /// Opens cuBLASLt for a device.
    pub fn new(device: &CudaDevice) -> Result<Self> {
        let stream = device.cuda_stream();
        bind(&stream)?;
        Ok(Self {
            handle: Handle::new()?,
            workspace: stream
                .alloc_zeros(WORKSPACE_BYTES)
                .map_err(driver("cuBLAS's workspace"))?,
            stream,
            plans: HashMap::new(),
        })
    }

    /// The number of rows that a product of `rows` rows computes and writes: operands and result must have room for them.
    /// The content of the extra rows does not matter, since rows do not mix.
    ///
    /// Few different numbers mean few plans, and FP8 products need multiples of 16.
    pub fn padded(rows: usize) -> usize {
        rows.next_multiple_of(if rows <= 512 { 16 } else { 64 })
    }

    fn workspace(&self) -> u64 {
        self.workspace.device_ptr(&self.stream).0
    }

    /// Looks up the algorithms of all products with this weight of these numbers of rows, which takes the library long, so that
    /// no step has to. `scaled` says whether operands of e4m3 come with scales, `bias` whether the weight's bias is added.
    pub(crate) fn prepare(
        &mut self,
        weight: &Weight,
        out: DType,
        (bias, scaled): (bool, bool),
        rows: RangeInclusive<usize>,
    ) -> Result<()> {
        bind(&self.stream)?;
        let bias = bias && weight.bias.is_some();
        let last = Self::padded(*rows.end());
        let mut rows = rows.start().saturating_sub(1);
        while rows < last {
            rows = Self::padded(rows + 1);
            let key = Key::new(weight, out, bias, scaled, rows);
            if !self.plans.contains_key(&key) {
                let plan = Plan::new(&self.handle, key, self.workspace())?;
                self.plans.insert(key, plan);
            }
        }
        Ok(())
    }

    /// `out = x · weightᵀ + bias`, `[rows, stride]`. Operands of e4m3 are multiplied as they are if `x` has no scales, and
    /// with both operands' scales if it has.
    /// Errors: [`ModelError::Batch`] for operands that do not fit each other; [`ModelError::Unsupported`] for a product that this
    /// GPU does not have.
    pub fn multiply(&mut self, x: Rows, weight: &Weight, out: Slice) -> Result<()> {
        self.multiply_and_add(x, weight, weight.bias.as_ref(), out)
    }

    /// The same with another bias, or none: a caller may add the weight's itself.
    pub(crate) fn multiply_and_add<'a>(
        &mut self,
        x: Rows<'a>,
        weight: &'a Weight,
        bias: Option<&'a Array>,
        out: Slice<'a>,
    ) -> Result<()> {
        const NAME: &str = "matrix product";
        if x.count == 0 {
            return Ok(());
        }
        let (rows, inputs, outputs) = (Self::padded(x.count), weight.inputs, weight.outputs);
        let operands = weight.values.all().dtype();
        let aligned = |slice: Slice<'a>, name, dtype, elements| {
            slice.check_aligned(NAME, name, dtype, elements, ALIGNMENT)
        };
        let values = aligned(x.values, "x", operands, rows * inputs)?;
        let weights = aligned(
            weight.values.all(),
            "the weight",
            operands,
            outputs * inputs,
        )?;
        let out = aligned(out, "the result", out.dtype(), rows * weight.stride)?;
        let bias = match bias {
            Some(bias) => Some(bias.all().check(NAME, "the bias", out.dtype(), outputs)?),
            None => None,
        };
        let scales = match (&weight.scales, x.scales) {
            (Some(weight), Some(x)) => Some((
                weight
                    .all()
                    .check(NAME, "the scales of the weight", DType::F32, outputs)?,
                x.check(NAME, "the scales of x", DType::F32, rows)?,
            )),
            (_, None) => None,
            (None, Some(_)) => {
                return Err(ModelError::Batch(format!(
                    "{NAME}: scales of x and none of the weight"
                )));
            }
        };
        let key = Key::new(weight, out.dtype(), bias.is_some(), scales.is_some(), rows);
        bind(&self.stream)?;
        let workspace = self.workspace();
        let plan = match self.plans.entry(key) {
            Entry::Occupied(plan) => plan.into_mut(),
            Entry::Vacant(place) => place.insert(Plan::new(&self.handle, key, workspace)?),
        };
        if let Some(bias) = bias {
            plan.description
                .set(Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.pointer())?;
        }
        if let Some((weight, x)) = scales {
            plan.description.set(
                Attribute::CUBLASLT_MATMUL_DESC_A_SCALE_POINTER,
                weight.pointer(),
            )?;
            plan.description
                .set(Attribute::CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, x.pointer())?;
        }
        let (one, zero) = (1f32, 0f32);
        // SAFETY: descriptor and layouts are alive, and describe matrices of the types and sizes that were checked above:
        // weights [outputs, inputs], x [rows, inputs], result [rows, stride]. The pointers are device
        // memory that is freed in the order of this stream. With β = 0 the result is not read, so it may stand for C too.
        // α and β are read before the call returns.
        #[allow(unsafe_code)]
        let queued = unsafe {
            result::matmul(
                self.handle.0,
                plan.description.0,
                (&raw const one).cast(),
                (&raw const zero).cast(),
                weights.pointer() as *const _,
                plan.weight.0,
                values.pointer() as *const _,
                plan.rows.0,
                out.pointer() as *const _,
                plan.out.0,
                out.pointer() as *mut _,
                plan.out.0,
                &raw const plan.algorithm,
                workspace as *mut _,
                WORKSPACE_BYTES,
                self.stream.cu_stream().cast(),
            )
        };
        queued.map_err(cublas(format_args!("{key:?}")))
    }
}

impl Plan {
    /// cuBLAS has matrices in column order, so it computes the transpose of our result: `outᵀ = weight · xᵀ`. The weight,
    /// read by columns, is transposed; x and the result are as they lie. It is the one form that FP8 products have.
    ///
    /// `somewhere` stands for the pointers of bias and scales, which each product sets anew: without any pointer the library
    /// may choose for another computation.
    fn new(handle: &Handle, key: Key, somewhere: u64) -> Result<Self> {
        let Key {
            rows,
            inputs,
            outputs,
            ..
        } = key;
        let description = Description::new()?;
        description.set(Attribute::CUBLASLT_MATMUL_DESC_TRANSA, 1i32)?;
        description.set(Attribute::CUBLASLT_MATMUL_DESC_TRANSB, 0i32)?;
        if key.operands == DType::F8E4M3 {
            // Hopper's sums of FP8 products have fewer bits than f32. On a GPU no error of a logit grew by it (docs/decisions/cuda.md).
            description.set(Attribute::CUBLASLT_MATMUL_DESC_FAST_ACCUM, 1i8)?;
        }
        if key.bias {
            description.set(
                Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE,
                sys::cublasLtEpilogue_t::CUBLASLT_EPILOGUE_BIAS as u32,
            )?;
            description.set(Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER, somewhere)?;
        }
        if key.scaled {
            let mode =
                sys::cublasLtMatmulMatrixScale_t::CUBLASLT_MATMUL_MATRIX_SCALE_OUTER_VEC_32F as u32;
            description.set(Attribute::CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode)?;
            description.set(Attribute::CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode)?;
            description.set(Attribute::CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, somewhere)?;
            description.set(Attribute::CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, somewhere)?;
        }
        let weight = Layout::new(key.operands, inputs, outputs, inputs)?;
        let x = Layout::new(key.operands, inputs, rows, inputs)?;
        let out = Layout::new(key.out, outputs, rows, key.stride)?;
        let preference = Preference::new()?;
        // SAFETY: all five objects are alive; the description and the layouts fit each other, or the library says no.
        #[allow(unsafe_code)]
        let heuristic = unsafe {
            result::get_matmul_algo_heuristic(
                handle.0,
                description.0,
                weight.0,
                x.0,
                out.0,
                out.0,
                preference.0,
            )
        };
        let heuristic = heuristic.map_err(|error| {
            if error.0 == sys::cublasStatus_t::CUBLAS_STATUS_NOT_SUPPORTED {
                ModelError::Unsupported(format!("cuBLAS has no product {key:?} on this GPU"))
            } else {
                cublas(format_args!("choosing an algorithm for {key:?}"))(error)
            }
        })?;
        Ok(Self {
            description,
            weight,
            rows: x,
            out,
            algorithm: heuristic.algo,
        })
    }
}

/// A library handle; destroyed with its owner.
struct Handle(sys::cublasLtHandle_t);

impl Handle {
    fn new() -> Result<Self> {
        result::create_handle()
            .map(Self)
            .map_err(cublas("opening the library"))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: it was created, and is destroyed here alone. An error here cannot be acted on.
        #[allow(unsafe_code)]
        let _ = unsafe { result::destroy_handle(self.0) };
    }
}

use sys::cublasLtMatmulDescAttributes_t as Attribute;

/// The description of a product, with sums in f32.
struct Description(sys::cublasLtMatmulDesc_t);

impl Description {
    fn new() -> Result<Self> {
        result::create_matmul_desc(
            sys::cublasComputeType_t::CUBLAS_COMPUTE_32F,
            sys::cudaDataType_t::CUDA_R_32F,
        )
        .map(Self)
        .map_err(cublas("describing a product"))
    }

    /// Sets an attribute to a plain value of its type: an enumeration or flag of 32 bits, or a pointer.
    fn set<T: Copy>(&self, attribute: Attribute, value: T) -> Result<()> {
        // SAFETY: the description is alive; the library copies the value, and refuses one of another size than the
        // attribute has.
        #[allow(unsafe_code)]
        unsafe {
            result::set_matmul_desc_attribute(
                self.0,
                attribute,
                (&raw const value).cast(),
                size_of::<T>(),
            )
        }
        .map_err(cublas(format_args!("setting {attribute:?}")))
    }
}

impl Drop for Description {
    fn drop(&mut self) {
        // SAFETY: as for the handle.
        #[allow(unsafe_code)]
        let _ = unsafe { result::destroy_matmul_desc(self.0) };
    }
}

/// The layout of a matrix in column order.
struct Layout(sys::cublasLtMatrixLayout_t);

impl Layout {
    fn new(dtype: DType, rows: usize, columns: usize, stride: usize) -> Result<Self> {
        use sys::cudaDataType_t as Type;
        let kind = match dtype {
            DType::F32 => Type::CUDA_R_32F,
            DType::F16 => Type::CUDA_R_16F,
            DType::BF16 => Type::CUDA_R_16BF,
            DType::F8E4M3 => Type::CUDA_R_8F_E4M3,
            _ => {
                return Err(ModelError::Batch(format!("no matrix product of {dtype:?}")));
            }
        };
        let stride = i64::try_from(stride).unwrap_or(i64::MAX);
        result::create_matrix_layout(kind, rows as u64, columns as u64, stride)
            .map(Self)
            .map_err(cublas("describing a matrix"))
    }
}

impl Drop for Layout {
    fn drop(&mut self) {
        // SAFETY: as for the handle.
        #[allow(unsafe_code)]
        let _ = unsafe { result::destroy_matrix_layout(self.0) };
    }
}

/// The limits on an algorithm.
struct Preference(sys::cublasLtMatmulPreference_t);

impl Preference {
    fn new() -> Result<Self> {
        let preference = Self(
            result::create_matmul_pref().map_err(cublas("describing what a product may use"))?,
        );
        let bytes = WORKSPACE_BYTES;
        // SAFETY: the preference is alive, and the attribute is a `size_t`, which the library copies.
        #[allow(unsafe_code)]
        unsafe {
            result::set_matmul_pref_attribute(
                preference.0,
                sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                (&raw const bytes).cast(),
                size_of::<usize>(),
            )
        }
        .map_err(cublas("limiting the workspace"))?;
        Ok(preference)
    }
}

impl Drop for Preference {
    fn drop(&mut self) {
        // SAFETY: as for the handle.
        #[allow(unsafe_code)]
        let _ = unsafe { result::destroy_matmul_pref(self.0) };
    }
}
