//! Weights of Safetensors and GGUF files, and random ones.
//!
//! Headers are read and checked at [`Weights::open`]; each tensor is read when it is asked for, so that at most one is in
//! memory beside the model. What a header claims is checked against the length of its file.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use bytemuck::cast_slice_mut;
use candle_core::{DType, Device, Tensor};
use half::vec::HalfBitsVecExt;
use half::{bf16, f16};

use super::families::{Family, name_in_text_part};
use super::gguf::StorageType;
use super::source::WeightFile;
use super::tensors::expected_tensors;
use super::{CheckpointError, ModelConfig, ModelSource, Result};

mod adapted;
mod check;
mod codes;
mod computed;
mod gguf_tensors;
mod integers;
mod output_head;
mod quantized;
mod random;
mod safetensors;
mod stacked;

pub(crate) use self::safetensors::files;
pub use codes::{CodeKind, Codes};
use computed::Computed;
pub(crate) use gguf_tensors::RowOrder;
pub use integers::Layout;

pub struct Weights {
    model: String,
    /// The seed from which values are generated instead of read.
    random: Option<u64>,
    files: Vec<Shard>,
    tensors: BTreeMap<String, StoredTensor>,
    progress: Arc<LoadProgress>,
    /// Whether there is an output head with other numbers than the embedding table, once that was determined.
    own_head: OnceLock<bool>,
}

struct Shard {
    path: String,
    file: WeightFile,
}

/// How much of a checkpoint was read so far.
#[derive(Debug, Default)]
pub struct LoadProgress {
    read: AtomicU64,
    total: AtomicU64,
}

impl LoadProgress {
    fn add(&self, bytes: usize) {
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes read, and bytes in all; both 0 until a checkpoint is opened.
    pub fn bytes(&self) -> (u64, u64) {
        (
            self.read.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
        )
    }
}

pub(crate) struct StoredTensor {
    shard: usize,
    /// The type of the tensor when it is read; f32 if it is computed.
    pub(crate) dtype: DType,
    pub(crate) shape: Vec<usize>,
    offset: u64,
    /// Its length in the file.
    pub(crate) bytes: usize,
    /// The kind of blocks it is stored in, if its numbers are not stored one by one.
    pub(crate) blocks: Option<StorageType>,
    rows: RowOrder,
    computed: Option<Box<Computed>>,
}

impl Weights {
    /// Opens a model's weight files and reads their headers.
    /// Errors: [`CheckpointError::Weights`] for damaged headers, lengths that do not agree, shards that do not hold what the index says,
    /// and adapters with tensors that cannot be merged; [`CheckpointError::Config`].
    pub fn open(source: &ModelSource) -> Result<Self> {
        Self::open_with(source, Arc::default())
    }

    /// As [`Self::open`], counting in `progress` how much is read.
    pub fn open_with(source: &ModelSource, progress: Arc<LoadProgress>) -> Result<Self> {
        let mut weights = Self {
            model: source.to_string(),
            random: None,
            files: Vec::new(),
            tensors: BTreeMap::new(),
            progress,
            own_head: OnceLock::new(),
        };
        if let ModelSource::Gguf(model) = source {
            weights.add_gguf(source, model)?;
            return Ok(weights);
        }
        weights.add_safetensors(source)?;
        let config = ModelConfig::load(source)?;
        if config.text_part {
            weights.keep_text_part()?;
        }
        weights.split_experts(&config)?;
        if let Some(quantization) = config.quantization {
            weights.combine(quantization, &config)?;
        }
        if let ModelSource::Adapted(model) = source {
            weights.adapt(&model.adapter, &config)?;
        }
        if config.family.zero_centred {
            weights.centre_norms(config.family);
        }
        Ok(weights)
    }

