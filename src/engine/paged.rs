//! The real model as the engine sees it: a decoder and its KV cache.

use candle_core::Tensor;

use super::core::StepModel;
use crate::model::attention::Attention;
use crate::model::batch::StepBatch;
use crate::model::{Decoder, ModelError};

/// A decoder with the cache it attends to.
pub struct PagedDecoder {
    decoder: Decoder,
    attention: Box<dyn Attention>,
}

impl PagedDecoder {
    /// Joins the two; the cache must have been built for the decoder's shape.
    pub fn new(decoder: Decoder, attention: Box<dyn Attention>) -> Self {
        Self { decoder, attention }
    }
}

impl StepModel for PagedDecoder {
    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        self.decoder.forward(batch, self.attention.as_mut())
    }
}
