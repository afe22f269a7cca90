//! The real model as the engine sees it: a decoder and its KV cache.

use candle_core::Tensor;

use super::core::StepModel;
use crate::model::attention::Attention;
use crate::model::batch::StepBatch;
use crate::model::profile::Profile;
use crate::model::{Decoder, ModelError};

/// A decoder with the cache it attends to.
pub struct PagedDecoder {
    decoder: Decoder,
    attention: Box<dyn Attention>,
    profile: Profile,
}

impl PagedDecoder {
    /// Joins the two; the cache must have been built for the decoder's shape.
    pub fn new(decoder: Decoder, attention: Box<dyn Attention>) -> Self {
        Self {
            decoder,
            attention,
            profile: Profile::off(),
        }
    }

    /// Notes where the time goes from now on, or no longer.
    pub fn set_profile(&mut self, profile: Profile) {
        self.profile = profile;
    }

    /// What was noted.
    pub fn profile(&mut self) -> &mut Profile {
        &mut self.profile
    }
}

impl StepModel for PagedDecoder {
    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        let attention = self.attention.as_mut();
        self.decoder
            .forward_profiled(batch, attention, &mut self.profile)
    }
}