    /// Adds 1 to the norms of a family that stores them without it. GGUF files have it already.
    fn centre_norms(&mut self, family: &Family) {
        let norms: Vec<String> = family
            .norms()
            .map(|name| format!("{name}.weight"))
            .collect();
        let is_norm = |name: &str| {
            let mut norms = norms.iter();
            norms.any(|norm| {
                name.strip_suffix(norm.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            })
        };
        for (name, tensor) in std::mem::take(&mut self.tensors) {
            let tensor = if is_norm(&name) {
                let (shape, bytes) = (tensor.shape.clone(), tensor.bytes);
                StoredTensor::computed(shape, bytes, Computed::OneMore(tensor))
            } else {
                tensor
            };
            self.tensors.insert(name, tensor);
        }
    }

    /// Gives the tensors of a model with towers the names of the text part alone, and leaves out the towers'.
    fn keep_text_part(&mut self) -> Result<()> {
        for (name, tensor) in std::mem::take(&mut self.tensors) {
            let Some(plain) = name_in_text_part(&name) else {
                self.progress
                    .total
                    .fetch_sub(tensor.bytes as u64, Ordering::Relaxed);
                continue;
            };
            if self.tensors.insert(plain, tensor).is_some() {
                return Err(self.mismatch(format!("{name} is there twice, under another name too")));
            }
        }
        Ok(())
    }

    /// Random weights of a shape in bf16, or in the few bits that the configuration says, for measuring speed without a
    /// download. They are generated when they are read. On the CPU the same seed gives the same values.
    pub fn random(config: &ModelConfig, seed: u64) -> Self {
        let tensors = expected_tensors(config).into_iter().map(|(name, shape)| {
            let together = config.experts.filter(|experts| experts.together);
            let mxfp4 = together.is_some_and(|experts| experts.mxfp4);
            let bytes = name.ends_with("_blocks") || name.ends_with("_scales");
            let dtype = if mxfp4 && bytes {
                DType::U8
            } else {
                DType::BF16
            };
            let bytes = shape.iter().product::<usize>() * dtype.size_in_bytes();
            let codes = config.quantization.and_then(CodeKind::from_quantization);
            let codes = codes.filter(|_| codes::is_of_layer(&name, &shape));
            let location = StoredTensor {
                shard: 0,
                dtype,
                shape,
                offset: 0,
                bytes,
                blocks: None,
                rows: RowOrder::Stored,
                computed: codes.map(|kind| Box::new(Computed::Random(kind))),
            };
            (name, location)
        });
        Self {
            model: "random weights".into(),
            random: Some(seed),
            files: Vec::new(),
            tensors: tensors.collect(),
            progress: Arc::default(),
            own_head: OnceLock::new(),
        }
    }

    pub fn shapes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.tensors
            .iter()
            .map(|(name, location)| (name.as_str(), location.shape.as_slice()))
    }

    pub(crate) fn stored_tensors(&self) -> impl Iterator<Item = &StoredTensor> {
        self.tensors.values()
    }

