//! Which tokens go through the model next.
//!
//! One kind of step for everything: under a token budget, first one token for every sequence that is generating, then
//! chunks of prompts, then new sequences. A sequence is always "put `tokens[computed..]` through the model, then choose
//! the next", whether that is a whole prompt, a chunk, a single generated token, or the recomputation of a preempted
//! sequence.

use std::collections::{HashSet, VecDeque};
use std::time::Instant;

use super::block_pool::{BlockHash, BlockPool};
use super::sequence::{Completion, FinishReason, Request, Sequence};
use crate::model::batch::{BatchRow, StepBatch};

/// The scheduler's limits.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Most tokens a step; at least `max_sequences`, so that every running sequence gets its token.
    pub token_budget: usize,
    /// Most sequences at once.
    pub max_sequences: usize,
    /// Most tokens of one prompt a step.
    pub max_prefill_chunk: usize,
    /// Most tokens of a sequence, prompt and completion together.
    pub context_length: usize,
}

/// Waiting and running sequences, and the blocks they use.
pub struct Scheduler {
    limits: Limits,
    pool: BlockPool,
    waiting: VecDeque<Sequence>,
    /// In order of admission: the newest is preempted first.
    running: Vec<Sequence>,
    /// Content that stays in the cache whatever happens.
    pinned: HashSet<BlockHash>,
    /// Blocks kept free when a sequence is admitted beside others, so that those can grow before anyone is preempted.
    watermark: usize,
    pub(crate) preemptions: u64,
}

impl Scheduler {
    /// A scheduler over an empty pool; the full blocks of `pinned` are never evicted once computed.
    pub fn new(limits: Limits, pool: BlockPool, pinned: &[u32]) -> Self {
        let pinned = BlockHash::chain_all(pinned, pool.block_size())
            .into_iter()
            .collect();
        let watermark = (pool.len() / 100).max(1);
        Self {
            limits,
            pool,
            waiting: VecDeque::new(),
            running: Vec::new(),
            pinned,
            watermark,
            preemptions: 0,
        }
    }

    /// Queues a request; one that can never run comes straight back.
    pub fn add(&mut self, request: Request) -> Option<Completion> {
        let length = request.prompt.len() + request.max_new_tokens;
        let sequence = Sequence::new(request, self.pool.block_size());
        let shared = sequence
            .hashes
            .iter()
            .take_while(|hash| self.pinned.contains(hash))
            .count();
        let need = self.pool.blocks_for(length) + self.pinned.len() - shared;
        let refusal = if sequence.request.prompt.is_empty() {
            "the prompt is empty".to_owned()
        } else if sequence.request.max_new_tokens == 0 {
            "no token may be generated".to_owned()
        } else if length > self.limits.context_length {
            format!(
                "{} prompt tokens and up to {} new ones exceed the context of {}",
                sequence.request.prompt.len(),
                sequence.request.max_new_tokens,
                self.limits.context_length
            )
        } else if need > self.pool.len() {
            format!(
                "the sequence needs up to {need} KV blocks and there are {}",
                self.pool.len()
            )
        } else {
            self.waiting.push_back(sequence);
            return None;
        };
        Some(sequence.finish(FinishReason::Rejected(refusal)))
    }

    /// Token positions a block.
    pub fn block_size(&self) -> usize {
        self.pool.block_size()
    }

    /// Sequences that wait to be admitted.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Sequences that hold blocks.
    pub fn running(&self) -> usize {
        self.running.len()
    }

    /// KV blocks there are, and of these in use.
    pub fn blocks(&self) -> (usize, usize) {
        (self.pool.len(), self.pool.len() - self.pool.free())
    }

