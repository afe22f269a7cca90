//! Weights in Safetensors (<https://huggingface.co/docs/safetensors>), in one file or in shards, or in a GGUF file.
//!
//! Headers are read and checked at [`Weights::open`]; each tensor is read when it is asked for, so that never more than one
//! lies in memory beside the model. Nothing a file says about itself is believed beyond its own length.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use candle_core::{DType, Device, Tensor};
use half::vec::HalfBitsVecExt;
use half::{bf16, f16};
use pulp::bytemuck;
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use serde::Deserialize;

use super::gguf::StorageType;
use super::source::{WEIGHTS_FILE, WEIGHTS_INDEX, WeightFile};
use super::tensors::{MAX_TENSORS, check_sizes, expected_tensors, unused};
use super::{ModelConfig, ModelSource};
use crate::model::ModelError;
use crate::model::precision::WeightType;

mod blocks;
mod head;
mod random;

pub(crate) use blocks::RowOrder;

/// Safetensors' own limit on the header.
const MAX_HEADER: u64 = 100_000_000;

/// A checkpoint's tensors, by name.
pub struct Weights {
    model: String,
    /// Values are made up from this seed instead of read.
    random: Option<u64>,
    files: Vec<Shard>,
    tensors: BTreeMap<String, Location>,
    progress: Arc<LoadProgress>,
    /// Whether there is an output head beside an embedding table of other numbers, once that was asked.
    own_head: OnceLock<bool>,
}

struct Shard {
    path: String,
    file: WeightFile,
}

/// How much of a checkpoint was read.
#[derive(Debug, Default)]
pub struct LoadProgress {
    read: AtomicU64,
    total: AtomicU64,
}

impl LoadProgress {
    fn add(&self, bytes: usize) {
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes read, and bytes in all; both 0 as long as no checkpoint was opened.
    pub fn bytes(&self) -> (u64, u64) {
        (
            self.read.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
        )
    }
}

struct Location {
    shard: usize,
    /// The type of the tensor that is made of it.
    dtype: DType,
    shape: Vec<usize>,
    offset: u64,
    bytes: usize,
    /// The blocks it is stored in, where its numbers are not stored one by one.
    blocks: Option<StorageType>,
    rows: RowOrder,
}

/// `model.safetensors.index.json`
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// The names of a model's weight files, in a fixed order.
pub(crate) fn files(source: &ModelSource) -> Result<Vec<String>, ModelError> {
    if let ModelSource::Gguf(model) = source {
        return Ok(model.files().collect());
    }
    if source.has(WEIGHTS_FILE) || !source.has(WEIGHTS_INDEX) {
        return Ok(vec![WEIGHTS_FILE.into()]);
    }
    Ok(read_index(source)?
        .weight_map
        .into_values()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect())
}

fn read_index(source: &ModelSource) -> Result<Index, ModelError> {
    let path = source.describe(WEIGHTS_INDEX);
    let fail = |message: String| ModelError::Weights {
        path: path.clone(),
        message,
    };
    let index: Index = serde_json::from_str(&source.read_text(WEIGHTS_INDEX)?)
        .map_err(|error| fail(format!("not a shard index: {error}")))?;
    // Shards are plain names in the same folder; an index from elsewhere must not reach other files.
    for file in index.weight_map.values() {
        let mut parts = Path::new(file).components();
        let plain = matches!(
            (parts.next(), parts.next()),
            (Some(Component::Normal(_)), None)
        );
        if !plain || file.contains('\\') || file.contains(':') {
            return Err(fail(format!("shard `{file}` is not a plain file name")));
        }
    }
    Ok(index)
}

impl Weights {
    /// Opens a model's weight files and reads their headers.
    ///
    /// # Errors
    /// [`ModelError::Weights`] for damaged headers, lengths that do not agree, shards that do not hold what the index says.
    pub fn open(source: &ModelSource) -> Result<Self, ModelError> {
        Self::open_with(source, Arc::default())
    }