    /// Reads one tensor to a device, converted to `dtype`.
    pub fn get(&self, name: &str, device: &Device, dtype: DType) -> Result<Tensor> {
        match self.tensors.get(name) {
            Some(location) if location.is_converted() && self.random.is_none() => {
                self.convert(name, location, device, dtype)
            }
            _ => Ok(self.get_as_stored(name, device)?.to_dtype(dtype)?),
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// Reads one tensor to a device in the type it is stored in; f32 if it is stored in blocks or computed.
    pub fn get_as_stored(&self, name: &str, device: &Device) -> Result<Tensor> {
        let location = self.stored(name)?;
        if let Some(seed) = self.random {
            return Ok(random::tensor(
                seed,
                name,
                location.dtype,
                &location.shape,
                device,
            )?);
        }
        if location.is_converted() {
            return self.convert(name, location, device, location.dtype);
        }
        self.read(name, location, 0, &location.shape, device)
    }

    /// Reads one element along a tensor's first dimension, such as one expert's part, in the type it is stored in.
    pub fn get_part(&self, name: &str, index: usize, device: &Device) -> Result<Tensor> {
        let location = self.stored(name)?;
        let there = location.shape.split_first();
        let there = there.filter(|(n, _)| index < **n && location.computed.is_none());
        let Some((&count, shape)) = there else {
            return Err(self.mismatch(format!("{name} has no part {index}")));
        };
        if let Some(seed) = self.random {
            let name = format!("{index} of {name}");
            let dtype = location.dtype;
            return Ok(random::tensor(seed, &name, dtype, shape, device)?);
        }
        let offset = (location.bytes / count * index) as u64;
        self.read(name, location, offset, shape, device)
    }

    /// Reads a range along one dimension of a tensor to a device, converted to `dtype`. Of rows that lie in the file number by number
    /// only these are read; anything else is cut on the host.
    pub(crate) fn get_slice(
        &self,
        name: &str,
        device: &Device,
        dtype: DType,
        (dimension, range): (usize, Range<usize>),
    ) -> Result<Tensor> {
        let location = self.stored(name)?;
        let size = location.shape.get(dimension).copied().unwrap_or(0);
        if range.is_empty() || range.end > size {
            return Err(self.mismatch(format!("{name} has {size}, and no part {range:?}")));
        }
        if dimension == 0 && self.random.is_none() && !location.is_converted() {
            let mut shape = location.shape.clone();
            shape[0] = range.len();
            let offset = (location.bytes / size * range.start) as u64;
            let rows = self.read(name, location, offset, &shape, device)?;
            return Ok(rows.to_dtype(dtype)?);
        }
        // Random numbers are made on the device itself.
        let there = match self.random {
            Some(_) => device,
            None => &Device::Cpu,
        };
        let whole = self.get(name, there, dtype)?;
        let part = whole.narrow(dimension, range.start, range.len())?;
        Ok(part.force_contiguous()?.to_device(device)?)
    }

    pub(crate) fn mismatch(&self, message: String) -> CheckpointError {
        CheckpointError::Mismatch {
            model: self.model.clone(),
            message,
        }
    }

    pub(crate) fn stored(&self, name: &str) -> Result<&StoredTensor> {
        self.tensors
            .get(name)
            .ok_or_else(|| self.mismatch(format!("missing: {name}")))
    }

    /// Reads a tensor's bytes from `offset` bytes after its beginning on.
    fn fill(
        &self,
        name: &str,
        location: &StoredTensor,
        offset: u64,
        bytes: &mut [u8],
    ) -> Result<()> {
        let shard = self
            .files
            .get(location.shard)
            .ok_or_else(|| self.mismatch(format!("missing: {name}")))?;
        shard
            .file
            .read_at(location.offset + offset, bytes)
            .map_err(CheckpointError::reading(&shard.path))?;
        self.progress.add(bytes.len());
        Ok(())
    }

    /// Reads numbers of the given shape from `offset` bytes after a tensor's beginning on.
    fn read(
        &self,
        name: &str,
        location: &StoredTensor,
        offset: u64,
        shape: &[usize],
        device: &Device,
    ) -> Result<Tensor> {
        let fill = |bytes: &mut [u8]| self.fill(name, location, offset, bytes);
        // Read directly into the tensor's memory: a copy would double the memory needed to load a large tensor.
        let count = shape.iter().product::<usize>();
        Ok(match location.dtype {
            DType::F32 => {
                let mut numbers = vec![0f32; count];
                fill(cast_slice_mut(&mut numbers))?;
                Tensor::from_vec(numbers, shape, device)?
            }
            DType::F16 => {
                let mut bits = vec![0u16; count];
                fill(cast_slice_mut(&mut bits))?;
                Tensor::from_vec(bits.reinterpret_into::<f16>(), shape, device)?
            }
            DType::BF16 => {
                let mut bits = vec![0u16; count];
                fill(cast_slice_mut(&mut bits))?;
                Tensor::from_vec(bits.reinterpret_into::<bf16>(), shape, device)?
            }
            dtype => {
                let mut bytes = vec![0; count * dtype.size_in_bytes()];
                fill(&mut bytes)?;
                Tensor::from_raw_buffer(&bytes, dtype, shape, device)?
            }
        })
    }
}
