//! Sums over several GPUs by NVIDIA's NCCL, which is opened when the first group of GPUs is made: a program on one GPU runs without it.
//!
//! Not cudarc's `nccl`: candle has cudarc linked to its libraries, and a program that is linked to NCCL does not start where there is
//! none.

use std::error::Error as _;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock, TryLockError};
use std::time::{Duration, Instant};

use candle_core::cuda_backend::cudarc::driver::CudaStream;
use candle_core::{CudaDevice, DType};
use libloading::Library;

use super::array::{Array, Slice};
use super::device::bind;
use crate::model::{ModelError, Result};
use juror_base::threads::lock;

const NAMES: [&str; 2] = ["libnccl.so.2", "libnccl.so"];
/// The least version: 2.24. Older ones read and write other GPUs' arrays themselves, and ours are in memory that is no other GPU's
/// to see.
const LEAST_VERSION: c_int = 22_400;
/// The tokens of the longest sum that NCCL is tried with: those of a long step.
const TRIED_TOKENS: usize = 8192;
/// The sums that it is tried with: of known numbers, and of 1, 2, 4 and so on tokens.
pub(super) const ROUNDS: usize = 2 + TRIED_TOKENS.ilog2() as usize;
/// How long a failed group waits for a thread that is inside NCCL. Where GPUs are only slow, a call takes seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// `ncclSuccess`, and `ncclSum` of `ncclRedOp_t`.
const SUCCESS: c_int = 0;
const SUM: c_int = 0;

/// What is said of a sum after another GPU's failure.
const STOPPED: &str = "stopped, as another GPU of its group failed";

/// A rank's handle, `ncclComm_t`.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Handle(*mut c_void);

// SAFETY: NCCL takes a handle from any thread, from one at a time: it is used under the lock of its `Mutex` alone.
#[allow(unsafe_code)]
unsafe impl Send for Handle {}

/// The functions of the library that are used, as `nccl.h` declares them. Handles and streams are pointers; sizes are `size_t`,
/// enumerations `int`.
struct Nccl {
    get_version: unsafe extern "C" fn(*mut c_int) -> c_int,
    init_all: unsafe extern "C" fn(*mut Handle, c_int, *const c_int) -> c_int,
    all_reduce: unsafe extern "C" fn(
        *const c_void,
        *mut c_void,
        usize,
        c_int,
        c_int,
        Handle,
        *mut c_void,
    ) -> c_int,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
    abort: unsafe extern "C" fn(Handle) -> c_int,
    error_text: unsafe extern "C" fn(c_int) -> *const c_char,
    /// Keeps the functions where they are.
    _library: Library,
}

impl Nccl {
    fn get() -> Result<&'static Self> {
        static OPENED: OnceLock<Result<Nccl, String>> = OnceLock::new();
        let opened = OPENED.get_or_init(Self::open);
        opened
            .as_ref()
            .map_err(|why| ModelError::Device(why.clone()))
    }

    fn open() -> Result<Self, String> {
        let missing = |error: libloading::Error| {
            // What the system says is in the source.
            let why = error
                .source()
                .map_or(error.to_string(), ToString::to_string);
            format!(
                "--tensor-parallel needs NVIDIA's NCCL, and {} cannot be used ({why}): install it (the package libnccl2, or \
                 `pip install nvidia-nccl-cu13`) and add its folder to LD_LIBRARY_PATH",
                NAMES[0]
            )
        };
        // SAFETY: NCCL's library does nothing when it is opened but set up its own data.
        #[allow(unsafe_code)]
        let opened = NAMES.map(|name| unsafe { Library::new(name) });
        let [first, second] = opened;
        let library = first
            .or_else(|why| second.map_err(|_| why))
            .map_err(missing)?;
        // SAFETY: the types are those of `nccl.h`, the same in all versions of NCCL 2; the library is kept beside the functions.
        #[allow(unsafe_code)]
        let nccl = unsafe {
            Self {
                get_version: *library.get(b"ncclGetVersion\0").map_err(missing)?,
                init_all: *library.get(b"ncclCommInitAll\0").map_err(missing)?,
                all_reduce: *library.get(b"ncclAllReduce\0").map_err(missing)?,
                destroy: *library.get(b"ncclCommDestroy\0").map_err(missing)?,
                abort: *library.get(b"ncclCommAbort\0").map_err(missing)?,
                error_text: *library.get(b"ncclGetErrorString\0").map_err(missing)?,
                _library: library,
            }
        };
        let mut version = 0;
        // SAFETY: it writes one number.
        #[allow(unsafe_code)]
        let code = unsafe { (nccl.get_version)(&raw mut version) };
        if code != SUCCESS || version < LEAST_VERSION {
            return Err(format!(
                "--tensor-parallel needs NCCL 2.24 or newer, and this one says that it is version {version}"
            ));
        }
        Ok(nccl)
    }

    fn check(&self, code: c_int, what: &str) -> Result<()> {
        if code == SUCCESS {
            return Ok(());
        }
        // SAFETY: it returns a text that is never freed, for any number.
        #[allow(unsafe_code)]
        let text = unsafe { CStr::from_ptr((self.error_text)(code)) };
        Err(ModelError::Device(format!(
            "NCCL, {what}: {} (NCCL_DEBUG=WARN NCCL_DEBUG_FILE=/dev/stderr says more)",
            text.to_string_lossy()
        )))
    }
}