    /// Plans a step: the packed tokens, or `None` when there is nothing to do.
    pub fn schedule(&mut self) -> Option<StepBatch> {
        for sequence in &mut self.running {
            sequence.scheduled = 0;
        }
        let preemptions = self.preemptions;
        let mut budget = self.limits.token_budget;
        self.schedule_running(&mut budget, |pending| pending == 1);
        self.schedule_running(&mut budget, |pending| pending > 1);
        // Who was just preempted would be let in again only to be thrown out again.
        if self.preemptions == preemptions {
            self.admit(&mut budget);
        }
        let batch = self.batch();
        (!batch.tokens.is_empty()).then_some(batch)
    }

    /// Gives tokens to the running sequences whose pending count is `wanted`, oldest first.
    fn schedule_running(&mut self, budget: &mut usize, wanted: impl Fn(usize) -> bool) {
        let mut index = 0;
        while index < self.running.len() {
            let sequence = &self.running[index];
            let pending = sequence.pending();
            let tokens = pending.min(*budget).min(self.limits.max_prefill_chunk);
            if sequence.scheduled > 0 || !wanted(pending) || tokens == 0 {
                index += 1;
                continue;
            }
            let blocks = self.pool.blocks_for(sequence.computed + tokens);
            let mut preempted_itself = false;
            while self.running[index].blocks.len() < blocks {
                if let Some(block) = self.pool.allocate() {
                    self.running[index].blocks.push(block);
                } else {
                    *budget += self.preempt_newest();
                    if index == self.running.len() {
                        preempted_itself = true;
                        break;
                    }
                }
            }
            if !preempted_itself {
                self.running[index].scheduled = tokens;
                *budget -= tokens;
                index += 1;
            }
        }
    }

    /// Takes the blocks of the newest running sequence, which then waits in front. Returns the tokens it had in this step.
    fn preempt_newest(&mut self) -> usize {
        let Some(mut sequence) = self.running.pop() else {
            return 0;
        };
        Self::release_blocks(&mut self.pool, &mut sequence);
        let scheduled = std::mem::take(&mut sequence.scheduled);
        sequence.computed = 0;
        sequence.published = 0;
        self.preemptions += 1;
        self.waiting.push_front(sequence);
        scheduled
    }

    /// Tail first, so that of equally old blocks the beginning, which others may share, is evicted last.
    fn release_blocks(pool: &mut BlockPool, sequence: &mut Sequence) {
        while let Some(block) = sequence.blocks.pop() {
            pool.release(block);
        }
    }

    /// Admits waiting sequences in order while there is room.
    ///
    /// A sequence whose next uncached block is being computed by another one steps aside until that block can be
    /// shared: a common prefix is computed once even when all its users arrive together.
    fn admit(&mut self, budget: &mut usize) {
        if self.waiting.is_empty()
            || *budget == 0
            || self.running.len() >= self.limits.max_sequences
        {
            return;
        }
        let mut computing: HashSet<BlockHash> = HashSet::new();
        for sequence in self
            .running
            .iter()
            .filter(|sequence| sequence.pending() > 1)
        {
            computing.extend(&sequence.hashes[sequence.published..]);
        }
        let mut index = 0;
        while index < self.waiting.len()
            && index < self.limits.max_sequences
            && *budget > 0
            && self.running.len() < self.limits.max_sequences
        {
            let sequence = &self.waiting[index];
            // The last token always goes through the model: its logits are wanted.
            let reusable = (sequence.tokens.len() - 1) / self.pool.block_size();
            let found: Vec<_> = sequence.hashes[..reusable]
                .iter()
                .map_while(|&hash| self.pool.find(hash))
                .collect();
            // Without a cache there is nothing to wait for.
            if self.pool.caching()
                && found.len() < reusable
                && computing.contains(&sequence.hashes[found.len()])
            {
                index += 1;
                continue;
            }
            let need = self.pool.blocks_for(sequence.tokens.len()) - found.len();
            let found_free = found
                .iter()
                .filter(|&&block| self.pool.is_free(block))
                .count();
            let reserve = if self.running.is_empty() {
                0
            } else {
                self.watermark
            };
            if self.pool.free() - found_free < need + reserve {
                return;
            }
            let Some(mut sequence) = self.waiting.remove(index) else {
                return;
            };
            for &block in &found {
                self.pool.retain(block);
            }
            sequence.computed = found.len() * self.pool.block_size();
            sequence.published = found.len();
            sequence.blocks = found;
            // `need` blocks are free: counted above, after taking the found ones out.
            sequence
                .blocks
                .extend((0..need).map_while(|_| self.pool.allocate()));
            debug_assert_eq!(
                sequence.blocks.len(),
                self.pool.blocks_for(sequence.tokens.len())
            );
            sequence.cached_tokens.get_or_insert(sequence.computed);
            sequence.timing.admitted.get_or_insert_with(Instant::now);
            sequence.scheduled = sequence
                .pending()
                .min(*budget)
                .min(self.limits.max_prefill_chunk);
            *budget -= sequence.scheduled;
            computing.extend(&sequence.hashes[sequence.published..]);
            self.running.push(sequence);
        }
    }