    /// [`Self::open`], noting in `progress` how much is read.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn open_with(
        source: &ModelSource,
        progress: Arc<LoadProgress>,
    ) -> Result<Self, ModelError> {
        let mut weights = Self {
            model: source.to_string(),
            random: None,
            files: Vec::new(),
            tensors: BTreeMap::new(),
            progress,
            own_head: OnceLock::new(),
        };
        let names = files(source)?;
        if let ModelSource::Gguf(model) = source {
            weights.add_gguf(source, model, &names)?;
            return Ok(weights);
        }
        for name in &names {
            weights.add(source, name)?;
        }
        if !source.has(WEIGHTS_FILE) && source.has(WEIGHTS_INDEX) {
            for (tensor, file) in read_index(source)?.weight_map {
                let holds = weights
                    .tensors
                    .get(&tensor)
                    .is_some_and(|location| names[location.shard] == file);
                if !holds {
                    return Err(ModelError::Weights {
                        path: source.describe(WEIGHTS_INDEX),
                        message: format!("says that {file} holds {tensor}, but it does not"),
                    });
                }
            }
        }
        Ok(weights)
    }

    /// Random weights of a shape, bf16, or MXFP4 where the configuration says so, made when they are asked for: what is needed to measure speed without a download.
    /// On the CPU the same seed gives the same values.
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
            let location = Location {
                shard: 0,
                dtype,
                shape,
                offset: 0,
                bytes,
                blocks: None,
                rows: RowOrder::Stored,
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

    fn add(&mut self, source: &ModelSource, name: &str) -> Result<(), ModelError> {
        let path = source.describe(name);
        let fail = |message: String| ModelError::Weights {
            path: path.clone(),
            message,
        };
        let (file, length) = source.open(name)?;
        let mut word = [0; 8];
        file.read_at(0, &mut word)
            .map_err(|_| fail(format!("{length} bytes are too few for a Safetensors file")))?;
        let header = u64::from_le_bytes(word);
        if header > MAX_HEADER || header.saturating_add(8) > length {
            return Err(fail(format!(
                "its header claims {header} bytes, the file has {length}; not a Safetensors file, or cut off"
            )));
        }
        let mut bytes = vec![0; header as usize];
        file.read_at(8, &mut bytes)
            .map_err(|source| ModelError::Io {
                path: path.clone(),
                source,
            })?;
        // Every tensor's description is in braces; so a header of millions is told before it is read.
        let braces = bytes.split(|byte| *byte == b'{').count() - 1;
        let too_many = || {
            fail(format!(
                "its header describes more than {MAX_TENSORS} tensors"
            ))
        };
        if braces > 2 * MAX_TENSORS {
            return Err(too_many());
        }
        let metadata: Metadata = serde_json::from_slice(&bytes)
            .map_err(|error| fail(format!("damaged Safetensors header: {error}")))?;
        if metadata.tensors().len() + self.tensors.len() > MAX_TENSORS {
            return Err(too_many());
        }
        let data = header + 8;
        let expected = data.saturating_add(metadata.data_len() as u64);
        if expected != length {
            return Err(fail(format!(
                "its header describes {expected} bytes, the file has {length}; download it again"
            )));
        }
        let shard = self.files.len();
        for (tensor, info) in metadata.tensors() {
            let dtype = match info.dtype {
                Dtype::F32 => DType::F32,
                Dtype::F16 => DType::F16,
                Dtype::BF16 => DType::BF16,
                Dtype::F8_E4M3 => DType::F8E4M3,
                Dtype::U8 => DType::U8,
                other => {
                    return Err(fail(format!(
                        "{tensor} is {other:?}; only F32, F16, BF16, F8_E4M3 and MXFP4's U8 are supported"
                    )));
                }
            };
            let (from, to) = info.data_offsets;
            let location = Location {
                shard,
                dtype,
                shape: info.shape.clone(),
                offset: data + from as u64,
                bytes: to - from,
                blocks: None,
                rows: RowOrder::Stored,
            };
            if self.tensors.insert(tensor.clone(), location).is_some() {
                return Err(fail(format!("{tensor} is in another shard too")));
            }
        }
        self.progress
            .total
            .fetch_add(length - data, Ordering::Relaxed);
        self.files.push(Shard { path, file });
        Ok(())
    }

    /// The checkpoint's tensors and their shapes.
    pub fn shapes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.tensors
            .iter()
            .map(|(name, location)| (name.as_str(), location.shape.as_slice()))
    }

