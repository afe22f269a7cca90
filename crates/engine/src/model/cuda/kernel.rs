//! Our own kernels: found, loaded and launched.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use candle_core::cuda_backend::cudarc;
use candle_core::{CudaDevice, DType};
use cudarc::driver::{CudaFunction, CudaModule, CudaStream, LaunchConfig, PushKernelArg, sys};
use cudarc::nvrtc::Ptx;

use super::array::Slice;
use super::device::capability;
use super::error::driver;
use crate::model::{ModelError, Result};

/// `(name, PTX, machine code)` of each file of `kernels/`; the code is that of the PTX, for the GPU that it names.
const EMBEDDED: &[(&str, &str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

/// A folder whose `NAME.ptx` replaces the embedded module `NAME`, so that kernels can be rebuilt with nvcc alone.
const OVERRIDE: &str = "JUROR_CUDA_KERNELS";

/// The kernels of a device; each module is loaded when it is first needed.
pub struct Kernels {
    stream: Arc<CudaStream>,
    folder: Option<PathBuf>,
    modules: HashMap<&'static str, Module>,
}

struct Module {
    loaded: Arc<CudaModule>,
    ptx: Cow<'static, str>,
}

impl Kernels {
    /// The kernels of a device; none is loaded yet.
    pub fn new(device: &CudaDevice) -> Self {
        Self {
            stream: device.cuda_stream(),
            folder: std::env::var_os(OVERRIDE).map(PathBuf::from),
            modules: HashMap::new(),
        }
    }

    pub(crate) fn multiprocessors(&self) -> Result<usize> {
        let count = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let count = self.stream.context().attribute(count);
        let count = count.map_err(driver("counting multiprocessors"))?;
        Ok(count.max(1) as usize)
    }

    /// Whether `module` has the function `name`: some are for some devices.
    pub(crate) fn has(&mut self, module: &'static str, name: &str) -> Result<bool> {
        Ok(parameters(&self.module(module)?.ptx, name).is_some())
    }

    pub(crate) fn function(&mut self, module: &'static str, name: &str) -> Result<Function> {
        let stream = Arc::clone(&self.stream);
        let found = self.module(module)?;
        let missing = || ModelError::Device(format!("no kernel {name} in module {module}"));
        Ok(Function {
            name: name.to_owned(),
            parameters: parameters(&found.ptx, name).ok_or_else(missing)?,
            handle: found
                .loaded
                .load_function(name)
                .map_err(driver(format_args!("kernel {name} of module {module}")))?,
            stream,
        })
    }

    fn module(&mut self, module: &'static str) -> Result<&Module> {
        if !self.modules.contains_key(module) {
            let loaded = self.load(module)?;
            self.modules.insert(module, loaded);
        }
        let missing = || ModelError::Device(format!("no module {module}"));
        self.modules.get(module).ok_or_else(missing)
    }

    fn load(&self, module: &'static str) -> Result<Module> {
        let file = self
            .folder
            .as_ref()
            .map(|folder| folder.join(format!("{module}.ptx")))
            .filter(|file| file.exists());
        let (ptx, code) = match file {
            Some(file) => match std::fs::read_to_string(&file) {
                Ok(ptx) => (Cow::Owned(ptx), &[][..]),
                Err(error) => {
                    return Err(ModelError::Device(format!("{}: {error}", file.display())));
                }
            },
            None => EMBEDDED
                .iter()
                .find(|(name, ..)| *name == module)
                .map(|(_, ptx, code)| (Cow::Borrowed(*ptx), *code))
                .ok_or_else(|| {
                    ModelError::Device(format!("this program holds no kernels `{module}`"))
                })?,
        };
        let target = target(&ptx).map(str::to_owned).ok_or_else(|| {
            ModelError::Device(format!(
                "the kernels `{module}` are empty: this program was built with a stand-in for nvcc; build it with scripts/build_cuda.sh"
            ))
        })?;
        let context = self.stream.context();
        let (major, minor) = capability(&self.stream)?;
        if !runs_on(&target, major, minor) {
            return Err(ModelError::Device(format!(
                "this program's kernels are for {target} and the GPU is of compute capability {major}.{minor}: \
                 build with CUDA_COMPUTE_CAP={major}{minor}"
            )));
        }
        // The driver compiles PTX for seconds. Where it does not take the code, as one that is older than the compiler, it takes the PTX or
        // says what is wrong.
        let code = Some(code).filter(|code| !code.is_empty() && is_code_for(&target, major, minor));
        let code = code.map(|code| context.load_module(Ptx::from_binary(code.to_vec())));
        let loaded = match code {
            Some(Ok(loaded)) => loaded,
            _ => context
                .load_module(Ptx::from_src(ptx.as_ref()))
                .map_err(driver(format_args!(
                    "loading the kernels `{module}` ({target})"
                )))?,
        };
        Ok(Module { loaded, ptx })
    }
}

/// The architecture that PTX is for, such as `sm_90a`.
fn target(ptx: &str) -> Option<&str> {
    let line = ptx.lines().find_map(|line| line.strip_prefix(".target "))?;
    line.split([',', ' ']).next()
}

/// Whether PTX runs on a device. PTX for a plain architecture runs on that and all later ones, with the suffix `a` on that
/// one only, with `f` in its family.
fn runs_on(target: &str, major: i32, minor: i32) -> bool {
    let Some(number) = target.strip_prefix("sm_") else {
        return true;
    };
    let digits = number.trim_end_matches(char::is_alphabetic);
    let Ok(built) = digits.parse::<i32>() else {
        return true;
    };
    let here = major * 10 + minor;
    match &number[digits.len()..] {
        "a" => built == here,
        "f" => built / 10 == major && built <= here,
        _ => built <= here,
    }
}

/// Whether the machine code of PTX for `target` runs on a device on which the PTX does: within the same major capability.
fn is_code_for(target: &str, major: i32, minor: i32) -> bool {
    let number = target.trim_start_matches("sm_");
    let number = number.trim_end_matches(char::is_alphabetic);
    runs_on(target, major, minor) && number.parse::<i32>().is_ok_and(|built| built / 10 == major)
}

/// The types of a kernel's parameters, as PTX declares them; `None` if there is no such kernel.
fn parameters(ptx: &str, name: &str) -> Option<Vec<Parameter>> {
    let (_, declaration) = ptx.split_once(&format!(".entry {name}("))?;
    let (list, _) = declaration.split_once(')')?;
    let words = list.split(',').map(|one| one.split_whitespace());
    words
        .map(|mut words| {
            (words.next()? == ".param").then_some(())?;
            match words.next()? {
                ".u64" => Some(Parameter::Pointer),
                ".u32" | ".s32" | ".b32" => Some(Parameter::Word),
                ".f32" => Some(Parameter::Float),
                _ => None,
            }
        })
        .collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parameter {
    Pointer,
    Word,
    Float,
}

#[derive(Clone, Copy)]
pub(crate) enum Arg<'a> {
    /// A pointer to device memory.
    Array(Slice<'a>),
    Null,
    /// `unsigned int`, or an `int` that is not negative
    U32(u32),
    F32(f32),
}

impl Arg<'_> {
    fn parameter(&self) -> Parameter {
        match self {
            Self::Array(_) | Self::Null => Parameter::Pointer,
            Self::U32(_) => Parameter::Word,
            Self::F32(_) => Parameter::Float,
        }
    }
}

/// An argument that counts rows, columns or the like, far below 2³¹.
pub(super) fn count(value: usize) -> Arg<'static> {
    Arg::U32(value as u32)
}

/// An array of at least so many elements of a type.
pub(super) fn array<'a>(
    slice: Slice<'a>,
    kernel: &str,
    name: &str,
    dtype: DType,
    elements: usize,
) -> Result<Arg<'a>> {
    Ok(Arg::Array(slice.check(kernel, name, dtype, elements)?))
}