    /// Packs the scheduled tokens.
    fn batch(&self) -> StepBatch {
        let mut batch = StepBatch::default();
        let block_size = self.pool.block_size();
        for sequence in self
            .running
            .iter()
            .filter(|sequence| sequence.scheduled > 0)
        {
            let end = sequence.computed + sequence.scheduled;
            let blocks = &sequence.blocks[..self.pool.blocks_for(end)];
            batch.rows.push(BatchRow {
                query_start: batch.tokens.len(),
                query_len: sequence.scheduled,
                context_len: end,
                blocks: blocks.to_vec(),
            });
            for position in sequence.computed..end {
                batch.tokens.push(sequence.tokens[position]);
                batch.positions.push(position as u32);
                batch.slots.push(
                    blocks[position / block_size] * block_size as u32
                        + (position % block_size) as u32,
                );
            }
            if end == sequence.tokens.len() {
                batch.logits.push(batch.tokens.len() as u32 - 1);
            }
        }
        batch
    }

    /// Sequences whose next token the planned step yields, in the order of the batch's `logits`.
    pub(crate) fn choosing(&self) -> impl Iterator<Item = &Sequence> {
        self.running
            .iter()
            .filter(|sequence| sequence.scheduled > 0 && sequence.scheduled == sequence.pending())
    }

    /// Tokens of the planned step: of prompts and recomputation, and of sequences that are generating.
    pub(crate) fn prefill_and_decode_tokens(&self) -> (usize, usize) {
        let (mut prefill, mut decode) = (0, 0);
        for sequence in &self.running {
            if sequence.generated() > 0 && sequence.pending() == 1 {
                decode += sequence.scheduled;
            } else {
                prefill += sequence.scheduled;
            }
        }
        (prefill, decode)
    }

    /// Books a step that was run: `next` decides, for each sequence of [`Self::choosing`] in order, how it goes on.
    /// Returns the sequences that are finished.
    pub(crate) fn advance(
        &mut self,
        mut next: impl FnMut(&mut Sequence, usize) -> Option<FinishReason>,
    ) -> Vec<Completion> {
        let block_size = self.pool.block_size();
        let mut finished = Vec::new();
        let mut chosen = 0;
        let mut index = 0;
        while index < self.running.len() {
            let sequence = &mut self.running[index];
            if sequence.scheduled == 0 {
                index += 1;
                continue;
            }
            sequence.computed += std::mem::take(&mut sequence.scheduled);
            for full in sequence.published..sequence.computed / block_size {
                let hash = sequence.hashes[full];
                if self.pool.publish(sequence.blocks[full], hash) && self.pinned.contains(&hash) {
                    self.pool.retain(sequence.blocks[full]);
                }
                sequence.published = full + 1;
            }
            if sequence.pending() == 0 {
                let finish = next(sequence, chosen);
                chosen += 1;
                if let Some(reason) = finish {
                    let mut sequence = self.running.remove(index);
                    Self::release_blocks(&mut self.pool, &mut sequence);
                    finished.push(sequence.finish(reason));
                    continue;
                }
            }
            index += 1;
        }
        finished
    }
}
