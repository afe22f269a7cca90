//! When memory runs out, the engine gives up the step, shrinks, and continues.

use super::EngineError;
use super::scheduler::{Scheduler, StepSize};
use super::step_model::StepModel;
use crate::model::ModelError;

/// Reduces the memory that an engine needs, and stops the engine when that no longer helps.
#[derive(Debug)]
pub(super) struct OutOfMemory {
    /// The cache never shrinks below this many KV blocks.
    least_blocks: usize,
    /// The number of completed steps when memory last ran out.
    last: Option<u64>,
}

impl OutOfMemory {
    pub(super) fn new(least_blocks: usize) -> Self {
        Self {
            least_blocks,
            last: None,
        }
    }

    /// Reduces the memory that model and scheduler need after a step of size `failed` ran out of it for `reason`; `steps`
    /// steps were completed before. Nothing of the failed step was taken in, and none is in flight.
    ///
    /// First the KV cache is made smaller, if the model can do that: it frees memory at the cost of recomputation. If it
    /// cannot, or that did not help, steps become smaller.
    /// Errors: when nothing can be made smaller any more, and another try did not help.
    pub(super) fn shrink(
        &mut self,
        model: &mut dyn StepModel,
        scheduler: &mut Scheduler,
        steps: u64,
        failed: StepSize,
        reason: &str,
    ) -> Result<(), EngineError> {
        let least = self
            .least_blocks
            .max(scheduler.largest_need())
            .min(scheduler.blocks());
        let again = self.last.replace(steps) == Some(steps);
        let out_of_memory = |blocks: usize| EngineError::OutOfMemory {
            tokens: failed.tokens(),
            blocks,
            reason: reason.to_owned(),
        };
        let built = shrink_cache(model, scheduler.blocks(), least, again, &out_of_memory)?;
        if let Some(blocks) = built {
            scheduler.rebuild(blocks, model.properties().windowed);
        }
        let lowered = (again || built.is_none()) && scheduler.lower_limits(failed);
        if again && built.is_none() {
            // On some systems the cache takes up memory only as it is used.
            scheduler.retire_blocks(least);
        }
        // The first time, nothing need change: other programs may have held the memory for a moment only.
        if built.is_some() || lowered || !again {
            Ok(())
        } else {
            Err(out_of_memory(scheduler.blocks()))
        }
    }
}

/// Has the model build a cache smaller than `blocks` blocks but with at least `least`. Returns its number of blocks; `None`
/// if the model cannot, or if the cache is as small as it may be.
///
/// How much memory is missing is unknown, and it is mostly little: the cache gives up a sixteenth, and a quarter if the same step failed before.
fn shrink_cache(
    model: &mut dyn StepModel,
    blocks: usize,
    least: usize,
    again: bool,
    out_of_memory: &dyn Fn(usize) -> EngineError,
) -> Result<Option<usize>, EngineError> {
    let smaller = |blocks: usize| {
        let part = if again { 4 } else { 16 };
        (blocks - (blocks / part).max(1)).max(least)
    };
    let mut target = smaller(blocks);
    while target < blocks {
        match model.shrink(target) {
            Ok(None) => return Ok(None),
            Ok(Some(built)) if built >= least => return Ok(Some(built)),
            // The old cache is gone already, so try smaller ones until one fits.
            Err(ModelError::OutOfMemory(_)) if target > least => target = smaller(target),
            Ok(Some(_)) | Err(ModelError::OutOfMemory(_)) => return Err(out_of_memory(target)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}