pub(super) fn array_or_null<'a>(
    slice: Option<Slice<'a>>,
    kernel: &str,
    name: &str,
    dtype: DType,
    elements: usize,
) -> Result<Arg<'a>> {
    slice.map_or(Ok(Arg::Null), |slice| {
        array(slice, kernel, name, dtype, elements)
    })
}

/// A kernel, ready to be launched on its device's stream.
pub(crate) struct Function {
    name: String,
    parameters: Vec<Parameter>,
    handle: CudaFunction,
    stream: Arc<CudaStream>,
}

/// The blocks of a launch, the threads of a block, and its dynamic shared memory in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    /// Blocks in x and y.
    pub(crate) blocks: (usize, usize),
    /// Threads of a block in x and y.
    pub(crate) threads: (usize, usize),
    /// Bytes of dynamic shared memory of a block.
    pub(crate) shared: usize,
}

impl Grid {
    /// Blocks in a row, without dynamic shared memory.
    pub(crate) fn row(blocks: usize, threads: usize) -> Self {
        Self::plane(blocks, 1, threads)
    }

    pub(crate) fn plane(x: usize, y: usize, threads: usize) -> Self {
        Self {
            blocks: (x, y),
            threads: (threads, 1),
            shared: 0,
        }
    }

    pub(crate) fn with_shared(self, shared: usize) -> Self {
        Self { shared, ..self }
    }
}

