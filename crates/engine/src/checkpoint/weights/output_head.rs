//! Whether a checkpoint has an output head of its own, though `tie_word_embeddings` says otherwise.

use std::borrow::Cow;

use super::{StoredTensor, Weights};
use crate::checkpoint::ModelConfig;
use crate::checkpoint::tensors::Names;
use crate::checkpoint::{CheckpointError, Result};

/// How many bytes are compared at a time.
const BUFFER: usize = 1 << 20;

impl Weights {
    /// The configuration that these weights call for. If it says that the output head is the embedding table, but the file holds a head with other numbers,
    /// that head is used, as in transformers 5; a head with the same numbers counts as the table.
    pub fn settle<'c>(&self, config: &'c ModelConfig) -> Result<Cow<'c, ModelConfig>> {
        Ok(if config.tie_embeddings && self.has_own_head(config)? {
            Cow::Owned(ModelConfig {
                tie_embeddings: false,
                ..config.clone()
            })
        } else {
            Cow::Borrowed(config)
        })
    }

    fn has_own_head(&self, config: &ModelConfig) -> Result<bool> {
        if let Some(own) = self.own_head.get() {
            return Ok(*own);
        }
        let own = self.head_differs(config)?;
        Ok(*self.own_head.get_or_init(|| own))
    }

    /// Whether there is an output head with other numbers than the embedding table.
    pub(super) fn head_differs(&self, config: &ModelConfig) -> Result<bool> {
        let names = Names::new(config.family);
        let head = self.tensors.get(&names.head);
        match (head, self.tensors.get(&names.embedding)) {
            (Some(head), Some(table)) => Ok(!self.same_numbers(head, table)?),
            _ => Ok(false),
        }
    }

    /// Whether two tensors are stored in the same way and hold the same bytes.
    fn same_numbers(&self, one: &StoredTensor, other: &StoredTensor) -> Result<bool> {
        let alike = |location: &StoredTensor| {
            (!location.is_converted()).then(|| (location.dtype, location.shape.clone()))
        };
        if alike(one).is_none() || alike(one) != alike(other) {
            return Ok(false);
        }
        let read = |location: &StoredTensor, from: usize, buffer: &mut [u8]| {
            let shard = &self.files[location.shard];
            let read = shard.file.read_at(location.offset + from as u64, buffer);
            read.map_err(CheckpointError::reading(&shard.path))
        };
        let mut buffers = [vec![0; BUFFER], vec![0; BUFFER]];
        for from in (0..one.bytes).step_by(BUFFER) {
            let count = BUFFER.min(one.bytes - from);
            let [first, second] = &mut buffers;
            read(one, from, &mut first[..count])?;
            read(other, from, &mut second[..count])?;
            if first[..count] != second[..count] {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
