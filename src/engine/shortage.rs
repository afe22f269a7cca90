//! When memory runs out: the engine gives the step back, shrinks, and goes on.

use super::EngineError;
use super::core::{Engine, StepSize};
use super::scheduler::Scheduler;
use super::step_model::StepModel;
use crate::model::ModelError;

/// A step of so many tokens is not made smaller.
const SMALLEST_STEP: usize = 16;

/// What the engine remembers of lacks of memory.
#[derive(Debug)]
pub(super) struct Shortage {
    /// Never fewer KV blocks than this.
    least_blocks: usize,
    /// Steps booked when it last shrank.
    last: Option<u64>,
}

impl Shortage {
    pub(super) fn new(least_blocks: usize) -> Self {
        Self {
            least_blocks,
            last: None,
        }
    }
}

impl<M: StepModel> Engine<M> {
    /// Makes the engine need less memory than the step that failed; nothing of it was booked and none is under way.
    ///
    /// First the KV cache is made smaller, if the model can: that gives memory back and costs a recomputation. If that
    /// cannot be, or did not help, steps become smaller.
    ///
    /// # Errors
    /// When nothing can be made smaller any more, and another try did not help.
    pub(super) fn shrink(&mut self, failed: StepSize, reason: &str) -> Result<(), EngineError> {
        self.stats.out_of_memory += 1;
        let again = self.shortage.last.replace(self.stats.steps) == Some(self.stats.steps);
        let released = self.shrink_cache(failed, again, reason)?;
        let lowered = (again || !released) && self.scheduler.lower_limits(failed);
        if again && !released {
            // On some systems the cache takes memory only as it is used.
            let least = self.least_blocks();
            self.scheduler.retire(least);
        }
        let (blocks, _) = self.scheduler.blocks();
        self.stats.blocks = blocks;
        self.stats.preemptions = self.scheduler.preemptions;
        // Where nothing else uses the memory for a moment only, the same again fails the same.
        if released || lowered || !again {
            Ok(())
        } else {
            Err(EngineError::OutOfMemory {
                tokens: failed.tokens(),
                blocks,
                reason: reason.to_owned(),
            })
        }
    }

    fn least_blocks(&self) -> usize {
        let (blocks, _) = self.scheduler.blocks();
        self.shortage
            .least_blocks
            .max(self.scheduler.largest_need)
            .min(blocks)
    }

    /// Has the model build a smaller cache; false if it does not, or the cache is as small as it may be.
    ///
    /// What is missing is not known, and mostly little: a sixteenth of the cache is given up, and a quarter if the same
    /// step failed before.
    fn shrink_cache(
        &mut self,
        failed: StepSize,
        again: bool,
        reason: &str,
    ) -> Result<bool, EngineError> {
        let (blocks, _) = self.scheduler.blocks();
        let least = self.least_blocks();
        let smaller = |blocks: usize| {
            let part = if again { 4 } else { 16 };
            (blocks - (blocks / part).max(1)).max(least)
        };
        let mut target = smaller(blocks);
        while target < blocks {
            match self.model.shrink(target) {
                Ok(None) => return Ok(false),
                Ok(Some(built)) if built >= least => {
                    self.scheduler.rebuild(built);
                    return Ok(true);
                }
                // The old cache is gone, so something must fit.
                Err(ModelError::OutOfMemory(_)) if target > least => target = smaller(target),
                Ok(Some(_)) | Err(ModelError::OutOfMemory(_)) => {
                    return Err(EngineError::OutOfMemory {
                        tokens: failed.tokens(),
                        blocks: target,
                        reason: reason.to_owned(),
                    });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(false)
    }
}

impl Scheduler {
    /// Takes the blocks of all running sequences; none is in a step that will be booked.
    pub(super) fn preempt_all(&mut self) {
        for sequence in &mut self.running {
            (sequence.launched, sequence.awaiting) = (0, 0);
        }
        while !self.running.is_empty() {
            self.preempt_newest();
        }
        for block in std::mem::take(&mut self.leaving) {
            self.pool.release(block);
        }
    }

    /// Goes on with an empty cache of `blocks` blocks.
    fn rebuild(&mut self, blocks: usize) {
        self.preempt_all();
        self.replace_pool(blocks);
    }

    /// Allows steps of half the tokens of the one that failed; when steps are as short as they may be, half its
    /// sequences. False if that was one.
    fn lower_limits(&mut self, failed: StepSize) -> bool {
        let limits = &mut self.limits;
        if failed.tokens() > SMALLEST_STEP {
            limits.token_budget = (failed.tokens() / 2).max(SMALLEST_STEP);
            limits.max_prefill_chunk = limits.max_prefill_chunk.min(limits.token_budget);
            limits.max_sequences = limits.max_sequences.min(limits.token_budget);
        } else if failed.rows > 1 {
            limits.max_sequences = failed.rows / 2;
        } else {
            return false;
        }
        while self.running.len() > self.limits.max_sequences {
            self.preempt_newest();
        }
        true
    }

    /// Takes a quarter of the blocks out of use, but leaves `least`; the newest sequences make room.
    fn retire(&mut self, least: usize) {
        let (blocks, _) = self.blocks();
        let surplus = blocks - (blocks / 4 * 3).max(least);
        while self.pool.free() < surplus && !self.running.is_empty() {
            self.preempt_newest();
        }
        self.pool.retire(surplus);
    }
}
