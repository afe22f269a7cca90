//! Weights in Safetensors (<https://huggingface.co/docs/safetensors>), in one file or in shards.
//!
//! Headers are read and checked at [`Weights::open`]; each tensor is read when it is asked for, so that never more than one
//! lies in memory beside the model. Nothing a file says about itself is believed beyond its own length.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path};
use std::sync::{Mutex, PoisonError};

use candle_core::{DType, Device, Tensor};
use safetensors::Dtype;
use safetensors::tensor::Metadata;
use serde::Deserialize;

use super::source::{WEIGHTS_FILE, WEIGHTS_INDEX, WeightFile};
use super::tensors::expected_tensors;
use super::{ModelConfig, ModelError, ModelSource};

mod random;

/// Safetensors' own limit on the header.
const MAX_HEADER: u64 = 100_000_000;

/// A checkpoint's tensors, by name.
pub struct Weights {
    model: String,
    /// Values are made up from this seed instead of read.
    random: Option<u64>,
    files: Vec<Shard>,
    tensors: BTreeMap<String, Location>,
}

struct Shard {
    path: String,
    file: Mutex<WeightFile>,
}

struct Location {
    shard: usize,
    dtype: DType,
    shape: Vec<usize>,
    offset: u64,
    bytes: usize,
}

/// `model.safetensors.index.json`
#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// The names of a model's weight files, in a fixed order.
pub(super) fn files(source: &ModelSource) -> Result<Vec<String>, ModelError> {
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
        let mut weights = Self {
            model: source.to_string(),
            random: None,
            files: Vec::new(),
            tensors: BTreeMap::new(),
        };
        let names = files(source)?;
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

    /// Random weights of a shape, bf16, made when they are asked for: what is needed to measure speed without a download.
    /// On the CPU the same seed gives the same values.
    pub fn random(config: &ModelConfig, seed: u64) -> Self {
        let tensors = expected_tensors(config).into_iter().map(|(name, shape)| {
            let bytes = shape.iter().product::<usize>() * DType::BF16.size_in_bytes();
            let location = Location {
                shard: 0,
                dtype: DType::BF16,
                shape,
                offset: 0,
                bytes,
            };
            (name, location)
        });
        Self {
            model: "random weights".into(),
            random: Some(seed),
            files: Vec::new(),
            tensors: tensors.collect(),
        }
    }

    fn add(&mut self, source: &ModelSource, name: &str) -> Result<(), ModelError> {
        let path = source.describe(name);
        let fail = |message: String| ModelError::Weights {
            path: path.clone(),
            message,
        };
        let (mut file, length) = source.open(name)?;
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
        let metadata: Metadata = serde_json::from_slice(&bytes)
            .map_err(|error| fail(format!("damaged Safetensors header: {error}")))?;
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
                other => {
                    return Err(fail(format!(
                        "{tensor} is {other:?}; only F32, F16 and BF16 are supported"
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
            };
            if self.tensors.insert(tensor.clone(), location).is_some() {
                return Err(fail(format!("{tensor} is in another shard too")));
            }
        }
        self.files.push(Shard {
            path,
            file: Mutex::new(file),
        });
        Ok(())
    }

    /// The checkpoint's tensors and their shapes.
    pub fn shapes(&self) -> impl Iterator<Item = (&str, &[usize])> {
        self.tensors
            .iter()
            .map(|(name, location)| (name.as_str(), location.shape.as_slice()))
    }

    /// Number of parameters.
    pub fn parameters(&self) -> u64 {
        self.tensors
            .values()
            .map(|location| (location.bytes / location.dtype.size_in_bytes()) as u64)
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
            ("of another shape", misshapen),
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

    /// Reads one tensor to a device, converted to `dtype`.
    ///
    /// # Errors
    /// When there is no such tensor, or its file cannot be read.
    pub fn get(&self, name: &str, device: &Device, dtype: DType) -> Result<Tensor, ModelError> {
        Ok(self.get_as_stored(name, device)?.to_dtype(dtype)?)
    }

    /// The type that most of the weights are stored in.
    pub fn stored_dtype(&self) -> DType {
        if self.random.is_some() {
            return DType::BF16;
        }
        let bytes = |dtype: DType| -> usize {
            let of_type = self.tensors.values().filter(|tensor| tensor.dtype == dtype);
            of_type.map(|tensor| tensor.bytes).sum()
        };
        [DType::F32, DType::F16, DType::BF16]
            .into_iter()
            .max_by_key(|&dtype| bytes(dtype))
            .unwrap_or(DType::F32)
    }

    /// Reads one tensor to a device in the type it is stored in.
    ///
    /// # Errors
    /// When there is no such tensor, or its file cannot be read.
    pub fn get_as_stored(&self, name: &str, device: &Device) -> Result<Tensor, ModelError> {
        let missing = || ModelError::Mismatch {
            model: self.model.clone(),
            message: format!("missing: {name}"),
        };
        let location = self.tensors.get(name).ok_or_else(missing)?;
        if let Some(seed) = self.random {
            return Ok(random::tensor(seed, name, &location.shape, device)?);
        }
        let shard = self.files.get(location.shard).ok_or_else(missing)?;
        let mut bytes = vec![0; location.bytes];
        // A reader that panicked leaves no broken state behind: every read seeks first.
        let mut file = shard.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.read_at(location.offset, &mut bytes)
            .map_err(|source| ModelError::Io {
                path: shard.path.clone(),
                source,
            })?;
        drop(file);
        Ok(Tensor::from_raw_buffer(
            &bytes,
            location.dtype,
            &location.shape,
            device,
        )?)
    }
}
