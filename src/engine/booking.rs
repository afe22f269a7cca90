//! From a planned step to known tokens: what the scheduler does when a step was launched, and when it is done.

use super::scheduler::Scheduler;
use super::sequence::{Completion, FinishReason, Sequence};

/// A sequence's part in a launched step.
#[derive(Debug, Clone, Copy)]
pub(super) struct LaunchedRow {
    /// Which sequence: [`Sequence::admission`].
    admission: u64,
    /// Tokens of the sequence that are in the cache when the step is done.
    end: usize,
    /// Does the step choose its next token?
    pub(super) chooses: bool,
}

impl Scheduler {
    /// The planned step was launched: from here on its tokens count as computed. Returns its rows, to be booked later.
    pub(super) fn launched(&mut self) -> Vec<LaunchedRow> {
        let mut rows = Vec::with_capacity(self.running.len());
        let mut choosing = 0;
        for sequence in &mut self.running {
            if sequence.scheduled == 0 {
                continue;
            }
            sequence.computed += std::mem::take(&mut sequence.scheduled);
            sequence.launched += 1;
            let chooses = sequence.pending() == 0;
            rows.push(LaunchedRow {
                admission: sequence.admission,
                end: sequence.computed,
                chooses,
            });
            if chooses {
                sequence.awaiting += 1;
                sequence.last_row = choosing;
                choosing += 1;
            }
        }
        rows
    }

    /// Books a step that is done; steps are booked in the order of their launches. `next` appends the token chosen in
    /// row `n` of the step's `logits` and decides whether the sequence ends with it. Returns the sequences that ended.
    ///
    /// A sequence that had ended before the step was done is no longer there: what was chosen for it is dropped.
    pub(super) fn book(
        &mut self,
        rows: &[LaunchedRow],
        mut next: impl FnMut(&mut Sequence, usize) -> Option<FinishReason>,
    ) -> Vec<Completion> {
        let block_size = self.pool.block_size();
        // Of sequences that ended while this step was under way: their last.
        let leaving = std::mem::take(&mut self.leaving);
        let mut finished = Vec::new();
        let mut chosen = 0;
        let mut index = 0;
        for row in rows {
            let number = chosen;
            chosen += usize::from(row.chooses);
            // Both are in the order of admissions.
            while index < self.running.len() && self.running[index].admission < row.admission {
                index += 1;
            }
            let Some(sequence) = self
                .running
                .get_mut(index)
                .filter(|sequence| sequence.admission == row.admission)
            else {
                self.discarded += 1;
                continue;
            };
            sequence.launched -= 1;
            for full in sequence.published..row.end / block_size {
                let hash = sequence.hashes[full];
                if self.pool.publish(sequence.blocks[full], hash) && self.pinned.contains(&hash) {
                    self.pool.retain(sequence.blocks[full]);
                }
                sequence.published = full + 1;
            }
            if !row.chooses {
                continue;
            }
            sequence.awaiting -= 1;
            if let Some(reason) = next(sequence, number) {
                let mut sequence = self.running.remove(index);
                if sequence.launched > 0 {
                    self.leaving.extend(sequence.blocks.drain(..).rev());
                } else {
                    Self::release_blocks(&mut self.pool, &mut sequence);
                }
                finished.push(sequence.finish(reason));
            }
        }
        for block in leaving {
            self.pool.release(block);
        }
        finished
    }
}