    /// Where it is noted how much was read.
    pub fn progress(&self) -> Arc<LoadProgress> {
        Arc::clone(&self.progress)
    }

    /// Number of parameters.
    pub fn parameters(&self) -> u64 {
        self.tensors
            .values()
            .map(|location| location.shape.iter().product::<usize>() as u64)
            .sum()
    }

    /// Checks that the checkpoint holds exactly the `expected` tensors; those that `ignored` accepts may be there besides.
    ///
    /// # Errors
    /// [`ModelError::Mismatch`] naming every missing, misshapen and unknown tensor (the first few of each), with shapes.
    pub fn check(
        &self,
        expected: &[(String, Vec<usize>)],
        ignored: impl Fn(&str) -> bool,
    ) -> Result<(), ModelError> {
        let mut missing = Vec::new();
        let mut misshapen = Vec::new();
        for (name, shape) in expected {
            match self.tensors.get(name) {
                None => missing.push(format!("{name} {shape:?}")),
                Some(location) if self.wrong_type(name, location) => {
                    misshapen.push(format!("{name} is stored as {:?}", location.dtype));
                }
                Some(location) if location.shape != *shape => {
                    misshapen.push(format!(
                        "{name} is {:?}, config.json says {shape:?}",
                        location.shape
                    ));
                }
                Some(_) => {}
            }
        }
        let names: BTreeSet<&str> = expected.iter().map(|(name, _)| name.as_str()).collect();
        let unknown: Vec<String> = self
            .shapes()
            .filter(|(name, _)| !names.contains(name) && !ignored(name))
            .map(|(name, shape)| format!("{name} {shape:?}"))
            .collect();
        let parts: Vec<String> = [
            ("missing", missing),
            ("of another shape or type", misshapen),
            ("not expected", unknown),
        ]
        .into_iter()
        .filter(|(_, list)| !list.is_empty())
        .map(|(what, list)| {
            let more = if list.len() > 4 {
                format!(" and {} more", list.len() - 4)
            } else {
                String::new()
            };
            format!("{what}: {}{more}", list[..list.len().min(4)].join(", "))
        })
        .collect();
        if parts.is_empty() {
            Ok(())
        } else {
            Err(ModelError::Mismatch {
                model: self.model.clone(),
                message: parts.join("; "),
            })
        }
    }

    /// Checks that the checkpoint holds what a model of this configuration needs, and nothing else.
    ///
    /// # Errors
    /// [`ModelError::Mismatch`] as [`Self::check`]; [`ModelError::Unsupported`] for sizes that the way of storing them does
    /// not allow.
    pub fn check_model(&self, config: &ModelConfig) -> Result<(), ModelError> {
        check_sizes(config)?;
        self.check(&expected_tensors(config), |name| unused(config, name))
    }

    /// Bytes are MXFP4's blocks and scales alone, and FP8 is nothing without the scales of its blocks.
    fn wrong_type(&self, name: &str, location: &Location) -> bool {
        let bytes = name.ends_with("_blocks") || name.ends_with("_scales");
        match location.dtype {
            DType::U8 => !bytes,
            DType::F8E4M3 => !self.has(&format!("{name}_scale_inv")),
            _ => bytes && location.blocks.is_none(),
        }
    }