/// GPUs that add numbers up. Each queues its sums in the same order; none begins before all have queued it.
pub(super) struct Group {
    nccl: &'static Nccl,
    /// Of each GPU its stream, and its handle until the group is stopped.
    ranks: Vec<(Arc<CudaStream>, Mutex<Option<Handle>>)>,
}

impl Group {
    /// Connects GPUs. Waits until that is done.
    pub(super) fn new(devices: &[CudaDevice]) -> Result<Arc<Self>> {
        let nccl = Nccl::get()?;
        let ordinal = |device: &CudaDevice| device.cuda_stream().context().ordinal();
        let numbers = devices.iter().map(ordinal).chain([devices.len()]);
        let numbers: Result<Vec<c_int>, _> = numbers.map(c_int::try_from).collect();
        let mut ordinals = numbers.map_err(|error| ModelError::Device(error.to_string()))?;
        let count = ordinals.pop().unwrap_or_default();
        let mut handles = vec![Handle(std::ptr::null_mut()); ordinals.len()];
        // SAFETY: it reads `count` numbers and writes as many handles.
        #[allow(unsafe_code)]
        let code = unsafe { (nccl.init_all)(handles.as_mut_ptr(), count, ordinals.as_ptr()) };
        nccl.check(code, "connecting the GPUs")?;
        let streams = devices.iter().map(CudaDevice::cuda_stream);
        let handles = handles.into_iter().map(|handle| Mutex::new(Some(handle)));
        Ok(Arc::new(Self {
            nccl,
            ranks: streams.zip(handles).collect(),
        }))
    }

    /// Ends the group's sums: those that wait for a GPU which will not come too. To be called when one fails, before anything
    /// waits for another, with what failed.
    ///
    /// A thread that is inside NCCL is waited for. It does not come out where it connects to a GPU which will not come too: there is
    /// nothing left then but to end the process.
    pub(super) fn stop(&self, why: &str) {
        std::thread::scope(|scope| {
            for (_, handle) in &self.ranks {
                let abort = move || {
                    if let Some(handle) = take(handle, why) {
                        // SAFETY: nobody has the handle any more. What is queued with it ends at once.
                        #[allow(unsafe_code)]
                        unsafe {
                            (self.nccl.abort)(handle);
                        }
                    }
                };
                // At the same time: one may wait for another.
                let spawned = std::thread::Builder::new().spawn_scoped(scope, abort);
                if spawned.is_err() {
                    abort();
                }
            }
        });
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for (stream, handle) in &self.ranks {
            // When this fails the device is lost, and computes nothing any more.
            let _ = stream.context().bind_to_thread();
            let _ = stream.synchronize();
            if let Some(handle) = lock(handle).take() {
                // SAFETY: nobody has the handle any more, and nothing that uses it is queued.
                #[allow(unsafe_code)]
                unsafe {
                    (self.nccl.destroy)(handle);
                }
            }
        }
    }
}