impl Function {
    /// Allows blocks with this much dynamic shared memory, beyond the 48 KiB that are always allowed, and prefers shared
    /// memory to the level-1 cache.
    pub(crate) fn allow_shared(self, bytes: usize) -> Result<Self> {
        use sys::CUfunction_attribute_enum as Attribute;
        for (attribute, value) in [
            (
                Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                i32::try_from(bytes).unwrap_or(i32::MAX),
            ),
            (
                Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                100,
            ),
        ] {
            self.handle
                .set_attribute(attribute, value)
                .map_err(driver(format_args!(
                    "{bytes} bytes of shared memory for kernel {}",
                    self.name
                )))?;
        }
        Ok(self)
    }

    /// Queues the kernel. A grid without blocks queues nothing.
    ///
    /// Arrays must be those that the kernel expects, in its order, and large enough for the grid: the typed functions around
    /// this one make sure of that.
    /// Errors: [`ModelError::Batch`] when number or types of the arguments are not the kernel's; [`ModelError::Device`] naming the
    /// kernel when the driver refuses.
    pub(super) fn launch(&self, grid: Grid, args: &[Arg]) -> Result<()> {
        if !args
            .iter()
            .map(Arg::parameter)
            .eq(self.parameters.iter().copied())
        {
            return Err(ModelError::Batch(format!(
                "kernel {} takes {:?} and was given {:?}",
                self.name,
                self.parameters,
                args.iter().map(Arg::parameter).collect::<Vec<_>>()
            )));
        }
        let (x, y) = grid.blocks;
        if x * y == 0 {
            return Ok(());
        }
        if x > i32::MAX as usize || y > 65_535 {
            return Err(ModelError::Batch(format!(
                "kernel {} in a grid of {:?}",
                self.name, grid.blocks
            )));
        }
        let null = 0u64;
        let mut builder = self.stream.launch_builder(&self.handle);
        for arg in args {
            match arg {
                Arg::Array(slice) => builder.arg(slice.pointer_ref()),
                Arg::Null => builder.arg(&null),
                Arg::U32(value) => builder.arg(value),
                Arg::F32(value) => builder.arg(value),
            };
        }
        let config = LaunchConfig {
            grid_dim: (x as u32, y as u32, 1),
            block_dim: (grid.threads.0 as u32, grid.threads.1 as u32, 1),
            shared_mem_bytes: grid.shared as u32,
        };
        // SAFETY: number and types of the arguments are those that the kernel's PTX declares: checked above. The arrays are
        // in its order and as long as it reads and writes: every caller is a function of this room that is written
        // beside the kernel's signature and has checked lengths and element types. The arrays outlive the launch: they belong to structures that are
        // dropped after it, and device memory is freed in the order of the same stream. Kernels change device memory
        // alone, to which no Rust reference exists.
        #[allow(unsafe_code)]
        let launched = unsafe { builder.launch(config) };
        launched
            .map(|_| ())
            .map_err(driver(format_args!("kernel {}", self.name)))
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::{EMBEDDED, Parameter, is_code_for, parameters, runs_on, target};

    #[test]
    fn parameters_are_those_of_the_declaration() {
        let ptx = ".visible .entry first(\n\t.param .u64 .ptr .align 1 first_param_0\n)\n{}\n\
                   .visible .entry second(\n\t.param .u64 second_param_0,\n\t.param .u32 second_param_1,\n\
                   \t.param .f32 second_param_2\n)\n.maxntid 256\n";
        assert_eq!(parameters(ptx, "first"), Some(vec![Parameter::Pointer]));
        let second = [Parameter::Pointer, Parameter::Word, Parameter::Float];
        assert_eq!(parameters(ptx, "second"), Some(second.to_vec()));
        assert_eq!(parameters(ptx, "third"), None);
    }

    #[test]
    fn ptx_says_where_it_runs() {
        let ptx = "//\n.version 9.0\n.target sm_90a\n.address_size 64\n";
        assert_eq!(target(ptx), Some("sm_90a"));
        assert_eq!(target(".target sm_80, debug\n"), Some("sm_80"));
        assert_eq!(target(""), None);
        assert!(runs_on("sm_90a", 9, 0) && !runs_on("sm_90a", 10, 0));
        assert!(runs_on("sm_80", 8, 9) && runs_on("sm_80", 9, 0) && !runs_on("sm_90", 8, 9));
        assert!(runs_on("sm_120f", 12, 1) && !runs_on("sm_120f", 10, 0));
        // Code for one major capability is none for the next, whose driver compiles the PTX.
        assert!(is_code_for("sm_90a", 9, 0) && is_code_for("sm_80", 8, 9));
        assert!(!is_code_for("sm_80", 9, 0) && !is_code_for("sm_90a", 10, 0));
    }

    #[test]
    fn every_module_is_there_once() {
        let mut names: Vec<_> = EMBEDDED.iter().map(|(name, ..)| name).collect();
        names.dedup();
        assert_eq!(names.len(), EMBEDDED.len());
    }
}