    /// Reads one tensor to a device, converted to `dtype`.
    ///
    /// # Errors
    /// When there is no such tensor, or its file cannot be read.
    pub fn get(&self, name: &str, device: &Device, dtype: DType) -> Result<Tensor, ModelError> {
        match self.tensors.get(name) {
            Some(location) if location.is_converted() => {
                self.convert(name, location, device, dtype)
            }
            _ => Ok(self.get_as_stored(name, device)?.to_dtype(dtype)?),
        }
    }

    /// Whether there is a tensor of this name.
    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }

    /// What most of the weights are stored in, as far as they are plain numbers of 16 or 32 bits; the blocks of a GGUF file
    /// if it has any.
    pub fn stored(&self) -> WeightType {
        if let Some(blocks) = self.stored_blocks() {
            return blocks;
        }
        let bytes = |dtype: DType| -> usize {
            let of_type = self.tensors.values().filter(|tensor| tensor.dtype == dtype);
            of_type.map(|tensor| tensor.bytes).sum()
        };
        let most = [DType::F32, DType::F16, DType::BF16]
            .into_iter()
            .max_by_key(|&dtype| bytes(dtype))
            .unwrap_or(DType::F32);
        WeightType::exact(most)
    }

    /// Reads one tensor to a device in the type it is stored in; one in blocks in f32.
    ///
    /// # Errors
    /// When there is no such tensor, or its file cannot be read.
    pub fn get_as_stored(&self, name: &str, device: &Device) -> Result<Tensor, ModelError> {
        let location = self.location(name)?;
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

    /// Reads one element along a tensor's first dimension, in the type it is stored in: an expert's part.
    ///
    /// # Errors
    /// When there is no such tensor or element, or its file cannot be read.
    pub fn get_part(
        &self,
        name: &str,
        index: usize,
        device: &Device,
    ) -> Result<Tensor, ModelError> {
        let location = self.location(name)?;
        let Some((&count, shape)) = location.shape.split_first().filter(|(n, _)| index < **n)
        else {
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

    fn mismatch(&self, message: String) -> ModelError {
        ModelError::Mismatch {
            model: self.model.clone(),
            message,
        }
    }

    fn location(&self, name: &str) -> Result<&Location, ModelError> {
        self.tensors
            .get(name)
            .ok_or_else(|| self.mismatch(format!("missing: {name}")))
    }

    /// Reads a tensor's bytes, from `offset` bytes behind its beginning on.
    fn fill(
        &self,
        name: &str,
        location: &Location,
        offset: u64,
        bytes: &mut [u8],
    ) -> Result<(), ModelError> {
        let shard = self
            .files
            .get(location.shard)
            .ok_or_else(|| self.mismatch(format!("missing: {name}")))?;
        shard
            .file
            .read_at(location.offset + offset, bytes)
            .map_err(|source| ModelError::Io {
                path: shard.path.clone(),
                source,
            })?;
        self.progress.add(bytes.len());
        Ok(())
    }

    /// Reads a tensor's numbers of a shape, from `offset` bytes behind its beginning on.
    fn read(
        &self,
        name: &str,
        location: &Location,
        offset: u64,
        shape: &[usize],
        device: &Device,
    ) -> Result<Tensor, ModelError> {
        let fill = |bytes: &mut [u8]| self.fill(name, location, offset, bytes);
        // Read to where the numbers stay: a copy would double the memory that a large tensor takes while it is loaded.
        let count = shape.iter().product::<usize>();
        Ok(match location.dtype {
            DType::F32 => {
                let mut numbers = vec![0f32; count];
                fill(bytemuck::cast_slice_mut(&mut numbers))?;
                Tensor::from_vec(numbers, shape, device)?
            }
            DType::F16 => {
                let mut bits = vec![0u16; count];
                fill(bytemuck::cast_slice_mut(&mut bits))?;
                Tensor::from_vec(bits.reinterpret_into::<f16>(), shape, device)?
            }
            DType::BF16 => {
                let mut bits = vec![0u16; count];
                fill(bytemuck::cast_slice_mut(&mut bits))?;
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
