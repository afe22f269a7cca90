//! The real model as the engine sees it: a decoder and its KV cache.

use candle_core::Tensor;

use super::load::largest_that_fits;
use super::sampler::{Chosen, RowRequest};
use super::step_model::{LogitsModel, Properties, StepModel, Ticket};
use crate::model::attention::Attention;
use crate::model::batch::StepBatch;
use crate::model::profile::Profile;
use crate::model::{Decoder, ModelError};

/// Builds a cache of so many blocks.
pub type BuildCache = dyn Fn(usize) -> Result<Box<dyn Attention>, ModelError> + Send;

/// A decoder with the cache it attends to.
pub struct PagedDecoder(Model);

enum Model {
    Plain(Box<Plain>),
    #[cfg(feature = "cuda")]
    Cuda(Box<super::cuda::CudaSteps>),
}

/// A decoder and a cache that are computed step by step, the tokens chosen on the host.
struct Plain {
    decoder: Decoder,
    /// None after a smaller cache could not be built.
    attention: Option<Box<dyn Attention>>,
    build: Option<Box<BuildCache>>,
    profile: Profile,
}

impl PagedDecoder {
    /// Joins the two; the cache must have been built for the decoder's shape, and is never built anew.
    pub fn new(decoder: Decoder, attention: Box<dyn Attention>) -> Self {
        Self(Model::Plain(Box::new(Plain {
            decoder,
            attention: Some(attention),
            build: None,
            profile: Profile::off(),
        })))
    }

    /// Joins a decoder with a cache of `blocks` blocks; where memory does not suffice, of somewhat fewer, but not fewer than
    /// `least`. The cache is built anew where memory runs out later.
    ///
    /// # Errors
    /// [`ModelError::OutOfMemory`] where `least` blocks do not fit; any other failure of `build`.
    pub fn with_cache(
        decoder: Decoder,
        blocks: usize,
        least: usize,
        build: Box<BuildCache>,
    ) -> Result<Self, ModelError> {
        let attention = largest_that_fits(blocks, least, &build)?;
        let model = Plain {
            decoder,
            attention: Some(attention),
            build: Some(build),
            profile: Profile::off(),
        };
        Ok(Self(Model::Plain(Box::new(model))))
    }

    /// A decoder on an NVIDIA GPU, with its cache.
    #[cfg(feature = "cuda")]
    pub fn on_cuda(decoder: crate::model::cuda::CudaDecoder) -> Self {
        Self(Model::Cuda(Box::new(super::cuda::CudaSteps::new(decoder))))
    }

    /// Notes where the time goes from now on, or no longer.
    pub fn set_profile(&mut self, profile: Profile) {
        match &mut self.0 {
            Model::Plain(model) => model.profile = profile,
            #[cfg(feature = "cuda")]
            Model::Cuda(model) => model.set_profile(profile),
        }
    }

    /// What was noted.
    pub fn profile(&mut self) -> &mut Profile {
        match &mut self.0 {
            Model::Plain(model) => &mut model.profile,
            #[cfg(feature = "cuda")]
            Model::Cuda(model) => model.profile(),
        }
    }

    /// The logits of a step, `[batch.logits.len(), vocab]`, for comparisons.
    ///
    /// # Errors
    /// As [`StepModel::launch`].
    pub fn logits(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        match &mut self.0 {
            Model::Plain(model) => model.forward(batch),
            #[cfg(feature = "cuda")]
            Model::Cuda(model) => model.logits(batch),
        }
    }

    fn model(&self) -> &dyn StepModel {
        match &self.0 {
            Model::Plain(model) => model.as_ref(),
            #[cfg(feature = "cuda")]
            Model::Cuda(model) => model.as_ref(),
        }
    }

    fn model_mut(&mut self) -> &mut dyn StepModel {
        match &mut self.0 {
            Model::Plain(model) => model.as_mut(),
            #[cfg(feature = "cuda")]
            Model::Cuda(model) => model.as_mut(),
        }
    }
}

impl StepModel for PagedDecoder {
    fn properties(&self) -> Properties {
        self.model().properties()
    }

    fn launch(&mut self, batch: &StepBatch, rows: &[RowRequest]) -> Result<Ticket, ModelError> {
        self.model_mut().launch(batch, rows)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Vec<Option<Chosen>>, ModelError> {
        self.model_mut().collect(ticket)
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        self.model_mut().shrink(blocks)
    }
}

impl LogitsModel for Plain {
    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        let Some(attention) = &mut self.attention else {
            return Err(ModelError::Batch("there is no cache".into()));
        };
        self.decoder
            .forward_profiled(batch, attention.as_mut(), &mut self.profile)
    }

    fn properties(&self) -> Properties {
        Properties {
            lags: false,
            blocks: self.attention.as_ref().map(|cache| cache.blocks()),
            short_context: self.decoder.config().rope.short_context(),
        }
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        let Some(build) = &self.build else {
            return Ok(None);
        };
        // The old one first: two do not fit.
        self.attention = None;
        self.attention = Some(build(blocks)?);
        Ok(Some(blocks))
    }
}
