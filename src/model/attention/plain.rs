//! Not yet: stands in for the attention of plain operations.
use candle_core::{DType, Device};

use super::{AttentionShape, ModelError, reference::Reference};

pub(super) struct Plain;

impl Plain {
    pub(super) fn new(
        shape: AttentionShape,
        blocks: usize,
        block_size: usize,
        _: &Device,
        _: DType,
    ) -> Result<Reference, ModelError> {
        Reference::new(shape, blocks, block_size)
    }
}
