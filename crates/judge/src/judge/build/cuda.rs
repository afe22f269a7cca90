//! A model computed by the CUDA kernels: steps are queued, and tokens chosen on the device.

use candle_core::Tensor;

use super::{DeviceModel, LoadedModel, largest_that_fits, of_blocks};
use juror_engine::engine::{
    Chosen, EngineConfig, Forward, Properties, RowRequest, StepModel, Ticket, TokenLogprobs,
};
use juror_engine::model::cuda::{
    ParallelDecoder, ParallelModel, SampleRequest, Sampled, StepLimits,
};
use juror_engine::model::profile::Profile;
use juror_engine::model::{ModelError, StepBatch};

impl LoadedModel for ParallelModel {
    fn with_cache(
        self: Box<Self>,
        config: &EngineConfig,
        shared_prefix: bool,
    ) -> Result<Box<dyn DeviceModel>, ModelError> {
        let limits = StepLimits {
            tokens: config.token_budget.max(config.max_sequences),
            rows: config.max_sequences,
            states: config.states(),
        };
        let mut decoder =
            ParallelModel::with_cache(*self, limits, config.block_size, shared_prefix)?;
        largest_that_fits(config.blocks, config.least_blocks, |blocks| {
            resize(&mut decoder, config, blocks)
        })?;
        let recurrent = decoder.config().recurrent.is_some();
        Ok(Box::new(CudaSteps {
            states: recurrent.then_some(limits.states),
            decoder,
            sizes: config.clone(),
            asked: 0,
            collected: 0,
        }))
    }
}

/// Allocates the caches of an engine of these sizes, and of so many blocks.
fn resize(
    decoder: &mut ParallelDecoder,
    sizes: &EngineConfig,
    blocks: usize,
) -> Result<(), ModelError> {
    let sizes = of_blocks(sizes, blocks);
    let windowed = decoder.windowed();
    let windowed = windowed.map_or(0, |cache| sizes.windowed_blocks(cache.window, 2));
    decoder.resize_cache(blocks, windowed)
}

/// A decoder with its cache on its devices.
struct CudaSteps {
    decoder: ParallelDecoder,
    /// The engine's, whose caches it has.
    sizes: EngineConfig,
    /// Slots of recurrent states, if the model has recurrent layers.
    states: Option<usize>,
    /// Steps whose tokens were asked for so far.
    asked: u64,
    collected: u64,
}

impl DeviceModel for CudaSteps {
    fn profile(&mut self) -> &mut Profile {
        self.decoder.profile()
    }

    fn logits(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError> {
        self.decoder.logits(batch)
    }
}

impl StepModel for CudaSteps {
    fn properties(&self) -> Properties {
        Properties {
            async_scheduling: true,
            blocks: Some(self.decoder.blocks()),
            lazy_cache: false,
            short_context: self.decoder.config().rope.short_context(),
            states: self.states,
            windowed: self.decoder.windowed(),
        }
    }

    fn launch(&mut self, batch: &StepBatch) -> Result<Forward, ModelError> {
        self.decoder.launch(batch)?;
        Ok(Forward::Queued)
    }

    fn choose(&mut self, _: Forward, rows: &[RowRequest]) -> Result<Ticket, ModelError> {
        let requests: Vec<SampleRequest> = rows.iter().map(SampleRequest::from).collect();
        self.decoder.choose(&requests)?;
        self.asked += 1;
        Ok(Ticket::Launched(self.asked))
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Vec<Option<Chosen>>, ModelError> {
        let Ticket::Launched(name) = ticket else {
            return Err(ModelError::Batch("a step of another model".into()));
        };
        if name != self.collected + 1 {
            return Err(ModelError::Batch(format!(
                "step {name} is collected, but the next one is {}",
                self.collected + 1
            )));
        }
        self.collected = name;
        let sampled = self.decoder.collect()?;
        Ok(sampled.into_iter().map(chosen).collect())
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        resize(&mut self.decoder, &self.sizes, blocks)?;
        Ok(Some(blocks))
    }
}

fn chosen(sampled: Sampled) -> Option<Chosen> {
    Some(Chosen {
        token: sampled.token?,
        expected: sampled.expected,
        logprobs: sampled
            .logprobs
            .map(|(logprob, top)| TokenLogprobs { logprob, top }),
    })
}