/// What a group's sums are tried with, on one GPU.
///
/// In sums of every size, as NCCL adds in ways that depend on it, and connects the GPUs and takes memory for each way when it is first
/// wanted: a call then waits for GPUs that may have failed. So a round begins when the one before went well on all.
pub(super) struct Tried {
    device: CudaDevice,
    own: Array,
    long: Array,
    hidden: usize,
}

/// One GPU of a [`Group`].
#[derive(Clone)]
pub(super) struct Member {
    pub(super) group: Arc<Group>,
    pub(super) rank: usize,
}

impl Member {
    /// Queues that `numbers` become the sums of those of all GPUs, the same bits on each.
    pub(super) fn sum(&self, numbers: Slice) -> Result<()> {
        let kind = match numbers.dtype() {
            DType::F16 => 6,
            DType::F32 => 7,
            DType::BF16 => 9,
            other => return Err(ModelError::Batch(format!("sums of {other:?}"))),
        };
        let (stream, handle) = &self.group.ranks[self.rank];
        bind(stream)?;
        let held = lock(handle);
        let Some(handle) = *held else {
            return Err(ModelError::Device(STOPPED.into()));
        };
        let (nccl, address) = (self.group.nccl, numbers.pointer() as *mut c_void);
        // SAFETY: source and target are the same numbers on this rank's device, and stay until all that is queued behind them on its
        // one stream has run. The handle is alive, as its lock is held.
        #[allow(unsafe_code)]
        let code = unsafe {
            (nccl.all_reduce)(
                address,
                address,
                numbers.elements(),
                kind,
                SUM,
                handle,
                stream.cu_stream().cast(),
            )
        };
        nccl.check(code, "a sum over the GPUs")
    }

    /// What is added up before the first step, for a model whose tokens have `hidden` numbers of `dtype`.
    pub(super) fn tried(&self, device: &CudaDevice, hidden: usize, dtype: DType) -> Result<Tried> {
        const COUNT: usize = 64;
        let there = candle_core::Device::Cuda(device.clone());
        let own = vec![(self.rank + 1) as f32; COUNT];
        let long = TRIED_TOKENS * hidden;
        Ok(Tried {
            device: device.clone(),
            own: Array::from_tensor(&candle_core::Tensor::new(own, &there)?)?,
            long: Array::zeros(device, long, dtype, "sums over the GPUs")?,
            hidden,
        })
    }

    /// One of [`ROUNDS`], all of which all members have to call at once.
    pub(super) fn check(&self, tried: &Tried, round: usize) -> Result<()> {
        if round > 0 {
            return self.sum(tried.long.part(0..tried.hidden << (round - 1))?);
        }
        self.sum(tried.own.all())?;
        let ranks = self.group.ranks.len();
        let expected = (ranks * (ranks + 1) / 2) as f32;
        let sums = tried.own.all().to_host(&tried.device)?;
        if sums.iter().any(|sum| sum.to_bits() != expected.to_bits()) {
            return Err(ModelError::Device(format!(
                "NCCL's sums over the GPUs are wrong: {} where {expected} is right",
                sums[0]
            )));
        }
        Ok(())
    }
}

/// A rank's handle, when its thread is out of NCCL. Ends the process where that does not come, with what failed.
fn take(handle: &Mutex<Option<Handle>>, why: &str) -> Option<Handle> {
    // SAFETY: as POSIX and C on Windows declare it.
    #[allow(unsafe_code)]
    unsafe extern "C" {
        fn _exit(code: c_int) -> !;
    }
    let since = Instant::now();
    loop {
        match handle.try_lock() {
            Ok(mut held) => return held.take(),
            Err(TryLockError::Poisoned(held)) => return held.into_inner().take(),
            Err(TryLockError::WouldBlock) if since.elapsed() < PATIENCE => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(TryLockError::WouldBlock) => {
                eprintln!(
                    "error: {why}; another GPU of its group waits for it inside NCCL and cannot be stopped, so the program ends"
                );
                // SAFETY: it ends the process at once. `exit` would run what the libraries do at the end, which may wait for the GPUs.
                #[allow(unsafe_code)]
                unsafe {
                    _exit(1)
                }
            }
        }
    }
}
