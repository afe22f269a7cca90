//! What the engine needs of a model and its KV cache.

use candle_core::Tensor;

use super::sampler::{Chosen, RowRequest, choose};
use crate::model::ModelError;
use crate::model::attention::WindowedCache;
use crate::model::batch::StepBatch;

/// A step that was launched; [`StepModel::choose`] takes it.
#[derive(Debug)]
pub enum Forward {
    /// Computed already: the logits, `[batch.logits.len(), vocab]`.
    Logits(Tensor),
    /// Still running.
    Queued,
}

/// A step whose tokens are being chosen; [`StepModel::collect`] exchanges it for them.
#[derive(Debug)]
pub enum Ticket {
    /// Computed already: the choice of every row.
    Done(Vec<Option<Chosen>>),
    /// Still running, by an id of the model's own.
    Launched(u64),
}

/// What the engine has to know of a model to plan steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Properties {
    /// Whether scheduling is asynchronous: the next step is launched before the previous one was collected. At most one step is.
    pub async_scheduling: bool,
    /// Blocks of the KV cache, if there may be fewer than were asked for.
    pub blocks: Option<usize>,
    /// Whether a block of the cache takes up memory only from its first use on, as on the CPU.
    pub lazy_cache: bool,
    /// The length up to which a sequence's positions are encoded in the first of two ways, if the model has two, as with
    /// `LongRoPE`. For a token chosen after more tokens than that, all of them are encoded in the second way
    /// ([`BatchRow::long`](crate::model::BatchRow::long)), so a sequence that outgrows this length is recomputed once.
    pub short_context: Option<usize>,
    /// Slots for recurrent states, if the model has recurrent layers: then each row of a step says what becomes of its state
    /// ([`BatchRow::state`](crate::model::BatchRow::state)). A step that failed may have changed the states of its rows.
    pub states: Option<usize>,
    /// The cache of layers with windows, if that is one of its own: then a step has tables of its blocks too
    /// ([`StepBatch::windowed`]). The content of a block may be given up once it lies behind the window.
    pub windowed: Option<WindowedCache>,
}

/// A model with its KV cache, run step by step.
///
/// A model on a device that works while the host goes on chooses tokens itself, and its [scheduling is
/// asynchronous](Properties::async_scheduling): it takes the launch of the next step before the previous step's tokens were
/// collected, and puts those of [`StepBatch::from_previous`] in their places on the device. Which tokens may be chosen at the end
/// of a step can depend on those of the step before, so it is said apart, when these are known and while the step runs. Where
/// tokens are chosen on the host, [`LogitsModel`] is all there is to implement.
///
/// Launched steps are computed one after the other, in the order of their launches: a step sees every key and value of the
/// steps before it, and may overwrite what only they read.
///
/// Neither trait has default methods, so that a type which passes calls on to another model cannot leave one out.
pub trait StepModel: Send {
    /// The model's properties; they stay the same until [`Self::shrink`].
    fn properties(&self) -> Properties;

    /// Starts a step: puts the packed tokens through the model, storing their keys and values in the batch's slots.
    ///
    /// [`StepBatch::from_previous`] is empty unless [scheduling is asynchronous](Properties::async_scheduling).
    /// Errors: [`ModelError::OutOfMemory`] where a smaller step may succeed: the engine shrinks and tries again. Anything else
    /// stops the engine. A step that was not launched is never collected.
    fn launch(&mut self, batch: &StepBatch) -> Result<Forward, ModelError>;

    /// Chooses a token for each of the `logits` of the step launched last, as `rows` ask, one each in the same order. A step
    /// for which this was not called, or failed, before the next launch was given up.
    fn choose(&mut self, forward: Forward, rows: &[RowRequest]) -> Result<Ticket, ModelError>;

    /// Waits for a step and returns the choice of each row: `None` for a row whose logits are NaN (the token that
    /// such a row passes on to the next step is arbitrary). Called once for each ticket, in their order.
    /// Errors: as [`Self::launch`]. After [`ModelError::OutOfMemory`] the engine collects what was asked for since, ignores the
    /// result, and computes all of it again.
    fn collect(&mut self, ticket: Ticket) -> Result<Vec<Option<Chosen>>, ModelError>;

    /// Frees memory after a step that ran out of it: builds the KV cache anew with at most `blocks` blocks, and returns how
    /// many it has; their content is lost. `None` if the model cannot rebuild its cache, which then stays as it is. No step
    /// is in flight, though one that was given up may still be computing.
    /// Errors: [`ModelError::OutOfMemory`] if even that does not fit: the engine then asks for fewer, or stops.
    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError>;
}

/// A model that computes logits, from which the host chooses the tokens.
pub trait LogitsModel: Send {
    /// Puts the packed tokens through the model, storing their keys and values in the batch's slots; returns `[batch.logits.len(), vocab]`.
    fn forward(&mut self, batch: &StepBatch) -> Result<Tensor, ModelError>;

    /// As [`StepModel::properties`]; scheduling is never asynchronous.
    fn properties(&self) -> Properties;

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError>;
}

impl<M: LogitsModel> StepModel for M {
    fn properties(&self) -> Properties {
        LogitsModel::properties(self)
    }

    fn launch(&mut self, batch: &StepBatch) -> Result<Forward, ModelError> {
        if !batch.from_previous.is_empty() {
            return Err(ModelError::Batch(
                "a token of the step before, which this model cannot place".into(),
            ));
        }
        self.forward(batch).map(Forward::Logits)
    }

    fn choose(&mut self, forward: Forward, rows: &[RowRequest]) -> Result<Ticket, ModelError> {
        let Forward::Logits(logits) = forward else {
            return Err(ModelError::Batch("a step of another model".into()));
        };
        Ok(Ticket::Done(if rows.is_empty() {
            Vec::new()
        } else {
            choose(&logits, rows)?
        }))
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Vec<Option<Chosen>>, ModelError> {
        match ticket {
            Ticket::Done(chosen) => Ok(chosen),
            Ticket::Launched(name) => Err(ModelError::Batch(format!(
                "step {name} was not launched by this model"
            ))),
        }
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        LogitsModel::shrink(self, blocks)
    }
}
