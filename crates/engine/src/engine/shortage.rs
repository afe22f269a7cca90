//! When memory runs out: the engine gives the step back, shrinks, and goes on.

use super::EngineError;
use super::scheduler::{Scheduler, StepSize};
use super::step_model::StepModel;
use crate::model::ModelError;

/// Makes an engine need less memory, and stops it where that is of no use.
#[derive(Debug)]
pub(super) struct Shortage {
    /// Never fewer KV blocks than this.
    least_blocks: usize,
    /// Steps taken in when it last shrank.
    last: Option<u64>,
}

impl Shortage {
    pub(super) fn new(least_blocks: usize) -> Self {
        Self {
            least_blocks,
            last: None,
        }
    }

    /// Makes model and scheduler need less memory than the step that `failed` for `reason`, after `steps` that did not;
    /// nothing of it was taken in and none is under way.
    ///
    /// First the KV cache is made smaller, if the model can: that gives memory back and costs a recomputation. If that
    /// cannot be, or did not help, steps become smaller.
    ///
    /// # Errors
    /// When nothing can be made smaller any more, and another try did not help.
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
            scheduler.rebuild(blocks);
        }
        let lowered = (again || built.is_none()) && scheduler.lower_limits(failed);
        if again && built.is_none() {
            // On some systems the cache takes memory only as it is used.
            scheduler.retire_blocks(least);
        }
        // Where nothing else uses the memory for a moment only, the same again fails the same.
        if built.is_some() || lowered || !again {
            Ok(())
        } else {
            Err(out_of_memory(scheduler.blocks()))
        }
    }
}

/// Has the model build a smaller cache than that of `blocks` blocks, of at least `least`. Returns its blocks; `None` if the
/// model does not, or the cache is as small as it may be.
///
/// What is missing is not known, and mostly little: a sixteenth of the cache is given up, and a quarter if the same step
/// failed before.
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
            // The old cache is gone, so something must fit.
            Err(ModelError::OutOfMemory(_)) if target > least => target = smaller(target),
            Ok(Some(_)) | Err(ModelError::OutOfMemory(_)) => return Err(out_of_memory(target)),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}
