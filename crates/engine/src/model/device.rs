//! `--device`: where the model runs.

use std::fmt;
use std::str::FromStr;

use candle_core::utils::{cuda_is_available, metal_is_available};
use candle_core::{Device, DeviceLocation};

use super::{ModelError, Result};

/// A device as asked for on the command line: `auto`, `cpu`, `cuda`, `cuda:1`, `metal`.
#[warn(missing_docs)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeviceChoice {
    /// CUDA when compiled in and present, else Metal when compiled in and present, else the CPU.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// An NVIDIA GPU by ordinal.
    Cuda(usize),
    /// The Apple GPU.
    Metal,
}

#[warn(missing_docs)]
impl DeviceChoice {
    /// Opens the device.
    ///
    /// # Errors
    /// [`ModelError::Device`] when the device is not compiled in, or has no driver; the message names `--device cpu`.
    pub fn open(self) -> Result<Device> {
        match self {
            Self::Cpu => Ok(Device::Cpu),
            Self::Cuda(ordinal) => open_cuda(ordinal),
            Self::Metal => open_metal(),
            Self::Auto => Ok(open_cuda(0)
                .or_else(|_| open_metal())
                .unwrap_or(Device::Cpu)),
        }
    }
}

/// A device as `--device` names it, an NVIDIA GPU with its own name too: `cuda:0 (NVIDIA H200)`.
pub fn describe(device: &Device) -> String {
    match device.location() {
        DeviceLocation::Cpu => DeviceChoice::Cpu.to_string(),
        DeviceLocation::Metal { .. } => DeviceChoice::Metal.to_string(),
        DeviceLocation::Cuda { gpu_id } => {
            let choice = DeviceChoice::Cuda(gpu_id);
            #[cfg(feature = "cuda")]
            if let Ok(cuda) = device.as_cuda_device()
                && let Ok(name) = cuda.cuda_stream().context().name()
            {
                return format!("{choice} ({name})");
            }
            choice.to_string()
        }
    }
}

/// Free and total bytes of a device's memory; `None` unless it is a GPU that reports them. Slow: waits for the device.
#[cfg_attr(not(feature = "cuda"), allow(clippy::unnecessary_wraps))]
pub(crate) fn gpu_memory(device: &Device) -> Result<Option<(usize, usize)>> {
    #[cfg(feature = "cuda")]
    if let Device::Cuda(cuda) = device {
        return super::cuda::device::memory(cuda).map(Some);
    }
    // What the system lets the GPU keep resident, of the memory that it shares with the CPU: two thirds to three quarters.
    #[cfg(feature = "metal")]
    if let Device::Metal(metal) = device {
        let metal = metal.metal_device();
        let most = metal.recommended_max_working_set_size();
        return Ok(Some((
            most.saturating_sub(metal.current_allocated_size()),
            most,
        )));
    }
    let _ = device;
    Ok(None)
}

fn open_cuda(ordinal: usize) -> Result<Device> {
    if !cuda_is_available() {
        return Err(ModelError::Device(
            "this build has no CUDA support: build with `--features cuda`, or use `--device cpu`"
                .into(),
        ));
    }
    // A stream of its own: the other constructor takes each calling thread's, and the engine's thread would read weights
    // that the loading thread's stream may still be writing.
    let device = Device::new_cuda_with_stream(ordinal).map_err(|error| {
        ModelError::Device(format!(
            "no CUDA device {ordinal} (is the NVIDIA driver installed, and the GPU visible?); \
             use `--device cpu` to run without one. The driver said: {}",
            first_line(&error)
        ))
    })?;
    #[cfg(feature = "cuda")]
    super::cuda::device::prepare(device.as_cuda_device()?)?;
    Ok(device)
}

fn open_metal() -> Result<Device> {
    if !metal_is_available() {
        return Err(ModelError::Device(
            "this build has no Metal support: build with `--features metal` on a Mac, or use `--device cpu`".into(),
        ));
    }
    Device::new_metal(0).map_err(|error| {
        ModelError::Device(format!(
            "no Metal device; use `--device cpu` to run without one. The system said: {}",
            first_line(&error)
        ))
    })
}

/// candle's errors may carry a backtrace after their first line.
fn first_line(error: &candle_core::Error) -> String {
    error
        .to_string()
        .lines()
        .next()
        .unwrap_or_default()
        .to_owned()
}

impl FromStr for DeviceChoice {
    type Err = ModelError;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "auto" => Ok(Self::Auto),
            "cpu" => Ok(Self::Cpu),
            "metal" => Ok(Self::Metal),
            "cuda" => Ok(Self::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|ordinal| ordinal.parse().ok())
                .map(Self::Cuda)
                .ok_or_else(|| {
                    ModelError::Device(format!(
                        "no device `{text}`: use auto, cpu, cuda, cuda:N or metal"
                    ))
                }),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
            Self::Metal => f.write_str("metal"),
        }
    }
}

/// When dropped, makes a device current on the dropping thread: memory of an NVIDIA GPU can be freed only on a thread where
/// its context is current.
pub struct CurrentOnDrop {
    device: Device,
}

impl CurrentOnDrop {
    /// A guard for values in the memory of `device`.
    pub fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
        }
    }
}

impl Drop for CurrentOnDrop {
    fn drop(&mut self) {
        make_current(&self.device);
    }
}

pub(crate) fn make_current(device: &Device) {
    #[cfg(feature = "cuda")]
    if let Device::Cuda(cuda) = device {
        // If this fails, the memory is freed when the process ends.
        let _ = cuda.cuda_stream().context().bind_to_thread();
    }
    // Other devices have no notion of a current one.
    #[cfg(not(feature = "cuda"))]
    let _ = device;
}
