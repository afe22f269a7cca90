//! Safetensors (<https://huggingface.co/docs/safetensors>), in one file or in shards: headers, and the index of shards.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use candle_core::DType;
use safetensors::Dtype;
use safetensors::tensor::Metadata;

use super::{RowOrder, Shard, StoredTensor, Weights};
use crate::checkpoint::tensors::MAX_TENSORS;
use crate::checkpoint::{CheckpointError, ModelSource, Result};
use juror_hub::layout::{self, WEIGHTS_FILE, WEIGHTS_INDEX};

/// The limit of Safetensors on the header, in bytes.
const MAX_HEADER: u64 = 100_000_000;

/// The names of a model's weight files, in a fixed order.
pub(crate) fn files(source: &ModelSource) -> Result<Vec<String>> {
    match source {
        ModelSource::Gguf(model) => return Ok(model.files().collect()),
        ModelSource::Adapted(model) => return files(&model.base),
        ModelSource::Embedded(_) | ModelSource::Folder(_) => {}
    }
    if source.has(WEIGHTS_FILE) || !source.has(WEIGHTS_INDEX) {
        return Ok(vec![WEIGHTS_FILE.into()]);
    }
    Ok(read_index(source)?
        .into_values()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect())
}

fn read_index(source: &ModelSource) -> Result<BTreeMap<String, String>> {
    layout::parse_index(&source.read_text(WEIGHTS_INDEX)?).map_err(|message| {
        CheckpointError::Weights {
            path: source.describe(WEIGHTS_INDEX),
            message,
        }
    })
}

impl Weights {
    /// Adds the tensors of all files, which must hold what the index says.
    pub(super) fn add_safetensors(&mut self, source: &ModelSource) -> Result<()> {
        let names = files(source)?;
        let indexed = !source.has(WEIGHTS_FILE) && source.has(WEIGHTS_INDEX);
        let index = if indexed {
            read_index(source)?
        } else {
            BTreeMap::new()
        };
        for name in &names {
            for (tensor, location) in self.read_header(source, name)? {
                // Of a tensor in several files the index decides.
                if index.get(&tensor).is_some_and(|file| file != name) {
                    continue;
                }
                if self.tensors.contains_key(&tensor) {
                    return Err(CheckpointError::Weights {
                        path: source.describe(name),
                        message: format!("{tensor} is in another shard too, and not in the index"),
                    });
                }
                self.tensors.insert(tensor, location);
            }
        }
        for (tensor, file) in index {
            if !self.tensors.contains_key(&tensor) {
                return Err(CheckpointError::Weights {
                    path: source.describe(WEIGHTS_INDEX),
                    message: format!("says that {file} holds {tensor}, but it does not"),
                });
            }
        }
        Ok(())
    }

    /// Opens a file, and reads which tensors it holds.
    pub(super) fn read_header(
        &mut self,
        source: &ModelSource,
        name: &str,
    ) -> Result<Vec<(String, StoredTensor)>> {
        let path = source.describe(name);
        let fail = |message: String| CheckpointError::Weights {
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
            .map_err(CheckpointError::reading(&path))?;
        // Each tensor's description is in braces, so a header with millions of tensors is refused before it is parsed.
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
        let mut tensors = Vec::new();
        for (tensor, info) in metadata.tensors() {
            let dtype = match info.dtype {
                Dtype::F32 => DType::F32,
                Dtype::F16 => DType::F16,
                Dtype::BF16 => DType::BF16,
                Dtype::F8_E4M3 => DType::F8E4M3,
                Dtype::U8 => DType::U8,
                Dtype::I32 => DType::I32,
                Dtype::I64 => DType::I64,
                other => {
                    return Err(fail(format!(
                        "{tensor} is {other:?}; only F32, F16, BF16, F8_E4M3, MXFP4's U8 and packed whole numbers' I32 are supported"
                    )));
                }
            };
            let (from, to) = info.data_offsets;
            let location = StoredTensor {
                shard,
                dtype,
                shape: info.shape.clone(),
                offset: data + from as u64,
                bytes: to - from,
                blocks: None,
                rows: RowOrder::Stored,
                computed: None,
            };
            tensors.push((tensor.clone(), location));
        }
        self.progress
            .total
            .fetch_add(length - data, Ordering::Relaxed);
        self.files.push(Shard { path, file });
        Ok(tensors)
    }
}
