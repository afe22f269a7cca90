//! One loaded model, measured in several engines one after the other.

use std::sync::{Arc, Mutex, MutexGuard};

use juror_base::threads::lock;
use juror_engine::engine::{Chosen, Forward, Properties, RowRequest, StepModel, Ticket};
use juror_engine::model::profile::{Profile, Span};
use juror_engine::model::{ModelError, StepBatch};
use juror_judge::judge::build::DeviceModel;

/// A handle on a model. Engines are given clones of it, and only one runs at a time.
#[derive(Clone)]
pub(crate) struct SharedModel(Arc<Mutex<Box<dyn DeviceModel>>>);

impl SharedModel {
    pub(crate) fn new(model: Box<dyn DeviceModel>) -> Self {
        Self(Arc::new(Mutex::new(model)))
    }

    fn model(&self) -> MutexGuard<'_, Box<dyn DeviceModel>> {
        lock(&self.0)
    }

    pub(crate) fn set_profile(&self, profile: Profile) {
        *self.model().profile() = profile;
    }

    /// The spans recorded since the last call.
    pub(crate) fn take_spans(&self) -> Vec<Span> {
        self.model().profile().take()
    }
}

impl StepModel for SharedModel {
    fn properties(&self) -> Properties {
        self.model().properties()
    }

    fn launch(&mut self, batch: &StepBatch) -> Result<Forward, ModelError> {
        self.model().launch(batch)
    }

    fn choose(&mut self, forward: Forward, rows: &[RowRequest]) -> Result<Ticket, ModelError> {
        self.model().choose(forward, rows)
    }

    fn collect(&mut self, ticket: Ticket) -> Result<Vec<Option<Chosen>>, ModelError> {
        self.model().collect(ticket)
    }

    fn shrink(&mut self, blocks: usize) -> Result<Option<usize>, ModelError> {
        self.model().shrink(blocks)
    }
}
